//! Faults of a rule that the format does not exclude.

use std::fmt;

use jiff::Timestamp;

use crate::limits::{
    ID_BYTES_MAX, PATTERN_BYTES_MAX, PATTERNS_MAX, REASON_BYTES_MAX, TITLE_BYTES_MAX, WINDOWS_MAX,
};
use crate::pattern::{self, BadPattern as BadWords};
use crate::rule::Rule;
use crate::verdict::Field;
use crate::wild::{BadPattern, Wild};
use crate::window::{Bound, Window};

/// A fault of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The rule has no id, or one with other characters than `a-z`, `0-9`, `-`, `_` and `.`.
    BadId,
    /// The rule has no title.
    NoTitle,
    /// The rule lists nothing, so it matches nothing.
    MatchesNothing,
    /// The rule lists a tool pattern or glob that every action matches.
    TooBroad(Field, String),
    /// An entry is empty, or has nothing to compare.
    EmptyEntry(Field),
    /// No command or path has this form once it is read.
    NeverMatches(Field, String),
    /// A command pattern has an operator that separates commands.
    SeveralCommands(String),
    /// A command pattern has a redirection, which is no word of a command.
    Redirects(String),
    /// A quote of a command pattern is not closed.
    OpenQuote(String),
    /// A glob has a bracket or brace that is not closed, or too many alternatives.
    BadGlob(Field, String),
    /// There is no time zone of this name.
    UnknownZone(String),
    /// A window has a time of day on one side and a date on the other.
    MixedWindow(String, String),
    /// A window ends before it begins, so it contains no instant.
    EmptyWindow(String, String),
    /// The rule has expired.
    Expired(Timestamp),
    /// A dated window has ended, so the rule no longer applies in it.
    WindowOver(String),
    /// A text or list is longer than allowed.
    TooLong(&'static str, usize),
}

impl Finding {
    /// Whether the rule must not be stored like this. Others are warnings.
    pub fn is_error(&self) -> bool {
        !matches!(
            self,
            Self::TooBroad(..) | Self::Expired(_) | Self::WindowOver(_) | Self::NeverMatches(..)
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadId => write!(f, "the id must be of a-z, 0-9, `-`, `_` and `.`"),
            Self::NoTitle => write!(f, "the title is missing"),
            Self::MatchesNothing => write!(f, "`matches` lists nothing, so no action matches"),
            Self::TooBroad(field, text) => {
                write!(f, "`{text}` matches every {}", field.word())
            }
            Self::EmptyEntry(field) => write!(f, "a {} entry is empty", field.word()),
            Self::NeverMatches(field, text) => {
                write!(f, "`{text}` matches no {}: write plain words", field.word())
            }
            Self::SeveralCommands(text) => write!(
                f,
                "`{}` is more than one command, so no command matches: give one --command for \
                 each, or one entry of `commands`",
                text.trim()
            ),
            Self::Redirects(text) => write!(
                f,
                "`{text}` redirects, which is no word of a command: give the file with --write, or \
                 in `writes`"
            ),
            Self::OpenQuote(text) => {
                write!(f, "`{text}` has a quote that is not closed, or ends with a backslash")
            }
            Self::BadGlob(field, text) => {
                write!(f, "`{text}` is not a valid glob of a {}", field.word())
            }
            Self::UnknownZone(zone) => write!(f, "there is no time zone `{zone}`"),
            Self::MixedWindow(from, until) => {
                write!(f, "the window from {from} until {until} mixes a time of day with a date")
            }
            Self::EmptyWindow(from, until) => {
                write!(f, "the window from {from} until {until} contains no time")
            }
            Self::Expired(at) => write!(f, "the rule expired at {at}"),
            Self::WindowOver(until) => write!(f, "the window until {until} is over"),
            Self::TooLong(what, max) => write!(f, "{what} must be at most {max}"),
        }
    }
}

impl Field {
    /// Returns the noun for one entry of the field.
    pub fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Path => "path",
            Self::Write => "written path",
            Self::Tool => "tool",
            Self::Branch => "branch",
            Self::Action => "action",
        }
    }
}

