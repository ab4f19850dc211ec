//! Secrets recognised by their position: in a block, in a header, in a URL, beside a word.

use std::ops::Range;

use super::examples::{is_called, is_generated, is_placeholder};
use super::values::{is_base32, is_grouped, is_password, is_random, is_uuid};
use super::words::{ABOUT, OPEN_KEYS, OWNERS, PLACES, Word};
use crate::limits::{KEY_BLOCK_BYTES_MAX, SECRET_OWNER_BYTES_MAX, SECRET_VALUE_BYTES_MAX};

/// Placeholders for a password where a URL is explained.
pub(super) const SAID: [&str; 8] =
    ["password", "pass", "passwd", "pwd", "secret", "pw", "token", "mypassword"];

/// Authentication schemes (RFC 9110) after which the rest of the line is the credential.
const LINE_SCHEMES: [&str; 5] = ["digest", "aws4-hmac-sha256", "signature", "ntlm", "negotiate"];

/// Returns the range of a private key, from its first line at `start`. A truncated key extends as
/// far as the text looks like one.
pub(super) fn key_block(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let (label, _) = rest.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    if label.len() > 60 || !label.contains("PRIVATE KEY") {
        return None;
    }
    let body_at = "-----BEGIN ".len() + label.len() + "-----".len();
    let near = clipped(rest, KEY_BLOCK_BYTES_MAX);
    let after = near.get(body_at..)?;
    let last = after.find("-----END ");
    let ends = last.is_some();
    let (body, end) = if let Some(at) = last {
        let last = after.get(at + "-----END ".len()..)?;
        let closing = last.find("-----").map_or(0, |dashes| dashes + "-----".len());
        (after.get(..at)?, body_at + at + "-----END ".len() + closing)
    } else {
        let belongs = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || byte.is_ascii_whitespace()
                || b"+/=\\:,-".contains(&byte)
        };
        let cut = after.bytes().position(|byte| !belongs(byte)).unwrap_or(after.len());
        (after.get(..cut)?, body_at + after.get(..cut)?.trim_end().len())
    };
    let code = || body.bytes().filter(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b)).count();
    // If the block has no end, the text after its first line may be prose about keys.
    let is_key = if ends { code() >= 40 } else { begins_a_key(body) };
    (is_key && !body.contains("...")).then(|| start..start + end)
}

/// The number of consecutive code characters that a truncated key must have. The shortest keys
/// begin with about as many that are the same for all.
const CUT_KEY_CHARS: usize = 16;

/// Whether the text after a block's first line contains code of a key.
fn begins_a_key(body: &str) -> bool {
    let pieces = body.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/')));
    // With these signs, a value would pass for a path.
    let mut long = pieces.filter(|piece| piece.len() >= CUT_KEY_CHARS);
    long.any(|piece| is_random(&piece.replace(['+', '/'], "")))
}

/// Returns the credential of an `Authorization` header whose name ends at `at`.
pub(super) fn authorization(text: &str, at: usize) -> Option<Range<usize>> {
    let (mut start, _) = value_after(text, at, Operator::Sign)?;
    let rest = text.get(start..)?;
    let word = run(rest, false);
    let lower = word.to_ascii_lowercase();
    if LINE_SCHEMES.contains(&lower.as_str()) {
        let line = clipped(rest, SECRET_VALUE_BYTES_MAX).lines().next()?;
        let value = line.get(word.len()..)?.trim_end_matches(['\'', '"', '`', ' ']);
        let begin = start + word.len() + value.len() - value.trim_start().len();
        let value = value.trim_start();
        return (value.len() >= 8
            && !is_placeholder(value)
            && value.contains(|c: char| c.is_ascii_digit()))
        .then(|| begin..begin + value.len());
    }
    let scheme = ["bearer", "basic", "token", "apikey", "api-key", "key", "splunk", "oauth"];
    let named = scheme.contains(&lower.as_str());
    if named {
        let gap = rest.get(word.len()..)?;
        start += word.len() + (gap.len() - gap.trim_start_matches(' ').len());
    }
    let value = run(text.get(start..)?, false).trim_end_matches(['.', ':', '!', '?']);
    let odd = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '=';
    let credential =
        if named { value.len() >= 8 && value.chars().skip(1).any(odd) } else { is_random(value) };
    (credential && !is_placeholder(value)).then(|| start..start + value.len())
}

