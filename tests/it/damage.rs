//! A damaged journal. The readable part is still read, no write is acknowledged that would not be
//! kept, and the caller gets the reason.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use anchord_tests::{Agent, Instance, PATIENCE, Project, Shell, poll, walk, write};
use serde_json::json;

/// Returns the journal of the daemon's own records, which list projects and sessions, or the
/// journal of the only project.
pub(crate) fn journal(instance: &Instance, own_records: bool) -> PathBuf {
    let mut found = None;
    walk(&instance.home(), &mut |path: &Path| {
        let is_own = path.ends_with("daemon/journal/000001.jsonl");
        if path.ends_with("journal/000001.jsonl") && is_own == own_records {
            found = Some(path.to_owned());
        }
    });
    found.expect("there is a journal")
}

#[test]
fn a_bad_place_in_a_journal_is_reported_once() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("redis it is"));
    agent.tool("memory_save", &write::save("second"));
    drop(agent);
    instance.kill9();
    let journal = journal(&instance, false);
    let whole = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, whole.replacen("redis it is", "redis it was", 1)).unwrap();
    let mut verify = instance.anchord();
    verify.args(["journal", "verify"]).current_dir(project.path());
    let verified = verify.output().unwrap();
    let told = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert_eq!(verified.status.code(), Some(5), "{told}");
    assert_eq!(told.matches("the checksum is").count(), 1, "{told}");
    assert!(told.contains("journal/000001.jsonl line 2: the checksum is"), "{told}");
}

#[test]
fn doctor_reads_the_journals() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "an intact entry"]);
    let (_, told) = shell.said(&["doctor"]);
    assert!(told.contains("1 journal read to the end and intact"), "{told}");

    let journal = journal(&instance, false);
    let whole = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, whole.replacen("an intact entry", "another entry", 1)).unwrap();
    let (code, told) = shell.said(&["doctor"]);
    assert!(code == 1 && told.contains("1 damaged place in the journal"), "{told}");
}

/// The exit code tells a script that only a person can make this memory writable again.
#[test]
fn writing_to_a_damaged_journal_has_its_own_exit_code() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("redis it is"));
    agent.tool("memory_note", &json!({ "content": "a note of before", "key": "kept" }));
    drop(agent);
    let export = project.path().join("export.json");
    let shell = Shell::new(&instance, project.path());
    let (code, exported) = shell.said(&["export", "--format", "json"]);
    assert_eq!(code, 0, "{exported}");
    fs::write(&export, exported.replace("a note of before", "another note")).unwrap();
    instance.kill9();
    let journal = journal(&instance, false);
    let whole = fs::read_to_string(&journal).unwrap();
    let damaged = whole.replacen("redis it is", "redis it was", 1);
    fs::write(&journal, &damaged).unwrap();

    let export = export.to_str().unwrap();
    for command in
        [&["note", "after the damage"][..], &["import", export], &["purge", "kept", "--yes"]]
    {
        let (code, text) = shell.said(command);
        assert_eq!(code, 5, "{command:?}: {text}");
        let way = text.contains("`anchord doctor`") || text.contains("`anchord journal verify`");
        assert!(way, "what to do: {command:?}: {text}");
    }
    let (code, text) = shell.said(&["search", "redis"]);
    assert!(code < 2, "what can be read is read: {text}");
    assert_eq!(fs::read_to_string(&journal).unwrap(), damaged);
}

/// A memory that cannot be read may be why its place is linked to another one.
#[test]
fn linking_says_that_the_memory_before_could_not_be_looked_at() {
    let (instance, lost, kept) = (Instance::new(), Project::git(), Project::git());
    Shell::new(&instance, lost.path()).done(&["note", "written to a disk that is gone"]);
    let memory = journal(&instance, false).ancestors().nth(2).unwrap().to_owned();
    instance.kill9();
    fs::remove_dir_all(&memory).unwrap();
    Shell::new(&instance, kept.path()).done(&["note", "still here"]);
    let kept = kept.path().to_str().unwrap();
    let said = Shell::new(&instance, lost.path()).done(&["project", "link", "--project", kept]);
    assert!(said.contains("could not be looked at: the memory in"), "{said}");
    let found = Shell::new(&instance, lost.path()).done(&["search", "still here"]);
    assert!(found.contains("still here"), "{found}");
    let said =
        Shell::new(&instance, Project::git().path()).done(&["project", "link", "--project", kept]);
    assert!(!said.contains("until now"), "there was none: {said}");
}

