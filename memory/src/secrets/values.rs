//! Judges by its form alone whether a value is a secret.

use std::ops::RangeInclusive;

/// Names of hash and encoding methods, which occur beside `password` and are not secrets.
const METHODS: [&str; 16] = [
    "argon2", "bcrypt", "scrypt", "pbkdf2", "sha1", "sha2", "sha3", "sha5", "md5", "base64",
    "utf8", "utf-8", "oauth", "http", "aes", "blake",
];

/// Whether a value is only filler: crosses, stars, or one or two repeated characters.
pub(super) fn is_filler(value: &str) -> bool {
    last_cross(value).is_some() || says_little(distinct(value), value.len())
}

/// Returns where the last omission marks in a value begin: crosses, stars or dots.
pub(super) fn last_cross(value: &str) -> Option<usize> {
    let lower = value.to_ascii_lowercase();
    ["xxxx", "****", "...."].into_iter().filter_map(|cross| lower.rfind(cross)).max()
}

/// Whether there are too few distinct characters for the length in bytes.
pub(super) fn says_little(distinct: usize, bytes: usize) -> bool {
    distinct < bytes.min(5)
}

/// Whether a value looks random: characters of all classes in no order, as from a generator.
///
/// In words, the class of character (small, capital, digit, other) changes seldom. In random text
/// it changes at 4 of 10 positions, for hexadecimal digits and base64 alike. In `handleHttpRequest`
/// it changes only at the beginning of each word. The step from a capital to a small letter does
/// not count.
pub(super) fn is_random(value: &str) -> bool {
    is_random_as(value, &Tally::from(value))
}

/// Whether a value looks random, like [`is_random`], given its tally. Only the value's beginning
/// and end are read.
pub(super) fn is_random_as(value: &str, tally: &Tally) -> bool {
    const SHORT: usize = 16;
    if value.len() < 12
        || tally.others > 0
        || is_uuid(value)
        || is_time(value)
        || is_account(value)
        || is_place(value, tally)
        || is_number(value)
        || tally.of(b':') > 1 && value.contains("::")
    {
        return false;
    }
    let ratio = f64::from(tally.changes) / f64::from(tally.places().max(1));
    let digits = tally.within(b'0'..=b'9');
    let (capitals, small) = (tally.within(b'A'..=b'Z'), tally.within(b'a'..=b'z'));
    let mixed = capitals > 0 && small > 0;
    if capitals + small < 3 || is_hash(value) {
        return false;
    }
    if value.len() < SHORT {
        return digits >= 2 && mixed && ratio >= 0.4 && tally.entropy() >= 2.8;
    }
    let changing = (digits >= 2 && ratio >= 0.25)
        || (mixed && ratio >= 0.38)
        || (digits == 1 && mixed && ratio >= 0.3 && value.len() >= 20);
    changing && tally.distinct() >= 8 && tally.entropy() >= 3.0
}

/// Whether a value beside the word `password` is a password, not a word of the sentence.
pub(super) fn is_password(value: &str, quoted: bool) -> bool {
    let lower = value.to_ascii_lowercase();
    let bytes_min = if quoted { 6 } else { 7 };
    if !(bytes_min..=128).contains(&value.len())
        || value.contains(char::is_whitespace)
        || is_uuid(value)
        || is_time(value)
        || is_account(value)
        || is_place(value, &Tally::from(value))
        || is_code(value, quoted)
        || is_number(value)
        || !quoted && is_ticket(value)
        || METHODS.iter().any(|method| lower.starts_with(method))
    {
        return false;
    }
    let letter = value.chars().any(char::is_alphabetic);
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let symbol = value.bytes().any(|byte| b"!@#$%^&*+?~=".contains(&byte));
    letter && (digit || (quoted && symbol)) || (digit && symbol)
}

