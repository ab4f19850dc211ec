//! Every command is in the help, once.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_command_is_in_one_group() {
    let grouped: Vec<&str> =
        GROUPS.iter().flat_map(|(_, members)| members.iter().copied()).collect();
    let command = Cli::command();
    let visible: BTreeSet<&str> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .map(Command::get_name)
        .filter(|name| !FOR_PROGRAMS.contains(name))
        .collect();
    assert_eq!(grouped.len(), visible.len(), "none is named twice");
    assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), visible);
}

#[test]
fn the_help_begins_with_what_to_do_first() {
    let help = command().render_help().to_string();
    insta::assert_snapshot!(help);
}
