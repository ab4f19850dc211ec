//! A disk that is full or read-only: errors are clear, and nothing acknowledged is lost.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anchord_tests::{Agent, Instance, PATIENCE, Project, Shell, poll, skip, write};
use serde_json::json;

/// Large enough to fill a small disk soon, and small enough for any limit of a field.
const CONTENT_BYTES: usize = 16 * 1024;

/// A test's own file system. It is unmounted on drop, before its directory is removed.
struct Disk(PathBuf);

impl Disk {
    /// Mounts a tmpfs. Returns `None` and skips the test if this process may not.
    fn mount(at: &Path, size: &str) -> Option<Self> {
        let options = format!("size={size},mode=0700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(at)
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            skip("this process may not mount a tmpfs");
            return None;
        }
        Some(Self(at.to_owned()))
    }

    fn remount(&self, options: &str) {
        assert!(self.try_remount(options), "cannot remount with {options}");
    }

    fn try_remount(&self, options: &str) -> bool {
        let options = format!("remount,{options}");
        let mut mount = Command::new("mount");
        mount.args(["-o", &options]).arg(&self.0);
        mount.output().is_ok_and(|output| output.status.success())
    }

    fn bytes_free(&self) -> u64 {
        let disk = rustix::fs::statvfs(&self.0).unwrap();
        disk.f_bavail * disk.f_frsize
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily, since a daemon that is about to be killed may still hold it.
        Command::new("umount").arg("--lazy").arg(&self.0).status().ok();
    }
}

#[test]
fn a_full_disk_loses_nothing_acknowledged() {
    let root = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(root.path(), "64m") else { return };
    let instance = Instance::at(root);
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    let mut saved = vec!["before it is full".to_owned()];
    agent.tool("memory_save", &write::save(&saved[0]));

    let ballast = disk.0.join("ballast");
    std::fs::write(&ballast, vec![0; usize::try_from(disk.bytes_free() - 128 * 1024).unwrap()])
        .unwrap();
    let refusal = write_until_refused(&mut agent, &mut saved);
    assert!(refusal.contains("not saved"), "{refusal}");
    assert!(agent.tool("memory_load", &json!({})).contains("before it is full"), "reads go on");

    std::fs::remove_file(ballast).unwrap();
    instance.kill9();
    agent.tool("memory_save", &write::save("after there was room again"));
    saved.push("after there was room again".to_owned());
    assert_all_there(&instance, &project, &saved);
}

#[test]
fn a_file_size_limit_loses_nothing_acknowledged() {
    let instance = Instance::new();
    let project = Project::git();
    let daemon = anchord_tests::binaries().anchord.display().to_string();
    let mut limited = instance.command("/bin/sh".as_ref());
    // Blocks have 512 bytes, so this is 1 MiB.
    limited.args(["-c", "ulimit -f 2048; exec \"$0\" daemon", &daemon]);
    instance.start_daemon_by(limited);
    let mut agent = Agent::open(&instance, project.path());
    let mut saved = Vec::new();
    let refusal = write_until_refused(&mut agent, &mut saved);
    assert!(refusal.contains("not saved"), "{refusal}");
    instance.kill9();
    // The shim starts another daemon, which has no limit.
    agent.tool("memory_save", &write::save("without a limit"));
    saved.push("without a limit".to_owned());
    assert_all_there(&instance, &project, &saved);
}

#[test]
fn a_read_only_disk_is_reported_and_readable() {
    let root = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(root.path(), "64m") else { return };
    let instance = Instance::at(root);
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before it is read-only"));
    // The agent goes first. Its shim would start another daemon, and the disk would be in use.
    drop(agent);
    instance.kill9();
    disk.remount("ro");

    let mut agent = Agent::start(&instance, project.path());
    // No daemon can prove that it can write, so none starts, and the agent gets the reason.
    let error = agent.request("tools/list", &json!({})).expect_err("no daemon can be had");
    let why = error.message.to_lowercase();
    assert!(why.contains("read-only") || why.contains("write"), "{why}");
    let refused = instance.anchord().arg("daemon").output().unwrap();
    assert!(!refused.status.success());

    disk.remount("rw");
    // The same agent continues. For a moment its shim repeats the answer without another search.
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "anchord-tests", "version": "0"},
    });
    poll(PATIENCE, "a daemon is found again", || agent.request("initialize", &hello).ok());
    assert!(agent.tool("memory_load", &json!({})).contains("before it is read-only"));
}

/// A daemon that starts on a full disk still serves what is on it.
#[test]
fn a_daemon_started_on_a_full_disk_serves_reads() {
    let root = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(root.path(), "64m") else { return };
    let instance = Instance::at(root);
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before it is full"));
    drop(agent);
    instance.kill9();
    let ballast = disk.0.join("ballast");
    std::fs::write(&ballast, vec![0; usize::try_from(disk.bytes_free()).unwrap()]).unwrap();
    assert_eq!(disk.bytes_free(), 0);
    assert_reads_go_on(&instance, &project, "the disk is full", || {
        std::fs::remove_file(ballast).unwrap();
    });
}

