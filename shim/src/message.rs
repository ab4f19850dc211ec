//! The parts of JSON-RPC messages that a shim reads, which are as few as possible, and the errors
//! that it writes itself. An error has one of JSON-RPC's own codes if one fits. Other codes are
//! from JSON-RPC's range for servers, away from the numbers that clients use.

use std::borrow::Cow;
use std::fmt;

use anchord_proto::limits::{LINE_BYTES_MAX, UNANSWERED_BYTES_MAX, UNANSWERED_LINES_MAX};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// A JSON-RPC id. It is compared by value and written as the client wrote it. The daemon may write
/// the same string with other escapes.
#[derive(Clone, Debug)]
pub(crate) struct Id {
    value: String,
    raw: Box<str>,
}

impl Id {
    fn new(raw: &RawValue) -> Self {
        let raw = raw.get();
        // A string keeps one quote, so that "1" differs from 1.
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

/// The kinds of lines from an agent.
#[derive(Debug, PartialEq)]
pub(crate) enum FromAgent {
    /// A request, which needs an answer.
    Request(Id, Call),
    /// The `notifications/initialized` notification.
    Initialized,
    /// A `notifications/cancelled` notification for this request.
    Cancelled(Id),
    /// Any other line that needs no answer.
    Other,
}

/// The requests that a shim treats differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// `initialize`, which begins the handshake that is repeated for a new daemon.
    Initialize,
    /// `subscriptions/listen`, which is answered at its end, perhaps days later.
    Lasting,
    /// Any other request.
    Plain,
}

/// The kinds of lines from a daemon.
#[derive(Debug)]
pub(crate) enum FromDaemon<'a> {
    /// A reply, and its result if it has one.
    Reply(Id, Option<&'a RawValue>),
    /// Any other line.
    Other,
}

/// Parses an agent's line. [`Problem::answer`] turns the error into an answer.
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

/// Returns the id of a request of which only the beginning and the end are known. Most clients
/// write it at one of the two.
pub(crate) fn id_of_cut(beginning: &[u8], end: &[u8]) -> Option<Id> {
    let mut found = None;
    // The line is cut, so it ends in an error.
    let _ = IdOf(&mut found).deserialize(&mut serde_json::Deserializer::from_slice(beginning));
    if let Some(id) = found {
        return Some(Id::new(id));
    }
    // What follows the id to the end is one object, if the id is of the request itself.
    let end = end.utf8_chunks().last()?.valid();
    let object = format!("{{{}", end.get(end.rfind(r#""id""#)?..)?);
    let head: Head<'_> = serde_json::from_slice(object.as_bytes()).ok()?;
    head.id.map(Id::new)
}

/// Finds the id among the fields of an object that may be cut.
struct IdOf<'f, 'a>(&'f mut Option<&'a RawValue>);

impl<'a> DeserializeSeed<'a> for IdOf<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for IdOf<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<Cow<'a, str>>()? {
            if name == "id" {
                *self.0 = Some(fields.next_value()?);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Parses a daemon's line; `None` if it is not JSON-RPC and must not reach the agent.
pub(crate) fn from_daemon(line: &[u8]) -> Option<FromDaemon<'_>> {
    let head: Head<'_> = serde_json::from_slice(line).ok()?;
    Some(match (head.id, head.method) {
        (Some(id), None) => FromDaemon::Reply(Id::new(id), head.result),
        _ => FromDaemon::Other,
    })
}

/// Builds a progress notification for a request, if its caller wants any.
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

/// Returns the MCP revision in the result of `initialize`.
pub(crate) fn revision(result: Option<&RawValue>) -> Option<String> {
    inside(result)?.protocol_version.map(Cow::into_owned)
}

fn inside(part: Option<&RawValue>) -> Option<Inside<'_>> {
    serde_json::from_slice(part?.get().as_bytes()).ok()
}

/// Reasons for the shim to answer a line itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem<'a> {
    /// The line is not UTF-8, or not JSON.
    NotJson,
    /// The line is a JSON-RPC batch. Only one old MCP revision had them, and no client was seen to
    /// use them.
    Batch,
    /// The line is not a request, a notification or a reply.
    NoMessage,
    /// The line has more than [`LINE_BYTES_MAX`] bytes.
    TooLong(u64),
    /// The shim already holds as many unanswered requests as it can.
    Busy,
    /// No daemon can be reached. The text says why, and what to run.
    NoDaemon(&'a str),
    /// The call was in flight at a death, and no daemon can be reached to send it to again. The
    /// text says why.
    Stranded(&'a str),
    /// The call was in flight at two deaths.
    FailedTwice,
    /// The agent closed stdin and did not wait.
    Ended,
}

impl Problem<'_> {
    /// Returns the error line for a request, or for a line whose id is unknown.
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
        // The error is dropped, so that the code that formats it is not linked in for nothing.
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

/// The fields that the shim reads from params, their `_meta`, or a result.
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
