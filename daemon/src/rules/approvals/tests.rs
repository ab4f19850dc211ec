//! An approval is for one action in one project, and ends.

use super::*;

const MINUTE: i64 = 60_000;

fn command(line: &str) -> IntendedAction {
    IntendedAction { command: Some(line.to_owned()), ..IntendedAction::default() }
}

fn pending(since: i64) -> Pending {
    let (action, session) = ("make deploy".to_owned(), "s1".to_owned());
    Pending { action, root: None, rules: Vec::new(), session, since: Timestamp(since) }
}

#[test]
fn an_approval_lasts_ten_minutes() {
    let mut approvals = Approvals::default();
    let key = key("/repo", &command("make deploy"));
    assert!(approvals.approve(&key.digits()[..8], Timestamp(0)).is_none(), "nothing asked");
    let id = approvals.ask(key, pending(0));
    let approval = approvals.approve(&id, Timestamp(MINUTE)).unwrap();
    assert_eq!(approval.until, Timestamp(11 * MINUTE));
    assert!(approvals.is_approved(key, Timestamp(11 * MINUTE - 1)));
    assert!(!approvals.is_approved(key, Timestamp(11 * MINUTE)));
    assert!(approvals.approve(&id, Timestamp(2 * MINUTE)).is_none(), "it waits no more");
}

#[test]
fn an_approval_is_for_exactly_one_action() {
    let (id, tool) = (key("/repo", &command("make deploy")), Some("Bash".to_owned()));
    for other in [command("make deploy "), command("make"), command("make deploy now")] {
        assert_ne!(key("/repo", &other), id, "{other:?}");
    }
    assert_ne!(key("/other", &command("make deploy")), id);
    let by_tool = IntendedAction { tool: tool.clone(), ..command("make deploy") };
    assert_eq!(key("/repo", &by_tool), id, "whichever tool runs it");
    let edits = |path: &str| IntendedAction {
        tool: tool.clone(),
        paths: vec![path.to_owned()],
        ..IntendedAction::default()
    };
    assert_ne!(key("/repo", &edits("a")), key("/repo", &edits("b")));
    let joined = IntendedAction { paths: vec!["a".to_owned(), "b".to_owned()], ..edits("") };
    assert_ne!(key("/repo", &joined), key("/repo", &edits("ab")));
}

#[test]
fn an_action_does_not_wait_for_ever() {
    let mut approvals = Approvals::default();
    let id = approvals.ask(ActionKey([1; 32]), pending(0));
    let late = Timestamp(i64::from(APPROVAL_WAITS_MINUTES) * MINUTE);
    assert_eq!(approvals.pending(Timestamp(late.0 - 1)).len(), 1);
    assert!(approvals.approve(&id, late).is_none());
}

/// Somebody who may choose both actions finds two that begin alike.
#[test]
fn two_actions_whose_keys_begin_alike_have_ids_of_their_own() {
    let mut approvals = Approvals::default();
    let (first, mut second) = (ActionKey([7; 32]), ActionKey([7; 32]));
    second.0[8] = 8;
    let id = approvals.ask(first, pending(0));
    assert_eq!(approvals.ask(first, pending(1)), id, "the same action");
    let other = approvals.ask(second, pending(2));
    assert_ne!(other, id);
    assert!(approvals.approve(&id, Timestamp(3)).is_some());
    assert!(approvals.is_approved(first, Timestamp(4)));
    assert!(!approvals.is_approved(second, Timestamp(4)));
}
