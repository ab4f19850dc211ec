//! Measures which notes a search finds: in dialogue in LoCoMo's format, and for questions about a
//! repository's commits.
//!
//! `retrieval --file PATH` reads a LoCoMo file; without it, our own small sample. Each turn is a
//! note, stored in order; then each session is one. Notes are stored and searched as an agent does
//! it, over its shim and the daemon. `--sweep` calls the engine in this process instead, and tries
//! other constants. `--commits REPOSITORY` asks about the commits of a repository on this machine.
//! `--records` asks about the records that the measurement `given` stores.

mod commits;
mod dataset;
mod in_memory;
mod records;
mod score;
mod tool_path;

use std::path::PathBuf;

use anchord_memory::search::{Document, Find, Query, SearchIndex, Tuning};
use anchord_memory::{Kind, RecordId, SessionId};
use anchord_tests::Instance;
use anyhow::{Result, bail};
use commits::Commits;
use dataset::{CATEGORIES, Conversation, Dataset};
use in_memory::InMemory;
use score::{DEEPEST, Score};
use tool_path::ToolPath;

/// Commits of libX11 and questions about them. The file states their origin.
const CODING: &str = include_str!("../../data/coding.json");
/// A dialogue that we made up.
const SAMPLE: &str = include_str!("../../data/sample.json");

/// Prints the figures. `arguments` are those of the command line.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut file, mut sweep, mut of_records) = (None, false, false);
    let (mut repository, mut questions): (Option<PathBuf>, Option<PathBuf>) = (None, None);
    let mut left = arguments.iter();
    while let Some(argument) = left.next() {
        match (argument.as_str(), left.len()) {
            ("--file", 1..) => file = left.next().map(PathBuf::from),
            ("--sweep", _) => sweep = true,
            ("--records", _) => of_records = true,
            ("--commits", 1..) => repository = left.next().map(PathBuf::from),
            ("--questions", 1..) => questions = left.next().map(PathBuf::from),
            (other, _) => bail!(
                "`{other}` is not one of --file PATH, --sweep, --records, --commits REPOSITORY, --questions FILE"
            ),
        }
    }
    if let Some(repository) = repository {
        let questions = questions.map(|path| dataset::read(&path)).transpose()?;
        let questions = questions.as_deref().unwrap_or(commits::QUESTIONS);
        return commits::report(&repository, &Commits::parse(questions)?);
    }
    if of_records {
        return records::report();
    }
    let text = match file {
        Some(path) => dataset::read(&path)?,
        None => SAMPLE.to_owned(),
    };
    let conversations = dataset::conversations(&text)?;
    let coding = dataset::coding(CODING)?;
    if sweep {
        sweep_tunings(&conversations, &coding)
    } else {
        let instance = Instance::shipped();
        println!("{}", Score::head());
        report("by tools", &conversations, &coding, &|notes| {
            Ok(Box::new(ToolPath::store(&instance, notes)?))
        })
    }
}

/// A search engine to measure. It stores everything in order; then it answers each question.
trait Engine {
    /// Returns the numbers of the notes found, best first.
    fn ask(&mut self, question: &str) -> Result<Vec<usize>>;
}

/// An engine that has stored these notes.
type Store<'s> = dyn Fn(&[String]) -> Result<Box<dyn Engine>> + 's;

/// The engine alone, in this process.
struct InProcess {
    index: SearchIndex,
    tuning: Tuning,
}

/// Milliseconds between two notes, as an agent stores them.
const STEP_MS: i64 = 10;

impl InProcess {
    fn store(notes: &[String], tuning: Tuning) -> Self {
        let session = SessionId::new("bench");
        let mut index = SearchIndex::default();
        for ((number, time), note) in (1..).zip(0..).zip(notes) {
            let id = RecordId::new(Kind::Note, number);
            index.insert(&Document {
                id,
                session: &session.0,
                time: time * STEP_MS,
                texts: vec![note],
                tags: Vec::new(),
                files: Vec::new(),
            });
        }
        Self { index, tuning }
    }

    /// Returns the numbers of the notes found, best first.
    fn find(&self, query: &Query) -> Vec<usize> {
        let found = self.index.find(&Find {
            query,
            tuning: &self.tuning,
            keep: &|_| Some(1.0),
            limit: DEEPEST,
            explain: false,
        });
        let note = |id: RecordId| usize::try_from(id.number).expect("as many as notes") - 1;
        found.hits.iter().map(|hit| note(hit.id)).collect()
    }
}

impl Engine for InProcess {
    fn ask(&mut self, question: &str) -> Result<Vec<usize>> {
        Ok(self.find(&Query::parse(question)))
    }
}

/// The notes found for each question of a set.
struct RankedQuestions<'d> {
    set: &'d Dataset,
    rankings: Vec<Vec<usize>>,
}

impl<'d> RankedQuestions<'d> {
    fn of(set: &'d Dataset, store: &Store<'_>) -> Result<Self> {
        let mut engine = store(&set.notes)?;
        let rankings = set
            .questions
            .iter()
            .map(|question| engine.ask(&question.text))
            .collect::<Result<_>>()?;
        Ok(Self { set, rankings })
    }

