//! Removal in scratch instances, without a daemon.

use super::*;

/// Returns an instance as a daemon leaves it, with an unknown file in its logs.
fn instance() -> (tempfile::TempDir, InstanceDir) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = InstanceDir::named(scratch.path().join("instance"));
    dir.ensure().unwrap();
    let root = dir.path();
    let directories = [
        "data/daemon/journal",
        "data/outlines/v3",
        "data/projects/p",
        "data/user",
        "config",
        "logs",
    ];
    for path in directories {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    let files = [
        "lock",
        "sock",
        "key",
        "config/config.toml",
        "logs/anchord.2026-11-21.log",
        "logs/mine.txt",
        "data/projects/p/x",
        "data/user/x",
        "data/dashboard.json",
        "data/outlines/v3/x",
    ];
    for path in files {
        fs::write(root.join(path), "x").unwrap();
    }
    let file = InstanceFile {
        format: 1,
        id: uuid::Uuid::nil(),
        data: root.join("data"),
        config: root.join("config"),
        logs: root.join("logs"),
        created: "2026-11-21T00:00:00Z".into(),
    };
    fs::write(dir.instance_json(), file.to_text().unwrap()).unwrap();
    (scratch, dir)
}

fn left(root: &Path) -> Vec<String> {
    fn walk(root: &Path, at: &Path, found: &mut Vec<String>) {
        for path in entries(at).unwrap() {
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    let mut found = Vec::new();
    walk(root, root, &mut found);
    found
}

#[test]
fn the_memory_and_foreign_files_stay() {
    let (_scratch, dir) = instance();
    let plan = plan(&dir, Vec::new(), false).unwrap();
    let stays: Vec<&str> = plan.stays.iter().map(|(_, why)| *why).collect();
    let memory = "the memory; --data removes it";
    assert_eq!(stays, [memory, memory, memory, memory, memory, "your configuration"]);
    carry_out(&plan).unwrap();
    let memory = ["data/dashboard.json", "data/outlines/v3/x", "data/projects/p/x", "data/user/x"];
    assert_eq!(
        left(dir.path()),
        [&["config/config.toml"][..], &memory, &["logs/mine.txt"]].concat()
    );
}

#[test]
fn with_data_only_what_the_user_wrote_stays() {
    let (_scratch, dir) = instance();
    fs::remove_file(dir.path().join("logs/mine.txt")).unwrap();
    fs::remove_file(dir.path().join("config/config.toml")).unwrap();
    carry_out(&plan(&dir, Vec::new(), true).unwrap()).unwrap();
    assert!(!dir.path().exists(), "{:?}", left(dir.path()));
}

#[test]
fn with_data_backups_stay_and_are_named() {
    let (_scratch, dir) = instance();
    let backup = dir.path().join("data/backups/p.jsonl.gz");
    fs::create_dir_all(backup.parent().unwrap()).unwrap();
    fs::write(&backup, "x").unwrap();
    let plan = plan(&dir, Vec::new(), true).unwrap();
    assert!(
        plan.stays.iter().any(|(path, why)| *why == "your backups" && backup.starts_with(path))
    );
    carry_out(&plan).unwrap();
    assert_eq!(left(dir.path()).first().map(String::as_str), Some("config/config.toml"));
    assert!(backup.exists() && !dir.path().join("data/user").exists());
}

#[test]
fn units_are_removed_only_with_the_users_own_instance() {
    let (scratch, named) = instance();
    let home = scratch.path().join("home");
    let unit = home.join(".config/systemd/user/anchord.socket");
    fs::create_dir_all(unit.parent().unwrap()).unwrap();
    fs::write(&unit, "x").unwrap();
    assert!(!plan(&named, vec![unit.clone()], false).unwrap().goes.contains(&unit));
}

#[test]
fn without_an_instance_there_is_nothing_to_do() {
    let (_scratch, dir) = instance();
    let first = plan(&dir, Vec::new(), true).unwrap();
    carry_out(&first).unwrap();
    carry_out(&first).unwrap();
    fs::remove_dir_all(dir.path()).unwrap();
    assert_eq!(plan(&dir, Vec::new(), true).unwrap(), Plan::default());
}

#[test]
fn if_the_daemon_cannot_be_stopped_the_error_says_the_units_are_off() {
    let hangs = || Error::failed("it hangs").with_action("Wait a minute.");
    assert_eq!(not_stopped(hangs(), false), hangs());
    assert_eq!(
        not_stopped(hangs(), true).to_string(),
        "error: it hangs\n  Wait a minute.\n  The units are off, nothing was removed; `anchord service install` brings them back."
    );
}
