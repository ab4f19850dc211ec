//! The wire between anchord's shims and its daemon. This text is its specification; the modules
//! below are the same in code. `docs/wire-protocol.md` shows a whole conversation.
//!
//! # Where
//!
//! One Unix socket, `sock`, mode 0600, in the instance directory ([`instance`]), which is found from
//! HOME alone. Both sides check the directory (ours, no link, not writable by others), reach the
//! socket by its short name through the open directory, and check the peer's user id ([`socket`]).
//! Whether a daemon lives is told by its lock on the file `lock` beside the socket, never by a
//! process id or by the socket being there.
//!
//! # Lines 1 and 2
//!
//! Everything is UTF-8 lines that end with `\n`. Line 1, from the client, is the [`hello::Hello`]; line
//! 2, from the daemon, the [`hello::Answer`]: `{"welcome":{…}}` or `{"refused":{…}}`, after which the daemon
//! closes. Both are JSON objects of at most [`limits::HELLO_BYTES_MAX`]. They are frozen: fields may be
//! added, none changes. Unknown fields are ignored; all fields but `anchord`, `role`, `instance`, `pid` of a
//! hello, `anchord` of a welcome and `code` of a refusal may be missing.
//!
//! A client is connected when it has read `welcome`. A socket that accepts and says nothing may be a daemon that starts:
//! the client waits on that one connection, at most [`limits::RECONNECT_DEADLINE_MS`]. Who only asks whether a daemon
//! runs gives up after [`limits::WELCOME_DEADLINE_MS`].
//!
//! # Versions
//!
//! `anchord` in the hello is the client's version. A daemon at N speaks N and N-1: it welcomes N-1 and N+1 with
//! the lower of the two versions, and both speak that from then on. Others are refused: `too_new`
//! (the daemon is too new for the client) or `too_old` (the daemon is too old for it). A client
//! that is told `too_old` may connect again under role `replace`.
//!
//! # Role `mcp`
//!
//! The client sends `<number> <acknowledged> <json>` lines ([`line::McpLine`]): its own count of
//! lines from 1, the highest number up to which every line has been answered or needs no answer, and one
//! JSON-RPC message as the agent wrote it. Numbers may be missing: a request that was cancelled
//! before it was sent had one. The daemon sends JSON-RPC messages, without numbers. Every
//! line is at most [`limits::LINE_BYTES_MAX`] of JSON; a longer one is skipped and answered with a JSON-RPC error.
//!
//! A reply to a write is kept by the daemon under (instance, number) until it is acknowledged, and a
//! number that comes again is given that reply: a write is applied once, however often it is sent.
//!
//! When the connection ends without the client wanting it, the client connects again (starting a
//! daemon if there is none) with `resume` in its hello: the token of its last welcome, and the MCP revision that the
//! agent was told. Then it sends, in this order, each with its old number:
//! 1. the agent's `initialize` request, if there was one. Its reply goes to the agent only if the
//!    agent had none before;
//! 2. `notifications/initialized`, if the agent had sent it;
//! 3. every other request without a reply, in the order of their numbers, except those that the agent cancelled
//!    and those that were in flight at two deaths: these are answered with an error.
//!
//! Requests go one at a time until none is left that was in flight at the death, each for at most
//! [`limits::ALONE_MS`], under the lock on `resending` ([`instance::InstanceDir::resending`]): a call that
//! kills is alone when it kills again, among all clients of the daemon. The lock is taken before the
//! connection is made: the daemon of an earlier one may be what the lock's last holder has just killed.
//!
//! Other notifications are not repeated. What was received of an unfinished line is discarded. A
//! client of the 2026-07-28 revision has no handshake, and nothing of 1 and 2 is sent.
//!
//! # Role `hook`
//!
//! One line, the event as the agent gave it, which may be sent with the hello; one line back, the
//! [`hook::HookReply`]: `{}` if there is nothing to print, else `{"stdout":"text"}`, which the hook
//! prints as it is. Then both close. The hook gives up after [`limits::HOOK_DEADLINE_MS`], at a
//! session's end after [`limits::HOOK_END_DEADLINE_MS`], and prints nothing; the daemon handles the
//! event to its end all the same.
//!
//! # Role `http`
//!
//! HTTP/1.1 follows the answer: the admin interface that the command line uses.
//!
//! # Role `replace`
//!
//! From a client whose version is above the daemon's. The daemon answers `welcome`, drains (answers what it
//! has accepted, at most [`limits::DRAIN_DEADLINE_MS`]) and exits; the end of the connection tells the client.
//! While it drains it no longer listens; who was accepted just before is refused with `draining`.

pub mod hello;
pub mod hook;
pub mod host;
pub mod instance;
pub mod launch;
pub mod limits;
pub mod line;
pub mod socket;

/// The protocol version of this build, and the only place where it is written.
pub const PROTOCOL: u32 = 1;
