//! The parts of torture that need no process.

use anchord_daemon::api::JournalLine;
use serde_json::json;

use super::faults::{Fault, explained_by};
use super::writes::{write, write_noting};
use super::*;

#[test]
fn a_seed_repeats_its_writes_and_moments() {
    let run = |seed| {
        let mut dice = Dice(seed);
        let moments = Moments::new(1_000, 5, 3, &mut dice);
        (moments.daemon, moments.shim, dice.next())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
    let (daemon, shim, _) = run(7);
    assert_eq!((daemon.len(), shim.len()), (5, 3));
    assert!(daemon.is_sorted_by(|a, b| a >= b), "the next one is at the end");
    assert!(daemon.iter().all(|moment| *moment <= 900));
}

#[test]
fn every_fault_has_its_scheduled_moments() {
    let moments = Moments::new(1_000, 0, 0, &mut Dice(7)).with_faults(1_000, 3, &mut Dice(7));
    for fault in Fault::ALL {
        assert_eq!(moments.faults.iter().filter(|(_, due)| *due == fault).count(), 3, "{fault:?}");
    }
    assert!(moments.faults.is_sorted_by(|a, b| a.0 >= b.0), "the next one is at the end");
}

#[test]
fn a_refusal_is_explained_only_by_its_own_fault() {
    let full = "not saved: the disk is full: /data has 0 bytes free and 16778000 are needed";
    assert!(Fault::FullDisk.explains(full, false));
    assert!(!Fault::FullDisk.explains(full, true), "reads go on");
    assert!(!Fault::FileSize.explains(full, false));
    assert!(!Fault::KilledReplay.explains(full, false));
    assert!(Fault::Descriptors.explains("cannot open x: Too many open files (os error 24)", true));
    // The call began at the end of another fault.
    let two = [Some(Fault::Descriptors), Some(Fault::FullDisk)];
    assert_eq!(explained_by(two, full, false), Some(Fault::FullDisk));
    assert_eq!(explained_by([None, Some(Fault::FileSize)], full, false), None);
    let read_only = "not saved: read-only: journal/000001.jsonl is missing";
    assert!(Fault::SegmentRemoved.explains(read_only, false));
}

#[test]
fn every_write_carries_its_tag() {
    for dice in 0..80 {
        for (tool, arguments) in [write("t-0001-000002", dice), write_noting("t-0001-000002", dice)]
        {
            assert!(arguments.to_string().contains("t-0001-000002"), "{tool}");
        }
    }
}

#[test]
fn the_result_line_counts_and_names() {
    let mut report = Report {
        seed: 7,
        sessions: 2,
        writes: 10,
        daemon_kills: 1,
        milliseconds: 4_200,
        acknowledged: 20,
        found: 20,
        ..Report::default()
    };
    assert_eq!(report.complaint(), None);
    insta::assert_snapshot!(report.words(), @r"
    2 sessions x 10 writes, 1 daemon kill, 0 shim kills, 4 s
    acknowledged 20, found 20, lost 0, duplicated 0, errors 0, unknown 0
    ");
    report.fault(Fault::FullDisk).inflicted = 2;
    report.fault(Fault::FullDisk).refused = 30;
    let not = &mut report.fault(Fault::SegmentsSwapped).not_inflicted;
    not.insert("the journal has one segment".to_owned(), 2);
    assert_eq!(report.complaint(), None);
    report.found = 19;
    report.lost = vec!["t-0001-000002".into()];
    report.errors = vec!["t-0000-000001: busy".into()];
    assert!(report.complaint().is_some());
    insta::assert_snapshot!(report.words(), @"
    2 sessions x 10 writes, 1 daemon kill, 0 shim kills, 4 s
    disk filled: 2 x, 30 calls refused
    two segments swapped: could not be done, 2 x: the journal has one segment
      error: t-0000-000001: busy
      lost: t-0001-000002
    acknowledged 20, found 19, lost 1, duplicated 0, errors 1, unknown 0
    ");
}

#[test]
fn a_write_applied_twice_is_found_in_the_journal() {
    let line = |op: &str, changes| JournalLine {
        seq: 1,
        revision: None,
        time: 0,
        session: None,
        op: op.to_owned(),
        changes,
    };
    let stage = json!({"stage": {"session": "s", "part": {"lessons": [{"summary": "t-1 x"}]}}});
    let row =
        |summary: &str| json!({"put": {"id": "s1", "body": {"session_row": {"summary": summary}}}});
    let aside =
        json!({"put": {"standing": "archived", "body": {"session_row": {"summary": "t-2"}}}});
    let mut seen = WordCounts::default();
    note_applied(&mut seen, &line("checkpoint", vec![stage.clone()]));
    note_applied(&mut seen, &line("save", vec![row("did t-2")]));
    note_applied(&mut seen, &line("save", vec![row("did t-3"), aside]));
    note_applied(&mut seen, &line("keep", vec![row("t-3")]));
    let all = BTreeSet::from(["t-1", "t-2", "t-3"].map(str::to_owned));
    assert_eq!(repeated(&seen, &all), Vec::<&String>::new());
    note_applied(&mut seen, &line("checkpoint", vec![stage]));
    assert_eq!(repeated(&seen, &all), ["t-1"]);
    let note = json!({"put": {"id": "n1", "body": {"note": {"content": "t-4: words"}}}});
    note_applied(&mut seen, &line("note", vec![note.clone()]));
    note_applied(&mut seen, &line("compact", vec![note.clone()]));
    assert_eq!(repeated(&seen, &BTreeSet::from(["t-4".to_owned()])), Vec::<&String>::new());
    note_applied(&mut seen, &line("note", vec![note]));
    assert_eq!(repeated(&seen, &BTreeSet::from(["t-4".to_owned()])), ["t-4"]);
}
