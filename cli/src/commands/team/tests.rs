//! The texts about a team that a person sees.

use anchord_daemon::api::{ProjectRef, TeamMember};

use super::*;

fn reply() -> TeamReply {
    TeamReply {
        project: Some(ProjectRef { id: String::new(), root: "/home/ada/api".to_owned() }),
        team: Some(TeamState {
            name: "api".to_owned(),
            url: "postgres://ada@db.example/anchord".to_owned(),
            revision: 12,
            ..TeamState::default()
        }),
        ..TeamReply::default()
    }
}

#[test]
fn a_team_whose_database_is_away_says_what_waits_and_since_when() {
    let mut reply = reply();
    let team = reply.team.as_mut().unwrap();
    team.waiting = 1;
    team.error = Some("failed to reach the database: refused".to_owned());
    team.answered = Some(1_795_680_000_000);
    assert_eq!(
        state(&reply, Some(Path::new("/home/ada"))),
        "~/api: shared as api
  database   postgres://ada@db.example/anchord
  revision   12 on this machine
  waiting    1 save, folded once the database answers
  fault      failed to reach the database: refused
  answered   2026-11-26 08:00:00 UTC
"
    );
}

#[test]
fn a_fault_that_a_person_mends_is_not_said_to_pass() {
    let mut reply = reply();
    let team = reply.team.as_mut().unwrap();
    team.waiting = 1;
    team.needs_person = true;
    team.error = Some("failed to find the project: ask a maintainer".to_owned());
    let shown = state(&reply, None);
    assert!(shown.contains("1 save, kept here until the fault below is mended\n"), "{shown}");
}

#[test]
fn other_commits_under_the_same_numbers_are_not_those_of_the_database() {
    let mut reply = reply();
    let team = reply.team.as_mut().unwrap();
    (team.head, team.apart) = (Some(12), true);
    let shown = state(&reply, None);
    assert!(shown.contains("  revision   12 on this machine, 12 in the database\n"), "{shown}");
}

#[test]
fn a_file_with_what_the_database_has_lost_is_named() {
    let mut reply = reply();
    let file = "/data/missing-208-214.jsonl".to_owned();
    reply.lost = vec![LostCommits { file, commits: 7, again: 0 }];
    let line = "  missing    commits that the database has lost are in /data/missing-208-214.jsonl";
    let shown = state(&reply, None);
    assert!(shown.contains(&format!("{line}\n")), "{shown}");
    reply.lost[0].again = 3;
    let shown = state(&reply, None);
    assert!(shown.contains(&format!("{line}; 3 of 7 were made again since\n")), "{shown}");
    // It is still named once the team was left.
    reply.team = None;
    let shown = state(&reply, None);
    assert!(shown.contains(&format!("{line}; 3 of 7 were made again since\n")), "{shown}");
}

#[test]
fn a_merge_that_ended_half_way_is_named_with_the_command_that_completes_it() {
    let mut reply = reply();
    assert!(!state(&reply, None).contains("unmerged"));
    let team = reply.team.as_mut().unwrap();
    team.unmerged = vec!["/data/before-team-1.json".to_owned()];
    let shown = state(&reply, None);
    let line = "  unmerged   not all that was here before was added; the same `anchord team join \
                postgres://ada@db.example/anchord … --merge` completes it\n";
    assert!(shown.contains(line), "{shown}");
}

#[test]
fn a_line_says_whether_the_database_answers_and_what_waits() {
    let now = 1_795_680_000_000;
    let mut team = TeamSummary { name: "api".to_owned(), ..TeamSummary::default() };
    assert_eq!(line(&team, now), "shared with a team as api; the database was not asked yet");
    team.answered = Some(now - 180_000);
    assert_eq!(line(&team, now), "shared with a team as api; the database answers");
    team.waiting = 2;
    team.error = Some("failed to reach the database: refused".to_owned());
    assert_eq!(
        line(&team, now),
        "shared with a team as api, 2 saves wait; the database answered 3 min ago; failed to \
         reach the database: refused"
    );
}

#[test]
fn members_are_listed_with_their_rights() {
    let mut reply = reply();
    let team = reply.team.as_mut().unwrap();
    team.head = Some(12);
    team.members = vec![TeamMember {
        role_name: "ada".to_owned(),
        name: "Ada Example".to_owned(),
        role: Role::Maintainer,
    }];
    assert_eq!(
        state(&reply, None),
        "/home/ada/api: shared as api
  database   postgres://ada@db.example/anchord
  revision   12, as in the database
  maintainer Ada Example (ada)
"
    );
}

#[test]
fn a_memory_without_a_team_says_so() {
    let reply = TeamReply::default();
    assert_eq!(state(&reply, None), "this project: no team shares this memory\n");
}

#[test]
fn a_memory_that_was_set_aside_is_named_after_the_team_was_left() {
    let asides = vec!["/data/web.aside-1".to_owned()];
    let reply = TeamReply { asides, ..TeamReply::default() };
    assert_eq!(
        state(&reply, None),
        "this project: no team shares this memory
  set aside  a memory from before it joined is in /data/web.aside-1
"
    );
}

#[test]
fn what_waits_says_for_what() {
    let mut reply = reply();
    let team = reply.team.as_mut().unwrap();
    (team.waiting, team.head) = (1, Some(12));
    let moment = state(&reply, None);
    assert!(moment.contains("1 save, sent to the database in a moment\n"), "{moment}");
    reply.team.as_mut().unwrap().error = Some("a reader does not write".to_owned());
    let one = state(&reply, None);
    assert!(one.contains("1 save, kept here until the database takes it\n"), "{one}");
    reply.team.as_mut().unwrap().waiting = 2;
    let two = state(&reply, None);
    assert!(two.contains("2 saves, kept here until the database takes them\n"), "{two}");
}
