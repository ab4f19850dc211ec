//! Decides what to do with each topic and its files, of which each clone may have added one.

use std::collections::{BTreeMap, BTreeSet};

use anchord_memory::shared::{
    ChangedTopicFiles, FileForm, FileNames, FilesOfTopic, SharedContent, TopicAgreement, TopicStep,
};
use anchord_memory::{Kind, Memory, Record, RecordId, ShareId, TakeItem, Version, why_refused};

use super::decision::{Base, Bases, ExchangePlan, HeldFiles, Remove, Take};
use super::scan::{ScannedFile, ScannedFiles};
use crate::api::SharedRemark;
use crate::projects::FileDigest;

/// A file of a topic: its id, path, content and bytes.
pub(super) type ScannedTopicFile = (ShareId, String, FileForm, FileDigest);

/// Everything that the decisions about topics depend on.
pub(super) struct Topics<'a> {
    pub(super) memory: &'a Memory,
    /// The name of the memory.
    pub(super) name: &'a str,
    pub(super) names: &'a FileNames,
    pub(super) bases: &'a Bases,
    pub(super) held: &'a HeldFiles,
    pub(super) files: &'a BTreeMap<&'a ShareId, (&'a str, &'a ScannedFile)>,
}

/// A topic's record and its files. One of them may be missing.
struct Group<'a> {
    record: Option<&'a Record>,
    files: Vec<ScannedTopicFile>,
}

/// Returns the files of a record's topic.
pub(super) fn files_of(record: &Record, files: &ScannedFiles) -> Vec<ScannedTopicFile> {
    let key = FilesOfTopic::key(record);
    let usable = files.iter().filter(|(_, seen)| seen.kind == Kind::Topic);
    let usable = usable.filter_map(|(path, seen)| {
        let (form, digest) = (seen.form.as_ref().ok()?, seen.digest.as_ref()?);
        Some((seen.id.clone(), path.clone(), form.clone(), digest.clone()))
    });
    usable.filter(|(_, _, form, _)| form.content.topic_key() == key).collect()
}

/// Writes and removes files of a topic.
pub(super) fn change(
    record: &Record,
    files: &[ScannedTopicFile],
    changes: ChangedTopicFiles,
    decision: &mut ExchangePlan,
) {
    for (id, form) in changes {
        let known = files.iter().find(|(known, ..)| *known == id);
        let path = known.map(|(_, path, ..)| path.clone());
        let path = path.unwrap_or_else(|| FileNames::path(&id, record));
        let expected = known.map(|(.., digest)| digest.clone());
        match (form, expected) {
            (Some(form), expected) => decision.write(&id, record, &form, path, expected),
            (None, Some(expected)) => decision.removes.push(Remove { id, path, expected }),
            (None, None) => {}
        }
    }
}

impl<'a> Topics<'a> {
    /// Decides about all topics. `is_whole` tells whether all files could be listed; otherwise a
    /// missing one proves nothing.
    pub(super) fn decide(&self, is_whole: bool, decision: &mut ExchangePlan) {
        let (mut groups, unreadable) = self.groups(decision);
        for (id, base) in self.bases.iter().filter(|(_, base)| base.record.kind == Kind::Topic) {
            let is_live = self.live(base.record).is_some();
            if !is_live && !self.files.contains_key(id) {
                decision.dropped.push(id.clone());
            }
        }
        let mut takes = Vec::new();
        std::mem::swap(&mut decision.takes, &mut takes);
        for group in groups.values_mut() {
            let Some(record) = group.record else {
                self.without_record(&group.files, decision);
                continue;
            };
            // Without the items of a file that cannot be read, the rest looks like a removal.
            let is_missing = |id: &ShareId| !self.files.contains_key(id);
            let misses = self.bases_of(record).any(|(id, _)| is_missing(id));
            if !unreadable.contains(&record.id) && (is_whole || !misses) {
                self.with_record(record, &group.files, decision);
            }
        }
        // A file that changed its topic leaves the one before it joins the other.
        decision.takes.sort_by_key(|take| take.moved.is_empty());
        decision.takes.append(&mut takes);
    }

