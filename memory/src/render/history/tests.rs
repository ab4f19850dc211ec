//! Words of history that the tools' tests do not show.

use super::*;
use crate::history::{Commit, CommitCounts, CommitHead};
use crate::ids::{SessionId, Timestamp};

fn outcome(target: UndoTarget, end: UndoEnd) -> UndoOutcome {
    UndoOutcome { target, end, commits: 2, ..UndoOutcome::default() }
}

fn worded(outcome: &UndoOutcome, planned: bool) -> String {
    let word = if planned { planned_rollback } else { rollback };
    joined(&word(outcome, &Audience::Agent), 9_000).0
}

#[test]
fn a_rollback_names_what_stays_and_why() {
    let done = UndoEnd::Done { revision: Some(Revision(9)) };
    let left = |id: &str, name: &str, why| LeftRecord {
        id: id.parse().unwrap(),
        name: name.to_owned(),
        why,
    };
    let record = |id: &str, done| UndoneRecord {
        id: id.parse().unwrap(),
        name: "port".to_owned(),
        done,
        is_conflict: false,
    };
    let outcome = UndoOutcome {
        records: vec![record("n1", Undone::Merged), record("n2", Undone::Archived)],
        more: 3,
        imports: 1,
        left: vec![
            left("n3", "", WhyLeft::Purged(Timestamp(0))),
            left("n4", "tabs", WhyLeft::Shared),
            left("n5", "spaces", WhyLeft::Missing),
        ],
        ..outcome(UndoTarget::Session(SessionId::new("s1")), done)
    };
    insta::assert_snapshot!(worded(&outcome, false), @r#"
    Took back session s1 (2 commits) in commit 9: 5 records
      n1 port (the change is out, later ones stay)
      n2 port (archived)
      … and 3 more
      What was imported counts as it did before these commits.
      n3 stays as it is: it was purged on 1970-01-01
      n4 tabs stays as it is: it was private before, and stays shared
      n5 spaces stays as it is: its earlier version is not in the journal any more
    To take this back: memory_rollback {"undo":9}
    "#);
}

/// Without the project, a copied line would undo a commit of another one.
#[test]
fn a_person_takes_a_rollback_back_in_the_same_project() {
    let typed = ["restore", "--to", "1", "--project", "/a b"].map(str::to_owned).into();
    let done = UndoEnd::Done { revision: Some(Revision(9)) };
    let outcome = outcome(UndoTarget::Project(Revision(1)), done);
    let lines = rollback(&outcome, &Audience::Person(crate::Shell { typed }));
    let last = &lines.last().unwrap().text;
    assert_eq!(last, "To take this back: `anchord undo 9 --project '/a b'`");
}

#[test]
fn a_conflict_names_the_commits_and_the_record_in_the_way() {
    let conflict = |id: &str, rival: Option<&str>, commits: &[u64]| UndoConflict {
        id: id.parse().unwrap(),
        name: "port".to_owned(),
        rival: rival.map(|id| id.parse().unwrap()),
        commits: commits.iter().map(|commit| Revision(*commit)).collect(),
    };
    let outcome = UndoOutcome {
        conflicts: vec![
            conflict("n1", None, &[4, 6]),
            conflict("n2", Some("n9"), &[5]),
            conflict("n3", None, &[]),
        ],
        ..outcome(UndoTarget::Last(2), UndoEnd::Conflicts)
    };
    insta::assert_snapshot!(worded(&outcome, true), @"
    Later commits build on the last 2 commits:
      n1 port (changed again in commits 4, 6)
      n2 port (n9 took its place in commit 5)
      n3 port (changed again since, in private)
    ");
}

#[test]
fn a_purge_is_said_to_stay_and_the_newest_other_commit_is_named() {
    let purge = UndoOutcome {
        is_purges_alone: true,
        instead: Some(Revision(131)),
        commits: 1,
        revisions: vec![Revision(132)],
        ..UndoOutcome::default()
    };
    assert_eq!(
        worded(&purge, false),
        "Nothing to do: commit 132 is a purge, which cannot be taken back. The newest commit that \
         can be is taken back with memory_rollback {\"undo\":131}.\n"
    );
    let purges = UndoOutcome { commits: 2, instead: None, ..purge };
    assert_eq!(
        worded(&purges, true),
        "Nothing to do: the last 2 commits are purges, which cannot be taken back.\n"
    );
}

#[test]
fn a_text_that_does_not_fit_says_how_much_is_left() {
    let lines: Vec<StyledLine> = (0..100)
        .map(|number| StyledLine { style: Style::Plain, text: format!("line {number}") })
        .collect();
    let (text, left) = joined(&lines, 300);
    assert!(text.chars().count() <= 300);
    assert!(text.ends_with(&format!("… {left} more lines are left out\n")), "{text}");
    assert_eq!(joined(&lines, 9_000).1, 0);
    let none = UndoOutcome::default();
    assert_eq!(
        worded(&none, false),
        "Nothing to do: taking back the last commit would change nothing.\n"
    );
    let fewer = outcome(UndoTarget::Last(500), UndoEnd::Done { revision: None });
    assert_eq!(worded(&fewer, true), "Would take back the last 2 commits: 0 records\n");
    let moved = outcome(UndoTarget::Record("n1".parse().unwrap(), Revision(3)), UndoEnd::Moved);
    assert_eq!(worded(&moved, false), "The records are being changed; try again.\n");
}

#[test]
fn a_purge_names_what_it_took_and_counts_the_rest() {
    let commit = |purged: usize| {
        let head = CommitHead {
            revision: Revision(5),
            time: Timestamp(0),
            session: None,
            operation: "purge".to_owned(),
        };
        let ids = (1..=purged).map(|number| format!("n{number}").parse().unwrap()).collect();
        let commit = Commit {
            head,
            client: String::new(),
            member: None,
            summary: "a purge".to_owned(),
            first: None,
            counts: CommitCounts::default(),
            purged: ids,
        };
        let detail = CommitDetail { commit, records: Vec::new(), more: 0 };
        joined(&history(&HistoryView::Commit(detail), &Audience::Agent), 9_000).0
    };
    assert_eq!(commit(2), "5  1970-01-01 00:00 UTC  purge\n  a purge of n1, n2\n");
    assert!(commit(12).ends_with(" n9, n10 and 2 more\n"), "{}", commit(12));
    assert!(commit(0).ends_with("  a purge\n"), "its records are not known");
}
