//! A write is applied once, whatever dies between the agent's request and its reply.

use std::path::Path;

use anchord_tests::{Agent, Instance, Project, write};
use serde_json::json;

#[test]
fn writes_survive_a_killed_daemon_and_are_applied_once() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    for round in 0..8 {
        let title = |number| format!("once {round} {number}");
        let calls: Vec<u64> = (0..6)
            .map(|number| agent.call_later("memory_checkpoint", &write::checkpoint(&title(number))))
            .collect();
        // The daemon dies a little later in each round: before any reply, after the first, and so
        // on.
        for id in calls.iter().take(round) {
            assert!(!agent.reply(*id).unwrap().is_error);
        }
        instance.kill9();
        for id in calls.iter().skip(round) {
            let reply = agent.reply(*id).unwrap();
            assert!(!reply.is_error, "{}", reply.text);
        }
    }
    let all = (0..8).flat_map(|round| (0..6).map(move |number| format!("once {round} {number}")));
    assert_eq!(instance.written("checkpoint"), all.map(|title| (title, 1)).collect());
    agent.tool("memory_save", &json!({"session_summary": "all rounds"}));
    let text = agent.tool("memory_load", &json!({}));
    assert!(text.contains("once 0 0") && text.contains("once 7 5"), "{text}");
}

#[test]
fn a_daemon_killed_during_a_call_only_costs_a_delay() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    agent.tool("memory_status", &json!({}));
    let before = agent.call_later("test_delay", &json!({"ms": 1_000}));
    let after = agent.call_later("memory_save", &write::save("behind the delay"));
    let first = instance.kill9();
    assert!(!agent.reply(before).unwrap().is_error);
    assert!(!agent.reply(after).unwrap().is_error);
    assert_ne!(instance.daemon_pid(), Some(first));
    assert_eq!(instance.written("save").get("behind the delay"), Some(&1));
    assert!(agent.notifications().is_empty(), "the agent notices nothing but a delay");
}

#[test]
fn replies_follow_the_order_of_the_writes() {
    let instance = Instance::new();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    let titles: Vec<String> = (0..20).map(|number| format!("order-{number:02}-")).collect();
    let calls: Vec<u64> =
        titles.iter().map(|title| agent.call_later("memory_save", &write::save(title))).collect();
    let status = agent.call_later("memory_load", &json!({}));
    for id in calls {
        assert!(!agent.reply(id).unwrap().is_error);
    }
    agent.reply(status).unwrap();
    // A read sees every write that was answered before the read was sent.
    let text = agent.tool("memory_load", &json!({}));
    for title in &titles {
        assert!(text.contains(title.as_str()), "{title} is missing in {text}");
    }
}

#[test]
fn no_acknowledged_note_is_lost_while_others_search_and_compact() {
    let instance = Instance::new();
    let mut torture = instance.command(Path::new(env!("CARGO_BIN_EXE_torture")));
    torture.arg("--program").arg(instance.anchord().get_program());
    torture.args(["--notes", "--sessions", "4", "--writes", "25", "--daemon-kills", "3"]);
    let ended = torture.args(["--shim-kills", "1", "--json"]).output().unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(ended.status.success(), "{text}{}", String::from_utf8_lossy(&ended.stderr));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(count("acknowledged") + count("unknown"), 100, "{report}");
    assert_eq!((count("found"), count("daemon_kills")), (count("acknowledged"), 3), "{report}");
}
