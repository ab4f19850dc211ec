//! The faults that torture inflicts on a daemon or its files while sessions write.
//!
//! A write may be refused while a fault is on, with the fault as the reason. It may not be lost, and once the fault is
//! over it has to be taken, by the same daemon if the fault was on a running one. A fault that cannot be inflicted is
//! reported with the reason.

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
use super::killer::Killer;
use super::writes::{Dice, filler};
use crate::exit::Error;
use crate::limits::{TORTURE_FAULT_MILLISECONDS, TORTURE_RECOVERY_SECONDS_MAX};
use crate::scratch::{Scratch, stop};
use crate::tally::{tally, texts};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fault {
    /// The index is removed and the daemon killed, and the next one while it replays the journal.
    KilledReplay,
    /// The disk of the data has no room left.
    FullDisk,
    /// No file may grow.
    FileSize,
    /// The daemon can open nothing, or next to nothing.
    Descriptors,
    /// A segment of the journal is gone.
    SegmentRemoved,
    /// The last segment is cut.
    SegmentCut,
    /// An older copy of a segment is in its place.
    SegmentReplaced,
    /// Two segments are in each other's place.
    SegmentsSwapped,
}

impl Fault {
    pub(super) const ALL: [Self; 8] = [
        Self::KilledReplay,
        Self::FullDisk,
        Self::FileSize,
        Self::Descriptors,
        Self::SegmentRemoved,
        Self::SegmentCut,
        Self::SegmentReplaced,
        Self::SegmentsSwapped,
    ];

    /// Whether a call may be refused with this text while the fault is on. Reads go on, but without descriptors.
    pub(super) fn explains(self, refusal: &str, is_read: bool) -> bool {
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

/// The result of all tries of one kind of fault.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct FaultReport {
    pub(super) inflicted: u32,
    /// Calls that were refused meanwhile. Writes among them were made again.
    pub(super) refused: u64,
    /// How often it could not be inflicted, by reason.
    pub(super) not_inflicted: BTreeMap<String, u32>,
}

impl FaultReport {
    pub(super) fn lines(&self, fault: Fault) -> Vec<String> {
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

/// Whether a fault was inflicted. What came of it is for the report.
enum Tried {
    Inflicted,
    Not(String),
}

/// Lifts a fault when it is dropped.
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

/// What is there for faults to be inflicted on, prepared before the sessions begin.
pub(super) struct Grounds {
    disk: Result<Disk, String>,
    data: PathBuf,
    older: journal::Copy,
}

/// A disk of its own for the data, or why there is none. To be made before the daemon starts.
pub(super) struct OwnDisk(Result<Disk, String>);

impl OwnDisk {
    pub(super) fn mount(scratch: &Scratch, is_kept: bool) -> Result<Self, Error> {
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
    /// Has a journal of more than one segment, so that opening it takes a while, and two can be swapped.
    pub(super) fn prepare(
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
    /// Inflicts a fault and sees it through: when this returns, it is over.
    pub(super) fn inflict(&mut self, fault: Fault) -> Result<(), Error> {
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

    /// Takes the index away, so that the next daemon has to replay the whole journal, and kills that daemon at it.
    fn kill_replay(&mut self, grounds: &Grounds) -> Result<Tried, Error> {
        let shared = self.shared;
        let held = shared.hold_calls();
        let pid = self.scratch.wait_for_daemon(None)?.pid;
        // Its files are changed while it stands still, lest the next one opens them before.
        stop(pid)?;
        let journal = Journal::find(&grounds.data)?;
        journal.remove_derived()?;
        self.scratch.kill_daemon(pid)?;
        self.hear_all();
        self.begin_turn(false);
        let answers = self.progress.answers;
        drop(held);
        // The index is made just before the journal is replayed.
        if !self.scratch.wait_until(|| journal.index().exists()) {
            return Ok(Tried::Not("no daemon began to open the project".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(self.dice.below(50)));
        let Some(pid) = self.scratch.lock_holder() else {
            return Ok(Tried::Not("the daemon that opens the project is not known".to_owned()));
        };
        // An answer from before it stood still is heard by then.
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

    /// Takes room or descriptors from the running daemon for a while.
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
        self.hear_until(Duration::from_millis(TORTURE_FAULT_MILLISECONDS), |_| false);
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

    /// Has a new daemon run that has not opened the project yet, since no call has been made.
    fn close_project(&mut self) -> Result<(), Error> {
        let shared = self.shared;
        let _held = shared.hold_calls();
        self.stop_held_daemon()?;
        drop(self.scratch.agent("anchord")?);
        Ok(())
    }

    /// Damages the journal between two daemons, and has it reported and the best state shown. Then
    /// repairs the journal, or puts back what was there.
    fn damage(&mut self, fault: Fault, grounds: &mut Grounds) -> Result<Tried, Error> {
        let patience = Duration::from_secs(TORTURE_RECOVERY_SECONDS_MAX);
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

        if self.dice.below(2) == 0 {
            if let Err(error) = self.repair() {
                self.report.errors.push(format!("{}: {}", fault.words(), error.message));
            }
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

    /// Repairs the journal from its index, which has all of it, while the sessions are connected.
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

    /// Ends the daemon in order, so that its index has all of its journal. No call is under way.
    fn stop_held_daemon(&mut self) -> Result<(), Error> {
        self.scratch.wait_for_daemon(None)?;
        self.scratch.stop_daemon()?;
        self.hear_all();
        self.begin_turn(false);
        Ok(())
    }

    /// What a daemon with a damaged journal does not do as it should.
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

    /// After a fault: every session has to get a write acknowledged that it makes from now on, or makes again.
    fn see_writes_again(&mut self, fault: Fault) {
        self.begin_turn(true);
        let patience = Duration::from_secs(TORTURE_RECOVERY_SECONDS_MAX);
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
