//! Tests of a subagent's calls among those of its conversation.

use anchord_proto::hello::{Hello, Role, ToolSet};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::*;

fn connected(table: &Arc<SessionTable>, id: &str, instance: u128) -> Arc<Connection> {
    let hello = Hello::new(Role::Mcp, Uuid::from_u128(instance), std::process::id());
    let hello = Hello { agent_session: Some("a".to_owned()), ..hello };
    let stop = CancellationToken::new();
    table.connect(SessionId::new(id), hello, ToolSet::Default, None, stop)
}

#[test]
fn only_announced_calls_belong_to_a_subagent() {
    let table = Arc::new(SessionTable::default());
    let connection = connected(&table, "one", 1);
    let own = connection.session(None, Some("claude-code"), Some("t0"));
    table.expect_call(&own, "explore", "t1");
    table.expect_call(&own, "plan", "t2");
    let explore = connection.session(None, Some("claude-code"), Some("t1"));
    assert_eq!(explore.id.to_string(), "one//explore");
    assert_eq!(explore.id.parent(), Some(own.id.clone()));
    assert_eq!(
        (explore.client().as_ref(), explore.agent_session.as_deref()),
        ("claude-code", Some("a//explore"))
    );
    assert_eq!(connection.session(None, None, Some("t2")).id.to_string(), "one//plan");
    assert!(Arc::ptr_eq(&connection.session(None, None, Some("t1")), &explore), "sent again");
    assert!(Arc::ptr_eq(&connection.session(None, None, Some("t3")), &own));
    assert!(Arc::ptr_eq(&connection.session(None, None, None), &own));
    let other = connected(&table, "two", 2);
    assert_eq!(
        other.session(Some(&other.conversation("thread")), None, Some("t1")).id.to_string(),
        "two/thread"
    );
    assert_eq!(table.subagents(&own.id).len(), 2);
    assert!(Arc::ptr_eq(&table.subagent(&own, "explore").unwrap(), &explore));
    assert!(table.subagent(&own, "nobody").is_none());
    assert_eq!(crate::sessions::session_key(&explore), crate::sessions::session_key(&own));
}

#[test]
fn a_subagent_is_connected_while_its_conversation_is() {
    let table = Arc::new(SessionTable::default());
    let connection = connected(&table, "one", 1);
    let own = connection.session(None, None, None);
    table.expect_call(&own, "explore", "t1");
    let explore = connection.session(None, None, Some("t1"));
    table.disconnected(&connection);
    assert!(!table.is_connected(&explore.id));
    let connection = connected(&table, "one", 1);
    assert!(table.is_connected(&explore.id));
    assert!(Arc::ptr_eq(&connection.session(None, None, Some("t1")), &explore));
}

#[test]
fn no_more_calls_are_expected_than_the_limit() {
    let table = Arc::new(SessionTable::default());
    let connection = connected(&table, "one", 1);
    let own = connection.session(None, None, None);
    for call in 0..=limits::CALLS_EXPECTED_MAX {
        table.expect_call(&own, "explore", &format!("t{call}"));
    }
    assert!(Arc::ptr_eq(&connection.session(None, None, Some("t0")), &own), "the oldest has gone");
    assert!(!Arc::ptr_eq(&connection.session(None, None, Some("t1")), &own));
}

#[test]
fn equal_call_ids_of_two_conversations_are_distinguished() {
    let table = Arc::new(SessionTable::default());
    let (one, two) = (connected(&table, "one", 1), connected(&table, "two", 2));
    let (first, second) = (one.session(None, None, None), two.session(None, None, None));
    table.expect_call(&first, "explore", "t1");
    table.expect_call(&second, "plan", "t1");
    assert_eq!(one.session(None, None, Some("t1")).id.to_string(), "one//explore");
    assert_eq!(two.session(None, None, Some("t1")).id.to_string(), "two//plan");
    // Numbered from the start again in the same conversation.
    table.expect_call(&first, "review", "t1");
    assert_eq!(one.session(None, None, Some("t1")).id.to_string(), "one//review");
}

#[test]
fn a_call_announced_long_ago_belongs_to_the_conversation() {
    let table = Arc::new(SessionTable::default());
    let connection = connected(&table, "one", 1);
    let own = connection.session(None, None, None);
    table.expect_call(&own, "explore", "t1");
    let since =
        |ago| table.inner.lock().expected[0].since = clock::start().checked_sub(ago).unwrap();
    since(limits::CALL_EXPECTED_FOR / 15 * 14);
    assert!(!Arc::ptr_eq(&connection.session(None, None, Some("t1")), &own));
    since(limits::CALL_EXPECTED_FOR);
    assert!(Arc::ptr_eq(&connection.session(None, None, Some("t1")), &own));
}

#[test]
fn expected_calls_are_dropped_when_their_session_ends() {
    let table = Arc::new(SessionTable::default());
    let (one, two) = (connected(&table, "one", 1), connected(&table, "two", 2));
    let (first, second) = (one.session(None, None, None), two.session(None, None, None));
    for (session, agent) in [(&first, "explore"), (&first, "plan"), (&second, "explore")] {
        table.expect_call(session, agent, "t1");
    }
    let left =
        || table.inner.lock().expected.iter().map(|one| one.by.to_string()).collect::<Vec<_>>();
    drop(table.end(&SessionId::new("one//plan")));
    assert_eq!(left(), ["one//explore", "two//explore"], "though it had made no call");
    drop(table.end(&first.id));
    assert_eq!(left(), ["two//explore"]);
}
