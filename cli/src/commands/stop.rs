//! `anchord stop`: drains and ends the daemon.

use std::io::Write;
use std::time::{Duration, Instant};

use anchord_daemon::api::{self, StopParams, StopReply};
use anchord_proto::host;
use anchord_proto::instance::InstanceDir;

use crate::client::Client;
use crate::exit::{Error, Kind};
use crate::limits::{POLL_MILLISECONDS, STOP_SECONDS_MAX, STOP_SILENT_SECONDS_MAX};
use crate::show;

/// Stop the daemon: it answers what it has accepted, then ends
///
/// An agent that needs it starts it again; agents notice nothing but a delay.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord stop")]
pub(crate) struct Args {}

impl Args {
    #[expect(clippy::unused_self, reason = "the form that every command has")]
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        match stop(&InstanceDir::locate()?)? {
            None => writeln!(out, "no daemon is running")?,
            Some(reply) => writeln!(out, "stopped (pid {}){}", reply.pid, left(reply.sessions))?,
        }
        Ok(())
    }
}

/// Stops the daemon and waits until it is gone. Returns `None` if its lock shows that none runs.
/// Waits for one that is about to end or to listen. Asks one that listens and does not answer again
/// for a while; then fails, since it may be writing.
pub(super) fn stop(dir: &InstanceDir) -> Result<Option<StopReply>, Error> {
    let begin = Instant::now();
    let deadline = begin + Duration::from_secs(STOP_SECONDS_MAX);
    let mut client = loop {
        let error = match Client::running(dir) {
            Ok(client) => break client,
            Err(error) => error,
        };
        let patience = match error.kind {
            Kind::NoDaemon => return Ok(None),
            Kind::Passing => STOP_SECONDS_MAX,
            Kind::Silent => STOP_SILENT_SECONDS_MAX,
            _ => return Err(error),
        };
        if begin.elapsed() >= Duration::from_secs(patience) {
            return Err(error);
        }
        std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS));
    };
    let reply: StopReply = client.post(api::STOP, &StopParams {})?;
    drop(client);
    // This waits for the process, not the socket: systemd would start another daemon for a
    // connection.
    let start = host::process_start(reply.pid);
    while host::process_alive(reply.pid, start) != Some(false) {
        if Instant::now() > deadline {
            return Err(Error::failed(format!(
                "the daemon (pid {}) still drains after {STOP_SECONDS_MAX} s",
                reply.pid
            )));
        }
        std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS));
    }
    Ok(Some(reply))
}

fn left(sessions: u32) -> String {
    if sessions == 0 {
        return String::new();
    }
    format!("; {} will start it again when needed", show::count(sessions.into(), "live session"))
}

#[cfg(test)]
mod tests;
