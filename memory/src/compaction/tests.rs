//! The laws of compaction: the target is met, nothing is lost, pinned notes stay, and a plan is a
//! function of its inputs.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{CompactionPlan, NearDuplicates, Pool, Scoring, plan_compaction};
use crate::limits::{PROJECT_HALF_LIFE_FACTOR as FACTOR, TAGS_MAX};
use crate::testing::{apply, day, note, origin};
use crate::{
    Accesses, Memory, NewNote, Reader, RecordId, RecordState, SessionId, Timestamp, Update,
    plan_notes, plan_update, plan_use,
};

fn plan(memory: &Memory, pool: &Pool, target: u64, accesses: &Accesses) -> CompactionPlan {
    let (scoring, mut near) = (scoring(accesses), NearDuplicates::default());
    plan_compaction(memory, pool, target, scoring, &BTreeSet::new(), &mut near)
}

fn scoring(accesses: &Accesses) -> Scoring<'_> {
    Scoring { accesses, half_life_factor: FACTOR, formula: crate::Formula::Own, now: day(20) }
}

fn plan_sparing(memory: &Memory, target: u64, spare: &BTreeSet<RecordId>) -> CompactionPlan {
    let (reads, mut near) = (Accesses::default(), NearDuplicates::default());
    plan_compaction(memory, &Pool::Project, target, scoring(&reads), spare, &mut near)
}

/// Returns a memory with notes written a day apart.
fn with_notes(notes: impl IntoIterator<Item = NewNote>) -> Memory {
    let mut memory = Memory::default();
    for (on, new) in (1..).zip(notes) {
        let plan = plan_notes(&memory, &origin("one", on), vec![Ok(new)]).unwrap();
        apply(&mut memory, plan);
    }
    memory
}

/// Returns a note of about this many tokens: three per repetition.
fn long(word: &str, tokens: usize) -> NewNote {
    let words: Vec<String> = (0..tokens / 3).map(|at| format!("{word} {at}")).collect();
    note(&words.join(" "))
}

/// Returns the same note with one word more.
fn longer(word: &str, tokens: usize) -> NewNote {
    note(&(long(word, tokens).content + " end"))
}

