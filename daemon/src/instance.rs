//! The instance: the directory under HOME from which everything else is found. A file lock holds it
//! for the daemon's whole life.
//!
//! Liveness is the lock, never a PID or a file's presence. The lock file's text names the holder,
//! only for messages. Before an instance is returned, a write to its directories has succeeded. A
//! full or read-only disk is no obstacle, since it can still be read. Neither is a data directory
//! without the right to write.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anchord_proto::instance::{INSTANCE_FORMAT, InstanceDir, InstanceDirError, InstanceFile};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock;
use crate::limits::{INSTANCE_FILE_BYTES_MAX, LOCK_POLL};
use crate::private_file;

mod key;

pub use key::Key;

/// The places where an instance keeps its files, decided when it is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The directory of the stores.
    pub data: PathBuf,
    /// The directory of `config.toml`.
    pub config: PathBuf,
    /// The directory of the logs.
    pub logs: PathBuf,
}

impl Places {
    /// Returns places that are all beneath one directory, for an instance named by `ANCHORD_HOME`.
    pub fn beneath(dir: &Path) -> Self {
        Self { data: dir.join("data"), config: dir.join("config"), logs: dir.join("logs") }
    }

    /// Returns the system's usual places for a user's files, or `None` without a home directory.
    pub fn of_user() -> Option<Self> {
        let dirs = directories::ProjectDirs::from("", "", "anchord")?;
        Some(Self {
            data: dirs.data_dir().to_owned(),
            config: dirs.config_dir().to_owned(),
            logs: dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).join("logs"),
        })
    }
}

/// This machine, as the lock file names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The id of this boot, if the system has one.
    pub boot: Option<String>,
    /// The host's name.
    pub name: String,
}

impl Host {
    /// Returns the machine on which this process runs.
    pub fn this() -> Self {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { boot: anchord_proto::host::boot_id(), name }
    }
}

/// The holder of the lock, for people.
#[derive(Debug, Serialize, Deserialize)]
struct Holder {
    pid: u32,
    #[serde(flatten)]
    host: Host,
}

/// The reason there is no instance.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Another daemon holds the lock.
    #[error("lock {}: another daemon holds it{}", dir.display(), by(*pid))]
    Held {
        /// The instance directory.
        dir: PathBuf,
        /// The process that holds it, if it could be read.
        pid: Option<u32>,
    },
    /// A daemon on another machine holds the lock.
    #[error(
        "lock {}: HOME is shared between machines: set ANCHORD_HOME to a local path (held by a daemon \
         on {host})",
        dir.display()
    )]
    HomeShared {
        /// The instance directory.
        dir: PathBuf,
        /// The other machine.
        host: String,
    },
    /// The directory may be the work of another user.
    #[error("trust {}: {why}", path.display())]
    Untrusted {
        /// The directory or file.
        path: PathBuf,
        /// The problem.
        why: &'static str,
    },
    /// The directory or its `instance.json` cannot be used.
    #[error(transparent)]
    Directory(#[from] InstanceDirError),
    /// A file is not what anchord wrote.
    #[error("read {}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// The memory is missing from its place, perhaps because a disk is not mounted.
    #[error(
        "find {}, where this instance keeps its memory; restore it, or delete {} to start empty",
        data.display(), instance_file.display()
    )]
    DataMissing {
        /// The data directory.
        data: PathBuf,
        /// `instance.json`.
        instance_file: PathBuf,
    },
    /// The data directory is marked as another instance's.
    #[error(
        "use {}: it is the memory of another instance; move it away to start empty, or delete {} \
         to take it over",
        data.display(), mark.display()
    )]
    DataForeign {
        /// The data directory.
        data: PathBuf,
        /// The file that marks it.
        mark: PathBuf,
    },
    /// The system refused.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// The operation that was tried.
        doing: &'static str,
        /// The path it was tried on.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// An instance that this process holds until the value is dropped.
#[derive(Debug)]
pub struct Instance {
    dir: InstanceDir,
    lock: File,
    file: InstanceFile,
    key: Key,
    /// Device and inode of the served socket.
    socket: Option<(u64, u64)>,
}

