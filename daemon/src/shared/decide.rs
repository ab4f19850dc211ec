//! Decides what to do with each shared record and its file. Data in, data out.

use std::collections::{BTreeMap, BTreeSet};

use anchord_memory::shared::{FileForm, FileNames, SharedContent};
use anchord_memory::{Kind, Memory, Record, RecordId, ShareId, TakeItem, Version};

use super::decision::{Base, Bases, ExchangePlan, HeldFiles, Remove, Take};
use super::scan::{Scan, ScannedFile};
use super::topics::Topics;
use crate::api::SharedRemark;
use crate::projects::FileDigest;

/// Compares records and files with their last agreement. `name` is that of the memory.
pub(super) fn decide(
    memory: &Memory,
    name: &str,
    bases: &Bases,
    scan: &Scan,
    held: &HeldFiles,
) -> ExchangePlan {
    let names = FileNames::of(memory, name);
    let mut decision = ExchangePlan::default();
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
    decision.records = memory.records().filter(|record| record.is_shared()).count();
    let live = names.iter().filter(|(_, id)| memory.record(*id).is_some_and(|it| it.is_shared()));
    let live = live.filter(|(_, record)| record.kind != Kind::Topic).map(|(id, _)| id);
    let agreed = bases.iter().filter(|(_, base)| base.record.kind != Kind::Topic);
    let agreed = agreed.map(|(id, _)| id);
    let ids: BTreeSet<&ShareId> = live.chain(files.keys().copied()).chain(agreed).collect();
    for id in ids {
        // Below, the topics decide about all files in their folder.
        if files.get(id).is_some_and(|(_, seen)| seen.kind == Kind::Topic) {
            continue;
        }
        let record = names.record(id);
        let stored = record.and_then(|record| memory.record(record)).map(AsRef::as_ref);
        let one = One { id, record, stored, base: bases.get(id), held };
        match files.get(id) {
            Some((path, seen)) => one.with_file(path, seen, &mut decision),
            None if scan.is_whole => one.without_file(&mut decision),
            None => {}
        }
    }
    let topics = Topics { memory, name, names: &names, bases, held, files: &files };
    topics.decide(scan.is_whole, &mut decision);
    decision
}

/// One record and its file.
struct One<'a> {
    id: &'a ShareId,
    record: Option<RecordId>,
    stored: Option<&'a Record>,
    base: Option<&'a Base>,
    held: &'a HeldFiles,
}

impl One<'_> {
    fn with_file(&self, path: &str, seen: &ScannedFile, decision: &mut ExchangePlan) {
        let (form, digest) = match (&seen.form, &seen.digest) {
            (Ok(form), Some(digest)) => (form, digest),
            (Err(unusable), _) => return decision.remark_unusable(path, unusable),
            (Ok(_), None) => return,
        };
        decision.remark_secrets(path, seen);
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
            let (form, expected) = (FileForm::of(stored), Some(digest.clone()));
            decision.write(self.id, stored, &form, path.to_owned(), expected);
        } else if self.is_unchanged(stored) {
            self.take(path, Some((form, digest)), Some(ours), None, decision);
        } else {
            let from = self.base.map_or(Version::FIRST, |base| base.version);
            self.take(path, Some((form, digest)), None, Some(from), decision);
        }
    }

    fn without_file(&self, decision: &mut ExchangePlan) {
        match (self.stored.filter(|stored| stored.is_shared()), self.base) {
            (None, Some(_)) => decision.dropped.push(self.id.clone()),
            (None, None) => {}
            (Some(stored), Some(base)) => {
                let same = self.is_unchanged(stored).then(|| SharedContent::of(stored));
                self.take(&base.path, None, same, None, decision);
            }
            (Some(stored), None) => {
                let path = FileNames::path(self.id, stored);
                decision.write(self.id, stored, &FileForm::of(stored), path, None);
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
        decision: &mut ExchangePlan,
    ) {
        let digest = file.map(|(_, digest)| digest.clone());
        let (id, path) = (self.id.clone(), path.to_owned());
        let files = digest.clone().map(|digest| (id.clone(), path.clone(), digest));
        let gone = if file.is_none() { vec![id.clone()] } else { Vec::new() };
        let item =
            TakeItem { id, record: self.record, base, file: file.map(|(form, _)| form.clone()) };
        let files = files.into_iter().collect();
        let take = Take { item, look_up, path, digest, files, gone, moved: Vec::new() };
        decision.take(self.held, self.stored.map(|stored| stored.version), take);
    }
}
