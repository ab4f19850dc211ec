//! TOML, edited in place.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use super::{Clash, Document, Step, clash, without_mark};

/// A TOML file.
pub(crate) struct Toml {
    document: DocumentMut,
    mark: &'static str,
    /// Whether all lines end as on Windows. The library ends new lines with a line feed only.
    crlf: bool,
    /// Whether the last line has no line break. The library adds one.
    open: bool,
}

impl Toml {
    /// Parses a file's text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (mark, text) = without_mark(text);
        let crlf = text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
        let document = text.parse().map_err(|error| reason(text, &error))?;
        let open = !text.is_empty() && !text.ends_with('\n');
        Ok(Self { document, mark, crlf, open })
    }
}

impl Document for Toml {
    fn get(&self, at: &[Step]) -> Option<Value> {
        let item = at.iter().try_fold(self.document.as_item(), |item, step| match step {
            Step::Key(key) => item.as_table_like()?.get(key),
            Step::Index(_) => None,
        });
        value(item?)
    }

    fn set(&mut self, at: &[Step], value: &Value) -> Result<(), Clash> {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        let mut steps = at.iter().enumerate().peekable();
        while let Some((depth, step)) = steps.next() {
            let here = at.get(..=depth).unwrap_or(at);
            let Step::Key(key) = step else { return Err(clash(here, "a list anchord edits")) };
            if steps.peek().is_none() {
                put(table, key, value);
                return Ok(());
            }
            if !table.contains_key(key) {
                table.insert(key, Item::Table(hidden()));
            }
            table = table
                .get_mut(key)
                .and_then(Item::as_table_like_mut)
                .ok_or_else(|| clash(here, "a table"))?;
        }
        Err(clash(at, "a place"))
    }

    fn remove(&mut self, at: &[Step]) {
        let Some((Step::Key(last), way)) = at.split_last() else { return };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for step in way {
            let Step::Key(key) = step else { return };
            match table.get_mut(key).and_then(Item::as_table_like_mut) {
                Some(inner) => table = inner,
                None => return,
            }
        }
        table.remove(last);
    }

    fn text(&self) -> String {
        let mut text = self.document.to_string();
        if self.open && text.ends_with('\n') {
            text.pop();
        }
        let text = if self.crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text };
        format!("{}{text}", self.mark)
    }
}

/// Creates a table whose header is left out as long as it contains only tables.
fn hidden() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

fn put(table: &mut dyn TableLike, key: &str, value: &Value) {
    if let Value::Object(pairs) = value {
        if !table.contains_key(key) {
            table.insert(key, Item::Table(hidden()));
        }
        if let Some(inner) = table.get_mut(key).and_then(Item::as_table_like_mut) {
            // The order is backwards, so that `command` precedes `args`.
            for (key, value) in pairs.iter().rev() {
                put(inner, key, value);
            }
        }
        return;
    }
    let fresh = scalar(value);
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(known) => {
            // Text around the old value, such as a comment after it, stays.
            let decor = known.decor().clone();
            *known = fresh;
            *known.decor_mut() = decor;
        }
        None => drop(table.insert(key, Item::Value(fresh))),
    }
}

/// Words a parser's error on one line. Its own form shows the file's line beneath.
fn reason(text: &str, error: &toml_edit::TomlError) -> String {
    let words = error.message().lines().collect::<Vec<_>>().join(", ");
    let before = error.span().and_then(|at| text.get(..at.start));
    let line = before.map(|before| before.matches('\n').count() + 1);
    line.map_or(words.clone(), |line| format!("{words} on line {line}"))
}

fn scalar(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(scalar).collect::<Array>().into(),
        // No value written here has one of these inside a list.
        Value::Null | Value::Object(_) => "".into(),
    }
}

fn value(item: &Item) -> Option<Value> {
    if let Some(table) = item.as_table_like() {
        let pairs = table.iter().filter_map(|(key, item)| Some((key.to_owned(), value(item)?)));
        return Some(Value::Object(pairs.collect()));
    }
    inner(item.as_value()?)
}

fn inner(found: &toml_edit::Value) -> Option<Value> {
    match found {
        toml_edit::Value::String(text) => Some(text.value().as_str().into()),
        toml_edit::Value::Integer(number) => Some((*number.value()).into()),
        toml_edit::Value::Boolean(truth) => Some((*truth.value()).into()),
        toml_edit::Value::Array(items) => Some(items.iter().filter_map(inner).collect()),
        toml_edit::Value::InlineTable(table) => {
            let pairs = table.iter().filter_map(|(key, v)| Some((key.to_owned(), inner(v)?)));
            Some(Value::Object(pairs.collect()))
        }
        // No caller needs times and fractions.
        toml_edit::Value::Float(_) | toml_edit::Value::Datetime(_) => None,
    }
}

#[cfg(test)]
mod tests;
