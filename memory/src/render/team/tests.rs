//! The words while the database of a team cannot be used.

use super::*;
use crate::testing::{apply, blueprint, blueprints, day, origin};
use crate::{Change, HeldKey, Save, Seq, Team, plan_hold};

#[test]
fn what_waits_and_how_old_the_memory_is_are_said() {
    let mut memory = Memory::default();
    let denied = Some(("denied", None));
    let team = Team { project: Some("api".to_owned()), last_number: 0, session_rows: 0 };
    memory.apply(Seq(1), &[Change::Team(team)]);
    assert_eq!(super::team(&memory, None, Some(day(1)), None, denied), "");
    assert_eq!(
        super::team(&memory, None, None, None, None),
        "The team's database has not answered yet: others' newer work may not be here.\n"
    );

    let key = HeldKey { instance: "shim".into(), number: 1 };
    let part = blueprints([blueprint("Cache", "Warm.")]);
    let save = Save { session_summary: "Worked.", part, ..Save::default() };
    let plan = plan_hold(&memory, &origin("one", 1), &key, save).unwrap();
    apply(&mut memory, plan);
    let text = super::team(
        &memory,
        None,
        Some(day(1)),
        Some(("failed to reach the database: refused", false)),
        None,
    );
    assert_eq!(
        text,
        "1 save waits for the team's database; nothing is lost, and nothing needs to be saved \
         again.\nThe team's database cannot be used since 2026-11-01 12:00 UTC (failed to reach \
         the database: refused): others' newer work is not here. Checkpoints work; a save is kept \
         here until it is back.\n"
    );
    let removed = Some(("failed to find the project: ask a maintainer", true));
    let text = super::team(&memory, None, Some(day(1)), removed, None);
    assert!(
        text.contains("(failed to find the project: ask a maintainer)")
            && text.contains("That does not pass by itself: tell the person.")
            && !text.contains("until it is back"),
        "{text}"
    );
    let text = super::team(&memory, None, Some(day(1)), None, denied);
    assert_eq!(
        text,
        "1 save waits for the team's database; nothing is lost, and nothing needs to be saved \
         again.\nThe team's database does not take it: denied.\n"
    );
    let own = |session: &str| {
        let session = SessionId::new(session.to_owned());
        super::team(&memory, Some(&session), Some(day(1)), None, denied)
    };
    assert_eq!(
        own("one"),
        "1 save waits for the team's database; nothing is lost, and nothing needs to be saved \
         again.\nWhat you saved, which no search finds until then:\n- Worked.\n- blueprint [decision] Cache\n  \
         Warm.\nThe team's database does not take it: denied.\n"
    );
    assert_eq!(own("another"), text);
}

#[test]
fn a_database_that_is_read_and_takes_no_writes_is_not_said_to_be_away() {
    let slow = Some(("the database does not answer in time", Some(day(1))));
    assert_eq!(
        team(&Memory::default(), None, Some(day(2)), None, slow),
        "No write to the team's database has gone through since 2026-11-01 12:00:00 UTC: the \
         database does not answer in time. Checkpoints work; a save is kept here and shared \
         later.\n"
    );
    let away = Some(("failed to reach the database: refused", false));
    let text = team(&Memory::default(), None, Some(day(2)), away, slow);
    assert!(text.contains("cannot be used") && !text.contains("No write"), "{text}");
}
