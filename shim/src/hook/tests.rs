//! One event gives one reply, or silence after any failure.

use std::os::unix::net::UnixStream;

use anchord_proto::hello::RefusalCode;

use super::*;
use crate::testing::{Instance, program, refused};

/// Returns the text printed for `event`, while `daemon` plays the daemon.
fn printed<T>(
    instance: &Instance,
    event: &'static str,
    daemon: impl FnOnce() -> T,
) -> (Option<String>, T) {
    let search = instance.search();
    thread::scope(|scope| {
        let hook = scope.spawn(move || printed_for(Instant::now(), search, None, event.as_bytes()));
        let result = daemon();
        (hook.join().unwrap(), result)
    })
}

/// Extra time for a busy machine.
const SLACK: Duration = Duration::from_secs(1);

#[test]
fn an_event_is_sent_as_one_line_and_the_reply_printed_verbatim() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (printed, event) = printed(&instance, "{\r\n  \"a\": \"b c\"\n}\n", || {
        let (_, mut served) = daemon.welcome();
        let event = served.raw_line();
        served.say(r#"{"stdout":"{\"a\":1}\nplain"}"#);
        event
    });
    assert_eq!(event, "{    \"a\": \"b c\" } ");
    assert_eq!(printed.as_deref(), Some("{\"a\":1}\nplain"));
}

#[test]
fn nothing_is_printed_for_an_empty_or_invalid_reply() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    for reply in ["{}", "", "[]", "\"text\"", "panicked at", "{\"stdout\":1}", "{\"cut\":"] {
        let (printed, ()) = printed(&instance, "{}", || {
            let (_, mut served) = daemon.welcome();
            served.raw_line();
            served.say(reply);
        });
        assert_eq!(printed, None, "{reply}");
    }
}

#[test]
fn nothing_is_printed_for_a_cut_reply_a_refusal_or_no_daemon() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (cut, ()) = printed(&instance, "{}", || {
        let (_, mut served) = daemon.welcome();
        served.raw_line();
        served.begin(r#"{"stdout":"x"}"#);
        served.die();
    });
    assert_eq!(cut, None);
    let (after_refusal, _) =
        printed(&instance, "{}", || daemon.answer(&refused(RefusalCode::TooNew)));
    assert_eq!(after_refusal, None);
    drop(daemon);
    let (without, ()) = printed(&instance, "{}", || {});
    assert_eq!(without, None);
}

