//! A client of the daemon's admin interface: hello in the role `http`, then HTTP/1.1.
//!
//! The interface blocks: a command sends one request after the other. Each has its own connection,
//! since the daemon closes an idle one while a user thinks.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, RecvError, RecvTimeoutError};
use std::time::Duration;

use anchord_daemon::api::{self, ErrorCode, ErrorReply, JournalLine, JournalQuery};
use anchord_daemon::instance::{self, InstanceError};
use anchord_proto::hello::{Answer, RefusalCode, Refused, Role};
use anchord_proto::host;
use anchord_proto::instance::{InstanceDir, InstanceDirError};
use anchord_proto::limits::{RECONNECT_DEADLINE_MS, millis};
use anchord_proto::socket::{self, ConnectError};
use anchord_shim::link::{self, Search};
use anchord_shim::{Launcher, hello};
use anyhow::Context;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

use crate::exit::{Error, Kind};
use crate::limits::{
    JOURNAL_PAGE_ENTRIES_MAX, REPLY_BYTES_MAX, REQUEST_SECONDS_MAX, SILENT_DIAL_MS,
    WAIT_SILENTLY_MS,
};

/// The reason why nothing starts a daemon after `anchord uninstall`.
pub(crate) const REMOVED: &str =
    "anchord was removed from this machine; `anchord setup` brings it back.";

/// The characters that a query escapes: all but letters, digits, `-`, `_`, `.`, `~` and `/`.
const QUERY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// A client that connects to the daemon for each request.
pub struct Client {
    runtime: Runtime,
    connect: Box<dyn Fn() -> Result<UnixStream, Error>>,
    /// A welcomed connection that is not used yet.
    welcomed: Option<UnixStream>,
}

impl Client {
    /// Connects to the running daemon. Starts none.
    pub fn running(dir: &InstanceDir) -> Result<Self, Error> {
        let dir = dir.clone();
        Self::over(move || dial(&dir))
    }

    /// Verifies that a daemon that is there answers. Starts none. One that starts, ends or hangs is
    /// waited for, as by every command.
    pub fn check(dir: &InstanceDir) -> Result<(), Error> {
        match Self::running(dir).map_err(|error| (error.kind, error)) {
            Ok(_) | Err((Kind::NoDaemon, _)) => Ok(()),
            Err((Kind::Passing | Kind::Silent, _)) => Self::started(dir).map(drop),
            Err((_, error)) => Err(error),
        }
    }

    /// Connects to the daemon. Starts one if none runs, after asking one that is too old to leave.
    pub fn started(dir: &InstanceDir) -> Result<Self, Error> {
        let program = std::env::current_exe().context("cannot find out where this program is")?;
        let dir = dir.clone();
        Self::over(move || dial_or_start(&dir, &program))
    }

    /// Requests a JSON document.
    pub fn get<T: DeserializeOwned>(
        &mut self,
        path: &str,
        query: &impl Serialize,
    ) -> Result<T, Error> {
        let body = self.request(Method::GET, &address(path, query)?, Bytes::new())?;
        read(path, &body)
    }

    /// Requests text.
    pub fn text(&mut self, path: &str, query: &impl Serialize) -> Result<String, Error> {
        let body = self.request(Method::GET, &address(path, query)?, Bytes::new())?;
        String::from_utf8(body.into())
            .map_err(|_| Error::failed(format!("the daemon's reply to {path} is not UTF-8")))
    }

    /// Sends a request that changes something.
    pub fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        params: &impl Serialize,
    ) -> Result<T, Error> {
        let params = serde_json::to_vec(params).context("cannot write the request")?;
        let body = self.request(Method::POST, path, params.into())?;
        read(path, &body)
    }

    /// Passes a project's journal entries from `from` on to `each`, as text and parsed. Requests
    /// them page by page.
    pub fn entries(
        &mut self,
        project: &str,
        mut from: u64,
        limit: u32,
        each: &mut dyn FnMut(&str, JournalLine) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut left = limit;
        while left > 0 {
            let page = JournalQuery {
                project: project.to_owned(),
                from: Some(from),
                limit: left.min(JOURNAL_PAGE_ENTRIES_MAX),
            };
            let text = self.text(api::JOURNAL, &page)?;
            let before = left;
            for text in text.lines().filter(|line| !line.is_empty()) {
                let line: JournalLine =
                    serde_json::from_str(text).context("cannot read a journal entry")?;
                from = line.seq + 1;
                left = left.saturating_sub(1);
                each(text, line)?;
            }
            if left == before {
                break;
            }
        }
        Ok(())
    }

    fn over(connect: impl Fn() -> Result<UnixStream, Error> + 'static) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the HTTP client")?;
        let welcomed = Some(connect()?);
        Ok(Self { runtime, connect: Box::new(connect), welcomed })
    }

    fn request(&mut self, method: Method, target: &str, body: Bytes) -> Result<Bytes, Error> {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::HOST, "anchord")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .context("cannot write the request")?;
        let stream = match self.welcomed.take() {
            Some(stream) => stream,
            None => (self.connect)()?,
        };
        let mut sender =
            self.runtime.block_on(speak(stream)).context("cannot speak HTTP with the daemon")?;
        let exchange = async {
            sender.ready().await?;
            let (head, body) = sender.send_request(request).await?.into_parts();
            let body = Limited::new(body, REPLY_BYTES_MAX).collect().await;
            Ok::<_, hyper::Error>((head.status, body.map(http_body_util::Collected::to_bytes)))
        };
        let limit = Duration::from_secs(REQUEST_SECONDS_MAX);
        let (status, body) = self
            .runtime
            .block_on(async { tokio::time::timeout(limit, exchange).await })
            .map_err(|_| Error::failed(format!("no reply within {REQUEST_SECONDS_MAX} s")))?
            .map_err(|reason| {
                Error::failed(format!("the daemon went away during the request: {reason}"))
                    .with_action("Run the command again; `anchord status` shows its state.")
            })?;
        let body =
            body.map_err(|reason| Error::failed(format!("cannot read the reply: {reason}")))?;
        if status.is_success() { Ok(body) } else { Err(refusal(status, &body)) }
    }
}

