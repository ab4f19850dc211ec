//! Tests of which session an event belongs to, and which session the later calls belong to.

use anchord_proto::hello::{Role, ToolSet};
use tokio_util::sync::CancellationToken;

use uuid::Uuid;

use super::*;
use crate::projects::Located;
use crate::sessions::SessionLocation;

const AGENT: u32 = 77;

/// A shim that the agent's process started.
fn shim(instance: u128) -> Hello {
    let hello = Hello::new(Role::Mcp, Uuid::from_u128(instance), std::process::id());
    Hello { agent_pid: Some(AGENT), ..hello }
}

fn named(hello: Hello, agent_session: &str) -> Hello {
    Hello { agent_session: Some(agent_session.to_owned()), ..hello }
}

fn connect(table: &Arc<SessionTable>, id: &str, hello: Hello) -> Arc<Connection> {
    let stop = CancellationToken::new();
    table.connect(SessionId::new(id), hello, ToolSet::Default, None, stop)
}

/// An event of this conversation, from a hook of that process.
fn told(agent_session: &str, process: u32) -> EventSource {
    let hello = Hello::new(Role::Hook, Uuid::from_u128(99), std::process::id());
    EventSource {
        client: "claude-code",
        agent_session: agent_session.to_owned(),
        named: agent_session.to_owned(),
        processes: vec![process],
        hello: Hello { agent_pid: Some(process), ..hello },
        goes_on: true,
        clears: false,
        elsewhere: SessionsElsewhere::default(),
    }
}

#[test]
fn an_event_belongs_to_the_connection_that_names_its_conversation() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", named(shim(1), "a"));
    let joined = table.resolve_session(&told("a", 5));
    assert_eq!(
        (joined.session.id.0.as_ref(), joined.confidence),
        ("claude-code:a", MatchConfidence::ById)
    );
    assert!(Arc::ptr_eq(&connection.session(None, Some("claude-code"), None), &joined.session));
    // Its end is reported after the shim has left.
    table.disconnected(&connection);
    let end = EventSource { goes_on: false, ..told("a", AGENT) };
    assert!(Arc::ptr_eq(&table.resolve_session(&end).session, &joined.session));
}

#[test]
fn a_hook_that_precedes_the_shim_begins_their_common_session() {
    let table = Arc::new(SessionTable::default());
    let joined = table.resolve_session(&told("a", AGENT));
    assert_eq!(joined.confidence, MatchConfidence::Alone);
    let connection = connect(&table, "one", named(shim(1), "a"));
    let session = connection.session(None, Some("claude-code"), None);
    assert!(Arc::ptr_eq(&session, &joined.session));
    assert!(table.is_connected(&session.id));
    assert_eq!(table.resolve_session(&told("a", AGENT)).confidence, MatchConfidence::ById);
    assert_eq!(table.all().len(), 1);
}

#[test]
fn a_client_that_passes_no_session_is_recognised_by_its_process() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", shim(1));
    let joined = table.resolve_session(&told("a", AGENT));
    assert_eq!(joined.confidence, MatchConfidence::ByProcess);
    assert!(Arc::ptr_eq(&connection.session(None, None, None), &joined.session));
    assert_eq!(
        table.resolve_session(&told("b", AGENT + 1)).confidence,
        MatchConfidence::Alone,
        "another process"
    );
    // Of two conversations in one process, the one with the latest event.
    let other = table.resolve_session(&told("c", AGENT));
    assert!(Arc::ptr_eq(&connection.session(None, None, None), &other.session));
    assert!(other.replaced.is_none(), "the first one goes on");
    table.resolve_session(&told("a", AGENT));
    assert!(Arc::ptr_eq(&connection.session(None, None, None), &joined.session));
}

#[test]
fn calls_before_the_first_event_belong_to_the_same_conversation() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", shim(1));
    let before = connection.session(None, Some("claude-code"), None);
    let joined = table.resolve_session(&told("a", AGENT));
    let Some(Replaced::Same(replaced)) = joined.replaced else { panic!("the same") };
    assert!(Arc::ptr_eq(&replaced, &before));
    drop(table.end(&before.id));
    assert!(table.resolve_session(&told("a", AGENT)).replaced.is_none(), "once");
}

