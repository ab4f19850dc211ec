//! Detects the type of a text, and finds tags for one that came without any. The rules are fixed
//! and applied in order, so the same text always gives the same result.

use std::path::Path;

use super::ContentType;
use crate::limits::AUTO_TAGS_MAX;

const ERROR_MARKS: [&str; 7] =
    ["error:", "Error:", "panic:", "FAIL", "goroutine", "Exception", "Traceback"];
const CODE_MARKS: [&str; 7] = ["```", "func ", "class ", "def ", "import ", "package ", "#include"];
const DECISION_MARKS: [&str; 7] =
    ["decided", "agreed", "will use", "chosen", "approach:", "decision:", "going with"];

/// Beginnings of a line as compilers, test runners and runtimes print it.
const ERROR_LINES: [&str; 8] = [
    "error:",
    "error[",
    "Error:",
    "panic:",
    "FAIL:",
    "FAILED",
    "goroutine ",
    "Traceback (most recent call last)",
];
/// Beginnings of a sentence that states a decision.
const DECISION_LINES: [&str; 12] = [
    "decided",
    "we decided",
    "we have decided",
    "it was decided",
    "agreed",
    "we agreed",
    "we will use",
    "we have chosen",
    "approach:",
    "decision:",
    "going with",
    "we are going with",
];
/// Beginnings of a line of code, and of one that needs no sign at its end.
const CODE_LINES: [&str; 12] = [
    "func ", "fn ", "pub ", "def ", "class ", "let ", "const ", "var ", "return ", "if ", "for ",
    "use ",
];
const DIRECTIVES: [&str; 4] = ["import ", "from ", "package ", "#include"];

