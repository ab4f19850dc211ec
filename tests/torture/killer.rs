//! Kills daemons and shims and inflicts faults, and meanwhile collects what the sessions report.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::faults::{Fault, Grounds};
use crate::limits::STOP_MILLISECONDS;
use crate::report::Report;
use crate::scratch::{Scratch, stop_for};
use crate::session::{Answered, Event, Shared, Slot};
use crate::writes::Dice;
use anchord::exit::Error;
use anchord::limits::{CALL_SECONDS_MAX, POLL_MILLISECONDS};

/// The moments of kills and faults, counted in acknowledged writes. The latest is first, so that
/// the next one can be popped off the end.
pub(crate) struct Moments {
    pub(crate) daemon: Vec<u64>,
    pub(crate) shim: Vec<u64>,
    pub(crate) faults: Vec<(u64, Fault)>,
}

impl Moments {
    pub(crate) fn new(total: u64, daemon: u32, shim: u32, dice: &mut Dice) -> Self {
        // Nothing is due in the last tenth, where sessions to disturb may be missing.
        let mut moments = |kills: u32| {
            let mut moments: Vec<u64> =
                (0..kills).map(|_| dice.below(total * 9 / 10 + 1)).collect();
            moments.sort_unstable_by(|a, b| b.cmp(a));
            moments
        };
        Self { daemon: moments(daemon), shim: moments(shim), faults: Vec::new() }
    }

    /// Adds each fault `times` times, at random moments.
    pub(crate) fn with_faults(mut self, total: u64, times: u32, dice: &mut Dice) -> Self {
        let all = (0..times).flat_map(|_| Fault::ALL);
        self.faults = all.map(|fault| (dice.below(total * 9 / 10 + 1), fault)).collect();
        self.faults.sort_unstable_by_key(|(moment, _)| std::cmp::Reverse(*moment));
        self
    }

    fn is_empty(&self) -> bool {
        self.daemon.is_empty() && self.faults.is_empty()
    }
}

/// The loop that kills and inflicts faults when they are due.
pub(crate) struct Killer<'a> {
    pub(crate) scratch: &'a Scratch,
    pub(crate) shared: &'a Shared,
    pub(crate) slots: &'a [Slot],
    pub(crate) events: Receiver<Event>,
    pub(crate) deadline: Instant,
    pub(crate) report: &'a mut Report,
    pub(crate) moments: Moments,
    pub(crate) dice: Dice,
    /// The targets of faults, with `--faults` only.
    pub(crate) grounds: Option<Grounds>,
    pub(crate) progress: Progress,
}

pub(crate) struct Progress {
    /// Tags of acknowledged writes.
    pub(crate) acknowledged: BTreeSet<String>,
    /// The number of answers so far.
    pub(crate) answers: u64,
    /// Whether each session still lacks an answer to a call that it made in this turn.
    disturbed: Vec<bool>,
    /// Whether only an acknowledged write counts as such an answer.
    needs_write: bool,
    finished: BTreeSet<usize>,
}

impl Progress {
    pub(crate) fn new(sessions: usize) -> Self {
        Self {
            acknowledged: BTreeSet::new(),
            answers: 0,
            disturbed: vec![false; sessions],
            needs_write: false,
            finished: BTreeSet::new(),
        }
    }

    pub(crate) fn is_disturbed(&self) -> bool {
        self.disturbed.contains(&true)
    }

    /// Returns the number of disturbed sessions.
    pub(crate) fn disturbed(&self) -> usize {
        self.disturbed.iter().filter(|disturbed| **disturbed).count()
    }

    fn undisturbed(&mut self, index: usize) {
        if let Some(disturbed) = self.disturbed.get_mut(index) {
            *disturbed = false;
        }
    }
}

/// The result of waiting for one report of a session.
#[derive(PartialEq, Eq)]
enum Heard {
    Something,
    Nothing,
    /// Every session has ended, or torture stops early.
    Over,
}

