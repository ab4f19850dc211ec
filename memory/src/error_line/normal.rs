//! Reduces an error line to the parts that are the same in another run. Words stay; counts, dates,
//! places and random text are replaced.

/// The placeholder for a number, a duration or a port.
const NUMBER: &str = "N";
/// The placeholder for an id, a digest or a random name.
const ID: &str = "ID";

/// Replaces the numbers, times, ids and directories of absolute paths in a line.
pub(crate) fn normalised(line: &str) -> String {
    let words: Vec<String> = without_time(line).split_whitespace().map(word).collect();
    words.join(" ")
}

/// A place in a file at the start of a line, and the text after it.
pub(super) struct LinePosition<'a> {
    /// The file's name, without directories.
    pub(super) file: &'a str,
    /// The text after the position.
    pub(super) rest: &'a str,
    /// Whether a column is given besides the line.
    pub(super) column: bool,
}

/// Reads `src/a.ts(3,4): …`, `src/a.c:3:5: …`, `A.java:[3,5] …` and `a.py:3: …`.
pub(super) fn place(line: &str) -> Option<LinePosition<'_>> {
    let end = line.find([':', '(', ' '])?;
    let (path, after) = line.split_at(end);
    let file = path.rsplit('/').next()?;
    let (_, extension) = file.rsplit_once('.')?;
    let is_file = !extension.is_empty()
        && extension.len() <= 5
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic());
    let position = after.trim_start_matches([':', '[', '(']);
    let length = position
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | ',')))
        .unwrap_or(position.len());
    let (numbers, rest) = position.split_at(length);
    let count = numbers.split([':', ',']).filter(|number| !number.is_empty()).count();
    let rest = rest.trim_start_matches([']', ')', ':']).trim_start();
    (is_file && count > 0 && !after.starts_with(' ')).then_some(LinePosition {
        file,
        rest,
        column: count > 1,
    })
}

/// Returns whether a text has only words that many errors have: "No such file or directory (os
/// error 2)".
pub(super) fn is_generic(text: &str) -> bool {
    const GENERIC: [&str; 34] = [
        "no",
        "such",
        "file",
        "or",
        "directory",
        "os",
        "error",
        "not",
        "found",
        "permission",
        "denied",
        "connection",
        "refused",
        "timed",
        "out",
        "invalid",
        "argument",
        "failed",
        "the",
        "a",
        "is",
        "was",
        "operation",
        "unexpected",
        "end",
        "of",
        "exit",
        "status",
        "code",
        "broken",
        "pipe",
        "entity",
        "unknown",
        "exception",
    ];
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let own = words.filter(|word| {
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        !is_number && !GENERIC.contains(&word.to_lowercase().as_str())
    });
    own.count() == 0
}

