//! The formula by its parts, and soft marks as lines.

use proptest::prelude::*;

use super::{Access, Accesses, Formula, RetentionParts};
use crate::limits::PROJECT_HALF_LIFE_FACTOR as FACTOR;
use crate::testing::{day, note, origin};
use crate::{Memory, NewNote, Record, RecordState, Timestamp, plan_notes};

fn stored(new: NewNote) -> Record {
    let mut memory = Memory::default();
    let plan = plan_notes(&memory, &origin("one", 1), vec![Ok(new)]).unwrap();
    crate::testing::apply(&mut memory, plan);
    Record::clone(memory.records().next().unwrap())
}

fn later(minutes: i64) -> Timestamp {
    Timestamp(day(1).0 + minutes * 60_000)
}

fn parts(record: &Record, minutes: i64) -> RetentionParts {
    RetentionParts::of(record, &Accesses::default(), later(minutes), FACTOR)
}

#[test]
fn a_score_lists_its_parts() {
    let record = stored(NewNote { importance: Some(8), ..note("we decided on sled") });
    let mut read = Accesses::default();
    for minutes in 0..4 {
        read.record(record.id, later(minutes));
    }
    let parts = RetentionParts::of(&record, &read, later(3), FACTOR);
    insta::assert_snapshot!(parts, @"retention 0.935 = 1.3 × (0.4 × importance 0.80 + 0.3 × recency 1.00 + 0.2 × access 0.50 - 0.1 × size 0.01)");
    let expected: f64 = 1.3 * (0.4 * 0.8 + 0.3 + 0.2 * 0.5 - 0.1 * (4.0 / 504.0));
    assert!((parts.score() - expected).abs() < 1e-9, "{}", parts.score());
}

#[test]
fn types_decay_at_their_own_rate_and_session_notes_faster() {
    let half_life = |content: &str, private: bool, minutes: i64| {
        let record = stored(NewNote { private, ..note(content) });
        parts(&record, minutes)
    };
    for (content, multiplier, minutes) in [
        ("error: no such file", 1.5, 30),
        ("we decided on sled", 1.3, 6 * 60),
        ("```rust\nfn main() {}\n```", 1.2, 6 * 60),
        ("the port is nine thousand", 1.0, 2 * 60),
        ("$ ls\nCargo.toml", 0.7, 15),
    ] {
        let own = half_life(content, true, minutes);
        assert!((own.multiplier - multiplier).abs() < 1e-9, "{content}: {own}");
        assert!((own.recency - 0.5).abs() < 1e-9, "{content}: {own}");
        let shared = half_life(content, false, minutes * i64::from(FACTOR));
        assert!((shared.recency - 0.5).abs() < 1e-9, "{content}: {shared}");
    }
}

#[test]
fn reading_renews_recency_and_a_clock_set_back_does_no_harm() {
    let record = stored(note("the port is nine thousand"));
    let mut read = Accesses::default();
    read.record(record.id, later(10_000));
    let fresh = RetentionParts::of(&record, &read, later(10_000), FACTOR);
    assert!(fresh.score() > parts(&record, 10_000).score());
    assert!((fresh.recency - 1.0).abs() < 1e-9);
    assert!((parts(&record, -10_000).recency - 1.0).abs() < 1e-9);
}

#[test]
fn a_prior_is_mild_and_ranks_archived_notes_last() {
    let old = stored(NewNote { importance: Some(1), ..note("$ ls\nCargo.toml") });
    let new = stored(NewNote { importance: Some(10), ..note("error: no") });
    let archived = Record { state: RecordState::Archived, ..new.clone() };
    let (of_old, of_new) = (parts(&old, 100_000), parts(&new, 0));
    for prior in [of_old.prior(&old), of_new.prior(&new)] {
        assert!((0.9..=1.0).contains(&prior), "{prior}");
    }
    assert!(of_new.prior(&archived) < of_old.prior(&old));
    assert!(of_old.prior(&old) < of_new.prior(&new));
}

#[test]
fn a_torn_count_is_ignored() {
    let read = |text: &str| text.parse::<Access>().ok();
    assert_eq!(read("3 1793534400000"), Some(Access { count: 3, last: day(1) }));
    for torn in ["", "3", "3 ", "x 1", "3 1 2", "3  1"] {
        assert_eq!(read(torn), None, "{torn}");
    }
}

proptest! {
    #[test]
    fn access_counts_survive_a_text_round_trip(count in any::<u32>(), last in any::<i64>()) {
        let access = Access { count, last: Timestamp(last) };
        prop_assert_eq!(access.to_string().parse(), Ok(access));
    }

    #[test]
    fn parts_are_shares(importance in 1_u8..=10, minutes in -10_i64..10_000_000, text in "[a-z \n$:]{1,400}") {
        prop_assume!(!text.trim().is_empty());
        let parts = parts(&stored(NewNote { importance: Some(importance), ..note(&text) }), minutes);
        for part in [parts.importance, parts.recency, parts.access, parts.size] {
            prop_assert!((0.0..=1.0).contains(&part), "{parts:?}");
        }
        prop_assert!((-0.1..=1.35).contains(&parts.score()), "{parts}");
    }
}

/// The numbers come from the original's formula, worked out by hand.
#[test]
fn the_compactors_formula_is_that_of_its_original() {
    let record =
        stored(NewNote { importance: Some(8), private: true, ..note("we decided on sled") });
    let mut read = Accesses::default();
    for minutes in 0..4 {
        read.record(record.id, later(minutes));
    }
    let parts = RetentionParts::of(&record, &read, later(363), FACTOR);
    let formula = Formula::Compactor { budget_tokens: 100 };
    // Six hours after the last read a decision's recency is 1/e there.
    let expected =
        0.4 * 0.8 * 1.3 + 0.3 * (-1.0_f64).exp() + 0.2 * 5.0_f64.ln() / 5.0 - 0.1 * 4.0 / 100.0;
    assert!((parts.score_by(formula) - expected).abs() < 1e-9, "{}", parts.score_by(formula));
    let roomy = parts.score_by(Formula::Compactor { budget_tokens: 100_000 });
    assert!(roomy > parts.score_by(formula), "size is a share of the budget");
    let pinned = Record { pinned: true, ..record };
    let pinned = RetentionParts::of(&pinned, &read, later(363), FACTOR);
    assert!(pinned.score_by(formula) > 1e9 && (pinned.score() - parts.score()).abs() < 1e-9);
}
