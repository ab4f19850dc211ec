//! Tests of taking in shared files.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::testing::day;
use crate::testing::{anchor, apply, blueprint, lesson, mutable, note, origin, save};
use crate::{Anchor, Blueprint, Lesson, NewNote, TopicPart};

mod clones;
mod topics;

/// A clone: a memory and the files that it has, by id, each with the content of the last agreement.
#[derive(Default)]
struct CloneOf {
    name: &'static str,
    memory: Memory,
    base: BTreeMap<ShareId, SharedContent>,
    files: BTreeMap<ShareId, String>,
    /// Topics, of which each may have several files.
    topics: BTreeMap<RecordId, (SharedContent, BTreeMap<ShareId, FileForm>)>,
}

impl CloneOf {
    fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    fn form(&self, id: &ShareId, kind: Kind) -> FileForm {
        FileForm::parse(kind, self.files[id].as_bytes()).unwrap()
    }

    /// Does what the daemon does with the files, until nothing changes.
    fn settle(&mut self, on: i64) -> Vec<TakeOutcome> {
        let mut all = Vec::new();
        for _ in 0..5 {
            self.settle_topics();
            let names = FileNames::of(&self.memory, self.name);
            let ids: std::collections::BTreeSet<ShareId> =
                self.files.keys().chain(self.base.keys()).cloned().collect();
            let mut items = Vec::new();
            let is_topic =
                |id: &ShareId| self.files.get(id).is_some_and(|text| kind_of(text) == Kind::Topic);
            for id in ids.into_iter().filter(|id| !is_topic(id)) {
                let base = self.base.get(&id).cloned();
                let file = self.files.get(&id).map(|text| {
                    let kind = kind_of(text);
                    FileForm::parse(kind, text.as_bytes()).unwrap()
                });
                if base.as_ref() == file.as_ref().map(|file| &file.content) {
                    continue;
                }
                items.push(TakeItem { record: names.record(&id), base, file, id });
            }
            let plan = plan_take_in(&self.memory, self.name, &items, &origin("files", on));
            let is_done = plan.changes.is_empty();
            let outcomes = apply(&mut self.memory, plan);
            for (item, outcome) in items.into_iter().zip(&outcomes) {
                match (outcome, item.file) {
                    (TakeOutcome::United(_), _) => {
                        self.files.remove(&item.id);
                        self.base.remove(&item.id);
                    }
                    (TakeOutcome::Taken(_), Some(file)) => {
                        self.base.insert(item.id, file.content);
                    }
                    (TakeOutcome::Conflict(_) | TakeOutcome::Refused(_), _) | (_, Some(_)) => {}
                    (_, None) => drop(self.base.remove(&item.id)),
                }
            }
            all.extend(outcomes);
            self.write();
            if is_done {
                break;
            }
        }
        all
    }

    fn settle_topics(&mut self) {
        let is_topic = |(_, text): &(&ShareId, &String)| kind_of(text) == Kind::Topic;
        let forms =
            self.files.iter().filter(is_topic).map(|(id, text)| {
                (id.clone(), FileForm::parse(Kind::Topic, text.as_bytes()).unwrap())
            });
        let mut forms = forms.collect();
        clones::settle(&mut self.memory, self.name, &mut forms, &mut self.topics);
        self.files.retain(|_, text| kind_of(text) != Kind::Topic);
        self.files.extend(forms.into_iter().map(|(id, form)| (id, form.render())));
    }

    fn write(&mut self) {
        for record in self.memory.records().filter(|record| record.kind() != Kind::Topic) {
            let id = FileNames::id(record, self.name);
            let (base, file) = (self.base.get(&id), self.files.get(&id));
            let is_untouched = match (base, file) {
                (Some(base), Some(text)) => {
                    FileForm::parse(record.kind(), text.as_bytes()).unwrap().content == *base
                }
                (base, file) => base.is_none() && file.is_none(),
            };
            if !is_untouched {
                continue;
            }
            if record.is_shared() {
                let form = FileForm::of(record);
                if base != Some(&form.content) {
                    self.files.insert(id.clone(), form.render());
                    self.base.insert(id, form.content);
                }
            } else {
                self.files.remove(&id);
                self.base.remove(&id);
            }
        }
    }

    fn save(&mut self, on: i64, part: Staged) {
        save(&mut self.memory, &origin(self.name, on), part);
        self.settle(on);
    }

    /// Returns the shared contents by id, and topics by name.
    fn contents(&self) -> BTreeMap<String, SharedContent> {
        let shared = self.memory.records().filter(|record| record.is_shared());
        let id = |record: &Record| match record.topic() {
            Some(topic) => topic.name.clone(),
            None => FileNames::id(record, self.name).to_string(),
        };
        shared.map(|it| (id(it), SharedContent::of(it))).collect()
    }
}

fn kind_of(text: &str) -> Kind {
    let has = |name: &str| text.contains(&format!("\n{name} = "));
    match () {
        () if has("immutable") => Kind::Blueprint,
        () if has("lines") => Kind::Anchor,
        () if has("name") => Kind::Topic,
        () if has("importance") => Kind::Note,
        () => Kind::Lesson,
    }
}

