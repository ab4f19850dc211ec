//! The exactly-once ledger: which lines of which shims were applied, and what they were told.
//!
//! A shim numbers its lines and says with each how far it has had answers. A reply is kept until it
//! is acknowledged, so that the same number again gets the same reply and is not applied again.
//!
//! Replies that a shim never acknowledged are forgotten after a number of days on which others
//! wrote. A clock that jumps adds one such day at most: a day counts if it is later than all days
//! before it. Where the clock was ahead once, no day counts until it gets there again. So a number of
//! shims bounds the ledger as well, by the order in which they wrote.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anchord_memory::Timestamp;
use serde::{Deserialize, Serialize};

use super::limits::{SHIM_IDLE_DAYS_MAX, SHIMS_MAX};
use super::{Call, Row};

/// What shims have written and may ask for again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    shims: HashMap<Arc<str>, Ledger>,
    /// The latest day on which anything was recorded, since 1970.
    newest_day: Option<i64>,
    /// How many days have become the latest after the first.
    days: u64,
    /// How many writes were recorded on days before the latest.
    late: u64,
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
    /// [`Replies::days`] at its last write.
    day: u64,
    /// [`Replies::late`] at its last write.
    late: u64,
    pending: BTreeMap<u64, Arc<str>>,
}

impl Ledger {
    /// Orders shims by their last writes. Without late ones, times tell the order within a day.
    fn order(&self) -> (u64, u64, Timestamp) {
        (self.day, self.late, self.last)
    }
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
        let day = day_of(time);
        self.days += u64::from(self.newest_day.is_some_and(|newest| newest < day));
        self.newest_day = self.newest_day.max(Some(day));
        self.late += u64::from(self.newest_day.is_some_and(|newest| day < newest));
        let ledger = self.shims.entry(Arc::clone(&call.instance)).or_default();
        ledger.last = ledger.last.max(time);
        ledger.day = self.days;
        ledger.late = self.late;
        ledger.acknowledged = ledger.acknowledged.max(call.acknowledged);
        ledger.pending.insert(call.number, reply.into());
        ledger.pending = ledger.pending.split_off(&ledger.acknowledged.saturating_add(1));
    }

    /// Forgets shims since whose last write there were more than [`SHIM_IDLE_DAYS_MAX`] days of
    /// writing, and of the others all but the [`SHIMS_MAX`] that wrote last. Returns which.
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
        // Days count again once the last shim that met a clock ahead is forgotten.
        self.newest_day = self.shims.values().map(|ledger| day_of(ledger.last)).max();
        gone
    }

    /// One shim's row, without a value when it is not known.
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

    /// Every shim's row, in key order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let mut instances: Vec<&Arc<str>> = self.shims.keys().collect();
        instances.sort_unstable();
        instances.into_iter().map(|instance| self.row(instance))
    }

    /// Takes in a row that [`Replies::row`] gave.
    pub(crate) fn restore(&mut self, row: &Row) -> Result<(), serde_json::Error> {
        let Some(value) = &row.value else { return Ok(()) };
        let LedgerV1 { acknowledged, last, day, late, replies } = serde_json::from_str(value)?;
        let pending = replies.into_iter().collect();
        let ledger = Ledger { acknowledged, last, day, late, pending };
        // The shim that wrote last is never forgotten, and has both counts.
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
    replies: Vec<(u64, Arc<str>)>,
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
