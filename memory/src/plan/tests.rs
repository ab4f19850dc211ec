//! The planners' decisions, and the laws of folding.

mod overtaken;

use std::sync::Arc;

use proptest::prelude::*;

use super::{
    Save, find, plan_adopt, plan_checkpoint, plan_forget, plan_keep, plan_save, plan_update,
};
use crate::Reader;
use crate::testing::{
    anchor, anchors, any_part, any_steps, apply, blueprint, blueprints, checkpoint, day, lesson,
    lessons, mutable, note, origin, save, take,
};
use crate::{
    Body, Change, Counts, Kind, Memory, NewNote, NoticeCause, Provenance, RecordId, RecordState,
    Refusal, Revision, Seq, SessionId, SessionRow, Staged, Timestamp, TrailEntry, Update, Version,
    limits,
};

fn id(text: &str) -> RecordId {
    text.parse().unwrap()
}

fn row(memory: &Memory, of: &str) -> SessionRow {
    match &memory.record(id(of)).unwrap().body {
        Body::SessionRow(row) => row.clone(),
        other => panic!("{of} is {other:?}"),
    }
}

fn bodies(memory: &Memory) -> Vec<Body> {
    memory
        .active()
        .filter(|record| record.kind() != Kind::SessionRow)
        .map(|record| record.body.clone())
        .collect()
}

fn refused(memory: &Memory, part: Staged) -> String {
    plan_checkpoint(memory, &origin("one", 1), part).unwrap_err().to_string()
}

#[test]
fn titles_in_two_spellings_are_two_blueprints_for_those_who_mean_that() {
    let exact = |title: &str, content: &str| spelled(blueprints([blueprint(title, content)]), true);
    let titles = |memory: &Memory| -> Vec<String> {
        let title = |body: Body| match body {
            Body::Blueprint(it) => Some(format!("{}: {}", it.title, it.content)),
            _ => None,
        };
        bodies(memory).into_iter().filter_map(title).collect()
    };
    let mut memory = Memory::default();
    save(&mut memory, &origin("native", 1), blueprints([blueprint("Case", "first")]));
    // Two sessions stage at once, and neither of them sees the other's work.
    let (one, two) = (origin("one", 2), origin("two", 2));
    for (by, title, content) in
        [(&one, "case", "second"), (&one, "Case", "first"), (&two, "CASE", "third")]
    {
        let plan = plan_checkpoint(&memory, by, exact(title, content)).unwrap();
        assert_eq!(plan.outcome.kept, [], "{title}");
        apply(&mut memory, plan);
    }
    save(&mut memory, &two, exact("case", "not this"));
    save(&mut memory, &one, Staged::default());
    assert_eq!(titles(&memory), ["Case: first", "CASE: third", "case: not this"]);
    save(&mut memory, &one, spelled(blueprints([mutable("case", "revised")]), true));
    assert_eq!(titles(&memory), ["Case: first", "CASE: third", "case: revised"]);
    // Others mean a title in its own spelling first, and otherwise the oldest.
    save(&mut memory, &origin("native", 3), blueprints([mutable("case", "by us")]));
    save(&mut memory, &origin("native", 4), blueprints([mutable("cAsE", "the first")]));
    assert_eq!(titles(&memory), ["cAsE: the first", "CASE: third", "case: by us"]);
}

#[test]
fn a_checkpoint_stages_without_changing_memory() {
    let mut memory = Memory::default();
    let part = lessons([lesson("Flush does not fsync", "")]);
    let plan = plan_checkpoint(&memory, &origin("one", 2), part).unwrap();
    assert_eq!(plan.outcome.pending, Counts { lessons: 1, ..Counts::default() });
    apply(&mut memory, plan);
    assert_eq!(memory.records().count(), 0);
    assert_eq!((memory.seq(), memory.revision()), (Seq(1), Revision(0)));
    let staged = memory.staged_by(&SessionId::new("one")).unwrap();
    assert_eq!((staged.first, &*staged.client), (day(2), "claude-code"));
}

