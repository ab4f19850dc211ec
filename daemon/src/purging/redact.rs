//! Redacts texts in place: in logs, and in files next to a project's store.
//!
//! Each text is overwritten by as many bytes, since another process may be appending to the file.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;
use anchord_memory::limits;

/// Directories that the store itself writes, and has rewritten.
const STORE: [&str; 3] = ["journal", "snapshot", "sled"];

/// The result of searching files for texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RedactionReport {
    /// Files that held a text.
    pub(crate) files: BTreeSet<PathBuf>,
    /// Files that could not be read or written, and so may still hold a text.
    pub(crate) failed: BTreeSet<PathBuf>,
}

impl RedactionReport {
    /// Adds the result of a later search. Only the later failures count.
    pub(crate) fn add(&mut self, later: Self) {
        self.files.extend(later.files);
        self.failed = later.failed;
    }
}

/// Finds the files beneath `directories` that hold one of the texts, plain or as JSON escapes it.
pub(crate) fn find(directories: &[PathBuf], texts: &[String]) -> RedactionReport {
    search(directories, texts, false)
}

/// Redacts the texts in all files beneath `directories`, plain or as JSON escapes them.
pub(super) fn redact_files(directories: &[PathBuf], texts: &[String]) -> RedactionReport {
    search(directories, texts, true)
}

fn search(directories: &[PathBuf], texts: &[String], redact: bool) -> RedactionReport {
    let mut found = RedactionReport::default();
    let escaped = texts.iter().filter_map(|text| {
        let text = serde_json::to_string(text).ok()?;
        Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    });
    let texts: Vec<String> = texts.iter().cloned().chain(escaped).collect();
    if texts.is_empty() {
        return found;
    }
    let beginnings = texts.iter().map(|text| clipped(text.as_bytes()));
    match AhoCorasick::new(beginnings) {
        Ok(beginnings) => {
            let sought = Search { beginnings, texts, redact };
            for directory in directories {
                sought.in_directory(directory, true, &mut found);
            }
        }
        Err(error) => {
            tracing::error!(%error, "purged texts are not looked for in logs");
            found.failed.extend(directories.iter().cloned());
        }
    }
    found
}

/// The texts to find. Only their beginnings are in the automaton: one of whole texts would be much
/// larger than the texts.
struct Search {
    beginnings: AhoCorasick,
    texts: Vec<String>,
    redact: bool,
}

fn clipped(text: &[u8]) -> &[u8] {
    text.get(..limits::PURGED_TEXT_BYTES_SOUGHT).unwrap_or(text)
}

impl Search {
    fn in_directory(&self, directory: &Path, top: bool, found: &mut RedactionReport) {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return failed(directory, &error, found),
        };
        for entry in entries.filter_map(Result::ok) {
            let (path, kind) = (entry.path(), entry.file_type());
            let store = top && STORE.iter().any(|name| entry.file_name() == *name);
            match kind {
                Ok(kind) if kind.is_dir() && !store => self.in_directory(&path, false, found),
                Ok(kind) if kind.is_file() => match self.in_file(&path) {
                    Ok(true) => {
                        found.files.insert(path);
                    }
                    Ok(false) => {}
                    Err(error) => failed(&path, &error, found),
                },
                _ => {}
            }
        }
    }

    fn in_file(&self, path: &Path) -> io::Result<bool> {
        let bytes = fs::read(path)?;
        if !self.beginnings.is_match(&bytes) {
            return Ok(false);
        }
        if !self.redact {
            return Ok(true);
        }
        let file = OpenOptions::new().write(true).open(path)?;
        // Overlapping matches count too. Versions of one record begin alike, and a text may begin
        // within another.
        for found in self.beginnings.find_overlapping_iter(&bytes) {
            let text = self.texts.get(found.pattern().as_usize()).map_or("", String::as_str);
            let there = bytes.get(found.start()..).unwrap_or_default();
            let same = there.iter().zip(text.as_bytes()).take_while(|(a, b)| a == b).count();
            file.write_all_at(&vec![b'*'; same], found.start() as u64)?;
        }
        file.sync_data()?;
        Ok(true)
    }
}

fn failed(path: &Path, error: &io::Error, found: &mut RedactionReport) {
    tracing::warn!(path = %path.display(), %error, "cannot look for purged text");
    found.failed.insert(path.to_owned());
}

#[cfg(test)]
mod tests;
