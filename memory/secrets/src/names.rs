//! Values beside a name such as `DB_PASSWORD`.
//!
//! A value may be behind a sign, in a table, an element or a call, under a heading, or after the
//! name in a sentence. The less the form shows, the more the value itself must show.

use std::ops::Range;
use std::sync::LazyLock;

use super::pattern::Pattern;
use super::placeholders::is_placeholder;
use super::values::{bare, is_generated, is_random, is_secret, is_strong, run};
use super::words::{ABOUT, LINKS, OPEN_KEYS, OWNERS, PLACES, Word};
use super::{clipped, open_quote};
use crate::limits::{
    SECRET_LEAD_BYTES_MAX, SECRET_TABLE_ROWS_MAX, SECRET_TITLE_CHARS_MAX, SECRET_VALUE_BYTES_MAX,
};

/// The condition under which a form applies to a name.
#[derive(Clone, Copy, Debug)]
enum Where {
    Anywhere,
    /// The name is an option's: `--password`.
    Option,
    /// This comes before the name, apart from quotes.
    After(char),
    /// A row of a table: `|` comes before the name in its line.
    Row,
    /// The word announces a password after a user name.
    Login,
}

/// The end of a value behind a form, and the test that it must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// In quotes, or as far as the value continues. It is a secret by the name's kind.
    Assigned,
    /// Up to the tag that closes the element. It is a secret by the name's kind.
    Element,
    /// Alone on its line. It is a secret by the name's kind.
    Below,
    /// Up to what ends a cell or an argument.
    Cell,
    /// In quotes or not. It is strong, since only its position suggests it.
    Behind,
    /// The rest of the line below a title. It is strong.
    Title,
    /// In a sentence. It is strong, and no word with a number.
    Spoken,
    /// Behind a user name. It is strong.
    Login,
}

