//! What set-up wrote, and what stood there before: so that it can be taken back to the byte.
//!
//! It is written before the files it speaks of. A set-up that is killed leaves a manifest that promises
//! more than was done, which is harmless: each file is compared with what it was before and after.

use std::path::{Path, PathBuf};

use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Agent;
use crate::edit::file::{Edit, Original};
use crate::exit::{Error, Kind};

/// The version of the file that this build writes and the newest that it reads.
const FORMAT: u32 = 1;

/// The file, in the instance directory.
pub(crate) const NAME: &str = "setup.json";

/// All that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    /// The files, by no order.
    pub(crate) files: Vec<Entry>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Whose it is.
    pub(crate) agent: Agent,
    /// The project it serves; nothing: all of the user's.
    pub(crate) project: Option<PathBuf>,
    /// Where it is, behind all links.
    pub(crate) path: PathBuf,
    /// What it said before anchord came; nothing: it was not there.
    pub(crate) before: Option<String>,
    /// SHA-256 of `before`, in hex.
    pub(crate) before_digest: Option<String>,
    /// SHA-256 of each text that set-up wrote, or was about to write.
    pub(crate) after: Vec<String>,
    /// Folders that were made for it.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether it holds what tells anchord of lifecycle events.
    pub(crate) hooks: bool,
}

impl Default for Manifest {
    fn default() -> Self {
        Self { format: FORMAT, files: Vec::new() }
    }
}

impl Manifest {
    /// Reads the manifest of an instance; an empty one where there is none.
    pub(crate) fn read(dir: &InstanceDir) -> Result<Self, Error> {
        let Some(text) = Original::read(&dir.path().join(NAME))?.text else {
            return Ok(Self::default());
        };
        let manifest: Self = serde_json::from_str(&text).map_err(|reason| {
            Error::failed(format!("{} cannot be read: {reason}", dir.path().join(NAME).display()))
                .with_action(
                    "Move it away; --remove then takes out what is anchord's, file by file.",
                )
        })?;
        if manifest.format > FORMAT {
            let message = format!("{NAME} was written by a newer anchord");
            return Err(Error::new(Kind::Refused, message).with_action("Update this one."));
        }
        Ok(manifest)
    }

    /// The change that makes the file say this; the file goes when nothing is set up.
    pub(crate) fn saved(&self, dir: &InstanceDir) -> Result<Option<Edit>, Error> {
        let original = Original::read(&dir.path().join(NAME))?;
        if self.files.is_empty() {
            return Ok(original.becomes(None));
        }
        let text = serde_json::to_string_pretty(self).context("cannot write the manifest")?;
        Ok(original.becomes(Some(text + "\n")))
    }

    /// What is known of a file.
    pub(crate) fn entry(&self, path: &Path) -> Option<&Entry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    /// Remembers that a file is about to say something else, in the place of what was known of it. The texts
    /// that it had after earlier set-ups are kept as long as they lead back to the same text before.
    pub(crate) fn note(&mut self, mut entry: Entry) {
        if let Some(known) = self.files.iter_mut().find(|known| known.path == entry.path) {
            if known.before == entry.before {
                for digest in &known.after {
                    if !entry.after.contains(digest) {
                        entry.after.push(digest.clone());
                    }
                }
            }
            entry.folders.splice(0..0, known.folders.clone());
            entry.folders.dedup();
            *known = entry;
        } else {
            self.files.push(entry);
        }
    }

    /// Adds a text that was written to what is known of a file.
    pub(crate) fn wrote(&mut self, path: &Path, text: Option<&str>) {
        let entry = self.files.iter_mut().find(|entry| entry.path == path);
        if let (Some(entry), Some(text)) = (entry, text) {
            let digest = digest(text);
            if !entry.after.contains(&digest) {
                entry.after.push(digest);
            }
        }
    }

    /// Whether every agent that is set up tells anchord of its lifecycle, for this project at least.
    pub(crate) fn hooked(&self, root: &Path) -> bool {
        let here = |entry: &&Entry| entry.project.as_deref().is_none_or(|project| project == root);
        let serving: Vec<&Entry> = self.files.iter().filter(here).collect();
        let hooked = |agent| serving.iter().any(|entry| entry.agent == agent && entry.hooks);
        !serving.is_empty() && serving.iter().all(|entry| hooked(entry.agent))
    }
}

impl Entry {
    /// Whether this is a text that set-up wrote.
    pub(crate) fn wrote(&self, text: &str) -> bool {
        self.after.contains(&digest(text))
    }

    /// Whether what it keeps of before is whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.before.as_deref().map(digest) == self.before_digest
    }
}

/// SHA-256 in hex.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
