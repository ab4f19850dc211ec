//! `anchord dashboard`: serves pages on 127.0.0.1, or writes them into one file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_daemon::api::{self, StatusReply};
use anchord_dashboard::{Daemon, Dashboard, Failure, Finding, Options};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use serde_json::Value;

use super::{ProjectArg, doctor};
use crate::client::Client;
use crate::exit::Error;
use crate::show;

/// Show in a browser what agents learn and what they are given
///
/// Serves pages on 127.0.0.1 until you press Ctrl-C. The address lets one browser in, once. Records
/// can be edited, pinned, merged and forgotten there, and every change can be undone. The pages
/// load nothing from outside.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord dashboard
  anchord dashboard --no-open --port 7878
  anchord dashboard --static memory.html")]
pub(crate) struct Args {
    /// Write all views into one HTML file and end. It holds the texts of the memory
    #[arg(long = "static", value_name = "FILE", conflicts_with_all = ["port", "no_open"])]
    file: Option<PathBuf>,
    /// Port on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Print the address, and open no browser
    #[arg(long)]
    no_open: bool,
    #[command(flatten)]
    project: ProjectArg,
}

/// The file with what a person has seen, in the data directory.
const VISITS: &str = "dashboard.json";

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let dir = InstanceDir::locate()?;
        let status: StatusReply = Client::started(&dir)?.get(api::STATUS, &())?;
        let daemon: Arc<dyn Daemon> = Arc::new(Connected(dir));
        let visits = Some(Path::new(&status.instance.data).join(VISITS));
        let mut options = Options { project: self.project.resolve()?, visits };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("cannot start the server")?;
        if let Some(file) = &self.file {
            options.visits = None;
            let page = runtime.block_on(anchord_dashboard::page(daemon, options));
            std::fs::write(file, page.map_err(error)?)
                .with_context(|| format!("cannot write {}", file.display()))?;
            writeln!(
                out,
                "Wrote {}. It holds the texts of the memory.",
                show::plain(&file.display().to_string())
            )?;
            return Ok(());
        }
        let dashboard = Dashboard::bind(daemon, options, self.port)
            .with_context(|| format!("cannot serve pages on 127.0.0.1:{}", self.port))?;
        let url = dashboard.url();
        writeln!(out, "The dashboard is at {url}")?;
        writeln!(out, "The address works once. Ctrl-C ends the dashboard; agents go on.")?;
        out.flush()?;
        if !self.no_open
            && let Err(why) = open::that_detached(&url)
        {
            writeln!(out, "No browser could be opened ({why}); open the address yourself.")?;
            out.flush()?;
        }
        let served = runtime.block_on(dashboard.serve(stopped()));
        // A request may still wait for the daemon.
        runtime.shutdown_background();
        Ok(served.context("cannot serve the dashboard")?)
    }
}

/// Waits for Ctrl-C or a request to end.
async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

/// A daemon that runs. A view that refreshes itself must not start one that a person stopped.
struct Connected(InstanceDir);

impl Daemon for Connected {
    fn get(&self, path: &str, query: &Value) -> Result<Value, Failure> {
        Client::running(&self.0).and_then(|mut client| client.get(path, query)).map_err(failure)
    }

    fn post(&self, path: &str, params: &Value) -> Result<Value, Failure> {
        Client::running(&self.0).and_then(|mut client| client.post(path, params)).map_err(failure)
    }

    fn findings(&self, fix: bool) -> Result<Vec<Finding>, Failure> {
        doctor::for_dashboard(&self.0, fix).map_err(failure)
    }
}

fn failure(error: Error) -> Failure {
    Failure { message: error.message, action: error.action }
}

fn error(failure: Failure) -> Error {
    let error = Error::failed(failure.message);
    match failure.action {
        Some(action) => error.with_action(action),
        None => error,
    }
}
