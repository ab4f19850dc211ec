//! The real store and `MemStore` behave the same under any sequence of calls.

use super::tally::{Machinery, Sum, Tally, Writer, add};
use crate::store::fakes::{MemJournal, failing, head_before};
use crate::store::{Random, Store, StoreError};

#[test]
fn the_fake_and_the_real_store_agree_on_random_work() {
    for seed in 0..150 {
        println!("seed {seed}");
        let mut random = Random(seed);
        let machinery = Machinery::default();
        let journal = MemJournal::<Tally>::default();
        let mut real = machinery.open().unwrap();
        let mut twin = Writer::new(journal.open());
        for _ in 0..30 {
            match random.below(10) {
                0 => {
                    real.store.close();
                    twin.store.close();
                    real = machinery.open().unwrap();
                    twin = Writer::new(journal.open());
                }
                1 => {
                    real.store.flush();
                    twin.store.flush();
                }
                2 => {
                    let (key, value) = (format!("m{}", random.below(3)), random.below(2));
                    let value = (value > 0).then_some("seen");
                    real.store.mark(&key, value);
                    twin.store.mark(&key, value);
                }
                3 => {
                    let key = format!("k{}@{}", random.below(4), random.below(9));
                    let found = real.store.history(&key).unwrap();
                    assert_eq!(found, twin.store.history(&key).unwrap(), "seed {seed}");
                }
                _ => {
                    let batch: Vec<Vec<Sum>> =
                        (0..=random.below(3)).map(|_| vec![change(&mut random)]).collect();
                    let entries = real.entries(&batch);
                    assert_eq!(entries, twin.entries(&batch), "seed {seed}");
                    real.write(&entries).unwrap();
                    twin.write(&entries).unwrap();
                }
            }
            assert_eq!(real.state, twin.state, "seed {seed}");
            assert_eq!(real.replies, twin.replies, "seed {seed}");
            assert_eq!(real.store.marks(), twin.store.marks(), "seed {seed}");
        }
        assert_eq!(real.journal(), journal.entries(), "seed {seed}");
    }
}

fn change(random: &mut Random) -> Sum {
    let key = format!("k{}", random.below(4));
    match random.below(4) {
        0 => Sum::Forget { key },
        _ => add(&key, i64::try_from(random.below(9)).unwrap()),
    }
}

#[test]
fn the_failing_fake_fails_once_and_writes_nothing() {
    let journal = MemJournal::<Tally>::default();
    let opened = journal.open();
    let mut writer = Writer::new(crate::store::Opened {
        store: failing(opened.store, 3),
        state: opened.state,
        replies: opened.replies,
        report: opened.report,
    });
    writer.add("x", 1);
    let entries = writer.entries(&[vec![add("x", 2)]]);
    let failed = writer.write(&entries);
    assert!(matches!(failed, Err(StoreError::NotSaved { .. })));
    assert_eq!(journal.entries().len(), 1);
    writer.write(&entries).unwrap();
    assert_eq!(journal.entries().len(), 2);
}

#[test]
#[should_panic(expected = "line 1 of a is applied again")]
fn the_strict_fake_rejects_a_repeated_line() {
    let mut writer = Writer::new(MemJournal::<Tally>::default().open());
    writer.add("x", 1);
    let mut entries = writer.entries(&[vec![add("x", 1)]]);
    entries[0].call = Some(super::call("a", 1, 0));
    let _ = writer.store.append(head_before(&entries), &entries);
}
