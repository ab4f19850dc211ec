//! JSON lines of a file that may be huge, torn or no JSON: one at a time, bounded, those that cannot be read counted.

use std::io::{self, BufRead, Read};

use serde_json::Value;

use crate::limits::TRANSCRIPT_LINE_BYTES_MAX;
use crate::show;

/// The lines of a transcript.
pub(super) struct Lines<R> {
    from: R,
    line: Vec<u8>,
    unread: Unread,
}

/// Lines that were passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unread {
    /// That are no JSON.
    pub(crate) no_json: u64,
    /// That are too long.
    pub(crate) too_long: u64,
    /// The last line is no JSON and has no end: whoever wrote it was killed.
    pub(crate) torn: bool,
}

impl Unread {
    /// How many.
    pub(crate) fn lines(self) -> u64 {
        self.no_json + self.too_long + u64::from(self.torn)
    }

    /// What is wrong with the file, for people; nothing where nothing is.
    pub(crate) fn said(self) -> Option<String> {
        let mut said = Vec::new();
        if self.no_json > 0 {
            said.push(format!("{} no JSON", are(self.no_json)));
        }
        if self.too_long > 0 {
            let limit = show::bytes(TRANSCRIPT_LINE_BYTES_MAX);
            said.push(format!("{} longer than {limit}", are(self.too_long)));
        }
        if self.torn {
            said.push("the last line is torn".to_owned());
        }
        (!said.is_empty()).then(|| said.join(", "))
    }
}

fn are(lines: u64) -> String {
    let verb = if lines == 1 { "is" } else { "are" };
    format!("{} {verb}", show::count(lines, "line"))
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, line: Vec::new(), unread: Unread::default() }
    }

    /// Lines passed over so far, since they were too long or no JSON.
    pub(super) fn unread(&self) -> Unread {
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
