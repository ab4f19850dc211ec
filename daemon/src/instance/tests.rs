//! One daemon at a time, in a directory that is ours, with a key of its own.

use super::*;
use anchord_memory::SessionId;

fn host(boot: &str) -> Host {
    Host { boot: Some(boot.to_owned()), name: format!("host of {boot}") }
}

fn acquire(dir: &Path) -> Result<Instance, InstanceError> {
    Instance::acquire(&InstanceDir::named(dir), &Places::beneath(dir), &host("boot"))
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("state/anchord");
    (scratch, dir)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn an_instance_is_private_and_remembers_its_directories() {
    let (_scratch, dir) = scratch();
    let first = acquire(&dir).unwrap();
    let (id, data) = (first.id(), first.data().to_owned());
    assert_eq!((mode(&dir), mode(&data), mode(first.logs())), (0o700, 0o700, 0o700));
    for file in ["lock", "key", "instance.json"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    assert!(!first.config().exists(), "there is nothing to configure yet");
    drop(first);

    let elsewhere = Places::beneath(&dir.join("elsewhere"));
    let second = Instance::acquire(&InstanceDir::named(&dir), &elsewhere, &host("boot")).unwrap();
    assert_eq!((second.id(), second.data()), (id, data.as_path()));
    let mut files: Vec<_> =
        fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["data", "instance.json", "key", "lock", "logs"], "no probe is left");
}

#[test]
fn a_second_daemon_is_told_who_holds_the_lock() {
    let (_scratch, dir) = scratch();
    let first = acquire(&dir).unwrap();
    let error = acquire(&dir).unwrap_err();
    let own = std::process::id();
    assert!(matches!(error, InstanceError::Held { pid: Some(pid), .. } if pid == own), "{error}");
    drop(first);
    assert!(acquire(&dir).is_ok());
}

#[test]
fn the_lock_shows_whether_a_daemon_is_running() {
    let (_scratch, dir) = scratch();
    let named = InstanceDir::named(&dir);
    ensure_free(&named).unwrap();
    assert!(!dir.exists(), "to look makes nothing");
    let first = Instance::acquire(&named, &Places::beneath(&dir), &Host::this()).unwrap();
    let error = ensure_free(&named).unwrap_err();
    let own = std::process::id();
    assert!(matches!(error, InstanceError::Held { pid: Some(pid), .. } if pid == own), "{error}");
    drop(first);
    ensure_free(&named).unwrap();
}

#[test]
fn a_home_shared_between_machines_is_reported() {
    let (_scratch, dir) = scratch();
    let first = acquire(&dir).unwrap();
    let elsewhere =
        || Instance::acquire(&InstanceDir::named(&dir), &Places::beneath(&dir), &host("another"));
    let error = elsewhere().unwrap_err().to_string();
    assert!(
        error.contains("HOME is shared between machines: set ANCHORD_HOME to a local path"),
        "{error}"
    );
    assert!(error.contains("host of boot"), "{error}");
    // After a restart of the machine, the lock is free and its old text means nothing.
    drop(first);
    assert!(elsewhere().is_ok());
}

#[test]
fn a_starting_daemon_waits_for_a_draining_one() {
    let (_scratch, dir) = scratch();
    let draining = acquire(&dir).unwrap();
    let wait = |patience| {
        Instance::acquire_within(
            &InstanceDir::named(&dir),
            &Places::beneath(&dir),
            &host("boot"),
            patience,
            || true,
        )
    };
    assert!(matches!(wait(Duration::ZERO), Err(InstanceError::Held { .. })));
    std::thread::scope(|scope| {
        let starting = scope.spawn(|| wait(Duration::from_mins(1)));
        drop(draining);
        assert!(starting.join().unwrap().is_ok());
    });
}

#[test]
fn a_lock_replaced_on_disk_is_no_longer_ours() {
    let (_scratch, dir) = scratch();
    let first = acquire(&dir).unwrap();
    assert!(first.still_ours());
    fs::remove_file(dir.join("lock")).unwrap();
    assert!(!first.still_ours());
    let second = acquire(&dir).unwrap();
    assert!(second.still_ours());
    assert!(!first.still_ours());
}

#[test]
fn a_replaced_socket_is_no_longer_ours() {
    let (_scratch, dir) = scratch();
    let mut instance = acquire(&dir).unwrap();
    let served = anchord_proto::socket::bind(&InstanceDir::named(&dir)).unwrap();
    instance.serve_socket().unwrap();
    assert!(instance.still_ours());
    fs::remove_file(dir.join("sock")).unwrap();
    let usurper = anchord_proto::socket::bind(&InstanceDir::named(&dir)).unwrap();
    assert!(!instance.still_ours());
    drop((served, usurper));
}

#[test]
fn a_directory_that_others_may_have_prepared_is_refused() {
    let (scratch, dir) = scratch();
    for bits in [0o720, 0o702, 0o777] {
        fs::create_dir_all(&dir).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(bits)).unwrap();
        let error = acquire(&dir).unwrap_err();
        assert!(
            matches!(error, InstanceError::Directory(InstanceDirError::Open { .. })),
            "{bits:o}: {error}"
        );
    }
    fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
    drop(acquire(&dir).unwrap());
    assert_eq!(mode(&dir), 0o700, "what others may only read is closed");

    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(&dir, &link).unwrap();
    let linked = acquire(&link).unwrap_err();
    assert!(
        matches!(linked, InstanceError::Directory(InstanceDirError::NotADirectory(_))),
        "{linked}"
    );

    fs::remove_file(dir.join("lock")).unwrap();
    let target = scratch.path().join("target");
    std::os::unix::fs::symlink(&target, dir.join("lock")).unwrap();
    assert!(matches!(acquire(&dir), Err(InstanceError::Io { .. })));
    assert!(!target.exists());
}

