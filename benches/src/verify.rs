//! A check of many anchors, as `anchord anchors verify` waits for it.

use std::fmt::Write as _;

use anchord_tests::{Agent, Instance, Project, Shell};
use serde_json::{Value, json};

use crate::table::Row;
use crate::times::Times;

/// Files with code, and anchors in each, one for each function.
const FILES: usize = 200;
const ANCHORS: usize = 5;

/// Anchors that one save stores.
const SAVED: usize = 100;

/// Runs of the command.
const RUNS: usize = 50;

/// Lines of a function, with the blank one after it.
const LINES: usize = 8;

pub(crate) fn run() -> Vec<Row> {
    let instance = Instance::shipped();
    let (many, one) = (Project::git(), Project::git());
    let write = |version: usize| {
        for file in 0..FILES {
            many.write(&name(file), &format!("{}// {version}\n", code(file)));
        }
    };
    write(0);
    one.write(&name(0), &code(0));
    let all: Vec<Value> = (0..FILES)
        .flat_map(|file| (0..ANCHORS).map(move |function| anchor(file, function)))
        .collect();
    let first: Vec<Value> = all.iter().take(1).cloned().collect();
    for (project, anchors) in [(&many, &all), (&one, &first)] {
        let mut agent = Agent::with_all_tools(&instance, project.path());
        for part in anchors.chunks(SAVED) {
            agent.tool("memory_save", &json!({ "session_summary": "code", "anchors": part }));
        }
    }
    let verified = |project: &Project, count: &str| {
        let said = Shell::new(&instance, project.path()).done(&["anchors", "verify"]);
        assert_eq!(said.trim(), count);
    };
    let count = format!("{} anchors: {0} fresh", FILES * ANCHORS);
    verified(&many, &count);
    verified(&one, "1 anchor: fresh");
    let floor = Times::of(RUNS, |_| verified(&one, "1 anchor: fresh"));
    let warm = Times::of(RUNS, |_| verified(&many, &count));
    let written = Times::measured(RUNS / 5, |version| {
        write(version + 1);
        let start = std::time::Instant::now();
        verified(&many, &count);
        start.elapsed()
    });
    let row = |what: &str, measured: &Times, target: &'static str| Row {
        what: format!("`anchord anchors verify` of {} anchors, {what}", FILES * ANCHORS),
        measured: measured.to_string(),
        floor: format!("{floor} (the same of one anchor)"),
        target,
    };
    vec![
        row("nothing written since", &warm, "≤ 50 ms"),
        row("every file written since", &written, ""),
    ]
}

fn name(file: usize) -> String {
    format!("src/part_{}/file_{file}.rs", file % 20)
}

fn code(file: usize) -> String {
    let mut text = String::new();
    for function in 0..ANCHORS {
        let _ = writeln!(
            text,
            "/// Function {function} of file {file}.\n\
             fn function_{file}_{function}(value: u64) -> u64 {{\n    \
             let base = value * {file} + {function};\n    \
             let next = base.rotate_left({function});\n    \
             let sum_{file} = next + base;\n    \
             sum_{file} - value\n}}\n"
        );
    }
    text
}

fn anchor(file: usize, function: usize) -> Value {
    let first = function * LINES + 1;
    let lines = format!("{first}-{}", first + LINES - 2);
    json!({ "file": name(file), "lines": lines, "concept": format!("{function} of {file}") })
}