    /// Returns the topics by key, and those of which a file cannot be read.
    fn groups(
        &self,
        decision: &mut ExchangePlan,
    ) -> (BTreeMap<String, Group<'a>>, BTreeSet<RecordId>) {
        let mut groups: BTreeMap<String, Group<'a>> = BTreeMap::new();
        let mut unreadable = BTreeSet::new();
        for (id, (path, seen)) in self.files {
            if let Some((key, file)) = self.usable(id, path, seen, decision) {
                let empty = || Group { record: None, files: Vec::new() };
                groups.entry(key).or_insert_with(empty).files.push(file);
            } else {
                let base = self.bases.get(id).map(|base| base.record);
                unreadable.extend(base.into_iter().chain(self.names.record(id)));
            }
        }
        let mut nameless = Vec::new();
        for (record, _) in self.memory.topics().filter(|(record, _)| record.is_shared()) {
            let Some(key) = FilesOfTopic::key(record) else { continue };
            match groups.get_mut(&key) {
                Some(group) => group.record = Some(record),
                None => nameless.push((key, record)),
            }
        }
        for (key, record) in nameless {
            // Its only file may have another name now, which is then the record's.
            let is_its = |(id, ..): &ScannedTopicFile| {
                self.bases.get(id).is_some_and(|base| base.record == record.id)
            };
            let renamed = groups
                .values_mut()
                .find(|group| group.record.is_none() && group.files.first().is_some_and(is_its));
            match renamed {
                Some(group) => group.record = Some(record),
                None => {
                    groups.insert(key, Group { record: Some(record), files: Vec::new() });
                }
            }
        }
        (groups, unreadable)
    }

    /// Returns a file with the key of its topic, if it can be taken in.
    fn usable(
        &self,
        id: &ShareId,
        path: &str,
        seen: &ScannedFile,
        decision: &mut ExchangePlan,
    ) -> Option<(String, ScannedTopicFile)> {
        if seen.kind != Kind::Topic {
            return None;
        }
        let form = match &seen.form {
            Ok(form) => form,
            Err(unusable) => {
                decision.remark_unusable(path, unusable);
                return None;
            }
        };
        let digest = seen.digest.clone()?;
        decision.remark_secrets(path, seen);
        let other = self.names.record(id).filter(|record| record.kind != Kind::Topic);
        if other.and_then(|record| self.live(record)).is_some() {
            decision.remarks.push(SharedRemark::file(path, "it is in the folder of another kind"));
            return None;
        }
        let is_untouched = self.bases.get(id).is_some_and(|base| base.digest == digest);
        if !is_untouched && let Some(why) = why_refused(self.memory, form) {
            let what = format!("it is not taken in: {why}");
            decision.remarks.push(SharedRemark::file(path, &what));
            return None;
        }
        let key = form.content.topic_key()?;
        Some((key, (id.clone(), path.to_owned(), form.clone(), digest)))
    }

