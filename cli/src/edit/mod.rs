//! Changes of other people's files: read whole, edited in place with comments and order kept, replaced whole.

pub(crate) mod file;
mod json;
mod toml;

use serde_json::Value;

pub(crate) use json::Json;
pub(crate) use toml::Toml;

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into an object.
    Key(String),
    /// Into a list.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

/// Something stands where the edit would have to go. A lower-case fragment.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{at}` is not {wanted}")]
pub(crate) struct Clash {
    /// The place, its keys with dots between them.
    pub(crate) at: String,
    /// What it has to be.
    pub(crate) wanted: &'static str,
}

/// A configuration file being edited. What is not named stays as it is, to the byte where the format's
/// library can do it.
pub(crate) trait Document {
    /// What stands there; nothing where nothing does.
    fn get(&self, at: &[Step]) -> Option<Value>;
    /// Puts a value there, and objects on the way. The index behind the last of a list appends.
    fn set(&mut self, at: &[Step], value: &Value) -> Result<(), Clash>;
    /// Takes a value away; where there is none nothing happens.
    fn remove(&mut self, at: &[Step]);
    /// The whole file.
    fn text(&self) -> String;
}

/// How people read a place.
pub(crate) fn spoken(at: &[Step]) -> String {
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
    Clash { at: spoken(at), wanted }
}

/// The mark that some editors put first, and the rest: parsers want it away, and it has to come back.
fn without_mark(text: &str) -> (&'static str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}
