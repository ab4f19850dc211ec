//! The text in which Gemini CLI gives the model a command's output and status.

/// The beginnings of lines that the client adds.
const OWN: [&str; 9] = [
    "<untrusted_context>",
    "</untrusted_context>",
    "Command: ",
    "Directory: ",
    "Exit Code: ",
    "Signal: ",
    "Background PIDs: ",
    "Process Group PGID: ",
    "Output: (empty)",
];

/// Returns whether the text has an exit code or a signal of a failed command.
pub(super) fn is_failed(text: &str) -> bool {
    let failed = |line: &str| {
        let code = line.strip_prefix("Exit Code: ").or_else(|| line.strip_prefix("Signal: "));
        code.is_some_and(|code| !matches!(code.trim(), "0" | "(none)"))
    };
    text.lines().any(failed)
}

/// Returns what the command printed, without the lines that the client adds.
pub(super) fn printed(text: &str) -> String {
    let printed = text.lines().filter(|line| !OWN.iter().any(|own| line.starts_with(own)));
    let printed = printed.map(|line| line.strip_prefix("Output: ").unwrap_or(line));
    printed.collect::<Vec<_>>().join("\n")
}
