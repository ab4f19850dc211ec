//! Redirections, here-documents and pipes: the texts that commands read and write.

use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, RedirectList};

use super::Word;
use super::scopes::ScopeEffect;
use super::walk::{Reader, file_key};
use crate::limits::VALUE_CHARS_MAX;
use crate::verdict::Access;
use crate::wild::{Sym, syms};

/// The text on a stream, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Stream {
    /// The terminal, or nothing.
    #[default]
    None,
    /// A known text. Parts of it may be unknown.
    Text(Vec<Sym>),
    /// A file that the command line does not write.
    File(Word),
    /// A text that only the run shows.
    Unknown,
}

impl Reader<'_> {
    pub(super) fn redirected(
        &mut self,
        redirects: Option<&RedirectList>,
        stdin: &Stream,
    ) -> (Stream, Vec<Word>) {
        let (mut stream, mut targets) = (stdin.clone(), Vec::new());
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, &mut stream, &mut targets);
        }
        (stream, targets)
    }

    pub(super) fn redirect(
        &mut self,
        redirect: &IoRedirect,
        stream: &mut Stream,
        targets: &mut Vec<Word>,
    ) {
        match redirect {
            IoRedirect::File(_, kind, IoFileRedirectTarget::Filename(word)) => {
                let mut files = self.argument(&word.value);
                let file = match (files.pop(), files.is_empty()) {
                    (Some(words), true) if words.len() == 1 => words.into_iter().next(),
                    _ => None,
                };
                let file = file.unwrap_or_else(Word::unknown);
                let is_read = matches!(kind, IoFileRedirectKind::Read);
                let access = if is_read { Access::Read } else { Access::Write };
                self.reading.files.push((file.clone(), access));
                match kind {
                    IoFileRedirectKind::Read => {
                        *stream = self.written_text(&file).unwrap_or(Stream::File(file));
                    }
                    _ => targets.push(file),
                }
            }
            IoRedirect::File(_, kind, IoFileRedirectTarget::ProcessSubstitution(_, shell)) => {
                let printed = self.scoped(ScopeEffect::Restores, |reader| {
                    reader.list(&shell.list, &Stream::Unknown)
                });
                if matches!(kind, IoFileRedirectKind::Read) {
                    *stream = unknown_unless_text(printed);
                }
            }
            IoRedirect::File(_, _, IoFileRedirectTarget::Duplicate(word)) => {
                self.argument(&word.value);
            }
            IoRedirect::File(_, _, IoFileRedirectTarget::Fd(_)) => {}
            IoRedirect::HereDocument(_, document) => {
                *stream = Stream::Text(if document.requires_expansion {
                    self.here_text(&document.doc.value)
                } else {
                    syms(&document.doc.value)
                });
            }
            IoRedirect::HereString(_, word) => {
                let mut values = self.value(&word.value);
                *stream = match (values.pop(), values.is_empty()) {
                    (Some(text), true) => Stream::Text(text),
                    _ => Stream::Unknown,
                };
            }
            IoRedirect::OutputAndError(word, _) => {
                let files = self.argument(&word.value);
                let written = files.iter().flatten().map(|file| (file.clone(), Access::Write));
                self.reading.files.extend(written);
                targets.extend(files.into_iter().flatten());
            }
        }
    }

    /// Records what redirections write, and returns what is left for the next command.
    pub(super) fn written(&mut self, targets: &[Word], printed: Stream) -> Stream {
        for target in targets {
            match target.text() {
                Some(name) if name.starts_with("/dev/") => {}
                Some(name) => {
                    let known = self.files.remove(&file_key(&name));
                    // `>>` adds to what an earlier command has written.
                    let content = match known {
                        Some(known) => concatenated(vec![known, printed.clone()]),
                        None => printed.clone(),
                    };
                    self.files.insert(file_key(&name), unknown_unless_text(content));
                }
                None => {
                    let content = unknown_unless_text(printed.clone());
                    self.unnamed_files.push((target.clone(), content));
                }
            }
        }
        if targets.is_empty() { printed } else { Stream::None }
    }
}

/// Joins what commands print one after another.
pub(super) fn concatenated(parts: Vec<Stream>) -> Stream {
    let mut all = Stream::None;
    for part in parts {
        all = match (all, part) {
            (all, Stream::None) => all,
            (Stream::None, part) => part,
            (Stream::Text(before), Stream::Text(after))
                if before.len() + after.len() <= VALUE_CHARS_MAX =>
            {
                Stream::Text([before, after].concat())
            }
            _ => Stream::Unknown,
        };
    }
    all
}

pub(super) fn unknown_unless_text(stream: Stream) -> Stream {
    match stream {
        Stream::Text(text) => Stream::Text(text),
        Stream::None => Stream::Text(Vec::new()),
        Stream::File(_) | Stream::Unknown => Stream::Unknown,
    }
}
