//! A rule as a value, in the form in which files, memory and tools have it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::verdict::Field;
use crate::window::Window;

/// The effect of a rule, weakest first.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash,
)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The action may be done.
    #[default]
    Allow,
    /// A person must approve the action.
    Ask,
    /// The action must not be done.
    Deny,
}

impl Effect {
    /// Returns the word that files and tools use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A rule: what it matches, when, and what follows.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name by which people refer to the rule.
    pub id: String,
    /// The rule in one line.
    pub title: String,
    /// The reason, for the reader whose action is stopped.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The effect on an action that the rule matches.
    pub effect: Effect,
    /// The actions that the rule matches.
    pub matches: Matches,
    /// The times at which the rule is in force; always, if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
    /// The instant from which the rule is no longer in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Whether the rule is enforced even while the daemon cannot be reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_closed: bool,
}

/// The actions that a rule matches. Every field with entries must match, by at least one of its
/// entries. A rule without entries matches nothing.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct Matches {
    /// Command patterns, as in `git push --force`. The crate's documentation describes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Globs of paths, relative to the project, absolute, or beginning with `~/`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Globs of paths that the action writes. Reading them does not match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Names of tools. `*` stands for any characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Globs of branches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// Words of an intended action. All words of one entry must occur in it, in any order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
}

impl Matches {
    /// Whether nothing is listed, so that the rule matches nothing.
    pub fn is_empty(&self) -> bool {
        self.fields().iter().all(|(_, entries)| entries.is_empty())
    }

    /// Returns the fields with their entries.
    pub(crate) fn fields(&self) -> [(Field, &[String]); 6] {
        [
            (Field::Command, &self.commands),
            (Field::Path, &self.paths),
            (Field::Write, &self.writes),
            (Field::Tool, &self.tools),
            (Field::Branch, &self.branches),
            (Field::Action, &self.actions),
        ]
    }
}
