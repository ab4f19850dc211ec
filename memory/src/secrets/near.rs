//! Values near a word with no sign in between. The value may be in a table, an element or a call,
//! under a heading, or after the word in a sentence.
//!
//! The less the form shows, the more the value itself must show.

use std::ops::Range;

use super::examples::is_placeholder;
use super::places::{bare, by_sign, clipped, is_secret, name_around, open_quote, run};
use super::values::{is_password, is_random};
use super::words::Word;
use crate::limits::{SECRET_TABLE_ROWS_MAX, SECRET_TITLE_CHARS_MAX, SECRET_VALUE_BYTES_MAX};

/// Returns the values beside a word: after `=`, `:` or `is`, as an option's argument, or in an
/// element. Without such a sign, [`near`] tries the forms it knows.
pub(super) fn beside(text: &str, word: Range<usize>, kind: Word) -> Vec<Range<usize>> {
    let Some(name) = name_around(text, &word, kind) else { return Vec::new() };
    if kind == Word::Login {
        return login(text, &name).into_iter().collect();
    }
    match by_sign(text, &name, kind) {
        Some(value) => vec![value],
        None => near(text, &name, kind),
    }
}

/// Finds the values near a name.
fn near(text: &str, name: &Range<usize>, kind: Word) -> Vec<Range<usize>> {
    let forms = [netrc, in_cell, in_element, in_call, behind, under_title];
    if let Some(value) = forms.iter().find_map(|form| form(text, name, kind)) {
        return vec![value];
    }
    in_column(text, name, kind)
}

/// Returns the password in `creds: bob / hunter2` and in `auth=("bob", "hunter2")`.
fn login(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(name.end..)?.trim_start_matches(['s', 'S', '"', '\'', '*']);
    let signed = rest.strip_prefix([':', '=']).map(str::trim_start);
    let value = match signed {
        Some(value) => value,
        None => rest.starts_with('(').then_some(rest)?,
    };
    let line = clipped(value, SECRET_VALUE_BYTES_MAX).lines().next()?;
    let (user, password) = match line.strip_prefix(['(', '[']) {
        Some(pair) => pair.split_once(',')?,
        None => line.split_once(" / ").or_else(|| line.split_once(['/', ':']))?,
    };
    let user = user.trim_matches(['"', '\'']);
    let is_user =
        !user.is_empty() && user.chars().all(|c| c.is_alphanumeric() || "._@-+".contains(c));
    let password = password.trim_start_matches([' ', '"', '\'']);
    let start = text.len() - value.len() + line.len() - password.len();
    let password = run(password, true).trim_end_matches(['.', ':', '?']);
    let sound = is_strong(password) && !is_placeholder(password);
    (is_user && sound).then(|| start..start + password.len())
}

/// Finds the password in `machine example.com login me password hunter2`, on one line or on
/// several.
fn netrc(text: &str, name: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    if kind != Word::Password || !text.get(name.clone())?.eq_ignore_ascii_case("password") {
        return None;
    }
    let near = text.floor_char_boundary(name.start.saturating_sub(SECRET_VALUE_BYTES_MAX));
    let mut words = text.get(near..name.start)?.split_whitespace().rev();
    let (_user, login) = (words.next()?, words.next()?);
    let is_entry = login == "login"
        && (words.next()? == "default" || words.next().is_some_and(|word| word == "machine"));
    let rest = text.get(name.end..)?;
    let value = rest.trim_start();
    let start = text.len() - value.len();
    let value = value.split_whitespace().next()?;
    (is_entry && start > name.end && value.len() >= 4 && !is_placeholder(value))
        .then(|| start..start + value.len())
}

/// Finds the value in `| password | hunter2 |` and in `password<TAB>hunter2`.
fn in_cell(text: &str, name: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    let rest = text.get(name.end..)?;
    let closed = rest.trim_start_matches(['`', '*', '"', ' ']);
    let cell = closed.strip_prefix('|').or_else(|| rest.strip_prefix('\t'))?;
    if closed.starts_with('|') {
        let line = text.get(..name.start)?.rsplit('\n').next()?;
        line.contains('|').then_some(())?;
    }
    let cell = cell.trim_start_matches([' ', '`', '*', '"']);
    judged(text, name, kind, text.len() - cell.len())
}

/// Finds the value in `<td>password</td><td>hunter2</td>`, in `<string name="password">hunter2<`,
/// and in `value="hunter2"` after a quoted name.
fn in_element(text: &str, name: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    let rest = text.get(name.end..)?;
    let inside = if let Some(tag) = rest.strip_prefix("</") {
        let next = tag.split_once('>')?.1.trim_start();
        next.strip_prefix('<').filter(|next| !next.starts_with('/'))?.split_once('>')?.1
    } else {
        let closed = rest.strip_prefix(['"', '\''])?.trim_start();
        match closed.strip_prefix('>') {
            Some(inside) => inside,
            None => {
                closed.strip_prefix("value=").or_else(|| closed.strip_prefix("Value="))?.get(1..)?
            }
        }
    };
    judged(text, name, kind, text.len() - inside.len())
}

/// Finds the value in `setPassword("hunter2")` and in `define('DB_PASSWORD', 'hunter2')`.
fn in_call(text: &str, name: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    let rest = text.get(name.end..)?;
    let argument = if let Some(argument) = rest.strip_prefix('(') {
        argument
    } else {
        let before = text.get(..name.start)?.trim_end_matches(['"', '\'']).trim_end();
        let behind = rest.strip_prefix(['"', '\''])?.strip_prefix(',')?;
        before.ends_with('(').then_some(behind.trim_start())?
    };
    let (start, quote) = open_quote(text, text.len() - argument.len());
    quote?;
    judged(text, name, kind, start)
}

