//! Every limit of the wire and of the processes that speak it, unit last, each with its reason.
//! Times are in milliseconds; [`millis`] turns one into a [`Duration`].

use std::time::Duration;

/// A hello or an answer to it. A path has at most 4 KiB on Linux and a hello holds three; anything
/// longer is not a hello.
pub const HELLO_BYTES_MAX: usize = 64 * 1024;

/// One line of any kind after the hello, newline not counted. This is far above the largest memory
/// that one call saves (the archive threshold is 500 KB). It is far below the size that rmcp drops
/// silently.
pub const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The end of a line that is too long, in which the id of a request is looked for. Some clients
/// write it last.
pub const LINE_END_BYTES: usize = 256;

/// The two numbers and the spaces before the JSON of an `mcp` line: twenty digits each.
pub const LINE_PREFIX_BYTES_MAX: usize = 2 * 21;

/// A daemon's report of its start ([`crate::launch`]).
pub const REPORT_BYTES_MAX: usize = 4 * 1024;

/// One event that a hook sends to the daemon. The calls of tools that write files are the longest.
pub const HOOK_EVENT_BYTES_MAX: usize = LINE_BYTES_MAX;

/// One event that a hook reads from stdin. A longer one than the daemon takes is still checked
/// against the rules that apply without it.
pub const HOOK_INPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The smallest budget of a session's own notes that a shim accepts. The daemon raises a smaller
/// one to this.
pub const BUDGET_TOKENS_MIN: u32 = 1;

/// Requests that a shim holds unanswered before it answers "busy" itself. Agents have a few in
/// flight; a thousand means that nobody waits for the answers.
pub const UNANSWERED_LINES_MAX: usize = 1024;

/// Bytes that a shim holds for the same reason: they may have to be sent again.
pub const UNANSWERED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Time that a daemon waits for the hello of a new connection. A command that only asks whether a
/// daemon runs waits as long for the answer: a running daemon answers at once. A shim waits for
/// [`RECONNECT_DEADLINE_MS`] instead, since a daemon that listens may still be starting.
pub const WELCOME_DEADLINE_MS: u64 = 2_000;

/// Time that a shim leaves to a start that another process has begun. A slow start waits for an
/// overloaded disk, and a second one would wait behind it. But a starter that was stopped before it
/// started anything must not stop the others. So this is half of [`RECONNECT_DEADLINE_MS`], and the
/// other half is for the shim's own start.
pub const STARTER_DEADLINE_MS: u64 = RECONNECT_DEADLINE_MS / 2;

/// The longest path that fits every system's socket address (macOS: 104 with the final zero).
pub const ADDRESS_BYTES_MAX: usize = 103;

/// Starts in one search that may end without a report before the search ends. A daemon that is
/// killed while it starts reports nothing, and neither does another program.
pub const SILENT_STARTS_MAX: u32 = 8;

/// Time that a request waits for a daemon before it is answered with an error. It counts from the
/// daemon's loss, or from the first request that needs one.
///
/// A start takes about 0.1 s, and draining up to [`DRAIN_DEADLINE_MS`]. But a start waits for the
/// disk, and under a heavy build each of its syncs was seen to take seconds. A start that fails, or
/// ends without a report, is reported at once: only a running start is waited for. The limit is
/// well below the 60 s that clients give a call, so that they receive the reason.
pub const RECONNECT_DEADLINE_MS: u64 = 40_000;

/// Time that a draining daemon answers what it has accepted before it closes the rest.
pub const DRAIN_DEADLINE_MS: u64 = 5_000;

/// Time after a failed search for a daemon in which further requests get the same error without a
/// new search. Otherwise each request of a queue would wait ten seconds.
pub const RETRY_PAUSE_MS: u64 = 1_000;

/// The first pause between two attempts to connect; each is twice the one before.
pub const BACKOFF_FIRST_MS: u64 = 2;

/// The longest pause between two attempts: the time that an agent may wait in vain.
pub const BACKOFF_MAX_MS: u64 = 50;

/// Time that a shim still prints earlier replies after the end of stdin. The limit for ending is
/// 100 ms (the harshest client kills 100 ms after the first signal); the rest is for leaving.
pub const STDIN_END_GRACE_MS: u64 = 80;

/// Interval at which a shim checks its parent if the kernel cannot report its end (not on Linux).
pub const PARENT_POLL_MS: u64 = 1_000;

/// Time that a request is in flight alone when it is sent again, if it was in flight at a daemon's
/// death. A request that kills does so at once, and an innocent one is answered at once, even on an
/// overloaded machine. A request that never ends must not delay the others.
pub const ALONE_MS: u64 = 5_000;

/// Time that a shim waits until no other shim has such a request in flight. It is part of
/// [`RECONNECT_DEADLINE_MS`]. If a shim is stopped during its turn, the others still have enough
/// time to find a daemon, which takes no time if one runs.
pub const TURN_DEADLINE_MS: u64 = RECONNECT_DEADLINE_MS / 4 * 3;

/// Interval at which a shim asks for its turn: a saved reply takes about a millisecond.
pub const TURN_POLL_MS: u64 = 2;

/// Time without an answer to a call after which a shim asks whether the daemon still runs. Nearly
/// all calls are answered within a tenth of that.
pub const HANG_ASK_AFTER_MS: u64 = 1_000;

/// Time that the daemon has to answer that question. After both times, the user is informed that it
/// hangs. Calls wait for [`RECONNECT_DEADLINE_MS`], as for a daemon that starts.
pub const HANG_REPLY_MS: u64 = 700;

/// The whole life of a hook, so that the agent never waits for its memory. Clients allow 10 s or
/// more, and a user notices a second.
pub const HOOK_DEADLINE_MS: u64 = 1_000;

/// The time that a hook has, after that, for the rules that it applies without the daemon. Clients
/// are told to allow a hook 3 s, which also leaves time for [`HOOK_REFUSAL_MS`].
pub const HOOK_GUARD_MS: u64 = 1_200;

/// The time that a hook has, after that, to stop a tool that it could not check.
pub const HOOK_REFUSAL_MS: u64 = 500;

/// The beginning of an event that could not be checked. It names the event and its project.
pub const HOOK_HEAD_BYTES_MAX: usize = 64 * 1024;

/// The whole life of a hook at a session's end. One client gives all hooks there 1.0 s together,
/// which leaves 0.2 s for starting the process.
pub const HOOK_END_DEADLINE_MS: u64 = 800;

/// Returns a limit in milliseconds as a [`Duration`].
pub const fn millis(limit_ms: u64) -> Duration {
    Duration::from_millis(limit_ms)
}
