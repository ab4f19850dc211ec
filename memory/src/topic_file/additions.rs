//! The part of a topic that a file adds to it. Lists are united, and items that the topic already
//! has are not repeated.

use super::{ARCHITECTURE, Decision, OVERVIEW, Section, TopicFile, WrittenHere, WrittenSince};
use crate::fold::{clip, fold};
use crate::kinds::topic::{HistoryLine, Topic, TopicDecision, TopicPart};
use crate::limits::{
    LINE_CHARS_MAX, TOPIC_ARCHITECTURE_CHARS_MAX, TOPIC_DECISIONS_MAX, TOPIC_HISTORY_CHARS_MAX,
    TOPIC_HISTORY_MAX, TOPIC_LINE_WRITTEN_CHARS_MAX, TOPIC_OVERVIEW_CHARS_MAX,
    TOPIC_STATUS_CHARS_MAX,
};
use crate::provenance::Provenance;

impl TopicFile {
    /// Returns what the file adds to a topic, and the texts that have no place in one. These are
    /// sections of a person's own, texts that are too long, and items beyond a list's limit.
    ///
    /// Another status or description replaces the one here, unless that is newer. Of two that were
    /// both written since the file was, the older becomes a line of the history.
    pub fn additions(
        &self,
        name: &str,
        here: Option<&Topic>,
        written_here: WrittenHere,
        origin: &Provenance,
    ) -> (TopicPart, Vec<String>) {
        let none = Topic::default();
        let mut adding = Adding {
            here: here.unwrap_or(&none),
            origin,
            part: TopicPart { name: Some(name.to_owned()), ..TopicPart::default() },
            rest: Vec::new(),
        };
        if let Some(status) = self.status.as_deref() {
            adding.status(status, written_here.status == WrittenSince::AfterTheEdit);
        }
        let WrittenHere { overview, architecture, .. } = written_here;
        let here = adding.here;
        let new = adding.description(
            (OVERVIEW, TOPIC_OVERVIEW_CHARS_MAX),
            self.overview.as_deref(),
            &here.overview,
            overview,
        );
        adding.part.overview = new;
        let new = adding.description(
            (ARCHITECTURE, TOPIC_ARCHITECTURE_CHARS_MAX),
            self.architecture.as_deref(),
            &here.architecture,
            architecture,
        );
        adding.part.architecture = new;
        adding.decisions(self);
        adding.history(self);
        let Adding { part, mut rest, .. } = adding;
        for section in &self.others {
            rest.push(format!("{}\n\n{}", section.heading, section.text).trim().to_owned());
        }
        rest.retain(|text| !text.is_empty());
        (part, rest)
    }

    /// Returns the file as one that begins a topic. If it has no status, that is the text before
    /// the first section. A title that does not name the topic belongs to the text.
    #[must_use]
    pub fn begun(&self, name: &str) -> Self {
        let mut begun = self.clone();
        let is_text = |section: &Section| section.heading.is_empty();
        if begun.status.is_some() || !begun.others.first().is_some_and(is_text) {
            return begun;
        }
        let text = begun.others.remove(0).text;
        let title = if fold(&self.title) == fold(name) { "" } else { self.title.as_str() };
        let status = format!("{title}\n\n{text}").trim().to_owned();
        begun.status = Some(status).filter(|status| !status.is_empty());
        begun
    }
}

struct Adding<'a> {
    here: &'a Topic,
    origin: &'a Provenance,
    part: TopicPart,
    rest: Vec<String>,
}

