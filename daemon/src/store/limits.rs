//! Every limit of the store, with its unit last in the name.

use std::time::Duration;

/// A segment at least this long is followed by a new one, with a snapshot.
pub const SEGMENT_BYTES_MAX: u64 = 16 << 20;

/// A segment's header line is shorter than this.
pub const HEADER_BYTES_MAX: usize = 4 << 10;

/// The longest line of a journal. A longer entry is refused before anything is written.
pub const ENTRY_BYTES_MAX: usize = 64 << 20;
/// The most bytes by which a line grows that names its batch: two numbers of 20 digits.
pub const BATCH_BYTES_MAX: usize = 64;

/// Room that a write must leave free on the disk: a full disk is met by us first, while there is
/// still enough for the index to follow. A snapshot is written only where it leaves as much.
pub const RESERVE_BYTES: u64 = 16 << 20;

/// A block of an archive ends with the line that makes it this long.
pub const ARCHIVE_BLOCK_BYTES: usize = 256 << 10;

/// Compressed history keys that a block of an archive names at most. gzip has two bytes for the
/// length of an extra field, which has 21 other bytes.
pub const ARCHIVE_KEYS_BYTES_MAX: usize = u16::MAX as usize - 21;

/// The lines of an old segment are checked again after so long.
pub const CHECK_AGAIN_AFTER_DAYS: i64 = 30;

/// Snapshots kept; the older ones are for the case that the newest is damaged.
pub const SNAPSHOTS_KEPT_MAX: usize = 2;

/// Rows written to the index at once. More are written in parts, with the index invalid in between.
pub const INDEX_BATCH_ROWS_MAX: usize = 2048;

/// Rows written at once to a copy of an index: more of them leave sled's nodes half empty.
pub const INDEX_COPY_ROWS_MAX: usize = 256;

/// Soft marks written to the index at once. sled copies a node for each row, and lets go of the copies after the batch:
/// those of 10,000 marks came to 30 MB. Nobody else can write meanwhile.
pub const MARKS_BATCH_ROWS_MAX: usize = 64;

/// The index follows once nothing was written for so long: longer than one who writes without a pause needs for the next.
pub const SETTLE_AFTER: Duration = Duration::from_millis(20);

/// It follows without such a pause when it lacks as much of the journal.
pub const SETTLE_BYTES: u64 = 256 << 10;

/// Rows that are read from the index while a store is opened are handed on when they are as long as this together.
pub const RESTORE_TEXTS_BYTES: usize = 256 << 10;

/// So many pieces of that length may wait to be understood.
pub const RESTORE_TEXTS_QUEUED_MAX: usize = 4;

/// The longest value that sled is given: larger tree nodes go to blob files, which it never syncs.
pub const SLED_VALUE_BYTES_MAX: usize = 4 << 10;

/// An index that takes up more than so many times the bytes of its state is copied into a fresh
/// one.
pub const INDEX_TIMES_STATE_MAX: u64 = 2;

/// An index of fewer bytes is left alone: sled's least is half of it.
pub const INDEX_BYTES_LEAST: u64 = 1 << 20;

/// sled's page cache, per store. Its own default is 1 GB.
pub const SLED_CACHE_BYTES_MAX: u64 = 8 << 20;

/// How long opening waits for the threads of an index closed just before to let go of its file.
pub const SLED_LOCK_WAIT_MAX: Duration = Duration::from_secs(2);

/// How often it looks.
pub const SLED_LOCK_POLL: Duration = Duration::from_millis(20);

/// A shim is forgotten, with the replies it never acknowledged, when others have written on more than
/// so many days since its last write.
pub const SHIM_IDLE_DAYS_MAX: u64 = 30;

/// Shims remembered beyond the end of a segment: those that wrote last. One that asks again after so
/// many others have written was gone for longer than a request lives.
pub const SHIMS_MAX: usize = 4096;