    fn live(&self, record: RecordId) -> Option<&'a Record> {
        self.memory.record(record).map(AsRef::as_ref).filter(|record| record.is_shared())
    }

    fn bases_of(&self, record: &Record) -> impl Iterator<Item = (&'a ShareId, &'a Base)> {
        let record = record.id;
        self.bases.iter().filter(move |(_, base)| base.record == record)
    }

    /// A topic that is not in the memory. Files that are as they were when it was forgotten go.
    fn without_record(&self, files: &[ScannedTopicFile], decision: &mut ExchangePlan) {
        let mut new = Vec::new();
        for file in files {
            let (id, path, _, digest) = file;
            let base = self.bases.get(id).filter(|base| base.digest == *digest);
            if base.is_some_and(|base| self.live(base.record).is_none()) {
                let (id, path, expected) = (id.clone(), path.clone(), digest.clone());
                decision.removes.push(Remove { id, path, expected });
            } else {
                new.push(file.clone());
            }
        }
        let together = together(&new);
        let (Some(all), Some((id, ..))) = (together.combined(), new.first()) else { return };
        let known = new.iter().filter_map(|(id, ..)| self.names.record(id));
        // A topic that was forgotten comes back with its files.
        let record = known.into_iter().find(|record| self.live(*record).is_none());
        let item = TakeItem { id: id.clone(), record, base: None, file: Some(all) };
        self.take(item, None, &new, (Vec::new(), Vec::new()), decision);
    }

    fn with_record(
        &self,
        record: &'a Record,
        files: &[ScannedTopicFile],
        decision: &mut ExchangePlan,
    ) {
        let own = self.own_id(record, files);
        let is_here = |id: &ShareId| files.iter().any(|(known, ..)| known == id);
        let lost = self.bases_of(record).map(|(id, _)| id).filter(|id| !is_here(id)).cloned();
        let (moved, gone) = lost.partition(|id| self.files.contains_key(id));
        let lost: (Vec<ShareId>, Vec<ShareId>) = (gone, moved);
        let is_lost = !lost.0.is_empty() || !lost.1.is_empty();
        let version = self.bases_of(record).map(|(_, base)| base.version).min();
        let is_same = version.is_some_and(|at| record.content_version().version <= at);
        let ours = SharedContent::of(record);
        let item = |base, file| TakeItem { id: own.clone(), record: Some(record.id), base, file };
        if files.is_empty() {
            if is_lost {
                let item = item(is_same.then_some(ours), None);
                self.take(item, None, files, lost, decision);
            } else {
                let path = FileNames::path(&own, record);
                decision.write(&own, record, &FileForm::of(record), path, None);
            }
            return;
        }
        let base = |id: &ShareId| self.bases.get(id).filter(|base| base.record == record.id);
        let is_untouched = |(id, _, _, digest): &ScannedTopicFile| {
            base(id).is_some_and(|base| base.digest == *digest)
        };
        let agreed = version.map(|_| TopicAgreement {
            is_record_same: is_same,
            are_files_same: !is_lost && files.iter().all(is_untouched),
        });
        let together = together(files);
        match together.step(record, &own, agreed) {
            None => {}
            Some(TopicStep::Agreed) => {
                decision.dropped.extend(lost.0.into_iter().chain(lost.1));
                self.agree(record, files, decision);
            }
            Some(TopicStep::Write(changes)) => change(record, files, changes, decision),
            Some(TopicStep::Follow(all)) => {
                self.take(item(Some(ours), Some(all)), None, files, lost, decision);
            }
            Some(TopicStep::Merge(all)) => {
                let from = version.unwrap_or(Version::FIRST);
                self.take(item(None, Some(all)), Some(from), files, lost, decision);
            }
        }
        remark_on_other_texts(record, files, &together, decision);
    }

    /// Remembers that files have what the record has.
    fn agree(&self, record: &Record, files: &[ScannedTopicFile], decision: &mut ExchangePlan) {
        for (id, path, _, digest) in files {
            let (path, digest) = (path.clone(), digest.clone());
            let agreed = Base { record: record.id, version: record.version, digest, path };
            if self.bases.get(id) != Some(&agreed) {
                decision.agreed.push((id.clone(), agreed));
            }
        }
    }

    /// Returns the id of this clone's own file. Its first choice may be another topic's by now,
    /// after somebody renamed that in its file.
    fn own_id(&self, record: &Record, files: &[ScannedTopicFile]) -> ShareId {
        let is_free = |id: &ShareId| {
            !self.files.contains_key(id) || files.iter().any(|(known, ..)| known == id)
        };
        let first = FileNames::own_id(record, self.name);
        let others = (2..=self.files.len() + 2)
            .map(|at| FileNames::own_id(record, &format!("{}/{at}", self.name)));
        std::iter::once(first.clone()).chain(others).find(is_free).unwrap_or(first)
    }

    fn take(
        &self,
        item: TakeItem,
        look_up: Option<Version>,
        files: &[ScannedTopicFile],
        (gone, moved): (Vec<ShareId>, Vec<ShareId>),
        decision: &mut ExchangePlan,
    ) {
        let lost = gone.first().or(moved.first()).and_then(|id| self.bases.get(id));
        let path = files.first().map(|(_, path, ..)| path.clone());
        let path = path.or_else(|| lost.map(|base| base.path.clone())).unwrap_or_default();
        let bytes: String =
            files.iter().map(|(id, _, _, digest)| format!("{id} {digest:?}\n")).collect();
        let digest = (!files.is_empty()).then(|| FileDigest::of(bytes.as_bytes()));
        let files =
            files.iter().map(|(id, path, _, digest)| (id.clone(), path.clone(), digest.clone()));
        let version = item.record.and_then(|record| self.memory.record(record));
        let version = version.map(|stored| stored.version);
        let files = files.collect();
        let take = Take { item, look_up, path, digest, files, gone, moved };
        decision.take(self.held, version, take);
    }
}

fn together(files: &[ScannedTopicFile]) -> FilesOfTopic {
    FilesOfTopic::new(files.iter().map(|(id, _, form, _)| (id.clone(), form)))
}

/// Remarks on files with another text of a topic than its record, for a person to decide.
fn remark_on_other_texts(
    record: &Record,
    files: &[ScannedTopicFile],
    together: &FilesOfTopic,
    decision: &mut ExchangePlan,
) {
    for other in together.other_texts() {
        let path = files.iter().find(|(id, ..)| *id == other.id).map(|(_, path, ..)| path);
        let name = record.topic().map_or("", |topic| &topic.name);
        let (id, field) = (record.id, other.field);
        let what = format!(
            "it has another {field} of topic `{name}` than {id}; write what is to stay into \
             `{name}`, then `anchord shared resolve {id} --keep memory` removes the other"
        );
        let remark = SharedRemark::conflict_in(path.map_or("", String::as_str), &what);
        decision.remarks.push(SharedRemark { record: Some(id), ..remark });
    }
}
