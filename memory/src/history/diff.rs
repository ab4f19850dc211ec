//! The difference between two versions of a record of any kind, field by field.
//!
//! The fields are those that the journal has. A text is compared by lines.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::merge::Content;
use super::name;
use crate::ids::{RecordId, Timestamp, Version};
use crate::limits::{DIFF_CONTEXT_LINES, DIFF_LINES_MAX};
use crate::omit::is_default;
use crate::record::Record;

/// Fields that follow from others, and those of a session row that the head of its commit has.
const DERIVED: [&str; 10] = [
    "tokens",
    "summary_tokens",
    "content_type",
    "number",
    "session",
    "started",
    "ended",
    "blueprints_added",
    "anchors_added",
    "lessons_added",
];

/// Fields with milliseconds since 1970.
const TIMES: [&str; 4] = ["time", "expires", "first", "last"];

/// The difference between two versions of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordDiff {
    /// The record.
    pub id: RecordId,
    /// The words that name it.
    pub name: String,
    /// The earlier version; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Version>,
    /// The later version; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Version>,
    /// The fields that differ.
    pub fields: Vec<FieldDiff>,
    /// Whether a version in between is no longer in the journal, so that the fields are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDiff {
    /// The name of the field in the journal.
    pub field: String,
    /// The lines that differ, with some around them.
    pub lines: Vec<DiffLine>,
    /// The number of further lines that differ.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more: usize,
}

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// The side that has the line.
    pub change: LineChange,
    /// The line.
    pub text: String,
}

/// The side that has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    /// Both sides.
    Same,
    /// The earlier side.
    Removed,
    /// The later side.
    Added,
    /// Lines that both sides have are left out here.
    Gap,
}

/// Compares two versions of a record. A side is `None` if the record did not exist. Returns `None`
/// if neither side has it.
pub fn diff(before: Option<&Record>, after: Option<&Record>) -> Option<RecordDiff> {
    let named = after.or(before)?;
    let (mut old, mut new) = (fields(before), fields(after));
    let names: BTreeSet<String> = [&old, &new].into_iter().flat_map(Map::keys).cloned().collect();
    let names = names.into_iter().filter(|name| !DERIVED.contains(&name.as_str()));
    let fields = names.filter_map(|field| {
        let (old, new) = (old.remove(&field), new.remove(&field));
        let text = |value: Option<Value>| value.map(|value| text_of(&field, &value));
        (old != new).then(|| {
            let (lines, more) =
                lines(&text(old).unwrap_or_default(), &text(new).unwrap_or_default());
            FieldDiff { field: field.clone(), lines, more }
        })
    });
    Some(RecordDiff {
        id: named.id,
        name: name(named),
        before: before.map(|record| record.version),
        after: after.map(|record| record.version),
        fields: fields.collect(),
        unknown: false,
    })
}

/// Returns the fields of a record: its kind's own, and those of every record unless they are at
/// their default.
fn fields(record: Option<&Record>) -> Map<String, Value> {
    let Some(record) = record else { return Map::new() };
    let content = serde_json::to_value(Content::of(record)).expect("domain types always serialize");
    let Value::Object(mut content) = content else { return Map::new() };
    let body = match content.remove("body") {
        Some(Value::Object(body)) => body.into_iter().next().map(|(_, fields)| fields),
        _ => None,
    };
    let is_unset = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty() || text == "active",
        Value::Number(number) => number.as_i64() == Some(0),
        _ => false,
    };
    content.retain(|_, value| !is_unset(value));
    if let Some(Value::Object(body)) = body {
        content.extend(body.into_iter().filter(|(_, value)| !is_unset(value)));
    }
    content
}

/// Prints a field's value for people: a list has one item in each line.
fn text_of(field: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_i64().filter(|_| TIMES.contains(&field)) {
            Some(time) => Timestamp(time).minute(),
            None => number.to_string(),
        },
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(items) => {
            items.iter().map(|item| text_of(field, item)).collect::<Vec<_>>().join("\n")
        }
        Value::Object(parts) => {
            // A statement is its own answer.
            let answer = parts.get("decided");
            let parts =
                parts.iter().filter(|(name, value)| *name != "question" || Some(*value) != answer);
            let part = |(name, value): (&String, &Value)| {
                let text = text_of(name, value);
                if text.is_empty() { None } else { Some(format!("{name}: {text}")) }
            };
            parts.filter_map(part).collect::<Vec<_>>().join("; ")
        }
    }
}

/// Compares two texts by lines. The last line ends like the others: otherwise it would differ from
/// itself once a line follows. Texts that differ in that alone are compared as they are.
fn lines(old: &str, new: &str) -> (Vec<DiffLine>, usize) {
    let ended = |text: &str| match text {
        "" => String::new(),
        text if text.ends_with('\n') => text.to_owned(),
        text => format!("{text}\n"),
    };
    let (mut before, mut after) = (ended(old), ended(new));
    if before == after {
        (before, after) = (old.to_owned(), new.to_owned());
    }
    let diff = TextDiff::from_lines(&before, &after);
    let mut lines = Vec::new();
    for (at, group) in diff.grouped_ops(DIFF_CONTEXT_LINES).iter().enumerate() {
        if at > 0 {
            lines.push(DiffLine { change: LineChange::Gap, text: String::new() });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let kind = match change.tag() {
                ChangeTag::Equal => LineChange::Same,
                ChangeTag::Delete => LineChange::Removed,
                ChangeTag::Insert => LineChange::Added,
            };
            let text = change.value().trim_end_matches(['\r', '\n']).to_owned();
            lines.push(DiffLine { change: kind, text });
        }
    }
    let more = lines.len().saturating_sub(DIFF_LINES_MAX);
    lines.truncate(DIFF_LINES_MAX);
    (lines, more)
}
