//! Checks near duplicates against a comparison of all pairs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{NEW_NOTES_LEAST, NearDuplicates, Text, is_near, outline::Outline, runs::runs};
use crate::limits::NOTE_ITEMS_MAX;
use crate::testing::{note, origin};
use crate::{Memory, Record, RecordId, plan_notes};

fn records(contents: &[String]) -> Vec<Record> {
    let mut memory = Memory::default();
    let keyed = |(at, content): (usize, &String)| {
        // A key keeps equal notes apart.
        Ok(crate::NewNote { key: Some(format!("k{at}")), ..note(content) })
    };
    let items: Vec<_> = contents.iter().enumerate().map(keyed).collect();
    for items in items.chunks(NOTE_ITEMS_MAX) {
        let plan = plan_notes(&memory, &origin("one", 1), items.to_vec()).unwrap();
        crate::testing::apply(&mut memory, plan);
    }
    memory.records().map(|record| Record::clone(record)).collect()
}

fn texts(records: &[Record]) -> Vec<Text<'_>> {
    let text = |record| Text {
        record,
        content: &Record::note(record).unwrap().content,
        may_fold: true,
        is_fact: false,
    };
    records.iter().map(text).collect()
}

fn found(contents: &[String]) -> BTreeMap<u64, u64> {
    numbers(&NearDuplicates::default().find(&texts(&records(contents))))
}

fn numbers(found: &BTreeMap<RecordId, &Record>) -> BTreeMap<u64, u64> {
    let number = |id: RecordId| id.number - 1;
    found.iter().map(|(id, other)| (number(*id), number(other.id))).collect()
}

fn by_all_pairs(contents: &[String]) -> BTreeMap<u64, u64> {
    let set = |text: &String| {
        let mut set = BTreeSet::new();
        runs(text, &mut Vec::new(), |run| {
            set.insert(run);
        });
        set
    };
    let jaccard = |a: &BTreeSet<u64>, b: &BTreeSet<u64>| {
        let common = u32::try_from(a.intersection(b).count()).unwrap();
        let all = u32::try_from(a.len() + b.len()).unwrap() - common;
        f64::from(common) / f64::from(all.max(1))
    };
    let sets: Vec<BTreeSet<u64>> = contents.iter().map(set).collect();
    let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
    for (at, set) in (0..).zip(&sets) {
        let survivor = (0..at)
            .filter(|other| !expected.contains_key(other))
            .find(|other| jaccard(set, &sets[usize::try_from(*other).unwrap()]) > 0.7);
        expected.extend(survivor.map(|survivor| (at, survivor)));
    }
    expected
}

