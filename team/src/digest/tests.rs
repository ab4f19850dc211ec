//! Tests of the chain of digests.

use super::{FIRST_DIGEST, chain, verify};
use crate::entry::{Entry, Key, NewEntry};
use crate::error::Error;

fn new_entry() -> NewEntry {
    NewEntry {
        key: Key { instance: "instance".to_owned(), number: 7 },
        machine: "laptop".to_owned(),
        time: -1,
        session: None,
        operation: "save".to_owned(),
        changes: "{}".to_owned(),
        reply: Some(String::new()),
    }
}

fn journal(count: u64) -> Vec<Entry> {
    let mut digest = FIRST_DIGEST.to_owned();
    (1..=count)
        .map(|seq| {
            let mut new = new_entry();
            new.key.number = seq;
            digest = chain(&digest, seq, "alice", &new);
            let (member, digest) = ("alice".to_owned(), digest.clone());
            Entry { seq, member, name: None, digest, content: new }
        })
        .collect()
}

#[test]
fn the_digest_is_stable() {
    // Stored journals have it. A change of the input is a change of the format.
    let digest = chain(FIRST_DIGEST, 1, "alice", &new_entry());
    assert_eq!(digest, "6ca002848fcfaf613f82e8cf87b28a73cb0eb41a13c7e7be31b8845447b61aff");
}

#[test]
fn every_field_counts_and_none_runs_into_the_next() {
    let digest = |change: fn(&mut NewEntry)| {
        let mut entry = new_entry();
        change(&mut entry);
        chain(FIRST_DIGEST, 1, "alice", &entry)
    };
    let mut all = vec![
        digest(|_| {}),
        digest(|entry| entry.key.instance = "instancf".to_owned()),
        digest(|entry| entry.key.number = 8),
        digest(|entry| entry.machine = "laptopsave".to_owned()),
        digest(|entry| entry.time = 1),
        digest(|entry| entry.session = Some(String::new())),
        digest(|entry| entry.operation = "sav".to_owned()),
        digest(|entry| entry.changes = "e{}".to_owned()),
        digest(|entry| entry.reply = None),
        chain(FIRST_DIGEST, 2, "alice", &new_entry()),
        chain(FIRST_DIGEST, 1, "alic", &new_entry()),
        chain(&"1".repeat(64), 1, "alice", &new_entry()),
    ];
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn a_changed_missing_or_exchanged_entry_is_found() {
    let whole = journal(4);
    let last = whole[3].digest.clone();
    assert_eq!(verify(0, FIRST_DIGEST, &whole).unwrap(), last);
    assert_eq!(verify(2, &whole[1].digest, &whole[2..]).unwrap(), last);
    assert_eq!(verify(4, &last, &[]).unwrap(), last);

    let damaged = |damage: fn(&mut Vec<Entry>)| {
        let mut entries = journal(4);
        damage(&mut entries);
        matches!(verify(0, FIRST_DIGEST, &entries), Err(Error::Damaged(_)))
    };
    assert!(damaged(|entries| entries[1].content.changes = "[]".to_owned()));
    assert!(damaged(|entries| entries[1].member = "bob".to_owned()));
    assert!(damaged(|entries| drop(entries.remove(1))));
    assert!(damaged(|entries| entries.swap(1, 2)));
    assert!(damaged(|entries| entries[3].digest = FIRST_DIGEST.to_owned()));
    assert!(matches!(verify(1, FIRST_DIGEST, &whole), Err(Error::Damaged(_))));
}
