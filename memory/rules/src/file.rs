//! The rules file of a team, `.anchord/rules.toml`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use jiff::Timestamp;
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::limits::{FILE_BYTES_MAX, RULES_MAX};
use crate::lint::{Finding, lint};
use crate::rule::Rule;

/// A fault of a rules file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {}{what}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
    /// The key or the rule's id; empty if the file as a whole is meant.
    pub key: String,
    /// The fault.
    pub what: String,
}

/// Reads a rules file: an array of tables `rule`.
///
/// All faults are returned, not only the first. A file with faults gives no rules, since one that
/// is missing would allow what it forbids.
pub fn parse_rules_file(text: &str) -> Result<Vec<Rule>, Vec<FileError>> {
    if text.len() > FILE_BYTES_MAX {
        let what = format!("the file has more than {FILE_BYTES_MAX} bytes");
        return Err(vec![error(text, &(0..0), "", what)]);
    }
    let (table, faults) = DeTable::parse_recoverable(text);
    if !faults.is_empty() {
        return Err(faults.iter().map(|fault| of_toml(text, fault, "", &(0..0))).collect());
    }
    let mut errors = Vec::new();
    let mut rules = Vec::new();
    for (key, value) in table.into_inner() {
        let span = key.span();
        match (key.get_ref().as_ref(), value.into_inner()) {
            ("rule", DeValue::Array(items)) => {
                for item in items {
                    match rule(text, item) {
                        Ok(rule) => rules.push(rule),
                        Err(fault) => errors.push(fault),
                    }
                }
            }
            ("rule", _) => {
                let what = "it must be an array of tables: [[rule]]".to_owned();
                errors.push(error(text, &span, "rule", what));
            }
            (other, _) => {
                let what = "this key is unknown; the file has [[rule]] tables only".to_owned();
                errors.push(error(text, &span, other, what));
            }
        }
    }
    let mut ids = HashSet::new();
    for (rule, span) in &rules {
        let repeated = (!ids.insert(&rule.id)).then(|| "the id is repeated".to_owned());
        // Whether a rule has expired depends on the time, which is no fault of the file.
        let faults = lint(rule, Timestamp::MIN).into_iter().filter(Finding::is_error);
        let faults = faults.map(|finding| finding.to_string());
        errors.extend(
            repeated.into_iter().chain(faults).map(|what| error(text, span, &rule.id, what)),
        );
    }
    if rules.len() > RULES_MAX {
        let what = format!("the file has more than {RULES_MAX} rules");
        errors.push(error(text, &(0..0), "rule", what));
    }
    if errors.is_empty() {
        return Ok(rules.into_iter().map(|(rule, _)| rule).collect());
    }
    errors.sort_by_key(|error| (error.line, error.column));
    Err(errors)
}

fn rule(text: &str, item: Spanned<DeValue<'_>>) -> Result<(Rule, Range<usize>), FileError> {
    let span = item.span();
    let id = match item.get_ref() {
        DeValue::Table(table) => table.get("id").and_then(|id| id.get_ref().as_str()),
        _ => None,
    };
    let key = id.unwrap_or("rule").to_owned();
    Rule::deserialize(ValueDeserializer::from(item))
        .map(|rule| (rule, span.clone()))
        .map_err(|fault| of_toml(text, &fault, &key, &span))
}

fn of_toml(text: &str, fault: &toml::de::Error, key: &str, around: &Range<usize>) -> FileError {
    let span = fault.span().unwrap_or_else(|| around.clone());
    error(text, &span, key, fault.message().to_owned())
}

fn error(text: &str, span: &Range<usize>, key: &str, what: String) -> FileError {
    let before = text.get(..span.start.min(text.len())).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    let line = before.matches('\n').count() + 1;
    FileError { line, column, key: key.to_owned(), what }
}

/// Writes rules as such a file. Reading it gives the same rules.
pub fn render_rules_file(rules: &[Rule]) -> String {
    let mut out = String::new();
    for rule in rules {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str("[[rule]]\n");
        line(&mut out, "id", &quoted(&rule.id));
        line(&mut out, "title", &quoted(&rule.title));
        if !rule.reason.is_empty() {
            line(&mut out, "reason", &quoted(&rule.reason));
        }
        line(&mut out, "effect", &quoted(rule.effect.word()));
        if let Some(expires) = rule.expires {
            line(&mut out, "expires", &quoted(&expires.to_string()));
        }
        if rule.fail_closed {
            line(&mut out, "fail_closed", "true");
        }
        if !rule.windows.is_empty() {
            let windows: Vec<String> = rule.windows.iter().map(window).collect();
            line(&mut out, "windows", &format!("[{}]", windows.join(", ")));
        }
        out.push_str("[rule.matches]\n");
        let lists = [
            ("commands", &rule.matches.commands),
            ("paths", &rule.matches.paths),
            ("writes", &rule.matches.writes),
            ("tools", &rule.matches.tools),
            ("branches", &rule.matches.branches),
            ("actions", &rule.matches.actions),
        ];
        for (key, entries) in lists.into_iter().filter(|(_, entries)| !entries.is_empty()) {
            let entries: Vec<String> = entries.iter().map(|entry| quoted(entry)).collect();
            line(&mut out, key, &format!("[{}]", entries.join(", ")));
        }
    }
    out
}

fn window(window: &crate::Window) -> String {
    let mut parts = Vec::new();
    if !window.days.is_empty() {
        let days: Vec<String> = window.days.iter().map(|day| quoted(day.word())).collect();
        parts.push(format!("days = [{}]", days.join(", ")));
    }
    let bounds = [("from", window.from), ("until", window.until)];
    for (key, bound) in bounds.into_iter().filter_map(|(key, bound)| Some((key, bound?))) {
        parts.push(format!("{key} = {}", quoted(&bound.to_string())));
    }
    parts.push(format!("tz = {}", quoted(&window.tz)));
    format!("{{ {} }}", parts.join(", "))
}

fn line(out: &mut String, key: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{key} = {value}");
}

/// Returns a TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests;
