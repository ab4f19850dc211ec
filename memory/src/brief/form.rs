//! Reads what the form of a free text says: headings and labels that name a topic's fields.
//!
//! The text under a heading goes to the next heading of its level or a higher one. A label's text
//! goes to the next blank line. What a topic would refuse is left to the rest.

use crate::intake::WriteLimits;
use crate::kinds::StagedItem;
use crate::kinds::topic::{HistoryLine, TopicDecision, TopicPart};
use crate::limits::{LABEL_CHARS_MAX, TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX, TOPIC_HISTORY_MAX};

/// The meaning of a text's form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    /// The fields that it names.
    pub(super) part: TopicPart,
    /// Their names, in the order of the fields.
    pub(super) fields: Vec<&'static str>,
    /// Whether the text has more words than that.
    pub(super) has_more: bool,
    /// The lines that it leaves.
    pub(super) rest: String,
    /// Whether the first line with words belongs to a field.
    pub(super) has_first: bool,
}

/// A field that a heading or a label can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Overview,
    Architecture,
    Task,
    Decisions,
    Questions,
    Files,
    Done,
}

impl Field {
    /// The fields by their names in a text, in lower case.
    const NAMES: [(&'static str, Self); 22] = [
        ("overview", Self::Overview),
        ("project overview", Self::Overview),
        ("architecture", Self::Architecture),
        ("system architecture", Self::Architecture),
        ("task", Self::Task),
        ("current task", Self::Task),
        ("status", Self::Task),
        ("current status", Self::Task),
        ("decisions", Self::Decisions),
        ("decision", Self::Decisions),
        ("key decisions", Self::Decisions),
        ("active decisions", Self::Decisions),
        ("pending decisions", Self::Decisions),
        ("questions", Self::Questions),
        ("open questions", Self::Questions),
        ("files", Self::Files),
        ("active files", Self::Files),
        ("done", Self::Done),
        ("completed", Self::Done),
        ("changes", Self::Done),
        ("recent changes", Self::Done),
        ("what was done", Self::Done),
    ];

    fn named(name: &str) -> Option<Self> {
        let name = name.trim().trim_matches(['*', '_']).trim().trim_end_matches(':').trim_end();
        let name = name.trim_matches(['*', '_']).to_lowercase();
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
    }

    /// Returns the name in a reply.
    fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Architecture => "architecture",
            Self::Task => "task",
            Self::Decisions | Self::Questions => "decisions",
            Self::Files => "files",
            Self::Done => "done",
        }
    }
}

/// A part of a text under one name.
struct Section<'t> {
    field: Field,
    /// The level of its heading; `None` if it has a label.
    level: Option<usize>,
    lines: Vec<&'t str>,
}

/// Reads a text.
pub(super) fn parse(text: &str) -> Form {
    let (sections, mut rest) = sections(text);
    let mut form = Form::default();
    for section in &sections {
        let taken = form.take(section);
        rest.extend(taken.left);
        if taken.any && !form.fields.contains(&section.field.name()) {
            form.fields.push(section.field.name());
        }
    }
    let has_words = |line: &&str| line.chars().any(char::is_alphanumeric);
    form.has_more = rest.iter().any(has_words);
    let first = text.lines().find(has_words);
    form.has_first = first.is_some_and(|first| !rest.iter().any(|line| std::ptr::eq(*line, first)));
    form.rest = rest.join("\n");
    form
}