#[test]
fn refusals_name_the_field() {
    let memory = Memory::default();
    insta::assert_snapshot!(refused(&memory, Staged::default()), @"checkpoint has nothing in it; give a summary or any of these: blueprints, anchors, lessons, notes, topic");
    let part = blueprints([blueprint("a", "x"), blueprint("b", "x"), blueprint(" \n", "x")]);
    insta::assert_snapshot!(refused(&memory, part), @"blueprints[2].title is empty");
    let part = blueprints([blueprint("a", " \n")]);
    insta::assert_snapshot!(refused(&memory, part), @"blueprints[0].content is empty");
    let part = anchors([anchor("./", "1-2", "x")]);
    insta::assert_snapshot!(refused(&memory, part), @"anchors[0].file names no file");
    let part = anchors([anchor("a.rs", "  ", "x")]);
    insta::assert_snapshot!(refused(&memory, part), @"anchors[0].lines is empty; give lines as 42-67 or 42");
    let part = lessons([lesson(&"x".repeat(1_001), "")]);
    insta::assert_snapshot!(refused(&memory, part), @"lessons[0].summary has 1001 characters, 1000 are allowed; put the rest in the text below it");
    let part = blueprints([blueprint("a", &"x".repeat(limits::TEXT_BYTES_MAX + 1))]);
    insta::assert_snapshot!(refused(&memory, part), @"blueprints[0].content is 262145 bytes, 262144 are allowed; keep the point and name the file that has the rest");
    let save = Save { session_summary: " ", ..Save::default() };
    let refusal = plan_save(&memory, &origin("one", 1), save).unwrap_err();
    insta::assert_snapshot!(refusal, @"session_summary is empty; say what this session did");
}

#[test]
fn staging_too_much_is_refused_and_keeps_earlier_staged_work() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    let full = "x".repeat(limits::TEXT_BYTES_MAX);
    let room = limits::STAGED_BYTES_MAX / limits::TEXT_BYTES_MAX;
    for at in 0..room - 1 {
        checkpoint(&mut memory, &by, blueprints([blueprint(&format!("b{at}"), &full)]));
    }
    let before = memory.clone();
    let part = blueprints([blueprint("last", &full)]);
    let refusal = plan_checkpoint(&memory, &by, part).unwrap_err();
    assert!(matches!(refusal, Refusal::TooLarge { .. }), "{refusal}");
    assert_eq!(memory, before);
}

#[test]
fn saved_fields_are_normalised() {
    let mut memory = Memory::default();
    let mut part = anchors([anchor(" .\\src//a.rs/", " 42 - 40 ", "starts\n the runtime ")]);
    part.lessons = vec![crate::Lesson {
        files: vec!["./a.rs".to_owned(), "a.rs".to_owned(), " ".to_owned()],
        ..lesson(" a\tb ", "\n more\n")
    }];
    save(&mut memory, &origin("one", 1), part);
    let expected = crate::Lesson { files: vec!["a.rs".to_owned()], ..lesson("a b", "more") };
    assert_eq!(
        bodies(&memory),
        [Body::Anchor(anchor("src/a.rs", "40-42", "starts the runtime")), Body::Lesson(expected),]
    );
}

#[test]
fn a_save_folds_staged_work_into_one_commit_with_a_row() {
    let mut memory = Memory::default();
    let by = origin("one", 3);
    checkpoint(&mut memory, &by, anchors([anchor("a.rs", "1-5", "x")]));
    let outcome = save(&mut memory, &by, lessons([lesson("Flush does not fsync", "")]));
    assert_eq!(outcome.added, Counts { anchors: 1, lessons: 1, ..Counts::default() });
    assert_eq!((outcome.revision, memory.revision()), (Revision(1), Revision(1)));
    let totals = memory.totals();
    assert_eq!((outcome.active, outcome.text_bytes), (totals.active, totals.text_bytes));
    assert_eq!(outcome.sessions, 1);
    assert_eq!(memory.staged().count(), 0);
    let row = row(&memory, &outcome.row.to_string());
    assert_eq!((row.number, row.anchors_added, row.lessons_added), (1, 1, 1));
    assert_eq!((row.summary.as_str(), row.on_behalf), ("worked", false));
}

