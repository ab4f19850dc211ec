//! Agents that write in the background while a test breaks something.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::poll::{PATIENCE, poll};
use crate::{Agent, Instance, write};

/// What the test sees of the agents at work.
#[derive(Debug, Default)]
pub struct Load {
    calls: AtomicUsize,
    over: AtomicBool,
}

impl Load {
    /// Waits until this many more calls have been answered.
    #[track_caller]
    pub fn wait_for_calls(&self, more: usize) {
        let enough = self.calls.load(Ordering::Relaxed) + more;
        poll(PATIENCE, "the agents are at work", || {
            (self.calls.load(Ordering::Relaxed) >= enough).then_some(())
        });
    }
}

/// Runs `body` while agents save, one call after the other. A call that fails fails the test. Returns the titles
/// that were acknowledged, each once, as [`Instance::written`] shows them for `save` when nothing was
/// lost and nothing doubled.
pub fn under_load(
    instance: &Instance,
    directory: &Path,
    agents: usize,
    body: impl FnOnce(&Load),
) -> BTreeMap<String, usize> {
    let load = Load::default();
    std::thread::scope(|scope| {
        let agents: Vec<_> = (0..agents)
            .map(|agent| {
                let load = &load;
                scope.spawn(move || {
                    let mut titles = Vec::new();
                    let mut shim = Agent::open(instance, directory);
                    while !load.over.load(Ordering::Relaxed) {
                        let title = format!("agent {agent} call {}", titles.len());
                        shim.tool("memory_save", &write::save(&title));
                        titles.push(title);
                        load.calls.fetch_add(1, Ordering::Relaxed);
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

/// Also when the body panics: the scope would wait for the agents for ever.
struct OverWhenDropped<'a>(&'a AtomicBool);

impl Drop for OverWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
