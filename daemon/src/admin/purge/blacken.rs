//! Texts blackened where they stand: in logs, and in files beside a project's store.
//!
//! In place and with as many bytes, since somebody may be writing at the file's end.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use aho_corasick::{AhoCorasick, MatchKind};
use anchord_memory::limits;

/// What a store writes itself, and has written anew.
const STORE: [&str; 3] = ["journal", "snapshot", "sled"];

/// Blackens the texts in all files beneath a directory, also as JSON has them, and says how many files
/// held one. A file that cannot be read or written is named in the log.
pub(super) fn beneath(directory: &Path, texts: &[&str]) -> u32 {
    let escaped = texts.iter().filter_map(|text| {
        let text = serde_json::to_string(text).ok()?;
        Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    });
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).chain(escaped).collect();
    if texts.is_empty() {
        return 0;
    }
    let beginnings = texts.iter().map(|text| clipped(text.as_bytes()));
    match AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(beginnings) {
        Ok(beginnings) => in_directory(directory, &Sought { beginnings, texts }, true),
        Err(error) => {
            tracing::error!(%error, "purged texts are not looked for in logs");
            0
        }
    }
}

/// What to look for. An automaton of whole texts would be much larger than they are.
struct Sought {
    beginnings: AhoCorasick,
    texts: Vec<String>,
}

fn clipped(text: &[u8]) -> &[u8] {
    text.get(..limits::PURGED_TEXT_BYTES_SOUGHT).unwrap_or(text)
}

fn in_directory(directory: &Path, sought: &Sought, top: bool) -> u32 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let mut files = 0;
    for entry in entries.filter_map(Result::ok) {
        let (path, kind) = (entry.path(), entry.file_type());
        let store = top && STORE.iter().any(|name| entry.file_name() == *name);
        match kind {
            Ok(kind) if kind.is_dir() && !store => files += in_directory(&path, sought, false),
            Ok(kind) if kind.is_file() => match in_file(&path, sought) {
                Ok(blackened) => files += u32::from(blackened),
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "cannot look for purged text");
                }
            },
            _ => {}
        }
    }
    files
}

fn in_file(path: &Path, sought: &Sought) -> io::Result<bool> {
    let bytes = fs::read(path)?;
    if !sought.beginnings.is_match(&bytes) {
        return Ok(false);
    }
    let file = OpenOptions::new().write(true).open(path)?;
    for found in sought.beginnings.find_iter(&bytes) {
        let text = sought.texts.get(found.pattern().as_usize()).map_or("", String::as_str);
        let there = bytes.get(found.start()..).unwrap_or_default();
        let same = there.iter().zip(text.as_bytes()).take_while(|(a, b)| a == b).count();
        file.write_all_at(&vec![b'*'; same], found.start() as u64)?;
    }
    file.sync_data()?;
    Ok(true)
}

#[cfg(test)]
mod tests;
