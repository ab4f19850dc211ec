//! A project whose index is gone: the time from the daemon's start to the first reply from memory.

use std::io::BufRead;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anchord_tests::{Agent, Instance, Project, walk, write};
use serde_json::{Value, json};

use crate::table::Row;
use crate::times::show;

const RECORDS: usize = 100_000;
const BATCH: usize = 200;

pub(crate) fn run() -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    let mut agent = Agent::open(&instance, project.path());
    for batch in 0..RECORDS / BATCH {
        let blueprints: Vec<Value> = (0..BATCH)
            .map(|number| {
                let title = format!("record {}", batch * BATCH + number);
                write::blueprint(&title, "Two lines of text, as records often have.\nThe second.")
            })
            .collect();
        let save = json!({"session_summary": "fills the project", "blueprints": blueprints});
        agent.tool("memory_save", &save);
    }
    drop(agent);
    instance.kill9();
    for index in folders_named(&instance, "sled") {
        std::fs::remove_dir_all(index).expect("the daemon is gone");
    }
    let start = Instant::now();
    let mut agent = Agent::open(&instance, project.path());
    let status = agent.tool("memory_status", &json!({}));
    let took = start.elapsed();
    assert!(status.contains("100000") || status.contains("100,000"), "{status}");
    vec![Row {
        what: "first reply with the index of 100,000 records gone".to_owned(),
        measured: show(took),
        floor: format!("{} (journal read and parsed)", show(read_journals(&instance))),
        target: "≤ 10 s",
    }]
}

fn read_journals(instance: &Instance) -> Duration {
    let start = Instant::now();
    for folder in folders_named(instance, "journal") {
        walk(&folder, &mut |path| {
            let file = std::fs::File::open(path).expect("a journal can be read");
            for line in std::io::BufReader::new(file).lines() {
                let line = line.expect("a journal is text");
                serde_json::from_str::<Value>(&line).expect("a journal's line is JSON");
            }
        });
    }
    start.elapsed()
}

/// Returns the folders of one part of a store, in every project and in the daemon's own store.
fn folders_named(instance: &Instance, name: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    walk(&instance.home(), &mut |path| {
        folders.extend(
            path.ancestors().skip(1).find(|folder| folder.ends_with(name)).map(PathBuf::from),
        );
    });
    folders.sort();
    folders.dedup();
    folders
}
