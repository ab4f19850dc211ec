//! States of anchors in files on disk.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anchord_memory::fingerprint::Lines;
use anchord_memory::lines::LineRange;
use anchord_memory::{
    Anchor, AnchorState, Blueprint, Category, Lesson, Memory, RecordId, Staged, Staleness,
    UnseenCode, WhyUnseen,
};

use super::{
    AnchorService, CheckedCode, NamedFiles, ProjectRoots, Unprinted, Wanted, Wants, capture,
};

const CODE: &str = "\
use std::time::Duration;

fn backoff(attempt: u32) -> Duration {
    let base = Duration::from_millis(50);
    let factor = 2_u32.pow(attempt.min(6));
    base * factor + jitter()
}

fn jitter() -> Duration {
    let random = getrandom();
    Duration::from_millis(random % 20)
}
";

const LONG: Duration = Duration::from_secs(5);

fn range(lines: Lines) -> LineRange {
    LineRange::Span { first: lines.first, last: lines.last }
}

fn lines(first: u32, last: u32) -> Lines {
    Lines { first, last }
}

/// An anchor on `backoff`.
async fn wanted(root: &Path) -> Wanted {
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/retry.rs"), CODE).unwrap();
    let range = LineRange::Span { first: 3, last: 7 };
    let anchor = Anchor::new("src/retry.rs".to_owned(), range, "waits".to_owned());
    let anchor = captured(root, vec![anchor]).await.remove(0);
    let mut it = one(RecordId::new(anchord_memory::Kind::Anchor, 1));
    it.print = anchor.print.unwrap();
    it
}

async fn captured(root: &Path, anchors: Vec<Anchor>) -> Vec<Anchor> {
    capture(root, Staged { anchors, ..Staged::default() }).await.anchors
}

fn one(id: RecordId) -> Wanted {
    let text = super::Source::new("x");
    Wanted {
        id,
        version: anchord_memory::Version(1),
        file: "src/retry.rs".to_owned(),
        lines: lines(3, 7),
        print: super::Fingerprint::capture(&text, lines(1, 1)).unwrap(),
    }
}

async fn seen(service: &AnchorService, root: &Path, it: &Wanted, time: Duration) -> CheckedCode {
    let place = ProjectRoots { root, repository: None };
    let wants = Wants { printed: vec![it.clone()], ..Wants::default() };
    service.check(place, wants, time).await.anchors.remove(0)
}

#[tokio::test]
async fn each_state_is_found_on_disk_and_again_from_what_is_known() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    let service = AnchorService::default();
    let it = wanted(&root).await;
    let expect = async |state: AnchorState, file: &str, at: Lines| {
        for _ in 0..2 {
            let seen = seen(&service, &root, &it, LONG).await;
            let CheckedCode { file: there, lines, .. } = &seen;
            assert_eq!((&seen.state, there.as_str(), lines), (&state, file, &range(at)));
        }
    };
    let moved = || AnchorState::Moved {
        from: ("src/retry.rs".to_owned(), LineRange::Span { first: 3, last: 7 }),
    };
    let write = |file: &str, text: &str| fs::write(root.join(file), text).unwrap();
    expect(AnchorState::Fresh, "src/retry.rs", lines(3, 7)).await;

    write("src/retry.rs", &format!("//! Retries.\n\n{CODE}"));
    expect(moved(), "src/retry.rs", lines(5, 9)).await;

    write("src/retry.rs", &CODE.replace("base * factor + jitter()", "base"));
    expect(AnchorState::Changed { percent: 20 }, "src/retry.rs", lines(3, 7)).await;

    let (head, rest) = CODE.split_at(CODE.find("fn backoff").unwrap());
    let (own, other) = rest.split_at(rest.find("fn jitter").unwrap());
    write("src/retry.rs", &format!("{head}{other}"));
    write("src/delay.rs", &format!("//! Delays.\n\n{own}"));
    expect(moved(), "src/delay.rs", lines(3, 7)).await;

    fs::remove_file(root.join("src/retry.rs")).unwrap();
    expect(moved(), "src/delay.rs", lines(3, 7)).await;

    fs::remove_file(root.join("src/delay.rs")).unwrap();
    expect(AnchorState::Gone, "src/retry.rs", lines(3, 7)).await;
}