/// Files in the project are copies of the memory. While its disk is full, memory is written all the
/// same, and the files catch up later.
#[test]
fn files_in_a_project_catch_up_once_its_disk_has_room() {
    let instance = Instance::new();
    instance.configure("[topics]\nmarkdown = true\n");
    let project = Project::plain();
    let Some(disk) = Disk::mount(project.path(), "4m") else { return };
    let shell = Shell::new(&instance, project.path());
    let mut agent = Agent::open(&instance, project.path());
    let topic = |name: &str| {
        let text = format!("the topic {name}. {}", "0123456789 ".repeat(100));
        json!({ "summary": "s", "topic": { "name": name, "status": text } })
    };
    let save = |agent: &mut Agent, name: &str| {
        agent.tool("memory_checkpoint", &topic(name));
        agent.tool("memory_save", &write::save(&format!("the save of {name}")));
    };
    save(&mut agent, "before");
    shell.done(&["init", "--shared", "--yes"]);
    let has = |folder: &str, text: &str| {
        let mut found = false;
        anchord_tests::walk(&project.path().join(folder), &mut |path: &Path| {
            let content = std::fs::read_to_string(path).unwrap_or_default();
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
            found |= content.contains(text) && !is_hidden;
        });
        found
    };
    let folders = [".anchord/topics", ".anchord/memory"];
    for (folder, text) in folders.into_iter().zip(["the topic before", "the save of before"]) {
        poll(PATIENCE, "the files are there", || has(folder, text).then_some(()));
    }

    let ballast = disk.0.join("ballast");
    std::fs::write(&ballast, vec![0; usize::try_from(disk.bytes_free()).unwrap()]).unwrap();
    assert_eq!(disk.bytes_free(), 0);
    save(&mut agent, "meanwhile");
    assert!(agent.tool("memory_load", &json!({})).contains("the save of meanwhile"));
    poll(PATIENCE, "a pass of the mirror met the full disk", || {
        let mut is_logged = false;
        anchord_tests::walk(&instance.home().join("logs"), &mut |path: &Path| {
            let log = std::fs::read_to_string(path).unwrap_or_default();
            is_logged |= log.contains("failed to mirror topics");
        });
        is_logged.then_some(())
    });
    let (_, status) = shell.said(&["shared", "status"]);
    assert!(status.to_lowercase().contains("no space"), "{status}");
    for folder in folders {
        assert!(has(folder, "before"), "no file is lost in {folder}");
    }

    std::fs::remove_file(ballast).unwrap();
    for (folder, text) in folders.into_iter().zip(["the topic meanwhile", "the save of meanwhile"])
    {
        poll(PATIENCE, "the files catch up", || has(folder, text).then_some(()));
    }
}

/// The system may remount a disk with errors read-only.
#[test]
fn a_daemon_started_on_a_read_only_data_directory_serves_reads() {
    let instance = Instance::new();
    let data = instance.home().join("data");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&data).unwrap();
    let Some(disk) = Disk::mount(&data, "64m") else { return };
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before it is read-only"));
    drop(agent);
    instance.kill9();
    poll(PATIENCE, "nothing writes to the disk", || disk.try_remount("ro").then_some(()));
    assert_reads_go_on(&instance, &project, "read-only", || {
        assert_log_is_incomplete(&instance, &project, "read-only");
        assert!(disk.try_remount("rw"));
    });
    Shell::new(&instance, project.path()).done(&["log"]);
}

/// A directory that takes no writes until it is opened again. Root is bound by attributes alone.
struct Closed {
    at: PathBuf,
    /// The system's reason, in lower case.
    why: &'static str,
}

impl Closed {
    /// Closes a directory with everything in it. Returns `None` and skips the test if neither its
    /// mode nor an attribute binds this process.
    fn close(at: &Path) -> Option<Self> {
        let probe = at.join("probe");
        for (program, arguments, why) in [
            ("chmod", ["-R", "a-w"], "permission denied"),
            ("chattr", ["-R", "+i"], "not permitted"),
        ] {
            let closed = Self { at: at.to_owned(), why };
            run(program, &arguments, at);
            if std::fs::write(&probe, "").is_err() {
                return Some(closed);
            }
            std::fs::remove_file(&probe).unwrap();
        }
        skip("nothing keeps this process from writing to a directory");
        None
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        run("chattr", &["-R", "-i"], &self.at);
        run("chmod", &["-R", "u+w"], &self.at);
    }
}

fn run(program: &str, arguments: &[&str], path: &Path) {
    // The system may lack the program, or refuse it.
    Command::new(program).args(arguments).arg(path).output().ok();
}

#[test]
fn a_daemon_started_on_a_closed_data_directory_serves_reads() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_save", &write::save("before it is closed"));
    drop(agent);
    instance.kill9();
    let Some(closed) = Closed::close(&instance.home().join("data")) else { return };
    let why = closed.why;
    assert_reads_go_on(&instance, &project, why, || {
        assert_log_is_incomplete(&instance, &project, why);
        drop(closed);
    });
    Shell::new(&instance, project.path()).done(&["log"]);
}

