//! Judges by its form alone whether a value is a secret, and where a value ends.

use std::sync::LazyLock;

use super::clipped;
use super::pattern::Pattern;
use super::placeholders::is_placeholder;
use super::words::Word;
use crate::limits::SECRET_VALUE_BYTES_MAX;

/// Values that look random or like a password, and are not secrets.
const OPEN: [&str; 6] = [
    // A UUID. It is a name.
    r"^[[:xdigit:]]{8}-[[:xdigit:]]{4}-[[:xdigit:]]{4}-[[:xdigit:]]{4}-[[:xdigit:]]{12}$",
    // A date with a time, in RFC 3339 or close to it.
    r"^\d{4}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])[Tt_](?:[01]\d|2[0-3]):?[0-5]\d(?::?(?:[0-5]\d|60)(?:[.,]\d*)?)?(?:[Zz]|[+-]\d\d:?\d\d)?$",
    // The public address of an account. A private key has 64 digits.
    "^0x[[:xdigit:]]{40}$",
    // A number in a program: `0x8031_002C_u32`, `16384u32`.
    r"^-*(?:0x.{0,20}|[\d_]*(?:[ui](?:8|16|32|64|size)|f64|m?s|px)?)$",
    // A URL, an identifier of AWS, a path, or the name of a file.
    r"://|^arn:|^(?:\.{0,2}|~)/.*/|^(?:~|C:)\\|[/_-].*\.[a-z]{1,5}$",
    // A scope in a program.
    "::",
];

/// Names of methods, with which hashes and other values beside a password begin.
const METHODS: &str =
    "^(?i:argon2|bcrypt|scrypt|pbkdf2|sha[1235]|md5|base64|utf-?8|oauth|http|aes|blake)";

/// Names in a program and tickets, where a password has no quotes: `config.password2`, `JIRA-1234`.
const CODE: &str = r"->|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^#\d{1,6}$|^[A-Z]{2,10}-\d{1,6}$";

/// Returns whether a value matches one of the patterns, which are compiled once.
macro_rules! matches_one {
    ($value:expr, $source:expr) => {{
        static PATTERN: LazyLock<Pattern> = LazyLock::new(|| Pattern::new($source));
        PATTERN.is_in($value)
    }};
}

/// Whether a value looks random: characters of all classes in no order, as from a generator.
///
/// In words, the class of character (small, capital, digit, other) changes seldom. In random text
/// it changes at 4 of 10 positions, for hexadecimal digits and base64 alike. In `handleHttpRequest`
/// it changes only at the beginning of each word. The step from a capital to a small letter does
/// not count.
pub(super) fn is_random(value: &str) -> bool {
    const SHORT: usize = 16;
    if value.len() < 12 || !value.is_ascii() {
        return false;
    }
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let (capitals, small) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let mixed = capitals > 0 && small > 0;
    let changes = changes(value);
    let (distinct, entropy) = variety(value);
    let varies = if value.len() < SHORT {
        digits >= 2 && mixed && changes >= 0.4 && entropy >= 2.8
    } else {
        let changing = digits >= 2 && changes >= 0.25
            || mixed && changes >= 0.38
            || digits == 1 && mixed && changes >= 0.3 && value.len() >= 20;
        changing && distinct >= 8 && entropy >= 3.0
    };
    varies && capitals + small >= 3 && !is_open(value) && !is_hash(value)
}

/// Returns the share of positions at which the class of character changes, without the signs that
/// join words.
fn changes(value: &str) -> f64 {
    let class = |byte: &u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let joins = |byte: &u8| matches!(byte, b'_' | b'-' | b'.' | b'/');
    let classes: Vec<u8> = value.as_bytes().iter().filter(|byte| !joins(byte)).map(class).collect();
    let change = |pair: &&[u8]| pair.first() != pair.last() && *pair != [1, 0];
    let changes = classes.windows(2).filter(change).count();
    ratio(changes, classes.len().saturating_sub(1).max(1))
}

