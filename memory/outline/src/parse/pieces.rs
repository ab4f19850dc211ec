//! Splits a text of C or C++ into its declarations, so that one that the grammar cannot read does
//! not hide those around it.

use super::macros::{Token, tokens};

/// A declaration with the comments above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Its text.
    pub(super) text: &'a str,
    /// The byte at which it begins.
    pub(super) from: usize,
    /// The number of lines before it.
    pub(super) row: usize,
}

/// Returns the declarations of a text. Those in a namespace are declarations of their own.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut splitter = Splitter { text, from: 0, row: 0, depth: 0, at_if: Vec::new() };
    let mut pieces = Vec::new();
    let mut is_namespace = false;
    let mut before = Token { start: 0, end: 0 };
    let word = |token: Token| text.get(token.start..token.end);
    for token in tokens(text) {
        splitter.directives(before.end, token.start);
        // The first token of the next declaration shows that a body ended the last one.
        if splitter.depth == 0 && splitter.ended(before, token) {
            pieces.extend(splitter.cut(before.end));
        }
        match word(token) {
            Some("namespace") if splitter.depth == 0 && splitter.begins(token) => {
                is_namespace = true;
            }
            Some("{") if is_namespace || splitter.depth == 0 && word(before) == Some("\"C\"") => {
                is_namespace = false;
                splitter.skip_to(token.end);
            }
            Some("{") => splitter.depth += 1,
            Some("}") if splitter.depth == 0 => splitter.skip_to(token.end),
            Some("}") => splitter.depth -= 1,
            // The end of `struct a {};` and of `namespace a = b;`.
            Some(";") if splitter.depth == 0 => {
                is_namespace = false;
                pieces.extend(splitter.cut(token.end));
            }
            _ => {}
        }
        before = token;
    }
    pieces.extend(splitter.cut(text.len()));
    pieces
}

struct Splitter<'a> {
    text: &'a str,
    from: usize,
    row: usize,
    /// The open braces, without those of namespaces.
    depth: usize,
    /// The braces that were open at each `#if` that is not closed.
    at_if: Vec<usize>,
}

impl<'a> Splitter<'a> {
    /// Reads the directives between two tokens. Each branch begins with the same braces.
    fn directives(&mut self, from: usize, to: usize) {
        for line in self.text.get(from..to).unwrap_or_default().lines() {
            let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
            let directive = directive.trim_start();
            if directive.starts_with("if") {
                self.at_if.push(self.depth);
            } else if directive.starts_with("el") {
                self.depth = self.at_if.last().copied().unwrap_or(self.depth);
            } else if directive.starts_with("endif") {
                self.at_if.pop();
            }
        }
    }

    /// Returns whether a declaration begins on the line after a body.
    fn ended(&self, before: Token, token: Token) -> bool {
        let between = self.text.get(before.end..token.start).unwrap_or_default();
        self.text.get(before.start..before.end) == Some("}") && between.contains('\n')
    }

    /// Returns whether nothing but `inline` is before a token.
    fn begins(&self, token: Token) -> bool {
        let before = self.text.get(self.from..token.start).unwrap_or_default();
        let word = |token: &Token| before.get(token.start..token.end);
        tokens(before).iter().all(|it| word(it) == Some("inline"))
    }

    fn cut(&mut self, to: usize) -> Option<Piece<'a>> {
        let text = self.text.get(self.from..to)?;
        let (from, row) = (self.from, self.row);
        self.skip_to(to);
        (!text.trim().is_empty()).then_some(Piece { text, from, row })
    }

    fn skip_to(&mut self, to: usize) {
        let text = self.text.get(self.from..to).unwrap_or_default();
        self.row += text.bytes().filter(|byte| *byte == b'\n').count();
        self.from = to;
    }
}
