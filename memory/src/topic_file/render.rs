//! Renders a topic's file.

use super::parse::{is_heading, is_like, is_marked};
use super::{
    ARCHITECTURE, DECISIONS, Decision, DecisionItem, HISTORY, HistoryItem, META, NO_STATUS,
    NONE_YET, OVERVIEW, STATUS, TopicFile,
};
use crate::ids::Timestamp;

impl TopicFile {
    /// Renders the file. It ends with a line break.
    pub fn render(&self) -> String {
        let mut lines = vec![format!("# {}", self.title)];
        lines.extend(heading(META));
        let days = [("created", self.created), ("updated", self.updated)];
        let days = days.into_iter().filter_map(|(key, day)| Some((key, day?.date())));
        let other = self.meta.iter().map(|(key, value)| (key.as_str(), value.clone()));
        lines.extend(days.chain(other).map(|(key, value)| format!("- **{key}**: {value}")));
        for (name, text) in [(OVERVIEW, &self.overview), (ARCHITECTURE, &self.architecture)] {
            if let Some(text) = text {
                lines.extend(heading(name));
                lines.extend(body(text));
            }
        }
        lines.extend(heading(STATUS));
        match &self.status {
            None => lines.push(NO_STATUS.to_owned()),
            Some(text) if is_like(text, |text| text == NO_STATUS) => {
                lines.push(format!("\\{text}"));
            }
            Some(text) => lines.extend(body(text)),
        }
        lines.extend(heading(DECISIONS));
        lines.extend(list(self.decisions.iter().map(DecisionItem::render)));
        lines.extend(heading(HISTORY));
        lines.extend(list(self.history.iter().map(HistoryItem::render)));
        for section in &self.others {
            lines.extend(heading(&section.heading));
            lines.extend(body(&section.text));
        }
        lines.join("\n") + "\n"
    }
}

impl DecisionItem {
    /// Renders the item without its bullet: `2026-11-22: (open) Which cache?`.
    pub fn render(&self) -> String {
        let text = match &self.decision {
            Decision::Statement(text) => plain(text),
            Decision::Open(question) => format!("(open) {question}"),
            Decision::Decided(question, answer) => {
                let word = |word| escaped_if(is_like(word, |word| word == "->"), word);
                let question: Vec<String> = question.split(' ').map(word).collect();
                format!("(decided) {} -> {answer}", question.join(" "))
            }
        };
        on_day(self.day, text)
    }
}

impl HistoryItem {
    /// Renders the item without its bullet: `2026-11-22: Chose LRU.`.
    pub fn render(&self) -> String {
        on_day(self.day, plain(&self.text))
    }
}

fn heading(heading: &str) -> [String; 2] {
    [String::new(), format!("## {heading}").trim_end().to_owned()]
}

/// Renders a text of many lines. A line that would be read as a heading gets a backslash.
fn body(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| escaped_if(is_like(line, is_heading), line))
}

fn list(items: impl Iterator<Item = String>) -> Vec<String> {
    let lines: Vec<String> = items.map(|item| format!("- {item}")).collect();
    if lines.is_empty() { vec![NONE_YET.to_owned()] } else { lines }
}

fn on_day(day: Option<Timestamp>, text: String) -> String {
    match day {
        Some(day) => format!("{}: {text}", day.date()),
        None => text,
    }
}

/// Renders the text of an item that is neither an open nor a decided question.
fn plain(text: &str) -> String {
    escaped_if(is_like(text, is_marked), text)
}

fn escaped_if(is_odd: bool, text: &str) -> String {
    if is_odd { format!("\\{text}") } else { text.to_owned() }
}
