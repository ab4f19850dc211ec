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

/// The TypeScript and Python libraries write the id last, and those in Rust and Go write it first.
#[test]
fn a_line_that_is_too_long_is_answered_under_its_id() {
    let found = |line: &str| {
        let (beginning, end) = (&line[..line.len() / 2], &line[line.len() - 40..]);
        id_of_cut(beginning.as_bytes(), end.as_bytes())
    };
    let long = "x".repeat(200);
    let first =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"id":8,"t":"{long}"}}}}"#);
    assert_eq!(found(&first), Some(asked("7")));
    let last =
        format!(r#"{{"method":"m","params":{{"id":8,"t":"{long}"}},"jsonrpc":"2.0","id":"a"}}"#);
    assert_eq!(found(&last), Some(asked("\"a\"")));
    let between = format!(r#"{{"params":{{"t":"{long}"}}, "id": 7 , "jsonrpc":"2.0"}}  "#);
    assert_eq!(found(&between), Some(asked("7")));
    // These are of what is in the message, or are text.
    for line in [
        format!(r#"{{"method":"m","params":{{"t":"{long}","id":8}}}}"#),
        format!(r#"{{"method":"m","params":{{"t":"{long}","a":{{"id":8}},"b":1}}}}"#),
        format!(r#"{{"method":"m","params":{{"t":"{long}\",\"id\":8}}"}}}}"#),
        format!("{long}{long}"),
    ] {
        assert_eq!(found(&line), None, "{line}");
    }
    // The end may begin within a character.
    assert_eq!(id_of_cut(b"{", &[&b"\xa4"[..], br#"", "id":7}"#].concat()), Some(asked("7")));
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