#[test]
fn a_later_save_of_a_session_replaces_its_row_and_adds_up() {
    let mut memory = Memory::default();
    let first = save(&mut memory, &origin("one", 1), lessons([lesson("a1", "")]));
    let second = save(&mut memory, &origin("one", 2), lessons([lesson("b1", "")]));
    assert_eq!((first.row, second.sessions), (second.row, 1));
    let row = row(&memory, &second.row.to_string());
    assert_eq!((row.lessons_added, row.started, row.ended), (2, day(1), day(2)));
    assert_eq!(memory.record(second.row).unwrap().version, Version(2));
}

#[test]
fn an_immutable_blueprint_stays_verbatim_until_explicitly_superseded() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), blueprints([blueprint("Store", "sled\n")]));
    let outcome = save(&mut memory, &origin("two", 2), blueprints([blueprint("STORE", "redb")]));
    let kept: Vec<_> = outcome.kept.iter().map(|kept| (kept.id, kept.title.as_str())).collect();
    assert_eq!(kept, [(Some(id("b1")), "Store")]);
    assert_eq!(bodies(&memory), [Body::Blueprint(blueprint("Store", "sled\n"))]);
    assert_eq!(memory.record(id("b1")).unwrap().version, Version::FIRST);

    let outcome = save(&mut memory, &origin("two", 3), blueprints([mutable("Store", "redb")]));
    assert_eq!((outcome.kept.len(), outcome.merged, outcome.replaced), (0, 0, 1));
    let outcome = save(&mut memory, &origin("two", 4), blueprints([blueprint("Store", "fjall")]));
    assert_eq!((outcome.kept.len(), outcome.merged, outcome.replaced), (0, 0, 1));
    assert_eq!(bodies(&memory), [Body::Blueprint(blueprint("Store", "fjall"))]);
    assert_eq!(memory.record(id("b1")).unwrap().version, Version(3));
}

#[test]
fn a_checkpoint_reports_at_once_what_a_save_will_not_change() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), blueprints([blueprint("Store", "sled")]));
    let by = origin("two", 2);
    checkpoint(&mut memory, &by, blueprints([blueprint("Wire", "json")]));
    let part = blueprints([blueprint("Store", "redb"), blueprint("Wire", "cbor")]);
    let kept = plan_checkpoint(&memory, &by, part).unwrap().outcome.kept;
    let kept: Vec<_> = kept.iter().map(|kept| (kept.id, kept.title.as_str())).collect();
    assert_eq!(kept, [(None, "Wire"), (Some(id("b1")), "Store")]);
    // A blueprint that supersedes it is not held back, even if an immutable one follows.
    let part = blueprints([mutable("Store", "redb"), blueprint("Store", "fjall")]);
    assert_eq!(plan_checkpoint(&memory, &by, part).unwrap().outcome.kept, []);
}

#[test]
fn a_blueprint_left_out_while_staging_is_reported_with_its_id() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    checkpoint(&mut memory, &by, blueprints([blueprint("Wire", "json")]));
    let outcome = save(&mut memory, &by, blueprints([blueprint("Wire", "cbor")]));
    let kept: Vec<_> = outcome.kept.iter().map(|kept| (kept.id, kept.title.as_str())).collect();
    assert_eq!(kept, [(Some(id("b1")), "Wire")]);
}

#[test]
fn an_anchor_that_unites_stored_ones_is_merged_into_the_oldest() {
    let mut memory = Memory::default();
    let stored = [("1-5", "one"), ("20-25", "two"), ("50-60", "three")];
    let part = anchors(stored.map(|(lines, concept)| anchor("a.rs", lines, concept)));
    save(&mut memory, &origin("one", 1), part);
    let pin = Update { pinned: Some(true), ..Update::default() };
    let by = origin("one", 1);
    let pin = plan_update(&memory, &Reader::anyone(), id("a2"), &pin, None, &by).unwrap();
    apply(&mut memory, pin);
    let new = crate::Anchor { unites_adjacent: true, ..anchor("a.rs", "5-20", "new") };
    let outcome = save(&mut memory, &origin("two", 2), anchors([new]));
    assert_eq!((outcome.merged, outcome.added), (1, Counts::default()));
    assert_eq!(
        bodies(&memory),
        [
            Body::Anchor(anchor("a.rs", "1-25", "new")),
            Body::Anchor(anchor("a.rs", "50-60", "three")),
        ]
    );
    let swallowed = memory.record(id("a2")).unwrap();
    assert_eq!((swallowed.state, swallowed.version), (RecordState::Forgotten, Version(3)));
    assert!(memory.record(id("a1")).unwrap().pinned, "as one of them was");
}

