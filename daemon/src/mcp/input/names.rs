//! The names that a caller has for the fields of a call, for refusals.

use std::collections::BTreeMap;

use anchord_memory::Refusal;

use super::fields::shortened;

/// The caller's name for each field that was given; `None` if there are several.
type Names = BTreeMap<&'static str, Option<String>>;

/// The caller's names for the fields of a call.
#[derive(Debug, Default)]
pub(crate) struct CallersNames {
    /// Those of the call itself.
    outer: Names,
    /// Those of the objects in it.
    inner: Names,
}

/// The text before the refusal of the first of several items.
const FIRST_ITEM: &str = "; the first: ";

/// Advice that names the field for longer texts.
const TO_CONTENT: &str = "put the rest in content";

impl CallersNames {
    pub(super) fn add(&mut self, is_inner: bool, known: &'static str, name: &str) {
        let name = shortened(name);
        let names = if is_inner { &mut self.inner } else { &mut self.outer };
        let entry = names.entry(known).or_insert_with(|| Some(name.clone()));
        if entry.as_ref().is_some_and(|other| *other != name) {
            *entry = None;
        }
    }

    /// Words a refusal with the caller's names, if it begins with a field: `text is empty` for
    /// `content is empty`, and `blueprints[2].name` for `blueprints[2].title`.
    pub(crate) fn reword(&self, why: &str) -> String {
        if let Some((all, first)) = why.split_once(FIRST_ITEM) {
            return format!("{}{FIRST_ITEM}{}", self.reword(all), self.reword(first));
        }
        if let Some(rest) = why.strip_prefix("topic name ") {
            return format!("{} {rest}", self.topic_name());
        }
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = why.find(|c| !is_of_name(c) && !".[]".contains(c)).unwrap_or(why.len());
        let (field, rest) = why.split_at(end);
        let mut names = &self.outer;
        let mut worded = String::with_capacity(why.len());
        for part in field.split_inclusive(|c| !is_of_name(c)) {
            let name = part.trim_end_matches(|c| !is_of_name(c));
            worded.push_str(callers(names, name));
            worded.push_str(part.get(name.len()..).unwrap_or_default());
            names = if part.ends_with('.') { &self.inner } else { names };
        }
        match rest.strip_suffix(TO_CONTENT) {
            Some(rest) => worded + rest + &advice(names),
            None => worded + rest,
        }
    }

    /// Names the refused field of an object as the caller does.
    pub(crate) fn rename(&self, refusal: Refusal) -> Refusal {
        let refusal = match &refusal {
            Refusal::Invalid { advice: given, .. } if given == TO_CONTENT => {
                refusal.advising(advice(&self.outer))
            }
            _ => refusal,
        };
        match refusal.field_name().map(|name| callers(&self.outer, name).to_owned()) {
            Some(name) => refusal.with_field_name(name),
            None => refusal,
        }
    }

    /// Returns the caller's name for the name of a topic.
    fn topic_name(&self) -> String {
        match (callers(&self.outer, "name"), callers(&self.inner, "name")) {
            ("name", "name") => "topic name".to_owned(),
            ("name", inner) => format!("{}.{inner}", callers(&self.outer, "topic")),
            (outer, _) => outer.to_owned(),
        }
    }
}

fn callers<'n>(names: &'n Names, name: &'n str) -> &'n str {
    names.get(name).and_then(Option::as_deref).unwrap_or(name)
}

fn advice(names: &Names) -> String {
    format!("put the rest in {}", callers(names, "content"))
}
