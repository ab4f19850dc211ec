//! The turn of a writer whose append came too late.
//!
//! Others may append while a caller decides again, and then it comes too late again. With several
//! writers that go on and on, the slowest never comes first. So the head's lock is kept for the
//! caller, for a moment, while it reads what came first and decides.

use std::sync::Arc;
use std::time::Duration;

use crate::pool::Lease;
use parking_lot::{Mutex, MutexGuard};

/// A session that holds a project's head, if there is one. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    lease: Option<Lease>,
    /// The number of leases so far.
    count: u64,
}

impl Turn {
    /// Returns the session that holds the head, with its transaction.
    pub(crate) fn take(&self) -> Option<Lease> {
        self.kept().lease.take()
    }

    /// Keeps a session for the next append, and rolls back if there is none in time.
    pub(crate) fn keep(&self, lease: Lease, limit: Duration) {
        let mut kept = self.kept();
        kept.count += 1;
        kept.lease = Some(lease);
        let (count, this) = (kept.count, self.clone());
        drop(kept);
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            if let Some(lease) = this.expired(count) {
                // If that fails or takes longer, the session is closed, and the server rolls back.
                let _ = tokio::time::timeout(limit, lease.roll_back()).await;
            }
        });
    }

    fn expired(&self, count: u64) -> Option<Lease> {
        let mut kept = self.kept();
        if kept.count == count { kept.lease.take() } else { None }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }
}
