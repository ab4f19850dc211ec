//! Tests of where an instance is, and of which directories are refused.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn located(named: Option<&str>, home: Option<&str>) -> Result<InstanceDir, String> {
    InstanceDir::locate_from(named.map(Into::into), home.map(Into::into))
        .map_err(|error| error.to_string())
}

#[test]
fn an_instance_is_located_by_home_or_by_name() {
    let own = located(None, Some("/home/u")).unwrap();
    assert_eq!(own.path(), Path::new("/home/u/.local/state/anchord"));
    assert!(!own.is_named());
    let named = located(Some("/tmp/x/"), Some("/home/u")).unwrap();
    assert_eq!(named.path().as_os_str(), "/tmp/x");
    assert!(named.is_named());
    assert_eq!(located(Some(""), Some("/home/u")), Ok(own));
}

#[test]
fn without_a_home_the_error_says_what_to_set() {
    assert_eq!(
        located(None, None).unwrap_err(),
        "no home directory: set HOME, or ANCHORD_HOME to an absolute path"
    );
    assert!(located(None, Some("")).is_err());
    assert_eq!(
        located(Some("x"), Some("/home/u")).unwrap_err(),
        r#"ANCHORD_HOME is "x", not an absolute path: set it to one"#
    );
    assert!(located(None, Some("u")).unwrap_err().starts_with("HOME is"));
}

#[test]
fn a_new_instance_directory_gets_its_parents_and_is_private() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = InstanceDir::named(scratch.path().join("a/b/c"));
    assert!(matches!(dir.check(), Err(InstanceDirError::Missing(_))));
    dir.ensure().unwrap();
    dir.ensure().unwrap();
    assert_eq!(fs::metadata(dir.path()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn links_files_and_open_directories_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let real = InstanceDir::named(scratch.path().join("real"));
    real.ensure().unwrap();

    let link = scratch.path().join("link");
    symlink(real.path(), &link).unwrap();
    assert!(matches!(InstanceDir::named(&link).check(), Err(InstanceDirError::NotADirectory(_))));
    let slashed = format!("{}/", link.display());
    assert!(matches!(InstanceDir::named(slashed).check(), Err(InstanceDirError::NotADirectory(_))));
    assert!(matches!(InstanceDir::named(&link).ensure(), Err(InstanceDirError::NotADirectory(_))));

    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(InstanceDir::named(&file).check(), Err(InstanceDirError::NotADirectory(_))));

    for mode in [0o720, 0o702, 0o777] {
        fs::set_permissions(real.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(real.check(), Err(InstanceDirError::Open { .. })), "{mode:o}");
    }
    fs::set_permissions(real.path(), fs::Permissions::from_mode(0o755)).unwrap();
    real.check().unwrap();
}

#[test]
fn another_users_directory_is_refused() {
    let foreign = InstanceDir::named("/");
    let error = foreign.check();
    if rustix::process::geteuid().is_root() {
        // Root owns `/`, so the test creates another owner.
        let scratch = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(scratch.path(), Some(12_345), None).unwrap();
        let error = InstanceDir::named(scratch.path()).check();
        assert!(matches!(error, Err(InstanceDirError::NotOurs { owner: 12_345, .. })));
    } else {
        assert!(matches!(error, Err(InstanceDirError::NotOurs { owner: 0, .. })));
    }
}

#[test]
fn an_instance_file_is_read_as_written_and_a_newer_one_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = InstanceDir::named(scratch.path());
    assert_eq!(InstanceFile::read(&dir).unwrap(), None);
    let file = InstanceFile {
        format: INSTANCE_FORMAT,
        id: Uuid::from_u128(1),
        data: "/d".into(),
        config: "/c".into(),
        logs: "/l".into(),
        created: "2026-11-21T00:00:00Z".to_owned(),
    };
    fs::write(dir.instance_json(), file.to_text().unwrap()).unwrap();
    assert_eq!(InstanceFile::read(&dir).unwrap(), Some(file));

    fs::write(dir.instance_json(), r#"{"format":2,"shape":"another"}"#).unwrap();
    assert!(matches!(InstanceFile::read(&dir), Err(InstanceDirError::TooNew { format: 2, .. })));
    fs::write(dir.instance_json(), r#"{"format":1}"#).unwrap();
    assert!(matches!(InstanceFile::read(&dir), Err(InstanceDirError::Corrupt { .. })));
}

#[test]
fn a_directory_is_created_once_with_its_parents() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("one/two/three");
    for _ in 0..2 {
        make_directory(&deep, Mode::RWXU).unwrap();
    }
    for made in [deep.as_path(), deep.parent().unwrap()] {
        assert_eq!(fs::metadata(made).unwrap().mode() & 0o777, 0o700);
    }
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(make_directory(&file, Mode::RWXU), Err(Errno::EXIST));
    assert_eq!(make_directory(&file.join("beneath"), Mode::RWXU), Err(Errno::NOTDIR));
    symlink("nowhere", dir.path().join("link")).unwrap();
    let dangling = dir.path().join("link/beneath");
    assert_eq!(make_directory(&dangling, Mode::RWXU), Err(Errno::EXIST), "and it ends");
    assert_eq!(make_directory(Path::new(""), Mode::RWXU), Err(Errno::NOENT));
    if cfg!(target_os = "linux") {
        let unmade = Path::new("/proc/none/beneath");
        assert_eq!(make_directory(unmade, Mode::RWXU), Err(Errno::NOENT), "and it ends");
    }
}
