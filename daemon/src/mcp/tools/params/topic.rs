//! The part of a topic in a call. A decision or a line of history may be a text alone.

use anchord_memory::{HistoryLine, Timestamp, TopicDecision, TopicPart};
use serde::Deserialize;

use crate::mcp::input::{Object, TextOr};

#[derive(Debug, Deserialize)]
#[serde(
    expecting = "an object with name, status, overview, architecture, decisions, history, files"
)]
pub(in crate::mcp::tools) struct TopicParams {
    name: Option<String>,
    status: Option<String>,
    overview: Option<String>,
    architecture: Option<String>,
    #[serde(default)]
    decisions: Vec<TextOr<DecisionParams>>,
    #[serde(default)]
    history: Vec<TextOr<LineParams>>,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct DecisionParams {
    question: Option<String>,
    decision: Option<String>,
}

#[derive(Debug, Deserialize)]
struct LineParams {
    text: String,
    #[serde(default)]
    files: Vec<String>,
}

impl TopicParams {
    /// Returns the topic's name.
    pub(in crate::mcp::tools) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl From<TopicParams> for TopicPart {
    fn from(params: TopicParams) -> Self {
        Self {
            name: params.name,
            status: params.status,
            overview: params.overview,
            architecture: params.architecture,
            decisions: params.decisions.into_iter().map(decision).collect(),
            history: params.history.into_iter().map(line).collect(),
            files: params.files,
            ..Self::default()
        }
    }
}

/// A text alone is a question if it ends like one, else a statement. So is a decision without a
/// question.
fn decision(given: TextOr<DecisionParams>) -> TopicDecision {
    let open =
        |question: String, decided| TopicDecision { question, decided, time: Timestamp::default() };
    match given {
        TextOr::Text(text) if text.trim_end().ends_with(['?', '？', '؟']) => open(text, None),
        TextOr::Text(text) => TopicDecision::statement(&text),
        TextOr::Object(DecisionParams { question: None, decision }) => {
            TopicDecision::statement(&decision.unwrap_or_default())
        }
        TextOr::Object(DecisionParams { question: Some(question), decision }) => {
            open(question, decision)
        }
    }
}

fn line(given: TextOr<LineParams>) -> HistoryLine {
    match given {
        TextOr::Text(text) => HistoryLine::written(text),
        TextOr::Object(LineParams { text, files }) => {
            HistoryLine { files, ..HistoryLine::written(text) }
        }
    }
}

impl Object for TopicParams {
    const FIELDS: &'static [&'static str] =
        &["name", "status", "overview", "architecture", "decisions", "history", "files"];
}

impl Object for DecisionParams {
    const FIELDS: &'static [&'static str] = &["question", "decision"];
}

impl Object for LineParams {
    const FIELDS: &'static [&'static str] = &["text", "files"];
}
