//! Imports folders of Markdown notes: those of basic-memory, a memory bank, or any other.
//!
//! A note becomes a fact whose key is its path without `.md`. Its front matter gives tags and
//! times, and its observations (`- [category] text #tag`) give tags. The files of a memory bank
//! that describe the project as a whole become blueprints that may be replaced.

use super::notes::{Meeting, plan_items};
use super::source::{ImportStep, NamedText, Parts, Source, bare};
use super::{Dated, ImportOutcome};
use crate::fold::{clip, one_line};
use crate::ids::{Kind, Timestamp};
use crate::kinds::note::{NewNote, accept_note, tag_as_kept};
use crate::limits::{KEY_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::record::{Blueprint, Category};

/// The source name under which imports of notes are remembered. It is also the client of their
/// records.
const MARKDOWN: &str = "markdown";

/// A folder of notes, or one of them.
pub(super) const SOURCE: Source = Source {
    name: MARKDOWN,
    takes: "a folder of Markdown notes, such as those of basic-memory or a memory bank",
    files: &["**/*.md"],
    recognises: |candidate| {
        let is_note = |text: &NamedText| text.name.strip_suffix(".md").is_some();
        !candidate.texts.is_empty() && candidate.texts.iter().all(is_note)
    },
    read: |texts| Ok(vec![Box::new(parse(texts))]),
    kinds: &[Kind::Blueprint, Kind::Note],
    parts: Parts::Texts,
    tables: &[],
};

/// The files of a memory bank that describe the project as a whole.
const BANK: [(&str, Category); 4] = [
    ("projectbrief", Category::Decision),
    ("productcontext", Category::Decision),
    ("systempatterns", Category::Architecture),
    ("techcontext", Category::Dependency),
];

/// The mark of a file whose key may be the path of another one: `x y (2)` for `x  y.md`.
const SECOND: &str = "2";

/// The notes of a folder.
#[derive(Clone, Debug, Default, PartialEq)]
struct Notes {
    /// Each with the name of its file.
    blueprints: Vec<(String, Dated<Blueprint>)>,
    /// Each with a mark if its key is not exactly its path. Another file may have that path.
    items: Vec<(Vec<String>, Dated<NewNote>)>,
    notes: Vec<String>,
}

fn parse(texts: &[NamedText]) -> Notes {
    let mut parsed = Notes::default();
    for text in texts {
        let note = MarkdownNote::of(text);
        let stem = without_ending(text.name.rsplit('/').next().unwrap_or(&text.name));
        let bank = BANK.iter().find(|(name, _)| stem.eq_ignore_ascii_case(name));
        if note.body.trim().is_empty() {
            parsed.notes.push(format!("{} is empty; left out", text.name));
        } else if let Some((_, category)) = bank {
            let title = note.title.clone().unwrap_or_else(|| stem.to_owned());
            let item = Blueprint::new(*category, title, note.body.to_owned());
            let item = Blueprint { immutable: false, ..item };
            parsed.blueprints.push((text.name.clone(), Dated { time: None, item }));
        } else {
            match note.item(&text.name, &mut parsed.notes) {
                Ok(item) => {
                    let is_path = item.item.key.as_deref() == Some(without_ending(&text.name));
                    let marks = if is_path { Vec::new() } else { vec![SECOND.to_owned()] };
                    parsed.items.push((marks, item));
                }
                Err(why) => parsed.notes.push(format!("{}: {why}; left out", text.name)),
            }
        }
    }
    parsed
}

impl ImportStep for Notes {
    fn found(&self) -> PerKind<usize> {
        PerKind { blueprints: self.blueprints.len(), notes: self.items.len(), ..PerKind::default() }
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        let read = (self.found(), self.notes.as_slice());
        plan_items(memory, (MARKDOWN, digest), read, by, |import| {
            let named = self.blueprints.iter().map(|(file, it)| (it, vec![file.clone()]));
            import.put_blueprints(named);
            let items = self.items.iter().map(|(marks, it)| (it, marks.clone()));
            import.put_notes(items, Meeting::Replace);
        })
    }
}

/// A note: its front matter, and the text after it.
struct MarkdownNote<'a> {
    title: Option<String>,
    tags: Vec<String>,
    time: Option<Timestamp>,
    body: &'a str,
}

