//! Recognises stand-ins for values: an example, the name of a variable, a call.
//!
//! Generated passwords contain brackets and signs too, so one of these alone does not make an
//! example. A bracket does if a pair of them encloses a name. A sign does if a variable or a format
//! begins with it.

use std::sync::LazyLock;

use super::pattern::Pattern;

/// The forms of stand-ins.
const FORMS: &[&str] = &[
    // Words, if they occur as separate words.
    "(?i:(?:^|[^[:alnum:]])(?:your|my|example|placeholder|changeme|change|redacted|removed|dummy|\
     sample|fake|todo|replace|insert|here|undefined|none|null|test-token)(?:[^[:alnum:]]|$))",
    "…|^\\[secret",
    // Brackets around a count or nothing: `{8,20}`, `x{}y`, `{0}`.
    r"\{[0-9, ]*(?:[:|!=?][^{}]*)?\}|<[0-9, ]*>",
    // Around a name of one case, or one in camel case: `key-{user_id}`, `{name:>8}`, `<userName>`.
    r"[<{] *(?:[a-zOTHER_$@./\[][a-z0-9OTHER_. ,\[\]()$@/-]*|[A-Z_$@./\[][A-Z0-9_. ,\[\]()$@/-]*)(?:[:|][^<>{}]*|![rsa]|=|\?)?[>}]",
    r"[<{] *(?:[A-Za-z][a-z]{2,}|[A-Z]{3,}|[_.])+\d*(?:[:|][^<>{}]*|![rsa]|=|\?)?[>}]",
    // Around any name, if nothing surrounds the brackets: `<a1B2>`.
    r"^[<{] *[A-Za-zOTHER_$@./\[][\wOTHER. ,\[\]()$@/-]*(?:[:|][^<>{}]*|![rsa]|=|\?)?[>}]$",
    // An interpolation, whatever is in it: `#{ENV['TOKEN']}`, `${1#*=}`, `{$row['token']}`.
    r"^(?:#\{|\$\{|\{\$)[^}]*\}$",
    // An object: `{name: …`, or `{name` where the value ends before its bracket closes.
    r"^\{+(?:[a-z_][a-z0-9_]*|[A-Z_][A-Z0-9_]*|(?:[A-Z]?[a-z]{2,}|_)+\d*)(?:[:=.}]|$)",
    // A variable: `$TOKEN`, `${TOKEN…`, `$(pass show db)`. A generator may put `$` first too.
    r"^\$+(?:\(|\{?[A-Za-z_]\w*(?:[^\w!#%^*+~=]|$)|\{?[A-Z_][A-Z0-9_]{2,}(?:\W|$))",
    // A format: `%TOKEN%`, `%s`, `%02d`, `%(token)s`, but not an escape: `%23`.
    r"^%(?:[({<\[]|[0-9+.*-]*[A-Za-z]$|[\w.:()-]*%+$)",
];

/// Whether a value is a placeholder, as in `xxxxxxxx`, `<token>`, `${TOKEN}`, `your-key-here`.
pub(super) fn is_placeholder(value: &str) -> bool {
    static PATTERN: LazyLock<Pattern> = LazyLock::new(|| Pattern::new(&FORMS.join("|")));
    is_filler(value) || value.contains("...") || PATTERN.is_in(value)
}

/// Whether a value is only filler: crosses, stars, or one or two repeated characters.
pub(super) fn is_filler(value: &str) -> bool {
    let mut seen = [false; 256];
    value
        .bytes()
        .for_each(|byte| seen.get_mut(usize::from(byte)).into_iter().for_each(|seen| *seen = true));
    let lower = value.to_ascii_lowercase();
    seen.iter().filter(|seen| **seen).count() < value.len().min(5)
        || ["xxxx", "****", "...."].iter().any(|cross| lower.contains(cross))
}
