//! What anchord's performance claims rest on: each number beside a floor measured in the same run, since
//! machines differ and ratios hold better than times.
//!
//! `cargo run --release -p anchord-benches` measures all and prints a Markdown table; arguments choose. The programs
//! are those that are shipped, run as agents run them.
//!
//! `retrieval` is for itself: it measures what is found, not how fast.

#![expect(clippy::print_stdout, reason = "printing the table is what it is for")]

mod compaction;
mod floor;
mod hooks;
mod logged;
mod memory;
mod notes;
mod rebuild;
mod retrieval;
mod round_trip;
mod shim_start;
mod table;
mod times;
mod tokens;
mod tools;
mod writes;

use anyhow::{Result, bail};
use table::Row;

/// A measurement and the name that chooses it.
type Bench = (&'static str, fn() -> Vec<Row>);

const BENCHES: &[Bench] = &[
    ("shim-start", shim_start::run),
    ("hooks", hooks::run),
    ("round-trip", round_trip::run),
    ("memory", memory::run),
    ("save", writes::save),
    ("throughput", writes::throughput),
    ("rebuild", rebuild::run),
    ("notes", notes::run),
    ("compaction", compaction::run),
    ("tokens", tokens::run),
    ("tools", tools::run),
];

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some((name, arguments)) = wanted.split_first()
        && name == "retrieval"
    {
        return retrieval::run(arguments);
    }
    let known = |name: &String| BENCHES.iter().any(|(bench, _)| bench == name);
    if let Some(unknown) = wanted.iter().find(|name| !known(name)) {
        let names: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
        bail!("unknown measurement {unknown:?}, allowed: {}", names.join(", "));
    }
    if cfg!(debug_assertions) {
        println!("Not a release build: the numbers say little.\n");
    }
    println!("{}", table::head());
    for (name, bench) in BENCHES {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            for row in bench() {
                println!("{row}");
            }
        }
    }
    Ok(())
}
