//! Tokens recognised by shape: they have no fixed prefix, but each of their parts has a fixed
//! length.

use std::ops::Range;
use std::sync::LazyLock;

use super::alphabet::Alphabet;
use super::values::{is_filler, is_random};

/// The length of the shortest such token.
const BYTES_MIN: usize = 34;

/// The characters that such tokens consist of.
static PARTS: LazyLock<[bool; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| u8::try_from(byte).is_ok_and(|byte| Alphabet::Dots.has(byte)))
});

/// Finds such tokens. In other text it examines one byte in [`BYTES_MIN`].
pub(super) fn shapes(text: &str) -> Vec<Range<usize>> {
    let (bytes, parts) = (text.as_bytes(), &*PARTS);
    let is_part = |at: usize| {
        bytes.get(at).and_then(|byte| parts.get(usize::from(*byte))).is_some_and(|is_part| *is_part)
    };
    let mut found = Vec::new();
    let mut start = 0;
    while start + BYTES_MIN <= bytes.len() {
        let probe = start + BYTES_MIN - 1;
        let Some(stop) = (start..=probe).rev().find(|at| !is_part(*at)) else {
            let mut end = probe + 1;
            while is_part(end) {
                end += 1;
            }
            let value = text.get(start..end).unwrap_or_default().trim_end_matches(['.', '-']);
            if is_shape(value) {
                found.push(start..start + value.len());
            }
            start = end + 1;
            continue;
        };
        start = stop + 1;
    }
    found
}

fn is_shape(value: &str) -> bool {
    is_twilio(value) || is_discord(value) || is_mailchimp(value) || is_mailgun(value)
}

/// Whether a value is `SK` and 32 hexadecimal digits.
fn is_twilio(value: &str) -> bool {
    value.len() == 34 && value.strip_prefix("SK").is_some_and(is_hex)
}

/// Whether a value is a bot's number in base64, a time and a signature.
fn is_discord(value: &str) -> bool {
    let parts: Vec<&str> = value.split('.').collect();
    matches!(parts[..], [bot, time, signature]
        if bot.starts_with(['M', 'N', 'O']) && (22..=30).contains(&bot.len()) && time.len() == 6
            && (25..=45).contains(&signature.len()) && is_random(signature))
}

/// Whether a value is 32 hexadecimal digits and the account's data centre: `-us14`.
fn is_mailchimp(value: &str) -> bool {
    value.split_once("-us").is_some_and(|(key, place)| {
        key.len() == 32
            && is_hex(key)
            && matches!(place.len(), 1 | 2)
            && place.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether a value is 32, 8 and 8 hexadecimal digits.
fn is_mailgun(value: &str) -> bool {
    let lengths = value.split('-').map(str::len);
    value.len() == 50 && lengths.eq([32, 8, 8]) && value.split('-').all(is_hex)
}

fn is_hex(value: &str) -> bool {
    value.bytes().all(|byte| Alphabet::Hex.has(byte)) && !is_filler(value)
}

/// Returns the Telegram bot token around the `:A` that begins at `at`: its number, and 35
/// characters.
pub(super) fn telegram(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..at)?;
    let digits = before.iter().rev().take(17).take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.get(at + 1..)?;
    let bytes = rest.bytes().take(40).take_while(|byte| Alphabet::Dash.has(*byte)).count();
    let key = rest.get(..bytes)?;
    ((6..=16).contains(&digits)
        && (34..=36).contains(&bytes)
        && key.starts_with('A')
        && !is_filler(key))
    .then(|| at - digits..at + 1 + bytes)
}

/// Returns the secret of an Azure application around its `Q~`.
pub(super) fn azure(text: &str, at: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| Alphabet::Dots.has(byte) || byte == b'~';
    let start = at.checked_sub(4)?;
    let rest = text.get(start..)?;
    let bytes = rest.bytes().take(48).take_while(|byte| is_part(*byte)).count();
    let is_digit = text.as_bytes().get(at - 1)?.is_ascii_digit();
    (is_digit && (37..=40).contains(&bytes) && text.get(at..)?.starts_with("Q~"))
        .then(|| start..start + bytes)
}

/// Returns the HCP Terraform token around its `.atlasv1.`.
pub(super) fn terraform(text: &str, mark: Range<usize>) -> Option<Range<usize>> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric();
    let before = text.as_bytes().get(..mark.start)?.iter().rev().take(15);
    let front = before.take_while(|byte| is_part(byte)).count();
    let rest = text.as_bytes().get(mark.end..)?;
    let back = rest.iter().take(120).take_while(|byte| Alphabet::Dash.has(**byte)).count();
    (front == 14 && back >= 60).then(|| mark.start - front..mark.end + back)
}
