//! The writes of torture, and the random numbers that choose them.

use serde_json::{Value, json};

use crate::limits::FILLER_BYTES;

/// Returns a tool and its arguments for a write. The tag is in every text that the tally reads.
pub(crate) fn write(tag: &str, dice: u64) -> (&'static str, Value) {
    let lesson =
        json!({"summary": format!("what {tag} taught"), "detail": format!("more of {tag}")});
    match dice % 10 {
        0..6 => ("memory_checkpoint", json!({"lessons": [lesson]})),
        6 => {
            let file = format!("src/{tag}.rs");
            let anchor =
                json!({"file": file, "lines": "1-9", "concept": format!("where {tag} is")});
            ("memory_checkpoint", json!({"anchors": [anchor]}))
        }
        7 => {
            let blueprint = json!({"category": "decision", "title": tag, "content": "As it says."});
            ("memory_checkpoint", json!({"blueprints": [blueprint]}))
        }
        _ => {
            ("memory_save", json!({"session_summary": format!("up to {tag}"), "lessons": [lesson]}))
        }
    }
}

/// Returns a tool and its arguments for a write, which stores a note seven times out of eight.
pub(crate) fn write_noting(tag: &str, dice: u64) -> (&'static str, Value) {
    if dice.is_multiple_of(8) {
        return write(tag, dice / 8);
    }
    ("memory_note", json!({"content": note(tag, dice)}))
}

/// Returns a note's text. Most notes have random words; one in seven nearly repeats the others, so
/// that compaction can fold it.
fn note(tag: &str, dice: u64) -> String {
    if dice % 8 == 1 {
        return format!(
            "{tag}: the nightly import waits for the lock that the backup holds until the mirror has been told to \
             let go of it, and nobody is told that it waits"
        );
    }
    let mut words = Dice(dice);
    let words: Vec<String> = (0..16).map(|_| format!("w{:04x}", words.below(0x1_0000))).collect();
    format!("{tag}: {}", words.join(" "))
}

/// Returns a long text that repeats one word, which keeps searches cheap.
pub(crate) fn filler(dice: &mut Dice) -> String {
    let word = format!("w{:04x} ", dice.below(0x1_0000));
    word.repeat(FILLER_BYTES / word.len())
}

/// Returns the arguments of a search for the note with this tag.
pub(crate) fn search(tag: &str) -> Value {
    json!({"query": format!("\"{tag}\""), "limit": 3})
}

/// A pseudo-random generator that repeats for the same seed: splitmix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `limit`. A `limit` of 0 counts as 1.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}
