//! The last agreements of records with their files, and the actions that make them agree again.

use std::collections::BTreeMap;

use anchord_memory::shared::FileForm;
use anchord_memory::{Record, RecordId, ShareId, TakeItem, Version};
use serde::{Deserialize, Serialize};

use super::scan::{ScannedFile, Unusable};
use crate::api::SharedRemark;
use crate::projects::FileDigest;
use crate::secrets::{Removed, clean_fields};

/// The last agreement of a record with its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) record: RecordId,
    /// The record's version then.
    pub(super) version: Version,
    /// The file's bytes then.
    pub(super) digest: FileDigest,
    /// The file's path in the shared directory.
    pub(super) path: String,
}

/// The last agreements by id.
pub(super) type Bases = BTreeMap<ShareId, Base>;

/// The files that were refused or are in conflict, with the file and the version of the record for
/// which that holds.
pub(super) type HeldFiles = BTreeMap<ShareId, (Option<FileDigest>, Option<Version>, SharedRemark)>;

/// A change of a file to take in.
#[derive(Clone, Debug)]
pub(super) struct Take {
    pub(super) item: TakeItem,
    /// The earliest version to look up, if the record has changed as well. Then `item` lacks its
    /// base.
    pub(super) look_up: Option<Version>,
    /// A file to name in a remark.
    pub(super) path: String,
    /// The bytes of the file, or of all files of a topic.
    pub(super) digest: Option<FileDigest>,
    /// The files of the item, with their paths and bytes. A topic may have several.
    pub(super) files: Vec<(ShareId, String, FileDigest)>,
    /// Files that were deleted.
    pub(super) gone: Vec<ShareId>,
    /// Files that belong to another topic now.
    pub(super) moved: Vec<ShareId>,
}

/// A file to write.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) id: ShareId,
    pub(super) base: Base,
    pub(super) text: String,
    /// The bytes that it replaces.
    pub(super) expected: Option<FileDigest>,
}

/// A file to remove.
#[derive(Clone, Debug)]
pub(super) struct Remove {
    pub(super) id: ShareId,
    pub(super) path: String,
    pub(super) expected: FileDigest,
}

/// The actions that make records and files agree.
#[derive(Debug, Default)]
pub(super) struct ExchangePlan {
    pub(super) takes: Vec<Take>,
    pub(super) writes: Vec<Write>,
    pub(super) removes: Vec<Remove>,
    /// Records and files that agree.
    pub(super) agreed: Vec<(ShareId, Base)>,
    /// Agreements that are over.
    pub(super) dropped: Vec<ShareId>,
    pub(super) remarks: Vec<SharedRemark>,
    /// The number of shared records.
    pub(super) records: usize,
}

impl ExchangePlan {
    /// Names a file that has what looks like a secret.
    pub(super) fn remark_secrets(&mut self, path: &str, seen: &ScannedFile) {
        if let Some(secrets) = &seen.secrets {
            let what = format!("it has what looks like a secret ({secrets}), which is left out");
            self.remarks.push(SharedRemark::file(path, &what));
        }
    }

    /// Names a file that is left alone.
    pub(super) fn remark_unusable(&mut self, path: &str, unusable: &Unusable) {
        let remark = SharedRemark::file(path, &unusable.what);
        self.remarks.push(SharedRemark { is_conflict: unusable.is_conflict, ..remark });
    }

    /// Takes an item in, unless that was tried and nothing has changed since.
    pub(super) fn take(&mut self, held: &HeldFiles, version: Option<Version>, take: Take) {
        match held.get(&take.item.id) {
            Some((digest, at, remark)) if (digest, at) == (&take.digest, &version) => {
                self.remarks.push(remark.clone());
            }
            _ => self.takes.push(take),
        }
    }

    /// Writes the file of a record, unless it would have what looks like a secret.
    pub(super) fn write(
        &mut self,
        id: &ShareId,
        stored: &Record,
        form: &FileForm,
        path: String,
        expected: Option<FileDigest>,
    ) {
        let (mut fields, mut removed) = (form.content.to_json(), Removed::default());
        clean_fields(&mut fields, &mut removed);
        if !removed.no_secrets() {
            let what = format!(
                "{} has what looks like a secret ({}), so it is not written; edit it without",
                stored.id,
                removed.kinds()
            );
            self.remarks.push(SharedRemark::record(stored.id, &what));
            return;
        }
        let text = form.render();
        let digest = FileDigest::of(text.as_bytes());
        let base = Base { record: stored.id, version: stored.version, digest, path };
        self.writes.push(Write { id: id.clone(), base, text, expected });
    }
}
