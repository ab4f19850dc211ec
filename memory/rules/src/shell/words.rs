//! The expansion of words, as far as it is known before the run.

use brush_parser::word::{
    Parameter, ParameterExpr, SpecialParameter, TildeExpr, WordPiece, WordPieceWithSource,
};

use super::walk::Reader;
use super::{Word, grammar};
use crate::limits::{VALUE_CHARS_MAX, VALUES_MAX};
use crate::verdict::Unparsed;
use crate::wild::{Sym, syms};

/// The words that one written word becomes: one list for each value that it may have.
pub(super) type Alternatives = Vec<Vec<Word>>;

/// A part of a word while it is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Char(char),
    /// A character of an unquoted expansion. At white space it separates words.
    Expanded(char),
    /// An unknown part, which may separate words unless it is quoted.
    Any {
        quoted: bool,
    },
    /// Quotes around nothing, which make a word.
    Quotes,
    /// The end of a word of a list, as in `"$@"`.
    Break,
}

impl Reader<'_> {
    /// Expands a word as an argument: with braces, globs and splitting.
    pub(super) fn argument(&mut self, raw: &str) -> Alternatives {
        let Ok(texts) = grammar::braces(raw) else { return self.unreadable_word(raw) };
        let Some(texts) = texts else { return vec![vec![Word::unknown()]] };
        let mut all: Alternatives = vec![Vec::new()];
        for text in texts {
            let next = self.unbraced(&text);
            all = product(&all, &next);
        }
        all
    }

    /// Expands a word as one value, as in an assignment.
    pub(super) fn value(&mut self, raw: &str) -> Vec<Vec<Sym>> {
        let Ok(pieces) = grammar::word(raw) else {
            self.unreadable_word(raw);
            return vec![vec![Sym::Any]];
        };
        self.items(&pieces, true).into_iter().map(|items| joined(&items)).collect()
    }

    /// Expands the text of a here-document.
    pub(super) fn here_text(&mut self, raw: &str) -> Vec<Sym> {
        let Ok(pieces) = grammar::here_document(raw) else {
            self.unreadable_word(raw);
            return vec![Sym::Any];
        };
        let mut all = self.items(&pieces, true);
        match (all.pop(), all.is_empty()) {
            (Some(items), true) => joined(&items),
            _ => vec![Sym::Any],
        }
    }

    fn unreadable_word(&mut self, raw: &str) -> Alternatives {
        if let Err(why) = grammar::word(raw) {
            self.unparsed(why);
        }
        vec![vec![Word::unknown()]]
    }

    fn unbraced(&mut self, raw: &str) -> Alternatives {
        let Ok(pieces) = grammar::word(raw) else { return self.unreadable_word(raw) };
        let all = self.items(&pieces, false);
        let splits_oddly = self.is_set("IFS");
        let mut alternatives: Alternatives = Vec::new();
        for items in all {
            let words = fields(&items, splits_oddly);
            if !alternatives.contains(&words) {
                alternatives.push(words);
            }
        }
        alternatives
    }

    fn items(&mut self, pieces: &[WordPieceWithSource], quoted: bool) -> Vec<Vec<Item>> {
        if has_unread_expansion(pieces) {
            self.unparsed(Unparsed::Syntax("an expansion is not valid".to_owned()));
        }
        let mut all = vec![Vec::new()];
        for piece in pieces {
            let next = self.piece(&piece.piece, quoted);
            let total = all.len().saturating_mul(next.len());
            let next = if total > VALUES_MAX { vec![vec![Item::Any { quoted }]] } else { next };
            let with = |before: &Vec<Item>| {
                next.iter().map(|after| [before.as_slice(), after].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }

    fn piece(&mut self, piece: &WordPiece, quoted: bool) -> Vec<Vec<Item>> {
        match piece {
            WordPiece::Text(text) if quoted => vec![chars(text)],
            WordPiece::Text(text) => vec![globbed(text)],
            WordPiece::SingleQuotedText(text) => vec![in_quotes(chars(text))],
            WordPiece::AnsiCQuotedText(text) => vec![in_quotes(chars(&ansi_c(text)))],
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                self.items(pieces, true).into_iter().map(in_quotes).collect()
            }
            WordPiece::EscapeSequence(text) => {
                vec![chars(match text.strip_prefix('\\') {
                    Some("\n") => "",
                    Some(escaped) => escaped,
                    None => text,
                })]
            }
            WordPiece::TildeExpansion(TildeExpr::Home) => vec![chars("~")],
            WordPiece::TildeExpansion(TildeExpr::WorkingDir) => vec![chars(".")],
            WordPiece::TildeExpansion(_) => vec![vec![Item::Any { quoted: true }]],
            WordPiece::ParameterExpansion(expr) => self.parameter(expr, quoted),
            WordPiece::CommandSubstitution(script) => self.substituted(script, quoted),
            WordPiece::BackquotedCommandSubstitution(script) => {
                self.substituted(&unescape_backquotes(script, quoted), quoted)
            }
            WordPiece::ArithmeticExpression(expr) => {
                self.value(&expr.value);
                vec![vec![Item::Any { quoted: true }]]
            }
        }
    }

    fn substituted(&mut self, script: &str, quoted: bool) -> Vec<Vec<Item>> {
        let output = self.output_of(script);
        match output {
            Some(output) => vec![expanded(&trim_end(&output), quoted)],
            None => vec![vec![Item::Any { quoted }]],
        }
    }

    fn parameter(&mut self, expr: &ParameterExpr, quoted: bool) -> Vec<Vec<Item>> {
        let unknown = || vec![vec![Item::Any { quoted }]];
        match expr {
            ParameterExpr::Parameter { parameter, indirect: false }
            | ParameterExpr::IndicateErrorIfNullOrUnset { parameter, indirect: false, .. } => {
                if let ParameterExpr::IndicateErrorIfNullOrUnset {
                    error_message: Some(text), ..
                } = expr
                {
                    self.value(text);
                }
                self.values_of(parameter, quoted)
            }
            ParameterExpr::UseDefaultValues {
                parameter, indirect: false, default_value, ..
            }
            | ParameterExpr::AssignDefaultValues {
                parameter,
                indirect: false,
                default_value,
                ..
            } => {
                let default = default_value.clone().unwrap_or_default();
                let defaults = self.value(&default);
                if let (ParameterExpr::AssignDefaultValues { .. }, Parameter::Named(name)) =
                    (expr, parameter)
                {
                    self.assign(name, defaults.clone());
                }
                let mut all = self.values_of(parameter, quoted);
                all.extend(defaults.iter().map(|value| expanded(value, quoted)));
                all
            }
            ParameterExpr::UseAlternativeValue { alternative_value, .. } => {
                let alternative = alternative_value.clone().unwrap_or_default();
                let mut all = vec![Vec::new()];
                all.extend(self.value(&alternative).iter().map(|value| expanded(value, quoted)));
                all
            }
            // These change the value, and their operands may run commands.
            ParameterExpr::RemoveSmallestSuffixPattern { pattern, .. }
            | ParameterExpr::RemoveLargestSuffixPattern { pattern, .. }
            | ParameterExpr::RemoveSmallestPrefixPattern { pattern, .. }
            | ParameterExpr::RemoveLargestPrefixPattern { pattern, .. }
            | ParameterExpr::UppercaseFirstChar { pattern, .. }
            | ParameterExpr::UppercasePattern { pattern, .. }
            | ParameterExpr::LowercaseFirstChar { pattern, .. }
            | ParameterExpr::LowercasePattern { pattern, .. } => {
                if let Some(pattern) = pattern {
                    self.value(pattern);
                }
                unknown()
            }
            ParameterExpr::ReplaceSubstring { pattern, replacement, .. } => {
                self.value(pattern);
                self.value(replacement.as_deref().unwrap_or_default());
                unknown()
            }
            ParameterExpr::Substring { offset, length, .. } => {
                self.value(&offset.value);
                if let Some(length) = length {
                    self.value(&length.value);
                }
                unknown()
            }
            ParameterExpr::ParameterLength { .. } => vec![vec![Item::Any { quoted: true }]],
            _ => unknown(),
        }
    }

    fn values_of(&mut self, parameter: &Parameter, quoted: bool) -> Vec<Vec<Item>> {
        let unknown = vec![vec![Item::Any { quoted }]];
        match parameter {
            Parameter::Named(name) => match self.variable(name) {
                Some(values) => values.iter().map(|value| expanded(value, quoted)).collect(),
                None => unknown,
            },
            Parameter::NamedWithIndex { name, index } => {
                self.value(index);
                match self.array(name) {
                    Some(words) => words.iter().map(|word| expanded(&word.syms, quoted)).collect(),
                    None => unknown,
                }
            }
            Parameter::NamedWithAllIndices { name, concatenate } => match self.array(name) {
                Some(words) => vec![listed(&words, quoted, *concatenate)],
                None => vec![vec![Item::Any { quoted: quoted && *concatenate }]],
            },
            Parameter::Positional(0) => unknown,
            Parameter::Positional(number) => {
                let index = usize::try_from(*number).unwrap_or(usize::MAX);
                match self.positional() {
                    Some(words) if words.iter().all(|word| !word.splits) => {
                        let word = index.checked_sub(1).and_then(|index| words.get(index));
                        vec![word.map(|word| expanded(&word.syms, quoted)).unwrap_or_default()]
                    }
                    _ => unknown,
                }
            }
            Parameter::Special(SpecialParameter::AllPositionalParameters { concatenate }) => {
                match self.positional() {
                    Some(words) => vec![listed(&words, quoted, *concatenate)],
                    None => vec![vec![Item::Any { quoted: quoted && *concatenate }]],
                }
            }
            Parameter::Special(_) => vec![vec![Item::Any { quoted: true }]],
        }
    }
}

/// Whether plain text has the beginning of an expansion, which the parser took for text. A newer
/// shell may know it, such as `${ command; }`.
fn has_unread_expansion(pieces: &[WordPieceWithSource]) -> bool {
    let text: String = pieces
        .iter()
        .map(|piece| match &piece.piece {
            WordPiece::Text(text) => text.as_str(),
            _ => " ",
        })
        .collect();
    ["${", "$(", "`", "$["].iter().any(|begin| text.contains(begin))
}

fn chars(text: &str) -> Vec<Item> {
    text.chars().map(Item::Char).collect()
}

fn in_quotes(mut items: Vec<Item>) -> Vec<Item> {
    // A list in quotes may also be empty, and then it makes no word.
    if items.is_empty() {
        items.push(Item::Quotes);
    }
    items
}

/// Returns the items of unquoted text, in which globs are unknown.
fn globbed(text: &str) -> Vec<Item> {
    // A glob may make several words, but each fits it.
    let any = Item::Any { quoted: true };
    let mut items = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_group = "@!+?*".contains(c) && rest.peek() == Some(&'(');
        match c {
            _ if is_group => {
                let mut depth = 0_usize;
                for c in rest.by_ref() {
                    match c {
                        '(' => depth += 1,
                        ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
                items.push(any);
            }
            '*' | '?' => items.push(any),
            '[' if rest.clone().skip(1).any(|c| c == ']') => {
                rest.next();
                rest.by_ref().find(|c| *c == ']');
                items.push(any);
            }
            _ => items.push(Item::Char(c)),
        }
    }
    items
}

fn expanded(value: &[Sym], quoted: bool) -> Vec<Item> {
    let item = |sym: &Sym| match sym {
        Sym::Any => Item::Any { quoted },
        Sym::Char(c) if quoted => Item::Char(*c),
        Sym::Char('*' | '?' | '[') => Item::Any { quoted: true },
        Sym::Char(c) => Item::Expanded(*c),
    };
    value.iter().map(item).collect()
}

fn listed(words: &[Word], quoted: bool, concatenate: bool) -> Vec<Item> {
    let mut items = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            items.push(if quoted && concatenate { Item::Char(' ') } else { Item::Break });
        }
        if word.splits {
            items.push(Item::Any { quoted: false });
        } else {
            items.extend(expanded(&word.syms, quoted));
        }
    }
    items
}

