//! The faults that torture inflicts on a daemon or its files while sessions write.
//!
//! While a fault is active, a write may be refused with the fault as the reason. It is sent again,
//! and has to be accepted once the fault is over. If the fault hit a running daemon, that same
//! daemon has to accept it. No write may be lost. A fault that cannot be inflicted is reported with
//! the reason.

mod disk;
mod journal;
mod limits;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anchord_daemon::api::{self, RepairParams, RepairReply};
use anyhow::Context;
use rustix::process::Resource;
use serde::Serialize;
use serde_json::json;

use self::disk::Disk;
use self::journal::{Damage, Journal};
use crate::killer::Killer;
use crate::limits::{FAULT_MILLISECONDS, RECOVERY_SECONDS_MAX};
use crate::scratch::{Scratch, stop};
use crate::writes::{Dice, filler};
use anchord::exit::Error;
use anchord::tally::{tally, texts};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    /// The index is removed and the daemon killed. The next daemon is killed while it replays the
    /// journal.
    KilledReplay,
    /// The data's disk is full, or nearly so.
    FullDisk,
    /// The daemon's files cannot grow: the file-size limit is just above the size of the last
    /// segment.
    FileSize,
    /// The daemon can open no more descriptors, or only a few.
    Descriptors,
    /// A segment of the journal is missing.
    SegmentRemoved,
    /// The last segment is cut short.
    SegmentCut,
    /// A segment is replaced by an older copy of it.
    SegmentReplaced,
    /// Two segments are swapped.
    SegmentsSwapped,
}

impl Fault {
    pub(crate) const ALL: [Self; 8] = [
        Self::KilledReplay,
        Self::FullDisk,
        Self::FileSize,
        Self::Descriptors,
        Self::SegmentRemoved,
        Self::SegmentCut,
        Self::SegmentReplaced,
        Self::SegmentsSwapped,
    ];

    /// Returns whether the fault explains why a call was refused with this text. Reads may be
    /// refused only for lack of descriptors.
    pub(crate) fn explains(self, refusal: &str, is_read: bool) -> bool {
        let reasons: &[&str] = match self {
            Self::KilledReplay => return false,
            Self::FullDisk => &["the disk is full", "No space left"],
            Self::FileSize => &["File too large"],
            Self::Descriptors => &["Too many open files"],
            Self::SegmentRemoved
            | Self::SegmentCut
            | Self::SegmentReplaced
            | Self::SegmentsSwapped => &["read-only: "],
        };
        (self == Self::Descriptors || !is_read)
            && reasons.iter().any(|reason| refusal.contains(reason))
    }

    fn words(self) -> &'static str {
        match self {
            Self::KilledReplay => "daemon killed while it replayed the journal",
            Self::FullDisk => "disk filled",
            Self::FileSize => "files kept from growing",
            Self::Descriptors => "descriptors taken",
            Self::SegmentRemoved => "segment removed",
            Self::SegmentCut => "segment cut",
            Self::SegmentReplaced => "segment replaced by an older copy",
            Self::SegmentsSwapped => "two segments swapped",
        }
    }
}

/// Returns the first of these faults that explains a refusal.
pub(crate) fn explained_by(
    faults: [Option<Fault>; 2],
    refusal: &str,
    is_read: bool,
) -> Option<Fault> {
    faults.into_iter().flatten().find(|fault| fault.explains(refusal, is_read))
}

/// The results of all attempts at one kind of fault.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct FaultReport {
    pub(crate) inflicted: u32,
    /// Calls that were refused during the fault. Refused writes were sent again.
    pub(crate) refused: u64,
    /// The number of attempts that failed, by reason.
    pub(crate) not_inflicted: BTreeMap<String, u32>,
}

impl FaultReport {
    pub(crate) fn lines(&self, fault: Fault) -> Vec<String> {
        let refused = match self.refused {
            0 => String::new(),
            refused => format!(", {refused} calls refused"),
        };
        let done = (self.inflicted > 0)
            .then(|| format!("{}: {} x{refused}", fault.words(), self.inflicted));
        let not = self
            .not_inflicted
            .iter()
            .map(|(why, times)| format!("{}: could not be done, {times} x: {why}", fault.words()));
        done.into_iter().chain(not).collect()
    }
}

/// Whether a fault was inflicted. Its effects are in the report.
enum Tried {
    Inflicted,
    Not(String),
}

/// A guard that lifts a fault when it is dropped.
struct Lift(Option<Box<dyn FnOnce()>>);

impl Lift {
    fn by(lift: impl FnOnce() + 'static) -> Self {
        Self(Some(Box::new(lift)))
    }
}

impl Drop for Lift {
    fn drop(&mut self) {
        if let Some(lift) = self.0.take() {
            lift();
        }
    }
}

/// The targets of faults, prepared before the sessions begin.
pub(crate) struct Grounds {
    disk: Result<Disk, String>,
    data: PathBuf,
    older: journal::Copy,
}

/// A separate disk for the data, or the reason why there is not one. It has to be mounted before
/// the daemon starts.
pub(crate) struct OwnDisk(Result<Disk, String>);

