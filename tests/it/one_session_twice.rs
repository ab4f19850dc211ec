//! Two shims claim one agent session, and both count their ids from 0. Nothing is lost, and no
//! reply goes to the other shim.

use anchord_tests::{Agent, Instance, Project, write};
use serde_json::json;

#[test]
fn both_shims_of_one_session_keep_their_writes() {
    let instance = Instance::new();
    let project = Project::git();
    let open = || {
        let mut command = instance.shim(project.path());
        command.env("CLAUDE_CODE_SESSION_ID", "6f1d3c0e-one-session");
        let mut agent = Agent::start_by(command);
        agent.initialize();
        agent
    };
    let (mut left, mut right) = (open(), open());
    for round in 0..10 {
        let from_left = left
            .call_later("memory_checkpoint", &write::checkpoint(&format!("left {round} of ten")));
        let from_right = right
            .call_later("memory_checkpoint", &write::checkpoint(&format!("right {round} of ten")));
        assert_eq!(from_left, from_right, "the test is about equal ids");
        if round == 5 {
            instance.kill9();
        }
        assert!(!left.reply(from_left).unwrap().is_error);
        assert!(!right.reply(from_right).unwrap().is_error);
    }
    left.tool("memory_save", &json!({"session_summary": "left is done"}));
    right.tool("memory_save", &json!({"session_summary": "right is done"}));
    let text = right.tool("memory_load", &json!({}));
    let written = instance.written("checkpoint");
    for round in 0..10 {
        for side in ["left", "right"] {
            let title = format!("{side} {round} of ten");
            assert_eq!(written.get(&title), Some(&1), "{title}");
            assert!(text.contains(&title), "{title} is missing in {text}");
        }
    }
}
