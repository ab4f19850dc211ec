//! Topics: the status, the questions and the files. `topic.rs` renders them when they are read.

use std::collections::BTreeMap;

use super::{Worded, WordedItem};
use crate::fold::{clip, clip_words, fold, one_line};
use crate::kinds::topic::{Topic, TopicDecision, TopicPart};
use crate::limits::{TITLE_CHARS_MAX, TOPIC_BRIEF_CHARS_MAX};
use crate::record::Record;
use crate::render::cut::CUT;
use crate::render::{append, topic};

impl Worded for Topic {
    fn full(&self, of: &Record) -> String {
        topic::loaded(of, self)
    }

    fn whole(&self, of: &Record) -> String {
        topic::whole(of, self)
    }

    fn title_line(&self, of: &Record) -> String {
        topic::head(of, self)
    }

    fn excerpt(&self, of: &Record, chars_max: usize) -> Option<(String, String)> {
        let full = self.full(of);
        let (first, rest) = full.split_once('\n').unwrap_or((&full, ""));
        let rest: Vec<&str> = rest.lines().map(str::trim_start).collect();
        Some((clip(first, chars_max / 2), rest.join("\n")))
    }

    fn loaded_title(&self, of: &Record) -> String {
        topic::head(of, self)
    }
}

impl WordedItem for TopicPart {
    fn is_for_others(&self) -> bool {
        self.is_work()
    }

    /// Each question as the session last left it: open or decided.
    fn ended(&self) -> (String, String) {
        let mut last: BTreeMap<String, &TopicDecision> = BTreeMap::new();
        for decision in &self.decisions {
            last.insert(fold(&decision.question), decision);
        }
        let is_last = |decision: &&TopicDecision| {
            last.get(&fold(&decision.question)).is_some_and(|last| std::ptr::eq(*last, *decision))
        };
        let mut lines = String::new();
        for decision in self.decisions.iter().filter(is_last) {
            let question = one_line(&decision.question);
            if decision.decided.is_some() {
                let decided = one_line(&topic::decided(decision));
                append(&mut lines, format_args!("decided: {decided}\n"));
            } else {
                append(&mut lines, format_args!("open: {question}\n"));
            }
        }
        let status = self.status.as_deref().map(str::trim).unwrap_or_default();
        let (first, rest) = status.split_once('\n').unwrap_or((status, ""));
        let colon = if first.is_empty() { "" } else { ": " };
        let head = format!("topic {}{colon}{first}", one_line(self.topic()));
        for (name, text) in [("overview", &self.overview), ("architecture", &self.architecture)] {
            if let Some(text) = text {
                append(&mut lines, format_args!("{name}: {}\n", one_line(text)));
            }
        }
        let text = if rest.is_empty() { lines } else { format!("{rest}\n{lines}") };
        (head, text)
    }
}

/// Renders a topic in short: its name, its status, and every open question. Without a status, the
/// last line of its history is shown.
pub(in crate::render) fn brief(record: &Record, topic: &Topic) -> String {
    let status = one_line(&topic.status);
    let status = if status.is_empty() { topic::without_status(topic) } else { status };
    let mut text =
        format!("{} {}: {}", record.id, topic.name, clip_words(&status, TOPIC_BRIEF_CHARS_MAX));
    for open in topic.pending() {
        text.push_str("\n  open: ");
        text.push_str(&clip_words(&one_line(&open.question), TITLE_CHARS_MAX));
    }
    let more = topic.decisions.iter().any(|decision| decision.decided.is_some())
        || !(topic.files.is_empty() && topic.history.is_empty())
        || !(topic.overview.is_empty() && topic.architecture.is_empty())
        || status.chars().count() > TOPIC_BRIEF_CHARS_MAX;
    if more { text + CUT } else { text }
}
