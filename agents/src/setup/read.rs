//! Reads clients' files.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::limits::EDITED_BYTES_MAX;

/// Reads a file; `None` if it does not exist, or cannot be read as a text.
pub(crate) fn text_of(path: &Path) -> Option<String> {
    // Opening a pipe would block.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(EDITED_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= EDITED_BYTES_MAX)
}
