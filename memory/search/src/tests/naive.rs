//! Compares the index with a naive one, and the ranking with a plain reference.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// The weight of a word, by its rarity.
struct Rarity {
    whole: f64,
    passage: f64,
    lends: bool,
}

/// Computes BM25 as the paper writes it, for whole notes and for their passages. It splits words at
/// spaces, uses double precision and needs no index.
fn reference<'n>(notes: &'n Notes, words: &[String], tuning: &Tuning) -> BTreeMap<Id, f64> {
    let count = float(notes.len());
    let length = |note: &Note| float(note.text.split_whitespace().count());
    let passages = |note: &Note| (length(note) / 50.0).ceil().max(1.0);
    let part = f64::from(tuning.passage);
    let several = |note: &Note| part > 0.0 && passages(note) > 1.0;
    let average = (notes.values().map(length).sum::<f64>() / count.max(1.0)).max(1.0);
    let in_text = |text: &[&str], word: &str| float(text.iter().filter(|w| **w == word).count());
    let in_tags = |note: &Note, word: &str| {
        let tags = float(note.tags.iter().filter(|tag| *tag == word).count());
        f64::from(tuning.tag_weight) * tags
    };
    let text = |note: &'n Note| note.text.split_whitespace().collect::<Vec<&'n str>>();
    let often = |note, word: &str| in_text(&text(note), word) + in_tags(note, word);
    let idf = |word: &String| {
        let having: Vec<&Note> = notes.values().filter(|note| often(note, word) > 0.0).collect();
        let lends = float(having.len()) <= f64::from(tuning.neighbour_share_max) * count;
        let with_word = |note: &&'n Note| in_text(&text(note), word).clamp(1.0, passages(note));
        let rarity = |all: f64, with: f64| ((all - with + 0.5) / (with + 0.5) + 1.0).ln();
        let among_passages =
            rarity(notes.values().map(passages).sum(), having.iter().map(with_word).sum());
        Rarity {
            whole: (1.0 - part) * rarity(count, float(having.len())),
            passage: part * among_passages,
            lends,
        }
    };
    let idfs: Vec<Rarity> = words.iter().map(idf).collect();
    let (k1, b) = (f64::from(tuning.k1), f64::from(tuning.b));
    let bm25 = |tf: f64, length: f64, idf: f64| {
        let norm = k1 * (1.0 - b + b * length / average);
        if tf > 0.0 { idf * tf * (k1 + 1.0) / (tf + norm) } else { 0.0 }
    };
    let own = |note, word: &str, idf: &Rarity| {
        bm25(often(note, word), length(note), idf.whole + idf.passage)
    };
    let best_passage = |note| -> f64 {
        let text = text(note);
        let of = |from: usize| -> f64 {
            let passage = &text[from..text.len().min(from + 100)];
            let of = |(word, idf): (&String, &Rarity)| {
                bm25(in_text(passage, word) + in_tags(note, word), 50.0, idf.passage)
            };
            words.iter().zip(&idfs).map(of).sum()
        };
        (0..text.len()).map(of).fold(0.0, f64::max)
    };
    let mut order: Vec<(&Id, &Note)> = notes.iter().collect();
    order.sort_by_key(|(id, note)| (note.session.clone(), note.time, id.0));
    let joined = |a: usize, b: usize| {
        let (Some((_, a)), Some((_, b))) = (order.get(a), order.get(b)) else { return false };
        let near = a.time.abs_diff(b.time) <= tuning.neighbour_ms_max.unsigned_abs();
        a.session == b.session && near
    };
    let score = |at: usize| -> f64 {
        let mut lenders = Vec::new();
        for step in [usize::MAX, 1] {
            let near = at.wrapping_add(step);
            let far = near.wrapping_add(step);
            if joined(at, near) {
                lenders.push((near, f64::from(tuning.neighbour)));
                if joined(near, far) {
                    lenders.push((far, f64::from(tuning.neighbour_far)));
                }
            }
        }
        let takes =
            (f64::from(tuning.neighbour_words) / length(order[at].1).max(1.0)).powi(2).min(1.0);
        let of = |(word, idf): (&String, &Rarity)| {
            let lenders = lenders.iter().filter(|_| idf.lends);
            let lent = lenders.map(|(from, part)| takes * part * own(order[*from].1, word, idf));
            let own = own(order[at].1, word, idf);
            let more = lent.fold(own, f64::max) - own;
            let of_whole = bm25(often(order[at].1, word), length(order[at].1), idf.whole);
            more + if several(order[at].1) { of_whole } else { own }
        };
        let of_whole: f64 = words.iter().zip(&idfs).map(of).sum();
        of_whole + if several(order[at].1) { best_passage(order[at].1) } else { 0.0 }
    };
    (0..order.len()).map(|at| (*order[at].0, score(at))).filter(|(_, score)| *score > 0.0).collect()
}

