//! What a search finds, as figures: dialogue in LoCoMo's format, and questions about a repository's commits.
//!
//! `retrieval --file PATH` reads a LoCoMo file; without it the small sample of our own. Each turn is a note, stored in order;
//! then each session is one. `--sweep` tries other constants. The engine is called in this process.

mod dataset;
mod score;

use std::path::PathBuf;

use anchord_memory::search::{Document, Query, SearchIndex, Tuning};
use anchord_memory::{Kind, RecordId, SessionId, Timestamp};
use anyhow::{Result, bail};
use dataset::{CATEGORIES, Conversation, Dataset};
use score::{DEEPEST, Score};

/// Commits of libX11 and questions about them; where they come from stands in the file.
const CODING: &str = include_str!("../../data/coding.json");
/// A dialogue of our own making.
const SAMPLE: &str = include_str!("../../data/sample.json");

/// Prints the figures; arguments as the command line has them.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut file, mut sweep) = (None, false);
    let mut left = arguments.iter();
    while let Some(argument) = left.next() {
        match (argument.as_str(), left.len()) {
            ("--file", 1..) => file = left.next().map(PathBuf::from),
            ("--sweep", _) => sweep = true,
            (other, _) => bail!("`{other}` is none of --file PATH, --sweep"),
        }
    }
    let text = match file {
        Some(path) => dataset::read(&path)?,
        None => SAMPLE.to_owned(),
    };
    let conversations = dataset::conversations(&text)?;
    let coding = dataset::coding(CODING)?;
    if sweep {
        sweep_tunings(&conversations, &coding);
    } else {
        report(&conversations, &coding);
    }
    Ok(())
}

/// What is measured: everything stored in order, then each question asked.
trait Engine {
    fn ask(&self, question: &str) -> Vec<usize>;
}

/// The engine alone, in this process.
struct InProcess<'t> {
    index: SearchIndex,
    tuning: &'t Tuning,
}

/// Between two notes, as an agent stores them.
const STEP_MS: i64 = 10;

impl<'t> InProcess<'t> {
    fn store(notes: &[String], tuning: &'t Tuning) -> Self {
        let session = SessionId::new("bench");
        let mut index = SearchIndex::default();
        for ((number, time), note) in (1..).zip(0..).zip(notes) {
            let id = RecordId { kind: Kind::Note, number };
            index.insert(&Document {
                id,
                session: &session,
                time: Timestamp(time * STEP_MS),
                texts: vec![note],
                tags: Vec::new(),
                files: Vec::new(),
            });
        }
        Self { index, tuning }
    }
}

impl Engine for InProcess<'_> {
    fn ask(&self, question: &str) -> Vec<usize> {
        let found = self.index.find(&Query::parse(question), self.tuning, &|_| Some(1.0), DEEPEST);
        let note = |id: RecordId| usize::try_from(id.number).expect("as many as notes") - 1;
        found.hits.iter().map(|hit| note(hit.id)).collect()
    }
}

/// A set's score over the questions of some categories.
fn score(engine: &dyn Engine, set: &Dataset, counted: &dyn Fn(u64) -> bool) -> Score {
    let mut score = Score::default();
    for question in set.questions.iter().filter(|question| counted(question.category)) {
        score.add(question, &engine.ask(&question.text));
    }
    score
}

fn over<'c>(
    sets: impl Iterator<Item = &'c Dataset>,
    tuning: &Tuning,
    counted: &dyn Fn(u64) -> bool,
) -> Score {
    let mut sum = Score::default();
    for set in sets {
        sum.absorb(&score(&InProcess::store(&set.notes, tuning), set, counted));
    }
    sum
}

fn report(conversations: &[Conversation], coding: &Dataset) {
    let tunings = [
        ("as shipped", Tuning::default()),
        ("nothing lent", Tuning { neighbour: 0.0, neighbour_far: 0.0, ..Tuning::default() }),
        ("compactor", Tuning::COMPACTOR),
    ];
    println!("{}", Score::head());
    for (name, tuning) in &tunings {
        let turns = || conversations.iter().map(|conversation| &conversation.turns);
        let sessions = conversations.iter().map(|conversation| &conversation.sessions);
        println!("| turns, {name} | {} |", over(turns(), tuning, &|_| true));
        for (category, title) in CATEGORIES {
            let score = over(turns(), tuning, &|of| of == category);
            println!("| … {category}, {title} | {score} |");
        }
        for set in turns() {
            let score = over(std::iter::once(set), tuning, &|_| true);
            println!("| … {} | {score} |", set.name);
        }
        println!("| sessions, {name} | {} |", over(sessions, tuning, &|_| true));
        println!("| commits, {name} | {} |", over(std::iter::once(coding), tuning, &|_| true));
    }
}

/// One constant after the other, the rest as shipped; each conversation for itself, so that what helps one alone shows.
fn sweep_tunings(conversations: &[Conversation], coding: &Dataset) {
    let shipped = Tuning::default();
    let mut tried = vec![shipped];
    tried.extend([0.6, 1.2, 1.6, 2.0].map(|k1| Tuning { k1, ..shipped }));
    tried.extend([0.0, 0.2, 0.3, 0.5, 0.75].map(|b| Tuning { b, ..shipped }));
    tried.extend([0.0, 0.3, 0.4, 0.6, 0.7].map(|neighbour| Tuning { neighbour, ..shipped }));
    tried.extend([0.0, 0.1, 0.2, 0.4, 0.5].map(|far| Tuning { neighbour_far: far, ..shipped }));
    tried.extend([20.0, 30.0, 80.0, 1e6].map(|words| Tuning { neighbour_words: words, ..shipped }));
    println!(
        "| k1 | b | neighbour | far | words | recall@10, turns | by conversation | precision@5, commits |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for tuning in &tried {
        let recall = |set| over(std::iter::once(set), tuning, &|_| true).recall(10);
        let turns = || conversations.iter().map(|conversation| &conversation.turns);
        let each: Vec<String> = turns().map(|set| format!("{:.3}", recall(set))).collect();
        let all = over(turns(), tuning, &|_| true).recall(10);
        let code = over(std::iter::once(coding), tuning, &|_| true).precision_at_5();
        let Tuning { k1, b, neighbour, neighbour_far, neighbour_words, .. } = tuning;
        let each = each.join(" ");
        println!(
            "| {k1} | {b} | {neighbour} | {neighbour_far} | {neighbour_words} | {all:.3} | {each} | {code:.3} |"
        );
    }
}

#[cfg(test)]
mod tests;