/// Whether a value is a UUID, `550e8400-e29b-41d4-a716-446655440000`, which is a name and not a
/// secret.
pub(super) fn is_uuid(value: &str) -> bool {
    let lengths = || value.split('-').map(str::len);
    value.len() == 36
        && lengths().eq([8, 4, 4, 4, 12])
        && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether a value is groups of capitals and digits, like a licence key: `ABCDE-12345-FGHIJ-67890`.
pub(super) fn is_grouped(value: &str) -> bool {
    let group = |part: &str| {
        (4..=8).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.split('-').count() >= 4
        && value.split('-').all(group)
        && digits >= 2
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Whether a value is capitals and the digits 2 to 7, like a one-time password's secret.
pub(super) fn is_base32(value: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte);
    matches!(value.len(), 16 | 26 | 32 | 52 | 56 | 64)
        && value.bytes().all(part)
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && distinct(value) >= 8
}

/// Whether a value is a date with a time, in RFC 3339 or close to it: `2024-11-22T10:15:30.5Z`,
/// `20241122T101530+0100`.
fn is_time(value: &str) -> bool {
    // The length of `2024-11-22T10:15:30.123456789+01:00`. A longer value is not parsed.
    const BYTES: usize = 35;
    if value.len() > BYTES {
        return false;
    }
    let Some((date, time)) = value.split_once(['T', 't', '_']) else { return false };
    let zone = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone);
    let time = time.split(['.', ',']).next().unwrap_or_default();
    let day = numbers(date, '-', &[4, 2, 2]);
    let day = day.is_some_and(|parts| matches!(parts[..], [_, 1..=12, 1..=31]));
    let of = |parts: &[u32]| matches!(parts, [0..=23, 0..=59] | [0..=23, 0..=59, 0..=60]);
    let time = numbers(time, ':', &[2, 2, 2]).or_else(|| numbers(time, ':', &[2, 2]));
    day && time.is_some_and(|parts| of(&parts))
        && (["", "Z", "z"].contains(&zone)
            || zone
                .get(1..)
                .is_some_and(|zone| numbers(zone, ':', &[2, 2]).is_some_and(|it| of(&it))))
}

/// Parses numbers with these counts of digits, with or without the sign between them.
fn numbers(text: &str, sign: char, digits: &[usize]) -> Option<Vec<u32>> {
    let mut rest = text;
    let signed = text.contains(sign);
    let mut parts = Vec::with_capacity(digits.len());
    for (at, digits) in digits.iter().enumerate() {
        rest = if signed && at > 0 { rest.strip_prefix(sign)? } else { rest };
        let (part, more) = rest.split_at_checked(*digits)?;
        parts.push(part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??);
        rest = more;
    }
    rest.is_empty().then_some(parts)
}

/// Whether a value is `0x` and 40 hexadecimal digits: the public address of an account or contract.
/// A private key has 64.
fn is_account(value: &str) -> bool {
    value.len() == 42
        && value.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Whether a value is a ticket, `JIRA-1234` or `#1234`, which says who knows the password.
fn is_ticket(value: &str) -> bool {
    let project = |name: &str| {
        (2..=10).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let number = |text: &str| {
        (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    value.strip_prefix('#').is_some_and(number)
        || value.split_once('-').is_some_and(|(name, rest)| project(name) && number(rest))
}

/// Whether a value is a number in a program: `0x8031_002C_u32`, `16384u32`.
fn is_number(value: &str) -> bool {
    let value = value.trim_start_matches('-');
    let hex = value.strip_prefix("0x").is_some_and(|rest| rest.len() <= 16 + "_u32".len());
    let decimal = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    let suffix = ["", "u8", "u16", "u32", "u64", "i32", "i64", "usize", "f64", "ms", "s", "px"];
    hex || suffix.contains(&decimal)
}

/// Whether a value is labelled as a checksum: `sha256:…`, `sha512-…`.
fn is_hash(value: &str) -> bool {
    ["sha1", "sha256", "sha384", "sha512", "md5", "blake", "h1:"]
        .iter()
        .any(|name| value.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
}

/// Whether a value is a path or an address.
fn is_place(value: &str, tally: &Tally) -> bool {
    const EXTENSION_BYTES: usize = 5;
    let last = value.ceil_char_boundary(value.len().saturating_sub(EXTENSION_BYTES + 1));
    let extension = value.get(last..).and_then(|last| last.rsplit_once('.'));
    let file = extension.is_some_and(|(_, extension)| {
        !extension.is_empty() && extension.bytes().all(|b| b.is_ascii_lowercase())
    });
    tally.of(b':') > 0 && value.contains("://")
        || value.starts_with("arn:")
        || ["/", "./", "../", "~/", "~\\", "C:\\"].iter().any(|start| value.starts_with(start))
            && tally.of(b'/') > 1
        || file && [b'/', b'_', b'-'].into_iter().any(|sign| tally.of(sign) > 0)
}

/// Whether a value is a name or call in a program: `config.password2`, `self.db_pass1`,
/// `Foo::BAR1`.
fn is_code(value: &str, quoted: bool) -> bool {
    if quoted {
        return false;
    }
    let name = |part: &str| {
        part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    value.contains("::") || value.contains("->") || {
        let parts: Vec<&str> = value.split('.').collect();
        parts.len() > 1 && parts.iter().all(|part| name(part))
    }
}

fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    for byte in value.bytes() {
        if let Some(seen) = seen.get_mut(usize::from(byte)) {
            *seen = true;
        }
    }
    seen.iter().filter(|seen| **seen).count()
}

/// Character counts of a value, as [`is_random`] uses them.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// The count of each ASCII character.
    counts: [u32; 128],
    /// The number of non-ASCII bytes.
    others: u32,
    /// The number of changes of character class, ignoring signs that join words.
    changes: u32,
    /// The class of the last character that is not such a sign.
    last: Option<Class>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Small,
    Capital,
    Digit,
    Other,
}

impl Class {
    /// Returns the class of a character; `None` for a sign that joins words.
    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            b'_' | b'-' | b'.' | b'/' => return None,
            b'a'..=b'z' => Self::Small,
            b'A'..=b'Z' => Self::Capital,
            b'0'..=b'9' => Self::Digit,
            _ => Self::Other,
        })
    }

    /// Whether the step from `last` changes the class. The step from a capital to a small letter
    /// does not.
    fn changes_from(self, last: Option<Self>) -> bool {
        last.is_some_and(|last| last != self && (last, self) != (Self::Capital, Self::Small))
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self { counts: [0; 128], others: 0, changes: 0, last: None }
    }
}

impl From<&str> for Tally {
    fn from(value: &str) -> Self {
        let mut tally = Self::default();
        tally.take(value);
        tally
    }
}

impl Tally {
    /// Counts the next part of the value.
    pub(super) fn take(&mut self, next: &str) {
        for byte in next.bytes() {
            match self.counts.get_mut(usize::from(byte)) {
                Some(count) => *count += 1,
                None => self.others += 1,
            }
            if let Some(class) = Class::of(byte) {
                self.changes += u32::from(class.changes_from(self.last));
                self.last = Some(class);
            }
        }
    }

    /// Returns the tally of `rest`, the end of this value, given the tally `front` of the part
    /// before it.
    pub(super) fn without(&self, front: &Self, rest: &str) -> Self {
        let first = rest.bytes().find_map(Class::of);
        let across = first.is_some_and(|class| class.changes_from(front.last));
        let mut tally = self.clone();
        for (count, before) in tally.counts.iter_mut().zip(front.counts) {
            *count -= before;
        }
        tally.others -= front.others;
        tally.changes -= front.changes + u32::from(across);
        tally
    }

    fn of(&self, byte: u8) -> u32 {
        self.counts.get(usize::from(byte)).copied().unwrap_or_default()
    }

    fn within(&self, bytes: RangeInclusive<u8>) -> u32 {
        bytes.map(|byte| self.of(byte)).sum()
    }

    /// Returns the number of distinct ASCII characters.
    pub(super) fn distinct(&self) -> usize {
        self.counts.iter().filter(|count| **count > 0).count()
    }

    /// Returns the number of positions at which the class could change.
    fn places(&self) -> u32 {
        let joining: u32 = [b'_', b'-', b'.', b'/'].into_iter().map(|sign| self.of(sign)).sum();
        (self.bytes() - joining).saturating_sub(1)
    }

    fn bytes(&self) -> u32 {
        self.counts.iter().sum::<u32>() + self.others
    }

    /// Returns the Shannon entropy in bits per byte.
    fn entropy(&self) -> f64 {
        let total = f64::from(self.bytes());
        let of = |count: &u32| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        };
        self.counts.iter().filter(|count| **count > 0).map(of).sum()
    }
}
