//! Compares acknowledged writes with what is stored. Each write carries a tag: a word that no other
//! write has.

use std::collections::{BTreeMap, BTreeSet};

use anchord_daemon::api::ExportDocument;
use anchord_memory::{Kind, RecordState};

/// The result of the comparison.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of acknowledged writes.
    pub acknowledged: usize,
    /// Acknowledged writes that are missing.
    pub lost: Vec<String>,
    /// Writes that are there more than once.
    pub twice: Vec<String>,
}

impl Tally {
    /// Returns the number of acknowledged writes that are there.
    pub fn found(&self) -> usize {
        self.acknowledged - self.lost.len()
    }
}

/// Compares the acknowledged tags with the texts in which they should be.
pub fn tally<'a>(
    acknowledged: &BTreeSet<String>,
    texts: impl IntoIterator<Item = &'a str>,
) -> Tally {
    let mut seen = WordCounts::default();
    for text in texts {
        seen.note(text);
    }
    Tally {
        acknowledged: acknowledged.len(),
        lost: acknowledged.iter().filter(|tag| seen.times(tag) == 0).cloned().collect(),
        twice: acknowledged.iter().filter(|tag| seen.times(tag) > 1).cloned().collect(),
    }
}

/// Returns what a project remembers, one text for each item: staged items, and records other than
/// topics and session rows. Archived records are included, forgotten ones are not.
pub fn texts(document: &ExportDocument) -> Vec<String> {
    let mut texts: Vec<String> = document
        .records
        .iter()
        .filter(|record| record.state != RecordState::Forgotten)
        .filter(|record| !matches!(record.kind(), Kind::Topic | Kind::SessionRow))
        .map(|record| record.body.own_texts().join(" "))
        .collect();
    for staged in document.staged.values() {
        texts.extend(staged.texts_of(|kind| kind != Kind::Topic));
    }
    texts
}

/// Counts of words seen, once for each text.
#[derive(Debug, Default)]
pub struct WordCounts(BTreeMap<String, u32>);

impl WordCounts {
    /// Counts the words of a text.
    pub fn note(&mut self, text: &str) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let words: BTreeSet<&str> =
            text.split(|c| !is_part(c)).filter(|word| word.contains('-')).collect();
        for word in words {
            *self.0.entry(word.to_owned()).or_default() += 1;
        }
    }

    /// Returns how often a word was seen.
    pub fn times(&self, word: &str) -> u32 {
        self.0.get(word).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
