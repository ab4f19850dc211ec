//! Field names and listed values as agents spell them.

use serde_json::{Map, Value};

use crate::spelling::{folded, same_name};

/// Names that agents use for the same thing. A tool has at most one of each group.
const SYNONYMS: [&[&str]; 4] = [
    &["file", "file_path", "path"],
    &["lines", "line_range"],
    &["files", "related_files"],
    &["summary", "session_summary"],
];

/// Likeness from which a name counts as a misspelling: at most three in ten letters differ.
const LIKENESS_MIN: f64 = 0.7;

/// Characters of an unknown name that are shown.
const NAME_CHARS: usize = 60;

/// A field that the type has, with the name and the value that the caller gave.
pub(super) struct Given {
    pub(super) known: &'static str,
    pub(super) name: String,
    pub(super) value: Value,
}

/// Matches the given fields to the fields of a type. A field that is null counts as absent. The
/// second list names the unmatched fields, each with the absent field nearest to it, if one is
/// near.
pub(super) fn sort_out(
    known: &'static [&'static str],
    object: Map<String, Value>,
) -> (Vec<Given>, Vec<(String, Option<&'static str>)>) {
    let mut taken: Vec<Given> = Vec::with_capacity(object.len());
    let mut rest = Vec::new();
    for (name, value) in object.into_iter().filter(|(_, value)| !value.is_null()) {
        match known.iter().find(|known| **known == name) {
            Some(known) => taken.push(Given { known, name, value }),
            None => rest.push((name, value)),
        }
    }
    for means in [same_name, is_synonym] {
        let others = std::mem::take(&mut rest);
        for (name, value) in others {
            let is_free = |known: &&&'static str| !taken.iter().any(|given| given.known == **known);
            match known.iter().filter(is_free).find(|known| means(known, &name)) {
                Some(known) => taken.push(Given { known, name, value }),
                None => rest.push((name, value)),
            }
        }
    }
    let absent: Vec<&'static str> = known
        .iter()
        .copied()
        .filter(|known| !taken.iter().any(|given| given.known == *known))
        .collect();
    let unknown = rest.into_iter().map(|(name, _)| {
        let like = nearest(&absent, &name);
        (name, like)
    });
    (taken, unknown.collect())
}

/// Returns the listed value that a text means, or the text unchanged.
pub(super) fn variant(variants: &[&str], text: String) -> String {
    if variants.contains(&text.as_str()) {
        return text;
    }
    let meant = variants.iter().find(|variant| same_name(variant, text.trim()));
    meant.map_or(text, |variant| (*variant).to_owned())
}

/// Shortens a caller's name so that it can be shown.
pub(super) fn shortened(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}

fn is_synonym(known: &str, name: &str) -> bool {
    let has = |group: &[&str], name: &str| group.iter().any(|other| same_name(other, name));
    SYNONYMS.iter().any(|group| group.contains(&known) && has(group, name))
}

fn nearest(absent: &[&'static str], name: &str) -> Option<&'static str> {
    let name = folded(name);
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&folded(known), &name);
    let near = absent.iter().map(|known| (likeness(known), *known));
    let near = near.filter(|(likeness, _)| *likeness >= LIKENESS_MIN);
    near.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, known)| known)
}
