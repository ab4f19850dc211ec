//! Valid and invalid command lines.

use std::path::Path;

use super::*;

fn parsed(arguments: &[&str]) -> Result<ShimCommand, String> {
    parse(&mut arguments.iter().map(OsString::from))
}

fn options(arguments: &[&str]) -> McpOptions {
    match parsed(arguments) {
        Ok(ShimCommand::Serve(options)) => options,
        other => panic!("{other:?}"),
    }
}

#[test]
fn flags_accept_a_separate_or_attached_value() {
    assert_eq!(options(&[]).project, None);
    assert_eq!(options(&[]).tools, ToolSet::Default);
    for arguments in
        [&["--project", "/a=b", "--tools", "all"][..], &["--tools=all", "--project=/a=b"]]
    {
        let options = options(arguments);
        assert_eq!(options.project.as_deref(), Some(Path::new("/a=b")));
        assert_eq!(options.tools, ToolSet::All);
    }
}

#[test]
fn a_budget_and_a_state_directory_are_accepted() {
    let options = options(&["--budget=60000", "--state-dir", "notes"]);
    assert_eq!(
        (options.budget, options.state_dir.as_deref()),
        (Some(60_000), Some(Path::new("notes")))
    );
}

#[test]
fn help_shows_every_flag_and_every_tool_set() {
    assert!(matches!(parsed(&["--help"]), Ok(ShimCommand::Help)));
    assert!(matches!(parsed(&["--version"]), Ok(ShimCommand::Version)));
    for word in ["--project", "--tools", "--budget", "--state-dir", "--version", "--help"] {
        assert!(help().contains(word));
    }
    for set in ToolSet::ALL {
        assert!(help().contains(set.name()));
    }
}

#[test]
fn an_invalid_argument_is_answered_with_the_valid_ones() {
    let wrong = |arguments: &[&str]| parsed(arguments).unwrap_err();
    assert_eq!(
        wrong(&["--toolz", "all"]),
        "unknown argument `--toolz`, allowed: --project DIR, --tools SET, --budget TOKENS, \
         --state-dir DIR, --version, --help"
    );
    assert_eq!(
        wrong(&["--tools", "some"]),
        r#"unknown tool set "some", allowed: default, all, zipmem, compactor, infinite-context, snap-memory"#
    );
    assert_eq!(wrong(&["--tools"]), "--tools needs a value");
    assert_eq!(wrong(&["--project="]), "--project needs a value");
    for tokens in ["many", "0", "-1", "1.5"] {
        assert_eq!(wrong(&["--budget", tokens]), "--budget needs a number of tokens, 1 or more");
    }
    assert!(wrong(&["--help=yes"]).starts_with("unknown argument"));
    assert!(wrong(&["/src/app"]).starts_with("unknown argument"));
}

#[test]
fn the_lists_in_the_texts_are_complete() {
    assert_eq!(SETS, ToolSet::ALL.map(ToolSet::name).join(", "));
    assert!(help().contains(&BUDGET_TOKENS_MIN.to_string()));
}
