//! Messages and calls in the forms of several versions.

use anchord_memory::lifecycle::CommandOutcome;
use serde_json::json;

use super::*;

fn events(bubble: &Value) -> Vec<Event> {
    Bubbles::default().read(bubble)
}

fn run(call: &Value) -> ToolRun {
    let events = events(&json!({ "type": 2, "text": "", "toolFormerData": call }));
    let [Event::ToolRan(run)] = &events[..] else { panic!("{events:?}") };
    run.clone()
}

#[test]
fn messages_are_prompts_and_answers() {
    let prompt = |text: &str| vec![Event::PromptSubmitted { prompt: text.to_owned() }];
    assert_eq!(events(&json!({ "type": 1, "text": "fix it" })), prompt("fix it"));
    assert_eq!(events(&json!({ "type": 1, "text": "<b> is broken" })), prompt("<b> is broken"));
    let tagged = "<timestamp>x</timestamp><user_query>\nfix it\n</user_query>";
    assert_eq!(events(&json!({ "type": 1, "text": tagged })), prompt("fix it"));
    let said = Event::TurnEnded { last_message: Some("Done.".to_owned()) };
    assert_eq!(events(&json!({ "type": 2, "text": "Done." })), [said]);
    for nothing in [
        json!({ "type": 1, "text": " " }),
        json!({ "type": 2, "text": "", "thinking": { "text": "Hm." } }),
        json!({ "type": 2, "text": "Hm.", "isThought": true }),
        json!({ "type": 2, "text": "", "toolFormerData": { "status": "completed" } }),
        json!({ "text": "of nobody" }),
        json!(null),
        json!([1]),
    ] {
        assert_eq!(events(&nothing), [], "{nothing}");
    }
}

#[test]
fn an_edit_counts_if_it_was_done() {
    let edited = |name: &str, status: &str, more: Value| {
        let mut call = more;
        call["name"] = name.into();
        call["status"] = status.into();
        run(&call).edited
    };
    let arguments = json!({ "rawArgs": "{\"target_file\":\"a.rs\"}" });
    assert_eq!(edited("edit_file", "completed", arguments.clone()), ["a.rs"]);
    for status in ["cancelled", "error", "loading", ""] {
        assert!(edited("edit_file", status, arguments.clone()).is_empty(), "{status}");
    }
    let params = json!({ "params": "{\"relativeWorkspacePath\":\"src/b.rs\"}", "rawArgs": "" });
    for name in ["edit_file_v2", "edit_file_v2_search_replace", "search_replace", "write"] {
        assert_eq!(edited(name, "completed", params.clone()), ["src/b.rs"], "{name}");
    }
    let object = json!({ "params": { "relativeWorkspacePath": "c.rs" } });
    assert_eq!(edited("delete_file", "completed", object), ["c.rs"]);
    let patch = "*** Begin Patch\n*** Update File: d.rs\n*** Add File: e.rs\n*** End Patch";
    let patch = json!({ "params": "{}", "rawArgs": patch });
    assert_eq!(edited("apply_patch", "completed", patch), ["d.rs", "e.rs"]);
    let refused =
        json!({ "params": "{\"relativeWorkspacePath\":\"f\"}", "userDecision": "rejected" });
    assert!(edited("edit_file", "completed", refused).is_empty());
    let failed = json!({
        "params": "{\"relativeWorkspacePath\":\"f\"}", "additionalData": { "status": "error" },
    });
    assert!(edited("search_replace", "completed", failed).is_empty());
    let read = json!({ "params": "{\"targetFile\":\"g\"}" });
    assert!(edited("read_file", "completed", read).is_empty());
}

#[test]
fn a_command_has_the_outcome_that_its_result_names() {
    let outcome = |more: Value| {
        let mut call = json!({
            "name": "run_terminal_command_v2", "status": "completed",
            "params": "{\"command\":\"make\"}",
        });
        for (field, value) in more.as_object().unwrap() {
            call[field] = value.clone();
        }
        run(&call).command.map(|command| command.outcome)
    };
    let failed = |output: &str| Some(CommandOutcome::Failed { output: output.to_owned() });
    let result = |result: &str| json!({ "result": result });
    assert_eq!(outcome(result(r#"{"output":"","exitCodeV2":0}"#)), Some(CommandOutcome::Passed));
    assert_eq!(outcome(result(r#"{"output":"no","exitCodeV2":2}"#)), failed("no"));
    assert_eq!(outcome(result(r#"{"output":"no","exitCode":1}"#)), failed("no"));
    let object = json!({ "result": { "output": "no", "exitCodeV2": 1 } });
    assert_eq!(outcome(object), failed("no"));
    let by_status =
        |status: &str| json!({ "additionalData": { "status": status }, "result": "ok" });
    assert_eq!(outcome(by_status("success")), Some(CommandOutcome::Passed));
    assert_eq!(outcome(by_status("error")), failed("ok"));
    for unknown in [
        result(r#"{"output":"all is well"}"#),
        result(
            r#"{"output":"","exitCodeV2":0,"endedReason":"RUN_TERMINAL_COMMAND_ENDED_REASON_ABORTED"}"#,
        ),
        json!({ "rawArgs": "{\"is_background\":true}", "result": "{\"exitCodeV2\":0}" }),
    ] {
        assert_eq!(outcome(unknown.clone()), Some(CommandOutcome::Unknown), "{unknown}");
    }
    for not_run in [
        result(r#"{"rejected":true}"#),
        json!({ "additionalData": { "status": "rejected" } }),
        json!({ "status": "cancelled" }),
        json!({ "status": "error" }),
        json!({ "params": "{}", "rawArgs": "{}" }),
    ] {
        assert_eq!(outcome(not_run.clone()), None, "{not_run}");
    }
}
