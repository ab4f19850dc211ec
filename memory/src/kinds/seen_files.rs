//! The files that a record names, as they were when it was written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::limits::SEEN_FILES_MAX;

/// Digests of the files that a record names. A file that is not among them could not be read when
/// the record was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeenFiles {
    /// A digest of each file's content, by the path relative to the project's root.
    digests: BTreeMap<String, u64>,
    /// The state of the files now, in a copy that is shown. It is never stored.
    #[serde(skip)]
    pub staleness: Option<Staleness>,
}

/// The state of a record's files, compared with the time at which it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Staleness {
    /// Files whose content has changed, or that are gone.
    pub changed: u32,
    /// Files that could not be looked at, or not in time.
    pub unchecked: u32,
}

impl SeenFiles {
    /// Returns files with their digests. Those beyond a limit are left out.
    pub fn new(digests: impl IntoIterator<Item = (String, u64)>) -> Self {
        let digests = digests.into_iter().take(SEEN_FILES_MAX).collect();
        Self { digests, staleness: None }
    }

    /// Returns whether nothing is known of any file.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// Returns whether a file is among them.
    pub fn has(&self, file: &str) -> bool {
        self.digests.contains_key(file)
    }

    /// Returns the files with their digests.
    pub fn digests(&self) -> &BTreeMap<String, u64> {
        &self.digests
    }

    /// Takes over what a later write saw: it says the same of the files as they were then.
    pub(crate) fn unite(&mut self, later: &Self) {
        for (file, digest) in &later.digests {
            if self.digests.len() < SEEN_FILES_MAX || self.digests.contains_key(file) {
                self.digests.insert(file.clone(), *digest);
            }
        }
    }

    /// Replaces the paths for which `within` gives another.
    pub(super) fn move_files(&mut self, within: &dyn Fn(&str) -> Option<String>) {
        let moved = std::mem::take(&mut self.digests).into_iter();
        self.digests =
            moved.map(|(file, digest)| (within(&file).unwrap_or(file), digest)).collect();
    }
}

#[cfg(test)]
mod tests;
