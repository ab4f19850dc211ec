//! A project's journal in Postgres, which several daemons share.
//!
//! The database decides the order of entries. [`Log::append`] compares the head and appends in one
//! transaction, and a unique key per entry makes a repeated append harmless. Postgres enforces
//! roles by row-level security; this crate only words the refusals. See `migrations/` for the
//! schema.
//!
//! Passwords are read again for each connection and never kept. Certificates are always verified
//! outside this machine.
//!
//! Absent on purpose: the meaning of an entry. Changes and replies are opaque text here. There is
//! no cache and no retry of an unknown outcome, which belong to the caller.

mod address;
mod append;
mod connect;
mod database;
mod digest;
mod entry;
mod error;
pub mod limits;
mod listen;
mod log;
mod members;
mod migrate;
mod pool;
mod rewrite;
mod secret;
#[cfg(feature = "test-hooks")]
pub mod testing;
mod tls;
mod turn;

pub use address::{Address, AddressError};
pub use database::{Database, ProjectInfo, Server, Timeouts};
pub use digest::{FIRST_DIGEST, chain, verify};
pub use entry::{Appended, Entry, Following, Head, Key, NewEntry, Point, Replacement, Rewritten};
pub use error::{AppendError, Error};
pub use listen::{HeadNotification, Listener};
pub use log::Log;
pub use members::{Member, Role, invite_sql, remove_sql};
pub use secret::Secret;
