//! Records about a file that is about to be read or edited.
//!
//! Only records that name the file, or the directory that it is in, count. A shared word says
//! little, and a directory further up says nothing. Among equally near records, lessons come first.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::files::normalise;
use crate::fold::{names_path, path_mentions};
use crate::ids::{RecordId, Timestamp};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::{Record, RecordState};
use crate::search::{Find, Query, Tuning};

/// A file that is about to be used, and the reader.
#[derive(Clone, Copy, Debug)]
pub struct FileQuery<'a> {
    /// The reader; records that it may not see are left out.
    pub reader: &'a Reader,
    /// The file's path, relative to the project's root.
    pub file: &'a str,
    /// Records whose text the model already has.
    pub given: &'a BTreeSet<RecordId>,
    /// The current time, which decides which notes have expired.
    pub now: Timestamp,
}

/// Returns the records about a file, best first. Usually there is none.
pub fn about_file(memory: &Memory, of: &FileQuery<'_>) -> Vec<RecordId> {
    let file = normalise(of.file);
    let Some(place) = FileParts::of(&file) else { return Vec::new() };
    let found: RefCell<BTreeSet<(Rank, RecordId)>> = RefCell::default();
    let keep = |id: RecordId| {
        let record = memory.record(id)?;
        let fits = record.state != RecordState::Forgotten
            && of.reader.sees(record)
            && !of.given.contains(&id)
            && !record.note().is_some_and(|note| note.is_expired(of.now));
        let nearness = fits.then(|| place.nearness(record)).flatten()?;
        found.borrow_mut().insert((rank(record, nearness), id));
        Some(1.0)
    };
    for query in place.queries() {
        // Only the path itself counts, so a word near it would lead nowhere.
        let query = Query::plain(&query).literally();
        let tuning = &Tuning::COMPACTOR;
        let find = Find { query: &query, tuning, keep: &keep, limit: 0, explain: false };
        // The order is not that of the words' scores, so counting is enough.
        memory.search().count(&find, usize::MAX);
    }
    found.into_inner().into_iter().map(|(_, id)| id).collect()
}

/// The nearness of a record to a file: it names the file's path, only its name, or its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    File,
    Name,
    Directory,
}

/// The sort key of a record, best first. Active records come first, then the nearest, then lessons.
/// Records that an agent wrote come before others, and then the newest.
type Rank = (bool, Nearness, u8, bool, std::cmp::Reverse<i64>);

fn rank(record: &Record, nearness: Nearness) -> Rank {
    let kind = record.kind().facts().file_place;
    let archived = !record.state.is_active();
    (archived, nearness, kind, record.is_captured(), std::cmp::Reverse(record.updated.time.0))
}

/// A file, and the parts of its path by which texts name it.
struct FileParts<'a> {
    file: &'a str,
    name: &'a str,
    /// The directory without a slash at its end; empty for a file at the root.
    directory: &'a str,
}

impl<'a> FileParts<'a> {
    fn of(file: &'a str) -> Option<Self> {
        let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
        (!name.is_empty()).then_some(Self { file, name, directory })
    }

    /// Returns the queries that find records about it.
    fn queries(&self) -> impl Iterator<Item = String> {
        let directory = self.directory.to_owned();
        [self.name.to_owned(), directory].into_iter().filter(|query| !query.is_empty())
    }

    /// Returns how near a record is; `None` if it is about something else.
    fn nearness(&self, record: &Record) -> Option<Nearness> {
        let fields = record.body.fields();
        let files = fields.searched().files.into_iter();
        let named = if fields.lists_directories() {
            files.filter_map(|path| self.path_nearness(path)).min()
        } else {
            files.filter(|path| *path == self.file).map(|_| Nearness::File).next()
        };
        named.or_else(|| self.text_nearness(&fields.file_text()))
    }

    fn path_nearness(&self, path: &str) -> Option<Nearness> {
        let path = path.trim_end_matches("/*").trim_end_matches("/**").trim_end_matches('/');
        if path == self.file {
            return Some(Nearness::File);
        }
        let beneath = self.file.strip_suffix(path).is_some_and(|before| before.ends_with('/'));
        if beneath && path.contains('/') {
            return Some(Nearness::File);
        }
        (path == self.directory && !path.is_empty()).then_some(Nearness::Directory)
    }

