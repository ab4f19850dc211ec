//! Detects secrets in text and replaces each by `[secret removed: <kind>]`.
//!
//! One automaton finds all candidate positions: known prefixes of tokens, words such as `password`,
//! and the `@` of an address. A rule then judges each candidate, so clean text costs one pass. The
//! rules are tables of patterns in `rules` and `names`; `values` judges what they match. When
//! in doubt, a text that only looks random stays: hashes, UUIDs, checksums, code and examples. Only
//! the value itself is removed; the words around it stay.
//!
//! The rules are our own; decision 31 names what else there is. Texts and names are all that this
//! crate knows: no records, no I/O.

mod broken;
#[cfg(test)]
mod corpus;
mod hidden;
pub mod limits;
mod names;
mod normal;
mod pattern;
mod phrases;
mod placeholders;
mod rules;
mod values;
mod words;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind, PatternID, StartKind};

use crate::limits::{SECRET_NAME_BYTES_MAX, SECRET_PASSES_MAX};
pub use hidden::is_hidden;
use normal::Normal;
use rules::Rule;
use words::{WORDS, Word};

/// The kind of a secret, in words for people: `GitHub token`, `password`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKind(&'static str);

impl SecretKind {
    /// Returns the words.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

const PRIVATE_KEY: SecretKind = SecretKind("private key");
const AUTHORIZATION: SecretKind = SecretKind("authorization value");
const URL_PASSWORD: SecretKind = SecretKind("password in a URL");
const PASSWORD: SecretKind = SecretKind("password");
const VALUE: SecretKind = SecretKind("secret value");
const JWT: SecretKind = SecretKind("JSON web token");
const SERVICE: SecretKind = SecretKind("service token");
const SEED: SecretKind = SecretKind("seed phrase");
const COOKIE: SecretKind = SecretKind("session cookie");
const SIGNATURE: SecretKind = SecretKind("signature");

/// Text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scrubbed<'a> {
    /// The text, borrowed if there was nothing to remove.
    pub text: Cow<'a, str>,
    /// The kinds of the removed secrets, in the order of their positions.
    pub removed: Vec<SecretKind>,
}

/// Removes the secrets in a text. Scrubbing the result again changes nothing.
pub fn scrub(text: &str) -> Scrubbed<'_> {
    let mut scrubbed = Scrubbed { text: Cow::Borrowed(text), removed: Vec::new() };
    // A removal may uncover another secret that the first one hid; that is rare.
    for _ in 0..SECRET_PASSES_MAX {
        let found = find(&scrubbed.text);
        if found.is_empty() {
            break;
        }
        scrubbed = Scrubbed {
            text: Cow::Owned(without(&scrubbed.text, &found)),
            removed: scrubbed.removed.into_iter().chain(found.iter().map(|f| f.kind)).collect(),
        };
    }
    scrubbed
}

/// Removes the secrets in a text that has a name, such as a fact with its key. If the text is a
/// single value, it is judged as if the name came before it.
pub fn scrub_named<'a>(name: &str, text: &'a str) -> Scrubbed<'a> {
    let scrubbed = scrub(text);
    let value = text.trim();
    if !scrubbed.removed.is_empty()
        || name.len() > SECRET_NAME_BYTES_MAX
        || value.is_empty()
        || value.contains(char::is_whitespace)
    {
        return scrubbed;
    }
    let line = format!("{} = \"{value}\"", name.trim().replace(['\n', ' '], "_"));
    match find(&line).as_slice() {
        [only] if line.get(only.range.clone()) == Some(value) => {
            let text = text.replace(value, &marker(only.kind));
            Scrubbed { text: Cow::Owned(text), removed: vec![only.kind] }
        }
        _ => scrubbed,
    }
}

/// The position of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SecretMatch {
    range: Range<usize>,
    kind: SecretKind,
    /// The confidence of the match. A token recognised by its form ranks above a value beside a
    /// word.
    sure: usize,
}

