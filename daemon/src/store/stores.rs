//! The factory of stores. A daemon opens all of its stores through one, and nothing above this
//! trait knows where they are.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::disk::{Disk, RealDisk};
use super::index::IndexPlace;
use super::journal_store::JournalStore;
use super::open::Options;
use super::repair::{self, RepairPlan};
use super::sled_index::SledPlace;
use super::{Opened, StateMachine, Store, StoreError, restore};
use crate::clock;

/// The prefix of a directory that is being deleted.
const DELETED: &str = ".deleted-";

/// The ending, before a number, of a store that made way for another of its name.
const ASIDE: &str = ".aside-";

/// The parts of a store's directory that hold its data.
const PARTS: [&str; 3] = ["journal", "snapshot", "sled"];

/// Opens stores by name, and does what needs a store to be closed.
///
/// A name has one or two parts: `daemon`, `user`, `projects/<id>`. The caller holds the daemon's
/// lock. All methods but [`Stores::exists`], [`Stores::has_data`] and [`Stores::usage`] need the
/// named store to be closed.
pub trait Stores<M: StateMachine>: fmt::Debug + Send + Sync {
    /// Opens a store, or creates it.
    fn open(&self, name: &str) -> Result<Opened<M, Box<dyn Store<M>>>, StoreError>;

    /// Returns whether anything was ever kept under this name. A failed check is an error.
    fn exists(&self, name: &str) -> Result<bool, StoreError>;

    /// Returns whether any of the store's data is there. A failed check is an error.
    fn has_data(&self, name: &str) -> Result<bool, StoreError>;

    /// Returns the size of a store.
    fn usage(&self, name: &str) -> Usage;

    /// Removes a store as a whole, with those set aside, even if a crash interrupts it. Does
    /// nothing without a store.
    fn remove(&self, name: &str) -> Result<(), StoreError>;

    /// Renames a store, so that another can begin under its name. Returns its new place.
    fn set_aside(&self, name: &str) -> Result<PathBuf, StoreError>;

    /// Returns the places of the stores of this name that were set aside.
    fn asides(&self, name: &str) -> Result<Vec<PathBuf>, StoreError>;

    /// Removes the index and these damaged snapshots. The next open rebuilds the index.
    fn discard_index(&self, name: &str, snapshots: &[String]) -> Result<(), StoreError>;

    /// Plans the repair of a store.
    fn plan_repair(&self, name: &str) -> Result<RepairPlan, StoreError>;

    /// Repairs a store as planned. Fails if it has changed since the plan was made.
    fn repair(&self, name: &str, plan: &RepairPlan) -> Result<(), StoreError>;

    /// Makes the entries of a backup the store's journal. Creates the store if there is none. Keeps
    /// the files that are there under other names.
    fn restore(&self, name: &str, backup: &Path) -> Result<(), StoreError>;

    /// Returns the directory for files that are kept next to a store, such as the log of
    /// retrievals. Messages name it as the store's place. It exists if the store does.
    fn directory(&self, name: &str) -> PathBuf;
}

/// The size of a store, as far as it can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of the store and of the files next to it.
    pub bytes: u64,
    /// The time of the last write.
    pub written: Option<SystemTime>,
    /// The first directory that could not be read, with the reason.
    pub unread: Option<String>,
}

/// Stores in directories beneath one.
#[derive(Clone, Debug)]
pub struct FileStores {
    data: PathBuf,
}

impl FileStores {
    /// Returns the stores beneath a directory. Completes removals that a crash interrupted.
    pub fn new(data: PathBuf) -> Self {
        for directory in [data.clone(), data.join("projects")] {
            finish_removals(&directory);
        }
        Self { data }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }
}

impl<M: StateMachine> Stores<M> for FileStores {
    fn open(&self, name: &str) -> Result<Opened<M, Box<dyn Store<M>>>, StoreError> {
        let directory = self.place(name);
        let opened = JournalStore::open(&directory, Options::real(&directory))?;
        let Opened { store, state, replies, report } = opened;
        Ok(Opened { store: Box::new(store), state, replies, report })
    }

    fn exists(&self, name: &str) -> Result<bool, StoreError> {
        is_there(&self.place(name))
    }

