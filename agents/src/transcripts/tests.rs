//! Real transcripts without personal content, and stand-ins for broken ones.

use std::fs;

use super::*;

const CLAUDE_CODE: &str = include_str!("../clients/claude_code/fixtures/transcript.jsonl");
const CODEX: &str = include_str!("../clients/codex/fixtures/transcript.jsonl");

/// Every client's transcript: where it is beneath the home, and its text.
const ALL: [(&str, &str, &str); 8] = [
    ("claude-code", ".claude/projects/-src-app/5f1c.jsonl", CLAUDE_CODE),
    ("codex", ".codex/sessions/2026/11/22/rollout-1.jsonl", CODEX),
    (
        "gemini",
        ".gemini/tmp/app/chats/session-1.jsonl",
        include_str!("../clients/gemini/fixtures/transcript.jsonl"),
    ),
    (
        "copilot",
        ".copilot/session-state/479a/events.jsonl",
        include_str!("../clients/copilot/fixtures/transcript.jsonl"),
    ),
    (
        "qwen",
        ".qwen/projects/-src-app/chats/9efc.jsonl",
        include_str!("../clients/qwen/fixtures/transcript.jsonl"),
    ),
    (
        "droid",
        ".factory/sessions/-src-app/ab4d.jsonl",
        include_str!("../clients/droid/fixtures/transcript.jsonl"),
    ),
    (
        "pi",
        ".pi/agent/sessions/--src-app--/1_01a2.jsonl",
        include_str!("../clients/pi/fixtures/transcript.jsonl"),
    ),
    (
        "cursor",
        ".cursor/projects/src-app/agent-transcripts/77ab/77ab.jsonl",
        include_str!("../clients/cursor/fixtures/transcript.jsonl"),
    ),
];

