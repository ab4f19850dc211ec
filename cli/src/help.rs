//! The help of `anchord` itself: its commands in groups, and the commands to begin with.
//!
//! clap lists commands in one block. Here it renders a block for each group instead, so that
//! wrapping and colours stay its own.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use crate::Cli;

/// The groups, in the order in which they are shown.
const GROUPS: [(&str, &[&str]); 8] = [
    ("First steps", &["setup", "init", "doctor", "demo"]),
    ("Watch", &["dashboard", "top", "status", "log"]),
    ("Read the memory", &["load", "search", "get", "list", "why", "outline", "anchors"]),
    ("Write to it", &["note", "add", "edit", "pin", "unpin", "forget", "purge", "compact"]),
    ("Look back and undo", &["history", "show", "diff", "undo", "backup", "restore"]),
    ("Rule what agents do", &["rules", "approve"]),
    (
        "Bring in, share, take out",
        &["import", "export", "shared", "team", "merge", "project", "secrets"],
    ),
    ("Run the daemon", &["restart", "stop", "service", "journal", "completions", "uninstall"]),
];

/// Commands that programs run, not people. They have one line.
const FOR_PROGRAMS: [&str; 3] = ["mcp", "hook", "daemon"];

const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";

/// Returns the definition of the command line, with its help in groups.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let groups = groups(&command);
    // The template has these before the options.
    command.before_help(groups).help_template(TEMPLATE)
}

fn groups(command: &Command) -> String {
    let heading = command.get_styles().get_header();
    let mut text = String::new();
    for (name, members) in GROUPS {
        let members = members.iter().filter_map(|member| command.find_subcommand(member));
        let mut block = Command::new("anchord")
            .disable_help_subcommand(true)
            .help_template("{subcommands}")
            .subcommands(members.cloned().enumerate().map(|(at, sub)| sub.display_order(at)));
        let block = block.render_help();
        let block = block.ansi();
        let _ = write!(text, "{heading}{name}:{heading:#}\n{}\n\n", block.to_string().trim_end());
    }
    let _ = write!(
        text,
        "Agents run {}.",
        FOR_PROGRAMS.map(|name| format!("`anchord {name}`")).join(", ")
    );
    text
}

#[cfg(test)]
mod tests;