    fn has_data(&self, name: &str) -> Result<bool, StoreError> {
        let directory = self.place(name);
        for part in PARTS {
            if is_there(&directory.join(part))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn usage(&self, name: &str) -> Usage {
        let directory = self.place(name);
        let mut unread = None;
        let bytes = bytes_of(&directory, &mut unread);
        Usage { bytes, written: last_written(&directory.join("journal")), unread }
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        for directory in asides(&self.place(name))?.into_iter().chain([self.place(name)]) {
            match remove(&directory) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io("remove", directory)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn set_aside(&self, name: &str) -> Result<PathBuf, StoreError> {
        let directory = self.place(name);
        let mut number = 1_u32;
        let aside = loop {
            let aside = self.place(&format!("{name}{ASIDE}{number}"));
            if !is_there(&aside)? {
                break aside;
            }
            number += 1;
        };
        let renamed = fs::rename(&directory, &aside);
        renamed.map_err(StoreError::io("rename", &directory))?;
        if let Some(parent) = directory.parent() {
            RealDisk.sync_dir(parent).map_err(StoreError::io("sync", parent))?;
        }
        Ok(aside)
    }

    fn asides(&self, name: &str) -> Result<Vec<PathBuf>, StoreError> {
        asides(&self.place(name))
    }

    fn discard_index(&self, name: &str, snapshots: &[String]) -> Result<(), StoreError> {
        let directory = self.place(name);
        for file in snapshots {
            let path = directory.join(file);
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
        let index = directory.join("sled");
        let discarded = SledPlace::new(index.clone()).discard();
        discarded.map_err(|error| StoreError::io("remove", index)(io::Error::other(error)))
    }

    fn plan_repair(&self, name: &str) -> Result<RepairPlan, StoreError> {
        let directory = self.place(name);
        repair::plan_repair::<M>(&directory, &Options::real(&directory))
    }

    fn repair(&self, name: &str, plan: &RepairPlan) -> Result<(), StoreError> {
        let directory = self.place(name);
        repair::repair::<M>(&directory, &Options::real(&directory), plan, clock::now())
    }

    fn restore(&self, name: &str, backup: &Path) -> Result<(), StoreError> {
        let directory = self.place(name);
        restore::restore::<M>(&directory, &Options::real(&directory), backup)
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.place(name)
    }
}

/// Removes a directory. It is renamed first, so that a crash never leaves one that lacks some of
/// its files.
fn remove(directory: &Path) -> io::Result<()> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let deleted = directory.with_file_name(format!("{DELETED}{name}"));
    // A remainder of an earlier removal would be in the way.
    match fs::remove_dir_all(&deleted) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(directory, &deleted)?;
    if let Some(parent) = directory.parent() {
        RealDisk.sync_dir(parent)?;
    }
    fs::remove_dir_all(&deleted)
}

/// Returns the directories that made way for this one, by name.
fn asides(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let Some(parent) = directory.parent() else { return Ok(Vec::new()) };
    let prefix = format!("{}{ASIDE}", directory.file_name().unwrap_or_default().display());
    let beside = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        beside => beside.map_err(StoreError::io("read", parent))?,
    };
    let mut found = Vec::new();
    for entry in beside {
        let entry = entry.map_err(StoreError::io("read", parent))?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn finish_removals(directory: &Path) {
    let Ok(names) = fs::read_dir(directory) else { return };
    let names = names.filter_map(Result::ok);
    for name in names.filter(|name| name.file_name().to_string_lossy().starts_with(DELETED)) {
        if let Err(error) = fs::remove_dir_all(name.path()) {
            tracing::warn!(path = %name.path().display(), %error, "a deleted project is still there");
        }
    }
}

/// Returns whether a path exists. A failed check is an error.
fn is_there(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(StoreError::io("look for", path))
}

/// Sums up the files that can be read. Notes the first directory that cannot, unless it is gone.
fn bytes_of(directory: &Path, unread: &mut Option<String>) -> u64 {
    let files = match fs::read_dir(directory) {
        Ok(files) => files,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                let error = StoreError::io("read", directory)(error);
                unread.get_or_insert_with(|| error.to_string());
            }
            return 0;
        }
    };
    files
        .filter_map(Result::ok)
        .map(|file| match file.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_of(&file.path(), unread),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

fn last_written(directory: &Path) -> Option<SystemTime> {
    let files = fs::read_dir(directory).ok()?;
    files.filter_map(|file| file.ok()?.metadata().ok()?.modified().ok()).max()
}

#[cfg(test)]
mod tests;
