//! Tests of what is kept verbatim, what is brought into form, and what is refused.

use super::*;

fn refused(note: NewNote) -> String {
    NewNote::accept(vec![self::note("fine"), note], &WriteLimits::default())
        .unwrap_err()
        .to_string()
}

fn note(content: &str) -> NewNote {
    NewNote { content: content.to_owned(), ..NewNote::default() }
}

#[test]
fn a_notes_text_is_kept_verbatim_and_its_fields_are_normalised() {
    let given = NewNote {
        summary: "  short \n".to_owned(),
        key: Some(" build \n command ".to_owned()),
        tags: ["#Auth", "auth", " ", "Rate  Limit"].map(str::to_owned).to_vec(),
        ..note("  kept as it is\n")
    };
    let accepted = accept_note(given).unwrap();
    assert_eq!(accepted.content, "  kept as it is\n");
    assert_eq!(accepted.summary, "short");
    assert_eq!(accepted.key.as_deref(), Some("build command"));
    assert_eq!(accepted.tags, ["auth", "rate limit"]);
}

#[test]
fn an_invalid_item_is_refused_with_its_position() {
    insta::assert_snapshot!(refused(note(" \n")), @"notes[1].content is empty");
    insta::assert_snapshot!(
        refused(note(&"a".repeat(NOTE_BYTES_MAX + 1))),
        @"notes[1].content is 1048577 bytes, 1048576 are allowed; keep the point and name the file that has the rest"
    );
    insta::assert_snapshot!(
        refused(NewNote { importance: Some(0), ..note("a") }),
        @"notes[1].importance is 0; give a number from 1 to 10"
    );
    insta::assert_snapshot!(
        refused(NewNote { key: Some(" ".to_owned()), ..note("a") }),
        @"notes[1].key is empty; leave it out for a note without one"
    );
    insta::assert_snapshot!(
        refused(NewNote { tags: (0..21).map(|n| n.to_string()).collect(), ..note("a") }),
        @"notes[1].tags has 21 tags, 20 are allowed"
    );
    insta::assert_snapshot!(
        refused(NewNote { summary: "s".repeat(2001), ..note("a") }),
        @"notes[1].summary has 2001 characters, 2000 are allowed; put the rest in content"
    );
}

#[test]
fn several_tags_in_one_text_are_several() {
    let kept = |tags: &[&str]| {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        accept_tags(&tags).unwrap()
    };
    assert_eq!(kept(&["java, Build", "#ci #Build,"]), ["java", "build", "ci"]);
    assert_eq!(kept(&["two  words", "c#", " , "]), ["two words", "c#"]);
}
