//! Past sessions of every client, imported from the transcripts that the clients wrote.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anchord_tests::{Instance, Project};
use serde_json::Value;

/// The transcripts, as `agents` keeps them: where they are in a home, and their texts.
const TRANSCRIPTS: [(&str, &str); 8] = [
    (
        ".claude/projects/-src-app/5f1c.jsonl",
        include_str!("../../agents/src/clients/claude_code/fixtures/transcript.jsonl"),
    ),
    (
        ".codex/sessions/2026/11/22/rollout-1.jsonl",
        include_str!("../../agents/src/clients/codex/fixtures/transcript.jsonl"),
    ),
    (
        ".gemini/tmp/app/chats/session-1.jsonl",
        include_str!("../../agents/src/clients/gemini/fixtures/transcript.jsonl"),
    ),
    (
        ".copilot/session-state/479a/events.jsonl",
        include_str!("../../agents/src/clients/copilot/fixtures/transcript.jsonl"),
    ),
    (
        ".qwen/projects/-src-app/chats/9efc.jsonl",
        include_str!("../../agents/src/clients/qwen/fixtures/transcript.jsonl"),
    ),
    (
        ".factory/sessions/-src-app/ab4d.jsonl",
        include_str!("../../agents/src/clients/droid/fixtures/transcript.jsonl"),
    ),
    (
        ".pi/agent/sessions/--src-app--/1_01a2.jsonl",
        include_str!("../../agents/src/clients/pi/fixtures/transcript.jsonl"),
    ),
    (
        ".cline/data/sessions/1795_bddif/1795_bddif.messages.json",
        include_str!("../../agents/src/clients/cline/fixtures/transcript.json"),
    ),
];

/// The databases of clients that keep all sessions in one, and the statements that make them.
const DATABASES: [(&str, &str); 3] = [
    (
        ".config/Cursor/User/globalStorage/state.vscdb",
        include_str!("../../agents/src/clients/cursor/fixtures/database.sql"),
    ),
    (
        ".local/share/opencode/opencode.db",
        include_str!("../../agents/src/clients/opencode/fixtures/transcript.sql"),
    ),
    (
        ".local/share/kilo/kilo.db",
        include_str!("../../agents/src/clients/opencode/fixtures/transcript.sql"),
    ),
];

/// Puts a transcript into the home, as one that nobody writes to any more.
fn write(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

/// Makes a database in the home. Returns its path.
fn make(home: &Path, name: &str, statements: &str) -> PathBuf {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    path
}

/// Runs the import. Returns its exit code and all that it printed.
fn import(instance: &Instance, project: &Project, arguments: &[&str]) -> (i32, String) {
    let mut command = instance.anchord();
    command.args(["import", "sessions", "--yes"]).args(arguments).current_dir(project.path());
    let output = command.output().unwrap();
    let printed = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code().unwrap(), printed.concat())
}

fn sum(report: &str, field: &str) -> u64 {
    let report: Value = serde_json::from_str(report).unwrap();
    let projects = report.get("projects").and_then(Value::as_array).unwrap();
    projects.iter().map(|project| project.get(field).and_then(Value::as_u64).unwrap()).sum()
}

#[test]
fn sessions_of_every_client_are_imported_once() {
    let (instance, project) = (Instance::new(), Project::git());
    let root = project.path().to_str().unwrap();
    for (name, text) in TRANSCRIPTS {
        write(&instance.user_home(), name, &text.replace("/src/app", root));
    }
    write(&instance.user_home(), ".gemini/tmp/app/.project_root", root);
    let about = include_str!("../../agents/src/clients/cline/fixtures/session.json");
    let about = about.replace("/src/app", root);
    write(&instance.user_home(), ".cline/data/sessions/1795_bddif/1795_bddif.json", &about);
    let home = instance.user_home();
    let databases = DATABASES.map(|(name, statements)| {
        let path = make(&home, name, &statements.replace("/src/app", root));
        (fs::read(&path).unwrap(), path)
    });
    let all = (TRANSCRIPTS.len() + DATABASES.len()) as u64;
    let (code, done) = import(&instance, &project, &["--json"]);
    assert_eq!((code, sum(&done, "added")), (0, all), "{done}");
    let (code, again) = import(&instance, &project, &["--json"]);
    assert_eq!((code, sum(&again, "added"), sum(&again, "known")), (0, 0, all), "{again}");
    for (before, path) in databases {
        assert_eq!(fs::read(&path).unwrap(), before, "{}", path.display());
        let beside = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "nothing was written beside {}", path.display());
    }
}

