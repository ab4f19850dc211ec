//! Errors of the store, named after what the caller will do about them.

use std::io;
use std::path::PathBuf;

use anchord_memory::Seq;

/// Why a store cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Tell the caller; a later try may work. Nothing of the batch is kept.
    #[error("not saved, nothing of it was kept: cannot write {path}: {source}")]
    NotSaved {
        /// The segment.
        path: PathBuf,
        /// What the disk said.
        source: io::Error,
    },

    /// Tell the caller how much to free, and where.
    #[error(
        "not saved: the disk is full: {} has {free_bytes} bytes free and {needed_bytes} are needed",
        path.display()
    )]
    NoSpace {
        /// A directory on the disk.
        path: PathBuf,
        /// What must be free before the write goes through, the reserve included.
        needed_bytes: u64,
        /// What is free.
        free_bytes: u64,
    },

    /// Tell the caller that the outcome is unknown: writing failed, and so did taking it back. The
    /// store is read-only from now on.
    #[error(
        "outcome unknown: cannot write {path}: {source}; nor cut it back: {cut}; read-only from now on"
    )]
    Uncertain {
        /// The segment.
        path: PathBuf,
        /// What the disk said to the write.
        source: io::Error,
        /// What it said to taking it back.
        cut: io::Error,
    },

    /// Tell the caller why; only the user can change it.
    #[error("not saved: read-only: {why}; `anchord doctor` says what to do")]
    ReadOnly {
        /// What happened, and what to do.
        why: String,
    },

    /// Tell the caller to try again: the next daemon opens it.
    #[error("not saved: this daemon is leaving; try again in a moment")]
    ShuttingDown,

    /// Tell the caller to write less at once.
    #[error("not saved: an entry of {bytes} bytes is over the limit of {bytes_max}")]
    TooLarge {
        /// Its line's length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },

    /// A fault of the caller's: entries must follow each other. Nothing was written.
    #[error("not saved: entry {} does not follow entry {}", given.0, last.0)]
    OutOfOrder {
        /// The last entry in the journal or batch.
        last: Seq,
        /// The one that came.
        given: Seq,
    },

    /// Show the user the line.
    #[error("damaged at {at}: {why}")]
    Damaged {
        /// File and line, `journal/000001.jsonl:17`.
        at: String,
        /// What is wrong with it.
        why: String,
    },

    /// Refuse: a memory that was there is not there any more.
    #[error(
        "the memory in {} is missing; restore it (is its disk mounted?), or start without it: \
         `anchord project forget{}`",
        path.display(),
        if *personal { " --user" } else { "" }
    )]
    Missing {
        /// The directory.
        path: PathBuf,
        /// Whether it is the user's own.
        personal: bool,
    },

    /// Refuse: the directory holds something else.
    #[error("{} is a journal of kind `{found}`, not `{expected}`", path.display())]
    WrongMachine {
        /// The segment.
        path: PathBuf,
        /// The kind asked for.
        expected: &'static str,
        /// The kind in its header.
        found: String,
    },

    /// Refuse, with the way out.
    #[error(
        "{} is on a network file system ({kind}), where a store does not survive; set ANCHORD_HOME to a local directory",
        path.display()
    )]
    NetworkDisk {
        /// The directory.
        path: PathBuf,
        /// The file system.
        kind: String,
    },

    /// Log it, or tell the user: the disk does not do what it must.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// A verb.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the disk said.
        source: io::Error,
    },
}

impl StoreError {
    /// Whether the store is damaged, or of a newer format, and open for reading alone at best. Only a person can change
    /// that; whatever else is wrong passes, or is of this one write.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::ReadOnly { .. }
            | Self::Damaged { .. }
            | Self::Missing { .. }
            | Self::WrongMachine { .. } => true,
            Self::NotSaved { .. }
            | Self::NoSpace { .. }
            | Self::Uncertain { .. }
            | Self::ShuttingDown
            | Self::TooLarge { .. }
            | Self::OutOfOrder { .. }
            | Self::NetworkDisk { .. }
            | Self::Io { .. } => false,
        }
    }

    /// Whether the disk said that there is no such file.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Wraps what the disk said.
    pub(crate) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}