/// Splits a text into the sections that name a field, and the lines outside of them.
fn sections(text: &str) -> (Vec<Section<'_>>, Vec<&str>) {
    let (mut sections, mut rest) = (Vec::<Section<'_>>::new(), Vec::new());
    let (mut is_open, mut is_code) = (false, false);
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        let mark = if is_code || is_fence { None } else { mark(line) };
        let level = sections.last().filter(|_| is_open).and_then(|open| open.level);
        match mark {
            Some(Mark::Heading(depth, None)) if level.is_none_or(|level| depth <= level) => {
                is_open = false;
                rest.push(line);
                continue;
            }
            Some(Mark::Heading(depth, Some(field))) => {
                sections.push(Section { field, level: Some(depth), lines: Vec::new() });
                is_open = true;
                continue;
            }
            Some(Mark::Label(field, value)) => {
                let lines = Some(value).filter(|value| !value.is_empty()).into_iter().collect();
                sections.push(Section { field, level: None, lines });
                is_open = true;
                continue;
            }
            Some(Mark::Heading(_, None)) | None => {}
        }
        match sections.last_mut().filter(|_| is_open) {
            Some(open) if open.level.is_none() && line.trim().is_empty() && !is_code => {
                is_open = open.lines.is_empty();
            }
            Some(open) => open.lines.push(line),
            None => rest.push(line),
        }
    }
    (sections, rest)
}

/// The meaning of a line's form.
enum Mark<'t> {
    /// A heading, its level, and the field that it names.
    Heading(usize, Option<Field>),
    /// A label, and the text after it.
    Label(Field, &'t str),
}

/// Returns whether a line names a field and says nothing else.
pub(super) fn only_names_field(line: &str) -> bool {
    matches!(mark(line), Some(Mark::Heading(_, Some(_)) | Mark::Label(_, "")))
}

/// The level of a heading that is only printed bold.
const BOLD_LEVEL: usize = 7;

fn mark(line: &str) -> Option<Mark<'_>> {
    let text = line.trim();
    let hashes = text.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&hashes)
        && let Some(name) = text.get(hashes..).filter(|name| name.starts_with(char::is_whitespace))
    {
        return Some(Mark::Heading(hashes, Field::named(name.trim_end_matches('#'))));
    }
    let is_bold = text.len() > 4 && text.starts_with("**") && text.ends_with("**");
    if is_bold && !text.trim_matches('*').contains("**") {
        return Some(Mark::Heading(BOLD_LEVEL, Field::named(text)));
    }
    let (name, value) = bare(text).split_once(':')?;
    if name.chars().count() > LABEL_CHARS_MAX {
        return None;
    }
    // `**Task:** the eviction` has its second pair of stars after the colon.
    let value = value.trim_start();
    let value = if name.starts_with("**") { value.trim_start_matches("**") } else { value };
    Field::named(name).map(|field| Mark::Label(field, value.trim()))
}

/// Returns a line without the mark of a list.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let item = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = line.get(digits..).filter(|_| digits > 0)?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    };
    item.or_else(numbered).unwrap_or(line).trim()
}

/// The outcome of reading a section.
struct Taken<'t> {
    any: bool,
    left: Vec<&'t str>,
}

impl Form {
    fn take<'t>(&mut self, section: &Section<'t>) -> Taken<'t> {
        match section.field {
            Field::Overview => self.text(section, |part| &mut part.overview),
            Field::Architecture => self.text(section, |part| &mut part.architecture),
            Field::Task => self.text(section, |part| &mut part.status),
            Field::Decisions => self.items(section, |part, item| {
                part.decisions.push(decision(item));
                true
            }),
            Field::Questions => self.items(section, |part, item| {
                part.decisions.push(question(item));
                true
            }),
            Field::Files => self.items(section, |part, item| {
                let files: Vec<String> = item.split(',').filter_map(file).collect();
                let is_whole = files.len() == item.split(',').count();
                part.files.extend(files);
                is_whole
            }),
            Field::Done => self.items(section, |part, item| {
                part.history.push(line(item));
                true
            }),
        }
    }

    fn text<'t>(
        &mut self,
        section: &Section<'t>,
        field: impl Fn(&mut TopicPart) -> &mut Option<String>,
    ) -> Taken<'t> {
        let text = section.lines.join("\n").trim().to_owned();
        if text.is_empty() {
            return Taken { any: false, left: Vec::new() };
        }
        // The same field again continues it.
        let whole = match field(&mut self.part) {
            Some(known) => format!("{known}\n{text}"),
            None => text,
        };
        let mut one = TopicPart::default();
        *field(&mut one) = Some(whole.clone());
        if !fits(&one) {
            return Taken { any: false, left: section.lines.clone() };
        }
        *field(&mut self.part) = Some(whole);
        Taken { any: true, left: Vec::new() }
    }

    /// Takes each item of a list that the topic takes. `add` returns whether it took all of it.
    fn items<'t>(
        &mut self,
        section: &Section<'t>,
        add: impl Fn(&mut TopicPart, &str) -> bool,
    ) -> Taken<'t> {
        let mut taken = Taken { any: false, left: Vec::new() };
        for line in section.lines.iter().filter(|line| !bare(line).is_empty()) {
            let mut one = TopicPart::default();
            if add(&mut one, bare(line)) && fits(&one) && self.has_room(&one) {
                self.part.decisions.append(&mut one.decisions);
                self.part.history.append(&mut one.history);
                self.part.files.append(&mut one.files);
                taken.any = true;
            } else {
                taken.left.push(line);
            }
        }
        taken
    }

    /// Returns whether a topic keeps this, too. One line of history is the text's own.
    fn has_room(&self, one: &TopicPart) -> bool {
        let part = &self.part;
        part.decisions.len() + one.decisions.len() <= TOPIC_DECISIONS_MAX
            && part.history.len() + one.history.len() < TOPIC_HISTORY_MAX
            && part.files.len() + one.files.len() <= TOPIC_FILES_MAX
    }
}

