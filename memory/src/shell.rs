//! Shell command lines as text: how words are quoted, the programs that a line runs, and whether
//! its status shows how those ended.
//!
//! This is not a shell. It only finds operators outside quotes, which is enough to be careful: a
//! line that is not understood counts as one that says nothing.

use crate::error_line::GENERIC;

/// Programs that only show, print or create something. No later session needs to know of them.
const LOOKS: [&str; 25] = [
    "ls", "cat", "cd", "pwd", "echo", "printf", "grep", "rg", "find", "head", "tail", "sed", "awk",
    "wc", "which", "tree", "stat", "file", "date", "sleep", "ps", "true", "mkdir", "touch", "jq",
];

/// Git commands that only show something.
const GIT_LOOKS: [&str; 6] = ["status", "diff", "log", "show", "branch", "blame"];

/// Words of a command that makes another one pass: it brings something up to date or starts it.
const PREPARES: [&str; 17] = [
    "bootstrap",
    "fetch",
    "init",
    "install",
    "login",
    "merge",
    "migrate",
    "pull",
    "rebase",
    "restart",
    "restore",
    "start",
    "sync",
    "unlock",
    "up",
    "update",
    "upgrade",
];

/// Programs that run the command that follows them.
const WRAPPERS: [&str; 9] =
    ["sudo", "env", "time", "timeout", "nohup", "npx", "bunx", "exec", "command"];

/// Programs that run the command that follows this word.
const RUNNERS: [(&str, &str); 9] = [
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("python", "-m"),
    ("python3", "-m"),
];

/// The most words after the program that say what it does.
const SUBCOMMANDS: usize = 2;

