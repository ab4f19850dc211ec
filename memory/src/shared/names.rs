//! The names of the files of shared records.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use crate::ids::{Kind, RecordId, ShareId};
use crate::limits::SLUG_CHARS_MAX;
use crate::memory::Memory;
use crate::record::Record;

/// The end of a file's name.
const SUFFIX: &str = ".md";

/// The records of a memory by the ids of their files.
#[derive(Clone, Debug, Default)]
pub struct FileNames {
    records: BTreeMap<ShareId, RecordId>,
}

impl FileNames {
    /// Returns the ids of all records that are shared or were. `name` is that of the memory.
    pub fn of(memory: &Memory, name: &str) -> Self {
        let known = memory.records().filter(|record| record.kind().is_shared());
        let ids = known.flat_map(|record| {
            let own = (record.kind() == Kind::Topic).then(|| Self::own_id(record, name));
            own.into_iter().chain([Self::id(record, name)]).map(|id| (id, record.id))
        });
        Self { records: ids.collect() }
    }

    /// Returns the id of a record's file: the one that it came with, or one of its own.
    pub fn id(record: &Record, name: &str) -> ShareId {
        record.share_id.clone().unwrap_or_else(|| Self::own_id(record, name))
    }

    /// Returns the id that this memory gives a record. A topic's file with it is this clone's own.
    pub fn own_id(record: &Record, name: &str) -> ShareId {
        ShareId::derive(name, record.id)
    }

    /// Returns the path of a record's first file, relative to the shared directory:
    /// `<kind>/<id>-<slug>.md`. The slug is for people and means nothing.
    pub fn path(id: &ShareId, record: &Record) -> String {
        let kind = record.kind().noun();
        match slug(&record.body.fields().name()) {
            slug if slug.is_empty() => format!("{kind}/{id}{SUFFIX}"),
            slug => format!("{kind}/{id}-{slug}{SUFFIX}"),
        }
    }

    /// Returns the id and the kind in the path of a file, or `None` if the path is not that of a
    /// shared record.
    pub fn parse(path: &str) -> Option<(Kind, ShareId)> {
        let (folder, name) = path.split_once('/')?;
        let is_of = |kind: &Kind| kind.is_shared() && kind.noun() == folder;
        let kind = Kind::ALL.into_iter().find(is_of)?;
        let stem = name.strip_suffix(SUFFIX)?;
        let id = stem.split_once('-').map_or(stem, |(id, _)| id);
        Some((kind, id.parse().ok()?))
    }

    /// Returns the record with this id.
    pub fn record(&self, id: &ShareId) -> Option<RecordId> {
        self.records.get(id).copied()
    }

    /// Returns all ids and records.
    pub fn iter(&self) -> impl Iterator<Item = (&ShareId, RecordId)> {
        self.records.iter().map(|(id, record)| (id, *record))
    }
}

/// Returns a text as a part of a file's name that every file system takes. It has lower-case ASCII
/// letters and digits, with a hyphen for each run of others.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    let plain = text.nfkd().filter(|c| !unicode_normalization::char::is_combining_mark(*c));
    for c in plain.map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= SLUG_CHARS_MAX {
            break;
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}
