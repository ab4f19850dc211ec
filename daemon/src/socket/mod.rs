//! The daemon's socket: accepts connections, reads the hello, and hands the stream to its role.

mod peers;
mod service;

use std::sync::Arc;

use anchord_proto::hello::{Answer, Hello, RefusalCode, Refused, Role, ToolSet, Welcome};
use anchord_proto::{PROTOCOL, limits as wire};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::hooks::{Handled, HookService};
use crate::lines::{LineReader, Read};
use crate::metrics::Metrics;
use crate::sessions::ConnectionGuard;
use crate::{hooks, http, mcp};
pub(crate) use peers::Peers;
use peers::TooMany;
pub(crate) use service::SocketService;

/// Accepts until `draining`. The remaining connections then finish their requests.
pub(crate) async fn accept(
    service: &Arc<SocketService>,
    listener: &UnixListener,
    peers: &Peers,
    connections: &TaskTracker,
    draining: &CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = draining.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let Some(pid) = peer_of(&stream) else { continue };
                let service = Arc::clone(service);
                match peers.count(pid) {
                    Ok(counted) => {
                        connections.spawn(async move {
                            let (reader, writer) = stream.into_split();
                            serve(service, reader, writer).await;
                            drop(counted);
                        });
                    }
                    Err(too_many) => {
                        connections
                            .spawn(async move { refuse(&service.metrics, stream, too_many).await });
                    }
                }
            }
            Err(error) => {
                // The process is probably out of descriptors; accepting again at once would spin.
                tracing::error!(%error, "accept failed");
                tokio::time::sleep(crate::limits::ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Returns the process at the other end; `None` if it is another user's or gone.
fn peer_of(stream: &UnixStream) -> Option<i32> {
    let ours = rustix::process::geteuid().as_raw();
    match stream.peer_cred() {
        // If the system does not name the process, all peers count as one.
        Ok(peer) if peer.uid() == ours => Some(peer.pid().unwrap_or_default()),
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), "another user connected");
            None
        }
        Err(error) => {
            tracing::debug!(%error, "a peer went before it could be checked");
            None
        }
    }
}

/// Answers a connection that is one too many. Reads its hello first, since a close with unread data
/// would discard the answer.
async fn refuse(metrics: &Metrics, mut stream: UnixStream, too_many: TooMany) {
    tracing::warn!(%too_many, "refused a connection");
    metrics.connected(false);
    let action = "close some, or try again later";
    let answer = Answer::Refused(refused(RefusalCode::Busy, too_many.to_string(), action));
    let Ok(mut bytes) = serde_json::to_vec(&answer) else { return };
    bytes.push(b'\n');
    let answered = async {
        let mut lines = LineReader::new(BufReader::new(&mut stream), wire::HELLO_BYTES_MAX);
        let _hello = lines.next().await;
        drop(lines);
        stream.write_all(&bytes).await
    };
    // A client that sends nothing or does not read is not waited for.
    let _ = tokio::time::timeout(crate::limits::REFUSAL_TIME_MAX, answered).await;
}