/// Finds the value in `with password hunter2` and in
/// `aws configure set aws_secret_access_key SECRET`.
fn behind(text: &str, name: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    let rest = text.get(name.end..)?;
    let value = rest.strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']);
    let (start, _) = open_quote(text, text.len() - value.len());
    let named = text.get(name.clone())?;
    let value = bare(clipped(text.get(start..)?, SECRET_VALUE_BYTES_MAX), kind, false)?;
    let sound = if kind.is_generated() {
        named.contains(['_', '-']) && value.len() >= 20 && is_random(value)
    } else {
        kind == Word::Password && is_strong(value)
    };
    (sound && !is_placeholder(value)).then(|| start..start + value.len())
}

/// Finds a value that is alone on the line below a heading such as `## DB password`, even in a code
/// block.
fn under_title(text: &str, name: &Range<usize>, kind: Word) -> Option<Range<usize>> {
    let rest = clipped(text.get(name.end..)?, SECRET_VALUE_BYTES_MAX);
    let starts_off = [' ', '\t', '\r', '\n', '(', ':', '*', '`', '_'];
    rest.starts_with(starts_off).then_some(())?;
    let (after, below) = rest.split_once('\n')?;
    (after.len() <= SECRET_TITLE_CHARS_MAX * 4).then_some(())?;
    let near = text.floor_char_boundary(name.start.saturating_sub(SECRET_TITLE_CHARS_MAX * 4));
    let before = text.get(near..name.start)?.rsplit('\n').next()?;
    let title = before.chars().chain(after.chars());
    let is_title = before.chars().count() + after.chars().count() <= SECRET_TITLE_CHARS_MAX
        && title
            .clone()
            .all(|c| c.is_alphanumeric() || c.is_whitespace() || "#*_`()-/:.&>'[]".contains(c))
        && (after.trim().is_empty() || after.trim_start().starts_with(['(', ':', '*', '`', '_']));
    if !is_title {
        return None;
    }
    let mut lines = below.split_inclusive('\n').scan(name.end + after.len() + 1, |at, line| {
        let begin = *at;
        *at += line.len();
        Some((begin, line))
    });
    let is_rule = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with("```") || line.chars().all(|c| "-=~".contains(c))
    };
    let (begin, line) = lines.by_ref().take(3).find(|(_, line)| !is_rule(line))?;
    let value = line.trim().trim_matches(['`', '*', '"', '\'']);
    let start = begin + line.find(value)?;
    let sound = !value.contains(char::is_whitespace)
        && !value.contains('=')
        && !is_placeholder(value)
        && if kind.is_generated() {
            is_random(value)
        } else {
            is_strong(value) || is_random(value)
        };
    sound.then(|| start..start + value.len())
}

/// Returns the values in a table column whose header is the name.
fn in_column(text: &str, name: &Range<usize>, kind: Word) -> Vec<Range<usize>> {
    values_in_column(text, name, kind).unwrap_or_default()
}

fn values_in_column(text: &str, name: &Range<usize>, kind: Word) -> Option<Vec<Range<usize>>> {
    let near = text.floor_char_boundary(name.start.saturating_sub(SECRET_VALUE_BYTES_MAX));
    let before = text.get(near..name.start)?.rsplit('\n').next()?;
    let after = clipped(text.get(name.end..)?, SECRET_VALUE_BYTES_MAX);
    let after = after.split_once('\n')?.0;
    let begin = name.start - before.len();
    let head = text.get(begin..name.end + after.len())?.trim_end();
    let sign = ['|', '\t', ';', ','].into_iter().find(|sign| head.contains(*sign))?;
    let is_label =
        |cell: &str| cell.chars().count() <= 30 && !cell.contains(['=', '(', '{', '"', ':']);
    let cells = head.split(sign).count();
    if cells < 2 || !head.split(sign).all(is_label) {
        return None;
    }
    let column = before.matches(sign).count();
    let mut at = name.end + after.len() + 1;
    let mut values = Vec::new();
    for (row, line) in text.get(at..)?.split_inclusive('\n').take(SECRET_TABLE_ROWS_MAX).enumerate()
    {
        let is_rule = line.contains('-') && line.chars().all(|c| "|-: \r\n".contains(c));
        // A Markdown table has a rule below its header.
        if line.split(sign).count() != cells || sign == '|' && row == 0 && !is_rule {
            break;
        }
        if !is_rule {
            let front: usize = line.split(sign).take(column).map(|cell| cell.len() + 1).sum();
            let cell = line.get(front..)?.trim_start_matches([' ', '`', '*', '"']);
            values.extend(judged(text, name, kind, at + line.len() - cell.len()));
        }
        at += line.len();
    }
    Some(values)
}

/// Returns the value that begins at `start`, if it is a secret.
fn judged(text: &str, name: &Range<usize>, kind: Word, start: usize) -> Option<Range<usize>> {
    let rest = clipped(text.get(start..)?, SECRET_VALUE_BYTES_MAX);
    let end =
        rest.find(|c: char| c.is_whitespace() || "\"'`<|;,".contains(c)).unwrap_or(rest.len());
    let value = rest.get(..end)?;
    let sound = is_secret(text.get(name.clone())?, value, kind, false) && !is_placeholder(value);
    sound.then(|| start..start + value.len())
}

/// Whether a value is a password though only its position suggests it. In a name or a version,
/// digits are few and come at the end.
fn is_strong(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= 8
        && digits >= 2
        && value.chars().filter(|c| c.is_alphabetic()).count() >= 3
        && is_password(value, false)
}
