//! Searches for a daemon that is there, is leaving, is too old, or says nothing.

use std::fs;
use std::sync::mpsc;

use super::*;
use crate::testing::{Instance, SOON, program, refused, wait_until, welcome};

/// Runs a search while `daemon` plays the daemon.
fn found<T>(search: &Search, daemon: impl FnOnce() -> T) -> (Result<Connection, String>, T) {
    thread::scope(|scope| {
        let searching = scope.spawn(|| search.run());
        let result = daemon();
        (searching.join().unwrap(), result)
    })
}

#[test]
fn a_welcome_and_the_bytes_after_it_are_handed_over() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (connection, _served) = found(&instance.search(), || {
        let (_, mut served) = daemon.welcome();
        served.say("first line");
        served
    });
    let mut connection = connection.unwrap();
    assert_eq!(connection.welcome.session.as_deref(), Some("s"));
    // The line may come with the welcome or after it.
    let mut text = connection.rest.clone();
    connection.stream.set_read_timeout(Some(SOON)).unwrap();
    while !text.ends_with(b"\n") {
        let mut buffer = [0; 16];
        let length = connection.stream.read(&mut buffer).unwrap();
        text.extend_from_slice(&buffer[..length]);
    }
    assert_eq!(text, b"first line\n");
}

#[test]
fn a_listening_daemon_that_is_slow_to_answer_is_asked_once() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let begin = Instant::now();
    let (connection, asked_again) = found(&instance.search(), || {
        assert!(daemon.is_asked_within(SOON));
        let long = millis(WELCOME_DEADLINE_MS) + Duration::from_millis(200);
        wait_until("who only asks gave up", || begin.elapsed() > long);
        let (_, served) = daemon.welcome();
        (daemon.is_asked_within(Duration::from_millis(100)), served)
    });
    assert!(connection.is_ok() && !asked_again.0);
}

#[test]
fn a_draining_or_busy_daemon_is_asked_again() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    for code in [RefusalCode::Draining, RefusalCode::NotReady, RefusalCode::Busy] {
        let (connection, _served) = found(&instance.search(), || {
            daemon.answer(&refused(code));
            daemon.welcome()
        });
        assert!(connection.is_ok(), "{code:?}");
    }
}

#[test]
fn a_permanent_refusal_is_reported_with_what_to_do() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    for code in
        [RefusalCode::TooNew, RefusalCode::BadHello, RefusalCode::NotYours, RefusalCode::Other]
    {
        let (connection, _) = found(&instance.search(), || daemon.answer(&refused(code)));
        assert_eq!(connection.unwrap_err(), "the message; the action", "{code:?}");
    }
}

/// More than the socket takes before the daemon has read any of it.
#[test]
fn a_refusal_is_received_while_a_large_event_is_being_sent() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let opening = vec![b'x'; 4 << 20];
    let search = Search { opening, ..instance.search() };
    for _ in 0..20 {
        // The daemon drops its end with the rest of the event unread.
        let (connection, ()) =
            found(&search, || drop(daemon.answer(&refused(RefusalCode::NotYours))));
        assert_eq!(connection.unwrap_err(), "the message; the action");
    }
}

#[test]
fn a_welcome_before_everything_was_received_is_no_connection() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let opening = [vec![b'x'; 4 << 20], b"\n".to_vec()].concat();
    let search = Search { opening, ..instance.search() };
    let (connection, heard) = found(&search, || {
        drop(daemon.welcome());
        assert!(daemon.is_asked_within(SOON), "it is asked again");
        let (_, mut served) = daemon.welcome();
        served.raw_line().len()
    });
    assert!(connection.is_ok());
    assert_eq!(heard, 4 << 20, "the next one hears all of it");
}

#[test]
fn a_daemon_that_is_too_old_is_replaced_once() {
    let instance = Instance::new();
    let mut search = instance.search();
    search.hello.resume =
        Some(anchord_proto::hello::Resume { token: "t".to_owned(), revision: None });
    let daemon = instance.daemon();
    let (connection, roles) = found(&search, || {
        let mut roles = Vec::new();
        let (hello, _) = daemon.answer(&refused(RefusalCode::TooOld));
        roles.push((hello.role, hello.resume.is_some()));
        let (hello, leaving) = daemon.welcome();
        roles.push((hello.role, hello.resume.is_some()));
        leaving.die();
        let (hello, _) = daemon.answer(&refused(RefusalCode::TooOld));
        roles.push((hello.role, hello.resume.is_some()));
        roles
    });
    assert_eq!(roles, [(Role::Mcp, true), (Role::Replace, false), (Role::Mcp, true)]);
    assert_eq!(connection.unwrap_err(), "the message; the action");
}

#[test]
fn the_next_daemon_after_a_replaced_one_is_started() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut search = instance.search();
    let log = instance.dir.path().join("started");
    search.launcher =
        Some(program(&instance, &format!("echo started >> {}; echo running", log.display())));
    let (connection, _served) = found(&search, || {
        daemon.answer(&refused(RefusalCode::TooOld));
        let (_, leaving) = daemon.welcome();
        drop(daemon);
        leaving.die();
        wait_until("it was started", || log.exists());
        instance.daemon().welcome()
    });
    assert!(connection.is_ok());
}

