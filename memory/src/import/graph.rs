//! Imports the knowledge graph of the reference memory server: lines of JSON, each an entity or a
//! relation.
//!
//! An entity becomes one note whose key is its name. The note lists what was observed, and then the
//! relations that begin at the entity. An import of a graph that has grown adds the new items to
//! that list, and leaves alone what was changed here.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::notes::{Meeting, plan_items};
use super::source::{Candidate, ImportError, ImportStep, NamedText, Parts, Source, bare};
use super::zipmem::text;
use super::{Dated, ImportOutcome};
use crate::fold::{clip, one_line};
use crate::ids::Kind;
use crate::kinds::note::{NewNote, accept_note, tag_as_kept};
use crate::limits::{KEY_CHARS_MAX, TAG_CHARS_MAX};
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::Plan;
use crate::provenance::Provenance;

/// The source name under which imports of graphs are remembered. It is also the client of their
/// notes.
const GRAPH: &str = "server-memory";

/// The reference memory server.
pub(super) const SOURCE: Source = Source {
    name: GRAPH,
    takes: "the memory.json or memory.jsonl of the reference memory server",
    files: &["memory.json", "memory.jsonl"],
    recognises: is_graph,
    read: |texts| Ok(vec![Box::new(parse(texts)?)]),
    kinds: &[Kind::Note],
    parts: Parts::One,
    tables: &[],
};

fn is_graph(candidate: &Candidate<'_>) -> bool {
    let Some(first) = candidate.texts.first() else { return false };
    let line = bare(&first.text).lines().find(|line| !line.trim().is_empty());
    let line = line.and_then(|line| serde_json::from_str::<Map<String, Value>>(line).ok());
    let kind = line.as_ref().and_then(|line| line.get("type")).and_then(Value::as_str);
    matches!(kind, Some("entity" | "relation"))
        || (candidate.has_field("entities") && candidate.has_field("relations"))
}

/// The notes of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
struct Graph {
    items: Vec<Dated<NewNote>>,
    notes: Vec<String>,
}

impl ImportStep for Graph {
    fn found(&self) -> PerKind<usize> {
        PerKind { notes: self.items.len(), ..PerKind::default() }
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        let read = (self.found(), self.notes.as_slice());
        plan_items(memory, (GRAPH, digest), read, by, |import| {
            import.put_notes(self.items.iter().map(|it| (it, Vec::new())), Meeting::Unite);
        })
    }
}

/// An entity with its observations and relations.
#[derive(Default)]
struct Entity {
    kind: Option<String>,
    items: Vec<String>,
}

fn parse(texts: &[NamedText]) -> Result<Graph, ImportError> {
    if texts.is_empty() {
        return Err(ImportError::Empty);
    }
    let mut notes = Vec::new();
    let mut entities: BTreeMap<String, Entity> = BTreeMap::new();
    for text in texts {
        for (place, fields) in elements(text, &mut notes) {
            if let Err(why) = take(&mut entities, &fields) {
                notes.push(format!("{place}: {why}; left out"));
            }
        }
    }
    let mut items = Vec::new();
    for (name, entity) in entities {
        match note(&name, entity) {
            Ok(item) => items.push(Dated { time: None, item }),
            Err(why) => notes.push(format!("{}: {why}; left out", clip(&name, 40))),
        }
    }
    Ok(Graph { items, notes })
}

/// Returns the elements of a text with their places. Names each line that is not an object.
fn elements(of: &NamedText, notes: &mut Vec<String>) -> Vec<(String, Map<String, Value>)> {
    let name = &of.name;
    if let Ok(Value::Object(whole)) = serde_json::from_str(bare(&of.text))
        && whole.contains_key("entities")
    {
        let mut elements = Vec::new();
        for (list, kind) in [("entities", "entity"), ("relations", "relation")] {
            let values = whole.get(list).and_then(Value::as_array).into_iter().flatten();
            for (at, value) in values.enumerate() {
                let mut fields = value.as_object().cloned().unwrap_or_default();
                fields.insert("type".to_owned(), kind.into());
                elements.push((format!("{list}[{at}]"), fields));
            }
        }
        return elements;
    }
    let mut elements = Vec::new();
    for (number, line) in (1..).zip(bare(&of.text).lines()) {
        match serde_json::from_str(line) {
            _ if line.trim().is_empty() => {}
            Ok(Value::Object(fields)) => elements.push((format!("{name}:{number}"), fields)),
            Ok(_) | Err(_) => {
                notes.push(format!("{name}:{number}: is not a JSON object; left out"));
            }
        }
    }
    elements
}

fn take(
    entities: &mut BTreeMap<String, Entity>,
    fields: &Map<String, Value>,
) -> Result<(), &'static str> {
    let line = |name: &str| text(fields, name).map(|text| one_line(&text));
    match fields.get("type").and_then(Value::as_str) {
        Some("entity") => {
            let name = line("name").ok_or("name is empty")?;
            let entity = entities.entry(name).or_default();
            entity.kind = entity.kind.take().or_else(|| line("entityType"));
            let observed = fields.get("observations").and_then(Value::as_array);
            for text in observed.into_iter().flatten().filter_map(Value::as_str) {
                entity.add(text);
            }
            Ok(())
        }
        Some("relation") => {
            let from = line("from").ok_or("from is empty")?;
            let to = line("to").ok_or("to is empty")?;
            let how = line("relationType").ok_or("relationType is empty")?;
            let text = format!("{from} {how} {to}");
            entities.entry(from).or_default().add(&text);
            Ok(())
        }
        _ => Err("is neither an entity nor a relation"),
    }
}

impl Entity {
    fn add(&mut self, text: &str) {
        let item = text.trim().replace('\n', "\n  ");
        if !item.is_empty() && !self.items.contains(&item) {
            self.items.push(item);
        }
    }
}

fn note(name: &str, entity: Entity) -> Result<NewNote, String> {
    let kind = entity.kind.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    let items: String = entity.items.iter().map(|item| format!("\n- {item}")).collect();
    let tag = entity.kind.map(|kind| clip(&tag_as_kept(&kind), TAG_CHARS_MAX));
    let note = NewNote {
        content: format!("{name}{kind}{items}"),
        key: Some(name.to_owned()).filter(|name| name.chars().count() <= KEY_CHARS_MAX),
        tags: tag.into_iter().filter(|tag| !tag.is_empty()).collect(),
        ..NewNote::default()
    };
    accept_note(note).map_err(|refusal| refusal.to_string())
}

#[cfg(test)]
mod tests;
