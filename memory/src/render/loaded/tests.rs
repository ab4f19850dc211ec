//! Records in the forms that agents get.

use super::*;
use crate::testing::{anchor, apply, blueprint, blueprints, day, lesson, note, origin, save};
use crate::{Body, Memory, NewNote, SessionRow, TrailEntry, plan_notes};

fn texts(of: fn(&Record) -> String) -> Vec<String> {
    let mut memory = Memory::default();
    let mut part = blueprints([blueprint("Store", "Journal is the truth.\n\n  sled is an index.")]);
    part.anchors = vec![anchor("src/a.rs", "10-20", "starts"), anchor("src/a.rs", "fn b", "ends")];
    part.lessons = vec![
        lesson(
            "Flush does not fsync",
            "Seen on ext4. Call fdatasync after each batch. It was slow.",
        ),
        lesson("Short one", ""),
    ];
    save(&mut memory, &origin("one", 2), part);
    let notes = vec![
        NewNote {
            key: Some("port".to_owned()),
            importance: Some(9),
            tags: vec!["net".to_owned()],
            ..note("7717")
        },
        NewNote { summary: "In short.".to_owned(), ..note("At length.\nVery.") },
        NewNote { pinned: true, ..note("  a: 1\n  b: 2") },
    ];
    let plan = plan_notes(&memory, &origin("one", 3), notes.into_iter().map(Ok).collect()).unwrap();
    apply(&mut memory, plan);
    memory.records().map(|record| of(record)).collect()
}

