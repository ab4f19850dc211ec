//! The rules as examples, and laws that hold for any staged work.

use proptest::prelude::*;

use crate::Body;
use crate::draft::Draft;
use crate::limits::STAGED_ITEM_BYTES;
use crate::testing::{
    anchor, anchors, any_part, blueprint, blueprints, day, lesson, lessons, mutable, note, origin,
    save,
};
use crate::{Anchor, Kind, Lesson, Memory, NewNote, Staged, TopicPart};

fn absorbed(parts: &[&Staged]) -> Staged {
    let mut staged = Staged::default();
    for part in parts {
        staged.absorb(part);
    }
    staged
}

#[test]
fn an_immutable_blueprint_keeps_out_later_ones() {
    let mut staged = blueprints([blueprint("Store", "sled")]);
    let left_out = staged.absorb(&blueprints([blueprint(" store", "postgres")]));
    assert_eq!(staged.blueprints, [blueprint("Store", "sled")]);
    assert_eq!(left_out, [Body::Blueprint(blueprint(" store", "postgres"))]);
}

#[test]
fn the_same_blueprint_again_is_not_left_out() {
    let mut staged = blueprints([blueprint("Store", "sled")]);
    assert_eq!(staged.absorb(&staged.clone()), []);
    assert_eq!(staged.blueprints.len(), 1);
}

#[test]
fn mutable_blueprints_replace_each_other() {
    let parts = [
        blueprints([blueprint("Store", "sled")]),
        blueprints([mutable("Store", "redb")]),
        blueprints([mutable("Store", "fjall")]),
    ];
    let staged = absorbed(&[&parts[0], &parts[1], &parts[2]]);
    assert_eq!(staged.blueprints, [mutable("Store", "fjall")]);
}

#[test]
fn a_mutable_blueprint_takes_the_newest_spelling_of_its_title() {
    let spellings = ["Store", "store"].map(|title| blueprints([mutable(title, "redb")]));
    let staged = absorbed(&[&spellings[0], &spellings[1]]);
    assert_eq!(staged.blueprints, [mutable("store", "redb")]);

    let mut memory = Memory::default();
    for (day, part) in (1..).zip(spellings) {
        save(&mut memory, &origin("one", day), part);
    }
    let stored: Vec<&Body> = memory.active_of(Kind::Blueprint).map(|record| &record.body).collect();
    assert_eq!(stored, [&Body::Blueprint(mutable("store", "redb"))]);
}

#[test]
fn an_immutable_blueprint_keeps_the_first_spelling_of_its_title() {
    let parts = ["Store", "store"].map(|title| blueprints([blueprint(title, "redb")]));
    assert_eq!(absorbed(&[&parts[0], &parts[1]]).blueprints, [blueprint("Store", "redb")]);
}

#[test]
fn an_immutable_blueprint_after_a_mutable_one_still_replaces_what_is_stored() {
    let part = blueprints([mutable("Store", "redb"), blueprint("Store", "sled")]);
    let staged = absorbed(&[&part]);
    assert_eq!(staged.blueprints, [mutable("Store", "redb"), blueprint("Store", "sled")]);
    assert_eq!(staged.counts().blueprints, 1);
}

fn check_anchors(written: &[(&str, &str)], merged: &[(&str, &str)]) {
    let of = |list: &[(&str, &str)]| -> Vec<Anchor> {
        list.iter().map(|(lines, concept)| anchor("a.rs", lines, concept)).collect()
    };
    assert_eq!(absorbed(&[&anchors(of(written))]).anchors, of(merged), "{written:?}");
}

#[test]
fn anchors_that_begin_with_the_same_line_are_one_place() {
    check_anchors(&[("1-10", "old"), ("1-20", "new")], &[("1-20", "new")]);
    check_anchors(&[("1-20", "old"), ("1-10", "new")], &[("1-10", "new")]);
    check_anchors(&[("1-10", "a"), ("5-20", "b")], &[("1-10", "a"), ("5-20", "b")]);
    check_anchors(&[("1-10", "a"), ("11-20", "b")], &[("1-10", "a"), ("11-20", "b")]);
    check_anchors(&[("1-10", "a"), ("12-20", "b")], &[("1-10", "a"), ("12-20", "b")]);
}

/// A class and its methods are three places, whichever comes first.
#[test]
fn an_anchor_within_another_stays_beside_it() {
    let class = ("1-200", "totals are cached");
    let methods = [("50-70", "rounds down"), ("120-140", "mails twice if retried")];
    check_anchors(&[class, methods[0], methods[1]], &[class, methods[0], methods[1]]);
    check_anchors(&[methods[0], methods[1], class], &[methods[0], methods[1], class]);
}

