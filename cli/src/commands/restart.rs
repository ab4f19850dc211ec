//! `anchord restart`: replaces the daemon and keeps the memory.

use std::io::Write;

use anchord_daemon::api::{self, StatusReply};
use anchord_daemon::{RunError, instance};
use anchord_proto::instance::InstanceDir;
use owo_colors::OwoColorize;

use super::stop::stop;
use crate::client::Client;
use crate::exit::Error;
use crate::show;

/// Stop the daemon and start the one of this build; live sessions stay
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord restart")]
pub(crate) struct Args {}

const REMEDY: &str = "The daemon runs on the defaults. Correct it and run `anchord restart`.";

impl Args {
    #[expect(clippy::unused_self, reason = "the form that every command has")]
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let dir = InstanceDir::locate()?;
        // A daemon that cannot be replaced goes on.
        instance::verify(&dir).map_err(|error| {
            Error::from(RunError::from(error)).and_action("Nothing was stopped.")
        })?;
        let stopped = stop(&dir)?;
        let now: StatusReply = Client::started(&dir)?.get(api::STATUS, &())?;
        let build = show::plain(&now.build);
        match stopped {
            Some(old) => writeln!(out, "anchord {build} runs (pid {}, was {})", now.pid, old.pid)?,
            None => writeln!(out, "anchord {build} runs (pid {}); none ran before", now.pid)?,
        }
        for why in &now.config_ignored {
            let why = show::plain(&format!("cannot {why}"));
            anstream::eprintln!("{} {why}\n  {REMEDY}", "warning:".yellow());
        }
        Ok(())
    }
}
