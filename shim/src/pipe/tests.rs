//! The pipe between real descriptors and a daemon that dies on request.

mod hangs;

use std::thread;
use std::time::{Duration, Instant};

use anchord_proto::limits::{LINE_BYTES_MAX, UNANSWERED_LINES_MAX};

use crate::testing::{
    Agent, Daemon, Instance, SOON, Served, initialize_reply, notification, program, reply, request,
    wait_until, welcome,
};
use crate::turn::Turn;

/// The limit for an immediate end. 100 ms are promised and measured by the benches. Here, a machine
/// busy with other tests gets more time.
const AT_ONCE: Duration = Duration::from_millis(500);

/// Returns an initialized agent and the daemon's side of its connection.
fn initialized(instance: &Instance, daemon: &Daemon) -> (Agent, Served) {
    let mut agent = Agent::start(instance.search());
    let (hello, mut served) = daemon.welcome();
    assert_eq!(hello.resume, None);
    agent.say(&request("0", "initialize"));
    assert_eq!(served.line(), (1, 0, request("0", "initialize")));
    served.say(&initialize_reply("0", "2025-06-18"));
    assert_eq!(agent.hear(), initialize_reply("0", "2025-06-18"));
    agent.say(&notification("notifications/initialized"));
    assert_eq!(served.line(), (2, 1, notification("notifications/initialized")));
    (agent, served)
}

#[test]
fn lines_pass_unchanged_and_numbered() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (mut agent, mut served) = initialized(&instance, &daemon);
    let odd =
        r#"{ "id" : "ü\u00fc",  "params":{"a":[1, 2.50]}, "method":"tools/call","jsonrpc":"2.0" }"#;
    agent.say(odd);
    assert_eq!(served.line(), (3, 2, odd.to_owned()));
    let odd = r#"{"result" : {"x":1.0},"id":"üü", "jsonrpc":"2.0"}"#;
    served.say(odd);
    assert_eq!(agent.hear(), odd);
    served.say(&notification("notifications/tools/list_changed"));
    assert_eq!(agent.hear(), notification("notifications/tools/list_changed"));
    agent.close_stdin();
    assert_eq!(served.rest(), "");
    let (rest, took) = agent.wait();
    assert_eq!(rest, "");
    assert!(took < AT_ONCE, "took {took:?}");
}

#[test]
fn the_acknowledged_number_covers_replies_without_a_gap() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    let send = |agent: &mut Agent, served: &mut Served, line: &str| {
        agent.say(line);
        let (number, acknowledged, _) = served.line();
        (number, acknowledged)
    };
    let answer = |agent: &mut Agent, served: &mut Served, id: &str| {
        served.say(&reply(id));
        agent.hear();
    };
    assert_eq!(send(&mut agent, &mut served, &request("10", "x")), (1, 0));
    assert_eq!(send(&mut agent, &mut served, &request("11", "x")), (2, 0));
    answer(&mut agent, &mut served, "11");
    assert_eq!(send(&mut agent, &mut served, &request("12", "x")), (3, 0));
    answer(&mut agent, &mut served, "10");
    assert_eq!(send(&mut agent, &mut served, &notification("n")), (4, 2));
    answer(&mut agent, &mut served, "12");
    assert_eq!(send(&mut agent, &mut served, &request("13", "x")), (5, 4));
}

#[test]
fn after_a_death_the_handshake_is_repeated_and_its_reply_swallowed() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (mut agent, mut served) = initialized(&instance, &daemon);
    agent.say(&request("1", "tools/list"));
    served.expect(&request("1", "tools/list"));
    served.say(&reply("1"));
    agent.hear();
    agent.say(&request("2", "tools/call"));
    assert_eq!(served.expect(&request("2", "tools/call")), 4);
    served.die();

    let (hello, mut served) = daemon.welcome();
    let resume = hello.resume.unwrap();
    assert_eq!((resume.token.as_str(), resume.revision.as_deref()), ("token", Some("2025-06-18")));
    assert_eq!(served.line(), (1, 0, request("0", "initialize")));
    assert_eq!(served.line(), (2, 1, notification("notifications/initialized")));
    assert_eq!(served.line(), (4, 3, request("2", "tools/call")));
    served.say(&initialize_reply("0", "2025-06-18"));
    served.say(&reply("2"));
    assert_eq!(agent.hear(), reply("2"));
}

