//! What is asked of a memory and where the answers are: LoCoMo's format, and the coding set's.

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
    /// What is said twice is one note where it is stored, with the id of the first: evidence names that one.
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
    /// Which notes answer it.
    pub evidence: Vec<usize>,
}

/// The categories that count: the fifth asks for what was never said.
pub(crate) const CATEGORIES: [(u64, &str); 4] =
    [(1, "multi-hop"), (2, "temporal"), (3, "open-domain"), (4, "single-hop")];

/// A conversation of a LoCoMo file, by turns and by sessions.
pub(crate) struct Conversation {
    /// Each turn a note.
    pub turns: Dataset,
    /// Each session one note, with its date; the evidence is the session in which the turn was said.
    pub sessions: Dataset,
}

/// The text of a file.
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
            // Numbers may be left out where a session has no turns.
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

/// What is stored of a turn: who said it, what, and what a shown picture has.
fn turn(turn: &Value) -> String {
    let said = format!("{}: {}", text(&turn["speaker"]), text(&turn["text"]));
    match turn["blip_caption"].as_str() {
        Some(caption) => format!("{said} [shows {caption}]"),
        None => said,
    }
}

/// Some files name several turns in one text, `D8:6; D9:17`.
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