/// Removes the dates, times and counters that logs and builds put at the start of a line.
pub(super) fn without_time(line: &str) -> &str {
    let mut rest = line;
    while let Some((first, after)) = rest.split_once(' ') {
        let bare = first.trim_matches(['[', ']', '(', ')', ',']);
        let is_time = bare.contains([':', '-'])
            && bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.chars().all(|c| {
                c.is_ascii_digit() || matches!(c, ':' | '-' | '.' | ',' | 'T' | 'Z' | '+' | '/')
            })
            && bare.matches([':', '-']).count() >= 2;
        // Steps of an image's build: `#12 3.456 npm ERR! …`.
        let is_step = first.strip_prefix('#').is_some_and(|n| n.parse::<u32>().is_ok());
        let is_seconds =
            rest.len() < line.len() && first.contains('.') && first.parse::<f64>().is_ok();
        if !(is_time || is_step || is_seconds) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Normalises one word, and keeps the signs around and within it: `(/tmp/a/b.rs:12:5)` becomes
/// `(b.rs:N)`.
fn word(word: &str) -> String {
    let is_around = |c: char| {
        matches!(
            c,
            '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '<' | '>' | '='
        )
    };
    // The query of an address differs each time.
    let asked = word.find("://").and_then(|at| word.get(at..)?.find('?').map(|query| at + query));
    let end = asked.map_or(0, |from| {
        let rest = word.get(from..).unwrap_or_default();
        from + rest.find(['"', '\'', '`', ')', ']', '>']).unwrap_or(rest.len())
    });
    let without = asked.map(|from| {
        format!("{}{}", word.get(..from).unwrap_or_default(), word.get(end..).unwrap_or_default())
    });
    let word = without.as_deref().unwrap_or(word);
    let mut text = String::with_capacity(word.len());
    let mut piece = String::new();
    for c in word.chars() {
        if is_around(c) {
            text.push_str(&inner(&piece));
            piece.clear();
            text.push(c);
        } else {
            piece.push(c);
        }
    }
    text.push_str(&inner(&piece));
    text
}

fn inner(piece: &str) -> String {
    if piece.contains("://") {
        return atoms(piece);
    }
    let is_absolute =
        piece.starts_with('/') && piece.len() > 1 || piece.starts_with("~/") || is_drive(piece);
    if is_absolute {
        let temporary = ["/tmp/", "/var/folders/", "/private/", "/var/tmp/"]
            .iter()
            .any(|tmp| piece.starts_with(tmp));
        let parts: Vec<&str> = piece.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
        let name = parts.last().copied().unwrap_or_default();
        let depth = if piece.starts_with("/var/") { 3 } else { 2 };
        // A name directly in the temporary directory is random, or its ending is.
        let made_up = name
            .rsplit_once('.')
            .is_none_or(|(_, end)| end.len() >= 6 && is_tmp(&format!("tmp{end}")));
        if temporary && parts.len() <= depth && made_up {
            return "TMP".to_owned();
        }
        return atoms(name);
    }
    atoms(piece)
}

fn is_drive(piece: &str) -> bool {
    let mut chars = piece.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('\\' | '/'))
}

/// Replaces what differs between runs in each part of a word, which signs separate.
fn atoms(word: &str) -> String {
    if is_uuid(word) {
        return ID.to_owned();
    }
    if is_tmp(word) {
        return "TMP".to_owned();
    }
    let mut text = String::with_capacity(word.len());
    let mut atom = String::new();
    for c in word.chars().chain(std::iter::once('\0')) {
        if c.is_alphanumeric() {
            atom.push(c);
            continue;
        }
        if !atom.is_empty() {
            text.push_str(&replaced(&atom));
        }
        atom.clear();
        if c != '\0' {
            text.push(c);
        }
    }
    numbers_joined(&text)
}

/// Joins `N.N.N`, `N:N` and `N-N` into one number: a version, a time, an address.
fn numbers_joined(text: &str) -> String {
    let mut joined = text.to_owned();
    for pair in ["N.N", "N:N", "N-N", "N/N", "N,N"] {
        while let Some(at) = joined.find(pair) {
            let is_number = |at: Option<char>| !at.is_some_and(char::is_alphanumeric);
            let before = joined.get(..at).and_then(|text| text.chars().next_back());
            let after = joined.get(at + 3..).and_then(|text| text.chars().next());
            if !is_number(before) || !is_number(after) {
                break;
            }
            joined.replace_range(at..at + 3, NUMBER);
        }
    }
    joined
}

fn replaced(atom: &str) -> String {
    let digits = atom.chars().filter(char::is_ascii_digit).count();
    if digits == 0 {
        return atom.to_owned();
    }
    let is_hex = atom.chars().all(|c| c.is_ascii_hexdigit());
    let unit = atom.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_duration = [
        "ns", "us", "µs", "ms", "s", "m", "h", "d", "kb", "mb", "gb", "b", "k", "g", "x", "th",
        "st", "nd", "rd",
    ]
    .contains(&unit.to_lowercase().as_str());
    if unit.is_empty() || unit.len() < atom.len() && is_duration {
        return NUMBER.to_owned();
    }
    let version = atom.strip_prefix(['v', 'V']);
    if version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit())) {
        return NUMBER.to_owned();
    }
    if let Some(hex) = atom.strip_prefix("0x")
        && hex.chars().all(|c| c.is_ascii_hexdigit())
    {
        return ID.to_owned();
    }
    let changes = atom
        .chars()
        .zip(atom.chars().skip(1))
        .filter(|(one, other)| one.is_ascii_digit() != other.is_ascii_digit())
        .count();
    let is_random = changes >= 3 && atom.len() >= 5
        || is_hex && changes >= 1 && atom.len() >= 7
        || changes >= 2 && atom.len() >= 16;
    if is_random { ID.to_owned() } else { atom.to_owned() }
}

fn is_uuid(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12] && word.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

/// Returns whether a program generated this name for a temporary file.
fn is_tmp(word: &str) -> bool {
    let rest = word.strip_prefix("tmp.").or_else(|| word.strip_prefix("tmp"));
    rest.is_some_and(|rest| {
        let random = rest.len() >= 6 && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        random && rest.chars().any(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '_')
    })
}
