//! A record of the files that set-up wrote and their earlier texts, so that removal can restore
//! every byte.
//!
//! The manifest is written before the files it describes. A set-up that is killed leaves a manifest
//! that promises more than was done. That is harmless: each file is compared with its texts before
//! and after.

use std::path::{Path, PathBuf};

use anchord_agents::setup::Agent;
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::edit::{Edit, Original};
use crate::exit::{Error, Kind};

/// The version of the file that this build writes, and the newest that it reads.
const FORMAT: u32 = 1;

/// The file's name in the instance directory.
pub(crate) const NAME: &str = "setup.json";

/// A record of everything that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    /// The files, in no particular order.
    pub(crate) files: Vec<Entry>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The agent that it belongs to, recorded by its id.
    #[serde(with = "agent_id")]
    pub(crate) agent: Agent,
    /// The project that it serves; `None` for all of the user's projects.
    pub(crate) project: Option<PathBuf>,
    /// The path with all links resolved.
    pub(crate) path: PathBuf,
    /// The text before anchord's set-up; `None` if the file did not exist.
    pub(crate) before: Option<String>,
    /// SHA-256 of `before`, in hex.
    pub(crate) before_digest: Option<String>,
    /// SHA-256 of each text that set-up wrote, or was about to write.
    pub(crate) after: Vec<String>,
    /// Folders that were created for it.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether it contains hooks that report lifecycle events to anchord.
    pub(crate) hooks: bool,
}

impl Default for Manifest {
    fn default() -> Self {
        Self { format: FORMAT, files: Vec::new() }
    }
}

impl Manifest {
    /// Reads the manifest of an instance. It is empty if there is none.
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

    /// Returns the change that saves the manifest. If nothing is set up, the change removes the
    /// file.
    pub(crate) fn saved(&self, dir: &InstanceDir) -> Result<Option<Edit>, Error> {
        let original = Original::read(&dir.path().join(NAME))?;
        if self.files.is_empty() {
            return Ok(original.becomes(None));
        }
        let text = serde_json::to_string_pretty(self).context("cannot write the manifest")?;
        Ok(original.becomes(Some(text + "\n")))
    }

    /// Returns the entry of a file.
    pub(crate) fn entry(&self, path: &Path) -> Option<&Entry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    /// Records that a file is about to change, in place of its earlier entry. Texts of earlier
    /// set-ups are kept as long as they lead back to the same original text.
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

    /// Adds a written text to a file's entry.
    pub(crate) fn wrote(&mut self, path: &Path, text: Option<&str>) {
        let entry = self.files.iter_mut().find(|entry| entry.path == path);
        if let (Some(entry), Some(text)) = (entry, text) {
            let digest = digest(text);
            if !entry.after.contains(&digest) {
                entry.after.push(digest);
            }
        }
    }

    /// Returns the agents that are set up for this project or for all.
    pub(crate) fn serving(&self, root: &Path) -> Vec<Agent> {
        let here = |entry: &&Entry| entry.project.as_deref().is_none_or(|project| project == root);
        let mut agents: Vec<Agent> =
            self.files.iter().filter(here).map(|entry| entry.agent).collect();
        agents.sort_unstable();
        agents.dedup();
        agents
    }

    /// Returns whether every agent that is set up reports its lifecycle, at least for this project.
    pub(crate) fn hooked(&self, root: &Path) -> bool {
        let here = |entry: &&Entry| entry.project.as_deref().is_none_or(|project| project == root);
        let serving: Vec<&Entry> = self.files.iter().filter(here).collect();
        let hooked = |agent| serving.iter().any(|entry| entry.agent == agent && entry.hooks);
        !serving.is_empty() && serving.iter().all(|entry| hooked(entry.agent))
    }
}

impl Entry {
    /// Returns whether set-up wrote this text.
    pub(crate) fn wrote(&self, text: &str) -> bool {
        self.after.contains(&digest(text))
    }

    /// Returns whether the kept original text is intact.
    pub(crate) fn is_whole(&self) -> bool {
        self.before.as_deref().map(digest) == self.before_digest
    }
}

/// Returns the SHA-256 of a text, in hex.
pub(crate) fn digest(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text))
}

mod agent_id {
    use super::{Agent, Deserialize, Deserializer, Serializer, de};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(agent: &Agent, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(agent.id())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Agent, D::Error> {
        let id = String::deserialize(from)?;
        Agent::named(&id).ok_or_else(|| de::Error::custom(format!("unknown agent `{id}`")))
    }
}
