//! Near duplicates against the comparison of all pairs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Text, find, is_near, outline::Outline, read, runs::runs};
use crate::testing::{note, origin};
use crate::{Memory, Record, RecordId, plan_notes};

fn records(contents: &[String]) -> Vec<Record> {
    let mut memory = Memory::default();
    let items = contents
        .iter()
        .enumerate()
        // A key keeps equal ones apart.
        .map(|(at, content)| Ok(crate::NewNote { key: Some(format!("k{at}")), ..note(content) }))
        .collect();
    let plan = plan_notes(&memory, &origin("one", 1), items).unwrap();
    crate::testing::apply(&mut memory, plan);
    memory.records().map(|record| Record::clone(record)).collect()
}

fn texts(records: &[Record]) -> Vec<Text<'_>> {
    let text =
        |record| Text { record, content: &Record::note(record).unwrap().content, may_fold: true };
    records.iter().map(text).collect()
}

fn found(contents: &[String]) -> BTreeMap<u64, u64> {
    let records = records(contents);
    let texts = texts(&records);
    let number = |id: RecordId| id.number - 1;
    find(&texts).into_iter().map(|(id, other)| (number(id), number(other.id))).collect()
}

fn jaccard(a: &str, b: &str) -> f64 {
    let set = |text: &str| {
        let mut set = BTreeSet::new();
        runs(text, &mut Vec::new(), |run| {
            set.insert(run);
        });
        set
    };
    let (a, b) = (set(a), set(b));
    let common = u32::try_from(a.intersection(&b).count()).unwrap();
    let all = u32::try_from(a.union(&b).count()).unwrap();
    f64::from(common) / f64::from(all.max(1))
}

fn by_all_pairs(contents: &[String]) -> BTreeMap<u64, u64> {
    let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
    for (at, content) in (0..).zip(contents) {
        let survivor = (0..at)
            .filter(|other| !expected.contains_key(other))
            .find(|other| jaccard(content, &contents[usize::try_from(*other).unwrap()]) > 0.7);
        expected.extend(survivor.map(|survivor| (at, survivor)));
    }
    expected
}

/// Letters and digits that stand together, in lower case; each alone of a script without spaces.
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
fn near_ones_fold_and_others_do_not() {
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

proptest! {
    #[test]
    fn the_same_as_comparing_all_pairs(
        contents in prop::collection::vec(
            prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 1..14),
            2..14,
        )
    ) {
        let contents: Vec<String> = contents.iter().map(|words| words.join(" ")).collect();
        prop_assert_eq!(found(&contents), by_all_pairs(&contents));
    }

    /// Around seven tenths, of texts that are as long as notes are.
    #[test]
    fn the_same_as_comparing_all_pairs_of_edited_texts(
        words in 20..120_u32,
        edits in prop::collection::vec(prop::collection::vec((0..120_u32, 0..40_u32), 0..10), 2..14),
    ) {
        let edited = |edits: &Vec<(u32, u32)>| {
            let mut text: Vec<u32> = (0..words).map(|at| at * at % 97).collect();
            for (at, word) in edits {
                text[usize::try_from(at % words).unwrap()] = *word;
            }
            text.iter().map(|word| format!("w{word} ")).collect::<String>()
        };
        let contents: Vec<String> = edits.iter().map(edited).collect();
        prop_assert_eq!(found(&contents), by_all_pairs(&contents));
    }

    /// Kinds that differ and lengths tell of none that is near.
    #[test]
    fn an_outline_rules_out_none_that_is_near(
        common in prop::collection::btree_set(any::<u64>(), 0..400),
        ours in prop::collection::btree_set(any::<u64>(), 0..90),
        theirs in prop::collection::btree_set(any::<u64>(), 0..90),
    ) {
        let with = |more| -> Vec<u64> { common.union(more).copied().collect() };
        let (ours, theirs) = (with(&ours), with(&theirs));
        let is_ruled_out = !Outline::of(&ours).may_be_near(&Outline::of(&theirs));
        prop_assert!(!(is_ruled_out && is_near(&ours, &theirs)));
    }

    #[test]
    fn words_are_the_same_whatever_their_script(
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

    #[test]
    fn the_same_on_any_number_of_threads(
        contents in prop::collection::vec(
            prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 1..14),
            2..14,
        )
    ) {
        let contents: Vec<String> = contents.iter().map(|words| words.join(" ")).collect();
        let records = records(&contents);
        let texts = texts(&records);
        let sets = |threads| {
            let sets = read::on_threads(&texts, threads);
            sets.iter().map(|set| (set.text, set.runs.to_vec())).collect::<Vec<_>>()
        };
        let alone = sets(1);
        for threads in [0, 2, 3, 50] {
            prop_assert_eq!(&sets(threads), &alone);
        }
    }
}
