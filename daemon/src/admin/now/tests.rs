//! Lanes, and the exact texts that sessions were given.

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use super::*;
use crate::testing::World;

fn lesson() -> Value {
    json!({"summary": "Deploys on Friday break billing", "detail": "The nightly job restarts."})
}

#[tokio::test]
async fn a_lane_shows_what_its_session_staged_saved_and_was_given() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_note", json!({"content": "the fixture needs port 4000"})).await;
    shim.call("memory_checkpoint", json!({"summary": "Half done", "lessons": [lesson()]})).await;
    let said = shim.call("memory_search", json!({"query": "fixture"})).await;
    let reply = now(&world.daemon.admin).await;
    let [lane] = &reply.lanes[..] else { panic!("{reply:?}") };
    assert_eq!(lane.staged.len(), 2, "{:?}", lane.staged);
    assert_eq!(lane.staged[0], "Half done");
    assert!(lane.staged[1].contains("Deploys on Friday"), "{:?}", lane.staged);
    assert_eq!(lane.saved[0].title, "the fixture needs port 4000");
    assert_eq!(lane.waits, None);
    let line = &lane.given[0];
    assert_eq!((line.tool.as_str(), line.ids.clone()), ("memory_search", vec!["n1".to_owned()]));
    let query = GivenQuery { session: line.session.clone(), number: line.number };
    let given = given(&world.daemon.admin, &query).await.unwrap();
    assert!(said.contains(given.text.trim()), "{said}\n--\n{}", given.text);
    assert_eq!(given.records[0].why, "place 1 for “fixture”");
}

#[tokio::test]
async fn a_text_of_a_hook_names_the_words_of_the_prompt() {
    let world = World::new().await;
    let mut shim = world.shim().await;
    shim.call("memory_save", json!({"session_summary": "Learned.", "lessons": [lesson()]})).await;
    let prompt = "can we deploy the billing service on friday?";
    let event =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "talk", "prompt": prompt});
    let printed = world.hook("claude-code", &event).await;
    assert!(printed.contains("Friday"), "{printed}");
    let reply = now(&world.daemon.admin).await;
    let line = reply.lanes.iter().flat_map(|lane| &lane.given).find(|it| it.tool == "hook prompt");
    let line = line.unwrap_or_else(|| panic!("{reply:?}"));
    let query = GivenQuery { session: line.session.clone(), number: line.number };
    let given = given(&world.daemon.admin, &query).await.unwrap();
    assert_eq!(given.cause.as_deref(), Some(prompt));
    assert!(given.records[0].why.contains("friday"), "{given:?}");
    assert!(given.text.contains("The nightly job restarts."), "{given:?}");
}

#[tokio::test]
async fn an_action_that_waits_names_its_session_until_it_is_approved() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    let rule = json!({"title": "Ask first", "reason": "It costs money.", "effect": "ask", "commands": ["make deploy"]});
    shim.call("memory_rule_set", rule).await;
    let memory = crate::testing::holding(world.daemon.admin.instance.data(), "Ask first");
    assert!(!memory.is_empty(), "the rule is on disk");
    let params = crate::api::ToolParams {
        project: world.hello().cwd.unwrap(),
        tool: "memory_rule_stand".to_owned(),
        arguments: json!({"id": "r1", "disable": false}).as_object().unwrap().clone(),
        typed: vec!["rules".to_owned()],
        at: None,
    };
    crate::admin::call_tool(&world.daemon.admin.tools, params).await.unwrap();
    let said = shim.call("memory_rule_check", json!({"command": "make deploy"})).await;
    assert!(said.contains("Ask first"), "{said}");
    let reply = now(&world.daemon.admin).await;
    let [waiting] = &reply.approvals[..] else { panic!("{reply:?}") };
    assert_eq!(waiting.session, reply.lanes[0].session.id);
    let ids = vec![waiting.id.clone()];
    assert_eq!(reply.lanes[0].waits, Some(Waits::Approval { ids }));
    world.daemon.admin.sessions.rules.approve(&waiting.id).unwrap();
    let reply = now(&world.daemon.admin).await;
    assert_eq!((reply.lanes[0].waits.clone(), reply.approvals.len()), (None, 0));
}

#[tokio::test]
async fn a_text_that_is_gone_is_said_to_be_gone() {
    let world = World::new().await;
    let query = GivenQuery { session: "none".to_owned(), number: 1 };
    let refused = given(&world.daemon.admin, &query).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotFound);
}

#[tokio::test]
async fn a_conversation_that_hooks_name_later_keeps_its_lane() {
    let world = World::new().await;
    let hello = Hello { agent_pid: Some(std::process::id()), ..world.hello() };
    let mut shim = world.connect(hello.clone()).await;
    shim.initialize_as("claude-code", "2025-06-18").await;
    shim.call("memory_note", json!({"content": "the fixture needs port 4000"})).await;
    shim.call("memory_checkpoint", json!({"summary": "Half done"})).await;
    shim.call("memory_search", json!({"query": "fixture"})).await;
    let before = now(&world.daemon.admin).await;
    let event =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "talk", "prompt": "go on"});
    world.hook_by(Hello { client: Some("claude-code".to_owned()), ..hello }, &event).await;
    let after = now(&world.daemon.admin).await;
    let [lane] = &after.lanes[..] else { panic!("{after:?}") };
    assert_ne!(lane.session.id, before.lanes[0].session.id, "it has another id now");
    assert_eq!(lane.saved[0].title, "the fixture needs port 4000");
    assert_eq!(lane.staged, ["Half done"]);
    assert!(lane.given.iter().any(|line| line.tool == "memory_search"), "{lane:?}");
}

#[test]
fn a_session_in_the_queue_names_those_before_it() {
    let session = serde_json::from_value(json!({
        "id": "b", "since": 0, "last_call": 0, "connected": true,
    }));
    let session: SessionSummary = session.unwrap();
    let id = |id: &str| SessionId::new(id);
    let queued = vec![
        QueuedSession { session: id("a"), jobs: 1, behind: Vec::new() },
        QueuedSession { session: id("b"), jobs: 2, behind: vec![id("a")] },
    ];
    let behind = vec!["a".to_owned()];
    assert_eq!(waits(&session, queued, &[]), Some(Waits::Writer { jobs: 2, behind }));
    let away = SessionSummary { connected: false, ..session };
    assert_eq!(waits(&away, Vec::new(), &[]), Some(Waits::Agent));
}