/// Serves one connection over any stream: the hello, the answer, then the role's own protocol.
pub(crate) async fn serve<R, W>(service: Arc<SocketService>, reader: R, mut writer: W)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let mut lines = LineReader::new(BufReader::new(reader), wire::HELLO_BYTES_MAX);
    let hello = tokio::time::timeout(wire::millis(wire::WELCOME_DEADLINE_MS), lines.next()).await;
    let read = match hello {
        Ok(Ok(Read::Line(line))) => Hello::read(line, PROTOCOL),
        Ok(Ok(Read::TooLong)) => Err(refused(
            RefusalCode::BadHello,
            format!("a hello has {} bytes at most", wire::HELLO_BYTES_MAX),
            "send a shorter one",
        )),
        // A client that sends nothing or disconnects gets no answer.
        Ok(Ok(Read::End) | Err(_)) | Err(_) => return,
    };
    let admitted = read.and_then(|(hello, version)| admit(&service, hello, version));
    let (role, answer) = match admitted {
        Ok((role, welcome)) => (Some(role), Answer::Welcome(welcome)),
        Err(refused) => {
            tracing::info!(code = ?refused.code, reason = refused.message, "refused a connection");
            (None, Answer::Refused(refused))
        }
    };
    let Ok(mut bytes) = serde_json::to_vec(&answer) else { return };
    bytes.push(b'\n');
    let is_welcomed = writer.write_all(&bytes).await.is_ok();
    // A hook sends its event with the hello. The event is handled even if the hook has left by now.
    if !is_welcomed && !matches!(role, Some(Admitted::Hook(_))) {
        return;
    }
    service.metrics.connected(role.is_some());
    match role {
        Some(Admitted::Mcp(open)) => {
            let stop = open.0.stop.clone();
            mcp::serve(Arc::clone(&service.tools), Arc::clone(&open.0), lines, writer, stop).await;
        }
        Some(Admitted::Hook(hello)) => serve_hook(&service.hooks, &hello, lines, writer).await,
        Some(Admitted::Http) => {
            http::serve_admin(Arc::clone(&service.admin), lines.into_inner(), writer).await;
        }
        Some(Admitted::Replace) => {
            service.shutdown.start("a newer client asked for room");
            // The stream ends with the process, which tells the client that the daemon has drained.
            tokio::spawn(async move {
                let _held = (lines, writer);
                std::future::pending::<()>().await;
            });
        }
        None => {}
    }
}

/// The role in which a connection was admitted.
enum Admitted {
    Mcp(ConnectionGuard),
    Hook(Box<Hello>),
    Http,
    Replace,
}

fn admit(
    service: &SocketService,
    hello: Hello,
    version: u32,
) -> Result<(Admitted, Welcome), Refused> {
    if service.shutdown.is_started() && hello.role != Role::Http {
        return Err(refused(
            RefusalCode::Draining,
            "this daemon is shutting down".to_owned(),
            "try again in a moment",
        ));
    }
    let mut welcome = Welcome {
        anchord: version,
        build: env!("CARGO_PKG_VERSION").to_owned(),
        session: None,
        resume: None,
    };
    let admitted = match hello.role {
        Role::Mcp => {
            let named = hello.tools.as_deref().unwrap_or(ToolSet::Default.name());
            let tool_set = named.parse::<ToolSet>().map_err(|error| {
                let code = RefusalCode::BadHello;
                refused(code, error.to_string(), "name one of them with --tools")
            })?;
            let (connection, token) = service.connect(hello, tool_set);
            welcome.session = Some(connection.id.to_string());
            welcome.resume = Some(token);
            Admitted::Mcp(ConnectionGuard(connection))
        }
        Role::Hook => Admitted::Hook(Box::new(hello)),
        Role::Http => Admitted::Http,
        Role::Replace => Admitted::Replace,
    };
    Ok((admitted, welcome))
}

/// Handles one event and sends one reply. The event is handled to its end even if the hook has
/// left.
async fn serve_hook<R, W>(
    service: &Arc<HookService>,
    hello: &Hello,
    mut lines: LineReader<R>,
    mut writer: W,
) where
    R: tokio::io::AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    lines.set_bytes_max(wire::LINE_BYTES_MAX);
    let deadline = wire::millis(wire::HOOK_DEADLINE_MS);
    let handled = match tokio::time::timeout(deadline, lines.next()).await {
        Ok(Ok(Read::Line(event))) => hooks::handle(service, hello, event).await,
        Ok(Ok(Read::TooLong)) => Handled::default(),
        Ok(Ok(Read::End) | Err(_)) | Err(_) => return,
    };
    let Ok(mut reply) = serde_json::to_vec(&handled.reply) else { return };
    reply.push(b'\n');
    match writer.write_all(&reply).await {
        Ok(()) => handled.delivered(service),
        Err(_) => handled.undelivered(service),
    }
}

fn refused(code: RefusalCode, message: String, action: &str) -> Refused {
    Refused { code, message, action: action.to_owned() }
}

#[cfg(test)]
mod tests;
