//! The project that an agent gets, whatever others leave on the disk: real processes, real
//! repositories.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anchord_tests::{Agent, Instance, Project, Shell, binaries, skip};
use rustix::fs::{AtFlags, CWD, Uid, chownat};
use serde_json::{Value, json};

/// Returns whether an agent that starts in a directory finds a note by its first words. [`note`]
/// writes such notes.
fn finds(instance: &Instance, directory: &Path, words: &str) -> bool {
    let mut agent = Agent::open(instance, directory);
    let found = agent.tool("memory_search", &json!({ "query": words }));
    found.contains(&format!("{words}{REST}"))
}

/// The end of these tests' notes, which distinguishes a note from an echo of the question.
const REST: &str = " (as written)";

fn note(instance: &Instance, directory: &Path, text: &str) -> String {
    let content = format!("{text}{REST}");
    Agent::open(instance, directory).tool("memory_note", &json!({ "content": content }))
}

fn repository(around: &Project, name: &str) -> PathBuf {
    let root = around.path().join(name);
    fs::create_dir_all(&root).unwrap();
    around.run_git(&["init", "--quiet", name]);
    root
}

const GATEWAY: &str = "the gateway drops idle sockets";
const INVOICES: &str = "invoices are numbered by quarter";

/// Returns the roots of the projects that the daemon knows.
fn roots(shell: &Shell<'_>) -> Vec<String> {
    let listed = shell.json(&["project", "list"]);
    let root = |project: &Value| project.get("root")?.as_str().map(str::to_owned);
    let projects = listed.get("projects").and_then(Value::as_array).unwrap();
    projects.iter().filter_map(root).collect()
}

#[test]
fn a_parent_directory_neither_hides_nor_merges_its_repositories() {
    let (instance, work) = (Instance::new(), Project::plain());
    let (api, web) = (repository(&work, "api"), repository(&work, "web"));
    note(&instance, &api, GATEWAY);

    // An agent starts in the parent and writes.
    let said = note(&instance, work.path(), INVOICES);
    let command = format!("anchord init --workspace --project {}", work.path().display());
    assert!(said.contains("is a repository beneath it") && said.contains(&command), "{said}");
    assert!(!work.path().join(".anchord").exists());
    // Neither a marker that an earlier build left there nor the user's own changes anything.
    for marker in [false, true] {
        if marker {
            fs::create_dir(work.path().join(".anchord")).unwrap();
        }
        assert!(finds(&instance, &api, GATEWAY) && !finds(&instance, &api, INVOICES));
        assert!(!finds(&instance, &web, GATEWAY) && !finds(&instance, &web, INVOICES));
        assert!(finds(&instance, work.path(), INVOICES));
    }

    let shell = Shell::new(&instance, work.path());
    let said = shell.done(&["init", "--workspace", "--dry-run"]);
    assert!(said.contains("would be made a workspace"), "{said}");
    assert!(!finds(&instance, &web, INVOICES));
    let said = shell.done(&["init", "--workspace"]);
    assert!(said.contains("is a workspace now"), "{said}");
    assert!(finds(&instance, &api, INVOICES) && finds(&instance, &web, INVOICES));
    assert!(!finds(&instance, &api, GATEWAY));
    let said = shell.done(&["init", "--workspace", "--remove"]);
    assert!(said.contains("is not a workspace any more"), "{said}");
    assert!(finds(&instance, &api, GATEWAY) && !finds(&instance, &web, INVOICES));

    let home = instance.user_home().to_str().unwrap().to_owned();
    let (code, said) = shell.said(&["init", "--workspace", "--project", &home]);
    assert!(code == 2 && said.contains("is your home directory"), "{said}");
}

/// Another local user can create names in a shared parent.
#[test]
fn another_users_marks_in_a_shared_parent_open_no_sibling_files() {
    let (instance, shared) = (Instance::new(), Project::plain());
    fs::create_dir(shared.path().join(".anchord")).unwrap();
    repository(&shared, ".");
    for mark in [".anchord", ".git"] {
        let (path, stranger) = (shared.path().join(mark), Some(Uid::from_raw(4_242)));
        if chownat(CWD, path, stranger, None, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            return skip("only root can give a file to another user");
        }
    }
    let mine = shared.path().join("mine");
    fs::create_dir(&mine).unwrap();
    shared.write("sibling/.env", "TOKEN_OF_SIBLING\n");
    let mut agent = Agent::open(&instance, &mine);
    let loaded = agent.tool("memory_load", &json!({}));
    assert!(loaded.contains("belongs to another user (uid 4242)"), "{loaded}");
    let anchor = json!({ "file": "../sibling/.env", "lines": "1", "concept": "c" });
    agent.tool("memory_save", &json!({ "session_summary": "s", "anchors": [anchor] }));
    let read = agent.call("memory_get", &json!({ "id": "a1", "expand": true })).unwrap();
    assert!(!read.text.contains("TOKEN_OF_SIBLING"), "{read:?}");
    let anchor = json!({ "file": "sibling/.env", "lines": "1", "concept": "c" });
    agent.tool("memory_save", &json!({ "session_summary": "s", "anchors": [anchor] }));
    let read = agent.call("memory_get", &json!({ "id": "a2", "expand": true })).unwrap();
    assert!(!read.text.contains("TOKEN_OF_SIBLING"), "{read:?}");
    let real = fs::canonicalize(&mine).unwrap();
    assert_eq!(roots(&Shell::new(&instance, &mine)), [real.to_str().unwrap()]);
}