#[test]
fn a_loaded_record_shows_its_text_without_metadata() {
    insta::assert_snapshot!(texts(whole).join("\n"), @"
    b1 [decision] Store
      Journal is the truth.

        sled is an index.
    a2 src/a.rs:10-20: starts
    a3 src/a.rs fn b: ends
    l4 Flush does not fsync
      Seen on ext4. Call fdatasync after each batch. It was slow.
    l5 Short one
    n7 port: 7717
    n8: In short.
      At length.
      Very.
    n9:
        a: 1
        b: 2
    s6 2026-11-02 claude-code: worked
    ");
}

#[test]
fn a_lesson_on_one_line_says_what_to_do() {
    let lines = texts(line);
    let lesson = lines.iter().find(|line| line.contains("Flush")).unwrap();
    assert!(
        lesson.ends_with("Flush does not fsync. Call fdatasync after each batch. …"),
        "{lesson}"
    );
    assert!(lines.iter().any(|line| line.ends_with("Short one")), "{lines:?}");
}

#[test]
fn an_excerpt_of_a_long_title_without_a_text_has_one_mark() {
    let mut memory = Memory::default();
    let part = crate::Staged {
        lessons: vec![lesson(&"Flush before the rename ".repeat(6), "")],
        ..crate::Staged::default()
    };
    save(&mut memory, &origin("one", 2), part);
    let record = memory.active_of(crate::Kind::Lesson).next().unwrap();
    let (text, is_whole) = excerpt(record, &Query::default(), 100);
    assert!(!is_whole && text.ends_with(" …") && text.chars().count() <= 100, "{text}");
    assert_eq!(text.matches('…').count(), 1, "{text}");
}

#[test]
fn an_excerpt_reports_whether_it_is_complete() {
    let mut memory = Memory::default();
    let text = format!("{} The lease is nine days. {}", "Talk. ".repeat(90), "More. ".repeat(90));
    save(&mut memory, &origin("one", 2), blueprints([blueprint("Leases", &text)]));
    let record = memory.records().next().unwrap();
    let query = Query::plain("how long is the lease");
    let (cut, is_whole) = excerpt(record, &query, 200);
    assert!(cut.starts_with("b1 [decision] Leases: The lease is nine days."), "{cut}");
    assert!(!is_whole && cut.ends_with('…') && cut.chars().count() <= 200, "{cut}");
    assert_eq!(cut.matches("nine days").count(), 1, "{cut}");
    assert!(excerpt(record, &query, 5_000).1);
}

#[test]
fn a_cut_text_ends_with_the_cut_mark() {
    for chars in 5..80 {
        let cut = part("A line of some words, and one more word.", chars, 100);
        assert!(cut.ends_with(CUT) && cut.chars().count() <= chars, "{cut}");
    }
}

#[test]
fn titles_and_parts_end_after_a_word() {
    let mut memory = Memory::default();
    let words = "check the export and the import schema first ".repeat(20);
    let plan = plan_notes(&memory, &origin("one", 2), vec![Ok(note(&words))]).unwrap();
    apply(&mut memory, plan);
    let record = memory.records().next().unwrap();
    let whole = whole(record);
    let is_word = |last: &str| words.split(' ').any(|word| word == last);
    for text in [title(record), crate::render::title(record, day(3)), line(record)]
        .into_iter()
        .chain((40..80).map(|chars| part(&whole, chars, 100)))
        .chain((60..90).map(|chars| excerpt(record, &Query::plain("import"), chars).0))
    {
        let last = text.trim_end_matches(['…', ' ']).rsplit(' ').next().unwrap();
        assert!(is_word(last) || text == whole, "{text}");
    }
}

#[test]
fn a_summary_that_is_the_first_line_is_shown_once() {
    let mut memory = Memory::default();
    let first = |content: &str| NewNote { summary: "Task: drain".to_owned(), ..note(content) };
    let notes = vec![first("Task: drain\n\nAll of them."), first("Task: drain the queues\nAll.")];
    let plan = plan_notes(&memory, &origin("one", 2), notes.into_iter().map(Ok).collect()).unwrap();
    apply(&mut memory, plan);
    let texts: Vec<String> = memory.records().map(|record| whole(record)).collect();
    insta::assert_snapshot!(texts.join("\n"), @"
    n1: Task: drain

      All of them.
    n2: Task: drain
      Task: drain the queues
      All.
    ");
}

/// A row with this newest entry, and with earlier ones: each text, and whether it was written on
/// the session's behalf.
fn row(summary: &str, earlier: &[(&str, bool)], on_behalf: bool) -> Record {
    let mut memory = Memory::default();
    save(&mut memory, &origin("one", 2), crate::Staged::default());
    let stored = memory.records().next().unwrap();
    let Body::SessionRow(saved) = &stored.body else { panic!("{stored:?}") };
    let entry = |(summary, on_behalf): &(&str, bool)| TrailEntry {
        time: day(1),
        summary: (*summary).to_owned(),
        on_behalf: *on_behalf,
        folded: 0,
    };
    let earlier = earlier.iter().map(entry).collect();
    let row = SessionRow { summary: summary.to_owned(), on_behalf, earlier, ..saved.clone() };
    Record { body: Body::SessionRow(row), ..Record::clone(stored) }
}

#[test]
fn a_long_prompt_leaves_room_for_what_was_said_last() {
    let asked = format!("Asked: {}", "rename the columns of the invoice export ".repeat(5));
    let said = "Said last: Renamed. Left to do: drop the view in January.";
    let line = line(&row(&format!("{}\nEdited: src/export.rs\n{said}", asked.trim()), &[], true));
    assert!(line.ends_with(&format!("… Edited: src/export.rs; {said} …")), "{line}");
    assert!(line.contains(": Asked: rename the columns of the invoice export "), "{line}");
    assert!(line.chars().count() <= LOADED_LINE_CHARS_MAX + 2, "{line}");
    let long = format!("Said last: {}", "It is done and tested. ".repeat(20));
    let line = super::line(&row(&format!("{}\n{long}", asked.trim()), &[], true));
    assert!(line.contains("Said last: It is done"), "{line}");
}

#[test]
fn the_title_of_a_session_is_its_line_cut_after_a_word() {
    let asked = "Asked: publish the berth plan next and use half open ranges";
    let edited = "Edited: backend/fernweh/berths/publish.py";
    let said = "Said last: The plan is published with half open ranges, and the tests pass again.";
    let long = row(&format!("{asked}\n{edited}\n{said}"), &[], true);
    insta::assert_snapshot!(title(&long), @"s1 2026-11-02 claude-code (not saved by its agent): Asked: publish the berth plan next and use half open ranges; Edited: backend/fernweh/berths/publish.py; Said …");
    let short = row("Asked: go on\nSaid last: Went on.", &[("Asked: begin", true)], true);
    insta::assert_snapshot!(title(&short), @"s1 2026-11-02 claude-code (not saved by its agent): Asked: go on; Said last: Went on. (+1 earlier) …");
    let all = row("Asked: go on\nSaid last: Went on.", &[], true);
    insta::assert_snapshot!(title(&all), @"s1 2026-11-02 claude-code (not saved by its agent): Asked: go on; Said last: Went on.");
}

/// One question after a save must not hide what the session did.
#[test]
fn the_line_of_a_session_begins_with_what_its_agent_wrote() {
    let (asked, done) = ("Asked: and now?\nSaid last: Went on.", "Prices come from one place.");
    let saved = row(asked, &[("Asked: begin", true), (done, false)], true);
    insta::assert_snapshot!(line(&saved), @"s1 2026-11-02 claude-code: Prices come from one place. After its last save: Asked: and now? Said last: Went on. … (+1 earlier)");
    let staged = row(asked, &[(done, true)], true);
    insta::assert_snapshot!(line(&staged), @"s1 2026-11-02 claude-code (not saved by its agent): Prices come from one place. Later: Asked: and now? Said last: Went on.");
    let by_rule = row(asked, &[("Staged 1 lesson.", true)], true);
    insta::assert_snapshot!(line(&by_rule), @"s1 2026-11-02 claude-code (not saved by its agent): Asked: and now? Said last: Went on. … (+1 earlier)");
    let again = row("Tests pass.", &[(done, false)], true);
    insta::assert_snapshot!(line(&again), @"s1 2026-11-02 claude-code (after its last save): Tests pass. … (+1 earlier)");
}

/// A long prompt is stored cut.
#[test]
fn a_title_of_a_cut_text_is_marked_once() {
    let title = |summary: &str| crate::render::item::title(&row(summary, &[], true));
    let cut = title("Asked: run the tests, because…\nSaid last: All passed.");
    assert!(cut.ends_with(", because …"), "{cut}");
    let long = title(&format!("Asked: {}", "rename the columns ".repeat(9)));
    assert!(long.ends_with(" …") && long.matches('…').count() == 1, "{long}");
}
