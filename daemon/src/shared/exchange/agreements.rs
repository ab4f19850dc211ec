//! Ends agreements with files: with those of records that are purged, and with those that went
//! while the memory was not shared.

use std::collections::BTreeSet;
use std::path::Path;

use anchord_memory::{RecordId, ShareId};

use super::Mirror;
use crate::project::OpenProject;

impl Mirror {
    /// Begins to share anew. While nothing was shared, files may have been removed without a wish
    /// to forget their records. So the agreements of a record that lacks a file end. `is_elsewhere`
    /// tells that the files are in another worktree from now on. Those there may be older, so all
    /// agreements end.
    pub(in crate::shared) async fn begin(
        &mut self,
        project: &OpenProject,
        root: &Path,
        is_elsewhere: bool,
    ) -> Result<(), String> {
        self.seen = self.scan(root).await?.files;
        let there: BTreeSet<&ShareId> = self.seen.values().map(|seen| &seen.id).collect();
        let lacks = self.bases.iter().filter(|(id, _)| is_elsewhere || !there.contains(id));
        let lacking: BTreeSet<RecordId> = lacks.map(|(_, base)| base.record).collect();
        let ended = self.end_agreements(&lacking);
        self.missing.clear();
        self.done = None;
        self.mark(project, ended).await;
        Ok(())
    }

    /// Ends the agreements of these records with their files, and returns the files.
    pub(super) fn end_agreements(&mut self, records: &BTreeSet<RecordId>) -> BTreeSet<ShareId> {
        let over = self.bases.iter().filter(|(_, base)| records.contains(&base.record));
        let over: BTreeSet<ShareId> = over.map(|(id, _)| id.clone()).collect();
        self.bases.retain(|id, _| !over.contains(id));
        over
    }
}
