//! Measurements behind anchord's performance claims. Each number has a floor from the same run next
//! to it, since machines differ and ratios are more stable than times.
//!
//! `cargo run --release -p anchord-benches` runs all of them and prints a Markdown table. Arguments
//! select some of them; `--help` lists them. The programs are the shipped ones, run as agents run
//! them.
//!
//! `retrieval` and `given` are separate: they measure what is found and given rather than speed. So
//! are `age` and `full`, which take long, and `team`, which needs PostgreSQL.

#![expect(clippy::print_stdout, reason = "printing the table is what it is for")]

mod age;
mod anchors;
mod client;
mod compaction;
mod floor;
mod full;
mod given;
mod history;
mod hooks;
mod logged;
mod memory;
mod notes;
mod outlines;
mod rebuild;
mod retrieval;
mod round_trip;
mod secrets;
mod shim_start;
mod steady;
mod table;
mod team;
mod times;
mod tokens;
mod tools;
mod verify;
mod writes;

use anyhow::{Result, bail};
use table::Row;

/// A measurement: its name, its description, and the function that runs it.
type Bench = (&'static str, &'static str, fn() -> Vec<Row>);

const BENCHES: &[Bench] = &[
    ("shim-start", "a shim from its start to its reply to `initialize`", shim_start::run),
    ("hooks", "a hook from its start to its end, as an agent waits for it", hooks::run),
    ("round-trip", "a request and its reply, with a shim and without", round_trip::run),
    ("memory", "what each session costs in memory of its own", memory::run),
    ("save", "a save that is on disk when it is answered", writes::save),
    ("throughput", "checkpoints a second, of several sessions at once", writes::throughput),
    ("rebuild", "the first reply of a project whose index is gone", rebuild::run),
    ("notes", "notes stored and found while more and more are kept", notes::run),
    (
        "steady",
        "sessions that note and search in a project at its budget, and in one without",
        steady::run,
    ),
    ("compaction", "planning and applying the largest compaction there is", compaction::run),
    ("history", "history, rollback and restore in a project of 10,000 commits", history::run),
    ("tokens", "token counts against the tokenizer: their error and speed", tokens::run),
    ("secrets", "searching notes, Markdown and source for secrets", secrets::run),
    ("outlines", "the outline of a file of 5,000 lines, cold and cached", outlines::run),
    ("verify", "checking 1,000 anchors, in a tree as it was and in one written again", verify::run),
    ("tools", "what the tools' definitions cost an agent in tokens", tools::run),
];

/// A measurement that runs on its own: its name, its description, and the function that runs it
/// with its arguments.
type Alone = (&'static str, &'static str, fn(&[String]) -> Result<()>);

/// Measurements that run on their own, because they take long or measure what is found and given.
const ALONE: [Alone; 7] = [
    (
        "anchors",
        "anchors after many commits of a git repository; alone, with --history DIR [--seed N] \
         [--anchors N] [--wrong]",
        anchors::run,
    ),
    (
        "ctags",
        "outlines against universal-ctags; alone, with DIRECTORY... [--missing]",
        outlines::against_ctags,
    ),
    (
        "retrieval",
        "how well a search finds; alone, with [--file PATH] [--sweep], [--records] or [--commits REPOSITORY \
         [--questions FILE]]",
        retrieval::run,
    ),
    (
        "given",
        "what an agent is given; alone, with [--set NAME] [--size N] [--missed] [--texts]",
        given::run,
    ),
    (
        "age",
        "size, open time and load time of a project over the years; alone, with [--years N] \
         [--sessions N] [--dir PATH]; short: --years 1 --sessions 3",
        age::run,
    ),
    (
        "full",
        "the daemon's memory with every kind of record and staged work at its limit; alone, takes \
         minutes",
        full::run,
    ),
    (
        "team",
        "a memory that a team shares, on a PostgreSQL server of its own; alone, with [--records N] \
         or [--only PART]: writes, seen, projects or open",
        team::run,
    ),
];

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.iter().any(|word| matches!(word.as_str(), "--help" | "-h")) {
        print!("{}", help());
        return Ok(());
    }
    if let Some((name, arguments)) = wanted.split_first()
        && let Some((.., run)) = ALONE.iter().find(|(alone, ..)| alone == name)
    {
        return run(arguments);
    }
    let known = |name: &String| BENCHES.iter().any(|(bench, ..)| bench == name);
    if let Some(unknown) = wanted.iter().find(|name| !known(name)) {
        bail!("unknown measurement {unknown:?}\n\n{}", help());
    }
    if cfg!(debug_assertions) {
        println!("Not a release build: the numbers say little.\n");
    }
    println!("{}", table::head());
    for (name, _, bench) in BENCHES {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            for row in bench() {
                println!("{row}");
            }
        }
    }
    Ok(())
}

/// Returns the list of measurements, one line each.
fn help() -> String {
    let benches = BENCHES.iter().map(|(name, what, _)| (*name, *what));
    let lines: Vec<String> = benches
        .chain(ALONE.map(|(name, what, _)| (name, what)))
        .map(|(name, what)| format!("  {name:<12} {what}\n"))
        .collect();
    format!(
        "Usage: cargo run --release -p anchord-benches -- [MEASUREMENT]...\n\n\
         Measures all but the last seven, or those that are named, and prints a Markdown \
         table:\n{}",
        lines.concat()
    )
}
