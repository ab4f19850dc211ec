//! The command line itself.

use clap::CommandFactory;

use super::*;

#[test]
fn the_definitions_hold_together() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_shows_an_example() {
    fn check(command: &clap::Command, path: &str) {
        if command.has_subcommands() {
            for sub in command.get_subcommands() {
                check(sub, &format!("{path} {}", sub.get_name()));
            }
            return;
        }
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains(path), "`{path} --help` has an example that begins with it");
    }
    check(&Cli::command(), "anchord");
}

/// What a session in a copied project is told to run.
#[test]
fn the_command_that_a_copy_is_told_of_is_one() {
    let of = anchord_daemon::projects::ProjectId(uuid::Uuid::from_u128(7));
    let copied = anchord_daemon::projects::Status::Copy { of, original: "/src/parser".into() };
    let notice = copied.notice(std::path::Path::new("/src/copy")).unwrap();
    let (_, command) = notice.split_once("anchord ").unwrap();
    Cli::try_parse_from(std::iter::once("anchord").chain(command.split(' '))).unwrap();
}

#[test]
fn an_unknown_value_is_answered_with_the_allowed_set() {
    let refused = Cli::try_parse_from(["anchord", "export", "--format", "yaml"]).unwrap_err();
    assert_eq!(refused.exit_code(), 2);
    assert!(refused.to_string().contains("[possible values: markdown, json, zipmem, compactor]"));
}