/// Merges the files of two clones as git does, without edits of one file on both sides.
fn merge(base: &BTreeMap<ShareId, String>, one: &mut CloneOf, other: &mut CloneOf) {
    let ids: Vec<ShareId> =
        base.keys().chain(one.files.keys()).chain(other.files.keys()).cloned().collect();
    for id in ids {
        let (was, a, b) =
            (base.get(&id), one.files.get(&id).cloned(), other.files.get(&id).cloned());
        let merged = if a.as_ref() == was { b } else { a };
        for clone in [&mut *one, &mut *other] {
            match &merged {
                Some(text) => drop(clone.files.insert(id.clone(), text.clone())),
                None => drop(clone.files.remove(&id)),
            }
        }
    }
}

fn everything() -> Staged {
    Staged {
        blueprints: vec![blueprint("Use sled", "It is fast.")],
        anchors: vec![anchor("src/a.rs", "3-9", "the lock")],
        lessons: vec![lesson("Run fmt first", "CI fails otherwise.")],
        notes: vec![NewNote { key: Some("db".to_owned()), ..note("Postgres 16") }, note("plain")],
        topics: vec![TopicPart { status: Some("Half done".to_owned()), ..TopicPart::default() }],
        ..Staged::default()
    }
}

#[test]
fn a_second_clone_gets_the_same_records() {
    let (mut one, mut other) = (CloneOf::new("one"), CloneOf::new("other"));
    one.save(1, everything());
    other.files = one.files.clone();
    let outcomes = other.settle(2);
    assert!(outcomes.iter().all(|it| matches!(it, TakeOutcome::Taken(_))), "{outcomes:?}");
    assert_eq!(other.contents(), one.contents());
    assert_eq!(other.files, one.files);
    let created = other.memory.records().next().unwrap().created.time;
    assert_eq!(created, day(1));
    // Nothing changes from now on.
    let revision = other.memory.revision();
    assert!(other.settle(3).is_empty());
    assert_eq!(other.memory.revision(), revision);
}

#[test]
fn deleting_a_file_forgets_the_record_and_restoring_it_brings_the_record_back() {
    let mut clone = CloneOf::new("one");
    clone.save(1, everything());
    let (before, files) = (clone.contents(), std::mem::take(&mut clone.files));
    let outcomes = clone.settle(2);
    assert!(outcomes.iter().any(|it| matches!(it, TakeOutcome::Forgotten(_))), "{outcomes:?}");
    assert!(clone.contents().is_empty() && clone.files.is_empty());
    let last = clone.memory.last_number();
    clone.files = files;
    clone.settle(3);
    assert_eq!(clone.contents(), before);
    assert_eq!(clone.memory.last_number(), last, "the same records, not new ones");
}

#[test]
fn a_deleted_file_does_not_take_a_newer_edit_with_it() {
    let mut clone = CloneOf::new("one");
    clone.save(1, everything());
    let id =
        clone.files.keys().find(|id| kind_of(&clone.files[*id]) == Kind::Note).unwrap().clone();
    clone.files.remove(&id);
    // The edit is not yet in the file when the file goes.
    let part = Staged {
        notes: vec![NewNote { key: Some("db".to_owned()), ..note("Postgres 17") }],
        ..Staged::default()
    };
    let fact = clone.memory.facts(&crate::Scope::Project).next().unwrap().1;
    let fact = FileNames::id(clone.memory.record(fact).unwrap(), "one");
    let deleted = clone.files.remove(&fact).is_some() || fact == id;
    save(&mut clone.memory, &origin("one", 2), part);
    let outcomes = clone.settle(2);
    assert!(
        deleted && outcomes.iter().any(|it| matches!(it, TakeOutcome::Kept(_))),
        "{outcomes:?}"
    );
    assert!(clone.files[&fact].contains("Postgres 17"));
}

#[test]
fn an_edit_of_other_fields_merges_and_one_of_the_same_field_is_a_conflict() {
    let fact = |content: &str, importance| Staged {
        notes: vec![NewNote { key: Some("db".to_owned()), importance, ..note(content) }],
        ..Staged::default()
    };
    let mut clone = CloneOf::new("one");
    clone.save(1, fact("Postgres 16", None));
    let id = clone.files.keys().next().unwrap().clone();
    let edit = |clone: &mut CloneOf, from: &str, to: &str| {
        let text = clone.files[&id].replace(from, to);
        assert_ne!(text, clone.files[&id]);
        clone.files.insert(id.clone(), text);
    };
    // Both sides edit before the daemon looks.
    edit(&mut clone, "importance = 5", "importance = 9");
    save(&mut clone.memory, &origin("one", 2), fact("Postgres 17", None));
    clone.settle(2);
    assert!(
        clone.files[&id].contains("importance = 9") && clone.files[&id].contains("Postgres 17")
    );
    assert_eq!(clone.form(&id, Kind::Note).content, clone.contents()[&id.to_string()]);

    edit(&mut clone, "Postgres 17", "MySQL 8");
    save(&mut clone.memory, &origin("one", 3), fact("SQLite 3", None));
    let outcomes = clone.settle(3);
    assert!(matches!(outcomes.as_slice(), [TakeOutcome::Conflict(_), ..]), "{outcomes:?}");
    // Both are kept.
    assert!(clone.files[&id].contains("MySQL 8"));
    assert_eq!(clone.contents()[&id.to_string()].to_json()["content"], "SQLite 3");
}