/// Checks that a log without the calls since a fault does not look like one without any call.
fn assert_log_is_incomplete(instance: &Instance, project: &Project, why: &str) {
    for arguments in [["log", "-n9"], ["log", "--rules"]] {
        let (code, text) = Shell::new(instance, project.path()).said(&arguments);
        assert!(code == 1 && text.to_lowercase().contains(why), "{text}");
        assert!(text.contains("lines may be missing"), "{text}");
    }
}

/// Checks that reads work with a fault: an agent and the command line find the save "before it is
/// …". Writes are refused with the reason, until `mend` has repaired the fault.
fn assert_reads_go_on(instance: &Instance, project: &Project, why: &str, mend: impl FnOnce()) {
    let mut agent = Agent::open(instance, project.path());
    assert!(agent.tool("memory_load", &json!({})).contains("before it is"));
    assert!(agent.tool("memory_search", &json!({ "query": "before" })).contains("before it is"));
    let refused = agent.call("memory_save", &write::save("while it is")).unwrap();
    assert!(refused.is_error && refused.text.contains("not saved"), "{}", refused.text);
    assert!(refused.text.to_lowercase().contains(why), "{}", refused.text);
    let shell = Shell::new(instance, project.path());
    assert!(shell.done(&["load"]).contains("before it is"));
    let (code, text) = shell.said(&["note", "while it is"]);
    assert!(code != 0 && text.to_lowercase().contains(why), "{text}");
    let (code, doctor) = shell.said(&["doctor"]);
    assert_eq!(code, 1, "{doctor}");
    let named = doctor.contains("own records cannot be written") || doctor.contains("full disk");
    assert!(named, "{doctor}");

    mend();
    poll(PATIENCE, "the memory is written again", || {
        let saved = agent.call("memory_save", &write::save("after it was mended")).unwrap();
        (!saved.is_error).then_some(())
    });
    assert!(agent.tool("memory_load", &json!({})).contains("after it was mended"));
    let (_, doctor) = shell.said(&["doctor"]);
    assert!(!doctor.contains("own records cannot be written"), "{doctor}");
}

/// Saves until the daemon refuses, and returns the refusal. Adds the acknowledged titles to
/// `saved`.
fn write_until_refused(agent: &mut Agent, saved: &mut Vec<String>) -> String {
    let content = "0123456789abcdef".repeat(CONTENT_BYTES / 16);
    let refused = (0..1_000).find_map(|number| {
        let title = format!("filler-{number:03}-");
        let arguments = json!({
            "session_summary": "filling",
            "blueprints": [write::blueprint(&title, &content)],
        });
        match agent.call("memory_save", &arguments) {
            Ok(reply) if reply.is_error => Some(reply.text),
            Ok(_) => {
                saved.push(title);
                None
            }
            Err(error) => Some(error.message),
        }
    });
    refused.expect("a thousand writes do not find room")
}

/// Checks that each title is in the journal once, and that the journal is intact.
fn assert_all_there(instance: &Instance, project: &Project, saved: &[String]) {
    let written = instance.written("save");
    assert!(saved.iter().all(|title| written.get(title) == Some(&1)), "{written:?} for {saved:?}");
    let mut verify = instance.anchord();
    let verified = verify.args(["journal", "verify"]).current_dir(project.path()).output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

/// Without a descriptor nothing can be read, but that does not make the memory empty.
#[cfg(target_os = "linux")]
#[test]
fn a_project_opened_without_descriptors_is_writable_once_some_are_free() {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_note", &json!({ "content": "before there were none" }));
    drop(agent);
    let mut refusals = Vec::new();
    for spare in 0..8 {
        assert!(instance.anchord().arg("stop").status().unwrap().success());
        let daemon = instance.start_daemon();
        let mut agent = Agent::open(&instance, project.path());
        let pid = Pid::from_raw(i32::try_from(daemon).unwrap()).unwrap();
        let open = std::fs::read_dir(format!("/proc/{daemon}/fd")).unwrap().count() as u64;
        let limited = |current: Option<u64>| {
            let maximum = getrlimit(Resource::Nofile).maximum;
            let before = prlimit(Some(pid), Resource::Nofile, Rlimit { current, maximum });
            before.expect("the daemon is ours").current
        };
        let before = limited(Some(open + spare));
        let content = format!("with {spare} descriptors");
        let note = agent.call("memory_note", &json!({ "content": content })).unwrap();
        limited(before);
        if note.is_error {
            refusals.push(note.text);
        }
        let content = format!("with more than {spare} descriptors");
        poll(PATIENCE, "the project is written again", || {
            let note = agent.call("memory_note", &json!({ "content": content })).unwrap();
            (!note.is_error).then_some(())
        });
        let loaded = agent.tool("memory_load", &json!({}));
        for text in ["before there were none", &content] {
            assert!(loaded.contains(text), "{loaded}");
        }
    }
    let is_named = |text: &String| text.contains("Too many open files");
    assert!(!refusals.is_empty() && refusals.iter().all(is_named), "{refusals:#?}");
}
