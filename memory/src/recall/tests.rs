//! The records that each reader finds, the filters, and the order.

use std::sync::Arc;

use super::*;
use crate::lifecycle::{Event, ToolRun};
use crate::render::{Cause, reasons, why_prompt};
use crate::testing::{anchor, apply, captured_lesson, day, lesson, lessons, note, origin, save};
use crate::{
    Change, HistoryLine, NewNote, NoticeCause, Seq, SessionActivity, SessionId, Staged, TopicPart,
    plan_capture, plan_forget, plan_keep, plan_notes, plan_topic,
};

fn with_notes(
    memory: &mut Memory,
    session: &str,
    on: i64,
    notes: impl IntoIterator<Item = NewNote>,
) {
    let items = notes.into_iter().map(Ok).collect();
    let plan = plan_notes(memory, &origin(session, on), items).unwrap();
    apply(memory, plan);
}

fn archived(memory: &mut Memory, id: &str) {
    let record = memory.record(id.parse().unwrap()).unwrap().as_ref().clone();
    let record = Record { state: RecordState::Archived, ..record };
    memory.apply(Seq(memory.seq().0 + 1), &[Change::Put(Arc::new(record))]);
}

fn everything<'a>(reader: &'a Reader, query: &'a str) -> Recall<'a> {
    Recall {
        prior: &|record| if record.state == RecordState::Archived { 0.5 } else { 1.0 },
        ..Recall::new(reader, query, 10, &Tuning::COMPACTOR)
    }
}

fn ids(memory: &Memory, of: &Recall<'_>) -> Vec<String> {
    recall(memory, of).hits.iter().map(|hit| hit.id.to_string()).collect()
}

#[test]
fn a_corrected_word_is_reported_in_full() {
    let mut memory = Memory::default();
    with_notes(&mut memory, "one", 1, [note("The Databases are moved")]);
    let found = recall(&memory, &everything(&Reader::anyone(), "dattabases"));
    assert_eq!(found.corrected, [("dattabases".to_owned(), "databases".to_owned())]);
}

fn filled() -> Memory {
    let mut memory = Memory::default();
    let tagged = NewNote { tags: vec!["auth".to_owned()], ..note("Tokens are rotated weekly") };
    with_notes(&mut memory, "one", 1, [note("OAuth tokens expire after an hour"), tagged]);
    with_notes(&mut memory, "two", 5, [NewNote { private: true, ..note("my tokens") }]);
    let part = Staged {
        anchors: vec![anchor("src/auth/oauth.ts", "1-9", "where tokens are made")],
        ..Staged::default()
    };
    save(&mut memory, &origin("one", 6), part);
    memory
}

#[test]
fn every_kind_is_found_and_only_visible_records() {
    let memory = filled();
    let reader = |name: &str| Reader::session(SessionId::new(name));
    let found = |name: &str| {
        let mut found = ids(&memory, &everything(&reader(name), "token"));
        found.sort();
        found
    };
    assert_eq!(found("one"), ["a4", "n1", "n2"]);
    assert_eq!(found("two"), ["a4", "n1", "n2", "n3"]);
}

#[test]
fn filters_exclude_records_that_do_not_match() {
    let memory = filled();
    let reader = Reader::session(SessionId::new("two"));
    let all = everything(&reader, "tokens");
    let tags = ["auth".to_owned()];
    assert_eq!(ids(&memory, &Recall { tags: &tags, ..all }), ["n2"]);
    let either = ["no such tag".to_owned(), "auth".to_owned()];
    assert_eq!(ids(&memory, &Recall { tags: &either, ..all }), Vec::<String>::new());
    assert_eq!(ids(&memory, &Recall { tags: &either, any_tag: true, ..all }), ["n2"]);
    assert_eq!(
        ids(&memory, &Recall { any_tag: true, ..all }),
        ids(&memory, &all),
        "no tag excludes nothing"
    );
    assert_eq!(ids(&memory, &Recall { kinds: &[Kind::Anchor], ..all }), ["a4"]);
    assert_eq!(ids(&memory, &Recall { own: Some(true), ..all }), ["n3"]);
    assert_eq!(ids(&memory, &Recall { file: Some("./src/auth"), ..all }), ["a4"]);
    assert_eq!(ids(&memory, &Recall { since: Some(day(6)), ..all }), ["a4"]);
    assert_eq!(ids(&memory, &Recall { until: Some(day(2)), ..all }).len(), 2);
    // Without words, only the filters decide.
    let by_tag = Recall { query: " ", tags: &tags, ..all };
    assert_eq!(ids(&memory, &by_tag), ["n2"]);
}

