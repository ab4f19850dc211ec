//! anchord's domain, pure: what a memory is, how writes merge, what a reader gets to see.
//!
//! No I/O and no clock: time, session ids and file facts are arguments, so that the same calls give
//! the same memory on every machine. A policy looks at a [`Memory`] and gives a plan (a value); applying
//! it is another function. The daemon journals the [`Change`]s of a plan before it applies them.

mod change;
mod ids;
pub mod lines;
mod memory;
pub mod merge;
mod record;
mod staged;

pub use change::{Change, Kept, Notice, NoticeCause};
pub use ids::{
    Kind, NoticeId, ParseIdError, RecordId, Revision, Seq, SessionId, Timestamp, Version,
};
pub use memory::{Counters, Memory, Restore};
pub use record::{
    Anchor, Blueprint, Body, Category, Lesson, Provenance, Record, SessionRow, Standing,
};
pub use staged::Staged;
