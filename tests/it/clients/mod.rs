//! Drives the real clients, headless, against a scripted model on loopback. Memory must work
//! without being asked for.
//!
//! The tests run with `ANCHORD_TEST_CLIENTS=1` where the clients are installed. Each client has a
//! home of its own, no account and no way out of loopback.

mod given;
mod machine;
mod model;
mod rules;

use std::process::Output;

use anchord_tests::{PATIENCE, poll};
use serde_json::json;
use uuid::Uuid;

use machine::{Client, Machine, Session, said};
use model::{Kind, Model, Step, Turn};

#[test]
fn the_first_request_of_a_run_has_what_the_previous_one_saved() {
    each_of(
        &Client::WITH_RULES,
        || {
            vec![
                Turn {
                    prompt: "Settle how we retry.",
                    steps: vec![
                        Step::Call(
                            "memory_save",
                            json!({"session_summary": "Retries are settled.", "blueprints": [{
                                "category": "decision", "title": "Five attempts with jitter",
                                "content": "A sixth one never helped in the logs."}]}),
                        ),
                        Step::Say("Settled."),
                    ],
                },
                Turn { prompt: "Go on with the queue.", steps: vec![Step::Say("Going on.")] },
            ]
        },
        |machine| {
            machine.run("Settle how we retry.", &new());
            machine.run("Go on with the queue.", &new());
            let asked = machine.model.about("Go on with the queue.");
            let first = &asked.first().expect("the model was asked").text;
            assert!(first.contains("Five attempts with jitter"), "{first}");
            assert!(first.contains("A sixth one never helped"), "{first}");
        },
    );
}

#[test]
fn a_run_without_tool_calls_leaves_its_row() {
    each(
        || {
            vec![
                Turn {
                    prompt: "Why does the upload test hang?",
                    steps: vec![Step::Say("Because port 8080 is taken by another test.")],
                },
                Turn { prompt: "And now?", steps: vec![Step::Say("Nothing.")] },
            ]
        },
        |machine| {
            machine.run("Why does the upload test hang?", &new());
            poll(PATIENCE, "the row is there", || {
                let listed = list(machine, "session");
                listed.contains("Why does the upload test hang?").then_some(())
            });
            machine.run("And now?", &new());
            let asked = machine.model.about("And now?");
            let first = &asked.first().expect("the model was asked").text;
            assert!(first.contains("Why does the upload test hang?"), "{first}");
            assert!(first.contains("port 8080 is taken"), "{first}");
        },
    );
}

#[test]
fn the_row_of_a_run_lists_its_activity() {
    let Some(program) = Client::ClaudeCode.program() else { return };
    let bash =
        |command: &str| Step::Own("Bash", json!({"command": command, "description": "as said"}));
    let script = vec![Turn {
        prompt: "Make it ready.",
        steps: vec![
            bash("cat ready.txt"),
            bash("echo yes > ready.txt"),
            bash("cat ready.txt"),
            Step::Say("It is ready."),
        ],
    }];
    let machine = Machine::new(Client::ClaudeCode, program, Model::start(script));
    machine.run("Make it ready.", &new());
    let row = poll(PATIENCE, "the row is there", || {
        let output = machine.anchord().args(["get", "s1"]).output().unwrap();
        output.status.success().then(|| said(&output))
    });
    assert!(row.contains("cat ready.txt"), "{row}");
}

