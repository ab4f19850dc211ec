//! Lines of a file as agents write them: `42-67`, `L42-L67`, 42, `[42, 67]` and
//! `{"start": 42, "end": 67}`.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::whole_number;
use crate::spelling::same_name;

/// Names of the first and of the last line in an object.
const FIRST: [&str; 6] = ["start", "first", "from", "begin", "start_line", "line"];
const LAST: [&str; 6] = ["end", "last", "to", "until", "end_line", "stop"];

/// The text for a file without lines. It is what readers are shown in their place.
const WHOLE_FILE: &str = "whole file";

/// Lines, as the domain reads them. Without any, they are the whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines(pub(crate) String);

impl Lines {
    pub(crate) fn is_whole_file(&self) -> bool {
        self.0 == WHOLE_FILE
    }

    /// Returns these lines, or in place of a whole file those from `first` to `last`.
    pub(crate) fn or_from(self, first: Option<u32>, last: Option<u32>) -> Self {
        match (first.or(last), last) {
            (Some(first), Some(last)) if self.is_whole_file() => Self(format!("{first}-{last}")),
            (Some(line), None) if self.is_whole_file() => Self(line.to_string()),
            _ => self,
        }
    }

    /// Divides `a.rs:42-67` or `a.rs#L42` into the file and its lines.
    pub(crate) fn behind(place: &str) -> Option<(&str, Self)> {
        let (file, lines) = place.rsplit_once([':', '#'])?;
        let is_number = |part: &str| {
            let digits = part.trim_start_matches(['l', 'L']);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        let are_lines = !file.is_empty() && lines.splitn(2, '-').all(is_number);
        are_lines.then(|| (file, Self(of_text(lines))))
    }
}

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // An absent field is read as an option, too.
        from.deserialize_option(LinesVisitor)
    }
}

struct LinesVisitor;

impl<'de> Visitor<'de> for LinesVisitor {
    type Value = Lines;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lines as 42-67 or 42")
    }

    fn visit_none<E: Error>(self) -> Result<Lines, E> {
        Ok(Lines(WHOLE_FILE.to_owned()))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Lines, D::Error> {
        let given = Value::deserialize(from)?;
        let read = match &given {
            Value::String(text) if text.trim().is_empty() => return self.visit_none(),
            Value::String(text) => Some(of_text(text)),
            Value::Array(items) => of_numbers(items),
            Value::Object(fields) => of_fields(fields),
            other => whole_number(other).map(|line| line.to_string()),
        };
        read.map(Lines).ok_or_else(|| {
            let shown: String = given.to_string().chars().take(40).collect();
            D::Error::custom(format!("is {shown}; give lines as 42-67 or 42"))
        })
    }
}

/// Drops the words and signs around numbers: `L1-L5`, `lines 1 to 5`, `#L1:5`. Any other text stays
/// as it is.
fn of_text(text: &str) -> String {
    let lower = text.trim().to_ascii_lowercase();
    let words = lower.split(|c: char| c.is_whitespace() || "-–—:.,#".contains(c));
    let numbers: Option<Vec<u32>> = words
        .filter(|word| !matches!(*word, "" | "l" | "line" | "lines" | "to"))
        .map(|word| word.strip_prefix('l').unwrap_or(word).parse().ok())
        .collect();
    // A minus before the first number, or after the last, is not between two.
    let is_decimal = lower.contains('.') && !lower.contains("..");
    let is_open =
        lower.starts_with('-') || lower.ends_with('-') || lower.contains(',') || is_decimal;
    match numbers.as_deref() {
        Some([line]) if !is_open => line.to_string(),
        Some([first, last]) if !is_open => format!("{first}-{last}"),
        _ => text.to_owned(),
    }
}

fn of_numbers(items: &[Value]) -> Option<String> {
    match items {
        [line] => Some(whole_number(line)?.to_string()),
        [first, last] => Some(format!("{}-{}", whole_number(first)?, whole_number(last)?)),
        _ => None,
    }
}

fn of_fields(fields: &Map<String, Value>) -> Option<String> {
    let named = |names: &[&str]| {
        let mut given = fields.iter().filter(|(_, value)| !value.is_null());
        let (_, value) =
            given.find(|(name, _)| names.iter().any(|known| same_name(known, name)))?;
        whole_number(value)
    };
    let first = named(&FIRST)?;
    Some(named(&LAST).map_or_else(|| first.to_string(), |last| format!("{first}-{last}")))
}
