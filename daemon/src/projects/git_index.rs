//! Decides whether git tracks a file, from a worktree's index, which lists every tracked name.
//!
//! Reads versions 2 to 4, with SHA-1 or SHA-256 names, sparse directories and split indexes. Keeps
//! only one name in memory at a time, and trusts no length in the file. Anything unknown is an
//! error, since a file of an unknown form may list the name. Format: git's
//! `Documentation/gitformat-index`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::locate::GitPlace;
use crate::limits::{GIT_CONFIG_BYTES_MAX, GIT_INDEX_BYTES_MAX, GIT_INDEX_NAME_BYTES_MAX};

/// The index could not be read, so nothing is known about the tracked files.
#[derive(Debug, thiserror::Error)]
#[error("read git's index {}: {source}", path.display())]
pub(super) struct Unread {
    path: PathBuf,
    source: io::Error,
}

/// Returns whether the worktree tracks a file. `file` is relative to the worktree's root. ASCII
/// case is ignored, because file systems may ignore it.
pub(super) fn tracks(git: &GitPlace, file: &Path) -> Result<bool, Unread> {
    let index = git.git_dir.join("index");
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| Unread { path, source }
    };
    let hash_bytes = hash_bytes(git).map_err(fail(&git.common_dir.join("config")))?;
    let wanted = file.as_os_str().as_bytes();
    let listed = list(&index, wanted, hash_bytes).map_err(fail(&index))?;
    match listed {
        Listed { found: true, .. } => Ok(true),
        Listed { base: None, .. } => Ok(false),
        // Names that a split index deletes from its base still count: only a rewrite of the base
        // drops them.
        Listed { base: Some(base), .. } => {
            let base = git.git_dir.join(format!("sharedindex.{base}"));
            let listed = list(&base, wanted, hash_bytes).map_err(fail(&base))?;
            Ok(listed.found)
        }
    }
}

