//! The tally finds lost and duplicated writes. The demo depends on it.

use super::*;

fn tags(tags: &[&str]) -> BTreeSet<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

#[test]
fn lost_and_repeated_writes_are_distinguished() {
    let told = tags(&["a-01", "a-02", "a-03"]);
    let tally = tally(&told, ["lesson a-01: detail of a-01", "a-03", "see a-03.", "a-010"]);
    assert_eq!(tally.lost, ["a-02"], "a-010 is another word");
    assert_eq!(tally.twice, ["a-03"], "a tag counts once in a text");
    assert_eq!((tally.acknowledged, tally.found()), (3, 2));
}

#[test]
fn without_acknowledged_writes_nothing_is_lost() {
    assert_eq!(tally(&BTreeSet::new(), ["a-01"]), Tally::default());
}
