//! Backups at a shell: made while agents write, checked, and restored here and elsewhere.

use std::fs;
use std::path::Path;

use anchord_tests::{Agent, Instance, Project, Shell};
use serde_json::{Value, json};

fn texts(shell: &Shell<'_>) -> Vec<String> {
    let list = shell.json(&["list", "--limit", "200"]);
    let records = list.get("records").and_then(Value::as_array).unwrap();
    let text = |record: &Value| record.pointer("/body/note/content")?.as_str().map(str::to_owned);
    let mut texts: Vec<String> = records.iter().filter_map(text).collect();
    texts.sort();
    texts
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_backup_made_while_agents_write_is_whole_and_restores_elsewhere() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let away = tempfile::tempdir().unwrap();
    let mut agent = Agent::open(&instance, project.path());
    for number in 0..20 {
        agent.tool("memory_note", &json!({ "content": format!("before the backup: {number}") }));
    }
    agent.tool("memory_checkpoint", &json!({ "summary": "half way through" }));
    let files: Vec<_> = (0..5).map(|at| away.path().join(format!("{at}.jsonl.gz"))).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..60 {
                let content = format!("during the backup: {number}");
                agent.tool("memory_note", &json!({ "content": content }));
            }
        });
        for file in &files {
            shell.done(&["backup", "--to", name(file)]);
        }
    });
    for file in &files {
        let summary = shell.json(&["journal", "verify", name(file)]);
        let (elsewhere, fresh) = (Instance::new(), Project::git());
        let there = Shell::new(&elsewhere, fresh.path());
        there.done(&["restore", name(file), "--yes"]);
        there.done(&["journal", "verify"]);
        let restored = texts(&there);
        assert_eq!(restored.len() as u64, summary["records"].as_u64().unwrap());
        let before = restored.iter().filter(|text| text.starts_with("before")).count();
        assert_eq!(before, 20);
        // What came during the backup is there without a gap.
        for number in 0..restored.len() - before {
            assert!(restored.contains(&format!("during the backup: {number}")), "{restored:?}");
        }
        assert!(there.done(&["export", "--format", "json"]).contains("half way through"));
        assert!(!there.json(&["history"])["commits"].as_array().unwrap().is_empty());
        there.done(&["note", "written after the restore"]);
    }
}

#[test]
fn a_backup_takes_the_place_of_a_memory_that_lost_its_files() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    for text in ["one", "two", "three"] {
        shell.done(&["note", text]);
    }
    let summary = shell.done(&["backup"]);
    let file = summary.split(".jsonl.gz:").next().unwrap().to_owned() + ".jsonl.gz";
    shell.done(&["note", "four"]);
    shell.done(&["stop"]);
    let journals = instance.home().join("data/projects");
    let id = fs::read_dir(&journals).unwrap().next().unwrap().unwrap().path();
    let journal = id.join("journal/000001.jsonl");
    let lines = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, lines.lines().take(2).collect::<Vec<_>>().join("\n") + "\n").unwrap();

    let (code, said) = shell.said(&["restore", &file]);
    assert_eq!((code, said.contains("is damaged")), (2, true), "{said}");
    assert!(shell.said(&["note", "refused"]).0 != 0);
    shell.done(&["restore", &file, "--yes"]);
    assert_eq!(texts(&shell), ["one", "three", "two"]);
    shell.done(&["journal", "verify"]);
    shell.done(&["note", "five"]);
    let kept = || {
        let names = fs::read_dir(id.join("journal")).unwrap().map(|file| file.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().contains(".kept-")).count()
    };
    assert_eq!(kept(), 1);
    let purged = shell.done(&["purge", "n4", "--yes"]);
    assert!(purged.contains("Backups are not purged: 1 backup in "), "{purged}");
    assert_eq!(kept(), 0);

    // The whole directory is gone.
    shell.done(&["stop"]);
    fs::remove_dir_all(&id).unwrap();
    assert!(shell.said(&["load"]).0 != 0);
    shell.done(&["restore", &file, "--yes"]);
    assert_eq!(texts(&shell), ["one", "three", "two"]);
}

#[test]
fn restoring_an_earlier_backup_of_this_memory_is_an_undo() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let away = tempfile::tempdir().unwrap();
    let (early, late) = (away.path().join("early.gz"), away.path().join("late.gz"));
    shell.done(&["note", "kept: alpha"]);
    shell.done(&["note", "purged later: beta"]);
    shell.done(&["backup", "--to", name(&early)]);
    assert!(shell.done(&["restore", name(&early)]).contains("Nothing to do"));
    shell.done(&["note", "later: gamma"]);
    shell.done(&["purge", "n2", "--yes"]);

    let plan = shell.done(&["restore", name(&early), "--dry-run"]);
    assert!(plan.contains("continues it") && plan.contains("gamma"), "{plan}");
    shell.done(&["restore", name(&early), "--yes"]);
    assert_eq!(texts(&shell), ["kept: alpha"]);
    shell.done(&["undo"]);
    assert_eq!(texts(&shell), ["kept: alpha", "later: gamma"]);
    shell.done(&["backup", "--to", name(&late)]);

    // Another memory here: the early backup, in another project, is continued otherwise.
    let other = Project::git();
    let there = Shell::new(&instance, other.path());
    there.done(&["restore", name(&early), "--yes"]);
    there.done(&["note", "elsewhere: delta"]);
    there.done(&["purge", "n1", "--yes"]);
    let plan = there.done(&["restore", name(&late), "--dry-run"]);
    assert!(plan.contains("There is another memory here"), "{plan}");
    let done = there.done(&["restore", name(&late), "--yes"]);
    assert!(done.contains("Purged again"), "{done}");
    assert_eq!(texts(&there), ["later: gamma"]);
    let (code, said) = there.said(&["restore", name(&late), "--user", "--yes"]);
    assert_eq!((code, said.contains("backup of a project")), (2, true), "{said}");

    let cut = away.path().join("cut.gz");
    let whole = fs::read(&late).unwrap();
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for command in [&["journal", "verify", name(&cut)][..], &["restore", name(&cut), "--yes"]] {
        let (code, said) = there.said(command);
        assert_eq!((code, said.contains("the file is cut off")), (5, true), "{said}");
    }
    assert_eq!(texts(&there), ["later: gamma"]);
}