fn word() -> impl Strategy<Value = String> {
    (0..12_u32).prop_map(|number| format!("w{number}"))
}

/// Returns mostly a word that no query contains.
fn rare_word() -> impl Strategy<Value = String> {
    prop_oneof![20 => Just("w99".to_owned()), 1 => word()]
}

fn a_note() -> impl Strategy<Value = Note> {
    // Some are longer than a passage.
    let short = prop::collection::vec(word(), 0..12);
    let words = prop_oneof![8 => short, 1 => prop::collection::vec(rare_word(), 45..250)];
    (0..3_u32, 0..20_i64, words, prop::collection::vec(word(), 0..2)).prop_map(
        |(session, minutes, words, tags)| Note {
            session: Arc::from(format!("s{session}")),
            time: minutes * MINUTE,
            text: words.join(" "),
            tags,
        },
    )
}

#[derive(Clone, Debug)]
enum Step {
    Put(u64, Note),
    Remove(u64),
    Clone,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..60_u64, a_note()).prop_map(|(number, note)| Step::Put(number, note)),
        2 => (1..60_u64).prop_map(Step::Remove),
        1 => Just(Step::Clone),
    ];
    prop::collection::vec(step, 0..120)
}

fn tunings() -> impl Strategy<Value = Tuning> {
    let shares = (0.0..0.8_f32, prop_oneof![Just(0.0), 0.0..0.8_f32]);
    // No share of documents equals a number with this many digits.
    let most = prop_oneof![Just(1.0), 0.100_001..0.900_001_f32];
    let near = (0..10_i64, 1.0..10.0_f32, 0..4_usize);
    let passage = prop_oneof![Just(0.0), 0.0..1.0_f32];
    (0.0..3.0_f32, 0.0..1.0_f32, shares, most, near, passage).prop_map(
        |(k1, b, (neighbour, neighbour_far), neighbour_share_max, near, passage)| Tuning {
            k1,
            b,
            neighbour,
            neighbour_far,
            neighbour_share_max,
            neighbour_ms_max: near.0 * MINUTE,
            neighbour_words: near.1,
            neighbour_hits: near.2,
            passage,
            ..Tuning::default()
        },
    )
}

/// Checks a search against the reference: scores, completeness and order.
fn check(index: &SearchIndex<Id>, notes: &Notes, words: &[String], tuning: &Tuning, limit: usize) {
    let mut distinct = words.to_vec();
    distinct.sort();
    distinct.dedup();
    let expected = reference(notes, &distinct, tuning);
    // Rejects a third of the documents and lowers another third.
    let keep = |id: Id| [Some(1.0), Some(0.3), None][usize::try_from(id.0 % 3).unwrap()];
    let query = &Query::parse(&words.join(" "));
    let find = Find { query, tuning, keep: &keep, limit, explain: true };
    let hits = index.find(&find).hits;
    let plain = index.find(&Find { explain: false, ..find }).hits;
    let unexplained = hits.iter().map(|hit| Hit { why: Vec::new(), ..hit.clone() });
    assert_eq!(plain, unexplained.collect::<Vec<Hit<Id>>>());
    let mut wanted: Vec<(f64, Id)> = expected
        .iter()
        .filter_map(|(id, score)| Some((score * f64::from(keep(*id)?), *id)))
        .collect();
    wanted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let stands = |id: &Id, word: &String| {
        notes[id]
            .text
            .split_whitespace()
            .chain(notes[id].tags.iter().map(String::as_str))
            .any(|w| w == word)
    };
    let terms = |id: &Id| distinct.iter().filter(|word| stands(id, word)).count();
    let having = wanted.iter().filter(|(_, id)| terms(id) > 0).count();
    for most in [1, 3, 1000] {
        assert_eq!(index.count(&find, most), having.min(most));
    }
    let mut lent = 0;
    wanted.retain(|(_, id)| {
        lent += usize::from(terms(id) == 0);
        terms(id) > 0 || lent <= tuning.neighbour_hits
    });
    wanted.truncate(limit);
    assert_eq!(hits.len(), wanted.len(), "{hits:?} {wanted:?}");
    for (hit, (score, _)) in hits.iter().zip(&wanted) {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b.abs().max(1e-2);
        assert!(near(f64::from(hit.score), *score), "{hits:?} {wanted:?}");
        let shares: f32 = hit.why.iter().map(|share| share.score).sum();
        assert!(near(f64::from((shares + hit.neighbours) * hit.prior), *score), "{hit:?}");
        assert_eq!(hit.terms, terms(&hit.id), "{hit:?}");
        assert_eq!(hit.neighbour_of.is_some(), hit.terms == 0, "{hit:?}");
        let own = expected[&hit.id] * f64::from(keep(hit.id).expect("what is left out is no hit"));
        assert!(near(f64::from(hit.score), own), "{hits:?} {wanted:?}");
    }
    assert!(
        hits.is_sorted_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)).is_lt())
    );
}

