//! Fuzzes the shell splitter and the parser of rules, from the corpus of evasions.
//!
//! Some changes keep a command's meaning, so it must still be stopped. For all others there are
//! laws. Nothing panics, and the same action gives the same verdict. A command that cannot be read
//! asks. A check takes a bounded time.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by a panic"
)]

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anchord_rules::{
    Action, Effect, Rule, Unparsed, Verdict, check, lint, parse_rules_file, render_rules_file,
};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::Index;

/// Commands that must not be allowed. A line has the effect, the rule, and the command.
const EVASIONS: &str = include_str!("../src/corpus/evasions.tsv");

/// The rules of the corpus.
const RULES: &str = include_str!("../src/corpus/rules.toml");

/// The time of a check after which it counts as endless. This build is slow, and machines are busy.
const PATIENCE: Duration = Duration::from_secs(20);

fn now() -> Timestamp {
    "2026-11-25T12:00:00Z".parse().unwrap()
}

fn rules() -> Vec<Rule> {
    parse_rules_file(RULES).unwrap()
}

/// Checks a command by the laws that hold for any text.
fn checked(command: &str) -> Verdict {
    let (done, answer) = mpsc::channel();
    let text = command.to_owned();
    let checking = thread::spawn(move || {
        let (rules, action) = (rules(), Action { command: Some(&text), ..Action::default() });
        let verdict = check(&rules, &action, now());
        assert_eq!(verdict, check(&rules, &action, now()), "{text:?}");
        // The receiver may have given up.
        let _ = done.send(verdict);
    });
    let verdict = match answer.recv_timeout(PATIENCE) {
        Ok(verdict) => verdict,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("endless: {command:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("a panic: {command:?}"),
    };
    checking.join().unwrap();
    if matches!(verdict.unparsed, Some(Unparsed::Syntax(_) | Unparsed::TooMuch { .. })) {
        assert_ne!(verdict.effect, Effect::Allow, "{command:?}");
    }
    verdict
}

/// Returns the corpus's commands of an effect. `\n` is a line break, and `\\n` one behind a
/// backslash.
fn evasions(effect: &str) -> Vec<String> {
    let lines = EVASIONS.lines().filter(|line| !line.starts_with('#'));
    let parts = lines.map(|line| line.splitn(3, '\t').collect::<Vec<_>>());
    let of_effect = parts.filter(|parts| effect.is_empty() || parts[0] == effect);
    let unescaped = of_effect.map(|parts| {
        let text = parts[2].replace("\\\\n", "\\\u{1}").replace("\\n", "\n");
        text.replace('\u{1}', "\n").replace("\\t", "\t")
    });
    unescaped.collect()
}

/// Evasions that are denied and end with themselves: whatever follows on a new line is apart.
fn any_evasion() -> impl Strategy<Value = String> {
    let all = evasions("deny");
    assert!(all.len() >= 200, "{}", all.len());
    // A line below may finish a here-document, or define a function anew before its call.
    let is_whole = |command: &String| !command.contains("<<") && !command.contains("()");
    let whole = all.into_iter().filter(is_whole);
    prop::sample::select(whole.collect::<Vec<_>>())
}

/// Evasions of one simple command without quotes, expansions and operators.
fn any_plain_evasion() -> impl Strategy<Value = String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -./+".contains(c);
    // These read their arguments in a way of their own, or are words of the grammar.
    let is_odd = |command: &String| ["coproc ", "time "].iter().any(|w| command.starts_with(w));
    let plain = evasions("deny").into_iter().filter(|command| command.chars().all(is_plain));
    prop::sample::select(plain.filter(|command| !is_odd(command)).collect::<Vec<_>>())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Ways to run a command inside of another, which all run it.
const AROUND: [fn(&str) -> String; 26] = [
    |it| format!("({it}\n)"),
    |it| format!("{{ {it}\n}}"),
    |it| format!("true && {{ {it}\n}} || false"),
    |it| format!("if :; then {it}\nfi"),
    |it| format!("if {it}\nthen :; fi"),
    |it| format!("while :; do {it}\nbreak; done"),
    |it| format!("for i in 1 2; do {it}\ndone"),
    |it| format!("case x in y) ;; x) {it}\n;; esac"),
    |it| format!("f() {{ {it}\n}}; f"),
    |it| format!("function g {{ {it}\n}}; g a b"),
    |it| format!("echo \"$({it}\n)\""),
    |it| format!("x=$({it}\n)"),
    |it| format!(": ${{x:-$({it}\n)}}"),
    |it| format!("cat <({it}\n)"),
    |it| format!("{it}\ntrue"),
    |it| format!("true\n{it}"),
    |it| format!("! {{ {it}\n}}"),
    |it| format!("eval {}", quoted(it)),
    |it| format!("sh -c {}", quoted(it)),
    |it| format!("sudo -u root bash -ec {}", quoted(it)),
    |it| format!("env -i A=b nice -n 5 sh -c {}", quoted(it)),
    |it| format!("bash <<'LIMIT'\n{it}\nLIMIT\n"),
    |it| format!("bash <<< {}", quoted(it)),
    |it| format!("printf '%s' {} | sh", quoted(it)),
    |it| format!("trap {} EXIT", quoted(it)),
    |it| format!("s={}; eval \"$s\"", quoted(it)),
];

/// Ways to write a character of a plain word.
fn disguised(c: char, how: usize) -> String {
    match how % 7 {
        0 => format!("\\{c}"),
        1 => format!("'{c}'"),
        2 => format!("\"{c}\""),
        3 => format!("$'{c}'"),
        4 => format!("$'\\x{:02x}'", u32::from(c)),
        5 => format!("''{c}"),
        _ => format!("\\\n{c}"),
    }
}

/// Ways to write a space between words.
const SPACES: [&str; 5] = ["  ", "\t", " \\\n", "\\\n ", " \t "];

/// A change of a text that may change its meaning.
#[derive(Clone, Debug)]
enum Change {
    Remove(Index, usize),
    Insert(Index, &'static str),
    Repeat(Index, usize, usize),
    Swap(Index, Index),
    Splice(Index, String),
}

fn any_change(others: Vec<String>) -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    let parts = prop::sample::select(vec![
        "(",
        ")",
        "{",
        "}",
        "'",
        "\"",
        "`",
        "$",
        "\\",
        "\n",
        "|",
        ";",
        "&",
        "<",
        ">",
        "<<",
        "#",
        "=",
        "*",
        "[",
        "]",
        "!",
        " ",
        "$(",
        "${",
        "$((",
        "))",
        "<<E\n",
        "\nE\n",
        "$'",
        "\u{0}",
        "\u{7f}",
        "\u{301}",
        "\u{1f980}",
        "\r",
        "case x in ",
        "esac",
        "do ",
        "~",
        "@(",
        "coproc ",
        "-c",
        "\"\"\"",
        "'''",
        "[[",
        "]]",
        ".",
        ",",
        "\t",
    ]);
    prop_oneof![
        (index(), 1..6_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        (index(), parts).prop_map(|(at, part)| Change::Insert(at, part)),
        (index(), 1..12_usize, prop_oneof![2..6_usize, 40..300_usize])
            .prop_map(|(at, count, times)| Change::Repeat(at, count, times)),
        (index(), index()).prop_map(|(a, b)| Change::Swap(a, b)),
        (index(), prop::sample::select(others)).prop_map(|(at, text)| Change::Splice(at, text)),
    ]
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for change in changes {
        let at = |index: &Index, chars: &[char]| index.index(chars.len() + 1);
        match change {
            Change::Remove(index, count) => {
                let from = at(index, &chars);
                chars.drain(from..(from + count).min(chars.len()));
            }
            Change::Insert(index, part) => {
                let from = at(index, &chars);
                chars.splice(from..from, part.chars());
            }
            Change::Repeat(index, count, times) => {
                let from = at(index, &chars);
                let part = chars[from..(from + count).min(chars.len())].repeat(*times);
                chars.splice(from..from, part);
            }
            Change::Swap(a, b) if !chars.is_empty() => {
                let (a, b) = (a.index(chars.len()), b.index(chars.len()));
                chars.swap(a, b);
            }
            Change::Swap(..) => {}
            Change::Splice(index, part) => {
                let from = at(index, &chars);
                chars.splice(from..from, part.chars());
            }
        }
    }
    chars.into_iter().collect()
}

proptest! {
    // `PROPTEST_CASES` makes it more.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_evasion_inside_of_others_is_stopped(
        evasion in any_evasion(),
        around in prop::collection::vec(prop::sample::select(AROUND.to_vec()), 1..4),
    ) {
        let line = around.iter().fold(evasion.clone(), |inner, around| around(&inner));
        // In a function with arguments, `$1` is not empty, and the line is another command.
        prop_assume!(!evasion.contains("comman$1d") || !line.contains("g a b"));
        prop_assert_ne!(checked(&line).effect, Effect::Allow, "{}", line);
    }

    #[test]
    fn a_disguised_command_is_stopped(
        evasion in any_plain_evasion(),
        hows in prop::collection::vec(prop::option::weighted(0.4, any::<usize>()), 80),
    ) {
        let written = evasion.chars().zip(hows).map(|(c, how)| match (c, how) {
            (c, None) => c.to_string(),
            (' ', Some(how)) => SPACES[how % SPACES.len()].to_owned(),
            (c, Some(how)) => disguised(c, how),
        });
        let line: String = written.collect();
        prop_assert_eq!(checked(&line).effect, Effect::Deny, "{}", line);
    }

    #[test]
    fn no_line_below_an_evasion_hides_it(
        evasion in any_evasion(),
        below in prop::sample::select(evasions("")),
        changes in prop::collection::vec(any_change(evasions("")), 0..4),
    ) {
        let line = format!("{evasion}\n{}", changed(&below, &changes));
        prop_assert_ne!(checked(&line).effect, Effect::Allow, "{}", line);
    }

    #[test]
    fn any_changed_evasion_is_checked(
        evasion in prop::sample::select(evasions("")),
        changes in prop::collection::vec(any_change(evasions("")), 1..6),
    ) {
        checked(&changed(&evasion, &changes));
    }

    #[test]
    fn any_changed_file_of_rules_is_read_or_refused_with_positions(
        changes in prop::collection::vec(
            any_change(RULES.lines().map(|line| format!("{line}\n")).collect()), 0..6),
    ) {
        let text = changed(RULES, &changes);
        match parse_rules_file(&text) {
            Ok(read) => {
                prop_assert_eq!(&parse_rules_file(&render_rules_file(&read)).unwrap(), &read);
                for rule in &read {
                    prop_assert!(lint(rule, now()).iter().all(|found| !found.to_string().is_empty()));
                }
                let action = Action { command: Some("git push origin main"), ..Action::default() };
                prop_assert_eq!(check(&read, &action, now()), check(&read, &action, now()));
            }
            Err(faults) => {
                prop_assert!(!faults.is_empty());
                let lines = text.split('\n').count();
                for fault in faults {
                    prop_assert!((1..=lines).contains(&fault.line), "{fault} in {text}");
                    prop_assert!(fault.column >= 1, "{fault} in {text}");
                }
            }
        }
    }

    #[test]
    fn any_pattern_is_compared_with_any_command(
        pattern in "[ -~\u{e9}]{0,24}",
        command in prop::sample::select(evasions("")),
        path in "[ -~]{0,16}",
    ) {
        let (list, paths) = (vec![pattern], [path]);
        let mut rule = rules().remove(0);
        rule.matches.commands.clone_from(&list);
        let by_path = Rule { matches: anchord_rules::Matches { paths: list.clone(), ..Default::default() }, ..rule.clone() };
        let by_branch = Rule { matches: anchord_rules::Matches { branches: list, ..Default::default() }, ..rule.clone() };
        for rule in [rule, by_path, by_branch] {
            let action = Action { command: Some(&command), paths: &paths, branch: Some(&paths[0]), ..Action::default() };
            let rules = [rule];
            prop_assert_eq!(check(&rules, &action, now()), check(&rules, &action, now()));
            lint(&rules[0], now());
        }
    }
}