/// Joins the items of one value.
fn joined(items: &[Item]) -> Vec<Sym> {
    if items.len() > VALUE_CHARS_MAX {
        return vec![Sym::Any];
    }
    let sym = |item: &Item| match item {
        Item::Char(c) | Item::Expanded(c) => Some(Sym::Char(*c)),
        Item::Any { .. } => Some(Sym::Any),
        Item::Break => Some(Sym::Char(' ')),
        Item::Quotes => None,
    };
    items.iter().filter_map(sym).collect()
}

/// Splits items into words.
fn fields(items: &[Item], splits_oddly: bool) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    for item in items {
        match item {
            Item::Break => words.extend(word.take()),
            Item::Expanded(c) if c.is_ascii_whitespace() => words.extend(word.take()),
            Item::Expanded(_) if splits_oddly => {
                let word = word.get_or_insert_default();
                word.syms.push(Sym::Any);
                word.splits = true;
            }
            Item::Char(c) | Item::Expanded(c) => {
                word.get_or_insert_default().syms.push(Sym::Char(*c));
            }
            Item::Any { quoted } => {
                let word = word.get_or_insert_default();
                word.syms.push(Sym::Any);
                word.splits |= !quoted;
            }
            Item::Quotes => {
                word.get_or_insert_default();
            }
        }
    }
    words.extend(word);
    words
}

