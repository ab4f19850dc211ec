//! Undos and what is in their way, and the laws of undo over random histories.

mod imports;

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::*;
use crate::history::{CommitHead, StoredCommit, StoredVersion, Versions};
use crate::ids::{Kind, Seq, SessionId};
use crate::memory::Memory;
use crate::purge::Purge;
use crate::reader::Reader;
use crate::staged::Staged;
use crate::testing::{
    Step, anchor, anchors, any_steps, blueprint, blueprints, changes_of, lesson, lessons, mutable,
    note, origin, rule,
};
use crate::{
    NewNote, RuleAuthor, Save, Update, plan_forget, plan_notes, plan_rule, plan_save, plan_update,
};

/// A journal in memory, with the session of each entry.
#[derive(Clone, Debug, Default)]
struct Past {
    entries: Vec<(&'static str, Vec<Change>)>,
    memory: Memory,
}

impl Past {
    fn write(&mut self, session: &'static str, changes: Vec<Change>) -> Revision {
        self.memory.apply(Seq(self.memory.seq().0 + 1), &changes);
        self.entries.push((session, changes));
        self.memory.revision()
    }

    fn on(&self) -> i64 {
        1 + i64::try_from(self.entries.len()).unwrap()
    }

    fn save(&mut self, session: &'static str, part: Staged) -> Revision {
        let save = Save { session_summary: "worked", part, ..Save::default() };
        let plan = plan_save(&self.memory, &origin(session, self.on()), save).unwrap();
        self.write(session, plan.changes)
    }

    fn note(&mut self, session: &'static str, new: NewNote) -> Revision {
        let plan = plan_notes(&self.memory, &origin(session, self.on()), vec![Ok(new)]).unwrap();
        self.write(session, plan.changes)
    }

    fn forget(&mut self, id: &str) -> Revision {
        let by = origin("one", self.on());
        let id = id.parse().unwrap();
        let plan = plan_forget(&self.memory, &Reader::owner(), id, None, &by).unwrap();
        self.write("one", plan.changes)
    }

    fn update(&mut self, id: &str, update: &Update) -> Revision {
        let by = origin("two", self.on());
        let id = id.parse().unwrap();
        let plan = plan_update(&self.memory, &Reader::owner(), id, update, None, &by).unwrap();
        self.write("two", plan.changes)
    }

    /// Returns the commits, newest first.
    fn commits(&self) -> Vec<StoredCommit> {
        let mut revision = 0;
        let mut commits = Vec::new();
        for (at, (session, changes)) in self.entries.iter().enumerate() {
            if !changes.iter().any(Change::is_shared) {
                continue;
            }
            revision += 1;
            let head = CommitHead {
                revision: Revision(revision),
                time: crate::testing::day(1 + i64::try_from(at).unwrap()),
                session: Some(SessionId::new(*session)),
                operation: "save".to_owned(),
            };
            commits.push(StoredCommit { head, changes: changes.clone() });
        }
        commits.reverse();
        commits
    }

    fn versions(&self) -> Versions {
        let mut versions = Versions::new();
        for change in self.entries.iter().flat_map(|(_, changes)| changes) {
            let (key, revision, content) = match change {
                Change::Put(record) => {
                    let content = VersionContent::Whole(Arc::clone(record));
                    ((record.id, record.version), record.revision, content)
                }
                Change::Purged(purged) => {
                    let content = VersionContent::Purged(purged.time);
                    ((purged.id, purged.version), purged.revision, content)
                }
                _ => continue,
            };
            let stored = StoredVersion {
                revision: Some(revision),
                time: Timestamp(0),
                session: None,
                operation: String::new(),
                copied: None,
                content,
            };
            versions.insert(key, stored);
        }
        versions
    }

