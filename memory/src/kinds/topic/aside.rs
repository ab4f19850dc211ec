//! Running descriptions that older builds set aside: those that two clones wrote for one topic
//! before either knew of the other. The other clone's are in a topic with a name derived from its
//! id. It stays until a person or an agent has read it and forgets it.

use super::{Topic, topic_key};
use crate::ids::ShareId;
use crate::limits::{SHARE_ID_CHARS, TOPIC_NAME_CHARS_MAX};

/// The words between a topic's name and the id of the record that the texts come from.
const FROM: &str = "-from-";

impl Topic {
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