impl Instance {
    /// Locks the instance in `dir` and creates it if it is new; `places` then decides where things
    /// go. Verifies that it can be written, as far as its disk accepts writes at all.
    pub fn acquire(dir: &InstanceDir, places: &Places, host: &Host) -> Result<Self, InstanceError> {
        prepare(dir)?;
        let lock = take_lock(dir.path(), host)?;
        let file = describe(dir, places)?;
        let key = Key::load(&dir.key())?;
        unless_disk_refuses(prove_writable(dir.path()))?;
        for directory in [&file.data, &file.logs] {
            unless_closed(prove_writable(directory))?;
        }
        Ok(Self { dir: dir.clone(), lock, file, key, socket: None })
    }

    /// Locks the instance as [`Self::acquire`] does. Waits up to `patience` for a daemon that is
    /// about to end, as `is_leaving` reports.
    pub fn acquire_within(
        dir: &InstanceDir,
        places: &Places,
        host: &Host,
        patience: Duration,
        is_leaving: impl Fn() -> bool,
    ) -> Result<Self, InstanceError> {
        let started = clock::start();
        loop {
            match Self::acquire(dir, places, host) {
                Err(InstanceError::Held { .. }) if started.elapsed() < patience && is_leaving() => {
                    std::thread::sleep(LOCK_POLL);
                }
                outcome => return outcome,
            }
        }
    }

    /// Records the present socket as the one that this daemon serves.
    pub fn serve_socket(&mut self) -> Result<(), InstanceError> {
        let path = self.dir.sock();
        let socket = fs::symlink_metadata(&path).map_err(io_error("look at", &path))?;
        self.socket = Some((socket.dev(), socket.ino()));
        Ok(())
    }

    /// Returns whether the paths still name the held lock and the served socket. If not, another
    /// daemon may serve this directory, so this one must drain and exit.
    pub fn still_ours(&self) -> bool {
        let socket = || {
            let named = fs::symlink_metadata(self.dir.sock()).ok()?;
            Some((named.dev(), named.ino()))
        };
        names(&self.dir.lock(), &self.lock) && self.socket.is_none_or(|ours| socket() == Some(ours))
    }

    /// Returns the instance directory.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the instance's id.
    pub fn id(&self) -> Uuid {
        self.file.id
    }

    /// Returns the directory of the stores.
    pub fn data(&self) -> &Path {
        &self.file.data
    }

    /// Returns the directory of `config.toml`.
    pub fn config(&self) -> &Path {
        &self.file.config
    }

    /// Returns the directory of the logs.
    pub fn logs(&self) -> &Path {
        &self.file.logs
    }

    /// Returns the key that authenticates resume tokens.
    pub fn key(&self) -> &Key {
        &self.key
    }
}

/// Verifies that no daemon holds the instance at this moment. Creates and writes nothing. A daemon
/// that starts in the same instant may find the lock taken, as if by another one that starts.
///
/// # Errors [`InstanceError::Held`] and [`InstanceError::HomeShared`] name the holder. Other errors
/// say why the holder is unknown.
pub fn ensure_free(dir: &InstanceDir) -> Result<(), InstanceError> {
    let path = dir.lock();
    let mut lock = match open_to_read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(io_error("open", &path))?,
    };
    // The lock is shared, so that two processes that only check do not take each other for a
    // daemon.
    match lock.try_lock_shared() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(held(dir.path(), &mut lock, &Host::this())),
        Err(TryLockError::Error(source)) => Err(io_error("lock", &path)(source)),
    }
}

/// Verifies that a daemon could use the instance in `dir`, apart from the lock. Creates and writes
/// nothing, so another daemon may hold the instance meanwhile.
pub fn verify(dir: &InstanceDir) -> Result<(), InstanceError> {
    match dir.check() {
        Err(InstanceDirError::Missing(_)) => return Ok(()),
        checked => drop(checked?),
    }
    if let Some(file) = InstanceFile::read(dir)? {
        has_mark(&file, &dir.instance_json())?;
    }
    Key::read(&dir.key()).map(drop)
}