#[test]
fn a_forgotten_record_is_not_merged_into() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    save(&mut memory, &by, lessons([lesson("Flush does not fsync", "old")]));
    let plan = plan_forget(&memory, &Reader::anyone(), id("l1"), None, &by).unwrap();
    apply(&mut memory, plan);
    let outcome = save(&mut memory, &by, lessons([lesson("Flush does not fsync", "new")]));
    assert_eq!(outcome.added.lessons, 1);
    assert_eq!(bodies(&memory), [Body::Lesson(lesson("Flush does not fsync", "new"))]);
    assert_eq!(memory.record(id("l1")).unwrap().state, RecordState::Forgotten);
}

#[test]
fn an_archived_record_becomes_active_when_written_again() {
    for part in [
        blueprints([blueprint("Store", "sled")]),
        anchors([anchor("a.rs", "1-5", "x")]),
        lessons([lesson("Flush does not fsync", "")]),
    ] {
        let mut memory = Memory::default();
        save(&mut memory, &origin("one", 1), part.clone());
        let mut record = memory.active().next().unwrap().as_ref().clone();
        let of = record.id;
        record.state = RecordState::Archived;
        record.version = record.version.next();
        memory.apply(Seq(9), &[Change::Put(Arc::new(record))]);
        assert_eq!((bodies(&memory).len(), memory.totals().archived), (0, 1));
        save(&mut memory, &origin("two", 2), part);
        assert_eq!(memory.record(of).unwrap().version, Version(3));
        assert_eq!((bodies(&memory).len(), memory.totals().archived), (1, 0));
    }
}

#[test]
fn a_stale_expected_revision_shows_what_changed_and_writes_nothing() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), Staged::default());
    save(&mut memory, &origin("two", 2), lessons([lesson("Flush does not fsync", "")]));
    let save =
        Save { session_summary: "worked", expected_revision: Some(Revision(1)), ..Save::default() };
    let refusal = plan_save(&memory, &origin("one", 3), save.clone()).unwrap_err();
    insta::assert_snapshot!(refusal, @r"
    memory is at 2 now, not at 1; nothing was written. Changed since:
    new s3 2026-11-02 claude-code: worked
    new l2 Flush does not fsync
    ");
    let save = Save { expected_revision: Some(Revision(2)), ..save };
    assert!(plan_save(&memory, &origin("one", 3), save).is_ok());
}

fn keep(memory: &mut Memory, session: &str, on: i64) -> bool {
    let origin = Provenance { client: "".into(), ..origin("anchord", on) };
    let session = SessionId::new(session);
    match plan_keep(memory, &session, &origin, NoticeCause::Ended, false) {
        Some(plan) => {
            apply(memory, plan);
            true
        }
        None => false,
    }
}

#[test]
fn the_work_of_an_ended_session_is_kept_once_on_its_behalf() {
    let mut memory = Memory::default();
    checkpoint(&mut memory, &origin("one", 1), anchors([anchor("a.rs", "1-5", "x")]));
    assert!(keep(&mut memory, "one", 2));
    assert!(!keep(&mut memory, "one", 2), "nothing is staged any more");
    let kept = row(&memory, "s2");
    assert!(kept.on_behalf);
    assert_eq!((kept.summary.as_str(), kept.anchors_added), ("Staged 1 anchor.", 1));
    assert_eq!((kept.started, kept.ended), (day(1), day(2)));
    let anchor = memory.record(id("a1")).unwrap();
    assert_eq!((&*anchor.created.client, &*anchor.created.session.0), ("claude-code", "one"));
    let notices: Vec<_> = memory.notices().collect();
    assert_eq!((notices.len(), notices[0].row), (1, id("s2")));
    assert_eq!(notices[0].kept, Counts { anchors: 1, ..Counts::default() });

    // The session was not gone after all: its save adds an entry of its own.
    let outcome = save(&mut memory, &origin("one", 3), lessons([lesson("y", "")]));
    assert_eq!((outcome.row, outcome.sessions), (id("s2"), 1));
    let saved = row(&memory, "s2");
    assert_eq!((saved.summary.as_str(), saved.on_behalf), ("worked", false));
    let earlier: Vec<_> = saved.earlier.iter().map(|it| (&*it.summary, it.on_behalf)).collect();
    assert_eq!(earlier, [("Staged 1 anchor.", true)], "marked, and it stays");
    assert_eq!((saved.anchors_added, saved.lessons_added), (1, 1));
}

