//! Every limit of the command line, the unit last in its name.

/// A reply is read up to here; an export of a large project has to fit.
pub(crate) const REPLY_BYTES_MAX: usize = 1 << 30;

/// A request is given up after this; rebuilding a large project takes a while.
pub(crate) const REQUEST_SECONDS_MAX: u64 = 600;

/// A daemon that was asked to stop has drained by then.
pub(crate) const STOP_SECONDS_MAX: u64 = 60;

/// How often something that sends no event is looked at again.
pub(crate) const POLL_MILLISECONDS: u64 = 20;

/// A file to import is read up to here.
pub(crate) const IMPORT_BYTES_MAX: u64 = 64 << 20;

/// An instruction file (`CLAUDE.md`) is read up to here.
pub(crate) const INSTRUCTIONS_BYTES_MAX: u64 = 4 << 20;
