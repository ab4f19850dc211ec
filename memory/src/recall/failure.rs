//! Records that help after a command failed.
//!
//! Nobody asked for them, so nothing is better than noise. A record has to have the rare words of
//! the line that identifies the error, or name or quote the command itself. Words that all errors
//! share count for nothing. A record that none of this singles out is not given.

use std::collections::BTreeSet;

use crate::error_line::{CODES, ErrorLine, GENERIC, error_line, error_lines, normalised};
use crate::fold::one_line;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::REMEDIES_MAX;
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::{Body, Record};
use crate::search::{Find, Query, Tuning};
use crate::shell::{bare, program, subjects};

/// The number of output lines that are compared with records.
const LINES_READ: usize = 3;
/// The number of hits that are judged.
const LOOKED_AT: usize = 24;
/// The rarity from which a word counts as rare.
const RARE: f32 = 0.45;
/// The rarity from which a word helps to distinguish records at all.
const TELLING: f32 = 0.25;

/// The least factor on the weight of a part of an identifier.
const PART_MIN: f32 = 0.6;
/// The least score of a record that is given with a better one, as a share of the better one's.
const BESIDE: f32 = 0.7;
/// The least number of words of a command that a record does not quote by accident.
const QUOTED_WORDS: usize = 4;
/// The rarity of a plain word that no record has.
const UNKNOWN: f32 = 0.5;
/// The least length of a name of several parts.
const LONG_NAME: usize = 8;

/// A failed command, and the reader to help.
#[derive(Clone, Copy, Debug)]
pub struct FailureView<'a> {
    /// The reader; records that it may not see are left out.
    pub reader: &'a Reader,
    /// The command line.
    pub command: &'a str,
    /// The output of the command, as far as it is known.
    pub output: &'a str,
    /// Records that the reader has already been given.
    pub given: &'a BTreeSet<RecordId>,
    /// The current time, which decides which notes have expired.
    pub now: Timestamp,
}

/// Returns the active records that help after a failure, best first; usually none. Records that
/// agents wrote come before those made by rule, but do not push out the fix of this very failure.
pub fn remedies(memory: &Memory, of: &FailureView<'_>) -> Vec<RecordId> {
    let mut lines: Vec<Option<ErrorLine>> =
        error_lines(of.output, LINES_READ).into_iter().map(Some).collect();
    if lines.is_empty() {
        lines.push(None);
    }
    let fixed = fixed_before(memory, of);
    let mut found: Vec<(f32, RecordId)> = Vec::new();
    for line in lines {
        let helped = Failure::read(memory, of.command, line).helped_by(memory, of);
        found.extend(helped.into_iter().filter(|(_, id)| fixed != Some(*id)));
        // The first line identifies the error. The others are tried only if it finds nothing.
        if !found.is_empty() {
            break;
        }
    }
    found.sort_by(|(one, first), (other, second)| {
        let is_captured = |id: &RecordId| memory.record(*id).is_some_and(|it| it.is_captured());
        is_captured(first)
            .cmp(&is_captured(second))
            .then_with(|| other.total_cmp(one))
            .then_with(|| second.number.cmp(&first.number))
    });
    // If one record fits well, another has to fit about as well.
    let best = found.iter().map(|(score, _)| *score).fold(0.0, f32::max);
    found.retain(|(score, _)| *score >= BESIDE * best);
    let others = REMEDIES_MAX - usize::from(fixed.is_some());
    let written = |id: &RecordId| memory.record(*id).is_some_and(|it| !it.is_captured());
    let found: Vec<RecordId> = found.into_iter().map(|(_, id)| id).take(others).collect();
    let (mut best, rest): (Vec<RecordId>, Vec<RecordId>) = found.into_iter().partition(written);
    best.extend(fixed);
    best.extend(rest);
    best
}

/// Returns the lesson made by rule from the same error of the same program. Prefers one of the same
/// command, then the newest.
fn fixed_before(memory: &Memory, of: &FailureView<'_>) -> Option<RecordId> {
    let error = error_line(of.output)?.normalised();
    let command = one_line(of.command);
    let command = bare(&command);
    let same =
        memory.active_of(Kind::Lesson).filter(|record| fits(record, of)).filter_map(|record| {
            let Body::Lesson(lesson) = &record.body else { return None };
            let fixed = lesson.captured.as_ref()?;
            let is_same = program(&fixed.command).is_some()
                && program(&fixed.command) == program(command)
                && normalised(&fixed.error) == error;
            // The failed command itself is not advice.
            let repeats = fixed.remedy.as_deref() == Some(command);
            (is_same && !repeats).then_some((fixed.command == command, fixed.last, record.id))
        });
    same.max().map(|(.., id)| id)
}