/// The texts between a name and its value.
const FORMS: &[(Where, &str, How)] = &[
    // `creds: bob / hunter2`, `auth=("bob", "hunter2")`
    (Where::Login, r#"[sS"'*]{0,4}[:=]\s*["']?USER["']?(?: / ?|[/:] ?)"#, How::Login),
    (Where::Login, r#"[sS"'*]{0,4}(?:[:=]\s*)?[(\[]["']?USER["']?, *["']?"#, How::Login),
    // `--password hunter2`, `<password>hunter2<`
    (Where::Option, r"[ \t]+", How::Assigned),
    (Where::After('<'), ">", How::Element),
    // `const KEY: &str = "…"`, `password = hunter2`
    (Where::Anywhere, r"QUOTES[ \t]{0,32}:[[:alnum:] &<>'_\[\]]{0,40}=(?:[^=]|$)", How::Assigned),
    (Where::Anywhere, "SIGN", How::Assigned),
    // `the password for the staging db is hunter2`
    (Where::Anywhere, r"QUOTES[ \t]{1,32}EQUALS [ \t*]*", How::Assigned),
    (
        Where::Anywhere,
        r"QUOTES[ \t]{1,32}OWNED (?:[\w '/()OTHER-]|\.\w){0,48}?(?: EQUALS | ?: | = )[ \t*]*",
        How::Assigned,
    ),
    (Where::Anywhere, r"SIGN(?:[ \t]*\r?\n){1,2}[ \t]*", How::Below),
    // `| password | hunter2 |`, `password<TAB>hunter2`
    (Where::Row, r#"[`*" ]*\|[ `*"]*"#, How::Cell),
    (Where::Anywhere, "\t[ `*\"]*", How::Cell),
    // `<td>password</td><td>hunter2<`, `<a name="password">hunter2<`, `"password" value="hunter2"`
    (Where::Anywhere, r"</[^>]*>\s*<[^/>][^>]*>", How::Cell),
    (Where::Anywhere, r#"["']\s*>"#, How::Cell),
    (Where::Anywhere, r#"["']\s*[vV]alue=["']"#, How::Cell),
    // `setPassword("hunter2")`, `define('DB_PASSWORD', 'hunter2')`
    (Where::Anywhere, r#"\([brfu@]?["'`]"#, How::Cell),
    (Where::After('('), r#"["'],\s*[brfu@]?["'`]"#, How::Cell),
    // `with password hunter2`
    (Where::Anywhere, r"[ \t]+", How::Behind),
    // `the password was changed to k9Vt2!x`, `das Passwort lautet k9Vt2!x`, `パスワードは「k9Vt2!x」`
    (
        Where::Anywhere,
        r#"(?:[ \t]+[^\s:=|]{1,24}){0,7}?[ \t]+(?:is|was|now|still|to|ist|lautet|auf|es|est|en|por|para|é|è|sono|jest|är|—|–|→|->)[ \t]+(?:[`"'(]|«|“|„)*[ \t]*()\S*\d\S*\d"#,
        How::Spoken,
    ),
    (Where::Anywhere, r#"(?:は|是|为|改成了?|改为)(?:「|“|")?()\S*\d\S*\d"#, How::Spoken),
    // `## DB password`, and the value below
    (
        Where::Anywhere,
        r"(?:[ \t\r]*|[ \t]*[(:*_`][\w\s#*`()/:.&>'\[\]OTHER-]{0,60}?)\n(?:[ \t\r]*\n|[ \t]*[=~-]+[ \t\r]*\n|```[^\n]*\n){0,2}[ \t]*",
        How::Title,
    ),
];

/// The patterns of the forms.
pub(super) static PATTERNS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| FORMS.iter().map(|(_, lead, _)| Pattern::new(lead)).collect());

/// Returns the values beside the name that has a word in it.
pub(super) fn beside(text: &str, word: &Range<usize>, kind: Word) -> Vec<Range<usize>> {
    let Some(name) = name_around(text, word, kind) else { return Vec::new() };
    let end = text.floor_char_boundary(name.end + SECRET_LEAD_BYTES_MAX);
    let line = line_before(text, name.start);
    let by_form = |((place, _, how), lead): (&(Where, &str, How), &Pattern)| {
        let applies = match place {
            Where::Login => kind == Word::Login,
            _ if kind == Word::Login => false,
            Where::Option => text.get(name.clone())?.starts_with('-'),
            Where::After(sign) => line.trim_end_matches(QUOTES).trim_end().ends_with(*sign),
            Where::Row => line.contains('|'),
            Where::Anywhere => true,
        };
        applies.then_some(())?;
        let lead = lead.at(text, name.end..end)?;
        value(text, &name, kind, lead.value.end, *how)
    };
    match FORMS.iter().zip(&*PATTERNS).find_map(by_form) {
        Some(value) => vec![value],
        None if kind == Word::Login => Vec::new(),
        None => in_column(text, &name, kind).unwrap_or_default(),
    }
}

/// Returns the value that begins at `start`, if it is a secret.
fn value(
    text: &str,
    name: &Range<usize>,
    kind: Word,
    start: usize,
    how: How,
) -> Option<Range<usize>> {
    let (start, quote) = match how {
        How::Assigned | How::Below | How::Behind => open_quote(text, start),
        How::Element => (start, Some('<')),
        How::Cell | How::Login | How::Spoken => (start, None),
        How::Title => {
            let rest = text.get(start..)?;
            (text.len() - rest.trim_start_matches(QUOTES).len(), None)
        }
    };
    let rest = clipped(text.get(start..)?, SECRET_VALUE_BYTES_MAX);
    let line = rest.lines().next()?;
    let value = match quote.and_then(|quote| line.split_once(quote)) {
        Some((value, _)) => value.trim_end_matches('\\'),
        None => match how {
            How::Cell => {
                line.split(|c: char| c.is_whitespace() || "\"'`<|;,".contains(c)).next()?
            }
            How::Login => run(line, true).trim_end_matches(['.', ':', '?']),
            How::Spoken => {
                let value = line.split(['»', '」', '”', '，', '。', '、']).next()?;
                run(value, true).trim_end_matches(['.', ':', '?'])
            }
            How::Title => line.trim_end().trim_end_matches(QUOTES),
            _ => {
                let is_whole = how == How::Assigned && begins_its_line(text, name.start);
                bare(rest, kind, is_whole)?
            }
        },
    };
    // Longer than any secret, so it is data.
    let is_data = value.len() >= SECRET_VALUE_BYTES_MAX;
    let named = text.get(name.clone())?;
    let is_sound = match how {
        How::Assigned | How::Element | How::Cell => is_secret(named, value, kind, quote.is_some()),
        How::Below => {
            let behind = line.get(value.len()..)?.trim_start_matches(|c| Some(c) == quote);
            behind.trim().is_empty()
                && !value.contains('=')
                && is_secret(named, value, kind, quote.is_some())
        }
        How::Behind if kind.is_generated() => {
            named.contains(['_', '-']) && value.len() >= 20 && is_random(value)
        }
        How::Behind => kind == Word::Password && is_strong(value),
        How::Title => {
            is_title(text, name)
                && !value.contains(|c: char| c.is_whitespace() || c == '=')
                && (!kind.is_generated() && is_strong(value) || is_random(value))
        }
        How::Spoken => {
            let is_signed = value.contains(|c| "!$%^*+~=".contains(c));
            // `k8s-login-v2` is a name.
            let is_joined = value.contains(['-', '_', '.', '/']);
            let is_odd = is_signed || !is_joined && is_generated(value);
            kind == Word::Password && is_strong(value) && is_odd
        }
        How::Login => is_strong(value),
    };
    (is_sound && !is_data && !is_placeholder(value)).then(|| start..start + value.len())
}

const QUOTES: [char; 4] = ['`', '*', '"', '\''];

/// Returns what comes before a position in its line, as far as a rule looks back.
fn line_before(text: &str, at: usize) -> &str {
    let near = text.floor_char_boundary(at.saturating_sub(SECRET_VALUE_BYTES_MAX));
    let near = text.get(near..at).unwrap_or_default();
    near.rsplit('\n').next().unwrap_or_default()
}

/// Whether a name may be a title: what comes before it in its line is short, and not code.
fn is_title(text: &str, name: &Range<usize>) -> bool {
    let line = line_before(text, name.start);
    let is_plain =
        |c: char| c.is_alphanumeric() || c.is_whitespace() || "#*_`()-/:.&>'[]".contains(c);
    line.chars().count() <= SECRET_TITLE_CHARS_MAX && line.chars().all(is_plain)
}

/// Whether a name comes first in its line, apart from words that introduce a setting.
fn begins_its_line(text: &str, name: usize) -> bool {
    static BEGINS: LazyLock<Pattern> =
        LazyLock::new(|| Pattern::new(r"(?i)(?:^|\n)[ \t]*(?:-|export|set|env|\$env:)?[ \t]*$"));
    let near = text.floor_char_boundary(name.saturating_sub(32));
    BEGINS.within(text, near..name).is_some()
}

/// Returns the whole name that contains a word, unless the name shows that the value is not a
/// secret.
fn name_around(text: &str, word: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_short = matches!(kind, Word::Short | Word::Login);
    if is_short && text.get(..word.start)?.ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let end = word.end + bytes.get(word.end..)?.iter().take(40).take_while(is_part).count();
    let more = text.get(word.end..end)?;
    if !may_have_value(text, end, kind) || !ends_a_word(text.get(word.clone())?, more) {
        return None;
    }
    // `min` marks a limit, `admin` is an owner and `exchange` a server.
    let more = more.to_ascii_lowercase().replace("admin", "").replace("exchange", "");
    let is_id = ["id", "ids", "_at"].iter().any(|end| more.ends_with(end));
    if is_id || ABOUT.split(' ').any(|about| more.contains(about)) {
        return None;
    }
    let begin =
        word.start - bytes.get(..word.start)?.iter().rev().take(40).take_while(is_part).count();
    let prefix = text.get(begin..word.start)?.to_ascii_lowercase();
    let stem = prefix.trim_end_matches(['_', '-']);
    let mut parts = stem.split(['_', '-']);
    let owns = |part: &str| {
        let part = part.trim_end_matches(|c: char| c.is_ascii_digit() && part != "pop3");
        OWNERS.split(' ').any(|owner| owner == part)
    };
    let fits = match kind {
        Word::Pass => parts.any(owns),
        // `first_pass` is a step, `db_pass` is not one.
        Word::Short => {
            let is_pass = text.get(word.clone())?.eq_ignore_ascii_case("pass");
            prefix.trim_matches('-').is_empty()
                || prefix.len() > stem.len() && more.is_empty() && !is_pass
        }
        Word::Key => {
            let last = parts.next_back().unwrap_or_default();
            more.is_empty() && !last.is_empty() && !OPEN_KEYS.split(' ').any(|open| open == last)
        }
        Word::Login => prefix.is_empty(),
        Word::Password | Word::Secret => true,
    };
    (fits && !PLACES.iter().any(|place| stem.ends_with(place))).then_some(begin..end)
}

/// Whether a word ends there: `tokenizer` and `secretary` continue, `tokens`, `TOKEN_2` and
/// `tokenValue` do not.
fn ends_a_word(word: &str, more: &str) -> bool {
    let plural = more.strip_prefix(['s', 'S']).unwrap_or(more);
    let (last, next) = (word.bytes().next_back(), plural.bytes().next());
    !last.zip(next).is_some_and(|(last, next)| {
        last.is_ascii_lowercase() && next.is_ascii_lowercase()
            || last.is_ascii_uppercase() && next.is_ascii_uppercase()
    })
}

/// Whether the text after a name may lead to a value. Most names are part of a sentence or of code,
/// and this check is cheaper than the forms.
fn may_have_value(text: &str, end: usize, kind: Word) -> bool {
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    match rest {
        [first, ..] if kind == Word::Login => b":=(s\"'*".contains(first),
        [b':', b':', ..] | [] => false,
        [b'(', next, ..] => matches!(next, b'"' | b'\''),
        [b' ', ..] => {
            let near = rest.get(..rest.len().min(64)).unwrap_or_default().trim_ascii_start();
            let word = near.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            let before = || {
                let near = text.as_bytes().get(end.saturating_sub(128)..end).unwrap_or_default();
                near.contains(&b'-') || near.windows(6).any(|word| word == b"login ")
            };
            word.first().is_none_or(|first| b"=:|(*!".contains(first))
                || word.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
                || word.len() >= 20
                || is_linked(word)
                || kind == Word::Password && (near.contains(&b'\n') || has_digits(rest) || before())
        }
        [first, ..] if !first.is_ascii() => kind == Word::Password && has_digits(rest),
        [first, ..] => b"=:|<>\t\n\r\"'`]\\*;,".contains(first),
    }
}

/// Whether a word leads from a name to its value, or to the owner of the value.
fn is_linked(word: &[u8]) -> bool {
    let word = word.strip_suffix(b":").unwrap_or(word);
    LINKS.split(' ').any(|link| link.as_bytes() == word)
}

/// Whether a password may come soon in a sentence: it has two digits.
fn has_digits(rest: &[u8]) -> bool {
    let near = rest.get(..rest.len().min(96)).unwrap_or_default();
    near.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
}

/// Returns the values in a table column whose header is the name.
fn in_column(text: &str, name: &Range<usize>, kind: Word) -> Option<Vec<Range<usize>>> {
    let before = line_before(text, name.start);
    let after = clipped(text.get(name.end..)?, SECRET_VALUE_BYTES_MAX).split_once('\n')?.0;
    let head = text.get(name.start - before.len()..name.end + after.len())?.trim_end();
    let sign = ['|', '\t', ';', ','].into_iter().find(|sign| head.contains(*sign))?;
    let is_label =
        |cell: &str| cell.chars().count() <= 30 && !cell.contains(['=', '(', '{', '"', ':']);
    head.split(sign).all(is_label).then_some(())?;
    let cells = head.split(sign).count();
    let column = before.matches(sign).count();
    let mut at = name.end + after.len() + 1;
    let mut values = Vec::new();
    let rows = text.get(at..)?.split_inclusive('\n').take(SECRET_TABLE_ROWS_MAX);
    for (row, line) in rows.enumerate() {
        let is_rule = line.contains('-') && line.chars().all(|c| "|-: \r\n".contains(c));
        // A Markdown table has a rule below its header.
        if line.split(sign).count() != cells || sign == '|' && row == 0 && !is_rule {
            break;
        }
        let front: usize = line.split(sign).take(column).map(|cell| cell.len() + 1).sum();
        let cell = line.get(front..)?.trim_start_matches([' ', '`', '*', '"']);
        values.extend(value(text, name, kind, at + line.len() - cell.len(), How::Cell));
        at += line.len();
    }
    Some(values)
}
