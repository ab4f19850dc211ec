//! Standard output on a terminal: its width, and that only our own colours reach it as control
//! sequences.
//!
//! Commands make stored text safe themselves, also for readers of a pipe. This is a safety net. It
//! is the only protection for documents such as an export, which a file gets unchanged.

use std::io::{self, Write};

use anchord_memory::defuse::defuse;

/// Returns the width that lines on standard output should fit: $COLUMNS if it is set, or else the
/// terminal's. `None` for a pipe or a file, whose reader wants lines whole.
pub(crate) fn columns() -> Option<usize> {
    let wanted = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let own = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    wanted.filter(|columns| *columns > 0).or_else(own)
}

/// A terminal that is written to line by line.
pub(crate) struct Terminal<W: Write> {
    inner: W,
    line: Vec<u8>,
}

impl<W: Write> Terminal<W> {
    /// Wraps a terminal.
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, line: Vec::new() }
    }

    /// Writes the first `bytes` bytes of the buffer, made safe.
    fn write_safe(&mut self, bytes: usize) -> io::Result<()> {
        let rest = self.line.split_off(bytes);
        let whole = std::mem::replace(&mut self.line, rest);
        let text = String::from_utf8_lossy(&whole);
        let mut rest = &*text;
        while !rest.is_empty() {
            let (plain, colour, after) = next_colour(rest);
            self.inner.write_all(defuse(plain).as_bytes())?;
            self.inner.write_all(colour.as_bytes())?;
            rest = after;
        }
        Ok(())
    }
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(last) = self.line.iter().rposition(|byte| *byte == b'\n') {
            self.write_safe(last + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_safe(self.line.len())?;
        self.inner.flush()
    }
}

/// The sequences of our own colours: bold, dimmed, red, green, yellow, and their ends. Other
/// sequences may hide text.
const COLOURS: [&str; 7] =
    ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[39m"];

/// Splits a text at its first sequence of ours.
fn next_colour(text: &str) -> (&str, &str, &str) {
    for (at, _) in text.match_indices('\x1b') {
        let (plain, rest) = text.split_at(at);
        if let Some(colour) = COLOURS.iter().find(|colour| rest.starts_with(**colour)) {
            let (colour, after) = rest.split_at(colour.len());
            return (plain, colour, after);
        }
    }
    (text, "", "")
}

#[cfg(test)]
mod tests;
