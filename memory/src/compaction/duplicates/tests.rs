//! Near duplicates against the comparison of all pairs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Text, find, read};
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
        read::runs(text, |run| {
            set.insert(run);
        });
        set
    };
    let (a, b) = (set(a), set(b));
    let common = u32::try_from(a.intersection(&b).count()).unwrap();
    let all = u32::try_from(a.union(&b).count()).unwrap();
    f64::from(common) / f64::from(all.max(1))
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
        let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
        for (at, content) in (0..).zip(&contents) {
            let survivor = (0..at)
                .filter(|other| !expected.contains_key(other))
                .find(|other| jaccard(content, &contents[usize::try_from(*other).unwrap()]) > 0.7);
            expected.extend(survivor.map(|survivor| (at, survivor)));
        }
        prop_assert_eq!(found(&contents), expected);
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
        let alone = read::on_threads(&texts, 1);
        for threads in [0, 2, 3, 50] {
            prop_assert_eq!(&read::on_threads(&texts, threads), &alone);
        }
    }
}
