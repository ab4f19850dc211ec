//! An rmcp transport over the shim's numbered lines.
//!
//! Each request carries its [`Ticket`]. It has the line's number, so that a write is applied once,
//! and the request's turn on the connection, since rmcp runs requests concurrently. A line that is
//! too long or is not a message is answered here. rmcp would drop it, and the client would wait for
//! ever.

use std::sync::Arc;

use anchord_proto::line::McpLine;
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, GetExtensions, JsonObject,
    JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::limits;
use crate::lines::{LineReader, Read};
use crate::store::Call;

/// One connection's numbered lines.
pub(crate) struct NumberedLines<R> {
    lines: LineReader<R>,
    order: Order,
    outgoing: Option<mpsc::Sender<Vec<u8>>>,
    written: Option<JoinHandle<()>>,
    stop: CancellationToken,
    /// The permits, one for each request whose turn is not over.
    admitted: Arc<Semaphore>,
    /// An answer of the transport that is not queued yet. [`Transport::receive`] may be dropped at
    /// any await.
    unsent: Option<Vec<u8>>,
}

/// The source of each request's number and turn.
struct Order {
    instance: Arc<str>,
    previous: Option<oneshot::Receiver<Passed>>,
}

/// The line in which a request came, and the request's turn.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    /// The line, so that a write is applied exactly once.
    pub(crate) call: Call,
    turn: Arc<Mutex<Option<Turn>>>,
}

/// A turn in the connection's order: calls run one after the other, as they were sent. A call that
/// waits for a team's database steps aside, and reads go past it and the writes behind it.
#[derive(Debug)]
pub(crate) struct Turn {
    /// A permit to wait; it is released with the turn.
    _admitted: OwnedSemaphorePermit,
    /// The previous turn, until it is over.
    previous: Option<oneshot::Receiver<Passed>>,
    /// Whether that one stepped aside.
    may_pass: bool,
    next: Option<oneshot::Sender<Passed>>,
}

/// A message to the next turn, when one ends or steps aside.
#[derive(Debug)]
struct Passed {
    /// The turn that is not over. The next one has to wait for it, or may go past it.
    earlier: Option<oneshot::Receiver<Passed>>,
    /// Whether that one stepped aside.
    may_pass: bool,
}

impl Ticket {
    /// Takes the turn. A ticket has only one.
    pub(crate) fn turn(&self) -> Option<Turn> {
        self.turn.lock().take()
    }
}

impl Turn {
    /// Waits until the earlier calls on the connection are over. Meanwhile later ones may go past
    /// this one if they may go past what it waits for.
    pub(crate) async fn come(&mut self) {
        while self.come_closer().await {
            if self.may_pass {
                self.step_aside();
            }
        }
    }

    /// Waits until the earlier calls on the connection are over or have stepped aside.
    pub(crate) async fn come_past(&mut self) {
        while !self.may_pass && self.come_closer().await {}
    }

    /// Lets the next turn go past this one. One that may not still waits for its end.
    pub(crate) fn step_aside(&mut self) {
        let (next, over) = oneshot::channel();
        if let Some(waiting) = self.next.replace(next) {
            let _ = waiting.send(Passed { earlier: Some(over), may_pass: true });
        }
    }

    /// Waits for the previous turn. Returns whether there was one.
    async fn come_closer(&mut self) -> bool {
        let Some(previous) = &mut self.previous else { return false };
        // A turn never ends without passing on. If it did, there would be nothing to wait for.
        let passed = previous.await.unwrap_or(Passed { earlier: None, may_pass: false });
        (self.previous, self.may_pass) = (passed.earlier, passed.may_pass);
        true
    }
}

impl Drop for Turn {
    /// Lets the next turn begin, even if the call panics, is cancelled while it waits, or needs no
    /// turn.
    fn drop(&mut self) {
        if let Some(next) = self.next.take() {
            // The connection may be over; then nobody waits.
            let (earlier, may_pass) = (self.previous.take(), self.may_pass);
            let _ = next.send(Passed { earlier, may_pass });
        }
    }
}

/// The connection is closed.
#[derive(Debug, thiserror::Error)]
#[error("the shim has gone")]
pub(crate) struct Gone;

impl<R: AsyncBufRead + Unpin + Send> NumberedLines<R> {
    /// Reads numbered lines of the shim `instance` until `stop`. Writes through a task that ends
    /// with the connection.
    pub(crate) fn new(
        mut lines: LineReader<R>,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        instance: Arc<str>,
        stop: CancellationToken,
    ) -> Self {
        lines.set_bytes_max(limits::MCP_LINE_BYTES_MAX);
        let (outgoing, replies) = mpsc::channel(limits::CONNECTION_REPLIES_MAX);
        let written = tokio::spawn(write_lines(writer, replies));
        Self {
            lines,
            order: Order { instance, previous: None },
            outgoing: Some(outgoing),
            written: Some(written),
            stop,
            admitted: Arc::new(Semaphore::new(limits::CONNECTION_CALLS_MAX)),
            unsent: None,
        }
    }
}

impl Order {
    fn ticket(&mut self, number: u64, acknowledged: u64, admitted: OwnedSemaphorePermit) -> Ticket {
        let (next, over) = oneshot::channel();
        let previous = self.previous.replace(over);
        let turn = Turn { _admitted: admitted, previous, may_pass: false, next: Some(next) };
        Ticket {
            call: Call { instance: Arc::clone(&self.instance), number, acknowledged },
            turn: Arc::new(Mutex::new(Some(turn))),
        }
    }

