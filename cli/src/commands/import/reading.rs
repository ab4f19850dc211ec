//! Recognises which system's memory a file or folder holds, and reads what that system has there.
//!
//! The systems describe themselves in [`SOURCES`]. The daemon gets texts, never a path to open.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anchord_memory::import::{Candidate, INSTRUCTIONS, NamedText, SOURCES, Source, source};
use anyhow::Context;
use serde_json::value::RawValue;

use super::super::utf8;
use crate::exit::Error;
use crate::limits::{EXPORT_BYTES_MAX, IMPORT_DEPTH_MAX, IMPORT_FILES_MAX};
use crate::show;

/// The recognised content of a path.
#[derive(Debug)]
pub(super) struct Recognised {
    pub(super) source: &'static Source,
    pub(super) texts: Vec<NamedText>,
    /// One line for each file that could not be read.
    pub(super) left_out: Vec<String>,
}

/// Reads the files of the first system that recognises a path.
pub(super) fn recognise(path: &Path) -> Result<Recognised, Error> {
    if path.is_dir() { Folder::new(path).recognise() } else { recognise_file(path) }
}

fn recognise_file(path: &Path) -> Result<Recognised, Error> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let text = Bytes::read(path)?.into_text();
    let text = text.map_err(|why| Error::usage(format!("{} {why}", path.display())))?;
    let texts = vec![NamedText::new(name, text)];
    let candidate = Candidate::new(&texts);
    let found = SOURCES.iter().find(|source| (source.recognises)(&candidate));
    let source = found.ok_or_else(|| unknown(path, texts.first()))?;
    Ok(Recognised { source, texts, left_out: Vec::new() })
}

/// Reads those of a project's instruction files that exist.
pub(super) fn instructions(root: &Path, names: &[&str]) -> Result<Recognised, Error> {
    let source = source(INSTRUCTIONS).ok_or_else(|| Error::failed("the source is missing"))?;
    let mut texts = Vec::new();
    for name in names {
        let path = root.join(name);
        if !path.is_file() {
            continue;
        }
        let text = Bytes::read(&path)?.into_text();
        let text = text.map_err(|why| Error::usage(format!("{} {why}", path.display())))?;
        // One of them may be a link to another.
        if !texts.iter().any(|known: &NamedText| known.text == text) {
            texts.push(NamedText::new(*name, text));
        }
    }
    if texts.is_empty() {
        let names = show::listed(names, "or");
        return Err(Error::usage(format!("{} has no {names}", root.display())));
    }
    Ok(Recognised { source, texts, left_out: Vec::new() })
}

/// A folder, of which each file is read at most once.
struct Folder<'a> {
    path: &'a Path,
    read: BTreeMap<PathBuf, Result<String, &'static str>>,
    bytes: u64,
}

impl<'a> Folder<'a> {
    fn new(path: &'a Path) -> Self {
        Self { path, read: BTreeMap::new(), bytes: 0 }
    }

    fn recognise(mut self) -> Result<Recognised, Error> {
        for source in SOURCES {
            let (texts, left_out) = self.texts_of(source)?;
            if !texts.is_empty() && (source.recognises)(&Candidate::new(&texts)) {
                return Ok(Recognised { source, texts, left_out });
            }
        }
        let json = self.read.iter().find(|(path, _)| is_json(&path.to_string_lossy()));
        let (path, text) = match json {
            Some((path, Ok(text))) => (path.as_path(), text.as_str()),
            _ => (self.path, ""),
        };
        Err(unknown(path, Some(&NamedText::new(path.to_string_lossy(), text))))
    }

    /// Reads the files that a system has, in the order in which it lists them.
    fn texts_of(&mut self, source: &Source) -> Result<(Vec<NamedText>, Vec<String>), Error> {
        let (mut texts, mut left_out) = (Vec::new(), Vec::new());
        for file in self.files_of(source)? {
            let name = file.strip_prefix(self.path).unwrap_or(&file);
            let name = utf8(name.to_owned())?;
            match self.text(&file)? {
                Ok(text) => texts.push(NamedText::new(name, text.clone())),
                Err(why) => left_out.push(format!("{name} {why}; left out")),
            }
        }
        Ok((texts, left_out))
    }

