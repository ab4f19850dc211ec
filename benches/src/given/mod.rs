//! Measures the context that an agent gets: at its start, at a prompt, at an action, after a
//! compaction.
//!
//! `given` stores a made-up project's memory and plays conversations against the real hook and the
//! real daemon. It looks for the fact that each prompt, action or compaction needs in the text that
//! the model would get. It also counts records that are given when nothing is needed.
//!
//! `--set siege` measures the set that is held back while constants are chosen, and `--file PATH`
//! any other set. `--size N` measures one size only. `--missed` lists facts that were not given and
//! records given in vain. `--texts` prints the given texts.

mod conversation;
mod dataset;
mod filler;
mod measure;

use std::path::PathBuf;

use anchord_memory::{Memory, Timestamp};
use anyhow::{Context, Result, bail};
use dataset::{Action, Dataset};

/// Data about a ferry operator's scheduling and telemetry, used to choose constants.
const FERRY: &str = include_str!("../../data/given/ferry.json");
/// Data about coastal monitoring, with infrastructure and data science, used to choose constants.
const COAST: &str = include_str!("../../data/given/coast.json");
/// Data about a game studio's multiplayer backend. It is held back: no constant is chosen by it.
const SIEGE: &str = include_str!("../../data/given/siege.json");
/// Sizes to measure, in records.
const SIZES: [usize; 4] = [30, 300, 3_000, 30_000];

/// Details to print besides the figures.
#[derive(Clone, Copy, Debug, Default)]
struct Print {
    missed: bool,
    texts: bool,
}

/// A project's memory, and everyday prompts with the texts that answer them.
pub(crate) struct Answered {
    pub(crate) name: &'static str,
    pub(crate) memory: Memory,
    /// Prompts, each with its acceptable answers.
    pub(crate) prompts: Vec<(String, Vec<String>)>,
}

/// Builds the memories of the sets by which constants are chosen, with `size` records, as of `now`.
pub(crate) fn answered(size: usize, now: Timestamp) -> Result<Vec<Answered>> {
    let set = |(name, text)| {
        let dataset = Dataset::parse(text)?;
        let memory = dataset::remember(&measure::memory_of(&dataset, size), now.0)?;
        let prompts = dataset.prompts.into_iter().filter_map(|need| match need.occasion {
            Action::Prompt(prompt) => Some((prompt, need.answers)),
            _ => None,
        });
        Ok(Answered { name, memory, prompts: prompts.collect() })
    };
    [("ferry", FERRY), ("coast", COAST)].into_iter().map(set).collect()
}

/// Prints the figures. `arguments` are those of the command line.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut sizes = SIZES.to_vec();
    let (mut text, mut print) = (FERRY.to_owned(), Print::default());
    let mut left = arguments.iter();
    while let Some(argument) = left.next() {
        match (argument.as_str(), left.len()) {
            ("--missed", _) => print.missed = true,
            ("--texts", _) => print.texts = true,
            ("--size", 1..) => {
                let size = left.next().context("a number")?;
                sizes = vec![size.parse().context("--size takes a number of records")?];
            }
            ("--file", 1..) => {
                let path = left.next().map(PathBuf::from).context("a path")?;
                text = std::fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
            }
            ("--set", 1..) => {
                text = match left.next().map(String::as_str) {
                    Some("ferry") => FERRY.to_owned(),
                    Some("coast") => COAST.to_owned(),
                    Some("siege") => SIEGE.to_owned(),
                    _ => bail!("--set takes ferry, coast or siege"),
                };
            }
            (other, _) => bail!(
                "`{other}` is not one of --set NAME, --file PATH, --size N, --missed, --texts"
            ),
        }
    }
    let dataset = Dataset::parse(&text)?;
    println!("{}", measure::Figures::head());
    for size in sizes {
        println!("{}", measure::at_size(&dataset, size, print)?);
    }
    Ok(())
}
