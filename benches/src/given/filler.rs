//! Records that no prompt needs, like those of a memory that grew over years. They consist of words
//! from the project's own records, so that they compete with those in every search.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::dataset::{Session, text_of};

/// Number of records that a session stores.
const SESSION_RECORDS: usize = 25;
/// Minimum number of the project's records that have to share a word.
const WORD_RECORDS: usize = 2;

/// Templates of sentences: each `{}` is replaced by a word of the project.
const SENTENCES: [&str; 24] = [
    "Looked at {} again because {} was slow; nothing to do there.",
    "The {} review with the team moved to Thursday, {} comes after it.",
    "Renamed a helper in {} that had the name of {}; no change in behaviour.",
    "{} and {} are both covered by the nightly run, which was green for a week.",
    "Asked about {}: nobody remembers why {} has two columns, left as it is.",
    "Moved the {} fixtures next to {} and shortened them.",
    "The warning about {} in the log is harmless, it comes from {} at start.",
    "Spent an hour on {}; the cause was a stale cache of {} on my machine.",
    "The wording of {} was changed after the remark about {}.",
    "{} takes 40 ms less since {} is read once; measured twice.",
    "Dropped the unused import of {} from the {} module.",
    "The spike on {} is in a branch, {} was not touched by it.",
    "Documentation of {} now links to the page on {}.",
    "Paired on {}: the second half, with {}, is for next week.",
    "Compared {} with last month: {} grew by a tenth, as expected.",
    "The demo of {} went well, {} was asked about twice.",
    "Typos in {} corrected, those in {} too.",
    "A flaky check of {} was seen once, together with {}; not again in 30 runs.",
    "The old screenshots of {} were replaced; {} has none.",
    "Tidied the table of {} so that {} sorts first.",
    "Noted for the retrospective: {} was estimated well, {} was not.",
    "The {} ticket was closed as a duplicate of the {} one.",
    "Tried a shorter name for {}, went back to the one {} has.",
    "Read through {} to understand {}; no open question left.",
];

/// Generates sessions with `count` records in total, the same ones each time. No record contains
/// any of `answers`.
pub(super) fn sessions(of: &[Session], count: usize, answers: &[String]) -> Vec<Session> {
    let words = words(of);
    let mut random = Random(0x5eed);
    let mut sessions = Vec::new();
    let mut left = count;
    while left > 0 && !words.is_empty() {
        let number = sessions.len();
        let mut records = Vec::new();
        while records.len() < SESSION_RECORDS.min(left) {
            let record = record(&words, &mut random, number * SESSION_RECORDS + records.len());
            let text = record.to_string();
            if !answers.iter().any(|answer| text.contains(answer.as_str())) {
                records.push(record);
            }
        }
        left -= records.len();
        sessions.push(Session {
            id: format!("filler-{number}"),
            client: "claude-code".to_owned(),
            days_ago: i64::try_from(random.below(300)).unwrap_or(0),
            summary: sentence(&words, &mut random),
            records,
        });
    }
    sessions
}

/// Generates a record. The kinds are spread as among the project's own records.
fn record(words: &[String], random: &mut Random, number: usize) -> Value {
    let mut text = |sentences: usize| {
        let sentences: Vec<String> = (0..sentences).map(|_| sentence(words, random)).collect();
        sentences.join(" ")
    };
    match number % 20 {
        0 | 10 => json!({
            "kind": "blueprint", "category": "convention",
            "title": text(1), "content": text(3),
        }),
        1 | 7 | 14 => json!({"kind": "lesson", "summary": text(1), "detail": text(2), "files": []}),
        5 | 15 => json!({
            "kind": "anchor", "file": format!("src/part{}/file{number}.py", number % 97),
            "lines": "10-40", "concept": text(1),
        }),
        3 | 13 => json!({
            "kind": "note", "key": format!("filler.number{number}"), "content": text(1),
        }),
        long if long % 6 == 2 => json!({"kind": "note", "content": text(5)}),
        _ => json!({"kind": "note", "content": text(2)}),
    }
}

fn sentence(words: &[String], random: &mut Random) -> String {
    let form = SENTENCES.get(random.below(SENTENCES.len())).copied().unwrap_or_default();
    let mut text = String::new();
    for (at, piece) in form.split("{}").enumerate() {
        if at > 0 {
            text.push_str(words.get(random.below(words.len())).map_or("", String::as_str));
        }
        text.push_str(piece);
    }
    text
}

/// Collects the words that several records share.
fn words(of: &[Session]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for record in of.iter().flat_map(|session| &session.records) {
        let fields = ["title", "content", "summary", "detail", "concept"];
        let text: Vec<String> = fields.into_iter().map(|field| text_of(record, field)).collect();
        let text = text.join(" ");
        let mut words: Vec<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .filter(|word| word.len() > 3)
            .collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count >= WORD_RECORDS).map(|(word, _)| word).collect()
}

/// Pseudo-random numbers, the same on every machine (Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end.max(1)).unwrap_or(1)).unwrap_or_default()
    }
}