/// Whether a record may be given at all.
fn fits(record: &Record, of: &FailureView<'_>) -> bool {
    matches!(record.kind(), Kind::Lesson | Kind::Note | Kind::Blueprint)
        && record.state.is_active()
        && of.reader.sees(record)
        && !of.given.contains(&record.id)
        && !record.note().is_some_and(|note| note.is_expired(of.now))
}

/// A failure, prepared for comparison with records by one line of its output.
struct Failure {
    line: Option<ErrorLine>,
    /// The command on one line.
    command: String,
    /// Each program and the words that say what it does, in lower case.
    subjects: Vec<Vec<String>>,
    /// Words of the error line that distinguish it from others.
    words: Vec<ErrorWord>,
}

/// A word of the error line, as written between blanks.
struct ErrorWord {
    /// Its own terms and those of its parts, each with its rarity.
    terms: Vec<(String, f32)>,
    /// The rarity of its rarest term; [`UNKNOWN`] if no record has it and it is not a name.
    rarity: f32,
    /// Whether it is a path. The error may be about any part of a path.
    is_path: bool,
}

/// The parts of a failure that a record has.
#[derive(Default)]
struct Evidence {
    /// The weight of the error's words that it has.
    weight: f32,
    /// The number of rare ones among them.
    rare: usize,
    /// Whether one of them is a name made for one thing: an identifier, a code, a quoted word.
    name: bool,
    /// Whether such a name has several parts or is a port, so that no text shares it by chance.
    long_name: bool,
    /// Whether the error line has a name that the record lacks.
    other_name: bool,
    /// `weight` divided by the weight of all words of the line.
    share: f32,
    /// The rarity of the program's name; 0 if the record lacks it.
    program: f32,
    /// The number of the command's other words that the record has; 0 if it lacks the program's
    /// name.
    verbs: usize,
}

impl Failure {
    fn read(memory: &Memory, command: &str, line: Option<ErrorLine>) -> Self {
        let lower = |words: Vec<&str>| words.into_iter().map(str::to_lowercase).collect();
        let subjects: Vec<Vec<String>> = subjects(command).into_iter().map(lower).collect();
        let command = bare(&one_line(command)).to_owned();
        let mut failure = Self { line, command, subjects, words: Vec::new() };
        let text = failure.line.as_ref().map(|line| line.text.clone()).unwrap_or_default();
        let mut known = BTreeSet::new();
        for word in text.split_whitespace() {
            let terms = memory.search().term_rarities(&Query::plain(word)).into_iter();
            let says = |term: &str| !is_generic(term, &text) && !failure.is_program(term);
            let terms: Vec<(String, f32)> =
                terms.filter(|(term, _)| says(term) && known.insert(term.clone())).collect();
            let rarity = terms.iter().map(|(_, rarity)| *rarity).fold(0.0, f32::max);
            // A word like "metadata" that no record has means little; a name that no record has
            // means much.
            let is_name = terms.iter().any(|(term, _)| {
                failure.is_name(term) && !term.ends_with("error") && !term.ends_with("exception")
            });
            let rarity = if rarity >= 1.0 && !is_name { UNKNOWN } else { rarity };
            if !terms.is_empty() {
                failure.words.push(ErrorWord { terms, rarity, is_path: word.contains('/') });
            }
        }
        failure
    }

    /// Whether a term only repeats the program's name. If the program was not found, its name is
    /// all that the error says.
    fn is_program(&self, term: &str) -> bool {
        !self.is_absent() && self.programs().any(|program| program == term)
    }

    fn programs(&self) -> impl Iterator<Item = &String> {
        self.subjects.iter().filter_map(|words| words.first())
    }

    /// Returns the records that help, each with its score.
    fn helped_by(&self, memory: &Memory, of: &FailureView<'_>) -> Vec<(f32, RecordId)> {
        let words = self.words.iter().flat_map(|word| &word.terms).map(|(term, _)| term);
        let words: Vec<&str> =
            words.chain(self.subjects.iter().flatten()).map(String::as_str).collect();
        let query = Query::plain(&words.join(" "));
        if query.is_empty() {
            return Vec::new();
        }
        let keep = |id: RecordId| memory.record(id).filter(|record| fits(record, of)).map(|_| 1.0);
        let find = Find {
            query: &query,
            tuning: &Tuning::default(),
            keep: &keep,
            limit: LOOKED_AT,
            explain: true,
        };
        let covered = memory.search().covered(&find).into_iter();
        let judged = covered.filter_map(|(id, terms)| {
            let record = memory.record(id)?;
            Some((self.judge(record, &terms)?, id))
        });
        judged.collect()
    }

