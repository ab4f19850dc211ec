//! The corpus of evasions and harmless commands, and laws over any rules and any text.

use jiff::Timestamp;
use proptest::prelude::*;

use crate::{Action, Effect, Matches, Pass, Rule, Verdict, Window, check, parse_rules_file};

/// Commands that must not be allowed. A line has the effect, the rule, and the command.
const EVASIONS: &str = include_str!("corpus/evasions.tsv");
/// Commands that must not be denied. A line has the effect and the command.
const HARMLESS: &str = include_str!("corpus/harmless.tsv");
/// Forms of options. A line has the effect, the only pattern of a rule, and the command.
const FORMS: &str = include_str!("corpus/forms.tsv");

fn now() -> Timestamp {
    "2026-11-25T12:00:00Z".parse().unwrap()
}

fn rule(id: &str, effect: Effect, matches: Matches) -> Rule {
    Rule {
        id: id.to_owned(),
        title: format!("title of {id}"),
        reason: format!("reason of {id}"),
        effect,
        matches,
        windows: Vec::new(),
        expires: None,
        fail_closed: false,
    }
}

fn texts(entries: &[&str]) -> Vec<String> {
    entries.iter().map(|entry| (*entry).to_owned()).collect()
}

fn commands(entries: &[&str]) -> Matches {
    Matches { commands: texts(entries), ..Matches::default() }
}

/// The rules of the corpus.
fn rules() -> Vec<Rule> {
    parse_rules_file(include_str!("corpus/rules.toml")).unwrap()
}

fn of(command: &str) -> Verdict {
    check(&rules(), &Action { command: Some(command), ..Action::default() }, now())
}

/// Returns the command of a line: `\n` is a line break, and `\\n` one behind a backslash.
fn unescaped(command: &str) -> String {
    command
        .replace("\\\\n", "\\\u{1}")
        .replace("\\n", "\n")
        .replace('\u{1}', "\n")
        .replace("\\t", "\t")
}

