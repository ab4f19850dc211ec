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
        let value = match serde_json::from_slice::<String>(raw.as_bytes()) {
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
#[derive(Debug)]
pub(crate) enum FromDaemon<'a> {
    /// A reply, and its result if it has one.
    Reply(Id, Option<&'a RawValue>),
    /// Anything else.
    Other,
}

/// Reads an agent's line. The error is what to answer it with, by [`Problem::answer`].
pub(crate) fn from_agent(line: &str) -> Result<FromAgent, Problem<'static>> {
    if line.starts_with('[') {
        return Err(Problem::Batch);
    }
    let head: Head<'_> = serde_json::from_slice(line.as_bytes()).map_err(|_| Problem::NotJson)?;
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
        (None, Some("notifications/cancelled")) => Ok(inside(head.params)
            .and_then(|params| params.request_id)
            .map_or(FromAgent::Other, |id| FromAgent::Cancelled(Id::new(id)))),
        (None, None) => Err(Problem::NoMessage),
        _ => Ok(FromAgent::Other),
    }
}

/// Reads a daemon's line; `None` if it is not JSON-RPC and must not reach the agent.
pub(crate) fn from_daemon(line: &[u8]) -> Option<FromDaemon<'_>> {
    let head: Head<'_> = serde_json::from_slice(line).ok()?;
    Some(match (head.id, head.method) {
        (Some(id), None) => FromDaemon::Reply(Id::new(id), head.result),
        _ => FromDaemon::Other,
    })
}

/// Writes a progress notification for a request, if its caller wants any.
pub(crate) fn progress(request: &str, message: &str) -> Option<String> {
    let head: Head<'_> = serde_json::from_slice(request.as_bytes()).ok()?;
    let token = inside(inside(head.params)?.meta)?.progress_token?;
    let line = ProgressLine {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: Progress { progress_token: token, progress: 0, message },
    };
    serde_json::to_string(&line).ok()
}

/// The revision that the result of `initialize` names.
pub(crate) fn revision(result: Option<&RawValue>) -> Option<String> {
    inside(result)?.protocol_version.map(Cow::into_owned)
}

fn inside(part: Option<&RawValue>) -> Option<Inside<'_>> {
    serde_json::from_slice(part?.get().as_bytes()).ok()
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
    /// No daemon can be had, why, and what to run.
    NoDaemon(&'a str),
    /// In flight at a death, and no daemon can be had to send it to again: why.
    Stranded(&'a str),
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
            Self::NoDaemon(reason) => {
                (-32050, format!("no anchord daemon can be had: {reason}").into())
            }
            Self::Stranded(reason) => (
                -32051,
                format!(
                    "the daemon failed on this call, outcome unknown, and no other can be had: \
                     {reason}; run `anchord restart`, and look before you repeat the call"
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
            id: serde_json::from_slice(id.as_bytes()).ok(),
            error: ErrorBody { code, message: &message },
        };
        // An error's own words would be carried along for nothing.
        serde_json::to_string(&error)
            .map_err(drop)
            .expect("texts, numbers and an id that was read from JSON")
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The fields of params, their `_meta`, or a result that the shim reads.
#[derive(Deserialize)]
struct Inside<'a> {
    #[serde(borrow, rename = "requestId")]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "protocolVersion")]
    protocol_version: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct ProgressLine<'a> {
    jsonrpc: &'a str,
    method: &'a str,
    params: Progress<'a>,
}

#[derive(Serialize)]
struct Progress<'a> {
    #[serde(rename = "progressToken")]
    progress_token: &'a RawValue,
    progress: u32,
    message: &'a str,
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
