//! Reads a call's arguments by their meaning rather than their spelling.
//!
//! serde requests what a parameter type needs, and [`reader`] converts what was sent. One rule
//! therefore covers the fields of all tools, nested objects included, and no published schema
//! mentions it.

mod fields;
mod lines;
mod names;
mod reader;
mod text;

use std::collections::HashMap;
use std::fmt;

use anchord_memory::Refusal;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::limits::UNKNOWN_FIELDS_NAMED_MAX;
pub(crate) use lines::Lines;
pub(crate) use names::CallersNames;
use reader::{Path, Reader, Report};
pub(crate) use text::{Object, TextOr};

/// Reads one object of a call. `place` is its path in the call, empty for the call itself. The
/// second value lists the unknown fields, whether or not the rest could be read.
pub(crate) fn read<T: DeserializeOwned>(
    arguments: Value,
    place: &str,
) -> (Result<T, Unreadable>, UnknownFields) {
    let (read, unknown, _) = read_named(arguments, place);
    (read, unknown)
}

/// Reads one object of a call as [`read`] does, and also returns the caller's names for its fields.
pub(crate) fn read_named<T: DeserializeOwned>(
    arguments: Value,
    place: &str,
) -> (Result<T, Unreadable>, UnknownFields, CallersNames) {
    let report = Report::of(place);
    let read = T::deserialize(Reader::new(arguments, &Path::Start, &report));
    let (failed_at, unknown, names) = report.into_parts();
    let read = read.map_err(|error| Unreadable {
        place: place.to_owned(),
        field: failed_at.unwrap_or_default(),
        why: in_plain_words(&error.to_string()),
    });
    (read, unknown, names)
}

/// Reads a whole number, also if it is written as `5.0` or as text.
pub(crate) fn whole_number(value: &Value) -> Option<i64> {
    reader::as_whole(value.clone()).as_i64()
}

/// Returns the items of a list that is read one by one. A null stays, so that each item keeps its
/// place. One object stands for a list of one.
pub(crate) fn items(list: Value) -> Vec<Value> {
    match list {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

/// An argument that cannot be read, even liberally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The path of the object that was read, empty for the call itself.
    place: String,
    /// The path of the argument within it, as in `lessons[1].summary`. Empty for the object itself.
    field: String,
    /// The reason, in plain words.
    why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match joined(&self.place, &self.field).as_str() {
            "" => f.write_str(&self.why),
            place => write!(f, "{place}: {}", self.why),
        }
    }
}

/// Returns the path in the call of a field of an object.
fn joined(object: &str, field: &str) -> String {
    if object.is_empty() || field.is_empty() {
        return format!("{object}{field}");
    }
    format!("{object}.{field}")
}

/// Refuses an item of a call, which the caller names.
impl From<Unreadable> for Refusal {
    fn from(Unreadable { field, why, .. }: Unreadable) -> Self {
        Self::invalid(field, format!("cannot be read: {why}"))
    }
}

/// Fields of the call that were ignored, each name once: no parameter accepts them, or another name
/// gave the parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnknownFields {
    /// The first [`UNKNOWN_FIELDS_NAMED_MAX`].
    named: Vec<UnknownField>,
    /// The others, with the number of objects that had each.
    counted: HashMap<String, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct UnknownField {
    name: String,
    /// The parameter that has it as a second name.
    second_of: Option<&'static str>,
    /// The first object that had the field; empty for the call itself.
    place: String,
    /// The number of further objects that had it.
    more: usize,
    /// The parameter that was probably meant.
    like: Option<&'static str>,
}

impl UnknownFields {
    /// Adds the unknown fields of another part of the call.
    pub(crate) fn extend(&mut self, others: Self) {
        for UnknownField { name, second_of, place, more, like } in others.named {
            self.add(name, second_of, more + 1, |name| UnknownField {
                name,
                second_of,
                place,
                more,
                like,
            });
        }
        for (name, objects) in others.counted {
            match self.named.iter_mut().find(|known| known.name == name) {
                Some(known) => known.more += objects,
                None => *self.counted.entry(name).or_default() += objects,
            }
        }
    }

    /// Adds a name that `objects` objects had. `describe` runs only if the field is to be named.
    fn add(
        &mut self,
        name: String,
        second_of: Option<&'static str>,
        objects: usize,
        describe: impl FnOnce(String) -> UnknownField,
    ) {
        let is_it = |known: &&mut UnknownField| known.name == name && known.second_of == second_of;
        if let Some(known) = self.named.iter_mut().find(is_it) {
            known.more += objects;
        } else if self.named.len() < UNKNOWN_FIELDS_NAMED_MAX {
            self.named.push(describe(name));
        } else {
            *self.counted.entry(name).or_default() += objects;
        }
    }

    /// Names the fields, one per line. `None` if there are no unknown fields.
    pub(crate) fn in_words(&self) -> Option<String> {
        let mut lines: Vec<String> = self.named.iter().map(ToString::to_string).collect();
        match self.counted.len() {
            0 => {}
            1 => lines.push("1 more field was ignored.".to_owned()),
            more => lines.push(format!("{more} more fields were ignored.")),
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = if self.second_of.is_some() { "Field" } else { "Unknown field" };
        write!(f, "{first} `{}`", fields::shortened(&self.name))?;
        if !self.place.is_empty() {
            write!(f, " in {}", self.place)?;
        }
        match self.more {
            0 => {}
            1 => f.write_str(" and in one other object")?,
            more => write!(f, " and in {more} other objects")?,
        }
        f.write_str(" was ignored")?;
        match (self.second_of, self.like) {
            (Some(field), _) => write!(f, ": it is a second name of `{field}`."),
            (None, Some(like)) => write!(f, "; did you mean `{like}`?"),
            (None, None) => f.write_str("."),
        }
    }
}

/// Rewords a serde error without the Rust type names at its end.
fn in_plain_words(error: &str) -> String {
    let Some((found, wanted)) = error.rsplit_once(", expected ") else { return error.to_owned() };
    let wanted = match wanted {
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number, 0 or more",
        "isize" | "i64" | "i32" => "a whole number",
        "f64" | "f32" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        wanted => wanted,
    };
    format!("{found}, expected {wanted}")
}

#[cfg(test)]
mod tests;
