//! A save that waits for a team's database holds texts too, also those of a merge of the brief.

use super::*;
use crate::held::HeldKey;

fn held(overview: &str, file_left: &str) -> Change {
    let part = TopicPart { overview: Some(overview.into()), ..TopicPart::default() };
    let merge = BriefMerge { part, files_left: vec![file_left.into()], ..BriefMerge::default() };
    Change::Hold(Box::new(Held {
        key: HeldKey { instance: "shim".into(), number: 1 },
        session: SessionId("s".into()),
        client: "claude-code".into(),
        time: Timestamp(1),
        started: Timestamp(0),
        summary: Some("a merge".into()),
        expected: None,
        staged: Staged::default(),
        merge: Some(Box::new(merge)),
        merge_end: None,
        left_out: Vec::new(),
        unseen: Vec::new(),
    }))
}

#[test]
fn a_merge_that_waits_is_purged_too() {
    let token = "ghp_0123456789abcdefABCDEF0123456789abcd";
    for (overview, file_left, merge_stays) in [
        (format!("it has {VALUE}"), "a.rs".to_owned(), false),
        ("it is fine".to_owned(), format!("{VALUE}.rs"), true),
    ] {
        let journal = vec![(vec![held(&overview, &file_left)], None)];
        let (journal, purge) = purged(&journal, &[], Some(VALUE));
        let text = serde_json::to_string(&journal[0].0).unwrap();
        assert!(!text.contains(VALUE), "{text}");
        assert_eq!(purge.staged(), 1);
        let Change::Hold(held) = &journal[0].0[0] else { panic!("it is no longer held") };
        assert_eq!(held.merge.is_some(), merge_stays, "{text}");
    }
    assert!(secrets_in(&held(&format!("the token {token}"), "a.rs")).len() == 1);
    assert!(secrets_in(&held("fine", "a.rs")).is_empty());
}
