//! Secrets that are told by where they stand: in a block, in a header, in a URL, beside a word.

use std::ops::Range;

use super::examples::{is_called, is_generated, is_placeholder};
use super::values::{is_password, is_random};
use crate::limits::{KEY_BLOCK_BYTES_MAX, SECRET_VALUE_BYTES_MAX};

/// What a word says of the value beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// People make these: short, with some sense.
    Password,
    /// One of these where whose it is stands before it: `db_pass`, not `high_pass`.
    Pass,
    /// Generators make these.
    Secret,
}

/// The words, in any case and within longer names: `DB_PASSWORD`, `clientSecret`.
pub(super) const WORDS: &[(&str, Word)] = &[
    ("password", Word::Password),
    ("passwd", Word::Password),
    ("passphrase", Word::Password),
    ("db_pwd", Word::Password),
    ("user_pwd", Word::Password),
    ("_pass", Word::Pass),
    ("secret", Word::Secret),
    ("secretkey", Word::Secret),
    ("token", Word::Secret),
    ("api_key", Word::Secret),
    ("apikey", Word::Secret),
    ("api-key", Word::Secret),
    ("api key", Word::Secret),
    ("access_key", Word::Secret),
    ("accesskey", Word::Secret),
    ("access-key", Word::Secret),
    ("private_key", Word::Secret),
    ("privatekey", Word::Secret),
    ("private-key", Word::Secret),
    ("signing_key", Word::Secret),
    ("signingkey", Word::Secret),
    ("signing-key", Word::Secret),
    ("encryption_key", Word::Secret),
    ("encryptionkey", Word::Secret),
    ("account_key", Word::Secret),
    ("accountkey", Word::Secret),
    ("master_key", Word::Secret),
    ("masterkey", Word::Secret),
    ("auth_key", Word::Secret),
    ("authkey", Word::Secret),
    ("credential", Word::Secret),
];

/// Ends of names that say that the value is about a secret, not one.
const ABOUT: [&str; 32] = [
    "hash",
    "sha",
    "digest",
    "checksum",
    "fingerprint",
    "count",
    "limit",
    "budget",
    "max",
    "min",
    "len",
    "size",
    "type",
    "name",
    "url",
    "uri",
    "path",
    "file",
    "dir",
    "expir",
    "ttl",
    "prefix",
    "format",
    "version",
    "policy",
    "field",
    "pattern",
    "chang",
    "updat",
    "rotat",
    "reset",
    "address",
];

/// What has a password that is called its `pass`; any other pass is a step or a filter.
const OWNERS: [&str; 59] = [
    "account",
    "admin",
    "amqp",
    "app",
    "auth",
    "backup",
    "basic",
    "become",
    "bind",
    "cert",
    "client",
    "database",
    "db",
    "default",
    "deploy",
    "docker",
    "elastic",
    "email",
    "ftp",
    "git",
    "grafana",
    "http",
    "imap",
    "jdbc",
    "kafka",
    "key",
    "keystore",
    "ldap",
    "login",
    "mail",
    "mariadb",
    "master",
    "mongo",
    "mongodb",
    "mqtt",
    "mysql",
    "pg",
    "pop3",
    "postgres",
    "rabbitmq",
    "redis",
    "registry",
    "root",
    "rpc",
    "server",
    "service",
    "sftp",
    "sip",
    "smb",
    "smtp",
    "sql",
    "ssh",
    "sudo",
    "superuser",
    "truststore",
    "user",
    "vpn",
    "wifi",
    "zip",
];

/// What a token is that tells where a list goes on.
const PLACES: [&str; 4] = ["next", "page", "continuation", "cursor"];

/// What stands for a password where a URL is explained.
pub(super) const SAID: [&str; 8] =
    ["password", "pass", "passwd", "pwd", "secret", "pw", "token", "mypassword"];

/// Schemes of RFC 9110 after which the rest of the line is the credential.
const LINE_SCHEMES: [&str; 5] = ["digest", "aws4-hmac-sha256", "signature", "ntlm", "negotiate"];

/// A private key between its lines, from `start`. One that is cut off goes as far as it looks like one.
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
    // What follows the first line of a block that ends nowhere may be prose about keys.
    let is_key = if ends { code() >= 40 } else { begins_a_key(body) };
    (is_key && !body.contains("...")).then(|| start..start + end)
}

/// A key that is cut off must have so many characters of code in a row. The shortest keys begin with about as many that
/// are the same for all.
const CUT_KEY_CHARS: usize = 16;

/// Whether the code of a key stands in what follows a block's first line.
fn begins_a_key(body: &str) -> bool {
    let pieces = body.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/')));
    // With these in it a value would pass for a path.
    let mut long = pieces.filter(|piece| piece.len() >= CUT_KEY_CHARS);
    long.any(|piece| is_random(&piece.replace(['+', '/'], "")))
}

/// The credential of an `Authorization` header, whose name ends at `at`.
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

/// The token after the word `bearer` in a sentence.
pub(super) fn bearer(text: &str, at: usize) -> Option<Range<usize>> {
    let value = run(text.get(at..)?, false).trim_end_matches(['.', ':', '!', '?']);
    (is_random(value) && !is_placeholder(value)).then(|| at..at + value.len())
}

/// The password of `scheme://user:password@host`, or a token in place of both.
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

