//! Splits text into searchable words: words, parts of identifiers, and runs of unspaced scripts.
//!
//! One function reads documents and queries, so both are split, folded and stemmed alike. An
//! identifier is kept whole and in parts (`handleHTTPRequest`, `user_id`, `src/auth/oauth.ts`).
//! `_`, `-` and case do not distinguish whole identifiers, so `user_id`, `userId` and `USER-ID` are
//! the same.
//!
//! Every word is indexed, including stop words, since a query may contain nothing else. Stop words
//! are marked, so that other queries can leave them out.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::verbs::infinitive;
use crate::limits::{SEARCH_MEMO_WORDS_MAX, SEARCH_TERM_BYTES_MAX};

/// A word in its indexed form.
#[derive(Debug)]
pub(super) struct Term {
    /// The word, folded and stemmed, with an irregular verb in its infinitive.
    pub text: Box<str>,
    /// The text's hash, which represents it everywhere. Among a million words, the chance that two
    /// share a hash is below 10⁻⁷.
    pub hash: u64,
    /// Whether the word is too common in English to distinguish texts.
    pub stop: bool,
}

/// The role of a word in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A word, or a part of an identifier that is not split further.
    Atom,
    /// An identifier that is also given in parts, at the position of its first part.
    Whole,
    /// A single character of a longer unspaced run, which is searched by pairs.
    Single,
    /// A pair of adjacent characters in an unspaced run.
    Pair,
}

/// One word at its position in a text.
pub(super) struct Word<'t> {
    /// The word as written; a whole identifier without its separators. [`term`] returns its term.
    pub raw: &'t str,
    pub part: Part,
    /// The number of atoms before it, counted from the start of the text.
    pub position: u32,
    /// Its byte range in the text.
    pub range: Range<usize>,
}

/// Calls `each` with the words of a text, in order; whole identifiers come before their parts.
/// Positions start at `position`. Returns the position after the last word.
pub(super) fn words(text: &str, position: u32, each: &mut impl FnMut(Word<'_>)) -> u32 {
    let mut scan = Scan { text, position, each };
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        at = match *byte {
            byte if is_word_byte(byte) => scan.plain(at),
            byte if byte.is_ascii() => at + 1,
            _ => scan.any(at),
        };
    }
    scan.position
}

/// Returns the term of a word that is not split.
pub(super) fn term(raw: &str) -> Rc<Term> {
    thread_local! {
        // Stemming costs more than everything else together, and texts repeat their words. Each
        // slot caches the last word that hashed to it. A term depends on the word alone, so the
        // cache has no visible effect.
        static MEMO: RefCell<Vec<Option<WordTerm>>> =
            RefCell::new(vec![None; SEARCH_MEMO_WORDS_MAX]);
    }
    MEMO.with_borrow_mut(|memo| {
        let mixed = raw.bytes().fold(0_u32, |mixed, byte| {
            (mixed.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9e37_79b1)
        });
        let place = (mixed >> 7) as usize % SEARCH_MEMO_WORDS_MAX;
        let Some(place) = memo.get_mut(place) else { return Rc::new(make_term(raw)) };
        match place {
            Some((known, term)) if **known == *raw => Rc::clone(term),
            _ => {
                let term = Rc::new(make_term(raw));
                *place = Some((raw.into(), Rc::clone(&term)));
                term
            }
        }
    })
}

/// A word and its term.
type WordTerm = (Box<str>, Rc<Term>);

/// Folds case, accents, width and typographic apostrophes.
pub(super) fn fold(raw: &str) -> String {
    if raw.is_ascii() {
        return raw.to_ascii_lowercase();
    }
    let accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let plain = |c: char| if c == '’' { '\'' } else { c };
    raw.nfkd().filter(|c| !accent(c)).flat_map(char::to_lowercase).map(plain).nfc().collect()
}

struct Scan<'t, 'f, F> {
    text: &'t str,
    position: u32,
    each: &'f mut F,
}

/// The separators that split a chunk, from outermost to innermost.
#[derive(Clone, Copy)]
enum Split {
    Path,
    Dot,
    Dash,
    Case,
}

