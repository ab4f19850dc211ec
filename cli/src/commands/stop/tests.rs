//! Runs against a socket whose daemon starts or ends; the test plays the daemon.

use anchord_proto::socket;

use super::*;

/// A service manager keeps listening while the daemon ends, and hangs up on those who connect
/// meanwhile.
#[test]
fn a_daemon_that_does_not_answer_is_asked_again() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = InstanceDir::named(scratch.path().join("instance"));
    dir.ensure().unwrap();
    let listener = socket::bind(&dir).unwrap();
    let ends = std::thread::spawn({
        let sock = dir.sock();
        move || {
            drop(listener.accept().unwrap());
            std::fs::remove_file(sock).unwrap();
        }
    });
    assert_eq!(stop(&dir).unwrap(), None);
    ends.join().unwrap();
}