#[test]
fn a_thread_named_in_calls_is_a_session_of_its_own() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", shim(1));
    let first =
        connection.session(Some(&connection.conversation("t1")), Some("codex-mcp-client"), None);
    assert_eq!(first.client().as_ref(), "codex", "as its hooks call it");
    let codex = |thread| EventSource { client: "codex", ..told(thread, AGENT) };
    assert!(Arc::ptr_eq(&table.resolve_session(&codex("t1")).session, &first));
    let second = table.resolve_session(&codex("t2")).session;
    assert!(Arc::ptr_eq(
        &connection.session(Some(&connection.conversation("t2")), None, None),
        &second
    ));
    assert!(
        Arc::ptr_eq(&connection.session(Some(&connection.conversation("t1")), None, None), &first),
        "not mixed up"
    );
}

/// The session that was checked is the one that is used, not one that hooks begin after the check.
#[test]
fn a_conversation_begun_after_the_look_up_does_not_get_the_call() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", shim(1));
    let seen = connection.conversation("t1");
    table.resolve_session(&EventSource { client: "codex", ..told("t1", 5) });
    assert_eq!(connection.session(Some(&seen), None, None).id.0.as_ref(), "one/t1");
}

#[test]
fn after_clear_calls_belong_to_the_new_conversation() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", named(shim(1), "a"));
    let old = connection.session(None, Some("claude-code"), None);
    let cleared = EventSource { clears: true, ..told("b", AGENT) };
    let joined = table.resolve_session(&cleared);
    let Some(Replaced::Cleared(replaced)) = joined.replaced else { panic!("another") };
    assert!(Arc::ptr_eq(&replaced, &old));
    drop(table.end(&old.id));
    let new = connection.session(None, None, None);
    assert!(Arc::ptr_eq(&new, &joined.session));
    assert_eq!(new.agent_session.as_deref(), Some("b"));
    // The shim's own name for it stays stale.
    assert!(Arc::ptr_eq(&connection.session(None, None, None), &new));
    let again = table.resolve_session(&told("a", AGENT));
    assert!(Arc::ptr_eq(&connection.session(None, None, None), &again.session), "resumed by hand");
}

#[test]
fn a_nested_agent_is_not_its_outer_agent() {
    let table = Arc::new(SessionTable::default());
    let outer = connect(&table, "one", named(shim(1), "a"));
    outer.session(None, Some("claude-code"), None);
    // The outer agent's process is above the inner one's, which has no shim.
    let inner = EventSource { client: "gemini", processes: vec![500, AGENT], ..told("g", 500) };
    assert_eq!(table.resolve_session(&inner).confidence, MatchConfidence::Alone);
}

/// The inner agent's first event may come before its shim, or it has none.
#[test]
fn a_nested_agent_of_the_same_client_leaves_its_outer_agent_the_connection() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", shim(1));
    let outer = table.resolve_session(&told("a", AGENT)).session;
    let inner = EventSource { processes: vec![500, AGENT], ..told("b", 500) };
    assert_eq!(table.resolve_session(&inner).confidence, MatchConfidence::Alone);
    assert!(Arc::ptr_eq(&connection.session(None, Some("claude-code"), None), &outer));
    let own = connect(&table, "two", Hello { agent_pid: Some(500), ..shim(2) });
    let joined = table.resolve_session(&inner);
    assert_eq!(joined.confidence, MatchConfidence::ByProcess);
    assert!(Arc::ptr_eq(&own.session(None, Some("claude-code"), None), &joined.session));
    // Programs between an agent and its hook may have had no event.
    let wrapped = EventSource { processes: vec![600, AGENT], ..told("a", 600) };
    assert_eq!(table.resolve_session(&wrapped).confidence, MatchConfidence::ByProcess);
}

#[test]
fn a_restarted_conversation_has_its_new_process() {
    let table = Arc::new(SessionTable::default());
    let first = table.resolve_session(&told("a", 5)).session;
    let mut again = told("a", 6);
    again.hello.pid = 6;
    let second = table.resolve_session(&again).session;
    assert_eq!((&second.id, second.hello.pid), (&first.id, 6));
    // A shim's session whose process is gone is taken over, not continued.
    let dead = Hello { pid: i32::MAX.unsigned_abs(), ..named(shim(2), "b") };
    let connection = connect(&table, "two", dead);
    let old = connection.session(None, None, None);
    table.disconnected(&connection);
    assert_ne!(table.resolve_session(&told("b", 6)).session.id, old.id);
}