#[test]
fn an_anchor_of_zipmems_tool_set_unites_what_it_meets() {
    let part = anchors([
        anchor("a.rs", "1-10", "a"),
        anchor("a.rs", "20-30", "b"),
        Anchor { unites_adjacent: true, ..anchor("a.rs", "11-20", "c") },
    ]);
    let anchors = absorbed(&[&part]).anchors;
    let said: Vec<_> =
        anchors.iter().map(|it| (it.lines.to_string(), it.concept.as_str())).collect();
    assert_eq!(said, [("1-30".to_owned(), "c")]);
}

#[test]
fn unreadable_ranges_match_by_equality() {
    check_anchors(&[("fn main", "a"), ("fn  main", "b")], &[("fn main", "a"), ("fn  main", "b")]);
    check_anchors(
        &[("fn main", "a"), ("1-9", "b"), ("fn main", "c")],
        &[("1-9", "b"), ("fn main", "c")],
    );
}

#[test]
fn anchors_of_different_files_stay_separate() {
    let part = anchors([anchor("a.rs", "1-9", "x"), anchor("b.rs", "1-9", "x")]);
    assert_eq!(absorbed(&[&part]).anchors.len(), 2);
}

fn check_lessons(written: &[&str], kept: &[&str]) {
    let written: Vec<Lesson> = written.iter().map(|summary| lesson(summary, "")).collect();
    let staged = absorbed(&[&lessons(written)]);
    let summaries: Vec<&str> = staged.lessons.iter().map(|l| l.summary.as_str()).collect();
    assert_eq!(summaries, kept);
}

#[test]
fn lessons_with_the_same_summary_are_merged() {
    check_lessons(&["Flush does not  fsync", "flush does NOT fsync"], &["Flush does not  fsync"]);
}

#[test]
fn a_lesson_that_adds_no_substance_is_a_duplicate_and_the_longer_one_survives() {
    check_lessons(&["Cache is slow", "The cache is slow."], &["The cache is slow."]);
    check_lessons(&["The cache is slow", "cache slow"], &["The cache is slow"]);
}

#[test]
fn a_lesson_that_adds_substance_is_kept_separately() {
    for longer in [
        "Cache is slow on ext4",
        "Cache is not slow",
        "Never say cache is slow",
        "Cache is slow before a flush",
        "Cache is only slow",
    ] {
        check_lessons(&["Cache is slow", longer], &["Cache is slow", longer]);
    }
    check_lessons(
        &["copy from a.rs to b.rs", "copy to a.rs from b.rs"],
        &["copy from a.rs to b.rs", "copy to a.rs from b.rs"],
    );
    check_lessons(&["set !flag", "set flag"], &["set !flag", "set flag"]);
}

#[test]
fn a_summary_of_only_stop_words_is_compared_as_it_is() {
    check_lessons(&["it is", "this was"], &["it is", "this was"]);
}

#[test]
fn merged_lessons_combine_details_and_files() {
    let with = |detail: &str, files: &[&str]| Lesson {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..lesson("Flush does not fsync", detail)
    };
    let part = lessons([
        with("Seen on ext4.\n\n  let x = 1;", &["a.rs"]),
        with("seen on EXT4.\n\nSeen on xfs.", &["b.rs", "a.rs"]),
    ]);
    let merged = with("Seen on ext4.\n\n  let x = 1;\n\nSeen on xfs.", &["a.rs", "b.rs"]);
    assert_eq!(absorbed(&[&part]).lessons, [merged]);
}

/// An earlier implementation compared each anchor with all others of its file, at staging and at
/// folding.
#[test]
fn many_anchors_of_one_file_are_merged_in_bounded_time() {
    let of = |shift: u32| {
        let lines = (0..60_000).map(|at| format!("{}-{}", 4 * at + shift, 4 * at + shift + 1));
        anchors(lines.map(|lines| anchor("a", &lines, "x")).collect::<Vec<_>>())
    };
    let staged = absorbed(&[&of(1), &of(1)]);
    assert_eq!(staged.anchors.len(), 60_000);
    let memory = Memory::default();
    let mut draft = Draft::new(&memory);
    draft.fold(&staged, &origin("one", 1));
    assert_eq!(draft.head().totals().active.anchors, 60_000);
    draft.fold(&of(1), &origin("one", 2));
    assert_eq!(draft.head().totals().active.anchors, 60_000);
    draft.fold(&of(3), &origin("one", 3));
    assert_eq!(draft.head().totals().active.anchors, 120_000);
    let mut all = of(2);
    all.anchors.iter_mut().for_each(|anchor| anchor.unites_adjacent = true);
    draft.fold(&all, &origin("one", 4));
    assert_eq!(draft.head().totals().active.anchors, 1);
}