    fn text_nearness(&self, text: &str) -> Option<Nearness> {
        let names_it = if self.directory.is_empty() { names_bare } else { names_path };
        if names_it(text, self.file) {
            return Some(Nearness::File);
        }
        let tail = self.tail();
        if tail != self.name && names_path(text, tail) {
            return Some(Nearness::File);
        }
        if is_telling(self.name) && names_bare(text, self.name) {
            return Some(Nearness::Name);
        }
        let mut directories = endings(self.directory);
        let named = directories.any(|directory| names_directory(text, directory));
        (named || self.is_meant_by(text)).then_some(Nearness::Directory)
    }

    /// Whether a text names files like this one by a pattern: `templates/<lang>/<code>.j2`,
    /// `jobs/*.py`.
    fn is_meant_by(&self, text: &str) -> bool {
        let words =
            text.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | ';'));
        let patterns = words.filter(|word| word.contains('/') && word.contains(['<', '*', '{']));
        patterns.map(|pattern| pattern.trim_end_matches(['.', ':', ')'])).any(|pattern| {
            let parts: Vec<&str> = pattern.trim_start_matches('(').split('/').collect();
            let own: Vec<&str> = self.file.split('/').collect();
            let from = own.len().checked_sub(parts.len());
            let plain = parts.iter().filter(|part| !part.contains(['<', '*', '{'])).count();
            plain > 0
                && from
                    .and_then(|from| own.get(from..))
                    .is_some_and(|own| own.iter().zip(&parts).all(|(own, part)| is_like(own, part)))
        })
    }

    /// Returns the file's name with the directory that it is in.
    fn tail(&self) -> &'a str {
        let from = self.directory.rfind('/').map_or(0, |at| at + 1);
        self.file.get(from..).unwrap_or(self.file)
    }
}

/// Returns the names that texts may have for a directory: its full path and its last parts. Each
/// has at least two parts, to tell directories of the same name apart.
fn endings(directory: &str) -> impl Iterator<Item = &str> {
    let starts = std::iter::once(0).chain(directory.match_indices('/').map(|(at, _)| at + 1));
    starts.filter_map(|at| directory.get(at..)).filter(|ending| ending.contains('/'))
}

/// Whether a name fits a pattern in which `*`, `<…>` and `{…}` match anything.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some(at) = pattern.find(['<', '*', '{']) else { return name == pattern };
    let after =
        pattern.rfind(['>', '*', '}']).map_or("", |end| pattern.get(end + 1..).unwrap_or(""));
    let before = pattern.get(..at).unwrap_or_default();
    name.len() > before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
}

/// Whether a text names a directory itself, not only something in it: `src/billing`, `src/billing/`
/// or `src/billing/*`.
fn names_directory(text: &str, directory: &str) -> bool {
    path_mentions(text, directory).any(|at| {
        let after = text.get(at + directory.len()..).unwrap_or_default();
        let inside = after.strip_prefix('/').is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '{'))
        });
        !inside
    })
}

/// Whether a text names a file without a directory. A path to another directory is that of another
/// file.
fn names_bare(text: &str, name: &str) -> bool {
    path_mentions(text, name).any(|at| {
        let before = text.get(..at).unwrap_or_default();
        let here = before.strip_suffix("./").unwrap_or(before);
        !here.ends_with(['/', '.'])
    })
}

/// Whether few other files are likely to have this name.
fn is_telling(name: &str) -> bool {
    const COMMON: [&str; 16] = [
        "index.ts",
        "index.js",
        "index.tsx",
        "mod.rs",
        "main.rs",
        "lib.rs",
        "main.py",
        "main.go",
        "__init__.py",
        "Cargo.toml",
        "package.json",
        "README.md",
        "Makefile",
        "Dockerfile",
        "conftest.py",
        "values.yaml",
    ];
    name.contains('.') && !COMMON.contains(&name)
}

#[cfg(test)]
mod tests;
