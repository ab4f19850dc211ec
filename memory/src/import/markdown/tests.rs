//! Notes of basic-memory, a memory bank, and neither.

use super::*;
use crate::testing::{apply, day, note, origin};
use crate::{Reader, plan_notes};

const COFFEE: &str = "\
---
title: Coffee brewing
type: note
permalink: coffee/brewing
tags:
- brewing
- \"Hot Drinks\"
created: 2026-11-02
---

# Coffee brewing

## Observations
- [method] Pour over keeps clarity #brewing #pour-over
- [ ] buy beans
- [x] buy filters

## Relations
- relates_to [[Tea]]
";

fn imported(memory: &mut Memory, texts: &[NamedText], digest: &str) -> ImportOutcome {
    let plan = parse(texts).plan(memory, digest, &origin("importer", 20));
    apply(memory, plan)
}

#[test]
fn a_note_becomes_a_fact_with_tags_and_the_day_of_its_front_matter() {
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &[NamedText::new("coffee/brewing.md", COFFEE)], "d1");
    assert_eq!((outcome.added.notes, outcome.notes), (1, Vec::<String>::new()));
    let record = crate::find_fact(&memory, &Reader::anyone(), "coffee/brewing").unwrap();
    assert_eq!(record.tags, ["brewing", "hot drinks", "method", "pour-over"]);
    assert_eq!(record.created.time.date(), "2026-11-02");
    let content = &record.note().unwrap().content;
    assert!(content.starts_with("# Coffee brewing\n\n## Observations"), "{content}");
    assert!(content.ends_with("- relates_to [[Tea]]"), "{content}");
}

#[test]
fn a_memory_bank_describes_the_project_in_blueprints_and_the_work_in_facts() {
    let texts = [
        NamedText::new("projectbrief.md", "# Brief\n\nA parser."),
        NamedText::new("systemPatterns.md", "One writer."),
        NamedText::new("activeContext.md", "Fixing the lexer."),
        NamedText::new("empty.md", "---\ntitle: x\n---\n\n"),
    ];
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &texts, "d1");
    assert_eq!((outcome.added.blueprints, outcome.added.notes), (2, 1));
    assert_eq!(outcome.notes, ["empty.md is empty; left out"]);
    let blueprints: Vec<Blueprint> = memory
        .active_of(Kind::Blueprint)
        .filter_map(|record| match &record.body {
            crate::Body::Blueprint(blueprint) => Some(blueprint.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        (blueprints[0].title.as_str(), blueprints[0].category),
        ("Brief", Category::Decision)
    );
    let patterns = &blueprints[1];
    assert_eq!(
        (patterns.title.as_str(), patterns.category, patterns.immutable),
        ("systemPatterns", Category::Architecture, false)
    );
}

#[test]
fn the_same_notes_again_change_nothing_and_edited_ones_are_replaced_unless_changed_here() {
    let text = |name: &str, text: &str| NamedText::new(format!("{name}.md"), text);
    let mut memory = Memory::default();
    imported(&mut memory, &[text("a", "first"), text("b", "first")], "d1");
    let same = [text("a", "first"), text("b", "first")];
    let plan = parse(&same).plan(&memory, "d2", &origin("importer", 20));
    assert!(plan.changes.is_empty() && plan.outcome.merged == 2, "{plan:?}");

    let mine = NewNote { key: Some("b".to_owned()), ..note("mine") };
    let plan = plan_notes(&memory, &origin("one", 21), vec![Ok(mine)]).unwrap();
    apply(&mut memory, plan);
    let grown = [text("a", "second"), text("b", "second"), text("c", "new")];
    let outcome = imported(&mut memory, &grown, "d3");
    assert_eq!((outcome.added.notes, outcome.merged), (1, 1));
    assert_eq!(outcome.notes, ["b was changed here and stays as it is"]);
    let fact = |key: &str| {
        let record = crate::find_fact(&memory, &Reader::anyone(), key).unwrap();
        record.note().unwrap().content.clone()
    };
    assert_eq!([fact("a"), fact("b"), fact("c")], ["second", "mine", "new"]);
}

#[test]
fn two_files_never_become_one_record_unless_they_say_the_same() {
    let texts = [
        NamedText::new("api/projectbrief.md", "# Project Brief\n\nAn API."),
        NamedText::new("web/projectbrief.md", "# Project brief\n\nA site."),
        NamedText::new("foo.md", "one"),
        NamedText::new("foo.md.md", "two"),
        NamedText::new("x  y.md", "three"),
        NamedText::new("x y.md", "four"),
    ];
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, &texts, "d1");
    assert_eq!((outcome.added.blueprints, outcome.added.notes), (2, 4));
    let titles = |memory: &Memory| -> Vec<String> {
        let active = memory.active_of(Kind::Blueprint);
        active.map(|record| record.body.fields().own_texts().join(": ")).collect()
    };
    let both = [
        "Project Brief: # Project Brief\n\nAn API.",
        "Project brief (web/projectbrief.md): # Project brief\n\nA site.",
    ];
    assert_eq!(titles(&memory), both);
    let keys: Vec<String> = memory
        .active_of(Kind::Note)
        .filter_map(|record| record.note().and_then(|note| note.key.clone()))
        .collect();
    assert_eq!(keys, ["foo", "foo.md", "x y (2)", "x y"]);
    let again = parse(&texts).plan(&memory, "d2", &origin("importer", 21));
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    // Without the first file, the second keeps its title.
    imported(&mut memory, &texts[1..], "d3");
    assert_eq!(titles(&memory), both);
}

