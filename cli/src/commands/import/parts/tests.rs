//! Parts of an export: no record is in two of them, and none is missing.

use serde_json::{Value, json};

use super::*;

#[test]
fn each_record_is_in_one_part_and_other_fields_in_the_last() {
    let record =
        |at: usize| json!({"id": format!("n{at}"), "text": "a \"quoted\" line\n".repeat(at)});
    let records: Vec<Value> = (0..40).map(record).collect();
    let export = json!({
        "format": 1, "revision": 9, "records": records, "bindings": {"a \"b\"": "t"}, "staged": {},
    });
    let pretty = serde_json::to_string_pretty(&export).unwrap();
    for bytes in [1, 100, 2_000, 5_000] {
        let parts = by_records(pretty.clone(), bytes).unwrap();
        let parts: Vec<Value> =
            parts.iter().map(|part| serde_json::from_str(part).unwrap()).collect();
        let told = parts.iter().flat_map(|part| part["records"].as_array().unwrap().clone());
        assert_eq!(told.collect::<Vec<_>>(), records, "{bytes}");
        assert!(parts.iter().all(|part| part["format"] == 1));
        let (last, others) = parts.split_last().unwrap();
        assert!(others.iter().all(|part| part.as_object().unwrap().len() == 2), "{bytes}");
        let rest = ["revision", "bindings", "staged"];
        assert!(rest.iter().all(|name| last[name] == export[name]), "{last}");
    }
    assert_eq!(by_records(pretty.clone(), pretty.len()).unwrap(), [pretty]);
}

#[test]
fn an_export_without_a_list_of_records_is_refused() {
    for export in ["{\"revision\": 1, \"records\": 7}", "{\"revision\": 1}", "[1, 2, 3, 4, 5, 6]"] {
        assert!(by_records(export.to_owned(), 10).is_err(), "{export}");
    }
}

#[test]
fn remarks_name_the_part_they_belong_to() {
    let forgotten = "1 record that was forgotten there is left out";
    let reply = || -> ImportReply {
        let none = json!({});
        serde_json::from_value(json!({
            "applied": false, "already": false, "remarks": [forgotten],
            "blueprints": none, "anchors": none, "lessons": none, "sessions": none,
        }))
        .unwrap()
    };
    let both = joined(of_part(reply(), 1, 2), of_part(reply(), 2, 2));
    assert_eq!(
        both.remarks,
        [format!("part 1 of 2: {forgotten}"), format!("part 2 of 2: {forgotten}")]
    );
    assert_eq!(of_part(reply(), 1, 1).remarks, [forgotten], "one part is all of it");
}

/// The commits of others between them are not taken back.
#[test]
fn the_commits_of_all_parts_are_named() {
    let reply = |commits: &[u64]| -> ImportReply {
        let none = json!({});
        let several = if commits.len() > 1 { commits } else { &[] };
        serde_json::from_value(json!({
            "applied": true, "already": false, "revision": commits.last(), "revisions": several,
            "blueprints": none, "anchors": none, "lessons": none, "sessions": none,
        }))
        .unwrap()
    };
    let words = |parts: &[&[u64]], options: &str| {
        let replies = parts.iter().map(|commits| reply(commits));
        super::super::as_revisions(&replies.reduce(joined).unwrap(), options)
    };
    let two = words(&[&[7], &[9]], "");
    assert_eq!(two, " as revisions 7 and 9; `anchord undo 9 7` takes them back");
    assert_eq!(
        words(&[&[7], &[9, 12]], " --user"),
        " as revisions 7, 9 and 12; `anchord undo 12 9 7 --user` takes them back"
    );
    assert!(words(&[&[3, 5], &[]], "").starts_with(" as revisions 3 and 5; "));
    // A part that was here already has no commit.
    assert_eq!(words(&[&[], &[8]], ""), " as revision 8");
    assert_eq!(words(&[&[], &[]], ""), "");
    let many: Vec<u64> = (4..40).collect();
    assert_eq!(
        words(&[&[2], &many], ""),
        " as 37 revisions from 2 to 39; `anchord history` lists them"
    );
}

#[test]
fn texts_are_divided_by_size_and_none_is_split() {
    let text = |name: &str, length: usize| NamedText::new(name, "x".repeat(length));
    let texts = vec![text("a", 40), text("b", 40), text("c", 300), text("d", 1)];
    let names = |parts: Parts| -> Vec<Vec<String>> {
        let split = split(parts, texts.clone(), 100).unwrap().into_iter();
        split.map(|part| part.into_iter().map(|text| text.name).collect()).collect()
    };
    assert_eq!(names(Parts::Texts), [vec!["a", "b"], vec!["c"], vec!["d"]]);
    assert_eq!(names(Parts::One), [["a", "b", "c", "d"]]);
}