    fn files_of(&self, source: &Source) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        for pattern in source.files {
            match pattern.strip_prefix("**/") {
                Some(pattern) => list(self.path, pattern, IMPORT_DEPTH_MAX, &mut files)?,
                None if pattern.contains('*') => list(self.path, pattern, 0, &mut files)?,
                None => files.extend(Some(self.path.join(pattern)).filter(|path| path.is_file())),
            }
        }
        Ok(files)
    }

    fn text(&mut self, path: &Path) -> Result<&Result<String, &'static str>, Error> {
        if !self.read.contains_key(path) {
            let bytes = Bytes::read(path)?;
            self.bytes += bytes.0.len() as u64;
            if self.bytes > EXPORT_BYTES_MAX {
                return Err(too_large(self.path));
            }
            self.read.insert(path.to_owned(), bytes.into_text());
        }
        Ok(self.read.get(path).unwrap_or(&Err("is gone")))
    }
}

/// Lists the files whose names match, in a folder and to this depth beneath it, ordered by name.
/// Hidden folders and links are left alone.
fn list(folder: &Path, pattern: &str, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let cannot = || format!("cannot list {}", folder.display());
    let entries = folder.read_dir().with_context(cannot)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>().with_context(cannot)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (name, kind) = (entry.file_name(), entry.file_type().with_context(cannot)?);
        let name = name.to_string_lossy();
        if kind.is_file() && matches(pattern, &name) {
            files.push(entry.path());
        } else if kind.is_dir() && depth > 0 && !name.starts_with('.') {
            list(&entry.path(), pattern, depth - 1, files)?;
        }
        if files.len() > IMPORT_FILES_MAX {
            let what = format!("{} has more than {IMPORT_FILES_MAX} files", folder.display());
            return Err(Error::usage(what).with_action("Import its folders one by one."));
        }
    }
    Ok(())
}

/// Returns whether a name matches a pattern, in which one `*` is any part of a name.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| rest.ends_with(tail)),
    }
}

/// The content of a file, within the limit.
struct Bytes(Vec<u8>);

impl Bytes {
    fn read(path: &Path) -> Result<Self, Error> {
        let file = match File::open(path) {
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => {
                let what = format!("{} does not exist", path.display());
                return Err(Error::usage(what).with_action(takes()));
            }
            file => file.with_context(|| format!("cannot open {}", path.display()))?,
        };
        let mut bytes = Vec::new();
        let read = file.take(EXPORT_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.with_context(|| format!("cannot read {}", path.display()))?;
        if bytes.len() as u64 > EXPORT_BYTES_MAX { Err(too_large(path)) } else { Ok(Self(bytes)) }
    }

    fn into_text(self) -> Result<String, &'static str> {
        String::from_utf8(self.0).map_err(|_| "is not UTF-8 text")
    }
}

fn too_large(path: &Path) -> Error {
    let limit = show::bytes(EXPORT_BYTES_MAX);
    Error::usage(format!("{} is larger than {limit}", path.display()))
}

/// Says why nobody recognises a path. A damaged JSON file is named as such.
fn unknown(path: &Path, text: Option<&NamedText>) -> Error {
    let text = text.filter(|text| is_json(&text.name)).map(|text| text.text.as_str());
    let object = text.map(|text| text.trim_start_matches('\u{feff}'));
    if let Some(Err(reason)) = object.map(serde_json::from_str::<BTreeMap<String, &RawValue>>) {
        return not_json(path, &reason);
    }
    let what = format!("{} has nothing in it that anchord can bring over", path.display());
    Error::usage(what).with_action(takes())
}

/// Says that a file is damaged.
pub(super) fn not_json(path: &Path, reason: &serde_json::Error) -> Error {
    Error::usage(format!("{} is not a JSON object: {reason}", path.display())).with_action(takes())
}

fn is_json(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "json")
}

/// Lists what an import takes.
fn takes() -> String {
    let takes = SOURCES.iter().map(|source| source.takes).filter(|takes| !takes.is_empty());
    let takes: Vec<&str> = takes.collect();
    format!("Name one of these: {}.", takes.join("; "))
}

#[cfg(test)]
mod tests;