#[test]
fn a_notice_counts_only_shared_records() {
    let mut memory = Memory::default();
    let own = NewNote { private: true, ..note("for me") };
    let part = |notes: &[NewNote]| Staged { notes: notes.to_vec(), ..Staged::default() };
    checkpoint(&mut memory, &origin("one", 1), part(std::slice::from_ref(&own)));
    assert!(keep(&mut memory, "one", 2));
    assert_eq!(memory.notices().count(), 0, "nothing for anybody else");
    assert_eq!(row(&memory, "s2").summary, "Staged 1 note.");
    checkpoint(&mut memory, &origin("two", 3), part(&[own, note("for all")]));
    assert!(keep(&mut memory, "two", 4));
    let kept: Vec<Counts> = memory.notices().map(|notice| notice.kept).collect();
    assert_eq!(kept, [Counts { notes: 1, ..Counts::default() }]);
}

#[test]
fn a_session_that_saved_keeps_its_own_words() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 1), Staged::default());
    let part = Staged { summary: Some("began on the wire".to_owned()), ..Staged::default() };
    checkpoint(&mut memory, &origin("one", 2), part);
    assert!(keep(&mut memory, "one", 3));
    let row = row(&memory, "s1");
    assert_eq!(
        (row.summary.as_str(), row.on_behalf, row.ended),
        ("began on the wire", true, day(3))
    );
    let own =
        TrailEntry { time: day(1), summary: "worked".to_owned(), on_behalf: false, folded: 0 };
    assert_eq!(row.earlier, [own]);
}

#[test]
fn a_successor_takes_over_staged_work() {
    let mut memory = Memory::default();
    let (one, two) = (SessionId::new("one"), SessionId::new("two"));
    assert!(plan_adopt(&memory, &one, &two, &origin("two", 9)).is_none());
    checkpoint(&mut memory, &origin("one", 1), lessons([lesson("first", "")]));
    checkpoint(&mut memory, &origin("two", 2), lessons([lesson("second", "")]));
    assert!(plan_adopt(&memory, &one, &one, &origin("two", 9)).is_none());
    let plan = plan_adopt(&memory, &one, &two, &origin("two", 9)).unwrap();
    apply(&mut memory, plan);
    assert!(memory.staged_by(&one).is_none());
    let staged = memory.staged_by(&two).unwrap();
    assert_eq!(staged.lessons, [lesson("first", ""), lesson("second", "")]);
    assert_eq!(memory.revision(), Revision(0));
}

#[test]
fn forgetting_requires_an_existing_record_at_the_expected_version() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    save(&mut memory, &by, lessons([lesson("x1", ""), lesson("x2", ""), lesson("x3", "")]));
    let refusal = plan_forget(&memory, &Reader::anyone(), id("l9"), None, &by).unwrap_err();
    insta::assert_snapshot!(refusal, @"there is no record l9; memory_search finds records by their words");
    insta::assert_snapshot!(find(&memory, &Reader::anyone(), id("b1")).unwrap_err(), @"there is no record b1; memory_search finds records by their words");
    let refusal =
        plan_forget(&memory, &Reader::anyone(), id("l2"), Some(Version(2)), &by).unwrap_err();
    insta::assert_snapshot!(refusal, @r"
    l2 is at 1 now, not at 2; nothing was written. Changed since:
    l2 x2
    ");
    let plan = plan_forget(&memory, &Reader::anyone(), id("l2"), Some(Version(1)), &by).unwrap();
    assert!(!plan.outcome.already);
    apply(&mut memory, plan);
    assert_eq!(bodies(&memory).len(), 2);
    let again = plan_forget(&memory, &Reader::anyone(), id("l2"), None, &by).unwrap();
    assert_eq!((again.outcome.already, again.changes.len()), (true, 0));
}

