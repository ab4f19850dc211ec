//! An action to be checked, and the verdict on it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rule::Effect;

/// An action that somebody is about to do. Fields that are unknown stay empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Action<'a> {
    /// The intended action in words.
    pub action: Option<&'a str>,
    /// A command line for a shell.
    pub command: Option<&'a str>,
    /// The directory in which the command runs, in the form of the rules' globs. `None` in the
    /// project's root.
    pub directory: Option<&'a str>,
    /// Paths that the action touches, in the form of the rules' globs.
    pub paths: &'a [String],
    /// Paths that the action writes. They need not be among `paths`.
    pub writes: &'a [String],
    /// The use of those paths that are not among `writes`.
    pub access: Access,
    /// The name of the tool that is about to be called.
    pub tool: Option<&'a str>,
    /// The current branch.
    pub branch: Option<&'a str>,
}

/// The use that an action makes of a file, weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It only reads the file.
    Read,
    /// It may write the file.
    #[default]
    Unknown,
    /// It writes the file, creates it or removes it.
    Write,
}

/// The result of a check.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The strongest effect of the rules that match; allow, if no rule matches.
    pub effect: Effect,
    /// The rules with that effect, by id.
    pub deciding: Vec<DecidingRule>,
    /// The part of the command that could not be read, whether or not a rule depends on it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unparsed: Option<Unparsed>,
}

/// A rule that decided.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct DecidingRule {
    /// The rule's id.
    pub rule: String,
    /// The rule's title.
    pub title: String,
    /// The rule's reason.
    pub reason: String,
    /// The effect on this action. A deny rule that may or may not match asks.
    pub effect: Effect,
    /// Whether the rule matches for sure. If not, the command has a part that only its run shows.
    pub certain: bool,
    /// The texts of the action that the rule matches, one for each of its fields.
    pub matched: Vec<Matched>,
    /// The changes that would each make the action pass this rule.
    pub pass: Vec<Pass>,
}

/// A text of the action that a rule matches.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// The field that matches.
    pub field: Field,
    /// The entry of the rule.
    pub pattern: String,
    /// The text of the action. A command is shown as it would run, without its wrappers.
    pub text: String,
}

/// A field of a rule's `matches`.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// A command pattern.
    Command,
    /// A glob of paths.
    Path,
    /// A glob of paths that are written.
    Write,
    /// A tool's name.
    Tool,
    /// A glob of branches.
    Branch,
    /// Words of the intended action.
    Action,
}

/// A change that would make an action pass.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// A person approves it.
    Approval,
    /// It is done at this time or later, when the rule is not in force.
    Wait(Timestamp),
    /// This part is left out.
    Without(String),
    /// This part is written out, without variables or substitutions.
    Literal(String),
    /// It is done on a branch that no entry of the rule matches.
    OtherBranch(String),
}

/// The reason why a command could not be read.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Unparsed {
    /// The shell grammar does not accept it.
    #[error("the command is not valid shell: {0}")]
    Syntax(String),
    /// It exceeds a limit.
    #[error("the command has more {what} than are checked, {max}")]
    TooMuch {
        /// The unit, in the plural.
        what: String,
        /// The limit.
        max: usize,
    },
    /// A part of it is known only when it runs.
    #[error("`{0}` is known only when the command runs")]
    Dynamic(String),
}
