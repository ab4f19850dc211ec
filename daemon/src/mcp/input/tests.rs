//! Liberal reading, the wording of refusals, and the naming of ignored fields.

use serde::Deserialize;
use serde_json::json;

use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Call {
    count: u32,
    signed: Option<i64>,
    share: Option<f64>,
    flag: bool,
    name: String,
    tags: Vec<String>,
    kinds: Vec<Kind>,
    anchors: Vec<Anchor>,
    topic: Option<Topic>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Lesson,
    SessionRow,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(expecting = "an object with file, lines")]
struct Anchor {
    file: String,
    lines: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Topic {
    #[serde(default)]
    files: Vec<String>,
    session_summary: Option<String>,
}

#[track_caller]
fn call(arguments: Value) -> Call {
    let (call, unknown) = read(arguments, "");
    assert_eq!(unknown, UnknownFields::default());
    call.unwrap()
}

fn refused(arguments: Value) -> String {
    read::<Call>(arguments, "").0.unwrap_err().to_string()
}

fn ignored(arguments: Value) -> String {
    let (call, unknown) = read::<Call>(arguments, "");
    call.unwrap();
    unknown.in_words().unwrap_or_default()
}

#[test]
fn null_counts_as_absent() {
    let nothing = json!({
        "count": null, "signed": null, "share": null, "flag": null, "name": null, "tags": null,
        "kinds": null, "anchors": null, "topic": null, "no_such_field": null,
    });
    assert_eq!(call(nothing), Call::default());
    assert_eq!(call(json!({ "tags": ["a", null, "b"] })).tags, ["a", "b"]);
    assert_eq!(refused(json!({ "tags": [null, []] })).split(':').next(), Some("tags[1]"));
    let anchors = json!({ "anchors": [{ "file": "a.rs", "lines": null, "file_path": null }] });
    assert_eq!(call(anchors).anchors, [Anchor { file: "a.rs".to_owned(), lines: None }]);
}

#[test]
fn numbers_may_be_given_as_text_or_floats() {
    for five in [json!(5), json!(5.0), json!("5"), json!(" 5.0 ")] {
        let read = call(json!({ "count": five, "signed": five, "share": five }));
        assert_eq!((read.count, read.signed, read.share), (5, Some(5), Some(5.0)), "{five}");
        assert_eq!(whole_number(&five), Some(5));
    }
    assert_eq!(call(json!({ "signed": "-3" })).signed, Some(-3));
    assert_eq!(call(json!({ "share": "0.25" })).share, Some(0.25));
    for wrong in [json!("five"), json!(5.5), json!("5.5"), json!(1e300), json!(""), json!(true)] {
        assert_eq!(whole_number(&wrong), None);
        let said = refused(json!({ "count": wrong }));
        assert!(said.starts_with("count: invalid "), "{said}");
        assert!(said.ends_with(", expected a whole number, 0 or more"), "{said}");
    }
}

#[test]
fn booleans_may_be_given_as_text() {
    for yes in [json!(true), json!("true"), json!(" True"), json!("yes"), json!(1), json!("1")] {
        assert!(call(json!({ "flag": yes })).flag, "{yes}");
    }
    for no in [json!("false"), json!("No"), json!(0), json!(0.0), json!("off")] {
        assert!(!call(json!({ "flag": no })).flag, "{no}");
    }
    assert_eq!(
        refused(json!({ "flag": 7 })),
        "flag: invalid type: integer `7`, expected true or false"
    );
    assert_eq!(
        refused(json!({ "flag": "maybe" })),
        "flag: invalid type: string \"maybe\", expected true or false"
    );
}

#[test]
fn a_whole_number_is_accepted_as_text() {
    assert_eq!(call(json!({ "name": 7717 })).name, "7717");
    assert_eq!(
        refused(json!({ "name": 1.10 })),
        "name: invalid type: floating point `1.1`, expected a string"
    );
}

#[test]
fn a_single_value_is_accepted_as_a_list() {
    assert_eq!(call(json!({ "tags": "infra" })).tags, ["infra"]);
    assert_eq!(call(json!({ "anchors": { "file": "a.rs" } })).anchors.len(), 1);
    assert_eq!(
        refused(json!({ "anchors": "a.rs" })),
        "anchors: invalid type: string \"a.rs\", expected an object with file, lines"
    );
    assert_eq!(call(json!({ "tags": 7 })).tags, ["7"], "as in a list of one");
    assert_eq!(
        refused(json!({ "tags": true })),
        "tags: invalid type: boolean `true`, expected a list"
    );
}

#[derive(Debug, Deserialize)]
struct Place {
    lines: Lines,
}

#[test]
fn lines_may_be_given_in_many_forms() {
    let read = |lines: Value| {
        let place = read::<Place>(json!({ "lines": lines }), "").0;
        place.map(|place| place.lines.0).map_err(|error| error.to_string())
    };
    for lines in [
        json!("1-5"),
        json!("L1-L5"),
        json!("#L1-L5"),
        json!("lines 1 to 5"),
        json!("1:5"),
        json!("1..5"),
        json!("1–5"),
        json!([1, 5]),
        json!(["1", 5.0]),
        json!({ "start": 1, "end": 5 }),
        json!({ "first": "1", "last": "5" }),
        json!({ "startLine": 1, "end_line": 5 }),
        json!({ "from": 1, "to": 5, "x": 9 }),
    ] {
        assert_eq!(read(lines.clone()), Ok("1-5".to_owned()), "{lines}");
    }
    for line in [
        json!("12"),
        json!(12),
        json!("L12"),
        json!("line 12"),
        json!([12]),
        json!({ "start": 12 }),
    ] {
        assert_eq!(read(line.clone()), Ok("12".to_owned()), "{line}");
    }
    for text in ["fn main", "1,3", "1.5", "-4", "4-", "1-2-3"] {
        assert_eq!(read(json!(text)), Ok(text.to_owned()));
    }
    for absent in [json!(null), json!(" ")] {
        assert_eq!(read(absent), Ok("whole file".to_owned()));
    }
    assert_eq!(super::read::<Place>(json!({}), "").0.unwrap().lines.0, "whole file");
    for wrong in [json!([1, 2, 3]), json!([]), json!({ "end": 5 }), json!(true), json!([1, "x"])] {
        assert_eq!(
            read(wrong.clone()),
            Err(format!("lines: is {wrong}; give lines as 42-67 or 42"))
        );
    }
}

#[test]
fn enum_values_are_recognised_in_any_spelling() {
    let kinds = json!(["lesson", "Lessons", "session-row", "sessionRow", "SESSION ROWS"]);
    let kinds = call(json!({ "kinds": kinds })).kinds;
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Lesson).count(), 2);
    assert_eq!(kinds.len(), 5);
    assert_eq!(
        refused(json!({ "kinds": ["lesson", "rule"] })),
        "kinds[1]: unknown variant `rule`, expected `lesson` or `session_row`"
    );
}

