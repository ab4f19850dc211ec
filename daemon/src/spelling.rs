//! Names as they are compared: `filePath`, `file-path` and `file_path` are one, so are `tag` and
//! `tags`.
//!
//! Whatever takes a field under another spelling and whatever judges a text by its field's name use
//! this, so that no spelling gets past the filter of secrets.

const SEPARATORS: [char; 3] = ['_', '-', ' '];

/// The letters of a name that count: lower case, without separators and the `s` of a plural.
fn letters(name: &str) -> impl Iterator<Item = char> {
    let name = name.trim_end_matches(SEPARATORS);
    let name = name.strip_suffix(['s', 'S']).unwrap_or(name);
    name.chars().filter(|c| !SEPARATORS.contains(c)).flat_map(char::to_lowercase)
}

/// A name in the form in which it is compared.
pub(crate) fn folded(name: &str) -> String {
    letters(name).collect()
}

/// Whether two names are one.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}
