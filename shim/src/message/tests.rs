//! Messages are parsed, and errors are written.

use super::*;
use crate::testing::{initialize_reply, notification, reply, request};

fn asked(raw: &str) -> Id {
    match from_agent(&request(raw, "x")) {
        Ok(FromAgent::Request(id, Call::Plain)) => id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_notifications_and_replies_are_distinguished() {
    let kind = |line: &str| from_agent(line).unwrap();
    assert_eq!(kind(&request("0", "initialize")), FromAgent::Request(asked("0"), Call::Initialize));
    assert_eq!(
        kind(&request("0", "subscriptions/listen")),
        FromAgent::Request(asked("0"), Call::Lasting)
    );
    assert_eq!(kind(&notification("notifications/initialized")), FromAgent::Initialized);
    assert_eq!(kind(&notification("notifications/progress")), FromAgent::Other);
    assert_eq!(kind(&reply("1")), FromAgent::Other);
    let cancelled =
        r#"{"method":"notifications/cancelled","params":{"reason":"x","requestId":"a"}}"#;
    assert_eq!(kind(cancelled), FromAgent::Cancelled(asked("\"a\"")));
    assert_eq!(kind(&notification("notifications/cancelled")), FromAgent::Other);
    // The method may contain escapes.
    assert_eq!(
        kind(r#"{"id":0,"method":"initi\u0061lize"}"#),
        FromAgent::Request(asked("0"), Call::Initialize)
    );
}

#[test]
fn ids_are_equal_as_values_and_kept_as_written() {
    assert_eq!(asked("\"ü\""), asked("\"\\u00fc\""));
    assert_ne!(asked("1"), asked("\"1\""));
    assert_ne!(asked("\"\\\"1\""), asked("\"1\""));
    assert!(Problem::Busy.answer(Some(&asked("\"\\u00fc\""))).contains("\"id\":\"\\u00fc\""));
}

#[test]
fn replies_of_the_daemon_are_recognised() {
    let replied = |line: &str| match from_daemon(line.as_bytes()) {
        Some(FromDaemon::Reply(id, result)) => (id, revision(result)),
        other => panic!("{other:?}"),
    };
    let revision = Some("2025-06-18".to_owned());
    assert_eq!(replied(&initialize_reply("3", "2025-06-18")), (asked("3"), revision));
    assert_eq!(replied(&reply("3")), (asked("3"), None));
    assert_eq!(replied(r#"{"id":3,"error":{"code":-1,"message":"m"}}"#), (asked("3"), None));
    assert!(matches!(from_daemon(notification("n").as_bytes()), Some(FromDaemon::Other)));
    for nonsense in ["", "x", "[]", "{\"id\":1", "\u{0}"] {
        assert!(from_daemon(nonsense.as_bytes()).is_none(), "{nonsense:?}");
    }
}

#[test]
fn an_error_is_one_line_of_json_for_any_reason() {
    let line = Problem::NoDaemon("a \"b\"\nc").answer(Some(&asked("1")));
    assert!(!line.contains('\n'));
    let error: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(error["id"], 1);
    assert_eq!(error["error"]["code"], -32050);
    assert!(error["error"]["message"].as_str().unwrap().contains("a \"b\"\nc"));
    assert!(Problem::NotJson.answer(None).contains(r#""id":null"#));
}
