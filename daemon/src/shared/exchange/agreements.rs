//! Ends agreements with files: with those of records that are purged, and with those that went
//! while the memory was not shared.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anchord_memory::shared::{FileForm, FileNames, FilesOfTopic};
use anchord_memory::{Memory, RecordId, ShareId};

use super::Mirror;
use crate::blocking::run_blocking;
use crate::project::OpenProject;
use crate::shared::decision::{Bases, Remove};
use crate::shared::place::{DIRECTORY, file};
use crate::shared::scan::{Scan, ScannedFile};

impl Mirror {
    /// Removes the files of records that are about to be purged. Returns those that stay, because
    /// they cannot be read; so no pass takes them in.
    ///
    /// The agreements with all files of the records end first. If nothing is purged after all, the
    /// files are written again, and none counts as deleted.
    pub(in crate::shared) async fn remove_files_of(
        &mut self,
        project: &OpenProject,
        root: &Path,
        records: &BTreeSet<RecordId>,
    ) -> Result<Vec<PathBuf>, String> {
        let scan = self.scan(root).await?;
        let (memory, name) = (project.memory(), project.id.to_string());
        let (bases, wanted) = (self.bases.clone(), records.clone());
        let finding = run_blocking(move || {
            let found = files_of(&memory, &name, &bases, &scan, &wanted);
            (found, scan)
        });
        let ((removes, unread), mut scan) = finding.await;
        let paths: Vec<String> = removes.iter().map(|remove| remove.path.clone()).collect();
        let mut changed = self.end_agreements(records);
        let removed = self.put(root, &mut scan, Vec::new(), removes, &mut changed).await;
        self.mark(project, changed).await;
        self.seen = scan.files;
        self.done = None;
        removed?;
        match paths.iter().find(|path| self.seen.contains_key(*path)) {
            Some(path) => Err(format!("{} has just been changed", file(path).display())),
            None => Ok(unread),
        }
    }

    /// Begins to share anew. While nothing was shared, files may have been removed without a wish
    /// to forget their records. So the agreements of a record that lacks a file end.
    pub(in crate::shared) async fn begin(
        &mut self,
        project: &OpenProject,
        root: &Path,
    ) -> Result<(), String> {
        self.seen = self.scan(root).await?.files;
        let there: BTreeSet<&ShareId> = self.seen.values().map(|seen| &seen.id).collect();
        let lacks = self.bases.iter().filter(|(id, _)| !there.contains(id));
        let lacking: BTreeSet<RecordId> = lacks.map(|(_, base)| base.record).collect();
        let ended = self.end_agreements(&lacking);
        self.missing.clear();
        self.done = None;
        self.mark(project, ended).await;
        Ok(())
    }

    /// Ends the agreements of these records with their files, and returns the files.
    fn end_agreements(&mut self, records: &BTreeSet<RecordId>) -> BTreeSet<ShareId> {
        let over = self.bases.iter().filter(|(_, base)| records.contains(&base.record));
        let over: BTreeSet<ShareId> = over.map(|(id, _)| id.clone()).collect();
        self.bases.retain(|id, _| !over.contains(id));
        over
    }
}

/// Returns how to remove the files of these records, and the paths that cannot be read. `name` is
/// that of the memory.
fn files_of(
    memory: &Memory,
    name: &str,
    bases: &Bases,
    scan: &Scan,
    records: &BTreeSet<RecordId>,
) -> (Vec<Remove>, Vec<PathBuf>) {
    let names = FileNames::of(memory, name);
    let live = records.iter().filter_map(|id| memory.record(*id)).filter(|it| it.is_shared());
    let topics: BTreeSet<String> = live.filter_map(|record| FilesOfTopic::key(record)).collect();
    let is_of_topic =
        |form: &FileForm| form.content.topic_key().is_some_and(|key| topics.contains(&key));
    let is_theirs = |seen: &ScannedFile| {
        // A file that was once a record's own may be another's by now.
        let known = bases.get(&seen.id).map(|base| base.record);
        known.or_else(|| names.record(&seen.id)).is_some_and(|record| records.contains(&record))
            || seen.form.as_ref().is_ok_and(is_of_topic)
    };
    let (mut removes, mut unread) = (Vec::new(), Vec::new());
    for (path, seen) in scan.files.iter().filter(|(_, seen)| is_theirs(seen)) {
        match seen.digest.clone() {
            Some(expected) => {
                removes.push(Remove { id: seen.id.clone(), path: path.clone(), expected });
            }
            None => unread.push(file(path)),
        }
    }
    if scan.is_there && !scan.is_whole {
        unread.push(DIRECTORY.into());
    }
    (removes, unread)
}