    fn plan(&self, target: UndoTarget, force: bool) -> Plan<UndoOutcome> {
        let mut basis = UndoBasis::new(target.clone());
        for commit in self.commits() {
            let revision = commit.head.revision;
            let is_meant = match &target {
                UndoTarget::Last(last) => revision.0 + last > self.memory.revision().0,
                UndoTarget::Commit(wanted) => revision == *wanted,
                UndoTarget::Session(session) => commit.head.session.as_ref() == Some(session),
                UndoTarget::Project(to) => revision > *to,
                UndoTarget::Record(id, to) => {
                    let later = commit.changes.iter().filter_map(Change::record);
                    for record in later.filter(|record| record.id == *id && revision > *to) {
                        basis.add_version(*id, record.version);
                    }
                    false
                }
                UndoTarget::Steps(..) => unreachable!("steps are versions, not commits"),
            };
            if is_meant {
                basis.add(&commit, &Reader::owner());
            }
        }
        let (wanted, known) = (basis.wanted(&self.memory), self.versions());
        let found = known.into_iter().filter(|(key, _)| wanted.contains(key)).collect();
        basis.complete(&self.memory, found);
        let later = if force { LaterChanges::TakeBack } else { LaterChanges::Keep };
        plan_undo(&self.memory, &basis, later, None, &origin("undoer", self.on())).unwrap()
    }

    fn undo(&mut self, target: UndoTarget, force: bool) -> UndoOutcome {
        let Plan { changes, outcome } = self.plan(target, force);
        self.write("undoer", changes);
        outcome
    }

    /// Returns what readers can see, and what is forgotten, by record.
    fn content(&self) -> BTreeMap<RecordId, Option<Content>> {
        let seen = |record: &Arc<Record>| {
            let is_seen = record.state != RecordState::Forgotten;
            (record.id, is_seen.then(|| Content::of(record)))
        };
        self.memory.records().map(seen).collect()
    }

    /// Returns the shared content that readers can see.
    fn visible(&self) -> BTreeMap<RecordId, Content> {
        let shared = |id: &RecordId| self.memory.record(*id).is_some_and(|it| it.owner().is_none());
        let content = self.content().into_iter();
        content.filter(|(id, _)| shared(id)).filter_map(|(id, it)| Some((id, it?))).collect()
    }

    fn purge(&mut self, id: RecordId) {
        let salt = match self.memory.tombstones().salt() {
            "" => "salt".to_owned(),
            salt => salt.to_owned(),
        };
        let mut purge = Purge::new([id].into(), None, salt, Timestamp(99));
        self.entries.iter().for_each(|(_, changes)| purge.learn(changes));
        purge.ready().unwrap();
        for (_, changes) in &mut self.entries {
            purge.edit(changes, &mut None);
        }
        self.entries.push(("one", vec![purge.tombstones()]));
        self.memory = self.replayed();
    }

