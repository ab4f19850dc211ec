//! Lines: the form of a numbered `mcp` line, and a reader that no line can exhaust.

use std::io::{self, BufRead};
use std::str;

use crate::limits::LINE_END_BYTES;

/// A line from a shim under role `mcp`: `<number> <acknowledged> <json>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpLine<'a> {
    /// The number of the line among the shim's lines, from 1. A line sent again keeps its number.
    pub number: u64,
    /// The number up to which all lines have been answered or need no answer. Replies kept for them
    /// can be dropped.
    pub acknowledged: u64,
    /// The JSON-RPC message, untouched.
    pub json: &'a str,
}

/// The reason why a line is not an `mcp` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line is not text.
    #[error("line is not UTF-8")]
    NotText,
    /// The first field is not a number from 1.
    #[error("line does not begin with its number")]
    NoNumber,
    /// The second field is not a number.
    #[error("line has no acknowledged number after its own")]
    NoAcknowledged,
    /// The second field is not below the first.
    #[error("line acknowledges itself or a later one")]
    AcknowledgedAhead,
    /// Nothing follows the two numbers.
    #[error("line has no message after its numbers")]
    NoMessage,
}

impl<'a> McpLine<'a> {
    /// Parses a line without its newline. Does not check whether the rest is JSON.
    pub fn parse(line: &'a [u8]) -> Result<Self, LineError> {
        let line = str::from_utf8(line).map_err(|_| LineError::NotText)?;
        let (number, rest) = line.split_once(' ').ok_or(LineError::NoNumber)?;
        let number = number_from(number).filter(|n| *n > 0).ok_or(LineError::NoNumber)?;
        let (acknowledged, json) = rest.split_once(' ').ok_or(LineError::NoAcknowledged)?;
        let acknowledged = number_from(acknowledged).ok_or(LineError::NoAcknowledged)?;
        if acknowledged >= number {
            return Err(LineError::AcknowledgedAhead);
        }
        if json.is_empty() {
            return Err(LineError::NoMessage);
        }
        Ok(Self { number, acknowledged, json })
    }

    /// Appends the line and its newline to `out`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.number.to_string().as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.acknowledged.to_string().as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.json.as_bytes());
        out.push(b'\n');
    }
}

/// Parses a number like `str::parse`, without the plus sign that it allows.
fn number_from(text: &str) -> Option<u64> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// The result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRead {
    /// A complete line, without its newline.
    Line,
    /// A line that is too long, skipped through its newline; it had this many bytes. Its beginning
    /// is kept.
    TooLong(u64),
    /// The end of the input. The kept text is an unfinished line. Either a dead peer left it, or
    /// the client omits the final newline. The caller knows which.
    End,
}

/// Splits arriving pieces into lines, in bounded memory for any input.
#[derive(Debug)]
pub struct LineSplitter {
    kept: Vec<u8>,
    /// The last bytes of those that were not kept.
    last: Vec<u8>,
    length: u64,
    bytes_max: usize,
    finished: bool,
}

impl LineSplitter {
    /// Creates a splitter for lines of at most `bytes_max` bytes, newline not counted.
    pub fn new(bytes_max: usize) -> Self {
        Self { kept: Vec::new(), last: Vec::new(), length: 0, bytes_max, finished: false }
    }

    /// Takes bytes from the front of `input` through the first newline, or all of them. Returns
    /// [`LineRead::Line`] or [`LineRead::TooLong`] at a newline. Otherwise returns `None`: it needs
    /// more input.
    pub fn take(&mut self, input: &mut &[u8]) -> Option<LineRead> {
        if self.finished {
            self.kept.clear();
            self.last.clear();
            self.length = 0;
            self.finished = false;
        }
        let newline = input.iter().position(|byte| *byte == b'\n');
        let (part, rest) = input.split_at(newline.unwrap_or(input.len()));
        let room = self.bytes_max.saturating_sub(self.kept.len());
        let (kept, dropped) = part.split_at_checked(room).unwrap_or((part, &[]));
        self.kept.extend_from_slice(kept);
        let from = dropped.len().saturating_sub(LINE_END_BYTES);
        self.last.extend_from_slice(dropped.get(from..).unwrap_or_default());
        self.last.drain(..self.last.len().saturating_sub(LINE_END_BYTES));
        self.length += part.len() as u64;
        *input = rest.get(1..).unwrap_or_default();
        newline?;
        self.finished = true;
        Some(if self.is_too_long() { LineRead::TooLong(self.length) } else { LineRead::Line })
    }

    /// Returns the line that [`Self::take`] found last, or the beginning of the current one.
    pub fn line(&self) -> &[u8] {
        &self.kept
    }

    /// Returns the last [`LINE_END_BYTES`] of the line, though the line may be too long.
    pub fn end(&self) -> Vec<u8> {
        let more = LINE_END_BYTES.saturating_sub(self.last.len());
        let from = self.kept.len().saturating_sub(more);
        [self.kept.get(from..).unwrap_or_default(), &self.last].concat()
    }

    /// Returns the received part of an unfinished line; empty between lines.
    pub fn unfinished(&self) -> &[u8] {
        if self.finished { &[] } else { &self.kept }
    }

    /// Returns whether the current line is too long.
    pub fn is_too_long(&self) -> bool {
        self.length > self.kept.len() as u64
    }
}

/// Reads one line of at most `bytes_max` bytes into `line`, without its newline. A longer one is
/// skipped in bounded memory. Errors are the reader's; `Interrupted` is retried.
pub fn read_line_capped(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    bytes_max: usize,
) -> io::Result<LineRead> {
    line.clear();
    let mut splitter = LineSplitter { kept: std::mem::take(line), ..LineSplitter::new(bytes_max) };
    let found = loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(reason) if reason.kind() == io::ErrorKind::Interrupted => continue,
            Err(reason) => return Err(reason),
        };
        if chunk.is_empty() {
            let too_long = splitter.is_too_long();
            break if too_long { LineRead::TooLong(splitter.length) } else { LineRead::End };
        }
        let mut rest = chunk;
        let found = splitter.take(&mut rest);
        let used = chunk.len() - rest.len();
        input.consume(used);
        if let Some(found) = found {
            break found;
        }
    };
    *line = splitter.kept;
    Ok(found)
}

#[cfg(test)]
mod tests;