/// Returns the number of distinct characters, and the Shannon entropy in bits per byte.
fn variety(value: &str) -> (usize, f64) {
    let mut counts = [0_usize; 128];
    for byte in value.bytes() {
        counts.get_mut(usize::from(byte)).into_iter().for_each(|count| *count += 1);
    }
    let bits = |count: &usize| -ratio(*count, value.len()) * ratio(*count, value.len()).log2();
    let counts = counts.iter().filter(|count| **count > 0);
    (counts.clone().count(), counts.map(bits).sum())
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    number(part) / number(whole)
}

fn is_open(value: &str) -> bool {
    matches_one!(value, &OPEN.join("|"))
}

/// Whether a value is labelled as a checksum: `sha256:…`, `sha512-…`.
fn is_hash(value: &str) -> bool {
    matches_one!(value, "^(?i:sha1|sha256|sha384|sha512|md5|blake|h1:)")
}

/// Whether a value beside the word `password` is a password, not a word of the sentence.
pub(super) fn is_password(value: &str, quoted: bool) -> bool {
    let bytes_min = if quoted { 6 } else { 7 };
    let letter = value.contains(char::is_alphabetic);
    let digit = value.contains(|c: char| c.is_ascii_digit());
    let symbol = value.contains(|c| "!@#$%^&*+?~=".contains(c));
    (bytes_min..=128).contains(&value.len())
        && (letter && (digit || quoted && symbol) || digit && symbol)
        && !value.contains(char::is_whitespace)
        && !is_open(value)
        && !matches_one!(value, METHODS)
        && (quoted || !matches_one!(value, CODE))
}

/// Whether a value is a password though only its position suggests it. In a name or a version,
/// digits are few and come at the end.
pub(super) fn is_strong(value: &str) -> bool {
    value.len() >= 8
        && value.bytes().filter(u8::is_ascii_digit).count() >= 2
        && value.chars().filter(|c| c.is_alphabetic()).count() >= 3
        && is_password(value, false)
}

/// Whether a value beside a name is a secret.
pub(super) fn is_secret(name: &str, value: &str, kind: Word, quoted: bool) -> bool {
    // Some services issue UUIDs as keys.
    const KEYS: &str =
        "(?i)(?:api[_ -]?key|(?:auth|access|server)[_ -]?token|client[_ -]?secret|secret[_ -]?key)";
    // Like a licence key, `ABCDE-12345-FGHIJ-67890`.
    let is_grouped = || matches_one!(value, "^[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,}$");
    // Like the secret of one-time passwords.
    let is_base32 = || {
        matches!(value.len(), 16 | 26 | 32 | 52 | 56 | 64)
            && matches_one!(value, "^[A-Z2-7]*[2-7][A-Z2-7]*$")
            && variety(value).0 >= 8
    };
    let is_uuid = || value.len() == 36 && matches_one!(value, OPEN[0]);
    let digits = || value.bytes().filter(u8::is_ascii_digit).count();
    match kind {
        Word::Secret | Word::Key => {
            is_random(value)
                || is_grouped() && digits() >= 2 && value.contains(|c: char| c.is_ascii_uppercase())
                || kind == Word::Secret && (is_base32() || is_uuid() && matches_one!(name, KEYS))
        }
        _ => {
            let is_short = kind == Word::Short && !value.contains(char::is_alphabetic);
            // An option's argument can only be a value.
            let is_argument = name.eq_ignore_ascii_case("--pass")
                && value.len() >= 6
                && !value.starts_with(['-', '/'])
                && value.bytes().all(|byte| byte.is_ascii_graphic());
            is_password(value, quoted) && !is_short || is_random(value) || is_argument
        }
    }
}

