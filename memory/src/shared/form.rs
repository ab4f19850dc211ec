//! A shared record as the text of a file: TOML front matter between two lines `+++`, then Markdown.
//!
//! The main text of the kind follows the front matter verbatim. Each further text is below a line
//! `<!-- anchord: name -->`. A text that a reader or git would misread is a quoted string in the
//! front matter instead. It has control characters, or a line of a git conflict.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::content::{PINNED, TAGS, body_of};
use super::toml_text;
use super::{SharedContent, toml_text::push_field};
use crate::defuse::is_hidden;
use crate::ids::{Kind, Timestamp};
use crate::record::Record;

const FENCE: &str = "+++";
const CREATED: &str = "created";
const SECTION: &str = "<!-- anchord: ";
const SECTION_END: &str = " -->";

/// The beginnings of the lines with which git marks a conflict.
const CONFLICTS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// The reason why a file is not taken in. It stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// git left both sides of a conflict in the file.
    #[error("it has git's conflict markers; resolve the conflict and save the file")]
    Markers,
    /// The file is not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// The front matter is missing or does not end.
    #[error("it does not begin with front matter between two lines `+++`")]
    NoFrontMatter,
    /// The front matter is not TOML.
    #[error("its front matter cannot be read: {0}")]
    NotToml(String),
    /// The front matter has a field that this build does not know.
    #[error(
        "it has a field `{0}` that this anchord does not know; a newer one may have written it"
    )]
    UnknownField(String),
    /// A field has a value that it cannot have.
    #[error("a field of it cannot be read: {0}")]
    BadField(String),
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileForm {
    /// The time at which the record was created; `None` if the file does not say.
    pub created: Option<Timestamp>,
    /// The times that only a file has, by the names that the kind's facts give.
    pub times: BTreeMap<String, Timestamp>,
    /// The record's content.
    pub content: SharedContent,
}

impl FileForm {
    /// Returns the form of a record.
    pub fn of(record: &Record) -> Self {
        Self {
            created: Some(record.created.time),
            times: super::topics::times(record),
            content: SharedContent::of(record),
        }
    }

