//! Memories that a team shares: which ones, and the way to their database.
//!
//! A project in a team has a file `team.json` next to its store. This is the only part of the
//! daemon that speaks to another machine, and it does so only for such projects.

mod journal;
mod order;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use anchord_memory::{Change, SessionId, Timestamp};
use anchord_team::{Address, Database, Secret};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use uuid::Uuid;

pub(crate) use journal::{CommitJournal, TeamReplacement, fault};
pub(crate) use order::TeamOrder;

use crate::blocking::run_blocking;
use crate::private_file;
use crate::store::{StoreError, TeamJournal};

/// The file in a store's directory that names its team.
const FILE: &str = "team.json";

/// A file that names no team can only be written again.
const REMEDY: &str = "a team shares this memory, so run `anchord team join` again";

/// The team that shares a project, and how this machine reaches its database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TeamConfig {
    /// The project's id in the database.
    pub(crate) project: Uuid,
    /// The project's name in the database.
    pub(crate) name: String,
    /// This machine's member of the team, as the database names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) member: Option<String>,
    /// The last time at which records here got other ids, or their ids became free, if any did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) renumbered: Option<Timestamp>,
    /// The texts for sessions of this machine whose commits the database has lost, since then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) lost: BTreeMap<SessionId, String>,
    /// The database, without a password.
    pub(crate) url: String,
    /// The source of the password.
    pub(crate) secret: Secret,
}

/// The databases of all teams, with their connections.
#[derive(Debug)]
pub(crate) struct TeamLinks {
    /// The id of this machine's instance, by which it knows its own entries.
    machine: Arc<str>,
    databases: Mutex<HashMap<String, Database>>,
    opened: Notify,
}

impl TeamLinks {
    /// Returns the links of this instance.
    pub(crate) fn new(instance: Uuid) -> Self {
        let machine = instance.to_string().into();
        Self { machine, databases: Mutex::default(), opened: Notify::new() }
    }

    /// Is notified whenever the memory of a team has been opened, and when a read finds one that
    /// differs from the team's journal.
    pub(crate) fn opened(&self) -> &Notify {
        &self.opened
    }

    /// Returns the database at an address, and reuses its connections.
    pub(crate) fn database(&self, url: &str, secret: &Secret) -> Result<Database, String> {
        let key = database_key(url, secret);
        if let Some(known) = self.known().get(&key) {
            return Ok(known.clone());
        }
        let address = Address::parse(url).map_err(|error| format!("failed to {error}"))?;
        let database = Database::open(address, secret.clone());
        let database = database.map_err(|error| format!("failed to {error}"))?;
        Ok(self.known().entry(key).or_insert(database).clone())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Database>> {
        self.databases.lock()
    }

    /// Returns the journal of a team's project.
    pub(crate) fn journal(&self, team: &TeamConfig) -> Result<CommitJournal, String> {
        let log = self.database(&team.url, &team.secret)?.log(team.project);
        Ok(CommitJournal::new(log, Arc::clone(&self.machine)))
    }

    /// Returns the journal of the team that shares the project in this directory, and the file that
    /// names the team, if there is one. `team` is the one that the memory itself names.
    ///
    /// Without a file that can be read, the journal takes nothing: nobody else would see it.
    pub(crate) async fn of(
        &self,
        directory: &Path,
        team: Option<&str>,
    ) -> Option<(Arc<dyn TeamJournal<Change>>, Option<TeamConfig>)> {
        let path = directory.join(FILE);
        let from = directory.to_owned();
        let config = match run_blocking(move || read(&from)).await {
            Ok(Some(config)) => match self.journal(&config) {
                Ok(journal) => Ok((journal, config)),
                Err(error) => Err(invalid(&path, error)),
            },
            Ok(None) => {
                team?;
                let gone = io::Error::from(io::ErrorKind::NotFound);
                Err(invalid(&path, gone.to_string()))
            }
            Err(error) => Err(error),
        };
        Some(match config {
            Ok((journal, config)) => (Arc::new(journal), Some(config)),
            Err(error) => (Arc::new(journal::Unlinked(error.to_string())), None),
        })
    }
}

/// Returns the key under which a database is known here.
fn database_key(url: &str, secret: &Secret) -> String {
    format!("{url} {secret:?}")
}

impl TeamConfig {
    /// Returns the key of its database. Projects of one database have the same.
    pub(crate) fn database(&self) -> String {
        database_key(&self.url, &self.secret)
    }
}

/// Returns the team that shares the project in this directory, if one does.
///
/// # Errors
/// Fails if the file cannot be read.
pub(crate) fn read(directory: &Path) -> Result<Option<TeamConfig>, StoreError> {
    let path = directory.join(FILE);
    match std::fs::read(&path) {
        Ok(text) => {
            let config = serde_json::from_slice(&text);
            config.map(Some).map_err(|error| invalid(&path, error.to_string()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

/// Returns whether the file that names the team, or the one with its password, has changed since a
/// time.
pub(crate) fn has_changed(directory: &Path, config: Option<&TeamConfig>, since: Timestamp) -> bool {
    let password = config.and_then(|config| match &config.secret {
        Secret::File(path) => Some(path.clone()),
        Secret::None | Secret::Command(_) => None,
    });
    [Some(directory.join(FILE)), password].into_iter().flatten().any(|path| {
        // The time of the last change of the file's rights, too. One that is gone has not changed.
        std::fs::metadata(path).is_ok_and(|meta| {
            let millis = meta.ctime().saturating_mul(1_000) + meta.ctime_nsec() / 1_000_000;
            millis >= since.0
        })
    })
}

/// Names the team that shares the project in this directory.
pub(crate) fn write(directory: &Path, config: &TeamConfig) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(config)?;
    text.push(b'\n');
    private_file::replace(&directory.join(FILE), &text)
}

/// Gives this machine's member another name, if the file still names this project of a team.
///
/// # Errors
/// Fails if the file cannot be read or written.
pub(crate) fn rename_member(
    directory: &Path,
    project: Uuid,
    member: &str,
) -> Result<(), StoreError> {
    let Some(config) = read(directory)?.filter(|config| config.project == project) else {
        return Ok(());
    };
    let renamed = TeamConfig { member: Some(member.to_owned()), ..config };
    write(directory, &renamed).map_err(StoreError::io("write", directory.join(FILE)))
}

/// Removes the name of the team, so that the project is this machine's own.
pub(crate) fn remove(directory: &Path) -> io::Result<()> {
    private_file::remove(&directory.join(FILE))
}

fn invalid(path: &Path, why: String) -> StoreError {
    let error = io::Error::new(io::ErrorKind::InvalidData, format!("{why}; {REMEDY}"));
    StoreError::io("read", path.to_owned())(error)
}

#[cfg(test)]
mod tests;