/// Returns the token after the word `bearer` in a sentence.
pub(super) fn bearer(text: &str, at: usize) -> Option<Range<usize>> {
    let value = run(text.get(at..)?, false).trim_end_matches(['.', ':', '!', '?']);
    (is_random(value) && !is_placeholder(value)).then(|| at..at + value.len())
}

/// Returns the password of `scheme://user:password@host`, or a token in place of both.
pub(super) fn url_password(text: &str, at: usize) -> Option<Range<usize>> {
    let start = at + "://".len();
    let rest = clipped(text.get(start..)?, SECRET_VALUE_BYTES_MAX);
    let ends = |c: char| c.is_whitespace() || "/\"'`<>?#\\,;()|".contains(c);
    let authority = rest.get(..rest.find(ends).unwrap_or(rest.len()))?;
    let (user_info, _) = authority.rsplit_once('@')?;
    let Some((user, password)) = user_info.split_once(':') else {
        return (is_random(user_info) && !is_placeholder(user_info))
            .then(|| start..start + user_info.len());
    };
    let stands_for_one = password.len() < 3
        || SAID.contains(&password.to_ascii_lowercase().as_str())
        || password.starts_with(':')
        || password.starts_with('[') && password.contains(']')
        || is_placeholder(password)
        || !user.chars().all(|c| c.is_alphanumeric() || "._~%+-".contains(c));
    let begin = start + user.len() + 1;
    (!stands_for_one).then(|| begin..begin + password.len())
}

/// Returns the password of `scott/tiger@`, which follows `jdbc:oracle:thin:`.
pub(super) fn oracle_password(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = clipped(text.get(at..)?, SECRET_VALUE_BYTES_MAX);
    let (login, _) = rest.lines().next()?.split_once('@')?;
    let (user, password) = login.split_once('/')?;
    let start = at + user.len() + 1;
    (password.len() >= 3 && !user.contains(char::is_whitespace) && !is_placeholder(password))
        .then(|| start..start + password.len())
}

/// Returns the signature of a URL, with its escapes.
pub(super) fn signature(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?.as_bytes();
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"%+/=_-".contains(byte);
    let bytes = rest.iter().take(SECRET_VALUE_BYTES_MAX).take_while(part).count();
    (bytes >= 40).then(|| at..at + bytes)
}

/// Returns the cookie values in a header that look random.
pub(super) fn cookies(text: &str, at: usize) -> Vec<Range<usize>> {
    let rest = clipped(text.get(at..).unwrap_or_default(), SECRET_VALUE_BYTES_MAX * 4);
    let line = rest.lines().next().unwrap_or_default();
    let mut begin = at;
    let mut values = Vec::new();
    for pair in line.split_inclusive(';') {
        if let Some((name, value)) = pair.split_once('=') {
            let value = value.trim_end_matches([';', '"', '\'', ' ']);
            let start = begin + name.len() + 1;
            if value.len() >= 16 && is_random(value) && !is_placeholder(value) {
                values.push(start..start + value.len());
            }
        }
        begin += pair.len();
    }
    values
}

/// Returns a `PuTTY` key, to the end of its lines.
pub(super) fn putty_key(text: &str, start: usize) -> Option<Range<usize>> {
    let near = clipped(text.get(start..)?, KEY_BLOCK_BYTES_MAX);
    near.contains("Private-Lines:").then_some(())?;
    let belongs = |line: &str| {
        let line = line.trim_end();
        line.contains(": ")
            || line.len() >= 16
                && line.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
    };
    let lines = near.split_inclusive('\n').take_while(|line| belongs(line));
    let bytes: usize = lines.map(str::len).sum();
    Some(start..start + near.get(..bytes)?.trim_end().len())
}

