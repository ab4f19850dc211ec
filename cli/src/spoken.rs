//! What tools say of themselves to agents, said to people at a shell: `memory_get {"id":"b1"}` is `anchord get b1`.
//!
//! Only lines that begin as those do which anchord adds are changed: what is stored stands indented or behind an id in
//! what tools answer, and is shown as it is, whatever it speaks of. Not so in a record in full ([`record`]).

use serde_json::{Map, Value};

use crate::show::shell_line;

/// What lines begin with that name tools.
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

/// What a record that is cut says at its end.
const CUT_AT: &str = "Cut at character ";

/// What only agents can do by a tool, and what people do.
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

/// How a tool that says no name means itself.
const ITSELF: &str = "go on with ";

/// The words of this very command line, without the program.
pub(crate) fn typed() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// A tool's answer with commands in the place of calls. `typed` is the command line that had it.
pub(crate) fn as_commands(text: &str, typed: &[String]) -> String {
    text.split_inclusive('\n').map(|line| line_as_commands(line, typed)).collect()
}

/// A record in full, with commands in the place of calls. Any line of it may be somebody's; where it is `cut`, the last
/// line that may be anchord's is.
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

/// A sentence that holds no call with parameters, with commands in the place of tools. What stands in backticks is
/// somebody's own word.
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

/// A tool's name, with the character behind it, as the command.
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

/// The words of a command that does what a call does, in the same project.
fn command(name: &str, typed: &[String], parameters: &Map<String, Value>) -> Vec<String> {
    // Which record comes first, as people type it.
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
                // A list is said item by item.
                "sections" => options.extend(["--section".to_owned(), value]),
                key => options.extend([format!("--{}", key.replace('_', "-")), value]),
            }
        }
    }
    words.extend(options);
    // A page is as long as was asked for, unless the call says so itself.
    let goes_on = name == "load" && typed.first().is_some_and(|word| word == name);
    if goes_on && !parameters.contains_key("max_tokens") {
        words.extend(option(typed, "--max-tokens"));
    }
    words.extend(option(typed, "--project"));
    words
}

/// The command line that was typed, with another cursor.
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

/// A command line up to `--`, behind which nothing is an option, and from there.
fn options(typed: &[String]) -> (&[String], &[String]) {
    typed.split_at(typed.iter().position(|word| word == "--").unwrap_or(typed.len()))
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// An option as it was typed.
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