/// Creates a home with every client's transcript.
fn home() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let roots = [
        (".gemini/tmp/app/.project_root", "/src/app"),
        (".cursor/chats/c0/77ab/meta.json", r#"{"cwd": "/src/app"}"#),
    ];
    for (path, text) in ALL.map(|(_, path, text)| (path, text)).into_iter().chain(roots) {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scratch
}

#[test]
fn every_clients_transcript_gives_its_sessions_activity() {
    let home = home();
    let found = Places::by_variables(home.path(), |_| None).transcripts();
    assert_eq!(found.len(), ALL.len(), "{found:?}");
    for (client, path, _) in ALL {
        let transcript = found.iter().find(|found| found.path.ends_with(path)).unwrap();
        assert_eq!(transcript.client.id, client);
        assert!(transcript.is_within(Some(Path::new("/src/app"))), "{client}");
        let past = transcript.read().unwrap();
        assert_eq!((past.cwd.as_deref(), past.unread.lines()), (Some("/src/app"), 0), "{client}");
        assert!(past.captured.key().starts_with(&format!("{client}:")), "{client}");
        let (first, last) = past.captured.times();
        assert!(first.iso().starts_with("2026-11-2") && last > first, "{client}: {first:?}");
        insta::assert_snapshot!(
            format!("summary_of_{client}"),
            past.captured.relative_to("/src/app").row_summary()
        );
    }
}

#[test]
fn every_client_skips_broken_lines_and_counts_them() {
    for (client, path, text) in ALL {
        let home = home();
        let (head, last) = text.trim_end().rsplit_once('\n').unwrap();
        let torn = &last[..last.len() / 2];
        fs::write(home.path().join(path), format!("no json\n{{}}\n[1]\n{head}\n{torn}")).unwrap();
        let found = Places::by_variables(home.path(), |_| None).transcripts();
        let broken = found.iter().find(|found| found.path.ends_with(path)).unwrap();
        let past = broken.read().unwrap();
        assert_eq!(past.unread, Unread { no_json: 1, too_long: 0, torn: true }, "{client}");
        assert!(past.captured.prompts() >= 1, "{client}");
    }
}

/// Creates a home with Cline's document. Returns its path.
fn with_document(home: &Path) -> PathBuf {
    let folder = home.join(".cline/data/sessions/1795_bddif");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("1795_bddif.messages.json");
    fs::write(&path, include_str!("../clients/cline/fixtures/transcript.json")).unwrap();
    let about = include_str!("../clients/cline/fixtures/session.json");
    fs::write(folder.join("1795_bddif.json"), about).unwrap();
    fs::write(folder.join("agent_1796_b.messages.json"), r#"{"messages": []}"#).unwrap();
    path
}

#[test]
fn a_document_gives_its_sessions_activity() {
    let home = tempfile::tempdir().unwrap();
    let path = with_document(home.path());
    let found = Places::by_variables(home.path(), |_| None).transcripts();
    let [transcript] = &found[..] else { panic!("{found:?}") };
    assert_eq!((transcript.client.id, &transcript.path), ("cline", &path));
    assert!(transcript.is_within(Some(Path::new("/src/app"))));
    assert!(!transcript.is_within(Some(Path::new("/src/other"))));
    let past = transcript.read().unwrap();
    assert_eq!(past.cwd.as_deref(), Some("/src/app"));
    assert_eq!(past.captured.key(), "cline:1795_bddif");
    assert_eq!(past.captured.times().0.iso(), "2026-11-26T07:46:22.090Z");
    insta::assert_snapshot!(past.captured.relative_to("/src/app").row_summary(), @r"
    Asked: fix the flaky login test please
    Edited: check.sh
    Failed, then passed: `sh ./check.sh`
    Said last: Fixed: the check passes now.
    ");
}

#[test]
fn a_broken_document_is_an_error_that_says_why() {
    let home = tempfile::tempdir().unwrap();
    let path = with_document(home.path());
    let text = fs::read_to_string(&path).unwrap();
    let found = Places::by_variables(home.path(), |_| None).transcripts();
    let torn = &text[..text.len() / 2];
    for (text, why) in [
        (torn, "it is not JSON: EOF"),
        ("{}", "it has no list `/messages`"),
        (r#"{"messages": 3}"#, "it has no list `/messages`"),
    ] {
        fs::write(&path, text).unwrap();
        let error = found[0].read().unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
    let file = File::create(&path).unwrap();
    file.set_len(crate::limits::TRANSCRIPT_DOCUMENT_BYTES_MAX + 1).unwrap();
    assert_eq!(found[0].read().unwrap_err().to_string(), "it is longer than 64 MiB");
}

#[test]
fn a_folder_that_cannot_be_listed_is_reported_and_not_taken_for_empty() {
    for (client, path, _) in ALL {
        // The client's own folder is the first one.
        let folders = Path::new(path).ancestors().skip(1);
        for folder in folders.filter(|folder| folder.components().count() > 1) {
            if folder == Path::new(".pi/agent") {
                continue;
            }
            let home = home();
            let folder = home.path().join(folder);
            fs::remove_dir_all(&folder).unwrap();
            // A link to itself cannot be opened, whoever tries.
            std::os::unix::fs::symlink(&folder, &folder).unwrap();
            let found = Places::by_variables(home.path(), |_| None).transcripts();
            let unread: Vec<_> = found.iter().filter(|found| found.read().is_err()).collect();
            let [unread] = unread.as_slice() else { panic!("{folder:?}: {unread:?}") };
            let is_on_the_way = home.path().join(path).starts_with(&unread.path);
            assert!(is_on_the_way, "{client}, {folder:?}: {unread:?}");
            assert!(unread.is_within(Some(Path::new("/elsewhere"))), "{client}");
        }
    }
}

fn past(client: &str, name: &str, text: &str) -> Past {
    let client = Client::named(client).unwrap();
    let transcript = Transcript::new(client, &client.transcripts[0], PathBuf::from(name));
    transcript.read_lines(Lines::new(text.as_bytes())).unwrap()
}

#[test]
fn a_claude_code_transcript_gives_its_sessions_activity() {
    let past = past("claude-code", "5f1c.jsonl", CLAUDE_CODE);
    assert_eq!(past.cwd.as_deref(), Some("/src/app"));
    assert_eq!((past.unread.lines(), past.captured.key()), (0, "claude-code:5f1c"));
    insta::assert_snapshot!(past.captured.relative_to("/src/app").row_summary(), @r"
    Asked: fix the flaky login test please (2 prompts); last: thanks, anything else?
    Edited: check.sh
    Failed, then passed: `sh ./check.sh`
    Said last: No, that is all.
    ");
}

#[test]
fn a_codex_transcript_gives_its_sessions_activity() {
    let past = past("codex", "rollout.jsonl", CODEX);
    assert_eq!(past.cwd.as_deref(), Some("/src/app"));
    assert_eq!(past.captured.key(), "codex:01a201b6-a053-70b1-a280-67b8507e1590");
    insta::assert_snapshot!(past.captured.row_summary(), @r"
    Asked: fix the flaky login test please
    Edited: check.sh, notes.txt
    Failed, then passed: `sh ./check.sh`
    Said last: Fixed: the check passes now.
    ");
    let (first, last) = past.captured.times();
    assert_eq!(first.iso(), "2026-11-22T05:24:36.216Z");
    assert!(last > first);
}

#[test]
fn messages_inserted_by_the_client_are_not_prompts() {
    let line = |content: &str| {
        let content = serde_json::to_string(content).unwrap();
        format!(
            "{{\"type\":\"user\",\"cwd\":\"/a\",\"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n"
        )
    };
    let own = [
        "<command-name>/clear</command-name>",
        "<local-command-stdout>ok</local-command-stdout>",
        "[Request interrupted by user]",
        "  <system-reminder>x</system-reminder>",
    ];
    let text: String = own.into_iter().map(line).collect();
    let meta = line("hidden").replace("\"type\"", "\"isMeta\":true,\"type\"");
    let side = line("a subagent's").replace("\"type\"", "\"isSidechain\":true,\"type\"");
    let past = past("claude-code", "a.jsonl", &(text + &meta + &side + &line("really asked")));
    assert_eq!(past.captured.prompts(), 1);
    assert!(past.captured.row_summary().starts_with("Asked: really asked"));
}

#[test]
fn unreadable_lines_are_counted_and_the_rest_is_read() {
    let torn = &CODEX[..CODEX.len() - 40];
    let text = format!("no json\n\n{{}}\n[1]\n\u{fffd}{{\n{torn}");
    let past = past("codex", "rollout.jsonl", &text);
    assert_eq!(past.unread, Unread { no_json: 2, too_long: 0, torn: true });
    assert_eq!(past.captured.prompts(), 1);
}

#[test]
fn an_endless_line_is_skipped() {
    let limit = usize::try_from(crate::limits::TRANSCRIPT_LINE_BYTES_MAX).unwrap();
    let long = format!("{{\"a\":\"{}\"}}\n{CLAUDE_CODE}", "x".repeat(limit));
    let past = past("claude-code", "a.jsonl", &long);
    assert_eq!((past.unread.too_long, past.captured.prompts()), (1, 2));
}

#[test]
fn a_subagents_thread_is_not_a_session() {
    let of_agent =
        CODEX.replacen("\"source\": \"exec\"", "\"source\": {\"subagent\": \"review\"}", 1);
    assert_ne!(of_agent, CODEX);
    let past = past("codex", "rollout.jsonl", &of_agent);
    assert_eq!((past.cwd, past.captured.is_empty()), (None, true));
}

#[test]
fn older_forms_of_codex_are_read() {
    let lines = [
        r#"{"timestamp":"2025-11-22T05:00:00Z","type":"session_meta","payload":{"id":"old","cwd":"/src/app"}}"#,
        r#"{"timestamp":"2025-11-22T05:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"do it"}}"#,
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"do it"}]}}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"make\"]}","call_id":"1"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"}}"#,
        r#"{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a.c\n+x\n*** End Patch","call_id":"2"}}"#,
        r#"{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"2","output":"{\"output\":\"Success. Updated\",\"metadata\":{\"exit_code\":0}}"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call","name":"shell_command","arguments":"{\"command\":\"make\"}","call_id":"3"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"3","output":"Exit code: 0\nWall time: 1 s\nOutput:\nExit code: 7"}}"#,
    ];
    let past = past("codex", "rollout.jsonl", &lines.join("\n"));
    insta::assert_snapshot!(past.captured.row_summary(), @r"
    Asked: do it
    Edited: a.c
    Failed, then passed: `make`
    ");
}

#[test]
fn transcripts_are_found_in_the_clients_directories() {
    let scratch = tempfile::tempdir().unwrap();
    let (home, told) = (scratch.path().join("home"), scratch.path().join("told"));
    let write = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(home.join(".claude/projects/-src-app/1.jsonl"), CLAUDE_CODE);
    write(home.join(".claude/projects/-src-app/agent-7.jsonl"), CLAUDE_CODE);
    write(home.join(".claude/projects/-src-app/1/subagents/agent-8.jsonl"), CLAUDE_CODE);
    write(home.join(".claude/projects/-src-app/notes.txt"), "no");
    write(told.join("projects/-src-app/2.jsonl"), CLAUDE_CODE);
    write(home.join(".codex/sessions/2026/11/22/rollout-1.jsonl"), CODEX);
    write(home.join(".codex/sessions/2026/11/22/other.jsonl"), CODEX);
    let places =
        Places::by_variables(&home, |name| (name == "CLAUDE_CONFIG_DIR").then(|| told.clone()));
    let names: Vec<String> = places
        .transcripts()
        .iter()
        .map(|found| found.path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["1.jsonl", "2.jsonl", "rollout-1.jsonl"]);
    let of = |project: &str| {
        let found = places.transcripts();
        found.iter().filter(|found| found.is_within(Some(Path::new(project)))).count()
    };
    assert_eq!((of("/src/app"), of("/src"), of("/src/application")), (3, 3, 0));
    assert_eq!(Places::by_variables(&scratch.path().join("none"), |_| None).transcripts(), []);
}

const OPENCODE: &str = include_str!("../clients/opencode/fixtures/transcript.sql");

/// Creates a home with opencode's database.
fn home_with_database(statements: &str) -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join(".local/share/opencode/opencode.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    (scratch, path)
}

#[test]
fn a_database_gives_the_activity_of_each_conversation() {
    let subagent = "INSERT INTO session VALUES ('ses_2', 'ses_dea4', '/src/app', 1, 2);";
    let other = "INSERT INTO session VALUES ('ses_3', NULL, '/src/lib', 1, 2);";
    let (home, _) = home_with_database(&format!("{OPENCODE}{subagent}{other}"));
    let found = Places::by_variables(home.path(), |_| None).transcripts();
    assert_eq!(found.len(), 2, "{found:?}");
    let of = |cwd: &str| {
        let mut within = found.iter().filter(|found| found.is_within(Some(Path::new(cwd))));
        within.next().unwrap().read().unwrap()
    };
    let past = of("/src/app");
    assert_eq!((past.cwd.as_deref(), past.unread.lines()), (Some("/src/app"), 0));
    assert_eq!(past.captured.key(), "opencode:ses_dea4fe880ffe6Q9FeZ1cD80Ku1");
    assert!(past.captured.times().0.iso().starts_with("2026-11-26T"));
    insta::assert_snapshot!(past.captured.relative_to("/src/app").row_summary(), @r#"
    Asked: "fix the flaky login test please"
    Edited: check.sh, new.sh
    Failed, then passed: `sh ./check.sh`
    Said last: Fixed: the check passes now.
    "#);
    assert!(of("/src/lib").captured.is_empty());
}

#[test]
fn a_broken_row_is_counted_and_a_broken_database_is_reported() {
    let broken = "UPDATE part SET data = 'no json' WHERE data LIKE '%step-start%';";
    let (home, path) = home_with_database(&format!("{OPENCODE}{broken}"));
    let read = || {
        let found = Places::by_variables(home.path(), |_| None).transcripts();
        let [found] = found.as_slice() else { panic!("{found:?}") };
        found.read()
    };
    let past = read().unwrap();
    assert_eq!((past.unread.no_json, past.captured.prompts()), (6, 1));
    fs::write(&path, "no database at all, and long enough to be taken for its header").unwrap();
    assert!(read().is_err());
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert!(read().is_err());
}
