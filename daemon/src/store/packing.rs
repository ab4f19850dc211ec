//! Packing of the index's texts: deflate with a fixed dictionary, because rows are short and
//! similar.
//!
//! A packed text begins with its length in bytes, as four bytes, big-endian.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// The dictionary of both sides. A different one needs a different mark in front of packed values.
const DICTIONARY: &[u8] = include_bytes!("packing/dictionary.txt");
/// The base-2 logarithm of the packer's window: 4 KiB, more than the dictionary and most texts. A
/// larger window only costs memory.
const WINDOW_BITS: u8 = 12;
/// The level of the packer, the only one with deflate's fixed codes. Reading codes of its own takes
/// longer than reading a short text. Opening reads texts in less than half the time, and they are
/// packed in half the time. They take a fifth to two fifths more bytes.
const LEVEL: u32 = 1;
const LENGTH_BYTES: usize = 4;
/// Bytes that the decoder has beyond a text. It copies whole matches only where more than the
/// longest one, 258 bytes, is left, and decodes byte by byte otherwise. A row would be read so.
const ROOM_BYTES: usize = 512;

/// A packer of texts, one after the other.
pub(super) struct Packer(Compress);

/// The counterpart of [`Packer`].
pub(super) struct Unpacker {
    inflate: Decompress,
    /// The last text, with the room that [`ROOM_BYTES`] needs.
    text: Vec<u8>,
}

impl Packer {
    pub(super) fn new() -> Self {
        Self(Compress::new_with_window_bits(Compression::new(LEVEL), false, WINDOW_BITS))
    }

    /// Packs a text. Returns `None` if that would not make it shorter.
    pub(super) fn pack(&mut self, text: &str) -> Option<Vec<u8>> {
        let length = u32::try_from(text.len()).ok()?;
        self.0.reset();
        self.0.set_dictionary(DICTIONARY).ok()?;
        // A result that does not fit is not shorter.
        let mut packed = Vec::with_capacity(text.len());
        packed.extend_from_slice(&length.to_be_bytes());
        let status = self.0.compress_vec(text.as_bytes(), &mut packed, FlushCompress::Finish);
        if !matches!(status, Ok(Status::StreamEnd)) {
            // A reset keeps something of a stream without an end, and a later long text panics.
            *self = Self::new();
            return None;
        }
        (packed.len() < text.len()).then_some(packed)
    }
}

impl Unpacker {
    pub(super) fn new() -> Self {
        // With another window than the default, `reset` would allocate 48 KiB anew for each text.
        Self { inflate: Decompress::new(false), text: Vec::new() }
    }

    /// Returns the text, or `None` if this is not a packed text.
    pub(super) fn unpack(&mut self, packed: &[u8]) -> Option<&str> {
        let (length, deflated) = packed.split_at_checked(LENGTH_BYTES)?;
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        // Deflate shortens nothing by a factor of more than 1,032.
        if length / 1032 > deflated.len() {
            return None;
        }
        self.inflate.reset(false);
        self.inflate.set_dictionary(DICTIONARY).ok()?;
        self.text.clear();
        self.text.reserve(length + ROOM_BYTES);
        let status = self.inflate.decompress_vec(deflated, &mut self.text, FlushDecompress::Finish);
        let is_whole = matches!(status, Ok(Status::StreamEnd)) && self.text.len() == length;
        is_whole.then(|| std::str::from_utf8(&self.text).ok()).flatten()
    }
}

#[cfg(test)]
mod tests;
