//! Every limit of the command line, the unit last in its name.

/// A reply is read up to here; an export of a large project has to fit.
pub(crate) const REPLY_BYTES_MAX: usize = 1 << 30;

/// A request is given up after this; rebuilding a large project takes a while.
pub(crate) const REQUEST_SECONDS_MAX: u64 = 600;

/// A daemon that runs says welcome within this. A person is told of one that does not in under 2 s.
pub(crate) const SILENT_DIAL_MS: u64 = 1_500;

/// A command that needs a daemon waits for so long before it says what it waits for.
pub(crate) const WAIT_SILENTLY_MS: u64 = 1_500;

/// A daemon that was asked to stop has drained by then.
pub(crate) const STOP_SECONDS_MAX: u64 = 60;

/// A daemon that listens and does not answer is asked to stop for so long: twice what one that drains takes. A start on a
/// busy disk may take longer, which the message says; one that hangs should be told of sooner than that.
pub(crate) const STOP_SILENT_SECONDS_MAX: u64 = 10;

/// How often something that sends no event is looked at again.
pub(crate) const POLL_MILLISECONDS: u64 = 20;

/// An export is read up to here, to be imported: as far as one is written.
pub(crate) const EXPORT_BYTES_MAX: u64 = REPLY_BYTES_MAX as u64;

/// So many bytes of an export's records are handed to the daemon at once, or a record more.
pub(crate) const IMPORT_PART_BYTES: usize = 8 << 20;

/// A text to purge by, from standard input: as long as a note may be.
pub(crate) const PURGE_QUERY_BYTES_MAX: u64 = 1 << 20;

/// An instruction file (`CLAUDE.md`) or an agent's configuration is read up to here. Claude Code keeps the
/// history of all projects in one file.
pub(crate) const EDITED_BYTES_MAX: u64 = 64 << 20;

/// An agent's own command for its configuration has ended by then.
pub(crate) const OWN_COMMAND_SECONDS_MAX: u64 = 30;

/// An agent of the demo or of torture waits so long for an answer, as clients do. A shim waits for a daemon for 40
/// seconds before it says that there is none.
pub(crate) const CALL_SECONDS_MAX: u64 = 60;

/// A daemon of a scratch instance answers, or has ended, by then: as long as a shim waits for one.
pub(crate) const SCRATCH_START_SECONDS_MAX: u64 = 40;

/// Journal entries asked for at once.
pub(crate) const JOURNAL_PAGE_ENTRIES_MAX: u32 = 2_000;

/// A demo waits so long for a killed agent's work to be kept on its behalf.
pub(crate) const DEMO_KEPT_SECONDS_MAX: u64 = 8;

/// Sessions of torture: a thread and a process each.
pub(crate) const TORTURE_SESSIONS_MAX: u32 = 512;

/// Torture stops a daemon for so long: more than it takes a shim to notice that it hangs.
pub(crate) const TORTURE_STOP_MILLISECONDS: u64 = 2_500;

/// Torture stops by itself after this and a share for each write.
pub(crate) const TORTURE_SECONDS_MIN: u64 = 120;

/// That share.
pub(crate) const TORTURE_WRITE_MILLISECONDS_MAX: u64 = 20;

/// Lines of the retrieval log asked for at once.
pub(crate) const LOG_PAGE_LINES_MAX: u32 = 2_000;

/// Less room than this on the disk of the data is a problem.
pub(crate) const DOCTOR_FREE_BYTES_MIN: u64 = 200 << 20;

/// The newest log is read from so far before its end.
pub(crate) const DOCTOR_LOG_BYTES_MAX: usize = 256 << 10;

/// Errors shown from it.
pub(crate) const DOCTOR_LOG_LINES_MAX: usize = 3;

/// A line of a client's transcript is read up to here; a longer one is passed over.
pub(crate) const TRANSCRIPT_LINE_BYTES_MAX: u64 = 16 << 20;

/// Where a session worked stands within so many lines of its transcript.
pub(crate) const TRANSCRIPT_PEEK_LINES_MAX: u32 = 50;

/// A transcript that was written to since then may be of a session that goes on.
pub(crate) const TRANSCRIPT_REST_SECONDS_MIN: u64 = 300;

/// Past sessions handed to the daemon at once.
pub(crate) const PAST_SESSIONS_BATCH_MAX: usize = 200;
