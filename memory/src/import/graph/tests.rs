//! A graph, whole, damaged and grown.

use super::*;
use crate::import::source;
use crate::testing::{apply, note as new_note, origin};
use crate::{Reader, plan_notes};

const LINES: &str = r#"{"type":"entity","name":"billing","entityType":"Service","observations":["written in Go","owned by\nthe payments team"]}
{"type":"entity","name":"ledger","entityType":"Database","observations":[]}
{"type":"relation","from":"billing","to":"ledger","relationType":"writes to"}
{"type":"relation","from":"web","to":"billing","relationType":"calls"}
"#;

fn texts(text: &str) -> Vec<NamedText> {
    vec![NamedText::new("memory.jsonl", text)]
}

fn imported(memory: &mut Memory, text: &str, digest: &str) -> ImportOutcome {
    let graph = parse(&texts(text)).unwrap();
    let plan = graph.plan(memory, digest, &origin("importer", 20));
    apply(memory, plan)
}

fn fact(memory: &Memory, key: &str) -> String {
    crate::find_fact(memory, &Reader::anyone(), key).unwrap().note().unwrap().content.clone()
}

#[test]
fn an_entity_becomes_a_fact_with_its_observations_and_relations() {
    let mut memory = Memory::default();
    let outcome = imported(&mut memory, LINES, "d1");
    assert_eq!((outcome.added.notes, outcome.notes), (3, Vec::<String>::new()));
    insta::assert_snapshot!(fact(&memory, "billing"), @r"
    billing (Service)
    - written in Go
    - owned by
      the payments team
    - billing writes to ledger
    ");
    assert_eq!(fact(&memory, "web"), "web\n- web calls billing", "named by a relation alone");
    let record = crate::find_fact(&memory, &Reader::anyone(), "billing").unwrap();
    assert_eq!(
        (record.tags.as_slice(), &*record.created.client),
        (&["service".to_owned()][..], GRAPH)
    );
}

#[test]
fn the_same_graph_again_changes_nothing_and_a_grown_one_adds_what_is_new() {
    let mut memory = Memory::default();
    imported(&mut memory, LINES, "d1");
    let again = parse(&texts(LINES)).unwrap();
    assert_eq!(again.plan(&memory, "d1", &origin("importer", 21)).outcome.before, Some(3));
    let reordered: String = LINES.lines().rev().map(|line| format!("{line}\n")).collect();
    let plan = parse(&texts(&reordered)).unwrap().plan(&memory, "d2", &origin("importer", 21));
    assert!(plan.changes.is_empty() && plan.outcome.merged == 3, "{plan:?}");

    let edited = NewNote {
        key: Some("billing".to_owned()),
        ..new_note("billing (Service)\n- written in Go\n- moving to Rust")
    };
    let plan = plan_notes(&memory, &origin("one", 22), vec![Ok(edited)]).unwrap();
    apply(&mut memory, plan);
    let grown = format!(
        "{LINES}{}\n",
        r#"{"type":"entity","name":"billing","observations":["has a queue"]}"#
    );
    let outcome = imported(&mut memory, &grown, "d3");
    assert_eq!((outcome.added.notes, outcome.merged), (0, 3));
    let now = fact(&memory, "billing");
    assert!(now.contains("moving to Rust") && now.ends_with("- has a queue"), "{now}");
}

#[test]
fn a_damaged_line_is_named_and_the_rest_is_read() {
    let text = "{\"type\":\"entity\",\"name\":\"a\",\"observations\":[\"x\",7]}\nnonsense\n\
                {\"type\":\"entity\",\"name\":\" \"}\n{\"type\":\"law\"}\n[1]\n\
                {\"type\":\"relation\",\"from\":\"a\",\"to\":\"\",\"relationType\":\"r\"}\n{\"type\":\"ent";
    let graph = parse(&texts(text)).unwrap();
    assert_eq!(graph.items.len(), 1);
    insta::assert_snapshot!(graph.notes.join("\n"), @r"
    memory.jsonl:2: is not a JSON object; left out
    memory.jsonl:5: is not a JSON object; left out
    memory.jsonl:7: is not a JSON object; left out
    memory.jsonl:3: name is empty; left out
    memory.jsonl:4: is neither an entity nor a relation; left out
    memory.jsonl:6: to is empty; left out
    ");
}

#[test]
fn a_graph_is_recognised_by_its_first_line_or_its_lists() {
    let whole = r#"{"entities":[{"name":"a","observations":["x"]}],"relations":[]}"#;
    for (text, is) in [(LINES, true), (whole, true), ("{\"type\":\"note\"}", false), ("", false)] {
        let texts = texts(text);
        assert_eq!((SOURCE.recognises)(&Candidate::new(&texts)), is, "{text}");
    }
    assert_eq!(parse(&texts(whole)).unwrap().items[0].item.content, "a\n- x");
    assert_eq!(source(GRAPH).map(|source| source.name), Some(GRAPH));
}
