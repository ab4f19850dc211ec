//! Reads what can be read of a damaged event, so that a tool does not pass because of the damage.
//! The text may not be UTF-8, end early, or have more behind the event.

use std::fmt;

use anchord_agents::events::{Adapter, Envelope, ParsedEvent, Unreadable};
use anchord_memory::lifecycle::Event;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::{Map, Value};

/// The names that clients give the event before a tool.
const BEGINS: [&str; 7] = [
    "PreToolUse",
    "BeforeTool",
    "preToolUse",
    "beforeTool",
    "before_tool_call",
    "tool.execute.before",
    "tool_call",
];

/// The fields in which clients name the conversation. The answer does not depend on it.
const SESSIONS: [&str; 2] = ["session_id", "session_key"];

/// Reads the beginning of a tool from a damaged event; `None` if the event is another one. Damage
/// before the event's name may hide a tool, and counts as one.
pub(super) fn tool(adapter: Adapter, line: &[u8]) -> Option<Box<Envelope>> {
    let (mut fields, is_whole) = salvaged(&String::from_utf8_lossy(line));
    for field in SESSIONS {
        if fields.get(field).and_then(Value::as_str).is_none_or(str::is_empty) {
            fields.insert(field.to_owned(), "unknown".into());
        }
    }
    let parsed = parse(adapter, &fields);
    if is_whole || parsed != Err(Unreadable::Missing("hook_event_name")) {
        return begun(parsed);
    }
    BEGINS.into_iter().find_map(|name| {
        fields.insert("hook_event_name".to_owned(), name.into());
        begun(parse(adapter, &fields))
    })
}

fn parse(adapter: Adapter, fields: &Map<String, Value>) -> Result<ParsedEvent, Unreadable> {
    let line = serde_json::to_vec(fields).map_err(|_| Unreadable::Malformed)?;
    adapter.read(&line).map(|(parsed, _)| parsed)
}

fn begun(parsed: Result<ParsedEvent, Unreadable>) -> Option<Box<Envelope>> {
    match parsed {
        Ok(ParsedEvent::Event(envelope)) => {
            Some(envelope).filter(|envelope| matches!(envelope.event, Event::ToolBegins(_)))
        }
        _ => None,
    }
}

/// Returns the fields before the first damage, and whether the object is whole.
fn salvaged(text: &str) -> (Map<String, Value>, bool) {
    let mut fields = Map::new();
    let text = text.trim_start_matches('\u{feff}');
    let mut json = serde_json::Deserializer::from_str(text);
    let is_whole = json.deserialize_map(Entries(&mut fields)).is_ok();
    (fields, is_whole)
}

/// Keeps the entries of an object that come before an error.
struct Entries<'a>(&'a mut Map<String, Value>);

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            self.0.insert(name, value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
