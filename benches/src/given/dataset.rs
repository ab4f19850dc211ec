//! The data: records in sessions, and the facts that each prompt, action and compaction needs.

use std::collections::BTreeMap;

use anchord_memory::{
    Anchor, Blueprint, Lesson, Memory, NewNote, Provenance, Save, Seq, SessionId, Staged,
    Timestamp, TopicDecision, TopicPart, plan_save,
};
use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A made-up project's memory, and the prompts, actions and compactions that use it.
pub(super) struct Dataset {
    pub(super) sessions: Vec<Session>,
    pub(super) prompts: Vec<Need>,
    /// Prompts that need nothing.
    pub(super) nothing: Vec<String>,
    pub(super) actions: Vec<Need>,
    /// Actions that need nothing.
    pub(super) quiet: Vec<Action>,
    pub(super) compactions: Vec<Value>,
}

/// A session and the records that it stored.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) client: String,
    pub(super) days_ago: i64,
    pub(super) summary: String,
    pub(super) records: Vec<Value>,
}

/// A prompt or action, and the fact that it needs.
pub(super) struct Need {
    pub(super) id: String,
    pub(super) occasion: Action,
    /// Acceptable answers: one of these texts has to be in the model's context.
    pub(super) answers: Vec<String>,
    /// Whether the record is among the first thirty.
    pub(super) small: bool,
}

/// An event in a conversation.
#[derive(Clone)]
pub(super) enum Action {
    Prompt(String),
    Edit(String),
    Read(String),
    Failed { command: String, output: String },
}

impl Dataset {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let data: Value = serde_json::from_str(text).context("the data is not JSON")?;
        let sessions: Vec<Session> =
            list(&data, "sessions").iter().map(session).collect::<Result<_>>()?;
        let mut answers: BTreeMap<String, String> = BTreeMap::new();
        for record in sessions.iter().flat_map(|session| &session.records) {
            answers.insert(text_of(record, "id"), record_text(record));
        }
        let needs = |name: &str| -> Result<Vec<Need>> {
            list(&data, name).iter().map(|need| self::need(need, &answers)).collect()
        };
        Ok(Self {
            prompts: needs("prompts")?,
            nothing: list(&data, "nothing").iter().map(|it| text_of(it, "prompt")).collect(),
            actions: needs("actions")?,
            quiet: list(&data, "quiet_actions").iter().map(occasion).collect::<Result<_>>()?,
            compactions: list(&data, "compactions").to_vec(),
            sessions,
        })
    }

    /// Returns the number of records.
    pub(super) fn len(&self) -> usize {
        self.sessions.iter().map(|session| session.records.len()).sum()
    }
}

fn session(data: &Value) -> Result<Session> {
    Ok(Session {
        id: text_of(data, "id"),
        client: text_of(data, "client"),
        days_ago: data.get("days_ago").and_then(Value::as_i64).context("days_ago")?,
        summary: text_of(data, "summary"),
        records: list(data, "records").to_vec(),
    })
}

