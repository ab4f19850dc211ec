//! Access counts survive as marks.

use super::*;

#[test]
fn access_counts_are_restored_from_their_marks() {
    let (one, two): (RecordId, RecordId) = ("n1".parse().unwrap(), "n2".parse().unwrap());
    let reads = AccessCounts::default();
    reads.count(&[one, two], Timestamp(5));
    reads.count(&[one], Timestamp(9));
    let mut marks = reads.unwritten();
    assert_eq!(marks["read/n1"], "2 9");
    assert!(reads.unwritten().is_empty());
    marks.insert("notice-shown/1".to_owned(), "1".to_owned());
    marks.insert("read/n3".to_owned(), "torn".to_owned());
    assert_eq!(AccessCounts::of_marks(&marks).accesses(), reads.accesses());
}
