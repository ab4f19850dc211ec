//! An agent of torture. It writes, and after its shim is killed it continues as a new session.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use anchord_proto::hello::ToolSet;
use serde_json::{Value, json};

use crate::faults::{Fault, explained_by};
use crate::limits::REFUSED_MILLISECONDS;
use crate::scratch::Scratch;
use crate::writes::{Dice, search, write, write_noting};
use anchord::agent::{Agent, CallError, Shim};
use anchord::exit::Error;

/// State that the sessions share with the killer.
#[derive(Default)]
pub(crate) struct Shared {
    is_over: AtomicBool,
    /// The number of the current turn. Each death of a daemon and each end of a fault begins a new
    /// one.
    turn: AtomicU32,
    /// The active fault.
    fault: Mutex<Option<Fault>>,
    /// Held shared by each call in flight, and exclusively while no call may be in flight.
    gate: RwLock<()>,
    /// Whether sessions have to keep writing, because kills or faults are still due.
    is_more_to_come: AtomicBool,
}

impl Shared {
    /// Tells the sessions to end.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn turn(&self) -> u32 {
        self.turn.load(Ordering::SeqCst)
    }

    pub(crate) fn next_turn(&self) {
        self.turn.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn set_more_to_come(&self, is_more: bool) {
        self.is_more_to_come.store(is_more, Ordering::Relaxed);
    }

    pub(crate) fn fault(&self) -> Option<Fault> {
        *self.fault_slot()
    }

    pub(crate) fn set_fault(&self, fault: Option<Fault>) {
        *self.fault_slot() = fault;
    }

    /// Waits until no call is in flight. No call begins before the guard is dropped.
    pub(crate) fn hold_calls(&self) -> RwLockWriteGuard<'_, ()> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self) -> RwLockReadGuard<'_, ()> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn fault_slot(&self) -> MutexGuard<'_, Option<Fault>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A report from a session's thread to the killer.
pub(crate) enum Event {
    Answered {
        index: usize,
        /// The turn in which the call was made.
        turn: u32,
        what: Answered,
    },
    Finished(usize),
}

/// The kind of answer that a call got.
pub(crate) enum Answered {
    /// The write with this tag was acknowledged.
    Wrote(String),
    /// A call other than a write was answered.
    Read,
    /// The call was refused for a reason that the active fault explains.
    Refused(Fault),
}

/// A handle through which the killer reaches a session's current shim.
#[derive(Default)]
pub(crate) struct Slot {
    shim: Mutex<Option<Shim>>,
    killed: AtomicBool,
}

impl Slot {
    /// Kills the current shim. Returns whether there is one.
    pub(crate) fn kill(&self) -> bool {
        let shim = self.shim.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(shim) = &*shim else { return false };
        self.killed.store(true, Ordering::SeqCst);
        shim.kill();
        true
    }

    fn replace(&self, shim: Option<Shim>) {
        *self.shim.lock().unwrap_or_else(PoisonError::into_inner) = shim;
    }
}

/// The results of a session's thread.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) attempted: BTreeSet<String>,
    pub(crate) acknowledged: BTreeSet<String>,
    /// Tags of acknowledged notes, in the order of their writes.
    noted: Vec<String>,
    pub(crate) unknown: usize,
    pub(crate) errors: Vec<String>,
}

/// The result of a call, for the session that made it.
enum Reply {
    Done(String),
    /// Nothing was written. The call has to be sent again.
    Refused,
    /// The daemon answered that the outcome is unknown.
    Unknown,
    /// The session's own shim was killed, so the outcome is unknown.
    Killed,
    Failed(CallError),
}

/// A session's thread and the state it works with.
pub(crate) struct Session<'a> {
    pub(crate) scratch: &'a Scratch,
    pub(crate) index: usize,
    pub(crate) slot: &'a Slot,
    pub(crate) events: Sender<Event>,
    pub(crate) shared: &'a Shared,
    /// The turn in which its last call was answered.
    pub(crate) answered_in: Cell<u32>,
    pub(crate) notes: bool,
}