fn ids<T>(list: &std::collections::BTreeMap<RecordId, T>) -> String {
    list.keys().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Applies a plan in rounds of at most this many bytes, and returns the memory and the number of
/// rounds.
fn in_rounds(mut memory: Memory, plan: &CompactionPlan, bytes_max: usize) -> (Memory, usize) {
    let rounds = plan.clone().rounds(&memory, bytes_max);
    for round in &rounds {
        let applied = round.apply(&memory);
        assert_eq!(applied.outcome.skipped, 0, "{round:?}");
        apply(&mut memory, applied);
    }
    (memory, rounds.len())
}

#[test]
fn a_large_compaction_in_rounds_equals_one_at_once() {
    let summary = |new: NewNote| NewNote { summary: "in short".to_owned(), ..new };
    let notes = (0..30).map(|n| summary(long(&format!("word{n}"), 400)));
    let near = (0..6).map(|n| note(&format!("{} {n}", long("near", 400).content)));
    let memory = with_notes(notes.chain(near));
    let record_state = |memory: &Memory| -> Vec<(RecordState, bool)> {
        let notes = memory.records().filter_map(|record| Some((record.state, record.note()?)));
        notes.map(|(record_state, note)| (record_state, note.condensed)).collect()
    };
    for target in [6_000, 1_500, 200] {
        let plan = plan(&memory, &Pool::Project, target, &Accesses::default());
        let (at_once, one) = in_rounds(memory.clone(), &plan, usize::MAX);
        assert_eq!(one, 1);
        // Six near duplicates, with room for two at a time.
        for bytes_max in [20_000, 5_000, 1] {
            let (in_parts, rounds) = in_rounds(memory.clone(), &plan, bytes_max);
            assert!(rounds > 1, "{target} {bytes_max}");
            assert_eq!(record_state(&in_parts), record_state(&at_once), "{target} {bytes_max}");
            assert!(Pool::Project.used(&in_parts) <= target);
        }
    }
}

#[test]
fn each_phase_goes_only_as_far_as_needed() {
    let summary = |new: NewNote| NewNote { summary: "in short".to_owned(), ..new };
    let memory = with_notes([
        summary(long("alpha", 400)),
        summary(NewNote { importance: Some(9), ..long("beta", 400) }),
        long("gamma", 400),
        longer("gamma", 400),
        long("delta", 400),
        NewNote { pinned: true, importance: Some(1), ..long("pinned", 400) },
    ]);
    let used = Pool::Project.used(&memory);
    let steps = |target: u64| {
        let plan = plan(&memory, &Pool::Project, target, &Accesses::default());
        let lists = [ids(&plan.promote), ids(&plan.fold), ids(&plan.archive)];
        (lists.join(" | "), plan.tokens_after <= target)
    };
    assert_eq!(steps(used), (" |  | ".to_owned(), true));
    assert_eq!(steps(used - 1), ("n1 |  | ".to_owned(), true));
    assert_eq!(steps(used * 8 / 10), ("n1 n2 |  | ".to_owned(), true));
    assert_eq!(steps(used * 6 / 10), ("n1 n2 | n3 | ".to_owned(), true));
    assert_eq!(steps(used * 4 / 10), ("n1 n2 | n3 | n4".to_owned(), true));
    assert_eq!(steps(0), (" | n3 | n1 n2 n4 n5".to_owned(), false));
}

#[test]
fn notes_are_reduced_to_summaries_before_any_is_archived() {
    let summary = long("point", 60).content;
    for summed_first in [true, false] {
        let notes = (0..8).map(|at| {
            let new = long(&format!("word{at}"), 120);
            let is_summed = (at < 4) == summed_first;
            NewNote { summary: if is_summed { summary.clone() } else { String::new() }, ..new }
        });
        let mut memory = with_notes(notes);
        let half = Pool::Project.used(&memory) / 2;
        let plan = plan(&memory, &Pool::Project, half, &Accesses::default());
        let summed = if summed_first { "n1 n2 n3 n4" } else { "n5 n6 n7 n8" };
        let archived = if summed_first { "n5 n6" } else { "n1 n2" };
        assert_eq!((ids(&plan.promote), ids(&plan.archive)), (summed.into(), archived.into()));
        assert!(plan.tokens_after <= half);
        // A note that was promoted earlier keeps that advantage.
        let applied = plan.apply(&memory);
        apply(&mut memory, applied);
        let less = super::tests::plan(&memory, &Pool::Project, half / 2, &Accesses::default());
        assert_eq!(ids(&less.archive), if summed_first { "n7 n8" } else { "n3 n4" });
    }
}

#[test]
fn a_folded_note_passes_its_tags_to_the_survivor() {
    let tagged = |new: NewNote, tags: &[&str]| NewNote {
        tags: tags.iter().map(ToString::to_string).collect(),
        ..new
    };
    let many: Vec<String> = (0..TAGS_MAX).map(|at| format!("t{at}")).collect();
    let mut memory = with_notes([
        tagged(long("gamma", 400), &["import", "dates"]),
        tagged(longer("gamma", 400), &["dates", "tests"]),
        tagged(long("delta", 400), &["late"]),
        NewNote { tags: many.clone(), ..longer("delta", 400) },
    ]);
    let target = Pool::Project.used(&memory) / 2;
    let plan = plan(&memory, &Pool::Project, target, &Accesses::default());
    assert_eq!(ids(&plan.fold), "n1 n3");
    let applied = plan.apply(&memory);
    apply(&mut memory, applied);
    let tags =
        |number| memory.record(RecordId::new(crate::Kind::Note, number)).unwrap().tags.clone();
    assert_eq!(tags(2), ["dates", "tests", "import"]);
    assert_eq!(tags(1), ["import", "dates"]);
    assert_eq!(tags(4), many);
}

#[test]
fn expired_notes_are_archived_first_and_long_ones_need_summaries() {
    let memory = with_notes([
        long("alpha", 40),
        NewNote { importance: Some(10), expires: Some(day(5)), ..long("beta", 400) },
        long("gamma", 300),
        long("delta", 600),
    ]);
    let plan = plan(&memory, &Pool::Project, 1000, &Accesses::default());
    assert_eq!(ids(&plan.archive), "n2");
    assert_eq!(
        plan.wants_summary.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["n4", "n3"]
    );
}

#[test]
fn folding_adds_to_the_survivor_and_use_reactivates_a_note() {
    let mut memory = with_notes([
        long("gamma", 400),
        longer("gamma", 400),
        NewNote { summary: "in short".to_owned(), ..long("delta", 400) },
    ]);
    let plan = plan(&memory, &Pool::Project, 500, &Accesses::default());
    assert_eq!((ids(&plan.promote), ids(&plan.fold)), ("n3".to_owned(), "n1".to_owned()));
    let before = memory.clone();
    let outcome = apply(&mut memory, plan.apply(&before));
    assert_eq!(
        (outcome.promoted, outcome.folded.len(), outcome.archived.len(), outcome.skipped),
        (1, 1, 0, 0)
    );
    assert_eq!(outcome.tokens_after, plan.tokens_after);
    assert_eq!(memory.revision().0, before.revision().0 + 1);
    let record = |memory: &Memory, number| {
        let id = RecordId::new(crate::Kind::Note, number);
        crate::Record::clone(memory.record(id).unwrap())
    };
    assert_eq!(record(&memory, 1).state, RecordState::Archived);
    assert_eq!(record(&memory, 2).note().unwrap().repeats, 1);
    // Folding does not make it look fresher.
    assert_eq!(record(&memory, 3).updated, record(&before, 3).updated);
    for number in [1, 3] {
        let id = RecordId::new(crate::Kind::Note, number);
        let plan = plan_use(&memory, id, &origin("two", 21)).unwrap();
        apply(&mut memory, plan);
        let used = record(&memory, number);
        assert_eq!((used.state, used.note().unwrap().condensed), (RecordState::Active, false));
    }
}

#[test]
fn notes_changed_since_the_plan_are_left_alone() {
    let mut memory = with_notes([long("alpha", 400), long("beta", 400), long("gamma", 400)]);
    let plan = plan(&memory, &Pool::Project, 0, &Accesses::default());
    let update = Update { pinned: Some(true), ..Update::default() };
    let id = plan.archive.keys().next().copied().unwrap();
    let pin = plan_update(&memory, &Reader::anyone(), id, &update, None, &origin("two", 20));
    apply(&mut memory, pin.unwrap());
    let before = memory.clone();
    let outcome = apply(&mut memory, plan.apply(&before));
    assert_eq!((outcome.archived.len(), outcome.skipped), (2, 1));
    assert_eq!(memory.record(id), before.record(id));
}

/// Two machines of a team may compact at once. Each plans before it knows of the other.
#[test]
fn a_plan_that_another_compaction_made_needless_is_dropped() {
    let mut memory = with_notes((0..10).map(|n| long(&format!("word{n}"), 400)));
    let target = Pool::Project.used(&memory) * 8 / 10;
    let mut reads = Accesses::default();
    for (number, on) in (1..=5).flat_map(|number| (1..20).map(move |on| (number, on))) {
        reads.record(RecordId::new(crate::Kind::Note, number), Timestamp(day(on).0));
    }
    let first = plan(&memory, &Pool::Project, target, &Accesses::default());
    let second = plan(&memory, &Pool::Project, target, &reads);
    assert_ne!(first.archive, second.archive);
    let applied = first.apply(&memory);
    apply(&mut memory, applied);
    let applied = second.apply(&memory);
    assert!(applied.outcome.is_nothing() && applied.changes.is_empty(), "{:?}", applied.outcome);
}

#[test]
fn a_session_compacts_its_own_notes_and_no_others() {
    let mut memory = with_notes([long("shared", 400)]);
    for session in ["one", "two"] {
        let own = NewNote { private: true, ..long(session, 400) };
        let plan = plan_notes(&memory, &origin(session, 5), vec![Ok(own)]).unwrap();
        apply(&mut memory, plan);
    }
    let pool = Pool::Own(Reader::session(SessionId::new("two")));
    let plan = plan(&memory, &pool, 0, &Accesses::default());
    let before = memory.clone();
    let outcome = apply(&mut memory, plan.apply(&before));
    assert_eq!((outcome.archived.len(), outcome.tokens_after, pool.used(&memory)), (1, 0, 0));
    assert_eq!(memory.revision(), before.revision());
    assert_eq!(Pool::Project.used(&memory), Pool::Project.used(&before));
}

fn any_notes() -> impl Strategy<Value = Vec<NewNote>> {
    let words =
        prop::sample::select(vec!["cache", "lock", "never", "数据", "port 80", "fn main()"]);
    let content = prop::collection::vec(words, 1..40).prop_map(|words| words.join(" "));
    let twin =
        "the importer skips rows whose date is in local time since it compares them with UTC";
    let content = prop_oneof![content, "[a-c]".prop_map(move |end| format!("{twin} {end}"))];
    let marks = (any::<bool>(), any::<bool>(), 0_u8..4, any::<bool>());
    let new = (content, 1_u8..=10, marks).prop_map(
        |(content, importance, (summed, expires, pinned, private))| NewNote {
            summary: if summed { "in short".to_owned() } else { String::new() },
            importance: Some(importance),
            expires: expires.then_some(day(10)),
            pinned: pinned == 0,
            private,
            ..note(&content)
        },
    );
    prop::collection::vec(new, 0..14)
}

fn any_reads() -> impl Strategy<Value = Accesses> {
    prop::collection::vec((1_u64..14, 1_i64..20), 0..20).prop_map(|reads| {
        let mut accesses = Accesses::default();
        for (number, on) in reads {
            let id = RecordId::new(crate::Kind::Note, number);
            accesses.record(id, Timestamp(day(on).0));
        }
        accesses
    })
}

fn any_pool() -> impl Strategy<Value = Pool> {
    prop::sample::select(vec![Pool::Project, Pool::Own(Reader::session(SessionId::new("one")))])
}

proptest! {
    #[test]
    fn the_target_is_met_and_nothing_is_lost(
        notes in any_notes(),
        reads in any_reads(),
        pool in any_pool(),
        target in 0_u64..400,
    ) {
        let before = with_notes(notes);
        let plan = plan(&before, &pool, target, &reads);
        prop_assert_eq!(&plan, &super::tests::plan(&before, &pool, target, &reads));
        let mut after = before.clone();
        let outcome = apply(&mut after, plan.apply(&before));
        prop_assert_eq!(outcome.skipped, 0);
        prop_assert_eq!(outcome.tokens_before, plan.tokens_before);
        prop_assert_eq!(outcome.tokens_after, plan.tokens_after);

        let pinned: u64 = before
            .records()
            .filter(|record| record.pinned && record.owner().is_none() == (pool == Pool::Project))
            .filter_map(|record| record.note())
            .map(|note| u64::from(note.tokens))
            .sum();
        prop_assert!(pool.used(&after) <= target.max(pinned), "{} of {target}", pool.used(&after));
        prop_assert_eq!(before.records().count(), after.records().count());
        for (was, is) in before.records().zip(after.records()) {
            let (old, new) = (was.note().unwrap(), is.note().unwrap());
            prop_assert_eq!(&old.content, &new.content);
            prop_assert_eq!(&old.summary, &new.summary);
            prop_assert_ne!(is.state, RecordState::Forgotten);
            if was.pinned {
                prop_assert_eq!(was, is);
            }
            let in_pool = was.owner().is_none() == (pool == Pool::Project);
            if !in_pool || plan.tokens_before <= target {
                prop_assert_eq!(was, is);
            }
        }
    }

    #[test]
    fn an_outdated_plan_leaves_newer_changes_alone(
        notes in any_notes(),
        later in prop::collection::vec((1_u64..14, any::<bool>()), 0..8),
        target in 0_u64..200,
    ) {
        let old = with_notes(notes);
        let plan = plan(&old, &Pool::Project, target, &Accesses::default());
        let mut newer = old.clone();
        for (number, pin) in later {
            let id = RecordId::new(crate::Kind::Note, number);
            let update = if pin {
                Update { pinned: Some(true), ..Update::default() }
            } else {
                Update { content: Some(format!("new {number}")), ..Update::default() }
            };
            let by = origin("one", 18);
            if let Ok(plan) = plan_update(&newer, &Reader::session(by.session.clone()), id, &update, None, &by) {
                apply(&mut newer, plan);
            }
        }
        let mut after = newer.clone();
        apply(&mut after, plan.apply(&newer));
        for (was, is) in newer.records().zip(after.records()) {
            let same = old.record(was.id).is_some_and(|old| old.version == was.version);
            if !same || was.pinned {
                prop_assert_eq!(was, is);
            }
        }
    }
}

/// Otherwise a note would be archived by its own write, and so would every later one.
#[test]
fn a_note_just_written_stays_when_pinned_notes_fill_the_budget() {
    let memory = with_notes([
        NewNote { pinned: true, ..long("pinned", 900) },
        long("old", 90),
        NewNote { importance: Some(1), ..long("new", 90) },
    ]);
    let spare = |id: &str, target: u64| {
        let spare = BTreeSet::from([id.parse().unwrap()]);
        ids(&plan_sparing(&memory, target, &spare).archive)
    };
    assert_eq!(spare("n3", 800), "n2");
    assert_eq!(spare("n2", 800), "n3");
    assert_eq!(spare("n3", 50), "n2 n3", "it alone is more than there may be");
    let all = memory.records().map(|record| record.id).collect();
    let plan = plan_sparing(&memory, 400, &all);
    assert_eq!(ids(&plan.archive), "n3", "of many written at once the best stay");
    assert!(Pool::Project.pinned(&memory) >= 800);
}

/// Otherwise it would push out everything else and then be archived too.
#[test]
fn a_large_note_that_has_to_go_takes_no_small_ones_with_it() {
    let summary = |new: NewNote| NewNote { summary: "in short".to_owned(), ..new };
    let small = (0..20).map(|n| summary(long(&format!("small{n}"), 30)));
    // It outlasts the small ones by its importance, and yet has to go.
    let large = NewNote { importance: Some(9), ..long("large", 900) };
    let memory = with_notes(small.chain([large]));
    let large = memory.records().last().unwrap();
    let room = Pool::Project.used(&memory) - u64::from(large.note().unwrap().budget_tokens());
    let plan = plan(&memory, &Pool::Project, room, &Accesses::default());
    assert_eq!(ids(&plan.archive), large.id.to_string(), "{plan:?}");
    assert!(plan.promote.is_empty() && plan.fold.is_empty(), "{plan:?}");
}

#[test]
fn a_note_larger_than_the_target_is_archived_alone() {
    let best = NewNote { importance: Some(10), ..long("huge", 900) };
    let memory = with_notes([long("alpha", 90), best, long("beta", 90)]);
    let plan = plan(&memory, &Pool::Project, 500, &Accesses::default());
    assert_eq!(ids(&plan.archive), "n2");
}
