//! Databases in the form that its readers have published.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::transcripts::{Places, Transcript};

const FIXTURE: &str = include_str!("../../fixtures/database.sql");
const JSONL: &str = include_str!("../../fixtures/transcript.jsonl");

/// The folder of Cursor's data on Linux.
const USER: &str = ".config/Cursor/User";

/// A home with Cursor's databases.
struct Home {
    scratch: tempfile::TempDir,
    global: Connection,
}

impl Home {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let global = create(&scratch.path().join(USER).join("globalStorage/state.vscdb"));
        global.execute_batch(FIXTURE).unwrap();
        Self { scratch, global }
    }

    fn put(&self, key: &str, value: &str) {
        self.global.execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", (key, value)).unwrap();
    }

    /// Adds a conversation of one prompt. Its other fields are `about`.
    fn converse(&self, id: &str, prompt: &str, mut about: Value) {
        about["fullConversationHeadersOnly"] = json!([{ "bubbleId": "b1", "type": 1 }]);
        self.put(&format!("composerData:{id}"), &about.to_string());
        let bubble = json!({ "type": 1, "text": prompt, "createdAt": "2026-11-26T08:00:00.000Z" });
        self.put(&format!("bubbleId:{id}:b1"), &bubble.to_string());
    }

    /// Adds a workspace that lists conversations.
    fn workspace(&self, id: &str, folder: &str, conversations: &[&str]) -> PathBuf {
        let place = self.scratch.path().join(USER).join("workspaceStorage").join(id);
        let database = create(&place.join("state.vscdb"));
        database.execute_batch("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)").unwrap();
        let listed: Vec<_> =
            conversations.iter().map(|id| json!({ "type": "head", "composerId": id })).collect();
        let value = json!({ "allComposers": listed }).to_string();
        let insert = "INSERT INTO ItemTable VALUES ('composer.composerData', ?1)";
        database.execute(insert, [value]).unwrap();
        let about = json!({ "folder": folder }).to_string();
        fs::write(place.join("workspace.json"), about).unwrap();
        place.join("state.vscdb")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.scratch.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn found(&self) -> Vec<Transcript> {
        Places::by_variables(self.scratch.path(), |_| None).transcripts()
    }

    fn of(&self, id: &str) -> Transcript {
        let of = |found: &Transcript| found.conversation.as_ref().is_some_and(|of| of.id == id);
        self.found().into_iter().find(of).unwrap()
    }

    fn cwd(&self, id: &str) -> Option<String> {
        self.of(id).read().unwrap().cwd
    }

    /// Returns the reasons why something could not be listed or read.
    fn reasons(&self) -> Vec<String> {
        let reasons = self.found().into_iter().filter_map(|found| found.read().err());
        reasons.map(|reason| reason.to_string()).collect()
    }
}

fn create(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    Connection::open(path).unwrap()
}

