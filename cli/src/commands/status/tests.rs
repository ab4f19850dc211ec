//! The status as a person sees it.

use anchord_daemon::api::{
    ByKind, CountersStatus, InstanceStatus, OutlinesStatus, ProjectRef, StagedStatus, TeamSummary,
};
use anchord_memory::PerKind;

use super::*;

const NOW: i64 = 1_800_000_000_000;

fn printed(status: &StatusReply) -> String {
    let mut out = anstream::StripStream::new(Vec::new());
    render(&mut out, status, Some(Path::new("/home/ada"))).unwrap();
    String::from_utf8(out.into_inner()).unwrap()
}

fn fresh() -> StatusReply {
    StatusReply {
        build: "0.1.0".into(),
        pid: 4242,
        pid_namespace: None,
        started: NOW - 7_980_000,
        uptime_ms: 7_980_000,
        instance: InstanceStatus {
            id: "3f".into(),
            directory: "/home/ada/.local/state/anchord".into(),
            data: "/home/ada/.local/share/anchord".into(),
            config: "/home/ada/.config/anchord".into(),
            logs: "/home/ada/.local/state/anchord/logs".into(),
        },
        http: HttpState::Listening { address: "127.0.0.1:7717".into() },
        sessions: Vec::new(),
        connections: Vec::new(),
        projects: Vec::new(),
        personal: None,
        counters: CountersStatus::default(),
        hooks: HooksStatus::default(),
        outlines: OutlinesStatus::default(),
        approvals_waiting: 0,
        config_ignored: Vec::new(),
        joining: None,
        read_only: None,
    }
}

fn project(id: &str, name: &str) -> ProjectStatus {
    ProjectStatus {
        id: id.into(),
        root: format!("/home/ada/src/{name}"),
        name: name.into(),
        exists: true,
        open: true,
        records: Some(ByKind(PerKind {
            blueprints: 5,
            anchors: 6,
            lessons: 2,
            rows: 1,
            ..PerKind::default()
        })),
        revision: 42,
        entries: 99,
        bytes: 1_234_567,
        last_used: Some(NOW - 3_000),
        read_only: None,
        unread: false,
        shared: None,
        team: None,
    }
}

