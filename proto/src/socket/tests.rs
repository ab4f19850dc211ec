//! Binding and connecting, also where the path is longer than a socket address.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use super::*;

const SOON: Duration = Duration::from_secs(5);

fn instance() -> (tempfile::TempDir, InstanceDir) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = InstanceDir::named(scratch.path().join("i"));
    (scratch, dir)
}

fn greet(dir: &InstanceDir, listener: &UnixListener) {
    let mut client = connect(dir, SOON).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(b"hello").unwrap();
    let mut said = [0; 5];
    server.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"hello");
}

#[test]
fn a_long_path_is_no_obstacle() {
    let (_scratch, dir) = instance();
    let deep = InstanceDir::named(dir.path().join("d".repeat(200)).join("e".repeat(200)));
    deep.ensure().unwrap();
    let listener = bind(&deep).unwrap();
    greet(&deep, &listener);
}

#[test]
fn a_dead_daemons_socket_is_replaced_by_a_private_one() {
    let (_scratch, dir) = instance();
    dir.ensure().unwrap();
    drop(bind(&dir).unwrap());
    assert!(dir.sock().exists());
    let listener = bind(&dir).unwrap();
    assert_eq!(fs::metadata(dir.sock()).unwrap().permissions().mode() & 0o777, 0o600);
    greet(&dir, &listener);
}

/// systemd listens whether or not a daemon runs, and for a while nobody may accept.
#[test]
fn a_live_socket_stays_and_the_error_says_how_to_start_its_daemon() {
    let (_scratch, dir) = instance();
    let entered = dir.ensure().unwrap();
    let listener = inside(&entered, || UnixListener::bind(NAME)).unwrap();
    let expect_taken = || {
        let error = bind(&dir).unwrap_err();
        assert!(matches!(error, InstanceDirError::Taken { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains("service manager"), "{error}");
        assert!(error.contains("systemctl --user start anchord") || cfg!(target_os = "macos"));
    };
    expect_taken();
    let _probe = listener.accept().unwrap();
    greet(&dir, &listener);

    rustix::net::listen(&listener, 0).unwrap();
    let mut waiting = Vec::new();
    while let Ok(client) = connect(&dir, Duration::from_millis(1)) {
        waiting.push(client);
    }
    expect_taken();
}

#[test]
fn without_directory_socket_or_listener_there_is_no_daemon() {
    let (_scratch, dir) = instance();
    assert!(matches!(connect(&dir, SOON), Err(ConnectError::NoDaemon(_))));
    dir.ensure().unwrap();
    assert!(matches!(connect(&dir, SOON), Err(ConnectError::NoDaemon(_))));
    drop(bind(&dir).unwrap());
    assert!(matches!(connect(&dir, SOON), Err(ConnectError::NoDaemon(_))));
}

#[test]
fn a_directory_writable_by_others_is_not_used() {
    let (_scratch, dir) = instance();
    dir.ensure().unwrap();
    let _listener = bind(&dir).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o770)).unwrap();
    assert!(matches!(connect(&dir, SOON), Err(ConnectError::Instance(_))));
    assert!(bind(&dir).is_err());
}

#[test]
fn the_peer_of_both_sides_is_this_process() {
    let (_scratch, dir) = instance();
    dir.ensure().unwrap();
    let listener = bind(&dir).unwrap();
    let client = uds_local_socket::Stream::from(connect(&dir, SOON).unwrap());
    let server = uds_local_socket::Stream::from(listener.accept().unwrap().0);
    let us = Peer { pid: cfg!(target_os = "linux").then(std::process::id) };
    assert_eq!(check_peer(client.peer_creds()).unwrap(), us);
    assert_eq!(check_peer(server.peer_creds()).unwrap(), us);
}

#[test]
fn a_peer_without_a_process_id_is_accepted_and_an_unknown_one_refused() {
    assert_eq!(check_peer(Err(io::ErrorKind::ConnectionReset.into())).unwrap(), Peer { pid: None });
    assert!(matches!(
        check_peer(Err(io::ErrorKind::InvalidData.into())),
        Err(PeerError::Unknown(_))
    ));
}

#[test]
fn a_peer_of_another_user_is_refused() {
    assert!(check_user(Some(1000), 1000).is_ok());
    assert!(matches!(check_user(Some(1001), 1000), Err(PeerError::NotOurs(1001))));
    assert!(matches!(check_user(Some(0), 1000), Err(PeerError::NotOurs(0))), "nor is root");
    assert!(matches!(check_user(None, 1000), Err(PeerError::Unknown(_))));
}

/// Checks through the kernel, if this process may become another user. It does so in one thread
/// only.
#[cfg(target_os = "linux")]
#[test]
fn a_peer_of_another_user_is_recognised_by_the_kernel() {
    let (_scratch, dir) = instance();
    dir.ensure().unwrap();
    let listener = bind(&dir).unwrap();
    for (path, mode) in [(dir.path().to_owned(), 0o711), (dir.sock(), 0o666)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut above = dir.path().parent();
    while let Some(path) = above.filter(|path| path.starts_with(env::temp_dir())) {
        // Not all of them are ours.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o711));
        above = path.parent().filter(|path| *path != env::temp_dir());
    }
    let sock = dir.sock();
    let connecting = std::thread::spawn(move || {
        let other = rustix::process::Uid::from_raw(65_534);
        rustix::thread::set_thread_res_uid(other, other, other).ok()?;
        Some(UnixStream::connect(sock).unwrap())
    });
    let Some(_stream) = connecting.join().unwrap() else { return };
    let server = uds_local_socket::Stream::from(listener.accept().unwrap().0);
    let refused = check_peer(server.peer_creds());
    assert!(matches!(refused, Err(PeerError::NotOurs(65_534))), "{refused:?}");
}

/// Covers the path without `/proc`, which Linux never takes in practice.
#[test]
fn the_working_directory_is_restored() {
    let (_scratch, dir) = instance();
    let entered = dir.ensure().unwrap();
    let former = env::current_dir().unwrap();
    let listener = inside(&entered, || UnixListener::bind(NAME)).unwrap();
    assert_eq!(env::current_dir().unwrap(), former);
    greet(&dir, &listener);
    let failed = inside(&entered, || -> io::Result<()> { Err(io::ErrorKind::Other.into()) });
    assert!(failed.is_err());
    assert_eq!(env::current_dir().unwrap(), former);
}
