//! Detects secrets in text and replaces each by `[secret removed: <kind>]`.
//!
//! One automaton finds all candidate positions: known prefixes of tokens, words such as `password`,
//! and `://`. A small rule then judges each candidate, so clean text costs one pass. When in doubt,
//! a rule keeps text that only looks random: hashes, UUIDs, checksums, code and examples stay. Only
//! the value itself is removed; the words around it stay.
//!
//! The token shapes are those that their issuers document. The rules are our own. The maintained
//! set (gitleaks') has hundreds of regular expressions that would run over every write. The
//! lightweight Rust crates take commit hashes for secrets.

mod alphabet;
mod broken;
mod commands;
#[cfg(test)]
mod corpus;
mod examples;
mod near;
mod normal;
mod phrases;
mod places;
mod runs;
mod shapes;
mod tokens;
mod values;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::limits::{SECRET_NAME_BYTES_MAX, SECRET_PASSES_MAX};
use commands::{COMMANDS, Command};
use normal::Normal;
use runs::Runs;
use tokens::{TOKENS, Token};
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
#[derive(Clone, Copy, Debug)]
enum Clue {
    Token(&'static Token),
    KeyBlock,
    Jwt,
    Authorization,
    Bearer,
    Url,
    /// The name of a command that takes a password in an option.
    Command(&'static Command),
    /// A command that reads a password; `true` if a user name comes before it.
    Piped(bool),
    Telegram,
    Azure,
    Terraform,
    Cookie,
    /// The signature of a URL that grants access by itself.
    Signature,
    Oracle,
    PuttyKey,
    Word(Word),
    /// The beginning of a marker. Its content was never a secret.
    Marker,
}

const MARKER: &str = "[secret removed: ";

static CLUES: LazyLock<(AhoCorasick, Vec<Clue>)> = LazyLock::new(|| {
    let mut patterns: Vec<(&str, Clue)> = vec![
        (MARKER, Clue::Marker),
        ("-----begin ", Clue::KeyBlock),
        ("eyj", Clue::Jwt),
        ("authorization", Clue::Authorization),
        ("bearer ", Clue::Bearer),
        ("://", Clue::Url),
        ("chpasswd", Clue::Piped(true)),
        ("sudo -s", Clue::Piped(false)),
        (":a", Clue::Telegram),
        ("q~", Clue::Azure),
        (".atlasv1.", Clue::Terraform),
        ("cookie:", Clue::Cookie),
        ("key is ", Clue::Bearer),
        ("&sig=", Clue::Signature),
        (":thin:", Clue::Oracle),
        ("putty-user-key-file-", Clue::PuttyKey),
    ];
    patterns.extend(COMMANDS.iter().map(|command| (command.name, Clue::Command(command))));
    patterns.extend(WORDS.iter().map(|(text, word)| (*text, Clue::Word(*word))));
    patterns.extend(TOKENS.iter().map(|token| (token.prefix, Clue::Token(token))));
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(patterns.iter().map(|(text, _)| text))
        .expect("a few short patterns fit an automaton");
    (automaton, patterns.into_iter().map(|(_, clue)| clue).collect())
});

/// Returns the secrets in a text, in order and without overlaps.
fn find(text: &str) -> Vec<SecretMatch> {
    let normal = Normal::of(text);
    let mut found = find_by_clues(&normal.text);
    let found_as = |range, kind| SecretMatch { range, kind, sure: 3 };
    found.extend(shapes::shapes(&normal.text).into_iter().map(|range| found_as(range, SERVICE)));
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
    let (automaton, clues) = &*CLUES;
    let mut found: Vec<SecretMatch> = Vec::new();
    let mut runs = Runs::of(text);
    let mut marked = 0;
    for hit in automaton.find_overlapping_iter(text) {
        let Some(clue) = clues.get(hit.pattern().as_usize()) else { continue };
        let (start, end) = (hit.start(), hit.end());
        let one = |range: Option<Range<usize>>, kind, sure| {
            range.map(|range| SecretMatch { range, kind, sure })
        };
        let many = |ranges: Vec<Range<usize>>, kind, sure| {
            ranges.into_iter().map(|range| SecretMatch { range, kind, sure }).collect::<Vec<_>>()
        };
        let secret = match clue {
            Clue::Marker => {
                marked = marked.max(marker_end(text, end));
                None
            }
            _ if start < marked => None,
            Clue::Token(token) => {
                one(token.at(&mut runs, start..end), SecretKind(token.kind), token.sure())
            }
            Clue::KeyBlock => {
                let inside = found.last().is_some_and(|last| start < last.range.end);
                one(
                    if inside { None } else { places::key_block(text, start) },
                    PRIVATE_KEY,
                    usize::MAX,
                )
            }
            Clue::PuttyKey => one(places::putty_key(text, start), PRIVATE_KEY, usize::MAX),
            Clue::Jwt => one(tokens::jwt(&mut runs, start..end), JWT, 3),
            Clue::Authorization => one(places::authorization(text, end), AUTHORIZATION, 2),
            Clue::Bearer => one(places::bearer(text, end), AUTHORIZATION, 2),
            Clue::Url => one(places::url_password(text, start), URL_PASSWORD, 2),
            Clue::Oracle => one(places::oracle_password(text, end), URL_PASSWORD, 2),
            Clue::Signature => one(places::signature(text, end), SIGNATURE, 2),
            Clue::Command(command) => {
                one(commands::password(text, start..end, command), PASSWORD, 1)
            }
            Clue::Piped(has_user) => one(commands::piped(text, start, *has_user), PASSWORD, 1),
            Clue::Telegram => one(shapes::telegram(text, start), SERVICE, 3),
            Clue::Azure => one(shapes::azure(text, start), SERVICE, 3),
            Clue::Terraform => one(shapes::terraform(text, start..end), SERVICE, 3),
            Clue::Cookie => {
                found.extend(many(places::cookies(text, end), COOKIE, 1));
                None
            }
            Clue::Word(word) => {
                let kind = if word.is_generated() { VALUE } else { PASSWORD };
                found.extend(many(near::beside(text, start..end, *word), kind, 1));
                None
            }
        };
        found.extend(secret);
    }
    found
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
    let others = [
        PRIVATE_KEY,
        AUTHORIZATION,
        URL_PASSWORD,
        PASSWORD,
        VALUE,
        JWT,
        SERVICE,
        SEED,
        COOKIE,
        SIGNATURE,
    ];
    let rest = text.get(at..).unwrap_or_default();
    let names = others.into_iter().map(SecretKind::name);
    names
        .chain(TOKENS.iter().map(|token| token.kind))
        .find(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(']')))
        .map_or(at, |name| at + name.len() + 1)
}

#[cfg(test)]
mod tests;
