//! The sentence of a text that says what to do, and texts put so that it comes first.
//!
//! Agents write a lesson as a story with the advice somewhere in it. A reader with room for one sentence needs that one.
//! Which one it is, is told by words that give advice, by code set in backquotes, and by the words of a query.

use std::ops::Range;

use crate::fold::{clip, one_line};
use crate::search::Query;

/// Words that give advice, in the languages that agents most often write: English, German, Spanish, French.
const ADVICE: [&str; 72] = [
    "always",
    "avoid",
    "before",
    "call",
    "check",
    "do",
    "don't",
    "ensure",
    "first",
    "fix",
    "fixed",
    "instead",
    "keep",
    "must",
    "never",
    "not",
    "only",
    "pass",
    "prefer",
    "put",
    "remember",
    "restart",
    "run",
    "set",
    "should",
    "so",
    "then",
    "therefore",
    "use",
    "needs",
    "need",
    "required",
    "workaround",
    "remedy",
    "solution",
    "wait",
    "write",
    "immer",
    "nie",
    "niemals",
    "nicht",
    "nur",
    "statt",
    "muss",
    "müssen",
    "verwenden",
    "deshalb",
    "zuerst",
    "lösung",
    "stattdessen",
    "darf",
    "siempre",
    "nunca",
    "usar",
    "solo",
    "sólo",
    "debe",
    "deben",
    "hay",
    "primero",
    "solución",
    "toujours",
    "jamais",
    "utiliser",
    "faut",
    "doit",
    "doivent",
    "avant",
    "seulement",
    "plutôt",
    "lancer",
    "abord",
];
/// What advice weighs, and code.
const ADVICE_WEIGHT: f32 = 1.0;
const CODE_WEIGHT: f32 = 0.75;
/// A word of the query weighs this much, so that two of them outweigh advice.
const QUERY_WEIGHT: f32 = 1.5;

/// The sentences of a text, in order: each ends with its sign and white space, or with the line. Code in backquotes is not
/// divided.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    let mut in_code = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        in_code ^= c == '`';
        let ends = match c {
            '\n' => {
                in_code = false;
                true
            }
            '.' | '!' | '?' | ';' => !in_code && next.is_none_or(char::is_whitespace),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends {
            found.push(from..end);
            from = end;
        }
    }
    found.push(from..text.len());
    let texts = found.into_iter().filter_map(|range| text.get(range)).map(str::trim);
    texts.filter(|text| text.chars().any(char::is_alphanumeric)).collect()
}

/// The sentence that says what to do, or that has most of what is asked; of equals the first. Empty when there is none.
pub(crate) fn gist<'t>(text: &'t str, query: Option<&Query>) -> &'t str {
    let mut best = ("", f32::MIN);
    for sentence in sentences(text) {
        let weight = weight(sentence, query);
        if weight > best.1 {
            best = (sentence, weight);
        }
    }
    best.0
}

fn weight(sentence: &str, query: Option<&Query>) -> f32 {
    let words =
        sentence.split(|c: char| !(c.is_alphanumeric() || c == '\'')).map(str::to_lowercase);
    let advice = words.filter(|word| ADVICE.contains(&word.as_str())).count().min(2);
    let code = if sentence.matches('`').count() >= 2 { CODE_WEIGHT } else { 0.0 };
    let asked = query.map_or(0, |query| query.terms_in(sentence).count());
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let (advice, asked) = (advice as f32, asked as f32);
    ADVICE_WEIGHT * advice.sqrt() + code + QUERY_WEIGHT * asked
}

/// A text in at most so many characters on one line, the sentence that matters first; a text that fits stays as it is.
pub(crate) fn gist_first(text: &str, query: Option<&Query>, chars_max: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= chars_max {
        return line;
    }
    let first = one_line(gist(text, query));
    if first.is_empty() || line.starts_with(&first) {
        return clip(&line, chars_max);
    }
    clip(&format!("{first} … {line}"), chars_max)
}

#[cfg(test)]
mod tests;
