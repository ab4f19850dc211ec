//! The record that comes first, and its gains.

use super::super::{Recall, Recalled, recall};
use crate::search::{Hit, Tuning};
use crate::testing::{apply, blueprint, blueprints, note, origin, save};
use crate::{Memory, NewNote, Reader, Record, RecordId, plan_notes};

fn with_notes(memory: &mut Memory, notes: impl IntoIterator<Item = NewNote>) {
    let plan = plan_notes(memory, &origin("one", 1), notes.into_iter().map(Ok).collect()).unwrap();
    apply(memory, plan);
}

fn fact(key: &str, content: &str) -> NewNote {
    NewNote { key: Some(key.to_owned()), ..note(content) }
}

fn found_by(memory: &Memory, query: &str, limit: usize, tuning: &Tuning) -> Recalled {
    let prior: &dyn Fn(&Record) -> f32 = &|record| if record.state.is_active() { 1.0 } else { 0.5 };
    let reader = &Reader::anyone();
    recall(memory, &Recall { prior, explain: true, ..Recall::new(reader, query, limit, tuning) })
}

fn ids(found: &Recalled) -> Vec<RecordId> {
    found.hits.iter().map(|hit| hit.id).collect()
}

/// Returns a project in which tests are often mentioned, and one fact says how to run them.
fn tested() -> Memory {
    let mut memory = Memory::default();
    let long = "and a word or two on why it was slow, which was the fixture of the ledger";
    let stories =
        (0..12).map(|n| note(&format!("Tests run {n}: run the tests, the tests ran {long}")));
    with_notes(&mut memory, stories);
    with_notes(
        &mut memory,
        [fact("test.command", "just check [path] starts what it needs by itself")],
    );
    with_notes(&mut memory, [fact("lint.command", "ruff, then mypy: both are run from the root")]);
    with_notes(
        &mut memory,
        [fact("deploy.url", "the console that shows how far a roll-out has come")],
    );
    let pools = blueprint("Ledger fixtures are shared", "One set of rows for all that read them.");
    save(&mut memory, &origin("one", 2), blueprints([pools]));
    memory
}

fn first(memory: &Memory, query: &str) -> String {
    let found = found_by(memory, query, 10, &Tuning::default());
    let record = found.hits.first().and_then(|hit| memory.record(hit.id)).unwrap();
    let key = record.note().and_then(|note| note.key.clone());
    key.unwrap_or_else(|| record.id.to_string())
}

#[test]
fn a_fact_whose_key_matches_the_question_ranks_first() {
    let memory = tested();
    let query = "how do I run the tests";
    let plain = Tuning { rescored_hits: 0, ..Tuning::default() };
    let before = found_by(&memory, query, 30, &plain);
    let place = ids(&before).iter().position(|id| id.to_string() == "n13").unwrap();
    assert!(place > 5, "words alone rank it {place}");
    for (query, key) in [
        (query, "test.command"),
        ("run the tests", "test.command"),
        ("run the linter", "lint.command"),
        ("test.command", "test.command"),
        ("where do I see the deployment", "deploy.url"),
    ] {
        assert_eq!(first(&memory, query), key, "{query}");
    }
    let title = found_by(&memory, "shared fixtures of the ledger", 10, &Tuning::default());
    assert_eq!(title.hits.first().map(|hit| hit.id.kind), Some(crate::Kind::Blueprint));
}

#[test]
fn a_key_equal_to_the_query_beats_a_key_within_it() {
    let mut memory = Memory::default();
    let long = "what it is and who chose it and when and for which machine of the lot ".repeat(9);
    let short = "see pool.size, pool.size and pool.size";
    with_notes(
        &mut memory,
        [fact("pool.size", &long), fact("pool", short), note("another of them")],
    );
    assert_eq!(first(&memory, " Pool.Size "), "pool.size");
}

