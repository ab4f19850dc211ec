//! Differences of records, and commits in one line.

use std::fmt::Write as _;

use super::*;
use crate::change::{CopyMark, Purged};
use crate::ids::Seq;
use crate::import::IMPORTED;
use crate::memory::Memory;
use crate::testing::{blueprint, mutable, note, origin, save};
use crate::{NewNote, Save, Staged, plan_notes, plan_save};

/// Prints a difference as a person would read it.
fn printed(diff: &RecordDiff) -> String {
    let mut text = String::new();
    for field in &diff.fields {
        writeln!(text, "{}:", field.field).unwrap();
        for line in &field.lines {
            let mark = match line.change {
                LineChange::Same => ' ',
                LineChange::Removed => '-',
                LineChange::Added => '+',
                LineChange::Gap => '…',
            };
            writeln!(text, "{mark}{}", line.text).unwrap();
        }
    }
    text
}

#[test]
fn a_difference_has_the_lines_that_differ_and_some_around_them() {
    let text = |seventh: &str| {
        let lines = ["one", "two", "three", "four", "five", "six", seventh, "eight"];
        lines.join("\n")
    };
    let mut memory = Memory::default();
    let store =
        |text: &str| Staged { blueprints: vec![mutable("store", text)], ..Staged::default() };
    save(&mut memory, &origin("one", 1), store(&text("seven")));
    let before = memory.records().next().unwrap().clone();
    save(&mut memory, &origin("one", 2), store(&text("sieben")));
    let after = memory.records().next().unwrap().clone();
    let found = diff(Some(&before), Some(&after)).unwrap();
    assert_eq!((found.before, found.after), (Some(Version(1)), Some(Version(2))));
    insta::assert_snapshot!(printed(&found), @r"
    content:
     five
     six
    -seven
    +sieben
     eight
    ");
    assert_eq!(diff(Some(&after), Some(&after)).unwrap().fields, []);
    assert_eq!(diff(None, None), None);
}

#[test]
fn a_line_stays_when_others_follow_it() {
    let diff = |before: &str, after: &str| {
        let mut memory = Memory::default();
        let store =
            |text: &str| Staged { blueprints: vec![mutable("store", text)], ..Staged::default() };
        let mut versions = [(1, before), (2, after)].map(|(on, text)| {
            save(&mut memory, &origin("one", on), store(text));
            memory.records().next().unwrap().clone()
        });
        let [before, after] = &mut versions;
        printed(&diff(Some(before), Some(after)).unwrap())
    };
    assert_eq!(diff("a\nb", "a\nb\nc"), "content:\n a\n b\n+c\n");
    assert_eq!(diff("a\nb\nc", "a\nb"), "content:\n a\n b\n-c\n");
    assert_eq!(diff("a\nb", "a\nc"), "content:\n a\n-b\n+c\n");
}

#[test]
fn a_new_record_has_all_its_fields_and_none_that_follow_from_others() {
    let mut memory = Memory::default();
    let new = NewNote { key: Some("port".into()), tags: vec!["net".into()], ..note("7717") };
    let plan = plan_notes(&memory, &origin("one", 1), vec![Ok(new)]).unwrap();
    memory.apply(Seq(1), &plan.changes);
    let found = diff(None, memory.records().next().map(|record| &**record)).unwrap();
    insta::assert_snapshot!(printed(&found), @r"
    content:
    +7717
    importance:
    +5
    key:
    +port
    tags:
    +net
    ");
}

#[test]
fn a_commit_is_named_by_its_session_or_its_first_record() {
    let mut memory = Memory::default();
    let part = Staged { blueprints: vec![blueprint("store", "sled")], ..Staged::default() };
    let save = Save { session_summary: "chose the store\nStaged it", part, ..Save::default() };
    let plan = plan_save(&memory, &origin("one", 1), save).unwrap();
    memory.apply(Seq(1), &plan.changes);
    let stored = |changes: Vec<Change>, revision, operation: &str| StoredCommit {
        head: CommitHead {
            revision: Revision(revision),
            time: origin("one", 1).time,
            session: Some(SessionId::new("one")),
            operation: operation.to_owned(),
        },
        changes,
    };
    let saved = stored(plan.changes, 1, "save").described(&Reader::anyone());
    assert_eq!((&*saved.summary, &*saved.client), ("chose the store; Staged it", "claude-code"));
    assert_eq!(saved.counts, CommitCounts { added: 2, ..CommitCounts::default() });
    let row = memory.active_of(Kind::SessionRow).next().unwrap();
    assert_eq!(name(row), "chose the store; Staged it");
    let gone = Purged {
        id: row.id,
        version: row.version,
        revision: row.revision,
        time: row.created.time,
        private: false,
        row: None,
    };
    let purged = stored(vec![Change::Purged(Box::new(gone))], 1, "save");
    assert_eq!(purged.described(&Reader::anyone()).summary, "its records are gone");
    let mut after = memory.clone();
    after.apply(Seq(2), &purged.changes);
    let tombstones = |time| Change::Tombstones { salt: "s".into(), digests: Vec::new(), time };
    let purge = stored(vec![tombstones(row.created.time)], 2, "purge");
    assert_eq!(purge.described(&Reader::anyone()).summary, "a purge");
    assert_eq!(purge.purged(&after), [row.id]);
    let told = purge.described(&Reader::anyone()).with_purged(purge.purged(&after));
    assert_eq!((told.counts.purged, told.purged.len()), (1, 1), "both say the same");
    assert_eq!(told.counts_beside_purged(), CommitCounts::default(), "none was purged since");
    assert_eq!(stored(vec![tombstones(Timestamp(1))], 3, "purge").purged(&after), [], "another");
    assert_eq!(purged.purged(&after), [], "it is not the purge");
    let notes = vec![Ok(note("the port is 1")), Ok(NewNote { private: true, ..note("mine") })];
    let plan = plan_notes(&memory, &origin("one", 1), notes).unwrap();
    let noted = stored(plan.changes, 2, "note");
    assert_eq!(noted.described(&Reader::anyone()).counts.added, 1, "one is private");
    assert_eq!(noted.described(&Reader::owner()).counts.added, 2);
    assert_eq!(noted.described(&Reader::anyone()).summary, "n3 the port is 1");
    assert!(noted.concerns(&Reader::anyone(), &[Kind::Note], None));
    assert!(!noted.concerns(&Reader::anyone(), &[Kind::Lesson], None));
    assert!(!noted.concerns(&Reader::anyone(), &[], Some("a.rs")));
}

#[test]
fn an_id_in_a_sessions_own_summary_names_no_record_of_the_commit() {
    let named = |changes: Vec<Change>, operation: &str| {
        let head = CommitHead {
            revision: Revision(1),
            time: origin("one", 1).time,
            session: Some(SessionId::new("one")),
            operation: operation.to_owned(),
        };
        let commit = StoredCommit { head, changes }.described(&Reader::anyone());
        let commit = CommitDetail { commit, records: Vec::new(), more: 0 };
        HistoryView::Commit(commit).named()
    };
    let save = Save { session_summary: "l3 was wrong", ..Save::default() };
    let plan = plan_save(&Memory::default(), &origin("one", 1), save).unwrap();
    assert_eq!(named(plan.changes, "save"), []);
    let plan = plan_notes(&Memory::default(), &origin("one", 1), vec![Ok(note("a"))]).unwrap();
    let id = plan.changes.iter().find_map(Change::record).unwrap().id;
    assert_eq!(named(plan.changes, "note"), [id], "its line begins with it");
}

#[test]
fn a_commit_that_this_machine_sent_names_its_member_whatever_it_wrote() {
    let own: Arc<str> = "Ada".into();
    let member = |copied: Option<Copied>| {
        let head = CommitHead {
            revision: Revision(3),
            time: origin("one", 1).time,
            session: None,
            operation: "purge".to_owned(),
        };
        let changes = copied.into_iter().map(Change::Copied).collect();
        let commit = StoredCommit { head, changes };
        commit.described_in_team(&Reader::owner(), Some(&own)).member
    };
    let mark = CopyMark { digest: "a".into(), epoch: 0 };
    assert_eq!(member(None), None, "it is older than the team");
    assert_eq!(member(Some(mark.clone().into())).as_deref(), Some("Ada"));
    let of_bob = Copied { mark, member: Some("Bob".into()) };
    assert_eq!(member(Some(of_bob)).as_deref(), Some("Bob"));
}

#[test]
fn a_merge_says_so_and_names_the_member_whose_memory_it_was() {
    let own: Arc<str> = "Ada".into();
    let mark = CopyMark { digest: "a".into(), epoch: 0 };
    let of = |operation: &str, copied: Option<Copied>| {
        let head = CommitHead {
            revision: Revision(3),
            time: origin("one", 1).time,
            session: None,
            operation: operation.to_owned(),
        };
        let (source, digest) = (EXPORTED.to_owned(), "d".to_owned());
        let mut changes = vec![Change::Imported { source, digest, records: 1, undone: false }];
        changes.extend(copied.map(Change::Copied));
        StoredCommit { head, changes }.described_in_team(&Reader::owner(), Some(&own)).summary
    };
    let of_bob = Copied { mark: mark.clone(), member: Some("Bob".into()) };
    assert_eq!(of(MERGED, Some(of_bob.clone())), "merged from Bob's memory of this project");
    assert_eq!(of(MERGED, Some(mark.into())), "merged from Ada's memory of this project");
    assert_eq!(of(MERGED, None), "merged from a member's memory of this project");
    assert_eq!(of(IMPORTED, Some(of_bob)), "import of an export");
}

#[test]
fn a_version_that_an_import_brought_names_the_member_of_its_commit() {
    let (own, mark): (Arc<str>, _) = ("Ada".into(), CopyMark { digest: "a".into(), epoch: 0 });
    let member = |copied: Option<Copied>, by: Option<&Provenance>| {
        let (time, operation) = (origin("one", 1).time, MERGED.to_owned());
        let content = VersionContent::Purged(time);
        let (revision, session) = (Some(Revision(3)), None);
        let stored = StoredVersion { revision, time, session, operation, copied, content };
        stored.member(by, Some(&own)).map(ToString::to_string)
    };
    let of_bob = Copied { mark: mark.clone(), member: Some("Bob".into()) };
    assert_eq!(member(Some(of_bob.clone()), None).as_deref(), Some("Bob"));
    assert_eq!(member(Some(mark.clone().into()), None).as_deref(), Some("Ada"));
    assert_eq!(member(None, None), None, "it stays on this machine, or is older than the team");
    let by = Provenance { member: Some("Eve".into()), ..origin("one", 1) };
    assert_eq!(member(Some(of_bob), Some(&by)).as_deref(), Some("Bob"), "that is checked");
    assert_eq!(member(Some(mark.into()), Some(&by)).as_deref(), Some("Eve"), "the name then");
}
