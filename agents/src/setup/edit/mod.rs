//! Edits of other programs' files, in place, with comments and order kept.

mod json;
mod toml;
mod yaml;

use serde_json::Value;

pub(crate) use json::Json;
pub(crate) use toml::Toml;
pub(crate) use yaml::Yaml;

/// A step on the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A key of an object.
    Key(String),
    /// An index of a list.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

/// A value that is in the way of an edit. Displays as a lower-case fragment.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{at}` is not {wanted}")]
pub struct Clash {
    /// The place, with dots between its keys.
    pub at: String,
    /// The required kind of value.
    pub wanted: &'static str,
}

/// A configuration file that is being edited. Values that an edit does not name stay as they are,
/// to the byte if the format's library can do so.
pub(crate) trait Document {
    /// Returns the value at a place, if any.
    fn get(&self, at: &[Step]) -> Option<Value>;
    /// Sets a value, and creates objects on the way. The index after the last of a list appends.
    fn set(&mut self, at: &[Step], value: &Value) -> Result<(), Clash>;
    /// Removes a value, if there is one.
    fn remove(&mut self, at: &[Step]);
    /// Returns the text of the whole file.
    fn text(&self) -> String;
}

/// Formats a place for people.
pub(crate) fn dotted(at: &[Step]) -> String {
    let mut text = String::new();
    for step in at {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            Step::Index(index) => {
                text.push('[');
                text.push_str(&index.to_string());
                text.push(']');
            }
        }
    }
    text
}

fn clash(at: &[Step], wanted: &'static str) -> Clash {
    Clash { at: dotted(at), wanted }
}

/// Splits off the byte order mark that some editors write. Parsers reject it, and it has to be
/// restored.
fn without_mark(text: &str) -> (&'static str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}
