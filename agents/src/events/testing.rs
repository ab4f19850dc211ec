//! Recorded payloads, their parsed events, and the printed answers.

use std::fmt::Write as _;

use super::*;

/// Renders how an adapter reads each payload of a fixture, and how it writes an answer.
pub(crate) fn rendered(client: &str, fixture: &str) -> String {
    let adapter = Adapter::of(client).unwrap();
    let payloads: Vec<serde_json::Value> = serde_json::from_str(fixture).unwrap();
    let mut rendered = String::new();
    for payload in payloads {
        let (event, unknown) = adapter.read(payload.to_string().as_bytes()).unwrap();
        assert!(unknown.is_empty(), "{unknown:?} of {payload}");
        let mut usual = payload.as_object().unwrap().clone();
        (adapter.usual)(&mut usual);
        let name = usual["hook_event_name"].as_str().unwrap();
        match event {
            ParsedEvent::Event(envelope) => {
                writeln!(rendered, "{name}: {:?}", envelope.event).unwrap();
                if let Some(agent) = &envelope.agent {
                    writeln!(rendered, "  in {} {:?}", agent.id, agent.agent_type).unwrap();
                }
                assert_eq!(envelope.cwd.as_deref(), Some("/home/u/app"));
                for answer in ["context", "instructions"] {
                    let text = "of\nthe daemon".to_owned();
                    let says = match answer {
                        "context" => Answer::Context(text),
                        _ => Answer::Instructions(text),
                    };
                    let printed = adapter.write(&envelope, &says);
                    if !printed.is_empty() {
                        writeln!(rendered, "  {answer}: {printed}").unwrap();
                    }
                }
                assert_eq!(adapter.write(&envelope, &Answer::Nothing), "");
            }
            event => writeln!(rendered, "{name}: {event:?}").unwrap(),
        }
    }
    rendered
}

/// Reads a payload. Also returns the fields that this build does not know.
pub(crate) fn read_event(client: &str, payload: &serde_json::Value) -> (ParsedEvent, Vec<String>) {
    Adapter::of(client).unwrap().read(payload.to_string().as_bytes()).unwrap()
}