/// A candidate position, by what was matched there.
#[derive(Clone, Copy)]
enum Clue {
    /// A rule, with its number.
    Rule(usize),
    /// A word beside which a value is secret.
    Word(Word),
    /// The first line of a private key.
    KeyBlock,
    /// The beginning of a marker. Its content was never a secret.
    Marker,
}

const MARKER: &str = "[secret removed: ";

/// The length up to which the automaton knows a clue. A longer one would only make it larger.
const CLUE_BYTES: usize = 6;

/// The automaton that finds the beginnings of clues, the clues with each, and the rules.
struct Clues {
    automaton: DFA,
    clues: Vec<Vec<(&'static str, Clue)>>,
    rules: Vec<Rule>,
}

static CLUES: LazyLock<Clues> = LazyLock::new(|| {
    let (texts, rules): (Vec<&str>, Vec<Rule>) = rules::all().into_iter().unzip();
    let by_rule = texts.into_iter().enumerate().map(|(at, texts)| (texts, Clue::Rule(at)));
    let by_word = WORDS.iter().map(|(word, texts)| (*texts, Clue::Word(*word)));
    let others = [(MARKER, Clue::Marker), ("-----begin ", Clue::KeyBlock)];
    let mut clues: BTreeMap<String, Vec<(&str, Clue)>> = BTreeMap::new();
    for (texts, clue) in others.into_iter().chain(by_rule).chain(by_word) {
        for text in texts.split('|') {
            // Few bytes of other scripts, since each one makes the automaton wider.
            let bytes = if text.starts_with(|c: char| c.is_ascii()) { CLUE_BYTES } else { 4 };
            let beginning = clipped(text, bytes).to_ascii_lowercase();
            clues.entry(beginning).or_default().push((text, clue));
        }
    }
    let automaton = DFA::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .start_kind(StartKind::Unanchored)
        .build(clues.keys())
        .expect("a few short patterns fit an automaton");
    Clues { automaton, clues: clues.into_values().collect(), rules }
});

/// Returns the secrets in a text, in order and without overlaps.
fn find(text: &str) -> Vec<SecretMatch> {
    let normal = Normal::of(text);
    let mut found = find_by_clues(&normal.text);
    let found_as = |range, kind| SecretMatch { range, kind, sure: 3 };
    found.extend(rules::shapes(&normal.text).into_iter().map(|range| found_as(range, SERVICE)));
    found.extend(phrases::phrases(&normal.text).into_iter().map(|range| found_as(range, SEED)));
    for joined in broken::joined(&normal.text) {
        let tokens = find_by_clues(&joined.text);
        found.extend(tokens.into_iter().filter_map(|token| {
            Some(SecretMatch { range: joined.original(token.range.clone())?, ..token })
        }));
    }
    for found in &mut found {
        found.range = normal.original(found.range.clone());
    }
    united(found)
}

/// Returns the secrets that clues lead to.
fn find_by_clues(text: &str) -> Vec<SecretMatch> {
    let Clues { automaton, clues, rules } = &*CLUES;
    let mut found: Vec<SecretMatch> = Vec::new();
    // What is in a marker was never a secret. What is in a token or a key is part of it.
    let (mut marked, mut token, mut block) = (0, 0..0, 0);
    for (begin, bytes, clue) in automaton_hits(automaton, text) {
        for (whole, clue) in clues.get(clue.as_usize()).into_iter().flatten() {
            let at = begin..begin + whole.len();
            let is_whole = whole.len() <= bytes
                || text.get(at.clone()).is_some_and(|text| text.eq_ignore_ascii_case(whole));
            if !is_whole || at.start < marked {
                continue;
            }
            match clue {
                Clue::Marker => marked = marked.max(marker_end(text, at.end)),
                Clue::KeyBlock if at.start < block => {}
                Clue::KeyBlock => {
                    if let Some(range) = rules::key_block(text, at.start) {
                        block = range.end;
                        found.push(SecretMatch { range, kind: PRIVATE_KEY, sure: usize::MAX });
                    }
                }
                Clue::Rule(rule) => {
                    let Some(rule) = rules.get(*rule) else { continue };
                    if rule.is_token() && at.start > token.start && at.start < token.end {
                        continue;
                    }
                    let (kind, sure) = (rule.kind, rule.sure(&at));
                    let secrets = rule.beside(text, &at);
                    if rule.is_token() {
                        token = secrets.first().cloned().unwrap_or(token);
                    }
                    let is_found = !secrets.is_empty();
                    found.extend(secrets.into_iter().map(|range| SecretMatch {
                        range,
                        kind,
                        sure,
                    }));
                    if is_found {
                        break;
                    }
                }
                Clue::Word(word) => {
                    let kind = if word.is_generated() { VALUE } else { PASSWORD };
                    let values = names::beside(text, &at, *word).into_iter();
                    found.extend(values.map(|range| SecretMatch { range, kind, sure: 1 }));
                }
            }
        }
    }
    found
}

/// Returns where the automaton's patterns are: the position, the length, and the pattern.
fn automaton_hits(automaton: &DFA, text: &str) -> impl Iterator<Item = (usize, usize, PatternID)> {
    let start = automaton.start_state(Anchored::No).unwrap_or_default();
    let states = text.bytes().zip(1..).scan(start, |state: &mut StateID, (byte, end)| {
        *state = automaton.next_state(Anchored::No, *state, byte);
        Some((*state, end))
    });
    let matched = states.filter(|(state, _)| automaton.is_special(*state));
    matched.filter(|(state, _)| automaton.is_match(*state)).flat_map(move |(state, end)| {
        (0..automaton.match_len(state)).map(move |at| {
            let pattern = automaton.match_pattern(state, at);
            let bytes = automaton.pattern_len(pattern);
            (end - bytes, bytes, pattern)
        })
    })
}

/// Merges overlapping matches, keeping the kind of the most certain one.
fn united(mut found: Vec<SecretMatch>) -> Vec<SecretMatch> {
    found.sort_by_key(|found| (found.range.start, found.range.end));
    let mut united: Vec<SecretMatch> = Vec::with_capacity(found.len());
    for next in found {
        match united.last_mut() {
            Some(last) if next.range.start < last.range.end => {
                last.range.end = last.range.end.max(next.range.end);
                if next.sure > last.sure {
                    (last.kind, last.sure) = (next.kind, next.sure);
                }
            }
            _ => united.push(next),
        }
    }
    united
}

fn without(text: &str, found: &[SecretMatch]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for SecretMatch { range, kind, .. } in found {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(&marker(*kind));
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn marker(kind: SecretKind) -> String {
    format!("{MARKER}{kind}]")
}

/// Returns the end of the marker whose kind begins at `at`, or `at` itself if it is not our marker.
fn marker_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let others = [PRIVATE_KEY, PASSWORD, VALUE, SERVICE, SEED];
    let mut kinds = CLUES.rules.iter().map(|rule| rule.kind).chain(others);
    kinds
        .find(|kind| rest.strip_prefix(kind.0).is_some_and(|rest| rest.starts_with(']')))
        .map_or(at, |kind| at + kind.0.len() + 1)
}

/// Returns where a text is cut instead of at `at`, so that no marker is torn: `at` itself, or the
/// beginning of the marker that it is in.
pub fn cut_outside_markers(text: &str, at: usize) -> usize {
    let before = text.match_indices(MARKER).map(|(start, _)| start);
    let mut before = before.take_while(|start| *start < at);
    before.find(|start| marker_end(text, start + MARKER.len()) > at).unwrap_or(at)
}

/// Returns at most this many bytes, cut between characters.
fn clipped(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}

/// Skips the opening quote at `at`, with a `b` or `f` before it and a backslash.
fn open_quote(text: &str, at: usize) -> (usize, Option<char>) {
    let rest = text.get(at..).unwrap_or_default();
    let unmarked = rest.strip_prefix(['b', 'r', 'f', 'u', '@', '\\']).unwrap_or(rest);
    let opened = |rest: &str| {
        let quote = rest.chars().next().filter(|c| "\"'`".contains(*c))?;
        Some((text.len() - rest.len() + 1, Some(quote)))
    };
    opened(rest).or_else(|| opened(unmarked)).unwrap_or((at, None))
}

#[cfg(test)]
mod tests;