/// Creates the instance directory, or checks that the existing one is ours alone, and closes it to
/// others.
fn prepare(dir: &InstanceDir) -> Result<(), InstanceError> {
    let open = File::from(dir.ensure()?);
    let mode = open.metadata().map_err(io_error("look at", dir.path()))?.mode();
    if mode & 0o077 != 0 {
        open.set_permissions(Permissions::from_mode(0o700))
            .map_err(io_error("close", dir.path()))?;
    }
    Ok(())
}

/// Takes the lock of a directory that is ours. The lock file is never deleted. If somebody deletes
/// it anyway, two processes could each hold a lock, so the path is checked afterwards.
fn take_lock(dir: &Path, host: &Host) -> Result<File, InstanceError> {
    let path = dir.join("lock");
    let mut lock = open_private(&path).map_err(io_error("open", &path))?;
    match lock.try_lock() {
        Ok(()) if names(&path, &lock) => {}
        Err(TryLockError::Error(source)) => return Err(io_error("lock", &path)(source)),
        Ok(()) | Err(TryLockError::WouldBlock) => return Err(held(dir, &mut lock, host)),
    }
    let holder = Holder { pid: std::process::id(), host: host.clone() };
    let text = serde_json::to_string(&holder).expect("a struct of numbers and text");
    // The file is overwritten in place: a full disk has no new block to give.
    let written = lock
        .rewind()
        .and_then(|()| lock.write_all(text.as_bytes()))
        .and_then(|()| lock.set_len(text.len() as u64))
        .map_err(io_error("write", &path));
    unless_disk_refuses(written)?;
    Ok(lock)
}

fn held(dir: &Path, lock: &mut File, host: &Host) -> InstanceError {
    let mut text = String::new();
    let read = lock.take(INSTANCE_FILE_BYTES_MAX).read_to_string(&mut text);
    let holder = read.ok().and_then(|_| serde_json::from_str::<Holder>(&text).ok());
    let dir = dir.to_owned();
    match holder {
        Some(Holder { host: other, .. })
            if other.boot.is_some() && host.boot.is_some() && other.boot != host.boot =>
        {
            InstanceError::HomeShared { dir, host: other.name }
        }
        holder => InstanceError::Held { dir, pid: holder.map(|holder| holder.pid) },
    }
}

/// Reads `instance.json`, or creates the directories and then the file.
fn describe(dir: &InstanceDir, places: &Places) -> Result<InstanceFile, InstanceError> {
    let path = dir.instance_json();
    if let Some(file) = InstanceFile::read(dir)? {
        if !has_mark(&file, &path)? {
            unless_closed(mark_data(&file))?;
        }
        unless_closed(make_private(&file.logs))?;
        return Ok(file);
    }
    make_private(&places.data)?;
    make_private(&places.logs)?;
    let file = InstanceFile {
        format: INSTANCE_FORMAT,
        id: Uuid::new_v4(),
        data: places.data.clone(),
        config: places.config.clone(),
        logs: places.logs.clone(),
        created: clock::now().iso(),
    };
    let text = file.to_text().map_err(|error| InstanceError::Damaged {
        path: path.clone(),
        why: format!("it cannot be written: {error}"),
    })?;
    refuse_foreign_data(&file.data)?;
    // The mark comes first: without it an instance would not recognise its own data again.
    mark_data(&file)?;
    replace_private(&path, text.as_bytes())?;
    Ok(file)
}

/// The file in the data directory that names its instance.
pub const DATA_MARK: &str = "instance-id";

fn mark_data(file: &InstanceFile) -> Result<(), InstanceError> {
    let text = format!("{}\n", file.id);
    replace_private(&file.data.join(DATA_MARK), text.as_bytes())
}

/// Refuses to create an instance whose memory is marked as another's. A mark without a memory is
/// left over from an interrupted start.
fn refuse_foreign_data(data: &Path) -> Result<(), InstanceError> {
    let mark = data.join(DATA_MARK);
    if !has_memory(data) || read_private(&mark)?.is_none() {
        return Ok(());
    }
    Err(InstanceError::DataForeign { data: data.to_owned(), mark })
}

fn has_memory(data: &Path) -> bool {
    data.join("daemon").join("journal").is_dir()
}

