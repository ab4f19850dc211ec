//! Files that a patch changes. A patch is data to the shell, but its text names what is written.

use super::Word;
use super::streams::Stream;
use super::walk::{Reader, too_much};
use crate::limits::PATCHED_FILES_MAX;
use crate::verdict::Access;
use crate::wild::{Sym, syms};

/// The beginnings of lines that name a file in a patch of `apply_patch`.
const IN_APPLIED: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
/// The beginnings of lines that name a file in the output of `diff` or git.
const IN_DIFF: [&str; 5] = ["--- ", "+++ ", "copy to ", "rename to ", "rename from "];

impl Reader<'_> {
    /// Records the files of the patches that a program takes: as an argument, on its input, or in a
    /// file that the command line wrote.
    pub(super) fn patches(&mut self, arguments: &[Word], stdin: &Stream) {
        let files = arguments.iter().filter_map(|word| self.written_text(word));
        let streams: Vec<Stream> = files.chain([stdin.clone()]).collect();
        let mut texts: Vec<&[Sym]> = arguments.iter().map(|word| &*word.syms).collect();
        texts.extend(streams.iter().filter_map(|stream| match stream {
            Stream::Text(text) => Some(&**text),
            Stream::None | Stream::File(_) | Stream::Unknown => None,
        }));
        for file in texts.into_iter().flat_map(patched) {
            if self.reading.files.len() >= PATCHED_FILES_MAX {
                self.unparsed(too_much("patched files", PATCHED_FILES_MAX));
                return;
            }
            self.reading.files.push((file, Access::Write));
        }
    }
}

/// Returns the files that a patch names. One in git's format is named with and without the first
/// part of its path.
fn patched(text: &[Sym]) -> Vec<Word> {
    let mut words = Vec::new();
    let blank = |sym: &Sym| matches!(sym, Sym::Char(' ' | '\t' | '\r'));
    for line in text.split(|sym| *sym == Sym::Char('\n')) {
        let from = line.iter().position(|sym| !blank(sym)).unwrap_or(line.len());
        let line = line.get(from..).unwrap_or_default();
        let rest = |begins: &[&str]| {
            begins.iter().find_map(|begin| line.strip_prefix(&syms(begin)[..]).map(<[Sym]>::to_vec))
        };
        let (file, is_diff) = match (rest(&IN_APPLIED), rest(&IN_DIFF)) {
            (Some(file), _) => (file, false),
            (None, Some(file)) => (file, true),
            (None, None) => continue,
        };
        // `diff` writes a time behind a tab.
        let end = file.iter().position(|sym| *sym == Sym::Char('\t')).unwrap_or(file.len());
        let end = file.get(..end).unwrap_or_default().iter().rposition(|sym| !blank(sym));
        let file = file.get(..end.map_or(0, |end| end + 1)).unwrap_or_default();
        let slash = file.iter().position(|sym| *sym == Sym::Char('/')).filter(|_| is_diff);
        let below = slash.and_then(|slash| file.get(slash + 1..));
        let named = [Some(file), below].into_iter().flatten().filter(|file| !file.is_empty());
        words.extend(named.map(|file| Word { syms: file.to_vec(), splits: false }));
    }
    words
}