/// Returns the faults of a rule, in the order of its fields.
pub fn lint(rule: &Rule, now: Timestamp) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if rule.id.is_empty() || !rule.id.chars().all(is_id) {
        findings.push(Finding::BadId);
    }
    if rule.title.trim().is_empty() {
        findings.push(Finding::NoTitle);
    }
    let lengths = [
        ("the bytes of the id", rule.id.len(), ID_BYTES_MAX),
        ("the bytes of the title", rule.title.len(), TITLE_BYTES_MAX),
        ("the bytes of the reason", rule.reason.len(), REASON_BYTES_MAX),
        ("the number of windows", rule.windows.len(), WINDOWS_MAX),
    ];
    let too_long = lengths.iter().filter(|(_, length, max)| length > max);
    findings.extend(too_long.map(|(what, _, max)| Finding::TooLong(what, *max)));
    if rule.matches.is_empty() {
        findings.push(Finding::MatchesNothing);
    }
    for (field, entries) in rule.matches.fields() {
        if entries.len() > PATTERNS_MAX {
            findings.push(Finding::TooLong("the entries of one field", PATTERNS_MAX));
        }
        findings.extend(entries.iter().filter_map(|entry| of_entry(field, entry)));
    }
    findings.extend(rule.windows.iter().filter_map(|window| of_window(window, now)));
    findings.extend(rule.expires.filter(|at| *at <= now).map(Finding::Expired));
    findings
}

fn of_entry(field: Field, entry: &str) -> Option<Finding> {
    if entry.len() > PATTERN_BYTES_MAX {
        return Some(Finding::TooLong("the bytes of one entry", PATTERN_BYTES_MAX));
    }
    let has_words = match field {
        Field::Action => entry.chars().any(char::is_alphanumeric),
        _ => !entry.trim().is_empty(),
    };
    if !has_words {
        return Some(Finding::EmptyEntry(field));
    }
    let broad = || Finding::TooBroad(field, entry.to_owned());
    let never = || Finding::NeverMatches(field, entry.to_owned());
    match field {
        Field::Command => {
            let words = match pattern::words(entry) {
                Ok(words) => words,
                Err(BadWords::Operator) => return Some(Finding::SeveralCommands(entry.to_owned())),
                Err(BadWords::Redirection) => return Some(Finding::Redirects(entry.to_owned())),
                Err(BadWords::Quote) => return Some(Finding::OpenQuote(entry.to_owned())),
            };
            if words.first().is_none_or(String::is_empty) {
                return Some(Finding::EmptyEntry(field));
            }
            let is_star = |word: &String| word.chars().all(|c| c == '*');
            if words.iter().all(is_star) {
                Some(broad())
            } else {
                pattern::expands(entry).then(never)
            }
        }
        Field::Tool => entry.chars().all(|c| c == '*').then(broad),
        Field::Action => None,
        Field::Path | Field::Write | Field::Branch => match Wild::glob(entry) {
            Err(BadPattern::Bracket | BadPattern::Brace | BadPattern::Alternatives) => {
                Some(Finding::BadGlob(field, entry.to_owned()))
            }
            Ok(_) if entry.chars().all(|c| "*/".contains(c)) => Some(broad()),
            Ok(_) => (field != Field::Branch && is_never_a_path(entry)).then(never),
        },
    }
}

/// Whether no path has this form once `.` and `..` are removed.
fn is_never_a_path(glob: &str) -> bool {
    let inner = glob.strip_prefix("./").unwrap_or(glob);
    inner.contains("/./") || inner.contains("/../") || inner.contains("//") || inner.ends_with('/')
}

fn of_window(window: &Window, now: Timestamp) -> Option<Finding> {
    if window.zone().is_none() {
        return Some(Finding::UnknownZone(window.tz.clone()));
    }
    let (Some(from), Some(until)) = (window.from, window.until) else {
        return over(window, now);
    };
    let is_empty = match (from, until) {
        (Bound::Time(from), Bound::Time(until)) => from == until,
        (Bound::Time(_), _) | (_, Bound::Time(_)) => {
            return Some(Finding::MixedWindow(from.to_string(), until.to_string()));
        }
        (from, until) => match (from.start(), until.end()) {
            (Some(start), Some(end)) => start >= end,
            _ => false,
        },
    };
    if is_empty {
        return Some(Finding::EmptyWindow(from.to_string(), until.to_string()));
    }
    over(window, now)
}

fn over(window: &Window, now: Timestamp) -> Option<Finding> {
    let until = window.until?;
    let end = until.end()?;
    let local = now.to_zoned(window.zone()?).datetime();
    (end <= local).then(|| Finding::WindowOver(until.to_string()))
}

#[cfg(test)]
mod tests;
