//! The note on disk that something was purged, and that copies of it are still to be forgotten.
//!
//! Copies of rules and the logs of retrievals are written anew once the records are gone. If the
//! daemon dies before that, the next one finds the note. Nothing else would say that it is due.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::private_file;
use crate::store::StoreError;

/// The file's name, in the memory's directory.
const NAME: &str = "purged.json";

/// The purges of a memory after which copies are still to be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unfinished {
    /// The records that were purged, or were about to be.
    pub(crate) ids: BTreeSet<String>,
}

impl Unfinished {
    /// Notes that records are about to be purged from the memory in `directory`.
    pub(super) fn begin(directory: &Path, ids: BTreeSet<String>) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        let noting = || {
            let mut all = Self::read(directory)?.unwrap_or_default();
            all.ids.extend(ids);
            private_file::replace(&directory.join(NAME), &serde_json::to_vec(&all)?)
        };
        noting().map_err(StoreError::io("note a purge in", directory.join(NAME)))
    }

    /// Reads the note of the memory in `directory`; `None` if nothing is left to be forgotten.
    pub(crate) fn read(directory: &Path) -> io::Result<Option<Self>> {
        match fs::read(directory.join(NAME)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the note, since everything is forgotten. One that another purge has added to since
    /// it was read stays.
    pub(crate) fn end(&self, directory: &Path) -> io::Result<()> {
        if Self::read(directory)?.as_ref() == Some(self) {
            private_file::remove(&directory.join(NAME))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_note_stays_until_all_that_it_names_is_forgotten() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path();
        Unfinished::begin(place, BTreeSet::new()).unwrap();
        assert_eq!(Unfinished::read(place).unwrap(), None, "nothing is purged");
        Unfinished::begin(place, ids(&["r1"])).unwrap();
        let first = Unfinished::read(place).unwrap().unwrap();
        Unfinished::begin(place, ids(&["r2"])).unwrap();
        first.end(place).unwrap();
        let both = Unfinished::read(place).unwrap().unwrap();
        assert_eq!(both.ids, ids(&["r1", "r2"]), "a purge came in between");
        both.end(place).unwrap();
        assert_eq!(Unfinished::read(place).unwrap(), None);
    }

    #[test]
    fn a_note_that_cannot_be_read_is_an_error() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join(NAME), "{").unwrap();
        Unfinished::read(scratch.path()).unwrap_err();
        let begun = Unfinished::begin(scratch.path(), ids(&["r1"]));
        assert!(begun.unwrap_err().to_string().contains(NAME), "it says which file");
    }
}