/// Splits a text into runs of letters and digits, in lower case. In a script without spaces, each
/// character is a word.
fn words_of(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for char in text.chars() {
        let wide = char >= '\u{2e80}';
        if wide || !char.is_alphanumeric() {
            words.push(String::new());
        }
        if char.is_alphanumeric() {
            words.last_mut().unwrap().extend(char.to_lowercase());
        }
        if wide {
            words.push(String::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn near_duplicates_fold_and_other_notes_do_not() {
    let long = "the importer skips rows whose date is in local time because it compares them with \
                midnight in UTC and the tests run in another zone than production does";
    let contents: Vec<String> = [
        long,
        &long.replace("tests", "checks"),
        &long.to_uppercase(),
        "the importer is slow",
        "数据库连接池在高并发时会耗尽因为每个请求都打开了新的事务而没有及时提交到服务器上去",
        "数据库连接池在高并发时会耗尽，因为每个请求都打开了新的事务而没有及时提交到服务器上面",
        "short",
        "Short!",
    ]
    .map(str::to_owned)
    .to_vec();
    assert_eq!(found(&contents), BTreeMap::from([(1, 0), (2, 0), (5, 4), (7, 6)]));
}

/// A table of limits, versions or dates is many facts in one form, and each is worth keeping.
#[test]
fn notes_with_different_numbers_are_not_near_duplicates() {
    let of = |limit: &str| {
        format!(
            "the gateway of the harbour office drops a request to the tide service after {limit} \
             and tells the caller to try again later because the pool of workers is small"
        )
    };
    let differ = ["30 s", "60 s", "v2 of it", "v3 of it", "٣ s"].map(of).to_vec();
    assert_eq!(found(&differ), BTreeMap::new());
    let same = vec![of("30 S"), of("30 s") + ": 30"];
    assert_eq!(found(&same), BTreeMap::from([(1, 0)]));
}

proptest! {
    #[test]
    fn the_result_equals_a_comparison_of_all_pairs(
        contents in prop::collection::vec(
            prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 1..14),
            2..14,
        )
    ) {
        let contents: Vec<String> = contents.iter().map(|words| words.join(" ")).collect();
        prop_assert_eq!(found(&contents), by_all_pairs(&contents));
    }

    /// Similarities around seven tenths, for texts as long as notes.
    #[test]
    fn the_result_equals_a_comparison_of_all_pairs_of_edited_texts(
        words in 20..120_u32,
        edits in prop::collection::vec(prop::collection::vec((0..120_u32, 0..40_u32), 0..10), 2..14),
    ) {
        let edited = |edits: &Vec<(u32, u32)>| {
            let mut text: Vec<u32> = (0..words).map(|at| at * at % 97).collect();
            for (at, word) in edits {
                text[usize::try_from(at % words).unwrap()] = *word;
            }
            text.iter().map(|word| letters(usize::try_from(*word).unwrap())).collect::<String>()
        };
        let contents: Vec<String> = edits.iter().map(edited).collect();
        prop_assert_eq!(found(&contents), by_all_pairs(&contents));
    }

    /// Neither differing kinds nor lengths rule out a near pair.
    #[test]
    fn an_outline_never_rules_out_a_near_pair(
        common in prop::collection::btree_set(any::<u64>(), 0..400),
        ours in prop::collection::btree_set(any::<u64>(), 0..90),
        theirs in prop::collection::btree_set(any::<u64>(), 0..90),
    ) {
        let with = |more| -> Vec<u64> { common.union(more).copied().collect() };
        let (ours, theirs) = (with(&ours), with(&theirs));
        let is_ruled_out = !Outline::of("", &ours).may_be_near(&Outline::of("", &theirs));
        prop_assert!(!(is_ruled_out && is_near(&ours, &theirs)));
    }

    #[test]
    fn words_are_compared_in_every_script(
        words in prop::collection::vec(prop::sample::select(vec![
            "plain", "Row_7", "eight8ch", "Reconnecting17", "naïve", "ÉTÉ", "数据库", "ß",
            "a\u{301}b", "…", "x²", "٣",
        ]), 0..12),
        gaps in prop::collection::vec(prop::sample::select(vec!["", " ", "-", "—"]), 12),
    ) {
        let text: String = words.iter().zip(gaps).flat_map(|(word, gap)| [*word, gap]).collect();
        let mut found = Vec::new();
        runs(&text, &mut Vec::new(), |run| found.push(run));
        let (words, mut apart) = (words_of(&text), Vec::new());
        runs(&words.join(" "), &mut Vec::new(), |run| apart.push(run));
        prop_assert_eq!(found.len(), words.len().saturating_sub(2).max(words.len().min(1)));
        prop_assert_eq!(found, apart);
    }

    /// Lets notes come, change, go and come back between plans.
    #[test]
    fn cached_comparisons_do_not_change_the_result(
        words in 20..60_u32,
        edits in prop::collection::vec(prop::collection::vec((0..60_u32, 0..40_u32), 0..5), 2..12),
        plans in prop::collection::vec((any::<u16>(), any::<u16>()), 1..6),
    ) {
        let edited = |edits: &Vec<(u32, u32)>, with: &str| {
            let mut text: Vec<u32> = (0..words).map(|at| at * at % 97).collect();
            for (at, word) in edits {
                text[usize::try_from(at % words).unwrap()] = *word;
            }
            let words: String =
                text.iter().map(|word| letters(usize::try_from(*word).unwrap())).collect();
            words + with
        };
        let contents: Vec<String> = edits.iter().map(|edits| edited(edits, "")).collect();
        let other: Vec<String> =
            edits.iter().rev().map(|edits| edited(edits, "another end of it")).collect();
        let mut near = NearDuplicates::default();
        let (mut records, other) = (records(&contents), records(&other));
        for (stays, changes) in plans {
            for (at, record) in records.iter_mut().enumerate() {
                if changes >> at & 1 == 1 {
                    record.body = other[at].body.clone();
                    record.version = record.version.next();
                }
            }
            let all = texts(&records);
            let in_plan: Vec<Text<'_>> = (0..)
                .zip(all)
                .filter(|(at, _)| stays >> at & 1 == 1)
                .map(|(_, text)| text)
                .collect();
            let afresh = numbers(&NearDuplicates::default().find(&in_plan));
            prop_assert_eq!(numbers(&near.find(&in_plan)), afresh);
        }
    }
}

/// Spells a number as a word without digits, since notes that name different numbers are never near
/// each other.
fn letters(number: usize) -> String {
    let digits = number.to_string();
    digits.bytes().map(|digit| char::from(digit - b'0' + b'a')).chain([' ']).collect()
}

/// Creates notes of 30 to 60 words. A third of them are copies of others with some words replaced.
fn generated(count: usize) -> Vec<String> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |sides: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % sides
    };
    let mut notes: Vec<Vec<usize>> = Vec::new();
    for at in 0..count {
        let mut note: Vec<usize> = if at > 0 && below(3) == 0 {
            notes[below(at)].clone()
        } else {
            // As in any text, some words are common and most are not.
            (0..30 + below(31)).map(|_| below(40) * below(40)).collect()
        };
        for _ in 0..below(4) {
            let place = below(note.len());
            note[place] = below(1_600);
        }
        notes.push(note);
    }
    let words = |note: &Vec<usize>| note.iter().map(|word| letters(*word)).collect();
    notes.iter().map(words).collect()
}

/// Candidates come from shared rare runs, which every near pair has, so the recall is 1.
#[test]
fn no_near_pair_is_missed_among_many() {
    let contents = generated(600);
    let expected = by_all_pairs(&contents);
    assert!(expected.len() > 100, "{}", expected.len());
    assert_eq!(found(&contents), expected);
    // The same holds if most notes come after the order of rarity was built.
    let records = records(&contents);
    let texts = texts(&records);
    let mut near = NearDuplicates::default();
    for until in [20, 200, 201, 600] {
        near.find(&texts[..until]);
    }
    assert_eq!(near.built_of, 20);
    assert_eq!(numbers(&near.find(&texts)), expected);
}

#[test]
fn a_plan_compares_only_notes_changed_since_the_last_one() {
    let contents = generated(300);
    let mut records = records(&contents);
    let mut near = NearDuplicates::default();
    near.find(&texts(&records));
    assert_eq!(near.notes.len(), 300);
    near.find(&texts(&records));
    assert_eq!(near.notes.len(), 300, "nothing changed");
    records[7].body = records[8].body.clone();
    records[7].version = records[7].version.next();
    // The note was archived and brought back, with the same content.
    records[9].content_version = Some(records[9].content_version());
    records[9].version = records[9].version.next();
    near.find(&texts(&records));
    assert_eq!(near.notes.len(), 301);
}

#[test]
fn removed_notes_are_dropped_from_the_cache() {
    let contents = generated(2 * NEW_NOTES_LEAST + 300);
    let records = records(&contents);
    let texts = texts(&records);
    let mut near = NearDuplicates::default();
    for from in (0..2 * NEW_NOTES_LEAST).step_by(100) {
        near.find(&texts[from..from + 300]);
        assert!(near.notes.len() <= 300 + NEW_NOTES_LEAST, "{}", near.notes.len());
        assert!(near.places.len() <= near.notes.len());
    }
}

#[test]
fn facts_absorb_other_notes_but_not_each_other() {
    let contents: Vec<String> = (0..4).map(|at| generated(1)[0].clone() + &letters(at)).collect();
    let records = records(&contents);
    let mut texts = texts(&records);
    for text in &mut texts[..3] {
        (text.may_fold, text.is_fact) = (false, true);
    }
    let mut near = NearDuplicates::default();
    assert_eq!(near.find(&texts[..3]), BTreeMap::new());
    assert!(near.notes.iter().all(|note| !note.is_grouped));
    assert_eq!(numbers(&near.find(&texts)), BTreeMap::from([(3, 0)]));
}
