//! Tests of the sources of a password.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use rustix::fs::Mode;

use super::{Secret, action, check_access, from_command};
use crate::error::Error;

async fn read(secret: Secret) -> Result<String, String> {
    let password = secret.read().await.map_err(|error| match error {
        Error::Secret(what) => what,
        error => panic!("{error:?}"),
    })?;
    let password = password.unwrap();
    assert_eq!(format!("{password:?}"), "Password(…)");
    Ok(String::from_utf8(password.bytes().to_vec()).unwrap())
}

#[tokio::test]
async fn a_file_is_private_and_its_first_line_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("password");
    let with = async |text: &str, mode: u32| {
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        read(Secret::File(path.clone())).await
    };
    assert_eq!(with("hunter2\nmore\n", 0o600).await.unwrap(), "hunter2");
    assert_eq!(with("hunter2\r\n", 0o400).await.unwrap(), "hunter2");
    assert_eq!(with(" a b ", 0o600).await.unwrap(), " a b ");
    for mode in [0o644, 0o604, 0o620, 0o601, 0o700] {
        let refused = with("hunter2\n", mode).await.unwrap_err();
        assert!(refused.contains("600") && !refused.contains("hunter2"), "{mode:o}: {refused}");
    }
    for text in ["", "\nhunter2\n", &"x".repeat(5_000)] {
        assert!(with(text, 0o600).await.unwrap_err().contains("first line"));
    }
    if rustix::process::geteuid().is_root() {
        std::fs::write(&path, "hunter2\n").unwrap();
        std::os::unix::fs::chown(&path, Some(1), None).unwrap();
        let refused = read(Secret::File(path.clone())).await.unwrap_err();
        assert!(refused.contains("another user"), "{refused}");
    }
    let absent = read(Secret::File(dir.path().join("absent"))).await.unwrap_err();
    assert!(absent.contains("put the password into it"), "{absent}");
    assert!(read(Secret::File(dir.path().to_owned())).await.unwrap_err().contains("regular"));
    // A FIFO has no writer, and nobody waits for one.
    let fifo = dir.path().join("fifo");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert!(read(Secret::File(fifo)).await.unwrap_err().contains("regular"));
}

#[test]
fn a_file_of_another_user_is_to_change_hands() {
    assert!(action(ErrorKind::PermissionDenied).contains("give it to the user"));
    assert!(action(ErrorKind::NotFound).contains("put the password into it"));
}

#[test]
fn a_mounted_file_of_root_may_be_read_by_its_group_alone() {
    let (root, user, other) = (0, 65_532, 1_000);
    for mode in [0o400, 0o600] {
        assert_eq!(check_access(user, mode, user), Ok(()));
    }
    for mode in [0o400, 0o440, 0o600, 0o640] {
        assert_eq!(check_access(root, mode, user), Ok(()), "{mode:o}");
        assert!(check_access(other, mode, user).is_err(), "{mode:o}");
    }
    for mode in [0o444, 0o644, 0o460, 0o450, 0o500] {
        assert!(check_access(root, mode, user).is_err(), "{mode:o}");
    }
    assert!(check_access(user, 0o440, user).is_err(), "the group may have other users");
}

#[tokio::test]
async fn a_command_prints_the_password() {
    let run = async |line: &str| read(Secret::Command(line.to_owned())).await;
    assert_eq!(run("printf 'hunter2\\nmore'").await.unwrap(), "hunter2");
    for line in ["echo hunter2; echo hunter2 >&2; exit 3", "true", "echo; echo hunter2", "cat"] {
        let refused = run(line).await.unwrap_err();
        assert!(!refused.contains("hunter2"), "{line}: {refused}");
    }
    // Output without an end.
    assert!(run("yes hunter2 | tr -d '\\n'").await.is_err());
}

#[tokio::test]
async fn a_command_that_hangs_is_ended_with_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let line = format!("sleep 600 & echo $! > '{}'; wait", file.display());
    let refused = from_command(&line, Duration::from_millis(500)).await.unwrap_err();
    assert!(refused.to_string().contains("too long"), "{refused}");
    let pid = std::fs::read_to_string(&file).unwrap();
    // A process that has ended has no command line, even if nobody has asked for its status.
    let command = format!("/proc/{}/cmdline", pid.trim());
    let is_gone = || std::fs::read_to_string(&command).map_or(true, |line| line.is_empty());
    let mut attempts = 0_u32;
    while !is_gone() {
        attempts += 1;
        assert!(attempts < 1_000_000, "the child runs on");
        std::thread::yield_now();
    }
}

#[test]
fn a_secret_is_configured_by_its_kind() {
    // Its debug output names the file or the command, which are no secrets.
    let secret = Secret::File("/run/secrets/db".into());
    assert_eq!(format!("{secret:?}"), "File(\"/run/secrets/db\")");
    assert_eq!(Secret::default(), Secret::None);
}