#[test]
fn archived_records_rank_last_and_forgotten_ones_are_not_found() {
    let mut memory = filled();
    let anyone = Reader::anyone();
    let all = everything(&anyone, "tokens rotated");
    assert_eq!(ids(&memory, &all)[0], "n2");
    archived(&mut memory, "n2");
    let behind = Recall { query: "tokens", ..all };
    assert_eq!(ids(&memory, &behind).last().unwrap(), "n2");
    let plan =
        plan_forget(&memory, &anyone, "n2".parse().unwrap(), None, &origin("one", 8)).unwrap();
    apply(&mut memory, plan);
    assert!(!ids(&memory, &all).contains(&"n2".to_owned()));
}

#[test]
fn a_file_name_matches_whole_words_only() {
    let reader = Reader::anyone();
    let found = |text: &str, file: &str| {
        let mut memory = Memory::default();
        with_notes(&mut memory, "one", 1, [note(text)]);
        !ids(&memory, &Recall { file: Some(file), ..everything(&reader, "") }).is_empty()
    };
    for (text, file) in [
        ("the author wrote stdlib.rs notes", "auth"),
        ("the author wrote stdlib.rs notes", "lib.rs"),
        ("see lib.rs.bak", "lib.rs"),
        ("auth.ts has it", "auth"),
        ("auth-service is another", "auth"),
        ("my_auth too", "auth"),
        (".lib.rs is hidden", "lib.rs"),
    ] {
        assert!(!found(text, file), "{file}: {text}");
    }
    for (text, file) in [
        ("see lib.rs", "lib.rs"),
        ("it is in lib.rs.", "lib.rs"),
        ("`memory/src/lib.rs`:42 panics", "lib.rs"),
        ("lib.rs:42 panics", "lib.rs"),
        ("src/auth/oauth.ts has it", "src/auth"),
        ("the author of src/auth/oauth.ts", "auth"),
        ("缓存在lib.rs里", "lib.rs"),
    ] {
        assert!(found(text, file), "{file}: {text}");
    }
}

/// Returns notes of one session of which only one has the word.
fn beside() -> Memory {
    let mut memory = Memory::default();
    let text = |n: u32| match n {
        3 => "kafka lags behind".to_owned(),
        n => format!("number {n} of the day"),
    };
    with_notes(&mut memory, "one", 1, (0..9).map(|n| note(&text(n))));
    memory
}

#[test]
fn neighbours_without_query_words_come_last_and_name_their_hit() {
    let memory = beside();
    let reader = Reader::anyone();
    let tuning = &Tuning::default();
    let found = |query: &str| recall(&memory, &Recall { tuning, ..everything(&reader, query) });
    let told = |found: &Recalled| {
        let hits = found.hits.iter().map(|hit| match hit.neighbour_of {
            None => hit.id.to_string(),
            Some(lender) => format!("{}<{lender}", hit.id),
        });
        hits.collect::<Vec<_>>().join(" ")
    };
    let kafka = found("kafka");
    assert_eq!((told(&kafka).as_str(), kafka.matching), ("n4 n3<n4 n5<n4 n2<n4", 1));
    let both = found("kafka number");
    assert_eq!(both.matching, 9);
    let limited = Recall { tuning, limit: 1, ..everything(&reader, "kafka") };
    assert_eq!(told(&recall(&memory, &limited)), "n4");
}

#[test]
fn neighbours_without_query_words_are_left_out_if_hits_suffice() {
    let reader = Reader::anyone();
    let tuning = &Tuning::default();
    // The last note that has the word boosts the two after it.
    for (having, beside) in [(1, 2), (HITS_FEW - 1, 2), (HITS_FEW, 0)] {
        let mut memory = Memory::default();
        let text = |n| if n < having { "kafka lags" } else { "a day" };
        with_notes(&mut memory, "one", 1, (0..12).map(|n| note(&format!("{} {n}", text(n)))));
        let found = recall(&memory, &Recall { tuning, ..everything(&reader, "kafka") });
        let places: Vec<bool> = found.hits.iter().map(|hit| hit.neighbour_of.is_some()).collect();
        assert_eq!(places, [vec![false; having], vec![true; beside]].concat(), "{having}");
    }
}

