//! `anchord load`: what an agent would get.

use std::io::Write;

use anchord_daemon::http::api::{self, LoadQuery, LoadReply};
use anchord_proto::instance::InstanceDir;
use clap::ValueEnum;

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
    #[arg(long, value_enum, value_name = "SECTION")]
    section: Vec<Section>,
    /// From an earlier answer: what comes after it
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON, the text unchanged in it
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Section {
    Blueprints,
    Anchors,
    Lessons,
    Notes,
    Topics,
    Sessions,
}

impl Section {
    /// As the daemon names it.
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let sections: Vec<String> = self.section.iter().map(|section| section.name()).collect();
        let query = LoadQuery {
            project: self.project.resolve()?,
            sections: Some(sections.join(",")).filter(|names| !names.is_empty()),
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
