//! An approval is for one action in one project, and ends.

use super::*;

const MINUTE: i64 = 60_000;

fn command(line: &str) -> Asked {
    Asked { command: Some(line.to_owned()), ..Asked::default() }
}

fn pending(since: i64) -> Pending {
    let (action, session) = ("make deploy".to_owned(), "s1".to_owned());
    Pending { action, rules: Vec::new(), session, since: Timestamp(since) }
}

#[test]
fn an_approval_lasts_ten_minutes() {
    let mut approvals = Approvals::default();
    let id = key("/repo", &command("make deploy"));
    assert!(approvals.approve(&id, Timestamp(0)).is_none(), "nothing asked");
    approvals.ask(&id, pending(0));
    let approval = approvals.approve(&id, Timestamp(MINUTE)).unwrap();
    assert_eq!(approval.until, Timestamp(11 * MINUTE));
    assert!(approvals.is_approved(&id, Timestamp(11 * MINUTE - 1)));
    assert!(!approvals.is_approved(&id, Timestamp(11 * MINUTE)));
    assert!(approvals.approve(&id, Timestamp(2 * MINUTE)).is_none(), "it waits no more");
}

#[test]
fn an_approval_is_for_exactly_one_action() {
    let (id, tool) = (key("/repo", &command("make deploy")), Some("Bash".to_owned()));
    for other in [command("make deploy "), command("make"), command("make deploy now")] {
        assert_ne!(key("/repo", &other), id, "{other:?}");
    }
    assert_ne!(key("/other", &command("make deploy")), id);
    let by_tool = Asked { tool: tool.clone(), ..command("make deploy") };
    assert_eq!(key("/repo", &by_tool), id, "whichever tool runs it");
    let edits =
        |path: &str| Asked { tool: tool.clone(), paths: vec![path.to_owned()], ..Asked::default() };
    assert_ne!(key("/repo", &edits("a")), key("/repo", &edits("b")));
    let joined = Asked { paths: vec!["a".to_owned(), "b".to_owned()], ..edits("") };
    assert_ne!(key("/repo", &joined), key("/repo", &edits("ab")));
}

#[test]
fn an_action_does_not_wait_for_ever() {
    let mut approvals = Approvals::default();
    approvals.ask("a", pending(0));
    let late = Timestamp(i64::from(APPROVAL_WAITS_MINUTES) * MINUTE);
    assert_eq!(approvals.pending(Timestamp(late.0 - 1)).len(), 1);
    assert!(approvals.approve("a", late).is_none());
}