fn move_to(from: &Path, to: &Path) {
    fs::rename(from, to).unwrap();
}

fn copy_to(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-R").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

/// An id is only a hint. A copy that has it gets no memory by it, and the owner keeps the memory.
#[test]
fn a_copied_id_opens_no_memory_and_the_owner_keeps_its_own() {
    let (instance, around) = (Instance::new(), Project::plain());
    let (owner, away) = (around.path().join("owner"), around.path().join("away"));
    let copy = around.path().join("copy");
    fs::create_dir(&owner).unwrap();
    note(&instance, &owner, GATEWAY);
    assert_eq!(fs::read_to_string(owner.join(".anchord/.gitignore")).unwrap(), "*\n");
    move_to(&owner, &away);
    for carrier in [&copy, &owner] {
        copy_to(&away, carrier);
        assert!(!finds(&instance, carrier, GATEWAY));
        let said = note(&instance, carrier, INVOICES);
        let command = format!("anchord project link {} --project ", carrier.display());
        assert!(said.contains(&command), "{said}");
    }
    assert!(finds(&instance, &away, GATEWAY) && !finds(&instance, &away, INVOICES));
    fs::remove_dir_all(&owner).unwrap();
    move_to(&away, &owner);
    assert!(finds(&instance, &owner, GATEWAY) && !finds(&instance, &owner, INVOICES));

    // The command that the copy was shown links it to that memory, since the user runs it.
    let shell = Shell::new(&instance, &copy);
    shell.done(&["project", "link", "--project", owner.to_str().unwrap()]);
    assert!(finds(&instance, &copy, GATEWAY));
}

/// The memory of a forgotten project is still on disk.
#[test]
fn the_id_of_a_forgotten_project_opens_no_memory_elsewhere() {
    let (instance, around) = (Instance::new(), Project::plain());
    let (owner, thief) = (around.path().join("owner"), around.path().join("thief"));
    fs::create_dir(&owner).unwrap();
    let shell = Shell::new(&instance, &owner);
    shell.done(&["note", &format!("{GATEWAY}{REST}")]);
    shell.done(&["project", "forget"]);
    assert_eq!(roots(&shell), [""; 0]);
    copy_to(&owner, &thief);
    assert!(!finds(&instance, &thief, GATEWAY));
    let said = note(&instance, &thief, INVOICES);
    let command = format!("anchord project link {} --project ", thief.display());
    assert!(said.contains(&command), "{said}");
    let id = said.split(&command).nth(1).unwrap().split_whitespace().next().unwrap();
    assert!(finds(&instance, &owner, GATEWAY) && !finds(&instance, &owner, INVOICES));

    // The user may still share it, and then both are listed.
    Shell::new(&instance, &thief).done(&["project", "link", "--project", id]);
    assert!(finds(&instance, &thief, GATEWAY));
    assert!(roots(&shell).contains(&fs::canonicalize(&owner).unwrap().display().to_string()));
}

/// The fork has a memory's id in its history, and is cloned to where the original was.
#[test]
fn a_hostile_fork_neither_reads_nor_plants_memory() {
    let (instance, around) = (Instance::new(), Project::plain());
    let shop = repository(&around, "shop");
    fs::write(shop.join("lib.rs"), "").unwrap();
    // An earlier build of anchord kept no `.gitignore` there, so the id was committed.
    let id = "0b8e6a52-9a38-4a9b-b6cf-0d5b3c9f7c11";
    fs::create_dir(shop.join(".anchord")).unwrap();
    fs::write(shop.join(".anchord/project-id"), format!("{id}\n")).unwrap();
    let commit = ["-C", "shop", "commit", "--quiet", "-m", "all"];
    note(&instance, &shop, GATEWAY);
    around.run_git(&["-C", "shop", "add", "-A", "-f"]);
    around.run_git(&commit);
    around.run_git(&["clone", "--quiet", "shop", "fork"]);
    let (fork, away) = (around.path().join("fork"), around.path().join("away"));
    assert!(fork.join(".anchord/project-id").is_file(), "it brings the id along");

    move_to(&shop, &away);
    let said = note(&instance, &fork, INVOICES);
    assert!(said.contains("git tracks") && said.contains("git rm --cached"), "{said}");
    assert!(!finds(&instance, &fork, GATEWAY));
    move_to(&fork, &shop);
    assert!(!finds(&instance, &shop, GATEWAY), "in the original's place, too");
    assert!(finds(&instance, &away, GATEWAY) && !finds(&instance, &away, INVOICES));
    move_to(&shop, &fork);
    move_to(&away, &shop);
    assert!(finds(&instance, &shop, GATEWAY) && !finds(&instance, &shop, INVOICES));
}

/// Any client can put the name of any conversation into a call.
#[test]
fn naming_a_conversation_does_not_expose_its_notes() {
    let (instance, shop, other) = (Instance::new(), Project::git(), Project::git());
    instance.start_daemon();
    let mut hook = instance.command(&binaries().anchord_hook);
    hook.arg("codex").current_dir(shop.path()).stdin(Stdio::piped());
    let mut hook = hook.spawn().unwrap();
    let event =
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": "talk", "prompt": "go" });
    hook.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());

    let named = |directory: &Path, tool: &str, arguments: Value| {
        let mut agent = Agent::open(&instance, directory);
        let meta = json!({ "threadId": "talk" });
        let call = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        agent.request("tools/call", &call).unwrap().to_string()
    };
    let private = json!({ "content": GATEWAY, "scope": "session" });
    named(shop.path(), "memory_note", private);
    let search = json!({ "query": GATEWAY, "scope": "session" });
    let own = named(shop.path(), "memory_search", search.clone());
    assert!(own.contains("n1"), "{own}");
    let theirs = named(other.path(), "memory_search", search);
    assert!(theirs.contains("works in another project") && !theirs.contains("n1"), "{theirs}");
}

