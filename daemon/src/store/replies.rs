//! The exactly-once ledger: which lines of which shims were applied, and what they were told.
//!
//! A shim numbers its lines and says with each how far it has had answers. A reply is kept until it
//! is acknowledged, so that the same number again gets the same reply and is not applied again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anchord_memory::Timestamp;
use serde::{Deserialize, Serialize};

use super::limits::SHIM_IDLE_DAYS_MAX;
use super::{Call, Row};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// What shims have written and may ask for again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    shims: HashMap<Arc<str>, Ledger>,
}

/// What a line's number says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Not seen before: apply it.
    Fresh,
    /// Applied before, with this reply: give it again.
    Answered(Arc<str>),
    /// The shim itself has said that it got the answer; apply nothing.
    Stale,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ledger {
    acknowledged: u64,
    last: Timestamp,
    pending: BTreeMap<u64, Arc<str>>,
}

impl Replies {
    /// Whether this line was applied before.
    pub fn lookup(&self, call: &Call) -> Answer {
        let Some(ledger) = self.shims.get(&call.instance) else { return Answer::Fresh };
        match ledger.pending.get(&call.number) {
            Some(reply) => Answer::Answered(Arc::clone(reply)),
            None if call.number <= ledger.acknowledged => Answer::Stale,
            None => Answer::Fresh,
        }
    }

    /// Keeps the reply of a line that was applied at `time`, and lets go of those that the line
    /// acknowledges.
    pub fn record(&mut self, call: &Call, time: Timestamp, reply: impl Into<Arc<str>>) {
        let ledger = self.shims.entry(Arc::clone(&call.instance)).or_default();
        ledger.last = ledger.last.max(time);
        ledger.acknowledged = ledger.acknowledged.max(call.acknowledged);
        ledger.pending.insert(call.number, reply.into());
        ledger.pending = ledger.pending.split_off(&ledger.acknowledged.saturating_add(1));
    }

    /// Forgets shims whose last write is too long before `now`; says which.
    pub(crate) fn prune(&mut self, now: Timestamp) -> Vec<Arc<str>> {
        let oldest = now.0.saturating_sub(SHIM_IDLE_DAYS_MAX * DAY_MILLIS);
        let gone: Vec<Arc<str>> = self
            .shims
            .iter()
            .filter(|(_, ledger)| ledger.last.0 < oldest)
            .map(|(instance, _)| Arc::clone(instance))
            .collect();
        for instance in &gone {
            self.shims.remove(instance);
        }
        gone
    }

    /// One shim's row, without a value when it is not known.
    pub(crate) fn row(&self, instance: &str) -> Row {
        let value = self.shims.get(instance).map(|ledger| {
            let row = LedgerV1 {
                acknowledged: ledger.acknowledged,
                last: ledger.last,
                replies: ledger.pending.iter().map(|(n, reply)| (*n, Arc::clone(reply))).collect(),
            };
            serde_json::to_string(&row).expect("numbers and text always serialize")
        });
        Row { key: instance.to_owned(), value }
    }

    /// Every shim's row, in key order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let mut instances: Vec<&Arc<str>> = self.shims.keys().collect();
        instances.sort_unstable();
        instances.into_iter().map(|instance| self.row(instance))
    }

    /// Takes in a row that [`Replies::row`] gave.
    pub(crate) fn restore(&mut self, row: &Row) -> Result<(), serde_json::Error> {
        let Some(value) = &row.value else { return Ok(()) };
        let LedgerV1 { acknowledged, last, replies } = serde_json::from_str(value)?;
        let ledger = Ledger { acknowledged, last, pending: replies.into_iter().collect() };
        self.shims.insert(Arc::from(row.key.as_str()), ledger);
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct LedgerV1 {
    acknowledged: u64,
    last: Timestamp,
    replies: Vec<(u64, Arc<str>)>,
}

#[cfg(test)]
mod tests;
