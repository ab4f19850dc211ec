//! `anchord daemon`: the daemon itself, in the foreground, or as shims start it.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::net::UnixListener;

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
  anchord daemon --detach")]
pub(crate) struct Args {
    /// Leave session and directory of the caller, say how the start went in one line on stdout, close it
    #[arg(long)]
    detach: bool,
}

impl Args {
    pub(super) fn run(self) -> Result<(), Error> {
        let dir = InstanceDir::locate();
        let ended = if self.detach { detached(dir) } else { attached(dir) };
        ended.map_err(Error::from)
    }
}

fn attached(dir: Result<InstanceDir, Unusable>) -> Result<(), RunError> {
    anchord_daemon::run(&dir?, given()?, Box::new(activation::notify_ready))
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

/// Says it and closes stdout: whoever started us waits for its end. A starter that has gone away
/// meanwhile leaves nobody to tell, and the daemon does its work all the same.
fn report(report: &Report) {
    let mut stdout = io::stdout();
    let _ = writeln!(stdout, "{report}").and_then(|()| stdout.flush());
    if let Ok(null) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
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