/// Starts HTTP on a welcomed connection.
async fn speak(stream: UnixStream) -> anyhow::Result<SendRequest<Full<Bytes>>> {
    stream.set_nonblocking(true)?;
    let stream = TokioIo::new(tokio::net::UnixStream::from_std(stream)?);
    let (sender, connection) = http1::handshake(stream).await?;
    // The connection's error reaches the request that it breaks.
    tokio::spawn(connection);
    Ok(sender)
}

/// Connects and says hello. Starts a new daemon if none runs, or if the running one is too old.
fn dial_or_start(dir: &InstanceDir, program: &Path) -> Result<UnixStream, Error> {
    let search = Search {
        dir: Ok(dir.clone()),
        hello: hello(Role::Http, None),
        opening: Vec::new(),
        launcher: Some(Launcher::new(program.to_owned())),
        patience: millis(RECONNECT_DEADLINE_MS),
        may_start: Arc::new(AtomicBool::new(true)),
    };
    let (found, searched) = mpsc::channel();
    std::thread::spawn(move || found.send(search.run()));
    let patience = millis(WAIT_SILENTLY_MS);
    let outcome = match searched.recv_timeout(patience) {
        Err(RecvTimeoutError::Timeout) => {
            refuse_stopped(dir)?;
            anstream::eprintln!("waiting for the daemon, which starts or does not answer");
            searched.recv()
        }
        outcome => outcome.map_err(|_| RecvError),
    };
    match outcome.context("the search for a daemon ended without a word")? {
        Ok(connection) => Ok(connection.stream),
        Err(reason) => Err(not_found(reason, dial(dir).err())),
    }
}

/// Refuses to wait for a suspended daemon, since only a person can continue it.
pub(crate) fn refuse_stopped(dir: &InstanceDir) -> Result<(), Error> {
    match instance::ensure_free(dir) {
        Err(InstanceError::Held { pid: Some(pid), .. })
            if host::process_stopped(pid) == Some(true) =>
        {
            Err(stopped(pid))
        }
        _ => Ok(()),
    }
}

fn stopped(pid: u32) -> Error {
    let what = format!("the daemon (pid {pid}) does not answer: it is stopped");
    Error::new(Kind::Unreachable, what).with_action(format!(
        "`kill -CONT {pid}` continues it, and what agents wait for; `kill -9 {pid}` ends it, and \
             the next command starts another. Nothing that was saved is lost."
    ))
}

/// Returns the reason a search found no daemon. The search ends with words only; a second attempt
/// gives the kind of error. Its words are used only if a daemon refuses or cannot be reached. For
/// one that does not answer, the search knows whether it is starting.
fn not_found(reason: String, asked_again: Option<Error>) -> Error {
    let says_less = |kind| matches!(kind, Kind::NoDaemon | Kind::Passing | Kind::Silent);
    asked_again
        .filter(|error| !says_less(error.kind))
        .unwrap_or_else(|| Error::new(Kind::NoDaemon, reason))
}

/// Connects and says hello, once.
fn dial(dir: &InstanceDir) -> Result<UnixStream, Error> {
    let deadline = millis(SILENT_DIAL_MS);
    let stream = match socket::connect(dir, deadline) {
        Ok(stream) => stream,
        Err(ConnectError::Instance(error)) => return Err(error.into()),
        Err(ConnectError::Peer(error)) => return Err(Error::new(Kind::Refused, error.to_string())),
        Err(ConnectError::NoDaemon(_)) => return Err(nobody_listens(dir)),
        Err(ConnectError::Io(why)) => return Err(silent(dir, &why)),
    };
    // Nothing follows the answer until a request is sent, so there is no rest.
    let (answer, _) = link::say_hello(&stream, &hello(Role::Http, None), &[], deadline)
        .map_err(|why| silent(dir, &why))?;
    match answer {
        Answer::Welcome(_) => Ok(stream),
        Answer::Refused(refused) => Err(refused.into()),
    }
}