    /// Returns the score of a record that helps; `None` if it is about something else.
    fn judge(&self, record: &Record, terms: &[(String, f32)]) -> Option<f32> {
        let text = text_of(record);
        let is_lesson = record.kind() == Kind::Lesson;
        let is_fact = record.note().is_some_and(|note| note.key.is_some());
        let is_known = is_lesson || is_fact;
        let speaks = is_known || speaks_of_failure(&text);
        let of = self.evidence(terms);
        let by_words = is_lesson
            && (of.rare >= 2 && of.share >= 0.4 || of.rare >= 4 && of.share >= 0.3)
            || speaks && of.rare >= 2 && of.share >= 0.7
            || of.rare >= 3 && of.share >= 0.5 && (speaks || of.program > 0.0);
        let by_name = speaks
            && (of.long_name
                || of.name && (of.program > 0.0 || of.rare >= 2 || is_known && of.share >= 0.34));
        let with_program = speaks
            && of.program > 0.0
            && (of.rare >= 2 && of.share >= 0.3
                || of.rare >= 1 && (of.verbs >= 1 || of.share >= 0.5 && of.program >= RARE));
        let by_command = is_lesson
            && of.verbs >= 1
            && !of.other_name
            && self.is_about_the_command()
            && speaks_of_failure(&text)
            && self.names_command(&text);
        // If the program is missing, only a text about installing it helps.
        if self.is_absent() && !speaks_of_installing(&text) {
            return None;
        }
        // A lesson made by rule quotes a whole error, and most words of that are in other errors
        // too.
        if record.is_captured() && !(by_words && of.share >= 0.6 && of.program > 0.0) {
            return None;
        }
        let quotes = self.quoted_in(&text) && self.is_about_the_command();
        let kind = match record.body {
            Body::Lesson(_) => 1.0,
            Body::Note(_) => 0.9,
            _ => 0.8,
        };
        let bonus = if of.name { 1.0 } else { 0.0 };
        let verbs = if of.verbs > 0 { 0.5 } else { 0.0 };
        let score = kind * (of.weight + of.program + verbs + bonus);
        (by_words || by_name || with_program || by_command || quotes).then_some(score)
    }

    fn evidence(&self, terms: &[(String, f32)]) -> Evidence {
        let mut of = Evidence::default();
        let has = |term: &str| terms.iter().any(|(own, _)| own == term);
        for word in &self.words {
            let all: f32 = word.terms.iter().map(|(_, rarity)| rarity).sum();
            let had = || word.terms.iter().filter(|(term, _)| has(term));
            let rarest = had().map(|(_, rarity)| *rarity).fold(0.0, f32::max);
            // A part of an identifier counts less than the whole, unless only numbers are missing.
            let (whole, parts) = word.terms.split_at(word.terms.len().min(1));
            let is_whole = whole.iter().any(|(term, _)| has(term))
                || !parts.is_empty() && parts.iter().all(|(term, _)| has(term));
            let part = had().map(|(_, rarity)| rarity).sum::<f32>() / all.max(f32::MIN_POSITIVE);
            let named = had().filter(|(term, rarity)| *rarity >= RARE && self.is_name(term));
            let named: Vec<&String> = named.map(|(term, _)| term).collect();
            let is_whole = is_whole || !named.is_empty() || word.is_path;
            let weight = if is_whole { rarest } else { rarest * part.max(PART_MIN) };
            if weight < TELLING {
                of.other_name |= word.terms.iter().any(|(term, _)| self.is_name(term));
                continue;
            }
            of.weight += weight;
            of.rare += usize::from(weight >= RARE);
            of.name |= !named.is_empty();
            of.long_name |= named.iter().any(|term| self.is_long_name(term));
        }
        let programs = terms.iter().filter(|(term, _)| self.programs().any(|name| name == term));
        of.program = programs.map(|(_, rarity)| *rarity).fold(0.0, f32::max);
        if of.program > 0.0 {
            let verbs = self.subjects.iter().flat_map(|words| words.iter().skip(1));
            of.verbs =
                verbs.filter(|verb| has(verb) && !ANY_VERBS.contains(&verb.as_str())).count();
        }
        let all: f32 = self.words.iter().map(|word| word.rarity).sum();
        of.share = of.weight / all.max(f32::MIN_POSITIVE);
        of
    }

    /// Whether a term of the error line is a name made for one thing.
    fn is_name(&self, term: &str) -> bool {
        let Some(line) = &self.line else { return false };
        // ASCII only, so that offsets are the same in both texts.
        let lower = line.text.to_ascii_lowercase();
        let absent = self.is_absent() && self.programs().any(|name| name == term);
        let joined = term.len() >= 5 && term.contains(['_', '.', '/', '-', ':']);
        let mixed = term.chars().any(|c| c.is_ascii_digit()) && term.len() >= 4;
        let is_quote = |c: Option<char>| matches!(c, Some('\'' | '"' | '`'));
        let stands_out = |at: usize| {
            let original = line.text.get(at..at + term.len()).unwrap_or_default();
            let before = lower.get(..at).and_then(|text| text.chars().next_back());
            let after = lower.get(at + term.len()..).and_then(|text| text.chars().next());
            let code = term.len() >= 4
                && original.chars().any(|c| c.is_ascii_uppercase())
                && !original.chars().any(|c| c.is_ascii_lowercase())
                && !CODES.contains(&term);
            is_quote(before) || is_quote(after) || code || is_camel(original)
        };
        absent || joined || mixed || lower.match_indices(term).any(|(at, _)| stands_out(at))
    }

