//! The exactly-once ledger: which lines of which shims were applied, and the replies to them.
//!
//! A shim numbers its lines. Each line also says up to which number the shim has received replies.
//! A reply is kept until the shim acknowledges it. A repeated number gets the same reply and is not
//! applied again.
//!
//! Unacknowledged replies are forgotten after a number of days on which other shims wrote. A clock
//! that jumps adds at most one such day, because a day counts only if it is later than all days
//! before it. If the clock was once ahead, no day counts until the clock reaches that day again. So
//! the number of shims limits the ledger too, in the order of their last writes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anchord_memory::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::{SHIM_IDLE_DAYS_MAX, SHIMS_MAX};
use super::{Call, Row};

/// The shims' lines that were applied, with the replies that they may ask for again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    shims: HashMap<Arc<str>, Ledger>,
    /// The latest day of any recorded write, in days since 1970.
    newest_day: Option<i64>,
    /// The number of times that a later day became the newest.
    days: u64,
    /// The number of writes recorded on a day before the newest.
    late: u64,
}

/// The result of looking up a line's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineState {
    /// Not seen before: apply the line.
    Fresh,
    /// Applied before, with this reply: send it again.
    Answered(Arc<Value>),
    /// The shim has acknowledged the reply: apply nothing.
    Stale,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ledger {
    acknowledged: u64,
    last: Timestamp,
    /// [`Replies::days`] at its last write.
    day: u64,
    /// [`Replies::late`] at its last write.
    late: u64,
    pending: BTreeMap<u64, Arc<Value>>,
}

impl Ledger {
    /// Returns a key that orders shims by their last writes. Within a day, the time decides if no
    /// write was late.
    fn order(&self) -> (u64, u64, Timestamp) {
        (self.day, self.late, self.last)
    }
}

impl Replies {
    /// Returns whether this line was applied before, with its reply.
    pub fn lookup(&self, call: &Call) -> LineState {
        let Some(ledger) = self.shims.get(&call.instance) else { return LineState::Fresh };
        match ledger.pending.get(&call.number) {
            Some(reply) => LineState::Answered(Arc::clone(reply)),
            None if call.number <= ledger.acknowledged => LineState::Stale,
            None => LineState::Fresh,
        }
    }

    /// Stores the reply to a line that was applied at `time`. Drops the replies that the line
    /// acknowledges.
    pub fn record(&mut self, call: &Call, time: Timestamp, reply: Value) {
        let day = day_of(time);
        self.days += u64::from(self.newest_day.is_some_and(|newest| newest < day));
        self.newest_day = self.newest_day.max(Some(day));
        self.late += u64::from(self.newest_day.is_some_and(|newest| day < newest));
        let ledger = self.shims.entry(Arc::clone(&call.instance)).or_default();
        ledger.last = ledger.last.max(time);
        ledger.day = self.days;
        ledger.late = self.late;
        ledger.acknowledged = ledger.acknowledged.max(call.acknowledged);
        ledger.pending.insert(call.number, Arc::new(reply));
        ledger.pending = ledger.pending.split_off(&ledger.acknowledged.saturating_add(1));
    }

    /// Forgets shims with more than [`SHIM_IDLE_DAYS_MAX`] days of writing since their last write.
    /// Keeps the [`SHIMS_MAX`] of the others that wrote last. Returns the forgotten ones.
    pub(crate) fn prune(&mut self) -> Vec<Arc<str>> {
        let mut newest_first: Vec<(&Arc<str>, &Ledger)> = self.shims.iter().collect();
        newest_first.sort_unstable_by_key(|(_, ledger)| Reverse(ledger.order()));
        let is_idle = |ledger: &Ledger| ledger.day + SHIM_IDLE_DAYS_MAX < self.days;
        let gone: Vec<Arc<str>> = newest_first
            .into_iter()
            .enumerate()
            .filter(|(place, (_, ledger))| *place >= SHIMS_MAX || is_idle(ledger))
            .map(|(_, (instance, _))| Arc::clone(instance))
            .collect();
        for instance in &gone {
            self.shims.remove(instance);
        }
        // Days count again once the last shim that wrote while the clock was ahead is forgotten.
        self.newest_day = self.shims.values().map(|ledger| day_of(ledger.last)).max();
        gone
    }

    /// Returns one shim's row, without a value if the shim is unknown.
    pub(crate) fn row(&self, instance: &str) -> Row {
        let value = self.shims.get(instance).map(|ledger| {
            let row = LedgerV1 {
                acknowledged: ledger.acknowledged,
                last: ledger.last,
                day: ledger.day,
                late: ledger.late,
                replies: ledger.pending.iter().map(|(n, reply)| (*n, Arc::clone(reply))).collect(),
            };
            serde_json::to_string(&row).expect("numbers and text always serialize")
        });
        Row { key: instance.to_owned(), value }
    }

    /// Returns every shim's row, in key order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let mut instances: Vec<&Arc<str>> = self.shims.keys().collect();
        instances.sort_unstable();
        instances.into_iter().map(|instance| self.row(instance))
    }

    /// Restores a row that [`Replies::row`] returned.
    pub(crate) fn restore(&mut self, row: &Row) -> Result<(), serde_json::Error> {
        let Some(value) = &row.value else { return Ok(()) };
        let LedgerV1 { acknowledged, last, day, late, replies } = serde_json::from_str(value)?;
        let pending = replies.into_iter().collect();
        let ledger = Ledger { acknowledged, last, day, late, pending };
        // The shim that wrote last is never forgotten, and it has both counts.
        self.days = self.days.max(day);
        self.late = self.late.max(late);
        self.newest_day = self.newest_day.max(Some(day_of(last)));
        self.shims.insert(Arc::from(row.key.as_str()), ledger);
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct LedgerV1 {
    acknowledged: u64,
    last: Timestamp,
    /// Absent on the first day, and in rows of earlier builds.
    #[serde(default, skip_serializing_if = "is_zero")]
    day: u64,
    /// Absent where the clock was never ahead, and in rows of earlier builds.
    #[serde(default, skip_serializing_if = "is_zero")]
    late: u64,
    replies: Vec<(u64, Arc<Value>)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn day_of(time: Timestamp) -> i64 {
    time.0.div_euclid(Timestamp::DAY_MILLIS)
}

#[cfg(test)]
mod tests;
