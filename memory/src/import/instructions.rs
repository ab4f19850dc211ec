//! Imports sections of the files that instruct agents, on request. Each becomes a blueprint that
//! may be replaced.
//!
//! A section begins at a heading of the first or second level. Marked blocks of tools, such as
//! anchord's own, are left out.

use super::notes::plan_items;
use super::source::{ImportStep, NamedText, Parts, Source, bare};
use super::{Dated, ImportOutcome};
use crate::fold::{fold, one_line};
use crate::ids::Kind;
use crate::memory::Memory;
use crate::per_kind::PerKind;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::record::{Blueprint, Category};

/// The source name under which imports of such files are remembered, and on the wire. It is also
/// the client of their records.
pub const INSTRUCTIONS: &str = "instructions";

/// Files that instruct agents. They are read on request alone.
pub(super) const SOURCE: Source = Source {
    name: INSTRUCTIONS,
    takes: "",
    files: &[],
    recognises: |_| false,
    read: |texts| Ok(vec![Box::new(parse(texts))]),
    kinds: &[Kind::Blueprint],
    parts: Parts::One,
    tables: &[],
};

/// The sections of some files.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sections {
    blueprints: Vec<Blueprint>,
    notes: Vec<String>,
}

impl ImportStep for Sections {
    fn found(&self) -> PerKind<usize> {
        PerKind { blueprints: self.blueprints.len(), ..PerKind::default() }
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        let read = (self.found(), self.notes.as_slice());
        plan_items(memory, (INSTRUCTIONS, digest), read, by, |import| {
            let dated = |item: &Blueprint| Dated { time: None, item: item.clone() };
            let dated: Vec<Dated<Blueprint>> = self.blueprints.iter().map(dated).collect();
            import.put_blueprints(dated.iter().map(|it| (it, Vec::new())));
        })
    }
}

fn parse(texts: &[NamedText]) -> Sections {
    let mut sections = Sections::default();
    for NamedText { name, text } in texts {
        let (text, blocks) = without_blocks(bare(text));
        if blocks > 0 {
            let block = if blocks == 1 { "block of a tool is" } else { "blocks of tools are" };
            sections.notes.push(format!("{name}: {blocks} {block} left out"));
        }
        for (title, content) in split(&text) {
            let title = title.unwrap_or_else(|| name.clone());
            // Titles that differ in case alone name one blueprint.
            let same_title = |known: &&Blueprint| fold(&known.title) == fold(&title);
            let known = sections.blueprints.iter().find(same_title);
            if known.is_some_and(|known| known.content == content) {
                continue;
            }
            // Two files, or two sections of one, may have the same heading.
            let title = if known.is_some() { format!("{title} ({name})") } else { title };
            let folded = fold(&title);
            if let Some(known) = sections.blueprints.iter_mut().find(|it| fold(&it.title) == folded)
            {
                known.content = format!("{}\n\n{content}", known.content);
                continue;
            }
            let category = Category::Convention;
            let blueprint = Blueprint::new(category, title, content);
            sections.blueprints.push(Blueprint { immutable: false, ..blueprint });
        }
    }
    sections
}

/// Removes marked blocks: the lines from `<!-- NAME:start … -->` to `<!-- NAME:end -->`. Returns
/// the number of blocks. A block without an end is left.
fn without_blocks(text: &str) -> (String, usize) {
    let (mut rest, mut blocks) = (String::new(), 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mark = line.trim().strip_prefix("<!-- ").and_then(|line| line.split_once(":start"));
        let end = mark.map(|(name, _)| format!("<!-- {name}:end -->"));
        let after = end.and_then(|end| {
            let mut after = lines.clone();
            after.find(|line| line.trim() == end).map(|_| after)
        });
        if let Some(after) = after {
            lines = after;
            blocks += 1;
        } else {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    (rest, blocks)
}

/// Splits a text at its headings. Leaves out sections without text.
fn split(text: &str) -> Vec<(Option<String>, String)> {
    let mut sections: Vec<(Option<String>, String)> = vec![(None, String::new())];
    let mut in_fence = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        let heading = line.strip_prefix("# ").or_else(|| line.strip_prefix("## "));
        match heading.map(one_line).filter(|title| !in_fence && !title.is_empty()) {
            Some(title) => sections.push((Some(title), String::new())),
            None => {
                if let Some((_, content)) = sections.last_mut() {
                    content.push_str(line);
                    content.push('\n');
                }
            }
        }
    }
    let trimmed = sections.into_iter().map(|(title, text)| (title, text.trim().to_owned()));
    trimmed.filter(|(_, text)| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests;
