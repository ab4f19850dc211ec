//! Files and folders of the systems, and of none.

use super::*;

fn names(recognised: &Recognised) -> Vec<&str> {
    recognised.texts.iter().map(|text| text.name.as_str()).collect()
}

#[test]
fn state_and_staged_work_are_read_and_the_session_is_optional() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join(".zipmem");
    std::fs::create_dir(&folder).unwrap();
    let state = "{\"version\":1,\"lessons\":[]}";
    std::fs::write(folder.join("state.json"), state).unwrap();
    let found = recognise(&folder).unwrap();
    assert_eq!((found.source.name, found.texts[0].text.as_str()), ("zipmem", state));
    assert_eq!(names(&found), ["state.json"]);

    std::fs::write(folder.join("session.json"), "{}").unwrap();
    assert_eq!(names(&recognise(&folder).unwrap()), ["state.json", "session.json"]);
    let only = recognise(&folder.join("state.json")).unwrap();
    assert_eq!(names(&only), ["state.json"], "only the file that was named is read");
    std::fs::write(folder.join("state.json"), "{\"version\":1,\"items\":[]}").unwrap();
    let found = recognise(&folder).unwrap();
    assert_eq!((found.source.name, names(&found)), ("compactor", vec!["state.json"]));
}

#[test]
fn the_source_of_a_file_is_detected_by_its_fields() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("any name");
    for (text, source) in [
        (r#"{"version": 1, "items": []}"#, "compactor"),
        (r#"{"items": {"a": {"content": "by id"}}}"#, "compactor"),
        (r#"{"version": 1, "blueprints": []}"#, "zipmem"),
        ("\u{feff}{\"records\": [], \"revision\": 3}", "anchord"),
    ] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(recognise(&path).unwrap().source.name, source, "{text}");
    }
}

#[test]
fn a_file_or_folder_of_no_system_is_a_usage_error() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("x.json");
    let nothing = "has nothing in it that anchord can bring over";
    for (text, why) in [
        ("nonsense", "x.json is not a JSON object: expected ident at line 1 column 2"),
        ("{}", nothing),
        ("{\"version\": 1}", nothing),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = recognise(&path).unwrap_err();
        assert_eq!(error.kind.code(), 2);
        assert!(error.message.ends_with(why), "{error}");
        assert!(error.action.unwrap().contains("anchord export --format json"));
    }
    let error = recognise(&scratch.path().join("missing")).unwrap_err();
    assert!(error.message.ends_with("missing does not exist"), "{error}");
    let error = recognise(scratch.path()).unwrap_err();
    assert!(error.kind.code() == 2 && error.message.ends_with(nothing), "{error}");
    std::fs::write(scratch.path().join("state.json"), "{\"blueprints\": [").unwrap();
    let error = recognise(scratch.path()).unwrap_err();
    assert!(error.message.contains("state.json is not a JSON object: EOF"), "{error}");
    std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    let error = recognise(&path).unwrap_err();
    assert!(error.message.ends_with("x.json is not UTF-8 text"), "{error}");
}

#[test]
fn a_pattern_has_one_part_that_matches_anything() {
    for (pattern, name, wanted) in [
        ("context-*.md", "context-a.md", true),
        ("context-*.md", "context-.md", true),
        ("context-*.md", "context-a.txt", false),
        ("*.md", "a.md", true),
        ("ab*ba", "aba", false),
        ("state.json", "state.json", true),
        ("state.json", "state.json2", false),
    ] {
        assert_eq!(matches(pattern, name), wanted, "{pattern} {name}");
    }
}

#[test]
fn files_are_listed_by_name_to_a_depth_without_hidden_folders_and_links() {
    let scratch = tempfile::tempdir().unwrap();
    for file in ["b.md", "a/c.md", "a/b/d.md", ".git/e.md", "a/f.txt"] {
        let path = scratch.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    std::os::unix::fs::symlink(scratch.path(), scratch.path().join("loop")).unwrap();
    let listed = |depth| {
        let mut files = Vec::new();
        list(scratch.path(), "*.md", depth, &mut files).unwrap();
        let names = files.iter().map(|path| path.strip_prefix(scratch.path()).unwrap());
        names.map(|path| path.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(16), ["a/b/d.md", "a/c.md", "b.md"]);
    assert_eq!(listed(1), ["a/c.md", "b.md"]);
    assert_eq!(listed(0), ["b.md"]);
}

#[test]
fn graphs_and_folders_of_notes_are_recognised() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("bank/projectbrief.md", "# Brief\n");
    write("bank/deep/er/notes.md", "x");
    write("bank/broken.md", "y");
    std::fs::write(scratch.path().join("bank/broken.md"), [0xff]).unwrap();
    let found = recognise(&scratch.path().join("bank")).unwrap();
    assert_eq!(found.source.name, "markdown");
    assert_eq!(names(&found), ["deep/er/notes.md", "projectbrief.md"]);
    assert_eq!(found.left_out, ["broken.md is not UTF-8 text; left out"]);
    write("graph/memory.json", "{\"type\":\"entity\",\"name\":\"a\",\"observations\":[]}\n");
    write("graph/readme.md", "x");
    let found = recognise(&scratch.path().join("graph")).unwrap();
    assert_eq!((found.source.name, names(&found)), ("server-memory", vec!["memory.json"]));
}

#[test]
fn instruction_files_are_read_each_once() {
    let scratch = tempfile::tempdir().unwrap();
    let names = ["ONE.md", "TWO.md", "THREE.md"];
    let error = instructions(scratch.path(), &names).unwrap_err();
    assert!(error.message.ends_with("has no ONE.md, TWO.md or THREE.md"), "{error}");
    std::fs::write(scratch.path().join("ONE.md"), "# A\n").unwrap();
    std::os::unix::fs::symlink("ONE.md", scratch.path().join("TWO.md")).unwrap();
    let found = instructions(scratch.path(), &names).unwrap();
    assert_eq!((found.source.name, found.texts.len()), ("instructions", 1));
}
