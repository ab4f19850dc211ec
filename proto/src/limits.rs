//! Every limit of the wire and of the processes that speak it, unit last, each with its reason.
//! Times are in milliseconds; [`millis`] turns one into a [`Duration`].

use std::time::Duration;

/// A hello or an answer to it. A path has at most 4 KiB on Linux and a hello holds three; what is
/// longer is not a hello.
pub const HELLO_BYTES_MAX: usize = 64 * 1024;

/// One line of any kind after the hello, newline not counted. Far above the largest memory that is
/// saved in one call (the archive threshold is 500 KB), far below what rmcp drops without a word.
pub const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The two numbers and the spaces before the JSON of an `mcp` line: twenty digits each.
pub const LINE_PREFIX_BYTES_MAX: usize = 2 * 21;

/// What a daemon reports of its start ([`crate::launch`]).
pub const REPORT_BYTES_MAX: usize = 4 * 1024;

/// One event that a hook reads from stdin; a compaction summary is the longest that agents send.
pub const HOOK_EVENT_BYTES_MAX: usize = 1024 * 1024;

/// The smallest budget of a session's own notes that a shim takes; the daemon takes a smaller one for this.
pub const BUDGET_TOKENS_MIN: u32 = 1_000;

/// Requests that a shim holds unanswered before it answers "busy" itself. Agents have a few in
/// flight; a thousand means that nobody waits for the answers.
pub const UNANSWERED_LINES_MAX: usize = 1024;

/// Bytes that a shim holds for the same reason: they may have to be sent again.
pub const UNANSWERED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// For how long a daemon waits for the hello of a new connection, and a command for the answer that only asks what is
/// there: a daemon that runs gives it at once. A shim waits for it as for a daemon, [`RECONNECT_DEADLINE_MS`]: one that
/// listens may still be starting.
pub const WELCOME_DEADLINE_MS: u64 = 2_000;

/// For how long a shim leaves the start of a daemon to the one that is under way. One that takes long waits for a disk
/// that has too much to do already, and a second one would wait behind it; a starter that was stopped before it
/// started anything must not stop the rest. So half of [`RECONNECT_DEADLINE_MS`]: the other half is for a start of
/// one's own.
pub const STARTER_DEADLINE_MS: u64 = RECONNECT_DEADLINE_MS / 2;

/// The longest path that fits every system's socket address (macOS: 104 with the final zero).
pub const ADDRESS_BYTES_MAX: usize = 103;

/// Starts in one search that may end without a word before the search does. A daemon that is killed
/// while it starts says nothing; neither does a program that is none.
pub const SILENT_STARTS_MAX: u32 = 8;

/// For how long a request waits for a daemon, from its loss or from the first request that needs one, before it is
/// answered with an error. A start takes about 0.1 s and draining up to [`DRAIN_DEADLINE_MS`]; but a start waits
/// for the disk, and where a build keeps that busy, each of its syncs was seen to take seconds. A start that fails, or
/// that ends without a word, is told at once: only one that goes on is waited for. Well below the 60 s that
/// clients give a call, so that they hear the reason.
pub const RECONNECT_DEADLINE_MS: u64 = 40_000;

/// For how long a daemon that drains answers what it has accepted before it closes the rest.
pub const DRAIN_DEADLINE_MS: u64 = 5_000;

/// After a failed search for a daemon: for how long further requests get the same error without a
/// new search, so that a queue of requests does not wait ten seconds each.
pub const RETRY_PAUSE_MS: u64 = 1_000;

/// The first pause between two attempts to connect; each is twice the one before.
pub const BACKOFF_FIRST_MS: u64 = 2;

/// The longest pause between two attempts: what an agent may wait for nothing.
pub const BACKOFF_MAX_MS: u64 = 50;

/// After stdin's end a shim still prints what was asked before. The limit for ending is 100 ms
/// (the harshest client kills 100 ms after the first signal); the rest is for leaving.
pub const STDIN_END_GRACE_MS: u64 = 80;

/// How often a shim looks for its parent where the kernel cannot tell it (not on Linux).
pub const PARENT_POLL_MS: u64 = 1_000;

/// For how long a request that was in flight at a daemon's death is in flight alone when it is sent
/// again. A request that kills does so at once, and an innocent one is answered at once, both also on a
/// machine that has too much to do; one that never ends must not hold up the rest.
pub const ALONE_MS: u64 = 5_000;

/// For how long a shim waits until no other shim has such a request in flight. It waits within
/// [`RECONNECT_DEADLINE_MS`]: a shim that was stopped while it had its turn must leave the rest enough of that to find
/// a daemon themselves, which with one that is there takes no time.
pub const TURN_DEADLINE_MS: u64 = RECONNECT_DEADLINE_MS / 4 * 3;

/// How often it asks for its turn: a saved reply takes about a millisecond.
pub const TURN_POLL_MS: u64 = 2;

/// How long a call has no answer before a shim asks whether the daemon still runs. Nearly all calls
/// are answered within a tenth of that.
pub const HANG_ASK_AFTER_MS: u64 = 1_000;

/// How long the daemon has for its answer to that: after both, a person is told that it hangs.
/// Calls wait [`RECONNECT_DEADLINE_MS`] for it, as for one that starts.
pub const HANG_REPLY_MS: u64 = 700;

/// The whole life of a hook, so that the agent never waits for its memory. Clients give one from 10 s up, and
/// a person notices a second.
pub const HOOK_DEADLINE_MS: u64 = 1_000;

/// The whole life of a hook at a session's end. One client gives all hooks there together 1.0 s, which leaves 0.2 s for
/// starting the process.
pub const HOOK_END_DEADLINE_MS: u64 = 800;

/// A limit in milliseconds as a [`Duration`].
pub const fn millis(limit_ms: u64) -> Duration {
    Duration::from_millis(limit_ms)
}