impl<F: FnMut(Word<'_>)> Scan<'_, '_, F> {
    /// Reads a chunk that starts with an ASCII word character and returns where it ends. This is
    /// the fast path: most chunks also end with such a character, and nothing joins them to what
    /// follows.
    fn plain(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len());
        let end = start + length;
        let may_join = |at: usize| {
            bytes
                .get(at)
                .is_some_and(|byte| !byte.is_ascii() || is_word_byte(*byte) || *byte == b':')
        };
        let goes_on = match bytes.get(end) {
            Some(b'\'' | b'.' | b'/' | b'-' | b':') => may_join(end + 1),
            Some(byte) => !byte.is_ascii(),
            None => false,
        };
        if goes_on {
            return self.any(start);
        }
        self.chunk(start..end);
        end
    }

    /// Reads a chunk in any script and returns where it ends.
    fn any(&mut self, start: usize) -> usize {
        let mut chars = self.text[start..].char_indices().map(|(at, c)| (start + at, c)).peekable();
        let Some((_, first)) = chars.next() else { return self.text.len() };
        let mut end = start + first.len_utf8();
        if !is_word(first) {
            return end;
        }
        let mut before = first;
        while let Some(&(at, next)) = chars.peek() {
            let joined = is_word(next) || joins(before, &self.text[at..]);
            if !joined {
                break;
            }
            chars.next();
            end = at + next.len_utf8();
            before = next;
        }
        self.chunk(start..end);
        end
    }

    /// Splits a run of word characters and joiners.
    fn chunk(&mut self, range: Range<usize>) {
        let chunk = &self.text[range.clone()];
        let plain = |(at, byte): (usize, u8)| {
            byte.is_ascii_lowercase() || at == 0 && byte.is_ascii_uppercase()
        };
        if chunk.bytes().enumerate().all(plain) {
            self.atom(range);
        } else {
            self.split(range, Split::Path);
        }
    }

    fn split(&mut self, range: Range<usize>, by: Split) {
        let piece = &self.text[range.clone()];
        let (separators, inner): (&[&str], _) = match by {
            Split::Path => (&["/", "::"], Split::Dot),
            Split::Dot => (&["."], Split::Dash),
            Split::Dash => (&["_", "-"], Split::Case),
            Split::Case => return self.cases(range),
        };
        let parts = parts(piece, separators, range.start);
        match parts.as_slice() {
            [] => {}
            [only] => self.split(only.clone(), inner),
            [first, .., last] => {
                self.whole(first.start..last.end);
                for part in &parts {
                    self.split(part.clone(), inner);
                }
            }
        }
    }

    /// Splits at changes of case, between letters and digits, and around unspaced scripts.
    fn cases(&mut self, range: Range<usize>) {
        let piece = &self.text[range.clone()];
        let runs = runs(piece, range.start);
        if piece.chars().any(is_unspaced) {
            for run in runs {
                if self.text[run.clone()].starts_with(is_unspaced) {
                    self.unspaced(run);
                } else {
                    self.atom(run);
                }
            }
            return;
        }
        let plural = || {
            let acronym = piece.strip_suffix('s').unwrap_or_default();
            !acronym.is_empty() && acronym.chars().all(char::is_uppercase)
        };
        // A digest, or a version such as `v2`, has no meaningful parts.
        let opaque = runs.len() * 2 > piece.chars().count();
        if runs.len() == 1 || opaque || plural() {
            return self.atom(range);
        }
        self.whole(range);
        for run in runs {
            if self.text[run.clone()].chars().nth(1).is_some() {
                self.atom(run);
            }
        }
    }

    fn unspaced(&mut self, range: Range<usize>) {
        let chars: Vec<Range<usize>> = self.text[range.clone()]
            .char_indices()
            .map(|(at, c)| range.start + at..range.start + at + c.len_utf8())
            .collect();
        if chars.len() == 1 {
            return self.atom(range);
        }
        for (number, char) in chars.iter().enumerate() {
            self.put(&self.text[char.clone()], Part::Single, char.clone());
            if let Some(next) = chars.get(number + 1) {
                let pair = char.start..next.end;
                self.put(&self.text[pair.clone()], Part::Pair, pair);
            }
            self.position += 1;
        }
    }

    fn atom(&mut self, range: Range<usize>) {
        self.put(&self.text[range.clone()], Part::Atom, range);
        self.position += 1;
    }

    fn whole(&mut self, range: Range<usize>) {
        let joined: String =
            self.text[range.clone()].chars().filter(|c| !matches!(c, '_' | '-')).collect();
        self.put(&joined, Part::Whole, range);
    }

    fn put(&mut self, raw: &str, part: Part, range: Range<usize>) {
        (self.each)(Word { raw, part, position: self.position, range });
    }
}

