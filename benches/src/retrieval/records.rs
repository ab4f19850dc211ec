//! Searches among a project's records of all kinds. Each everyday prompt is a query, and the record
//! that answers it should come first.
//!
//! The measurement runs in this process and searches as `memory_search` does, once with the best
//! hits ranked again and once without.

use anchord_memory::limits::PROJECT_HALF_LIFE_FACTOR;
use anchord_memory::search::Tuning;
use anchord_memory::{Accesses, Body, Reader, Recall, Record, RetentionParts, Timestamp, recall};
use anyhow::Result;

use super::dataset::Question;
use super::score::{DEEPEST, Score};
use crate::given::{self, Answered};

/// Sizes to measure, in records.
const SIZES: [usize; 2] = [300, 3_000];
/// The time of every search: 2026-11-01.
pub(super) const NOW: Timestamp = Timestamp(1_793_491_200_000);

/// Prints a row for each set, size and ranking.
pub(super) fn report() -> Result<()> {
    println!("{}", Score::head());
    let shipped = Tuning::default();
    let plain = Tuning { rescored_hits: 0, ..shipped };
    for size in SIZES {
        for set in given::answered(size, NOW)? {
            for (ranking, tuning) in [("as searched", &plain), ("re-ranked", &shipped)] {
                println!("| {}, {size}, {ranking} | {} |", set.name, score(&set, tuning));
            }
        }
    }
    Ok(())
}

/// Returns the score over all prompts of a set.
pub(super) fn score(set: &Answered, tuning: &Tuning) -> Score {
    let mut score = Score::default();
    for (prompt, answers) in &set.prompts {
        let hits = hits(set, prompt, tuning);
        // Any one record with an answer is enough.
        let first = hits.iter().position(|record| {
            let texts = texts(record);
            answers.iter().any(|answer| texts.iter().any(|text| text.contains(answer.as_str())))
        });
        let ranking: Vec<usize> = first.map_or(Vec::new(), |at| (1..=at).chain([0]).collect());
        let question = Question { text: prompt.clone(), category: 0, evidence: vec![0] };
        score.add(&question, &ranking);
    }
    score
}

/// Returns the records found for a prompt, best first.
fn hits<'m>(set: &'m Answered, prompt: &str, tuning: &Tuning) -> Vec<&'m Record> {
    let prior = |record: &Record| {
        let accesses = Accesses::default();
        let parts = RetentionParts::of(record, &accesses, NOW, PROJECT_HALF_LIFE_FACTOR);
        #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
        let prior = parts.prior(record) as f32;
        prior
    };
    let reader = Reader::anyone();
    let wanted = Recall { prior: &prior, ..Recall::new(&reader, prompt, DEEPEST, tuning) };
    let found = recall(&set.memory, &wanted);
    found.hits.iter().filter_map(|hit| set.memory.record(hit.id)).map(|record| &**record).collect()
}

/// Returns the texts of a record that may contain an answer.
fn texts(record: &Record) -> Vec<&str> {
    match &record.body {
        Body::Anchor(anchor) => vec![&anchor.file, &anchor.concept],
        Body::Topic(topic) => vec![&topic.status],
        Body::SessionRow(row) => row.summaries().collect(),
        body => body.own_texts(),
    }
}
