//! Whether a text names a record by its title or key.

use super::synonyms;
use crate::memory::Memory;
use crate::record::Record;
use crate::search::Query;

/// A text that may name records.
pub(super) struct Naming<'a> {
    text: &'a str,
    /// The words that keys have for what the text asks for.
    key_words: String,
}

impl<'a> Naming<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, key_words: synonyms::key_words(text) }
    }

    /// Returns the share of a record's title or key that the text contains, by the rarity of the
    /// words. For a key, common words of requests count as well: "run" matches `command`.
    pub(super) fn share_of(&self, memory: &Memory, record: &Record, title: &str) -> f32 {
        // A key counts as its two words, and not also as the one that they form together.
        let query = Query::plain(&title.replace(|c: char| !c.is_alphanumeric(), " "));
        let rarities = memory.search().rarities(&query);
        let all: f32 = rarities.iter().sum();
        if all <= 0.0 {
            return 0.0;
        }
        let mut named = query.terms_in(self.text);
        if record.note().is_some_and(|note| note.key.is_some()) {
            named = named.or(query.terms_in(&self.key_words));
        }
        named.weight(&rarities) / all
    }
}

/// Returns the words that name a record: its title, its key and summary, or its file and concept.
pub(super) fn title(record: &Record) -> String {
    record.body.fields().name()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{apply, note, origin};
    use crate::{NewNote, plan_notes};

    #[test]
    fn a_request_matches_the_words_of_a_key() {
        let mut memory = Memory::default();
        let fact = |key: &str| NewNote { key: Some(key.to_owned()), ..note("just it") };
        let keys = ["test.command", "lint_command", "owner.infra", "test.console"];
        let notes = keys.map(fact).into_iter().map(Ok).collect();
        let plan = plan_notes(&memory, &origin("one", 1), notes).unwrap();
        apply(&mut memory, plan);
        let shares = |text: &str| {
            let naming = Naming::new(text);
            let all = memory.active().map(|record| {
                let share = naming.share_of(&memory, record, &title(record));
                format!("{:.0}", share * 100.0)
            });
            all.collect::<Vec<String>>()
        };
        assert_eq!(shares("run the tests")[0], "100");
        assert_eq!(shares("run the tests")[3].len(), 2, "a part of it");
        assert_eq!(shares("run the linter")[1], "100");
        assert_eq!(shares("who looks after infra?")[2], "100");
        assert_eq!(shares("write a poem"), ["0"; 4]);
    }
}