/// Returns the whole name that contains a word, unless the name shows that the value is not a
/// secret.
pub(super) fn name_around(text: &str, word: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let last = word.start.checked_sub(1).and_then(|at| bytes.get(at));
    if matches!(kind, Word::Short | Word::Login) && last.is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let end = word.end + bytes.get(word.end..)?.iter().take(40).take_while(|b| name(b)).count();
    let more = text.get(word.end..end)?;
    if !may_have_value(text, end, kind) || !ends_a_word(text, word, more) {
        return None;
    }
    // `min` marks a limit, `admin` is an owner and `exchange` a server.
    let lower = more.to_ascii_lowercase().replace("admin", "").replace("exchange", "");
    let id = ["id", "ids", "_at"].iter().any(|end| lower.ends_with(end));
    if id || ABOUT.iter().any(|about| lower.contains(about)) {
        return None;
    }
    let before = bytes.get(..word.start)?.iter().rev().take(40).take_while(|b| name(b)).count();
    let begin = word.start - before;
    let prefix = text.get(begin..word.start).unwrap_or_default().to_ascii_lowercase();
    let parts = || prefix.split(['_', '-']);
    if PLACES.iter().any(|place| prefix.trim_end_matches(['_', '-']).ends_with(place)) {
        return None;
    }
    let owns = |part: &str| {
        let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
        OWNERS.iter().any(|owner| *owner == part || *owner == name)
    };
    let last = parts().rfind(|part| !part.is_empty());
    let fits = match kind {
        Word::Pass => parts().any(owns),
        Word::Short => prefix.is_empty() || prefix.ends_with(['_', '-']) && lower.is_empty(),
        Word::Key => lower.is_empty() && last.is_some_and(|last| !OPEN_KEYS.contains(&last)),
        Word::Login => prefix.is_empty(),
        Word::Password | Word::Secret => true,
    };
    // `first_pass` is a step, `db_pass` is not one.
    let is_step = kind == Word::Short
        && word.len() == "pass".len()
        && text.get(word.clone()).is_some_and(|word| word.eq_ignore_ascii_case("pass"))
        && !prefix.trim_matches('-').is_empty();
    (fits && !is_step).then_some(begin..end)
}

/// Whether the text after a name may lead to a value. Most names are part of a sentence or of code,
/// and this check is cheaper than a full one.
fn may_have_value(text: &str, end: usize, kind: Word) -> bool {
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    if kind == Word::Login {
        return matches!(rest.first(), Some(b':' | b'=' | b'(' | b's' | b'"' | b'\'' | b'*'));
    }
    match rest {
        [b':', b':', ..] | [] => false,
        [b'(', next, ..] => matches!(next, b'"' | b'\''),
        [b' ' | b'\t', ..] => {
            let near = rest.get(..rest.len().min(64)).unwrap_or_default().trim_ascii_start();
            let word = near.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
            let is_sign = matches!(word.first(), Some(b'=' | b':' | b'|' | b'(' | b'*' | b'!'));
            is_sign
                || digits >= 2
                || word.len() >= 20
                || matches!(word, b"is" | b"for" | b"of" | b"to" | b"on" | b"in" | b"at")
                || kind == Word::Password && near.contains(&b'\n')
                || rest.first() == Some(&b'\t')
                || word.is_empty()
                // An argument of an option, or an entry of netrc.
                || kind == Word::Password && text.as_bytes().get(..end).is_some_and(|before| {
                    let near = before.get(before.len().saturating_sub(128)..).unwrap_or_default();
                    near.contains(&b'-') || near.windows(6).any(|word| word == b"login ")
                })
        }
        [first, ..] => b"=:|<>\n\r\"'`]\\*;,".contains(first),
    }
}