#[test]
fn a_constraint_that_matches_nothing_is_dropped() {
    let mut memory = Memory::default();
    with_notes(&mut memory, "one", 1, [note("the pool of sockets"), note("sockets are pooled")]);
    let reader = Reader::anyone();
    let tuning = &Tuning::default();
    let found = |query: &str| {
        let found = recall(&memory, &Recall { tuning, ..everything(&reader, query) });
        (found.hits.len(), found.matching, found.relaxed)
    };
    assert_eq!(found("\"pool of sockets\""), (1, 1, false));
    assert_eq!(found("\"sockets of pool\""), (2, 2, true));
    assert_eq!(found("sockets -pool"), (2, 2, true), "both have the word");
    assert_eq!(found("\"zebra of dust\""), (0, 0, false), "plain words find nothing either");
    let bound = recall(&memory, &everything(&reader, "\"sockets of pool\""));
    assert_eq!(bound.hits.len(), 0, "the compactor's quotes bind");
}

#[test]
fn a_phrase_only_in_the_users_notes_is_found_only_there() {
    let mut project = Memory::default();
    with_notes(&mut project, "one", 1, [note("small fish, large requests")]);
    let personal = crate::testing::personal([note("prefers small requests")]);
    let reader = Reader::anyone();
    let tuning = &Tuning::default();
    let found = |memory: &Memory, query: &str| {
        recall(memory, &Recall { tuning, ..everything(&reader, query) })
    };
    let merged = |query: &str| {
        let merged = found(&project, query).with_personal(found(&personal, query));
        let ids: Vec<String> = merged.hits.iter().map(|hit| hit.id.to_string()).collect();
        (ids.join(" "), merged.relaxed)
    };
    assert_eq!(merged("\"small requests\""), ("u1".to_owned(), false));
    assert_eq!(merged("\"large requests\""), ("n1".to_owned(), false));
    assert_eq!(merged("\"requests small\""), ("n1 u1".to_owned(), true));
}

#[test]
fn the_count_of_matches_includes_those_not_shown() {
    let mut memory = Memory::default();
    for session in ["one", "two", "three"] {
        for part in 0..4 {
            let notes = (0..100).map(|n| note(&format!("tide {n}{part} of {session}")));
            with_notes(&mut memory, session, 1, notes);
        }
    }
    let reader = Reader::anyone();
    let matching = |query: &str, since| {
        let tuning = &Tuning::default();
        let found = recall(&memory, &Recall { since, tuning, ..everything(&reader, query) });
        (found.matching, found.more)
    };
    let limit = everything(&reader, "").limit;
    let counted_max = limit + FOUND_COUNTED_MAX;
    assert!(counted_max < 400);
    for query in ["two", "tide", "thhree"] {
        assert_eq!(matching(query, None), (counted_max, true), "{query}");
    }
    assert_eq!(matching("two", Some(day(2))), (0, false));
    assert_eq!(matching("37 two", Some(day(1))), (counted_max, true));
    assert_eq!(matching("\"tide 371\"", None), (3, false));
    assert_eq!(matching("", None), (1_200, false));
}

#[test]
fn user_notes_found_by_correction_are_dropped_if_the_project_has_the_word() {
    let mut project = Memory::default();
    with_notes(&mut project, "one", 1, [note("the pooling of sockets")]);
    let personal = crate::testing::personal([note("prefers pulling to pushing")]);
    let reader = Reader::anyone();
    let found = |memory: &Memory, query: &str| recall(memory, &everything(&reader, query));
    assert_eq!(found(&personal, "puling").corrected.len(), 1, "it is found by itself");
    let merged = found(&project, "sockets").with_personal(found(&personal, "sockets"));
    assert_eq!(merged.hits.len(), 1);
    let merged = found(&Memory::default(), "puling").with_personal(found(&personal, "puling"));
    assert_eq!((merged.hits.len(), merged.corrected.len()), (1, 1));
    with_notes(&mut project, "one", 1, [note("puling infants")]);
    let merged = found(&project, "puling").with_personal(found(&personal, "puling"));
    assert_eq!((merged.hits.len(), merged.corrected.len()), (1, 0), "the project has the word");
}

