//! The names that a caller has for the fields of a call, for refusals.

use std::collections::BTreeMap;

use super::fields::shortened;

/// The caller's name for each field that was given; `None` if there are several.
#[derive(Debug, Default)]
pub(crate) struct CallersNames(BTreeMap<&'static str, Option<String>>);

impl CallersNames {
    pub(super) fn add(&mut self, known: &'static str, name: &str) {
        let name = shortened(name);
        let entry = self.0.entry(known).or_insert_with(|| Some(name.clone()));
        if entry.as_ref().is_some_and(|other| *other != name) {
            *entry = None;
        }
    }

    /// Words a refusal with the caller's names, if it begins with a field: `text is empty` for
    /// `content is empty`, and `blueprints[2].name` for `blueprints[2].title`.
    pub(crate) fn reword(&self, why: &str) -> String {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = why.find(|c| !is_of_name(c) && !".[]".contains(c)).unwrap_or(why.len());
        let (field, rest) = why.split_at(end);
        let parts = field.split_inclusive(|c| !is_of_name(c)).map(|part| {
            let name = part.trim_end_matches(|c| !is_of_name(c));
            let callers = self.0.get(name).and_then(Option::as_deref).unwrap_or(name);
            format!("{callers}{}", part.get(name.len()..).unwrap_or_default())
        });
        parts.chain([rest.to_owned()]).collect()
    }
}