impl Adding<'_> {
    fn status(&mut self, status: &str, is_newer_here: bool) {
        let whole = status;
        let status = clip(whole, TOPIC_STATUS_CHARS_MAX);
        if status == self.here.status {
            return;
        }
        if status != *whole {
            self.rest.push(whole.to_owned());
        }
        if !is_newer_here {
            self.part.status = Some(status);
            return;
        }
        let line = HistoryLine::new(&status);
        if self.here.history.iter().any(|known| known.text == line.text) {
            return;
        }
        if whole.chars().count() > TOPIC_HISTORY_CHARS_MAX {
            self.rest.push(whole.to_owned());
            self.rest.dedup();
        }
        self.part.history.push(self.history_line(line.text, self.origin.time.0));
    }

    /// Returns the description that replaces the one here. The name comes with the longest length.
    /// `written` says whether the one here was written since.
    fn description(
        &mut self,
        (name, chars_max): (&str, usize),
        file: Option<&str>,
        here: &str,
        written: WrittenSince,
    ) -> Option<String> {
        let (whole, here) = (file?, here.trim());
        let new = clip(whole, chars_max);
        if new == here || here.is_empty() && new.is_empty() {
            return None;
        }
        if written == WrittenSince::AfterTheEdit && !here.is_empty() {
            self.superseded(name, whole);
            return None;
        }
        if new != *whole {
            self.rest.push(format!("{name}\n\n{whole}"));
        }
        if written == WrittenSince::BeforeTheEdit && !here.is_empty() {
            self.superseded(name, here);
        }
        Some(new)
    }

    /// Keeps a description that another one replaces. Its beginning is a line of the history. If it
    /// is longer, the whole of it is in the rest.
    fn superseded(&mut self, name: &str, text: &str) {
        let whole = format!("{name}: {text}");
        let line = HistoryLine::new(&whole);
        if self.here.history.iter().any(|known| known.text == line.text) {
            return;
        }
        if line.text != whole {
            self.rest.push(format!("{name}\n\n{text}"));
        }
        let line = self.history_line(line.text, self.origin.time.0);
        self.part.history.push(HistoryLine { by_rule: true, ..line });
    }

    fn decisions(&mut self, file: &TopicFile) {
        for item in &file.decisions {
            let mut decision = item.decision(self.origin.time);
            decision.question = self.fitting(&decision.question, LINE_CHARS_MAX);
            decision.decided = match (&item.decision, decision.decided) {
                (Decision::Decided(..), Some(answer)) => {
                    Some(self.fitting(&answer, LINE_CHARS_MAX))
                }
                (_, decided) => decided.map(|_| decision.question.clone()),
            };
            let key = fold(&decision.question);
            let same = |known: &&TopicDecision| fold(&known.question) == key;
            let is_news = match self.here.decisions.iter().find(same) {
                None => true,
                Some(known) => decision.decided.is_some() && decision.decided != known.decided,
            };
            if is_news {
                self.part.decisions.push(decision);
            }
        }
        let excess = self.part.decisions.len().saturating_sub(TOPIC_DECISIONS_MAX);
        let oldest = self.part.decisions.drain(..excess).map(|decision| decision.question);
        self.rest.extend(list("Key Decisions", oldest.collect()));
    }

    fn history(&mut self, file: &TopicFile) {
        for (at, item) in (0..).zip(&file.history) {
            let text = self.fitting(&item.text, TOPIC_LINE_WRITTEN_CHARS_MAX);
            let day = item.day.unwrap_or(self.origin.time);
            let is_it = |known: &HistoryLine| {
                known.text == text
                    && (item.day.is_none() || known.time.day_start() == day.day_start())
            };
            if !self.here.history.iter().any(is_it) {
                // Lines of one day stay in their order.
                self.part.history.push(self.history_line(text, day.0 + at));
            }
        }
        let excess = self.part.history.len().saturating_sub(TOPIC_HISTORY_MAX);
        let dated = |line: HistoryLine| format!("{}: {}", line.time.date(), line.text);
        let oldest = self.part.history.drain(..excess).map(dated);
        self.rest.extend(list("History", oldest.collect()));
    }

    fn history_line(&self, text: String, millis: i64) -> HistoryLine {
        let time = crate::ids::Timestamp(millis);
        let client = self.origin.client.clone();
        HistoryLine { time, client, ..HistoryLine::written(text) }
    }

    /// Cuts a text to a limit. The whole text is kept in the rest.
    fn fitting(&mut self, text: &str, chars_max: usize) -> String {
        let cut = clip(text, chars_max);
        if cut != *text {
            self.rest.push(text.to_owned());
        }
        cut
    }
}

fn list(heading: &str, lines: Vec<String>) -> Option<String> {
    (!lines.is_empty()).then(|| format!("{heading}\n\n- {}", lines.join("\n- ")))
}
