//! Reads what `redis-cli` prints: a state, a history, and the file with the session's id.

use serde_json::{Map, Value, json};

use super::super::source::{ImportError, NamedText, bare};
use crate::brief::StateForm;
use crate::ids::Timestamp;

/// infinite-context's memory of one project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InfiniteContext {
    /// The entries of the history, oldest first, and last the state.
    pub entries: Vec<StateEntry>,
    /// The id of the session, from the newest entry.
    pub session: Option<String>,
    /// The id in `.claude_session_id`, if the file is there.
    pub session_file: Option<String>,
    /// One line for each item that could not be used as it was.
    pub notes: Vec<String>,
}

/// A state, with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct StateEntry {
    /// The time of its checkpoint.
    pub time: Option<Timestamp>,
    /// The state.
    pub state: StateForm,
}

/// Reads texts, each a state, a history, or the id of a session.
///
/// # Errors
/// Fails if none of them has a state.
pub fn parse_infinite_context(texts: &[NamedText]) -> Result<InfiniteContext, ImportError> {
    let mut found = InfiniteContext::default();
    let mut state = None;
    for NamedText { text, .. } in texts {
        let text = bare(text).trim();
        if is_id(text) {
            found.session_file = Some(text.to_owned());
            continue;
        }
        for (at, value) in values(text).into_iter().enumerate() {
            match value.and_then(|value| read(&value)) {
                Ok(Entry::State(entry)) => state = Some(entry),
                Ok(Entry::History(entry)) => found.entries.push(entry),
                Err(why) => found.notes.push(format!("entry {}: {why}; left out", at + 1)),
            }
        }
    }
    // `LRANGE` prints the newest first.
    found.entries.reverse();
    found.entries.sort_by_key(|entry| entry.time);
    if let Some(state) = state {
        // The newest entry of the history may be the state itself.
        found.entries.retain(|entry| entry.state != state.state);
        found.entries.push(state);
    }
    let first = texts.first().map(|text| text.name.clone()).ok_or(ImportError::Empty)?;
    let newest = found.entries.last().ok_or(ImportError::Shape { file: first })?;
    found.session.clone_from(&newest.state.meta.session_id);
    Ok(found)
}

fn is_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

enum Entry {
    State(StateEntry),
    History(StateEntry),
}

/// Splits a text into JSON values: one value, the items of a list, or a value on each line.
fn values(text: &str) -> Vec<Result<Value, String>> {
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) => items.into_iter().map(unquoted).collect(),
        Ok(value) => vec![unquoted(value)],
        Err(_) => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(|line| of_line(line).and_then(unquoted)).collect()
        }
    }
}

/// Reads a value that is itself a text of JSON.
fn unquoted(value: Value) -> Result<Value, String> {
    match value {
        Value::String(text) => serde_json::from_str(&text).map_err(|_| "is not JSON".to_owned()),
        value => Ok(value),
    }
}

/// Reads a line: JSON as it is piped, or `1) "…"` as a terminal shows it.
fn of_line(line: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(line) {
        return Ok(value);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let quoted = line.get(digits..).and_then(|rest| rest.strip_prefix(')')).unwrap_or(line).trim();
    let text = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).and_then(unescaped);
    text.map(Value::String).ok_or_else(|| "is not JSON".to_owned())
}

/// Resolves the escapes of `redis-cli`: `\"`, `\\`, `\n`, `\r`, `\t`, `\a`, `\b` and `\xHH`.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 7,
            b'b' => 8,
            b'x' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn read(value: &Value) -> Result<Entry, String> {
    let object = value.as_object().ok_or("is not an object")?;
    let time = |text: Option<&Value>| text.and_then(Value::as_str).and_then(Timestamp::parse);
    if let Some(state) = object.get("state") {
        let state = form(state)?;
        let time = time(object.get("timestamp")).or_else(|| of_state(&state));
        return Ok(Entry::History(StateEntry { time, state }));
    }
    if !(object.contains_key("project_context") || object.contains_key("active_context")) {
        return Err("is neither a state nor an entry of a history".to_owned());
    }
    let state = form(value)?;
    Ok(Entry::State(StateEntry { time: of_state(&state), state }))
}

fn of_state(state: &StateForm) -> Option<Timestamp> {
    state.meta.last_checkpoint.as_deref().and_then(Timestamp::parse)
}

/// Reads a state. What is missing in it is empty.
fn form(state: &Value) -> Result<StateForm, String> {
    let mut whole = json!({
        "meta": {},
        "project_context": { "overview": "", "architecture": "", "recent_changes": [] },
        "active_context": { "current_task": "", "active_files": [], "active_decisions": [] },
    });
    let given = state.as_object().ok_or("has no state")?;
    if let Value::Object(whole) = &mut whole {
        fill(whole, given);
    }
    serde_json::from_value(whole).map_err(|error| format!("the state cannot be read: {error}"))
}

/// Replaces the fields that are given. Null counts as missing.
fn fill(whole: &mut Map<String, Value>, given: &Map<String, Value>) {
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        match (whole.get_mut(name), value) {
            (Some(Value::Object(whole)), Value::Object(given)) => fill(whole, given),
            _ => {
                whole.insert(name.clone(), value.clone());
            }
        }
    }
}