#[test]
fn a_conversation_gives_its_activity() {
    let home = Home::new();
    let found = home.found();
    let [transcript] = &found[..] else { panic!("neither drafts nor removed ones: {found:?}") };
    assert!(transcript.is_within(Some(Path::new("/src/app"))));
    assert!(!transcript.is_within(Some(Path::new("/src/other"))));
    let past = transcript.read().unwrap();
    assert_eq!((past.cwd.as_deref(), past.unread), (Some("/src/app"), Unread::default()));
    assert_eq!(past.captured.key(), "cursor:c1");
    let (first, last) = past.captured.times();
    assert_eq!(first.iso(), "2026-11-26T07:46:22.090Z");
    assert_eq!(last.iso(), "2026-11-26T07:46:44.000Z");
    insta::assert_snapshot!(past.captured.relative_to("/src/app").row_summary(), @r"
    Asked: fix the flaky login test please
    Edited: check.sh
    Failed, then passed: `sh ./check.sh`
    Said last: Fixed: the check passes now.
    ");
}

#[test]
fn an_older_conversation_has_its_messages_in_itself() {
    let home = Home::new();
    let about = json!({
        "composerId": "old", "createdAt": 1_740_000_000_000_i64,
        "conversation": [
            { "type": 1, "text": "rename it", "createdAt": null },
            { "type": 2, "text": "", "timingInfo":
                { "clientStartTime": 98813.09, "clientRpcSendTime": 1_740_000_005_000_i64 },
              "toolFormerData": { "name": "edit_file", "status": "completed",
                "rawArgs": "{\"target_file\":\"src/new.rs\"}" } },
            { "type": 2, "text": "Renamed." },
        ],
    });
    home.put("composerData:old", &about.to_string());
    home.workspace("0a1b", "file:///src/my%20app", &["old"]);
    let past = home.of("old").read().unwrap();
    assert_eq!(past.cwd.as_deref(), Some("/src/my app"));
    let (first, last) = past.captured.times();
    assert_eq!((first.0, last.0), (1_740_000_000_000, 1_740_000_005_000));
    insta::assert_snapshot!(past.captured.row_summary(), @r"
    Asked: rename it
    Edited: src/new.rs
    Said last: Renamed.
    ");
}

#[test]
fn the_directory_is_that_of_the_workspace() {
    let home = Home::new();
    let elsewhere = json!({ "scheme": "vscode-remote", "path": "/src/app", "fsPath": "/src/app" });
    home.converse("remote", "a", json!({ "workspaceIdentifier": { "uri": elsewhere } }));
    for id in ["by-list", "by-value", "by-table", "by-workspace", "unknown"] {
        home.converse(id, "a", json!({ "createdAt": 1_795_679_180_000_i64 }));
    }
    home.workspace("w1", "file:///src/listed", &["by-list"]);
    home.workspace("w2", "file:///src/caf%C3%A9", &[]);
    home.workspace("w3", "vscode-remote://ssh-remote%2Bbox/src/app", &["unknown"]);
    let heads = json!({ "allComposers": [{ "composerId": "by-value", "workspaceIdentifier":
        { "id": "w9", "uri": { "scheme": "file", "fsPath": "/src/value" } } }] });
    let insert = "INSERT INTO ItemTable VALUES ('composer.composerHeaders', ?1)";
    home.global.execute(insert, [heads.to_string()]).unwrap();
    home.global
        .execute_batch(
            "CREATE TABLE composerHeaders (composerId, workspaceId, createdAt, lastUpdatedAt, \
             isArchived, isSubagent, value);
             INSERT INTO composerHeaders VALUES ('by-table', 'w9', 1, 1795679260000, 0, 0,
               '{\"workspaceIdentifier\":{\"uri\":{\"fsPath\":\"/src/table\"}}}');
             INSERT INTO composerHeaders VALUES ('by-workspace', 'w2', 1, NULL, 0, 0, NULL);",
        )
        .unwrap();
    let cwd = |id: &str| home.cwd(id);
    assert_eq!(cwd("by-list").as_deref(), Some("/src/listed"));
    assert_eq!(cwd("by-value").as_deref(), Some("/src/value"));
    assert_eq!(cwd("by-table").as_deref(), Some("/src/table"));
    assert_eq!(cwd("by-workspace").as_deref(), Some("/src/café"));
    assert_eq!((cwd("remote"), cwd("unknown")), (None, None));
    let modified = Duration::from_secs(1_795_679_260);
    let since = home.of("by-table").modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(since, modified, "the list is newer than the conversation");
}

#[test]
fn conversations_of_subagents_are_not_read() {
    let home = Home::new();
    home.converse("parent", "a", json!({ "subagentComposerIds": ["child"] }));
    home.converse("child", "b", json!({}));
    home.converse("other", "c", json!({ "subagentInfo": { "parentComposerId": "parent" } }));
    home.converse("flagged", "d", json!({}));
    home.global
        .execute_batch(
            "CREATE TABLE composerHeaders (composerId, workspaceId, lastUpdatedAt, isSubagent, \
             value); INSERT INTO composerHeaders VALUES ('flagged', NULL, 1, 1, NULL);",
        )
        .unwrap();
    let found = home.found();
    let ids: Vec<_> =
        found.iter().filter_map(|found| Some(&found.conversation.as_ref()?.id)).collect();
    assert_eq!(ids, ["c1", "parent"]);
}

#[test]
fn a_conversation_with_both_forms_is_read_from_the_database() {
    let home = Home::new();
    home.converse("only-file-knows", "from the database", json!({}));
    for id in ["c1", "only-file-knows", "removed", "broken", "file"] {
        home.write(&format!(".cursor/projects/src-app/agent-transcripts/{id}/{id}.jsonl"), JSONL);
        home.write(&format!(".cursor/chats/c0/{id}/meta.json"), r#"{"cwd": "/src/lib"}"#);
    }
    home.put("composerData:broken", "no json");
    let mut read = Vec::new();
    for found in home.found() {
        match found.read() {
            Ok(past) => {
                let form = found.path.extension().unwrap().to_string_lossy().into_owned();
                read.push((past.captured.key().to_owned(), form, past.cwd.unwrap()));
            }
            Err(reason) => assert_eq!(reason.to_string(), "it is not JSON"),
        }
    }
    read.sort();
    let expected = [
        ("cursor:broken", "jsonl", "/src/lib"),
        ("cursor:c1", "vscdb", "/src/app"),
        ("cursor:file", "jsonl", "/src/lib"),
        ("cursor:only-file-knows", "vscdb", "/src/lib"),
        ("cursor:removed", "jsonl", "/src/lib"),
    ];
    assert_eq!(read, expected.map(|(key, form, cwd)| (key.into(), form.into(), cwd.into())));
}

#[test]
fn damage_is_named_and_the_rest_is_read() {
    let home = Home::new();
    home.put("bubbleId:c1:b2", "{\"type\": 2, \"te");
    home.put("composerData:torn", "{\"composerId\": \"torn\", ");
    home.converse("w", "a", json!({}));
    home.converse("lost", "b", json!({}));
    home.workspace("w1", "file:///src/listed", &["w"]);
    let path = home.workspace("w2", "file:///src/other", &[]);
    fs::write(&path, "not a database, and long enough for its header to be looked at").unwrap();
    let path = home.workspace("w3", "file:///src/third", &[]);
    fs::remove_file(&path).unwrap();
    create(&path).execute_batch("CREATE TABLE other (key)").unwrap();
    home.global
        .execute_batch(
            "INSERT INTO ItemTable VALUES ('composer.composerHeaders', 'no json');
             CREATE TABLE composerHeaders (composerId, workspaceId, lastUpdatedAt, isSubagent, \
             value); INSERT INTO composerHeaders VALUES ('w', 'w1', 1, 0, 'no json');",
        )
        .unwrap();
    let mut reasons = home.reasons();
    reasons.sort();
    assert_eq!(
        reasons,
        [
            "file is not a database",
            "it is not JSON",
            "its composer.composerHeaders is not JSON",
            "its entry w of composerHeaders is not JSON",
            "no such table: ItemTable",
        ]
    );
    let past = home.of("c1").read().unwrap();
    assert_eq!((past.unread.no_json, past.captured.prompts()), (1, 1));
    assert_eq!((home.cwd("w").as_deref(), home.cwd("lost")), (Some("/src/listed"), None));
}

#[test]
fn conversations_before_a_damaged_page_are_read() {
    let home = Home::new();
    for number in 10..60 {
        let filler = "x".repeat(40_000);
        home.converse(&format!("k{number}"), "a", json!({ "filler": filler }));
    }
    let path = PathBuf::from(home.global.path().unwrap());
    let mut bytes = fs::read(&path).unwrap();
    let page = bytes.len() / 2 / 4096 * 4096;
    bytes[page..page + 40 * 4096].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let found = home.found();
    let read = found.iter().filter(|found| found.read().is_ok()).count();
    assert!((2..50).contains(&read), "{read}");
    let damage = format!("database disk image is malformed, after {read} of its conversations");
    assert_eq!(home.reasons(), [damage]);
}

#[test]
fn what_is_too_long_is_not_read() {
    let home = Home::new();
    let zeros = "UPDATE cursorDiskKV SET value = zeroblob(?2) WHERE key = ?1";
    let limit = TRANSCRIPT_LINE_BYTES_MAX.cast_signed() + 1;
    home.global.execute(zeros, ("bubbleId:c1:b8", limit)).unwrap();
    let past = home.of("c1").read().unwrap();
    assert_eq!((past.unread.too_long, past.unread.no_json, past.captured.prompts()), (1, 0, 1));
    let limit = TRANSCRIPT_DOCUMENT_BYTES_MAX.cast_signed() + 1;
    home.global.execute(zeros, ("composerData:c1", limit)).unwrap();
    assert_eq!(home.reasons(), ["it is longer than 64 MiB"]);
}

#[test]
fn a_database_that_cannot_be_read_says_why() {
    let home = Home::new();
    home.global.execute_batch("DROP TABLE cursorDiskKV").unwrap();
    let [reason] = &home.reasons()[..] else { panic!("one database") };
    assert!(reason.starts_with("no such table: cursorDiskKV"), "{reason}");
    let home = Home::new();
    home.global.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(home.reasons(), ["database is locked"]);
}

#[test]
fn a_database_that_cursor_writes_to_is_read_with_its_log() {
    let home = Home::new();
    home.global.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    home.converse("new", "just now", json!({}));
    home.global.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(home.of("new").read().unwrap().captured.row_summary().contains("just now"));
    assert_eq!(home.found().len(), 2);
}

#[test]
fn the_place_on_macos_is_read() {
    let home = Home::new();
    let place = home.scratch.path().join("Library/Application Support/Cursor");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::rename(home.scratch.path().join(".config/Cursor"), place).unwrap();
    assert_eq!(home.of("c1").read().unwrap().captured.prompts(), 1);
}