#[test]
fn a_silent_or_invalid_socket_is_not_a_daemon() {
    let instance = Instance::new();
    let mut search = instance.search();
    search.patience = Duration::from_millis(50);
    let silent = instance.daemon();
    let reason = search.run().unwrap_err();
    assert!(reason.starts_with("the daemon did not answer: "), "{reason}");
    drop(silent);

    let (near, mut far) = UnixStream::pair().unwrap();
    for nonsense in
        ["{}\n".to_owned(), "HTTP/1.1 400\n".to_owned(), "x".repeat(HELLO_BYTES_MAX + 2) + "\n"]
    {
        let (done, wait) = mpsc::channel();
        thread::scope(|scope| {
            let writer = far.try_clone().unwrap();
            scope.spawn(move || {
                (&writer).write_all(nonsense.as_bytes()).unwrap();
                done.send(()).unwrap();
            });
            assert!(say_hello(&near, &search.hello, &[], SOON).is_err());
            wait.recv().unwrap();
        });
        far.set_nonblocking(true).unwrap();
        let mut heard = Vec::new();
        assert!(far.read_to_end(&mut heard).is_err());
        far.set_nonblocking(false).unwrap();
        assert!(heard.starts_with(br#"{"anchord":1,"role":"mcp""#));
    }
}

#[test]
fn a_daemon_that_cannot_start_is_reported_in_its_own_words() {
    let instance = Instance::new();
    let mut search = instance.search();
    search.launcher = Some(program(&instance, "echo 'failed: cannot write /data'"));
    assert_eq!(
        search.run().unwrap_err(),
        "cannot write /data; run `anchord daemon` in a terminal to see more"
    );
    search.launcher = Some(program(&instance, "exit 3"));
    assert!(search.run().unwrap_err().starts_with("the daemon ended while it started; run"));
    search.launcher = Some(Launcher::new("/nonexistent/anchord".into()));
    let reason = search.run().unwrap_err();
    assert!(reason.starts_with("cannot start /nonexistent/anchord: No such file"), "{reason}");
}

#[test]
fn losing_the_race_to_start_is_not_a_failure() {
    let instance = Instance::new();
    let mut search = instance.search();
    let lost = instance.dir.path().join("lost");
    // Reports failure only once the other daemon is there.
    search.launcher = Some(program(
        &instance,
        &format!(
            "touch {0}; while [ -e {0} ]; do sleep 0.01; done; echo 'failed: lost'",
            lost.display()
        ),
    ));
    let (connection, _served) = found(&search, || {
        wait_until("it was started", || lost.exists());
        let daemon = instance.daemon();
        fs::remove_file(&lost).unwrap();
        daemon.welcome()
    });
    assert!(connection.is_ok());
}

#[test]
fn a_listening_daemon_is_used_before_the_started_one_reports() {
    let instance = Instance::new();
    let (log, gate) = (instance.dir.path().join("log"), instance.dir.path().join("gate"));
    let mut search = instance.search();
    search.launcher = Some(program(
        &instance,
        &format!("echo x >> {}; until_there {}", log.display(), gate.display()),
    ));
    let begin = Instant::now();
    let (connection, _served) = found(&search, || {
        wait_until("it was started", || log.exists());
        instance.daemon().welcome()
    });
    assert!(connection.is_ok());
    assert!(begin.elapsed() < SOON / 2, "took {:?}", begin.elapsed());
    fs::write(&gate, "").unwrap();
}

#[test]
fn a_start_that_takes_too_long_is_reported_as_such() {
    let instance = Instance::new();
    let gate = instance.dir.path().join("gate");
    let mut search = instance.search();
    let script = format!("until_there {}", gate.display());
    search.launcher = Some(program(&instance, &script));
    search.patience = Duration::from_millis(100);
    assert_eq!(
        search.run().unwrap_err(),
        "a daemon is starting and does not answer yet; the disk may be busy: try again in a moment"
    );
    fs::write(&gate, "").unwrap();
}

#[test]
fn a_daemon_killed_during_its_start_is_started_again() {
    let instance = Instance::new();
    let mut search = instance.search();
    let log = instance.dir.path().join("log");
    // Dies silently the first two times.
    search.launcher = Some(program(
        &instance,
        &format!(
            "echo x >> {0}; [ $(wc -l < {0}) -gt 2 ] || kill -9 $$; echo running",
            log.display()
        ),
    ));
    let (connection, _served) = found(&search, || {
        wait_until("it was started a third time", || {
            fs::read_to_string(&log).is_ok_and(|log| log.lines().count() > 2)
        });
        instance.daemon().welcome()
    });
    assert!(connection.is_ok());
}

#[test]
fn an_unusable_directory_is_reported() {
    let instance = Instance::new();
    let mut search = instance.search();
    search.dir = Err("no home directory".to_owned());
    assert_eq!(search.run().unwrap_err(), "no home directory");
    search.dir = Ok(InstanceDir::named("/dev/null"));
    assert!(search.run().unwrap_err().contains("is a link or not a directory"));
}

#[test]
fn a_welcomed_connection_has_no_deadlines_left() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (connection, _served) = found(&instance.search(), || daemon.answer(&welcome("t")));
    let stream = connection.unwrap().stream;
    assert_eq!((stream.read_timeout().unwrap(), stream.write_timeout().unwrap()), (None, None));
}
