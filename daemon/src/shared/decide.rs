//! Decides what to do with each shared record and its file. Data in, data out.

use std::collections::{BTreeMap, BTreeSet};

use anchord_memory::shared::{FileForm, FileNames, SharedContent};
use anchord_memory::{Memory, Record, RecordId, ShareId, TakeItem, Version};
use serde::{Deserialize, Serialize};

use super::scan::{Scan, ScannedFile};
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
pub(super) type Held = BTreeMap<ShareId, (Option<FileDigest>, Option<Version>, SharedRemark)>;

/// A change of a file to take in.
#[derive(Clone, Debug)]
pub(super) struct Take {
    pub(super) item: TakeItem,
    /// The earliest version to look up, if the record has changed as well. Then `item` lacks its
    /// base.
    pub(super) look_up: Option<Version>,
    pub(super) path: String,
    pub(super) digest: Option<FileDigest>,
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
pub(super) struct Decision {
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

/// Compares records and files with their last agreement. `name` is that of the memory.
pub(super) fn decide(
    memory: &Memory,
    name: &str,
    bases: &Bases,
    scan: &Scan,
    held: &Held,
) -> Decision {
    let names = FileNames::of(memory, name);
    let mut decision = Decision::default();
    let odd = scan.odd.iter().map(|(path, what)| SharedRemark::file(path, what));
    decision.remarks.extend(odd);
    let mut files: BTreeMap<&ShareId, (&str, &ScannedFile)> = BTreeMap::new();
    for (path, seen) in &scan.files {
        let known = bases.get(&seen.id).map(|base| base.path.as_str());
        match files.get(&seen.id) {
            None => drop(files.insert(&seen.id, (path, seen))),
            Some((other, _)) => {
                let (kept, left) =
                    if known == Some(path) { (path, *other) } else { (path, path.as_str()) };
                let what = "another file has the same id; remove one of them";
                decision.remarks.push(SharedRemark::conflict_in(left, what));
                if left != path {
                    files.insert(&seen.id, (kept, seen));
                }
            }
        }
    }
    let live = names.iter().filter(|(_, id)| memory.record(*id).is_some_and(|it| it.is_shared()));
    let live: BTreeSet<&ShareId> = live.map(|(id, _)| id).collect();
    decision.records = live.len();
    let ids: BTreeSet<&ShareId> =
        live.into_iter().chain(files.keys().copied()).chain(bases.keys()).collect();
    for id in ids {
        let record = names.record(id);
        let stored = record.and_then(|record| memory.record(record)).map(AsRef::as_ref);
        let one = One { id, record, stored, base: bases.get(id), held: held.get(id) };
        match files.get(id) {
            Some((path, seen)) => one.with_file(path, seen, &mut decision),
            None if scan.is_whole => one.without_file(&mut decision),
            None => {}
        }
    }
    decision
}

/// One record and its file.
struct One<'a> {
    id: &'a ShareId,
    record: Option<RecordId>,
    stored: Option<&'a Record>,
    base: Option<&'a Base>,
    held: Option<&'a (Option<FileDigest>, Option<Version>, SharedRemark)>,
}

impl One<'_> {
    fn with_file(&self, path: &str, seen: &ScannedFile, decision: &mut Decision) {
        let (form, digest) = match (&seen.form, &seen.digest) {
            (Ok(form), Some(digest)) => (form, digest),
            (Err(unusable), _) => {
                let remark = SharedRemark::file(path, &unusable.what);
                let is_conflict = unusable.is_conflict;
                decision.remarks.push(SharedRemark { is_conflict, ..remark });
                return;
            }
            (Ok(_), None) => return,
        };
        if let Some(secrets) = &seen.secrets {
            let what = format!("it has what looks like a secret ({secrets}), which is left out");
            decision.remarks.push(SharedRemark::file(path, &what));
        }
        let is_untouched = self.base.is_some_and(|base| base.digest == *digest);
        let Some(stored) = self.stored.filter(|stored| stored.is_shared()) else {
            if is_untouched {
                let (id, path, expected) = (self.id.clone(), path.to_owned(), digest.clone());
                decision.removes.push(Remove { id, path, expected });
            } else {
                self.take(path, Some((form, digest)), None, None, decision);
            }
            return;
        };
        if stored.kind() != seen.kind {
            decision.remarks.push(SharedRemark::file(path, "it is in the folder of another kind"));
            return;
        }
        let ours = SharedContent::of(stored);
        let agreed = Base {
            record: stored.id,
            version: stored.version,
            digest: digest.clone(),
            path: path.to_owned(),
        };
        if ours == form.content {
            if self.base != Some(&agreed) {
                decision.agreed.push((self.id.clone(), agreed));
            }
        } else if is_untouched {
            self.write(stored, &ours, path.to_owned(), Some(digest.clone()), decision);
        } else if self.is_unchanged(stored) {
            self.take(path, Some((form, digest)), Some(ours), None, decision);
        } else {
            let from = self.base.map_or(Version::FIRST, |base| base.version);
            self.take(path, Some((form, digest)), None, Some(from), decision);
        }
    }

    fn without_file(&self, decision: &mut Decision) {
        match (self.stored.filter(|stored| stored.is_shared()), self.base) {
            (None, Some(_)) => decision.dropped.push(self.id.clone()),
            (None, None) => {}
            (Some(stored), Some(base)) => {
                let same = self.is_unchanged(stored).then(|| SharedContent::of(stored));
                self.take(&base.path, None, same, None, decision);
            }
            (Some(stored), None) => {
                let path = FileNames::path(self.id, stored);
                self.write(stored, &SharedContent::of(stored), path, None, decision);
            }
        }
    }

    /// Returns whether the record has the content of the last agreement.
    fn is_unchanged(&self, stored: &Record) -> bool {
        let agreed = self.base.filter(|base| base.record == stored.id);
        agreed.is_some_and(|base| stored.content_version().version <= base.version)
    }

    fn take(
        &self,
        path: &str,
        file: Option<(&FileForm, &FileDigest)>,
        base: Option<SharedContent>,
        look_up: Option<Version>,
        decision: &mut Decision,
    ) {
        let digest = file.map(|(_, digest)| digest.clone());
        if let Some((held, version, remark)) = self.held
            && (held, version) == (&digest, &self.stored.map(|stored| stored.version))
        {
            decision.remarks.push(remark.clone());
            return;
        }
        let file = file.map(|(form, _)| form.clone());
        let item = TakeItem { id: self.id.clone(), record: self.record, base, file };
        decision.takes.push(Take { item, look_up, path: path.to_owned(), digest });
    }

    fn write(
        &self,
        stored: &Record,
        ours: &SharedContent,
        path: String,
        expected: Option<FileDigest>,
        decision: &mut Decision,
    ) {
        let (mut fields, mut removed) = (ours.to_json(), Removed::default());
        clean_fields(&mut fields, &mut removed);
        if !removed.no_secrets() {
            let what = format!(
                "{} has what looks like a secret ({}), so it is not written; edit it without",
                stored.id,
                removed.kinds()
            );
            decision.remarks.push(SharedRemark::record(stored.id, &what));
            return;
        }
        let text = FileForm::of(stored).render();
        let digest = FileDigest::of(text.as_bytes());
        let base = Base { record: stored.id, version: stored.version, digest, path };
        decision.writes.push(Write { id: self.id.clone(), base, text, expected });
    }
}
