//! Pins the JSON that crosses the socket between builds.

use anchord_memory::{Kind, PerKind};

use super::*;

#[test]
fn an_error_has_three_fields_and_unknown_codes_become_internal() {
    let reply = ErrorReply {
        code: ErrorCode::NotFound,
        error: "no project at /p".to_owned(),
        action: Some("Run `anchord project list`.".to_owned()),
    };
    let text = serde_json::to_string(&reply).unwrap();
    insta::assert_snapshot!(text, @r#"{"code":"not_found","error":"no project at /p","action":"Run `anchord project list`."}"#);
    let newer: ErrorReply = serde_json::from_str(r#"{"code":"on_fire","error":"x"}"#).unwrap();
    assert_eq!(newer, ErrorReply { code: ErrorCode::Internal, error: "x".into(), action: None });
}

#[test]
fn counts_are_keyed_by_the_plural_of_every_kind() {
    let items = PerKind { notes: 2, rows: 1, ..PerKind::default() };
    let staged = StagedStatus { items: ByKind(items), summary: true };
    let mut written = serde_json::to_value(staged).unwrap();
    assert_eq!(serde_json::from_value::<StagedStatus>(written.clone()).unwrap(), staged);
    let fields = written.as_object_mut().unwrap();
    assert_eq!(fields.remove("summary"), Some(true.into()));
    assert_eq!((&fields["notes"], &fields["sessions"]), (&2.into(), &1.into()));
    assert!(Kind::PLURALS.iter().all(|plural| fields.remove(*plural).is_some()));
    assert!(fields.is_empty(), "{fields:?}");
    let older: StagedStatus = serde_json::from_str(r#"{"lessons":3,"mood":"fine"}"#).unwrap();
    assert_eq!(older.items.0, PerKind { lessons: 3, ..PerKind::default() });
}

#[test]
fn the_json_of_tagged_states_is_pinned() {
    let states = [
        HttpState::Listening { address: "127.0.0.1:7717".into() },
        HttpState::Off,
        HttpState::Taken { port: 7717, reason: "address in use".into() },
    ];
    insta::assert_snapshot!(serde_json::to_string(&states).unwrap(), @r#"[{"state":"listening","address":"127.0.0.1:7717"},{"state":"off"},{"state":"taken","port":7717,"reason":"address in use"}]"#);
    let index = [IndexState::InUse, IndexState::OutOfUse { reason: "row count".into() }];
    insta::assert_snapshot!(serde_json::to_string(&index).unwrap(), @r#"[{"state":"in_use"},{"state":"out_of_use","reason":"row count"}]"#);
}

#[test]
fn replies_of_older_and_newer_builds_can_be_read() {
    let text = r#"{"build":"0.0.9","pid":1,"started":5,"uptime_ms":7,"mood":"fine",
        "instance":{"id":"i","directory":"/d","data":"/d/data","config":"/d/c","logs":"/d/l"},
        "http":{"state":"off"},"projects":[],
        "sessions":[{"id":"s","since":1,"last_call":2,"connected":true,"extra":1}]}"#;
    let status: StatusReply = serde_json::from_str(text).unwrap();
    assert_eq!(status.counters, CountersStatus::default());
    assert_eq!(status.sessions[0].staged, StagedStatus::default());
    assert_eq!(status.sessions[0].project, None);
}

#[test]
fn the_state_of_the_index_does_not_make_a_journal_unsound() {
    let mut reply = VerifyReply {
        project: ProjectRef { id: "i".into(), root: "/p".into() },
        segments: 1,
        entries: 4,
        is_cut: false,
        bytes: 400,
        index: IndexState::OutOfUse { reason: "row count".into() },
        problems: Vec::new(),
    };
    assert!(reply.is_sound());
    reply.problems.push(Problem {
        file: "000001.jsonl".into(),
        line: 3,
        what: "its checksum differs".into(),
        is_unread: false,
    });
    assert!(!reply.is_sound());
}