/// Returns the length of object names in the repository's index.
fn hash_bytes(git: &GitPlace) -> io::Result<usize> {
    let config = git.common_dir.join("config");
    let text = match open(&config, GIT_CONFIG_BYTES_MAX) {
        Ok(mut file) => {
            let mut text = Vec::new();
            file.read_to_end(&mut text)?;
            text
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&text).to_lowercase();
    let is_sha256 = text.lines().any(|line| {
        line.split_once('=').is_some_and(|(key, value)| {
            key.trim() == "objectformat" && value.trim().trim_matches('"') == "sha256"
        })
    });
    Ok(if is_sha256 { 32 } else { 20 })
}

/// The findings in an index file.
#[derive(Debug, Default)]
struct Listed {
    /// Whether the index lists the wanted name, or a sparse directory that contains it.
    found: bool,
    /// The object name of the shared index file, which lists the other names.
    base: Option<String>,
}

fn list(path: &Path, wanted: &[u8], hash_bytes: usize) -> io::Result<Listed> {
    let mut index = match open(path, GIT_INDEX_BYTES_MAX) {
        Ok(index) => index,
        // Nothing was ever added to this repository.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Listed::default()),
        Err(error) => return Err(error),
    };
    let signature: [u8; 4] = array(&mut index)?;
    let version = u32::from_be_bytes(array(&mut index)?);
    if &signature != b"DIRC" || !(2..=4).contains(&version) {
        return Err(invalid("it is of an unknown form"));
    }
    let entries = u32::from_be_bytes(array(&mut index)?);
    let mut name = Vec::new();
    for _ in 0..entries {
        read_name(&mut index, version, hash_bytes, &mut name)?;
        if holds(&name, wanted) {
            return Ok(Listed { found: true, base: None });
        }
    }
    Ok(Listed { found: false, base: base(&mut index, hash_bytes)? })
}

/// Returns whether an entry is the wanted name, or a sparse directory around it.
fn holds(name: &[u8], wanted: &[u8]) -> bool {
    name.eq_ignore_ascii_case(wanted)
        || (name.ends_with(b"/")
            && wanted.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
}

/// Reads the next entry's name into `name`. Version 4 shares a prefix with the previous name.
fn read_name(
    index: &mut impl BufRead,
    version: u32,
    hash_bytes: usize,
    name: &mut Vec<u8>,
) -> io::Result<()> {
    const STAT_BYTES: usize = 40;
    const EXTENDED: u16 = 0x4000;
    skip(index, STAT_BYTES + hash_bytes)?;
    let flags = u16::from_be_bytes(array(index)?);
    let mut bytes = STAT_BYTES + hash_bytes + 2;
    if flags & EXTENDED != 0 {
        skip(index, 2)?;
        bytes += 2;
    }
    if version == 4 {
        let dropped = varint(index)?;
        let kept = name.len().checked_sub(dropped).ok_or_else(|| invalid("a name is too short"))?;
        name.truncate(kept);
    } else {
        name.clear();
    }
    let before = name.len();
    index.by_ref().take(GIT_INDEX_NAME_BYTES_MAX).read_until(0, name)?;
    if name.pop() != Some(0) || name.len() as u64 > GIT_INDEX_NAME_BYTES_MAX {
        return Err(invalid("a name does not end"));
    }
    if version < 4 {
        // The NUL that ended the name is the first of the one to eight bytes that pad the entry.
        bytes += name.len() - before;
        skip(index, 8 - bytes % 8 - 1)?;
    }
    Ok(())
}

/// Reads a number as git packs offsets: seven bits per byte, adding one for each continuation byte.
fn varint(index: &mut impl BufRead) -> io::Result<usize> {
    let mut value = 0_usize;
    loop {
        let [byte] = array(index)?;
        let low = usize::from(byte & 0x7f);
        value = value
            .checked_mul(128)
            .and_then(|value| value.checked_add(low))
            .ok_or_else(|| invalid("a number is too long"))?;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
        value += 1;
    }
}

/// Returns the base of a split index, from the extensions behind the entries.
fn base(index: &mut impl BufRead, hash_bytes: usize) -> io::Result<Option<String>> {
    loop {
        // The file ends in a hash. Before it, each extension has a four-letter name and a length.
        let rest = index.fill_buf()?;
        if rest.is_empty() {
            return Ok(None);
        }
        let mut signature = [0; 4];
        if !read_or_end(index, &mut signature)? || !signature.iter().all(u8::is_ascii_alphabetic) {
            return Ok(None);
        }
        let mut length = [0; 4];
        if !read_or_end(index, &mut length)? {
            return Ok(None);
        }
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if &signature == b"link" {
            if length < hash_bytes {
                return Err(invalid("a split index names no base"));
            }
            let mut id = vec![0; hash_bytes];
            index.read_exact(&mut id)?;
            if id.iter().all(|byte| *byte == 0) {
                return Ok(None);
            }
            return Ok(Some(base16ct::lower::encode_string(&id)));
        }
        if skip(index, length).is_err() {
            return Ok(None);
        }
    }
}

/// Fills the buffer. Returns `false` if the file ends first.
fn read_or_end(index: &mut impl BufRead, into: &mut [u8]) -> io::Result<bool> {
    match index.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn array<const N: usize>(index: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    index.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn skip(index: &mut impl BufRead, bytes: usize) -> io::Result<()> {
    let bytes = bytes as u64;
    let skipped = io::copy(&mut index.by_ref().take(bytes), &mut io::sink())?;
    if skipped < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Opens a regular file below the size limit, and reads no further than the limit.
fn open(path: &Path, bytes_max: u64) -> io::Result<BufReader<io::Take<File>>> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblocking).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() >= bytes_max {
        return Err(invalid("it is not a file, or too large"));
    }
    Ok(BufReader::new(file.take(bytes_max)))
}

#[cfg(test)]
mod tests;
