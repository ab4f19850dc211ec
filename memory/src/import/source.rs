//! The description of a system from which anchord imports: which files it has, how they are
//! recognised, and how they are read.
//!
//! A further system is one module with a [`Source`], and one line in [`SOURCES`](super::SOURCES).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{EarlierTexts, ImportOutcome};
use crate::ids::Kind;
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::Plan;
use crate::provenance::Provenance;

/// One text of a source: a file, or a table of a database with one JSON object a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedText {
    /// The file's path beneath the folder that was named, with `/`, or its own name.
    pub name: String,
    /// The content.
    pub text: String,
}

impl NamedText {
    /// Names a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

/// A system from which anchord imports.
#[derive(Debug)]
pub struct Source {
    /// The name on the wire.
    pub name: &'static str,
    /// The files in words, for a person who named something else.
    pub takes: &'static str,
    /// The files that are read of a folder, in this order: names, in which one `*` matches any part
    /// of a name. A name that begins with `**/` also matches in the folders beneath. None of them
    /// needs to exist.
    pub files: &'static [&'static str],
    /// Whether texts have this system's form. They are those of `files`, or one file by any name.
    pub recognises: fn(&Candidate<'_>) -> bool,
    /// Reads the texts. Each step becomes one commit, in this order.
    pub read: fn(&[NamedText]) -> Result<ImportSteps, ImportError>,
    /// The kinds of records that may come of it, as a plan counts them.
    pub kinds: &'static [Kind],
    /// The way to divide it if it is too large for one request.
    pub parts: Parts,
    /// The tables that are read if the file is an `SQLite` database; empty for systems without one.
    pub tables: &'static [Table],
}

/// A table of a database. Each row of the project becomes a line of the text `<name>.jsonl`.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The columns that may name the project of a row. A name may have a worktree after a `/`.
    pub projects: &'static [&'static str],
    /// The column by which rows are ordered.
    pub order: &'static str,
}

/// The ways to divide a source into requests. Each part is planned and committed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// It goes over as a whole.
    One,
    /// One text, by its list `records`.
    Records,
    /// By its texts, none of which needs another.
    Texts,
}

/// The commits of an import, in their order.
pub type ImportSteps = Vec<Box<dyn ImportStep>>;

/// The part of a source that becomes one commit.
pub trait ImportStep: Send + Sync {
    /// Counts its items by kind.
    fn found(&self) -> PerKind<usize>;

    /// Leaves out what does not belong into the user's own memory, or into a project's. Returns
    /// whether that memory takes it at all.
    fn keep_fitting(&mut self, personal: bool) -> bool {
        !personal
    }

    /// Tells the step the project's directory. The user's own memory has none.
    fn set_root(&mut self, _: &str) {}

    /// Tells the step the earlier texts of notes that were corrected here.
    fn set_earlier(&mut self, _: &Arc<EarlierTexts>) {}

    /// Plans the commit. `digest` identifies the source; the same digest again changes nothing.
    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome>;
}

/// The texts of a file or folder that is to be recognised.
#[derive(Debug)]
pub struct Candidate<'a> {
    /// The texts, in the order of [`Source::files`].
    pub texts: &'a [NamedText],
    fields: OnceCell<BTreeSet<String>>,
}

impl<'a> Candidate<'a> {
    /// Presents texts to be recognised.
    pub fn new(texts: &'a [NamedText]) -> Self {
        Self { texts, fields: OnceCell::new() }
    }

    /// Returns whether the first text is a JSON object with this field.
    pub fn has_field(&self, name: &str) -> bool {
        let fields = self.fields.get_or_init(|| {
            self.texts.first().map(|first| fields_of(&first.text)).unwrap_or_default()
        });
        fields.contains(name)
    }
}

/// Returns the names of a JSON object's fields, or nothing for any other text.
fn fields_of(text: &str) -> BTreeSet<String> {
    let fields = serde_json::from_str::<BTreeMap<String, &RawValue>>(bare(text));
    fields.map(|fields| fields.into_keys().collect()).unwrap_or_default()
}

/// Returns a text without the byte order mark that some editors write.
pub(super) fn bare(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// The source cannot be read. The text fits after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The text is not JSON.
    #[error("read {file}: it is not JSON")]
    Json {
        /// The text's name.
        file: String,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// The text is JSON of another shape.
    #[error("read {file}: it is not a JSON object")]
    Shape {
        /// The text's name.
        file: String,
    },
    /// The version is unknown.
    #[error("read it: it has version {0}; only version 1 is supported")]
    Version(u64),
    /// There is no text.
    #[error("read it: it has no text")]
    Empty,
}