#[test]
fn an_import_that_could_not_look_says_so_and_does_not_say_nothing() {
    let (instance, project) = (Instance::new(), Project::git());
    let chats = instance.user_home().join(".qwen/projects/-src-app/chats");
    fs::create_dir_all(chats.parent().unwrap()).unwrap();
    symlink(&chats, &chats).unwrap();
    for arguments in [&[][..], &["--project", project.path().to_str().unwrap()]] {
        let (code, text) = import(&instance, &project, arguments);
        assert_eq!(code, 5, "{text}");
        assert!(text.contains("-src-app/chats: cannot be read"), "{text}");
        assert!(!text.contains("no transcripts"), "{text}");
    }
}

#[test]
fn a_session_whose_directory_is_not_known_is_named() {
    let (instance, project) = (Instance::new(), Project::git());
    for (name, text) in TRANSCRIPTS {
        if name.starts_with(".gemini") || name.starts_with(".cline") {
            write(&instance.user_home(), name, text);
        }
    }
    let (code, text) = import(&instance, &project, &[]);
    assert_eq!(code, 5, "{text}");
    for name in ["session-1.jsonl", "1795_bddif.messages.json"] {
        assert!(text.contains(&format!("{name}: its directory is not known")), "{text}");
    }
}

/// More conversations of Cursor: one whose directory only a workspace names, one without a
/// directory and one that is torn. A message of the first conversation is torn, too.
const MORE_OF_CURSOR: &str = r#"
    INSERT INTO cursorDiskKV VALUES ('composerData:c2', '{"createdAt": 1795679300000,
      "conversation": [{"type": 1, "text": "rename the module"}, {"type": 2, "text": "Renamed."}]}');
    INSERT INTO cursorDiskKV VALUES ('composerData:c3', '{"createdAt": 1795679300000,
      "conversation": [{"type": 1, "text": "of nowhere"}]}');
    INSERT INTO cursorDiskKV VALUES ('composerData:c4', '{"conversation": [');
    UPDATE cursorDiskKV SET value = '{' WHERE key = 'bubbleId:c1:b2';
"#;

#[test]
fn sessions_of_cursors_editor_are_imported_once_with_what_they_did() {
    let (instance, project) = (Instance::new(), Project::git());
    let (home, root) = (instance.user_home(), project.path().to_str().unwrap());
    let (name, statements) = DATABASES[0];
    let path = make(&home, name, &statements.replace("/src/app", root));
    rusqlite::Connection::open(&path).unwrap().execute_batch(MORE_OF_CURSOR).unwrap();
    let workspace = ".config/Cursor/User/workspaceStorage/w1";
    let listed = r#"CREATE TABLE ItemTable (key, value); INSERT INTO ItemTable VALUES
        ('composer.composerData', '{"allComposers": [{"composerId": "c2"}]}')"#;
    make(&home, &format!("{workspace}/state.vscdb"), listed);
    let about = format!(r#"{{"folder": "file://{root}"}}"#);
    write(&home, &format!("{workspace}/workspace.json"), &about);
    // The conversation has a file, too, which knows less.
    let text = include_str!("../../agents/src/clients/cursor/fixtures/transcript.jsonl");
    write(&home, ".cursor/projects/src-app/agent-transcripts/c1/c1.jsonl", text);

    let (code, text) = import(&instance, &project, &[]);
    assert_eq!(code, 5, "{text}");
    assert!(text.contains("imported 2 sessions into 1 project"), "{text}");
    for damage in [
        "state.vscdb: conversation c1: 1 line is not JSON",
        "state.vscdb: conversation c3: its directory is not known",
        "state.vscdb: conversation c4: cannot be read: it is not JSON",
    ] {
        assert!(text.contains(damage), "{text}");
    }
    let (code, again) = import(&instance, &project, &[]);
    assert_eq!(code, 5, "{again}");
    assert!(again.contains("nothing is new") && !again.contains("imported"), "{again}");

    let get = |id: &str| {
        let output = instance.anchord().args(["get", id]).current_dir(project.path()).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let rows = [get("s1"), get("s2")].concat();
    for said in [
        "2026-11-26 cursor (captured): Asked: fix the flaky login test please",
        "Edited: check.sh",
        "Failed, then passed: `sh ./check.sh`",
        "Said last: Fixed: the check passes now.",
        "Asked: rename the module",
        "Said last: Renamed.",
    ] {
        assert!(rows.contains(said), "{said}: {rows}");
    }
    assert!(!rows.contains("git push"), "what the person refused did not run: {rows}");
}
