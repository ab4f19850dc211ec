//! Payloads of later clients, and texts that are not payloads.

use super::testing::heard;
use super::*;

#[test]
fn unknown_fields_of_a_later_client_are_ignored_and_reported() {
    let payload = serde_json::json!({
        "hook_event_name": "Stop", "session_id": "s", "mood": "fine", "last_assistant_message": 7,
    });
    let (read, unknown) = heard("claude-code", &payload);
    let ParsedEvent::Event(envelope) = read else { panic!("an event") };
    assert_eq!(envelope.event, Event::TurnEnded { last_message: None });
    assert_eq!(unknown, ["mood"]);
    let payload = serde_json::json!({"hook_event_name": "MoonRose", "session_id": "s"});
    assert_eq!(heard("claude-code", &payload).0, ParsedEvent::Unknown("MoonRose".to_owned()));
}

#[test]
fn an_invalid_event_is_an_error() {
    let adapter = Adapter::of("codex").unwrap();
    for malformed in ["", "[]", "7", "{\"hook_event_name\":"] {
        assert_eq!(adapter.read(malformed.as_bytes()), Err(Unreadable::Malformed), "{malformed}");
    }
    let missing = Err(Unreadable::Missing("hook_event_name"));
    assert_eq!(adapter.read(br#"{"session_id":"s"}"#), missing);
    let no_session = br#"{"hook_event_name":"Stop","session_id":""}"#;
    assert_eq!(adapter.read(no_session), Err(Unreadable::Missing("session")));
    assert!(Adapter::of("a-client-of-next-year").is_none());
}
