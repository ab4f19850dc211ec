//! Comparison of names: `filePath`, `file-path` and `file_path` are the same, and so are `tag` and
//! `tags`.
//!
//! The reader of calls and the filter of secrets, which judges a text by its field's name, both use
//! it. A field that the reader takes under another spelling is therefore judged too.

const SEPARATORS: [char; 3] = ['_', '-', ' '];

/// Yields the letters that count: in lower case, without separators and without a plural `s`.
fn letters(name: &str) -> impl Iterator<Item = char> {
    let name = name.trim_end_matches(SEPARATORS);
    let name = name.strip_suffix(['s', 'S']).unwrap_or(name);
    name.chars().filter(|c| !SEPARATORS.contains(c)).flat_map(char::to_lowercase)
}

/// Returns a name in the form in which it is compared.
pub(crate) fn folded(name: &str) -> String {
    letters(name).collect()
}

/// Whether two names are the same but for spelling.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}
