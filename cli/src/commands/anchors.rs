//! `anchord anchors`: whether the code of anchors is still where they say.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use anchord_daemon::api::{self, AnchorsParams, AnchorsReply, CheckedAnchor, CodeState};
use anchord_proto::instance::InstanceDir;

use super::{ProjectArg, print_json};
use crate::client::Client;
use crate::exit::{Error, Kind};
use crate::history::person;
use crate::table::{Align, Table};

/// Check whether the code of anchors is still where they say
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Verify(VerifyArgs),
}

/// Look for the code of each anchor; exits with 1 unless all of it is where the anchors say
///
/// The daemon moves anchors by itself in open projects, but not those of a memory that is shared
/// through git. --fix moves them too. An anchor without a fingerprint cannot be checked; it is
/// counted, and is no failure.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord anchors verify
  anchord anchors verify --fix
  anchord anchors verify --json | jq '.anchors[] | select(.state == \"gone\")'")]
pub(crate) struct VerifyArgs {
    /// Move the anchors whose code was found elsewhere
    #[arg(long)]
    fix: bool,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON, with the anchors whose code is where they say too
    #[arg(long)]
    json: bool,
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        match self {
            Self::Verify(args) => args.run(out),
        }
    }
}

impl VerifyArgs {
    fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let mut client = Client::started(&InstanceDir::locate()?)?;
        let params = AnchorsParams { project: self.project.resolve()?, fix: self.fix };
        let reply: AnchorsReply = client.post(api::ANCHORS, &params)?;
        if self.json {
            print_json(out, &reply)?;
        } else {
            print(out, &reply.anchors)?;
        }
        let is_right = reply.anchors.iter().all(CheckedAnchor::is_right);
        let code = if is_right { 0 } else { Kind::Failed.code() };
        Ok(ExitCode::from(code))
    }
}

/// Prints the anchors whose code is not where they say, the number of each state, and what to do.
fn print(out: &mut dyn Write, anchors: &[CheckedAnchor]) -> Result<(), Error> {
    let mut table = Table::new(&[
        ("ID", Align::Left),
        ("STATE", Align::Left),
        ("CODE", Align::Left),
        ("WAS", Align::Left),
        ("CONCEPT", Align::Left),
    ]);
    let (mut counts, mut has_rows) = (BTreeMap::<CodeState, usize>::new(), false);
    for it in anchors {
        *counts.entry(it.state).or_default() += 1;
        if it.is_right() && !it.fixed {
            continue;
        }
        has_rows = true;
        let was = it.was.as_ref().map(|was| format!("{}:{}", was.file, was.lines));
        let place = format!("{}:{}", it.file, it.lines);
        table.row([
            it.id.to_string(),
            state(it),
            if it.state == CodeState::Gone { "-".to_owned() } else { place.clone() },
            was.unwrap_or_else(|| if it.state == CodeState::Gone { place } else { "-".to_owned() }),
            it.concept.clone(),
        ]);
    }
    if has_rows {
        table.print(out)?;
        writeln!(out)?;
    }
    let counted: Vec<String> =
        counts.iter().map(|(state, count)| format!("{count} {}", word(*state))).collect();
    match anchors {
        [] => writeln!(out, "no anchors")?,
        [only] => writeln!(out, "1 anchor: {}", word(only.state))?,
        all => writeln!(out, "{} anchors: {}", all.len(), counted.join(", "))?,
    }
    let has =
        |wanted: &[CodeState]| anchors.iter().any(|it| wanted.contains(&it.state) && !it.fixed);
    if has(&[CodeState::Moved]) {
        let fix = person().command(&["anchors", "verify", "--fix"]);
        writeln!(out, "  {fix} moves those that moved")?;
    }
    if has(&[CodeState::Changed, CodeState::Gone, CodeState::Unchecked]) {
        let add = person().command(&["add", "anchor", "FILE", "LINES", "CONCEPT"]);
        let forget = person().command(&["forget", "ID"]);
        writeln!(out, "  if one still holds, {add} stores its code as it is; else {forget}")?;
    }
    Ok(())
}

fn state(it: &CheckedAnchor) -> String {
    match it.state {
        CodeState::Changed => format!("changed {} %", it.percent),
        CodeState::Moved if it.fixed => "moved, fixed".to_owned(),
        state => word(state).to_owned(),
    }
}

fn word(state: CodeState) -> &'static str {
    match state {
        CodeState::Fresh => "fresh",
        CodeState::Moved => "moved",
        CodeState::Changed => "changed",
        CodeState::Gone => "gone",
        CodeState::NoFingerprint => "without a fingerprint",
        CodeState::Unchecked => "unchecked",
    }
}
