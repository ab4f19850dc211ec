//! The result of torture, as data and in words.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::faults::{Fault, FaultReport};
use anchord::show;

/// Errors and lost or duplicated writes that the printed result names. It only counts the rest.
const SAMPLES_MAX: usize = 20;

/// The counts and findings of one run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) sessions: u32,
    pub(crate) writes: u32,
    pub(crate) daemon_kills: u32,
    pub(crate) shim_kills: u32,
    /// Daemons that were killed while they started.
    pub(crate) starts_killed: u32,
    /// Times that a daemon was suspended by a signal and resumed.
    pub(crate) stops: u32,
    /// Results of each fault that was tried.
    pub(crate) faults: BTreeMap<Fault, FaultReport>,
    pub(crate) milliseconds: u64,
    /// Writes that clients were told are saved.
    pub(crate) acknowledged: usize,
    /// Acknowledged writes that are there at the end.
    pub(crate) found: usize,
    pub(crate) lost: Vec<String>,
    /// Writes that were applied more than once, or are there more than once.
    pub(crate) duplicated: Vec<String>,
    /// Writes whose outcome is unknown; they may be there or not. The session's shim was killed, or
    /// the daemon answered during a fault that it does not know, or the call met two deaths.
    pub(crate) unknown: usize,
    /// Errors that clients saw although they kept their shim, and failed checks of faults, searches
    /// and the journal.
    pub(crate) errors: Vec<String>,
    /// The reason for stopping early, if torture did.
    pub(crate) stopped: Option<&'static str>,
}

impl Report {
    /// Returns what the run found that must not be, or why it ended early; `None` if all is well.
    pub(crate) fn complaint(&self) -> Option<String> {
        let is_good = self.lost.is_empty() && self.duplicated.is_empty() && self.errors.is_empty();
        match self.stopped {
            _ if !is_good => Some("torture found what must not be".to_owned()),
            Some(why) => Some(format!("torture stopped early: {why}")),
            None => None,
        }
    }

    /// Returns the results of a fault, to be updated.
    pub(crate) fn fault(&mut self, fault: Fault) -> &mut FaultReport {
        self.faults.entry(fault).or_default()
    }

    pub(crate) fn words(&self) -> String {
        let mut lines = vec![format!(
            "{} x {} writes, {}, {}, {}",
            show::count(self.sessions.into(), "session"),
            self.writes,
            show::count(self.daemon_kills.into(), "daemon kill"),
            show::count(self.shim_kills.into(), "shim kill"),
            show::duration(self.milliseconds),
        )];
        if self.starts_killed + self.stops > 0 {
            lines.push(format!(
                "{} of a starting daemon, {}",
                show::count(self.starts_killed.into(), "kill"),
                show::count(self.stops.into(), "stop"),
            ));
        }
        lines.extend(self.faults.iter().flat_map(|(fault, report)| report.lines(*fault)));
        // An error comes first: it mostly explains what is lost.
        let bad = self.errors.iter().map(|error| format!("error: {error}"));
        let bad = bad.chain(self.lost.iter().map(|tag| format!("lost: {tag}")));
        let bad: Vec<String> =
            bad.chain(self.duplicated.iter().map(|tag| format!("twice: {tag}"))).collect();
        lines.extend(bad.iter().take(SAMPLES_MAX).map(|line| format!("  {}", show::plain(line))));
        if bad.len() > SAMPLES_MAX {
            lines.push(format!("  and {} more", bad.len() - SAMPLES_MAX));
        }
        lines.extend(self.stopped.map(|why| format!("  stopped early: {why}")));
        lines.push(format!(
            "acknowledged {}, found {}, lost {}, duplicated {}, errors {}, unknown {}\n",
            self.acknowledged,
            self.found,
            self.lost.len(),
            self.duplicated.len(),
            self.errors.len(),
            self.unknown,
        ));
        lines.join("\n")
    }
}
