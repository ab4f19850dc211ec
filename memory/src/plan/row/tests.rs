//! The trail grows by an entry with each save and end, within its limits.

use super::*;
use crate::plan::{Save, plan_save};
use crate::record::Record;
use crate::render::item;
use crate::testing::{apply, day, origin};

fn saved(memory: &mut Memory, summary: &str, on: i64) {
    let by = origin("one", on);
    let save = Save { started: by.time, session_summary: summary, ..Save::default() };
    let plan = plan_save(memory, &by, save).unwrap();
    apply(memory, plan);
}

fn row(memory: &Memory) -> (&Record, &SessionRow) {
    let record = memory.records().next().unwrap();
    match &record.body {
        Body::SessionRow(row) => (record, row),
        _ => panic!("{record:?}"),
    }
}

#[test]
fn each_save_adds_its_own_entry() {
    let mut memory = Memory::default();
    saved(&mut memory, "The parser accepts tabs.\nSpaces are next.", 1);
    saved(&mut memory, "Spaces, too.", 2);
    saved(&mut memory, "The manual says so.\nNothing is open.", 3);
    let (record, row) = row(&memory);
    assert_eq!((row.started, row.ended, row.earlier_count()), (day(1), day(3), 2));
    insta::assert_snapshot!(item::full(record), @r"
    s1 2026-11-03 claude-code: The manual says so.
      Nothing is open.
      Earlier, 2026-11-02 12:00 UTC: Spaces, too.
      Earlier, 2026-11-01 12:00 UTC: The parser accepts tabs.
        Spaces are next.
    ");
    insta::assert_snapshot!(item::title(record), @"s1 2026-11-03 claude-code: The manual says so. … (+2 earlier)");
}

#[test]
fn every_entry_is_searched_exported_and_purged() {
    let mut memory = Memory::default();
    saved(&mut memory, "The parser accepts marzipan.", 1);
    saved(&mut memory, "Spaces, too.", 2);
    let document = crate::memory::document(row(&memory).0).unwrap();
    assert!(document.texts.iter().any(|text| text.contains("marzipan")));
    let page = crate::export::markdown(&memory, "demo", day(9));
    assert!(page.contains("Spaces, too.") && page.contains("marzipan"), "{page}");
    let body = &row(&memory).0.body;
    assert!(body.fields().own_texts().iter().any(|text| text.contains("marzipan")));
    assert_eq!(body.fields().tombstone_texts(), ["Spaces, too.", "The parser accepts marzipan."]);
}

#[test]
fn the_oldest_of_too_many_entries_are_folded_and_counted() {
    let mut memory = Memory::default();
    for on in 1..=30 {
        saved(&mut memory, &format!("step {on}"), on);
        let row = row(&memory).1;
        assert_eq!(u32::try_from(on - 1), Ok(row.earlier_count()), "nothing is lost uncounted");
        assert!(row.earlier.len() < ROW_ENTRIES_MAX, "{}", row.earlier.len());
    }
    let row = row(&memory).1;
    assert_eq!(
        row.earlier[0].summary,
        "11 entries folded: earlier versions of this row have them."
    );
    assert_eq!((&*row.earlier[1].summary, row.earlier[0].time), ("step 12", day(11)));
}

#[test]
fn long_entries_are_folded_before_they_are_too_many() {
    let mut memory = Memory::default();
    for on in 1..=5 {
        saved(&mut memory, &format!("{on} {}", "x".repeat(30_000)), on);
    }
    let row = row(&memory).1;
    assert_eq!((row.earlier.len(), row.earlier[0].folded, row.earlier_count()), (3, 2, 4));
    saved(&mut memory, "short", 6);
    saved(&mut memory, "shorter", 7);
    let row = self::row(&memory).1;
    assert!(row.earlier.iter().map(|entry| entry.summary.len()).sum::<usize>() < 70_000);
}

#[test]
fn a_row_of_an_older_build_has_one_entry() {
    let old = r#"{"number":1,"session":"one","started":1,"ended":2,"summary":"worked"}"#;
    let row: SessionRow = serde_json::from_str(old).unwrap();
    assert_eq!((row.earlier_count(), row.summaries().collect::<Vec<_>>()), (0, vec!["worked"]));
    assert!(!serde_json::to_string(&row).unwrap().contains("earlier"), "the same bytes as before");
}

#[test]
fn entries_that_a_row_lacks_come_in_by_their_time_and_once() {
    let mut memory = Memory::default();
    for (summary, on) in [("First.", 1), ("Third.", 3)] {
        saved(&mut memory, summary, on);
    }
    let entry = |summary: &str, on| TrailEntry {
        time: day(on),
        summary: summary.to_owned(),
        on_behalf: false,
        folded: 0,
    };
    let all = [("First.", 1), ("Second.", 2), ("Third.", 3), ("Fourth.", 4)];
    for _ in 0..2 {
        let mut draft = Draft::new(&memory);
        let stored = stored_row(&draft, &origin("one", 1).session).unwrap();
        let entries = all.into_iter().map(|(summary, on)| entry(summary, on));
        add_entries(&mut draft, stored, entries, &origin("one", 4));
        let changes = draft.finish().changes;
        memory.apply(crate::Seq(memory.seq().0 + 1), &changes);
    }
    let (record, row) = row(&memory);
    let summaries: Vec<&str> = row.summaries().collect();
    assert_eq!(summaries, ["Fourth.", "Third.", "Second.", "First."]);
    assert_eq!((row.ended, record.version.0), (day(4), 3));
}

#[test]
fn an_end_is_an_entry_on_behalf_of_its_session_and_a_notice_that_names_the_row() {
    let mut memory = Memory::default();
    let by = origin("gone", 3);
    let mut draft = Draft::new(&memory);
    let end = Row::of_end(&by, day(1), "half way".to_owned(), Counts::default());
    let id = put_row(&mut draft, end, &by);
    let changes = draft.finish().changes;
    let kept = Counts { lessons: 2, ..Counts::default() };
    let notice = notice_of_end(&memory, id, &by, NoticeCause::Ended, kept);
    memory.apply(crate::Seq(1), &changes);
    let (record, row) = row(&memory);
    assert_eq!((row.started, row.ended, &*row.summary), (day(1), day(3), "half way"));
    assert!(row.on_behalf && row.captured.is_none() && !row.saved_itself(), "{row:?}");
    assert_eq!((notice.row, &notice.session, notice.time), (record.id, &row.session, row.ended));
    assert_eq!((notice.kept, notice.files_unseen, notice.private), (kept, false, false));
}