/// Explains a failed connection. The lock shows whether a daemon lives all the same.
fn nobody_listens(dir: &InstanceDir) -> Error {
    match instance::ensure_free(dir) {
        Ok(()) if dir.removed().exists() => {
            Error::new(Kind::NoDaemon, "no daemon is running").with_action(REMOVED)
        }
        Ok(()) => Error::new(Kind::NoDaemon, "no daemon is running")
            .with_action("It starts with the first agent that needs it, or by `anchord restart`."),
        Err(InstanceError::Held { pid, .. }) => {
            let what = format!("{} does not listen: it starts or ends", the_daemon(pid));
            Error::new(Kind::Passing, what).with_action(wait_or_kill(pid))
        }
        Err(error) => Error::new(Kind::Unreachable, format!("failed to {error}")),
    }
}

/// Explains a connection without an answer, or one that the system forbids. A daemon listens before
/// it can answer, and a service manager still listens when the daemon ends.
fn silent(dir: &InstanceDir, why: &io::Error) -> Error {
    let error = |what: String| Error::new(Kind::Silent, format!("{what} ({why})"));
    match instance::ensure_free(dir) {
        Err(InstanceError::Held { pid: Some(pid), .. })
            if host::process_stopped(pid) == Some(true) =>
        {
            stopped(pid)
        }
        Err(InstanceError::Held { pid, .. }) => {
            let what = format!("{} does not answer: it starts, ends or hangs", the_daemon(pid));
            error(what).with_action(wait_or_kill(pid))
        }
        Err(unavailable) => Error::new(Kind::Unreachable, format!("failed to {unavailable}")),
        Ok(()) => {
            let socket = dir.sock();
            error(format!("no daemon holds the instance, and who has {} does not answer", socket.display()))
                .with_action(
                    "Try again in a moment; where systemd or launchd listens there, `anchord service status` says more.",
                )
        }
    }
}

fn the_daemon(pid: Option<u32>) -> String {
    pid.map_or_else(|| "the daemon".to_owned(), |pid| format!("the daemon (pid {pid})"))
}

fn wait_or_kill(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("Wait a minute; if it stays so, `kill {pid}`."),
        None => "Wait a minute; if it stays so, end the process `anchord daemon`.".to_owned(),
    }
}

fn address(path: &str, query: &impl Serialize) -> Result<String, Error> {
    let value = serde_json::to_value(query).context("cannot write the query")?;
    let fields = value.as_object().into_iter().flatten();
    let pairs: Vec<String> = fields
        .filter_map(|(name, value)| {
            let text = match value {
                serde_json::Value::Null => return None,
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some(format!("{name}={}", utf8_percent_encode(&text, QUERY)))
        })
        .collect();
    Ok(if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) })
}

fn read<T: DeserializeOwned>(path: &str, body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|reason| {
        Error::failed(format!("cannot read the daemon's reply to {path}: {reason}"))
            .with_action("Daemon and command line may be too far apart: run `anchord restart`.")
    })
}

fn refusal(status: StatusCode, body: &[u8]) -> Error {
    match serde_json::from_slice::<ErrorReply>(body) {
        Ok(reply) => reply.into(),
        // This reply is not ours but the router's, to a path that this daemon does not have.
        Err(_) if status == StatusCode::NOT_FOUND => {
            Error::new(Kind::Refused, "the running daemon does not know this request")
                .with_action("It may be older than this command: run `anchord restart`.")
        }
        Err(_) => Error::new(
            ErrorCode::Internal.into(),
            format!("the daemon answered {status} without a reason"),
        ),
    }
}

impl From<&InstanceDirError> for Kind {
    fn from(error: &InstanceDirError) -> Self {
        match error {
            InstanceDirError::TooNew { .. } | InstanceDirError::Taken { .. } => Self::Refused,
            InstanceDirError::NoHome
            | InstanceDirError::Relative { .. }
            | InstanceDirError::Missing(_)
            | InstanceDirError::NotADirectory(_)
            | InstanceDirError::NotOurs { .. }
            | InstanceDirError::Open { .. }
            | InstanceDirError::Corrupt { .. }
            | InstanceDirError::Io { .. } => Self::Unreachable,
        }
    }
}

impl From<InstanceDirError> for Error {
    fn from(error: InstanceDirError) -> Self {
        Self::new(Kind::from(&error), error.to_string())
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        let kind = match refused.code {
            RefusalCode::Busy | RefusalCode::Draining | RefusalCode::NotReady => Kind::Passing,
            RefusalCode::TooNew
            | RefusalCode::TooOld
            | RefusalCode::BadHello
            | RefusalCode::NotYours
            | RefusalCode::Other => Kind::Refused,
        };
        let error = Self::new(kind, refused.message);
        if refused.action.is_empty() { error } else { error.with_action(refused.action) }
    }
}

#[cfg(test)]
mod tests;
