//! What a reader gets to see, as text: terse, since tokens are the user's money, and fit for a person.
//!
//! The same memory gives the same bytes.

mod changes;
mod item;

pub use changes::changes_since;

use crate::record::Record;

/// A record in one line.
pub fn title(record: &Record) -> String {
    item::title(record)
}

/// Bytes a record takes in a load that prints everything, its line break with it.
pub(crate) fn record_bytes(record: &Record) -> u64 {
    item::full(record).len() as u64 + 1
}
