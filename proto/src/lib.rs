//! The wire between anchord's shims and its daemon. This text is its specification; the modules
//! below are the same in code. `docs/wire-protocol.md` shows a whole conversation.
//!
//! # Where
//!
//! There is one Unix socket, `sock`, mode 0600, in the instance directory ([`instance`]), which is
//! found from HOME alone. Both sides check that the directory is ours, not a link, and not writable
//! by others. They reach the socket by its short name through the open directory, and check the
//! peer's user id ([`socket`]). Only the lock on the file `lock`, next to the socket, shows whether
//! a daemon lives. A process id or the existence of the socket never does.
//!
//! # Lines 1 and 2
//!
//! Everything is UTF-8 lines that end with `\n`. Line 1, from the client, is the [`hello::Hello`].
//! Line 2, from the daemon, is the [`hello::Answer`]: `{"welcome":{…}}` or `{"refused":{…}}`. After
//! a refusal the daemon closes the connection. Both lines are JSON objects of at most
//! [`limits::HELLO_BYTES_MAX`]. They are frozen: fields may be added, none changes. Unknown fields
//! are ignored. The required fields are `anchord`, `role`, `instance` and `pid` of a hello,
//! `anchord` of a welcome and `code` of a refusal. Any other field may be missing.
//!
//! A client is connected when it has read `welcome`. A socket that accepts and sends nothing may
//! belong to a daemon that starts. The client waits on that one connection, at most
//! [`limits::RECONNECT_DEADLINE_MS`]. A client that only asks whether a daemon runs gives up after
//! [`limits::WELCOME_DEADLINE_MS`].
//!
//! # Versions
//!
//! `anchord` in the hello is the client's version. A daemon at N speaks N and N-1. It welcomes
//! clients at N-1, N and N+1 with the lower of the two versions, and both speak that from then on.
//! It refuses all others: `too_new` (the daemon is too new for the client) or `too_old` (the daemon
//! is too old for it). A client that is refused with `too_old` may connect again under role
//! `replace`.
//!
//! # Role `mcp`
//!
//! The client sends `<number> <acknowledged> <json>` lines ([`line::McpLine`]). The first field is
//! the client's own count of its lines, from 1. The second is the highest number up to which every
//! line has been answered or needs no answer. The third is one JSON-RPC message as the agent wrote
//! it. Numbers may be missing: a request that was cancelled before it was sent had one. The daemon
//! sends JSON-RPC messages, without numbers. Every line is at most [`limits::LINE_BYTES_MAX`] of
//! JSON. A longer one is skipped and answered with a JSON-RPC error.
//!
//! The daemon keeps a reply to a write under (instance, number) until it is acknowledged. A
//! repeated number gets that reply: a write is applied once, however often it is sent.
//!
//! A client whose connection ends against its will connects again, and starts a daemon if there is
//! none. Its hello has `resume`: the token of its last welcome, and the MCP revision that the agent
//! was given. Then it sends, in this order, each with its old number:
//! 1. The agent's `initialize` request, if there was one. Its reply goes to the agent only if the
//!    agent had none before.
//! 2. `notifications/initialized`, if the agent had sent it.
//! 3. Every other request without a reply, in the order of their numbers. Exceptions are those that
//!    the agent cancelled and those that were in flight at two deaths: these are answered with an
//!    error.
//!
//! The client sends requests one at a time until none is left that was in flight at the death, each
//! for at most [`limits::ALONE_MS`]. Meanwhile it holds the lock on `resending`
//! ([`instance::InstanceDir::resending`]). So a call that kills again is alone when it does, among
//! all clients of the daemon. The lock is taken before the connection is made: an earlier
//! connection's daemon may be the one that the lock's last holder has just killed.
//!
//! Other notifications are not repeated. The received part of an unfinished line is discarded. A
//! client of the 2026-07-28 revision has no handshake, and sends neither 1 nor 2.
//!
//! # Role `hook`
//!
//! The client sends one line, the event as the agent gave it, which may be sent with the hello. The
//! daemon sends one line back, the [`hook::HookReply`]: `{}` if there is nothing to print, else
//! `{"stdout":"text"}`, which the hook prints unchanged. Then both close. The hook gives up after
//! [`limits::HOOK_DEADLINE_MS`], at a session's end after [`limits::HOOK_END_DEADLINE_MS`], and
//! prints nothing. The daemon still handles the event to its end.
//!
//! # Role `http`
//!
//! HTTP/1.1 follows the answer: the admin interface that the command line uses.
//!
//! # Role `replace`
//!
//! This role is for a client whose version is above the daemon's. The daemon answers `welcome`,
//! drains and exits; the end of the connection informs the client. To drain is to answer what it
//! has accepted, for at most [`limits::DRAIN_DEADLINE_MS`]. While it drains it no longer listens. A
//! client accepted just before is refused with `draining`.

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