    /// Rebuilds the memory from the journal as it is on disk.
    fn replayed(&self) -> Memory {
        let mut memory = Memory::default();
        for ((_, changes), seq) in self.entries.iter().zip(1..) {
            let json = serde_json::to_string(changes).unwrap();
            let changes: Vec<Change> = serde_json::from_str(&json).unwrap();
            memory.apply(Seq(seq), &changes);
        }
        memory
    }
}

fn fact(key: &str, content: &str) -> NewNote {
    NewNote { key: Some(key.to_owned()), ..note(content) }
}

fn content(past: &Past, id: &str) -> String {
    let record = past.memory.record(id.parse().unwrap()).unwrap();
    record.body.fields().own_texts().join(" | ")
}

fn is_forgotten(past: &Past, id: &str) -> bool {
    let record = past.memory.record(id.parse().unwrap()).unwrap();
    record.state == RecordState::Forgotten
}

#[test]
fn an_undo_forgets_the_new_and_takes_the_changed_back() {
    let mut past = Past::default();
    past.save("one", blueprints([mutable("store", "sled")]));
    past.save("two", blueprints([mutable("store", "redb"), blueprint("wire", "one line")]));
    let outcome = past.undo(UndoTarget::Last(1), false);
    assert_eq!(outcome.end, UndoEnd::Done { revision: Some(Revision(3)) });
    assert!(content(&past, "b1").ends_with("sled"), "{}", content(&past, "b1"));
    assert!(is_forgotten(&past, "b3"));
    // The undo of the undo.
    past.undo(UndoTarget::Last(1), false);
    assert!(content(&past, "b1").ends_with("redb"));
    assert!(!is_forgotten(&past, "b3"));
}

#[test]
fn a_later_change_of_the_same_is_named_and_only_force_takes_it() {
    let mut past = Past::default();
    past.note("one", fact("port", "1"));
    let second = past.note("one", fact("port", "2"));
    let third = past.note("two", fact("port", "3"));
    let outcome = past.undo(UndoTarget::Commit(second), false);
    assert_eq!(outcome.end, UndoEnd::Conflicts);
    assert_eq!(outcome.conflicts.iter().map(|it| &*it.commits).collect::<Vec<_>>(), [[third]]);
    assert!(content(&past, "n1").starts_with('3'));
    let outcome = past.undo(UndoTarget::Commit(second), true);
    assert!(matches!(outcome.end, UndoEnd::Done { .. }));
    assert!(content(&past, "n1").starts_with('1'), "{}", content(&past, "n1"));
}

#[test]
fn a_purge_is_not_taken_back() {
    let mut past = Past::default();
    past.note("one", fact("port", "1"));
    past.note("one", fact("host", "alpha"));
    past.purge("n1".parse().unwrap());
    let outcome = past.plan(UndoTarget::Last(1), false).outcome;
    assert_eq!((outcome.end, outcome.is_purges_alone), (UndoEnd::Nothing, true));
    let outcome = past.plan(UndoTarget::Last(2), false).outcome;
    assert!(matches!(outcome.end, UndoEnd::Done { .. }) && !outcome.is_purges_alone);
}

#[test]
fn a_later_change_of_another_field_stays() {
    let mut past = Past::default();
    past.note("one", fact("port", "1"));
    let second = past.note("one", fact("port", "2"));
    past.update("n1", &Update { pinned: Some(true), ..Update::default() });
    let tags = Some(vec!["net".to_owned()]);
    past.update("n1", &Update { tags, ..Update::default() });
    let outcome = past.undo(UndoTarget::Commit(second), false);
    assert!(matches!(outcome.end, UndoEnd::Done { .. }), "{outcome:?}");
    assert_eq!(outcome.records.first().map(|it| it.done), Some(Undone::Merged));
    let record = past.memory.record("n1".parse().unwrap()).unwrap();
    assert_eq!((&*record.note().unwrap().content, record.pinned), ("1", true));
    assert!(record.tags.contains(&"net".to_owned()));
}

#[test]
fn a_record_that_took_the_place_is_in_the_way() {
    let mut past = Past::default();
    past.note("one", fact("port", "1"));
    let forgot = past.forget("n1");
    past.note("two", fact("port", "2"));
    let outcome = past.undo(UndoTarget::Commit(forgot), false);
    assert_eq!(outcome.end, UndoEnd::Conflicts);
    assert_eq!(outcome.conflicts.first().and_then(|it| it.rival), Some("n2".parse().unwrap()));
    past.undo(UndoTarget::Commit(forgot), true);
    assert!(!is_forgotten(&past, "n1") && is_forgotten(&past, "n2"));
}

#[test]
fn merged_anchors_come_apart_again() {
    let mut past = Past::default();
    past.save("one", anchors([anchor("a.rs", "1-9", "a"), anchor("a.rs", "20-29", "b")]));
    let before = past.visible();
    past.save("one", anchors([anchor("a.rs", "5-25", "both")]));
    assert_ne!(past.visible(), before);
    past.undo(UndoTarget::Last(1), false);
    assert_eq!(past.visible(), before);
}

#[test]
fn a_session_is_taken_back_from_among_others() {
    let mut past = Past::default();
    past.save("one", blueprints([mutable("store", "sled")]));
    past.save("two", blueprints([mutable("wire", "json")]));
    past.save("one", blueprints([mutable("store", "redb")]));
    let outcome = past.undo(UndoTarget::Session(SessionId::new("one")), false);
    assert_eq!(outcome.commits, 2);
    assert!(is_forgotten(&past, "b1") && !is_forgotten(&past, "b3"));
}

#[test]
fn an_import_can_be_made_again_after_its_undo() {
    let mut past = Past::default();
    let imported = |records, undone| Change::Imported {
        source: "zipmem".into(),
        digest: "ab".into(),
        records,
        undone,
    };
    past.write("one", vec![imported(3, false)]);
    assert_eq!(past.memory.imported("zipmem", "ab"), Some(3));
    past.undo(UndoTarget::Last(1), false);
    assert_eq!(past.memory.imported("zipmem", "ab"), None);
    past.undo(UndoTarget::Last(1), false);
    assert_eq!(past.memory.imported("zipmem", "ab"), Some(3));
    assert_eq!(past.replayed(), past.memory);
}

/// Returns a text that is long enough to be told apart, and to be left out of a head.
fn long(word: &str) -> String {
    format!("{word} in the first line\n{}", format!("more about {word}, ").repeat(40))
}

#[test]
fn a_forgotten_record_comes_back_with_its_whole_text() {
    let mut past = Past::default();
    past.note("one", fact("tides", &long("tides")));
    past.forget("n1");
    assert!(past.memory.record("n1".parse().unwrap()).unwrap().is_head);
    past.undo(UndoTarget::Last(1), false);
    assert!(content(&past, "n1").contains(long("tides").trim()), "{}", content(&past, "n1"));
}

#[test]
fn a_change_under_a_later_forgetting_is_taken_back_in_the_dark() {
    let mut past = Past::default();
    past.note("one", fact("tides", &long("tides")));
    let changed = past.note("one", fact("tides", &long("currents")));
    let forgot = past.forget("n1");
    let outcome = past.undo(UndoTarget::Commit(changed), false);
    assert!(matches!(outcome.end, UndoEnd::Done { .. }), "{outcome:?}");
    assert!(is_forgotten(&past, "n1"));
    past.undo(UndoTarget::Commit(forgot), false);
    assert!(content(&past, "n1").contains(long("tides").trim()), "{}", content(&past, "n1"));
}

#[test]
fn a_purged_text_does_not_come_back_in_another_record() {
    let mut past = Past::default();
    past.note("one", fact("a", &long("tides")));
    past.note("one", fact("b", &long("tides")));
    let changed = past.note("one", fact("b", "nothing"));
    past.purge("n1".parse().unwrap());
    let purged = past.undo(UndoTarget::Commit(changed), true);
    let left: Vec<_> = purged.left.iter().map(|it| (it.id.to_string(), it.why)).collect();
    assert_eq!(left, [("n2".to_owned(), WhyLeft::Purged(Timestamp(99)))]);
    assert!(content(&past, "n2").starts_with("nothing"));
    // The purged record itself.
    let purged = past.undo(UndoTarget::Project(Revision(0)), true);
    let left: Vec<_> = purged.left.iter().map(|it| it.id.to_string()).collect();
    assert_eq!(left, ["n1"]);
    assert!(is_forgotten(&past, "n2"));
}

/// None of its texts is long, so a forgotten one has all of them.
#[test]
fn a_lesson_of_several_short_texts_comes_back() {
    let mut past = Past::default();
    past.save("one", lessons([lesson(&"s".repeat(150), &"d".repeat(150))]));
    past.undo(UndoTarget::Last(1), false);
    assert!(is_forgotten(&past, "l1"));
    past.undo(UndoTarget::Last(1), false);
    assert!(!is_forgotten(&past, "l1"));
}

#[test]
fn a_record_that_still_holds_a_purged_text_can_be_forgotten() {
    let mut past = Past::default();
    past.note("one", fact("a", &long("tides")));
    let second = past.note("one", fact("b", &long("tides")));
    past.purge("n1".parse().unwrap());
    assert!(content(&past, "n2").contains("tides"), "a purge by id leaves the other");
    past.undo(UndoTarget::Commit(second), false);
    assert!(is_forgotten(&past, "n2"));
    // Now it does not come back.
    let outcome = past.undo(UndoTarget::Last(1), false);
    assert_eq!((outcome.left.len(), is_forgotten(&past, "n2")), (1, true));
}

#[test]
fn a_session_that_saved_again_keeps_its_new_row() {
    let mut past = Past::default();
    past.save("one", blueprints([mutable("store", "sled")]));
    let undone = past.undo(UndoTarget::Last(1), false);
    assert_eq!(undone.records.len(), 2);
    past.save("one", blueprints([mutable("wire", "json")]));
    let rows = |past: &Past| {
        past.memory.active_of(Kind::SessionRow).map(|it| it.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&past), ["s4"]);
    let outcome = past.undo(UndoTarget::Commit(Revision(2)), false);
    assert!(matches!(outcome.end, UndoEnd::Done { .. }), "{outcome:?}");
    assert!(!is_forgotten(&past, "b1"));
    assert_eq!(rows(&past), ["s4"]);
}

#[test]
fn a_plan_on_records_that_have_moved_writes_nothing() {
    let mut past = Past::default();
    past.note("one", fact("port", "1"));
    let commit = past.commits().remove(0);
    let mut basis = UndoBasis::new(UndoTarget::Last(1));
    basis.add(&commit, &Reader::owner());
    basis.complete(&past.memory, Versions::new());
    past.note("two", fact("port", "2"));
    let by = origin("one", 9);
    let plan = plan_undo(&past.memory, &basis, LaterChanges::TakeBack, None, &by).unwrap();
    assert_eq!((plan.outcome.end, plan.changes), (UndoEnd::Moved, Vec::new()));
    let refused = plan_undo(&past.memory, &basis, LaterChanges::TakeBack, Some(Revision(1)), &by)
        .unwrap_err();
    insta::assert_snapshot!(refused, @r"
    memory is at 2 now, not at 1; nothing was written. Changed since:
    changed n1 port: 2
    ");
}

/// A step of a random history.
#[derive(Clone, Debug)]
enum Move {
    Do(Box<Step>),
    Fact(&'static str, &'static str),
    Rule(&'static str, bool),
    Undo(u64, bool),
    Last(u64),
    Session(&'static str, bool),
    Restore(u64),
    Purge(usize),
}

fn any_moves() -> impl Strategy<Value = Vec<Move>> {
    let steps = any_steps().prop_map(|steps| {
        steps.into_iter().map(|step| Move::Do(Box::new(step))).collect::<Vec<_>>()
    });
    let session = prop::sample::select(vec!["one", "two", "three"]);
    let key = || prop::sample::select(vec!["a", "b"]);
    let other = prop_oneof![
        5 => (key(), key()).prop_map(|(key, text)| Move::Fact(key, text)),
        2 => (key(), any::<bool>()).prop_map(|(title, person)| Move::Rule(title, person)),
        3 => (any::<u64>(), any::<bool>()).prop_map(|(at, force)| Move::Undo(at, force)),
        2 => (1_u64..4).prop_map(Move::Last),
        1 => (session, any::<bool>()).prop_map(|(session, force)| Move::Session(session, force)),
        2 => any::<u64>().prop_map(Move::Restore),
        1 => any::<usize>().prop_map(Move::Purge),
    ];
    let moves = prop_oneof![1 => steps, 1 => other.prop_map(|other| vec![other])];
    prop::collection::vec(moves, 1..8).prop_map(|moves| moves.concat())
}

/// Undoes the newest commit and checks that its own undo is the identity on content.
fn check_identity(past: &Past) -> Result<(), TestCaseError> {
    let before = past.content();
    let mut copy = past.clone();
    let first = copy.undo(UndoTarget::Last(1), false);
    prop_assert_ne!(first.end, UndoEnd::Conflicts);
    if matches!(first.end, UndoEnd::Done { revision: Some(_) }) {
        copy.undo(UndoTarget::Last(1), false);
        prop_assert_eq!(copy.content(), before);
    }
    Ok(())
}

/// Returns the purged texts that some record shows.
fn shown(past: &Past, purged: &[String]) -> Vec<String> {
    let texts = past.memory.records().flat_map(|record| record.body.fields().tombstone_texts());
    texts.filter(|text| purged.contains(text)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn undo_keeps_its_laws(moves in any_moves()) {
        let mut past = Past::default();
        // The content at each revision since the last purge.
        let mut known: BTreeMap<u64, BTreeMap<RecordId, Content>> = BTreeMap::new();
        let mut purged: Vec<String> = Vec::new();
        for step in moves {
            let newest = past.memory.revision().0;
            let shown_before = shown(&past, &purged);
            let some = |at: u64| Revision(1 + at % newest.max(1));
            match step {
                Move::Do(step) => {
                    // A repeated text is refused after a purge.
                    if !purged.is_empty() {
                        continue;
                    }
                    let changes = changes_of(&past.memory, &step, past.on());
                    let session = match *step {
                        Step::Checkpoint(session, _) | Step::Save(session, _) => session,
                        Step::Keep(..) | Step::Forget(_) => "one",
                    };
                    past.write(session, changes);
                }
                Move::Fact(key, text) => {
                    let items = vec![Ok(fact(key, &long(text)))];
                    let plan = plan_notes(&past.memory, &origin("one", past.on()), items);
                    if let Ok(plan) = plan {
                        past.write("one", plan.changes);
                    }
                }
                Move::Rule(title, by_person) => {
                    let rule = rule(title, &long(title));
                    let author = if by_person { RuleAuthor::Person } else { RuleAuthor::Agent };
                    let by = origin("one", past.on());
                    if let Ok(plan) = plan_rule(&past.memory, rule, author, &by) {
                        past.write("one", plan.changes);
                    }
                }
                Move::Undo(at, force) => {
                    let before = past.content();
                    let outcome = past.undo(UndoTarget::Commit(some(at)), force);
                    if !matches!(outcome.end, UndoEnd::Done { .. }) {
                        prop_assert_eq!(past.content(), before);
                    } else if past.memory.revision().0 > newest {
                        past.undo(UndoTarget::Last(1), false);
                        prop_assert_eq!(past.content(), before);
                    }
                }
                Move::Last(last) => {
                    past.undo(UndoTarget::Last(last), false);
                    let to = newest.saturating_sub(last);
                    if let Some(then) = known.get(&to) {
                        prop_assert_eq!(&past.visible(), then, "the last {} are gone", last);
                    }
                }
                Move::Session(session, force) => {
                    past.undo(UndoTarget::Session(SessionId::new(session)), force);
                }
                Move::Restore(at) => {
                    let to = some(at);
                    past.undo(UndoTarget::Project(to), false);
                    if let Some(then) = known.get(&to.0) {
                        prop_assert_eq!(&past.visible(), then, "restored to {:?}", to);
                    }
                }
                Move::Purge(which) => {
                    let ids: Vec<_> = past.memory.records().map(|record| record.id).collect();
                    let Some(id) = ids.get(which % ids.len().max(1)).copied() else { continue };
                    let all = past.versions();
                    let versions = all.iter().filter(|((of, _), _)| *of == id);
                    let bodies = versions.filter_map(|(_, it)| it.content.record());
                    purged.extend(bodies.flat_map(|it| it.body.fields().tombstone_texts()));
                    past.purge(id);
                    known.clear();
                    continue;
                }
            }
            prop_assert_eq!(&past.replayed(), &past.memory);
            let back: Vec<_> =
                shown(&past, &purged).into_iter().filter(|it| !shown_before.contains(it)).collect();
            prop_assert_eq!(back, Vec::<String>::new(), "a purged text came back");
            check_identity(&past)?;
            known.insert(past.memory.revision().0, past.visible());
        }
    }
}

#[test]
fn no_kind_is_left_out_of_the_laws() {
    let mut past = Past::default();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut kinds = BTreeSet::new();
    let plan =
        plan_rule(&past.memory, rule("a", "why"), RuleAuthor::Person, &origin("one", past.on()));
    past.write("one", plan.unwrap().changes);
    for _ in 0..50 {
        let steps = any_steps().new_tree(&mut runner).unwrap().current();
        for step in steps {
            let changes = changes_of(&past.memory, &step, past.on());
            past.write("one", changes);
        }
        kinds.extend(past.memory.records().map(|record| record.kind()));
    }
    assert_eq!(kinds.len(), Kind::ALL.len());
}