#[test]
fn an_early_call_belongs_to_the_conversation_with_the_latest_event() {
    let table = Arc::new(SessionTable::default());
    let openclaw = |name| EventSource { client: "openclaw", ..told(name, AGENT) };
    let first = table.resolve_session(&openclaw("a")).session;
    let connection = connect(&table, "one", shim(1));
    let session = connection.session(None, Some("openclaw-bundle-mcp"), None);
    assert!(Arc::ptr_eq(&session, &first));
    assert!(table.is_connected(&first.id));
    assert_eq!(table.resolve_session(&openclaw("a")).confidence, MatchConfidence::ByProcess);
    let other = connect(&table, "two", Hello { agent_pid: Some(AGENT + 1), ..shim(2) });
    assert_eq!(other.session(None, Some("openclaw"), None).id, other.id, "another process");
    let stranger = connect(&table, "three", shim(3));
    assert_eq!(stranger.session(None, Some("gemini-cli"), None).id, stranger.id, "another client");
}

/// A load lists sessions by client, however each became known.
#[test]
fn a_client_has_one_name_by_hook_and_by_call() {
    for (client, over_mcp) in [
        ("claude-code", "claude-code"),
        ("codex", "codex-mcp-client"),
        ("cursor", "Cursor-vscode"),
        ("droid", "factory-cli"),
        ("gemini", "gemini-cli-mcp-client"),
        ("opencode", "opencode"),
    ] {
        let table = Arc::new(SessionTable::default());
        let by_hook = table.resolve_session(&EventSource { client, ..told("a", AGENT) }).session;
        let called = connect(&table, "one", shim(1)).session(None, Some(over_mcp), None);
        assert!(Arc::ptr_eq(&by_hook, &called), "{client}");
        let other = connect(&table, "two", Hello { agent_pid: Some(AGENT + 1), ..shim(2) });
        let other = other.session(None, Some(over_mcp), None);
        assert_eq!((&*by_hook.client(), &*other.client()), (client, client));
    }
}

#[test]
fn a_client_behind_wrappers_is_recognised_by_an_ancestor_process() {
    let table = Arc::new(SessionTable::default());
    let agent = anchord_proto::host::parent_pid().unwrap();
    let wrapped = Hello { agent_pid: Some(std::process::id()), ..shim(1) };
    let openclaw = |name| EventSource { client: "openclaw", ..told(name, agent) };
    let connection = connect(&table, "one", wrapped);
    assert_eq!(
        table.resolve_session(&openclaw("a")).confidence,
        MatchConfidence::Alone,
        "it has not said whose it is"
    );
    let first = connection.session(None, Some("openclaw-bundle-mcp"), None);
    assert_eq!(first.id.0.as_ref(), "openclaw:a");
    let second = table.resolve_session(&openclaw("b"));
    assert_eq!(second.confidence, MatchConfidence::ByProcess);
    assert!(Arc::ptr_eq(&connection.session(None, None, None), &second.session));
}

#[test]
fn a_connection_with_another_project_is_not_matched_to_the_hooks() {
    let table = Arc::new(SessionTable::default());
    let elsewhere = Hello { project: Some("/elsewhere".to_owned()), ..named(shim(1), "a") };
    let connection = connect(&table, "one", elsewhere);
    let here = EventSource {
        hello: Hello { cwd: Some("/here".to_owned()), ..told("a", AGENT).hello },
        ..told("a", AGENT)
    };
    let joined = table.resolve_session(&here);
    assert_eq!(joined.confidence, MatchConfidence::Alone);
    assert_eq!(connection.session(None, Some("claude-code"), None).id, connection.id);
    let same = EventSource {
        hello: Hello { cwd: Some("/elsewhere".to_owned()), ..here.hello },
        ..told("b", AGENT)
    };
    assert_eq!(table.resolve_session(&same).confidence, MatchConfidence::ByProcess);
}