#[tokio::test]
async fn a_place_that_cannot_be_looked_at_in_time_is_unchecked() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    let service = AnchorService::default();
    let it = wanted(&root).await;
    assert_eq!(seen(&service, &root, &it, Duration::ZERO).await.state, AnchorState::Unchecked);
    // A directory has the file's name: nothing is known of the file.
    fs::remove_file(root.join("src/retry.rs")).unwrap();
    fs::create_dir(root.join("src/retry.rs")).unwrap();
    assert_eq!(seen(&service, &root, &it, LONG).await.state, AnchorState::Unchecked);
    let missing = root.join("none");
    assert_eq!(seen(&service, &missing, &it, LONG).await.state, AnchorState::Unchecked);
}

#[tokio::test]
async fn files_of_secrets_and_missing_lines_get_no_fingerprint() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    fs::write(root.join(".env"), "PASSWORD=1\n").unwrap();
    fs::write(root.join("a.rs"), "fn a() {}\n").unwrap();
    let anchor = |file: &str, lines: &str| {
        Anchor::new(file.to_owned(), lines.to_owned().into(), String::new())
    };
    let given = [(".env", "1"), ("a.rs", "1"), ("a.rs", "1-2"), ("a.rs", "fn a"), ("b.rs", "1")];
    let anchors = given.map(|(file, lines)| anchor(file, lines)).to_vec();
    let anchors = captured(&root, anchors).await;
    let has: Vec<bool> = anchors.iter().map(|anchor| anchor.print.is_some()).collect();
    assert_eq!(has, [false, true, false, false, false]);
}

#[tokio::test]
async fn an_anchor_without_a_fingerprint_is_shown_without_a_state() {
    let memory = std::sync::Arc::new(Memory::default());
    let place = ProjectRoots { root: Path::new("/"), repository: None };
    let service = AnchorService::default();
    let shown = service.shown(Some(place), &memory, LONG, &[]).await;
    assert!(std::sync::Arc::ptr_eq(&shown, &memory));
}

/// Writes a file with this many lines.
fn with_lines(root: &Path, file: &str, count: usize) {
    fs::write(root.join(file), "fn a() {}\n".repeat(count)).unwrap();
}

/// A file whose size is beyond what is read.
fn too_large(root: &Path, file: &str) {
    let large = fs::File::create(root.join(file)).unwrap();
    large.set_len(crate::limits::PROJECT_FILE_BYTES_MAX + 1).unwrap();
}

#[tokio::test]
async fn lines_without_a_fingerprint_are_gone_changed_or_unchecked_unless_they_exist() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    let service = AnchorService::default();
    with_lines(&root, "short.rs", 120);
    too_large(&root, "large.rs");
    fs::create_dir(root.join("src")).unwrap();
    let state = async |file: &str, lines: &str| {
        let lines = LineRange::from(lines.to_owned());
        let id = RecordId::new(anchord_memory::Kind::Anchor, 1);
        let version = anchord_memory::Version(1);
        let it = Unprinted { id, version, file: file.to_owned(), lines };
        let wants = Wants { unprinted: vec![it], ..Wants::default() };
        let place = ProjectRoots { root: &root, repository: None };
        let found = service.check(place, wants, LONG).await.anchors.pop();
        found.map(|seen| (seen.state, seen.lines.to_string()))
    };
    let said = |state: AnchorState, lines: &str| Some((state, lines.to_owned()));
    for _ in 0..2 {
        assert_eq!(state("missing.rs", "1-2").await, said(AnchorState::Gone, "1-2"));
        assert_eq!(state("missing.rs", "fn a").await, said(AnchorState::Gone, "fn a"));
        assert_eq!(state("short.rs", "121-130").await, said(AnchorState::Gone, "121-130"));
        let cut = said(AnchorState::Changed { percent: 25 }, "91-120");
        assert_eq!(state("short.rs", "91-130").await, cut);
        assert_eq!(state("short.rs", "1-120").await, None, "they exist");
        assert_eq!(state("short.rs", "fn a").await, None, "nobody knows where");
        assert_eq!(state("large.rs", "1").await, said(AnchorState::Unchecked, "1"));
        assert_eq!(state("src", "1").await, said(AnchorState::Unchecked, "1"));
        assert_eq!(state(".env", "1").await, said(AnchorState::Gone, "1"));
    }
    // The file comes, and goes again.
    with_lines(&root, "missing.rs", 1);
    let cut = said(AnchorState::Changed { percent: 50 }, "1");
    assert_eq!(state("missing.rs", "1-2").await, cut);
    fs::remove_file(root.join("missing.rs")).unwrap();
    assert_eq!(state("missing.rs", "1-2").await, said(AnchorState::Gone, "1-2"));
    fs::write(root.join(".env"), "PASSWORD=1\n").unwrap();
    assert_eq!(state(".env", "1").await, said(AnchorState::Unchecked, "1"));
}

