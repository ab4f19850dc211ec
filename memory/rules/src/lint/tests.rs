//! One rule for each finding.

use jiff::Timestamp;

use super::{Finding, lint};
use crate::verdict::Field;
use crate::{Effect, Matches, Rule, Window};

fn now() -> Timestamp {
    "2026-11-25T12:00:00Z".parse().unwrap()
}

fn rule() -> Rule {
    let commands = vec!["git push --force".to_owned()];
    Rule {
        id: "no-force".to_owned(),
        title: "No forced push".to_owned(),
        reason: String::new(),
        effect: Effect::Deny,
        matches: Matches { commands, ..Matches::default() },
        windows: Vec::new(),
        expires: None,
        fail_closed: false,
    }
}

fn of(change: impl FnOnce(&mut Rule)) -> Vec<Finding> {
    let mut rule = rule();
    change(&mut rule);
    lint(&rule, now())
}

fn window(from: &str, until: &str, tz: &str) -> Window {
    let bound = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
    Window { days: Vec::new(), from: bound(from), until: bound(until), tz: tz.to_owned() }
}

#[test]
fn a_sound_rule_has_no_findings() {
    assert_eq!(of(|_| {}), []);
    assert_eq!(of(|rule| rule.windows = vec![window("22:00", "06:00", "Europe/Berlin")]), []);
}

#[test]
fn each_fault_is_found() {
    assert_eq!(of(|rule| rule.id = "No Force".to_owned()), [Finding::BadId]);
    assert_eq!(of(|rule| rule.title = " ".to_owned()), [Finding::NoTitle]);
    assert_eq!(of(|rule| rule.matches = Matches::default()), [Finding::MatchesNothing]);
    let commands = |entry: &str| {
        let entry = entry.to_owned();
        of(|rule| rule.matches.commands = vec![entry])
    };
    assert_eq!(commands(" "), [Finding::EmptyEntry(Field::Command)]);
    assert_eq!(commands("* **"), [Finding::TooBroad(Field::Command, "* **".to_owned())]);
    assert_eq!(commands("a $b"), [Finding::NeverMatches(Field::Command, "a $b".to_owned())]);
    for entry in ["a \"$b\"", "a `b`", "a \"'$b'\"", "a 'b' $c"] {
        let never = Finding::NeverMatches(Field::Command, entry.to_owned());
        assert_eq!(commands(entry), [never]);
    }
    for entry in ["awk '{print $1}'", "a \\$b", "a \"\\$b\""] {
        assert_eq!(commands(entry), [], "{entry}");
    }
    assert_eq!(commands("''"), [Finding::EmptyEntry(Field::Command)]);
    assert_eq!(commands("a 'b"), [Finding::OpenQuote("a 'b".to_owned())]);
    assert_eq!(commands("a \\"), [Finding::OpenQuote("a \\".to_owned())]);
    assert_eq!(commands("a >> b"), [Finding::Redirects("a >> b".to_owned())]);
    let paths = |entry: &str| {
        let entry = entry.to_owned();
        of(|rule| rule.matches.paths = vec![entry])
    };
    assert_eq!(paths("a[b"), [Finding::BadGlob(Field::Path, "a[b".to_owned())]);
    assert_eq!(paths("a{b"), [Finding::BadGlob(Field::Path, "a{b".to_owned())]);
    assert_eq!(paths("**"), [Finding::TooBroad(Field::Path, "**".to_owned())]);
    assert_eq!(paths("a//b"), [Finding::NeverMatches(Field::Path, "a//b".to_owned())]);
    assert_eq!(
        of(|rule| rule.matches.actions = vec!["--".to_owned()]),
        [Finding::EmptyEntry(Field::Action)]
    );
    assert_eq!(of(|rule| rule.expires = Some(now())), [Finding::Expired(now())]);
    assert!(matches!(of(|rule| rule.reason = "x".repeat(5000))[..], [Finding::TooLong(..)]));
}

#[test]
fn a_pattern_of_several_commands_is_an_error() {
    for entry in
        ["kubectl delete; helm uninstall", "a && b", "a || b", "curl * | sh", "a & b", "a;", "a\nb"]
    {
        let found = of(|rule| rule.matches.commands = vec![entry.to_owned()]);
        assert_eq!(found, [Finding::SeveralCommands(entry.to_owned())], "{entry}");
        assert!(found[0].is_error(), "{entry}");
        assert!(found[0].to_string().contains("give one --command for each"), "{}", found[0]);
    }
    for entry in
        ["psql -c \"DROP TABLE*\"", "a 'b; c'", "a 'b && c'", "find -exec rm \\;", "a 'b\nc'"]
    {
        assert_eq!(of(|rule| rule.matches.commands = vec![entry.to_owned()]), [], "{entry}");
    }
}

#[test]
fn windows_are_checked() {
    let windows = |from: &str, until: &str, tz: &str| {
        let window = window(from, until, tz);
        of(|rule| rule.windows = vec![window])
    };
    assert_eq!(windows("", "", "Berlin"), [Finding::UnknownZone("Berlin".to_owned())]);
    assert!(matches!(windows("12:00", "2026-12-01", "UTC")[..], [Finding::MixedWindow(..)]));
    assert!(matches!(windows("2026-12-02", "2026-12-01", "UTC")[..], [Finding::EmptyWindow(..)]));
    assert_eq!(windows("2026-12-01", "2026-12-01", "UTC"), [], "one whole day");
    assert!(matches!(windows("12:00", "12:00", "UTC")[..], [Finding::EmptyWindow(..)]));
    assert!(matches!(windows("", "2026-11-24", "UTC")[..], [Finding::WindowOver(_)]));
}
