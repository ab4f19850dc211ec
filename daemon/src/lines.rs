//! Lines from a peer, never more of one in memory than its cap.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<'a> {
    /// A whole line, without its newline.
    Line(&'a [u8]),
    /// A line longer than the cap was skipped to its end.
    TooLong,
    /// The peer has closed; a line without its newline is no line.
    End,
}

/// Reads capped lines. Dropping a read half-way loses nothing: the next one goes on from there.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: R,
    line: Vec<u8>,
    bytes_max: usize,
    too_long: bool,
    complete: bool,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    /// Lines of at most `bytes_max` bytes.
    pub(crate) fn new(reader: R, bytes_max: usize) -> Self {
        Self { reader, line: Vec::new(), bytes_max, too_long: false, complete: false }
    }

    /// Other lines may follow with another cap: a hello is short, what comes after it is not.
    pub(crate) fn set_bytes_max(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
    }

    /// The next line.
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

    /// The stream, with what is buffered of it.
    pub(crate) fn into_inner(self) -> R {
        self.reader
    }
}

#[cfg(test)]
mod tests;