/// Returns a value without quotes, or `None` if it is a call. In code and in sentences, brackets
/// and signs end a value. They belong to a password that is not code, or that fills its line alone.
pub(super) fn bare(rest: &str, kind: Word, begins_line: bool) -> Option<&str> {
    let near = run(rest, !kind.is_generated());
    let ended = rest.get(near.len()..)?.chars().next();
    let bracket = matches!(ended, Some('(' | '['));
    if bracket && (kind.is_generated() || is_called(rest, near.len())) {
        return None;
    }
    let short = unbracketed(near).trim_end_matches(['.', ':', '?']);
    if kind.is_generated() {
        return Some(short);
    }
    let line = rest.lines().next()?.trim_end();
    let quoted = |c: char| c.is_whitespace() || "\"'`".contains(c);
    let alone = begins_line && !line.contains(quoted);
    let end = line.find(|c| quoted(c) || !alone && ",;".contains(c)).unwrap_or(line.len());
    let long = unbracketed(line.get(..end)?.trim_end_matches(['.', ',', ':', ';', '?']));
    let pairs = matches!(ended, Some(',' | ';')) && long.get(near.len()..)?.contains('=');
    let goes_on = bracket || alone && !pairs && !long.contains("</") && is_generated(long);
    Some(if goes_on && is_password(long, false) && !is_placeholder(long) { long } else { short })
}

/// Returns a value without quotes, up to the character that ends it.
pub(super) fn run(text: &str, password: bool) -> &str {
    let ends = |c: char| {
        c.is_whitespace() || "\"'`,;<>()[]|\\".contains(c) || (!password && "{}&".contains(c))
    };
    let near = clipped(text, SECRET_VALUE_BYTES_MAX);
    near.split(ends).next().unwrap_or_default()
}

/// Trims closing brackets whose opening ones come before the value: `(password: hunter2)` leaves
/// `hunter2`.
fn unbracketed(mut value: &str) -> &str {
    let pairs = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];
    while let Some((open, close)) = pairs.into_iter().find(|(_, close)| value.ends_with(*close))
        && value.matches(close).count() > value.matches(open).count()
    {
        value = value.strip_suffix(close).unwrap_or(value);
    }
    value
}

/// Whether the bracket at `at` opens the arguments of a call or an index: `getToken(user)`,
/// `parts[1]`. A generated bracket never closes, closes within the value, or does not follow a
/// word.
fn is_called(text: &str, at: usize) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let Some((before, opened)) = line.split_at_checked(at) else { return false };
    let is_path = |c: char| c.is_alphanumeric() || "_.:$?".contains(c);
    let before = before.strip_suffix('!').unwrap_or(before);
    let name = before.rsplit(|c| !is_path(c)).find(|part| !part.is_empty()).unwrap_or_default();
    let is_name = !name.contains(|c: char| c.is_ascii_digit()) || is_wordy(name);
    if let Some(end) = closing(opened) {
        let joins = |c: char| c.is_alphanumeric() || "_@#$%^~".contains(c);
        return (is_name || name.contains('.') || name.contains("::"))
            && !opened.get(end..).unwrap_or_default().starts_with(joins);
    }
    // The call continues after a space or on the next line.
    let rest = opened.get(1..).unwrap_or_default();
    let goes_on = rest.contains(|c: char| c.is_whitespace() || "\"'`".contains(c));
    is_name && (rest.is_empty() || rest.ends_with([',', '(', '[', '{']) || goes_on)
}

/// Returns the position after the bracket that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let (open, close) = if text.starts_with('[') { ('[', ']') } else { ('(', ')') };
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, c)| {
        depth += usize::from(c == open);
        depth = depth.saturating_sub(usize::from(c == close));
        (depth == 0 && c == close).then_some(at + 1)
    })
}

/// Whether a value is generated, and not a type or other code. A part of it between signs is not a
/// word, or it has two signs that no type contains, unlike `string|Uint8Array`.
pub(super) fn is_generated(value: &str) -> bool {
    let mut parts = value.split(|c: char| !c.is_alphanumeric());
    value.chars().filter(|c| "!@#$%^*+~".contains(*c)).count() >= 2
        || parts.any(|part| {
            part.contains(char::is_alphabetic)
                && part.contains(|c: char| c.is_ascii_digit())
                && !is_wordy(part)
        })
}

/// Whether a name has few digits for its number of letters: `sha256`, `getOAuth2Token`, not
/// `x7Qm29`.
fn is_wordy(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    letters >= 3 * numbers
}
