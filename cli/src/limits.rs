//! Every limit of the command line, with its unit last in the name.

/// The longest reply that is read; an export of a large project has to fit.
pub(crate) const REPLY_BYTES_MAX: usize = 1 << 30;

/// Time after which a request is given up; rebuilding a large project takes a while.
pub(crate) const REQUEST_SECONDS_MAX: u64 = 600;

/// Time within which a running daemon sends its welcome. A person learns in under 2 s of one that
/// does not.
pub(crate) const SILENT_DIAL_MS: u64 = 1_500;

/// Time that a command waits for a daemon before it says so.
pub(crate) const WAIT_SILENTLY_MS: u64 = 1_500;

/// Time within which a daemon that was asked to stop has drained.
pub(crate) const STOP_SECONDS_MAX: u64 = 60;

/// Time for repeated stop requests to a daemon that listens and does not answer: twice the drain
/// time. A start on a busy disk may take longer, as the message says. A daemon that hangs should be
/// reported sooner.
pub(crate) const STOP_SILENT_SECONDS_MAX: u64 = 10;

/// Interval at which something without events is polled.
pub const POLL_MILLISECONDS: u64 = 20;

/// The longest export that can be imported: as long as one that can be written.
pub(crate) const EXPORT_BYTES_MAX: u64 = REPLY_BYTES_MAX as u64;

/// Size of the records sent to the daemon at once. One record more may be included.
pub(crate) const IMPORT_PART_BYTES: usize = 8 << 20;

/// Commits of one import that are named.
pub(crate) const IMPORT_REVISIONS_NAMED_MAX: usize = 20;

/// Files of a folder that are imported at once.
pub(crate) const IMPORT_FILES_MAX: usize = 20_000;

/// Time for which a database that its owner is writing is waited for.
pub(crate) const DATABASE_BUSY_SECONDS_MAX: u64 = 5;

/// Depth of the folders beneath it that are read.
pub(crate) const IMPORT_DEPTH_MAX: usize = 16;

/// The longest text to purge by, from standard input: that of a note.
pub(crate) const PURGE_QUERY_BYTES_MAX: u64 = 1 << 20;

/// Time within which an agent's own command for its configuration must end.
pub(crate) const OWN_COMMAND_SECONDS_MAX: u64 = 30;

/// Time that an agent of the demo waits for an answer, as clients do. A shim waits
/// for a daemon for 40 seconds before it reports that there is none.
pub const CALL_SECONDS_MAX: u64 = 60;

/// Time within which a scratch instance's daemon answers or ends: as long as a shim waits for one.
pub const SCRATCH_START_SECONDS_MAX: u64 = 40;

/// Journal entries requested at once.
pub(crate) const JOURNAL_PAGE_ENTRIES_MAX: u32 = 2_000;

/// Time that the demo waits for a killed agent's work to be kept on its behalf.
pub(crate) const DEMO_KEPT_SECONDS_MAX: u64 = 8;

/// Time between a hook's own check and the daemon's late one of the same action.
pub(crate) const LATE_CHECK_MS_MAX: u64 = 30_000;

/// Interval at which `anchord log --follow` looks for checks that hooks made without the daemon.
pub(crate) const FOLLOWED_CHECKS_POLL_MS: u64 = 1_000;

/// Lines of the retrieval log requested at once.
pub(crate) const LOG_PAGE_LINES_MAX: u32 = 2_000;

/// Free space on the disk of the data below which doctor reports a problem.
pub(crate) const DOCTOR_FREE_BYTES_MIN: u64 = 200 << 20;

/// Length of the newest log's end that doctor reads.
pub(crate) const DOCTOR_LOG_BYTES_MAX: usize = 256 << 10;

/// Size on disk, number and time up to which `anchord status` opens projects to count records.
pub(crate) const STATUS_COUNT_BYTES_MAX: u64 = 20 << 20;
pub(crate) const STATUS_COUNTED_MAX: usize = 20;
pub(crate) const STATUS_COUNT_MS: u64 = 500;

/// Size of a memory on disk up to which doctor reads its journal. A hundred megabytes take
/// seconds.
pub(crate) const DOCTOR_JOURNAL_BYTES_MAX: u64 = 100 << 20;

/// Errors that doctor shows from it.
pub(crate) const DOCTOR_LOG_LINES_MAX: usize = 3;

/// Time since the last write below which a transcript's session may still be running.
pub(crate) const TRANSCRIPT_REST_SECONDS_MIN: u64 = 300;

/// Past sessions sent to the daemon at once.
pub(crate) const PAST_SESSIONS_BATCH_MAX: usize = 200;

/// Commits or versions that are fetched at once.
pub(crate) const HISTORY_PAGE_COMMITS: usize = 200;

/// Bytes of address space of the process that parses a file for an outline.
pub const PARSER_BYTES_MAX: u64 = 2 << 30;

/// Seconds of processor time of that process. The daemon ends it earlier if it waits.
pub const PARSER_SECONDS_MAX: u64 = 5;

/// Files that process may have open: those it got at its start.
pub const PARSER_FILES_MAX: u64 = 3;

/// Bytes of the text that it parses. The daemon reads no longer file.
pub const PARSER_TEXT_BYTES_MAX: u64 = 16 << 20;
