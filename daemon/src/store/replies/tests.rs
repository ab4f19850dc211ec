//! The ledger alone.

use super::*;

fn call(instance: &str, number: u64, acknowledged: u64) -> Call {
    Call { instance: Arc::from(instance), number, acknowledged }
}

#[test]
fn the_same_number_again_gets_the_same_reply() {
    let mut replies = Replies::default();
    assert_eq!(replies.lookup(&call("a", 1, 0)), Answer::Fresh);
    replies.record(&call("a", 1, 0), Timestamp(10), "one");
    assert_eq!(replies.lookup(&call("a", 1, 0)), Answer::Answered(Arc::from("one")));
    assert_eq!(replies.lookup(&call("b", 1, 0)), Answer::Fresh, "another shim counts for itself");
}

#[test]
fn an_acknowledged_number_is_stale_and_its_reply_is_let_go() {
    let mut replies = Replies::default();
    replies.record(&call("a", 3, 0), Timestamp(10), "three");
    replies.record(&call("a", 4, 2), Timestamp(11), "four");
    assert_eq!(replies.lookup(&call("a", 3, 2)), Answer::Answered(Arc::from("three")));
    replies.record(&call("a", 7, 4), Timestamp(12), "seven");
    for number in 1..=4 {
        assert_eq!(replies.lookup(&call("a", number, 0)), Answer::Stale, "{number}");
    }
    assert_eq!(replies.lookup(&call("a", 5, 4)), Answer::Fresh, "a read, or a write in flight");
    assert!(!replies.row("a").value.unwrap().contains("three"));
}

#[test]
fn a_late_line_with_an_old_watermark_takes_nothing_back() {
    let mut replies = Replies::default();
    replies.record(&call("a", 9, 8), Timestamp(10), "nine");
    replies.record(&call("a", 10, 3), Timestamp(9), "ten");
    assert_eq!(replies.lookup(&call("a", 8, 3)), Answer::Stale);
}

#[test]
fn rows_restore_to_the_same_ledger() {
    let mut replies = Replies::default();
    replies.record(&call("b", 2, 1), Timestamp(10), "two \"quoted\"\n");
    replies.record(&call("a", 5, 0), Timestamp(11), "");
    let rows: Vec<Row> = replies.rows().collect();
    assert_eq!(rows.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let mut restored = Replies::default();
    for row in &rows {
        restored.restore(row).unwrap();
    }
    assert_eq!(restored, replies);
}

#[test]
fn shims_idle_for_over_thirty_days_are_forgotten() {
    let mut replies = Replies::default();
    let day = |days: i64| Timestamp(days * DAY_MILLIS);
    replies.record(&call("old", 1, 0), day(1), "x");
    replies.record(&call("new", 1, 0), day(2), "y");
    assert_eq!(replies.prune(day(31)), Vec::<Arc<str>>::new());
    assert_eq!(replies.prune(day(32)), [Arc::<str>::from("old")]);
    assert_eq!(replies.lookup(&call("old", 1, 0)), Answer::Fresh);
    assert_eq!(replies.lookup(&call("new", 1, 0)), Answer::Answered(Arc::from("y")));
    assert_eq!(replies.row("old").value, None);
}
