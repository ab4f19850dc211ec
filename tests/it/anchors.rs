//! Anchors that stay true: a function moves to another file, and its anchor follows.

use anchord_tests::{Agent, Instance, PATIENCE, Project, Shell, poll};
use serde_json::json;

const FUNCTION: &str = "\
/// Waits longer after each attempt.
fn backoff(attempt: u32) -> Duration {
    let base = Duration::from_millis(50);
    let factor = 2_u32.pow(attempt.min(6));
    base * factor + jitter()
}
";

const OTHER: &str = "\
fn jitter() -> Duration {
    let random = getrandom();
    Duration::from_millis(random % 20)
}
";

#[test]
fn an_anchor_survives_the_move_of_its_function_to_another_file() {
    let instance = Instance::new();
    let project = Project::git();
    project.write("src/retry.rs", &format!("use std::time::Duration;\n\n{FUNCTION}\n{OTHER}"));
    let mut agent = Agent::with_all_tools(&instance, project.path());
    let anchors = json!([
        { "file": "src/retry.rs", "lines": "3-8", "concept": "backoff with jitter" },
        { "file": "src/retry.rs", "lines": "9-13", "concept": "the jitter" },
    ]);
    agent.tool("memory_save", &json!({ "session_summary": "retries", "anchors": anchors }));
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("src/retry.rs:3-8: backoff with jitter\n"), "{load}");
    assert!(load.contains("src/retry.rs:9-13: the jitter\n"), "neighbours stay two: {load}");

    project.write("src/retry.rs", &format!("use std::time::Duration;\n\n{OTHER}"));
    project.write("src/delay.rs", &format!("//! Delays.\n\n{FUNCTION}"));
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("src/delay.rs:3-8: backoff with jitter"), "{load}");
    let code = agent.tool("memory_get", &json!({ "id": "a1", "expand": true }));
    assert!(code.contains("src/delay.rs lines 3-8 now:"), "{code}");
    assert!(code.contains("4\tfn backoff(attempt: u32)"), "{code}");

    // The daemon moves the anchor by itself, in a commit that has a name.
    let moved = poll(PATIENCE, "the anchor is moved", || {
        let history = agent.tool("memory_history", &json!({}));
        history.contains("anchor upkeep").then_some(history)
    });
    assert!(moved.contains("a1"), "{moved}");
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("src/delay.rs:3-8: backoff with jitter\n"), "no words: {load}");

    // Gone code is said to be gone, and no wrong lines are given.
    project.write("src/delay.rs", "//! Delays.\n");
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("backoff with jitter (code is gone)"), "{load}");
    let code = agent.call("memory_get", &json!({ "id": "a1", "expand": true })).unwrap().text;
    assert!(code.contains("not there any more") && !code.contains("Delays"), "{code}");
}

/// Every clone would change the same files. A read shows where the code is all the same.
#[test]
fn anchors_of_a_shared_memory_are_shown_and_not_moved() {
    let instance = Instance::new();
    let (own, shared) = (Project::git(), Project::git());
    let upkeeps = |project: &Project| {
        let history = Shell::new(&instance, project.path()).done(&["history"]);
        history.matches("anchor upkeep").count()
    };
    for project in [&own, &shared] {
        project.write("src/retry.rs", FUNCTION);
        let anchor = ["add", "anchor", "src/retry.rs", "2-6", "backoff with jitter"];
        Shell::new(&instance, project.path()).done(&anchor);
    }
    let shell = Shell::new(&instance, shared.path());
    shell.done(&["init", "--shared", "--yes"]);
    // Two moves of the one show that the daemon had the time to move the other.
    for round in 1..=2 {
        for project in [&own, &shared] {
            project.write("src/retry.rs", &("// a line\n".repeat(round) + FUNCTION));
        }
        poll(PATIENCE, "the anchor is moved", || (upkeeps(&own) == round).then_some(()));
    }
    assert_eq!(upkeeps(&shared), 0);
    let load = shell.done(&["load"]);
    assert!(load.contains("src/retry.rs:4-8: backoff with jitter (moved from 2-6)"), "{load}");
}

/// Lines that nobody can have read are said to be missing at once, and never look fresh.
#[test]
fn an_anchor_on_lines_that_do_not_exist_is_named_when_stored_and_gone_afterwards() {
    let instance = Instance::new();
    let project = Project::git();
    project.write("src/retry.rs", FUNCTION);
    let mut agent = Agent::with_all_tools(&instance, project.path());
    let anchors = json!([
        { "file": "src/none.rs", "lines": "1-4", "concept": "no such file" },
        { "file": "src/retry.rs", "lines": "90-99", "concept": "past the end" },
        { "file": "src/retry.rs", "lines": "2-6", "concept": "backoff" },
    ]);
    let missing = "but src/none.rs does not exist";
    let few = "src/retry.rs has only 6 lines, not 90-99";
    let staged = agent.tool("memory_checkpoint", &json!({ "anchors": anchors }));
    assert!(staged.contains(&format!("Staged, {missing}; {few}.\n")), "{staged}");
    let saved = json!({ "session_summary": "retries", "anchors": anchors });
    let saved = agent.tool("memory_save", &saved);
    assert!(saved.contains(&format!("Stored, {missing}; {few}.\n")), "{saved}");
    assert!(!saved.contains("2-6"), "{saved}");

    let load = agent.tool("memory_load", &json!({}));
    for part in [
        "src/none.rs:1-4: no such file (code is gone)\n",
        "src/retry.rs:90-99: past the end (code is gone)\n",
        "src/retry.rs:2-6: backoff\n",
    ] {
        assert!(load.contains(part), "{part}: {load}");
    }
    let found = agent.tool("memory_search", &json!({ "query": "past the end" }));
    assert!(found.contains("past the end] (code is gone)"), "{found}");
    let one = agent.tool("memory_get", &json!({ "id": "a1" }));
    assert!(one.contains("(code is gone)"), "{one}");
    let added = Shell::new(&instance, project.path());
    let added = added.done(&["add", "anchor", "src/none.rs", "9", "still no such file"]);
    assert!(added.contains(&format!("Stored, {missing}.\n")), "{added}");
}

