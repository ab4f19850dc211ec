//! Redaction of files in a scratch directory.

use super::*;

#[test]
fn a_text_is_redacted_in_every_file_outside_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir_all(path("log/old")).unwrap();
    fs::create_dir_all(path("journal")).unwrap();
    fs::write(path("anchord.log"), "a \"planted\ntext\" b\n").unwrap();
    fs::write(path("log/old/r.jsonl"), "{\"query\":\"a \\\"planted\\ntext\\\" b\"}\n").unwrap();
    fs::write(path("log/clean"), "clean").unwrap();
    fs::write(path("journal/000001.jsonl"), "\"planted\ntext\"").unwrap();
    let beneath = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let (found, done) = (
            find(&[dir.path().to_owned()], &texts),
            redact_files(&[dir.path().to_owned()], &texts),
        );
        assert_eq!(found, done, "what is shown is what is done");
        assert_eq!(done.failed, BTreeSet::new());
        done.files.len()
    };
    assert_eq!(beneath(&["\"planted\ntext\""]), 2);
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    assert_eq!(text("anchord.log"), format!("a {} b\n", "*".repeat(14)));
    assert_eq!(text("log/old/r.jsonl"), format!("{{\"query\":\"a {} b\"}}\n", "*".repeat(17)));
    assert_eq!(text("journal/000001.jsonl"), "\"planted\ntext\"", "the store has its own way");
    assert_eq!(beneath(&["\"planted\ntext\""]), 0);
    assert_eq!(beneath(&[]), 0);
    let long = "long and longer ".repeat(100);
    fs::write(path("long.log"), format!("<{long}>")).unwrap();
    assert_eq!(beneath(&[&long]), 1);
    assert_eq!(text("long.log"), format!("<{}>", "*".repeat(long.len())));
}

/// Versions of one record begin alike, and one text may begin within another.
#[test]
fn the_longest_of_texts_with_a_common_beginning_is_redacted() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.log");
    let long = "the same beginning ".repeat(20);
    let (first, second) = (format!("{long}one"), format!("{long}one and the tail"));
    let across = "the tail of another text".to_owned();
    for texts in [[first.clone(), second.clone()], [second.clone(), first.clone()]] {
        let texts = [&texts[..], std::slice::from_ref(&across)].concat();
        fs::write(&file, format!("<{second}> <{first}> <{second} of another text>")).unwrap();
        redact_files(&[dir.path().to_owned()], &texts);
        let stars = |bytes: usize| "*".repeat(bytes);
        let all = stars(second.len() + " of another text".len());
        let expected = format!("<{}> <{}> <{all}>", stars(second.len()), stars(first.len()));
        assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    }
}

#[test]
fn a_path_that_cannot_be_searched_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (file, none) = (dir.path().join("no-directory"), dir.path().join("none"));
    fs::write(&file, "planted").unwrap();
    let found = redact_files(&[file.clone(), none], &["planted".to_owned()]);
    assert_eq!((found.files, found.failed), (BTreeSet::new(), BTreeSet::from([file])));
}
