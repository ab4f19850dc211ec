//! The input of a tool. Rules about commands read it, so a form that no client uses today must not
//! hide a command from them.

use anchord_memory::shell_line;
use serde_json::{Map, Value, json};

/// Tools that run a command line, in any client. Their letters may be of another case.
const SHELL_TOOLS: [&str; 11] = [
    "bash",
    "exec",
    "exec_command",
    "execute",
    "execute_command",
    "local_shell",
    "powershell",
    "run_in_terminal",
    "run_shell_command",
    "run_terminal_cmd",
    "shell",
];
/// The field with the words after a program, where they are apart from it.
const ARGUMENTS: &str = "args";

/// Makes the input of a payload's tool an object. Some clients send it as JSON in a text. A text or
/// a list is the command of a shell tool, and may be a patch elsewhere. If the object of a shell
/// tool has no command, each of its texts counts as one.
pub(crate) fn normalise_input(payload: &mut Map<String, Value>) {
    let tool = payload.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let is_shell = SHELL_TOOLS.iter().any(|name| name.eq_ignore_ascii_case(tool));
    let Some(input) = payload.get_mut("tool_input") else { return };
    let parsed = input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(parsed @ (Value::Object(_) | Value::Array(_))) = parsed {
        *input = parsed;
    }
    if input.is_string() || input.is_array() {
        let field = if is_shell { "command" } else { "input" };
        *input = json!({ field: input.take() });
    }
    if is_shell
        && let Some(fields) = input.as_object_mut()
        && command(fields).is_none()
    {
        let texts = in_fields(fields).join("\n");
        fields.insert("command".to_owned(), texts.into());
    }
}

/// Returns the command in a tool's input. It may be a list of words, and the words after the
/// program may be apart. Several commands have a line each.
pub(super) fn command(input: &Map<String, Value>) -> Option<String> {
    let commands = lines(input.get("command")?).into_iter();
    let line = commands.map(|line| with_arguments(line, input)).collect::<Vec<_>>().join("\n");
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

/// Returns the command lines that the fields of an object may hold.
fn in_fields(fields: &Map<String, Value>) -> Vec<String> {
    let others = fields.iter().filter(|(name, _)| *name != ARGUMENTS);
    let found: Vec<String> = others.flat_map(|(_, value)| lines(value)).collect();
    if found.is_empty() {
        return fields.get(ARGUMENTS).map(lines).unwrap_or_default();
    }
    found.into_iter().map(|line| with_arguments(line, fields)).collect()
}

/// Appends the words that an object has apart from the program.
fn with_arguments(line: String, fields: &Map<String, Value>) -> String {
    let arguments = match fields.get(ARGUMENTS) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => shell_line(words(items).unwrap_or_default()),
        _ => String::new(),
    };
    if arguments.is_empty() { line } else { format!("{line} {arguments}") }
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