#[test]
fn fields_are_recognised_by_their_synonyms() {
    for (file, lines) in [("file", "lines"), ("file_path", "line_range"), ("path", "lineRange")] {
        let anchor = json!({ file: "a.rs", lines: "4-7" });
        let read = call(json!({ "anchors": [anchor] })).anchors;
        let anchor = Anchor { file: "a.rs".to_owned(), lines: Some("4-7".to_owned()) };
        assert_eq!(read, [anchor], "{file}, {lines}");
    }
    let topic = json!({ "related_files": ["a.rs"], "summary": "done" });
    let topic = call(json!({ "topic": topic })).topic.unwrap();
    assert_eq!(
        (topic.files, topic.session_summary),
        (vec!["a.rs".to_owned()], Some("done".to_owned()))
    );
    assert_eq!(call(json!({ "tag": "infra" })).tags, ["infra"]);
}

/// The order of the fields does not matter.
#[test]
fn a_field_under_its_own_name_wins() {
    let both =
        json!({ "anchors": [{ "a": 1, "file_path": "b.rs", "file": "a.rs", "path": "c.rs" }] });
    let (call, unknown) = read::<Call>(both, "");
    assert_eq!(call.unwrap().anchors[0].file, "a.rs");
    insta::assert_snapshot!(unknown.in_words().unwrap(), @"
    Unknown field `a` in anchors[0] was ignored.
    Field `file_path` in anchors[0] was ignored: it is a second name of `file`.
    Field `path` in anchors[0] was ignored: it is a second name of `file`.
    ");
}

#[derive(Debug, Deserialize)]
struct Note {
    content: String,
}

#[derive(Debug, Deserialize)]
struct Save {
    session_summary: String,
}

/// The letters of the names once decided: a long summary gave way to a short message.
#[test]
fn the_earliest_synonym_with_text_wins() {
    let content = |note: Value| {
        let (note, ignored) = read::<Note>(note, "");
        (note.unwrap().content, ignored.in_words().unwrap_or_default())
    };
    for (note, ignored) in [
        (json!({ "text": "it", "body": "BODY" }), "body"),
        (json!({ "detail": "D", "message": "it" }), "detail"),
        (json!({ "text": " ", "body": "it" }), "text"),
        (json!({ "content": "", "text": "\n", "rule": "it" }), "content"),
        (json!({ "content": "it", "text": "T" }), "text"),
        (json!({ "content": null, "body": "it" }), ""),
    ] {
        let (read, said) = content(note.clone());
        assert_eq!(read, "it", "{note}");
        let second = format!("Field `{ignored}` was ignored: it is a second name of `content`.");
        assert_eq!(said.contains(&second), !ignored.is_empty(), "{note}: {said}");
        assert!(!said.contains("Unknown"), "{note}: {said}");
    }
    let blank = json!({ "content": "", "text": " " });
    assert_eq!(content(blank).0, "", "the field's own name, if all are blank");
    let (save, _) = read::<Save>(json!({ "summary": "the long one", "message": "short" }), "");
    assert_eq!(save.unwrap().session_summary, "the long one");
}

#[test]
fn unknown_fields_are_reported_with_the_closest_name() {
    let anchor = json!({ "file": "a.rs", "why": "x" });
    let call = json!({
        "counts_per_day": 1, "anchors": [anchor, anchor, anchor], "topic": { "fles": [] }, "tagz": "x",
    });
    insta::assert_snapshot!(ignored(call), @"
    Unknown field `counts_per_day` was ignored.
    Unknown field `tagz` was ignored; did you mean `tags`?
    Unknown field `why` in anchors[0] and in 2 other objects was ignored.
    Unknown field `fles` in topic was ignored; did you mean `files`?
    ");
    let many: serde_json::Map<String, Value> =
        (0..40).map(|n| (format!("{n}{}", "x".repeat(90)), n.into())).collect();
    let said = ignored(Value::Object(many));
    assert_eq!(said.lines().count(), UNKNOWN_FIELDS_NAMED_MAX + 1, "{said}");
    assert!(said.ends_with("35 more fields were ignored."), "{said}");
    assert!(said.chars().count() < 600, "{said}");
}

/// A line may hold a hundred thousand unknown fields.
#[test]
fn many_unknown_fields_are_counted_each_name_once() {
    let anchor = |from: usize, to: usize| {
        let mut anchor: serde_json::Map<String, Value> =
            (from..to).map(|n| (format!("u{n:06}"), n.into())).collect();
        anchor.insert("file".to_owned(), "a.rs".into());
        Value::Object(anchor)
    };
    let anchors = [anchor(0, 60_000), anchor(2, 100_000), anchor(1, 3)];
    let (call, unknown) = read::<Call>(json!({ "anchors": anchors }), "");
    call.unwrap();
    let mut all = UnknownFields::default();
    all.extend(unknown);
    let (call, unknown) =
        read::<Call>(json!({ "anchors": [anchor(3, 9), anchor(99_999, 100_001)] }), "items[1]");
    call.unwrap();
    all.extend(unknown);
    insta::assert_snapshot!(all.in_words().unwrap(), @"
    Unknown field `u000000` in anchors[0] was ignored.
    Unknown field `u000001` in anchors[0] and in one other object was ignored.
    Unknown field `u000002` in anchors[0] and in 2 other objects was ignored.
    Unknown field `u000003` in anchors[0] and in 2 other objects was ignored.
    Unknown field `u000004` in anchors[0] and in 2 other objects was ignored.
    99996 more fields were ignored.
    ");
}

#[test]
fn a_refusal_has_the_callers_names_of_fields() {
    let anchors = json!([{ "path": "a.rs", "lines": "1" }]);
    let call = json!({ "title": "x", "count": 1, "anchor": anchors, "topic": { "files": [] } });
    let (read, _, names) = read_named::<Call>(call, "");
    assert!(read.is_ok());
    for (why, expected) in [
        ("name is empty; name it", "title is empty; name it"),
        ("anchors[0].file is outside", "anchor[0].path is outside"),
        ("anchors[0] says nothing", "anchor[0] says nothing"),
        ("topic.files[3] is empty", "topic.files[3] is empty"),
        ("tags has 40 characters", "tags has 40 characters"),
        ("`name` is unknown", "`name` is unknown"),
        ("", ""),
    ] {
        assert_eq!(names.reword(why), expected);
    }
    let (_, _, names) = read_named::<Call>(json!({ "title": "x", "topic": {} }), "");
    assert_eq!(names.reword("topic.name is empty"), "topic.name is empty", "of another object");
    let both = json!([{ "path": "a.rs" }, { "file": "b.rs" }]);
    let (_, _, names) = read_named::<Call>(json!({ "anchors": both }), "");
    assert_eq!(names.reword("anchors[1].file is empty"), "anchors[1].file is empty");
}

#[test]
fn an_error_names_its_path_and_the_ignored_fields() {
    let (call, unknown) = read::<Call>(json!({ "anchors": [{ "fiel": "a.rs" }] }), "items[3]");
    assert_eq!(call.unwrap_err().to_string(), "items[3].anchors[0]: missing field `file`");
    assert_eq!(
        unknown.in_words().unwrap(),
        "Unknown field `fiel` in items[3].anchors[0] was ignored; did you mean `file`?"
    );
    assert_eq!(
        refused(json!({ "anchors": [{ "path": [] }] })),
        "anchors[0].path: invalid type: sequence, expected a string"
    );
}