impl OwnDisk {
    pub(crate) fn mount(scratch: &Scratch, is_kept: bool) -> Result<Self, Error> {
        if is_kept {
            let why = "with --keep the data is left on the disk where it is";
            return Ok(Self(Err(why.to_owned())));
        }
        let data = scratch.data();
        fs::create_dir(&data).context("cannot make the data's folder")?;
        Ok(Self(Disk::mount(&data)))
    }
}

impl Grounds {
    /// Fills the journal until it has more than one segment. Opening it then takes a while, and two
    /// segments can be swapped.
    pub(crate) fn prepare(
        scratch: &Scratch,
        disk: OwnDisk,
        dice: &mut Dice,
    ) -> Result<Self, Error> {
        let data = scratch.data();
        for round in 0.. {
            let is_last = round > 0 && Journal::find(&data)?.segments()?.len() > 1;
            let content = if is_last { "a filler".to_owned() } else { filler(dice) };
            scratch.tool("memory_note", json!({"key": "filler", "content": content}))?;
            if is_last {
                break;
            }
        }
        let older = Journal::find(&data)?.copy_last()?;
        Ok(Self { disk: disk.0, data, older })
    }
}

impl Killer<'_> {
    /// Inflicts a fault. When this returns, the fault is over and its effects are recorded.
    pub(crate) fn inflict(&mut self, fault: Fault) -> Result<(), Error> {
        let Some(mut grounds) = self.grounds.take() else { return Ok(()) };
        let tried = match fault {
            Fault::KilledReplay => self.kill_replay(&grounds),
            Fault::FullDisk | Fault::FileSize | Fault::Descriptors => self.starve(fault, &grounds),
            Fault::SegmentRemoved
            | Fault::SegmentCut
            | Fault::SegmentReplaced
            | Fault::SegmentsSwapped => self.damage(fault, &mut grounds),
        };
        self.grounds = Some(grounds);
        let report = self.report.fault(fault);
        match tried? {
            Tried::Inflicted => report.inflicted += 1,
            Tried::Not(why) => *report.not_inflicted.entry(why).or_default() += 1,
        }
        Ok(())
    }

    /// Removes the index, so that the next daemon has to replay the whole journal, and kills that
    /// daemon during the replay.
    fn kill_replay(&mut self, grounds: &Grounds) -> Result<Tried, Error> {
        let shared = self.shared;
        let held = shared.hold_calls();
        let pid = self.scratch.wait_for_daemon(None)?.pid;
        // Suspended, the daemon keeps its lock, so no other daemon opens the files while they
        // change.
        stop(pid)?;
        let journal = Journal::find(&grounds.data)?;
        journal.remove_derived()?;
        self.scratch.kill_daemon(pid)?;
        self.hear_all();
        self.begin_turn(false);
        let answers = self.progress.answers;
        drop(held);
        // Opening a project creates the index just before it replays the journal.
        if !self.scratch.wait_until(|| journal.index().exists()) {
            return Ok(Tried::Not("no daemon began to open the project".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(self.dice.below(50)));
        let Some(pid) = self.scratch.lock_holder() else {
            return Ok(Tried::Not("the daemon that opens the project is not known".to_owned()));
        };
        // An answer that the daemon sent before this stop arrives within the wait.
        stop(pid)?;
        self.hear_until(Duration::from_millis(100), |killer| killer.progress.answers > answers);
        self.scratch.kill_daemon(pid)?;
        self.begin_turn(false);
        Ok(if self.progress.answers > answers {
            Tried::Not("the replay was over, and a call answered, before the kill".to_owned())
        } else {
            Tried::Inflicted
        })
    }

    /// Takes disk space, file growth or descriptors from the running daemon for a while.
    fn starve(&mut self, fault: Fault, grounds: &Grounds) -> Result<Tried, Error> {
        if fault == Fault::Descriptors && self.dice.below(2) == 0 {
            self.close_project()?;
        }
        let pid = self.scratch.wait_for_daemon(None)?.pid;
        self.shared.set_fault(Some(fault));
        let spare = self.dice.below(8);
        let lift = match (fault, &grounds.disk) {
            (Fault::FullDisk, Ok(disk)) => disk.fill(spare << 12),
            (Fault::FullDisk, Err(why)) => Err(why.clone()),
            (Fault::FileSize, _) => {
                let bytes = Journal::find(&grounds.data)?.last_bytes()?;
                limits::lower(pid, Resource::Fsize, bytes + (spare << 10))
            }
            _ => limits::descriptors_of(pid)
                .and_then(|open| limits::lower(pid, Resource::Nofile, open + spare)),
        };
        let lift = match lift {
            Ok(lift) => lift,
            Err(why) => {
                self.shared.set_fault(None);
                return Ok(Tried::Not(why));
            }
        };
        let refused = self.report.fault(fault).refused;
        self.hear_until(Duration::from_millis(FAULT_MILLISECONDS), |_| false);
        drop(lift);
        self.see_writes_again(fault);
        if self.report.stopped.is_none() && self.scratch.wait_for_daemon(None)?.pid != pid {
            self.report.errors.push(format!("{}: the daemon ended", fault.words()));
        }
        let is_felt = fault == Fault::Descriptors || self.report.fault(fault).refused > refused;
        Ok(if is_felt {
            Tried::Inflicted
        } else {
            Tried::Not("no write was refused while it was on".to_owned())
        })
    }

    /// Replaces the daemon with one that has not opened the project. An agent starts it and makes
    /// no call.
    fn close_project(&mut self) -> Result<(), Error> {
        let shared = self.shared;
        let _held = shared.hold_calls();
        self.stop_held_daemon()?;
        drop(self.scratch.agent("anchord")?);
        Ok(())
    }

    /// Damages the journal while no daemon runs. Checks that the next daemon reports the damage and
    /// still shows every acknowledged write. Then repairs the journal, or puts back the original
    /// files.
    fn damage(&mut self, fault: Fault, grounds: &mut Grounds) -> Result<Tried, Error> {
        let patience = Duration::from_secs(RECOVERY_SECONDS_MAX);
        let shared = self.shared;
        let held = shared.hold_calls();
        let journal = Journal::find(&grounds.data)?;
        self.stop_held_daemon()?;
        let damage = match journal.damage(fault, &grounds.older, &mut self.dice)? {
            Ok(damage) => damage,
            Err(why) => return Ok(Tried::Not(why)),
        };
        shared.set_fault(Some(fault));
        drop(held);
        self.hear_until(patience, |killer| !killer.progress.is_disturbed());
        let complaints = self.complaints(&damage)?;
        let complaints = complaints.into_iter().map(|what| format!("{}: {what}", fault.words()));
        self.report.errors.extend(complaints);

        let is_repaired = self.dice.below(2) == 0 && self.is_repaired(fault);
        if is_repaired {
            damage.forget()?;
        } else {
            let _held = shared.hold_calls();
            self.stop_held_daemon()?;
            damage.undo()?;
        }
        self.see_writes_again(fault);
        grounds.older = journal.copy_last()?;
        Ok(Tried::Inflicted)
    }

    /// Repairs the journal. Returns whether that worked; otherwise the report has the error.
    fn is_repaired(&mut self, fault: Fault) -> bool {
        let repaired = self.repair();
        let error =
            repaired.as_ref().err().map(|error| format!("{}: {}", fault.words(), error.message));
        self.report.errors.extend(error);
        repaired.is_ok()
    }

    /// Repairs the journal from its index, which is complete, while the sessions stay connected.
    /// Fails if no repair is needed, or if it would lose anything.
    fn repair(&mut self) -> Result<(), Error> {
        let mut params = RepairParams { project: self.scratch.project(), plan: None };
        let mut client = self.scratch.client()?;
        let planned: RepairReply = client.post(api::JOURNAL_REPAIR, &params)?;
        if !planned.is_needed || !planned.plan.lost.is_empty() {
            return Err(Error::failed(format!("a repair would not do: {:?}", planned.plan)));
        }
        params.plan = Some(planned.plan);
        client.post::<RepairReply>(api::JOURNAL_REPAIR, &params).map(drop)
    }

    /// Stops the daemon in order, so that its index covers the whole journal. The caller holds all
    /// calls.
    fn stop_held_daemon(&mut self) -> Result<(), Error> {
        self.scratch.wait_for_daemon(None)?;
        self.scratch.stop_daemon()?;
        self.hear_all();
        self.begin_turn(false);
        Ok(())
    }

    /// Checks a daemon that runs on a damaged journal. Returns a text for each thing it does wrong.
    fn complaints(&self, damage: &Damage) -> Result<Vec<String>, Error> {
        let mut complaints = Vec::new();
        let loaded = self.scratch.tool("memory_load", json!({}))?.text;
        let first = loaded.lines().next().unwrap_or_default();
        let is_named = damage.files().iter().any(|file| first.contains(file));
        if !first.starts_with("READ-ONLY, nothing can be saved: ") || !is_named {
            complaints.push(format!("the load does not name {:?}: {first}", damage.files()));
        }
        let texts = texts(&self.scratch.export()?);
        let tally = tally(&self.progress.acknowledged, texts.iter().map(String::as_str));
        complaints.extend(tally.lost.iter().map(|tag| format!("{tag} is not shown")));
        Ok(complaints)
    }

    /// Waits after a fault until each session has a new write acknowledged. A repeated write
    /// counts. Reports an error if a session cannot write in time.
    fn see_writes_again(&mut self, fault: Fault) {
        self.begin_turn(true);
        let patience = Duration::from_secs(RECOVERY_SECONDS_MAX);
        let is_well = self.hear_until(patience, |killer| !killer.progress.is_disturbed());
        if !is_well && self.report.stopped.is_none() {
            let sessions = self.progress.disturbed();
            self.report.errors.push(format!(
                "{}: {sessions} of the sessions could not write within {} s after it",
                fault.words(),
                patience.as_secs(),
            ));
        }
        self.shared.set_fault(None);
    }
}
