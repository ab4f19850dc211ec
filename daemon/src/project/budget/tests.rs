//! Rounds of a compaction, in a real project.

use serde_json::json;

use super::*;
use crate::testing::World;

#[tokio::test]
async fn compaction_rounds_are_combined_into_one_outcome() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    for content in ["the tide turns at six", "a pier of oak", "gulls eat everything"] {
        shim.call("memory_note", json!({ "content": content })).await;
    }
    let project = world.daemon.projects.open.all().remove(0);
    let memory = project.memory();
    let config = &world.daemon.sessions.config;
    let (accesses, mut near) = (project.accesses(), NearDuplicates::default());
    let (pool, formula, spare) = (Pool::Project, Formula::Own, BTreeSet::new());
    let target = PoolTarget { pool, tokens: 0, spare, formula };
    let planned = plan(config, Arc::clone(&memory), accesses, target, &mut near).await;
    let rounds = planned.rounds(&memory, 1);
    assert_eq!(rounds.len(), 3);
    let write = |command| project.owner.write(None, None, "compact", command);
    let (outcome, append) = carry_out(rounds, write).await.unwrap();
    assert_eq!(outcome.set_aside().len(), 3);
    assert!(append.is_some());
    let after = project.memory();
    assert_eq!(after.revision().0, memory.revision().0 + 3, "each round is a commit");
    assert!(after.records().all(|record| !record.state.is_active()));
}