#[test]
fn two_connections_of_an_agent_follow_its_latest_conversation() {
    let table = Arc::new(SessionTable::default());
    let openclaw = |name| EventSource { client: "openclaw", ..told(name, AGENT) };
    let one = connect(&table, "one", shim(1));
    let two = connect(&table, "two", shim(2));
    let call =
        |connection: &Connection| connection.session(None, Some("openclaw"), None).id.clone();
    // The latest event is recognised by milliseconds.
    let tick = || {
        let now = clock::now();
        while clock::now() == now {
            std::hint::spin_loop();
        }
    };
    let first = table.resolve_session(&openclaw("a")).session.id.clone();
    assert_eq!((call(&one), call(&two)), (first.clone(), first.clone()));
    tick();
    let second = table.resolve_session(&openclaw("b")).session.id.clone();
    assert_eq!((call(&one), call(&two)), (second.clone(), second), "heard of last");
    tick();
    // A subagent's work is not reported as a conversation.
    let again = table.resolve_session(&openclaw("a")).session;
    table.expect_call(&again, "explore", "t1");
    assert!(one.session(None, Some("openclaw"), Some("t1")).id.parent().is_some());
    assert_eq!((call(&one), call(&two)), (first.clone(), first));
}

#[test]
fn the_only_connection_of_an_agent_stays_with_its_conversation() {
    let table = Arc::new(SessionTable::default());
    let openclaw = |name| EventSource { client: "openclaw", ..told(name, AGENT) };
    let first = table.resolve_session(&openclaw("a")).session.id.clone();
    let connection = connect(&table, "one", shim(1));
    // A connection of another agent, and one of this agent in another project.
    connect(&table, "two", Hello { agent_pid: Some(AGENT + 1), ..shim(2) });
    connect(&table, "three", Hello { project: Some("/elsewhere".to_owned()), ..shim(3) });
    assert_eq!(connection.session(None, Some("openclaw"), None).id, first);
    assert_eq!(table.inner.lock().current.get(&connection.id), Some(&first));
}

#[test]
fn a_call_belongs_to_the_nearest_ancestor_agent() {
    let table = Arc::new(SessionTable::default());
    let above = anchord_proto::host::parent_pid().unwrap();
    let openclaw = |name, process| EventSource { client: "openclaw", ..told(name, process) };
    let inner = table.resolve_session(&openclaw("inner", std::process::id())).session.id.clone();
    let outer = table.resolve_session(&openclaw("outer", above)).session.id.clone();
    // Both are above this one's shim. The outer one has the latest event.
    let of_inner = Hello { agent_pid: Some(std::process::id()), ..shim(1) };
    let connection = connect(&table, "one", of_inner);
    assert_eq!(connection.session(None, Some("openclaw"), None).id, inner);
    let connection = connect(&table, "two", Hello { agent_pid: Some(above), ..shim(2) });
    assert_eq!(connection.session(None, Some("openclaw"), None).id, outer);
}

#[test]
fn a_connection_matches_the_hooks_project_under_any_name() {
    let session = |cwd: &str, root: Option<&str>| {
        let hello = Hello { cwd: Some(cwd.to_owned()), ..shim(1) };
        let session = Session::new(SessionId::new("x:a"), Arc::new(hello), None, Timestamp(1));
        let located = root.map(|root| {
            let root = std::path::PathBuf::from(root);
            SessionLocation::Here(Located::plain(&root, 0))
        });
        *session.place.lock() = located.map(Arc::new);
        session
    };
    let check = |named: &str, exact: bool, session: &Session, expected: bool| {
        let hello = Hello { project: Some(named.to_owned()), exact, ..shim(2) };
        assert_eq!(works_in(&hello, session), expected, "{named}, exact: {exact}");
    };
    let below = session("/a/src/deep", Some("/a"));
    for named in ["/a", "/a/", "/a/src", "/a/src/deep"] {
        check(named, false, &below, true);
    }
    // Next to it, above it, beneath it: that may be another project. So may a name with the same
    // prefix.
    for named in ["/b", "/", "/a/src/deep/er", "/a/other", "/a/sr"] {
        check(named, false, &below, false);
    }
    check("/a", true, &below, true);
    check("/a/src/deep", true, &below, false);
    let unknown = session("/a/src", None);
    check("/a/src", false, &unknown, true);
    check("/a", false, &unknown, false);
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    check(id, false, &below, false);
    let by_id = Hello { project: Some(id.to_owned()), ..shim(1) };
    let by_id = Session::new(SessionId::new("x:b"), Arc::new(by_id), None, Timestamp(1));
    check(id, false, &by_id, true);
}
