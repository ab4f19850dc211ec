//! What tools say of themselves to agents, said to people at a shell: `memory_get {"id":"b1"}` is `anchord get b1`.
//!
//! Only lines that begin as those do which anchord adds are changed. What somebody stored is shown as it is, whatever
//! it speaks of.

use serde_json::{Map, Value};

use crate::show::shell_word;

/// What lines begin with that hold a way to go on.
const OURS: [&str; 9] = [
    "truncated:",
    "Cut to fit: ",
    "Cut at character ",
    "Cut. The rest: ",
    "## Topics (",
    "## Sessions (",
    "Expired and left out: ",
    "Nothing matches. ",
    "Above 100 KB: ",
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
    text.split_inclusive('\n')
        .map(|line| {
            let compacted = line.starts_with("Compacted from ");
            if compacted || OURS.iter().any(|beginning| line.starts_with(beginning)) {
                named(&called(line, typed))
            } else {
                line.to_owned()
            }
        })
        .collect()
}

/// The same of a sentence that holds no call with parameters.
pub(crate) fn named(text: &str) -> String {
    COMMANDS.iter().fold(text.to_owned(), |text, name| {
        text.replace(&format!("memory_{name}"), &format!("`anchord {name}`"))
    })
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
            said.extend([before, format!("`anchord {}`", words.join(" "))]);
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
            let value = shell_word(&text_of(value));
            match key.as_str() {
                "id" | "key" => words.push(value),
                // A list is said item by item.
                "sections" => options.extend(["--section".to_owned(), value]),
                key => options.extend([format!("--{}", key.replace('_', "-")), value]),
            }
        }
    }
    words.extend(options);
    words.extend(option(typed, "--project"));
    words
}

/// The same command line with another cursor.
fn again(typed: &[String], parameters: &Map<String, Value>) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = typed.iter();
    while let Some(word) = rest.next() {
        if word == "--cursor" {
            rest.next();
        } else if !word.starts_with("--cursor=") {
            words.push(shell_word(word));
        }
    }
    let cursor = parameters.get("cursor").map(text_of);
    words.extend(cursor.into_iter().flat_map(|cursor| ["--cursor".to_owned(), cursor]));
    words
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// An option as it was typed.
fn option(typed: &[String], name: &str) -> Vec<String> {
    let attached = format!("{name}=");
    let Some(at) = typed.iter().position(|word| word == name || word.starts_with(&attached)) else {
        return Vec::new();
    };
    let words = if typed.get(at).is_some_and(|word| word == name) { 2 } else { 1 };
    typed.iter().skip(at).take(words).map(|word| shell_word(word)).collect()
}

#[cfg(test)]
mod tests;
