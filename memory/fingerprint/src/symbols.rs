//! Finds definitions by rules about lines, for most languages alike. A keyword or the form of a
//! function's head begins one. Its braces or its indentation end it.
//!
//! This is no parser: it may miss a definition or its end. A match needs more than a definition.

use crate::hash;
use crate::limits::{DEFINITIONS_MAX, HEAD_LINES_MAX};
use crate::lines::Lines;

/// A named part of a file.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// The hash of its keyword's group: function, type or value.
    pub(crate) kind: u8,
    /// The hash of its name.
    pub(crate) name: u32,
    /// The hash of its name and of the names around it.
    pub(crate) path: u32,
    /// The lines from its head to its end.
    pub(crate) lines: Lines,
}

/// Words before a keyword.
const MODIFIERS: &[&str] = &[
    "abstract",
    "async",
    "data",
    "declare",
    "default",
    "export",
    "extern",
    "final",
    "inline",
    "internal",
    "local",
    "open",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "sealed",
    "static",
    "suspend",
    "unsafe",
    "virtual",
    "\"C\"",
    "const",
];

/// Keywords that begin a definition, with the kind of each.
const KEYWORDS: &[(&str, u8)] = &[
    ("fn", FUNCTION),
    ("def", FUNCTION),
    ("func", FUNCTION),
    ("fun", FUNCTION),
    ("function", FUNCTION),
    ("sub", FUNCTION),
    ("proc", FUNCTION),
    ("macro_rules!", FUNCTION),
    ("class", TYPE),
    ("struct", TYPE),
    ("enum", TYPE),
    ("trait", TYPE),
    ("interface", TYPE),
    ("union", TYPE),
    ("record", TYPE),
    ("object", TYPE),
    ("protocol", TYPE),
    ("extension", TYPE),
    ("module", TYPE),
    ("mod", TYPE),
    ("namespace", TYPE),
    ("type", TYPE),
    ("impl", IMPL),
    ("static", VALUE),
    ("const", VALUE),
    ("let", VALUE),
    ("var", VALUE),
    ("val", VALUE),
];

const FUNCTION: u8 = 1;
const TYPE: u8 = 2;
const IMPL: u8 = 3;
const VALUE: u8 = 4;

/// Words that stand before a bracket without defining a function.
const STATEMENTS: &[&str] = &[
    "assert", "await", "case", "catch", "defined", "delete", "do", "elif", "else", "elsif",
    "except", "for", "foreach", "goto", "if", "match", "new", "not", "print", "return", "sizeof",
    "switch", "throw", "typeof", "unless", "until", "using", "when", "while", "with", "yield",
];

/// A definition whose end is not found yet.
struct Open {
    at: usize,
    indent: usize,
    body: Body,
}

/// The way in which a definition ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Its head is not complete. The number is the line on which it began.
    Head(u32),
    /// It ends with a brace at its own indentation.
    Braces,
    /// It ends where a line is not indented further.
    Indented,
}

/// Returns a text's definitions in the order of their first lines.
pub(crate) fn definitions(text: &str) -> Vec<Definition> {
    let mut found: Vec<Definition> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut written = 0;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        let indent = indent(line);
        let head = head(trimmed, indent);
        close(
            &mut open,
            &mut found,
            Here { number, written, indent, line: trimmed },
            head.is_some(),
        );
        if let Some((kind, name)) = head
            && found.len() < DEFINITIONS_MAX
        {
            let around = open.last().and_then(|it| found.get(it.at)).map_or(0, |it| it.path);
            let name = hash::name(&name);
            let path = hash::short(hash::all([u64::from(around), u64::from(name)])) | 1;
            let lines = Lines { first: number, last: number };
            open.push(Open { at: found.len(), indent, body: Body::Head(number) });
            found.push(Definition { kind, name, path, lines });
        }
        read_head(&mut open, &mut found, number, trimmed);
        written = number;
    }
    for it in open {
        end(&mut found, it.at, written);
    }
    found
}

/// A line, and the number of the last line with text before it.
#[derive(Clone, Copy)]
struct Here<'a> {
    number: u32,
    written: u32,
    indent: usize,
    line: &'a str,
}

/// Ends the definitions that a line ends or that ended before it.
fn close(open: &mut Vec<Open>, found: &mut [Definition], here: Here<'_>, begins: bool) {
    while let Some(top) = open.last() {
        if here.indent > top.indent {
            return;
        }
        let first = here.line.chars().next().unwrap_or_default();
        let same = here.indent == top.indent;
        let closes = same && matches!(first, '}' | ')' | ']');
        let last = match top.body {
            Body::Head(_) if same && continues(here.line) => return,
            Body::Braces if same && first == '}' => here.number,
            // A label, a directive, or text that is not indented does not end braces.
            Body::Braces if first != '}' && !begins => return,
            Body::Indented if closes || same && is_end(here.line) => here.number,
            Body::Head(_) | Body::Braces | Body::Indented => here.written,
        };
        let at = top.at;
        open.pop();
        end(found, at, last);
        if last == here.number {
            return;
        }
    }
}

/// Finds out how the definition ends whose head a line continues.
fn read_head(open: &mut Vec<Open>, found: &mut [Definition], number: u32, line: &str) {
    let Some(top) = open.last_mut() else { return };
    let Body::Head(begun) = top.body else { return };
    let line = line.split(" //").next().unwrap_or(line).trim_end();
    let opened = line.matches('{').count();
    let closed = line.matches('}').count();
    if opened > closed {
        top.body = Body::Braces;
    } else if line.ends_with(';') || opened > 0 && line.ends_with('}') {
        let at = top.at;
        open.pop();
        end(found, at, number);
    } else if line.ends_with(':')
        || line.ends_with("=>")
        || line.ends_with('=')
        || number - begun >= HEAD_LINES_MAX
    {
        top.body = Body::Indented;
    }
}