/// Returns the value that a sign such as `=` assigns to a name.
pub(super) fn by_sign(text: &str, name: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    let begin = name.start;
    let operator = if text.as_bytes().get(begin) == Some(&b'-') {
        Operator::OptionArgument
    } else if begin > 0 && text.as_bytes().get(begin - 1) == Some(&b'<') {
        Operator::Element
    } else {
        Operator::Sign
    };
    let (start, quote) = value_after(text, name.end, operator)?;
    let below = below(text, start);
    let (start, quote) = below.map_or((start, quote), |start| open_quote(text, start));
    let rest = clipped(text.get(start..)?, SECRET_VALUE_BYTES_MAX);
    let value = match quote.and_then(|quote| rest.lines().next()?.split_once(quote)) {
        Some((value, _)) => value.trim_end_matches('\\'),
        None => bare(rest, kind, operator == Operator::Sign && begins_its_line(text, begin))?,
    };
    // Longer than any secret, so it is data.
    let whole = value.len() < SECRET_VALUE_BYTES_MAX.min(rest.len() + 1);
    if !whole || is_placeholder(value) {
        return None;
    }
    if below.is_some() {
        let line = rest.get(value.len()..)?.lines().next().unwrap_or_default();
        let alone = line.trim_start_matches(|c| Some(c) == quote).trim().is_empty();
        if !alone || value.contains('=') {
            return None;
        }
    }
    let name = text.get(name.clone())?;
    // An option's argument can only be a value.
    let is_argument = operator == Operator::OptionArgument
        && kind == Word::Short
        && name.eq_ignore_ascii_case("--pass")
        && value.len() >= 6
        && !value.starts_with(['-', '/'])
        && value.bytes().all(|byte| byte.is_ascii_graphic());
    (is_argument || is_secret(name, value, kind, quote.is_some()))
        .then(|| start..start + value.len())
}

/// Whether a value beside a name is a secret.
pub(super) fn is_secret(name: &str, value: &str, kind: Word, quoted: bool) -> bool {
    if kind.is_generated() {
        return is_random(value)
            || is_grouped(value)
            || kind == Word::Secret && (is_base32(value) || is_uuid(value) && opens_a_door(name));
    }
    let has_letter = value.contains(char::is_alphabetic);
    is_password(value, quoted) && (kind != Word::Short || has_letter) || is_random(value)
}

/// Whether a UUID under this name is a secret: some services issue UUIDs as keys.
fn opens_a_door(name: &str) -> bool {
    const KEYS: [&str; 6] =
        ["apikey", "authtoken", "accesstoken", "servertoken", "clientsecret", "secretkey"];
    let name = name.to_ascii_lowercase().replace(['_', '-', ' '], "");
    KEYS.iter().any(|key| name.contains(key))
}

/// Whether a name comes first in its line, apart from words that introduce a setting.
fn begins_its_line(text: &str, name: usize) -> bool {
    const INTRODUCTIONS: [&str; 6] = ["", "-", "export", "set", "env", "$env:"];
    let near = text.get(text.floor_char_boundary(name.saturating_sub(32))..name);
    let before = near.and_then(|near| near.rsplit_once('\n')).map_or(near, |(_, line)| Some(line));
    let whole = name <= 32 || near.is_some_and(|near| near.contains('\n'));
    whole
        && before.is_some_and(|before| {
            INTRODUCTIONS.contains(&before.trim().to_ascii_lowercase().as_str())
        })
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

/// Trims closing brackets whose opening ones come before the value: `(password: hunter2)` leaves
/// `hunter2`.
fn unbracketed(value: &str) -> &str {
    let surplus =
        |open, close| value.matches(close).count().saturating_sub(value.matches(open).count());
    let mut closers = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')]
        .map(|(open, close)| (close, surplus(open, close)));
    value.trim_end_matches(|c| {
        let closer = closers.iter_mut().find(|(close, surplus)| c == *close && *surplus > 0);
        closer.map(|(_, surplus)| *surplus -= 1).is_some()
    })
}

/// Whether a word ends there: `tokenizer` and `secretary` continue, `tokens`, `TOKEN_2` and
/// `tokenValue` do not.
fn ends_a_word(text: &str, word: &Range<usize>, more: &str) -> bool {
    let last = text.as_bytes().get(word.end - 1).copied().unwrap_or_default();
    let goes_on = |byte: u8| {
        (last.is_ascii_lowercase() && byte.is_ascii_lowercase())
            || (last.is_ascii_uppercase() && byte.is_ascii_uppercase())
    };
    let plural = more.strip_prefix(['s', 'S']).unwrap_or(more);
    !plural.bytes().next().is_some_and(goes_on)
}

/// The text between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Sign,
    OptionArgument,
    Element,
}

