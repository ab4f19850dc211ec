//! Lines: the form of a numbered `mcp` line, and a reader that no line can exhaust.

use std::io::{self, BufRead};
use std::str;

/// A line from a shim under role `mcp`: `<number> <acknowledged> <json>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpLine<'a> {
    /// Counts the shim's lines from 1. A line sent again keeps its number.
    pub number: u64,
    /// All lines up to this number have been answered or need no answer: replies kept for them can
    /// be dropped.
    pub acknowledged: u64,
    /// The JSON-RPC message, untouched.
    pub json: &'a str,
}

/// Why a line is not an `mcp` line.
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
    /// Takes a line apart, its newline already removed. Whether the rest is JSON is not looked at.
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

/// `str::parse` without the plus sign that it allows.
fn number_from(text: &str) -> Option<u64> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// What [`read_line_capped`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRead {
    /// A line; it is in the buffer without its newline.
    Line,
    /// A line longer than allowed, skipped through its newline: this many bytes of it. The buffer
    /// holds its beginning.
    TooLong(u64),
    /// The input ended. An unfinished line is in the buffer: part of what a dead peer wrote, or the
    /// last line of a client that writes no last newline; the caller knows which.
    End,
}

/// Reads one line into `line`, at most `bytes_max` without its newline. A longer one is skipped in
/// bounded memory. Errors are the reader's, `Interrupted` is retried.
pub fn read_line_capped(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    bytes_max: usize,
) -> io::Result<LineRead> {
    line.clear();
    let mut length: u64 = 0;
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(reason) if reason.kind() == io::ErrorKind::Interrupted => continue,
            Err(reason) => return Err(reason),
        };
        if chunk.is_empty() {
            let whole = length == line.len() as u64;
            return Ok(if whole { LineRead::End } else { LineRead::TooLong(length) });
        }
        let end = memchr(chunk);
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or(chunk);
        let room = bytes_max.saturating_sub(line.len());
        line.extend_from_slice(part.get(..room).unwrap_or(part));
        length += part.len() as u64;
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            let whole = length == line.len() as u64;
            return Ok(if whole { LineRead::Line } else { LineRead::TooLong(length) });
        }
    }
}

fn memchr(chunk: &[u8]) -> Option<usize> {
    chunk.iter().position(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests;