/// An earlier implementation compared each repeat with all repeats before it.
#[test]
fn many_repeats_of_one_record_are_merged_in_bounded_time() {
    let telling = |n: usize| lesson("one", &format!("telling {n}\n{}", "x y z ".repeat(650)));
    let staged = absorbed(&[&lessons((0..1_000).map(telling).collect::<Vec<_>>())]);
    assert_eq!(staged.lessons.len(), 1);
    assert_eq!(staged.lessons[0].detail.matches("telling").count(), 1_000);

    let topic = |from: usize| {
        let of = |n: usize| TopicPart {
            name: Some(format!("topic {n}")),
            files: (0..20).map(|file| format!("{from}/{n}/{file}")).collect(),
            ..TopicPart::default()
        };
        Staged { topics: (from..from + 1_000).map(of).collect(), ..Staged::default() }
    };
    let parts: Vec<Staged> = (0..10).map(|part| topic(part * 500)).collect();
    let staged = absorbed(&parts.iter().collect::<Vec<_>>());
    assert_eq!((staged.topics.len(), staged.topics[500].files.len()), (5_500, 40));
}

#[test]
fn every_staged_text_and_item_is_counted() {
    let text = "x".repeat(1_000);
    let noted = NewNote { key: Some(text.clone()), tags: vec![text.clone()], ..note(&text) };
    let parts = [
        (anchors([anchor("a", &text, "x")]), 1_002),
        (anchors([anchor("a", "1", "x")]), 2),
        (Staged { notes: vec![noted], ..Staged::default() }, 3_000),
        (lessons([lesson("x", &text)]), 1_001),
        (blueprints([blueprint("x", &text)]), 1_001),
    ];
    for (part, texts) in parts {
        assert_eq!(part.bytes(), texts + STAGED_ITEM_BYTES, "{part:?}");
    }
}

#[test]
fn the_last_summary_and_the_widest_time_span_are_kept() {
    let at = |summary: Option<&str>, on: i64| Staged {
        summary: summary.map(str::to_owned),
        lessons: vec![lesson("x", "")],
        first: day(on),
        last: day(on),
        ..Staged::default()
    };
    let staged = absorbed(&[&at(Some("first"), 3), &at(Some("second"), 4), &at(None, 5)]);
    assert_eq!(staged.summary.as_deref(), Some("second"));
    assert_eq!((staged.first, staged.last), (day(3), day(5)));
}

/// Splits a part's lessons and topics into parts of one statement each.
fn in_pieces(part: &Staged) -> Vec<Staged> {
    let mut pieces: Vec<Staged> =
        part.lessons.iter().map(|lesson| lessons([lesson.clone()])).collect();
    for topic in &part.topics {
        let none = TopicPart { name: topic.name.clone(), ..TopicPart::default() };
        let mut told = vec![
            TopicPart { status: topic.status.clone(), ..none.clone() },
            TopicPart { overview: topic.overview.clone(), ..none.clone() },
            TopicPart { architecture: topic.architecture.clone(), ..none.clone() },
        ];
        told.extend(
            topic
                .decisions
                .iter()
                .map(|decision| TopicPart { decisions: vec![decision.clone()], ..none.clone() }),
        );
        told.extend(
            topic
                .history
                .iter()
                .map(|line| TopicPart { history: vec![line.clone()], ..none.clone() }),
        );
        told.extend(
            topic.files.iter().map(|file| TopicPart { files: vec![file.clone()], ..none.clone() }),
        );
        let topic = |topic| Staged { topics: vec![topic], ..Staged::default() };
        pieces.extend(told.into_iter().map(topic));
    }
    pieces
}

proptest! {
    #[test]
    fn absorbing_a_part_equals_absorbing_its_pieces(a in any_part(), b in any_part()) {
        let b = Staged { lessons: b.lessons, topics: b.topics, ..Staged::default() };
        let (mut whole, mut by_pieces) = (absorbed(&[&a]), absorbed(&[&a]));
        whole.absorb(&b);
        for piece in in_pieces(&b) {
            by_pieces.absorb(&piece);
        }
        prop_assert_eq!(whole, by_pieces);
    }

    #[test]
    fn absorbing_is_associative(a in any_part(), b in any_part(), c in any_part()) {
        let one_by_one = absorbed(&[&a, &b, &c]);
        prop_assert_eq!(&one_by_one, &absorbed(&[&a, &absorbed(&[&b, &c])]));
        prop_assert_eq!(&one_by_one, &absorbed(&[&absorbed(&[&a, &b]), &c]));
    }

    #[test]
    fn absorbing_the_same_again_changes_nothing(mut a in any_part()) {
        // A note with a repeated text is counted, which would be a change.
        a.notes.retain(|note| note.key.is_some());
        let once = absorbed(&[&a]);
        let mut twice = once.clone();
        prop_assert_eq!(twice.absorb(&once), []);
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn no_two_anchors_are_at_one_place(a in any_part(), b in any_part()) {
        let anchors = absorbed(&[&a, &b]).anchors;
        for (at, one) in anchors.iter().enumerate() {
            for other in anchors.iter().skip(at + 1) {
                prop_assert!(!one.is_same_place(other), "{one:?} is at the place of {other:?}");
            }
        }
    }
}
