//! Recognises stand-ins for values: an example, the name of a variable, a call.
//!
//! Generated passwords contain brackets and signs too, so one of these alone does not make an
//! example. A bracket does if a pair of them encloses a name. A sign does if a variable or a format
//! begins with it.

use super::values::is_filler;

/// Words that make an example, if they occur as separate words.
const FILLERS: [&str; 20] = [
    "your",
    "my",
    "example",
    "placeholder",
    "changeme",
    "change",
    "redacted",
    "removed",
    "dummy",
    "sample",
    "fake",
    "todo",
    "replace",
    "insert",
    "here",
    "undefined",
    "secret-key-here",
    "none",
    "null",
    "test-token",
];

/// Whether a value is a placeholder, as in `xxxxxxxx`, `<token>`, `${TOKEN}`, `your-key-here`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let bytes = value.as_bytes();
    let named = |word: &&str| {
        lower.match_indices(*word).any(|(at, word)| {
            let apart = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            apart(before) && apart(bytes.get(at + word.len()))
        })
    };
    is_filler(value)
        || value.contains('…')
        || lower.contains("...")
        || value.starts_with("[secret")
        || brackets_a_name(value)
        || is_interpolated(value)
        || is_object(value)
        || is_variable(value)
        || is_format(value)
        || FILLERS.iter().any(named)
}

/// Whether a pair of brackets encloses a name or nothing: `<token>`, `key-{user}`, `{{name}}`,
/// `{8,20}`.
fn brackets_a_name(value: &str) -> bool {
    let (mut angle, mut curly) = (None, None);
    value.bytes().enumerate().any(|(at, byte)| {
        let opened = match byte {
            b'<' | b'{' => {
                *(if byte == b'<' { &mut angle } else { &mut curly }) = Some(at);
                None
            }
            b'>' => angle.take(),
            b'}' => curly.take(),
            _ => None,
        };
        let inside = opened.and_then(|open| value.get(open + 1..at));
        inside.is_some_and(|inside| is_inserted(inside, inside.len() + 2 == value.len()))
    })
}

/// Whether the text in brackets refers to a value by name or place: `user_id`, `0`, `name:>8`,
/// `name!r`, nothing. `alone` means that nothing surrounds the brackets.
fn is_inserted(inside: &str, alone: bool) -> bool {
    let named = |c: char| c.is_alphanumeric() || "_-. ,[]()$@/".contains(c);
    let (name, more) = inside.split_at(inside.find(|c| !named(c)).unwrap_or(inside.len()));
    let name = name.trim();
    let formatted = more.is_empty()
        || more.starts_with([':', '|'])
        || matches!(more.split(':').next(), Some("!r" | "!s" | "!a" | "=" | "?"));
    let counted = || name.bytes().all(|byte| byte.is_ascii_digit() || b", ".contains(&byte));
    let begins = || name.starts_with(|c: char| c.is_alphabetic() || "_$@./[".contains(c));
    formatted && (counted() || begins() && (alone || is_one_case(name) || is_wordy(name)))
}

/// Whether a value is an interpolation in code: `#{ENV['TOKEN']}`, `${1#*=}`, `{$row['token']}`.
/// The opening sign decides, regardless of the content.
fn is_interpolated(value: &str) -> bool {
    ["#{", "${", "{$"].iter().any(|open| value.starts_with(open))
        && value.find('}') == Some(value.len() - 1)
}

/// Whether a value is an object in brackets: `{name: …`, `{{name`, or `{name` where an unquoted
/// value ends before its bracket closes.
fn is_object(value: &str) -> bool {
    let rest = value.trim_start_matches('{');
    let name = leading_name(rest);
    rest.len() < value.len()
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && matches!(rest.as_bytes().get(name.len()), None | Some(b':' | b'=' | b'.' | b'}'))
        && (is_one_case(name) || is_wordy(name))
}

/// Whether a value is a variable: `$TOKEN`, `${TOKEN…`, `$(pass show db)`, `$env:TOKEN`. A sign
/// that a generator put first is not one: `$Vt2!pQ`.
fn is_variable(value: &str) -> bool {
    let rest = value.trim_start_matches('$');
    if rest.len() == value.len() || rest.starts_with('(') {
        return rest.len() < value.len();
    }
    let inner = rest.strip_prefix('{').unwrap_or(rest);
    let name = leading_name(inner);
    let signed = inner.get(name.len()..).is_some_and(|more| more.starts_with(SIGNS));
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && (!signed || name.len() >= 3 && !name.contains(char::is_lowercase))
}

/// Signs that never follow a variable's name.
const SIGNS: [char; 8] = ['!', '#', '%', '^', '*', '+', '~', '='];

/// Whether a value is a format: `%TOKEN%`, `%s`, `%02d`, `%(token)s`. The escape of a sign in a URL
/// is not one: `%23`.
fn is_format(value: &str) -> bool {
    let Some(rest) = value.strip_prefix('%') else { return false };
    let named = |c: char| c.is_ascii_alphanumeric() || "_-.:()".contains(c);
    let directive = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+.*".contains(c));
    rest.starts_with(['(', '{', '<', '['])
        || matches!(directive.as_bytes(), [b'a'..=b'z' | b'A'..=b'Z'])
        || rest.ends_with('%') && rest.trim_matches('%').chars().all(named)
}

/// Whether the bracket at `at` opens the arguments of a call or an index: `getToken(user)`,
/// `parts[1]`. A generated bracket never closes, closes within the value, or does not follow a
/// word.
pub(super) fn is_called(text: &str, at: usize) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let Some((before, opened)) = line.split_at_checked(at) else { return false };
    let before = before.strip_suffix('!').unwrap_or(before);
    let path = |c: char| c.is_alphanumeric() || "_.:$?".contains(c);
    let name = before.trim_start_matches(|c: char| !path(c));
    let name = name.rsplit(|c| !path(c)).next().unwrap_or_default();
    let is_name = !name.contains(|c: char| c.is_ascii_digit()) || is_wordy(name);
    if let Some(end) = closing(opened) {
        let joined = |c: char| c.is_alphanumeric() || "_@#$%^~".contains(c);
        return (is_name || name.contains('.') || name.contains("::"))
            && !opened.get(end..).unwrap_or_default().starts_with(joined);
    }
    // The call continues after a space or on the next line.
    let rest = opened.get(1..).unwrap_or_default();
    let goes_on = rest.contains(|c: char| c.is_whitespace() || "\"'`".contains(c));
    is_name && (rest.is_empty() || rest.ends_with([',', '(', '[', '{']) || goes_on)
}

/// Returns the position after the bracket that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let (open, close) = if text.starts_with('[') { (b'[', b']') } else { (b'(', b')') };
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

/// Whether a value is generated, and not a type or other code. A part of it between signs is not a
/// word, or it has two signs that no type contains, unlike `string|Uint8Array`.
pub(super) fn is_generated(value: &str) -> bool {
    let signs = |c: &char| "!@#$%^*+~".contains(*c);
    let mut parts = value.split(|c: char| !c.is_alphanumeric());
    value.chars().filter(signs).count() >= 2
        || parts.any(|part| {
            part.contains(char::is_alphabetic)
                && part.contains(|c: char| c.is_ascii_digit())
                && !is_wordy(part)
        })
}

fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn is_one_case(name: &str) -> bool {
    !(name.contains(char::is_uppercase) && name.contains(char::is_lowercase))
}

/// Whether a name has few digits for its number of letters: `sha256`, `getOAuth2Token`, not
/// `x7Qm29`.
fn is_wordy(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    letters >= 3 * numbers
}