#[test]
fn a_file_keeps_its_record_when_the_other_of_its_name_is_gone() {
    let (one, two) = ("x y.md", "x  y.md");
    let facts = |memory: &Memory| -> Vec<String> {
        let notes = memory.active_of(Kind::Note).filter_map(|record| record.note());
        let mut facts: Vec<String> =
            notes.map(|it| format!("{}: {}", it.key.as_deref().unwrap(), it.content)).collect();
        facts.sort();
        facts
    };
    for (left, both, changed) in [
        (one, ["x y (2): two", "x y: one"], ["x y (2): two", "x y: changed"]),
        (two, ["x y (2): two", "x y: one"], ["x y (2): changed", "x y: one"]),
    ] {
        let mut memory = Memory::default();
        let texts = [NamedText::new(two, "two"), NamedText::new(one, "one")];
        imported(&mut memory, &texts, "d1");
        assert_eq!(facts(&memory), both);
        let text = if left == one { "one" } else { "two" };
        imported(&mut memory, &[NamedText::new(left, text)], "d2");
        assert_eq!(facts(&memory), both, "{left}");
        imported(&mut memory, &[NamedText::new(left, "changed")], "d3");
        assert_eq!(facts(&memory), changed, "{left}");
    }
    // An import of an earlier build gave the names in the order of the files.
    let mut memory = Memory::default();
    imported(&mut memory, &[NamedText::new(two, "two again")], "d1");
    let keyed = NewNote { key: Some("x y (2)".to_owned()), ..note("one changed") };
    let by = Provenance { client: MARKDOWN.into(), ..origin("importer", 20) };
    let plan = plan_notes(&memory, &by, vec![Ok(keyed)]).unwrap();
    apply(&mut memory, plan);
    imported(&mut memory, &[NamedText::new(one, "one changed")], "d2");
    assert_eq!(facts(&memory), ["x y (2): one changed", "x y: two again"]);
}

#[test]
fn front_matter_may_be_missing_open_or_of_other_forms() {
    let note = |text: &str| {
        let text = NamedText::new("x.md", text);
        let note = MarkdownNote::of(&text);
        (note.title, note.tags, note.time, note.body.to_owned())
    };
    let plain = |body: &str| (None, Vec::new(), None, body.to_owned());
    assert_eq!(note("text"), plain("text"));
    assert_eq!(note("---\nnever closed"), plain("---\nnever closed"));
    for text in [
        "---\n\nMeeting: we chose Postgres 16.\n\n---\n\nNext topic",
        "---\nWe chose Postgres 16.\n---\nNext topic",
        "---\nSee https://example.org\n---\nNext topic",
        "---\n- Postgres: 16\n---\nNext topic",
        "---\ntitle: A\n\nMeeting: 16\n---\nNext topic",
    ] {
        assert_eq!(note(text), plain(text));
    }
    let commented = "---\ntitle: A # x\n# a comment\nabout: >\n  more: text\n---\nb";
    assert_eq!(note(commented).3, "b");
    assert_eq!(note("---\n---\nb"), plain("b"));
    let (title, tags, time, body) = note(
        "---\r\ntitle: 'A'\r\ntags: [x, \"y z\"]\r\nmodified: 2026-11-01T12:00:00Z\r\n---\r\nb",
    );
    assert_eq!(
        (title.as_deref(), tags, body.as_str()),
        (Some("A"), vec!["x".into(), "y z".into()], "b")
    );
    assert_eq!(time, Some(day(1)));
}
