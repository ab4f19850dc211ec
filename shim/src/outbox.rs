//! Buffers bytes for a descriptor that may take them slowly or not at all.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// Bytes that a descriptor has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    written: usize,
}

/// A number of bytes that a writable pipe or socket takes without blocking. `PIPE_BUF` is at least
/// this on Linux and macOS; POSIX promises 512.
const PIECE_BYTES: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

impl Outbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.written
    }

    /// Returns the buffer to append to.
    pub(crate) fn end(&mut self) -> &mut Vec<u8> {
        // Moves the remaining bytes to the front once they are the smaller part: constant cost per
        // byte.
        if self.written > self.bytes.len() / 2 {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
        &mut self.bytes
    }

    /// Appends a line and its newline.
    pub(crate) fn push_line(&mut self, line: &[u8]) {
        let end = self.end();
        end.extend_from_slice(line);
        end.push(b'\n');
    }

    /// Writes as many bytes as a non-blocking descriptor takes.
    pub(crate) fn write_to(&mut self, descriptor: impl AsFd) -> Result<(), Errno> {
        while !self.is_empty() {
            match self.write_piece(&descriptor, usize::MAX) {
                Err(Errno::AGAIN) => return Ok(()),
                result => result?,
            }
        }
        Ok(())
    }

    /// Writes as many bytes as a blocking descriptor takes without waiting. Does not change its
    /// mode, since other processes may share it.
    pub(crate) fn write_to_blocking(&mut self, descriptor: impl AsFd) -> Result<(), Errno> {
        while !self.is_empty() {
            let mut polled = [PollFd::new(&descriptor, PollFlags::OUT)];
            match rustix::event::poll(&mut polled, Some(&Timespec::default())) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            }
            match self.write_piece(&descriptor, PIECE_BYTES) {
                Err(Errno::AGAIN) => return Ok(()),
                result => result?,
            }
        }
        Ok(())
    }

    fn write_piece(&mut self, descriptor: impl AsFd, bytes_max: usize) -> Result<(), Errno> {
        let left = self.bytes.get(self.written..).unwrap_or_default();
        let piece = left.get(..bytes_max).unwrap_or(left);
        match rustix::io::write(descriptor, piece) {
            Ok(length) => self.written += length,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        if self.is_empty() {
            self.bytes.clear();
            self.written = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