#[test]
fn at_a_prompt_captured_records_rank_behind_written_ones() {
    let mut memory = Memory::default();
    let error = "the websocket proxy drops idle connections";
    let captured = captured_lesson("make proxy", error, day(2));
    // By its words alone, the other one would be the better hit.
    let detail = "It wants a sign of life. ".repeat(2);
    let written = lesson(&captured.summary.replace("editing", "mending"), &detail);
    save(&mut memory, &origin("one", 1), lessons([captured, written]));
    let (reader, given) = (Reader::anyone(), std::collections::BTreeSet::new());
    let prompt = "why does the websocket proxy drop idle connections?";
    let of = PromptQuery { reader: &reader, prompt, given: &given, now: day(9) };
    let found = for_prompt(&memory, &of).candidates;
    let captured: Vec<bool> =
        found.iter().map(|candidate| memory.record(candidate.id).unwrap().is_captured()).collect();
    assert_eq!(captured, [false, true]);
}

/// Returns a memory in which every test and every run competes for `test.command`.
fn everyday() -> Memory {
    let mut memory = Memory::default();
    let fact = |key: &str, content: &str| NewNote { key: Some(key.to_owned()), ..note(content) };
    let mut notes = vec![
        fact("test.command", "just test [path]; it starts the database by itself"),
        fact("test.console", "cd console && pnpm test -- --run; without --run the tests never end"),
        fact("deploy.staging", "just deploy staging, from a clean tree"),
        note("tablet tests run against seeded data, crew 1007 has a swap pending"),
        note("never run a migration from a laptop, they run in the pipeline"),
        note("the solver rounds each loop of a vessel to full minutes"),
    ];
    notes.extend((0..40).map(|at| note(&format!("vessel {at} reports its position every minute"))));
    with_notes(&mut memory, "one", 1, notes);
    memory
}

fn given_at(memory: &Memory, prompt: &str) -> Vec<String> {
    let (reader, given) = (Reader::anyone(), std::collections::BTreeSet::new());
    let of = PromptQuery { reader: &reader, prompt, given: &given, now: day(9) };
    for_prompt(memory, &of).given.iter().map(ToString::to_string).collect()
}

#[test]
fn a_short_imperative_finds_the_fact_with_a_matching_key() {
    let memory = everyday();
    for (prompt, fact) in [("run the tests", "n1"), ("deploy to staging", "n3")] {
        let given = given_at(&memory, prompt);
        assert!(given.contains(&fact.to_owned()), "{prompt}: {given:?}");
    }
}

#[test]
fn prompts_about_the_code_at_hand_bring_no_records() {
    let memory = everyday();
    for prompt in [
        "yes",
        "commit that",
        "write a haiku",
        "rename the variable in this loop to vessel",
        "add a docstring to the solver function",
        "rename the clean tree",
        "explain what this regex does",
        "undo that",
    ] {
        assert_eq!(given_at(&memory, prompt), [""; 0], "{prompt}");
    }
    assert_eq!(given_at(&memory, "clean the deploy tree").first().map(String::as_str), Some("n3"));
    let asked = given_at(&memory, "why does the solver round each loop of a vessel to minutes?");
    assert_eq!(asked.first().map(String::as_str), Some("n6"));
}

/// Topics that hooks make at a compaction repeat what was asked, as rows do.
#[test]
fn a_topic_of_texts_by_rule_alone_is_not_given_at_a_prompt() {
    let mut memory = everyday();
    let asked = "The payments worker hits a deadlock again, please fix it.";
    for (on, line, expected) in [
        (2, HistoryLine::new(&format!("Session ended. Asked: {asked}")), vec![]),
        (3, HistoryLine::written("The payments worker has no deadlock.".to_owned()), vec!["t"]),
    ] {
        let name = Some("session-1".to_owned());
        let part = TopicPart { name, history: vec![line], ..TopicPart::default() };
        let part = Staged { topics: vec![part], ..Staged::default() };
        let plan = plan_topic(&memory, &origin("one", on), part, None).unwrap();
        apply(&mut memory, plan);
        let given = given_at(&memory, asked);
        assert_eq!(given.iter().map(|id| &id[..1]).collect::<Vec<_>>(), expected, "{given:?}");
    }
}

/// Adds the row of a session that saved nothing, made from its one prompt and its last message.
fn with_row(memory: &mut Memory, on: i64, prompt: &str, said: &str) {
    let mut activity = SessionActivity::of(&format!("claude-code:{on}"));
    let asked = Event::PromptSubmitted { prompt: prompt.to_owned() };
    let edited = vec!["src/work.py".to_owned()];
    let worked = Event::ToolRan(ToolRun { edited, ..ToolRun::default() });
    let ended = Event::TurnEnded { last_message: Some(said.to_owned()) };
    for event in [asked, worked, ended] {
        activity.saw(&event, day(on));
    }
    with_activity(memory, on, activity);
}