/// Returns a part as a checkpoint stages it.
fn told(part: Staged, by: &Provenance) -> Staged {
    let mut part = crate::staged::accept(part, &crate::WriteLimits::default()).unwrap();
    // Each call dates its own lines, however many calls are folded at once.
    part.stamp(None, by);
    part
}

/// Returns a part whose blueprints mean exactly the spelling of their titles, or any.
fn spelled(mut part: Staged, exact: bool) -> Staged {
    part.blueprints.iter_mut().for_each(|blueprint| blueprint.exact = exact);
    part
}

proptest! {
    #[test]
    fn checkpoints_and_a_save_equal_one_save_of_everything(
        steps in any_steps(), a in any_part(), b in any_part(), c in any_part(),
        exact in any::<bool>(),
    ) {
        let [a, b, c] = [a, b, c].map(|part| spelled(part, exact));
        let (memory, _) = take(&steps);
        let by = origin("new", 60);
        let summary = Save { session_summary: "worked", ..Save::default() };
        let mut staged = memory.clone();
        checkpoint(&mut staged, &by, a.clone());
        checkpoint(&mut staged, &by, b.clone());
        let plan = plan_save(&staged, &by, Save { part: c.clone(), ..summary.clone() }).unwrap();
        apply(&mut staged, plan);

        let mut part = told(a, &by);
        part.absorb(&told(b, &by));
        part.absorb(&told(c, &by));
        let mut at_once = memory;
        let plan = plan_save(&at_once, &by, Save { part, ..summary }).unwrap();
        apply(&mut at_once, plan);
        let of = |memory: &Memory| memory.records().cloned().collect::<Vec<_>>();
        prop_assert_eq!(of(&staged), of(&at_once));
    }

    #[test]
    fn two_saves_equal_one_save_of_both(
        steps in any_steps(), a in any_part(), b in any_part(), exact in any::<bool>(),
    ) {
        let [a, b] = [a, b].map(|part| spelled(part, exact));
        let (memory, _) = take(&steps);
        let by = origin("new", 60);
        let mut twice = memory.clone();
        save(&mut twice, &by, a.clone());
        save(&mut twice, &by, b.clone());
        let mut part = told(a, &by);
        part.absorb(&told(b, &by));
        let mut once = memory;
        save(&mut once, &by, part);
        let of = |memory: &Memory| {
            let mut texts: Vec<String> =
                bodies(memory).iter().map(|body| serde_json::to_string(body).unwrap()).collect();
            texts.sort();
            texts
        };
        prop_assert_eq!(of(&twice), of(&once));
    }

    #[test]
    fn the_same_save_again_changes_nothing_but_the_row(steps in any_steps(), mut part in any_part()) {
        // The same text again is counted, and a fact written twice is replaced each time.
        part.notes.retain(|note| note.key.is_some());
        part.notes.truncate(1);
        let (mut memory, _) = take(&steps);
        let by = origin("new", 60);
        save(&mut memory, &by, part.clone());
        let again = Save { started: by.time, session_summary: "worked", part, ..Save::default() };
        let plan = plan_save(&memory, &by, again).unwrap();
        prop_assert_eq!(plan.changes, []);
        prop_assert_eq!(plan.outcome.added, Counts::default());
    }

    #[test]
    fn replaying_the_entries_gives_the_same_memory(steps in any_steps()) {
        let (memory, entries) = take(&steps);
        let mut replayed = Memory::default();
        for (seq, changes) in (1..).zip(&entries) {
            // As in the journal.
            let text = serde_json::to_string(changes).unwrap();
            let read: Vec<Change> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read, changes);
            replayed.apply(Seq(seq), &read);
        }
        prop_assert_eq!(replayed, memory);
    }

    #[test]
    fn a_memory_restored_from_its_parts_is_unchanged(steps in any_steps()) {
        let (memory, _) = take(&steps);
        let mut restore = crate::Restore::default();
        restore.at(memory.seq(), memory.revision(), memory.counters());
        memory.records().for_each(|record| restore.record(record.as_ref().clone()));
        memory.notices().for_each(|notice| restore.notice(notice.as_ref().clone()));
        for (session, staged) in memory.staged() {
            restore.staged(session.clone(), staged.as_ref().clone());
        }
        prop_assert_eq!(restore.finish(), memory);
    }

    #[test]
    fn versions_increase_by_one_and_numbers_are_never_reused(steps in any_steps()) {
        let (_, entries) = take(&steps);
        let mut versions = std::collections::BTreeMap::new();
        for record in entries.iter().flatten().filter_map(Change::record) {
            let before = versions.insert(record.id, record.version);
            prop_assert_eq!(before.map_or(Version::FIRST, Version::next), record.version);
        }
        let numbers: std::collections::BTreeSet<u64> =
            versions.keys().map(|id: &RecordId| id.number).collect();
        prop_assert_eq!(numbers.len(), versions.len());
    }

    #[test]
    fn stored_anchors_never_overlap_or_touch(steps in any_steps()) {
        let (memory, _) = take(&steps);
        let anchors: Vec<_> = bodies(&memory)
            .into_iter()
            .filter_map(|body| if let Body::Anchor(anchor) = body { Some(anchor) } else { None })
            .collect();
        for (at, one) in anchors.iter().enumerate() {
            for other in anchors.iter().skip(at + 1) {
                prop_assert!(!one.is_same_place(other), "{:?} is at the place of {:?}", one, other);
            }
        }
    }

    #[test]
    fn totals_match_the_records(steps in any_steps()) {
        let (memory, _) = take(&steps);
        let full = |record: &crate::Record| record.text_bytes() as u64;
        let totals = memory.totals();
        let active: Vec<_> =
            memory.records().filter(|r| r.state.is_active() && r.owner().is_none()).collect();
        let others = active.iter().filter(|record| record.kind() != Kind::Note);
        prop_assert_eq!(totals.text_bytes, others.map(|r| full(r)).sum::<u64>());
        let tokens = active.iter().filter_map(|record| record.note());
        prop_assert_eq!(totals.note_tokens, tokens.map(|note| u64::from(note.tokens)).sum::<u64>());
        let pinned = active.iter().filter(|record| record.pinned);
        let pinned = pinned.filter_map(|record| record.note()).map(|note| u64::from(note.tokens));
        prop_assert_eq!(totals.pinned_tokens, pinned.sum::<u64>());
        for kind in Kind::ALL {
            let count = active.iter().filter(|record| record.kind() == kind).count() as u64;
            prop_assert_eq!(totals.active.of(kind), count);
        }
        prop_assert!(memory.last_written().is_none_or(|r| r.updated.time > Timestamp(0)));
    }
}