    /// Returns the score over the questions of some categories.
    fn score(&self, counted: &dyn Fn(u64) -> bool) -> Score {
        let mut score = Score::default();
        for (question, ranking) in self.set.questions.iter().zip(&self.rankings) {
            if counted(question.category) {
                score.add(question, ranking);
            }
        }
        score
    }
}

fn sum(asked: &[RankedQuestions<'_>], counted: &dyn Fn(u64) -> bool) -> Score {
    let mut sum = Score::default();
    for asked in asked {
        sum.absorb(&asked.score(counted));
    }
    sum
}

/// Returns the engine's score in this process.
fn over<'c>(sets: impl Iterator<Item = &'c Dataset>, tuning: &Tuning) -> Result<Score> {
    let asked: Vec<RankedQuestions<'_>> = sets
        .map(|set| {
            RankedQuestions::of(set, &|notes| Ok(Box::new(InProcess::store(notes, *tuning))))
        })
        .collect::<Result<_>>()?;
    Ok(sum(&asked, &|_| true))
}

/// Prints rows with an engine's scores.
fn report<'c>(
    name: &str,
    conversations: &'c [Conversation],
    coding: &'c Dataset,
    store: &Store<'_>,
) -> Result<()> {
    let ask = |sets: Vec<&'c Dataset>| -> Result<Vec<RankedQuestions<'c>>> {
        sets.into_iter().map(|set| RankedQuestions::of(set, store)).collect()
    };
    let turns = ask(conversations.iter().map(|conversation| &conversation.turns).collect())?;
    println!("| turns, {name} | {} |", sum(&turns, &|_| true));
    for (category, title) in CATEGORIES {
        println!("| … {category}, {title} | {} |", sum(&turns, &|of| of == category));
    }
    for asked in &turns {
        println!("| … {} | {} |", asked.set.name, asked.score(&|_| true));
    }
    let sessions = ask(conversations.iter().map(|conversation| &conversation.sessions).collect())?;
    println!("| sessions, {name} | {} |", sum(&sessions, &|_| true));
    for asked in &sessions {
        println!("| … {} | {} |", asked.set.name, asked.score(&|_| true));
    }
    println!("| commits, {name} | {} |", sum(&ask(vec![coding])?, &|_| true));
    Ok(())
}

/// Varies one constant at a time, with the others as shipped. Scores each conversation separately,
/// so that a gain in only one of them shows.
fn sweep_tunings(conversations: &[Conversation], coding: &Dataset) -> Result<()> {
    let shipped = Tuning::default();
    println!("{}", Score::head());
    report("in process, as `memory_search` does", conversations, coding, &|notes| {
        Ok(Box::new(InMemory::store(notes, shipped)?))
    })?;
    for (name, tuning) in [
        ("in process", shipped),
        (
            "in process, no boost from neighbours",
            Tuning { neighbour: 0.0, neighbour_far: 0.0, ..shipped },
        ),
        ("in process, whole texts alone", Tuning { passage: 0.0, ..shipped }),
        ("in process, compactor", Tuning::COMPACTOR),
    ] {
        report(name, conversations, coding, &|notes| {
            Ok(Box::new(InProcess::store(notes, tuning)))
        })?;
    }
    println!();
    let mut tried = vec![shipped];
    tried.extend([0.6, 1.2, 1.6, 2.0].map(|k1| Tuning { k1, ..shipped }));
    tried.extend([0.0, 0.2, 0.3, 0.5, 0.75].map(|b| Tuning { b, ..shipped }));
    tried.extend([0.0, 0.3, 0.4, 0.6, 0.7].map(|neighbour| Tuning { neighbour, ..shipped }));
    tried.extend([0.0, 0.1, 0.2, 0.4, 0.5].map(|far| Tuning { neighbour_far: far, ..shipped }));
    tried.extend([20.0, 30.0, 80.0, 1e6].map(|words| Tuning { neighbour_words: words, ..shipped }));
    tried.extend([0.0, 0.2, 0.35, 0.65, 0.8].map(|passage| Tuning { passage, ..shipped }));
    println!(
        "| k1 | b | neighbour | far | words | passage | recall@10, turns | by conversation | hit@1, sessions | hit@5 | \
         precision@5, commits |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for tuning in &tried {
        let turns = || conversations.iter().map(|conversation| &conversation.turns);
        let mut each = Vec::new();
        for set in turns() {
            each.push(format!("{:.3}", over(std::iter::once(set), tuning)?.recall(10)));
        }
        let all = over(turns(), tuning)?.recall(10);
        let sessions = conversations.iter().map(|conversation| &conversation.sessions);
        let sessions = over(sessions, tuning)?;
        let (first, five) = (sessions.hit(1), sessions.hit(5));
        let code = over(std::iter::once(coding), tuning)?.precision_at_5();
        let Tuning { k1, b, neighbour, neighbour_far, neighbour_words, passage, .. } = tuning;
        let each = each.join(" ");
        println!(
            "| {k1} | {b} | {neighbour} | {neighbour_far} | {neighbour_words} | {passage} | {all:.3} | {each} | \
             {first:.3} | {five:.3} | {code:.3} |"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
