//! The syntax of queries and what they find.

mod naive;

use std::collections::BTreeMap;

use super::*;
use crate::testing::Id;

const MINUTE: i64 = 60_000;

#[derive(Clone, Debug, PartialEq)]
struct Note {
    session: Arc<str>,
    time: i64,
    text: String,
    tags: Vec<String>,
}

type Notes = BTreeMap<Id, Note>;

fn id(number: u64) -> Id {
    Id(number)
}

fn note(text: &str) -> Note {
    Note { session: Arc::from("one"), time: 0, text: text.to_owned(), tags: Vec::new() }
}

fn document(id: Id, note: &Note) -> Document<'_, Id> {
    Document {
        id,
        session: &note.session,
        time: note.time,
        texts: vec![&note.text],
        tags: note.tags.iter().map(String::as_str).collect(),
        files: Vec::new(),
    }
}

/// Builds an index of these texts, numbered from 1. Each has a session of its own, so that none
/// boosts another.
fn index(texts: &[&str]) -> SearchIndex<Id> {
    let mut index = SearchIndex::default();
    for (number, text) in (1..).zip(texts) {
        let note = Note { session: Arc::from(number.to_string()), ..note(text) };
        index.insert(&document(id(number), &note));
    }
    index
}

/// A segment is built in memory at many times the length of its texts.
#[test]
fn large_documents_are_read_a_few_at_a_time() {
    let large = note(&"harbour ".repeat(BATCH_BYTES / 20));
    let small = note("tide");
    let sizes = |notes: &[&Note]| -> Vec<usize> {
        let documents: Vec<_> = (1..).zip(notes).map(|(at, note)| document(id(at), note)).collect();
        batches(&documents).into_iter().map(<[_]>::len).collect()
    };
    assert_eq!(sizes(&[&large; 5]), [2, 2, 1]);
    assert_eq!(sizes(&vec![&small; BATCH + 1]), [BATCH, 1]);
    let huge = note(&"harbour ".repeat(BATCH_BYTES / 4));
    assert_eq!(sizes(&[&huge, &small, &huge, &small]), [1, 1, 1, 1]);
    assert_eq!(sizes(&[]), [] as [usize; 0]);
    let mut index = SearchIndex::default();
    index.insert_all((1..6).map(|at| document(id(at), &large)));
    assert_eq!((index.len(), find(&index, "harbour").hits.len()), (5, 5));
}

/// Asks for the ten best of all documents, explained.
fn all<'a>(query: &'a Query, tuning: &'a Tuning) -> Find<'a, Id> {
    Find { query, tuning, keep: &|_| Some(1.0), limit: 10, explain: true }
}

fn find(index: &SearchIndex<Id>, query: &str) -> SearchResults<Id> {
    index.find(&all(&Query::parse(query), &Tuning::default()))
}

/// Returns the numbers of the hits, best first.
fn numbers(index: &SearchIndex<Id>, query: &str) -> Vec<u64> {
    find(index, query).hits.iter().map(|hit| hit.id.0).collect()
}

#[test]
fn words_are_found_in_other_forms() {
    let index = index(&["The build failed on Windows", "failing tests", "unrelated"]);
    assert_eq!(numbers(&index, "fails"), [2, 1], "the shorter text first");
    assert_eq!(numbers(&index, "WINDOWS"), [1]);
}

#[test]
fn identifiers_are_found_whole_and_in_parts() {
    let index = index(&[
        "handleHTTPRequest drops the body",
        "the user_id column",
        "see src/auth/oauth.ts",
        "error[E0502]: cannot borrow",
    ]);
    for query in ["handleHTTPRequest", "handlehttprequest", "http request", "HANDLE_HTTP_REQUEST"] {
        assert_eq!(numbers(&index, query), [1], "{query}");
    }
    for query in ["user_id", "userId", "user-id", "user id"] {
        assert_eq!(numbers(&index, query), [2], "{query}");
    }
    for query in ["src/auth/oauth.ts", "oauth.ts", "oauth", "auth"] {
        assert_eq!(numbers(&index, query), [3], "{query}");
    }
    assert_eq!(numbers(&index, "e0502"), [4]);
}

#[test]
fn a_whole_identifier_counts_more_than_its_parts_elsewhere() {
    let index = index(&["user and id and user and id", "the user_id of it", "id", "user"]);
    assert_eq!(numbers(&index, "user_id").first(), Some(&2));
}

#[test]
fn text_in_unspaced_scripts_is_found_by_character_pairs() {
    let index = index(&["数据库迁移失败", "数学", "資料"]);
    assert_eq!(numbers(&index, "数据库"), [1]);
    assert_eq!(numbers(&index, "数"), [2, 1], "one character is found too");
    assert_eq!(numbers(&index, "\"库迁移\""), [1]);
    assert_eq!(numbers(&index, "\"库失败\""), [0; 0]);
}

