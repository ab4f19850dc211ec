//! The filter in front of every entry and log, which all outside input passes first. It removes
//! secrets and the text that anchord itself put into a conversation: nothing is stored because it
//! was shown.
//!
//! Tools get their arguments after it, so nothing behind it (entries, replies, logs) can hold what
//! it removed. The same text always loses the same parts, so a repeated line gets the same reply.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::slice::from_ref;

use anchord_memory::injected;
use anchord_memory::secrets::{Scrubbed, SecretKind, scrub, scrub_named};
use serde_json::{Map, Value};

use crate::spelling::may_mean;

/// The parts that were removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    secrets: BTreeMap<SecretKind, u32>,
    /// The number of texts that held injected text.
    injected: u32,
    /// The number of those that held nothing else.
    emptied: u32,
}

impl Removed {
    /// Returns whether no secret was removed.
    pub(crate) fn no_secrets(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Returns whether text was removed that anchord had injected.
    pub(crate) fn had_injected(&self) -> bool {
        self.injected > 0
    }

    /// Returns whether a text consisted only of injected text.
    pub(crate) fn emptied(&self) -> bool {
        self.emptied > 0
    }

    /// Lists the kinds of secrets, as in `GitHub token, password (2 times)`.
    pub(crate) fn kinds(&self) -> String {
        let kinds: Vec<String> = self
            .secrets
            .iter()
            .map(|(kind, count)| match count {
                1 => kind.to_string(),
                count => format!("{kind} ({count} times)"),
            })
            .collect();
        kinds.join(", ")
    }

    fn note<'a>(&mut self, scrubbed: Scrubbed<'a>) -> Cow<'a, str> {
        for kind in scrubbed.removed {
            *self.secrets.entry(kind).or_default() += 1;
        }
        scrubbed.text
    }
}

/// Returns a text without its secrets. For texts whose author gets no reply about it: names, ids,
/// log lines.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    scrub(text).text
}

/// Returns a text of a conversation as it may be stored: without secrets, and without what anchord
/// had injected.
pub(crate) fn keepable(text: &str) -> String {
    let mut text = text.to_owned();
    replace(&mut text, scrub, &mut Removed::default());
    text
}

/// Applies [`clean`] to a line of a log. A line that is not UTF-8 stays as it is.
pub(crate) fn clean_line(line: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(line).map(clean) {
        Ok(Cow::Owned(cleaned)) => Cow::Owned(cleaned.into_bytes()),
        _ => Cow::Borrowed(line),
    }
}

/// Removes injected text and secrets from a text.
pub(crate) fn clean_text(text: &mut String, removed: &mut Removed) {
    replace(text, scrub, removed);
}

/// Removes injected text and secrets from every text in a JSON value. Removes secrets from the
/// names of fields as well.
pub(crate) fn clean_json(value: &mut Value, removed: &mut Removed) {
    match value {
        Value::String(text) => replace(text, scrub, removed),
        Value::Array(items) => items.iter_mut().for_each(|item| clean_json(item, removed)),
        Value::Object(fields) => clean_fields(fields, removed),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Removes injected text and secrets from every text of an object. A text is also judged by its
/// field's name, and by the key or title next to it. A fact with the key `api_token`, for example,
/// is a bare value.
pub(crate) fn clean_fields(fields: &mut Map<String, Value>, removed: &mut Removed) {
    // Only the tool knows which of these fields it has, so all are tried.
    let means_any = |fields: &[&str], name: &str| fields.iter().any(|known| may_mean(known, name));
    let names: Vec<String> = fields
        .iter()
        .filter(|(name, _)| means_any(&["key", "title", "summary"], name))
        .filter_map(|(_, value)| value.as_str().map(str::to_owned))
        .collect();
    let is_text_of_its_own =
        |name: &str| means_any(&["content", "detail", "cause", "fix", "reason"], name);
    for (name, value) in fields.iter_mut() {
        match value {
            Value::String(text) => {
                let of = if is_text_of_its_own(name) { &names[..] } else { from_ref(name) };
                replace(text, |text| scrub_named_any(of, text), removed);
            }
            value => clean_json(value, removed),
        }
    }
    if fields.keys().any(|name| matches!(clean(name), Cow::Owned(_))) {
        *fields = std::mem::take(fields)
            .into_iter()
            .map(|(name, value)| (removed.note(scrub(&name)).into_owned(), value))
            .collect();
    }
}

/// Judges a text by the first of these names that makes it a secret.
fn scrub_named_any<'a>(names: &[String], text: &'a str) -> Scrubbed<'a> {
    let mut judged = names.iter().map(|name| scrub_named(name, text));
    let found = judged.find(|scrubbed| !scrubbed.removed.is_empty());
    found.unwrap_or_else(|| scrub(text))
}

fn replace(text: &mut String, scrub: impl Fn(&str) -> Scrubbed<'_>, removed: &mut Removed) {
    if let Cow::Owned(own) = injected::strip(text) {
        removed.injected += 1;
        removed.emptied += u32::from(own.trim().is_empty());
        *text = own;
    }
    if let Cow::Owned(cleaned) = removed.note(scrub(text)) {
        *text = cleaned;
    }
}

#[cfg(test)]
mod tests;