#[test]
fn a_silent_daemon_costs_no_more_than_the_deadline() {
    let instance = Instance::new();
    let _silent = instance.daemon();
    for (event, deadline) in [
        ("{}", HOOK_DEADLINE_MS),
        (r#"{"hook_event_name":"SessionEnd"}"#, HOOK_END_DEADLINE_MS),
        (r#"{"hook_event_name":"session_end"}"#, HOOK_END_DEADLINE_MS),
    ] {
        let begin = Instant::now();
        let (printed, ()) = printed(&instance, event, || {});
        assert_eq!(printed, None);
        let took = begin.elapsed();
        assert!(took + Duration::from_millis(50) >= millis(deadline), "{event} took {took:?}");
        assert!(took < millis(deadline) + SLACK, "{event} took {took:?}");
    }
}

#[test]
fn a_daemon_that_answers_late_still_gets_the_event() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (printed, ()) = printed(&instance, "{\"a\":1}", || {});
    assert_eq!(printed, None);
    let (_, mut served) = daemon.hear_hello();
    assert_eq!(served.raw_line(), "{\"a\":1}");
}

#[test]
fn an_endless_stdin_costs_no_more_than_the_deadline() {
    let instance = Instance::new();
    let (stdin, _open) = UnixStream::pair().unwrap();
    let begin = Instant::now();
    assert_eq!(printed_for(begin, instance.search(), None, stdin), None);
    assert!(begin.elapsed() < millis(HOOK_DEADLINE_MS) + SLACK);
}

#[test]
fn a_daemon_is_started_for_an_event_but_not_for_a_session_end() {
    let instance = Instance::new();
    let started = instance.dir.path().join("started");
    let script = format!("touch {}; echo 'failed: asked by a test'", started.display());
    let launcher = program(&instance, &script);
    let says = |event: &'static str| {
        let search = Search { launcher: Some(launcher.clone()), ..instance.search() };
        assert_eq!(printed_for(Instant::now(), search, None, event.as_bytes()), None);
        started.exists()
    };
    assert!(!says(r#"{"reason":"other","hook_event_name":"SessionEnd"}"#));
    assert!(says(r#"{"hook_event_name":"Stop","last_assistant_message":"SessionEnd"}"#));
}

#[test]
fn an_invalid_event_is_not_sent() {
    for damaged in [&b"not json"[..], b"", b"{\"a\":\"\xff\"}", b"{} {}", b"{\"a\":"] {
        let Damaged { text, .. } = read_event(damaged).unwrap_err();
        assert_eq!(text, damaged);
    }
    assert!(read_event(io::repeat(b' ').take(u64::MAX)).is_err());
    assert_eq!(read_event(&b"{\"a\":1}"[..]).unwrap(), b"{\"a\":1}\n");
}

/// Returns the text printed for `event` without a daemon, where `script` stands in for it.
fn guarded(script: &str, event: &'static [u8]) -> Option<String> {
    let instance = Instance::new();
    let launcher = program(&instance, script);
    let stand_in = StandIn {
        program: launcher.program().to_owned(),
        client: "claude-code".to_owned(),
        has_rules: true,
    };
    printed_for(Instant::now(), instance.search(), Some(stand_in), event)
}

#[test]
fn a_check_without_a_result_stops_the_tool() {
    let stops =
        |check: &str| format!(r#"case "$*" in *--unchecked*) echo "$4";; *) {check};; esac"#);
    let event = br#"{"hook_event_name":"PreToolUse"}"#;
    let late = guarded(&stops("exec sleep 20"), event).unwrap();
    assert!(late.contains("gave no result in time"), "{late}");
    assert!(guarded(&stops("exit 1"), event).is_some(), "it failed");
    assert_eq!(guarded(&stops("cat > /dev/null"), event), None, "no rule stops it");
    assert_eq!(guarded(&stops("echo denied"), event).as_deref(), Some("denied\n"));
}

/// The launcher's own words, which the stand-in gets as an argument.
#[test]
fn a_check_is_told_why_no_daemon_starts() {
    let instance = Instance::new();
    let script = r#"case "$*" in rules*) echo "$*";; *) echo 'failed: asked by a test';; esac"#;
    let launcher = program(&instance, script);
    let stand_in = StandIn {
        program: launcher.program().to_owned(),
        client: "claude-code".to_owned(),
        has_rules: true,
    };
    let search = Search { launcher: Some(launcher), ..instance.search() };
    let event: &[u8] = br#"{"hook_event_name":"PreToolUse"}"#;
    let printed = printed_for(Instant::now(), search, Some(stand_in), event).unwrap();
    assert!(printed.starts_with("rules guard --no-daemon asked by a test"), "{printed}");
    assert!(printed.ends_with(" claude-code\n"), "{printed}");
}

#[test]
fn a_damaged_event_is_handed_to_the_rules_that_fail_closed() {
    let says = "echo \"$*\"; cat";
    for damaged in [&b"{\"a\":\"\xff\"}"[..], b"{} {}", b"{\"a\":"] {
        let printed = guarded("echo \"$*\"; cat | wc -c", damaged).unwrap();
        assert!(printed.starts_with("rules guard --unchecked the call is not"), "{printed}");
        assert!(printed.trim().ends_with(&damaged.len().to_string()), "{printed}");
    }
    let torn = guarded(says, b"{\"hook_event_name\":").unwrap();
    assert!(torn.ends_with("{\"hook_event_name\":"), "{torn}");
}

/// The stand-in says nothing at events that are no start.
#[test]
fn a_daemon_that_does_not_answer_in_time_is_worded_by_the_stand_in() {
    let instance = Instance::new();
    let launcher = program(&instance, "echo \"$*\"");
    let stand_in = || StandIn {
        program: launcher.program().to_owned(),
        client: "claude-code".to_owned(),
        has_rules: false,
    };
    let says = |event: &'static [u8]| {
        let search = Search { patience: millis(HOOK_DEADLINE_MS), ..instance.search() };
        let begin = Instant::now();
        let printed = printed_for(begin, search, Some(stand_in()), event);
        assert!(begin.elapsed() < millis(HOOK_DEADLINE_MS + HOOK_REFUSAL_MS) + SLACK);
        printed
    };
    let silent = instance.daemon();
    let late = says(br#"{"hook_event_name":"SessionStart"}"#);
    assert_eq!(late.as_deref(), Some("hook --late claude-code\n"));
    assert_eq!(says(br#"{"hook_event_name":"SessionEnd"}"#), None);
    drop(silent);
}

#[test]
fn the_client_is_the_first_argument_that_is_not_a_flag() {
    let client = |arguments: &[&str]| client_from(arguments.iter().map(OsString::from));
    assert_eq!(client(&[]), None);
    assert_eq!(client(&["codex"]).as_deref(), Some("codex"));
    assert_eq!(client(&["--later", "claude-code", "x"]).as_deref(), Some("claude-code"));
}
