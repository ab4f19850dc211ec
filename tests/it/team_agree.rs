//! Machines of a team agree with the database after a purge, and after it has lost commits.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anchord_tests::{Agent, PATIENCE, poll, write};
use serde_json::{Value, json};

use crate::team::{Machine, invite, server, two};

const PLANTED: &str = "a value that nobody should have written";

impl Machine {
    /// Waits until no file of the instance contains a text.
    fn loses(&self, text: &str) {
        poll(PATIENCE, "no file with what was purged", || {
            self.instance.holding(text).is_empty().then_some(())
        });
    }

    fn missing(&self) -> Vec<PathBuf> {
        let status = self.shell().json(&["team", "status"]);
        let lost = status.get("lost").and_then(Value::as_array).into_iter().flatten();
        let files = lost.filter_map(|lost| lost.get("file")?.as_str());
        files.map(PathBuf::from).collect()
    }
}

fn agreed(machines: &[&Machine; 2]) {
    let [one, two] = machines;
    poll(PATIENCE, "equal records on both machines", || {
        (one.revision() == two.revision() && one.shared() == two.shared()).then_some(())
    });
    for machine in machines {
        machine.shell().done(&["journal", "verify"]);
    }
}

#[test]
fn a_purge_reaches_the_database_and_every_machine() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let mut agent = bob.agent();
    agent.tool("memory_note", &json!({ "content": PLANTED, "key": "planted" }));
    agent.tool("memory_note", &json!({ "content": "It stays.", "key": "kept" }));
    // Only on that machine.
    agent.tool(
        "memory_checkpoint",
        &json!({ "lessons": [{ "summary": "half", "detail": PLANTED }] }),
    );
    ada.sees(PLANTED);
    assert!(server.dump().contains(PLANTED));

    let plan = ada.shell().done(&["purge", "planted", "--yes"]);
    assert!(plan.contains("from the team's database"), "{plan}");
    assert!(plan.contains("purged as revision"), "{plan}");
    assert!(!server.dump().contains(PLANTED));
    assert_eq!(ada.instance.holding(PLANTED), Vec::<PathBuf>::new());
    bob.loses(PLANTED);
    agreed(&[&ada, &bob]);
    for machine in [&ada, &bob] {
        let history = machine.shell().done(&["history"]);
        assert!(history.contains("a purge"), "{history}");
        assert!(history.contains("  Bob"), "{history}");
        assert!(machine.missing().is_empty());
        // The text does not come back, whoever writes it.
        let (code, text) = machine.shell().said(&["note", PLANTED]);
        assert!(code != 0 && text.contains("purged"), "{text}");
    }
    // The database says who purged, and her own machine knows.
    for machine in [&ada, &bob] {
        let history = machine.shell().done(&["history"]);
        assert!(history.contains("purge  ada"), "{history}");
    }
    agent.tool("memory_note", &json!({ "content": "And so it continues." }));
    assert!(ada.sees("And so it continues.").contains("It stays."));
}

#[test]
fn a_purged_rule_leaves_the_copies_that_hooks_of_other_machines_have() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let rule = ["--deny", "--fail-closed", "--reason", "never", "--command", "git push --force"];
    ada.shell().done(&[&["rules", "add", PLANTED], &rule[..]].concat());
    ada.shell().done(&["note", "--key", "last", "It stays."]);
    bob.sees("It stays.");
    let mut agent = bob.agent_with_all_tools();
    let check = |agent: &mut Agent| {
        agent.tool("memory_rule_check", &json!({ "command": "git push --force" }))
    };
    assert!(check(&mut agent).contains(PLANTED));
    let holding = bob.instance.holding(PLANTED);
    let copies = bob.instance.home().join("guard");
    assert!(holding.iter().any(|path| path.starts_with(&copies)), "{holding:?}");

    ada.shell().done(&["purge", "r1", "--yes"]);
    assert_eq!(ada.instance.holding(PLANTED), Vec::<PathBuf>::new());
    bob.loses(PLANTED);
    assert!(!check(&mut agent).contains("never"), "nothing forbids it any more");
    agreed(&[&ada, &bob]);
}

