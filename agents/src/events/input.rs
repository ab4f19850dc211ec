//! The input of a tool. Rules about commands read it, so a form that no client uses today must not
//! hide a command from them.

use anchord_memory::shell_line;
use serde_json::{Map, Value, json};

use crate::limits::TOOL_INPUT_NESTED_MAX;

/// Tools that run a command line, in any client. Their letters may be of another case.
const SHELL_TOOLS: [&str; 18] = [
    "bash",
    "container.exec",
    "exec",
    "exec_command",
    "execute",
    "execute_bash",
    "execute_command",
    "local_shell",
    "powershell",
    "run_commands",
    "run_in_terminal",
    "run_shell_command",
    "run_terminal_cmd",
    "shell",
    "shell_command",
    "terminal",
    "unified_exec",
    "write_stdin",
];
/// The fields of a shell tool that may have its command. The first one that has it counts.
const COMMAND_FIELDS: [&str; 8] =
    ["command", "cmd", "commands", "script", "run", "program", "executable", "chars"];
/// The fields with the words after a program, where they are apart from it.
const ARGUMENT_FIELDS: [&str; 3] = ["args", "arguments", "argv"];

/// Makes the input of a payload's tool an object. Some clients send it as JSON in a text. A text or
/// a list is the command of a shell tool, and may be a patch elsewhere. The command of a shell tool
/// is then a text in `command`.
pub(crate) fn normalise_input(payload: &mut Map<String, Value>) {
    let tool = payload.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let is_shell = SHELL_TOOLS.iter().any(|name| name.eq_ignore_ascii_case(tool));
    let Some(input) = payload.get_mut("tool_input") else { return };
    for _ in 0..TOOL_INPUT_NESTED_MAX {
        let parsed = input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        match parsed {
            Some(parsed @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => {
                *input = parsed;
            }
            _ => break,
        }
    }
    if input.is_string() || input.is_array() {
        let field = if is_shell { "command" } else { "input" };
        *input = json!({ field: input.take() });
    }
    if let Some(fields) = input.as_object_mut().filter(|_| is_shell) {
        let lines = in_fields(fields);
        for field in ARGUMENT_FIELDS {
            fields.remove(field);
        }
        fields.insert("command".to_owned(), lines.join("\n").into());
    }
}

/// Returns the command in a tool's input. It may be a list of words, and the words after the
/// program may be apart. Several commands have a line each.
pub(super) fn command(input: &Map<String, Value>) -> Option<String> {
    let line = with_arguments(lines(input.get("command")?), input).join("\n");
    (!line.is_empty()).then_some(line)
}

/// Returns the command lines that a value may hold.
fn lines(value: &Value) -> Vec<String> {
    let lines = match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => match words(items) {
            // No program has a space in its name, so these are whole lines.
            Some(words) if words.first().is_some_and(|it| it.contains(char::is_whitespace)) => {
                words
            }
            Some(words) => vec![shell_line(words)],
            None => items.iter().flat_map(lines).collect(),
        },
        Value::Object(fields) => in_fields(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    };
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

/// Returns the command lines of an object with the fields of a shell tool. If only its arguments
/// are there, they are the command.
fn in_fields(fields: &Map<String, Value>) -> Vec<String> {
    let of = |name: &&str| fields.get(*name).map(lines).filter(|lines| !lines.is_empty());
    match COMMAND_FIELDS.iter().find_map(of) {
        Some(lines) => with_arguments(lines, fields),
        None => ARGUMENT_FIELDS.iter().find_map(of).unwrap_or_default(),
    }
}

/// Appends the words that an object has apart from the program. Behind several lines they are one
/// more line.
fn with_arguments(mut lines: Vec<String>, fields: &Map<String, Value>) -> Vec<String> {
    let found = ARGUMENT_FIELDS.iter().find_map(|name| fields.get(*name));
    let arguments = match found {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => shell_line(words(items).unwrap_or_default()),
        Some(Value::Object(items)) => {
            let items: Vec<Value> = items.values().cloned().collect();
            shell_line(words(&items).unwrap_or_default())
        }
        _ => String::new(),
    };
    match lines.as_mut_slice() {
        _ if arguments.is_empty() => {}
        [line] => {
            line.push(' ');
            line.push_str(&arguments);
        }
        _ => lines.push(arguments),
    }
    lines
}

/// Returns the words of a list; `None` if it has a list or an object.
fn words(items: &[Value]) -> Option<Vec<String>> {
    let word = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(item.to_string()),
        _ => None,
    };
    items.iter().filter(|item| !item.is_null()).map(word).collect()
}

#[cfg(test)]
mod tests;
