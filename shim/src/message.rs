//! What a shim reads of a JSON-RPC message, which is as little as it can, and the errors it writes
//! when no daemon can: with codes of JSON-RPC's own where one fits, else from its range for servers,
//! away from the numbers that clients use for themselves.

use std::borrow::Cow;

use anchord_proto::limits::{LINE_BYTES_MAX, UNANSWERED_BYTES_MAX, UNANSWERED_LINES_MAX};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON-RPC id: compared as the value it is, written as the client wrote it. The daemon may write
/// the same string with other escapes.
#[derive(Clone, Debug)]
pub(crate) struct Id {
    value: String,
    raw: Box<str>,
}

impl Id {
    fn new(raw: &RawValue) -> Self {
        let raw = raw.get();
        // A string keeps one quote, so that "1" is not 1.
        let value = match serde_json::from_str::<String>(raw) {
            Ok(text) => format!("\"{text}"),
            Err(_) => raw.to_owned(),
        };
        Self { value, raw: raw.into() }
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// What an agent's line is to the shim.
#[derive(Debug, PartialEq)]
pub(crate) enum FromAgent {
    /// Wants an answer.
    Request(Id, Call),
    /// `notifications/initialized`.
    Initialized,
    /// `notifications/cancelled` for this request.
    Cancelled(Id),
    /// Any other line that nobody answers.
    Other,
}

/// The requests that a shim treats differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Begins the handshake that a new daemon must be told again.
    Initialize,
    /// Is answered when it is over, which may be days later: `subscriptions/listen`.
    Lasting,
    /// Any other.
    Plain,
}

/// What a daemon's line is to the shim.
#[derive(Debug, PartialEq)]
pub(crate) enum FromDaemon {
    /// A reply; the revision if it is one to `initialize`.
    Reply(Id, Option<String>),
    /// Anything else.
    Other,
}

/// Reads an agent's line. The error is what to answer it with, by [`Problem::answer`].
pub(crate) fn from_agent(line: &str) -> Result<FromAgent, Problem<'static>> {
    if line.starts_with('[') {
        return Err(Problem::Batch);
    }
    let head: Head<'_> = serde_json::from_str(line).map_err(|_| Problem::NotJson)?;
    match (head.id, head.method.as_deref()) {
        (Some(id), Some(method)) => {
            let call = match method {
                "initialize" => Call::Initialize,
                "subscriptions/listen" => Call::Lasting,
                _ => Call::Plain,
            };
            Ok(FromAgent::Request(Id::new(id), call))
        }
        (None, Some("notifications/initialized")) => Ok(FromAgent::Initialized),
        (None, Some("notifications/cancelled")) => {
            let cancelled: Option<Cancelled<'_>> = serde_json::from_str(line).ok();
            Ok(cancelled.map_or(FromAgent::Other, |line| {
                FromAgent::Cancelled(Id::new(line.params.request_id))
            }))
        }
        (None, None) => Err(Problem::NoMessage),
        _ => Ok(FromAgent::Other),
    }
}

/// Reads a daemon's line; `None` if it is not JSON-RPC and must not reach the agent.
pub(crate) fn from_daemon(line: &[u8]) -> Option<FromDaemon> {
    let head: Head<'_> = serde_json::from_slice(line).ok()?;
    match (head.id, head.method) {
        (Some(id), None) => {
            let revision = serde_json::from_slice::<InitializeReply<'_>>(line)
                .ok()
                .map(|reply| reply.result.protocol_version.into_owned());
            Some(FromDaemon::Reply(Id::new(id), revision))
        }
        _ => Some(FromDaemon::Other),
    }
}

/// Why the shim answers a line itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem<'a> {
    /// Not UTF-8, or not JSON.
    NotJson,
    /// A JSON-RPC batch, which only one old revision had and no client was seen to use.
    Batch,
    /// Neither a request, a notification nor a reply.
    NoMessage,
    /// More than [`LINE_BYTES_MAX`].
    TooLong(u64),
    /// More unanswered than the shim holds.
    Busy,
    /// No daemon can be had, and why.
    NoDaemon(&'a str),
    /// In flight at two deaths.
    FailedTwice,
    /// The agent closed stdin and did not wait.
    Ended,
}

impl Problem<'_> {
    /// The error line for a request, or for a line whose id cannot be told.
    pub(crate) fn answer(self, id: Option<&Id>) -> String {
        let (code, message) = match self {
            Self::NotJson => (-32700, Cow::from("the line is not JSON")),
            Self::Batch => (
                -32600,
                "JSON-RPC batches are not supported: send each message on its own line".into(),
            ),
            Self::NoMessage => (-32600, "the line has neither a method nor an id".into()),
            Self::TooLong(bytes) => (
                -32600,
                format!("the line has {bytes} bytes, at most {LINE_BYTES_MAX} are accepted").into(),
            ),
            Self::Busy => (
                -32052,
                format!(
                    "busy, retry: {UNANSWERED_LINES_MAX} requests or {UNANSWERED_BYTES_MAX} bytes \
                     are waiting for an answer"
                )
                .into(),
            ),
            Self::NoDaemon(reason) => (
                -32050,
                format!(
                    "no anchord daemon can be had: {reason}. Run `anchord daemon` in a terminal to \
                     see what is wrong"
                )
                .into(),
            ),
            Self::FailedTwice => {
                (-32051, "the daemon failed twice on this call, outcome unknown".into())
            }
            Self::Ended => {
                (-32053, "stdin was closed before the daemon had answered, outcome unknown".into())
            }
        };
        let id = id.map_or("null", |id| &id.raw);
        let error = ErrorLine {
            jsonrpc: "2.0",
            id: serde_json::from_str(id).ok(),
            error: ErrorBody { code, message: &message },
        };
        serde_json::to_string(&error).expect("texts, numbers and an id that was read from JSON")
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Cancelled<'a> {
    #[serde(borrow)]
    params: CancelledParams<'a>,
}

#[derive(Deserialize)]
struct CancelledParams<'a> {
    #[serde(borrow, rename = "requestId")]
    request_id: &'a RawValue,
}

#[derive(Deserialize)]
struct InitializeReply<'a> {
    #[serde(borrow)]
    result: InitializeResult<'a>,
}

#[derive(Deserialize)]
struct InitializeResult<'a> {
    #[serde(borrow, rename = "protocolVersion")]
    protocol_version: Cow<'a, str>,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    jsonrpc: &'a str,
    id: Option<&'a RawValue>,
    error: ErrorBody<'a>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    code: i32,
    message: &'a str,
}

#[cfg(test)]
mod tests;