#[test]
fn a_subagents_staged_work_is_kept_at_its_end_and_names_its_parent() {
    let Some(program) = Client::ClaudeCode.program() else { return };
    let script = vec![
        Turn {
            prompt: "Have somebody look at the loops.",
            steps: vec![
                Step::Call("memory_checkpoint", json!({"summary": "Somebody is looking."})),
                Step::Own(
                    "Agent",
                    json!({"description": "look", "prompt": "Find the hot loop.",
                        "subagent_type": "general-purpose"}),
                ),
                Step::Wait,
            ],
        },
        Turn {
            prompt: "Find the hot loop.",
            steps: vec![
                Step::Call(
                    "memory_checkpoint",
                    json!({"summary": "The scanner's loop is hot.", "lessons": [{
                        "summary": "Bounds checks in the scanner cost a third"}]}),
                ),
                Step::Say("It is the scanner's."),
            ],
        },
    ];
    let machine = Machine::new(Client::ClaudeCode, program, Model::start(script));
    let id = Uuid::new_v4().to_string();
    let running = machine.start("Have somebody look at the loops.", &Session::New(id.clone()));
    // The conversation is still running, so a row that is here by now is the subagent's.
    let listed = poll(PATIENCE, "the subagent's work is kept", || {
        let listed = list(&machine, "session");
        listed.contains("The scanner's loop is hot.").then_some(listed)
    });
    assert!(listed.contains(&format!("(subagent of claude-code:{id}, ended without")), "{listed}");
    assert!(!listed.contains("Somebody is looking."), "{listed}");
    machine.model.go_on();
    running.kill();
}

#[test]
fn a_compaction_keeps_the_topic_and_brings_it_back() {
    each(
        || {
            vec![Turn {
                prompt: "Move the uploads to streams.",
                steps: vec![
                    Step::CallAndFill(
                        "memory_checkpoint",
                        json!({"topic": {"name": "uploads", "status": "The reader streams, the writer does not yet."}}),
                    ),
                    Step::Say("Half done."),
                ],
            }]
        },
        |machine| {
            machine.run("Move the uploads to streams.", &new());
            let asked = machine.model.asked();
            let at = asked.iter().position(|asked| asked.kind == Kind::Summary);
            let at = at.expect("the client compacted");
            let after: Vec<&str> = asked
                .iter()
                .skip(at + 1)
                .filter(|asked| asked.kind == Kind::Answer)
                .map(|asked| asked.text.as_str())
                .collect();
            let last = after.last().expect("the client went on after the compaction");
            assert!(last.contains("The reader streams, the writer does not yet."), "{last}");
        },
    );
}

#[test]
fn two_sessions_at_once_see_each_others_change() {
    each(
        || {
            vec![
                Turn {
                    prompt: "Settle the naming.",
                    steps: vec![
                        Step::Call(
                            "memory_save",
                            json!({"session_summary": "Names are settled.", "blueprints": [{
                                "category": "decision", "title": "Tables have plural names",
                                "content": "The generator expects it."}]}),
                        ),
                        Step::CallWhenTold("memory_search", json!({"query": "migration"})),
                        Step::Say("Settled."),
                    ],
                },
                Turn {
                    prompt: "Write the migration.",
                    steps: vec![
                        Step::Call(
                            "memory_save",
                            json!({"session_summary": "The migration is written.", "lessons": [{
                                "summary": "A migration without a way back locks the table for good"}]}),
                        ),
                        Step::Say("Written."),
                    ],
                },
            ]
        },
        |machine| {
            let about = |prompt: &str, count: usize| {
                poll(PATIENCE, "the model is asked", || {
                    machine.model.about(prompt).get(count - 1).map(|asked| asked.text.clone())
                })
            };
            let first = machine.start("Settle the naming.", &new());
            // It has saved, and waits in the middle of its turn while another session comes and
            // goes.
            about("Settle the naming.", 2);
            machine.run("Write the migration.", &new());
            let asked = about("Write the migration.", 1);
            assert!(asked.contains("Tables have plural names"), "{asked}");
            machine.model.go_on();
            let found = about("Settle the naming.", 3);
            assert!(found.contains("A migration without a way back locks"), "{found}");
            first.wait();
        },
    );
}

#[test]
fn the_next_prompt_shows_what_another_session_changed() {
    each(
        || {
            vec![
                Turn { prompt: "Watch the schema.", steps: vec![Step::Say("Watching.")] },
                Turn {
                    prompt: "Change the schema.",
                    steps: vec![
                        Step::Call(
                            "memory_save",
                            json!({"session_summary": "The schema has a new column.", "lessons": [{
                                "summary": "A new column needs a default, or old rows fail to load"}]}),
                        ),
                        Step::Say("Changed."),
                    ],
                },
                Turn { prompt: "What is new?", steps: vec![Step::Say("I see.")] },
            ]
        },
        |machine| {
            let first = machine.run("Watch the schema.", &new());
            let watcher = Machine::session_of(&first);
            machine.run("Change the schema.", &new());
            machine.run("What is new?", &Session::Again(watcher));
            let asked = machine.model.about("What is new?");
            let first = &asked.first().expect("the model was asked").text;
            assert!(first.contains("A new column needs a default"), "{first}");
        },
    );
}

