//! Parses a text with tree-sitter and collects the items, by the rules of its language.
//!
//! The tree is walked once, without recursion, since its depth depends on the text. The walk reads
//! no clock: the process that parses is ended when it takes too long.

use tree_sitter::{Node, Parser, Tree};
use tree_sitter_language::LanguageFn;

use crate::language::Language;
use crate::limits::{
    IMPORT_CHARS_MAX, IMPORTS_MAX, ITEMS_MAX, KEY_LEVELS_MAX, NAME_CHARS_MAX, SIGNATURE_CHARS_MAX,
};
use crate::outline::{Form, Import, Item, ItemKind, Outline, clip, digest, number};

mod comments;
mod damaged;
mod macros;
mod pieces;
mod rule;

pub(crate) use comments::{
    COMMENTS_C, COMMENTS_HASH, COMMENTS_NONE, COMMENTS_SQL, Comments, summary,
};
pub(crate) use damaged::Damaged;
use damaged::{add_missing, bytes_lost, functions_by_lines, is_declared};
use pieces::pieces;
pub(crate) use rule::{NodeInContext, Rule, Scope, child, declares_function, import, item};

/// The way in which a language's files are read.
pub(crate) struct Grammar {
    /// The grammar.
    pub(crate) language: LanguageFn,
    /// The nodes that are items or imports. The first rule that takes a node decides.
    pub(crate) rules: &'static [&'static [Rule]],
    /// Nodes around an item whose lines are the item's too: its decorators, its `export`.
    pub(crate) wrappers: &'static [&'static str],
    /// Nodes that hold no items, such as long lists of values.
    pub(crate) pruned: &'static [&'static str],
    /// The comments that document the item below them.
    pub(crate) comments: Comments,
    /// The way to treat a text that does not follow the grammar.
    pub(crate) damaged: Damaged,
}

/// Outlines a text in a language, by its grammar.
pub(crate) fn parse(language: &'static Language, grammar: &'static Grammar, text: &str) -> Outline {
    let mut outline = Outline {
        form: Form::Code(language),
        lines: number(text.lines().count()),
        bytes: text.len() as u64,
        tokens: anchord_tokens::count(text),
        imports: Vec::new(),
        items: Vec::new(),
        left_out: 0,
        has_gaps: false,
    };
    let Some(read) = tree(grammar, text) else {
        outline.has_gaps = true;
        return outline;
    };
    let has_error = read.root_node().has_error();
    let mended = has_error.then(|| grammar.damaged.mended(text)).flatten();
    let mended = mended.and_then(|text| tree(grammar, &text));
    let mended = mended.filter(|mended| bytes_lost(mended) < bytes_lost(&read));
    outline.has_gaps = mended.as_ref().unwrap_or(&read).root_node().has_error();
    let empty = outline.clone();
    Walk::new(grammar, text, &mut outline).run(&read);
    if let Some(mended) = mended {
        let mut other = empty.clone();
        Walk::new(grammar, text, &mut other).run(&mended);
        std::mem::swap(&mut outline, &mut other);
        outline.items.retain(is_declared);
        other.items.retain(is_declared);
        add_missing(&mut outline, other.items);
    }
    if has_error && grammar.damaged == Damaged::WithoutMacros {
        outline.items.retain(is_declared);
        add_missing(&mut outline, items_in_pieces(grammar, text, &empty));
    }
    if has_error && grammar.damaged == Damaged::ByLines {
        add_missing(&mut outline, functions_by_lines(text, grammar.comments));
    }
    outline
}

/// Outlines each declaration of a text by itself.
fn items_in_pieces(grammar: &'static Grammar, text: &str, empty: &Outline) -> Vec<Item> {
    let mended = grammar.damaged.mended(text).unwrap_or_default();
    let mut items = Vec::new();
    for piece in pieces(&mended) {
        let Some(read) = tree(grammar, piece.text) else { continue };
        let mut outline = empty.clone();
        let written = text.get(piece.from..piece.from + piece.text.len()).unwrap_or_default();
        Walk::new(grammar, written, &mut outline).run(&read);
        let row = number(piece.row);
        items.extend(outline.items.into_iter().filter(is_declared).map(|item| Item {
            first: item.first + row,
            last: item.last + row,
            line: item.line + row,
            ..item
        }));
    }
    items
}

