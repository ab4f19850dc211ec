//! Questions to a memory and the notes with their answers: LoCoMo's format, and the coding set's.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// Notes in the order in which they are stored, and questions about them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dataset {
    pub name: String,
    pub notes: Vec<String>,
    pub questions: Vec<Question>,
}

impl Dataset {
    /// Maps repeated notes to the first one. A repeated text is stored as one note with the id of
    /// the first, so evidence names that one.
    fn new(name: String, notes: Vec<String>, mut questions: Vec<Question>) -> Self {
        let mut first = HashMap::new();
        let places: Vec<usize> = notes
            .iter()
            .enumerate()
            .map(|(at, note)| *first.entry(note.as_str()).or_insert(at))
            .collect();
        for question in &mut questions {
            for note in &mut question.evidence {
                *note = places.get(*note).copied().unwrap_or(*note);
            }
            question.evidence.sort_unstable();
            question.evidence.dedup();
        }
        Self { name, notes, questions }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    pub text: String,
    pub category: u64,
    /// The notes that answer it.
    pub evidence: Vec<usize>,
}

/// The categories that count. The fifth has questions about things that were never said.
pub(crate) const CATEGORIES: [(u64, &str); 4] =
    [(1, "multi-hop"), (2, "temporal"), (3, "open-domain"), (4, "single-hop")];

/// A conversation of a LoCoMo file, both by turns and by sessions.
pub(crate) struct Conversation {
    /// The data set in which each turn is a note.
    pub turns: Dataset,
    /// The data set in which each session is one note, with its date. The evidence is the session
    /// that contains the turn.
    pub sessions: Dataset,
}

/// Reads the text of a file.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Reads conversations in LoCoMo's format.
pub(crate) fn conversations(json: &str) -> Result<Vec<Conversation>> {
    let samples: Vec<Value> = serde_json::from_str(json).context("not in LoCoMo's format")?;
    Ok(samples.iter().map(conversation).collect())
}

fn conversation(sample: &Value) -> Conversation {
    let name = text(&sample["sample_id"]);
    let mut turns = Vec::new();
    let mut sessions = Vec::new();
    let mut places = HashMap::new();
    let said = &sample["conversation"];
    for number in 1.. {
        let session = said.get(format!("session_{number}"));
        let Some(session) = session.and_then(Value::as_array) else {
            // A session without turns may be missing from the numbers.
            if said.get(format!("session_{number}_date_time")).is_some() {
                continue;
            }
            break;
        };
        let lines: Vec<String> = session.iter().map(turn).collect();
        for (turn, line) in session.iter().zip(&lines) {
            places.insert(text(&turn["dia_id"]), (turns.len(), sessions.len()));
            turns.push(line.clone());
        }
        let date = said.get(format!("session_{number}_date_time")).map(text).unwrap_or_default();
        sessions.push(format!("{date}\n{}", lines.join("\n")));
    }
    let mut by_turn = Vec::new();
    let mut by_session = Vec::new();
    for question in sample["qa"].as_array().into_iter().flatten() {
        let category = question["category"].as_u64().unwrap_or(0);
        let named: Vec<String> =
            question["evidence"].as_array().into_iter().flatten().map(text).collect();
        let found = evidence(&named, &places);
        if found.is_empty() || !CATEGORIES.iter().any(|(counted, _)| *counted == category) {
            continue;
        }
        let ask = |evidence| Question { text: text(&question["question"]), category, evidence };
        by_turn.push(ask(found.iter().map(|(turn, _)| *turn).collect()));
        by_session.push(ask(found.iter().map(|(_, session)| *session).collect()));
    }
    Conversation {
        turns: Dataset::new(name.clone(), turns, by_turn),
        sessions: Dataset::new(name, sessions, by_session),
    }
}

/// Returns a turn as it is stored: the speaker, the text, and the caption of a shown picture.
fn turn(turn: &Value) -> String {
    let said = format!("{}: {}", text(&turn["speaker"]), text(&turn["text"]));
    match turn["blip_caption"].as_str() {
        Some(caption) => format!("{said} [shows {caption}]"),
        None => said,
    }
}

/// Finds the notes that evidence names. Some files name several turns in one text, as in
/// `D8:6; D9:17`.
fn evidence(named: &[String], places: &HashMap<String, (usize, usize)>) -> Vec<(usize, usize)> {
    let ids = named.iter().flat_map(|named| named.split([';', ',', ' ']));
    ids.filter_map(|id| places.get(id.trim()).copied()).collect()
}

/// Reads the coding set: notes with ids, and questions that name them.
pub(crate) fn coding(json: &str) -> Result<Dataset> {
    let set: Value = serde_json::from_str(json).context("the coding set")?;
    let notes =
        set.get("notes").and_then(Value::as_array).context("the coding set has no notes")?;
    let places: HashMap<String, (usize, usize)> =
        notes.iter().zip(0..).map(|(note, at)| (text(&note["id"]), (at, at))).collect();
    let question = |question: &Value| {
        let named: Vec<String> =
            question["evidence"].as_array().into_iter().flatten().map(text).collect();
        let evidence: Vec<usize> = named
            .iter()
            .map(|id| places.get(id).map(|(at, _)| *at).with_context(|| format!("no note {id}")))
            .collect::<Result<_>>()?;
        Ok(Question { text: text(&question["question"]), category: 0, evidence })
    };
    let questions = set
        .get("questions")
        .and_then(Value::as_array)
        .context("the coding set has no questions")?;
    Ok(Dataset::new(
        "coding".to_owned(),
        notes.iter().map(|note| text(&note["text"])).collect(),
        questions.iter().map(question).collect::<Result<_>>()?,
    ))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
