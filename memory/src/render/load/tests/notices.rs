//! Notices and others' changes, at the end of a load.

use super::*;
use crate::draft::{Draft, RecordFields};
use crate::{Record, Seq};

#[test]
fn notices_and_changes_by_others_come_last_and_leave_the_rest_unchanged() {
    let mut memory = some_memory();
    let since = memory.revision();
    let stable = loaded(&memory, &Asked::default()).text;
    for (session, cause) in [
        ("gone", NoticeCause::Ended),
        (
            "cut",
            NoticeCause::Crashed { files: vec!["src/a.rs".to_owned(), "b.rs".to_owned()], more: 3 },
        ),
    ] {
        checkpoint(&mut memory, &origin(session, 3), lessons([lesson(session, "")]));
        let plan =
            plan_keep(&memory, &SessionId::new(session), &origin("anchord", 4), cause, false);
        apply(&mut memory, plan.unwrap());
    }
    let live = ["codex", "", "codex"].map(str::to_owned);
    let asked = Asked { live: live.to_vec(), others_changed: Some(since), ..Asked::default() };
    let with = loaded(&memory, &asked);
    assert_eq!(with.notices_shown, [NoticeId(2), NoticeId(1)]);
    let section = |text: &str| text.split("## Lessons").next().unwrap().to_owned();
    assert_eq!(section(&with.text), section(&stable));
    let tail = &with.text[with.text.find("\nRecovered").unwrap()..];
    insta::assert_snapshot!(tail, @"

    Recovered after a crash from session s10 (claude-code, 2026-11-04): l9 cut. Changed since its last checkpoint, so look again:
    - src/a.rs
    - b.rs
    - and 3 more
    Kept for session s8 (claude-code, 2026-11-04), which ended without saving: l7 gone.
    More changes do not fit here.
    Also here now: another agent, codex ×2.
    ");

    let asked = Asked { seen: with.notices_shown.into_iter().collect(), ..Asked::default() };
    let again = loaded(&memory, &asked);
    assert_eq!(again.notices_shown, []);
    assert!(
        !again.text.contains("Recovered") && !again.text.contains("Kept for"),
        "{}",
        again.text
    );
}

#[test]
fn a_normal_end_is_reported_in_one_line_and_not_as_a_crash() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("saved", 1), Staged::default());
    let words = Staged { summary: Some("half way".to_owned()), ..Staged::default() };
    for (session, part) in [("saved", lessons([lesson("late", "")])), ("silent", words)] {
        checkpoint(&mut memory, &origin(session, 3), part);
        let (session, by) = (SessionId::new(session), origin("anchord", 4));
        let plan = plan_keep(&memory, &session, &by, NoticeCause::Ended, false);
        apply(&mut memory, plan.unwrap());
    }
    let text = loaded(&memory, &Asked::default()).text;
    insta::assert_snapshot!(text[text.find("\nKept for").unwrap()..].trim_start(), @r"
    Kept for session s3 (claude-code, 2026-11-04), which ended without saving: its summary.
    Kept for session s1 (claude-code, 2026-11-04), which ended with work not saved: l2 late.
    ");
}

