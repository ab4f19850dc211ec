//! The rules by which writes of a topic merge.
//!
//! A decision or a file that is mentioned moves to the end, and a line of history is placed by its
//! time. At a limit, the first in this order is dropped. The number of writes in which the same
//! things are said therefore does not matter. A decision stays decided when only its question is
//! written again: a session that does not know the decision does not undo it.

use std::collections::{BTreeMap, BTreeSet};

use super::{HistoryLine, Topic, TopicDecision, TopicPart, topic_key};
use crate::limits::{TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX, TOPIC_HISTORY_MAX};

impl Topic {
    /// Applies one write.
    pub(crate) fn take_in(&mut self, part: &TopicPart) {
        if let Some(status) = &part.status {
            self.status.clone_from(status);
        }
        self.take_decisions(&part.decisions);
        for line in &part.history {
            if let Err(at) = self.history.binary_search(line) {
                self.history.insert(at, line.clone());
                drop_oldest(&mut self.history, TOPIC_HISTORY_MAX);
            }
        }
        move_to_end(&mut self.files, &part.files);
        drop_oldest(&mut self.files, TOPIC_FILES_MAX);
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
    /// Merges like [`Topic::take_in`], for a part that is not in memory yet. Keeps everything that
    /// was said, in order and without repeats. It settles no decision, since that depends on the
    /// stored topic.
    fn absorb(&mut self, later: &Self) {
        if later.status.is_some() {
            self.status.clone_from(&later.status);
        }
        move_to_end(&mut self.decisions, &later.decisions);
        let mut told: BTreeSet<&HistoryLine> = self.history.iter().collect();
        let new = later.history.iter().filter(|line| told.insert(*line)).cloned();
        let new: Vec<HistoryLine> = new.collect();
        self.history.extend(new);
        move_to_end(&mut self.files, &later.files);
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