/// [`is_word`] for ASCII.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Whether `rest` begins with a joiner that holds two word characters together.
fn joins(before: char, rest: &str) -> bool {
    let mut rest = rest.chars();
    match (rest.next(), rest.next()) {
        (Some('\'' | '’'), Some(after)) => before.is_alphabetic() && after.is_alphabetic(),
        (Some('.' | '/' | '-'), Some(after)) => is_word(before) && is_word(after),
        (Some(':'), Some(':')) => is_word(before) && rest.next().is_some_and(is_word),
        (Some(':'), Some(after)) => before == ':' && is_word(after),
        _ => false,
    }
}

/// Whether the character's script puts no spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'      // Thai, Lao
        | '\u{1000}'..='\u{109f}'    // Myanmar
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'    // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'    // Han
        | '\u{ac00}'..='\u{d7af}'    // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'    // half-width Katakana
        | '\u{20000}'..='\u{3ffff}')
}

/// Splits a piece at separators into non-empty parts; ranges are relative to `base`.
fn parts(piece: &str, separators: &[&str], base: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, byte) in piece.bytes().enumerate() {
        // All separators are ASCII, so cuts fall between characters.
        let begins = |separator: &&&str| separator.as_bytes().first() == Some(&byte);
        if let Some(separator) = separators.iter().find(begins)
            && at >= start
            && piece[at..].starts_with(separator)
        {
            parts.push(base + start..base + at);
            start = at + separator.len();
        }
    }
    parts.push(base + start..base + piece.len());
    parts.retain(|part| !part.is_empty());
    parts
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Unspaced,
}

fn class(c: char) -> Class {
    if is_unspaced(c) {
        Class::Unspaced
    } else if c.is_numeric() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else {
        Class::Lower
    }
}

/// Splits into runs of one character class. An upper-case letter before a lower-case one starts a
/// run.
fn runs(piece: &str, base: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut before: Option<Class> = None;
    let mut chars = piece.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let now = class(c);
        let next = chars.peek().map(|(_, next)| class(*next));
        let begins = match (before, now) {
            (None, _) | (Some(Class::Upper), Class::Lower) => false,
            (Some(Class::Upper), Class::Upper) => next == Some(Class::Lower),
            (Some(before), now) => before != now,
        };
        if begins {
            runs.push(base + start..base + at);
            start = at;
        }
        before = Some(now);
    }
    runs.push(base + start..base + piece.len());
    runs
}

fn make_term(raw: &str) -> Term {
    static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    static STOP: LazyLock<HashSet<&str>> =
        LazyLock::new(|| stop_words::lookup("en").unwrap_or_default().iter().copied().collect());
    let mut folded = fold(raw);
    if folded.len() > SEARCH_TERM_BYTES_MAX {
        folded.truncate(folded.floor_char_boundary(SEARCH_TERM_BYTES_MAX));
    }
    let bare = folded.strip_suffix("'s").unwrap_or(&folded);
    let stop = STOP.contains(folded.as_str()) || STOP.contains(bare);
    let english = folded.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'');
    let text: Box<str> =
        if english { STEMMER.stem(infinitive(&folded)).into() } else { folded.into() };
    let hash = hash(&text);
    Term { text, hash, stop }
}

/// Hashes a text, from the text alone. Hashes are never written to disk.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
