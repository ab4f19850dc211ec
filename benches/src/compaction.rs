//! Plans and applies the compaction of a memory of the largest possible size.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anchord_memory::limits::{NOTE_ITEMS_MAX, PROJECT_HALF_LIFE_FACTOR};
use anchord_memory::{
    Accesses, Memory, NearDuplicates, NewNote, Pool, Provenance, Scoring, Seq, SessionId,
    Timestamp, plan_compaction, plan_notes,
};

use crate::table::Row;

const NOTES: usize = 100_000;
/// The intervals at which a note nearly repeats another one, or has a summary.
const DUPLICATES: usize = 10;
const SUMMARIES: usize = 4;
const MINUTE: i64 = 60_000;

pub(crate) fn run() -> Vec<Row> {
    let memory = notes();
    let pool = Pool::Project;
    let used = pool.used(&memory);
    let bytes: usize = memory
        .records()
        .filter_map(|record| record.note())
        .map(|note| note.content.bytes().filter(|byte| *byte != b' ').count())
        .sum();
    let mut rows = Vec::new();
    for (what, percent) in [("80 %", 80), ("50 %", 50)] {
        let floor = time(|| {
            let texts = memory.records().filter_map(|record| record.note());
            texts.map(|note| note.content.bytes().map(u64::from).sum::<u64>()).sum::<u64>()
        });
        let (target, reads) = (used * percent / 100, Accesses::default());
        let scoring = Scoring {
            accesses: &reads,
            half_life_factor: PROJECT_HALF_LIFE_FACTOR,
            formula: anchord_memory::Formula::Own,
            now: at(NOTES),
        };
        let (spare, mut near) = (BTreeSet::new(), NearDuplicates::default());
        let mut plan =
            || time(|| plan_compaction(&memory, &pool, target, scoring, &spare, &mut near));
        let planned = plan();
        let again = plan();
        let plan = planned.1;
        let changed = time(|| plan.apply(&memory));
        let mut after = memory.clone();
        let applied = time(|| after.apply(Seq(memory.seq().0 + 1), &changed.1.changes));
        let outcome = changed.1.outcome;
        rows.push(Row {
            what: format!(
                "compaction of {NOTES} notes, {:.0} MB, to {what}: {} promoted, {} folded, {} archived",
                mega(bytes),
                outcome.promoted,
                outcome.folded.len(),
                outcome.archived.len()
            ),
            measured: format!(
                "{} ms (plan {}, the same plan again {}, changes {}, apply {})",
                (planned.0 + changed.0 + applied.0).as_millis(),
                planned.0.as_millis(),
                again.0.as_millis(),
                changed.0.as_millis(),
                applied.0.as_millis()
            ),
            floor: format!("{} ms (reading the texts)", floor.0.as_millis()),
            target: "≤ 1,000 ms",
        });
    }
    rows
}

fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn mega(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).expect("less than 4 GB")) / 1e6
}

fn at(note: usize) -> Timestamp {
    Timestamp(1_793_534_400_000 + MINUTE * i64::try_from(note).expect("few notes"))
}

/// Creates notes of 20 to 100 words, stored in calls with many notes each.
fn notes() -> Memory {
    let mut memory = Memory::default();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut last = String::new();
    for call in 0..NOTES / NOTE_ITEMS_MAX {
        let items = (0..NOTE_ITEMS_MAX).map(|_| {
            let content = match dice.below(DUPLICATES) {
                0 if !last.is_empty() => format!("{last} again"),
                _ => dice.text(20 + dice.peek(81)),
            };
            last.clone_from(&content);
            let summary = if dice.below(SUMMARIES) == 0 { dice.text(8) } else { String::new() };
            let importance = Some(u8::try_from(1 + dice.below(10)).expect("at most ten"));
            Ok(NewNote { content, summary, importance, ..NewNote::default() })
        });
        let items = items.collect();
        let time = at(call * NOTE_ITEMS_MAX);
        let by = Provenance::new(SessionId::new("bench"), "bench".into(), time);
        let plan = plan_notes(&memory, &by, items).expect("there is room");
        memory.apply(Seq(memory.seq().0 + 1), &plan.changes);
    }
    memory
}

/// A xorshift generator, so that every run has the same texts.
pub(crate) struct Dice(u64);

impl Dice {
    /// Creates dice with a different seed for each number, from 0.
    pub(crate) fn thrown(number: usize) -> Self {
        let mut dice = Self(0x2545_f491_4f6c_dd1d ^ ((number as u64 + 1) << 32));
        dice.below(2);
        dice
    }

    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.peek(sides)
    }

    fn peek(&self, sides: usize) -> usize {
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    /// Returns words of which some are common and most are not, as in any text.
    pub(crate) fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..words {
            let rank = self.below(100) * self.below(100);
            let stem = ["the ", "import", "cache-", "row ", "lock_"].get(rank % 5).copied();
            text.push_str(stem.unwrap_or_default());
            text.push_str(&rank.to_string());
            text.push(' ');
        }
        text
    }
}