#[test]
fn a_client_that_is_killed_loses_nothing_staged() {
    each(
        || {
            vec![
                Turn {
                    prompt: "Find the slow query.",
                    steps: vec![
                        Step::Call(
                            "memory_checkpoint",
                            json!({"lessons": [{"summary": "The orders query is slow without the index on state"}]}),
                        ),
                        Step::Wait,
                    ],
                },
                Turn { prompt: "Who was here before?", steps: vec![Step::Say("Somebody.")] },
            ]
        },
        |machine| {
            let killed = machine.start("Find the slow query.", &new());
            poll(PATIENCE, "the checkpoint is answered", || {
                (machine.model.about("Find the slow query.").len() > 1).then_some(())
            });
            killed.kill();
            machine.model.go_on();
            poll(PATIENCE, "what was staged is kept", || {
                list(machine, "lesson").contains("slow without the index").then_some(())
            });
            machine.run("Who was here before?", &new());
            let asked = machine.model.about("Who was here before?");
            let first = &asked.first().expect("the model was asked").text;
            assert!(first.contains("The orders query is slow without the index"), "{first}");
        },
    );
}

#[test]
fn two_conversations_in_one_gateway_keep_their_calls_apart() {
    let Some(program) = Client::OpenClaw.program() else { return };
    let call = |name: &str| {
        // Everything but the name is the same in both conversations.
        let topic = json!({"name": name, "status": "half way"});
        Step::CallWhenTold("memory_checkpoint", json!({"summary": "half way", "topic": topic}))
    };
    let turn = |prompt, name| Turn { prompt, steps: vec![call(name), Step::Say("Saved.")] };
    let script = vec![turn("Work on the reader.", "reader"), turn("Work on the writer.", "writer")];
    let machine = Machine::new(Client::OpenClaw, program, Model::start(script));
    let _gateway = machine.gateway();
    let session = |id: &str| Session::New(id.to_owned());
    let one = machine.start("Work on the reader.", &session("one"));
    let two = machine.start("Work on the writer.", &session("two"));
    // Both are in the middle of their turn when the first call comes.
    poll(2 * PATIENCE, "both conversations ask the model", || {
        let asked = |prompt| !machine.model.about(prompt).is_empty();
        (asked("Work on the reader.") && asked("Work on the writer.")).then_some(())
    });
    machine.model.go_on();
    one.wait();
    two.wait();
    let output = machine.anchord().args(["export", "--format", "json"]).output().unwrap();
    let export: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let bound = json!({"openclaw:agent:main:one": "reader", "openclaw:agent:main:two": "writer"});
    assert_eq!(export.get("bindings"), Some(&bound), "{}", said(&output));
    let given = |prompt| {
        machine
            .model
            .asked()
            .iter()
            .any(|it| it.prompt == prompt && it.text.contains("anchord_conversation"))
    };
    assert!(!given("Work on the reader."), "the model does not see how calls are told apart");
}

/// Runs a test with Claude Code and Codex, where they are installed.
fn each(script: fn() -> Vec<Turn>, test: fn(&Machine)) {
    each_of(&[Client::ClaudeCode, Client::Codex], script, test);
}

/// Runs a test with each of these clients that is installed.
fn each_of(clients: &[Client], script: fn() -> Vec<Turn>, test: fn(&Machine)) {
    for client in clients.iter().copied() {
        let Some(program) = client.program() else { continue };
        let machine = Machine::new(client, program, Model::start(script()));
        test(&machine);
    }
}

fn new() -> Session {
    Session::New(Uuid::new_v4().to_string())
}

fn list(machine: &Machine, kind: &str) -> String {
    let output: Output = machine.anchord().args(["list", "--kind", kind]).output().unwrap();
    said(&output)
}