    /// Whether a name has several parts, as identifiers do, or is a port: no text shares it by
    /// chance.
    fn is_long_name(&self, term: &str) -> bool {
        let text = self.line.as_ref().map(|line| line.text.as_str()).unwrap_or_default();
        let lower = text.to_ascii_lowercase();
        let original = lower.find(term).and_then(|at| text.get(at..at + term.len()));
        is_port(term, text)
            || term.len() >= LONG_NAME && (term.contains('_') || original.is_some_and(is_camel))
    }

    /// Whether the failure is that a program is not installed.
    fn is_absent(&self) -> bool {
        let says = |line: &ErrorLine| {
            line.text.contains("command not found") || line.text.ends_with(": not found")
        };
        self.line.as_ref().is_some_and(says)
    }

    /// Whether the failure may be about how the command is run, and not about the code that it
    /// works on.
    fn is_about_the_command(&self) -> bool {
        self.line.as_ref().is_none_or(|line| {
            !line.is_diagnostic
                && !["FAILED ", "FAIL", "--- FAIL", "test ", "● "]
                    .iter()
                    .any(|begin| line.text.starts_with(begin))
        })
    }

    /// Whether a text has the whole command, which must be too long to be there by accident.
    fn quoted_in(&self, text: &str) -> bool {
        self.command.split(' ').count() >= QUOTED_WORDS && one_line(text).contains(&self.command)
    }

    /// Whether a text has the first two words of one of the commands.
    fn names_command(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let named = |words: &Vec<String>| {
            words.len() > 1
                && lower.contains(&words.iter().take(2).cloned().collect::<Vec<_>>().join(" "))
        };
        self.subjects.iter().any(named)
    }
}

/// Verbs that many programs have in common.
const ANY_VERBS: [&str; 6] = ["dev", "exec", "get", "run", "start", "test"];

/// Whether a word has a lower-case letter just before a capital: `ExpiredToken`.
fn is_camel(word: &str) -> bool {
    word.chars()
        .zip(word.chars().skip(1))
        .any(|(one, next)| one.is_ascii_lowercase() && next.is_ascii_uppercase())
}

/// Whether a text says how to install or find a program.
fn speaks_of_installing(text: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "install",
        "path",
        "venv",
        "apt",
        "brew",
        "npx ",
        "uv run",
        "poetry run",
        "nix",
        "mise",
        "asdf",
        "make tools",
    ];
    let lower = text.to_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign))
}

/// Whether a term of an error line says nothing specific about the error.
fn is_generic(term: &str, line: &str) -> bool {
    let is_number = term.chars().all(|c| !c.is_alphabetic());
    if is_number {
        return !is_port(term, line);
    }
    term.chars().count() < 3 || GENERIC.contains(&term)
}

/// Whether a number in a line is a port, the one kind of number that says what did not answer.
fn is_port(number: &str, line: &str) -> bool {
    let is_long = (4..=5).contains(&number.len()) && number.chars().all(|c| c.is_ascii_digit());
    let after_host = line.match_indices(&format!(":{number}")).any(|(at, _)| {
        let host = line.get(..at).unwrap_or_default();
        let host = host.rsplit([' ', '"', '\'', '/', '`', '(']).next().unwrap_or_default();
        let is_file = host.rsplit_once('.').is_some_and(|(_, end)| {
            end.starts_with(|c: char| c.is_ascii_alphabetic()) && end.len() <= 4
        });
        !is_file
    });
    is_long && (after_host || line.contains(&format!("port {number}")))
}

/// Returns the texts of a record that are compared with an error.
fn text_of(record: &Record) -> String {
    record.body.fields().error_text()
}

/// Whether a text says that something goes wrong, or how to prevent that.
fn speaks_of_failure(text: &str) -> bool {
    const SIGNS: [&str; 34] = [
        "fail",
        "error",
        "broke",
        "break",
        "crash",
        "hang",
        "refuse",
        "denied",
        "reject",
        "timeout",
        "times out",
        "timed out",
        "not work",
        "doesn't",
        "does not",
        "don't",
        "do not",
        "won't",
        "cannot",
        "can't",
        "must",
        "need",
        "require",
        "instead",
        "otherwise",
        "workaround",
        "fix",
        "never",
        "only if",
        "unless",
        "before",
        "first",
        "missing",
        "conflict",
    ];
    let lower = text.to_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign))
}

#[cfg(test)]
mod tests;
