//! Memories that a team shares: requests about them.

pub use anchord_team::{Role, Secret};
use serde::{Deserialize, Serialize};

use super::ProjectRef;

/// A request about the team of a project.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TeamParams {
    /// The project.
    pub project: String,
    /// The action.
    pub action: TeamAction,
}

/// An action on the team of a project.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TeamAction {
    /// Report only.
    Look,
    /// Create a project in a team's database from this memory.
    Create(TeamPlace),
    /// Join a project in a team's database.
    Join {
        /// The project there.
        place: TeamPlace,
        /// Whether to add what this memory has to the team's. It is set aside before.
        merge: bool,
    },
    /// Make the memory this machine's own, with everything in it.
    Leave,
    /// Add a member, or show the SQL that does.
    Invite {
        /// The database role.
        role_name: String,
        /// The name that others see.
        name: String,
        /// The member's rights.
        role: Role,
        /// Whether to run the SQL.
        run: bool,
    },
    /// Remove a member, or show the SQL that does.
    Remove {
        /// The database role.
        role_name: String,
        /// Whether to run the SQL.
        run: bool,
    },
}

/// A project in a team's database.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TeamPlace {
    /// The address of the database, without a password.
    pub url: String,
    /// The project's name there; the directory's name if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The source of the password.
    pub secret: Secret,
}

/// The team of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamReply {
    /// The project, if anything is remembered for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectRef>,
    /// The team, if one shares the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<TeamState>,
    /// The directory of the memory that was here before, if it was set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<String>,
    /// All directories with memories that were here before they joined a team. No command looks
    /// into them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asides: Vec<String>,
    /// Files with commits that a team's database has lost, also after the team was left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostCommits>,
    /// SQL for an administrator, if it was asked for and not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// One line for each item of that memory that could not be used as it was, and one about what
    /// it replaced. Also one if the lost commits cannot be counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A file with commits that a team's database has lost, and that this machine had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostCommits {
    /// The file.
    pub file: String,
    /// The number of commits in it.
    pub commits: u64,
    /// The number of those whose content was written again since.
    pub again: u64,
}

/// The projects of a team's database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamProjectsReply {
    /// The names of those that the database role may read.
    pub names: Vec<String>,
}

/// The state of a memory that a team shares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamState {
    /// The project's name in the database.
    pub name: String,
    /// The project's id there.
    pub id: String,
    /// The database, without a password.
    pub url: String,
    /// The newest revision on this machine.
    pub revision: u64,
    /// The newest revision in the database, if it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<u64>,
    /// Whether its commits differ from this machine's, after a purge or a loss. Equal numbers say
    /// nothing then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// The number of saves that wait for the database.
    pub waiting: usize,
    /// The last time that the database answered, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<i64>,
    /// The reason why it cannot be used now, or does not take writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether that lasts until a person mends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
    /// Exports of what the project had before, which a merge has not added to the team's yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmerged: Vec<String>,
    /// The members, if the database answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<TeamMember>,
}

/// A memory that a team shares, as this machine last saw the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamSummary {
    /// The project's name in the database.
    pub name: String,
    /// The number of saves that wait for the database.
    pub waiting: usize,
    /// The last time that the database answered, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<i64>,
    /// The reason why it did not answer the last call, or refused what waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamMember {
    /// The database role.
    pub role_name: String,
    /// The name that others see.
    pub name: String,
    /// The member's rights.
    pub role: Role,
}