#[test]
fn a_notice_says_when_its_list_of_files_is_incomplete() {
    let mut memory = Memory::default();
    let crashed = |files: &[&str]| NoticeCause::Crashed {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        more: 0,
    };
    for (session, cause) in
        [("one", NoticeCause::Ended), ("two", crashed(&[])), ("three", crashed(&["a.rs"]))]
    {
        checkpoint(&mut memory, &origin(session, 3), lessons([lesson(session, "")]));
        let plan = plan_keep(&memory, &SessionId::new(session), &origin("anchord", 4), cause, true);
        apply(&mut memory, plan.unwrap());
    }
    let text = loaded(&memory, &Asked::default()).text;
    insta::assert_snapshot!(&text[text.find("\nRecovered").unwrap()..], @"

    Recovered after a crash from session s6 (claude-code, 2026-11-04): l5 three. Changed since its last checkpoint, so look again (not all files could be looked at):
    - a.rs
    2 notices wait for the next load.
    ");
}

#[test]
fn a_notice_says_how_much_was_not_taken() {
    let mut memory = Memory::default();
    let fact = |text: &str| {
        let note = NewNote { key: Some("port".to_owned()), ..note(text) };
        Staged { notes: vec![note], ..Staged::default() }
    };
    checkpoint(&mut memory, &origin("gone", 1), fact("old"));
    save(&mut memory, &origin("later", 2), fact("new"));
    let plan = plan_keep(
        &memory,
        &SessionId::new("gone"),
        &origin("anchord", 4),
        NoticeCause::Ended,
        false,
    );
    apply(&mut memory, plan.unwrap());
    let text = loaded(&memory, &Asked::default()).text;
    let notice = "which ended without saving: nothing; 1 not taken, as s3 says.\n";
    assert!(text.contains(notice), "{text}");
}

/// The status was written later by another session, so only a part was taken.
#[test]
fn a_notice_names_a_topic_without_its_status() {
    let mut memory = Memory::default();
    let topic = |status: &str| TopicPart {
        name: Some("side".to_owned()),
        status: Some(status.to_owned()),
        files: vec!["src/side.rs".to_owned()],
        ..TopicPart::default()
    };
    let part = |status: &str| Staged { topics: vec![topic(status)], ..Staged::default() };
    checkpoint(&mut memory, &origin("gone", 1), part("first half"));
    save(&mut memory, &origin("later", 2), part("second half"));
    let (session, by) = (SessionId::new("gone"), origin("anchord", 4));
    let plan = plan_keep(&memory, &session, &by, NoticeCause::Ended, false);
    apply(&mut memory, plan.unwrap());
    let text = loaded(&memory, &Asked::default()).text;
    let notice = text.lines().find(|line| line.starts_with("Kept for")).unwrap();
    assert!(!notice.contains("half"), "{notice}");
    assert!(memory.active_of(Kind::Topic).all(|it| notice.contains(&format!("{} side", it.id))));
}

/// The row counts what the notice names. It stays while the notice is shown, so that the text
/// before the notices is the same for all.
#[test]
fn a_notice_names_what_was_kept_and_leaves_its_row_as_it_is() {
    let mut memory = some_memory();
    let texts = ["Flush before the sync", "Ports are below 8000", "Names are short", "Never twice"];
    let part = lessons(texts.map(|text| lesson(text, "")));
    checkpoint(&mut memory, &origin("gone", 3), part);
    let (session, by) = (SessionId::new("gone"), origin("anchord", 4));
    let plan = plan_keep(&memory, &session, &by, NoticeCause::Ended, false);
    apply(&mut memory, plan.unwrap());
    let first = loaded(&memory, &Asked::default());
    let named = "l7 Flush before the sync, l8 Ports are below 8000, l9 Names are short and 1 more";
    let notice = format!("which ended without saving: {named}.\n");
    assert!(first.text.contains(&notice), "{}", first.text);
    assert!(first.text.contains("Staged 4 lessons."), "{}", first.text);
    let asked = Asked { seen: first.notices_shown.into_iter().collect(), ..Asked::default() };
    let next = loaded(&memory, &asked).text;
    assert!(first.text.starts_with(next.trim_end()) && !next.contains("Kept for"), "{next}");
}

#[test]
fn a_title_in_a_notice_ends_after_a_word_and_without_a_full_stop() {
    let mut memory = Memory::default();
    let long = "We always use the schema session service for the import worker and its queue";
    checkpoint(&mut memory, &origin("gone", 3), lessons([lesson(long, "")]));
    let (session, by) = (SessionId::new("gone"), origin("anchord", 4));
    let plan = plan_keep(&memory, &session, &by, NoticeCause::Ended, false);
    apply(&mut memory, plan.unwrap());
    let text = loaded(&memory, &Asked::default()).text;
    let notice = text.lines().find(|line| line.starts_with("Kept for")).unwrap();
    assert!(
        notice.ends_with(" We always use the schema session service for the import…"),
        "{notice}"
    );
}

#[test]
fn a_notice_that_waits_ends_with_its_row() {
    let mut memory = Memory::default();
    for session in ["one", "two"] {
        checkpoint(&mut memory, &origin(session, 3), lessons([lesson(session, "")]));
        let (session, by) = (SessionId::new(session), origin("anchord", 4));
        let plan = plan_keep(&memory, &session, &by, NoticeCause::Ended, false);
        apply(&mut memory, plan.unwrap());
    }
    let shown = |memory: &Memory| loaded(memory, &Asked::default()).notices_shown;
    assert_eq!(shown(&memory), [NoticeId(2), NoticeId(1)]);
    let row = memory.notice(NoticeId(1)).unwrap().row;
    let plan = plan_forget(&memory, &Reader::anyone(), row, None, &origin("one", 5)).unwrap();
    apply(&mut memory, plan);
    assert_eq!(shown(&memory), [NoticeId(2)]);
}

/// An undo writes the row again, in a later commit than the records that it came with.
#[test]
fn a_notice_whose_row_came_back_names_what_was_kept() {
    let mut memory = Memory::default();
    checkpoint(&mut memory, &origin("gone", 3), lessons([lesson("Flush first", "")]));
    let (session, by) = (SessionId::new("gone"), origin("anchord", 4));
    let plan = plan_keep(&memory, &session, &by, NoticeCause::Ended, false);
    apply(&mut memory, plan.unwrap());
    let row = memory.record(memory.notice(NoticeId(1)).unwrap().row).unwrap().clone();
    let plan = plan_forget(&memory, &Reader::anyone(), row.id, None, &origin("one", 5)).unwrap();
    apply(&mut memory, plan);
    assert_eq!(loaded(&memory, &Asked::default()).notices_shown, []);
    let mut draft = Draft::new(&memory);
    let Record { id, body, state, tags, pinned, .. } = Record::clone(&row);
    draft.put(RecordFields { id, body, state, tags, pinned }, origin("undoer", 6));
    let changes = draft.finish().changes;
    memory.apply(Seq(memory.seq().0 + 1), &changes);
    let text = loaded(&memory, &Asked::default()).text;
    assert!(text.contains("which ended without saving: l1 Flush first.\n"), "{text}");
}

#[test]
fn the_notices_of_many_subagents_are_one_line() {
    let mut memory = Memory::default();
    let parent = SessionId::new("claude-code:a");
    let subagents = (0..100).map(|number| parent.subagent(&format!("x{number}")));
    for session in subagents.chain([SessionId::new("gone")]) {
        let by = origin(&session.0, 3);
        checkpoint(&mut memory, &by, lessons([lesson(&format!("by {session}"), "")]));
        let plan =
            plan_keep(&memory, &session, &origin("anchord", 4), NoticeCause::Ended, false).unwrap();
        apply(&mut memory, plan);
    }
    let load = loaded(&memory, &Asked::default());
    let lines: Vec<&str> = load.text.lines().filter(|line| line.starts_with("Kept for")).collect();
    let [alone, several] = lines[..] else { panic!("{lines:?}") };
    assert!(alone.ends_with("by gone."), "{alone}");
    let start = "Kept for 100 subagents of one session (claude-code, 2026-11-04), which ended with \
                 work not saved: 100 lessons. See s";
    assert!(several.starts_with(start) && several.ends_with(" and 97 more."), "{several}");
    assert_eq!(load.notices_shown.len(), 101, "each counts as shown");
    assert!(!load.text.contains("for the next load"), "{}", load.text);
}

#[test]
fn subagents_of_different_sessions_have_lines_of_their_own() {
    let mut memory = Memory::default();
    for (parent, agent) in [("a", "1"), ("b", "1"), ("a", "2")] {
        let session = SessionId::new(parent).subagent(agent);
        let words = Staged { summary: Some("Looked.".to_owned()), ..Staged::default() };
        checkpoint(&mut memory, &origin(&session.0, 3), words);
        let plan =
            plan_keep(&memory, &session, &origin("anchord", 4), NoticeCause::Ended, false).unwrap();
        apply(&mut memory, plan);
    }
    let text = loaded(&memory, &Asked::default()).text;
    insta::assert_snapshot!(text[text.find("\nKept for").unwrap()..].trim_start(), @r"
    Kept for 2 subagents of one session (claude-code, 2026-11-04), which ended with work not saved: their summaries. See s3, s1.
    Kept for session s2 (claude-code, 2026-11-04), which ended without saving: its summary.
    ");
}
