//! Finds the sentence of a text that says what to do, and puts it first.
//!
//! Agents write a lesson as a story with the advice somewhere in it. A reader with room for one
//! sentence needs that one. It is recognised by words that give advice, by code in backquotes, and
//! by the words of a query.

use std::ops::Range;

use crate::fold::{clip_words, one_line};
use crate::limits::TITLE_CHARS_MAX;
use crate::search::Query;

/// Words that give advice, in the languages that agents most often write: English, German, Spanish
/// and French.
const ADVICE: &[&str] = &[
    "always",
    "avoid",
    "don't",
    "ensure",
    "instead",
    "must",
    "prefer",
    "remember",
    "remove",
    "restart",
    "should",
    "use",
    "workaround",
    "remedy",
    "solution",
    "immer",
    "statt",
    "muss",
    "müssen",
    "verwenden",
    "lösung",
    "stattdessen",
    "darf",
    "siempre",
    "usar",
    "debe",
    "deben",
    "hay",
    "solución",
    "toujours",
    "utiliser",
    "faut",
    "doit",
    "doivent",
    "lancer",
];
/// Words that give advice where a clause begins with them: "never rename it" and "call Ada" do, "it
/// never shows" and "whom to call" do not. Elsewhere they are hints.
const OPENING_ADVICE: &[&str] = &[
    "ask", "call", "check", "compare", "fix", "keep", "pass", "run", "set", "wait", "never", "nie",
    "niemals", "nunca", "jamais",
];
/// Words that join two clauses.
const JOINING: &[&str] = &["and", "but", "or", "so", "then", "und", "oder", "y", "o", "et", "ou"];
/// Words that are often part of advice, and often not.
const HINTS: &[&str] = &[
    "before",
    "first",
    "not",
    "only",
    "so",
    "then",
    "needs",
    "need",
    "required",
    "nicht",
    "nur",
    "zuerst",
    "deshalb",
    "solo",
    "sólo",
    "primero",
    "avant",
    "seulement",
    "abord",
];
/// The weights of advice, of a hint at it, and of code.
const ADVICE_WEIGHT: f32 = 1.0;
const HINT_WEIGHT: f32 = 0.4;
const CODE_WEIGHT: f32 = 0.75;
/// The weight of a query word, chosen so that two of them outweigh advice.
const QUERY_WEIGHT: f32 = 1.5;

/// Returns the sentences of a text, in order. Each ends with its punctuation and white space, or
/// with the line. Code in backquotes is not divided.
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

/// Divides a text into its first sentence, as a title, and the rest. A sentence that is too long
/// for a title is cut, and the rest is then the whole text.
pub(crate) fn first_sentence(text: &str) -> (String, String) {
    let text = text.trim();
    let first = sentences(text).first().copied().unwrap_or(text);
    let rest = text.split_once(first).map_or("", |(_, rest)| rest).trim();
    let title = first.strip_suffix('.').unwrap_or(first);
    let clipped = clip_words(title, TITLE_CHARS_MAX);
    if clipped == title { (clipped, rest.to_owned()) } else { (clipped, text.to_owned()) }
}

/// Returns the sentence that says what to do, or that best matches the query; empty if there is
/// none. Among equals that give advice it is the last, since stories end with it; otherwise the
/// first.
pub(crate) fn gist<'t>(text: &'t str, query: Option<&Query>) -> &'t str {
    let mut best = ("", -1.0);
    for sentence in sentences(text) {
        let weight = weight(sentence, query);
        if weight > best.1 || weight > 0.0 && weight >= best.1 {
            best = (sentence, weight);
        }
    }
    best.0
}

fn weight(sentence: &str, query: Option<&Query>) -> f32 {
    let (mut advice, mut hints): (u8, u8) = (0, 0);
    for clause in sentence.split([',', ';', ':', '(', '–', '—']) {
        let words = clause.split(|c: char| !(c.is_alphanumeric() || c == '\''));
        let mut begins = true;
        for word in words.filter(|word| !word.is_empty()).map(str::to_lowercase) {
            let word = word.as_str();
            let opens = OPENING_ADVICE.contains(&word);
            advice += u8::from(advice < 2 && (ADVICE.contains(&word) || opens && begins));
            hints += u8::from(hints < 2 && (HINTS.contains(&word) || opens && !begins));
            begins = JOINING.contains(&word);
        }
    }
    let code = if sentence.matches('`').count() >= 2 { CODE_WEIGHT } else { 0.0 };
    let asked = query.map_or(0, |query| query.terms_in(sentence).count());
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let asked = QUERY_WEIGHT * asked as f32;
    ADVICE_WEIGHT * f32::from(advice).sqrt() + HINT_WEIGHT * f32::from(hints).sqrt() + code + asked
}

/// Returns a text on one line of at most `chars_max` characters, with the sentence that matters
/// first. A text that fits keeps its order.
pub(crate) fn gist_first(text: &str, query: Option<&Query>, chars_max: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= chars_max {
        return line;
    }
    let first = one_line(gist(text, query));
    if first.is_empty() || line.starts_with(&first) {
        return clip_words(&line, chars_max);
    }
    // The sentence is not repeated at its place in the text.
    let rest = line.split_once(first.as_str()).map_or_else(
        || line.clone(),
        |(before, after)| format!("{} {}", before.trim_end(), after.trim_start()),
    );
    let mark = if first.ends_with('…') { "" } else { " …" };
    clip_words(&format!("{first}{mark} {}", rest.trim_end()), chars_max)
}

#[cfg(test)]
mod tests;
