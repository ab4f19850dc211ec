//! Refusals in words.

use std::borrow::Cow;
use std::fmt;

use super::changes::change_lines;
use super::title;
use crate::audience::{Audience, Tool};
use crate::ids::Kind;
use crate::plan::WhyNot;
use crate::refusal::Refusal;

impl Refusal {
    /// Words the refusal for its reader, with what to do about it.
    pub fn worded(&self, audience: &Audience) -> String {
        match self.advice(audience) {
            advice if advice.is_empty() => self.fault(audience),
            advice => format!("{}; {advice}", self.fault(audience)),
        }
    }

    /// Words what to do about the refusal, where that is apart from the fault.
    fn advice(&self, audience: &Audience) -> Cow<'static, str> {
        match self {
            Self::Invalid { advice, .. } | Self::TooLarge { advice, .. } => advice.clone(),
            Self::Full { kind, .. } => making_room(*kind, audience).into(),
            Self::NotFound { .. } => {
                format!("{} finds records by their words", audience.tool(Tool::Search)).into()
            }
            _ => Cow::Borrowed(""),
        }
    }

    /// Words the fault.
    pub(crate) fn fault(&self, audience: &Audience) -> String {
        match self {
            // An item as a whole has no name.
            Self::Invalid { field, why, .. } => format!("{field} {why}").trim_start().to_owned(),
            Self::NoNoteStored { failed, first } => format!(
                "items cannot be stored, not one of {failed}; the first: {}",
                first.worded(audience)
            ),
            Self::EmptyNote => {
                format!("content is empty; {} takes a note away", audience.tool(Tool::Forget))
            }
            Self::NotesAlone { field, id } => {
                let noun = id.kind.noun();
                let rest = match (audience, id.kind) {
                    (Audience::Agent | Audience::Compactor, Kind::Rule) => {
                        "is proposed as another rule with memory_rule_set, and only a person \
                         changes what is in force"
                            .to_owned()
                    }
                    (Audience::Person(_), Kind::Rule) => format!(
                        "is changed with {} under the same title, and {} takes a rule out of force",
                        audience.command(&["rules", "add"]),
                        audience.command(&["rules", "disable"])
                    ),
                    (Audience::Agent | Audience::Compactor, _) => {
                        "is written again with memory_checkpoint or memory_save".to_owned()
                    }
                    (Audience::Person(_), _) => {
                        format!("is changed with {}", audience.command(&["edit"]))
                    }
                };
                format!(
                    "{field} is of notes alone and {id} is a {noun}; of a {noun}, tags and pinned \
                     can be set here, the rest {rest}"
                )
            }
            Self::TooLarge { what, bytes, bytes_max, .. } => {
                format!("{what} is {bytes} bytes, {bytes_max} are allowed")
            }
            Self::Full { kind, unit, kept, more, most } => {
                let noun = kind.facts().noun_in_full;
                format!(
                    "no room for more {noun}s in this project: {kept} of {most} {unit} are used, \
                     {more} more are needed"
                )
            }
            Self::NotFound { id } => format!("there is no record {id}"),
            Self::Purged { id, time } => {
                format!("{id} was purged on {}; its content is gone for good", time.date())
            }
            Self::PurgedText { field, time } => format!(
                "{field} says what was purged on {} and is not taken in again; leave it out",
                time.date()
            ),
            Self::NoSuchKey { key, nearest } => {
                let near = near_keys(nearest, audience);
                format!("there is no fact with the key `{key}`{near}")
            }
            Self::NoSuchTopic { name, known, more } => {
                let known = topics(known, *more, audience);
                format!("there is no topic `{name}` yet{known}")
            }
            Self::Conflict { record: Some(id), expected, current, changed, time } => {
                let lines: Vec<String> =
                    changed.iter().map(|record| title(record, *time)).collect();
                format!("{id} is at {current} now, not at {expected}{}", listed(&lines))
            }
            Self::Conflict { record: None, expected, current, changed, time } => {
                let lines = change_lines(changed.iter().map(|record| &**record), *time);
                format!("memory is at {current} now, not at {expected}{}", listed(&lines))
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Audience::Agent))
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worded(words) => f.write_str(words),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

/// Words what makes room for records of a kind. A session's own notes count even after it has
/// ended, and no other session can forget them.
fn making_room(kind: Kind, audience: &Audience) -> String {
    let forget = audience.tool(Tool::Forget);
    match (kind, audience) {
        (Kind::Note, Audience::Agent | Audience::Compactor) => format!(
            "{forget} records that no longer hold; a person at a shell can also `anchord forget` \
             what past sessions kept for themselves"
        ),
        (Kind::Note, Audience::Person(_)) => format!(
            "{forget} records that no longer hold, also what past sessions kept for themselves"
        ),
        _ => format!("{forget} records that no longer hold, archived ones too"),
    }
}

fn near_keys(nearest: &[String], audience: &Audience) -> String {
    let keys: Vec<String> = nearest.iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() {
        format!("; {} finds notes by their words", audience.tool(Tool::Search))
    } else {
        format!("; near it are {}", keys.join(", "))
    }
}

fn topics(known: &[String], more: usize, audience: &Audience) -> String {
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match (names.is_empty(), more) {
        (true, _) => match audience {
            Audience::Agent | Audience::Compactor => {
                "; memory_checkpoint with a topic begins one".to_owned()
            }
            Audience::Person(_) => "; an agent's checkpoint with a topic begins one".to_owned(),
        },
        (false, 0) => format!("; there are {}", names.join(", ")),
        (false, more) => format!("; there are {} and {more} more", names.join(", ")),
    }
}

fn listed(changed: &[String]) -> String {
    if changed.is_empty() {
        String::new()
    } else {
        format!("; nothing was written. Changed since:\n{}", changed.join("\n"))
    }
}

#[cfg(test)]
mod tests;
