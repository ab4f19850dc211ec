//! Databases that are at rest, in use, and copied from under their owner.

use super::*;

/// Tables as claude-mem makes them at version 13.15.3, as far as they are read.
const SCHEMA: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT);
    CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT,
        facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
        prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT,
        merged_into_project TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE session_summaries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT,
        next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
        merged_into_project TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);";

fn observe(owner: &Connection, project: &str, title: &str) {
    let sql = "INSERT INTO observations (memory_session_id, project, type, title, created_at, \
               created_at_epoch) VALUES ('m-1', ?1, 'change', ?2, '2026-11-01', 1000)";
    owner.execute(sql, [project, title]).unwrap();
}

/// A folder with a database, which its owner has open.
fn owned(folder: &Path) -> (PathBuf, Connection) {
    let path = folder.join("claude-mem.db");
    let owner = Connection::open(&path).unwrap();
    owner.pragma_update(None, "journal_mode", "wal").unwrap();
    owner.execute_batch(SCHEMA).unwrap();
    (path, owner)
}

fn titles(path: &Path, project: &str) -> Vec<String> {
    let read = read(path, project).unwrap();
    assert_eq!(read.source.name, "claude-mem");
    let lines = read.texts.iter().flat_map(|text| text.text.lines());
    let title = |line: &str| serde_json::from_str::<Value>(line).unwrap()["title"].clone();
    lines.map(|line| title(line).as_str().unwrap().to_owned()).collect()
}

fn listed(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<(String, Vec<u8>)> = files
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_database_at_rest_is_read_and_nothing_is_left_next_to_it() {
    let scratch = tempfile::tempdir().unwrap();
    let (path, owner) = owned(scratch.path());
    observe(&owner, "parser", "one");
    observe(&owner, "parser/worktree", "two");
    observe(&owner, "parser-old", "of another");
    observe(&owner, "other", "of another");
    let merged = "UPDATE observations SET merged_into_project = 'parser' WHERE project = 'other'";
    observe(&owner, "parser", "three");
    owner.execute(merged, []).unwrap();
    owner.close().unwrap();
    let before = listed(scratch.path());
    assert_eq!(before.len(), 1);
    assert_eq!(find(scratch.path()).unwrap(), Some(path.clone()));
    assert_eq!(titles(&path, "parser"), ["one", "two", "of another", "three"]);
    let read = read(&path, "parser").unwrap();
    assert_eq!(read.left_out, ["left out: 1 row of 1 other project; --from NAME takes another"]);
    assert_eq!(listed(scratch.path()), before);
}

#[test]
fn a_database_in_use_is_read_with_what_is_only_in_its_log() {
    let scratch = tempfile::tempdir().unwrap();
    let (path, owner) = owned(scratch.path());
    observe(&owner, "parser", "in the log");
    assert!(is_filled(&scratch.path().join("claude-mem.db-wal")));
    assert_eq!(titles(&path, "parser"), ["in the log"]);
    // Its owner writes on, and a writer that has not committed delays nobody.
    owner.execute_batch("BEGIN IMMEDIATE").unwrap();
    observe(&owner, "parser", "not committed");
    assert_eq!(titles(&path, "parser"), ["in the log"]);
    owner.execute_batch("COMMIT").unwrap();
    assert_eq!(titles(&path, "parser"), ["in the log", "not committed"]);
}

#[test]
fn a_copy_with_a_log_alone_is_read_and_stays_as_it_is() {
    let (scratch, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, owner) = owned(scratch.path());
    observe(&owner, "parser", "in the log");
    for name in ["claude-mem.db", "claude-mem.db-wal"] {
        fs::copy(scratch.path().join(name), copy.path().join(name)).unwrap();
    }
    let before = listed(copy.path());
    assert_eq!(titles(&copy.path().join("claude-mem.db"), "parser"), ["in the log"]);
    assert_eq!(listed(copy.path()), before);
    drop((path, owner));
}

#[test]
fn a_project_that_is_not_there_is_an_error_that_names_those_that_are() {
    let scratch = tempfile::tempdir().unwrap();
    let (path, owner) = owned(scratch.path());
    observe(&owner, "web", "one");
    observe(&owner, "api", "one");
    observe(&owner, "api", "two");
    let error = read(&path, "parser").unwrap_err();
    assert!(error.message.ends_with("has nothing of a project \"parser\""), "{error}");
    let action = error.action.unwrap();
    assert_eq!(action, "Name one of its projects with --from: api, web.");
    drop(owner);
}

#[test]
fn other_databases_and_damaged_ones_are_errors() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("app.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE observations (id INTEGER)").unwrap();
    other.close().unwrap();
    let error = read(&path, "parser").unwrap_err();
    assert!(error.message.contains("no tables that anchord can bring over"), "{error}");
    let mut damaged = MAGIC.to_vec();
    damaged.extend([0xff; 200]);
    fs::write(&path, damaged).unwrap();
    assert!(find(&path).unwrap().is_some());
    assert!(read(&path, "parser").unwrap_err().message.contains("cannot "));
    fs::write(&path, "text").unwrap();
    assert_eq!(find(&path).unwrap(), None);
}
