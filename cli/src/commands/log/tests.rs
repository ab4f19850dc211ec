//! Lines of the log as a person reads them.

use serde_json::json;

use super::*;

#[test]
fn a_line_says_who_asked_what_and_got_what() {
    let line = Retrieval {
        number: 7,
        time: 1_763_780_000_000,
        session: "019aa4f2-0000-7000-8000-0123456789ab".to_owned(),
        client: "claude-code".to_owned(),
        tool: "memory_search".to_owned(),
        asked: json!({"limit": 3, "query": "retry backoff"}),
        ids: vec!["n12".to_owned(), "l3".to_owned()],
        tokens: 612,
        micros: 1_234,
        ..Retrieval::default()
    };
    let many = Retrieval {
        tool: "a_tool_of_another_set".to_owned(),
        client: "a client with a long name".to_owned(),
        asked: json!("cut because it was so very long …"),
        ids: (1..=9).map(|number| format!("n{number}")).collect(),
        more: 40,
        truncated: true,
        tokens: 1_234_567,
        ..line.clone()
    };
    let none = Retrieval { asked: json!({}), ids: Vec::new(), ..line.clone() };
    let refused = Retrieval {
        asked: json!({"id": "n\u{1b}[31m"}),
        refused: true,
        ids: Vec::new(),
        ..line.clone()
    };
    let wide =
        Retrieval { asked: json!({"query": "再試行は五回まで".repeat(9)}), ..line.clone() };
    let shown = |layout: Layout| {
        let lines = [&line, &many, &none, &refused, &wide].map(|line| layout.words(line));
        [[layout.head()].as_slice(), &lines].concat()
    };
    for layout in [Layout::Whole, Layout::Fitted(80), Layout::Fitted(150)] {
        insta::assert_snapshot!(shown(layout).join("\n"));
    }
    for columns in 20..=220 {
        for line in shown(Layout::Fitted(columns)) {
            assert!(line.width() <= columns, "{columns}: {line}");
            assert!(!line.contains("- ->"), "{line}");
        }
    }
}

