//! Stores notes and asks questions as an agent does it: with tools, over a shim and the daemon.

use std::collections::HashMap;

use anchord_tests::{Agent, Instance, Project};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Engine;
use super::score::DEEPEST;

/// Notes in one call.
const BATCH: usize = 100;

/// A project of its own, and an agent in it.
pub(crate) struct ToolPath {
    agent: Agent,
    /// The number of the note with each id. Notes with the same content have the number of the
    /// first.
    notes: HashMap<String, usize>,
    /// The agent's directory, which is removed with this value.
    _project: Project,
}

impl ToolPath {
    pub(crate) fn store(instance: &Instance, notes: &[String]) -> Result<Self> {
        let project = Project::git();
        let mut agent = Agent::with_all_tools(instance, project.path());
        // No note may be archived.
        agent.tool("memory_configure", &json!({ "budget_tokens": 100_000_000 }));
        let mut ids = HashMap::new();
        for (batch, first) in notes.chunks(BATCH).zip((0..).step_by(BATCH)) {
            let items: Vec<Value> = batch.iter().map(|note| json!({ "content": note })).collect();
            let answer = agent.tool("memory_note", &json!({ "items": items }));
            let stored: Vec<&str> = answer.lines().filter_map(stored).collect();
            ensure!(stored.len() == batch.len(), "not all notes were stored: {answer}");
            for (id, note) in stored.into_iter().zip(first..) {
                ids.entry(id.to_owned()).or_insert(note);
            }
        }
        Ok(Self { agent, notes: ids, _project: project })
    }
}

impl Engine for ToolPath {
    fn ask(&mut self, question: &str) -> Result<Vec<usize>> {
        let asked = json!({ "query": question, "limit": DEEPEST });
        hits(&self.agent.tool("memory_search", &asked), &self.notes)
    }
}

/// Returns the id in a line of `memory_note`'s answer, such as `Stored n12 (20 tokens)`.
fn stored(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("Stored ").or_else(|| line.strip_prefix("Had already "))?;
    rest.split_whitespace().next().filter(|word| is_id(word))
}

/// Returns the notes that an answer of `memory_search` shows, in its order. Notes that it only
/// names do not count.
pub(crate) fn hits(answer: &str, notes: &HashMap<String, usize>) -> Result<Vec<usize>> {
    let first_words = answer.lines().filter_map(|line| line.split([' ', ':']).next());
    let ids = first_words.filter(|word| is_id(word));
    ids.map(|id| notes.get(id).copied().with_context(|| format!("{id} was not stored: {answer}")))
        .collect()
}

fn is_id(word: &str) -> bool {
    let number = word.strip_prefix('n').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
