//! `anchord daemon`: the daemon itself, in the foreground, or as shims start it.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anchord_daemon::instance::InstanceError;
use anchord_daemon::{RunError, activation, detach};
use anchord_proto::instance::{InstanceDir, InstanceError as Unusable};
use anchord_proto::launch::Report;

use crate::exit::{Error, Kind};

/// Run the daemon; agents start it by themselves
///
/// In the foreground it ends with SIGINT or SIGTERM, after it has answered what it accepted. It takes the
/// socket that systemd or launchd hands it, or makes its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord daemon
  ANCHORD_HTTP=off anchord daemon")]
pub(crate) struct Args {
    /// As agents start it: a process of its own, which says on stdout in one line how the start went
    #[arg(long)]
    detach: bool,
    /// The second half of `--detach`: a child of nobody
    #[arg(long, hide = true)]
    orphan: bool,
}

impl Args {
    /// A daemon in the foreground whose allocator was told nothing becomes this program once more: the same process with
    /// the same arguments and descriptors. Where that cannot be, it takes more memory and does its work all the same.
    pub(crate) fn tell_allocator(&self) {
        let foreground = !self.detach && !self.orphan;
        let asks = cfg!(all(target_os = "linux", target_env = "gnu"));
        if !(foreground && asks) || allocator().next().is_none() {
            return;
        }
        let mut arguments = std::env::args_os();
        let (name, program) = (arguments.next().unwrap_or_default(), std::env::current_exe());
        if let Ok(program) = program {
            // Returns only when it failed.
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

/// What glibc's allocator is told by its environment, which it reads once; others do not look. Once
/// something large was freed it would take all that is smaller from heaps that it gives back only
/// from their ends, one heap for each thread: after a project was opened half of the daemon's
/// memory was such gaps. Texts from 16 KiB on are mapped on their own, so they go back at once.
/// `systemd/anchord.service` says the same.
const ALLOCATOR: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "16384"), ("MALLOC_ARENA_MAX", "2")];

/// Those that nobody has set.
fn allocator() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALLOCATOR.into_iter().filter(|(name, _)| std::env::var_os(name).is_none())
}

fn attached(dir: Result<InstanceDir, Unusable>) -> Result<(), RunError> {
    anchord_daemon::run(&dir?, given()?, Box::new(activation::notify_ready))
}

/// Starts the daemon proper and ends, so that it is no descendant of the shim: agents end their servers
/// with all that descends from them. It inherits stdout and reports there, and stdin, which may be the lock of those
/// who start daemons: they wait for as long as this one has it.
fn leave_family() -> Result<(), RunError> {
    let system = |what| move |source| RunError::System { what, source };
    let program = std::env::current_exe().map_err(system("cannot find this program"))?;
    let daemon = Command::new(program).args(["daemon", "--orphan"]).envs(allocator()).spawn();
    daemon.map_err(system("cannot start the daemon")).map(drop)
}

/// As attached, in a world of its own, and says on stdout how the start went.
fn detached(dir: Result<InstanceDir, Unusable>) -> Result<(), RunError> {
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

/// Says it and closes stdout and stdin: whoever started us waits for the end of the one, and others for the lock that the
/// other may be. A starter that has gone away meanwhile leaves nobody to tell, and the daemon does its work all the same.
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
            | RunError::Config(_)
            | RunError::Logs(_)
            | RunError::System { .. } => Kind::Failed,
        };
        Self::new(kind, error.to_string())
    }
}
