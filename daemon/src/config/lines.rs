//! Finds the line of a setting in the file, and the table that a key belongs to.

use toml::de::{DeTable, DeValue};

use super::{ConfigFile, unknown_key};
use crate::spelling;

/// Returns the line of a key, counted from 1. `path` has its tables, with dots between them. For a
/// key that is missing, this is the line of its table; `None` if that is missing, too.
pub(super) fn line(text: &str, path: &str) -> Option<usize> {
    let file = DeTable::parse(text).ok()?;
    let (mut table, mut path) = (file.get_ref(), path);
    let mut found = None;
    loop {
        let beneath = |name: &str| {
            let rest = path.strip_prefix(name)?;
            if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
        };
        let next =
            table.iter().find_map(|(key, value)| Some((key, value, beneath(key.get_ref())?)));
        let Some((key, value, rest)) = next else { return found };
        found = Some(super::line_of(text, key.span().start) + 1);
        match value.get_ref() {
            DeValue::Table(inner) if !rest.is_empty() => (table, path) = (inner, rest),
            _ => return found,
        }
    }
}

/// Returns the tables that have a key of this name, as `[memory]`.
pub(super) fn tables_with(key: &str) -> Vec<String> {
    headers().filter(|header| keys(header).iter().any(|known| known == key)).collect()
}

/// Returns the key of any table that a key is probably a misspelling of.
pub(super) fn nearest_anywhere(key: &str) -> Option<String> {
    let known: Vec<String> = headers().flat_map(|header| keys(&header)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    spelling::nearest(&known, key).map(str::to_owned)
}

/// Yields the lines that begin a table.
fn headers() -> impl Iterator<Item = String> {
    let tables = keys("").into_iter().chain(["merge.provider.NAME".to_owned()]);
    tables.map(|table| format!("[{table}]"))
}

/// Returns the keys that may be in a table. serde alone knows them. Its error about a key that
/// nobody can mean lists them.
fn keys(header: &str) -> Vec<String> {
    let error = toml::from_str::<ConfigFile>(&format!("{header}\n\"?\" = 0\n")).err();
    let known = error.and_then(|error| unknown_key(error.message()));
    known.map(|(_, known)| known).unwrap_or_default()
}
