//! Outlines a text of no known language by its headings, else by its blocks.

use crate::limits::{BLOCKS_MAX, NAME_CHARS_MAX};
use crate::outline::{Form, Item, ItemKind, Outline, clip, digest, number};

/// Outlines a text.
pub fn outline_text(text: &str) -> Outline {
    let lines: Vec<&str> = text.lines().collect();
    let headings = headings(&lines);
    let items = if headings.len() > 1 { sections(&lines, &headings) } else { blocks(&lines) };
    Outline {
        form: Form::Text,
        lines: number(lines.len()),
        bytes: text.len() as u64,
        tokens: anchord_tokens::count(text),
        imports: Vec::new(),
        left_out: number(items.len().saturating_sub(crate::limits::ITEMS_MAX)),
        items: items.into_iter().take(crate::limits::ITEMS_MAX).collect(),
        has_gaps: false,
    }
}

/// A line that is a heading.
struct Heading {
    at: usize,
    level: usize,
    name: String,
}

fn headings(lines: &[&str]) -> Vec<Heading> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim_end();
        let below = lines.get(at + 1).map_or("", |line| line.trim());
        let level = match trimmed.as_bytes() {
            [b'#', ..] => {
                let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
                let rest = trimmed.get(level..).unwrap_or_default();
                (level <= 6 && rest.starts_with(' ')).then_some(level)
            }
            // A section of a settings file.
            [b'[', .., b']'] if trimmed.len() > 2 => Some(1),
            [b'=', b'=', ..] => {
                let level = trimmed.bytes().take_while(|byte| *byte == b'=').count();
                trimmed.get(level..).is_some_and(|rest| rest.starts_with(' ')).then_some(level)
            }
            [first, ..] if !first.is_ascii_whitespace() && is_rule(below) => {
                Some(if below.starts_with(['=', '#']) { 1 } else { 2 })
            }
            _ => None,
        };
        let name = trimmed.trim_matches(['#', '=', ' ', '[', ']']);
        if let Some(level) = level
            && name.chars().any(char::is_alphanumeric)
        {
            found.push(Heading { at, level, name: clip(name, NAME_CHARS_MAX) });
        }
    }
    found
}

/// Returns whether a line underlines the one above it.
fn is_rule(line: &str) -> bool {
    let first = line.chars().next().unwrap_or_default();
    line.len() >= 3 && "=-~^".contains(first) && line.chars().all(|char| char == first)
}

fn sections(lines: &[&str], headings: &[Heading]) -> Vec<Item> {
    let mut around: Vec<usize> = Vec::new();
    let mut items = Vec::new();
    for (index, heading) in headings.iter().enumerate() {
        let later = headings.iter().skip(index + 1);
        let end = later.clone().find(|next| next.level <= heading.level);
        let end = end.map_or(lines.len(), |next| next.at);
        let own_end = later.clone().next().map_or(lines.len(), |next| next.at).min(end);
        around.retain(|level| *level < heading.level);
        let own = lines.get(heading.at..own_end).unwrap_or_default();
        let item = section(ItemKind::Section, &heading.name, heading.at, end, own);
        items.push(Item { depth: u16::try_from(around.len()).unwrap_or(u16::MAX), ..item });
        around.push(heading.level);
    }
    items
}

/// Lists the parts between blank lines, or longer parts if there are many.
fn blocks(lines: &[&str]) -> Vec<Item> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let mut start = None;
    for (at, line) in lines.iter().chain([&""]).enumerate() {
        match (start, line.trim().is_empty()) {
            (None, false) => start = Some(at),
            (Some(first), true) => {
                parts.push((first, at));
                start = None;
            }
            _ => {}
        }
    }
    let together = parts.len().div_ceil(BLOCKS_MAX).max(1);
    let block = |parts: &[(usize, usize)]| {
        let ((first, _), (_, end)) = (*parts.first()?, *parts.last()?);
        let name = clip(lines.get(first)?, NAME_CHARS_MAX);
        Some(section(ItemKind::Block, &name, first, end, lines.get(first..end)?))
    };
    parts.chunks(together).filter_map(block).collect()
}

fn section(kind: ItemKind, name: &str, at: usize, end: usize, own: &[&str]) -> Item {
    Item {
        kind,
        name: name.to_owned(),
        signature: name.to_owned(),
        first: number(at + 1),
        last: number(end.max(at + 1)),
        line: number(at + 1),
        depth: 0,
        doc: String::new(),
        digest: digest(own.iter().flat_map(|line| [line.as_bytes(), b"\n"])),
    }
}

#[cfg(test)]
mod tests;