/// Combines the alternatives of two words. Too many become unknown words.
pub(super) fn product(left: &Alternatives, right: &Alternatives) -> Alternatives {
    let unknown = vec![vec![Word::unknown()]];
    let right = if left.len().saturating_mul(right.len()) > VALUES_MAX { &unknown } else { right };
    let with = |before: &Vec<Word>| {
        right.iter().map(|after| [before.as_slice(), after].concat()).collect::<Vec<_>>()
    };
    left.iter().flat_map(with).collect()
}

fn trim_end(value: &[Sym]) -> Vec<Sym> {
    let end = value.iter().rposition(|sym| *sym != Sym::Char('\n')).map_or(0, |at| at + 1);
    value.get(..end).unwrap_or_default().to_vec()
}

fn unescape_backquotes(script: &str, quoted: bool) -> String {
    let mut out = String::new();
    let mut rest = script.chars().peekable();
    while let Some(c) = rest.next() {
        let escapes = |next: &char| "`\\$".contains(*next) || quoted && *next == '"';
        match rest.next_if(|next| c == '\\' && escapes(next)) {
            Some(next) => out.push(next),
            None => out.push(c),
        }
    }
    out
}

/// Returns the text of `$'…'`.
pub(super) fn ansi_c(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(next) = rest.next() else { break };
        let mut digits = |radix: u32, first: Option<char>, most: usize| -> u32 {
            let mut value = first.and_then(|c| c.to_digit(radix)).unwrap_or_default();
            for _ in 0..most {
                let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else { break };
                value = value * radix + digit;
                rest.next();
            }
            value
        };
        let code = match next {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            'x' => digits(16, None, 2),
            'u' => digits(16, None, 4),
            'U' => digits(16, None, 8),
            '0'..='7' => digits(8, Some(next), 2) & 0xff,
            'c' => rest.next().map_or(0, |c| u32::from(c) & 0x1f),
            '\\' | '\'' | '"' | '?' => u32::from(next),
            _ => {
                out.push('\\');
                u32::from(next)
            }
        };
        // A zero byte ends the text.
        if code == 0 {
            break;
        }
        out.extend(char::from_u32(code));
    }
    out
}

/// Returns the words that a known text splits into.
pub(super) fn split(text: &str) -> Vec<Word> {
    let word = |part: &str| Word { syms: syms(part), splits: false };
    text.split_whitespace().map(word).collect()
}
