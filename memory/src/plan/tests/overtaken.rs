//! Staged work that others wrote again before it was folded.

use super::*;
use crate::{MAIN, TopicDecision, TopicPart};

/// Returns a part with a fact, a mutable blueprint and a status, all of which say this.
fn saying(text: &str) -> Staged {
    let status = TopicPart { status: Some(text.to_owned()), ..TopicPart::default() };
    Staged {
        notes: vec![NewNote { key: Some("port".to_owned()), ..note(text) }],
        topics: vec![status],
        ..blueprints([mutable("Cache", text)])
    }
}

/// Returns what the three records say.
fn said(memory: &Memory) -> [String; 3] {
    let fact = memory.active_of(Kind::Note).find_map(|it| it.note()).unwrap().content.clone();
    let status = memory.topic(MAIN).and_then(|it| it.topic()).unwrap().status.clone();
    let cache = memory.active_of(Kind::Blueprint).find_map(|it| match &it.body {
        Body::Blueprint(blueprint) => Some(blueprint.content.clone()),
        _ => None,
    });
    [fact, cache.unwrap(), status]
}

#[test]
fn work_that_was_staged_before_others_wrote_the_same_replaces_nothing_at_an_end() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    checkpoint(&mut memory, &early, saying("old"));
    save(&mut memory, &later, saying("new"));
    let end = Provenance { time: day(3), ..early.clone() };
    let plan = plan_keep(&memory, &early.session, &end, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    assert_eq!(said(&memory), ["new"; 3]);
    // Nothing is dropped silently: the row has what was staged, and the topic's history the status.
    let row = memory.active_of(Kind::SessionRow).last().unwrap();
    let row = crate::render::item::full(row);
    assert!(row.contains("Not taken, since b1 was written later: old"), "{row}");
    assert!(row.contains("Not taken, since the status of t"), "{row}");
    assert_eq!(row.matches("was written later: old").count(), 3, "{row}");
    assert!(!row.contains("Staged"), "nothing was taken: {row}");
    let topic = memory.topic(MAIN).and_then(|it| it.topic()).unwrap();
    assert!(topic.history.iter().any(|line| line.text == "old"));
}

#[test]
fn a_save_names_the_facts_that_others_wrote_since_they_were_staged() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    let fact = |text: &str| Staged {
        notes: vec![NewNote { key: Some("port".to_owned()), ..note(text) }],
        ..Staged::default()
    };
    checkpoint(&mut memory, &early, fact("old"));
    save(&mut memory, &later, fact("new"));
    let outcome =
        save(&mut memory, &Provenance { time: day(3), ..early.clone() }, Staged::default());
    let stored = |memory: &Memory| {
        memory.active_of(Kind::Note).find_map(|it| it.note()).unwrap().content.clone()
    };
    assert_eq!(stored(&memory), "new");
    let id = memory.active_of(Kind::Note).next().unwrap().id;
    let (name, text) = ("port".to_owned(), "old".to_owned());
    assert_eq!(outcome.overtaken, [crate::Overtaken { id, name, text }]);
    // What is said again, knowing of it, is newer. So is what the save itself has.
    checkpoint(&mut memory, &early, fact("old again"));
    let outcome =
        save(&mut memory, &Provenance { time: day(4), ..early.clone() }, Staged::default());
    assert_eq!((stored(&memory).as_str(), outcome.overtaken.len()), ("old again", 0));
    save(&mut memory, &early, fact("last"));
    assert_eq!(stored(&memory), "last");
}

/// Nothing else has the text, so it is not cut as a line is.
#[test]
fn the_row_of_a_killed_session_has_all_of_a_long_text_that_was_not_taken() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    let fact = |text: &str| Staged {
        notes: vec![NewNote { key: Some("deploy".to_owned()), ..note(text) }],
        ..Staged::default()
    };
    let steps: Vec<String> = (0..60).map(|at| format!("{at}. run the step {at}")).collect();
    let steps = steps.join("\n");
    checkpoint(
        &mut memory,
        &early,
        Staged { lessons: vec![lesson("Flush first", "")], ..fact(&steps) },
    );
    save(&mut memory, &later, fact("ask ada"));
    let end = Provenance { time: day(3), ..early.clone() };
    let plan = plan_keep(&memory, &early.session, &end, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    let id = memory.active_of(Kind::Note).next().unwrap().id;
    let row = memory.active_of(Kind::SessionRow).last().unwrap();
    let Body::SessionRow(row) = &row.body else { panic!("{row:?}") };
    let not_taken = format!("Not taken, since {id} was written later:\n{steps}");
    assert_eq!(row.summary, format!("Staged 1 lesson.\n{not_taken}"));
    let kept = memory.notices().last().unwrap().kept;
    assert_eq!(kept, Counts { lessons: 1, ..Counts::default() });
}