#[test]
fn a_damaged_registry_loses_nothing_and_is_reported() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before the damage"));
    drop(agent);
    instance.kill9();
    let journal = journal(&instance, true);
    let whole = fs::read_to_string(&journal).unwrap();
    // An entry in the middle. The last one may have been cut by a crash, and would be dropped.
    let damaged = whole.replacen("\"project_seen\"", "\"project_sean\"", 1);
    assert_ne!(damaged, whole);
    fs::write(&journal, &damaged).unwrap();

    let mut agent = Agent::open(&instance, project.path());
    assert!(agent.tool("memory_load", &json!({})).contains("before the damage"));
    let refused = agent.call("memory_save", &write::save("after the damage")).unwrap();
    assert!(refused.is_error, "{}", refused.text);
    assert!(refused.text.contains("not saved"), "{}", refused.text);
    assert!(refused.text.contains("`anchord doctor`"), "{}", refused.text);
    let doctor = instance.anchord().arg("doctor").output().unwrap();
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert_eq!(doctor.status.code(), Some(1), "{told}");
    assert!(told.contains("the daemon's own records cannot be written"), "{told}");
    drop(agent);
    instance.kill9();
    assert_eq!(fs::read_to_string(&journal).unwrap(), damaged, "nobody wrote behind the bad place");

    fs::write(&journal, &whole).unwrap();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("after it was put back"));
    let loaded = agent.tool("memory_load", &json!({}));
    assert!(loaded.contains("before the damage"), "{loaded}");
    assert!(loaded.contains("after it was put back"), "{loaded}");
}

/// Stores five notes, and stops the daemon in order, so that the index has caught up.
fn with_tide_tables<'a>(instance: &'a Instance, project: &'a Project) -> Shell<'a> {
    let mut agent = Agent::open(instance, project.path());
    for number in 1..=5 {
        agent.tool("memory_note", &json!({ "content": format!("tide table number {number}") }));
    }
    drop(agent);
    let shell = Shell::new(instance, project.path());
    shell.done(&["stop"]);
    shell
}

/// Entries that only the index still has are shown, kept and not overwritten.
#[test]
fn a_journal_that_lost_entries_is_read_only_and_its_index_is_kept() {
    for what in ["removed", "emptied", "cut", "damaged at its end"] {
        let instance = Instance::new();
        let project = Project::git();
        let shell = with_tide_tables(&instance, &project);
        let journal = journal(&instance, false);
        let whole = fs::read_to_string(&journal).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        match what {
            "removed" => fs::remove_file(&journal).unwrap(),
            "emptied" => fs::write(&journal, "").unwrap(),
            "cut" => fs::write(&journal, lines[..lines.len() - 2].join("\n") + "\n").unwrap(),
            _ => fs::write(&journal, whole.replacen("number 5", "number 6", 1)).unwrap(),
        }
        let before = fs::read(&journal).ok();

        let (code, loaded) = shell.said(&["load"]);
        assert_eq!(code, 0, "{what}: {loaded}");
        assert!(loaded.starts_with("READ-ONLY, nothing can be saved: "), "{what}: {loaded}");
        for number in 1..=5 {
            assert!(loaded.contains(&format!("tide table number {number}")), "{what}: {loaded}");
        }
        let (code, refused) = shell.said(&["note", "after the damage"]);
        assert_eq!(code, 5, "{what}: {refused}");
        let (code, verified) = shell.said(&["journal", "verify"]);
        assert_eq!(code, 5, "{what}: {verified}");
        let is_left = !matches!(what, "removed" | "emptied");
        assert_eq!(verified.contains(": 0 entries intact"), !is_left, "{what}: {verified}");
        let (code, rebuilt) = shell.said(&["journal", "rebuild"]);
        assert_eq!(code, 5, "{what}: {rebuilt}");
        assert!(rebuilt.contains("the index is kept"), "{what}: {rebuilt}");
        // The next daemon has not opened the project yet.
        shell.done(&["stop"]);
        let listed = shell.done(&["project", "list"]);
        assert!(listed.contains(" cannot be written: "), "{what}: {listed}");
        let (code, doctor) = shell.said(&["doctor"]);
        assert_eq!(code, 1, "{what}: {doctor}");
        assert!(doctor.contains("cannot be written: "), "{what}: {doctor}");
        assert_eq!(fs::read(&journal).ok(), before, "{what}");
        let (_, loaded) = shell.said(&["load"]);
        assert!(loaded.contains("tide table number 5"), "{what}: {loaded}");

        let (code, plan) = shell.said(&["journal", "repair"]);
        assert_eq!(code, 2, "it asks, and there is no terminal: {what}: {plan}");
        assert!(
            plan.contains("from the index or a snapshot: the outcome of entr"),
            "{what}: {plan}"
        );
        assert!(!plan.contains("  lost: "), "{what}: {plan}");
        assert_eq!(fs::read(&journal).ok(), before, "{what}");
        let memory = journal.ancestors().nth(2).unwrap();
        let file_of = |index: &str| fs::metadata(memory.join(index).join("db")).unwrap().ino();
        let index = file_of("sled");
        let (code, repaired) = shell.said(&["journal", "repair", "--yes"]);
        assert_eq!(code, 0, "{what}: {repaired}");
        let (code, verified) = shell.said(&["journal", "verify"]);
        assert_eq!(code, 0, "{what}: {verified}");
        let (code, noted) = shell.said(&["note", "after the repair"]);
        assert_eq!(code, 0, "{what}: {noted}");
        let (_, loaded) = shell.said(&["load"]);
        assert!(!loaded.contains("READ-ONLY"), "{what}: {loaded}");
        for text in ["tide table number 1", "tide table number 5", "after the repair"] {
            assert!(loaded.contains(text), "{what}: {text}: {loaded}");
        }
        assert_eq!(file_of("sled.aside"), index, "{what}: the index that had the entries is kept");
        if let Some(before) = &before {
            let mut kept = false;
            walk(&instance.home(), &mut |path: &Path| {
                kept |= fs::read(path).is_ok_and(|bytes| bytes == *before);
            });
            assert!(kept, "{what}: the damaged file is kept");
        }
        let (code, again) = shell.said(&["journal", "repair"]);
        assert_eq!(code, 0, "{what}: {again}");
        assert!(again.contains("nothing to repair"), "{what}: {again}");
    }
}

