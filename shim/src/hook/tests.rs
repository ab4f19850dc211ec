//! One event, one reply, and silence whatever goes wrong.

use std::os::unix::net::UnixStream;

use anchord_proto::hello::RefusalCode;

use super::*;
use crate::testing::{Instance, SOON, refused};

/// What is printed for `event`, while `daemon` does its part.
fn printed<T>(
    instance: &Instance,
    limit: Duration,
    event: &'static str,
    daemon: impl FnOnce() -> T,
) -> (Option<String>, T) {
    let search = instance.search();
    thread::scope(|scope| {
        let hook =
            scope.spawn(move || reply_within(Instant::now() + limit, search, event.as_bytes()));
        let result = daemon();
        let printed = hook.join().unwrap();
        (printed.map(|printed| String::from_utf8(printed).unwrap()), result)
    })
}

#[test]
fn an_event_goes_as_one_line_and_its_reply_is_printed() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (printed, event) = printed(&instance, SOON, "{\r\n  \"a\": \"b c\"\n}\n", || {
        let (_, mut served) = daemon.welcome();
        let event = served.raw_line();
        served.say(r#"{"hookSpecificOutput":{}}"#);
        event
    });
    assert_eq!(event, "{    \"a\": \"b c\" } ");
    assert_eq!(printed.as_deref(), Some("{\"hookSpecificOutput\":{}}\n"));
}

#[test]
fn an_empty_reply_and_nonsense_print_nothing() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    for reply in ["{}", "", "[]", "\"text\"", "panicked at", "{\"cut\":"] {
        let (printed, ()) = printed(&instance, SOON, "{}", || {
            let (_, mut served) = daemon.welcome();
            served.raw_line();
            served.say(reply);
        });
        assert_eq!(printed, None, "{reply}");
    }
}

#[test]
fn a_reply_that_is_cut_a_refusal_and_no_daemon_print_nothing() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (cut, ()) = printed(&instance, SOON, "{}", || {
        let (_, mut served) = daemon.welcome();
        served.raw_line();
        served.begin(r#"{"x":1}"#);
        served.die();
    });
    assert_eq!(cut, None);
    let (after_refusal, _) =
        printed(&instance, SOON, "{}", || daemon.answer(&refused(RefusalCode::TooNew)));
    assert_eq!(after_refusal, None);
    drop(daemon);
    let (without, ()) = printed(&instance, Duration::from_millis(50), "{}", || {});
    assert_eq!(without, None);
}

#[test]
fn a_daemon_that_does_not_answer_costs_the_deadline_and_no_more() {
    let instance = Instance::new();
    let _silent = instance.daemon();
    let begin = Instant::now();
    let (printed, ()) = printed(&instance, Duration::from_millis(50), "{}", || {});
    assert_eq!(printed, None);
    assert!(begin.elapsed() < Duration::from_millis(550), "took {:?}", begin.elapsed());
}

#[test]
fn stdin_that_never_ends_costs_the_deadline_and_no_more() {
    let instance = Instance::new();
    let (stdin, _open) = UnixStream::pair().unwrap();
    let until = Instant::now() + Duration::from_millis(50);
    assert_eq!(reply_within(until, instance.search(), stdin), None);
    assert!(until.elapsed() < Duration::from_millis(500));
}

#[test]
fn what_is_no_event_is_not_sent() {
    assert_eq!(read_event(&b"not json"[..]), None);
    assert_eq!(read_event(&b""[..]), None);
    assert_eq!(read_event(io::repeat(b' ').take(u64::MAX)), None);
    assert_eq!(read_event(&b"{\"a\":1}"[..]).unwrap(), b"{\"a\":1}\n");
}

#[test]
fn the_client_is_the_first_argument_that_is_no_flag() {
    let client = |arguments: &[&str]| client_from(arguments.iter().map(OsString::from));
    assert_eq!(client(&[]), None);
    assert_eq!(client(&["codex"]).as_deref(), Some("codex"));
    assert_eq!(client(&["--later", "claude-code", "x"]).as_deref(), Some("claude-code"));
}