#[test]
fn a_check_has_the_columns_of_its_heading() {
    let logged = |asked: Value| {
        Check::logged(&Retrieval {
            time: 1_763_780_000_000,
            session: "019aa4f2-0000-7000-8000-0123456789ab".to_owned(),
            client: "claude-code".to_owned(),
            tool: api::RULE_CHECK.to_owned(),
            ids: asked["rules"].as_array().map_or_else(Vec::new, |rules| {
                rules.iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
            }),
            asked,
            ..Retrieval::default()
        })
    };
    let guarded = |line: Value| Check::logged(&checks::without_daemon(line));
    let checks = [
        logged(json!({"result": "deny", "rules": ["r1"], "command": "make deploy", "tool": "x"})),
        logged(json!({"result": "approved", "rules": ["r1"], "tool": "Edit", "paths": ["a.rs"]})),
        guarded(json!({
            "time": 1_763_780_001_000_i64, "checked": "without the daemon", "result": "deny",
            "rules": ["r2"], "tool": "Bash", "command": "git push --force",
        })),
        guarded(json!({
            "time": 1_763_780_002_000_i64, "checked": "without the daemon",
            "result": "passed without the daemon", "rules": [], "command": "make",
        })),
    ];
    let shown = |layout: Layout| {
        let lines = checks.iter().map(|check| layout.check(check));
        std::iter::once(layout.checks_head()).chain(lines).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(shown(Layout::Whole), @r"
    time (UTC)           session   client          result    action -> rules
    2025-11-22 02:53:20  456789ab  claude-code     deny      make deploy -> r1
    2025-11-22 02:53:20  456789ab  claude-code     approved  Edit a.rs -> r1
    2025-11-22 02:53:21  -         -               deny      git push --force -> r2 (without the daemon)
    2025-11-22 02:53:22  -         -               passed    make -> none (without the daemon)
    ");
    insta::assert_snapshot!(shown(Layout::Fitted(60)), @r"
    time (UTC)   client       result    action -> rules
    11-22 02:53  claude-code  deny      make deploy -> r1
    11-22 02:53  claude-code  approved  Edit a.rs -> r1
    11-22 02:53  -            deny      git push --… -> r2 (wit…
    11-22 02:53  -            passed    make -> none (without t…
    ");
}

#[test]
fn checks_without_the_daemon_are_in_the_order_of_time() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = InstanceDir::named(scratch.path());
    let log = dir.guard().join("log");
    std::fs::create_dir_all(&log).unwrap();
    let line = json!({"time": 2, "root": "/a", "result": "ask", "rules": ["r1"], "paths": null});
    std::fs::write(log.join("checks.jsonl"), format!("{line}\n")).unwrap();
    let tool = api::RULE_CHECK;
    let logged = |time| Retrieval { time, tool: tool.to_owned(), ..Retrieval::default() };
    let shown = |arguments: &[&str]| {
        let guarded = checks_without_daemon(&dir, "/a").unwrap();
        let all = args(arguments).newest(vec![logged(1), logged(3)], guarded);
        all.iter().map(|line| line.time).collect::<Vec<_>>()
    };
    assert_eq!(shown(&["--rules"]), [1, 2, 3]);
    assert_eq!(shown(&["--rules", "-n", "2"]), [2, 3]);
    assert_eq!(shown(&["-n", "2"]), [2, 3], "they are among other lines too");
    let all = args(&["--rules"]).newest(Vec::new(), checks_without_daemon(&dir, "/a").unwrap());
    let mut out = Vec::new();
    args(&["--rules", "--json"]).print(&mut out, &all).unwrap();
    let printed: Value = serde_json::from_slice(&out).unwrap();
    let asked = json!({"checked": "without the daemon", "result": "ask", "rules": ["r1"]});
    assert_eq!(printed["asked"], asked);
}

/// A hook that does not get the daemon's answer may check by itself, or be ended before.
#[test]
fn an_action_has_one_line_whether_or_not_its_hook_checked_it() {
    let late = |time, tool: &str, command: &str| Retrieval {
        time,
        tool: api::RULE_CHECK.to_owned(),
        asked: json!({"result": "no check", "checked": "deny came too late", "tool": tool,
            "command": command}),
        ..Retrieval::default()
    };
    let guarded = |time: i64, tool: &str, command: Option<&str>| {
        checks::without_daemon(json!({"time": time, "checked": "without the daemon", "paths": [],
            "result": "deny", "rules": ["r1"], "tool": tool, "command": command}))
    };
    let shown = |lines: &[Retrieval], guarded: &[Retrieval]| {
        let all = args(&["--rules"]).newest(lines.to_vec(), guarded.to_vec());
        let result = |line: &Retrieval| line.asked["result"].as_str().unwrap().to_owned();
        all.iter().map(|line| (line.time, result(line))).collect::<Vec<_>>()
    };
    let line = |time, result: &str| (time, result.to_owned());
    let push = late(5_000, "Bash", "git push --force");
    let one = std::slice::from_ref(&push);
    assert_eq!(shown(one, &[]), [line(5_000, "no check")], "the hook was ended");
    for other in [
        guarded(4_000, "Bash", Some("git push --force")),
        guarded(4_000, "Bash", Some("git push…")),
        guarded(4_000, "Bash", None),
    ] {
        assert_eq!(shown(one, &[other]), [line(4_000, "deny")]);
    }
    let others = [
        guarded(4_000, "Bash", Some("make")),
        guarded(4_000, "Edit", None),
        guarded(90_000, "Bash", Some("git push --force")),
    ];
    assert_eq!(shown(one, &others).len(), 4);
    let again = late(6_000, "Bash", "git push --force");
    let both = [push.clone(), again];
    let of_one = shown(&both, &[guarded(4_000, "Bash", Some("git push --force"))]);
    assert_eq!(of_one, [line(4_000, "deny"), line(6_000, "no check")]);
    let allowed = Retrieval { asked: json!({"result": "allow", "tool": "Bash"}), ..push };
    assert_eq!(shown(&[allowed], &[guarded(4_000, "Bash", None)]).len(), 2);
}

#[test]
fn checks_without_the_daemon_are_followed() {
    let checks = |times: &[i64]| -> Vec<Retrieval> {
        times.iter().map(|time| Retrieval { time: *time, ..Retrieval::default() }).collect()
    };
    let mut known = 1;
    let mut new = |times: &[i64]| -> Vec<i64> {
        unseen(checks(times), &mut known).iter().map(|line| line.time).collect()
    };
    assert_eq!(new(&[1]), [0; 0]);
    assert_eq!(new(&[1, 2, 3]), [2, 3]);
    assert_eq!(new(&[4]), [4], "the log began anew");
}

#[derive(Debug, clap::Parser)]
struct Command {
    #[command(flatten)]
    args: Args,
}

fn args(words: &[&str]) -> Args {
    let words = std::iter::once(&"log").chain(words);
    <Command as clap::Parser>::try_parse_from(words).unwrap().args
}

#[test]
fn since_chooses_lines_by_their_time_and_shows_them_all() {
    let at = |date: &str| {
        let time = format!("{date}T00:00:00Z").parse::<jiff::Timestamp>().unwrap();
        Retrieval { time: time.as_millisecond(), ..Retrieval::default() }
    };
    let since = args(&["--since", "2026-11-20"]);
    assert!(since.shows(&at("2026-11-20")) && !since.shows(&at("2026-11-19")));
    assert_eq!((since.lines(), args(&["--since", "2h", "-n", "3"]).lines()), (u32::MAX, 3));
    assert!(args(&[]).shows(&at("2020-01-01")));
    assert_eq!(args(&[]).lines(), LINES);
    let rules = args(&["--since", "2026-11-20", "--rules"]);
    assert!(!rules.shows(&at("2026-11-21")), "no check of a rule");
}

#[test]
fn lost_lines_are_named_where_they_are_missing() {
    let told = |words: &[&str], lost, tool: &str| {
        let tool = tool.to_owned();
        let line = Retrieval { tool, lost: NonZeroU64::new(lost), ..Retrieval::default() };
        let mut out = Vec::new();
        args(words).print(&mut out, &[line]).unwrap();
        let text = String::from_utf8(out).unwrap();
        (text.lines().count(), text.contains(" missing here: the log could not be written"))
    };
    assert_eq!(told(&[], 2, "memory_load"), (2, true));
    assert_eq!(told(&[], 0, "memory_load"), (1, false));
    assert_eq!(told(&["--rules"], 2, "memory_load"), (1, true), "they may have been checks");
    assert_eq!(told(&["--rules"], 1, api::RULE_CHECK), (2, true));
    assert_eq!(told(&["--rules", "--json"], 2, "memory_load"), (0, false), "only checks");
}
