//! Recorded payloads, their parsed events, and the printed answers.

use std::fmt::Write as _;

use super::*;

/// Renders how an adapter reads each payload of a fixture, and how it writes an answer.
pub(crate) fn told(client: &str, fixture: &str) -> String {
    let adapter = Adapter::of(client).unwrap();
    let payloads: Vec<serde_json::Value> = serde_json::from_str(fixture).unwrap();
    let mut told = String::new();
    for payload in payloads {
        let (heard, unknown) = adapter.read(payload.to_string().as_bytes()).unwrap();
        assert!(unknown.is_empty(), "{unknown:?} of {payload}");
        let mut usual = payload.as_object().unwrap().clone();
        (adapter.usual)(&mut usual);
        let name = usual["hook_event_name"].as_str().unwrap();
        match heard {
            ParsedEvent::Event(envelope) => {
                writeln!(told, "{name}: {:?}", envelope.event).unwrap();
                if let Some(agent) = &envelope.agent {
                    writeln!(told, "  in {} {:?}", agent.id, agent.agent_type).unwrap();
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
                        writeln!(told, "  {answer}: {printed}").unwrap();
                    }
                }
                assert_eq!(adapter.write(&envelope, &Answer::Nothing), "");
            }
            heard => writeln!(told, "{name}: {heard:?}").unwrap(),
        }
    }
    told
}

/// Reads a payload. Also returns the fields that this build does not know.
pub(crate) fn heard(client: &str, payload: &serde_json::Value) -> (ParsedEvent, Vec<String>) {
    Adapter::of(client).unwrap().read(payload.to_string().as_bytes()).unwrap()
}