proptest! {
    #[test]
    fn the_index_agrees_with_a_naive_one(
        steps in steps(),
        words in prop::collection::vec(word(), 1..5),
        tuning in tunings(),
        limit in 0..12_usize,
    ) {
        let mut index = SearchIndex::default();
        let mut notes = Notes::new();
        let mut clones = Vec::new();
        for step in steps {
            match step {
                Step::Put(number, note) => {
                    index.insert(&document(id(number), &note));
                    notes.insert(id(number), note);
                }
                Step::Remove(number) => {
                    index.remove(id(number));
                    notes.remove(&id(number));
                }
                Step::Clone => clones.push((index.clone(), notes.clone())),
            }
        }
        clones.push((index.clone(), notes.clone()));
        for (index, notes) in &clones {
            prop_assert_eq!(index.len(), notes.len());
            check(index, notes, &words, &tuning, limit);
        }
        let mut at_once = SearchIndex::default();
        at_once.insert_all(notes.iter().rev().map(|(id, note)| document(*id, note)));
        prop_assert_eq!(&at_once, &index);
        let query = Query::parse(&words.join(" "));
        let find = Find { limit, ..all(&query, &tuning) };
        prop_assert_eq!(at_once.find(&find), index.find(&find));
        if let Some((id, _)) = notes.pop_first() {
            at_once.remove(id);
            prop_assert_ne!(&at_once, &index);
        }
    }

    #[test]
    fn early_pruning_never_drops_a_top_hit(
        rare in prop::collection::vec(20..300_u64, 1..3),
        frequent in prop::collection::vec(0..5_u64, 1..4),
        tuning in tunings(),
        limit in 1..6_usize,
    ) {
        let (index, notes) = &*LARGE;
        let words: Vec<String> = rare.iter().chain(&frequent).map(u64::to_string).collect();
        check(index, notes, &words, &tuning, limit);
    }

    #[test]
    fn a_higher_limit_only_appends_hits(
        rare in prop::collection::vec(20..100_u64, 1..3),
        phrase in prop::array::uniform2(0..4_u64),
        unwanted in 4..10_u64,
        frequent in 0..4_u64,
        limit in 1..6_usize,
    ) {
        let (index, notes) = &*LARGE;
        let rare: Vec<String> = rare.iter().map(u64::to_string).collect();
        let [first, second] = phrase;
        let rare = rare.join(" ");
        let query = Query::strict(&format!("{rare} {frequent} \"{first} {second}\" -\"{unwanted}\""));
        let tuning = Tuning::default();
        let found = |limit| index.find(&Find { limit, ..all(&query, &tuning) }).hits;
        let all = found(notes.len());
        prop_assert_eq!(found(limit), &all[..limit.min(all.len())]);
        for hit in all {
            let words: Vec<u64> =
                notes[&hit.id].text.split(' ').map(|word| word.parse().unwrap()).collect();
            prop_assert!(words.windows(2).any(|two| two == phrase), "{:?}", words);
            prop_assert!(!words.contains(&unwanted), "{:?}", words);
        }
    }

    #[test]
    fn any_text_can_be_indexed_searched_and_cut(text in any::<String>(), query in any::<String>(), chars in 0..50_usize) {
        let index = index(&[&text]);
        let query = Query::parse(&query);
        index.find(&all(&query, &Tuning::default()));
        let cut = snippet(&text, &query, chars);
        prop_assert!(cut.chars().count() <= chars, "{:?}", cut);
    }
}

