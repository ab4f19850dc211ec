//! `anchord daemon`: runs the daemon, in the foreground or as shims start it.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anchord_daemon::instance::InstanceError;
use anchord_daemon::{RunError, activation, detach};
use anchord_proto::instance::{InstanceDir, InstanceDirError};
use anchord_proto::launch::Report;

use crate::exit::{Error, Kind};

/// Run the daemon; agents start it by themselves
///
/// In the foreground it ends with SIGINT or SIGTERM, after it has answered what it accepted. It
/// uses the socket that systemd or launchd passes, or creates its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord daemon
  ANCHORD_HTTP=off anchord daemon")]
pub(crate) struct Args {
    /// Detach, as when agents start it: run as a separate process, and report the start in one line
    /// on stdout
    #[arg(long)]
    detach: bool,
    /// The second half of `--detach`: a process without a parent
    #[arg(long, hide = true)]
    orphan: bool,
}

impl Args {
    /// Runs this program again with settings for the allocator if it has none, for a daemon in the
    /// foreground. The process, its arguments and its descriptors stay the same. If that fails, the
    /// daemon works but uses more memory.
    pub(crate) fn tell_allocator(&self) {
        let foreground = !self.detach && !self.orphan;
        let asks = cfg!(all(target_os = "linux", target_env = "gnu"));
        if !(foreground && asks) || allocator().next().is_none() {
            return;
        }
        let mut arguments = std::env::args_os();
        let (name, program) = (arguments.next().unwrap_or_default(), std::env::current_exe());
        if let Ok(program) = program {
            // This returns only after a failure.
            let _ = Command::new(program).arg0(name).args(arguments).envs(allocator()).exec();
        }
    }

    pub(super) fn run(self) -> Result<(), Error> {
        let dir = InstanceDir::locate();
        let ended = match (self.detach, self.orphan) {
            (_, true) => detached(dir),
            (true, false) => {
                leave_family().inspect_err(|error| report(&Report::Failed(error.to_string())))
            }
            (false, false) => attached(dir),
        };
        ended.map_err(Error::from)
    }
}

/// Settings for glibc's allocator, which reads them once from the environment; other allocators
/// ignore them. By default, once something large was freed, glibc takes all smaller blocks from
/// heaps, one for each thread. It returns memory only from a heap's end. After a project was
/// opened, half of the daemon's memory consisted of such gaps. With these settings, texts from 16
/// KiB on are mapped on their own, so they are returned at once. `systemd/anchord.service` has the
/// same settings.
const ALLOCATOR: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "16384"), ("MALLOC_ARENA_MAX", "2")];

/// Returns the settings that nobody has made yet.
fn allocator() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALLOCATOR.into_iter().filter(|(name, _)| std::env::var_os(name).is_none())
}

fn attached(dir: Result<InstanceDir, InstanceDirError>) -> Result<(), RunError> {
    anchord_daemon::run(&dir?, given()?, Box::new(activation::notify_ready))
}

/// Starts the actual daemon and ends, so that the daemon is not a descendant of the shim: agents
/// end their servers with all descendants. The daemon inherits stdout, to report there. It also
/// inherits stdin, which may be the lock of those who start daemons. They wait for as long as the
/// daemon has it.
fn leave_family() -> Result<(), RunError> {
    let system = |what| move |source| RunError::System { what, source };
    let program = std::env::current_exe().map_err(system("cannot find this program"))?;
    let daemon = Command::new(program).args(["daemon", "--orphan"]).envs(allocator()).spawn();
    daemon.map_err(system("cannot start the daemon")).map(drop)
}

/// Runs the daemon in a session of its own and reports the start on stdout.
fn detached(dir: Result<InstanceDir, InstanceDirError>) -> Result<(), RunError> {
    let system = |what| move |source| RunError::System { what, source };
    let ended = detach::detach()
        .map_err(system("cannot leave the session of the caller"))
        .and_then(|()| anchord_daemon::run(&dir?, given()?, Box::new(|| report(&Report::Ready))));
    if let Err(error) = &ended {
        report(&match error {
            RunError::Instance(InstanceError::Held { .. }) => Report::Running,
            _ => Report::Failed(error.to_string()),
        });
    }
    ended
}

fn given() -> Result<Option<UnixListener>, RunError> {
    activation::given().map_err(|source| RunError::System {
        what: "cannot use the socket that was passed",
        source,
    })
}

/// Reports the start, then closes stdout and stdin. The starter waits for the end of stdout; others
/// may wait for the lock that stdin may be. If the starter has gone meanwhile, the daemon works all
/// the same.
fn report(report: &Report) {
    let mut stdout = io::stdout();
    let _ = writeln!(stdout, "{report}").and_then(|()| stdout.flush());
    if let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stdin(&null);
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        let kind = match &error {
            RunError::Directory(unusable)
            | RunError::Instance(InstanceError::Directory(unusable)) => unusable.into(),
            RunError::Instance(InstanceError::Held { .. } | InstanceError::HomeShared { .. }) => {
                Kind::Refused
            }
            RunError::Instance(InstanceError::Damaged { .. }) | RunError::Store(_) => Kind::Damaged,
            RunError::Instance(
                InstanceError::Untrusted { .. }
                | InstanceError::DataForeign { .. }
                | InstanceError::DataMissing { .. }
                | InstanceError::Io { .. },
            )
            | RunError::Logs(_)
            | RunError::System { .. } => Kind::Failed,
        };
        Self::new(kind, error.to_string())
    }
}
