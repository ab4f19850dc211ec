//! Checks the texts that an agent gets: at its start, at a prompt, at an action, after a compaction
//! and when it is resumed. The snapshots show them verbatim as in the model's requests, with the
//! client's text around them.

use std::fmt::Write as _;
use std::path::PathBuf;

use anchord_tests::{PATIENCE, poll};
use serde_json::json;

use super::machine::{Client, Machine, Session, said};
use super::model::{Asked, Kind, Model, Step, Turn};
use super::new;

/// The start and the end of a text from anchord.
const FRAME: (&str, &str) = ("<anchord-memory", "</anchord-memory>");
/// The beginning of the sentence before the frame, in a text that a compaction must keep.
const KEEP: &str = "Keep these in the summary";

const FIX: &str = "Make the client try five times before it gives up.";
const TASK: &str = "Find out why the queue test is flaky on slow machines.";
const RELEASE: &str = "Release the new version to the customers today.";

const QUEUE: &str =
    "pub struct Queue;\n\nimpl Queue {\n    pub fn retry(&self) -> u32 {\n        3\n    }\n}\n";
const STORE: &str =
    "pub fn replace(from: &str, to: &str) {\n    std::fs::rename(from, to).unwrap();\n}\n";

/// Records of earlier work, as arguments for the commands that store them.
const RECORDS: [&[&str]; 10] = [
    &[
        "note",
        "cargo nextest run -p uploader --features fake-clock; without the feature the timing tests sleep for a minute \
         each. One test: add its name at the end.",
        "--key",
        "test.command",
    ],
    &[
        "note",
        "Releases go out from Tuesday to Thursday, from the release branch alone: tag it vX.Y.Z, wait for the signed \
         build, then run scripts/release.sh with the tag. It asks for the code of whoever is on call.",
        "--key",
        "release.steps",
    ],
    &["note", "Never push to main. Open a pull request, also for a typing error.", "--pin"],
    &[
        "note",
        "The customer in Lyon still runs version 1.4 of the agent behind a proxy that cuts requests after 30 s. Ask \
         Inès before anything changes about chunk sizes; she has their test account and knows whom to call there.",
        "--tag",
        "customers",
    ],
    &[
        "add",
        "blueprint",
        "Uploads resume at the last acknowledged chunk",
        "The server names the last chunk it has on disk; the client never trusts its own counter, since it survived a \
         crash that the data did not. A chunk is 4 MiB and numbered from 0.",
        "--category",
        "decision",
    ],
    &[
        "add",
        "blueprint",
        "Errors are one enum per module",
        "Named after what the caller will do: Busy, Rejected, Corrupt. No anyhow outside of main.rs. Messages are \
         fragments without a capital letter that fit after \"failed to\".",
        "--category",
        "convention",
    ],
    &[
        "add",
        "lesson",
        "The queue test is flaky because its retries read the wall clock",
        "Queue::retry took Instant::now() and a slow machine skipped an attempt. Pass the clock in, as the scheduler \
         does; raising the timeout only hid it for a month.",
        "--file",
        "src/queue.rs",
    ],
    &[
        "add",
        "lesson",
        "Rename over an open file fails on Windows",
        "Close the reader first, then rename, then sync the folder. CI on Linux never shows it; the Windows runner is \
         nightly only.",
        "--file",
        "src/store.rs",
    ],
    &["add", "anchor", "src/queue.rs", "3-7", "Queue::retry: how often an upload is tried again"],
    &[
        "note",
        "The changelog is written for operators: what changes for them and what they have to do, not how it was \
         built. Entries are sorted by how much work they make.",
    ],
];

#[test]
fn claude_code_is_given_what_memory_has_word_for_word() {
    let file = |name: &str| json!({"file_path": name});
    let edit = |name: &str, from: &str, to: &str| json!({"file_path": name, "old_string": from, "new_string": to});
    let steps = vec![
        Step::Own("Read", file("src/queue.rs")),
        Step::Own("Edit", edit("src/queue.rs", "        3", "        5")),
        Step::Own("Read", file("src/store.rs")),
        Step::Own("Edit", edit("src/store.rs", ".unwrap()", ".ok()")),
        checkpoint(),
        Step::Own("Read", file("src/store.rs")),
        Step::Say("Five times it is; the store is half done."),
    ];
    let Some(program) = Client::ClaudeCode.program() else { return };
    insta::assert_snapshot!(given(Client::ClaudeCode, program, steps));
}

#[test]
fn codex_is_given_what_memory_has_word_for_word() {
    let shell = |command: &str| Step::Own("exec_command", json!({"cmd": command}));
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/store.rs\n@@\n-    std::fs::rename(from, \
                 to).unwrap();\n+    std::fs::rename(from, to).ok();\n*** End Patch\nEOF\n";
    let steps = vec![
        shell("sed -n 1,80p src/queue.rs"),
        shell("cat src/queue.rs"),
        shell(patch),
        checkpoint(),
        shell("cat src/store.rs"),
        Step::Say("Five times it is; the store is half done."),
    ];
    let Some(program) = Client::Codex.program() else { return };
    insta::assert_snapshot!(given(Client::Codex, program, steps));
}

