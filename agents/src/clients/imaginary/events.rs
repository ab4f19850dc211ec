//! Its events, which it names like nobody else. It reads `{"reply": …}`.

use anchord_memory::lifecycle::{Answer, Event, StartSource};

use crate::events::{Adapter, Envelope, Payload, Read};

pub(super) const ADAPTER: Adapter = Adapter {
    client: super::KNOWN.id,
    fields: &["cwd", "hook_event_name", "talk", "words"],
    usual: |_| {},
    session: |payload| payload.text("talk"),
    run: |_| None,
    agent: |_| None,
    read,
    asks: false,
    write,
};

fn read(name: &str, payload: Payload<'_>) -> Option<Read> {
    let words = payload.owned("words");
    Some(Read::event(match name {
        "talk.begins" => Event::SessionStarted { source: StartSource::Startup },
        "talk.asks" => Event::PromptSubmitted { prompt: words.unwrap_or_default() },
        "talk.answers" => Event::TurnEnded { last_message: words },
        "talk.ends" => Event::SessionEnded,
        _ => return None,
    }))
}

fn write(_: &Envelope, answer: &Answer) -> String {
    match answer {
        Answer::Context(text) => serde_json::json!({ "reply": text }).to_string(),
        _ => String::new(),
    }
}