/// Parses a text. `None` if the grammar does not fit this build of the parser; a test parses with
/// each.
fn tree(grammar: &Grammar, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&grammar.language.into()).ok()?;
    parser.parse(text, None)
}

/// Stands for a body in a declaration that continues after it.
const BODY: &str = "{…}";

/// An item that is not complete: the nodes in it still follow.
struct Open {
    kind: ItemKind,
    end: usize,
}

struct Walk<'a> {
    grammar: &'static Grammar,
    text: &'a str,
    lines: Vec<&'a str>,
    outline: &'a mut Outline,
    /// The rules for each kind of node, by its number.
    rules: Vec<Vec<&'static Rule>>,
    pruned: Vec<bool>,
    open: Vec<Open>,
    /// The bytes of each item, without wrappers.
    bytes: Vec<(usize, usize)>,
}

impl<'a> Walk<'a> {
    fn new(grammar: &'static Grammar, text: &'a str, outline: &'a mut Outline) -> Self {
        let nodes: tree_sitter::Language = grammar.language.into();
        let kinds = nodes.node_kind_count();
        let id = |name: &str| usize::from(nodes.id_for_node_kind(name, true));
        let mut rules = vec![Vec::new(); kinds];
        for rule in grammar.rules.iter().copied().flatten() {
            if let Some(rules) = rules.get_mut(id(rule.node)) {
                rules.push(rule);
            }
        }
        let mut pruned = vec![false; kinds];
        for name in grammar.pruned {
            if let Some(pruned) = pruned.get_mut(id(name)) {
                *pruned = true;
            }
        }
        let (open, bytes) = (Vec::new(), Vec::new());
        Self { grammar, text, lines: text.lines().collect(), outline, rules, pruned, open, bytes }
    }

