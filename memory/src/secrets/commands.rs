//! Passwords that stand in an option of a command: `mysql -pSECRET`, `curl -u user:SECRET`.

use std::ops::Range;

use super::examples::is_placeholder;
use super::places::{SAID, clipped, open_quote, run};
use crate::limits::SECRET_VALUE_BYTES_MAX;

/// What a command's option says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Without a space after `-p`.
    Mysql,
    /// After a user's name and a colon.
    Curl,
}

/// The password in the options of the command whose name stands at `name`.
pub(super) fn password(text: &str, name: Range<usize>, command: Command) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..name.start)?.last();
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
    {
        return None;
    }
    let rest = text.get(name.end..)?;
    // `mysqldump` is another of the kind, `MYSQL_HOST` and `curling` are none.
    let kind = |c: char| command == Command::Mysql && c.is_ascii_alphanumeric();
    if !rest.trim_start_matches(kind).starts_with([' ', '\t']) {
        return None;
    }
    let line = line(rest);
    let at = match command {
        Command::Mysql => option(line, &["-p"])?,
        Command::Curl => option(line, &["-u", "--user", "-U", "--proxy-user"])?,
    };
    let value = line.get(at..)?;
    let spaced = value.trim_start_matches([' ', '=']);
    let start = match command {
        Command::Mysql => name.end + at,
        Command::Curl => name.end + at + value.len() - spaced.len(),
    };
    let (start, quote) = open_quote(text, start);
    let rest = clipped(text.get(start..)?, SECRET_VALUE_BYTES_MAX);
    let value = match quote.and_then(|quote| rest.lines().next()?.split_once(quote)) {
        Some((value, _)) => value,
        None => run(rest, true),
    };
    let (start, value) = match command {
        Command::Mysql => (start, value),
        Command::Curl => {
            let (user, password) = value.split_once(':')?;
            (start + user.len() + 1, password)
        }
    };
    // `-p3306:3306` is a port, and `-p/a/b` a path: of another command on the line.
    let other = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        && command == Command::Mysql
        || value.starts_with('/');
    let said = SAID.contains(&value.to_ascii_lowercase().as_str())
        || value.starts_with('[') && value.contains(']')
        || is_placeholder(value)
        || ["ort", "rotocol", "lugin-dir"].contains(&value.split('=').next().unwrap_or_default());
    (value.len() >= 3 && !other && !said).then(|| start..start + value.len())
}

/// The rest of a command, over line ends that are escaped.
fn line(text: &str) -> &str {
    let near = clipped(text, SECRET_VALUE_BYTES_MAX);
    let ends = |(at, byte): (usize, u8)| match byte {
        b'\n' => !near.get(..at).unwrap_or_default().ends_with('\\'),
        b'|' | b';' => near.get(at + 1..).unwrap_or_default().starts_with([' ', '\n']),
        _ => false,
    };
    let end = near.bytes().enumerate().position(ends).unwrap_or(near.len());
    near.get(..end).unwrap_or_default()
}

/// Where an option of these names ends that comes first.
fn option(line: &str, names: &[&str]) -> Option<usize> {
    let found = names.iter().flat_map(|name| line.match_indices(name));
    found
        .filter(|(at, name)| {
            let before = line.get(..*at).unwrap_or_default();
            let after = line.get(at + name.len()..).unwrap_or_default();
            // A long one ends before its value.
            let ended = !name.starts_with("--") || after.starts_with([' ', '=']);
            before.ends_with(char::is_whitespace) && ended
        })
        .map(|(at, name)| at + name.len())
        .min()
}