#[test]
fn texts_that_exceed_the_row_are_cut_and_say_so() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    let long = "x".repeat(limits::ROW_OVERTAKEN_BYTES_MAX);
    checkpoint(&mut memory, &early, blueprints([mutable("A", &long), mutable("B", &long)]));
    save(&mut memory, &later, blueprints([mutable("A", "a"), mutable("B", "b")]));
    let end = Provenance { time: day(3), ..early.clone() };
    let plan = plan_keep(&memory, &early.session, &end, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    let row = memory.active_of(Kind::SessionRow).last().unwrap();
    let Body::SessionRow(row) = &row.body else { panic!("{row:?}") };
    let (half, bytes) = (long.len() / 2, long.len());
    let cut = format!("[cut here: {half} of {bytes} bytes]");
    assert_eq!(row.summary.matches(&cut).count(), 2, "{}", row.summary.len());
}

#[test]
fn the_reply_to_a_save_names_a_status_that_was_overtaken() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    let status = |text: &str| Staged {
        topics: vec![TopicPart { status: Some(text.to_owned()), ..TopicPart::default() }],
        ..Staged::default()
    };
    checkpoint(&mut memory, &early, status("half of it works"));
    save(&mut memory, &later, status("all of it works"));
    let by = Provenance { time: day(3), ..early };
    let outcome = save(&mut memory, &by, Staged::default());
    let id = memory.topic(MAIN).unwrap().id;
    let (name, text) = ("status".to_owned(), "half of it works".to_owned());
    assert_eq!(outcome.overtaken, [crate::Overtaken { id, name, text }]);
    let reply = crate::render::save(&outcome);
    let line = format!("- the status of {id}; you staged: half of it works\n");
    assert!(reply.contains(&line), "{reply}");
    let topic = memory.topic(MAIN).and_then(|it| it.topic()).unwrap();
    assert_eq!(topic.status, "all of it works");
}

fn described(overview: &str, architecture: &str) -> Staged {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let (overview, architecture) = (text(overview), text(architecture));
    Staged {
        topics: vec![TopicPart { overview, architecture, ..TopicPart::default() }],
        ..Staged::default()
    }
}

fn descriptions(memory: &Memory) -> (String, String) {
    let topic = memory.topic(MAIN).and_then(|it| it.topic()).unwrap();
    (topic.overview.clone(), topic.architecture.clone())
}

#[test]
fn descriptions_that_were_staged_before_others_wrote_theirs_replace_nothing() {
    for is_saved in [true, false] {
        let (mut memory, early, later) =
            (Memory::default(), origin("early", 2), origin("later", 3));
        save(&mut memory, &origin("first", 1), described("a cache", "one writer"));
        checkpoint(&mut memory, &early, described("an old cache", "two writers"));
        save(&mut memory, &later, described("a new cache", ""));
        let end = Provenance { time: day(4), ..early.clone() };
        let id = memory.topic(MAIN).unwrap().id;
        if is_saved {
            let outcome = save(&mut memory, &end, Staged::default());
            let (name, text) = ("overview".to_owned(), "an old cache".to_owned());
            assert_eq!(outcome.overtaken, [crate::Overtaken { id, name, text }]);
        } else {
            let cause = NoticeCause::Ended;
            let plan = plan_keep(&memory, &early.session, &end, cause, false).unwrap();
            apply(&mut memory, plan);
            let row = memory.active_of(Kind::SessionRow).last().unwrap();
            let row = crate::render::item::full(row);
            let line =
                format!("Not taken, since the overview of {id} was written later: an old cache");
            assert!(row.contains(&line) && row.contains("Staged 1 topic."), "{row}");
        }
        // Nobody else wrote the architecture, so what was staged of it is taken.
        assert_eq!(descriptions(&memory), ("a new cache".to_owned(), "two writers".to_owned()));
    }
}