#[test]
fn a_save_during_purges_is_shared_or_said_to_wait() {
    const PURGES: usize = 8;
    const AGENTS: usize = 6;
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let planted = |number: usize| format!("{PLANTED}, {number}");
    for number in 0..PURGES {
        ada.shell().done(&["note", "--key", &format!("planted-{number}"), &planted(number)]);
    }
    let purged = AtomicBool::new(false);
    let save = &|of: usize| {
        // Both machines write during each purge.
        let machine = if of.is_multiple_of(2) { &ada } else { &bob };
        let (mut agent, mut saved) = (machine.agent(), 0);
        while !purged.load(Ordering::SeqCst) {
            let said = agent.call("memory_save", &write::save(&format!("Lesson {of}-{saved}.")));
            let said = said.unwrap();
            assert!(!said.is_error, "save {saved}: {}", said.text);
            saved += 1;
        }
        saved
    };
    let saved: Vec<usize> = std::thread::scope(|threads| {
        let saves: Vec<_> = (0..AGENTS).map(|of| threads.spawn(move || save(of))).collect();
        for number in 0..PURGES {
            let (code, said) = ada.shell().said(&["purge", &format!("planted-{number}"), "--yes"]);
            assert_eq!(code, 0, "{said}");
        }
        purged.store(true, Ordering::SeqCst);
        saves.into_iter().map(|saves| saves.join().unwrap()).collect()
    });
    poll(PATIENCE, "every save on the other machine", || {
        let shared = format!("{:?}", bob.shared());
        let has = |of: usize, number| shared.contains(&format!("Lesson {of}-{number}."));
        let mut all =
            saved.iter().enumerate().flat_map(|(of, saved)| (0..*saved).map(move |n| (of, n)));
        all.all(|(of, number)| has(of, number)).then_some(())
    });
    agreed(&[&ada, &bob]);
}

#[test]
fn a_machine_that_was_away_follows_a_purge_when_it_is_back() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let mut agent = bob.agent();
    agent.tool("memory_note", &json!({ "content": PLANTED, "key": "planted" }));
    ada.sees(PLANTED);
    agent.close_stdin();
    let pid = bob.instance.daemon_pid().unwrap();
    bob.shell().done(&["stop"]);
    bob.instance.wait_gone(pid);

    ada.shell().done(&["note", "Written meanwhile."]);
    ada.shell().done(&["purge", "planted", "--yes"]);
    ada.shell().done(&["note", "Written afterwards."]);
    assert!(!bob.instance.holding(PLANTED).is_empty());
    bob.instance.start_daemon();
    bob.loses(PLANTED);
    bob.sees("Written afterwards.");
    agreed(&[&ada, &bob]);
}

#[test]
fn the_first_read_of_a_daemon_does_not_show_what_was_purged_meanwhile() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    bob.shell().done(&["note", "--key", "planted", PLANTED]);
    ada.sees(PLANTED);
    let pid = bob.instance.daemon_pid().unwrap();
    bob.shell().done(&["stop"]);
    bob.instance.wait_gone(pid);
    ada.shell().done(&["purge", "planted", "--yes"]);
    let not_yet = "The team's database has not answered yet";
    // A busy machine may take longer than the first load waits.
    let load = poll(PATIENCE, "a load after the database has answered", || {
        Some(bob.shell().done(&["load"])).filter(|load| !load.contains(not_yet))
    });
    assert!(!load.contains(PLANTED), "{load}");
    bob.loses(PLANTED);
    agreed(&[&ada, &bob]);
}

#[test]
fn a_private_record_is_purged_on_its_machine_and_named_nowhere_else() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    let mut agent = ada.agent();
    let note = json!({ "content": PLANTED, "scope": "session" });
    let stored = agent.tool("memory_note", &note);
    assert!(stored.contains("n1p"), "{stored}");
    let digest = "SELECT seq, digest FROM anchord.projects";
    let before = server.psql(digest);
    let said = ada.shell().done(&["purge", "n1p", "--yes"]);
    assert!(!said.contains("team's"), "{said}");
    assert_eq!(ada.instance.holding(PLANTED), Vec::<PathBuf>::new());
    assert_eq!(server.psql(digest), before, "nobody else learns of it");
    ada.shell().done(&["note", "Ours."]);
    bob.sees("Ours.");
    agreed(&[&ada, &bob]);
}

