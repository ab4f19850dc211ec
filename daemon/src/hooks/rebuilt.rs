//! The texts for system prompts that a client rebuilds for every model call and needs with the same
//! bytes each time.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::limits;

/// The texts of one conversation and its subagents.
#[derive(Debug, Default)]
pub(crate) struct RebuiltTexts {
    own: Option<Arc<str>>,
    /// The texts of subagents, by id, the one requested last at the end.
    agents: VecDeque<(String, Arc<str>)>,
}

impl RebuiltTexts {
    /// Returns the text of a subagent, or that of the conversation itself.
    pub(super) fn get(&mut self, agent: Option<&str>) -> Option<Arc<str>> {
        let Some(agent) = agent else { return self.own.clone() };
        let (agent, text) = self.take(agent)?;
        self.agents.push_back((agent, Arc::clone(&text)));
        Some(text)
    }

    /// Keeps the text of a subagent, or that of the conversation itself. A subagent's displaces the
    /// one not requested for longest if there are too many.
    pub(super) fn keep(&mut self, agent: Option<String>, text: Arc<str>) {
        let Some(agent) = agent else {
            self.own = Some(text);
            return;
        };
        self.remove(&agent);
        self.agents.push_back((agent, text));
        if self.agents.len() > limits::REBUILT_AGENTS_MAX {
            self.agents.pop_front();
        }
    }

    /// Forgets the text of a subagent.
    pub(super) fn remove(&mut self, agent: &str) {
        self.take(agent);
    }

    /// Forgets all texts.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns whether there are no texts.
    pub(super) fn is_empty(&self) -> bool {
        self.own.is_none() && self.agents.is_empty()
    }

    fn take(&mut self, agent: &str) -> Option<(String, Arc<str>)> {
        let at = self.agents.iter().position(|(id, _)| id == agent)?;
        self.agents.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subagent_that_is_silent_for_longest_is_displaced() {
        let mut texts = RebuiltTexts::default();
        texts.keep(None, Arc::from("own"));
        for number in 0..limits::REBUILT_AGENTS_MAX {
            texts.keep(Some(number.to_string()), Arc::from("slice"));
        }
        assert!(texts.get(Some("0")).is_some(), "it continues");
        texts.keep(Some("new".to_owned()), Arc::from("slice"));
        assert!(texts.get(Some("0")).is_some() && texts.get(Some("new")).is_some());
        assert_eq!(texts.get(Some("1")), None);
        assert_eq!(texts.get(None).as_deref(), Some("own"));
        texts.remove("0");
        assert_eq!(texts.get(Some("0")), None);
        assert!(!texts.is_empty());
        texts.clear();
        assert!(texts.is_empty());
    }
}
