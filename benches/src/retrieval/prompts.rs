//! What is said unasked at a prompt: how often rightly, and how often when there is nothing to say.

use std::collections::{BTreeSet, HashMap};

use anchord_memory::{
    About, Memory, NewNote, Provenance, Reader, RecordId, Seq, SessionId, Timestamp, about,
    limits::PROMPT_RECORDS_MAX, plan_notes,
};
use anyhow::{Context, Result};
use serde_json::Value;

use super::STEP_MS;
use super::dataset::Dataset;

/// Prompts that the coding set has no answer to.
const UNRELATED: &str = include_str!("../../data/prompts.json");
/// How a question stands in a prompt.
const WRAPPED: [(&str, &str); 3] = [
    ("the question alone", "{}"),
    (
        "as a sentence among others",
        "ok thanks, that helps. Next thing I would like you to look at: {}. Please check the code first, then write \
         a test and tell me what you found",
    ),
    (
        "within a sentence",
        "Hi! Yesterday we had a report about this {} and I promised an answer.\nCan you look into it?",
    ),
];
/// Notes of the memories that are asked: all, and small ones, made of notes that answer something.
const SIZES: [usize; 3] = [usize::MAX, 60, 20];

/// Prints the figures.
pub(super) fn report(coding: &Dataset) -> Result<()> {
    let unrelated: Value = serde_json::from_str(UNRELATED).context("the unrelated prompts")?;
    println!(
        "| notes | prompts | of them with an answer | spoke | rightly | records | of them right |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for size in SIZES {
        let chosen = chosen(coding, size);
        let (memory, ids) = stored(coding, &chosen);
        for (name, wrapped) in WRAPPED {
            let questions = coding.questions.iter().map(|question| {
                let answers: BTreeSet<RecordId> =
                    question.evidence.iter().filter_map(|at| ids.get(at).copied()).collect();
                (wrapped.replace("{}", &question.text), answers)
            });
            print(&memory, name, questions);
        }
        for kind in ["talk", "elsewhere", "near"] {
            let prompts = unrelated.get(kind).and_then(Value::as_array).context("no prompts")?;
            let prompts = prompts.iter().filter_map(Value::as_str);
            print(&memory, kind, prompts.map(|prompt| (prompt.to_owned(), BTreeSet::new())));
        }
    }
    Ok(())
}

/// The places of the notes that a memory of this size has.
fn chosen(coding: &Dataset, size: usize) -> Vec<usize> {
    if size >= coding.notes.len() {
        return (0..coding.notes.len()).collect();
    }
    let answers: BTreeSet<usize> =
        coding.questions.iter().flat_map(|question| question.evidence.iter().copied()).collect();
    let step = (answers.len() / size).max(1);
    answers.into_iter().step_by(step).take(size).collect()
}

fn stored(coding: &Dataset, chosen: &[usize]) -> (Memory, HashMap<usize, RecordId>) {
    let (mut memory, mut ids) = (Memory::default(), HashMap::new());
    for (seq, at) in (1_u64..).zip(chosen) {
        let time = Timestamp(i64::try_from(seq).unwrap_or(i64::MAX) * STEP_MS);
        let by = Provenance { session: SessionId::new("bench"), client: "bench".into(), time };
        let content = coding.notes.get(*at).cloned().unwrap_or_default();
        let note = NewNote { content, ..NewNote::default() };
        let Ok(plan) = plan_notes(&memory, &by, vec![Ok(note)]) else { continue };
        memory.apply(Seq(seq), &plan.changes);
        let written = plan.changes.iter().find_map(|change| change.record());
        ids.extend(written.map(|record| (*at, record.id)));
    }
    (memory, ids)
}

fn print(memory: &Memory, name: &str, prompts: impl Iterator<Item = (String, BTreeSet<RecordId>)>) {
    let (mut asked, mut able, mut spoke, mut rightly) = (0, 0, 0, 0);
    let (mut records, mut right) = (0, 0);
    for (prompt, answers) in prompts {
        let found = about(
            memory,
            &About {
                reader: &Reader::anyone(),
                prompt: &prompt,
                shown: &BTreeSet::new(),
                now: Timestamp(0),
                limit: PROMPT_RECORDS_MAX,
            },
        );
        let good = found.iter().filter(|id| answers.contains(id)).count();
        asked += 1;
        able += u32::from(!answers.is_empty());
        spoke += u32::from(!found.is_empty());
        rightly += u32::from(good > 0);
        records += found.len();
        right += good;
    }
    let notes = memory.totals().notes;
    println!("| {notes} | {name} ({asked}) | {able} | {spoke} | {rightly} | {records} | {right} |");
}