/// Rewrites the daemon's registry as an earlier build left it, without the fields that only this
/// build writes.
fn make_older(instance: &Instance) {
    let daemon = instance.home().join("data/daemon");
    for derived in ["sled", "snapshot"] {
        fs::remove_dir_all(daemon.join(derived)).ok();
    }
    let segment = daemon.join("journal/000001.jsonl");
    let inode = |text: &str| {
        let (before, rest) = text.split_once(",\"dev\":")?;
        let (_, after) = rest.split_once(",\"git\":")?;
        Some(format!("{before},\"git\":{after}"))
    };
    let older = |line: &str| {
        let (body, _) = line.rsplit_once(",\"crc\":").unwrap();
        let body = body.replace(",\"is_bound_by_git_root\":true", "");
        let body = inode(&body).unwrap_or(body);
        format!("{body},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body.as_bytes()))
    };
    let text = fs::read_to_string(&segment).unwrap();
    assert!(text.contains("is_bound_by_git_root") && text.contains("\"ino\":"), "{text}");
    fs::write(segment, text.lines().map(older).collect::<String>()).unwrap();
}

/// An update finds an earlier build's rows, and a memory that its search mixed.
#[test]
fn a_memory_mixed_by_an_earlier_build_is_split_and_rejoined() {
    let (instance, work) = (Instance::new(), Project::plain());
    let (api, web) = (repository(&work, "api"), repository(&work, "web"));
    fs::create_dir(work.path().join(".anchord")).unwrap();
    for (directory, text) in [(&api, GATEWAY), (&web, INVOICES)] {
        let mut shim = instance.shim(directory);
        shim.env("ANCHORD_PROJECT", work.path());
        let mut agent = Agent::start_by(shim);
        agent.initialize();
        // Long enough that the memory does not keep it once it is set aside.
        let content = format!("{text}{REST}\n{}", "More of it.\n".repeat(30));
        agent.tool("memory_note", &json!({ "content": content }));
    }
    let shell = Shell::new(&instance, work.path());
    shell.done(&["stop"]);
    make_older(&instance);

    // The memory is where it was. Its repositories have their own, and their loads mention it.
    assert!(finds(&instance, work.path(), GATEWAY) && finds(&instance, work.path(), INVOICES));
    let told = Agent::open(&instance, &api).tool("memory_load", &json!({}));
    assert!(told.contains("anchord project split --project"), "{told}");
    let (_, said) = shell.said(&["doctor"]);
    assert!(said.contains("records that were written in other projects: 1 in "), "{said}");
    assert!(said.contains("`anchord project split --project "), "{said}");

    let (code, said) = shell.said(&["project", "split"]);
    assert!(
        code == 2 && said.contains("1 record would move to") && said.contains("--yes"),
        "{said}"
    );
    assert!(!finds(&instance, &api, GATEWAY), "nobody agreed so far");
    let said = shell.done(&["project", "split", "--yes"]);
    assert!(said.contains("moved 1 record to"), "{said}");
    for (directory, gateway, invoices) in
        [(api.as_path(), true, false), (&web, false, true), (work.path(), false, false)]
    {
        assert_eq!(finds(&instance, directory, GATEWAY), gateway, "{}", directory.display());
        assert_eq!(finds(&instance, directory, INVOICES), invoices, "{}", directory.display());
    }
    let (_, said) = shell.said(&["doctor"]);
    assert!(!said.contains("written in other projects"), "{said}");

    let said = shell.done(&["project", "split", "--undo", "--yes"]);
    assert!(said.contains("brought back 2 records"), "{said}");
    assert!(finds(&instance, work.path(), GATEWAY) && finds(&instance, work.path(), INVOICES));
    assert!(!finds(&instance, &api, GATEWAY) && !finds(&instance, &web, INVOICES));
}

/// Returns the load of an agent that starts in a directory.
fn loaded(instance: &Instance, directory: &Path) -> String {
    Agent::open(instance, directory).tool("memory_load", &json!({}))
}

/// A repository that was cloned again at its path begins with a memory of its own. What is written
/// there before it is linked must not be lost on the way.
#[test]
fn a_fresh_clone_names_the_earlier_memory_until_the_user_decides() {
    let decide = |decides: &str| {
        let (instance, around) = (Instance::new(), Project::plain());
        let app = repository(&around, "app");
        // A command's session ends with it, so that the memory can be forgotten.
        Shell::new(&instance, &app).done(&["note", &format!("{GATEWAY}{REST}")]);
        fs::remove_dir_all(&app).unwrap();
        let app = repository(&around, "app");
        let shell = Shell::new(&instance, &app);
        let link = format!("anchord project link {} --project ", app.display());
        assert!(loaded(&instance, &app).contains(&link), "before the first write");
        note(&instance, &app, INVOICES);
        for _ in 0..2 {
            let load = loaded(&instance, &app);
            assert!(load.contains(&link) && load.contains("anchord project forget"), "{load}");
            assert_eq!(load.matches(&link).count(), 1, "{load}");
        }
        let load = loaded(&instance, &app);
        let earlier = load.split(&link).nth(1).unwrap();
        let earlier = earlier.split([';', '\n', ' ']).next().unwrap().to_owned();
        if decides == "forget" {
            shell.done(&["project", "forget", "--project", &earlier]);
            assert!(!loaded(&instance, &app).contains("anchord project"));
            assert!(finds(&instance, &app, INVOICES));
            return;
        }
        let said = shell.done(&["project", "link", "--project", &earlier]);
        assert!(said.contains("1 note"), "{said}");
        assert!(finds(&instance, &app, GATEWAY) && !finds(&instance, &app, INVOICES));
        // The commands are carried out as they are printed.
        let commands: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        let [export, import] = &commands[..] else { panic!("{said}") };
        let words = |command: &str| {
            command.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let (export, file) = export.split_once(" > ").unwrap();
        let export = words(export);
        let document = shell.done(&export.iter().map(String::as_str).collect::<Vec<_>>());
        fs::write(app.join(file), document).unwrap();
        let import = words(import);
        shell.done(&import.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(finds(&instance, &app, GATEWAY) && finds(&instance, &app, INVOICES));
        assert!(!loaded(&instance, &app).contains("anchord project link"));
    };
    decide("forget");
    decide("link");
}

/// A read would otherwise look as if nothing had ever been recorded.
#[test]
fn every_read_of_a_place_that_had_a_memory_says_so() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "The deploy key is in the vault.", "--key", "deploy.key"]);
    // A key is taken for the id, as loads show it.
    let mut agent = Agent::open(&instance, project.path());
    let fact = agent.tool("memory_get", &json!({ "id": "deploy.key" }));
    assert!(fact.contains("in the vault"), "{fact}");
    drop(agent);

    fs::remove_dir_all(project.path().join(".git")).unwrap();
    project.run_git(&["init", "--quiet"]);
    for read in [&["search", "vault"][..], &["list"], &["history"], &["get", "deploy.key"]] {
        let (_, text) = shell.said(read);
        assert!(text.contains("anchord project link"), "{read:?}: {text}");
    }
    let mut agent = Agent::open(&instance, project.path());
    let found = agent.tool("memory_search", &json!({ "query": "vault" }));
    assert!(found.contains("anchord project link"), "{found}");
}
