//! Every limit on what is read of clients' files and events.

/// The longest line of a client's transcript, or message's row in a database, that is read. A
/// longer one is skipped.
pub const TRANSCRIPT_LINE_BYTES_MAX: u64 = 16 << 20;

/// The longest transcript, or conversation's row in a database, that is one JSON value. A longer
/// one is named and not read.
pub const TRANSCRIPT_DOCUMENT_BYTES_MAX: u64 = 64 << 20;

/// The longest file beside a transcript that is read, such as one that names its directory.
pub const TRANSCRIPT_ABOUT_BYTES_MAX: u64 = 1 << 20;

/// Lines of a transcript within which the session's directory must appear.
pub const TRANSCRIPT_PEEK_LINES_MAX: u32 = 50;

/// The longest instruction file (`CLAUDE.md`) or agent's configuration that is read. Claude Code
/// keeps the history of all projects in one file.
pub const EDITED_BYTES_MAX: u64 = 64 << 20;

/// Seconds to wait for a database that its client is writing to.
pub const DATABASE_BUSY_SECONDS_MAX: u64 = 5;

/// The times that JSON is looked for within a text of JSON, in a tool's input.
pub const TOOL_INPUT_NESTED_MAX: usize = 3;