/// Parses a need. Its `also` names records that are as good as the needed one: the full text of any
/// of them counts as an answer.
fn need(data: &Value, texts: &BTreeMap<String, String>) -> Result<Need> {
    let mut answers = vec![text_of(data, "answer")];
    for also in list(data, "also").iter().filter_map(Value::as_str) {
        let text = texts.get(also).with_context(|| format!("no record {also}"))?;
        answers.push(text.clone());
    }
    ensure!(answers.iter().all(|answer| !answer.is_empty()), "{data} has no answer");
    Ok(Need {
        id: text_of(data, "id"),
        occasion: occasion(data)?,
        answers,
        small: data.get("small").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn occasion(data: &Value) -> Result<Action> {
    let text = |field| text_of(data, field);
    Ok(match data.get("event").and_then(Value::as_str) {
        None => Action::Prompt(text("prompt")),
        Some("edit") => Action::Edit(text("file")),
        Some("read") => Action::Read(text("file")),
        Some("failed") => Action::Failed { command: text("command"), output: text("output") },
        Some(other) => anyhow::bail!("`{other}` is not an event"),
    })
}

/// Returns the longest of a record's texts.
fn record_text(record: &Value) -> String {
    let fields = ["content", "detail", "concept", "status"];
    fields
        .into_iter()
        .map(|field| text_of(record, field))
        .max_by_key(String::len)
        .unwrap_or_default()
}

pub(super) fn list<'a>(data: &'a Value, field: &str) -> &'a [Value] {
    data.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn text_of(data: &Value, field: &str) -> String {
    data.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn texts(data: &Value, field: &str) -> Vec<String> {
    list(data, field).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Converts a record to the form in which an agent would stage it.
pub(super) fn part(record: &Value) -> Result<Staged> {
    let mut part = Staged::default();
    let text = |field| text_of(record, field);
    match text("kind").as_str() {
        "blueprint" => {
            let category = text("category").parse()?;
            part.blueprints.push(Blueprint::new(category, text("title"), text("content")));
        }
        "lesson" => part.lessons.push(Lesson {
            summary: text("summary"),
            detail: text("detail"),
            files: texts(record, "files"),
            ..Lesson::default()
        }),
        "anchor" => {
            part.anchors.push(Anchor::new(text("file"), text("lines").into(), text("concept")));
        }
        "note" => part.notes.push(NewNote {
            content: text("content"),
            key: Some(text("key")).filter(|key| !key.is_empty()),
            summary: text("summary"),
            tags: texts(record, "tags"),
            importance: record
                .get("importance")
                .and_then(Value::as_u64)
                .and_then(|it| u8::try_from(it).ok()),
            pinned: record.get("pinned").and_then(Value::as_bool).unwrap_or(false),
            ..NewNote::default()
        }),
        "topic" => part.topics.push(TopicPart {
            name: Some(text("name")),
            status: Some(text("status")),
            files: texts(record, "files"),
            decisions: list(record, "decisions")
                .iter()
                .map(|decision| TopicDecision {
                    question: text_of(decision, "question"),
                    decided: decision.get("decided").and_then(Value::as_str).map(str::to_owned),
                    time: Timestamp(0),
                })
                .collect(),
            ..TopicPart::default()
        }),
        other => anyhow::bail!("`{other}` is not a kind"),
    }
    Ok(part)
}

/// Builds a memory of these sessions as it was `now`.
pub(super) fn remember(sessions: &[Session], now: i64) -> Result<Memory> {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let mut memory = Memory::default();
    for (session, seq) in sessions.iter().zip(1..) {
        let start = now - session.days_ago * DAY_MS - 60 * 60 * 1000;
        let mut whole = Staged::default();
        for record in &session.records {
            whole.absorb(&part(record)?);
        }
        let by = Provenance::new(
            SessionId::new(session.id.as_str()),
            session.client.as_str().into(),
            Timestamp(start),
        );
        let save = Save {
            started: by.time,
            session_summary: &session.summary,
            part: whole,
            ..Save::default()
        };
        let plan = plan_save(&memory, &by, save)?;
        memory.apply(Seq(seq), &plan.changes);
    }
    Ok(memory)
}

/// Exports the memory of these sessions, as of `now`, in the form that `anchord import` takes.
/// Blueprints and lessons that the data pins are pinned.
pub(super) fn export(sessions: &[Session], now: i64) -> Result<Value> {
    let memory = remember(sessions, now)?;
    let pinned: Vec<String> = sessions
        .iter()
        .flat_map(|session| &session.records)
        .filter(|record| record.get("pinned").and_then(Value::as_bool) == Some(true))
        .map(|record| text_of(record, "title") + &text_of(record, "summary"))
        .filter(|title| !title.is_empty())
        .collect();
    let mut records = Vec::new();
    for record in memory.records() {
        let mut record = anchord_memory::Record::clone(record);
        record.pinned |= match &record.body {
            anchord_memory::Body::Blueprint(blueprint) => pinned.contains(&blueprint.title),
            anchord_memory::Body::Lesson(lesson) => pinned.contains(&lesson.summary),
            _ => false,
        };
        records.push(serde_json::to_value(record)?);
    }
    Ok(serde_json::json!({ "format": 1, "revision": memory.revision().0, "records": records }))
}