#[test]
fn a_phrase_matches_only_its_exact_words_in_order() {
    let index =
        index(&["lock the database file", "the file that locks a database", "database lock"]);
    assert_eq!(numbers(&index, "\"database lock\""), [3]);
    assert_eq!(numbers(&index, " “lock the database” "), [1]);
    assert_eq!(
        numbers(&index, "\"lock database\""),
        [0; 0],
        "a word between them tells them apart"
    );
    let none = numbers(&index, "\"database lock");
    assert_eq!(none.len(), 3, "a quote without its partner means nothing");
}

/// Queries as people type them, and the records that each must find.
#[test]
fn only_clear_operators_constrain_a_query() {
    let index = index(&[
        "the pool waits for a re-used socket",
        "a socket is closed and opened again",
        "curl --insecure skips the check of a socket, as -k does",
    ]);
    let all = [1, 2, 3];
    let sorted = |query: &str| {
        let mut numbers = numbers(&index, query);
        numbers.sort_unstable();
        numbers
    };
    for (query, found) in [
        ("\"closed and opened\"", [2].as_slice()),
        ("socket -pool", &[2, 3]),
        ("socket  -\"re-used socket\"", &[2, 3]),
    ] {
        assert_eq!(sorted(query), found, "{query}");
        assert!(Query::parse(query).is_constrained(), "{query}");
    }
    for (query, found) in [
        // Quotes around a part of a query, and within words.
        ("\"socket pool\" closed", all.as_slice()),
        ("is \"socket check\" closed", &all),
        ("\"socket\" \"pool\"", &all),
        ("5\" socket 3\" pool", &all),
        // A minus between words, at the query's start, alone, and before a flag.
        ("socket-pool", &all),
        ("-pool socket", &all),
        ("-pool", &[1]),
        ("-\"pool check\" socket", &all),
        ("socket - pool", &all),
        ("socket -k", &all),
        ("socket -DPOOL=check", &all),
        ("socket --insecure", &all),
    ] {
        assert_eq!(sorted(query), found, "{query}");
        assert!(!Query::parse(query).is_constrained(), "{query}");
    }
}

#[test]
fn operators_are_ignored_in_a_plain_text_query() {
    for text in ["\"pool size\"", "pool -size", "pool\n-size", "-\"pool size\"", "“pool” size"]
    {
        let query = Query::plain(text);
        assert!(!query.is_constrained(), "{text}");
        assert_eq!(query.asked().collect::<Vec<_>>(), ["pool", "size"], "{text}");
    }
}

#[test]
fn a_phrase_does_not_span_two_texts() {
    let mut index = SearchIndex::default();
    let one = note("ends with alpha");
    index.insert(&Document {
        texts: vec!["ends with alpha", "beta begins"],
        ..document(id(1), &one)
    });
    assert_eq!(numbers(&index, "\"alpha beta\""), [0; 0]);
    assert_eq!(numbers(&index, "alpha beta"), [1]);
}

#[test]
fn a_minus_excludes_a_word() {
    let index = index(&["redis cache", "redis queue", "redis --cache-dir"]);
    assert_eq!(numbers(&index, "redis -cache"), [2]);
    assert_eq!(numbers(&index, "redis -\"cache dir\""), [1, 2]);
    assert_eq!(numbers(&index, "--cache-dir").first(), Some(&3), "a flag is wanted");
    let strict = |query| index.find(&all(&Query::strict(query), &Tuning::default())).hits.len();
    assert_eq!(strict("-redis"), 0, "nothing is asked for");
    assert_eq!(strict("\"redis queue\" cache"), 1);
}

#[test]
fn a_query_of_only_stop_words_still_finds_something() {
    let index = index(&["to be or not to be", "the question"]);
    assert_eq!(numbers(&index, "to be"), [1]);
    assert_eq!(numbers(&index, "the to question"), [2], "they do not count beside others");
    assert_eq!(numbers(&index, "\"not to be\""), [1]);
}

#[test]
fn tags_weigh_more_than_text() {
    let mut index = index(&["redis is mentioned here", "nothing of it here"]);
    let tagged = Note { tags: vec!["redis".to_owned()], ..note("nothing of it there") };
    index.insert(&document(id(3), &tagged));
    let found = find(&index, "redis");
    assert_eq!(found.hits[0].id.0, 3);
    assert!(found.hits[0].why[0].in_tag && !found.hits[1].why[0].in_tag);
}

