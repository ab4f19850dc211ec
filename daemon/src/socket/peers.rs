//! Counts each process's connections, so that one that leaks them locks nobody else out.

use std::collections::HashMap;
use std::sync::Arc;

use crate::limits::{CONNECTIONS_KEPT_FREE, PEER_CONNECTIONS_MAX};
use parking_lot::Mutex;

/// The open connections, by process.
#[derive(Debug)]
pub(crate) struct Peers {
    counts: Arc<Mutex<HashMap<i32, usize>>>,
    connections_max: usize,
}

/// A connection that counts until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    counts: Arc<Mutex<HashMap<i32, usize>>>,
    pid: i32,
}

/// The reason a connection is one too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMany {
    #[error("process {pid} has {open} connections open, and no process may have more")]
    OfOneProcess { pid: i32, open: usize },
    #[error("{open} connections are open, and there is room for no more")]
    InAll { open: usize },
}

impl Peers {
    /// Creates the counts for a process that may have `descriptors` files and sockets open.
    pub(crate) fn new(descriptors: usize) -> Self {
        let connections_max = descriptors.saturating_sub(CONNECTIONS_KEPT_FREE);
        Self { counts: Arc::default(), connections_max: connections_max.max(1) }
    }

    /// Counts one more connection of a process.
    pub(crate) fn count(&self, pid: i32) -> Result<Counted, TooMany> {
        let mut counts = self.counts.lock();
        let open = counts.get(&pid).copied().unwrap_or_default();
        if open >= PEER_CONNECTIONS_MAX {
            return Err(TooMany::OfOneProcess { pid, open });
        }
        let all: usize = counts.values().sum();
        if all >= self.connections_max {
            return Err(TooMany::InAll { open: all });
        }
        counts.insert(pid, open + 1);
        Ok(Counted { counts: Arc::clone(&self.counts), pid })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        let left = counts.get(&self.pid).map_or(0, |open| open - 1);
        match left {
            0 => counts.remove(&self.pid),
            left => counts.insert(self.pid, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_cannot_use_up_all_connections() {
        let peers = Peers::new(10_000);
        let held: Vec<Counted> =
            (0..PEER_CONNECTIONS_MAX).map(|_| peers.count(1).unwrap()).collect();
        let open = PEER_CONNECTIONS_MAX;
        assert_eq!(peers.count(1).err(), Some(TooMany::OfOneProcess { pid: 1, open }));
        drop(peers.count(2).unwrap());
        drop(held);
        drop(peers.count(1).unwrap());
        assert!(peers.counts.lock().is_empty());
    }

    #[test]
    fn some_descriptors_are_reserved_for_files() {
        let peers = Peers::new(CONNECTIONS_KEPT_FREE + 3);
        let held: Vec<Counted> = (0..3).map(|pid| peers.count(pid).unwrap()).collect();
        assert_eq!(peers.count(9).err(), Some(TooMany::InAll { open: 3 }));
        drop(held);
        drop(peers.count(9).unwrap());
    }
}
