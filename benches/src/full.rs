//! A project at its limits: as much of every kind as it may hold. Checks what the daemon still
//! accepts, and whether an agent's start still gets its load.
//!
//! Sessions fill it through their shims until a write is refused, one kind after the other. The
//! records are few and large, so that bytes fill the memory. Before that, several sessions stage as
//! much as another project allows. Finally the daemon restarts on all of that.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anchord_tests::{Agent, Instance, Project, process, shipped};
use anyhow::{Result, bail};
use serde_json::{Value, json};

/// Text of one call, below what a line of the socket may have.
const CALL_BYTES: usize = 800_000;
/// Sessions that stage until they are refused.
const STAGING: usize = 8;
/// Calls after which a session saves, so that what it has staged never meets its own limit.
const CALLS_A_SAVE: usize = 4;
/// Time that the daemon has for what it does by itself after the last write.
const SETTLE: Duration = Duration::from_secs(15);

/// Makes the arguments of the numbered write of one kind.
type Make = fn(&mut Words, usize) -> Value;

/// Fills a project and prints a row for each kind.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(unknown) = arguments.first() {
        bail!("`full` has no argument {unknown}");
    }
    if cfg!(debug_assertions) {
        println!("Not a release build: this takes long, and the times say little.\n");
    }
    println!(
        "| filled up with | writes | took | memory of the daemon, resident | of that anonymous |"
    );
    println!("| --- | --- | --- | --- | --- |");
    let (instance, project) = (Instance::shipped(), Project::git());
    instance.start_daemon();
    let mut agent = Agent::with_all_tools(&instance, project.path());
    row(&instance, "nothing", 0, Duration::ZERO);
    let mut words = Words(1);
    // In a project of its own: what is staged counts against the same limits as what is saved.
    let staging = stage(&instance, &mut words);
    // A budget would archive notes, which count as well.
    agent.tool("memory_configure", &json!({ "budget_tokens": 100_000_000 }));
    let kinds: [(&str, Make); 4] = [
        ("blueprints", blueprints),
        ("lessons", lessons),
        ("anchors", anchors),
        ("topics", topics),
    ];
    for (kind, part) in kinds {
        let begin = Instant::now();
        let mut calls = 0;
        while takes(&mut agent, "memory_checkpoint", &part(&mut words, calls)) {
            calls += 1;
            if calls % CALLS_A_SAVE == 0 {
                agent.tool("memory_save", &json!({ "session_summary": kind }));
            }
        }
        agent.tool("memory_save", &json!({ "session_summary": kind }));
        row(&instance, kind, calls, begin.elapsed());
    }
    let begin = Instant::now();
    let mut rows = 0;
    loop {
        let mut session = Agent::open(&instance, project.path());
        let summary = words.text(250_000);
        if !takes(&mut session, "memory_save", &json!({ "session_summary": summary })) {
            break;
        }
        rows += 1;
    }
    row(&instance, "session rows", rows, begin.elapsed());
    let begin = Instant::now();
    let mut notes = 0;
    while takes(&mut agent, "memory_note", &json!({ "content": words.text(1_000_000) })) {
        notes += 1;
    }
    row(&instance, "notes", notes, begin.elapsed());
    let begin = Instant::now();
    agent.tool("memory_search", &json!({ "query": words.text(40) }));
    row(&instance, "(a search)", 0, begin.elapsed());
    thread::sleep(SETTLE);
    row(&instance, "(after 15 s)", 0, SETTLE);
    start(&instance, &project, "a start");
    let daemon = instance.daemon_pid().expect("it runs");
    drop((staging, agent));
    assert!(instance.anchord().arg("stop").status()?.success(), "the daemon stops when asked to");
    instance.wait_gone(daemon);
    instance.start_daemon();
    let begin = Instant::now();
    start(&instance, &project, "the first start after a new daemon's");
    let mut reader = Agent::open(&instance, project.path());
    reader.tool("memory_status", &json!({}));
    row(&instance, "(open again)", 0, begin.elapsed());
    start(&instance, &project, "the next one");
    thread::sleep(SETTLE);
    row(&instance, "(after 15 s)", 0, SETTLE);
    Ok(())
}

