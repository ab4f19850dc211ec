//! Errors of the store, one variant for each way in which the caller reacts.

use std::io;
use std::path::PathBuf;

use anchord_memory::Seq;

use super::team::TeamFault;

/// An error that keeps a store from doing what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Report it to the caller; a later try may work. Nothing of the batch is kept.
    #[error("not saved, nothing of it was kept: cannot write {path}: {source}")]
    NotSaved {
        /// The segment's path.
        path: PathBuf,
        /// The disk's error.
        source: io::Error,
    },

    /// Report to the caller how much to free, and where.
    #[error(
        "not saved: the disk is full: {} has {free_bytes} bytes free and {needed_bytes} are needed",
        path.display()
    )]
    NoSpace {
        /// A directory on the disk.
        path: PathBuf,
        /// Bytes that must be free for the write to succeed, including the reserve.
        needed_bytes: u64,
        /// Bytes that are free.
        free_bytes: u64,
    },

    /// Report to the caller that the outcome is unknown: the write failed, and so did undoing it.
    /// The store is read-only from now on.
    #[error(
        "outcome unknown: cannot write {path}: {source}; nor cut it back: {cut}; read-only from now on"
    )]
    Uncertain {
        /// The segment's path.
        path: PathBuf,
        /// The disk's error for the write.
        source: io::Error,
        /// The disk's error for the undo.
        cut: io::Error,
    },

    /// Report the reason to the caller; only the user can fix it.
    #[error("not saved: read-only: {why}; `anchord doctor` says what to do")]
    ReadOnly {
        /// The cause, and what the user can do.
        why: String,
    },

    /// Report to the caller that it should try again: the next daemon opens the store.
    #[error("not saved: this daemon is shutting down; try again in a moment")]
    ShuttingDown,

    /// Report to the caller that it must write less at once.
    #[error("not saved: an entry of {bytes} bytes is over the limit of {bytes_max}")]
    TooLarge {
        /// The length of the entry's line.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },

    /// Read what another writer appended, and decide again. Nothing was written.
    #[error("not saved: entry {} is the last one, not {}", last.0, expected.0)]
    HeadMoved {
        /// The entry that the caller takes for the last one.
        expected: Seq,
        /// The last entry.
        last: Seq,
    },

    /// Report to the caller that nothing was saved. An agent may stage the work meanwhile.
    #[error("not saved: the team's database cannot be used: {0}")]
    TeamAway(TeamFault),

    /// Report to the caller that the team has not given this machine's member the right.
    #[error("not saved: {0}")]
    TeamRefused(TeamFault),

    /// Report to the caller that the outcome is unknown until the database answers again.
    #[error(
        "outcome unknown: the team's database did not answer: {0}; no search finds the record \
         before it answers, which `memory_status` and `anchord status` say: search then, and write \
         again only what is missing, since a repeat is another write"
    )]
    TeamSilent(TeamFault),

    /// Report to the caller that it should try again.
    #[error("not saved: busy, retry: {0}")]
    TeamBusy(TeamFault),

    /// Report to the caller that others can read the write and this machine cannot yet.
    #[error("saved for the team, but this machine cannot keep its copy: {why}")]
    NoCopy {
        /// The error of this machine's journal.
        why: String,
    },

    /// Show the user that the team's journal contradicts this machine's copy.
    #[error("the team's journal does not continue this machine's copy of it: {why}")]
    TeamDamaged {
        /// The contradiction.
        why: String,
    },

    /// A bug in the caller: entries must follow each other. Nothing was written.
    #[error("not saved: entry {} does not follow entry {}", given.0, last.0)]
    OutOfOrder {
        /// The last entry in the journal or batch.
        last: Seq,
        /// The entry that was passed.
        given: Seq,
    },

    /// Show the user the damaged line.
    #[error("damaged at {at}: {why}")]
    Damaged {
        /// The file and line, such as `journal/000001.jsonl:17`.
        at: String,
        /// The kind of damage.
        why: String,
    },

    /// Refuse to continue: a memory that existed is missing.
    #[error(
        "the memory in {} is missing; restore it (is its disk mounted?), or start without it: \
         `anchord project forget{}`",
        path.display(),
        if *personal { " --user" } else { "" }
    )]
    Missing {
        /// The directory.
        path: PathBuf,
        /// Whether it is the user's personal memory.
        personal: bool,
    },

    /// Refuse to continue: the directory holds a journal of another kind.
    #[error("{} is a journal of kind `{found}`, not `{expected}`", path.display())]
    WrongMachine {
        /// The segment's path.
        path: PathBuf,
        /// The expected kind.
        expected: &'static str,
        /// The kind in its header.
        found: String,
    },

    /// Refuse to continue: the directory holds another memory.
    #[error(
        "{} holds the memory of {store}, whose directory was moved or copied here; put this \
         memory's own directory back, or move this one away and restore a backup with \
         `anchord restore`",
        path.display()
    )]
    OfAnother {
        /// The store's directory.
        path: PathBuf,
        /// The name of the store whose memory it is: a project's id, or `user`.
        store: String,
    },

    /// Refuse to continue, and say how to fix it.
    #[error(
        "{} is on a network file system ({kind}), where a store can lose data; set ANCHORD_HOME to a local directory",
        path.display()
    )]
    NetworkDisk {
        /// The directory.
        path: PathBuf,
        /// The file system's name.
        kind: String,
    },

    /// Log it, or report it to the user: a disk operation failed.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The disk's error.
        source: io::Error,
    },
}

impl StoreError {
    /// Whether the store is damaged or of a newer format, and at best open for reading. Only a
    /// person can fix that. Every other error passes, or concerns this one write.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::ReadOnly { .. }
            | Self::Damaged { .. }
            | Self::Missing { .. }
            | Self::OfAnother { .. }
            | Self::WrongMachine { .. } => true,
            Self::NotSaved { .. }
            | Self::NoSpace { .. }
            | Self::Uncertain { .. }
            | Self::ShuttingDown
            | Self::TooLarge { .. }
            | Self::HeadMoved { .. }
            | Self::OutOfOrder { .. }
            | Self::TeamAway { .. }
            | Self::TeamRefused { .. }
            | Self::TeamSilent { .. }
            | Self::TeamBusy { .. }
            | Self::NoCopy { .. }
            | Self::TeamDamaged { .. }
            | Self::NetworkDisk { .. }
            | Self::Io { .. } => false,
        }
    }

    /// Whether the disk reported that the file does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Returns a function that wraps a disk error.
    pub(crate) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}
