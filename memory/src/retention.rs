//! Scores how much a record is worth keeping in view, from its importance, freshness, use and size.
//!
//! The score is `multiplier · (0.4·importance + 0.3·recency + 0.2·access − 0.1·size)`, each part
//! from 0 to 1. The content's type sets the multiplier and how fast recency fades. Shared notes
//! fade [`PROJECT_HALF_LIFE_FACTOR`](crate::limits::PROJECT_HALF_LIFE_FACTOR) times more slowly
//! than a session's own. The compactor's tools score as their original does ([`Formula`]).

use std::fmt;
use std::str::FromStr;

use imbl::OrdMap;

use crate::ids::{RecordId, Timestamp};
use crate::kinds::note::{ContentType, Note};
use crate::limits::{IMPORTANCE, IMPORTANCE_MAX};
use crate::record::Record;

const MINUTE: f64 = 60.0 * 1000.0;
const HOUR: f64 = 60.0 * MINUTE;

/// The number of reads at which the access part is one half.
const ACCESS_HALF: f64 = 4.0;
/// The number of tokens at which the size part is one half.
const SIZE_HALF: f64 = 500.0;
/// The approximate bytes of one token, for kinds without a stored token count.
const TOKEN_BYTES: usize = 4;

/// The parts of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetentionParts {
    /// The given importance, divided by ten.
    pub importance: f64,
    /// One if read or written just now, halved after each half-life.
    pub recency: f64,
    /// `n / (n + 4)` for n reads and repeated writes.
    pub access: f64,
    /// `t / (t + 500)` for t tokens of the form that is shown: the content, or the summary that
    /// replaces it.
    pub size: f64,
    /// The value of this type of content relative to prose.
    pub multiplier: f64,
    /// The milliseconds in which recency halves.
    pub half_life: f64,
    /// The number of reads and repeated writes.
    pub uses: f64,
    /// The tokens of the form that is shown.
    pub tokens: f64,
    /// Whether the record is pinned.
    pub pinned: bool,
}

/// The way in which the parts become a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formula {
    /// The formula of this module.
    #[default]
    Own,
    /// The compactor's: the multiplier belongs to the importance alone, size is a share of the
    /// budget, and pinned items come first.
    Compactor {
        /// The budget of the notes.
        budget_tokens: u32,
    },
}

impl RetentionParts {
    /// Computes the parts of a record's score at a time. `factor` is how much more slowly shared
    /// notes fade; [`PROJECT_HALF_LIFE_FACTOR`](crate::limits::PROJECT_HALF_LIFE_FACTOR) unless
    /// configured.
    pub fn of(record: &Record, accesses: &Accesses, now: Timestamp, factor: u32) -> Self {
        let access = accesses.of(record.id);
        let (multiplier, session_half_life) = worth(record.body.fields().content_type());
        let shared = record.owner().is_none();
        let half_life = session_half_life * if shared { f64::from(factor.max(1)) } else { 1.0 };
        let note = record.note();
        let uses = f64::from(access.count.saturating_add(note.map_or(0, |note| note.repeats)));
        let size = f64::from(note.map_or_else(|| tokens_about(record), Note::budget_tokens));
        let last = access.last.max(record.updated.time);
        // Below 2^53 for a quarter of a million years.
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of any age that matters")]
        let age = now.0.saturating_sub(last.0).max(0) as f64;
        Self {
            importance: f64::from(note.map_or(IMPORTANCE, |note| note.importance))
                / f64::from(IMPORTANCE_MAX),
            recency: (-age / half_life).exp2(),
            access: uses / (uses + ACCESS_HALF),
            size: size_part(size),
            multiplier,
            half_life,
            uses,
            tokens: size,
            pinned: record.pinned,
        }
    }

    /// Returns the parts for a form of the record that takes `tokens` tokens.
    #[must_use]
    pub fn with_size(self, tokens: u32) -> Self {
        Self { size: size_part(f64::from(tokens)), tokens: f64::from(tokens), ..self }
    }

    /// Returns the score by a formula.
    pub fn score_by(&self, formula: Formula) -> f64 {
        match formula {
            Formula::Own => self.score(),
            Formula::Compactor { .. } if self.pinned => f64::MAX,
            Formula::Compactor { budget_tokens } => {
                // There recency falls to 1/e in the time in which it halves here.
                let recency = self.recency.powf(std::f64::consts::LOG2_E);
                let access = (self.uses.ln_1p() / 5.0).min(1.0);
                let size = self.tokens / f64::from(budget_tokens.max(1));
                0.4 * self.importance * self.multiplier + 0.3 * recency + 0.2 * access - 0.1 * size
            }
        }
    }

