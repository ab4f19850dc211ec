//! The state of infinite-context as it is written: the fields of its JSON and their names.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Brief;
use crate::ids::Timestamp;
use crate::kinds::topic::TopicDecision;

/// The state as others write it. Fields that anchord does not use are not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct StateForm {
    /// The state's own version, time and id.
    #[serde(default)]
    pub meta: MetaForm,
    /// The descriptions and the recent changes.
    pub project_context: ContextForm,
    /// The task, the files and the decisions.
    pub active_context: ActiveForm,
    /// Whether a description may become much shorter than it was; a field of ours.
    #[serde(default)]
    pub replaces: bool,
}

/// The version, time and id of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct MetaForm {
    /// The version.
    pub version: Option<u32>,
    /// The time of the last checkpoint.
    pub last_checkpoint: Option<String>,
    /// The id of the session, which is the project's here.
    pub session_id: Option<String>,
}

/// The descriptions and the recent changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ContextForm {
    /// The description of the project.
    pub overview: String,
    /// The description of its architecture.
    pub architecture: String,
    /// The last changes.
    pub recent_changes: Vec<ChangeForm>,
}

/// A recent change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ChangeForm {
    /// Its time; that of the write if absent.
    pub timestamp: Option<String>,
    /// Its text.
    pub summary: String,
    /// Its files.
    #[serde(default)]
    pub files: Vec<String>,
}

impl ChangeForm {
    /// Returns its time, if it has one that can be read.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        self.timestamp.as_deref().and_then(Timestamp::parse)
    }
}

/// The task, the files and the decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ActiveForm {
    /// The current task.
    pub current_task: String,
    /// The active files.
    pub active_files: Vec<String>,
    /// The decisions.
    pub active_decisions: Vec<DecisionState>,
}

/// A decision. If it is decided without an answer, it is a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionState {
    /// The question.
    pub question: String,
    /// Whether it is decided.
    pub status: DecisionStatus,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
}

/// Whether a question is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionStatus {
    /// It is open.
    Pending,
    /// It has an answer.
    Decided,
}

impl DecisionStatus {
    /// Returns its name in a state.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Decided => "decided",
        }
    }
}

impl From<&TopicDecision> for DecisionState {
    fn from(decision: &TopicDecision) -> Self {
        let answer = decision.decided.clone();
        match answer {
            None => Self {
                question: decision.question.clone(),
                status: DecisionStatus::Pending,
                decision: None,
            },
            // The newest spelling of a statement is its answer.
            Some(statement) if decision.is_statement() => {
                Self { question: statement, status: DecisionStatus::Decided, decision: None }
            }
            Some(answer) => Self {
                question: decision.question.clone(),
                status: DecisionStatus::Decided,
                decision: Some(answer),
            },
        }
    }
}

impl DecisionState {
    /// Returns the decision of a part.
    pub(crate) fn decision(&self) -> TopicDecision {
        let answer = self.decision.clone().filter(|answer| !answer.trim().is_empty());
        match (self.status, answer) {
            (DecisionStatus::Decided, None) => TopicDecision::statement(&self.question),
            (DecisionStatus::Decided, answer) => TopicDecision {
                question: self.question.clone(),
                decided: answer,
                time: Timestamp::default(),
            },
            (DecisionStatus::Pending, _) => TopicDecision {
                question: self.question.clone(),
                decided: None,
                time: Timestamp::default(),
            },
        }
    }
}

impl Brief {
    /// Returns the decisions in the form of a state, the last mentioned last.
    pub fn decisions(&self) -> impl Iterator<Item = DecisionState> {
        self.topic.decisions.iter().map(DecisionState::from)
    }

    /// Returns the brief as a state.
    pub fn state(&self) -> Value {
        let changes = self.changes().into_iter().map(|line| {
            json!({ "timestamp": line.time.iso(), "summary": line.text, "files": line.files })
        });
        json!({
            "meta": {
                "version": self.version.0,
                "last_checkpoint": self.written.iso(),
                "session_id": self.project,
            },
            "project_context": {
                "overview": self.topic.overview,
                "architecture": self.topic.architecture,
                "recent_changes": changes.collect::<Vec<Value>>(),
            },
            "active_context": {
                "current_task": self.topic.status,
                "active_files": self.files().collect::<Vec<&str>>(),
                "active_decisions": self.decisions().collect::<Vec<DecisionState>>(),
            },
        })
    }
}