#[test]
fn only_a_backup_of_this_memory_is_restored_in_a_team() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    ada.shell().done(&["note", "Before the backup."]);
    let file = ada.project.path().join("ada.jsonl.gz").display().to_string();
    ada.shell().done(&["backup", "--to", &file]);
    ada.shell().done(&["note", "After the backup."]);
    bob.sees("After the backup.");
    ada.shell().done(&["restore", &file, "--yes"]);
    poll(PATIENCE, "the earlier revision on the other machine", || {
        let load = bob.shell().done(&["load"]);
        (load.contains("Before the backup.") && !load.contains("After")).then_some(())
    });
    agreed(&[&ada, &bob]);

    let other = Machine::new();
    other.shell().done(&["note", "Of another memory."]);
    let file = other.project.path().join("other.jsonl.gz").display().to_string();
    other.shell().done(&["backup", "--to", &file]);
    let (code, said) = ada.shell().said(&["restore", &file, "--yes"]);
    assert!(code != 0 && said.contains("a team shares this memory"), "{said}");
    assert!(!said.contains("takes its place"), "no plan is shown: {said}");
}

#[test]
fn purges_at_once_all_succeed() {
    const PURGES: usize = 6;
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    // Another maintainer's machine.
    let eve = Machine::new();
    eve.join(&server.url("ada"));
    let planted = |number: usize| format!("{PLANTED}, {number}");
    for number in 0..PURGES {
        ada.shell().done(&["note", "--key", &format!("planted-{number}"), &planted(number)]);
    }
    eve.sees(&planted(PURGES - 1));
    let purge = |number: usize| {
        let machine = if number.is_multiple_of(2) { &ada } else { &eve };
        machine.shell().said(&["purge", &format!("planted-{number}"), "--yes"])
    };
    let purge = &purge;
    std::thread::scope(|threads| {
        let purges: Vec<_> = (0..PURGES).map(|it| threads.spawn(move || purge(it))).collect();
        for purged in purges {
            let (code, said) = purged.join().unwrap();
            assert_eq!(code, 0, "{said}");
        }
    });
    for machine in [&ada, &bob, &eve] {
        machine.loses(PLANTED);
    }
    agreed(&[&ada, &eve]);
    agreed(&[&ada, &bob]);
}

#[test]
fn a_note_during_a_purge_waits_until_its_machine_has_followed() {
    const PURGES: usize = 3;
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    for number in 0..PURGES {
        ada.shell().done(&["note", "--key", &format!("planted-{number}"), PLANTED]);
    }
    bob.sees(PLANTED);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let notes = threads.spawn(|| {
            let (mut agent, mut stored) = (bob.agent(), 0);
            while !is_over.load(Ordering::SeqCst) {
                let note = json!({ "content": format!("Note {stored} of many.") });
                let said = agent.call("memory_note", &note).unwrap();
                assert!(!said.is_error, "note {stored}: {}", said.text);
                stored += 1;
            }
            stored
        });
        for number in 0..PURGES {
            ada.shell().done(&["purge", &format!("planted-{number}"), "--yes"]);
        }
        bob.loses(PLANTED);
        is_over.store(true, Ordering::SeqCst);
        assert!(notes.join().unwrap() > PURGES);
    });
    agreed(&[&ada, &bob]);
}

#[test]
fn a_purge_without_the_database_changes_nothing() {
    let Some(mut server) = server() else { return };
    let (ada, bob) = two(&server);
    ada.shell().done(&["note", "--key", "planted", PLANTED]);
    bob.sees(PLANTED);
    // A writer's role does not let it change what others wrote.
    let (code, text) = bob.shell().said(&["purge", "planted", "--yes"]);
    assert!(code == 4 && text.contains("Ask a maintainer"), "{text}");
    assert!(!text.contains("Run it again"), "that does not help: {text}");
    assert!(!text.contains("This goes from"), "it is refused before a plan is shown: {text}");
    server.stop_immediate();
    let (code, text) = ada.shell().said(&["purge", "planted", "--yes"]);
    assert!(code != 0 && text.contains("database"), "{text}");
    assert!(ada.shell().done(&["load"]).contains(PLANTED));
    server.restart();
    ada.shell().done(&["purge", "planted", "--yes"]);
    bob.loses(PLANTED);
    agreed(&[&ada, &bob]);
}