/// Sessions write as soon as the journal is repaired, before the repair was checked.
#[test]
fn a_journal_is_repaired_while_sessions_keep_trying_to_write() {
    let instance = Instance::new();
    let project = Project::git();
    let shell = with_tide_tables(&instance, &project);
    fs::remove_file(journal(&instance, false)).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for session in 0..4 {
            let (instance, project, is_over) = (&instance, &project, &is_over);
            scope.spawn(move || {
                let mut agent = Agent::open(instance, project.path());
                for number in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let content = format!("from session {session} number {number}");
                    agent.call("memory_note", &json!({ "content": content })).unwrap();
                }
            });
        }
        let (code, repaired) = shell.said(&["journal", "repair", "--yes"]);
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(code, 0, "{repaired}");
    });
    let loaded = shell.done(&["load"]);
    assert!(loaded.contains("tide table number 5"), "{loaded}");
}

/// A sync tool, a restore or a cleaning script can do this.
#[test]
fn nothing_is_saved_into_a_removed_journal() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_note", &json!({ "content": "before it went" }));
    let journal = journal(&instance, false);
    fs::remove_file(&journal).unwrap();
    for content in ["into nothing", "into nothing again"] {
        let refused = agent.call("memory_note", &json!({ "content": content })).unwrap();
        assert!(refused.is_error, "{}", refused.text);
        assert!(refused.text.contains("not saved"), "{}", refused.text);
    }
    let loaded = agent.tool("memory_load", &json!({}));
    assert!(loaded.starts_with("READ-ONLY, nothing can be saved: "), "{loaded}");
    assert!(loaded.contains("before it went") && !loaded.contains("into nothing"), "{loaded}");
    drop(agent);
    let mut stop = instance.anchord();
    assert!(stop.arg("stop").status().unwrap().success());
    let mut agent = Agent::open(&instance, project.path());
    let loaded = agent.tool("memory_load", &json!({}));
    assert!(loaded.starts_with("READ-ONLY, nothing can be saved: "), "{loaded}");
    assert!(loaded.contains("before it went"), "{loaded}");
}

