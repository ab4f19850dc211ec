//! A memory in this process whose notes are searched as `memory_search` does, except for retention.

use std::collections::HashMap;

use anchord_memory::search::Tuning;
use anchord_memory::{
    Memory, NewNote, Provenance, Reader, Recall, RecordId, Seq, SessionId, Timestamp, plan_notes,
    recall,
};
use anyhow::Result;

use super::score::DEEPEST;
use super::{Engine, STEP_MS};

/// A memory with the notes of one session.
pub(super) struct InMemory {
    memory: Memory,
    /// The number of the note with each id. Notes with the same content have the number of the
    /// first.
    notes: HashMap<RecordId, usize>,
    tuning: Tuning,
}

impl InMemory {
    /// Stores the notes in order.
    pub(super) fn store(notes: &[String], tuning: Tuning) -> Result<Self> {
        let (mut memory, mut ids) = (Memory::default(), HashMap::new());
        for (((at, seq), time), note) in (0..).zip(1..).zip(0..).zip(notes) {
            let by =
                Provenance::new(SessionId::new("bench"), "bench".into(), Timestamp(time * STEP_MS));
            let note = NewNote { content: note.clone(), ..NewNote::default() };
            let plan = plan_notes(&memory, &by, vec![Ok(note)])?;
            memory.apply(Seq(seq), &plan.changes);
            for stored in plan.outcome.stored {
                ids.entry(stored.id).or_insert(at);
            }
        }
        Ok(Self { memory, notes: ids, tuning })
    }
}

impl Engine for InMemory {
    fn ask(&mut self, question: &str) -> Result<Vec<usize>> {
        let reader = Reader::anyone();
        let wanted = Recall::new(&reader, question, DEEPEST, &self.tuning);
        let found = recall(&self.memory, &wanted);
        Ok(found.hits.iter().filter_map(|hit| self.notes.get(&hit.id).copied()).collect())
    }
}
