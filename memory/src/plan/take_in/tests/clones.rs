//! Clones with a memory and files of topics, that meet in a repository.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::draft::{Draft, RecordFields};
use crate::ids::SessionId;
use crate::kinds::topic::Topic;
use crate::shared::{ChangedTopicFiles, FilesOfTopic, TopicAgreement, TopicStep};

/// Files of topics, by id.
pub(super) type Files = BTreeMap<ShareId, FileForm>;

/// The last agreement of a topic's record with its files.
pub(super) type Agreed = BTreeMap<RecordId, (SharedContent, Files)>;

/// Makes a memory's topics and their files agree, as the daemon does.
pub(super) fn settle(memory: &mut Memory, name: &str, files: &mut Files, agreed: &mut Agreed) {
    for _ in 0..40 {
        if !step(memory, name, files, agreed) {
            return;
        }
    }
    panic!("no end of changes: {files:?}");
}

fn step(memory: &mut Memory, name: &str, files: &mut Files, agreed: &mut Agreed) -> bool {
    let keys = files.values().filter_map(|form| form.content.topic_key());
    let records = memory.topics().filter_map(|(record, _)| FilesOfTopic::key(record));
    let keys: BTreeSet<String> = keys.chain(records).collect();
    let mut is_changed = false;
    for key in keys {
        let own_files: Files = (files.iter())
            .filter(|(_, form)| form.content.topic_key().as_ref() == Some(&key))
            .map(|(id, form)| (id.clone(), form.clone()))
            .collect();
        let record = memory.topic(&key).cloned();
        let together = FilesOfTopic::new(own_files.iter().map(|(id, form)| (id.clone(), form)));
        let take = |base, file| {
            let own = record.as_ref().map(|record| FileNames::own_id(record, name));
            let id = own.or_else(|| own_files.keys().next().cloned()).unwrap();
            TakeItem { id, record: record.as_ref().map(|record| record.id), base, file }
        };
        let item = match &record {
            None => {
                let gone: BTreeSet<ShareId> = (agreed.iter())
                    .filter(|(id, _)| !memory.record(**id).unwrap().is_shared())
                    .flat_map(|(_, (_, files))| files.iter())
                    .filter(|(id, form)| own_files.get(id) == Some(form))
                    .map(|(id, _)| id.clone())
                    .collect();
                if !gone.is_empty() {
                    is_changed = true;
                    files.retain(|id, _| !gone.contains(id));
                    continue;
                }
                let names = FileNames::of(memory, name);
                let known = own_files.keys().find_map(|id| names.record(id));
                TakeItem { record: known, ..take(None, together.combined()) }
            }
            Some(record) => {
                let known = agreed.get(&record.id);
                let ours = SharedContent::of(record);
                let own = FileNames::own_id(record, name);
                let agreement = known.map(|(content, files)| TopicAgreement {
                    is_record_same: *content == ours,
                    are_files_same: *files == own_files,
                });
                match together.step(record, &own, agreement) {
                    None if known.is_none() => {
                        is_changed = true;
                        files.insert(own, FileForm::of(record));
                        agreed.insert(record.id, (ours, files.clone()));
                        continue;
                    }
                    None => take(Some(ours), None),
                    Some(TopicStep::Agreed) => {
                        agreed.insert(record.id, (ours, own_files));
                        continue;
                    }
                    Some(TopicStep::Write(changes)) => {
                        is_changed = true;
                        let mut now = own_files;
                        change(&mut now, &changes);
                        change(files, &changes);
                        agreed.insert(record.id, (ours, now));
                        continue;
                    }
                    Some(TopicStep::Follow(all)) => take(Some(ours), Some(all)),
                    Some(TopicStep::Merge(all)) => {
                        take(known.map(|(content, _)| content.clone()), Some(all))
                    }
                }
            }
        };
        is_changed = true;
        let plan = plan_take_in(memory, name, &[item], &origin("files", 30));
        match apply(memory, plan).as_slice() {
            [TakeOutcome::Taken(id)] => {
                let content = SharedContent::of(memory.record(*id).unwrap());
                agreed.insert(*id, (content, own_files));
            }
            [TakeOutcome::Forgotten(id)] => drop(agreed.remove(id)),
            other => panic!("{other:?}"),
        }
    }
    is_changed
}

pub(super) fn change(files: &mut Files, changes: &ChangedTopicFiles) {
    for (id, form) in changes {
        match form {
            Some(form) => drop(files.insert(id.clone(), form.clone())),
            None => drop(files.remove(id)),
        }
    }
}

