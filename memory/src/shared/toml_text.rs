//! Front matter as TOML: written here, so that its bytes depend on no library's version, and parsed
//! by the `toml` crate.
//!
//! A list has one item on each line, so that changes of different items merge.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::defuse::is_hidden;
use crate::ids::Timestamp;

/// Fields that are times, in milliseconds since the epoch.
const TIMES: [&str; 2] = ["time", "expires"];

/// Appends a line `name = value`, or several if the value is a list. Leaves null out.
pub(super) fn push_field(text: &mut String, name: &str, value: &Value) {
    if value.is_null() {
        return;
    }
    text.push_str(name);
    text.push_str(" = ");
    match value {
        Value::Array(items) if !items.is_empty() => {
            text.push_str("[\n");
            for item in items.iter().filter(|item| !item.is_null()) {
                text.push_str("  ");
                push_value(text, name, item);
                text.push_str(",\n");
            }
            text.push(']');
        }
        value => push_value(text, name, value),
    }
    text.push('\n');
}

/// Appends a time.
pub(super) fn push_time(text: &mut String, name: &str, time: Timestamp) {
    text.push_str(name);
    text.push_str(" = ");
    text.push_str(&time_text(time));
    text.push('\n');
}

fn push_value(text: &mut String, name: &str, value: &Value) {
    match value {
        Value::Number(number) => match number.as_i64().filter(|_| TIMES.contains(&name)) {
            Some(millis) => text.push_str(&time_text(Timestamp(millis))),
            None => text.push_str(&number.to_string()),
        },
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::String(string) => push_string(text, string),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().filter(|item| !item.is_null()).enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                push_value(text, name, item);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (at, (name, value)) in fields.iter().filter(|(_, it)| !it.is_null()).enumerate() {
                text.push_str(if at == 0 { " " } else { ", " });
                text.push_str(name);
                text.push_str(" = ");
                push_value(text, name, value);
            }
            text.push_str(" }");
        }
        // TOML has no null. Lists and objects leave it out, and no field is null alone.
        Value::Null => text.push_str("\"\""),
    }
}

/// Returns a time as TOML: a date and time in UTC, or the number if TOML has no such date.
fn time_text(time: Timestamp) -> String {
    let iso = time.iso();
    let is_exact = iso.len() == 24 && Timestamp::parse(&iso) == Some(time);
    if is_exact { iso } else { time.0.to_string() }
}

/// Appends a string in quotes. Characters that a reader does not see are escaped.
fn push_string(text: &mut String, string: &str) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if is_hidden(c) => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xffff => write!(text, "\\u{code:04X}"),
                    code => write!(text, "\\U{code:08X}"),
                };
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

/// Parses front matter.
///
/// # Errors
/// Fails if the text is not TOML, or has a number or time that no field can have.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| first_line(&error))?;
    table.into_iter().map(|(name, value)| Ok((name, json(value)?))).collect()
}

fn first_line(error: &toml::de::Error) -> String {
    error.message().lines().next().unwrap_or("it is not TOML").to_owned()
}

fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(string) => string.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => return Err(format!("{number} is not a whole number")),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(time) => {
            let text = time.to_string();
            let parsed = Timestamp::parse(&text);
            parsed.ok_or_else(|| format!("{text} is not a date and time with an offset"))?.0.into()
        }
        toml::Value::Array(items) => {
            items.into_iter().map(json).collect::<Result<Vec<_>, _>>()?.into()
        }
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(name, value)| Ok((name, json(value)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
    })
}