    /// Returns the score, from about 0 to 1.35.
    pub fn score(&self) -> f64 {
        self.multiplier
            * (0.4 * self.importance + 0.3 * self.recency + 0.2 * self.access - 0.1 * self.size)
    }

    /// Returns the factor for a search hit's score. It runs from 0.9 to 1 with the record's
    /// retention, since words matter more than age. It is half of that for an archived record, and
    /// for one that nobody wrote.
    pub fn prior(&self, record: &Record) -> f64 {
        self.prior_by(record, Formula::Own)
    }

    /// Returns the factor for a search hit's score like [`RetentionParts::prior`], by a formula.
    pub fn prior_by(&self, record: &Record, formula: Formula) -> f64 {
        let highest = match formula {
            Formula::Own => SCORE_HIGHEST,
            Formula::Compactor { .. } => COMPACTOR_SCORE_HIGHEST,
        };
        let prior = 0.9 + 0.1 * (self.score_by(formula) / highest).clamp(0.0, 1.0);
        if record.state.is_active() && !record.is_captured() { prior } else { 0.5 * prior }
    }
}

/// The score of an error that is as important, fresh and used as possible.
const SCORE_HIGHEST: f64 = 1.5 * 0.9;
/// The score of such an error by the compactor's formula.
const COMPACTOR_SCORE_HIGHEST: f64 = 0.4 * 1.5 + 0.3 + 0.2;

impl fmt::Display for RetentionParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { importance, recency, access, size, multiplier, .. } = self;
        write!(
            f,
            "retention {:.3} = {multiplier:.1} × (0.4 × importance {importance:.2} + 0.3 × recency {recency:.2} \
             + 0.2 × access {access:.2} - 0.1 × size {size:.2})",
            self.score()
        )
    }
}

fn size_part(tokens: f64) -> f64 {
    tokens / (tokens + SIZE_HALF)
}

/// Returns the multiplier of a type, and its half-life in a session's own notes.
fn worth(content_type: ContentType) -> (f64, f64) {
    match content_type {
        ContentType::Error => (1.5, 30.0 * MINUTE),
        ContentType::Decision => (1.3, 6.0 * HOUR),
        ContentType::Code => (1.2, 6.0 * HOUR),
        ContentType::Prose => (1.0, 2.0 * HOUR),
        ContentType::ToolOutput => (0.7, 15.0 * MINUTE),
    }
}

fn tokens_about(record: &Record) -> u32 {
    let bytes = record.body.fields().worth_bytes();
    u32::try_from(bytes / TOKEN_BYTES).unwrap_or(u32::MAX)
}

/// The number and time of a record's reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The number of counted reads.
    pub count: u32,
    /// The time of the last read; the epoch if there was none.
    pub last: Timestamp,
}

/// Writes `3 1793534400000`: the count and the milliseconds.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.last.0)
    }
}

/// The text is not a count with a time, as after a torn write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a count of reads with the time of the last")]
pub struct ParseAccessError;

impl FromStr for Access {
    type Err = ParseAccessError;

    fn from_str(text: &str) -> Result<Self, ParseAccessError> {
        let (count, last) = text.split_once(' ').ok_or(ParseAccessError)?;
        let count = count.parse().map_err(|_| ParseAccessError)?;
        let last = last.parse().map_err(|_| ParseAccessError)?;
        Ok(Self { count, last: Timestamp(last) })
    }
}

/// Reads of records: soft marks, which are written late and may be lost. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses(OrdMap<RecordId, Access>);

impl Accesses {
    /// Counts a read.
    pub fn record(&mut self, id: RecordId, now: Timestamp) {
        let access = self.0.entry(id).or_default();
        access.count = access.count.saturating_add(1);
        access.last = access.last.max(now);
    }

    /// Returns the reads of one record.
    pub fn of(&self, id: RecordId) -> Access {
        self.0.get(&id).copied().unwrap_or_default()
    }
}

impl FromIterator<(RecordId, Access)> for Accesses {
    fn from_iter<I: IntoIterator<Item = (RecordId, Access)>>(reads: I) -> Self {
        Self(reads.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