/// Returns whether a topic can take this part.
fn fits(part: &TopicPart) -> bool {
    TopicPart::accept(vec![part.clone()], &WriteLimits::default()).is_ok()
}

/// Reads `LRU or LFU? LRU`, `LRU or LFU? -> LRU`, `Which port?`, or a statement.
fn decision(item: &str) -> TopicDecision {
    let (is_pending, item) = match item.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some(("pending", rest)) => (true, rest.trim()),
        Some(("decided", rest)) => (false, rest.trim()),
        _ => (false, item),
    };
    if is_pending {
        return question(item);
    }
    let arrow = ["->", "→", "=>"].iter().find_map(|arrow| item.split_once(arrow));
    let asked = || {
        let end = item.find(['?', '？']).map(|at| at + item.get(at..).map_or(0, first_bytes))?;
        item.split_at_checked(end)
    };
    let Some((asked, answer)) = arrow.or_else(asked) else { return TopicDecision::statement(item) };
    let answer = answer.trim_start_matches([':', '-', '–', '—', ' ']).trim();
    TopicDecision {
        decided: Some(answer.to_owned()).filter(|answer| !answer.is_empty()),
        ..question(asked)
    }
}

fn first_bytes(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

fn question(item: &str) -> TopicDecision {
    TopicDecision { decided: None, ..TopicDecision::statement(item.trim()) }
}

/// Reads a path: the part in backticks, or the first word if it looks like a path.
fn file(item: &str) -> Option<String> {
    let quoted = item.split('`').nth(1).filter(|quoted| !quoted.trim().is_empty());
    let word = || item.split_whitespace().next();
    let path = quoted.or_else(word)?.trim().trim_end_matches([':', ';']);
    let looks_right = path.contains(['/', '.', '\\']) && !path.contains("://");
    (looks_right && path.chars().any(char::is_alphanumeric)).then(|| path.to_owned())
}

/// Reads `wrote the eviction (src/evict.rs, src/lib.rs)`.
fn line(item: &str) -> HistoryLine {
    let named = item.strip_suffix(')').and_then(|item| item.rsplit_once('('));
    let files = named.and_then(|(text, files)| {
        let is_path = |file: &str| !file.trim().contains(char::is_whitespace);
        let files: Option<Vec<String>> =
            files.split(',').map(|it| file(it).filter(|_| is_path(it))).collect();
        Some((text, files?))
    });
    match files {
        Some((text, files)) if !text.trim().is_empty() => {
            HistoryLine { files, ..HistoryLine::written(text.trim().to_owned()) }
        }
        _ => HistoryLine::written(item.to_owned()),
    }
}
