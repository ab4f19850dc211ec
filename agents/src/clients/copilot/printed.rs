//! The line with a command's exit code, which GitHub Copilot CLI adds to its output.

/// Splits off that line. The code is 0 without one.
pub(super) fn without_exit_code(output: &str) -> (&str, i64) {
    const ADDED: &str = " completed with exit code ";
    let text = output.trim_end();
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let code = last.strip_prefix('<').and_then(|line| line.rsplit_once(ADDED));
    match code.and_then(|(_, code)| code.trim_end_matches('>').parse().ok()) {
        Some(code) => (before, code),
        None => (output, 0),
    }
}
