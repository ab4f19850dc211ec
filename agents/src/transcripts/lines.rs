//! Reads JSON lines from a file that may be huge, torn or not JSON. It reads one bounded line at a
//! time and counts the unreadable ones.

use std::io::{self, BufRead, Read};

use serde_json::Value;

use crate::limits::TRANSCRIPT_LINE_BYTES_MAX;

/// A source of a transcript's lines.
pub(super) trait LineSource {
    /// Returns the next readable line; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Value>>;
    /// Returns the lines skipped so far.
    fn unread(&self) -> Unread;
}

/// The lines of a file, which are skipped if they are too long or not JSON.
pub(super) struct Lines<R> {
    from: R,
    line: Vec<u8>,
    unread: Unread,
}

/// Lines that were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// The number of lines that are not JSON.
    pub no_json: u64,
    /// The number of lines that are too long.
    pub too_long: u64,
    /// Whether the last line is not JSON and has no newline, since its writer was killed.
    pub torn: bool,
}

impl Unread {
    /// Returns the number of skipped lines.
    pub fn lines(self) -> u64 {
        self.no_json + self.too_long + u64::from(self.torn)
    }
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, line: Vec::new(), unread: Unread::default() }
    }
}

impl<R: BufRead> LineSource for Lines<R> {
    fn unread(&self) -> Unread {
        self.unread
    }

    fn next(&mut self) -> io::Result<Option<Value>> {
        loop {
            self.line.clear();
            let mut bounded = self.from.by_ref().take(TRANSCRIPT_LINE_BYTES_MAX);
            if bounded.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            let ended = self.line.last() == Some(&b'\n');
            if !ended && self.line.len() as u64 >= TRANSCRIPT_LINE_BYTES_MAX {
                self.from.skip_until(b'\n')?;
                self.unread.too_long += 1;
                continue;
            }
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice(&self.line) {
                Ok(value) => return Ok(Some(value)),
                Err(_) if ended => self.unread.no_json += 1,
                Err(_) => self.unread.torn = true,
            }
        }
    }
}
