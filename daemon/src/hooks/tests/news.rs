//! Changes by others that a conversation has not seen yet.

use anchord_proto::hello::Hello;
use serde_json::json;

use super::{context, ended, prompt, saved, started, told, work};
use crate::testing::World;

#[tokio::test]
async fn a_resumed_conversation_gets_what_changed_between_its_last_prompt_and_its_end() {
    let world = World::new().await;
    told(&world, &work("a")).await;
    saved(&world, "Spaces are refused").await;
    told(&world, &[ended("a")]).await;
    let resumed = context(&told(&world, &[started("a", "resume")]).await);
    assert!(resumed.contains("Spaces are refused"), "{resumed}");
    // An end that comes soon after such a start is another one.
    told(&world, &[ended("a")]).await;
    assert_eq!(world.daemon.admin.metrics.hooks().doubled, 0);
}

#[tokio::test]
async fn changes_that_did_not_fit_a_prompt_are_in_the_next_load() {
    let world = World::new().await;
    let hello = Hello { agent_session: Some("a".to_owned()), ..world.hello() };
    let mut own = world.connect(hello).await;
    own.initialize("2025-06-18").await;
    told(&world, &work("a")[..2]).await;
    let mut other = world.shim().await;
    for number in 1..=8 {
        let note = json!({ "content": format!("Finding {number} about the lexer.") });
        other.call("memory_note", note).await;
    }
    let news = context(&told(&world, &[prompt("a", "go on with the parser")]).await);
    let (_, call) = news.split_once("and 3 more; memory_search ").expect(&news);
    let (call, _) = call.split_once(" lists").expect(&news);
    let found = own.call("memory_search", serde_json::from_str(call).unwrap()).await;
    for number in 1..=3 {
        assert!(found.contains(&format!("Finding {number} about")), "{found}");
    }
    // They are not lost at the next prompt, which has no news.
    told(&world, &[prompt("a", "and now the tabs of the parser")]).await;
    let load = own.call("memory_load", json!({})).await;
    for number in 1..=8 {
        assert!(load.contains(&format!("Finding {number} about")), "{load}");
    }
}
