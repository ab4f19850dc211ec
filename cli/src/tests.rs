//! The command line's definitions and examples.

use anchord_memory::{Audience, Kind, Shell, Tool};
use clap::CommandFactory;
use serde_json::{Value, json};

use super::*;

#[test]
fn the_command_definitions_are_consistent() {
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

#[test]
fn every_example_is_a_valid_command() {
    fn check(command: &clap::Command, checked: &mut usize) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().filter(|line| line.starts_with("  anchord ")) {
            let words = shlex::split(line).unwrap();
            // The rest is for the shell.
            let words =
                words.iter().take_while(|word| !matches!(word.as_str(), "|" | ">" | "<" | "&&"));
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{line}: {error}");
            }
            *checked += 1;
        }
        command.get_subcommands().for_each(|sub| check(sub, checked));
    }
    let mut checked = 0;
    check(&Cli::command(), &mut checked);
    assert!(checked > 40, "{checked}");
}

#[test]
fn help_is_a_command_too() {
    for words in [&["help"][..], &["help", "search"], &["help", "project", "list"]] {
        let shown = Cli::try_parse_from(["anchord"].iter().chain(words)).unwrap_err();
        assert_eq!(shown.kind(), clap::error::ErrorKind::DisplayHelp, "{words:?}: {shown}");
    }
    let search = Cli::try_parse_from(["anchord", "help", "search"]).unwrap_err().to_string();
    assert!(search.contains("anchord search retry backoff"), "{search}");
}

/// The daemon words these for whoever typed a command.
#[test]
fn the_commands_that_replies_name_are_valid() {
    let typed = ["load", "--max-tokens", "700", "--project", "."].map(str::to_owned).into();
    let person = Audience::Person(Shell { typed });
    let sections = Kind::ALL.map(Kind::plural).to_vec();
    let calls: [(Tool, &[(&str, Value)]); 5] = [
        (Tool::Load, &[("cursor", json!("n12,n12")), ("sections", json!(sections))]),
        (Tool::Search, &[("scope", json!("user"))]),
        (Tool::Get, &[("id", json!("b1")), ("version", json!(2)), ("cursor", json!("900"))]),
        (Tool::List, &[("cursor", json!("12u3"))]),
        (Tool::Forget, &[("id", json!("n1"))]),
    ];
    assert_eq!(calls.map(|(tool, _)| tool), Tool::ALL);
    for (tool, parameters) in calls {
        let said = person.call(tool, parameters);
        let words = shlex::split(said.trim_matches('`')).unwrap();
        if let Err(error) = Cli::try_parse_from(words) {
            panic!("{said}: {error}");
        }
    }
    for remedy in
        ["anchord unpin n1", "anchord edit n1 --summary x", "anchord note", "anchord setup"]
    {
        Cli::try_parse_from(remedy.split(' ')).unwrap();
    }
}

/// A session in a copied project is told to run this command.
#[test]
fn the_command_suggested_to_a_copy_is_valid() {
    let of = anchord_daemon::projects::ProjectId(uuid::Uuid::from_u128(7));
    let copied = anchord_daemon::projects::Status::Copy { of, original: "/src/parser".into() };
    let notice = copied.notice(std::path::Path::new("/src/copy")).unwrap();
    let (_, command) = notice.split_once("anchord ").unwrap();
    Cli::try_parse_from(std::iter::once("anchord").chain(command.split(' '))).unwrap();
}

#[test]
fn an_unknown_value_is_answered_with_the_allowed_values() {
    let refused = Cli::try_parse_from(["anchord", "export", "--format", "yaml"]).unwrap_err();
    assert_eq!(refused.exit_code(), 2);
    assert!(refused.to_string().contains(
        "[possible values: markdown, json, zipmem, compactor, infinite-context, snap-memory]"
    ));
}

/// An impossible value fails before anything runs, so that 1 means that nothing was found.
#[test]
fn impossible_values_are_usage_errors() {
    for wrong in [
        "search x --since someday",
        "search x --until 2026-13-01",
        "search x --limit 0",
        "search x --max-tokens 10",
        "list --limit 0",
        "note x --key=",
        "note x --expires soon",
        "note x --expires 2020-01-01",
        "history --since someday",
        "load --at someday",
        "restore --to someday",
        "rules add --deny rm --expires soon",
    ] {
        let words = std::iter::once("anchord").chain(wrong.split(' '));
        assert_eq!(Cli::try_parse_from(words).unwrap_err().exit_code(), 2, "{wrong}");
    }
    for right in [
        "search x --since 2026-11-02 --until 2026-11-02T09:00:00Z",
        "search x --since yesterday --until 2h",
        "note x --expires 1h",
        "note x --expires tomorrow",
        "history --since yesterday --until 2h",
        "load --at 12",
        "restore --to 2w",
    ] {
        Cli::try_parse_from(std::iter::once("anchord").chain(right.split(' '))).unwrap();
    }
}

#[test]
fn every_kind_of_record_can_be_requested() {
    for noun in Kind::NOUNS {
        Cli::try_parse_from(["anchord", "list", "--kind", noun]).unwrap();
    }
    assert!(Cli::try_parse_from(["anchord", "list", "--kind", "else"]).is_err());
}

#[test]
fn common_spellings_of_kinds_and_commands_are_taken() {
    for typed in [
        "list --kind lessons",
        "search x --kind notes",
        "ls",
        "find x",
        "rule list",
        "projects list",
    ] {
        Cli::try_parse_from(std::iter::once("anchord").chain(typed.split(' '))).unwrap();
    }
}

#[test]
fn a_record_in_place_of_a_commit_is_told_from_one() {
    for command in ["show", "diff", "undo"] {
        let said = Cli::try_parse_from(["anchord", command, "n1"]).unwrap_err().to_string();
        assert!(said.contains("`anchord history n1` lists its versions"), "{said}");
        let said = Cli::try_parse_from(["anchord", command, "last"]).unwrap_err().to_string();
        assert!(said.contains("give the number of a commit"), "{said}");
    }
}