#[test]
fn a_fresh_daemon_says_how_to_begin() {
    insta::assert_snapshot!(printed(&fresh()), @r"
    anchord 0.1.0, up 2 h 13 min, pid 4242
      memory   ~/.local/share/anchord
      logs     ~/.local/state/anchord/logs
      config   ~/.config/anchord/config.toml (none yet)
      status   http://127.0.0.1:7717/status
      since    0 connections, 0 calls (0 failed)

    No session is live.

    No project yet: the first save of an agent makes one, `anchord init` tells agents to.
    ");
}

#[test]
fn a_busy_daemon_shows_sessions_projects_and_problems() {
    let mut status = fresh();
    status.http = HttpState::Taken { port: 7717, reason: "address in use".into() };
    status.counters = CountersStatus { connections: 3, calls: 1, calls_failed: 1, panics: 1 };
    let closed = ProjectStatus {
        exists: false,
        open: false,
        records: None,
        bytes: 80_000,
        revision: 7,
        last_used: Some(NOW - 1_814_400_000),
        read_only: Some("line 7 of 000002.jsonl is bad".into()),
        ..project("p2", "old")
    };
    let unopened =
        ProjectStatus { open: false, records: None, revision: 0, ..project("p3", "notes") };
    status.projects = vec![project("p1", "parser"), closed, unopened];
    let session = |client: &str, connected| SessionSummary {
        id: "s".into(),
        client: client.into(),
        pid: None,
        project: Some(ProjectRef { id: "p1".into(), root: "/home/ada/src/parser".into() }),
        since: NOW - 720_000,
        last_call: NOW - 3_000,
        connected,
        staged: StagedStatus::default(),
        staged_unknown: false,
        joined: None,
    };
    let staged = StagedStatus {
        items: ByKind(PerKind { blueprints: 2, lessons: 1, ..PerKind::default() }),
        summary: true,
    };
    status.config_ignored = vec!["use ~/config.toml: line 2: unknown key x".to_owned()];
    status.sessions = vec![
        SessionSummary { staged, ..session("claude-code 2.1.330", true) },
        session("codex 0.169.0", false),
        SessionSummary { project: None, ..session("", true) },
        SessionSummary { project: None, staged_unknown: true, ..session("gemini", true) },
    ];
    insta::assert_snapshot!(printed(&status), @r"
    anchord 0.1.0, up 2 h 13 min, pid 4242
      memory   ~/.local/share/anchord
      logs     ~/.local/state/anchord/logs
      config   ~/.config/anchord/config.toml (none yet)
      status   port 7717 cannot be had: address in use
      since    3 connections, 1 call (1 failed)
      1 panic caught: the logs say where
      the defaults apply: cannot use ~/config.toml: line 2: unknown key x

    3 connected sessions and 1 without a connection
      client               project        began               last call  staged
      claude-code 2.1.330  parser    12 min ago                 3 s ago  2 blueprints, 1 lesson, a summary
      codex 0.169.0        parser    12 min ago  3 s ago, not connected  nothing
      unnamed              none yet  12 min ago                 3 s ago  nothing
      gemini               none yet  12 min ago                 3 s ago  -

    3 projects
      name    records  revision  on disk         used  where
      parser       14        42   1.2 MB      3 s ago  ~/src/parser
      old           -         7    80 kB  21 days ago  ~/src/old (not there)
      notes         -         -   1.2 MB      3 s ago  ~/src/notes
    old cannot be written: line 7 of 000002.jsonl is bad
    `anchord doctor` says what to do.
    ");
}

#[test]
fn an_unreadable_project_shows_neither_a_size_nor_a_last_use() {
    let why = Some("cannot read /data/p1: Permission denied".to_owned());
    let unread = ProjectStatus {
        records: None,
        revision: 0,
        bytes: 0,
        last_used: None,
        read_only: why.clone(),
        unread: true,
        ..project("p1", "parser")
    };
    let own = ProjectStatus { id: "user".into(), ..unread.clone() };
    let text = printed(&StatusReply { projects: vec![unread], personal: Some(own), ..fresh() });
    let (_, text) = text.split_once("\n1 project\n").unwrap();
    insta::assert_snapshot!(text, @r"
      name    records  revision  on disk  used  where
      parser        -         -        ?     ?  ~/src/parser
    parser cannot be read: /data/p1: Permission denied
    `anchord doctor` says what to do.

    your own notes, in every project: ?; `anchord list --user` shows them
    they cannot be read: /data/p1: Permission denied
    ");
}

#[test]
fn one_waiting_action_is_not_them() {
    for (number, named) in [
        (1, "1 action to approve: `anchord approve` shows it\n"),
        (2, "2 actions to approve: `anchord approve` shows them\n"),
    ] {
        let text = printed(&StatusReply { approvals_waiting: number, ..fresh() });
        assert!(text.contains(named), "{text}");
    }
}

#[test]
fn a_team_is_reported_below_the_projects() {
    let why = "failed to reach the database: refused";
    let team =
        TeamSummary { name: "api".into(), error: Some(why.into()), ..TeamSummary::default() };
    let project = ProjectStatus { team: Some(team), ..project("p1", "parser") };
    let text = printed(&StatusReply { projects: vec![project], ..fresh() });
    assert!(text.ends_with(&format!("\nparser: shared with a team as api; {why}\n")), "{text}");
}

#[test]
fn sessions_are_served_once_the_team_is_joined() {
    let mut status = fresh();
    let mut out = Vec::new();
    ready(&mut out, &status).unwrap();
    assert_eq!(out, b"ready\n");
    status.joining = Some("the database is away".into());
    let error = ready(&mut Vec::new(), &status).unwrap_err();
    assert_eq!(error.kind.code(), 1);
    assert!(error.message.contains("the database is away"), "{error}");
    assert!(printed(&status).contains("not joined yet: the database is away"));
    let damaged = StatusReply { read_only: Some("line 7 is bad".into()), ..fresh() };
    assert!(ready(&mut Vec::new(), &damaged).is_err());
}

#[test]
fn a_read_only_registry_is_reported() {
    let why = "damaged at journal/000001.jsonl:7: the checksum is wrong";
    let text = printed(&StatusReply { read_only: Some(why.into()), ..fresh() });
    assert!(text.contains(&format!("no new session can write: {why}")), "{text}");
}

#[test]
fn the_users_own_notes_have_a_line_of_their_own() {
    let records = ByKind(PerKind { notes: 3, ..PerKind::default() });
    let own = ProjectStatus { records: Some(records), bytes: 4_096, ..project("user", "") };
    let text = printed(&StatusReply { personal: Some(own.clone()), ..fresh() });
    let last = text.lines().last().unwrap();
    insta::assert_snapshot!(last, @"3 notes of your own, in every project: 4.1 kB; `anchord list --user` shows them");
    let own = ProjectStatus { read_only: Some("line 7 is bad".into()), ..own };
    let text = printed(&StatusReply { personal: Some(own), ..fresh() });
    assert!(text.ends_with("they cannot be written: line 7 is bad\n"), "{text}");
}