/// Languages by file extension.
const EXTENSIONS: [(&str, &str); 13] = [
    ("go", "go"),
    ("ts", "typescript"),
    ("tsx", "react"),
    ("jsx", "react"),
    ("py", "python"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("json", "json"),
    ("rs", "rust"),
    ("js", "javascript"),
    ("java", "java"),
    ("rb", "ruby"),
    ("sql", "sql"),
];

/// Infrastructure, each with the endings that a longer word for it may have.
const INFRASTRUCTURE: [(&str, &[&str]); 8] = [
    ("kubernetes", &[]),
    ("docker", &["file", "files", "hub", "ize", "ized", "izing", "ise", "ised", "ising"]),
    ("cilium", &[]),
    ("postgres", &["ql"]),
    ("nginx", &[]),
    ("redis", &[]),
    ("graphql", &[]),
    ("terraform", &[]),
];

/// Detects the type of a text: an error before code, code before a decision, a decision before a
/// command's output.
pub fn detect(text: &str) -> ContentType {
    let has = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    let decides = || {
        let lower = text.to_lowercase();
        DECISION_MARKS.iter().any(|mark| lower.contains(mark))
    };
    if has(&ERROR_MARKS) || names_a_line(text) {
        ContentType::Error
    } else if has(&CODE_MARKS) || is_bracketed(text) {
        ContentType::Code
    } else if decides() {
        ContentType::Decision
    } else if is_output(text) {
        ContentType::ToolOutput
    } else {
        ContentType::Prose
    }
}

/// Returns whether a text of several lines contains a place such as `src/main.rs:42`, as compilers
/// and stack traces print it.
fn names_a_line(text: &str) -> bool {
    text.contains('\n')
        && text.split_whitespace().any(|word| {
            let Some((file, line)) = word.split_once(':') else { return false };
            extension(file).is_some() && line.starts_with(|c: char| c.is_ascii_digit())
        })
}

/// Returns whether more than one character in twenty is a bracket.
fn is_bracketed(text: &str) -> bool {
    let brackets = text.chars().filter(|c| matches!(c, '{' | '}' | '[' | ']' | '(' | ')' | ';'));
    brackets.count() * 20 > text.chars().count()
}

/// Returns whether a text looks like output: a prompt, a drawn box, or mostly paths.
fn is_output(text: &str) -> bool {
    let start = text.trim_start();
    if start.starts_with("$ ") || start.starts_with("> ") {
        return true;
    }
    if text.chars().any(|c| ('\u{2500}'..='\u{257f}').contains(&c)) {
        return true;
    }
    let (mut words, mut paths) = (0_usize, 0_usize);
    for word in text.split_whitespace() {
        words += 1;
        paths += usize::from(word.contains('/') && !word.contains("://"));
    }
    paths * 10 > words * 3
}

/// Returns whether a text shows its type by more than a word or a sign. That may be a block of
/// code, a line of a stack trace, a line that states a decision, or several lines of output.
fn shows(text: &str, kind: ContentType) -> bool {
    let mut lines = text.lines().map(str::trim);
    let count = |is: fn(&str) -> bool| text.lines().filter(|line| is(line.trim())).count();
    match kind {
        ContentType::Error => lines.any(is_error_line) || names_a_line(text),
        ContentType::Code => lines.any(|line| line.starts_with("```")) || count(is_code_line) > 1,
        ContentType::Decision => lines.any(|line| {
            let line = line.trim_start_matches(['-', '*', '#', ' ']).to_lowercase();
            DECISION_LINES.iter().any(|beginning| line.starts_with(beginning))
        }),
        ContentType::ToolOutput => count(|line| !line.is_empty()) > 1,
        ContentType::Prose => false,
    }
}

/// Returns whether a line is like `error: …` or `java.io.IOException: …`.
fn is_error_line(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    let is_exception = name.len() < line.len()
        && !name.contains(char::is_whitespace)
        && ["Exception", "Error"].iter().any(|end| name.ends_with(end));
    is_exception || ERROR_LINES.iter().any(|beginning| line.starts_with(beginning))
}

/// Returns whether a line is a statement, the beginning or the end of a block, or an import.
fn is_code_line(line: &str) -> bool {
    let begins = |with: &[&str]| with.iter().any(|beginning| line.starts_with(beginning));
    let is_statement = line.ends_with([';', '{']) && line.contains(['(', '=', '{', ':']);
    is_statement
        || !line.is_empty() && line.chars().all(|c| "{}()[];,".contains(c))
        || begins(&CODE_LINES) && line.ends_with([';', '{', ':', ')', '}'])
        || begins(&DIRECTIVES) && line.split_whitespace().count() <= 4
}

/// Returns at most five tags: the type if the text shows it, languages, infrastructure, and
/// `reference` for a link. One word that names a language or a system says little about a note's
/// subject, and `Next.js` is not a file. So a language needs a path or two files, a system two
/// mentions, and a type more than a sign of it.
pub(crate) fn auto_tags(text: &str) -> Vec<String> {
    let kind = detect(text);
    let mut tags: Vec<&str> = Vec::new();
    let mut add = |tag| {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    };
    if shows(text, kind) {
        add(kind.name());
    }
    for language in languages(text) {
        add(language);
    }
    let lower = text.to_lowercase();
    let named = |(word, ends): &(&str, &[&str])| mentions(text, word, ends) > 1;
    INFRASTRUCTURE.iter().filter(|of| named(of)).for_each(|(word, _)| add(word));
    if lower.contains("https://") || lower.contains("http://") {
        add("reference");
    }
    tags.truncate(AUTO_TAGS_MAX);
    tags.into_iter().map(str::to_owned).collect()
}

/// Yields each language that a path, or two file names without a directory, show. The order is that
/// of the text, and a language may repeat.
fn languages(text: &str) -> Vec<&'static str> {
    let mut files: Vec<(&str, &str)> = Vec::new();
    let mut sure = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '`' | '(' | ')' | ','))
    {
        let file = word.split(':').next().unwrap_or_default();
        let file = file.trim_end_matches(|c: char| c.is_ascii_punctuation());
        let language = extension(file)
            .and_then(|extension| EXTENSIONS.iter().find(|(known, _)| *known == extension));
        let Some((_, language)) = language else { continue };
        let is_second = files.iter().any(|(of, other)| of == language && *other != file);
        if file.contains('/') || is_second {
            sure.push(*language);
        }
        files.push((language, file));
    }
    sure
}

/// Counts the occurrences of a word in a text, in any case. It may stand alone, in an identifier
/// (`redis_url`, `RedisPool`), before a number, or with one of the given endings.
fn mentions(text: &str, word: &str, ends: &[&str]) -> usize {
    let lower = text.to_ascii_lowercase();
    let named = lower.match_indices(word).filter(|(at, _)| {
        let at = *at;
        let (before, rest) = (text.get(..at), text.get(at..).unwrap_or_default());
        let after = rest.get(word.len()..).unwrap_or_default();
        let is_capital = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
        let begins = before
            .unwrap_or_default()
            .chars()
            .next_back()
            .is_none_or(|last| !is_cased(last) || last.is_lowercase() && is_capital(rest));
        let tail = after.find(|c: char| !is_cased(c)).map_or(after, |end| &after[..end]);
        let small = rest.chars().nth(word.len() - 1).is_some_and(char::is_lowercase);
        let ended = tail.is_empty()
            || small && is_capital(tail)
            || ends.contains(&tail.to_ascii_lowercase().as_str());
        begins && ended
    });
    named.count()
}

/// Returns whether a letter's script has small and capital letters. Other scripts put no spaces
/// between words.
fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase()
}

/// Returns the extension of a file's name, if it is short, of letters and digits, and begins with a
/// letter.
fn extension(word: &str) -> Option<&str> {
    let extension = Path::new(word).extension()?.to_str()?;
    let fits = extension.len() <= 5
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then_some(extension)
}

#[cfg(test)]
mod tests;
