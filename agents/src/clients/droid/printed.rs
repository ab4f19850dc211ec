//! The line with a command's exit code, which Factory Droid adds to its output.

/// The beginning of that line.
const EXIT: &str = "[Process exited with code ";

/// Splits off the line. Returns whether the command passed, if the line is there.
pub(super) fn without_exit_code(output: &str) -> (&str, Option<bool>) {
    let text = output.trim_end();
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    match last.strip_prefix(EXIT).and_then(|rest| rest.strip_suffix(']')) {
        Some(code) => (before.trim_end(), Some(code == "0")),
        None => (output, None),
    }
}
