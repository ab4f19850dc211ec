//! The dashboard: pages on 127.0.0.1 over the daemon's admin interface.
//!
//! A process of its own serves them, for as long as a person wants them. The daemon opens no port
//! for it and links none of it. `guard` decides who may see a page, `pages` renders, and `actions`
//! changes what a person asks to change, by the tools that commands use.

mod actions;
mod charts;
mod daemon;
mod guard;
mod pages;
mod server;
mod visits;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use daemon::Requests;
pub use daemon::{Daemon, Failure, Finding, Severity};
use server::App;

/// A person's choices.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The memory that is shown first: a directory or an id.
    pub project: String,
    /// The file with what was seen; `None` to remember nothing.
    pub visits: Option<PathBuf>,
}

/// A dashboard that listens, and has not served anybody yet.
pub struct Dashboard {
    app: Arc<App>,
    listener: TcpListener,
}

impl Dashboard {
    /// Listens on a port of 127.0.0.1; 0 chooses a free one.
    pub fn bind(daemon: Arc<dyn Daemon>, options: Options, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let app = App::new(Requests(daemon), options, port)?;
        Ok(Self { app: Arc::new(app), listener })
    }

    /// Returns the address that lets one browser in.
    pub fn url(&self) -> String {
        self.app.url()
    }

    /// Serves until `stop` is done.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let router = server::router(Arc::clone(&self.app));
        // Live views would keep the server open, so nothing waits for them.
        tokio::select! {
            served = axum::serve(listener, router).into_future() => served,
            () = stop => Ok(()),
        }
    }
}

/// Renders all views of a memory as one page that needs nothing else, and changes nothing.
pub async fn page(daemon: Arc<dyn Daemon>, options: Options) -> Result<String, Failure> {
    let app = App::new(Requests(daemon), options, 0)
        .map_err(|why| Failure::new(format!("cannot prepare the page: {why}")))?;
    pages::whole(&app).await
}
