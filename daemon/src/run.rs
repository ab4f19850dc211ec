//! A daemon's life: take the lock, open its stores, serve, drain, release the lock.

mod wiring;

use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use anchord_proto::instance::InstanceDir;
use anchord_proto::{limits as wire, socket as rendezvous};
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{Config, HTTP_VARIABLE};
use crate::hooks::stage_silent;
use crate::hooks::state::Patience;
use crate::instance::{Host, Instance, InstanceError, Places};
use crate::logs::{self, LOG_TO_VARIABLE, LOG_VARIABLE, LogsError};
use crate::merging::MERGE_CALLS;
use crate::outlines::Parser;
use crate::project::{OpenProjects, ProjectService};
use crate::projects::Surroundings;
use crate::registry_store::{RegistryStore, STOPPED_WELL};
use crate::sessions::Joining;
use crate::socket::Peers;
use crate::store::FileStores;
use crate::store::{self, StoreError};
use crate::team::{TeamLinks, TeamOrder};
use crate::{activation, admin, http, jobs, limits, process, sessions, socket};
pub(crate) use wiring::{Daemon, Parts};

/// The reason a daemon did not start, or failed. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The instance is not available.
    #[error("{before}{0}", before = cannot(.0))]
    Instance(#[from] InstanceError),
    /// The directory of the instance cannot be used.
    #[error(transparent)]
    Directory(#[from] anchord_proto::instance::InstanceDirError),
    /// The logs cannot be written.
    #[error("cannot {0}")]
    Logs(#[from] LogsError),
    /// The daemon's own store cannot be opened.
    #[error("cannot open the daemon's own store: {0}")]
    Store(#[from] StoreError),
    /// The system refused something else.
    #[error("{what}: {source}")]
    System {
        /// The operation that was tried.
        what: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Returns the word before an error, unless that is a sentence of its own.
fn cannot(error: &InstanceError) -> &'static str {
    if matches!(error, InstanceError::Directory(_)) { "" } else { "cannot " }
}

/// A callback for the moment when the daemon is ready. A shim or a service manager waits for it.
pub type Started = Box<dyn FnOnce() + Send>;

/// Runs the daemon of the instance at `dir` until it is told to stop. Blocks.
///
/// Uses the listener that a service manager passes, if there is one, instead of binding one.
pub fn run(
    dir: &InstanceDir,
    given: Option<StdListener>,
    started: Started,
) -> Result<(), RunError> {
    process::keep_files_private();
    let patience = wire::millis(wire::DRAIN_DEADLINE_MS + limits::LOCK_SLACK_MS);
    // A daemon that drains no longer listens; one that listens stays. If the service manager's
    // socket is in its place, the other daemon notices that and leaves.
    let is_leaving =
        || given.is_some() || rendezvous::connect(dir, wire::millis(wire::BACKOFF_MAX_MS)).is_err();
    let (places, host) = (places(dir), Host::this());
    let mut instance = Instance::acquire_within(dir, &places, &host, patience, is_leaving)?;
    let environment = |name: &str| std::env::var(name).ok();
    let config = Config::load_or_default(instance.config(), environment(HTTP_VARIABLE).as_deref());
    let _logs = logs::start(
        instance.logs(),
        environment(LOG_VARIABLE).as_deref(),
        environment(LOG_TO_VARIABLE).as_deref(),
    )?;
    log_panics();
    for why in &config.ignored {
        tracing::warn!("the defaults apply: cannot {why}");
    }
    store::refuse_network_fs(instance.data())?;
    let listener = match given {
        Some(listener) => listener,
        None => rendezvous::bind(dir)?,
    };
    instance.serve_socket()?;
    let system = |what| move |source| RunError::System { what, source };
    listener.set_nonblocking(true).map_err(system("cannot prepare the socket"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(limits::WORKER_THREADS)
        .enable_all()
        .build()
        .map_err(system("cannot start the runtime"))?;
    let here = std::env::current_dir().unwrap_or_default();
    let order = TeamOrder::of_environment(environment, &here);
    let served = runtime.block_on(serve(instance, config, order, listener, started));
    // A read of a project's files that is still running must not delay the end of the process.
    runtime.shutdown_timeout(limits::RUNTIME_SHUTDOWN_TIME_MAX);
    served
}

async fn serve(
    instance: Instance,
    config: Config,
    order: Result<Option<TeamOrder>, String>,
    listener: StdListener,
    started: Started,
) -> Result<(), RunError> {
    let system = |what| move |source| RunError::System { what, source };
    process::outlive_file_size_limit().map_err(system("cannot handle signals"))?;
    let peers = Peers::new(process::raise_descriptors());
    let listener = UnixListener::from_std(listener).map_err(system("cannot listen"))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(system("cannot handle signals"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(system("cannot handle signals"))?;
    let mut hangup = signal(SignalKind::hangup()).map_err(system("cannot handle signals"))?;

    let stores = Arc::new(FileStores::new(instance.data().to_owned()));
    let OwnRecords { registry, merge_calls, before } = open_own_records(&stores).await?;
    let after_crash = before == EndBefore::Crashed;
    let surroundings = Surroundings::here(Some(instance.dir().to_owned()));
    let daemon = Daemon::wire(Parts {
        projects: OpenProjects::new(stores, Arc::new(TeamLinks::new(instance.id()))),
        instance,
        config,
        surroundings,
        registry,
        after_crash,
        merge_calls,
        outline_parser: Parser::of_this_program(),
        patience: Patience::default(),
        joining: match &order {
            Ok(None) => Joining::Done,
            Ok(Some(_)) => Joining::Trying,
            Err(why) => Joining::Failed(why.clone()),
        },
    });
    begin_joining(&daemon, order);
    if before == EndBefore::Stopped {
        flush_own_records(&daemon.projects);
    }
    sessions::recover(&daemon.sessions);
    let http_state = http::listen(&daemon.status, &daemon.sessions.config.http).await;
    tracing::info!(
        build = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
        after_crash,
        http = ?http_state,
        "started"
    );
    daemon.admin.http_state.get_or_init(|| http_state);

    let Daemon { projects, hooks, jobs, socket, shutdown, .. } = daemon;
    let draining: CancellationToken = shutdown.token();
    let connections = TaskTracker::new();
    let jobs = tokio::spawn(jobs::run(jobs));
    started();
    tokio::select! {
        () = socket::accept(&socket, &listener, &peers, &connections, &draining) => {}
        _ = terminate.recv() => shutdown.start("SIGTERM"),
        _ = interrupt.recv() => shutdown.start("SIGINT"),
        _ = hangup.recv() => shutdown.start("SIGHUP"),
    }
    // No new clients from here on. A client that cannot connect starts the next daemon, which waits
    // for our lock.
    drop(listener);
    // Nobody waits for a copy to be compared: the next daemon begins that again.
    projects.open.stop_comparing();
    activation::notify_stopping();
    drain(&connections, jobs).await;
    stage_silent(&hooks, Duration::ZERO).await;
    close(&projects).await;
    tracing::info!("stopped");
    Ok(())
}

/// The end of the daemon before this one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndBefore {
    /// It stopped in order.
    Stopped,
    /// It left no mark of a good end.
    Crashed,
    /// There was none, or its records cannot show a mark.
    Unknown,
}

/// The daemon's own records, and what they say when it starts.
struct OwnRecords {
    registry: RegistryStore,
    /// The mark with a day's calls of models.
    merge_calls: Option<String>,
    before: EndBefore,
}

/// Opens the daemon's own records. Removes the mark of a good end, which this daemon sets again
/// when it stops.
async fn open_own_records(stores: &Arc<FileStores>) -> Result<OwnRecords, RunError> {
    let (registry, report, marks) = RegistryStore::open(Arc::clone(stores) as _).await?;
    report.log("the daemon's own records");
    let before = if marks.contains_key(STOPPED_WELL) {
        registry.ask(|store, _| store.mark(STOPPED_WELL, None)).await.map_err(not_open)?;
        EndBefore::Stopped
    } else if report.created || report.read_only.is_some() {
        // A store that is read-only at its start may not show the mark.
        EndBefore::Unknown
    } else {
        EndBefore::Crashed
    };
    Ok(OwnRecords { registry, merge_calls: marks.get(MERGE_CALLS).cloned(), before })
}

/// Brings the removal of the mark to disk. This daemon may be killed soon, so the flush starts at
/// once; but nobody waits for the disk.
fn flush_own_records(projects: &Arc<ProjectService>) {
    let projects = Arc::clone(projects);
    tokio::spawn(async move {
        if let Err(error) = projects.registry.ask(|store, _| store.flush()).await {
            tracing::warn!(%error, "a kill of this daemon may not be noticed by the next");
        }
    });
}

/// Begins to join the team that the environment names, if it names one.
fn begin_joining(daemon: &Daemon, order: Result<Option<TeamOrder>, String>) {
    match order {
        Ok(None) => {}
        Ok(Some(order)) => {
            let (sessions, stopping) = (Arc::clone(&daemon.sessions), daemon.shutdown.token());
            tokio::spawn(admin::keep_joining(sessions, order, stopping));
        }
        Err(why) => tracing::error!(why, "the environment names no team that can be joined"),
    }
}

/// Lets work in progress complete, until the deadline.
async fn drain(connections: &TaskTracker, mut jobs: JoinHandle<()>) {
    connections.close();
    let drained = wire::millis(wire::DRAIN_DEADLINE_MS);
    let ending = async {
        connections.wait().await;
        (&mut jobs).await
    };
    if tokio::time::timeout(drained, ending).await.is_err() {
        tracing::warn!(open = connections.len(), "something under way did not end in time");
        jobs.abort();
    }
}

/// Closes all stores, and marks in the registry's that this daemon stopped in order.
async fn close(projects: &ProjectService) {
    projects.open.close_all().await;
    if let Err(error) = projects.registry.ask(|store, _| store.mark(STOPPED_WELL, Some("1"))).await
    {
        tracing::warn!(%error, "the mark of a good end was lost");
    }
    projects.registry.close().await;
}

/// Logs the place of a panic but not its message, which may quote what a session wrote.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let at = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(at, "panic");
    }));
}

/// Returns the places of a new instance: beneath its directory if that was named on purpose.
fn places(dir: &InstanceDir) -> Places {
    match Places::of_user() {
        Some(places) if !dir.is_named() => places,
        Some(_) | None => Places::beneath(dir.path()),
    }
}

fn not_open(error: crate::project::WriteError) -> RunError {
    let source = std::io::Error::other(error);
    RunError::System { what: "the daemon's own store did not answer", source }
}