/// A snapshot is a copy of the state that the journal yields.
#[test]
fn a_damaged_snapshot_is_reported_and_ignored() {
    let instance = Instance::new();
    let project = Project::git();
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "tide tables are in UTC"]);
    shell.done(&["stop"]);
    let snapshots = journal(&instance, false).ancestors().nth(2).unwrap().join("snapshot");
    fs::create_dir_all(&snapshots).unwrap();
    let snapshot = snapshots.join("000001.jsonl");
    fs::write(&snapshot, "not what was written\n").unwrap();
    let (code, verified) = shell.said(&["journal", "verify"]);
    assert_eq!(code, 5, "{verified}");
    assert!(verified.contains("snapshot/000001.jsonl"), "{verified}");
    assert!(verified.contains("Run `anchord journal rebuild`"), "{verified}");
    shell.done(&["journal", "rebuild"]);
    assert!(!snapshot.exists());
    shell.done(&["journal", "verify"]);
    assert!(shell.done(&["load"]).contains("tide tables are in UTC"));
}

/// The cause may be a renamed folder, or a disk that is not mounted.
#[test]
fn a_memory_that_is_missing_is_an_error_and_never_an_empty_one() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_note", &json!({ "content": "before it went" }));
    drop(agent);
    let shell = Shell::new(&instance, project.path());
    shell.done(&["stop"]);
    let journal = journal(&instance, false);
    let memory = journal.ancestors().nth(2).unwrap();
    let moved = memory.with_extension("moved");
    fs::rename(memory, &moved).unwrap();
    let repair = ["journal", "repair"];
    for command in [&["load"][..], &["note", "into an empty one"], &["search", "before"], &repair] {
        let (code, text) = shell.said(command);
        assert!(code != 0 && text.contains("is missing; restore it"), "{command:?}: {text}");
        assert!(text.contains(memory.to_str().unwrap()), "{command:?}: {text}");
    }
    let (code, doctor) = shell.said(&["doctor"]);
    assert_eq!(code, 1, "{doctor}");
    assert!(!memory.exists(), "nothing was begun in its place");
    fs::rename(&moved, memory).unwrap();
    let (code, loaded) = shell.said(&["load"]);
    assert!(code == 0 && loaded.contains("before it went"), "{loaded}");
}

#[test]
fn notes_of_the_user_that_are_missing_are_an_error_until_they_are_forgotten() {
    let instance = Instance::new();
    let project = Project::git();
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "--user", "answers in German"]);
    shell.done(&["note", "of the project"]);
    let (code, text) = shell.said(&["project", "forget", "--user"]);
    assert!(code != 0 && text.contains("your own notes are on disk"), "{text}");
    shell.done(&["stop"]);
    let notes = instance.home().join("data/user");
    let moved = notes.with_extension("moved");
    fs::rename(&notes, &moved).unwrap();
    for command in [
        &["note", "--user", "into an empty one"][..],
        &["list", "--user"],
        &["journal", "verify", "--user"],
        &["journal", "repair", "--user"],
    ] {
        let (code, text) = shell.said(command);
        assert!(code != 0 && text.contains("is missing; restore it"), "{command:?}: {text}");
        assert!(text.contains("`anchord project forget --user`"), "{command:?}: {text}");
    }
    let (code, loaded) = shell.said(&["load"]);
    assert!(code == 0 && loaded.contains("of the project"), "{loaded}");
    assert!(loaded.contains("own notes cannot be read"), "{loaded}");
    let (code, doctor) = shell.said(&["doctor"]);
    assert!(code == 1 && doctor.contains("own notes cannot be "), "{doctor}");
    assert!(!notes.exists(), "no empty memory takes its place");

    fs::rename(&moved, &notes).unwrap();
    assert!(shell.done(&["load"]).contains("answers in German"));
    shell.done(&["stop"]);
    fs::rename(&notes, &moved).unwrap();
    shell.done(&["project", "forget", "--user"]);
    shell.done(&["note", "--user", "the first of the new ones"]);
    assert!(!shell.done(&["load"]).contains("own notes cannot be read"));
}

/// A file that cannot be changed until this value is dropped.
pub(crate) struct Immutable(PathBuf);

impl Immutable {
    /// Returns `None` if the file system or the user cannot do this.
    pub(crate) fn make(path: &Path) -> Option<Self> {
        chattr("+i", path).then(|| Self(path.to_owned()))
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        chattr("-i", &self.0);
    }
}