impl Killer<'_> {
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        while self.hear(Duration::from_millis(POLL_MILLISECONDS)) != Heard::Over {
            if self.progress.finished.len() < self.slots.len() {
                self.do_what_is_due()?;
            }
        }
        Ok(())
    }

    /// Waits for the next report of a session and records it. Stops torture after an interrupt or
    /// at the deadline.
    fn hear(&mut self, patience: Duration) -> Heard {
        if self.report.stopped.is_some() {
            return Heard::Over;
        }
        let heard = match self.events.recv_timeout(patience) {
            Ok(Event::Answered { index, turn, what }) => {
                self.progress.answers += 1;
                let is_write = matches!(what, Answered::Wrote(_));
                match what {
                    Answered::Wrote(tag) => {
                        self.progress.acknowledged.insert(tag);
                    }
                    Answered::Refused(fault) => self.report.fault(fault).refused += 1,
                    Answered::Read => {}
                }
                if turn == self.shared.turn() && (is_write || !self.progress.needs_write) {
                    self.progress.undisturbed(index);
                }
                Heard::Something
            }
            Ok(Event::Finished(index)) => {
                self.progress.finished.insert(index);
                self.progress.undisturbed(index);
                Heard::Something
            }
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => return Heard::Over,
        };
        if self.scratch.interrupted() {
            self.report.stopped = Some("interrupted");
        } else if Instant::now() > self.deadline {
            self.report.stopped = Some("out of time");
        }
        heard
    }

    /// Records reports until `is_enough` holds or `patience` has passed. Returns whether it holds.
    pub(crate) fn hear_until(
        &mut self,
        patience: Duration,
        is_enough: impl Fn(&Self) -> bool,
    ) -> bool {
        let deadline = Instant::now() + patience;
        while !is_enough(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.hear(left) == Heard::Over {
                return is_enough(self);
            }
        }
        true
    }

    /// Records the reports that have already arrived.
    pub(crate) fn hear_all(&mut self) {
        while self.hear(Duration::ZERO) == Heard::Something {}
    }

    fn do_what_is_due(&mut self) -> Result<(), Error> {
        let now = self.progress.acknowledged.len() as u64;
        if self.moments.shim.pop_if(|moment| *moment <= now).is_some() {
            let index = usize::try_from(self.dice.below(self.slots.len() as u64)).unwrap_or(0);
            self.report.shim_kills += u32::from(self.slots.get(index).is_some_and(Slot::kill));
        }
        // By invariant 5, a call in flight at two daemon deaths is given up with an unknown
        // outcome. So each session first gets an answer to a call that it made after the last
        // death.
        if self.progress.is_disturbed() {
            return Ok(());
        }
        if self.moments.daemon.pop_if(|moment| *moment <= now).is_some() {
            self.kill_daemon()?;
        } else if let Some((_, fault)) = self.moments.faults.pop_if(|(moment, _)| *moment <= now) {
            self.inflict(fault)?;
        }
        if self.moments.is_empty() {
            self.shared.set_more_to_come(false);
        }
        Ok(())
    }

    fn kill_daemon(&mut self) -> Result<(), Error> {
        let pid = self.scratch.wait_for_daemon(None)?.pid;
        self.scratch.kill_daemon(pid)?;
        self.report.daemon_kills += 1;
        self.begin_turn(false);
        if self.grounds.is_some() {
            self.disturb_start()?;
        }
        Ok(())
    }

    /// Kills the running daemon again, and its successor while that starts. Then suspends the next
    /// one for a while.
    fn disturb_start(&mut self) -> Result<(), Error> {
        let patience = Duration::from_secs(CALL_SECONDS_MAX);
        self.hear_until(patience, |killer| !killer.progress.is_disturbed());
        // The successor may be found late, with a call in flight. Calls are held during the first
        // kill, so that such a call has met no other death.
        let shared = self.shared;
        let held = shared.hold_calls();
        let pid = self.scratch.wait_for_daemon(None)?.pid;
        self.scratch.kill_daemon(pid)?;
        self.hear_all();
        self.begin_turn(false);
        drop(held);
        if !self.progress.is_disturbed() {
            return Ok(());
        }
        self.report.starts_killed += u32::from(self.scratch.kill_next_start(pid)?);
        self.begin_turn(false);
        let next = self.scratch.wait_for_daemon(None)?.pid;
        stop_for(next, Duration::from_millis(STOP_MILLISECONDS))?;
        self.report.stops += 1;
        Ok(())
    }

    /// Begins a turn. Every session that has not finished is disturbed until a call that it makes
    /// from now on is answered. With `needs_write`, only an acknowledged write counts.
    pub(crate) fn begin_turn(&mut self, needs_write: bool) {
        self.shared.next_turn();
        let Progress { disturbed, needs_write: is_needed, finished, .. } = &mut self.progress;
        *is_needed = needs_write;
        for (index, disturbed) in disturbed.iter_mut().enumerate() {
            *disturbed = !finished.contains(&index);
        }
    }
}