/// Returns where the value begins after a name that ends at `at`, with its opening quote.
fn value_after(text: &str, at: usize, operator: Operator) -> Option<(usize, Option<char>)> {
    let rest = text.get(at..)?;
    let from = |rest: &str| text.len() - rest.len();
    if operator == Operator::Element
        && let Some(value) = rest.strip_prefix('>')
    {
        return Some((from(value), Some('<')));
    }
    if operator == Operator::OptionArgument
        && let Some(value) = rest.strip_prefix([' ', '\t'])
    {
        return Some(open_quote(text, from(value.trim_start_matches([' ', '\t']))));
    }
    let closed = rest.trim_start_matches(['"', '\'', '`', ']', '\\', '*']);
    if rest.len() - closed.len() > 4 {
        return None;
    }
    let spaced = closed.trim_start_matches([' ', '\t']);
    if closed.len() - spaced.len() > 32 {
        return None;
    }
    let signs = [":=", "=>", "==", "!=", "=", ":"];
    let value = match signs.iter().find_map(|sign| Some((*sign, spaced.strip_prefix(sign)?))) {
        Some((":", value)) => after_type(value).unwrap_or(value),
        Some((_, value)) => value,
        None if closed.len() > spaced.len() => {
            spaced.strip_prefix("is ").or_else(|| after_owner(spaced))?
        }
        None => return None,
    };
    Some(open_quote(text, from(value.trim_start_matches([' ', '\t', '*']))))
}

/// Returns the text after the sign in `for the staging db is `, where the secret's owner comes
/// before the sign.
fn after_owner(text: &str) -> Option<&str> {
    let owner = ["for ", "of ", "to ", "on ", "in ", "at "]
        .iter()
        .find_map(|word| text.strip_prefix(word))?;
    let near = clipped(owner, SECRET_OWNER_BYTES_MAX);
    let signs = [" is ", ": ", " = "];
    let (at, sign) = signs.iter().filter_map(|sign| Some((near.find(sign)?, sign))).min()?;
    let plain = |c: char| c.is_alphanumeric() || " -_'/".contains(c);
    near.get(..at)?.chars().all(plain).then(|| owner.get(at + sign.len()..))?
}

/// Returns the start of the next line after a colon that ends one. A value may be there, if it is
/// alone on its line.
fn below(text: &str, at: usize) -> Option<usize> {
    let (before, rest) = text.split_at_checked(at)?;
    if !rest.starts_with(['\n', '\r']) || !before.trim_end_matches([' ', '\t', '*']).ends_with(':')
    {
        return None;
    }
    let near = clipped(rest, SECRET_VALUE_BYTES_MAX);
    let gap = near.len() - near.trim_start().len();
    let lines = near.get(..gap)?.matches('\n').count();
    (lines <= 2).then_some(at + gap)
}

/// Returns the text after the type in `: &'static str = `.
fn after_type(text: &str) -> Option<&str> {
    let in_type = |byte: u8| byte.is_ascii_alphanumeric() || b" &<>'_[]".contains(&byte);
    let end = text.bytes().take(40).position(|byte| !in_type(byte))?;
    text.get(end..)?.strip_prefix('=').filter(|rest| !rest.starts_with('='))
}

/// Skips the opening quote at `at`, with a `b` or `f` before it and a backslash.
pub(super) fn open_quote(text: &str, at: usize) -> (usize, Option<char>) {
    let rest = text.get(at..).unwrap_or_default();
    let unmarked = rest.strip_prefix(['b', 'r', 'f', 'u', '@', '\\']).unwrap_or(rest);
    let opened = |rest: &str| {
        let mut quotes = ['"', '\'', '`'].into_iter();
        quotes.find_map(|quote| Some((text.len() - rest.strip_prefix(quote)?.len(), Some(quote))))
    };
    opened(rest).or_else(|| opened(unmarked)).unwrap_or((at, None))
}

/// Returns a value without quotes, up to the character that ends it.
pub(super) fn run(text: &str, password: bool) -> &str {
    let ends = |c: char| {
        c.is_whitespace() || "\"'`,;<>()[]|\\".contains(c) || (!password && "{}&".contains(c))
    };
    let near = clipped(text, SECRET_VALUE_BYTES_MAX);
    near.get(..near.find(ends).unwrap_or(near.len())).unwrap_or_default()
}

/// Returns at most this many bytes, cut between characters.
pub(super) fn clipped(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}