    fn run(mut self, tree: &Tree) {
        let mut cursor = tree.walk();
        let mut ancestors: Vec<Node<'_>> = Vec::new();
        loop {
            let node = cursor.node();
            let goes_down = self.visit(node, &ancestors) && cursor.goto_first_child();
            if goes_down {
                ancestors.push(node);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    self.digest_items();
                    return;
                }
                ancestors.pop();
            }
        }
    }

    /// Collects a node if it is an item or import. Returns whether to look inside it.
    fn visit(&mut self, node: Node<'_>, ancestors: &[Node<'_>]) -> bool {
        while self.open.last().is_some_and(|open| open.end <= node.start_byte()) {
            self.open.pop();
        }
        let kind = usize::from(node.kind_id());
        let scope = Scope {
            is_in_function: self.open.iter().any(|open| open.kind.is_function()),
            is_in_item: !self.open.is_empty(),
        };
        let seen = NodeInContext { node, ancestors, text: self.text, scope };
        let rule = self.rules.get(kind).into_iter().flatten().find(|rule| rule.takes(&seen));
        match rule.map(|rule| (*rule, rule.kind)) {
            None => !self.pruned.get(kind).copied().unwrap_or(false),
            Some((_, None)) => {
                self.import(node);
                false
            }
            Some((rule, Some(kind))) => {
                self.item(rule, kind, &seen);
                kind != ItemKind::Key || self.open.len() < KEY_LEVELS_MAX
            }
        }
    }

    fn import(&mut self, node: Node<'_>) {
        if self.outline.imports.len() >= IMPORTS_MAX {
            self.outline.left_out += 1;
            return;
        }
        let text = node.utf8_text(self.text.as_bytes()).unwrap_or_default();
        let text = clip(text, IMPORT_CHARS_MAX);
        let line = number(node.start_position().row + 1);
        self.outline.imports.push(Import { line, text });
    }

    fn item(&mut self, rule: &Rule, kind: ItemKind, seen: &NodeInContext<'_, '_>) {
        let Some(name) = rule.name_of(seen) else { return };
        let node = seen.node;
        let wrappers = self.grammar.wrappers;
        let is_wrapper = |around: &&&Node<'_>| wrappers.contains(&around.kind());
        let outer = seen.ancestors.iter().rev().take_while(|it| is_wrapper(&it)).last();
        let outer = outer.copied().unwrap_or(node);
        let is_member = self.open.last().is_some_and(|open| open.kind.has_methods());
        let kind = match kind {
            ItemKind::Function if is_member => ItemKind::Method,
            kind => kind,
        };
        if self.outline.items.len() < ITEMS_MAX {
            let first = outer.start_position().row;
            let item = Item {
                kind,
                name: clip(&name.text, NAME_CHARS_MAX),
                signature: self.signature(rule, seen, outer),
                first: number(first + 1),
                last: number(last_row(node).max(last_row(outer)).max(first) + 1),
                line: number(name.row + 1),
                depth: u16::try_from(self.open.len()).unwrap_or(u16::MAX),
                doc: rule
                    .doc_of(seen)
                    .unwrap_or_else(|| self.grammar.comments.above(&self.lines, first)),
                digest: 0,
            };
            self.outline.items.push(item);
            self.bytes.push((outer.start_byte(), outer.end_byte().max(node.end_byte())));
        } else {
            self.outline.left_out += 1;
        }
        self.open.push(Open { kind, end: node.end_byte() });
    }

    /// Returns the declaration without its body.
    fn signature(&self, rule: &Rule, seen: &NodeInContext<'_, '_>, outer: Node<'_>) -> String {
        let node = seen.node;
        let start = outer.start_byte().min(node.start_byte());
        let body = rule.body_of(seen);
        let end = body.map_or(node.end_byte(), |body| body.start_byte()).max(node.start_byte());
        let text = self.text.get(start..end).unwrap_or_default();
        let text = match rule.until {
            Some(until) if body.is_none() => text.split(until).next().unwrap_or(text),
            _ => text,
        };
        let rest = body.filter(|_| rule.continues);
        let rest = rest.and_then(|body| self.text.get(body.end_byte()..node.end_byte()));
        let whole = rest.map(|rest| format!("{} {BODY}{rest}", text.trim_end()));
        let text = whole.as_deref().unwrap_or(text);
        let is_marker = |line: &&str| {
            let line = line.trim();
            // An annotation may stand before its declaration on the same line.
            line.starts_with(['@', '[']) && !line.contains(['(', '{']) && !line.contains(' ')
                || line.starts_with('@') && line.ends_with(')')
                || line.starts_with('[') && line.ends_with(']')
                || line.is_empty()
        };
        let lines: Vec<&str> = text.lines().collect();
        let declared = lines.iter().position(|line| !is_marker(line)).unwrap_or(0);
        let text = lines.get(declared..).unwrap_or_default().join("\n");
        let text = text.trim_end_matches(|c: char| c.is_whitespace() || "={:;,|".contains(c));
        let text = clip(text.trim_end_matches("=>").trim_end(), SIGNATURE_CHARS_MAX);
        // Parameters that had a line each.
        text.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    }

    /// Digests each item's text without the items in it. An item's items follow it.
    fn digest_items(&mut self) {
        let text = self.text.as_bytes();
        for at in 0..self.outline.items.len() {
            let Some(&(start, end)) = self.bytes.get(at) else { break };
            let depth = self.outline.items.get(at).map_or(0, |item| item.depth);
            let later = self.outline.items.iter().zip(&self.bytes).skip(at + 1);
            let inside = later.take_while(|(item, _)| item.depth > depth);
            let inside = inside.filter(|(item, _)| item.depth == depth + 1);
            let mut parts = Vec::new();
            let mut from = start;
            for (_, (inner_start, inner_end)) in inside {
                parts.extend(text.get(from..*inner_start));
                from = (*inner_end).max(from);
            }
            parts.extend(text.get(from..end));
            let digest = digest(parts);
            if let Some(item) = self.outline.items.get_mut(at) {
                item.digest = digest;
            }
        }
    }
}

/// Returns the row on which a node's text ends. A node that ends with its line's end belongs to
/// that line.
fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}

#[cfg(test)]
mod tests;
