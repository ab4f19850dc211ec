//! Room on a page, in characters and tokens, and the part of an entry that is shown in it.

use crate::ids::RecordId;
use crate::tokens;

/// The room left on a page, or the room that a text takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) chars: usize,
    pub(super) tokens: usize,
}

impl Room {
    pub(super) const NONE: Self = Self { chars: 0, tokens: 0 };

    /// Returns the room that a text takes, including its line break.
    pub(super) fn of(text: &str) -> Self {
        let tokens = usize::try_from(tokens::count(text)).unwrap_or(usize::MAX);
        Self { chars: text.chars().count() + 1, tokens: tokens + 1 }
    }

    /// Measures a record's text as if the record had `longest` for its id, the longest id of its
    /// memory. So numbers do not decide what fits.
    pub(super) fn of_record(id: RecordId, text: &str, longest: RecordId) -> Self {
        let (number, longest) = (id.to_string(), longest.to_string());
        Self::of(&(longest + text.strip_prefix(&number).unwrap_or(text)))
    }

    pub(super) fn holds(self, other: Self) -> bool {
        other.chars <= self.chars && other.tokens <= self.tokens
    }

    /// Returns the room left after `other` is taken, or `None` if that does not fit.
    pub(super) fn take(self, other: Self) -> Option<Self> {
        self.holds(other).then(|| self.without(other))
    }

    /// Returns `percent` percent of the room.
    pub(super) fn percent(self, percent: usize) -> Self {
        let part = |whole: usize| whole / 100 * percent + whole % 100 * percent / 100;
        Self { chars: part(self.chars), tokens: part(self.tokens) }
    }

    pub(super) fn at_least(self, other: Self) -> Self {
        Self { chars: self.chars.max(other.chars), tokens: self.tokens.max(other.tokens) }
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self {
            chars: self.chars.saturating_add(other.chars),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self {
            chars: self.chars.saturating_sub(other.chars),
            tokens: self.tokens.saturating_sub(other.tokens),
        }
    }
}

/// The part of an entry that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing on this page.
    No,
    /// Its title, which says that there is more.
    Title,
    /// Its beginning, up to the room there is.
    Part,
    /// All of it.
    Full,
}
