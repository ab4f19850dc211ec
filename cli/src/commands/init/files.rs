//! Instruction files read whole and replaced whole.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::exit::Error;
use crate::limits::INSTRUCTIONS_BYTES_MAX;
use crate::show;

/// A file as it is, behind all links; without text where it does not exist.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Original {
    /// Where it really is.
    pub(super) path: PathBuf,
    /// What it says.
    pub(super) text: Option<String>,
}

/// A change of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// Where.
    pub(super) path: PathBuf,
    existed: bool,
    /// What the file will say; nothing: it goes.
    pub(super) text: Option<String>,
}

/// Reads a file of the project; nothing where there is none.
pub(super) fn read(root: &Path, path: &Path) -> Result<Option<Original>, Error> {
    match fs::symlink_metadata(path) {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.with_context(|| format!("cannot look at {}", path.display()))?,
    };
    let real = fs::canonicalize(path)
        .with_context(|| format!("cannot follow the link {}", path.display()))?;
    let root =
        fs::canonicalize(root).with_context(|| format!("cannot look at {}", root.display()))?;
    if !real.starts_with(&root) {
        return Err(refused(format!("{} is a link out of the project", path.display())));
    }
    if !fs::metadata(&real).is_ok_and(|found| found.is_file()) {
        return Err(refused(format!("{} is no regular file", path.display())));
    }
    let mut bytes = Vec::new();
    File::open(&real)
        .and_then(|file| file.take(INSTRUCTIONS_BYTES_MAX + 1).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", real.display()))?;
    if bytes.len() as u64 > INSTRUCTIONS_BYTES_MAX {
        let limit = show::bytes(INSTRUCTIONS_BYTES_MAX);
        return Err(refused(format!("{} is larger than {limit}", path.display())));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| refused(format!("{} is not UTF-8", path.display())))?;
    Ok(Some(Original { path: real, text: Some(text) }))
}

fn refused(message: String) -> Error {
    Error::failed(message).with_action("Nothing was changed.")
}

impl Original {
    /// The change to this text; nothing when it says that already.
    pub(super) fn becomes(self, text: Option<String>) -> Option<Edit> {
        if self.text == text {
            return None;
        }
        Some(Edit { path: self.path, existed: self.text.is_some(), text })
    }
}

impl Edit {
    /// What became of the file, in a word.
    pub(super) fn done(&self) -> &'static str {
        match (self.existed, &self.text) {
            (false, _) => "made",
            (true, Some(_)) => "changed",
            (true, None) => "removed",
        }
    }

    /// Does it. A reader sees the old file or the new one, never a part.
    pub(super) fn apply(&self) -> Result<(), Error> {
        let done = match &self.text {
            Some(text) => self.replace(text),
            None => fs::remove_file(&self.path),
        };
        Ok(done.with_context(|| format!("cannot change {}", self.path.display()))?)
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().ok_or(io::ErrorKind::NotADirectory)?;
        let mut fresh = tempfile::Builder::new().prefix(".anchord-").tempfile_in(folder)?;
        fresh.write_all(text.as_bytes())?;
        let permissions =
            if self.existed { fs::metadata(&self.path)?.permissions() } else { made_here(folder)? };
        fresh.as_file().set_permissions(permissions)?;
        fresh.as_file().sync_all()?;
        fresh.persist(&self.path)?;
        Ok(())
    }
}

/// The permissions that a new file gets here by the umask, which a temporary file does not follow.
fn made_here(folder: &Path) -> io::Result<fs::Permissions> {
    let name = format!(".anchord-{}", uuid::Uuid::new_v4());
    let path = folder.join(name);
    let permissions = File::create_new(&path)?.metadata()?.permissions();
    fs::remove_file(&path)?;
    Ok(permissions)
}