#[test]
fn descriptions_that_a_session_knew_or_says_in_its_save_are_replaced() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    checkpoint(&mut memory, &early, described("an old cache", ""));
    save(&mut memory, &later, described("a new cache", ""));
    // Another part of the topic may change; the overview is what this session saw.
    checkpoint(&mut memory, &early, described("the newest cache", ""));
    save(&mut memory, &later, described("", "one writer"));
    let outcome = save(&mut memory, &early, Staged::default());
    assert_eq!(outcome.overtaken, []);
    assert_eq!(descriptions(&memory), ("the newest cache".to_owned(), "one writer".to_owned()));
    checkpoint(&mut memory, &early, described("an old cache", ""));
    save(&mut memory, &later, described("a new cache", ""));
    let outcome = save(&mut memory, &early, described("the last cache", ""));
    assert_eq!(outcome.overtaken, []);
    assert_eq!(descriptions(&memory).0, "the last cache");
}

#[test]
fn the_same_words_are_no_conflict() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    let fact = |text: &str| Staged {
        notes: vec![NewNote { key: Some("port".to_owned()), ..note(text) }],
        ..Staged::default()
    };
    save(&mut memory, &later, fact("8001"));
    checkpoint(&mut memory, &early, fact("8001"));
    // Another importance is another content, but says nothing else.
    let mut again = fact("8001");
    again.notes[0].importance = Some(9);
    save(&mut memory, &later, again);
    let outcome = save(&mut memory, &early, Staged::default());
    assert_eq!(outcome.overtaken, []);
}

/// A later call says nothing about the blueprint, so it changes nothing about its age.
#[test]
fn a_blueprint_keeps_the_revision_of_its_own_checkpoint() {
    let other = || lessons([lesson("Flush first", "")]);
    for (staged, saved) in [
        (None, Staged::default()),
        (Some(other()), Staged::default()),
        (None, other()),
        (Some(other()), other()),
    ] {
        let (mut memory, early, later) =
            (Memory::default(), origin("early", 1), origin("later", 2));
        checkpoint(&mut memory, &early, blueprints([mutable("Cache", "old")]));
        save(&mut memory, &later, blueprints([mutable("Cache", "new")]));
        if let Some(staged) = staged {
            checkpoint(&mut memory, &early, staged);
        }
        let outcome = save(&mut memory, &early, saved);
        let stored = memory.active_of(Kind::Blueprint).next().unwrap();
        let Body::Blueprint(cache) = &stored.body else { panic!("{stored:?}") };
        assert_eq!((cache.content.as_str(), cache.staged), ("new", None));
        assert_eq!(outcome.overtaken.len(), 1);
    }
    // Said again by the save itself, it is newer than what is stored.
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    checkpoint(&mut memory, &early, blueprints([mutable("Cache", "old")]));
    save(&mut memory, &later, blueprints([mutable("Cache", "new")]));
    let outcome = save(&mut memory, &early, blueprints([mutable("Cache", "old")]));
    assert_eq!(outcome.overtaken, []);
    let stored = memory.active_of(Kind::Blueprint).next().unwrap();
    assert!(crate::render::item::full(stored).contains("old"), "{stored:?}");
}

#[test]
fn staged_work_whose_text_was_purged_meanwhile_is_not_folded() {
    let (mut memory, by) = (Memory::default(), origin("one", 1));
    checkpoint(&mut memory, &by, lessons([lesson("Flush first", "or lose it")]));
    checkpoint(&mut memory, &by, blueprints([mutable("Cache", "five minutes")]));
    // As another machine of a team does, which has nothing of this staged work.
    let digests = vec![crate::purge::digest("salt", "Flush first\nor lose it")];
    let purged = Change::Tombstones { salt: "salt".to_owned(), digests, time: day(2) };
    memory.apply(Seq(memory.seq().0 + 1), &[purged]);
    save(&mut memory, &by, Staged::default());
    assert_eq!(memory.active_of(Kind::Lesson).count(), 0);
    assert_eq!(memory.active_of(Kind::Blueprint).count(), 1);
}