#[test]
fn a_subagent_is_given_records_about_its_task() {
    let Some(program) = Client::ClaudeCode.program() else { return };
    let script = vec![
        Turn {
            prompt: "Have somebody look at it.",
            steps: vec![
                Step::Own(
                    "Agent",
                    json!({"description": "look", "prompt": TASK, "subagent_type": "general-purpose"}),
                ),
                Step::Wait,
            ],
        },
        Turn { prompt: TASK, steps: vec![Step::Say("It reads the clock.")] },
    ];
    let machine = machine(Client::ClaudeCode, program, script);
    let running = machine.start("Have somebody look at it.", &new());
    let first = poll(PATIENCE, "the subagent asks", || machine.model.about(TASK).first().cloned());
    assert!(first.text.contains("Pass the clock in, as the scheduler does"), "{}", first.text);
    machine.model.go_on();
    running.kill();
}

/// Returns the step in which the agent stages its work. The context is full after it.
fn checkpoint() -> Step {
    Step::CallAndFill(
        "memory_checkpoint",
        json!({"summary": "The queue takes its clock as an argument; the store does not yet close its reader.",
            "lessons": [{"summary": "The fake clock starts at 0, so a deadline before it never comes", "files": ["src/queue.rs"]}]}),
    )
}

/// Creates a machine with records in memory. A load has little room there, which leaves more for
/// prompts and actions.
fn machine(client: Client, program: PathBuf, script: Vec<Turn>) -> Machine {
    let machine = Machine::new(client, program, Model::start(script));
    machine.configure("[memory]\nload_tokens = 600\n");
    machine.project.write("src/queue.rs", QUEUE);
    machine.project.write("src/store.rs", STORE);
    for record in RECORDS {
        let output = machine.anchord().args(record).output().unwrap();
        assert!(output.status.success(), "{record:?}: {}", said(&output));
    }
    machine
}

/// Runs the steps in a conversation, resumes it afterwards, and returns what anchord added to each
/// request.
fn given(client: Client, program: PathBuf, steps: Vec<Step>) -> String {
    let script = vec![
        Turn { prompt: FIX, steps },
        Turn { prompt: RELEASE, steps: vec![Step::Say("It is Tuesday.")] },
    ];
    let machine = machine(client, program, script);
    let first = machine.run(FIX, &new());
    let id = Machine::session_of(&first);
    machine.run(RELEASE, &Session::Again(id.clone()));
    let text = told(&machine.model.asked());
    let project = machine.project.path().to_string_lossy().into_owned();
    let name = machine.project.path().file_name().unwrap().to_string_lossy().into_owned();
    let text = text.replace(&project, "[project]").replace(&name, "[project]").replace(&id, "[id]");
    normalised(&text)
}

/// Lists anchord's texts in each request: a new text in full, a repeated one by its first line.
/// Leaves out a request with the same texts as the one before it.
fn told(asked: &[Asked]) -> String {
    let mut known: Vec<String> = Vec::new();
    let (mut before, mut told) = (None, String::new());
    for asked in asked.iter().filter(|asked| asked.kind != Kind::Aside) {
        let given = frames(&asked.text);
        if before.as_ref() == Some(&given) {
            continue;
        }
        let name = if asked.kind == Kind::Summary { "a summary" } else { "an answer" };
        writeln!(told, "=== asked for {name}").unwrap();
        for text in &given {
            if known.contains(text) {
                let begins = text.split_once(FRAME.0).and_then(|(_, text)| text.lines().nth(1));
                writeln!(told, "as before: {}", begins.unwrap_or_default()).unwrap();
            } else {
                writeln!(told, "{text}").unwrap();
                known.push(text.clone());
            }
        }
        before = Some(given);
    }
    told
}

/// Returns anchord's texts in a request, each with the whole line in which it begins.
fn frames(text: &str) -> Vec<String> {
    let mut frames = Vec::new();
    let mut open: Option<Vec<&str>> = None;
    let mut keep = None;
    for line in text.lines() {
        if line.contains(FRAME.0) {
            open = Some(keep.take().into_iter().collect());
        }
        if line.contains(KEEP) {
            keep = Some(line);
        }
        let Some(lines) = &mut open else { continue };
        lines.push(line);
        if line.contains(FRAME.1) {
            frames.extend(open.take().map(|lines| lines.join("\n")));
        }
    }
    frames
}

/// Replaces the parts that differ between runs: days, versions, and topics that are named after a
/// day.
fn normalised(text: &str) -> String {
    let text = text.replace(env!("CARGO_PKG_VERSION"), "[version]");
    let mut words = String::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    for part in text.split_inclusive(|c: char| !is_word(c)) {
        let word = part.trim_end_matches(|c: char| !is_word(c));
        words.push_str(&part.replacen(word, normal(word).unwrap_or(word), 1));
    }
    words
}

/// Returns the placeholder for a word that differs in each run: a day, or a topic named after one.
fn normal(word: &str) -> Option<&'static str> {
    let is_day = |word: &str| {
        let shape: String =
            word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        shape == "0000-00-00"
    };
    let topic = word.strip_prefix("session-").and_then(|rest| rest.get(..10));
    if topic.is_some_and(is_day) { Some("[topic]") } else { is_day(word).then_some("[day]") }
}
