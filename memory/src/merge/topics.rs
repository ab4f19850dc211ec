//! How writes of a topic merge.
//!
//! A decision that is mentioned moves to the end, a line of history stands where its time says, and only what is oldest
//! by that goes. So it does not matter in how many writes the same things are said. What is decided stays so when the
//! question alone is said again: a session that has not heard of the decision does not undo it.

use super::Staged;
use crate::limits::{TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX, TOPIC_HISTORY_MAX};
use crate::topic::{Topic, TopicDecision, TopicPart, topic_key};

impl Topic {
    /// Takes in what one write says.
    pub(crate) fn take_in(&mut self, part: &TopicPart) {
        if let Some(status) = &part.status {
            self.status.clone_from(status);
        }
        for decision in &part.decisions {
            self.take_decision(decision);
        }
        for line in &part.history {
            if let Err(at) = self.history.binary_search(line) {
                self.history.insert(at, line.clone());
            }
        }
        drop_oldest(&mut self.history, TOPIC_HISTORY_MAX);
        for file in &part.files {
            move_to_end(&mut self.files, file);
            drop_oldest(&mut self.files, TOPIC_FILES_MAX);
        }
    }

    fn take_decision(&mut self, new: &TopicDecision) {
        let key = topic_key(&new.question);
        let known = self.decisions.iter().position(|known| topic_key(&known.question) == key);
        let mut decision = new.clone();
        if let Some(at) = known {
            let known = self.decisions.remove(at);
            if new.decided.is_none() && known.decided.is_some() {
                (decision.decided, decision.time) = (known.decided, known.time);
            } else if new.decided == known.decided {
                decision.time = known.time.min(new.time);
            }
        }
        self.decisions.push(decision);
        drop_oldest(&mut self.decisions, TOPIC_DECISIONS_MAX);
    }
}

impl TopicPart {
    /// The same for what is not in memory yet: everything that was said, in order, but what was said twice. Nothing
    /// is decided here, since what is stored has a say in it.
    fn absorb(&mut self, later: &Self) {
        if later.status.is_some() {
            self.status.clone_from(&later.status);
        }
        for decision in &later.decisions {
            move_to_end(&mut self.decisions, decision);
        }
        for line in &later.history {
            if !self.history.contains(line) {
                self.history.push(line.clone());
            }
        }
        for file in &later.files {
            move_to_end(&mut self.files, file);
        }
    }
}

impl Staged {
    /// One part for each topic.
    pub(crate) fn absorb_topics(&mut self, later: &[TopicPart]) {
        for part in later {
            let key = topic_key(part.topic());
            let known = self.topics.iter_mut().find(|known| topic_key(known.topic()) == key);
            if let Some(known) = known {
                known.absorb(part);
            } else {
                // A part may say things twice itself.
                let mut first = TopicPart { name: part.name.clone(), ..TopicPart::default() };
                first.absorb(part);
                self.topics.push(first);
            }
        }
    }
}

fn move_to_end<T: Clone + PartialEq>(items: &mut Vec<T>, item: &T) {
    items.retain(|known| known != item);
    items.push(item.clone());
}

fn drop_oldest<T>(items: &mut Vec<T>, items_max: usize) {
    items.drain(..items.len().saturating_sub(items_max));
}