#[test]
fn a_database_that_lost_commits_is_followed_and_what_it_lost_is_set_aside() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    ada.shell().done(&["note", "Before the backup."]);
    bob.sees("Before the backup.");
    let dump = server.dump();

    let mut agent = ada.agent();
    agent.tool("memory_note", &json!({ "content": "Only half done.", "scope": "session" }));
    agent.tool("memory_save", &write::save("Saved after the backup"));
    let lost = bob.sees("Saved after the backup");
    assert!(lost.contains("Before the backup."));
    agent.tool("memory_note", &json!({ "content": "Stored by a session." }));
    bob.shell().done(&["note", "Noted after the backup."]);
    ada.sees("Noted after the backup.");
    let seen = ada.revision();
    server.psql("DROP SCHEMA anchord CASCADE");
    server.restore(&dump);

    // The machine that saved has it still, and saves it again.
    bob.sees("Saved after the backup");
    for machine in [&ada, &bob] {
        let missing = poll(PATIENCE, "a file with what is missing", || machine.missing().pop());
        let name = missing.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            name.starts_with("missing-") && name.ends_with(&format!("-{seen}.jsonl")),
            "{name}"
        );
        let text = std::fs::read_to_string(&missing).unwrap();
        assert!(text.contains("Noted after the backup."), "{text}");
        poll(PATIENCE, "a load without what is missing", || {
            let load = machine.shell().done(&["load"]);
            let is_back = load.contains("Saved after") && load.contains("Before the backup.");
            (is_back && !load.contains("Noted after")).then_some(())
        });
        for command in [&["team", "status"][..], &["doctor"]] {
            let (_, said) = machine.shell().said(command);
            assert!(said.contains("commits that the database has lost are in"), "{said}");
        }
    }
    agreed(&[&ada, &bob]);
    let own = ada.shell().done(&["list", "--json"]);
    assert!(own.contains("Only half done."), "what is private remains: {own}");
    let told = agent.tool("memory_search", &json!({ "query": "backup" }));
    assert!(told.contains("has lost what you wrote:\n- note: "), "{told}");
    assert!(told.contains("Stored by a session.") && !told.contains("- save: "), "{told}");
    bob.shell().done(&["note", "And so it continues."]);
    ada.sees("And so it continues.");
    agreed(&[&ada, &bob]);
}

#[test]
fn a_purge_that_the_database_has_lost_is_named_and_can_be_made_again() {
    let Some(server) = server() else { return };
    let (ada, bob) = two(&server);
    ada.shell().done(&["note", "--key", "planted", PLANTED]);
    bob.sees(PLANTED);
    let dump = server.dump();
    ada.shell().done(&["purge", "planted", "--yes"]);
    bob.loses(PLANTED);
    agreed(&[&ada, &bob]);
    server.psql("DROP SCHEMA anchord CASCADE");
    server.restore(&dump);

    // The copies follow the database, which has the text again.
    for machine in [&ada, &bob] {
        machine.sees(PLANTED);
        let missing = machine.missing();
        let missing = missing.first().unwrap();
        let text = std::fs::read_to_string(missing).unwrap();
        assert!(text.contains("\"op\":\"purge\""), "{text}");
        std::fs::remove_file(missing).unwrap();
    }
    agreed(&[&ada, &bob]);
    ada.shell().done(&["purge", "planted", "--yes"]);
    bob.loses(PLANTED);
    agreed(&[&ada, &bob]);
}

#[test]
fn a_database_with_another_history_of_the_same_length_is_noticed() {
    let Some(server) = server() else { return };
    let (ada, bob) = (Machine::new(), Machine::new());
    ada.create(&server.url("ada"));
    invite(&ada, &server);
    let dump = server.dump();
    bob.join(&server.url("bob"));
    ada.shell().done(&["note", "The first history."]);
    bob.sees("The first history.");
    let pid = bob.instance.daemon_pid().unwrap();
    bob.shell().done(&["stop"]);
    bob.instance.wait_gone(pid);

    server.psql("DROP SCHEMA anchord CASCADE");
    server.restore(&dump);
    poll(PATIENCE, "the first machine to follow", || ada.missing().pop());
    ada.shell().done(&["note", "The second history."]);
    bob.instance.start_daemon();
    bob.sees("The second history.");
    assert!(!bob.shell().done(&["load"]).contains("The first history."));
    assert_eq!(bob.missing().len(), 1);
    agreed(&[&ada, &bob]);
}
