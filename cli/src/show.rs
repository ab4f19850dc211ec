//! Numbers, times and names for people. Time and home are arguments.

use std::path::Path;

use anchord_memory::defuse::{defuse, defuse_line};
pub use anchord_memory::render::{ago, duration};
pub use anchord_memory::shell_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Formats a number with its noun: `1 session`, `2 sessions`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Counts entries of a journal: `1 entry`, `2 entries`.
pub fn entries(number: u64) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

/// Lists names with a word before the last: `a, b and c`.
pub fn listed(names: &[&str], word: &str) -> String {
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} {word} {last}", first.join(", ")),
        None => String::new(),
    }
}

/// Formats bytes in steps of a thousand: `950 B`, `1.2 kB`, `34 MB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let number = u128::from(number);
    let rounded = |scale: u128, divisor: u128| (number * scale + divisor / 2) / divisor;
    let mut divisor = 1000;
    let mut units = UNITS.into_iter().peekable();
    let mut unit = "B";
    while let Some(name) = units.next() {
        unit = name;
        if rounded(1, divisor) < 1000 || units.peek().is_none() {
            break;
        }
        divisor *= 1000;
    }
    let tenths = rounded(10, divisor);
    if tenths < 100 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", rounded(1, divisor))
    }
}

/// Formats a path with the home directory as `~`.
pub fn path(path: &str, home: Option<&Path>) -> String {
    let short = home
        .filter(|home| home.as_os_str().len() > 1)
        .and_then(|home| Path::new(path).strip_prefix(home).ok())
        .map(|rest| {
            if rest.as_os_str().is_empty() {
                "~".to_owned()
            } else {
                format!("~/{}", rest.display())
            }
        });
    plain(&short.unwrap_or_else(|| path.to_owned()))
}

/// Makes a text safe to show on one line, since names come from directories and clients.
pub fn plain(text: &str) -> String {
    defuse_line(text).into_owned()
}

/// Makes a text of many lines safe to show, since an agent may read what a command prints.
pub fn plain_lines(text: &str) -> String {
    defuse(text).into_owned()
}

/// Cuts a line to at most this many columns of a terminal. `…` is in place of what is cut.
pub fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut room = columns.saturating_sub(1);
    let fits = |char: &char| {
        let left = room.checked_sub(char.width().unwrap_or(0));
        room = left.unwrap_or(0);
        left.is_some()
    };
    line.chars().take_while(fits).chain(['…']).collect()
}

/// Wraps a line at spaces to at most `columns_max` columns, and indents all lines but the first. A
/// longer word stays whole, so that it can be copied.
pub fn wrapped(line: &str, columns_max: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut room = columns_max;
    for word in line.split(' ') {
        let columns = word.width();
        if lines.is_empty() {
            room = room.saturating_sub(columns);
        } else if columns < room {
            lines.push(' ');
            room = room.saturating_sub(columns + 1);
        } else {
            lines.push('\n');
            lines.push_str(indent);
            room = columns_max.saturating_sub(indent.width() + columns);
        }
        lines.push_str(word);
    }
    lines
}

#[cfg(test)]
mod tests;
