//! All limits of the store. Each name ends with the unit.

use std::time::Duration;

/// A segment that reaches this length is followed by a new one, with a snapshot.
pub const SEGMENT_BYTES_MAX: u64 = 16 << 20;

/// Upper bound of the length of a segment's header line.
pub const HEADER_BYTES_MAX: usize = 4 << 10;

/// Length of a journal's longest line. A longer entry is refused before anything is written.
pub const ENTRY_BYTES_MAX: usize = 64 << 20;
/// Bytes that naming its batch adds to a line at most: two numbers of 20 digits.
pub const BATCH_BYTES_MAX: usize = 64;

/// Bytes that a write must leave free on the disk. The store then notices a full disk first, while
/// the index still has room to follow. A snapshot must leave as much.
pub const RESERVE_BYTES: u64 = 16 << 20;

/// Text length at which a block of an archive ends. Blocks consist of whole lines.
pub const ARCHIVE_BLOCK_BYTES: usize = 256 << 10;

/// Bytes of the compressed history keys that a block of an archive may name. The length of a gzip
/// extra field has two bytes, and the field has 21 other bytes.
pub const ARCHIVE_KEYS_BYTES_MAX: usize = u16::MAX as usize - 21;

/// Days after which the lines of an old segment are checked again.
pub const CHECK_AGAIN_AFTER_DAYS: i64 = 30;

/// Number of snapshots kept. The older ones are there in case the newest is damaged.
pub const SNAPSHOTS_KEPT_MAX: usize = 2;

/// Rows written to the index at once. More rows are written in parts, and the index is invalid in
/// between.
pub const INDEX_BATCH_ROWS_MAX: usize = 2048;

/// Rows written at once to a copy of an index. Larger batches leave sled's nodes half empty.
pub const INDEX_COPY_ROWS_MAX: usize = 256;

/// Soft marks written to the index at once. sled copies a node for each row and frees the copies
/// after the batch. The copies for 10,000 marks came to 30 MB. No other write can happen meanwhile.
pub const MARKS_BATCH_ROWS_MAX: usize = 64;

/// Pause in writing after which the index follows. It is longer than the gap between the writes of
/// a client that writes without a pause.
pub const SETTLE_AFTER: Duration = Duration::from_millis(20);

/// Journal bytes missing from the index at which it follows without such a pause.
pub const SETTLE_BYTES: u64 = 256 << 10;

/// Total length at which rows read from the index during an open are handed to a thread that
/// unpacks and parses them.
pub const RESTORE_BATCH_BYTES: usize = 64 << 10;

/// Number of batches of rows that may wait to be parsed, and of parsed ones that may wait to be
/// taken in.
pub const RESTORE_BATCHES_QUEUED_MAX: usize = 4;

/// Threads that parse rows during an open; half of the processors if that is less.
pub const RESTORE_READERS_MAX: usize = 4;

/// Length of the longest value passed to sled. Larger tree nodes go to blob files, which sled never
/// syncs.
pub const SLED_VALUE_BYTES_MAX: usize = 4 << 10;

/// Ratio of index bytes to state bytes above which the index is copied into a fresh one.
pub const INDEX_TIMES_STATE_MAX: u64 = 2;

/// Size below which an index is not copied. sled's minimum is half of it.
pub const INDEX_BYTES_LEAST: u64 = 1 << 20;

/// Bytes of sled's page cache, per store. sled's default is 1 GB.
pub const SLED_CACHE_BYTES_MAX: u64 = 8 << 20;

/// Longest time that opening waits for the threads of a just closed index to release its file.
pub const SLED_LOCK_WAIT_MAX: Duration = Duration::from_secs(2);

/// Interval between two tries to open it.
pub const SLED_LOCK_POLL: Duration = Duration::from_millis(20);

/// Days on which other shims write before an idle shim and its unacknowledged replies are
/// forgotten.
pub const SHIM_IDLE_DAYS_MAX: u64 = 30;

/// Number of shims kept at the end of a segment: those that wrote last. If a shim returns after
/// that many others have written, it was away for longer than a request lives.
pub const SHIMS_MAX: usize = 4096;

/// Bytes of a segment that are read at once, from its end on.
pub const BACKWARD_BLOCK_BYTES: usize = 64 << 10;

/// Most calls of `advance_index` between two tries to take a failed index into use again. A try
/// that fails late has read the whole index.
pub const INDEX_RETRY_CALLS_MAX: u32 = 64;
