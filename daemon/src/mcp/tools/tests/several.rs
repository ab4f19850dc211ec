//! Several records in one call.

use serde_json::{Value, json};

use crate::limits::GET_IDS_MAX;
use crate::testing::{Shim, World};

/// Stores a note, a lesson and a blueprint, and returns their ids.
async fn three(shim: &mut Shim) -> [&'static str; 3] {
    shim.call("memory_note", json!({ "content": "The port is 5432." })).await;
    let saved = json!({
        "session_summary": "set up",
        "lessons": [{ "summary": "a cold cache times out", "detail": "warm it first" }],
        "blueprints": ["decision: use sled. It needs no server."],
    });
    shim.call("memory_save", saved).await;
    ["n1", "l3", "b2"]
}

#[tokio::test]
async fn several_ids_are_taken_as_agents_write_them() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let [note, lesson, blueprint] = three(&mut shim).await;
    let list = json!([note, lesson, blueprint]);
    let as_list = shim.call("memory_get", json!({ "id": list })).await;
    let at = |text: &str| as_list.find(text).unwrap_or_else(|| panic!("{text}: {as_list}"));
    assert!(at("The port is 5432.") < at("warm it first"), "{as_list}");
    assert!(at("warm it first") < at("It needs no server."), "{as_list}");
    for other in [
        json!({ "ids": list }),
        json!({ "id": format!("{note}, {lesson},{blueprint}") }),
        json!({ "id": format!("{note} {lesson} {blueprint}") }),
    ] {
        assert_eq!(shim.call("memory_get", other.clone()).await, as_list, "{other}");
    }
}

#[tokio::test]
async fn an_id_that_does_not_exist_costs_the_others_nothing() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let [note, lesson, _] = three(&mut shim).await;
    let said = shim.call("memory_get", json!({ "id": [note, "n77", lesson] })).await;
    assert!(said.contains("The port is 5432.") && said.contains("warm it first"), "{said}");
    assert!(said.contains("n77"), "{said}");
    let many: Vec<String> = (61..=79).map(|number| format!("n{number}")).collect();
    let many = format!("{note}, {}", many.join(", "));
    let said = shim.call("memory_get", json!({ "id": many })).await;
    assert!(said.contains("there is no record n61"), "{said}");
    assert!(said.contains("more could not be given"), "{said}");
    let said = shim.call("memory_get", json!({ "id": ["n77", "n78"] })).await;
    assert!(said.starts_with("ERROR failed to get") && said.contains("n77"), "{said}");
    let said = shim.call("memory_get", json!({ "id": "n1 and more" })).await;
    assert!(said.starts_with("ERROR failed to get: `and`"), "{said}");
}

#[tokio::test]
async fn what_has_no_room_is_named() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let items: Vec<Value> =
        (0..4).map(|at| json!(format!("Step {at}. {}", "It is long. ".repeat(300)))).collect();
    shim.call("memory_note", json!({ "items": items })).await;
    let said = shim.call("memory_get", json!({ "id": "n1, n2, n3, n4" })).await;
    assert!(said.chars().count() <= anchord_memory::limits::ANSWER_CHARS_MAX, "{said}");
    assert!(said.contains("Step 0.") && said.contains("Step 1."), "{said}");
    assert!(said.contains("No room for n3, n4: get them in another call."), "{said}");

    let said = shim.call("memory_get", json!({ "id": "n1, n2", "max_tokens": 400 })).await;
    assert!(said.contains("Step 0.") && said.contains("\"cursor\""), "it is cut: {said}");
    assert!(said.contains("No room for n2"), "{said}");
    assert!(anchord_memory::tokens::count(&said) <= 400, "{said}");
}

#[tokio::test]
async fn what_belongs_to_one_record_is_refused_for_several() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let [note, lesson, _] = three(&mut shim).await;
    for more in [json!({ "version": 1 }), json!({ "cursor": "10" })] {
        let mut call = json!({ "id": [note, lesson] });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let said = shim.call("memory_get", call).await;
        assert!(said.contains("version and cursor are of one record"), "{said}");
    }
    let ids = vec!["n1"; GET_IDS_MAX + 1];
    let said = shim.call("memory_get", json!({ "id": ids })).await;
    assert!(said.contains("are too many"), "{said}");
}

#[tokio::test]
async fn of_several_only_anchors_are_expanded() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    let [note, ..] = three(&mut shim).await;
    std::fs::write(world.directory("demo/main.rs"), "fn main() {}\n").unwrap();
    let saved = json!({
        "session_summary": "read",
        "anchors": [{ "file": "main.rs", "lines": "1", "concept": "the entry" }],
    });
    shim.call("memory_save", saved).await;
    let call = json!({ "id": [note, "a5"], "expand": true });
    let said = shim.call("memory_get", call).await;
    assert!(said.contains("The port is 5432.") && said.contains("1\tfn main() {}"), "{said}");
}