/// A title may mean two things to two agents, and neither text may be lost.
#[test]
fn the_row_of_an_end_has_a_blueprint_that_an_immutable_one_kept_out() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    let mut part = blueprints([blueprint("Cache", "LRU, ten entries")]);
    part.lessons = vec![lesson("Flush first", "")];
    checkpoint(&mut memory, &early, part);
    save(&mut memory, &later, blueprints([blueprint("Cache", "none at all")]));
    let end = Provenance { time: day(3), ..early.clone() };
    let plan = plan_keep(&memory, &early.session, &end, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    let row = memory.active_of(Kind::SessionRow).last().unwrap();
    let Body::SessionRow(row) = &row.body else { panic!("{row:?}") };
    assert_eq!(row.summary, "Staged 1 lesson.\nNot taken, since b1 is immutable: LRU, ten entries");
    let kept = memory.notices().last().unwrap().kept;
    assert_eq!(kept, Counts { lessons: 1, ..Counts::default() });
    // An equal text is not left out, and nothing is said of it.
    checkpoint(&mut memory, &early, blueprints([blueprint("Cache", "none at all")]));
    let end = Provenance { time: day(4), ..early };
    let plan = plan_keep(&memory, &end.session, &end, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    let row = memory.active_of(Kind::SessionRow).last().unwrap();
    assert_eq!(crate::render::item::full(row).matches("Not taken").count(), 1);
}

#[test]
fn an_answer_and_a_concept_that_were_staged_earlier_replace_none_that_others_wrote_since() {
    let (mut memory, early, later) = (Memory::default(), origin("early", 1), origin("later", 2));
    let saying = |answer: &str, concept: &str| {
        let decided = Some(answer.to_owned());
        let ship = TopicDecision { decided, ..TopicDecision::statement("Ship?") };
        let topic = TopicPart { decisions: vec![ship], ..TopicPart::default() };
        Staged { topics: vec![topic], ..anchors([anchor("a.rs", "1-2", concept)]) }
    };
    let said = |memory: &Memory| {
        let answer = memory.topic(MAIN).and_then(|it| it.topic()).unwrap().decisions[0].clone();
        let concepts = memory.active_of(Kind::Anchor).filter_map(|it| it.anchor());
        let concepts: Vec<String> = concepts.map(|anchor| anchor.concept.clone()).collect();
        (answer.decided.unwrap(), concepts)
    };
    let is_said = |memory: &Memory, answer: &str, concept: &str| {
        assert_eq!(said(memory), (answer.to_owned(), vec![concept.to_owned()]));
    };
    save(&mut memory, &origin("first", 1), saying("perhaps", "the cache"));
    checkpoint(&mut memory, &early, saying("yes", "the old cache"));
    // What is answered again as it was staged is not later, and neither is another part.
    let status = TopicPart { status: Some("on it".to_owned()), ..TopicPart::default() };
    save(&mut memory, &later, Staged { topics: vec![status], ..Staged::default() });
    let mut apart = memory.clone();
    save(&mut apart, &early, Staged::default());
    is_said(&apart, "yes", "the old cache");

    save(&mut memory, &later, saying("no", "the new cache"));
    let mut saved = memory.clone();
    let outcome = save(&mut saved, &early, Staged::default());
    is_said(&saved, "no", "the new cache");
    let named: Vec<String> =
        outcome.overtaken.iter().map(|it| format!("{}: {}", it.place(), it.text)).collect();
    let topic = saved.topic(MAIN).unwrap().id;
    let answer = format!("the answer to \"Ship?\" of {topic}: yes");
    assert_eq!(named, ["a1: a.rs:1-2 the old cache".to_owned(), answer.clone()]);

    let end = Provenance { time: day(3), ..early.clone() };
    let plan = plan_keep(&memory, &early.session, &end, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    is_said(&memory, "no", "the new cache");
    let row = memory.active_of(Kind::SessionRow).last().unwrap();
    let row = crate::render::item::full(row);
    assert!(row.contains("of t") && row.contains(" was written later: yes"), "{row}");
    assert!(row.contains("since a1 was written later: a.rs:1-2 the old cache"), "{row}");
    // What a save itself says counts, as does what is staged again, knowing of the other.
    checkpoint(&mut memory, &early, saying("yes", "the old cache"));
    save(&mut memory, &early, Staged::default());
    is_said(&memory, "yes", "the old cache");
    checkpoint(&mut memory, &early, saying("perhaps", "some cache"));
    save(&mut memory, &later, saying("no", "the new cache"));
    save(&mut memory, &early, saying("yes", "the cache"));
    is_said(&memory, "yes", "the cache");
}
