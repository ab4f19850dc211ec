//! The rules by which writes of a topic merge.
//!
//! A status and a running description are overwritten. A decision or a file that is mentioned moves
//! to the end, and a line of history is placed by its time. The lines of one call keep their order,
//! since each is dated a millisecond after the one before it. The same line again adds its files.
//! At a limit, the first in this order is dropped. The number of writes in which the same things
//! are said therefore does not matter. A decision stays decided when only its question is written
//! again: a session that does not know the decision does not undo it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::staging::absorb_by_key;
use super::{HistoryLine, Topic, TopicDecision, TopicPart, topic_key};
use crate::fold::digest;
use crate::ids::{Revision, Timestamp};
use crate::limits::{TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX, TOPIC_HISTORY_MAX};

impl Topic {
    /// Applies one write.
    pub(crate) fn take_in(&mut self, part: &TopicPart) {
        let texts = [
            (&mut self.status, &part.status),
            (&mut self.overview, &part.overview),
            (&mut self.architecture, &part.architecture),
        ];
        for (text, new) in texts {
            if let Some(new) = new {
                text.clone_from(new);
            }
        }
        self.take_decisions(&part.decisions);
        for line in &part.history {
            match self.history.binary_search_by(|known| known.identity().cmp(&line.identity())) {
                Ok(at) => {
                    if let Some(known) = self.history.get_mut(at) {
                        known.unite(line);
                    }
                }
                Err(at) => {
                    self.history.insert(at, line.once());
                    drop_oldest(&mut self.history, TOPIC_HISTORY_MAX);
                }
            }
        }
        move_to_end(&mut self.files, &part.files);
        drop_oldest(&mut self.files, TOPIC_FILES_MAX);
    }

    /// Returns whether the status was written after that of a part, which then is a line of the
    /// history alone. Every status is such a line, too.
    fn has_later_status(&self, part: &TopicPart) -> bool {
        let written = |lines: &[HistoryLine], status: &str| {
            let text = HistoryLine::new(status).text;
            lines.iter().filter(|line| line.text == text).map(|line| line.time).max()
        };
        let staged = part.status.as_deref().and_then(|status| written(&part.history, status));
        let staged = staged.filter(|time| *time > Timestamp::default());
        staged.is_some_and(|staged| written(&self.history, &self.status) > Some(staged))
    }

    /// Brings lists that two sides changed into the order and size that writes keep. `now` dates
    /// what has no time.
    pub(super) fn settle(&mut self, now: Timestamp) {
        let unset = Timestamp::default();
        let decisions = self.decisions.iter_mut().map(|it| &mut it.time);
        let times = decisions.chain(self.history.iter_mut().map(|line| &mut line.time));
        times.filter(|time| **time == unset).for_each(|time| *time = now);
        let all = TopicPart {
            decisions: std::mem::take(&mut self.decisions),
            history: std::mem::take(&mut self.history),
            files: std::mem::take(&mut self.files),
            ..TopicPart::default()
        };
        self.take_in(&all);
    }

    fn take_decisions(&mut self, decisions: &[TopicDecision]) {
        let keyed = |decision: TopicDecision| (topic_key(&decision.question), decision);
        let mut known: Vec<_> = self.decisions.drain(..).map(keyed).collect();
        for new in decisions {
            let key = topic_key(&new.question);
            let mut decision = new.clone();
            if let Some(at) = known.iter().position(|(known, _)| *known == key) {
                let (_, known) = known.remove(at);
                if new.decided.is_none() && known.decided.is_some() {
                    (decision.decided, decision.time) = (known.decided, known.time);
                } else if new.decided == known.decided {
                    decision.time = known.time.min(new.time);
                }
            }
            known.push((key, decision));
            drop_oldest(&mut known, TOPIC_DECISIONS_MAX);
        }
        self.decisions = known.into_iter().map(|(_, decision)| decision).collect();
    }
}

impl TopicPart {
    /// Returns the staged texts that a stored topic keeps out, since it has later ones. Each comes
    /// with the name of its field. `written` is the revision at which the topic was written.
    pub(crate) fn overtaken(&self, stored: &Topic, written: Revision) -> Vec<(String, &str)> {
        let is_later = self.staged.is_some_and(|staged| written > staged);
        let status = self.status.as_deref().filter(|status| *status != stored.status);
        let status = status.filter(|_| is_later && stored.has_later_status(self));
        let mut texts: Vec<_> =
            status.map(|status| ("status".to_owned(), status)).into_iter().collect();
        for (name, new, before, now) in [
            ("overview", &self.overview, self.overview_before, &stored.overview),
            ("architecture", &self.architecture, self.architecture_before, &stored.architecture),
        ] {
            let is_later = !now.is_empty() && before.is_some_and(|before| before != digest(now));
            let new = new.as_deref().filter(|new| is_later && *new != now.as_str());
            texts.extend(new.map(|new| (name.to_owned(), new)));
        }
        let answers = self.decisions.iter().filter(|decision| self.is_answered(stored, decision));
        let answers = answers.filter_map(|it| {
            Some((format!("answer to \"{}\"", it.question), it.decided.as_deref()?))
        });
        texts.extend(answers);
        texts
    }

