//! The demo's verdict, which is its last line. The integration tests run the demo itself.

use super::*;

#[test]
fn the_verdict_says_what_is_lost() {
    let mut tally = Tally { acknowledged: 30, lost: Vec::new(), twice: Vec::new() };
    assert_eq!(verdict(&tally), "lost: nothing (30 of 30 acknowledged writes found)");
    tally.lost = vec!["eve-01".into(), "eve-02".into()];
    assert_eq!(verdict(&tally), "lost: eve-01, eve-02 (28 of 30 acknowledged writes found)");
    tally.twice = vec!["cal-04".into()];
    assert!(verdict(&tally).starts_with("twice: cal-04; lost: "));
}