#[test]
fn a_bad_item_is_refused_alone() {
    let mut clone = CloneOf::new("one");
    let files = {
        let mut other = CloneOf::new("other");
        other.save(1, everything());
        other.files
    };
    clone.files = files;
    let id: ShareId = "0123456789ab".parse().unwrap();
    let text = "+++\nimportance = 50\n+++\n\nText\n";
    clone.files.insert(id.clone(), text.to_owned());
    let outcomes = clone.settle(1);
    let refused: Vec<_> =
        outcomes.iter().filter(|it| matches!(it, TakeOutcome::Refused(_))).collect();
    assert!(!refused.is_empty() && clone.contents().len() == 6, "{outcomes:?}");
    assert_eq!(clone.files[&id], text, "left as it is");
}

#[test]
fn facts_of_one_key_that_differ_stay_two_until_somebody_decides() {
    let fact = |content: &str| Staged {
        notes: vec![NewNote { key: Some("db".to_owned()), ..note(content) }],
        ..Staged::default()
    };
    let (mut one, mut other) = (CloneOf::new("one"), CloneOf::new("other"));
    one.save(1, fact("Postgres"));
    other.save(1, fact("MySQL"));
    merge(&BTreeMap::new(), &mut one, &mut other);
    for clone in [&mut one, &mut other] {
        clone.settle(2);
        let names: Vec<_> = shared_rivals(&clone.memory).into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["db"]);
    }
    assert_eq!((one.contents().len(), one.contents()), (2, other.contents()));
    // One of them decides by forgetting the other's, and both follow.
    let base = one.files.clone();
    let rival = shared_rivals(&one.memory)[0].second;
    let plan =
        crate::plan_forget(&one.memory, &crate::Reader::owner(), rival, None, &origin("one", 3))
            .unwrap();
    apply(&mut one.memory, plan);
    one.settle(3);
    merge(&base, &mut one, &mut other);
    other.settle(3);
    assert_eq!((other.contents().len(), other.contents()), (1, one.contents()));
    assert!(shared_rivals(&other.memory).is_empty());
}

fn part() -> impl Strategy<Value = Staged> {
    let word = || prop::sample::select(vec!["alpha", "beta", "gamma"]);
    let blueprints = prop::collection::vec((word(), word(), any::<bool>()), 0..2);
    let lessons = prop::collection::vec((word(), word()), 0..2);
    let anchors = prop::collection::vec((word(), 1..9_u32, word()), 0..2);
    let notes = prop::collection::vec((prop::option::of(word()), word()), 0..2);
    let topics = prop::option::of((word(), word(), prop::option::of(word())));
    (blueprints, lessons, anchors, notes, topics).prop_map(
        |(blueprints, lessons, anchors, notes, topic)| Staged {
            blueprints: blueprints
                .into_iter()
                .map(|(title, text, fixed)| -> Blueprint {
                    if fixed { blueprint(title, text) } else { mutable(title, text) }
                })
                .collect(),
            lessons: lessons.into_iter().map(|(a, b)| -> Lesson { lesson(a, b) }).collect(),
            anchors: anchors
                .into_iter()
                .map(|(file, line, text)| -> Anchor { anchor(file, &line.to_string(), text) })
                .collect(),
            notes: notes
                .into_iter()
                .map(|(key, text)| NewNote { key: key.map(str::to_owned), ..note(text) })
                .collect(),
            topics: topic
                .into_iter()
                .map(|(name, status, overview)| TopicPart {
                    name: Some(name.to_owned()),
                    status: Some(status.to_owned()),
                    overview: overview.map(str::to_owned),
                    ..TopicPart::default()
                })
                .collect(),
            ..Staged::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn clones_that_merge_in_both_directions_end_equal(
        rounds in prop::collection::vec((part(), part()), 1..4),
    ) {
        let (mut one, mut other) = (CloneOf::new("one"), CloneOf::new("other"));
        let mut base = BTreeMap::new();
        for (day, (mine, theirs)) in (1..).zip(rounds) {
            one.save(2 * day, mine);
            other.save(2 * day + 1, theirs);
            // Edits of one file on both sides are for git, or for a person, to resolve.
            let both = one.files.keys().any(|id| {
                let (was, a, b) = (base.get(id), one.files.get(id), other.files.get(id));
                was.is_some() && a != was && b != was && a != b
            });
            prop_assume!(!both);
            merge(&base, &mut one, &mut other);
            one.settle(100 + day);
            other.settle(100 + day);
            prop_assert_eq!(one.contents(), other.contents());
            prop_assert_eq!(&one.files, &other.files);
            base = one.files.clone();
        }
    }
}
