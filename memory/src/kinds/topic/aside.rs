//! Running descriptions that two clones wrote for one topic before either knew of the other.
//!
//! No rule can merge two overviews. The older topic keeps its own. The other clone's go into a
//! topic beside it, with a name derived from its id, so that every clone does the same. It stays
//! until a person or an agent has read it and forgets it.

use super::{Topic, topic_key};
use crate::ids::ShareId;
use crate::limits::{SHARE_ID_CHARS, TOPIC_NAME_CHARS_MAX};

/// The words between a topic's name and the id of the record that the texts come from.
const FROM: &str = "-from-";

impl Topic {
    /// Removes the descriptions for which `earlier` has other words. Returns them as a topic of
    /// their own; `None` if there are none. `id` is that of this topic's record.
    pub(crate) fn set_aside(&mut self, earlier: &Self, id: &ShareId) -> Option<Self> {
        let take = |text: &mut String, other: &str| {
            if text.is_empty() || other.is_empty() || text == other {
                String::new()
            } else {
                std::mem::take(text)
            }
        };
        let overview = take(&mut self.overview, &earlier.overview);
        let architecture = take(&mut self.architecture, &earlier.architecture);
        if overview.is_empty() && architecture.is_empty() {
            return None;
        }
        let topic = &earlier.name;
        let status = format!(
            "Two clones described {topic} differently; here is the other text. Put what is to stay \
             into {topic}, then forget this topic."
        );
        let name = format!("{}{FROM}{id}", stem(topic));
        Some(Self { name, status, overview, architecture, ..Self::default() })
    }

    /// Returns whether it has what was set aside of the topic with this name.
    pub(crate) fn is_set_aside_of(&self, topic: &str) -> bool {
        let parts = self.name.rsplit_once(FROM);
        parts.is_some_and(|(name, id)| {
            id.parse::<ShareId>().is_ok() && topic_key(name) == topic_key(&stem(topic))
        })
    }
}

/// Returns as much of a topic's name as leaves room for an id.
fn stem(topic: &str) -> String {
    let chars_max = TOPIC_NAME_CHARS_MAX.saturating_sub(FROM.len() + SHARE_ID_CHARS);
    topic.chars().take(chars_max).collect::<String>().trim_end().to_owned()
}
