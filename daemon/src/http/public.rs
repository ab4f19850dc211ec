//! The read-only status on 127.0.0.1: counts, versions and latencies, but no path and no name.
//!
//! Browsers can reach loopback too, so a request must name a loopback host. A page that rebinds its
//! own name to 127.0.0.1 gets nothing. If the environment opens the port to other machines, as in a
//! container, they may use any name.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::api::HttpState;
use crate::config::HttpConfig;
use crate::limits;
use crate::metrics::{Metrics, MetricsSnapshot, TeamsSeen};
use crate::project::OpenProjects;
use crate::sessions::{Joining, SessionService};
use crate::shutdown::Shutdown;

/// The parts that the status counts.
#[derive(Debug)]
pub(crate) struct StatusService {
    pub(crate) up_since: Instant,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) shutdown: Shutdown,
}

/// Listens if the port is switched on and free. Serves until the daemon stops.
pub(crate) async fn listen(service: &Arc<StatusService>, config: &HttpConfig) -> HttpState {
    if !config.enabled {
        return HttpState::Off;
    }
    let address = SocketAddr::new(config.address, config.port);
    let bound = TcpListener::bind(address).await.and_then(|listener| {
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    match bound {
        Ok((listener, address)) => {
            let router = router(Arc::clone(service), config.address);
            tokio::spawn(accept(listener, router, service.shutdown.token()));
            HttpState::Listening { address: address.to_string() }
        }
        Err(error) => {
            tracing::warn!(port = config.port, %error, "no status port; all else works");
            HttpState::Taken { port: config.port, reason: error.to_string() }
        }
    }
}

async fn accept(listener: TcpListener, router: Router, stopping: CancellationToken) {
    let mut served: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.cancelled() => return,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "accept failed on the status port");
                tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                continue;
            }
        };
        served.retain(|connection| !connection.is_finished());
        // A request takes milliseconds, so the oldest connection is one that sends nothing.
        if served.len() >= limits::STATUS_CONNECTIONS_MAX
            && let Some(oldest) = served.pop_front()
        {
            oldest.abort();
        }
        served.push_back(tokio::spawn(serve(stream, router.clone())).abort_handle());
    }
}

/// Answers one request. Drops a client that does not send it, or does not read the answer.
async fn serve<S>(stream: S, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut server = hyper::server::conn::http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(limits::STATUS_HEADER_TIME_MAX)
        .keep_alive(false);
    let served = server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    match tokio::time::timeout(limits::STATUS_REQUEST_TIME_MAX, served).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a status request ended badly"),
        Err(_) => tracing::debug!("a status request took too long"),
    }
}

fn router(service: Arc<StatusService>, address: IpAddr) -> Router {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/status", get(status))
        .route("/metrics", get(metrics));
    let router =
        if address.is_loopback() { router.layer(middleware::from_fn(check_host)) } else { router };
    router.with_state(service)
}

async fn check_host(request: Request, next: Next) -> Response {
    if names_loopback(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::MISDIRECTED_REQUEST, "the Host header must be 127.0.0.1 or localhost\n")
        .into_response()
}

fn names_loopback(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Ok(host) = host.to_str() else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")
}

async fn status(State(service): State<Arc<StatusService>>) -> Response {
    let open = &service.sessions.projects.open;
    let (ok, failed) = service.metrics.calls();
    let body = json!({
        "name": "anchord",
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": anchord_proto::PROTOCOL,
        "uptime_ms": u64::try_from(service.up_since.elapsed().as_millis()).unwrap_or(u64::MAX),
        "connections_open": service.sessions.table.connections(),
        "sessions": service.sessions.table.all().len(),
        "projects_known": service.sessions.projects.registry.snapshot().projects().count(),
        "projects_open": projects_open(open),
        "calls": { "ok": ok, "failed": failed },
        "panics": service.metrics.panics(),
        "latency": service.metrics.latencies(),
    });
    axum::Json(body).into_response()
}

/// Counts open projects. The user's own memory is not one.
fn projects_open(open: &OpenProjects) -> usize {
    open.all().iter().filter(|project| !project.id.is_personal()).count()
}

/// Counts the open memories of teams, and what waits in them.
fn teams(service: &SessionService) -> TeamsSeen {
    let joining = service.gate.now() != Joining::Done;
    service.projects.open.all().iter().fold(
        TeamsSeen { joining, ..TeamsSeen::default() },
        |seen, open| {
            let Some(status) = open.owner.team() else { return seen };
            TeamsSeen {
                open: seen.open + 1,
                unreachable: seen.unreachable + usize::from(status.error.is_some()),
                waiting: seen.waiting + open.memory().held().count(),
                ..seen
            }
        },
    )
}

async fn metrics(State(service): State<Arc<StatusService>>) -> Response {
    let open = &service.sessions.projects.open;
    let used = open.filled().into_iter().map(|filled| filled.share(&service.sessions.config));
    let text = service.metrics.prometheus(MetricsSnapshot {
        sessions: service.sessions.table.all().len(),
        projects_open: projects_open(open),
        budget_used: used.fold(0.0, f64::max),
        tokens: open.retrievals().tokens(),
        teams: teams(&service.sessions),
    });
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

#[cfg(test)]
mod tests;