#[test]
fn an_unanswered_initialize_is_sent_again_and_answered_once() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&request("0", "initialize"));
    served.expect(&request("0", "initialize"));
    served.die();
    let (hello, mut served) = daemon.welcome();
    assert_eq!(hello.resume.unwrap().revision, None);
    assert_eq!(served.expect(&request("0", "initialize")), 1);
    served.say(&initialize_reply("0", "2025-11-25"));
    assert_eq!(agent.hear(), initialize_reply("0", "2025-11-25"));
}

#[test]
fn without_a_handshake_none_is_repeated() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&request("\"a\"", "server/discover"));
    served.expect(&request("\"a\"", "server/discover"));
    served.say(&reply("\"a\""));
    agent.hear();
    agent.say(&request("\"b\"", "tools/call"));
    served.expect(&request("\"b\"", "tools/call"));
    served.die();
    let (_, mut served) = daemon.welcome();
    assert_eq!(served.line(), (2, 1, request("\"b\"", "tools/call")));
}

#[test]
fn requests_in_flight_are_resent_one_by_one_before_new_ones() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    for id in ["1", "2"] {
        agent.say(&request(id, "x"));
        served.expect(&request(id, "x"));
    }
    served.die();
    let (_, mut served) = daemon.welcome();
    served.expect(&request("1", "x"));
    agent.say(&request("3", "x"));
    served.say(&reply("1"));
    assert_eq!(agent.hear(), reply("1"));
    served.expect(&request("2", "x"));
    served.say(&reply("2"));
    served.expect(&request("3", "x"));
}

#[test]
fn a_call_that_kills_twice_fails_alone() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    for id in ["1", "\"killer\"", "3"] {
        agent.say(&request(id, "x"));
        served.expect(&request(id, "x"));
    }
    served.die();
    let (_, mut served) = daemon.welcome();
    served.expect(&request("1", "x"));
    served.say(&reply("1"));
    assert_eq!(agent.hear(), reply("1"));
    served.expect(&request("\"killer\"", "x"));
    served.die();
    assert_eq!(
        agent.hear(),
        r#"{"jsonrpc":"2.0","id":"killer","error":{"code":-32051,"message":"the daemon failed twice on this call, outcome unknown"}}"#
    );
    let (_, mut served) = daemon.welcome();
    served.expect(&request("3", "x"));
    served.say(&reply("3"));
    assert_eq!(agent.hear(), reply("3"));
}

#[test]
fn a_fatal_call_of_one_shim_never_runs_beside_another_shims_calls() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut killer = Agent::start(instance.search());
    let (_, mut of_killer) = daemon.welcome();
    killer.say(&request("1", "abort"));
    of_killer.expect(&request("1", "abort"));
    let mut other = Agent::start(instance.search());
    let (_, mut of_other) = daemon.welcome();
    other.say(&request("1", "save"));
    of_other.expect(&request("1", "save"));

    of_killer.die();
    let (_, mut of_killer) = daemon.welcome();
    of_killer.expect(&request("1", "abort"));
    // While the killer has the turn, the other shim has no connection that the killer could take
    // down.
    of_other.die();
    assert!(!daemon.is_asked_within(Duration::from_millis(30)));
    of_killer.die();
    assert!(killer.hear().contains("-32051"));
    let (_, mut one) = daemon.welcome();
    let (_, mut two) = daemon.welcome();
    let served = if one.has_input_within(Duration::from_millis(500)) { &mut one } else { &mut two };
    served.expect(&request("1", "save"));
    served.say(&reply("1"));
    assert_eq!(other.hear(), reply("1"));
}

const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