impl<'a> MarkdownNote<'a> {
    fn of(text: &'a NamedText) -> Self {
        let whole = bare(&text.text);
        let (head, body) = split_front_matter(whole);
        let mut note = Self { title: None, tags: Vec::new(), time: None, body: body.trim() };
        let mut list = false;
        for line in head.lines() {
            if let Some(item) = line.trim_start().strip_prefix("- ").filter(|_| list) {
                note.tags.push(unquoted(item));
                continue;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            list = name.trim() == "tags" && value.is_empty();
            match name.trim() {
                "title" if !value.is_empty() => note.title = Some(one_line(&unquoted(value))),
                "type" if !value.is_empty() && value != "note" => note.tags.push(unquoted(value)),
                "tags" => {
                    let value = value.trim_start_matches('[').trim_end_matches(']');
                    let tags = value.split(',').map(unquoted).filter(|tag| !tag.is_empty());
                    note.tags.extend(tags);
                }
                "created" | "date" if note.time.is_none() => note.time = moment(value),
                "modified" | "updated" => note.time = moment(value).or(note.time),
                _ => {}
            }
        }
        let heading = || note.body.lines().find_map(|line| line.strip_prefix("# "));
        note.title = note.title.take().or_else(|| heading().map(one_line));
        note.tags.extend(note.body.lines().flat_map(observed_tags));
        note
    }

    fn item(&self, name: &str, notes: &mut Vec<String>) -> Result<Dated<NewNote>, String> {
        let mut tags: Vec<String> = Vec::new();
        for tag in self.tags.iter().map(|tag| clip(&tag_as_kept(tag), TAG_CHARS_MAX)) {
            if !tag.is_empty() && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        if tags.len() > TAGS_MAX {
            notes.push(format!("{name}: the first {TAGS_MAX} of {} tags are kept", tags.len()));
            tags.truncate(TAGS_MAX);
        }
        let has_heading = self.body.lines().any(|line| line.starts_with("# "));
        let content = match &self.title {
            Some(title) if !has_heading => format!("# {title}\n\n{}", self.body),
            _ => self.body.to_owned(),
        };
        let key = one_line(without_ending(name));
        let key = Some(key).filter(|key| key.chars().count() <= KEY_CHARS_MAX);
        let note = NewNote { content, key, tags, ..NewNote::default() };
        let item = accept_note(note).map_err(|refusal| refusal.to_string())?;
        Ok(Dated { time: self.time, item })
    }
}

/// Removes the ending of a file's name, once: `a.md.md` is another file than `a.md`.
fn without_ending(name: &str) -> &str {
    name.strip_suffix(".md").unwrap_or(name)
}

/// Divides a text into its front matter, without the lines around it, and the rest. Text between
/// two rules that is no front matter stays.
fn split_front_matter(text: &str) -> (&str, &str) {
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return ("", text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (head, rest) = rest.split_at(at);
            return (head, rest.get(line.len()..).unwrap_or_default());
        }
        if !is_front_matter(line.trim_end(), at == 0) {
            break;
        }
        at += line.len();
    }
    ("", text)
}

/// Returns whether a line may be one of front matter: `name: value`, or what continues a value.
fn is_front_matter(line: &str, is_first: bool) -> bool {
    const CONTINUED: [char; 4] = [' ', '\t', '-', '#'];
    if line.starts_with(CONTINUED) {
        return !is_first;
    }
    let is_field = |(name, value): (&str, &str)| {
        !name.is_empty() && (value.is_empty() || value.starts_with([' ', '\t']))
    };
    line.split_once(':').is_some_and(is_field)
}

fn unquoted(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).trim_start_matches('#').to_owned()
}

/// Reads a time or a day.
fn moment(value: &str) -> Option<Timestamp> {
    let value = unquoted(value);
    Timestamp::parse(&value).or_else(|| Timestamp::parse(&format!("{value}T00:00:00Z")))
}

/// Returns the category and the tags of a line, if it is an observation.
fn observed_tags(line: &str) -> Vec<String> {
    let item = line.trim_start().strip_prefix("- [");
    let Some((category, text)) = item.and_then(|item| item.split_once("] ")) else {
        return Vec::new();
    };
    // A box of a list of tasks is not a category.
    if category.trim().is_empty() || category.eq_ignore_ascii_case("x") {
        return Vec::new();
    }
    let words = text.split_whitespace().filter_map(|word| word.strip_prefix('#'));
    let tags = words.filter(|tag| !tag.is_empty() && !tag.starts_with('#'));
    std::iter::once(category).chain(tags).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
