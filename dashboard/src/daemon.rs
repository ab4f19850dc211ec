//! The daemon as the pages see it: its admin interface, and what `anchord doctor` finds.

use std::sync::Arc;

use anchord_daemon::api::{self, ToolParams, ToolReply};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Access to the daemon. Every call blocks; none starts a daemon.
pub trait Daemon: Send + Sync + 'static {
    /// Requests a JSON document.
    fn get(&self, path: &str, query: &Value) -> Result<Value, Failure>;
    /// Sends a request with a body.
    fn post(&self, path: &str, params: &Value) -> Result<Value, Failure>;
    /// Examines this machine as `anchord doctor` does. With `fix`, repairs what is safe to repair.
    fn findings(&self, fix: bool) -> Result<Vec<Finding>, Failure>;
}

/// The reason a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The message, a lower-case fragment.
    pub message: String,
    /// The next step, as a sentence.
    pub action: Option<String>,
}

impl Failure {
    /// Creates a failure without a next step.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), action: None }
    }
}

/// Something that `anchord doctor` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The subject: `daemon`, `data`, an agent.
    pub about: String,
    /// The description.
    pub what: String,
    /// The remedy, if there is something to do.
    pub action: Option<String>,
    /// The outcome of the repair, if one was tried.
    pub fixed: Option<String>,
    /// Whether a repair is known.
    pub is_repairable: bool,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Everything is as it should be.
    Good,
    /// It is worth knowing.
    Note,
    /// It should be repaired.
    Problem,
}

/// Typed requests, each on a thread that may block.
#[derive(Clone)]
pub(crate) struct Requests(pub(crate) Arc<dyn Daemon>);

impl Requests {
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &'static str,
        query: impl Serialize,
    ) -> Result<T, Failure> {
        let query = to_value(query)?;
        let value = self.run(move |daemon| daemon.get(path, &query)).await?;
        from_value(path, value)
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &'static str,
        params: impl Serialize,
    ) -> Result<T, Failure> {
        let params = to_value(params)?;
        let value = self.run(move |daemon| daemon.post(path, &params)).await?;
        from_value(path, value)
    }

    /// Runs a tool in a memory for a person.
    pub(crate) async fn tool(
        &self,
        project: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolReply, Failure> {
        let Value::Object(arguments) = arguments else {
            return Err(Failure::new(format!("{tool} wants an object")));
        };
        let params = ToolParams {
            project: project.to_owned(),
            tool: tool.to_owned(),
            arguments,
            typed: vec!["dashboard".to_owned()],
            at: None,
        };
        self.post(api::TOOL, params).await
    }

    pub(crate) async fn findings(&self, fix: bool) -> Result<Vec<Finding>, Failure> {
        self.run(move |daemon| daemon.findings(fix)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Daemon) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let daemon = Arc::clone(&self.0);
        let asked = tokio::task::spawn_blocking(move || ask(&*daemon)).await;
        asked.unwrap_or_else(|_| Err(Failure::new("the request panicked")))
    }
}

fn to_value(value: impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value)
        .map_err(|why| Failure::new(format!("cannot write a request: {why}")))
}

fn from_value<T: DeserializeOwned>(path: &str, value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(|why| unreadable(path, &why))
}

fn unreadable(path: &str, why: &serde_json::Error) -> Failure {
    Failure {
        message: format!("cannot read the daemon's reply to {path}: {why}"),
        action: Some("It may be older than this command: run `anchord restart`.".to_owned()),
    }
}
