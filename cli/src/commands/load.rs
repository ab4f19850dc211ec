//! `anchord load`: what an agent would get.

use std::io::Write;

use anchord_daemon::http::api::{self, LoadQuery, LoadReply};
use anchord_memory::Kind;
use anchord_proto::instance::InstanceDir;
use clap::builder::PossibleValuesParser;

use super::{ProjectArg, print_json};
use crate::client::Client;
use crate::exit::Error;
use crate::{show, spoken};

/// Print what an agent would get at its start
///
/// Consumes no notice: the next agent still sees it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord load
  anchord load --section lessons --section notes
  anchord load --project ~/src/parser | less")]
pub(crate) struct Args {
    /// This section alone; may be said again
    #[arg(long, value_name = "SECTION", value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::plural)))]
    section: Vec<String>,
    /// From an earlier answer: what comes after it
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON, the text unchanged in it
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let query = LoadQuery {
            project: self.project.resolve()?,
            sections: Some(self.section.join(",")).filter(|names| !names.is_empty()),
            cursor: self.cursor,
        };
        let load: LoadReply = Client::started(&InstanceDir::locate()?)?.get(api::LOAD, &query)?;
        if self.json {
            return print_json(out, &load);
        }
        let text = spoken::as_commands(&load.text, &spoken::typed());
        Ok(writeln!(out, "{}", show::plain_lines(text.trim_end_matches('\n')))?)
    }
}