#[test]
fn quotes_and_excluded_words_do_not_reduce_gains() {
    let memory = tested();
    let gains = |query: &str| {
        let found = found_by(&memory, query, 10, &Tuning::default());
        let hit = found.hits.iter().find(|hit| hit.id.to_string() == "n13").unwrap();
        hit.gains.clone()
    };
    assert_eq!(gains("run the tests -flaky"), gains("run the tests"));
    let reasons: Vec<&str> = gains("\"test.command\"").iter().map(|gain| gain.reason).collect();
    assert_eq!(reasons, ["named", "key"]);
}

#[test]
fn important_and_pinned_notes_rank_first_among_equal_texts() {
    let mut memory = Memory::default();
    let of = |n: u32, importance| NewNote { importance, ..note(&format!("the lease of {n}")) };
    let pinned = NewNote { pinned: true, ..of(4, None) };
    with_notes(&mut memory, [of(1, Some(2)), of(2, None), of(3, Some(10)), pinned, of(5, Some(7))]);
    let order = |tuning: &Tuning| {
        let found = found_by(&memory, "lease", 10, tuning);
        ids(&found).iter().map(|id| id.number).collect::<Vec<_>>()
    };
    assert_eq!(order(&Tuning::default()), [3, 4, 5, 2, 1]);
    assert_eq!(order(&Tuning::COMPACTOR), [1, 2, 3, 4, 5], "its original ranks by words");
}

#[test]
fn an_archived_fact_gains_less_than_an_active_one() {
    let mut memory = Memory::default();
    with_notes(
        &mut memory,
        [fact("api.token", "kept in the vault"), fact("api.url", "api token page")],
    );
    let gain = |memory: &Memory| {
        let found = found_by(memory, "api token", 10, &Tuning::default());
        let hit = found.hits.iter().find(|hit| hit.id.number == 1).unwrap();
        hit.gains.iter().map(|gain| gain.score).sum::<f32>()
    };
    assert_eq!(first(&memory, "api token"), "api.token");
    let before = gain(&memory);
    let record = memory.record("n1".parse().unwrap()).unwrap().as_ref().clone();
    let record_state = crate::RecordState::Archived;
    let archived =
        crate::Change::Put(std::sync::Arc::new(Record { state: record_state, ..record }));
    memory.apply(crate::Seq(memory.seq().0 + 1), &[archived]);
    assert_eq!(first(&memory, "api token"), "api.url");
    assert!(gain(&memory) < 0.6 * before, "{} after {before}", gain(&memory));
}

#[test]
fn a_score_is_the_sum_of_its_explained_parts() {
    let memory = tested();
    for query in ["how do I run the tests", "ledger fixture", "test.command"] {
        for Hit { score, why, prior, neighbours, gains, .. } in
            found_by(&memory, query, 30, &Tuning::default()).hits
        {
            let words: f32 = why.iter().map(|share| share.score).sum();
            let gained: f32 = gains.iter().map(|gain| gain.score).sum();
            let sum = (words + neighbours) * prior + gained;
            assert!((sum - score).abs() < 1e-4, "{query}: {sum} of {score}");
        }
    }
}

/// Every limit returns a prefix of the same list, so that a page begins where the previous one
/// ended.
#[test]
fn pages_are_parts_of_one_list() {
    let mut memory = tested();
    let more = (0..90).map(|n| {
        let importance = Some(u8::try_from(n % 10 + 1).unwrap());
        NewNote { importance, ..note(&format!("tests of part {n}{}", " again".repeat(n % 7))) }
    });
    with_notes(&mut memory, more);
    for query in ["run the tests", "test.command", "part tests again"] {
        let all = ids(&found_by(&memory, query, 100, &Tuning::default()));
        assert!(all.len() > 60, "{query}");
        for limit in [1, 2, 10, 29, 30, 31, 40, 41, 55] {
            let some = ids(&found_by(&memory, query, limit, &Tuning::default()));
            assert_eq!(some, all[..limit], "{query}, {limit}");
        }
    }
}
