//! A daemon that says nothing, and a daemon whose call takes long.

use std::thread;
use std::time::Duration;

use anchord_proto::hello::Role;

use crate::link::Search;
use crate::testing::{Agent, Daemon, Instance, SOON, Served, reply, request};

/// Returns an agent that waits for a call. If the daemon hangs, it waits a second at most.
fn called(instance: &Instance, call: &str) -> (Daemon, Agent, Served) {
    let daemon = instance.daemon();
    let search = Search { patience: Duration::from_secs(1), ..instance.search() };
    let mut agent = Agent::start(search);
    let (_, mut served) = daemon.welcome();
    agent.say(call);
    served.expect(call);
    (daemon, agent, served)
}

#[test]
fn a_call_does_not_wait_forever_for_a_hanging_daemon() {
    let instance = Instance::new();
    let (daemon, mut agent, _served) = called(&instance, &request("1", "tools/call"));
    // The shim asks whether it runs, and gets no answer.
    assert!(daemon.is_asked_within(SOON));
    let answer = agent.hear();
    assert!(answer.contains("outcome unknown"), "{answer}");
    assert!(answer.contains("the daemon does not answer: it is stopped, hangs"), "{answer}");
}

#[test]
fn a_daemon_that_recovers_has_time_for_the_call() {
    let instance = Instance::new();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":7}}}"#;
    let (daemon, mut agent, mut served) = called(&instance, call);
    let progress = agent.hear();
    assert!(
        progress.contains(r#""progressToken":7"#),
        "it is taken for one that hangs: {progress}"
    );
    // The daemon continues, and the call takes longer than the patience.
    for _ in 0..3 {
        let (hello, asked) = daemon.welcome();
        assert_eq!(hello.role, Role::Http);
        assert_eq!(asked.rest(), "");
    }
    served.say(&reply("1"));
    assert_eq!(agent.hear(), reply("1"));
}

#[test]
fn a_long_call_is_not_mistaken_for_a_hanging_daemon() {
    let instance = Instance::new();
    let (daemon, mut agent, mut served) = called(&instance, &request("1", "tools/call"));
    thread::scope(|scope| {
        scope.spawn(|| {
            // The call takes longer than the shim would wait for a daemon that hangs.
            for _ in 0..3 {
                let (hello, asked) = daemon.welcome();
                assert_eq!((hello.role, hello.resume), (Role::Http, None));
                assert_eq!(asked.rest(), "", "it asks for nothing else");
            }
            served.say(&reply("1"));
        });
    });
    assert_eq!(agent.hear(), reply("1"));
}