#[tokio::test]
async fn a_write_learns_which_of_its_lines_could_not_be_read() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    with_lines(&root, "short.rs", 120);
    too_large(&root, "large.rs");
    let anchor = |file: &str, lines: &str| {
        Anchor::new(file.to_owned(), lines.to_owned().into(), String::new())
    };
    let given = [
        ("missing.rs", "1-2"),
        ("short.rs", "1-120"),
        ("short.rs", "100-130"),
        ("short.rs", "fn a"),
        ("large.rs", "1"),
    ];
    let anchors = given.map(|(file, lines)| anchor(file, lines)).to_vec();
    let part = capture(&root, Staged { anchors, ..Staged::default() }).await;
    let unseen = |file: &str, lines: &str, why: WhyUnseen| UnseenCode {
        file: file.to_owned(),
        lines: lines.to_owned().into(),
        why,
    };
    let [missing, few, large] = part.unseen.as_slice() else { panic!("{:?}", part.unseen) };
    assert_eq!(missing, &unseen("missing.rs", "1-2", WhyUnseen::NoFile));
    assert_eq!(few, &unseen("short.rs", "100-130", WhyUnseen::FewerLines(120)));
    assert!(matches!(&large.why, WhyUnseen::NotRead(why) if why.starts_with("read `large.rs`: ")));
}

/// Captures a lesson that names files, and returns what became of them each time.
async fn named(root: &Path, files: &[&str]) -> NamedFiles {
    let files = files.iter().map(|file| (*file).to_owned()).collect();
    let lesson = Lesson { files, ..Lesson::default() };
    let part = capture(root, Staged { lessons: vec![lesson], ..Staged::default() }).await;
    let digests = part.lessons.first().unwrap().seen.digests().clone();
    NamedFiles { id: RecordId::new(anchord_memory::Kind::Lesson, 1), digests }
}

#[tokio::test]
async fn files_that_changed_or_went_are_counted_and_others_are_unchecked() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    let service = AnchorService::default();
    for file in ["a.rs", "b.rs", "c.rs", ".env"] {
        fs::write(root.join(file), "one\n").unwrap();
    }
    fs::create_dir(root.join("src")).unwrap();
    let it = named(&root, &["a.rs", "b.rs", "c.rs", "missing.rs", ".env", "src"]).await;
    assert_eq!(it.digests.keys().collect::<Vec<_>>(), ["a.rs", "b.rs", "c.rs"]);
    let became = async |time: Duration| {
        let place = ProjectRoots { root: &root, repository: None };
        let wants = Wants { named: vec![it.clone()], ..Wants::default() };
        let found = service.check(place, wants, time).await;
        let (_, Staleness { changed, unchecked }) = found.files.first().unwrap();
        (*changed, *unchecked)
    };
    assert_eq!(became(LONG).await, (0, 0));
    // Written again, with the same content.
    fs::write(root.join("a.rs"), "one\n").unwrap();
    assert_eq!(became(LONG).await, (0, 0));
    fs::write(root.join("a.rs"), "two\n").unwrap();
    fs::remove_file(root.join("b.rs")).unwrap();
    for _ in 0..2 {
        assert_eq!(became(LONG).await, (2, 0));
    }
    assert_eq!(became(Duration::ZERO).await, (0, 3));
    fs::remove_file(root.join("c.rs")).unwrap();
    fs::create_dir(root.join("c.rs")).unwrap();
    assert_eq!(became(LONG).await, (2, 1), "nobody can tell what became of it");
    fs::write(root.join("a.rs"), "one\n").unwrap();
    fs::write(root.join("b.rs"), "one\n").unwrap();
    assert_eq!(became(LONG).await, (0, 1), "what came back is as it was");
}

#[tokio::test]
async fn the_files_that_a_blueprint_names_are_those_that_exist() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("src/db.rs"), "one\n").unwrap();
    let content = "All writes pass `src/db.rs:3`, e.g. those of src/other.rs.".to_owned();
    let blueprint = Blueprint::new(Category::Decision, "One writer".to_owned(), content);
    let part = Staged { blueprints: vec![blueprint], ..Staged::default() };
    let part = capture(&root, part).await;
    let seen = &part.blueprints.first().unwrap().seen;
    assert_eq!(seen.digests().keys().collect::<Vec<_>>(), ["src/db.rs"]);
}