/// Joins words as one types them at a POSIX shell.
pub fn shell_line(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    words.into_iter().map(|word| shell_word(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// Returns a word for a POSIX shell, quoted if necessary.
pub fn shell_word(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./+=:@,%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns a one-line command without `cd … &&` before it and `2>&1` after it. Neither changes
/// whether it passes.
pub(crate) fn bare(line: &str) -> &str {
    let mut rest = line;
    while let Some((_, after)) = rest.strip_prefix("cd ").and_then(|inner| inner.split_once(" && "))
    {
        rest = after;
    }
    without_redirect(rest)
}

/// Returns a one-line command without `2>&1` after it.
pub(crate) fn without_redirect(line: &str) -> &str {
    line.trim_end_matches(" 2>&1")
}

/// Returns whether the line's status may be that of another command. `cargo test | tail` passes
/// when the tests fail, and so do `cargo test || true`, `cargo test; echo done` and `cargo test &`.
pub(crate) fn hides_status(line: &str) -> bool {
    let parts = parts(line);
    let piped = parts.iter().any(|part| part.after == "|");
    let or = parts.iter().any(|part| part.after == "||");
    let background = parts.last().is_some_and(|part| part.after == "&");
    let last = parts.iter().rposition(|part| matches!(part.after, ";" | "\n"));
    let last = last.and_then(|at| parts.get(at + 1));
    let shown = last.is_some_and(|last| only_looks(last.text));
    or || background || shown || piped && !line.contains("pipefail")
}

/// Returns whether a command is trivial: it shows, prints or creates something, and no more.
pub(crate) fn only_looks(command: &str) -> bool {
    let mut words = command.split_whitespace();
    match words.next() {
        Some("git") => words.next().is_some_and(|verb| GIT_LOOKS.contains(&verb)),
        Some(program) => LOOKS.contains(&program),
        None => true,
    }
}

/// Returns whether the first command of a line is trivial. Its output may be anything.
pub(crate) fn looks_first(line: &str) -> bool {
    parts(bare(line)).first().is_none_or(|first| only_looks(first.text))
}

/// Splits a line that passed into the commands that passed with it: those joined by `&&`.
pub(crate) fn joined(line: &str) -> Vec<&str> {
    let parts = parts(line);
    let split = parts.iter().rev().skip(1).all(|part| part.after == "&&");
    if !split {
        return vec![line.trim()];
    }
    parts.iter().map(|part| part.text.trim()).filter(|part| !part.is_empty()).collect()
}

/// Returns, for each command of a line that is not trivial, its program and the words that say what
/// it does: `["kubectl", "apply"]`. Paths to a program are left out.
pub(crate) fn subjects(line: &str) -> Vec<Vec<&str>> {
    let parts = parts(line);
    let commands = parts.iter().map(|part| part.text).filter(|text| !only_looks(text));
    commands.map(subject).filter(|subject| !subject.is_empty()).collect()
}

/// Returns the program of the first command that is not trivial.
pub(crate) fn program(line: &str) -> Option<&str> {
    subjects(line).first().and_then(|words| words.first()).copied()
}

/// Returns whether a command says that it brings something up to date or gets it going:
/// `git pull --rebase`, `docker compose up -d`.
pub(crate) fn prepares(line: &str) -> bool {
    let verbs = |words: Vec<&str>| words.into_iter().skip(1).any(|word| PREPARES.contains(&word));
    subjects(line).into_iter().any(verbs)
}

/// Returns whether a command has a word of an error line. Words that all errors have and the name
/// of the failed program do not count. A plural is the same word.
pub(crate) fn shares_word(command: &str, error: &str, failed: &str) -> bool {
    let failed = program(failed).unwrap_or_default();
    let of_error: Vec<String> = own_words(error, failed).collect();
    own_words(command, failed).any(|word| of_error.contains(&word))
}

fn own_words<'a>(text: &'a str, program: &'a str) -> impl Iterator<Item = String> + 'a {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
    let is_own = move |word: &String| {
        word.chars().count() >= 3
            && word.contains(char::is_alphabetic)
            && word != program
            && !GENERIC.contains(&word.as_str())
    };
    words.filter(is_own).map(|word| word.strip_suffix('s').unwrap_or(&word).to_owned())
}

fn subject(command: &str) -> Vec<&str> {
    let mut words: Vec<&str> = command.split_whitespace().collect();
    loop {
        let skipped = match words.as_slice() {
            [first, ..] if is_assignment(first) || WRAPPERS.contains(first) => 1,
            [first, flag, ..] if flag.starts_with('-') && WRAPPERS.contains(first) => 2,
            [program, verb, ..] if RUNNERS.contains(&(program, verb)) => 2,
            // An argument of a wrapper: `timeout 60`, `env -i`.
            [first, _, ..] if first.starts_with(|c: char| c.is_ascii_digit() || c == '-') => 1,
            _ => break,
        };
        words.drain(..skipped);
    }
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let program = program.rsplit('/').next().unwrap_or(program);
    let is_verb = |word: &&&str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| {
                c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | ':')
            })
    };
    let verbs = rest.iter().take_while(is_verb).take(SUBCOMMANDS);
    std::iter::once(program).chain(verbs.copied()).filter(|word| !word.is_empty()).collect()
}

/// Returns whether a word sets an environment variable: `RUST_LOG=debug`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// A command of a line, and the operator after it, which is empty at the end.
struct Part<'a> {
    text: &'a str,
    after: &'a str,
}

fn parts(line: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut skip) = (0, 0);
    let mut quote: Option<char> = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let escaped = std::mem::replace(&mut before, c) == '\\' && quote != Some('\'');
        if at < skip || escaped {
            // An escaped backslash escapes nothing.
            before = if escaped { ' ' } else { c };
            continue;
        }
        if let Some(open) = quote {
            quote = quote.filter(|_| c != open);
            continue;
        }
        if matches!(c, '\'' | '"') {
            quote = Some(c);
            continue;
        }
        let rest = line.get(at..).unwrap_or_default();
        let joins_outputs = line.get(..at).is_some_and(|text| text.ends_with('>'))
            || rest.starts_with("&>")
            || rest.starts_with("|&");
        let operator = ["&&", "||", "|", ";", "\n", "&"].iter().find(|op| rest.starts_with(**op));
        let Some(operator) = operator.filter(|op| **op != "&" || !joins_outputs) else { continue };
        let end = at + operator.len();
        parts.push(Part {
            text: line.get(start..at).unwrap_or_default(),
            after: line.get(at..end).unwrap_or_default(),
        });
        (start, skip) = (end, end);
    }
    let rest = line.get(start..).unwrap_or_default();
    if !rest.trim().is_empty() || parts.is_empty() {
        parts.push(Part { text: rest, after: "" });
    }
    parts
}

#[cfg(test)]
mod tests;
