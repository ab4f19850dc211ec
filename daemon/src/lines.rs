//! Lines from a peer, of which never more than their cap is in memory.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<'a> {
    /// A whole line, without its newline.
    Line(&'a [u8]),
    /// A line longer than the cap was skipped to its end.
    TooLong,
    /// The peer has closed. A line without its newline does not count.
    End,
}

/// A reader of capped lines. A dropped read loses nothing: the next one continues from there.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: R,
    line: Vec<u8>,
    bytes_max: usize,
    too_long: bool,
    complete: bool,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    /// Creates a reader of lines of at most `bytes_max` bytes.
    pub(crate) fn new(reader: R, bytes_max: usize) -> Self {
        Self { reader, line: Vec::new(), bytes_max, too_long: false, complete: false }
    }

    /// Changes the cap: a hello is short, and later lines are not.
    pub(crate) fn set_bytes_max(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
    }

    /// Reads the next line.
    pub(crate) async fn next(&mut self) -> std::io::Result<Read<'_>> {
        if std::mem::take(&mut self.complete) {
            self.line.clear();
            self.too_long = false;
        }
        while !self.complete {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(Read::End);
            }
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if self.line.len() + part.len() > self.bytes_max {
                self.too_long = true;
                self.line = Vec::new();
            }
            if !self.too_long {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            self.complete = end.is_some();
        }
        Ok(if self.too_long { Read::TooLong } else { Read::Line(&self.line) })
    }

    /// Returns the stream with its buffered bytes.
    pub(crate) fn into_inner(self) -> R {
        self.reader
    }
}

#[cfg(test)]
mod tests;