    /// Parses the message in a line. The error is the answer to send instead.
    fn parse(
        &mut self,
        line: &[u8],
        admitted: OwnedSemaphorePermit,
    ) -> Result<ClientJsonRpcMessage, Box<ServerJsonRpcMessage>> {
        let McpLine { number, acknowledged, json } = McpLine::parse(line)
            .map_err(|error| problem(ErrorCode::INVALID_REQUEST, error.to_string(), None))?;
        let mut message = message(json).map_err(|error| {
            problem(ErrorCode::INVALID_REQUEST, format!("not an MCP message: {error}"), id_of(json))
        })?;
        if let JsonRpcMessage::Request(request) = &mut message {
            let ticket = self.ticket(number, acknowledged, admitted);
            request.request.extensions_mut().insert(ticket);
        }
        Ok(message)
    }
}

impl<R: AsyncBufRead + Unpin + Send + 'static> Transport<RoleServer> for NumberedLines<R> {
    type Error = Gone;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Gone>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move { outgoing.ok_or(Gone)?.send(encode(&item)).await.map_err(|_| Gone) }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.unsent.is_some() {
                let permit = self.outgoing.as_ref()?.reserve().await.ok()?;
                if let Some(answer) = self.unsent.take() {
                    permit.send(answer);
                }
            }
            // A daemon that drains reads no more requests, and answers those that it has.
            let admitted = tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                admitted = admit(&self.admitted, self.outgoing.as_ref()) => admitted?,
            };
            let read = tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                read = self.lines.next() => read,
            };
            let answer = match read {
                Ok(Read::Line(line)) => match self.order.parse(line, admitted) {
                    Ok(message) => return Some(message),
                    Err(answer) => answer,
                },
                Ok(Read::TooLong) => problem(
                    ErrorCode::INVALID_REQUEST,
                    format!("a message may have {} bytes at most", limits::MCP_LINE_BYTES_MAX),
                    None,
                ),
                Ok(Read::End) => return None,
                Err(error) => {
                    tracing::debug!(%error, "reading from a shim failed");
                    return None;
                }
            };
            self.unsent = Some(encode(&answer));
        }
    }

    /// Waits until everything sent is written, if the shim reads it.
    async fn close(&mut self) -> Result<(), Gone> {
        self.outgoing = None;
        let Some(mut written) = self.written.take() else { return Ok(()) };
        if tokio::time::timeout(limits::LAST_REPLIES_TIME_MAX, &mut written).await.is_err() {
            written.abort();
            return Err(Gone);
        }
        Ok(())
    }
}

/// Waits until one more request may be accepted. That requires that few requests wait for their
/// turn, and that the shim reads its replies. Otherwise a shim that only sends would have all of
/// its calls run, and every answer kept.
async fn admit(
    admitted: &Arc<Semaphore>,
    outgoing: Option<&mpsc::Sender<Vec<u8>>>,
) -> Option<OwnedSemaphorePermit> {
    let permit = Arc::clone(admitted).acquire_owned().await.ok()?;
    let _room = outgoing?.reserve().await.ok()?;
    Some(permit)
}

/// Parses a message. The arguments of a tool's call may be an object in a text, as some models
/// write them.
fn message(json: &str) -> Result<ClientJsonRpcMessage, serde_json::Error> {
    let message: ClientJsonRpcMessage = serde_json::from_str(json)?;
    // Only a call that rmcp does not take for one can have such arguments.
    let JsonRpcMessage::Request(request) = &message else { return Ok(message) };
    let ClientRequest::CustomRequest(request) = &request.request else { return Ok(message) };
    if request.method != "tools/call" {
        return Ok(message);
    }
    let mut whole: Value = serde_json::from_str(json)?;
    let Some(arguments) = whole.pointer_mut("/params/arguments") else { return Ok(message) };
    let read = match &*arguments {
        Value::String(text) if text.trim().is_empty() => Some(JsonObject::new()),
        Value::String(text) => serde_json::from_str::<JsonObject>(text).ok(),
        _ => None,
    };
    let Some(read) = read else { return Ok(message) };
    *arguments = read.into();
    serde_json::from_value(whole)
}

fn problem(code: ErrorCode, message: String, id: Option<RequestId>) -> Box<ServerJsonRpcMessage> {
    Box::new(JsonRpcMessage::error(ErrorData::new(code, message, None), id))
}

fn id_of(json: &str) -> Option<RequestId> {
    #[derive(serde::Deserialize)]
    struct Id {
        id: Option<RequestId>,
    }
    serde_json::from_str::<Id>(json).ok()?.id
}

fn encode(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(message).unwrap_or_else(|error| {
        tracing::error!(%error, "a reply could not be written as JSON");
        br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"reply not encodable"}}"#
            .to_vec()
    });
    bytes.push(b'\n');
    bytes
}

async fn write_lines(mut writer: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if let Err(error) = writer.write_all(&line).await {
            tracing::debug!(%error, "writing to a shim failed");
            return;
        }
    }
    // The peer may be gone already.
    let _ = writer.shutdown().await;
}

#[cfg(test)]
mod tests;
