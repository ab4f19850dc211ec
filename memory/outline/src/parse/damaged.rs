//! Text that a grammar cannot read: what is known of it all the same.

use std::cmp::Reverse;

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

/// Returns whether an item is a declaration. Otherwise it began in the body of another one, which
/// the parser took for a type.
pub(super) fn is_declared(item: &Item) -> bool {
    let head = item.signature.split('(').next().unwrap_or_default();
    let is_name = !item.name.contains(['{', ';']) && !item.name.contains("template ");
    is_name && !(item.kind.is_function() && head.contains('{'))
}

/// Adds functions and types that an outline lacks. One is there if a function or type has its line,
/// or if something else has its name there.
pub(super) fn add_missing(outline: &mut Outline, items: Vec<Item>) {
    let mut added = false;
    for item in items {
        let counts = |item: &Item| item.kind.is_function() || item.kind.has_methods();
        let is_it = |it: &Item| {
            (it.line == item.line || it.first == item.line) && (counts(it) || it.name == item.name)
        };
        if outline.items.iter().any(is_it) || !counts(&item) || outline.items.len() >= ITEMS_MAX {
            continue;
        }
        let after = |it: &Item| (it.first, Reverse(it.last)) <= (item.first, Reverse(item.last));
        let at = outline.items.partition_point(after);
        outline.items.insert(at, item);
        added = true;
    }
    if added {
        nest(&mut outline.items);
    }
}

/// Sets the depth of each item by the lines of those before it.
fn nest(items: &mut [Item]) {
    let mut around: Vec<Item> = Vec::new();
    for item in items {
        let holds = |outer: &Item| {
            let is_before = outer.first < item.first
                || outer.first == item.first && outer.last > item.last
                || outer.first == item.first && outer.depth < item.depth;
            is_before && item.last <= outer.last
        };
        while around.last().is_some_and(|outer| !holds(outer)) {
            around.pop();
        }
        let written = item.clone();
        item.depth = u16::try_from(around.len()).unwrap_or(u16::MAX);
        let is_member = around.last().is_some_and(|outer| outer.kind.has_methods());
        if item.kind == ItemKind::Function && is_member {
            item.kind = ItemKind::Method;
        }
        around.push(written);
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
        let is_end = |c: char| is_end(c) && !"{}$".contains(c);
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
    // A body without a name, or a name that a text gets later.
    let is_none = name.is_empty() || name == "{" || name.starts_with('$');
    (is_head && !is_none).then_some(name)
}
