//! `anchord parse-outline`: parses a text for the daemon, in a process that may die of it.
//!
//! The process limits its own memory, time and files before it reads the text.

use std::io::{Read, Write};

use anchord_outline::{Language, parse};
use anyhow::Context;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::exit::Error;
use crate::limits::{
    PARSER_BYTES_MAX, PARSER_FILES_MAX, PARSER_SECONDS_MAX, PARSER_TEXT_BYTES_MAX,
};

/// Parse a text from stdin and print its outline as JSON, for the daemon
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord parse-outline rust < src/lib.rs")]
pub(crate) struct Args {
    /// The language, by its id
    language: String,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        for (resource, most) in [
            (Resource::As, PARSER_BYTES_MAX),
            (Resource::Cpu, PARSER_SECONDS_MAX),
            (Resource::Nofile, PARSER_FILES_MAX),
            (Resource::Fsize, 0),
            (Resource::Core, 0),
        ] {
            limit(resource, most).context("cannot limit the parser")?;
        }
        let language = Language::by_id(&self.language)
            .ok_or_else(|| Error::usage(format!("{} has no grammar", self.language)))?;
        let mut text = String::new();
        std::io::stdin()
            .take(PARSER_TEXT_BYTES_MAX)
            .read_to_string(&mut text)
            .context("cannot read the text")?;
        let outline = parse(language, &text);
        Ok(serde_json::to_writer(out, &outline).context("cannot write the outline")?)
    }
}

/// Lowers a limit of this process for good.
fn limit(resource: Resource, most: u64) -> std::io::Result<()> {
    let hard = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?)
}