impl Session<'_> {
    /// Makes at least `writes` writes, and more while kills or faults are still due.
    pub(crate) fn run(&self, writes: u32, mut dice: Dice) -> Outcome {
        let mut outcome = Outcome::default();
        let mut agent: Option<Agent> = None;
        let mut number = 0;
        while !self.shared.is_over()
            && (number < writes || self.shared.is_more_to_come.load(Ordering::Relaxed))
        {
            let current = match &mut agent {
                Some(agent) => agent,
                None => match self.begin() {
                    Ok(new) => agent.insert(new),
                    Err(error) => {
                        outcome.errors.push(error.message);
                        break;
                    }
                },
            };
            let tag = format!("t-{:04}-{number:06}", self.index);
            let gone = self.write(current, tag, &mut dice, &mut outcome)
                || (self.notes && self.between_writes(current, &mut dice, &mut outcome));
            if gone {
                self.slot.replace(None);
                agent = None;
            }
            number += 1;
            if number >= writes {
                // These extra writes only keep a session there to disturb, so they need not be
                // fast.
                std::thread::sleep(Duration::from_millis(REFUSED_MILLISECONDS));
            }
        }
        self.slot.replace(None);
        self.tell(Event::Finished(self.index));
        outcome
    }

    fn begin(&self) -> Result<Agent, Error> {
        let tools = if self.notes { ToolSet::All } else { ToolSet::Default };
        let _passed = self.shared.pass();
        let agent = self.scratch.agent_with(&format!("torture-{}", self.index), tools)?;
        self.slot.replace(Some(agent.shim()));
        Ok(agent)
    }

    /// Makes one write, and repeats it while it is refused. Returns whether the shim is gone.
    fn write(&self, agent: &mut Agent, tag: String, dice: &mut Dice, seen: &mut Outcome) -> bool {
        let (tool, arguments) =
            if self.notes { write_noting(&tag, dice.next()) } else { write(&tag, dice.next()) };
        seen.attempted.insert(tag.clone());
        loop {
            match self.call(agent, tool, &arguments, Some(&tag)) {
                Reply::Done(_) => {
                    if tool == "memory_note" {
                        seen.noted.push(tag.clone());
                    }
                    seen.acknowledged.insert(tag);
                    return false;
                }
                Reply::Refused if self.shared.is_over() => return false,
                Reply::Refused => {
                    std::thread::sleep(Duration::from_millis(REFUSED_MILLISECONDS));
                }
                Reply::Unknown => {
                    seen.unknown += 1;
                    return false;
                }
                Reply::Killed => {
                    seen.unknown += 1;
                    return true;
                }
                Reply::Failed(error) => {
                    seen.errors.push(format!("{tag}: {error}"));
                    return error == CallError::Gone;
                }
            }
        }
    }

    /// Sometimes compacts, or searches for one of its own notes; not finding it is an error.
    /// Returns whether the shim is gone.
    fn between_writes(&self, agent: &mut Agent, dice: &mut Dice, seen: &mut Outcome) -> bool {
        let (roll, which) = (dice.below(8), dice.below(seen.noted.len() as u64));
        let tag = seen.noted.get(usize::try_from(which).unwrap_or(0)).cloned();
        let (tool, arguments) = match (roll, &tag) {
            (0, _) => ("memory_compact", json!({"target_usage": 0.5})),
            (1..4, Some(tag)) => ("memory_search", search(tag)),
            _ => return false,
        };
        match (self.call(agent, tool, &arguments, None), tag) {
            (Reply::Done(text), Some(tag)) if tool == "memory_search" && !text.contains(&tag) => {
                seen.errors.push(format!("a search does not find {tag}: {text}"));
            }
            (Reply::Done(_) | Reply::Refused | Reply::Unknown, _) => {}
            (Reply::Killed, _) => return true,
            (Reply::Failed(error), _) => {
                seen.errors.push(format!("{tool}: {error}"));
                return error == CallError::Gone;
            }
        }
        false
    }

    /// Makes a call, and reports the answer to the killer before it releases the gate. `tag` is the
    /// tag of a write; other calls have none.
    fn call(&self, agent: &mut Agent, tool: &str, arguments: &Value, tag: Option<&str>) -> Reply {
        let _passed = self.shared.pass();
        let (turn, before) = (self.shared.turn(), self.shared.fault());
        let answer = agent.call(tool, arguments);
        let after = self.shared.fault();
        let reads = tool == "memory_search";
        // One fault may end and the next one begin while a call is in flight.
        let fault = match &answer {
            Err(CallError::Refused(why)) => explained_by([before, after], why, reads),
            _ => None,
        };
        let (what, reply) = match (answer, fault) {
            (Ok(text), _) => {
                let what = tag.map_or(Answered::Read, |tag| Answered::Wrote(tag.to_owned()));
                (what, Reply::Done(text))
            }
            (Err(CallError::Refused(why)), Some(fault)) => {
                let is_unknown = why.contains("outcome unknown");
                let reply = if is_unknown { Reply::Unknown } else { Reply::Refused };
                (Answered::Refused(fault), reply)
            }
            (Err(CallError::Gone), _) if self.slot.killed.swap(false, Ordering::SeqCst) => {
                return Reply::Killed;
            }
            (Err(error), _) if failed_twice(&error) && self.has_met_two_deaths() => {
                (Answered::Read, Reply::Unknown)
            }
            (Err(error), _) => return Reply::Failed(error),
        };
        self.answered_in.set(self.shared.turn());
        self.tell(Event::Answered { index: self.index, turn, what });
        reply
    }

    /// Returns whether a call may have been in flight at two deaths of daemons. A death just before
    /// the call counts: the shim may not have noticed it when the call came.
    fn has_met_two_deaths(&self) -> bool {
        self.shared.turn() >= self.answered_in.get() + 2
    }

    fn tell(&self, event: Event) {
        // Fails if the killer has already given up, and then nobody needs the report.
        let _ = self.events.send(event);
    }
}

/// Returns whether the shim gave up on a call that was in flight at two deaths, as its contract is.
fn failed_twice(error: &CallError) -> bool {
    error.to_string().contains("failed twice on this call")
}