#[test]
fn zipmems_users_may_write_what_is_longer_or_empty() {
    let wide = crate::WriteLimits::WIDE;
    let by = origin("one", 1);
    let mut part = blueprints([
        blueprint(&"long title ".repeat(200), &"x".repeat(limits::TEXT_BYTES_MAX + 1)),
        blueprint("nothing yet", ""),
    ]);
    let files: Vec<String> = (0..120).map(|n| format!("src/{n}.rs")).collect();
    part.lessons = vec![crate::Lesson { files, ..lesson("many files", "") }];
    part.anchors = (0..1_200).map(|n| anchor(&format!("{n}.rs"), "1", "concept")).collect();
    assert!(plan_checkpoint(&Memory::default(), &by, part.clone()).is_err(), "not in our own set");
    let mut memory = Memory::default();
    let plan = crate::plan_checkpoint_within(&memory, &by, part, &wide).unwrap();
    apply(&mut memory, plan);
    let save = Save { session_summary: "all of it", limits: wide, ..Save::default() };
    let plan = plan_save(&memory, &by, save).unwrap();
    let outcome = apply(&mut memory, plan);
    assert_eq!(
        (outcome.added.blueprints, outcome.added.lessons, outcome.added.anchors),
        (2, 1, 1_200)
    );
    let kept = memory.active_of(Kind::Lesson).next().unwrap();
    let Body::Lesson(kept) = &kept.body else { panic!() };
    assert_eq!(kept.files.len(), 120);
    let longest = memory.active_of(Kind::Blueprint).map(|record| record.text_bytes()).max();
    assert!(longest > Some(limits::TEXT_BYTES_MAX), "whole: {longest:?}");

    let empty = crate::plan_checkpoint_within(&memory, &by, Staged::default(), &wide).unwrap();
    assert!(empty.changes.is_empty());
    assert!(plan_checkpoint(&memory, &by, Staged::default()).is_err());
}
