//! HTTP: the admin interface on the socket, and the read-only status on 127.0.0.1. No other module
//! names axum.

mod admin;
mod public;

use std::sync::Arc;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_io_timeout::TimeoutWriter;

pub(crate) use public::{StatusService, listen};

use crate::admin::AdminService;
use crate::limits;

/// Serves the admin interface on one connection of the socket. Drops a client that neither sends
/// nor reads. A request itself may take as long as it needs.
pub(crate) async fn serve_admin<R, W>(service: Arc<AdminService>, reader: R, writer: W)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let stopping = service.shutdown.token();
    let routes = TowerToHyperService::new(admin::router(service));
    let mut writer = TimeoutWriter::new(writer);
    writer.set_timeout(Some(limits::ADMIN_STALL_MAX));
    let stream = TokioIo::new(tokio::io::join(reader, Box::pin(writer)));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::ADMIN_STALL_MAX)
        .serve_connection(stream, routes);
    tokio::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = stopping.cancelled() => {
            // The request in progress is still answered.
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "an admin connection ended badly");
    }
}