/// Returns an agent with a request in flight.
fn asked(instance: &Instance, daemon: &Daemon) -> (Agent, Served) {
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&request("1", "slow"));
    served.expect(&request("1", "slow"));
    (agent, served)
}

#[test]
fn a_shim_with_nothing_left_to_resend_gives_up_its_turn() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (mut agent, served) = asked(&instance, &daemon);
    drop(daemon);
    served.die();
    let is_free = || {
        let mut other = Turn::new(Some(instance.dir.resending()));
        other.take(Instant::now())
    };
    let begin = Instant::now();
    while is_free() {
        assert!(begin.elapsed() < SOON, "it looks for a daemon in its turn");
        thread::yield_now();
    }
    agent.say(CANCEL);
    // The search continues, and would last longer.
    let begin = Instant::now();
    while !is_free() {
        assert!(begin.elapsed() < SOON / 2, "it has nothing to send");
        thread::yield_now();
    }
}

#[test]
fn a_shim_with_nothing_left_to_resend_does_not_wait_for_its_turn() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (mut agent, served) = asked(&instance, &daemon);
    let mut other = Turn::new(Some(instance.dir.resending()));
    assert!(other.take(Instant::now()));
    served.die();
    assert!(!daemon.is_asked_within(Duration::from_millis(100)));
    agent.say(CANCEL);
    assert!(daemon.is_asked_within(SOON));
}

#[test]
fn a_cancelled_request_and_other_notifications_are_not_sent_again() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let (mut agent, mut served) = initialized(&instance, &daemon);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    agent.say(&request("5", "slow"));
    agent.say(&request("6", "x"));
    served.expect(&request("5", "slow"));
    served.expect(&request("6", "x"));
    agent.say(cancel);
    agent.say(&notification("notifications/progress"));
    served.expect(cancel);
    served.expect(&notification("notifications/progress"));
    served.die();
    let (_, mut served) = daemon.welcome();
    served.expect(&request("0", "initialize"));
    served.expect(&notification("notifications/initialized"));
    assert_eq!(served.line(), (4, 3, request("6", "x")));
    served.say(&reply("6"));
    assert_eq!(agent.hear(), reply("6"), "the reply to the handshake may come later or never");
    agent.say(&request("7", "x"));
    served.expect(&request("7", "x"));
}

#[test]
fn a_partial_reply_is_dropped_with_its_daemon() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&request("1", "x"));
    served.expect(&request("1", "x"));
    served.begin(r#"{"jsonrpc":"2.0","id":1,"res"#);
    served.die();
    let (_, mut served) = daemon.welcome();
    served.expect(&request("1", "x"));
    served.say(&reply("1"));
    assert_eq!(agent.hear(), reply("1"));
}

#[test]
fn a_daemon_that_sends_invalid_lines_is_abandoned() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&request("1", "x"));
    served.expect(&request("1", "x"));
    served.say("thread 'main' panicked");
    let (_, mut served) = daemon.welcome();
    served.expect(&request("1", "x"));
    served.say(&reply("1"));
    assert_eq!(agent.hear(), reply("1"));
}

#[test]
fn requests_with_the_same_id_are_all_answered_across_a_death() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&request("1", "first"));
    agent.say(&request("1", "second"));
    served.expect(&request("1", "first"));
    served.expect(&request("1", "second"));
    served.say(&reply("1"));
    agent.hear();
    served.die();
    let (_, mut served) = daemon.welcome();
    assert_eq!(served.expect(&request("1", "second")), 2);
    served.say(&reply("1"));
    agent.hear();
}

#[test]
fn beyond_the_limit_requests_get_busy_and_stdin_is_still_read() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    for id in 0..UNANSWERED_LINES_MAX {
        agent.say(&request(&id.to_string(), "x"));
        served.line();
    }
    agent.say(&request("\"more\"", "x"));
    let busy = agent.hear();
    assert!(
        busy.contains(r#""id":"more","error":{"code":-32052,"message":"busy, retry"#),
        "{busy}"
    );
    served.say(&reply("0"));
    assert_eq!(agent.hear(), reply("0"));
    agent.say(&request("\"again\"", "x"));
    served.expect(&request("\"again\"", "x"));
}

