//! JSON lines of a file that may be huge, torn or no JSON: one at a time, bounded, those that cannot be read counted.

use std::io::{self, BufRead, Read};

use serde_json::Value;

use crate::limits::TRANSCRIPT_LINE_BYTES_MAX;

/// The lines of a transcript.
pub(super) struct Lines<R> {
    from: R,
    line: Vec<u8>,
    unread: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, line: Vec::new(), unread: 0 }
    }

    /// Lines passed over so far, since they were too long or no JSON.
    pub(super) fn unread(&self) -> u64 {
        self.unread
    }

    /// The next line that can be read; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Value>> {
        loop {
            self.line.clear();
            let mut bounded = self.from.by_ref().take(TRANSCRIPT_LINE_BYTES_MAX);
            if bounded.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            let cut = self.line.last() != Some(&b'\n')
                && self.line.len() as u64 >= TRANSCRIPT_LINE_BYTES_MAX;
            if cut {
                self.from.skip_until(b'\n')?;
                self.unread += 1;
                continue;
            }
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice(&self.line) {
                Ok(value) => return Ok(Some(value)),
                Err(_) => self.unread += 1,
            }
        }
    }
}
