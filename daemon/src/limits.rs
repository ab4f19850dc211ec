//! Every limit of the daemon, with its unit last in the name. The wire's limits are in the crate `proto`.

use std::time::Duration;

/// Sessions that ended which the registry still knows; the oldest goes when another ends.
pub const ENDED_SESSIONS_MAX: u64 = 1_000;

/// A project file larger than this is not read.
pub const PROJECT_FILE_BYTES_MAX: u64 = 4 << 20;

/// Links followed while one path is opened beneath a project's root.
pub const PROJECT_PATH_LINKS_MAX: u32 = 40;

/// Files named as changed since some time; the others are counted.
pub const CHANGED_FILES_MAX: usize = 50;

/// Directory entries looked at for one list of changed files.
pub const CHANGED_ENTRIES_MAX: u32 = 100_000;

/// Directories within each other that a list of changed files goes down.
pub const CHANGED_DEPTH_MAX: usize = 128;

/// Time given to one list of changed files.
pub const CHANGED_TIME_MAX: Duration = Duration::from_secs(2);

/// An ignore file larger than this is not read.
pub const IGNORE_FILE_BYTES_MAX: u64 = 256 << 10;

/// A project's id file is shorter than this, or is no id.
pub const PROJECT_ID_FILE_BYTES_MAX: u64 = 128;

/// A file of git's that says where something is (`.git`, `commondir`, `gitdir`) is shorter than this.
pub const GIT_POINTER_BYTES_MAX: u64 = 8 << 10;

/// How long one daemon waits for another to finish writing a project's id.
pub const PROJECT_ID_WAIT_MAX: Duration = Duration::from_secs(1);

/// The configuration file is shorter than this.
pub const CONFIG_FILE_BYTES_MAX: u64 = 64 << 10;

/// The instance's own small files (`instance.json`, `lock`) are shorter than this.
pub const INSTANCE_FILE_BYTES_MAX: u64 = 64 << 10;

/// How often a starting daemon looks whether a draining one let go of the lock.
pub const LOCK_POLL: Duration = Duration::from_millis(20);

/// Log files kept, one a day.
pub const LOG_FILES_MAX: usize = 7;

/// Bytes written to one day's log file; the rest of the day is not logged.
pub const LOG_FILE_BYTES_MAX: u64 = 64 << 20;