#[test]
fn a_newer_or_damaged_instance_file_is_refused_and_left_alone() {
    let (_scratch, dir) = scratch();
    drop(acquire(&dir).unwrap());
    let path = dir.join("instance.json");
    for (text, expected) in [
        (r#"{"format":2,"surprise":true}"#, "update anchord"),
        (r#"{"format":1}"#, "missing field"),
        ("", "EOF"),
    ] {
        fs::write(&path, text).unwrap();
        let error = acquire(&dir).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_missing_data_directory_is_not_recreated() {
    let (_scratch, dir) = scratch();
    let data = acquire(&dir).unwrap().data().to_owned();
    fs::remove_dir_all(&data).unwrap();
    let error = acquire(&dir).unwrap_err();
    assert!(matches!(error, InstanceError::DataMissing { .. }), "{error}");
    assert!(!data.exists());
    fs::remove_file(dir.join("instance.json")).unwrap();
    assert!(acquire(&dir).is_ok());
}

#[test]
fn an_empty_or_foreign_data_directory_is_refused() {
    let (_scratch, dir) = scratch();
    let data = acquire(&dir).unwrap().data().to_owned();
    let mark = data.join("instance-id");
    let own = fs::read_to_string(&mark).unwrap();
    // The directory looks like this when its disk is not mounted.
    fs::remove_file(&mark).unwrap();
    let error = acquire(&dir).unwrap_err();
    assert!(matches!(error, InstanceError::DataMissing { .. }), "{error}");
    assert!(!mark.exists());
    fs::write(&mark, "0197a6a0-0000-7000-8000-000000000001\n").unwrap();
    let error = acquire(&dir).unwrap_err();
    assert!(matches!(error, InstanceError::DataForeign { .. }), "{error}");
    fs::write(&mark, &own).unwrap();
    drop(acquire(&dir).unwrap());

    // A new instance does not take another's memory for its own.
    fs::create_dir_all(data.join("daemon/journal")).unwrap();
    let instance_file = fs::read(dir.join("instance.json")).unwrap();
    fs::remove_file(dir.join("instance.json")).unwrap();
    let error = acquire(&dir).unwrap_err();
    assert!(matches!(error, InstanceError::DataForeign { .. }), "{error}");
    assert_eq!(fs::read_to_string(&mark).unwrap(), own);
    fs::write(dir.join("instance.json"), instance_file).unwrap();

    // An older anchord leaves no mark.
    fs::remove_file(&mark).unwrap();
    drop(acquire(&dir).unwrap());
    assert_eq!(fs::read_to_string(&mark).unwrap(), own);
}

#[test]
fn an_unwritable_directory_is_reported_before_serving() {
    let (_scratch, dir) = scratch();
    let logs = acquire(&dir).unwrap().logs().to_owned();
    fs::remove_dir_all(&logs).unwrap();
    fs::write(&logs, "a file where the directory was").unwrap();
    let error = acquire(&dir).unwrap_err().to_string();
    assert!(error.contains(&logs.display().to_string()), "{error}");
}

#[test]
fn the_key_is_stable_and_a_bad_one_is_refused() {
    let (_scratch, dir) = scratch();
    let session = SessionId::new("s1");
    let token = acquire(&dir).unwrap().key().sign(&session, "shim");
    assert_eq!(acquire(&dir).unwrap().key().verify(&token, "shim"), Some(session));

    let key = dir.join("key");
    fs::set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(acquire(&dir), Err(InstanceError::Untrusted { .. })));
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, [0; 31]).unwrap();
    assert!(matches!(acquire(&dir), Err(InstanceError::Damaged { .. })));
}

#[test]
fn a_token_is_valid_only_for_its_session_shim_and_instance() {
    let (_scratch, dir) = scratch();
    let (_other_scratch, other_dir) = scratch();
    let (ours, other) = (acquire(&dir).unwrap(), acquire(&other_dir).unwrap());
    let session = SessionId::new("with.dots");
    let token = ours.key().sign(&session, "shim");
    assert_eq!(ours.key().verify(&token, "shim"), Some(session));

    let mac = token.rsplit_once('.').unwrap().1;
    assert_eq!(mac.len(), 64);
    assert_eq!(ours.key().verify(&token, "another"), None);
    assert_eq!(other.key().verify(&token, "shim"), None);
    // Moving the boundary between shim and session changes what is signed.
    assert_eq!(ours.key().verify(&format!("mwith.dots.{mac}"), "shi"), None);
    for wrong in [
        format!("other.{mac}"),
        format!("with.dots.{}", &mac[..62]),
        format!("with.dots.{mac}00"),
        format!("with.dots.{}", mac.replace(|c: char| c.is_ascii_hexdigit(), "0")),
        "with.dots.".to_owned(),
        "with.dots.é".to_owned(),
        "no dot".to_owned(),
        String::new(),
    ] {
        assert_eq!(ours.key().verify(&wrong, "shim"), None, "{wrong}");
    }
}

#[test]
fn a_key_is_not_shown_by_debug() {
    let (_scratch, dir) = scratch();
    assert_eq!(format!("{:?}", acquire(&dir).unwrap().key()), "Key");
}