/// Stages in several sessions until each is refused.
fn stage(instance: &Instance, words: &mut Words) -> (Project, Vec<Agent>) {
    let begin = Instant::now();
    let project = Project::git();
    let mut staged = 0;
    let mut session = || {
        let mut agent = Agent::open(instance, project.path());
        while takes(&mut agent, "memory_checkpoint", &lessons(words, staged)) {
            staged += 1;
        }
        agent
    };
    let agents: Vec<Agent> = (0..STAGING).map(|_| session()).collect();
    row(instance, "staged work", staged, begin.elapsed());
    (project, agents)
}

/// Whether a call succeeds. One that is refused says why on stderr.
fn takes(agent: &mut Agent, tool: &str, arguments: &Value) -> bool {
    let reply = agent.call(tool, arguments);
    match reply {
        Ok(reply) if !reply.is_error && !reply.text.starts_with("0 notes stored") => true,
        refused => {
            let why = refused.map_or_else(|error| error.message, |reply| reply.text);
            let _ = writeln!(
                std::io::stderr(),
                "{tool}: {}",
                why.chars().take(300).collect::<String>()
            );
            false
        }
    }
}

/// Prints what the daemon takes now.
fn row(instance: &Instance, what: &str, writes: usize, took: Duration) {
    let daemon = instance.daemon_pid().expect("it runs");
    let memory = process::memory(daemon).unwrap_or_default();
    let megabytes = |bytes: u64| format!("{} MB", bytes / 1_000_000);
    println!(
        "| {what} | {writes} | {:.1} s | {} | {} |",
        took.as_secs_f64(),
        megabytes(memory.resident),
        megabytes(memory.anonymous)
    );
}

/// Gives a start hook its event, as an agent does, and prints what came of it.
fn start(instance: &Instance, project: &Project, which: &str) {
    let event = json!({"hook_event_name": "SessionStart", "session_id": which,
        "source": "startup", "cwd": project.path()});
    let mut hook = instance.command(&shipped().anchord_hook);
    hook.arg("claude-code").current_dir(project.path());
    hook.stdin(Stdio::piped()).stdout(Stdio::piped());
    let begin = Instant::now();
    let mut hook = hook.spawn().expect("the hook was built");
    let mut stdin = hook.stdin.take().expect("stdin is piped");
    stdin.write_all(event.to_string().as_bytes()).expect("the hook reads");
    drop(stdin);
    let output = hook.wait_with_output().expect("the hook is ours");
    let mut what = String::new();
    let _ = write!(what, "(hook of {which}: {} bytes given)", output.stdout.len());
    row(instance, &what, 0, begin.elapsed());
}

fn blueprints(words: &mut Words, call: usize) -> Value {
    let items: Vec<Value> = (0..4)
        .map(|item| {
            json!({"category": "decision", "title": format!("decision {call} {item}"),
                "content": words.text(CALL_BYTES / 4)})
        })
        .collect();
    json!({ "blueprints": items })
}

fn lessons(words: &mut Words, call: usize) -> Value {
    let items: Vec<Value> = (0..4)
        .map(|item| {
            json!({"summary": format!("lesson{call}x{item} was learned"),
                "detail": words.text(CALL_BYTES / 4)})
        })
        .collect();
    json!({ "lessons": items })
}

fn anchors(words: &mut Words, call: usize) -> Value {
    let items: Vec<Value> = (0..200)
        .map(|item| {
            json!({"file": format!("src/m{call}/f{item}.rs"), "lines": "1-20",
                "concept": words.text(900)})
        })
        .collect();
    json!({ "anchors": items })
}

fn topics(words: &mut Words, call: usize) -> Value {
    let decisions: Vec<Value> = (0..20)
        .map(|item| json!({"question": format!("question {item}"), "decision": words.text(900)}))
        .collect();
    let (name, status) = (format!("topic {call}"), words.text(3_900));
    json!({ "topic": {"name": name, "status": status, "decisions": decisions} })
}

/// Text of words, some of which are in many texts and most in few.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        // Knuth's MMIX generator.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes);
        loop {
            let (one, other) = (self.next() % 20_000, self.next() % 20_000);
            let word = format!("word{} ", one.min(other));
            if text.len() + word.len() > bytes {
                return text;
            }
            text.push_str(&word);
        }
    }
}
