//! The ledger, without a store.

use super::*;

fn call(instance: &str, number: u64, acknowledged: u64) -> Call {
    Call { instance: Arc::from(instance), number, acknowledged }
}

fn answer(text: &str) -> Arc<Value> {
    Arc::new(text.into())
}

#[test]
fn the_same_number_again_gets_the_same_reply() {
    let mut replies = Replies::default();
    assert_eq!(replies.lookup(&call("a", 1, 0)), LineState::Fresh);
    replies.record(&call("a", 1, 0), Timestamp(10), "one".into());
    assert_eq!(replies.lookup(&call("a", 1, 0)), LineState::Answered(answer("one")));
    assert_eq!(
        replies.lookup(&call("b", 1, 0)),
        LineState::Fresh,
        "another shim counts for itself"
    );
}

#[test]
fn an_acknowledged_number_is_stale_and_its_reply_dropped() {
    let mut replies = Replies::default();
    replies.record(&call("a", 3, 0), Timestamp(10), "three".into());
    replies.record(&call("a", 4, 2), Timestamp(11), "four".into());
    assert_eq!(replies.lookup(&call("a", 3, 2)), LineState::Answered(answer("three")));
    replies.record(&call("a", 7, 4), Timestamp(12), "seven".into());
    for number in 1..=4 {
        assert_eq!(replies.lookup(&call("a", number, 0)), LineState::Stale, "{number}");
    }
    assert_eq!(replies.lookup(&call("a", 5, 4)), LineState::Fresh, "a read, or a write in flight");
    assert!(!replies.row("a").value.unwrap().contains("three"));
}

#[test]
fn a_late_line_with_an_old_watermark_does_not_lower_it() {
    let mut replies = Replies::default();
    replies.record(&call("a", 9, 8), Timestamp(10), "nine".into());
    replies.record(&call("a", 10, 3), Timestamp(9), "ten".into());
    assert_eq!(replies.lookup(&call("a", 8, 3)), LineState::Stale);
}

#[test]
fn rows_restore_to_the_same_ledger() {
    let mut replies = Replies::default();
    replies.record(&call("b", 2, 1), Timestamp(10), "two \"quoted\"\n".into());
    replies.record(&call("a", 5, 0), Timestamp(11), "".into());
    let rows: Vec<Row> = replies.rows().collect();
    assert_eq!(rows.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(restored(&replies), replies);
}

#[test]
fn shims_are_forgotten_after_thirty_days_on_which_others_wrote() {
    let mut replies = Replies::default();
    replies.record(&call("old", 1, 0), day(1), "x".into());
    for number in 2..=31 {
        replies.record(
            &call("new", number, number - 1),
            day(i64::try_from(number).unwrap()),
            "y".into(),
        );
        assert_eq!(replies.prune(), Vec::<Arc<str>>::new(), "{number}");
    }
    replies.record(&call("new", 32, 31), day(32), "y".into());
    assert_eq!(restored(&replies), replies);
    assert_eq!(replies.prune(), [Arc::<str>::from("old")]);
    assert_eq!(replies.lookup(&call("old", 1, 0)), LineState::Fresh);
    assert_eq!(replies.lookup(&call("new", 32, 0)), LineState::Answered(answer("y")));
    assert_eq!(replies.row("old").value, None);
    assert_eq!(restored(&replies), replies);
}

#[test]
fn a_clock_jump_does_not_cause_early_forgetting() {
    let mut replies = Replies::default();
    replies.record(&call("waits", 1, 0), day(100), "x".into());
    // The clock jumps years forward and back, again and again, and one day comes twice.
    for number in 1..200 {
        let at =
            [day(4_000), day(-4_000), day(100), day(101)][usize::try_from(number % 4).unwrap()];
        replies.record(&call("other", number, number - 1), at, "y".into());
        assert_eq!(replies.prune(), Vec::<Arc<str>>::new(), "{number}");
        replies = restored(&replies);
    }
    assert_eq!(replies.lookup(&call("waits", 1, 0)), LineState::Answered(answer("x")));
}

/// No day counts until the clock reaches that day again.
#[test]
fn a_clock_once_ahead_does_not_let_shims_accumulate() {
    let mut replies = Replies::default();
    let shim = |number: u64| call(&format!("shim {}", number * 7919 % 10_007), 1, 0);
    replies.record(&call("ahead", 1, 0), day(400_000), "x".into());
    let many = u64::try_from(SHIMS_MAX).unwrap() + 100;
    for number in 1..=many {
        // Neither their names nor their times give the order.
        let at = day(-i64::try_from(number).unwrap());
        replies.record(&shim(number), at, "y".into());
        if number % 1000 == 0 {
            assert!(restored(&replies) == replies, "{number}");
            replies = restored(&replies);
        }
    }
    let gone = replies.prune();
    assert_eq!(gone.len(), 101);
    assert_eq!(replies.rows().count(), SHIMS_MAX);
    let lookup = |number: u64| replies.lookup(&shim(number));
    assert_eq!(replies.lookup(&call("ahead", 1, 0)), LineState::Fresh, "it wrote first");
    assert_eq!((lookup(100), lookup(101)), (LineState::Fresh, LineState::Answered(answer("y"))));
    assert_eq!(lookup(many), LineState::Answered(answer("y")));
    assert!(restored(&replies) == replies, "after it has forgotten some");
}

fn day(days: i64) -> Timestamp {
    Timestamp(days * Timestamp::DAY_MILLIS)
}

fn restored(replies: &Replies) -> Replies {
    let mut restored = Replies::default();
    for row in replies.rows() {
        restored.restore(&row).unwrap();
    }
    restored
}
