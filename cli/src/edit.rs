//! Text files that are read whole and replaced whole.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anchord_agents::limits::EDITED_BYTES_MAX;
use anyhow::Context;

use crate::exit::Error;
use crate::show;

/// A file with all links resolved; without text if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Original {
    /// The resolved path.
    pub(crate) path: PathBuf,
    /// The text.
    pub(crate) text: Option<String>,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The path.
    pub(crate) path: PathBuf,
    /// The text before; `None` if the file does not exist.
    pub(crate) old: Option<String>,
    /// The text afterwards; `None` if the file is removed.
    pub(crate) text: Option<String>,
}

impl Original {
    /// Reads a file and follows links.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        match fs::symlink_metadata(path) {
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path: missing(path), text: None });
            }
            found => found.with_context(|| format!("cannot look at {}", path.display()))?,
        };
        let real = fs::canonicalize(path)
            .with_context(|| format!("cannot follow the link {}", path.display()))?;
        if !fs::metadata(&real).is_ok_and(|found| found.is_file()) {
            return Err(refused(format!("{} is not a regular file", path.display())));
        }
        let mut bytes = Vec::new();
        File::open(&real)
            .and_then(|file| file.take(EDITED_BYTES_MAX + 1).read_to_end(&mut bytes))
            .with_context(|| format!("cannot read {}", real.display()))?;
        if bytes.len() as u64 > EDITED_BYTES_MAX {
            let limit = show::bytes(EDITED_BYTES_MAX);
            return Err(refused(format!("{} is larger than {limit}", path.display())));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| refused(format!("{} is not UTF-8", path.display())))?;
        Ok(Self { path: real, text: Some(text) })
    }

    /// Returns the change to this text; `None` if the file has it already.
    pub(crate) fn becomes(self, text: Option<String>) -> Option<Edit> {
        if self.text == text {
            return None;
        }
        Some(Edit { path: self.path, old: self.text, text })
    }
}

/// Returns the resolved path of a file that does not exist: in its resolved folder.
fn missing(path: &Path) -> PathBuf {
    let real = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    match (real, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Returns an error for a failure that changed nothing.
pub(crate) fn refused(message: String) -> Error {
    Error::failed(message).with_action("Nothing was changed.")
}

impl Edit {
    /// Returns a word for what happened to the file.
    pub(crate) fn done(&self) -> &'static str {
        match (&self.old, &self.text) {
            (None, _) => "made",
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "removed",
        }
    }

    /// Carries out the change. A reader sees the old file or the new one, never a part. If somebody
    /// else has written since the file was read, fails rather than overwriting that.
    pub(crate) fn apply(&self) -> Result<(), Error> {
        if Original::read(&self.path)?.text != self.old {
            return Err(Error::failed(format!(
                "{} was changed by somebody else just now",
                self.path.display()
            ))
            .with_action("Run the command again."));
        }
        let done = match &self.text {
            Some(text) => self.replace(text),
            None => fs::remove_file(&self.path),
        };
        Ok(done.with_context(|| format!("cannot change {}", self.path.display()))?)
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().ok_or(io::ErrorKind::NotADirectory)?;
        fs::create_dir_all(folder)?;
        let mut fresh = tempfile::Builder::new().prefix(".anchord-").tempfile_in(folder)?;
        fresh.write_all(text.as_bytes())?;
        let permissions = if self.old.is_some() {
            fs::metadata(&self.path)?.permissions()
        } else {
            made_here(folder)?
        };
        fresh.as_file().set_permissions(permissions)?;
        fresh.as_file().sync_all()?;
        fresh.persist(&self.path)?;
        Ok(())
    }
}

/// Returns the permissions that the umask gives a new file here, which a temporary file does not
/// get.
fn made_here(folder: &Path) -> io::Result<fs::Permissions> {
    let name = format!(".anchord-{}", uuid::Uuid::new_v4());
    let path = folder.join(name);
    let permissions = File::create_new(&path)?.metadata()?.permissions();
    fs::remove_file(&path)?;
    Ok(permissions)
}
