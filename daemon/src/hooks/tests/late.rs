//! Starts that take too long for the hook that waits for them.

use std::time::Duration;

use super::*;
use crate::hooks::state::Patience;

/// Returns a world with a memory. The daemon has no time for rendering the whole load, and this
/// much for the other steps.
async fn impatient([open, look, part]: [Duration; 3]) -> (World, Shim) {
    let world = World::with_patience(Patience { open, look, render: NO_TIME, part }).await;
    let shim = saved(&world, "Sockets, not ports").await;
    (world, shim)
}

const NO_TIME: Duration = Duration::ZERO;
const ENOUGH: Duration = Duration::from_mins(1);

/// Loads with the tool, in the conversation `a`.
async fn load_by_tool(world: &World) -> String {
    let hello = Hello { agent_session: Some("a".to_owned()), ..world.hello() };
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_load", json!({})).await
}

#[tokio::test]
async fn a_start_without_time_for_a_load_gives_a_partial_one() {
    for look in [ENOUGH, NO_TIME] {
        let (world, _shim) = impatient([ENOUGH, look, ENOUGH]).await;
        for source in ["startup", "compact"] {
            let printed = world.hook("claude-code", &started(source, source)).await;
            let context = context(&printed);
            assert!(context.starts_with("<anchord-memory "), "{context}");
            assert!(context.contains("Sockets, not ports"), "{context}");
            assert!(context.contains("This is only a part"), "{context}");
            assert!(context.contains("memory_load {} shows it"), "{context}");
        }
    }
}

#[tokio::test]
async fn a_start_says_so_if_there_is_no_time_for_opening_or_for_a_part() {
    for open in [NO_TIME, ENOUGH] {
        let (world, _shim) = impatient([open, open, NO_TIME]).await;
        for source in ["startup", "compact"] {
            let context = context(&world.hook("claude-code", &started(source, source)).await);
            assert!(context.contains("could not be read in time"), "{context}");
            assert!(context.contains("Call memory_load {}"), "{context}");
        }
    }
}

#[tokio::test]
async fn a_load_after_a_partial_one_gives_everything() {
    for times in [[ENOUGH, NO_TIME, ENOUGH], [ENOUGH, NO_TIME, NO_TIME], [NO_TIME; 3]] {
        let (world, _shim) = impatient(times).await;
        let first = world.hook_by(claude(world.hello()), &started("a", "startup")).await;
        assert!(!first.is_empty());
        let load = load_by_tool(&world).await;
        assert!(load.contains("Sockets, not ports"), "{load}");
        assert!(!load.contains("already loaded") && !load.contains("only a part"), "{load}");
    }
}
