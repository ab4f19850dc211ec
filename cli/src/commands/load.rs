//! `anchord load`: what an agent would get.

use std::io::Write;

use anchord_daemon::http::api::{self, LoadReply, ProjectQuery};
use anchord_proto::instance::InstanceDir;

use super::{ProjectArg, print_json};
use crate::client::Client;
use crate::exit::Error;
use crate::show;

/// Print what an agent would get at its start
///
/// Consumes no notice: the next agent still sees it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord load
  anchord load --project ~/src/parser | less")]
pub(crate) struct Args {
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON, the text unchanged in it
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let query = ProjectQuery { project: self.project.resolve()? };
        let load: LoadReply = Client::started(&InstanceDir::locate()?)?.get(api::LOAD, &query)?;
        if self.json {
            return print_json(out, &load);
        }
        Ok(writeln!(out, "{}", show::plain_lines(load.text.trim_end_matches('\n')))?)
    }
}