#[test]
fn a_typo_is_corrected_only_when_nothing_is_found() {
    let index = index(&["authentication by token", "the tokens of a lexer"]);
    let found = find(&index, "authnetication");
    assert_eq!(found.hits[0].id.0, 1);
    assert_eq!(found.corrected, [("authnetication".to_owned(), "authent".to_owned())]);
    assert_eq!(find(&index, "authnetication lexer").corrected, [], "lexer is found");
    let literally = Query::parse("authnetication").literally();
    assert_eq!(index.find(&all(&literally, &Tuning::default())), SearchResults::default());
    assert_eq!(find(&index, "xylophone"), SearchResults::default(), "nothing is near");
    assert_eq!(find(&index, "cat"), SearchResults::default(), "short words are near everything");
}

#[test]
fn spelling_correction_ignores_filtered_documents() {
    let index = index(&["authentication"]);
    let found = index.find(&Find {
        keep: &|_| None,
        ..all(&Query::parse("authnetication"), &Tuning::default())
    });
    assert_eq!(found, SearchResults::default());
}

#[test]
fn accents_and_width_do_not_matter() {
    let index = index(&["Café Müller", "ｒｕｓｔ"]);
    assert_eq!(numbers(&index, "cafe\u{301} muller"), [1]);
    assert_eq!(numbers(&index, "rust"), [2]);
}

#[test]
fn neighbours_of_a_hit_gain_score() {
    let mut index = SearchIndex::default();
    let texts = ["alpha", "omega one", "beta", "omega two", "gamma"];
    for (number, text) in (1..).zip(texts) {
        let time = MINUTE * i64::try_from(number).unwrap();
        index.insert(&document(id(number), &Note { time, ..note(text) }));
    }
    let far = Note { time: MINUTE * 600, ..note("omega three") };
    index.insert(&document(id(6), &far));
    let found = find(&index, "beta omega");
    assert_eq!(found.hits[0].id.0, 3);
    let boost = |number: u64| {
        found.hits.iter().find(|hit| hit.id.0 == number).map_or(0.0, |hit| hit.neighbours)
    };
    assert!(boost(2) > 0.0 && boost(4) > 0.0, "beta is next to both");
    assert!(boost(6).abs() < f32::EPSILON, "hours away");
    let plain = index.find(&all(&Query::parse("beta"), &Tuning::COMPACTOR));
    assert_eq!(plain.hits.len(), 1);
}

#[test]
fn a_hit_explains_its_score() {
    let index = index(&["alpha beta", "beta gamma", "delta"]);
    let (query, tuning) = (Query::parse("Alpha betas"), Tuning::default());
    let half = Find { keep: &|_| Some(0.5), ..all(&query, &tuning) };
    for hit in index.find(&half).hits {
        let shares: f32 = hit.why.iter().map(|share| share.score).sum();
        assert!(((shares + hit.neighbours) * hit.prior - hit.score).abs() < 1e-5, "{hit:?}");
    }
    let first = &find(&index, "Alpha betas").hits[0];
    let terms: Vec<&str> = first.why.iter().map(|share| share.term.as_str()).collect();
    assert_eq!(terms, ["alpha", "betas"]);
}

#[test]
fn any_text_is_a_query() {
    let index = index(&["alpha"]);
    for query in [
        "",
        " ",
        "\"",
        "-",
        "--",
        "\"\"",
        "-\"",
        "\"alpha\" \"",
        "%_*()[]{}",
        "'''",
        "_",
        "::",
        "\u{301}",
    ] {
        find(&index, query);
    }
    assert!(Query::strict("\"\" -x ").is_empty() && Query::parse("\"\" -xy ").is_empty());
    let long = "word ".repeat(10_000);
    assert_eq!(Query::parse(&long).wanted.len(), 1);
    let many: String = (0..10_000).map(|n| format!("w{n} ")).collect();
    assert_eq!(Query::parse(&many).wanted.len(), limits::QUERY_TERMS_MAX);
    assert!(Query::parse(&many).is_cut() && Query::parse(&long).is_cut());
    assert!(!Query::parse("\"alpha beta\" gamma -delta").is_cut());
}

#[test]
fn the_number_of_phrases_is_limited() {
    let demanded = |text: &str| {
        let query = Query::strict(text);
        let phrases = query.phrases.iter().chain(&query.unwanted);
        (phrases.map(Vec::len).sum::<usize>(), query.is_cut())
    };
    assert_eq!(demanded(&"\"the same\" ".repeat(99)), (2, false), "each is looked for once");
    let phrases: String = (0..99).map(|n| format!("\"a{n} b\" -c{n} ")).collect();
    assert_eq!(demanded(&phrases), (limits::QUERY_TERMS_MAX, true));
}
