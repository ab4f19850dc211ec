//! Notes and facts, written one by one and many at once.

use super::*;
use crate::limits::{NOTES_BYTES_MAX, NOTES_MAX};
use crate::search::{Find, Query, SearchResults, Tuning};
use crate::testing::{any_steps, apply, checkpoint, day, note, origin, save, take};
use crate::{
    Body, NoticeCause, Reader, Record, Revision, Save, Scope, SessionId, Staged, find, find_fact,
    plan_adopt, plan_checkpoint, plan_forget, plan_keep, plan_save, render,
};

fn store(memory: &mut Memory, session: &str, on: i64, notes: &[NewNote]) -> NotesOutcome {
    let items = notes.iter().cloned().map(Ok).collect();
    let plan = plan_notes(memory, &origin(session, on), items).unwrap();
    apply(memory, plan)
}

fn fact(key: &str, content: &str) -> NewNote {
    NewNote { key: Some(key.to_owned()), ..note(content) }
}

fn private(content: &str) -> NewNote {
    NewNote { private: true, ..note(content) }
}

fn reader(session: &str) -> Reader {
    Reader::session(SessionId::new(session))
}

#[test]
fn a_bad_item_fails_alone_and_is_named() {
    let mut memory = Memory::default();
    let notes = [note("The port is 7717"), note(" "), fact("build", "cargo build")];
    let outcome = store(&mut memory, "one", 1, &notes);
    insta::assert_snapshot!(render::notes(&outcome, 0), @r"
    Stored n1 (6 tokens)
    Stored n2 (2 tokens)
    FAILED item 1: content is empty
    2 stored, 1 failed; send those again corrected.
    ");
    assert_eq!(memory.totals().active.notes, 2);
}

#[test]
fn when_nothing_can_be_stored_nothing_is_written() {
    let memory = Memory::default();
    let by = origin("one", 1);
    let refused = |items: Vec<NewNote>| {
        let items = items.into_iter().map(Ok).collect();
        plan_notes(&memory, &by, items).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(vec![]), @"content is missing; give content, or items");
    insta::assert_snapshot!(refused(vec![note("")]), @"content is empty");
    insta::assert_snapshot!(
        refused(vec![note(""), note("")]),
        @"items cannot be stored, not one of 2; the first: items[0].content is empty"
    );
    insta::assert_snapshot!(
        refused(vec![note("a"); 101]),
        @"items has 101 notes, 100 are allowed; send them in parts"
    );
}

#[test]
fn a_fact_is_replaced_and_a_repeated_text_is_counted() {
    let mut memory = Memory::default();
    store(&mut memory, "one", 1, &[fact("port", "7717"), note("seen twice")]);
    let outcome = store(&mut memory, "two", 2, &[fact("port", "7718"), note("seen twice")]);
    insta::assert_snapshot!(render::notes(&outcome, 0), @r"
    Replaced n1 (2 tokens, version 2)
    Had already n2 (2 tokens, version 2)
    ");
    assert_eq!(memory.totals().active.notes, 2);
    let kept = |id: &str| memory.record(id.parse().unwrap()).unwrap().note().unwrap().clone();
    assert_eq!((kept("n1").content.as_str(), kept("n1").repeats), ("7718", 0));
    assert_eq!((kept("n2").content.as_str(), kept("n2").repeats), ("seen twice", 1));
    assert_eq!(&*memory.record("n1".parse().unwrap()).unwrap().created.session.0, "one");
}

#[test]
fn private_notes_are_visible_to_their_session_only_and_make_no_commit() {
    let mut memory = Memory::default();
    store(
        &mut memory,
        "one",
        1,
        &[private("mine"), NewNote { private: true, ..fact("port", "1") }],
    );
    assert_eq!((memory.revision(), memory.totals().active.notes), (Revision(0), 0));
    assert_eq!(memory.own_usage(&reader("one")), (2, 2));
    assert_eq!(memory.own_usage(&reader("two")), (0, 0));
    let id = "n1".parse().unwrap();
    assert!(find(&memory, &reader("one"), id).is_ok());
    insta::assert_snapshot!(
        find(&memory, &reader("two"), id).unwrap_err(), @"there is no record n1; memory_search finds records by their words"
    );
    assert!(plan_forget(&memory, &reader("two"), id, None, &origin("two", 2)).is_err());

    // The same text and the same key in the project are separate records.
    store(&mut memory, "two", 2, &[note("mine"), fact("port", "2")]);
    assert_eq!((memory.revision(), memory.totals().active.notes), (Revision(1), 2));
    let port =
        |who: &str| find_fact(&memory, &reader(who), "port").unwrap().note().unwrap().clone();
    assert_eq!((port("one").content.as_str(), port("two").content.as_str()), ("1", "2"));
    assert_eq!(port("one").scope, Scope::Session(SessionId::new("one")));
}

#[test]
fn a_missing_key_is_answered_with_similar_keys() {
    let mut memory = Memory::default();
    store(&mut memory, "one", 1, &[fact("deploy.command", "make"), fact("db.port", "5432")]);
    let miss = |key: &str| find_fact(&memory, &reader("one"), key).unwrap_err();
    insta::assert_snapshot!(
        miss("deploy command"), @"there is no fact with the key `deploy command`; near it are `deploy.command`"
    );
    insta::assert_snapshot!(
        miss("xyz"), @"there is no fact with the key `xyz`; memory_search finds notes by their words"
    );
}

#[test]
fn forgotten_notes_take_no_room() {
    let mut memory = Memory::default();
    store(&mut memory, "one", 1, &[note("four"), private("three")]);
    assert_eq!((memory.totals().kept.notes.records, memory.totals().kept.notes.bytes), (2, 9));
    let plan = plan_forget(&memory, &reader("one"), "n1".parse().unwrap(), None, &origin("one", 3));
    apply(&mut memory, plan.unwrap());
    assert_eq!((memory.totals().kept.notes.records, memory.totals().kept.notes.bytes), (1, 5));
}

#[test]
fn private_and_shared_staged_facts_stay_separate() {
    let mut memory = Memory::default();
    let by = origin("one", 1);
    let shared = fact("plan", "for all");
    let own = NewNote { private: true, ..fact("plan", "for me") };
    checkpoint(&mut memory, &by, Staged { notes: vec![shared], ..Staged::default() });
    checkpoint(&mut memory, &by, Staged { notes: vec![own], ..Staged::default() });
    save(&mut memory, &by, Staged::default());
    let plan =
        |who: &str| find_fact(&memory, &reader(who), "plan").unwrap().note().unwrap().clone();
    assert_eq!((plan("one").content.as_str(), plan("two").content.as_str()), ("for me", "for all"));
}

#[test]
fn a_successor_keeps_only_the_latest_fact_of_a_key() {
    let mut memory = Memory::default();
    let own = |text: &str| NewNote { private: true, ..fact("plan", text) };
    store(&mut memory, "a", 1, &[own("first"), private("seen by both")]);
    store(&mut memory, "b", 2, &[own("second"), private("seen by both")]);
    for from in ["b", "a"] {
        let (from, to) = (SessionId::new(from), SessionId::new("c"));
        let plan = plan_adopt(&memory, &from, &to, &origin("c", 3)).unwrap();
        apply(&mut memory, plan);
    }
    let c = reader("c");
    assert_eq!(find_fact(&memory, &c, "plan").unwrap().note().unwrap().content, "second");
    assert_eq!(memory.own_usage(&c).0, 2);
    // Handing a note over does not make it look freshly written.
    assert!(memory.own_notes(&c).all(|record| record.updated.time <= day(2)));
}

#[test]
fn a_successor_inherits_tags_and_pins() {
    let own = |text: &str, tag: &str, pinned: bool| NewNote {
        private: true,
        tags: vec![tag.to_owned()],
        pinned,
        ..fact("plan", text)
    };
    let taken = |its: &NewNote, on: i64| {
        let mut memory = Memory::default();
        store(&mut memory, "heir", 2, &[own("its own", "heir", false)]);
        store(&mut memory, "gone", on, std::slice::from_ref(its));
        let (from, to) = (SessionId::new("gone"), SessionId::new("heir"));
        let plan = plan_adopt(&memory, &from, &to, &origin("heir", 4)).unwrap();
        apply(&mut memory, plan);
        find_fact(&memory, &reader("heir"), "plan").unwrap().clone()
    };
    let later = taken(&own("newer", "gone", true), 3);
    assert_eq!(later.note().unwrap().content, "newer");
    assert_eq!((later.pinned, &later.tags[..]), (true, &["gone".to_owned()][..]));
    assert_eq!(later.updated.time, day(3), "as it was written");
    let earlier = taken(&own("older", "gone", true), 1);
    assert_eq!(earlier.note().unwrap().content, "its own");
    assert_eq!((earlier.pinned, &earlier.tags[..]), (true, &["heir".to_owned()][..]));
    assert_eq!(earlier.updated.time, day(2));
}

#[test]
fn nobody_finds_a_shared_note_by_the_words_of_a_private_one() {
    let mut memory = Memory::default();
    let notes = [note("the first public one"), private("quixotempel"), note("the second")];
    store(&mut memory, "one", 1, &notes);
    for query in ["quixotempel", "quixotemple"] {
        let found = found_by(&memory, "two", query);
        assert_eq!((found.hits.len(), found.corrected.len()), (0, 0), "{query}");
    }
}

#[test]
fn private_words_do_not_affect_spelling_correction_for_others() {
    let mut memory = Memory::default();
    let notes = [note("the public parser"), private("quixotempel parzer")];
    store(&mut memory, "one", 1, &notes);
    let corrected = |query| found_by(&memory, "two", query).corrected;
    let slip = |asked: &str, meant: &str| [(asked.to_owned(), meant.to_owned())];
    assert_eq!(corrected("pubblic quixotemple"), slip("pubblic", "public"));
    assert_eq!(corrected("parzer"), slip("parzer", "parser"));
    assert_eq!(
        found_by(&memory, "one", "quixotemple").corrected,
        slip("quixotemple", "quixotempel")
    );
}

/// Returns the search results of a session.
fn found_by(memory: &Memory, session: &str, query: &str) -> SearchResults {
    memory.search().find(&Find {
        query: &Query::parse(query),
        tuning: &Tuning::default(),
        keep: &|id| reader(session).sees(memory.record(id)?).then_some(1.0),
        limit: 10,
        explain: true,
    })
}

/// Returns a memory with room for only this many more notes and bytes.
fn nearly_full(notes: u64, bytes: u64) -> Memory {
    let mut memory = Memory::default();
    let plan = plan_notes(&memory, &origin("one", 1), vec![Ok(fact("port", "1")), Ok(note("x"))]);
    apply(&mut memory, plan.unwrap());
    let mut filler = Record::clone(memory.record("n2".parse().unwrap()).unwrap());
    let count = NOTES_MAX - 2 - notes;
    let large = (NOTES_BYTES_MAX - 2 - count - bytes) / LARGE;
    for number in 3..count + 3 {
        filler.id.number = number;
        let chars = if number < large + 3 { usize::try_from(LARGE).unwrap() } else { 1 };
        let Body::Note(note) = &mut filler.body else { unreachable!() };
        if note.content.len() != chars {
            note.content = "x".repeat(chars);
        }
        // Bypasses the search index, which has no part in this.
        memory.put(filler.clone().into());
    }
    memory
}

const LARGE: u64 = 1 << 20;

#[test]
fn every_write_without_room_is_refused() {
    let memory = nearly_full(1, 200 * LARGE);
    let by = origin("one", 2);
    let staged = |notes: &[NewNote]| Staged { notes: notes.to_vec(), ..Staged::default() };
    let two = [note("first of two"), note("second of two")];
    let save = |memory: &Memory, part: Staged| {
        plan_save(memory, &by, Save { session_summary: "s", part, ..Save::default() })
    };
    let is_full = |refusal: Refusal| {
        let text = refusal.to_string();
        assert!(
            matches!(refusal, Refusal::Full { .. }) && text.contains("memory_forget"),
            "{text}"
        );
    };
    is_full(plan_checkpoint(&memory, &by, staged(&two)).unwrap_err());
    is_full(save(&memory, staged(&two)).unwrap_err());
    assert!(plan_checkpoint(&memory, &by, staged(&two[..1])).is_ok());
    assert!(plan_checkpoint(&memory, &by, staged(&[fact("port", "2")])).is_ok(), "in its place");

    // Work that was staged while there was room is kept when there is no more.
    let mut memory = memory;
    checkpoint(&mut memory, &by, staged(&two[..1]));
    is_full(plan_checkpoint(&memory, &by, staged(&two[1..])).unwrap_err());
    store(&mut memory, "two", 3, &[note("the last")]);
    assert!(save(&memory, Staged::default()).is_ok());
    let keep = plan_keep(&memory, &by.session, &origin("anchord", 4), NoticeCause::Ended, false);
    apply(&mut memory, keep.unwrap());
    assert_eq!(memory.totals().kept.notes.records, NOTES_MAX + 1);
}

#[test]
fn a_fact_can_grow_while_there_is_room() {
    let memory = nearly_full(10, 1_000);
    let left = usize::try_from(NOTES_BYTES_MAX - memory.totals().kept.notes.bytes).unwrap();
    assert!(left < 1 << 20, "{left} bytes are left");
    let by = origin("one", 2);
    let grown = |bytes: usize| {
        let content = Some("y".repeat(bytes));
        let update = crate::Update { content, ..crate::Update::default() };
        let id = "n2".parse().unwrap();
        crate::plan_update(&memory, &reader("one"), id, &update, None, &by).map(|_| ())
    };
    // A longer text may get a tag, which counts too.
    assert_eq!(grown(left - 100), Ok(()));
    let refused = grown(left + 2).unwrap_err().to_string();
    assert!(refused.contains("no room for more notes in this project"), "{refused}");
    let fact = fact("port", &"y".repeat(left + 2));
    assert!(plan_notes(&memory, &by, vec![Ok(fact)]).is_err(), "also in the place of a fact");
}

#[test]
fn repeating_a_note_keeps_the_fields_it_does_not_mention() {
    let mut memory = Memory::default();
    let expires = |note: NewNote| NewNote { expires: Some(day(9)), ..note };
    store(&mut memory, "one", 1, &[expires(note("the port is 1")), expires(fact("port", "1"))]);
    store(&mut memory, "one", 2, &[note("the port is 1"), fact("port", "1")]);
    let of = |memory: &Memory, id: &str| {
        memory.record(id.parse().unwrap()).unwrap().note().unwrap().expires
    };
    assert_eq!((of(&memory, "n1"), of(&memory, "n2")), (Some(day(9)), None), "a fact is replaced");
    let by = origin("one", 3);
    let staged = |note: NewNote| Staged { notes: vec![note], ..Staged::default() };
    checkpoint(&mut memory, &by, staged(expires(note("staged twice"))));
    checkpoint(&mut memory, &by, staged(note("staged twice")));
    save(&mut memory, &by, Staged::default());
    let last = |memory: &Memory| {
        let kept = memory.active_of(Kind::Note).last().unwrap();
        kept.note().unwrap().expires
    };
    assert_eq!(last(&memory), Some(day(9)));
    let never = |note: NewNote| NewNote { lasts: true, ..note };
    store(&mut memory, "one", 4, &[never(note("the port is 1"))]);
    assert_eq!(of(&memory, "n1"), None, "never was said");
    checkpoint(&mut memory, &by, staged(never(note("staged twice"))));
    checkpoint(&mut memory, &by, staged(note("staged twice")));
    save(&mut memory, &by, Staged::default());
    assert_eq!(last(&memory), None, "never was said, and then nothing");
    checkpoint(&mut memory, &by, staged(never(note("staged twice"))));
    checkpoint(&mut memory, &by, staged(expires(note("staged twice"))));
    save(&mut memory, &by, Staged::default());
    assert_eq!(last(&memory), Some(day(9)), "the last word counts");
}

/// Otherwise something that is said now would be marked as expired.
#[test]
fn a_note_repeated_after_it_expired_no_longer_expires() {
    let text = "the tunnel is up";
    let ends = |on| NewNote { expires: Some(day(on)), ..note(text) };
    let staged = |note: NewNote| Staged { notes: vec![note], ..Staged::default() };
    let end = |memory: &Memory| {
        let record = memory.active_of(Kind::Note).next().unwrap();
        record.note().unwrap().expires
    };
    for (on, left) in [(8, Some(day(9))), (9, None), (10, None)] {
        let mut memory = Memory::default();
        store(&mut memory, "one", 1, &[ends(9)]);
        let first = memory.active_of(Kind::Note).next().unwrap().id;
        let (mut saved, mut kept) = (memory.clone(), memory.clone());
        store(&mut memory, "two", on, &[note(text)]);
        assert_eq!(end(&memory), left, "noted on {on}");
        // The time that counts is that of the checkpoint, not of the save.
        checkpoint(&mut saved, &origin("two", on), staged(note(text)));
        save(&mut saved, &origin("two", 20), Staged::default());
        assert_eq!(end(&saved), left, "staged on {on}");
        save(&mut saved, &origin("two", 20), staged(note(text)));
        assert_eq!(end(&saved), None, "and saved");
        if on < 9 {
            // Neither a later checkpoint nor the save's own part mentions the note.
            checkpoint(&mut kept, &origin("two", on), staged(note(text)));
            checkpoint(&mut kept, &origin("two", 12), staged(note("something else")));
            save(&mut kept, &origin("two", 20), staged(note("and something else")));
            let record = kept.record(first).unwrap();
            assert_eq!(record.note().unwrap().expires, left, "staged on {on} with others later");
        }

        let mut memory = Memory::default();
        store(&mut memory, "one", 1, &[ends(30)]);
        checkpoint(&mut memory, &origin("two", 2), staged(ends(9)));
        checkpoint(&mut memory, &origin("two", on), staged(note(text)));
        save(&mut memory, &origin("two", 20), Staged::default());
        assert_eq!(end(&memory), left, "staged twice, the second time on {on}");
    }
}

proptest::proptest! {
    #[test]
    fn a_sessions_usage_is_the_sum_of_its_notes(steps in any_steps()) {
        let (memory, _) = take(&steps);
        for session in ["one", "two", "three"] {
            let reader = reader(session);
            let active: Vec<u64> = memory
                .own_notes(&reader)
                .filter(|record| record.state.is_active())
                .filter_map(|record| Some(u64::from(record.note()?.budget_tokens())))
                .collect();
            let counted = (active.len() as u64, active.iter().sum());
            proptest::prop_assert_eq!(memory.own_usage(&reader), counted);
            let has = memory.private_sessions().any(|(of, _)| *of == SessionId::new(session));
            proptest::prop_assert_eq!(has, memory.own_notes(&reader).next().is_some());
        }
    }
}

#[test]
fn a_user_notes_id_differs_from_every_project_id() {
    let memory = crate::testing::personal([
        NewNote { key: Some("editor".to_owned()), ..note("vim") },
        NewNote { key: Some("editor".to_owned()), ..note("helix") },
    ]);
    let record = memory.records().next().unwrap();
    assert_eq!((memory.records().count(), record.id.to_string()), (1, "u1".to_owned()));
    assert_eq!((record.version, record.kind()), (Version(2), Kind::Note));
    assert_ne!(record.id, "n1".parse().unwrap());
    assert_eq!("U1".parse(), Ok(record.id));
    let text = serde_json::to_string(record).unwrap();
    assert!(text.contains(r#""id":"u1""#) && text.contains(r#""scope":"user""#), "{text}");
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), **record);
}

#[test]
fn a_failed_note_is_stored_as_data_and_older_words_stay_readable() {
    let memory = Memory::default();
    let items =
        vec![Ok(note("fine")), Ok(note(" ")), Err(Refusal::invalid("tags", "cannot be read"))];
    let plan = plan_notes(&memory, &origin("one", 1), items).unwrap();
    let stored = serde_json::to_string(&plan.outcome.failed).unwrap();
    insta::assert_snapshot!(stored, @r#"[{"at":1,"why":{"invalid":{"field":{"name":"content"},"why":"is empty"}}},{"at":2,"why":{"invalid":{"field":{"name":"tags"},"why":"cannot be read"}}}]"#);
    let read: Vec<FailedNote> = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, plan.outcome.failed);
    let older = r#"{"at":1,"why":"items[1].content is empty"}"#;
    let read: FailedNote = serde_json::from_str(older).unwrap();
    assert_eq!(read.why.to_string(), "items[1].content is empty");
}
