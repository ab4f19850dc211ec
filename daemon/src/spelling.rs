//! Comparison of names: `filePath`, `file-path` and `file_path` are the same, and so are `tag` and
//! `tags`.
//!
//! The reader of calls and the filter of secrets, which judges a text by its field's name, both use
//! it. A field that the reader takes under another spelling is therefore judged too.

use serde_json::{Map, Value};

/// Names that agents use for the same thing. A tool has at most one of each group.
const SYNONYMS: [&[&str]; 7] = [
    &["file", "file_path", "path"],
    &["lines", "line_range"],
    &["files", "related_files"],
    &["summary", "session_summary"],
    &["query", "q", "text"],
    &["decision", "answer", "decided", "resolution"],
    &["detail", "description", "explanation"],
];

/// The ways in which a given name can mean a known field. The earlier way wins.
pub(crate) const MEANS: [fn(&str, &str) -> bool; 3] = [is_exact, same_name, is_synonym];

/// Likeness from which a name counts as a misspelling: at most three in ten letters differ.
const LIKENESS_MIN: f64 = 0.7;

const SEPARATORS: [char; 3] = ['_', '-', ' '];

/// Yields the significant letters: in lower case, without separators and without a plural `s`.
fn letters(name: &str) -> impl Iterator<Item = char> {
    let name = name.trim_end_matches(SEPARATORS);
    let name = name.strip_suffix(['s', 'S']).unwrap_or(name);
    name.chars().filter(|c| !SEPARATORS.contains(c)).flat_map(char::to_lowercase)
}

/// Returns a name in the form in which it is compared.
pub(crate) fn folded(name: &str) -> String {
    letters(name).collect()
}

/// Returns whether two names differ only in spelling.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

/// Returns the known name that a name is probably a misspelling of, if there is one.
pub(crate) fn nearest<'k>(known: &[&'k str], name: &str) -> Option<&'k str> {
    let name = folded(name);
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&folded(known), &name);
    let near = known.iter().map(|known| (likeness(known), *known));
    let near = near.filter(|(likeness, _)| *likeness >= LIKENESS_MIN);
    near.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, known)| known)
}

/// Returns the value that the reader takes for a field, if the type of `object` has that field. A
/// null counts as absent.
pub(crate) fn taken<'a>(object: &'a Map<String, Value>, known: &str) -> Option<&'a Value> {
    MEANS.iter().find_map(|means| {
        let mut given = object.iter().filter(|(_, value)| !value.is_null());
        given.find(|(name, _)| means(known, name)).map(|(_, value)| value)
    })
}

fn is_exact(known: &str, name: &str) -> bool {
    known == name
}

fn is_synonym(known: &str, name: &str) -> bool {
    let has = |group: &[&str], name: &str| group.iter().any(|other| same_name(other, name));
    SYNONYMS.iter().any(|group| group.contains(&known) && has(group, name))
}
