//! Files that were seen when a record was written, through merges and in words.

use super::*;
use crate::kinds::{Blueprint, Lesson};
use crate::memory::Memory;
use crate::plan::plan_add;
use crate::record::{Body, Record};
use crate::staged::Staged;
use crate::testing::{apply, blueprint, lesson, origin};

fn seen(files: &[(&str, u64)]) -> SeenFiles {
    SeenFiles::new(files.iter().map(|(file, digest)| ((*file).to_owned(), *digest)))
}

fn written(memory: &mut Memory, part: Staged) -> Vec<Record> {
    let plan = plan_add(memory, &origin("s", 1), part).unwrap();
    apply(memory, plan);
    memory.records().map(|record| Record::clone(record)).collect()
}

fn told(files: &[(&str, u64)]) -> Staged {
    let lesson = Lesson { seen: seen(files), ..lesson("sync first", "or lose it") };
    let blueprint = Blueprint { seen: seen(files), ..blueprint("One writer", "`a.rs` writes.") };
    Staged { lessons: vec![lesson], blueprints: vec![blueprint], ..Staged::default() }
}

#[test]
fn saying_it_again_takes_over_the_files_as_they_are_now() {
    let mut memory = Memory::default();
    let first = written(&mut memory, told(&[("a.rs", 1), ("b.rs", 2)]));
    assert_eq!(first.len(), 2);
    let again = written(&mut memory, told(&[("a.rs", 1), ("b.rs", 2)]));
    assert_eq!(again, first, "nothing changed, so nothing is written");
    let later = written(&mut memory, told(&[("b.rs", 3), ("c.rs", 4)]));
    for (before, now) in first.iter().zip(&later) {
        let expected = seen(&[("a.rs", 1), ("b.rs", 3), ("c.rs", 4)]);
        assert_eq!(now.body.seen_files(), Some(&expected));
        assert_eq!(now.version.0, before.version.0 + 1);
        assert!(now.content_eq(before), "the content is the same");
        assert_eq!(now.content_version(), before.content_version());
    }
}

#[test]
fn another_content_takes_the_place_of_all_that_was_seen() {
    let mut memory = Memory::default();
    let mutable = |content: &str, files: &[(&str, u64)]| {
        let blueprint = Blueprint { seen: seen(files), ..blueprint("One writer", content) };
        let blueprints = vec![Blueprint { immutable: false, ..blueprint }];
        Staged { blueprints, ..Staged::default() }
    };
    written(&mut memory, mutable("`a.rs` writes.", &[("a.rs", 1)]));
    let now = written(&mut memory, mutable("`b.rs` writes.", &[("b.rs", 2)]));
    assert_eq!(now.first().unwrap().body.seen_files(), Some(&seen(&[("b.rs", 2)])));
}

#[test]
fn few_files_are_kept_and_they_move_with_their_directory() {
    let many = (0..100).map(|at| (format!("{at:03}.rs"), at));
    let mut kept = SeenFiles::new(many);
    assert_eq!(kept.digests().len(), SEEN_FILES_MAX);
    kept.unite(&seen(&[("new.rs", 1), ("000.rs", 7)]));
    assert_eq!(kept.digests().len(), SEEN_FILES_MAX);
    assert_eq!(kept.digests().get("000.rs"), Some(&7), "the newest look counts");
    kept.move_files(&|file| Some(format!("part/{file}")));
    assert!(kept.has("part/000.rs") && !kept.has("000.rs"));
}

#[test]
fn what_became_of_the_files_is_shown_in_few_words_and_never_stored() {
    let mut memory = Memory::default();
    let records = written(&mut memory, told(&[("a.rs", 1)]));
    let said = |changed: u32, unchecked: u32| {
        let shown = records.iter().map(|record| {
            let mut body: Body = record.body.clone();
            body.seen_files_mut().unwrap().staleness = Some(Staleness { changed, unchecked });
            assert_eq!(
                serde_json::to_value(&body).unwrap(),
                serde_json::to_value(&record.body).unwrap()
            );
            (record.id, body)
        });
        let memory = memory.showing(shown);
        let lines: Vec<String> = memory
            .records()
            .map(|record| crate::render::record(record).lines().next().unwrap().to_owned())
            .collect();
        lines
    };
    assert_eq!(said(0, 0), ["b1 [decision] One writer", "l2 sync first"]);
    assert_eq!(
        said(1, 0),
        ["b1 [decision] One writer (1 file changed since)", "l2 sync first (1 file changed since)"]
    );
    assert!(said(4, 2).iter().all(|line| line.ends_with(" (4 files changed since, 2 unchecked)")));
    assert!(said(0, 2).iter().all(|line| line.ends_with(" (2 files unchecked)")));
}