fn with_activity(memory: &mut Memory, on: i64, activity: SessionActivity) {
    let by = origin(&format!("worker {on}"), on);
    let plan = plan_capture(memory, &by, activity).unwrap();
    apply(memory, plan);
    let plan = plan_keep(memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    apply(memory, plan);
}

#[test]
fn a_prompt_that_goes_on_with_earlier_work_is_given_the_row_of_that_work() {
    let mut memory = everyday();
    let work = [
        ("Fix the rounding of refunds in the ticket export", "Refunds are rounded; VAT is open."),
        ("Make the crew roster load faster", "The roster loads in 0.8 s now."),
        ("Translate the fog notice", "Spanish is missing."),
    ];
    for ((prompt, said), on) in work.into_iter().zip(2..) {
        with_row(&mut memory, on, prompt, said);
    }
    for at in 5..25 {
        with_row(&mut memory, at, &format!("Review pull request {at} of the console"), "Done.");
    }
    let rows = |prompt: &str| {
        let given = given_at(&memory, prompt);
        given.into_iter().filter(|id| id.starts_with('s')).collect::<Vec<_>>()
    };
    let newest = memory.active_of(Kind::SessionRow).last().unwrap().id.to_string();
    let first = memory.active_of(Kind::SessionRow).next().unwrap().id.to_string();
    for (prompt, row) in [
        ("continue with the refund rounding", &first),
        ("go on with the ticket export", &first),
        ("continue where we left off", &newest),
        ("wo haben wir aufgehört?", &newest),
        ("where did we leave off with refunds?", &first),
    ] {
        assert_eq!(rows(prompt).first(), Some(row), "{prompt}");
    }
    // Sessions that asked the same are not what is meant.
    let mut asked = memory.clone();
    for at in 26..28 {
        with_row(&mut asked, at, "Fix the fog notice. Where did we leave off?", "Here.");
    }
    let last = asked.active_of(Kind::SessionRow).last().unwrap().id.to_string();
    let mut only = SessionActivity::of("claude-code:28");
    only.saw(&Event::PromptSubmitted { prompt: "Where did we leave off?".to_owned() }, day(28));
    with_activity(&mut asked, 28, only);
    let newest_row = asked.active_of(Kind::SessionRow).last().unwrap().id.to_string();
    assert_ne!(newest_row, last);
    assert_eq!(given_at(&asked, "Where did we leave off?"), [last]);
    let again = [
        ("where did we leave off with the refunds?", Some("Rounding is done, VAT is open.")),
        ("what is still open on the refunds?", Some("VAT.")),
        ("pick up the refunds work again", None),
    ];
    for ((prompt, said), on) in again.into_iter().zip(29..) {
        let mut activity = SessionActivity::of(&format!("claude-code:{on}"));
        activity.saw(&Event::PromptSubmitted { prompt: prompt.to_owned() }, day(on));
        let last_message = said.map(str::to_owned);
        activity.saw(&Event::TurnEnded { last_message }, day(on));
        with_activity(&mut asked, on, activity);
    }
    for prompt in [
        "where did we leave off with refunds?",
        "pick up the refunds work again",
        "wo sind wir bei refunds stehengeblieben?",
        "what is still open on the refunds?",
    ] {
        let given = given_at(&asked, prompt);
        let given: Vec<_> = given.iter().filter(|id| id.starts_with('s')).collect();
        assert_eq!(given, [&first], "{prompt}");
    }
    let (reader, nothing) = (Reader::anyone(), std::collections::BTreeSet::new());
    let prompt = "continue where we left off";
    let of = PromptQuery { reader: &reader, prompt, given: &nothing, now: day(30) };
    assert!(why_prompt(&memory, &of).text.contains("goes on with the last session"));
    let ids = [newest.parse().unwrap()];
    let why = reasons(&memory, &reader, Cause::Prompt(prompt), &ids, day(30));
    assert_eq!(why[0].2, "the last session, which the prompt goes on with");
    let known = std::collections::BTreeSet::from(ids);
    let choice = for_prompt(&memory, &PromptQuery { given: &known, ..of });
    assert_eq!(choice.last_session, None, "the model has that row already");
    for prompt in [
        "continue",
        "go on",
        "continue with the next one",
        "go on with the second item",
        "resume",
        "fix the rounding of refunds",
    ] {
        assert_eq!(rows(prompt), [""; 0], "{prompt}");
    }
}
