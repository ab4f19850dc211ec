//! The context of a conversation, which an end and a resume leave as it is.

use anchord_memory::{Kind, RecordId};
use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use super::{claude, context, ended, event, prompt, saved, started, told};
use crate::retrieval_log::{HookMoment, Start};
use crate::testing::{Shim, World};

const ABOUT: &str = "why is the flaky upload test with the mock storage server failing?";

/// Returns the agent's own connection in the conversation `a`, which has just started.
async fn begun(world: &World) -> Shim {
    let named = Hello { agent_session: Some("a".to_owned()), ..world.hello() };
    let mut own = world.connect(named).await;
    own.initialize("2025-06-18").await;
    world.hook_by(claude(world.hello()), &started("a", "startup")).await;
    own
}

async fn noted(shim: &mut Shim) {
    for content in [
        "The flaky upload test needs the clock of the mock storage server frozen.",
        "Colours come from the terminal's palette.",
    ] {
        shim.call("memory_note", json!({"content": content})).await;
    }
}

/// Returns the prompt again, as a further turn.
fn again(id: &str) -> Value {
    event("UserPromptSubmit", "a", &json!({"prompt": ABOUT, "prompt_id": id}))
}

#[tokio::test]
async fn a_resumed_conversation_gets_no_record_twice() {
    let world = World::new().await;
    let mut other = saved(&world, "Sockets, not ports").await;
    told(&world, &[started("a", "startup")]).await;
    noted(&mut other).await;
    let given = context(&told(&world, &[prompt("a", ABOUT)]).await);
    assert!(given.contains("Memory has on this:"), "{given}");
    assert_eq!(told(&world, &[ended("a"), started("a", "resume")]).await, "");
    assert_eq!(told(&world, &[again("2")]).await, "", "it is in the context");
}

#[tokio::test]
async fn a_cleared_conversation_counts_nothing_as_given() {
    let world = World::new().await;
    saved(&world, "Sockets, not ports").await;
    told(&world, &[started("a", "startup"), prompt("a", "go on")]).await;
    let name = ("claude-code", "a".to_owned());
    let conversations = &world.daemon.hooks.state.conversations;
    conversations.with(&name, |it| it.remedies.insert(RecordId::new(Kind::Lesson, 1)));
    let known = || conversations.with(&name, |it| it.remedies.len());
    told(&world, &[ended("a")]).await;
    assert_eq!(known(), 1);
    told(&world, &[started("a", "clear")]).await;
    assert_eq!(known(), 0);
}

#[tokio::test]
async fn a_conversation_is_not_given_what_it_wrote_itself() {
    let world = World::new().await;
    let mut own = begun(&world).await;
    noted(&mut own).await;
    assert_eq!(told(&world, &[prompt("a", ABOUT)]).await, "");
    assert_eq!(told(&world, &[ended("a"), started("a", "resume"), again("2")]).await, "");
    let given = context(&told(&world, &[prompt("b", ABOUT)]).await);
    assert!(given.contains("clock of the mock storage"), "another one has nothing: {given}");
}

/// A restart of the daemon loses the state of conversations, and no context.
#[tokio::test]
async fn a_conversation_is_not_given_what_it_wrote_before_a_restart() {
    let world = World::new().await;
    let mut own = begun(&world).await;
    noted(&mut own).await;
    let name = ("claude-code", "a".to_owned());
    let lose_state = || {
        world.daemon.hooks.state.conversations.with(&name, |it| {
            (it.revision_known, it.context_since) = (None, None);
            it.given.clear();
            if let Some(session) = it.session.take() {
                session.set_revision_seen(None);
            }
        });
    };
    lose_state();
    assert_eq!(told(&world, &[again("2")]).await, "", "it goes on");
    lose_state();
    told(&world, &[started("a", "resume")]).await;
    assert_eq!(told(&world, &[again("3")]).await, "", "it was resumed");
    let given = context(&told(&world, &[prompt("b", ABOUT)]).await);
    assert!(given.contains("clock of the mock storage"), "another one has nothing: {given}");
}

/// Saves a lesson by another agent, and has a load of the own agent list it.
async fn listed(own: &mut Shim, other: &mut Shim, lesson: &str) {
    let part = json!({"session_summary": "More.", "lessons": [{"summary": lesson}]});
    other.call("memory_save", part).await;
    let load = own.call("memory_load", json!({})).await;
    assert!(load.contains("Changed by others") && load.contains(lesson), "{load}");
}

#[tokio::test]
async fn changes_that_a_load_listed_are_no_news() {
    let world = World::new().await;
    let mut other = saved(&world, "Sockets, not ports").await;
    let mut own = begun(&world).await;
    listed(&mut own, &mut other, "Sync the folder too").await;
    assert_eq!(told(&world, &[prompt("a", "and now")]).await, "");
    listed(&mut own, &mut other, "Quote every path").await;
    assert_eq!(told(&world, &[ended("a"), started("a", "resume")]).await, "");
    let lesson = json!({"session_summary": "More.", "lessons": [{"summary": "Count the tabs"}]});
    other.call("memory_save", lesson).await;
    let news = context(&told(&world, &[prompt("a", "go on, then")]).await);
    assert!(news.contains("Count the tabs") && !news.contains("Quote"), "{news}");
}

/// A copy of a conversation has its load, too.
#[tokio::test]
async fn a_resumed_and_a_copied_conversation_are_logged_alike() {
    let world = World::new().await;
    let mut other = saved(&world, "Sockets, not ports").await;
    let _own = begun(&world).await;
    for (source, lesson) in [("resume", "Sync the folder too"), ("fork", "Quote every path")] {
        let part = json!({"session_summary": "More.", "lessons": [{"summary": lesson}]});
        other.call("memory_save", part).await;
        let news = told(&world, &[started("a", source)]).await;
        assert!(news.contains(lesson), "{source}: {news}");
    }
    let open = &world.daemon.projects.open;
    let directory = open.directory(open.all()[0].id);
    let lines = open.retrievals().read(directory, Start::Last, 100).await;
    let moments: Vec<_> = lines.iter().filter_map(|line| HookMoment::named(&line.tool)).collect();
    assert_eq!(moments, [HookMoment::Start, HookMoment::Resumed, HookMoment::Resumed]);
}