/// Returns sentences from a few hundred words, the same in every run. The words are numbers, which
/// are not split.
fn many(count: u64) -> Notes {
    let mut state = 1_u64;
    let mut next = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut one = |number: u64| {
        let text: Vec<String> = (0..8)
            .map(|_| {
                let spread = next(300) + 1;
                next(spread).to_string()
            })
            .collect();
        let time = i64::try_from(number).unwrap() * MINUTE;
        let session = Arc::from(format!("s{}", next(5)));
        (id(number), Note { session, time, text: text.join(" "), tags: Vec::new() })
    };
    (1..=count).map(&mut one).collect()
}

/// A large index with removed documents, with sessions across segments, and with long texts, fewer
/// than a search scores.
static LARGE: LazyLock<(SearchIndex<Id>, Notes)> = LazyLock::new(|| {
    let mut notes = many(1_500);
    let texts: Vec<String> = notes.values().map(|note| note.text.clone()).collect();
    for ((at, note), next) in notes.values_mut().enumerate().zip(texts.chunks(9).cycle()) {
        if at % 30 == 0 {
            note.text = next.join(" ");
        }
        if at % 5 == 0 {
            note.tags.push((at % 7).to_string());
        }
    }
    let mut index = SearchIndex::default();
    // Each segment has every seventh document.
    for first in 0..7 {
        index.insert_all(notes.iter().skip(first).step_by(7).map(|(id, note)| document(*id, note)));
    }
    for number in (1..1_500).filter(|number| number % 30 < 13) {
        index.remove(id(number));
        notes.remove(&id(number));
    }
    (index, notes)
});

#[test]
fn the_order_of_insertion_does_not_matter() {
    let notes = many(6_000);
    let mut forward = SearchIndex::default();
    for (id, note) in &notes {
        forward.insert(&document(*id, note));
    }
    let mut backward = SearchIndex::default();
    for (id, other) in notes.iter().rev() {
        backward.insert(&document(*id, &note("to be replaced 1 2")));
        backward.insert(&document(*id, other));
    }
    let mut at_once = SearchIndex::default();
    at_once.insert_all(notes.iter().map(|(id, note)| document(*id, note)));
    let before = at_once.clone();
    let surplus = many(9_000);
    at_once.insert_all(surplus.iter().map(|(id, note)| document(*id, note)));
    for id in surplus.keys().filter(|id| !notes.contains_key(id)) {
        at_once.remove(*id);
    }
    at_once.insert_all(notes.iter().map(|(id, note)| document(*id, note)));
    assert!(forward == backward && forward == at_once && forward == before);
    assert!(forward.shelves.len() < 60, "segments are merged: {forward:?}");
    for words in ["1", "1 7 200", "250 3 3 40 41 42"] {
        let expected = find(&forward, words);
        assert_eq!(expected.hits.len(), 10);
        for other in [&backward, &at_once, &before] {
            assert_eq!(find(other, words), expected, "{words}");
        }
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        check(&at_once, &notes, &words, &Tuning::default(), 25);
    }
}

#[test]
fn the_index_stays_small() {
    let notes = many(20_000);
    let mut index = SearchIndex::default();
    index.insert_all(notes.iter().map(|(id, note)| document(*id, note)));
    let bytes: usize = index.shelves.iter().map(|shelf| shelf.segment.bytes()).sum();
    let texts: usize = notes.values().map(|note| note.text.len()).sum();
    // Besides the texts, there are the documents' ids, times and lengths.
    assert!(bytes < texts + notes.len() * 60, "{bytes} bytes for {texts} of text");
}

#[test]
fn inserting_the_same_text_again_changes_nothing() {
    let mut index = index(&["alpha", "beta"]);
    let before = index.clone();
    let same = Note { session: Arc::from("1"), ..note("alpha") };
    index.insert(&document(id(1), &same));
    assert!(index == before && index.shelves.len() == before.shelves.len());
}
