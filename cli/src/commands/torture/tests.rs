//! The parts that need no process.

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
    assert!(report.is_good());
    insta::assert_snapshot!(words(&report), @r"
    2 sessions x 10 writes, 1 daemon kill, 0 shim kills, 4 s
    acknowledged 20, found 20, lost 0, duplicated 0, errors 0, unknown 0
    ");
    report.found = 19;
    report.lost = vec!["t-0001-000002".into()];
    report.errors = vec!["t-0000-000001: busy".into()];
    assert!(!report.is_good());
    insta::assert_snapshot!(words(&report), @r"
    2 sessions x 10 writes, 1 daemon kill, 0 shim kills, 4 s
      lost: t-0001-000002
      error: t-0000-000001: busy
    acknowledged 20, found 19, lost 1, duplicated 0, errors 1, unknown 0
    ");
}