/// The value beside a word: after `=` or `:`, as an option's argument, in an element, after `is`.
pub(super) fn beside(text: &str, word: Range<usize>, kind: Word) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = word.end + bytes.get(word.end..)?.iter().take(40).take_while(|b| name(b)).count();
    let more = text.get(word.end..end)?;
    if !ends_a_word(text, &word, more) {
        return None;
    }
    // `min` says that it is a limit, `admin` whose it is; `exchange` is a server.
    let lower = more.to_ascii_lowercase().replace("admin", "").replace("exchange", "");
    let id = ["id", "ids", "_at"].iter().any(|end| lower.ends_with(end));
    if id || ABOUT.iter().any(|about| lower.contains(about)) {
        return None;
    }
    let before = bytes.get(..word.start)?.iter().rev().take(40).take_while(|b| name(b)).count();
    let begin = word.start - before;
    let prefix = text.get(begin..word.start).unwrap_or_default().to_ascii_lowercase();
    if PLACES.iter().any(|place| prefix.trim_end_matches(['_', '-']).ends_with(place)) {
        return None;
    }
    let owns = |part: &str| {
        let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
        OWNERS.iter().any(|owner| *owner == part || *owner == name)
    };
    if kind == Word::Pass && !prefix.split(['_', '-']).any(owns) {
        return None;
    }
    let operator = if bytes.get(begin) == Some(&b'-') {
        Operator::OptionArgument
    } else if begin > 0 && bytes.get(begin - 1) == Some(&b'<') {
        Operator::Element
    } else {
        Operator::Sign
    };
    let (start, quote) = value_after(text, end, operator)?;
    let below = below(text, start);
    let (start, quote) = below.map_or((start, quote), |start| open_quote(text, start));
    let rest = clipped(text.get(start..)?, SECRET_VALUE_BYTES_MAX);
    let value = match quote.and_then(|quote| rest.lines().next()?.split_once(quote)) {
        Some((value, _)) => value.trim_end_matches('\\'),
        None => bare(rest, kind, operator == Operator::Sign && begins_its_line(text, begin))?,
    };
    // Longer than any secret: data.
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
    let secret = match kind {
        Word::Password | Word::Pass => is_password(value, quote.is_some()) || is_random(value),
        Word::Secret => is_random(value),
    };
    secret.then(|| start..start + value.len())
}

/// Whether nothing stands before a name in its line but what introduces one that is set.
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

/// A value without quotes; `None` when it is a call. Brackets and signs end it in code and in a sentence, but belong
/// to a password that is no code, or that is all there is in its line.
fn bare(rest: &str, kind: Word, begins_line: bool) -> Option<&str> {
    let near = run(rest, kind != Word::Secret);
    let ended = rest.get(near.len()..)?.chars().next();
    let bracket = matches!(ended, Some('(' | '['));
    if bracket && (kind == Word::Secret || is_called(rest, near.len())) {
        return None;
    }
    let short = unbracketed(near).trim_end_matches(['.', ':', '?']);
    if kind == Word::Secret {
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

/// Without the brackets at its end that close what was opened before it: `hunter2` of `(password: hunter2)`.
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

/// `tokenizer` and `secretary` go on; `tokens`, `TOKEN_2`, `tokenValue` do not.
fn ends_a_word(text: &str, word: &Range<usize>, more: &str) -> bool {
    let last = text.as_bytes().get(word.end - 1).copied().unwrap_or_default();
    let goes_on = |byte: u8| {
        (last.is_ascii_lowercase() && byte.is_ascii_lowercase())
            || (last.is_ascii_uppercase() && byte.is_ascii_uppercase())
    };
    let plural = more.strip_prefix(['s', 'S']).unwrap_or(more);
    !plural.bytes().next().is_some_and(goes_on)
}

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Sign,
    OptionArgument,
    Element,
}

/// Where the value begins after a name that ends at `at`, and the quote that it is in.
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
        None if closed.len() > spaced.len() => spaced.strip_prefix("is ")?,
        None => return None,
    };
    Some(open_quote(text, from(value.trim_start_matches([' ', '\t', '*']))))
}

/// Where the next line begins, after a colon that ends one: a value may stand there, if nothing else does.
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

/// After the type in `: &'static str = `.
fn after_type(text: &str) -> Option<&str> {
    let in_type = |byte: u8| byte.is_ascii_alphanumeric() || b" &<>'_[]".contains(&byte);
    let end = text.bytes().take(40).position(|byte| !in_type(byte))?;
    text.get(end..)?.strip_prefix('=').filter(|rest| !rest.starts_with('='))
}

/// Steps over the quote that opens at `at`, with a `b` or `f` before it and a backslash.
pub(super) fn open_quote(text: &str, at: usize) -> (usize, Option<char>) {
    let rest = text.get(at..).unwrap_or_default();
    let unmarked = rest.strip_prefix(['b', 'r', 'f', 'u', '@', '\\']).unwrap_or(rest);
    let opened = |rest: &str| {
        let mut quotes = ['"', '\'', '`'].into_iter();
        quotes.find_map(|quote| Some((text.len() - rest.strip_prefix(quote)?.len(), Some(quote))))
    };
    opened(rest).or_else(|| opened(unmarked)).unwrap_or((at, None))
}

/// A value without quotes, up to what ends it.
pub(super) fn run(text: &str, password: bool) -> &str {
    let ends = |c: char| {
        c.is_whitespace() || "\"'`,;<>()[]|\\".contains(c) || (!password && "{}&".contains(c))
    };
    let near = clipped(text, SECRET_VALUE_BYTES_MAX);
    near.get(..near.find(ends).unwrap_or(near.len())).unwrap_or_default()
}

/// At most so many bytes, ended between characters.
pub(super) fn clipped(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}