#[test]
fn without_a_daemon_requests_fail_and_later_ones_try_again() {
    let instance = Instance::new();
    let mut search = instance.search();
    search.patience = Duration::from_millis(20);
    let mut agent = Agent::start(search);
    agent.say(&request("1", "initialize"));
    let error = agent.hear();
    assert!(error.contains(r#""id":1,"error":{"code":-32050"#), "{error}");
    assert!(error.contains("no daemon is running in"), "{error}");
    assert!(error.contains("run `anchord daemon`"), "{error}");

    let daemon = instance.daemon();
    let answered = thread::scope(|scope| {
        let serving = scope.spawn(|| {
            let (_, mut served) = daemon.welcome();
            let (_, _, json) = served.line();
            served.say(&reply("3"));
            // Kept until the answer is read.
            (served, json)
        });
        // Until another search begins, requests get the same error at once.
        let answered = loop {
            agent.say(&request("3", "x"));
            let heard = agent.hear();
            if !heard.contains("-32050") {
                break heard;
            }
        };
        assert_eq!(serving.join().unwrap().1, request("3", "x"));
        answered
    });
    assert_eq!(answered, reply("3"));
}

#[test]
fn errors_distinguish_unsent_requests_from_unknown_outcomes() {
    let instance = Instance::new();
    let mut search = instance.search();
    search.patience = Duration::from_millis(100);
    let daemon = instance.daemon();
    let mut agent = Agent::start(search);
    let (_, mut served) = daemon.welcome();
    agent.say(&request("1", "save"));
    served.expect(&request("1", "save"));
    drop(daemon);
    served.die();
    let unknown = agent.hear();
    assert!(unknown.contains(r#""id":1,"error":{"code":-32051"#), "{unknown}");
    for part in ["outcome unknown", "no daemon is running in", "run `anchord restart`"] {
        assert!(unknown.contains(part), "{unknown}");
    }
    agent.say(&request("2", "save"));
    let unsent = agent.hear();
    assert!(unsent.contains(r#""id":2,"error":{"code":-32050"#), "{unsent}");
}

#[test]
fn lines_that_cannot_be_forwarded_are_answered_by_the_shim() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    for (line, code) in [
        (&b"hello\n"[..], -32700),
        (b"{\"id\":1,\"method\":\n", -32700),
        (b"{\"id\":1,\"method\":\"\xff\"}\n", -32700),
        (b"42\n", -32700),
        (b"[{\"id\":1,\"method\":\"x\"}]\n", -32600),
        (b"{}\n", -32600),
    ] {
        agent.say_bytes(line);
        let error = agent.hear();
        let expected = format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"#);
        assert!(error.starts_with(&expected), "{} gave {error}", line.escape_ascii());
    }
    agent.say_bytes(b"\n \r\n");
    agent.say_bytes(&vec![b' '; LINE_BYTES_MAX + 1]);
    agent.say_bytes(b"\n");
    let error = agent.hear();
    assert!(error.contains("-32600") && error.contains("4194305 bytes"), "{error}");
    agent.say_bytes(b"{\"method\":\"x\",\"params\":{\"text\":\"");
    agent.say_bytes(&vec![b'x'; LINE_BYTES_MAX]);
    agent.say(r#""},"jsonrpc":"2.0","id":5}"#);
    let error = agent.hear();
    assert!(error.contains("\"id\":5,") && error.contains("-32600"), "{error}");
    agent.say(&request("1", "x"));
    assert_eq!(served.line(), (1, 0, request("1", "x")));
}

#[test]
fn a_carriage_return_before_the_newline_is_not_part_of_the_message() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&format!("{}\r", request("1", "x")));
    served.expect(&request("1", "x"));
}

#[test]
fn requests_sent_before_stdin_ends_are_answered() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say_bytes(request("1", "x").as_bytes());
    agent.close_stdin();
    served.expect(&request("1", "x"));
    served.say(&reply("1"));
    let (rest, took) = agent.wait();
    assert_eq!(rest, reply("1") + "\n");
    assert!(took < AT_ONCE, "took {took:?}");
}

#[test]
fn a_silent_daemon_does_not_delay_the_end() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&request("1", "x"));
    served.expect(&request("1", "x"));
    agent.close_stdin();
    let (rest, took) = agent.wait();
    assert!(rest.contains(r#""id":1,"error":{"code":-32053"#), "{rest}");
    assert!(took < AT_ONCE, "took {took:?}");
}

#[test]
fn a_signal_ends_the_shim_at_once_in_any_state() {
    let instance = Instance::new();
    let mut agent = Agent::start(instance.search());
    agent.say(&request("1", "x"));
    agent.signal();
    let (rest, took) = agent.wait();
    assert_eq!(rest, "");
    assert!(took < AT_ONCE, "took {took:?}");
}

#[test]
fn an_agent_that_reads_nothing_does_not_delay_the_end_or_fill_memory() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let mut agent = Agent::start(instance.search());
    let (_, mut served) = daemon.welcome();
    agent.say(&request("1", "x"));
    served.expect(&request("1", "x"));
    let big = format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{}"}}"#, "x".repeat(1 << 20));
    // The shim stops reading at some point. Unread lines stay with the daemon.
    let said = served.say_until_full(&big, 64);
    assert!(said < 16, "the shim took {said} MiB");
    agent.signal();
    agent.shim_ends_within(AT_ONCE);
}

#[test]
fn an_idle_shim_does_not_bring_back_a_daemon_that_was_stopped() {
    let instance = Instance::new();
    let log = instance.dir.path().join("started");
    let mut search = instance.search();
    search.launcher =
        Some(program(&instance, &format!("echo started >> {}; echo 'failed: no'", log.display())));
    search.patience = Duration::from_millis(30);
    let daemon = instance.daemon();
    let mut agent = Agent::start(search);
    let (_, mut served) = daemon.welcome();
    agent.say(&request("1", "x"));
    served.expect(&request("1", "x"));
    served.say(&reply("1"));
    agent.hear();
    drop(daemon);
    served.die();
    // Longer than the patience of the search that follows the loss.
    assert!(agent.hears_nothing_for(Duration::from_millis(150)));
    assert!(!log.exists());
    agent.say(&request("2", "x"));
    // The answer may come before the program has written anything.
    assert!(agent.hear().contains("no anchord daemon can be had"));
    wait_until("it was started", || log.exists());
}

#[test]
fn a_request_during_an_idle_search_gets_the_full_patience() {
    let instance = Instance::new();
    let mut search = instance.search();
    search.patience = Duration::from_secs(2);
    let daemon = instance.daemon();
    let mut agent = Agent::start(search);
    let (_, served) = daemon.welcome();
    let lost = Instant::now();
    drop(daemon);
    served.die();
    assert!(agent.hears_nothing_for(Duration::from_millis(1_500)));
    agent.say(&request("1", "x"));
    wait_until("the idle search would have ended", || {
        lost.elapsed() > Duration::from_millis(2_200)
    });
    let daemon = instance.daemon();
    assert!(daemon.is_asked_within(SOON));
    let (_, mut served) = daemon.welcome();
    served.expect(&request("1", "x"));
    served.say(&reply("1"));
    assert_eq!(agent.hear(), reply("1"));
}

#[test]
fn a_new_token_replaces_the_old_one() {
    let instance = Instance::new();
    let daemon = instance.daemon();
    let _agent = Agent::start(instance.search());
    let (_, served) = daemon.answer(&welcome("first"));
    served.die();
    let (hello, served) = daemon.answer(&welcome("second"));
    assert_eq!(hello.resume.unwrap().token, "first");
    served.die();
    let (hello, _served) = daemon.answer(&welcome("third"));
    assert_eq!(hello.resume.unwrap().token, "second");
}
