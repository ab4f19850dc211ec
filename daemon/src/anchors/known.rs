//! Knowledge about files and the anchors in them. It may be forgotten at any time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anchord_memory::fingerprint::{Fingerprint, Lines, Outcome};
use anchord_memory::{RecordId, Version};

use crate::limits::{ANCHOR_FILES_MAX, ANCHOR_PROJECTS_MAX};
use crate::projects::FileStamp;

/// The knowledge, by the root of each project.
#[derive(Debug, Default)]
pub(super) struct KnownRoots {
    roots: HashMap<PathBuf, KnownFiles>,
}

/// The knowledge about the files beneath a root.
#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    pub(super) files: HashMap<String, KnownFile>,
    /// The paths of all files, with the time of the list, and whether it is complete.
    pub(super) list: Option<(Instant, Vec<String>, bool)>,
}

/// A file as it was read.
#[derive(Debug, Default)]
pub(super) struct KnownFile {
    /// The stamp; `None` if the file was missing, or changed too recently to rely on the stamp.
    pub(super) stamp: Option<FileStamp>,
    /// The digest of its content.
    pub(super) digest: u64,
    /// The number of its lines.
    pub(super) lines: u32,
    /// The outcomes of comparisons with the file.
    pub(super) outcomes: HashMap<(RecordId, Version), KnownOutcome>,
    /// The places of anchors in other files.
    pub(super) elsewhere: HashMap<(RecordId, Version), Elsewhere>,
}

/// The outcome of one comparison, with the fingerprint at the new place.
#[derive(Clone, Debug)]
pub(super) struct KnownOutcome {
    pub(super) outcome: Outcome,
    pub(super) print: Option<Fingerprint>,
}

/// The place of an anchor in another file, or that there is none.
#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    pub(super) found: Option<FoundElsewhere>,
    pub(super) checked: Instant,
}

/// A place in another file.
#[derive(Clone, Debug)]
pub(super) struct FoundElsewhere {
    pub(super) file: String,
    pub(super) stamp: FileStamp,
    pub(super) lines: Lines,
    /// The share of new lines in percent; 0 if all lines are there.
    pub(super) percent: u8,
    pub(super) print: Option<Fingerprint>,
}

impl KnownRoots {
    /// Takes out what is known beneath a root. A check that runs meanwhile reads the files itself.
    pub(super) fn take(&mut self, root: &Path) -> KnownFiles {
        self.roots.remove(root).unwrap_or_default()
    }

    /// Puts it back. The newest stays.
    pub(super) fn put(&mut self, root: &Path, known: KnownFiles) {
        if self.roots.len() >= ANCHOR_PROJECTS_MAX {
            self.roots.clear();
        }
        if known.files.len() <= ANCHOR_FILES_MAX {
            self.roots.insert(root.to_owned(), known);
        }
    }
}
