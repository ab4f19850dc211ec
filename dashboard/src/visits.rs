//! The time of a person's last visit to each memory, and the records that were kept. One small
//! file, written atomically, for this user alone.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anchord_memory::{RecordId, Version};
use serde::{Deserialize, Serialize};

/// Kept records of one memory that are remembered; the oldest go first.
const KEPT_MAX: usize = 5_000;

/// A person's visits to memories, by project id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Visits {
    memories: BTreeMap<String, Visit>,
}

/// The visits to one memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Visit {
    /// The time of the last visit.
    last: Option<i64>,
    /// The records that were kept as they were, with their versions.
    kept: Vec<(RecordId, Version)>,
}

impl Visits {
    /// Reads the file. A missing one says that nothing was seen.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes the file whole, or not at all.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let directory: PathBuf = path.parent().unwrap_or(Path::new(".")).to_owned();
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }

    /// Returns the time of the last visit to a memory.
    pub(crate) fn last(&self, project: &str) -> Option<i64> {
        self.memories.get(project)?.last
    }

    /// Records a visit.
    pub(crate) fn visit(&mut self, project: &str, now: i64) {
        self.memories.entry(project.to_owned()).or_default().last = Some(now);
    }

    /// Records that a person wants to keep a record as it is.
    pub(crate) fn keep(&mut self, project: &str, id: RecordId, version: Version) {
        let kept = &mut self.memories.entry(project.to_owned()).or_default().kept;
        kept.retain(|(other, _)| *other != id);
        kept.push((id, version));
        kept.drain(..kept.len().saturating_sub(KEPT_MAX));
    }

    /// Returns whether a person kept this version of a record.
    pub(crate) fn is_kept(&self, project: &str, id: RecordId, version: Version) -> bool {
        self.memories.get(project).is_some_and(|visit| visit.kept.contains(&(id, version)))
    }
}

#[cfg(test)]
mod tests {
    //! The file, and what it remembers.

    use super::*;

    #[test]
    fn a_kept_version_and_a_visit_survive_and_a_new_version_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dashboard.json");
        let mut visits = Visits::read(&path).unwrap();
        let id: RecordId = "n7".parse().unwrap();
        visits.visit("p", 5);
        visits.keep("p", id, Version(2));
        visits.write(&path).unwrap();
        let visits = Visits::read(&path).unwrap();
        assert_eq!((visits.last("p"), visits.last("q")), (Some(5), None));
        assert!(visits.is_kept("p", id, Version(2)));
        assert!(!visits.is_kept("p", id, Version(3)), "it has changed since");
        assert!(!visits.is_kept("q", id, Version(2)));
        std::fs::write(&path, "{").unwrap();
        assert_eq!(Visits::read(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn the_oldest_kept_records_are_forgotten_first() {
        let mut visits = Visits::default();
        let id = |number: usize| format!("n{number}").parse::<RecordId>().unwrap();
        (1..=KEPT_MAX + 1).for_each(|number| visits.keep("p", id(number), Version(1)));
        assert!(!visits.is_kept("p", id(1), Version(1)));
        assert!(visits.is_kept("p", id(2), Version(1)));
    }
}