/// A clone of a repository.
pub(super) struct Clone {
    pub(super) name: &'static str,
    pub(super) memory: Memory,
    pub(super) files: Files,
    pub(super) agreed: Agreed,
    /// The files of the repository when it was pulled last.
    pub(super) pulled: Files,
}

impl Clone {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            memory: Memory::default(),
            files: Files::new(),
            agreed: Agreed::new(),
            pulled: Files::new(),
        }
    }

    pub(super) fn settle(&mut self) {
        settle(&mut self.memory, self.name, &mut self.files, &mut self.agreed);
        // What is written reads as it is.
        for form in self.files.values() {
            assert_eq!(FileForm::parse(Kind::Topic, form.render().as_bytes()).as_ref(), Ok(form));
        }
    }

    pub(super) fn save(&mut self, minute: i64, part: TopicPart) {
        let at = Timestamp(day(1).0 + minute * 60_000);
        let by = Provenance::new(SessionId::new(self.name), self.name.into(), at);
        save(&mut self.memory, &by, Staged { topics: vec![part], ..Staged::default() });
    }

    pub(super) fn main(&self) -> Topic {
        self.memory.topic("main").and_then(|record| record.topic()).cloned().unwrap_or_default()
    }

    /// Changes the record as an undo does.
    pub(super) fn rewrite(&mut self, change: impl FnOnce(&mut Topic)) {
        let record = self.memory.topic("main").unwrap().clone();
        let mut topic = record.topic().unwrap().clone();
        change(&mut topic);
        let mut draft = Draft::new(&self.memory);
        let (id, tags, pinned, state) =
            (record.id, record.tags.clone(), record.pinned, record.state);
        let body = Body::Topic(topic);
        draft.write(RecordFields { id, body, state, tags, pinned }, &origin("undo", 20));
        let plan = Plan { changes: draft.finish().changes, outcome: () };
        apply(&mut self.memory, plan);
    }

    pub(super) fn own(&self) -> ShareId {
        FileNames::own_id(self.memory.topic("main").unwrap(), self.name)
    }

    /// Pulls, lets the daemon look, and pushes. Returns whether the daemon left the working tree as
    /// git had written it, and whether git had to merge one file.
    pub(super) fn sync(&mut self, repository: &mut Files) -> (bool, bool) {
        self.settle();
        let (merged, both) = merge(&self.pulled, &self.files, repository);
        self.files.clone_from(&merged);
        self.settle();
        let is_clean = self.files == merged;
        self.pulled.clone_from(&self.files);
        repository.clone_from(&self.files);
        (is_clean, both)
    }
}

/// Merges files as git does. A file that both sides changed merges by items, which stands for git's
/// merge of lines.
pub(super) fn merge(base: &Files, ours: &Files, theirs: &Files) -> (Files, bool) {
    let ids: BTreeSet<&ShareId> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    let mut is_both = false;
    let mut one = |id: &ShareId| {
        let (was, a, b) = (base.get(id), ours.get(id), theirs.get(id));
        if a == was || a == b {
            return b.cloned();
        }
        if b == was {
            return a.cloned();
        }
        is_both = true;
        let (Some(was), Some(a), Some(b)) = (was, a, b) else { return a.or(b).cloned() };
        let content =
            a.content.merged(&was.content, &b.content).unwrap_or_else(|| a.content.clone());
        let later = if a.times == was.times { b } else { a };
        let merged = FileForm { content, ..later.clone() };
        // A list that lost its last item is not in the text.
        Some(FileForm::parse(Kind::Topic, merged.render().as_bytes()).unwrap())
    };
    let merged = ids.into_iter().filter_map(|id| Some((id.clone(), one(id)?))).collect();
    (merged, is_both)
}

/// Lets all clones pull and push until nothing changes.
pub(super) fn meet(clones: &mut [Clone], repository: &mut Files) -> bool {
    let mut is_both = false;
    for _ in 0..10 {
        let before = repository.clone();
        for clone in &mut *clones {
            is_both |= clone.sync(repository).1;
        }
        if *repository == before {
            break;
        }
    }
    for clone in clones.iter() {
        assert_eq!(&clone.files, &*repository);
        assert!(
            content(clone).says_the_same(&content(&clones[0])),
            "{:#?}",
            (clone.main(), clones[0].main())
        );
    }
    is_both
}

pub(super) fn content(clone: &Clone) -> SharedContent {
    let record = clone.memory.topic("main");
    let none = || SharedContent::new(&Body::Topic(Topic::default()), Vec::new(), false);
    record.map_or_else(none, |record| SharedContent::of(record))
}