fn end(found: &mut [Definition], at: usize, last: u32) {
    if let Some(definition) = found.get_mut(at) {
        definition.lines.last = last.max(definition.lines.first);
    }
}

fn continues(line: &str) -> bool {
    line.starts_with([')', ']', '{', '-', ':'])
        || line.starts_with("where")
        || line.starts_with("throws ")
}

fn is_end(line: &str) -> bool {
    line == "end" || line.starts_with("end ") || line.starts_with("end;")
}

fn indent(line: &str) -> usize {
    line.bytes()
        .take_while(u8::is_ascii_whitespace)
        .map(|byte| if byte == b'\t' { 8 } else { 1 })
        .sum()
}

/// Returns the kind and the name of the definition that a line begins.
fn head(line: &str, indent: usize) -> Option<(u8, String)> {
    let begins = line.chars().next()?;
    if !(begins.is_alphabetic() || matches!(begins, '_' | '~' | '*' | '"')) {
        return define(line);
    }
    let mut rest = line;
    loop {
        let word = word(rest);
        let after = rest.get(word.len()..).unwrap_or_default();
        let next = skip_brackets(word, after).trim_start();
        if let Some((_, kind)) = KEYWORDS.iter().find(|(keyword, _)| *keyword == word)
            && !(MODIFIERS.contains(&word) && is_modifier(next))
        {
            return keyword(*kind, next, indent).or_else(|| called(line, indent));
        }
        if !MODIFIERS.contains(&word) {
            return called(line, indent);
        }
        rest = next;
    }
}

/// Returns whether a keyword is a modifier here, since another keyword follows.
fn is_modifier(next: &str) -> bool {
    let next = word(next);
    MODIFIERS.contains(&next) || KEYWORDS.iter().any(|(keyword, _)| *keyword == next)
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '!' | '"' | '$')));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// Skips the brackets of `pub(crate)` and `impl<T>`.
fn skip_brackets<'a>(word: &str, text: &'a str) -> &'a str {
    let (opening, closing) = match word {
        "pub" => ('(', ')'),
        "impl" => ('<', '>'),
        _ => return text,
    };
    if !text.starts_with(opening) {
        return text;
    }
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        if char == opening {
            depth += 1;
        } else if char == closing && before != '-' {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return text.get(at + 1..).unwrap_or_default();
            }
        }
        before = char;
    }
    text
}

/// Returns the definition after a keyword.
fn keyword(kind: u8, after: &str, indent: usize) -> Option<(u8, String)> {
    if kind == IMPL {
        let name = after.split(['{']).next().unwrap_or_default();
        let name = name.split(" where").next().unwrap_or_default().trim();
        return (!name.is_empty()).then(|| (kind, name.to_owned()));
    }
    // Go names the receiver before a method.
    let (receiver, after) = match after.strip_prefix('(').and_then(|it| it.split_once(')')) {
        Some((receiver, rest)) if kind == FUNCTION => (receiver, rest.trim_start()),
        _ => ("", after),
    };
    let after = after.strip_prefix("mut ").unwrap_or(after);
    let after = after.strip_prefix("self.").unwrap_or(after);
    let name = word(after.trim_start_matches(['*', '&']));
    if name.is_empty() {
        return None;
    }
    let is_function = kind == VALUE && (after.contains("=>") || after.contains("function"));
    if kind == VALUE && !is_function && indent > 0 && name.chars().any(char::is_lowercase) {
        return None;
    }
    let kind = if is_function { FUNCTION } else { kind };
    let receiver = receiver.rsplit([' ', '*']).next().unwrap_or_default();
    Some((kind, if receiver.is_empty() { name.to_owned() } else { format!("{receiver}.{name}") }))
}

/// Returns the function that a head without a keyword defines, as in C or for a method.
fn called(line: &str, indent: usize) -> Option<(u8, String)> {
    let (before, inside) = line.split_once('(')?;
    let is_long = line.ends_with(',') && indent > 0;
    if is_long
        || line.ends_with([';', ':', '+', '|', '.', '\\'])
        || before.contains(['=', '"', '\'', '.', '{', '}', ';', '#', '@', '!', '?', '|', '+', '/'])
    {
        return None;
    }
    let mut words = before.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '~' | '$')));
    if words.clone().any(|word| STATEMENTS.contains(&word))
        || before.ends_with(' ') && !before.trim_end().contains(' ')
    {
        return None;
    }
    let name = words.rfind(|word| !word.is_empty())?;
    if name.chars().next().is_some_and(char::is_numeric) {
        return None;
    }
    let has_type = before.trim_end().contains([' ', '*', '&']);
    let opens = line.ends_with('{');
    // A test's name is the argument of a macro.
    let is_macro = !has_type && !name.chars().any(char::is_lowercase);
    let complete = line.ends_with([')', '{', '(', ',']) || opens;
    match (has_type, is_macro, opens) {
        (false, true, _) if complete => {
            let inside = inside.split(')').next().unwrap_or_default();
            Some((FUNCTION, format!("{name}({inside}")))
        }
        (true, ..) | (false, false, true) => Some((FUNCTION, name.to_owned())),
        _ => None,
    }
}

fn define(line: &str) -> Option<(u8, String)> {
    let rest = line.strip_prefix('#')?.trim_start().strip_prefix("define ")?;
    Some((VALUE, word(rest.trim_start()).to_owned()))
}
