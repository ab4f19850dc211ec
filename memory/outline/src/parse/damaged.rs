//! Text that a grammar cannot read: what is known of it all the same.

use tree_sitter::Tree;

use super::comments::Comments;
use super::macros::without_macros;
use crate::limits::{ITEMS_MAX, NAME_CHARS_MAX, SIGNATURE_CHARS_MAX};
use crate::outline::{Item, ItemKind, Outline, clip, digest, number};

/// The way to treat a text that does not follow its grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damaged {
    /// The parts that do not follow it are skipped.
    Skipped,
    /// It is read without the macros, which the grammar cannot expand.
    WithoutMacros,
    /// Functions of a shell are also found by their first lines.
    ByLines,
}

impl Damaged {
    /// Returns a text of the same length that the grammar may read.
    pub(super) fn mended(self, text: &str) -> Option<String> {
        (self == Self::WithoutMacros).then(|| without_macros(text))
    }
}

/// Returns the bytes of a text that are not in the tree.
pub(super) fn bytes_lost(tree: &Tree) -> usize {
    let mut cursor = tree.walk();
    let mut lost = 0;
    loop {
        let node = cursor.node();
        lost += usize::from(node.is_missing());
        if node.is_error() {
            lost += node.end_byte() - node.start_byte();
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return lost;
            }
        }
    }
}

/// Adds functions and types that an outline lacks. One is there if an item has its line.
pub(super) fn add_missing(outline: &mut Outline, items: Vec<Item>) {
    for mut item in items {
        let is_there = outline.items.iter().any(|it| it.line == item.line || it.first == item.line);
        let counts = item.kind.is_function() || item.kind.has_methods();
        if is_there || !counts || outline.items.len() >= ITEMS_MAX {
            continue;
        }
        let at = outline.items.partition_point(|it| it.first <= item.first);
        let before = outline.items.get(..at).unwrap_or_default();
        let around = before.iter().filter(|it| it.last >= item.last && it.first < item.first);
        item.depth = u16::try_from(around.count()).unwrap_or(u16::MAX);
        outline.items.insert(at, item);
    }
}

/// Finds the functions of a shell by their first lines. A function ends at a bracket that is
/// indented as its first line is.
pub(super) fn functions_by_lines(text: &str, comments: Comments) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let heads = lines.iter().enumerate().filter_map(|(row, line)| Some((row, name(line)?)));
    let item = |(row, name): (usize, &str)| {
        let line = lines.get(row).copied().unwrap_or_default();
        let indent = |line: &str| line.len() - line.trim_start().len();
        let closes =
            |other: &&str| other.trim_start().starts_with('}') && indent(other) == indent(line);
        let later = lines.iter().skip(row + 1).position(closes);
        let is_short = line.trim_end().ends_with('}');
        let last = if is_short { row } else { later.map_or(row, |after| row + 1 + after) };
        let signature = line.split('{').next().unwrap_or(line);
        Item {
            kind: ItemKind::Function,
            name: clip(name, NAME_CHARS_MAX),
            signature: clip(signature.trim(), SIGNATURE_CHARS_MAX),
            first: number(row + 1),
            last: number(last + 1),
            line: number(row + 1),
            depth: 0,
            doc: comments.above(&lines, row),
            digest: digest(
                lines.get(row..=last).unwrap_or_default().iter().map(|it| it.as_bytes()),
            ),
        }
    };
    heads.map(item).collect()
}

/// Returns the name of the function that a line begins.
fn name(line: &str) -> Option<&str> {
    let line = line.trim();
    let is_end = |c: char| c.is_whitespace() || "(){}$\"'`=;|&<>#".contains(c);
    let (name, rest) = if let Some(rest) = line.strip_prefix("function ").map(str::trim_start) {
        rest.split_at(rest.find(is_end).unwrap_or(rest.len()))
    } else {
        let (name, rest) = line.split_at(line.find(is_end)?);
        rest.trim_start().strip_prefix('(')?.trim_start().strip_prefix(')')?;
        (name, rest)
    };
    // zsh gives one body to several names.
    let is_name = |c: char| c.is_whitespace() || c.is_alphanumeric() || "_-".contains(c);
    let rest = rest.trim_start_matches(is_name);
    let is_head = rest.is_empty() || rest.starts_with(['(', '{', '#', '\\']);
    (is_head && !name.is_empty()).then_some(name)
}