    /// Returns the text of the file. It depends on nothing but the form.
    pub fn render(&self) -> String {
        let SharedContent { kind, fields, tags, pinned } = &self.content;
        let texts = kind.facts().file_texts;
        let below = |name: &str| {
            let text = fields.get(name).and_then(Value::as_str);
            text.filter(|text| texts.contains(&name) && is_plain(text))
        };
        let mut text = format!("{FENCE}\n");
        if let Some(created) = self.created {
            toml_text::push_time(&mut text, CREATED, created);
        }
        for (name, time) in &self.times {
            toml_text::push_time(&mut text, name, *time);
        }
        for (name, value) in fields.iter().filter(|(name, _)| below(name).is_none()) {
            push_field(&mut text, name, value);
        }
        if !tags.is_empty() {
            push_field(&mut text, TAGS, &tags.clone().into());
        }
        if *pinned {
            push_field(&mut text, PINNED, &true.into());
        }
        text.push_str(FENCE);
        text.push('\n');
        for (at, name) in texts.iter().enumerate() {
            let Some(below) = below(name).filter(|below| at > 0 || !below.is_empty()) else {
                continue;
            };
            if at > 0 {
                text.extend(["\n", SECTION, name, SECTION_END, "\n"]);
            }
            text.push('\n');
            for (at, line) in below.split('\n').enumerate() {
                text.push_str(if at == 0 { "" } else { "\n" });
                text.push_str(if looks_like_section(line) { "\\" } else { "" });
                text.push_str(line);
            }
            text.push('\n');
        }
        text
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Fails if the text is not a record of this kind, or has a field that this build would lose.
    pub fn parse(kind: Kind, bytes: &[u8]) -> Result<Self, FileProblem> {
        let text = std::str::from_utf8(bytes).map_err(|_| FileProblem::NotText)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = with_line_feeds(text);
        let is_marker =
            |line: &str| line.starts_with(CONFLICTS[0]) || line.starts_with(CONFLICTS[3]);
        if text.lines().any(is_marker) {
            return Err(FileProblem::Markers);
        }
        let front = text.strip_prefix(FENCE).and_then(|rest| rest.strip_prefix('\n'));
        let front = front.ok_or(FileProblem::NoFrontMatter)?;
        let (front, below) = match front.strip_prefix(FENCE) {
            Some(below) => ("", below),
            None => front.split_once("\n+++").ok_or(FileProblem::NoFrontMatter)?,
        };
        let below = match below.split_once('\n') {
            Some((rest, below)) if rest.trim().is_empty() => below,
            None if below.trim().is_empty() => "",
            _ => return Err(FileProblem::NoFrontMatter),
        };
        let mut all = toml_text::parse(front).map_err(FileProblem::NotToml)?;
        let mut time = |name: &str| match all.remove(name) {
            None => Ok(None),
            Some(time) => match time.as_i64() {
                Some(time) => Ok(Some(Timestamp(time))),
                None => Err(FileProblem::BadField(format!("`{name}` is no time"))),
            },
        };
        let created = time(CREATED)?;
        let mut times = BTreeMap::new();
        for name in kind.facts().file_times {
            times.extend(time(name)?.map(|time| ((*name).to_owned(), time)));
        }
        read_texts(kind, below, &mut all)?;
        let tags = match all.remove(TAGS) {
            None => Vec::new(),
            Some(tags) => serde_json::from_value(tags)
                .map_err(|_| FileProblem::BadField(format!("`{TAGS}` is not a list of texts")))?,
        };
        let pinned = match all.remove(PINNED) {
            None => false,
            Some(pinned) => pinned.as_bool().ok_or_else(|| {
                FileProblem::BadField(format!("`{PINNED}` is neither true nor false"))
            })?,
        };
        if let Some(name) = kind.facts().local_fields.iter().find(|name| all.contains_key(**name)) {
            return Err(FileProblem::UnknownField((*name).to_owned()));
        }
        let body = body_of(kind, all.clone()).map_err(FileProblem::BadField)?;
        let content = SharedContent::new(&body, tags, pinned);
        if let Some(name) = lost(&all, &content.fields) {
            return Err(FileProblem::UnknownField(name));
        }
        Ok(Self { created, times, content })
    }
}

/// Adds the texts below the front matter to the fields.
fn read_texts(kind: Kind, below: &str, all: &mut Map<String, Value>) -> Result<(), FileProblem> {
    let texts = kind.facts().file_texts;
    let main = texts.first().copied().unwrap_or_default();
    let mut parts: Vec<(&str, Vec<String>)> = vec![(main, Vec::new())];
    for line in below.split('\n') {
        let name = line.strip_prefix(SECTION).and_then(|rest| rest.trim_end().strip_suffix("-->"));
        if let Some(name) = name.map(str::trim) {
            let known = texts.iter().skip(1).find(|known| **known == name);
            let known = known.ok_or_else(|| FileProblem::UnknownField(name.to_owned()))?;
            parts.push((known, Vec::new()));
        } else {
            let escaped = line.strip_prefix('\\').filter(|rest| looks_like_section(rest));
            let line = escaped.unwrap_or(line).to_owned();
            parts.last_mut().expect("the main text is first").1.push(line);
        }
    }
    let last = parts.len() - 1;
    for (at, (name, lines)) in parts.into_iter().enumerate() {
        let text = lines.join("\n");
        let text = text.strip_prefix('\n').unwrap_or(&text);
        // A blank line is before each further text, and each text ends with a line feed.
        let text = if at < last { text.strip_suffix('\n').unwrap_or(text) } else { text };
        let text = text.strip_suffix('\n').unwrap_or(text);
        match all.get(name) {
            Some(_) if text.is_empty() && name == main => {}
            Some(_) => return Err(FileProblem::BadField(format!("`{name}` is there twice"))),
            None => drop(all.insert(name.to_owned(), text.into())),
        }
    }
    Ok(())
}

/// Returns whether a line is the beginning of a further text, or is one escaped.
fn looks_like_section(line: &str) -> bool {
    line.trim_start_matches('\\').starts_with(SECTION)
}

/// Returns whether a text can be below the front matter. Then readers see all of it, and git takes
/// no line for something else.
fn is_plain(text: &str) -> bool {
    let shapes = |c: char| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    let is_odd = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t') && !shapes(c);
    let is_marker = |line: &str| CONFLICTS.iter().any(|marker| line.starts_with(marker));
    !text.chars().any(is_odd) && !text.lines().any(is_marker)
}

/// Undoes the line ends that git may give a text on checkout.
fn with_line_feeds(text: &str) -> std::borrow::Cow<'_, str> {
    let feeds = text.matches('\n').count();
    if feeds > 0 && text.matches("\r\n").count() == feeds {
        return text.replace("\r\n", "\n").into();
    }
    text.into()
}

/// Returns the name of a field that was read and would not be written again.
fn lost(read: &Map<String, Value>, kept: &Map<String, Value>) -> Option<String> {
    read.iter().filter(|(_, value)| !says_nothing(value)).find_map(|(name, value)| {
        match (value, kept.get(name)) {
            (_, None) => Some(name.clone()),
            (Value::Object(read), Some(Value::Object(kept))) => lost(read, kept),
            (Value::Array(read), Some(Value::Array(kept))) => {
                read.iter().zip(kept).find_map(|pair| match pair {
                    (Value::Object(read), Value::Object(kept)) => lost(read, kept),
                    _ => None,
                })
            }
            _ => None,
        }
    })
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
