//! Converts texts that tools write for agents to texts for people at a shell:
//! `memory_get {"id":"b1"}` becomes `anchord get b1`.
//!
//! Only lines change that begin like those which anchord adds. Stored text is indented or follows
//! an id in answers, and stays as it is. A full record is an exception ([`record`]).

use serde_json::{Map, Value};

use crate::show::shell_line;

/// The beginnings of lines that name tools.
const OURS: [&str; 15] = [
    "Memory of ",
    "Nothing is recorded yet: ",
    "truncated:",
    "Cut to fit: ",
    CUT_AT,
    "Cut. The rest: ",
    "The rest: ",
    "## Topics (",
    "## Sessions (",
    "Expired and left out: ",
    "Nothing matches. ",
    "Above 100 KB: ",
    "Compacted from ",
    "Without a summary, ",
    "The budget is full of pinned notes: ",
];

/// The beginning of the last line of a record that is cut.
const CUT_AT: &str = "Cut at character ";

/// Sentences about what only agents can do with a tool, and their replacements for people.
const FOR_AGENTS: [(&str, &str); 4] = [
    (
        "Nothing is recorded yet: memory_checkpoint what you learn as you go, memory_save before you end.",
        "Nothing is recorded yet: agents store what they learn once `anchord setup` was run, and you can with `anchord note`.",
    ),
    ("when memory_get or memory_update uses it", "when `anchord get` or an agent uses it"),
    (
        "Without a summary, which memory_update can give them",
        "Without a summary, which `anchord edit ID --summary` gives them",
    ),
    (
        "unpin some (memory_update with pinned: false), or raise the budget with memory_configure",
        "`anchord unpin` some, or raise `budget_tokens` under [memory] in config.toml",
    ),
];

/// The tools that have a command of the same name.
const COMMANDS: [&str; 8] =
    ["load", "search", "get", "list", "note", "forget", "compact", "status"];

/// The words with which a tool without a name refers to itself.
const ITSELF: &str = "go on with ";

/// Returns the words of this command line, without the program.
pub(crate) fn typed() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Replaces calls in a tool's answer by commands. `typed` is the command line that led to it.
pub(crate) fn as_commands(text: &str, typed: &[String]) -> String {
    text.split_inclusive('\n').map(|line| line_as_commands(line, typed)).collect()
}

/// Replaces calls in a full record by commands. Any line of it may be a user's. If it is `cut`, the
/// last line that may be anchord's is.
pub(crate) fn record(text: &str, cut: bool, typed: &[String]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ours = lines.iter().rposition(|line| line.starts_with(CUT_AT)).filter(|_| cut);
    let said = lines.iter().enumerate().map(|(at, line)| {
        if ours == Some(at) { line_as_commands(line, typed) } else { (*line).to_owned() }
    });
    said.collect()
}

fn line_as_commands(line: &str, typed: &[String]) -> String {
    if !OURS.iter().any(|beginning| line.starts_with(beginning)) {
        return line.to_owned();
    }
    let replace = |line: String, (theirs, peoples): &(&str, &str)| line.replace(theirs, peoples);
    named(&called(&FOR_AGENTS.iter().fold(line.to_owned(), replace), typed))
}

/// Replaces tools by commands in a sentence without parameters. Text in backticks is a user's own.
pub(crate) fn named(text: &str) -> String {
    let in_words = |plain: &str| -> String {
        let words = plain.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.map(as_command).collect()
    };
    let pieces = text.split('`').enumerate();
    let pieces =
        pieces.map(|(at, piece)| if at % 2 == 0 { in_words(piece) } else { piece.to_owned() });
    pieces.collect::<Vec<_>>().join("`")
}

/// Converts a tool's name, with the character after it, to a command.
fn as_command(word: &str) -> String {
    let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let command = name.strip_prefix("memory_").filter(|tool| COMMANDS.contains(tool));
    match (command, word.strip_prefix(name)) {
        (Some(command), Some(behind)) => format!("`anchord {command}`{behind}"),
        _ => word.to_owned(),
    }
}

/// Replaces each call that has parameters.
fn called(line: &str, typed: &[String]) -> String {
    let mut said = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        let mut values = serde_json::Deserializer::from_str(from).into_iter::<Map<String, Value>>();
        let parameters = values.next();
        let after = from.get(values.byte_offset()..).unwrap_or_default();
        let command = parameters.and_then(Result::ok).and_then(|parameters| {
            if let Some(before) = before.strip_suffix(ITSELF) {
                return Some((format!("{before}{ITSELF}"), again(typed, &parameters)));
            }
            let (before, tool) = before.strip_suffix(' ')?.rsplit_once("memory_")?;
            let name = COMMANDS.iter().find(|name| **name == tool)?;
            Some((before.to_owned(), command(name, typed, &parameters)))
        });
        if let Some((before, words)) = command {
            said.extend([before, format!("`anchord {}`", shell_line(words))]);
            rest = after;
        } else {
            said.extend([before, "{"].map(str::to_owned));
            rest = from.get(1..).unwrap_or_default();
        }
    }
    said + rest
}

/// Returns the words of the command that does what a call does, in the same project.
fn command(name: &str, typed: &[String], parameters: &Map<String, Value>) -> Vec<String> {
    // The record comes first, as people type it.
    let mut words = vec![name.to_owned()];
    let mut options = Vec::new();
    for (key, value) in parameters {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            let value = text_of(value);
            match key.as_str() {
                "id" | "key" => words.push(value),
                // A list becomes one option for each item.
                "sections" => options.extend(["--section".to_owned(), value]),
                key => options.extend([format!("--{}", key.replace('_', "-")), value]),
            }
        }
    }
    words.extend(options);
    // A page is as long as requested, unless the call itself says so.
    let goes_on = name == "load" && typed.first().is_some_and(|word| word == name);
    if goes_on && !parameters.contains_key("max_tokens") {
        words.extend(option(typed, "--max-tokens"));
    }
    words.extend(option(typed, "--project"));
    words
}

/// Returns the typed command line with another cursor.
fn again(typed: &[String], parameters: &Map<String, Value>) -> Vec<String> {
    let (options, rest) = options(typed);
    let mut words = Vec::new();
    let mut options = options.iter();
    while let Some(word) = options.next() {
        if word == "--cursor" {
            options.next();
        } else if !word.starts_with("--cursor=") {
            words.push(word.clone());
        }
    }
    let cursor = parameters.get("cursor").map(text_of);
    words.extend(cursor.into_iter().flat_map(|cursor| ["--cursor".to_owned(), cursor]));
    words.extend_from_slice(rest);
    words
}

/// Splits a command line at `--`, after which no word is an option.
fn options(typed: &[String]) -> (&[String], &[String]) {
    typed.split_at(typed.iter().position(|word| word == "--").unwrap_or(typed.len()))
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns an option as it was typed.
fn option(typed: &[String], name: &str) -> Vec<String> {
    let (options, _) = options(typed);
    let attached = format!("{name}=");
    let at = options.iter().position(|word| word == name || word.starts_with(&attached));
    let words = at.and_then(|at| options.get(at..)).unwrap_or_default();
    let number = if words.first().is_some_and(|word| word == name) { 2 } else { 1 };
    words.iter().take(number).cloned().collect()
}

#[cfg(test)]
mod tests;