    /// Returns whether others have answered a question since its decision was staged, and
    /// otherwise.
    fn is_answered(&self, stored: &Topic, staged: &TopicDecision) -> bool {
        let key = topic_key(&staged.question);
        let (before, now) = (self.answers_before.get(&digest(&key)), stored.answer_to(&key));
        staged.decided.is_some()
            && staged.decided.as_deref() != now
            && now.is_some_and(|now| before.is_some_and(|before| *before != digest(now)))
    }

    /// Returns what a stored topic takes of it.
    pub(super) fn taken(&self, stored: &Topic, written: Revision) -> Self {
        let overtaken = self.overtaken(stored, written);
        let stays = |name: &str| overtaken.iter().any(|(field, _)| field == name);
        let mut taken = self.clone();
        for (name, text) in [
            ("status", &mut taken.status),
            ("overview", &mut taken.overview),
            ("architecture", &mut taken.architecture),
        ] {
            if stays(name) {
                *text = None;
            }
        }
        taken.decisions.retain(|decision| !self.is_answered(stored, decision));
        taken
    }

    /// Returns whether it says more than so many of its texts. Lines of history do not count.
    pub(crate) fn says_more_than(&self, texts: usize) -> bool {
        self.own_texts().count() + self.decisions.len() > texts || !self.files.is_empty()
    }

    /// Merges like [`Topic::take_in`], for a part that is not in memory yet. Keeps everything that
    /// was said, in order and without repeats. It settles no decision, since that depends on the
    /// stored topic.
    fn absorb(&mut self, later: &Self) {
        let texts = [
            (&mut self.status, &later.status),
            (&mut self.overview, &later.overview),
            (&mut self.architecture, &later.architecture),
        ];
        for (text, new) in texts {
            if new.is_some() {
                text.clone_from(new);
            }
        }
        if later.status.is_some() {
            self.staged = later.staged;
        }
        if later.overview.is_some() {
            self.overview_before = later.overview_before;
        }
        if later.architecture.is_some() {
            self.architecture_before = later.architecture_before;
        }
        for decision in later.decisions.iter().filter(|decision| decision.decided.is_some()) {
            let key = digest(&topic_key(&decision.question));
            match later.answers_before.get(&key) {
                Some(before) => self.answers_before.insert(key, *before),
                None => self.answers_before.remove(&key),
            };
        }
        move_to_end(&mut self.decisions, &later.decisions);
        let identity = |line: &HistoryLine| (line.time, line.text.clone(), line.client.clone());
        let unite = |_, known: &mut HistoryLine, line: &HistoryLine| known.unite(line);
        let lines: Vec<HistoryLine> = later.history.iter().map(HistoryLine::once).collect();
        absorb_by_key(&mut self.history, &lines, identity, unite);
        move_to_end(&mut self.files, &later.files);
    }
}

impl HistoryLine {
    /// Returns the line with each file once.
    fn once(&self) -> Self {
        let mut once = Self { files: Vec::new(), ..self.clone() };
        once.unite(self);
        once
    }

    /// Adds what a line with the same identity has. A line that an agent wrote stays one.
    fn unite(&mut self, later: &Self) {
        move_to_end(&mut self.files, &later.files);
        drop_oldest(&mut self.files, TOPIC_FILES_MAX);
        self.by_rule &= later.by_rule;
    }
}

/// Merges later parts into staged ones, with one part for each topic.
pub(crate) fn absorb(staged: &mut Vec<TopicPart>, later: &[TopicPart]) {
    if later.is_empty() {
        return;
    }
    let keys = staged.iter().map(|known| topic_key(known.topic()));
    let mut at: BTreeMap<String, usize> = keys.enumerate().map(|(at, key)| (key, at)).collect();
    for part in later {
        let slot = *at.entry(topic_key(part.topic())).or_insert(staged.len());
        if let Some(known) = staged.get_mut(slot) {
            known.absorb(part);
        } else {
            // A part may itself say something twice.
            let mut first = TopicPart { name: part.name.clone(), ..TopicPart::default() };
            first.absorb(part);
            staged.push(first);
        }
    }
}
/// Moves items behind all others, ordered by their last mention.
fn move_to_end<T: Clone + Ord>(items: &mut Vec<T>, mentioned: &[T]) {
    let mut last: BTreeSet<&T> = BTreeSet::new();
    let mut end: Vec<T> =
        mentioned.iter().rev().filter(|item| last.insert(*item)).cloned().collect();
    end.reverse();
    items.retain(|known| !last.contains(known));
    items.extend(end);
}

fn drop_oldest<T>(items: &mut Vec<T>, items_max: usize) {
    items.drain(..items.len().saturating_sub(items_max));
}