#[test]
fn lessons_and_blueprints_say_that_their_files_changed_since() {
    let instance = Instance::new();
    let project = Project::git();
    project.write("src/retry.rs", FUNCTION);
    project.write("src/random.rs", OTHER);
    let mut agent = Agent::with_all_tools(&instance, project.path());
    let files = ["src/retry.rs", "src/random.rs"];
    let told = json!({
        "session_summary": "retries",
        "lessons": [{ "summary": "Retries need jitter", "detail": "Or all retry at once.", "files": files }],
        "blueprints": [{
            "category": "architecture", "title": "Retries",
            "content": "Only `src/retry.rs` waits. Everything else asks it.",
        }],
    });
    agent.tool("memory_save", &told);
    let load = agent.tool("memory_load", &json!({}));
    assert!(!load.contains("changed since") && !load.contains("unchecked"), "{load}");

    project.write("src/retry.rs", OTHER);
    std::fs::remove_file(project.path().join("src/random.rs")).unwrap();
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("l2 Retries need jitter (2 files changed since)"), "{load}");
    assert!(load.contains("b1 [architecture] Retries (1 file changed since)"), "{load}");
    let found = agent.tool("memory_search", &json!({ "query": "jitter" }));
    assert!(found.contains("Retries need jitter (2 files changed since)"), "{found}");
    let lesson = agent.tool("memory_get", &json!({ "id": "l2" }));
    assert!(lesson.contains("(2 files changed since)"), "{lesson}");

    // Whoever says it again has seen the files as they are.
    agent.tool("memory_save", &told);
    let load = agent.tool("memory_load", &json!({}));
    assert!(load.contains("l2 Retries need jitter (1 file changed since)"), "{load}");
    assert!(!load.contains("Retries (1 file changed since)\n"), "{load}");
}

#[test]
fn verify_reports_each_state_fixes_what_moved_and_fails_for_the_rest() {
    let instance = Instance::new();
    let project = Project::git();
    let shell = Shell::new(&instance, project.path());
    let verify = |arguments: &[&str]| shell.said(&[&["anchors", "verify"], arguments].concat());
    assert_eq!(verify(&[]), (0, "no anchors\n".to_owned()));

    project.write("src/retry.rs", &format!("{FUNCTION}\n{OTHER}"));
    let add = |file: &str, lines: &str, concept: &str| {
        shell.done(&["add", "anchor", file, lines, concept]);
    };
    add("src/retry.rs", "1-6", "backoff");
    add("src/retry.rs", "8-11", "jitter");
    add("missing.rs", "1-2", "never seen");
    let (code, missing) = verify(&[]);
    assert_eq!(code, 1, "{missing}");
    assert!(missing.contains("a3  gone"), "{missing}");
    assert!(missing.contains("3 anchors: 2 fresh, 1 gone"), "{missing}");
    project.write("missing.rs", "one\ntwo\n");
    let right = "3 anchors: 2 fresh, 1 without a fingerprint\n".to_owned();
    assert_eq!(verify(&[]), (0, right));

    // The daemon does not move the anchors of a shared memory by itself.
    shell.done(&["init", "--shared", "--yes"]);
    project.write("src/retry.rs", &OTHER.replace("% 20", "% 30"));
    project.write("src/delay.rs", &format!("//! Delays.\n\n{FUNCTION}"));
    let (code, wrong) = verify(&[]);
    assert_eq!(code, 1, "{wrong}");
    for part in [
        "  ID  STATE         CODE              WAS                CONCEPT",
        "  a1  moved         src/delay.rs:3-8  src/retry.rs:1-6   backoff",
        "  a2  changed 25 %  src/retry.rs:1-4  src/retry.rs:8-11  jitter",
        "3 anchors: 1 moved, 1 changed, 1 without a fingerprint",
        "`anchord anchors verify --fix` moves those that moved",
    ] {
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
    let (code, fixed) = verify(&["--fix"]);
    assert_eq!(code, 1, "one is still changed: {fixed}");
    assert!(fixed.contains("a1  moved, fixed"), "{fixed}");
    let reply = shell.json(&["anchors", "verify"]);
    let states: Vec<&str> = (0..3)
        .map(|at| reply.pointer(&format!("/anchors/{at}/state")).unwrap().as_str().unwrap())
        .collect();
    assert_eq!(states, ["fresh", "changed", "no_fingerprint"]);

    project.write("src/retry.rs", "");
    let (_, gone) = verify(&[]);
    assert!(gone.contains("a2  gone"), "{gone}");
    assert!(gone.contains("src/retry.rs:8-11  jitter"), "{gone}");
    shell.done(&["forget", "a2"]);
    assert_eq!(verify(&[]).0, 0);
}