fn chattr(attribute: &str, path: &Path) -> bool {
    let mut command = Command::new("chattr");
    command.arg(attribute).arg(path).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn an_unwritable_project_is_written_to_once_it_can_be() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_note", &json!({ "content": "before it could not" }));
    drop(agent);
    assert!(instance.anchord().arg("stop").status().unwrap().success());
    let journal = journal(&instance, false);
    let Some(immutable) = Immutable::make(&journal) else { return };
    let mut agent = Agent::open(&instance, project.path());
    let note = |content: &str| json!({ "content": content });
    let refused = agent.call("memory_note", &note("while it could not")).unwrap();
    assert!(refused.is_error && refused.text.contains("not saved"), "{}", refused.text);
    let loaded = agent.tool("memory_load", &json!({}));
    assert!(loaded.starts_with("READ-ONLY, nothing can be saved: cannot write"), "{loaded}");
    assert!(loaded.contains("before it could not"), "{loaded}");
    let (code, told) = Shell::new(&instance, project.path()).said(&["journal", "verify"]);
    assert!(code != 0 && told.contains("could not be read or written"), "{code}: {told}");
    assert!(!told.contains("damaged"), "{told}");
    drop(immutable);
    poll(PATIENCE, "the project is written again", || {
        let note = agent.call("memory_note", &note("once it could")).unwrap();
        (!note.is_error).then_some(())
    });
    let loaded = agent.tool("memory_load", &json!({}));
    assert!(loaded.contains("once it could") && !loaded.contains("READ-ONLY"), "{loaded}");
}

/// Notes these texts in the project, and stops the daemon in order.
pub(crate) fn noted(shell: &Shell<'_>, texts: &[&str]) {
    for text in texts {
        shell.done(&["note", text]);
    }
    shell.done(&["stop"]);
}

/// A repair is no dead end: the file that it replaced can come back.
#[test]
fn a_journal_from_before_a_repair_is_repaired_once_more() {
    let instance = Instance::new();
    let project = Project::git();
    let shell = with_tide_tables(&instance, &project);
    let journal = journal(&instance, false);
    let whole = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, whole.replacen("number 5", "number 6", 1)).unwrap();
    let damaged = fs::read(&journal).unwrap();
    shell.done(&["journal", "repair", "--yes"]);
    let history = shell.done(&["history"]);
    assert!(!history.contains("1970"), "{history}");
    noted(&shell, &["after the first repair"]);

    fs::write(&journal, &damaged).unwrap();
    let loaded = shell.done(&["load"]);
    assert!(loaded.starts_with("READ-ONLY, nothing can be saved: "), "{loaded}");
    let root = project.path().to_str().unwrap();
    let (code, verified) = shell.said(&["journal", "verify", "--project", root]);
    assert_eq!(code, 5, "{verified}");
    let named = format!("`anchord journal repair --project {root}` shows what can be restored");
    assert!(verified.contains(&named) && !verified.contains("repair`"), "{verified}");
    let (code, plan) = shell.said(&["journal", "repair"]);
    assert_eq!(code, 2, "it asks: {plan}");
    assert!(plan.contains("from before a repair or purge"), "{plan}");
    shell.done(&["journal", "repair", "--yes"]);
    shell.done(&["note", "after the second repair"]);
    shell.done(&["journal", "verify"]);
    let loaded = shell.done(&["load"]);
    for text in ["number 1", "number 5", "after the first repair", "after the second repair"] {
        assert!(loaded.contains(text), "{text}: {loaded}");
    }
}

/// Two copies of a data directory were used, and the journal of one is put beside the other's
/// index.
#[test]
fn a_plan_names_what_a_diverged_journal_loses() {
    let instance = Instance::new();
    let project = Project::git();
    let shell = with_tide_tables(&instance, &project);
    let journal = journal(&instance, false);
    let memory = journal.ancestors().nth(2).unwrap().to_owned();
    let copy = tempfile::tempdir().unwrap();
    let copied = |from: &Path, to: &Path| {
        let done = Command::new("cp").arg("-a").arg(from).arg(to).status();
        assert!(done.unwrap().success());
    };
    copied(&memory, &copy.path().join("before"));
    noted(&shell, &["written in the first copy"]);
    let first = fs::read(&journal).unwrap();
    fs::remove_dir_all(&memory).unwrap();
    copied(&copy.path().join("before"), &memory);
    noted(&shell, &["written in the second copy"]);
    fs::write(&journal, first).unwrap();

    let (code, plan) = shell.said(&["journal", "repair"]);
    assert_eq!(code, 2, "it asks: {plan}");
    assert!(plan.contains("is not the one that the index followed"), "{plan}");
    assert!(plan.contains("lost from view") && plan.contains("n6@1 (entry "), "{plan}");
    shell.done(&["journal", "repair", "--yes"]);
    assert!(shell.done(&["load"]).contains("written in the second copy"));
    assert!(!shell.done(&["history"]).contains("1970"));
}