/// Checks that the data directory belongs to this instance. An empty one is the mount point of a
/// disk that is not mounted. Returns whether it is marked: one that an older anchord created is not
/// yet.
fn has_mark(file: &InstanceFile, instance_file: &Path) -> Result<bool, InstanceError> {
    let missing = || InstanceError::DataMissing {
        data: file.data.clone(),
        instance_file: instance_file.to_owned(),
    };
    if !file.data.is_dir() {
        return Err(missing());
    }
    let mark = file.data.join(DATA_MARK);
    match fs::read_to_string(&mark) {
        Ok(text) if text.trim() == file.id.to_string() => Ok(true),
        Ok(_) => Err(InstanceError::DataForeign { data: file.data.clone(), mark }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if has_memory(&file.data) {
                Ok(false)
            } else {
                Err(missing())
            }
        }
        Err(error) => Err(io_error("read", &mark)(error)),
    }
}

/// Ignores an error that says only that the disk is full or read-only.
fn unless_disk_refuses(outcome: Result<(), InstanceError>) -> Result<(), InstanceError> {
    match outcome {
        Err(InstanceError::Io { source, .. }) if disk_refuses(&source) => Ok(()),
        outcome => outcome,
    }
}

/// Ignores an error that says only that a directory of an existing instance takes no writes. The
/// lock was taken in another directory, so this process is not one that may write nowhere.
fn unless_closed(outcome: Result<(), InstanceError>) -> Result<(), InstanceError> {
    match outcome {
        Err(InstanceError::Io { source, .. }) if takes_no_writes(&source) => Ok(()),
        outcome => outcome,
    }
}

/// Returns whether a directory takes no writes: because of its disk, or because its mode or an
/// attribute forbids them. What is there can still be read.
pub(crate) fn takes_no_writes(error: &io::Error) -> bool {
    disk_refuses(error) || error.kind() == io::ErrorKind::PermissionDenied
}

/// Returns whether the disk accepts no writes because it is full or read-only. A sandbox that lets
/// this process write nowhere fails with another error.
fn disk_refuses(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), QuotaExceeded | ReadOnlyFilesystem | StorageFull)
}

fn prove_writable(dir: &Path) -> Result<(), InstanceError> {
    let probe = dir.join(format!(".probe-{}", Uuid::new_v4().simple()));
    let proof = (|| {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&probe)?;
        // The probe is not synced. A disk that a build keeps busy may take seconds for that, and
        // nobody is answered meanwhile. Everything that must last is synced when it is written.
        file.write_all(b"anchord can write here\n")?;
        fs::remove_file(&probe)
    })();
    if proof.is_err() {
        // Remove what is left of the probe, if anything. The first error is the one that matters.
        let _ = fs::remove_file(&probe);
    }
    proof.map_err(io_error("write in", dir))
}

/// Creates a directory and its missing parents, readable by us alone.
fn make_private(dir: &Path) -> Result<(), InstanceError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io_error("make", dir))
}

/// Opens or creates a file that is readable by us alone. Does not follow a link.
fn open_private(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Opens an existing file. Does not follow a link.
fn open_to_read(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Reads a small file of ours, if it exists.
fn read_private(path: &Path) -> Result<Option<Vec<u8>>, InstanceError> {
    let file = match open_to_read(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io_error("open", path)(source)),
    };
    let mut bytes = Vec::new();
    file.take(INSTANCE_FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(io_error("read", path))?;
    Ok(Some(bytes))
}

/// Writes a file whole or not at all. Only the holder of the lock may do so.
fn replace_private(path: &Path, bytes: &[u8]) -> Result<(), InstanceError> {
    private_file::replace(path, bytes).map_err(io_error("write", path))
}

/// Returns whether a path names this open file.
fn names(path: &Path, file: &File) -> bool {
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(named), Ok(open)) => (named.dev(), named.ino()) == (open.dev(), open.ino()),
        _ => false,
    }
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstanceError {
    let path = path.to_owned();
    move |source| InstanceError::Io { doing, path, source }
}

fn by(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

#[cfg(test)]
mod tests;
