//! Agents that write in the background while a test breaks something.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::poll::{PATIENCE, poll};
use crate::{Agent, Instance, write};

/// The test's view of the agents at work.
#[derive(Debug)]
pub struct Load {
    /// The number of answered calls of each agent.
    calls: Vec<AtomicUsize>,
    over: AtomicBool,
}

impl Load {
    /// Waits until each agent has this many more answers. After two, none of its calls was in
    /// flight when the wait began. A call may be in flight at one death of the daemon, but not at
    /// two.
    #[track_caller]
    pub fn wait_for_each(&self, more: usize) {
        for calls in &self.calls {
            let enough = calls.load(Ordering::Relaxed) + more;
            poll(PATIENCE, "the agents are at work", || {
                (calls.load(Ordering::Relaxed) >= enough).then_some(())
            });
        }
    }
}

/// Runs `body` while agents save, one call after the other. A call that fails fails the test.
/// Returns the acknowledged titles, each with the count 1. [`Instance::written`] returns an equal
/// map for `save` if nothing was lost and nothing was written twice.
pub fn under_load(
    instance: &Instance,
    directory: &Path,
    agents: usize,
    body: impl FnOnce(&Load),
) -> BTreeMap<String, usize> {
    let calls = (0..agents).map(|_| AtomicUsize::new(0)).collect();
    let load = Load { calls, over: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let agents: Vec<_> = load
            .calls
            .iter()
            .enumerate()
            .map(|(agent, calls)| {
                let load = &load;
                scope.spawn(move || {
                    let mut titles = Vec::new();
                    let mut shim = Agent::open(instance, directory);
                    while !load.over.load(Ordering::Relaxed) {
                        let title = format!("agent {agent} call {}", titles.len());
                        shim.tool("memory_save", &write::save(&title));
                        titles.push(title);
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                    titles
                })
            })
            .collect();
        {
            let _over = OverWhenDropped(&load.over);
            body(&load);
        }
        agents
            .into_iter()
            .flat_map(|agent| agent.join().expect("no call of an agent fails"))
            .map(|title| (title, 1))
            .collect()
    })
}

/// A guard that ends the load even if the body panics. The scope would otherwise wait for ever.
struct OverWhenDropped<'a>(&'a AtomicBool);

impl Drop for OverWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