#[test]
fn no_evasion_is_allowed() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in EVASIONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut parts = line.splitn(3, '\t');
        let (effect, rule, command) =
            (parts.next().unwrap(), parts.next().unwrap(), unescaped(parts.next().unwrap()));
        let verdict = of(&command);
        count += 1;
        let names = verdict.deciding.iter().any(|decided| decided.rule == rule);
        if verdict.effect.word() != effect || !names {
            wrong.push(format!("{}\t{rule}\t{command:?}", verdict.effect.word()));
        }
    }
    assert!(count >= 200, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_option_counts_in_all_its_forms() {
    let mut wrong = Vec::new();
    for line in FORMS.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split('\t').collect();
        let [effect, pattern, command] = parts[..] else { panic!("{line}") };
        let rules = [rule("r", Effect::Deny, commands(&[pattern]))];
        let action = Action { command: Some(command), ..Action::default() };
        let found = check(&rules, &action, now()).effect.word();
        if found != effect {
            wrong.push(format!("{found}\t{pattern}\t{command}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_harmless_command_is_denied() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in HARMLESS.lines() {
        let (effect, command) = line.split_once('\t').unwrap();
        let verdict = of(&unescaped(command));
        count += 1;
        if verdict.effect.word() != effect || verdict.effect == Effect::Deny {
            let rules: Vec<_> =
                verdict.deciding.iter().map(|decided| (&decided.rule, &decided.matched)).collect();
            wrong.push(format!(
                "{}\t{command:?} {rules:?} {:?}",
                verdict.effect.word(),
                verdict.unparsed
            ));
        }
    }
    assert!(count >= 60, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_verdict_names_rule_reason_text_and_what_passes() {
    let verdict = of("cd x && sudo git -C dir push origin -f");
    let [decided] = &verdict.deciding[..] else { panic!("{verdict:?}") };
    assert_eq!((verdict.effect, decided.rule.as_str()), (Effect::Deny, "no-force"));
    assert_eq!(decided.reason, "reason of no-force");
    assert_eq!(decided.matched[0].text, "git -C dir push origin -f");
    assert_eq!(decided.pass, [Pass::Without("git -C dir push origin -f".to_owned())]);
    let verdict = of("git push $FLAGS");
    assert_eq!((verdict.effect, verdict.deciding[0].certain), (Effect::Ask, false));
    assert_eq!(verdict.deciding[0].pass[0], Pass::Approval);
    assert_eq!(of("git push").deciding, []);
}

#[test]
fn fields_are_anded_and_entries_ored() {
    let matches = Matches {
        commands: texts(&["git commit", "git merge"]),
        branches: texts(&["main", "release/*"]),
        tools: texts(&["Bash", "shell*"]),
        ..Matches::default()
    };
    let rules = [rule("r", Effect::Deny, matches)];
    let effect = |command, tool, branch| {
        let action = Action { command: Some(command), tool, branch, ..Action::default() };
        check(&rules, &action, now()).effect
    };
    assert_eq!(effect("git merge x", Some("Bash"), Some("release/1")), Effect::Deny);
    assert_eq!(effect("git commit", Some("shell_exec"), Some("main")), Effect::Deny);
    assert_eq!(effect("git commit", Some("Edit"), Some("main")), Effect::Allow);
    assert_eq!(effect("git commit", Some("Bash"), Some("topic")), Effect::Allow);
    assert_eq!(effect("git log", Some("Bash"), Some("main")), Effect::Allow);
    assert_eq!(effect("git commit", Some("Bash"), None), Effect::Ask, "the branch is unknown");
    let switched = effect("git switch main && git commit", Some("Bash"), Some("topic"));
    assert_eq!(switched, Effect::Deny);
    // The command is written out already; only the branch is unknown.
    let action = Action { command: Some("git commit"), tool: Some("Bash"), ..Action::default() };
    let decided = &check(&rules, &action, now()).deciding[0];
    assert!(!decided.pass.iter().any(|pass| matches!(pass, Pass::Literal(_))), "{decided:?}");
}

#[test]
fn words_of_an_action_match_in_any_order() {
    let matches = Matches { actions: texts(&["deploy production"]), ..Matches::default() };
    let rules = [rule("r", Effect::Ask, matches)];
    let effect =
        |action| check(&rules, &Action { action: Some(action), ..Action::default() }, now()).effect;
    assert_eq!(effect("Deploying to PRODUCTION now"), Effect::Ask);
    assert_eq!(effect("deploy to staging"), Effect::Allow);
}

#[test]
fn a_rule_is_in_force_in_its_windows_and_until_it_expires() {
    let mut friday = rule("r", Effect::Deny, commands(&["make deploy"]));
    friday.windows = vec![
        serde_json::from_str::<Window>(r#"{"days":["fri"],"from":"12:00","tz":"Europe/Berlin"}"#)
            .unwrap(),
    ];
    friday.expires = Some("2027-01-01T00:00:00Z".parse().unwrap());
    let verdict = |at: &str| {
        let action = Action { command: Some("make deploy"), ..Action::default() };
        check(std::slice::from_ref(&friday), &action, at.parse().unwrap())
    };
    let denied = verdict("2026-11-27T11:00:00Z");
    assert_eq!(denied.effect, Effect::Deny);
    let midnight: Timestamp = "2026-11-27T23:00:00Z".parse().unwrap();
    assert_eq!(denied.deciding[0].pass[0], Pass::Wait(midnight));
    assert_eq!(verdict("2026-11-27T10:59:59Z").effect, Effect::Allow);
    assert_eq!(verdict("2027-01-01T12:00:00Z").effect, Effect::Allow, "a Friday, but expired");
}

#[test]
fn a_command_beyond_a_limit_asks_at_once() {
    let nested = |open: &str, close: &str, times: usize| {
        format!("{}git push --force{}", open.repeat(times), close.repeat(times))
    };
    for (open, close) in [
        ("( ", " )"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("{ ", "; }"),
        ("${x:-", "}"),
        ("$((", "))"),
        ("if ", "; then :; fi"),
        ("case x in x) ", ";; esac"),
        ("case x in x) ", ""),
        ("((", ""),
        ("( ( (", ""),
        ("! ", ""),
        ("f() ", ""),
        ("while ", ""),
        ("<(", ")"),
        ("[[ ( ", " ) ]]"),
        ("coproc ", ""),
        ("`", "`"),
        ("eval ", ""),
        ("sudo ", ""),
        ("a=(", ")"),
        ("${", "}"),
        ("$", ""),
        ("<<E ", ""),
    ] {
        for times in [8, 30, 1000] {
            let command = nested(open, close, times);
            assert_ne!(of(&command).effect, Effect::Allow, "{open} {times}");
        }
    }
    assert_eq!(of(&format!("git push --force {}", "x".repeat(70_000))).effect, Effect::Ask);
    assert_eq!(of(&"true; ".repeat(9000)).effect, Effect::Ask);
    let growing = format!("x=a; {} $x", "x=$x$x; ".repeat(50));
    assert_eq!(of(&growing).effect, Effect::Ask);
    assert_eq!(of("f() { f; f; }; f; git push --force").effect, Effect::Deny);
}

fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![Just(Effect::Allow), Just(Effect::Ask), Just(Effect::Deny)]
}

fn any_matches() -> impl Strategy<Value = Matches> {
    let entry = prop_oneof![
        "[a-z*./{}\\[\\] -]{0,12}",
        Just("git push --force".to_owned()),
        Just("git **".to_owned()),
        Just("**/.env".to_owned()),
    ];
    let list = || prop::collection::vec(entry.clone(), 0..3);
    (list(), list(), list()).prop_map(|(commands, paths, branches)| Matches {
        commands,
        paths,
        branches,
        ..Matches::default()
    })
}

fn any_rules() -> impl Strategy<Value = Vec<Rule>> {
    let one = ("[a-c]", any_effect(), any_matches());
    prop::collection::vec(one.prop_map(|(id, effect, matches)| rule(&id, effect, matches)), 0..6)
}

/// Parts of evasions, joined at random.
fn any_command() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "git", "push", "--force", " ", ";", "&&", "|", "(", ")", "{", "}", "$(", "`", "\"", "'",
        "$x", "x=", "\\", "\n", "<<E", "\nE\n", "sh -c ", "eval ", "sudo ", "${", "$((", "case ",
        "esac", "if ", "then ", "fi", "do ", "done", "for ", "in ", "[[", "]]", "$'", "*", "!",
        "<(", ">", "&", "#", "f() ", "xargs ", "{a,b}", "\u{e9}", "\t", "-", "[", "~", "@(", "\r",
    ]);
    prop_oneof![
        prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat()),
        any::<String>(),
    ]
}

/// Harmless commands of one line that no comment ends.
fn any_harmless() -> impl Strategy<Value = String> {
    let lines = HARMLESS.lines().filter_map(|line| line.split_once('\t'));
    let whole = lines.filter(|(_, command)| !command.contains('#') && !command.contains("<<"));
    let whole = whole.filter(|(_, command)| !command.ends_with('&'));
    // After `x=1`, `git push $x--force` does not force anything.
    let whole = whole.filter(|(_, command)| !sets_a_variable(command));
    prop::sample::select(whole.map(|(_, command)| unescaped(command)).collect::<Vec<_>>())
}

fn sets_a_variable(command: &str) -> bool {
    command.split([';', '&', '|']).any(|part| {
        let name = part.trim_start().split_once('=').map(|(name, _)| name);
        let is_name = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        name.is_some_and(|name| !name.is_empty() && is_name(name))
    })
}

/// Evasions that are denied and go on with other commands behind them.
fn any_evasion() -> impl Strategy<Value = String> {
    let lines = EVASIONS.lines().filter(|line| line.starts_with("deny"));
    let commands = lines.filter_map(|line| line.splitn(3, '\t').last());
    let whole = commands.filter(|command| !command.contains("<<") && !command.ends_with('&'));
    prop::sample::select(whole.map(unescaped).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_verdict_is_deterministic_and_needs_no_order(
        rules in any_rules(),
        command in any_command(),
    ) {
        let action = Action { command: Some(&command), ..Action::default() };
        let verdict = check(&rules, &action, now());
        prop_assert_eq!(&verdict, &check(&rules, &action, now()));
        let reversed: Vec<Rule> = rules.iter().rev().cloned().collect();
        let other = check(&reversed, &action, now());
        prop_assert_eq!(verdict.effect, other.effect);
        let ids = |verdict: &Verdict| -> Vec<String> {
            verdict.deciding.iter().map(|decided| decided.rule.clone()).collect()
        };
        prop_assert_eq!(ids(&verdict), ids(&other));
    }

    #[test]
    fn a_further_rule_never_weakens(
        rules in any_rules(),
        effect in any_effect(),
        matches in any_matches(),
        command in any_command(),
    ) {
        let action = Action { command: Some(&command), ..Action::default() };
        let before = check(&rules, &action, now()).effect;
        let more = [rules, vec![rule("more", effect, matches)]].concat();
        prop_assert!(check(&more, &action, now()).effect >= before);
    }

    #[test]
    fn a_part_of_a_line_is_not_hidden_by_what_is_around_it(
        before in any_harmless(),
        operator in prop::sample::select(vec!["; ", " && ", " || ", " | ", " & ", "\n"]),
        evasion in any_evasion(),
        after in any_harmless(),
    ) {
        let line = format!("{before}{operator}{evasion}{operator}{after}");
        prop_assert_ne!(of(&line).effect, Effect::Allow, "{}", line);
    }

    #[test]
    fn any_rule_is_written_as_it_is_read(
        rules in any_rules(),
        text in any::<String>(),
        tz in "[A-Z][a-z]{1,6}",
    ) {
        let mut rules = rules;
        for rule in &mut rules {
            rule.reason.clone_from(&text);
            rule.windows = vec![Window { days: Vec::new(), from: None, until: None, tz: tz.clone() }];
        }
        let json = serde_json::to_string(&rules).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<Rule>>(&json).unwrap(), rules.clone());
        // Faults are found, and nothing panics.
        let _ = parse_rules_file(&crate::render_rules_file(&rules));
        let _ = parse_rules_file(&text);
        for rule in &rules {
            crate::lint(rule, now());
        }
    }
}

/// Changes every evasion a little, so that the parsers see what almost is a command.
#[test]
fn altered_evasions_do_not_panic() {
    for (seed, line) in EVASIONS.lines().enumerate() {
        let command = unescaped(line.splitn(3, '\t').last().unwrap());
        let chars: Vec<char> = command.chars().collect();
        for round in 0..4 {
            let at = (seed * 31 + round * 17) % chars.len().max(1);
            let mut altered = chars.clone();
            match round % 4 {
                0 => drop(altered.drain(at..)),
                1 => drop(altered.remove(at)),
                2 => altered.insert(at, ['(', '"', '\'', '$', '`', '\\', '{', ')'][round % 8]),
                _ => altered.extend(chars.iter().skip(at)),
            }
            of(&altered.into_iter().collect::<String>());
        }
    }
}

#[test]
fn a_command_in_a_subdirectory_touches_the_files_there() {
    let frozen = Matches { paths: texts(&["src/app.py"]), ..Matches::default() };
    let rules = [rule("frozen", Effect::Deny, frozen)];
    let effect = |command, directory| {
        let action = Action { command: Some(command), directory, ..Action::default() };
        check(&rules, &action, now()).effect
    };
    for (command, directory, stops) in [
        ("rm app.py", Some("src"), true),
        ("echo x > app.py", Some("src"), true),
        ("rm ../src/app.py", Some("docs"), true),
        ("cd ../src; rm app.py", Some("docs"), true),
        ("cd src && rm app.py", None, true),
        ("rm src/app.py", Some("docs"), true), // Some agents name files from the root.
        ("rm app.py", Some("docs"), false),
        ("rm app.py", None, false),
    ] {
        let wanted = if stops { Effect::Deny } else { Effect::Allow };
        assert_eq!(effect(command, directory), wanted, "{command} in {directory:?}");
    }
}
