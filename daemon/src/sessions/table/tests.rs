//! Tests of connections, through reconnects, takeovers and late calls.

use anchord_proto::hello::Role;

use super::*;

fn hello(instance: u128) -> Hello {
    Hello::new(Role::Mcp, Uuid::from_u128(instance), 1)
}

fn connect(table: &Arc<SessionTable>, id: &str, hello: Hello) -> Arc<Connection> {
    let stop = CancellationToken::new();
    table.connect(SessionId::new(id), hello, ToolSet::Default, None, stop)
}

fn away(table: &SessionTable, id: &str) -> bool {
    let id = SessionId::new(id);
    let found = table.all().into_iter().find(|status| status.session.id == id);
    found.expect("the session is known").disconnected.is_some()
}

#[test]
fn a_session_begins_with_its_first_call_and_outlives_its_connection() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", hello(1));
    assert!(table.all().is_empty(), "a probe leaves nothing");
    let session = connection.session(None, Some("agent"), None);
    assert_eq!((session.client().as_ref(), session.agent_session.as_deref()), ("agent", None));
    assert!(table.is_connected(&session.id));
    table.disconnected(&connection);
    assert!(away(&table, "one"));
    assert_eq!((table.connections(), table.all().len()), (0, 1));

    let back = connect(&table, "one", hello(1));
    assert!(Arc::ptr_eq(&back.session(None, None, None), &session));
    assert!(!away(&table, "one"));
    assert!(table.end_if_away(&session.id).is_none(), "who is back is not taken out");
    assert!(table.is_connected(&session.id));
}

#[test]
fn each_thread_of_an_agent_has_its_own_session() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", hello(1));
    let default = connection.session(None, None, None);
    let thread = connection.session(Some(&connection.conversation("0199-ab")), None, None);
    let other = connection.session(Some(&connection.conversation("0199-cd")), None, None);
    assert_eq!(thread.id.to_string(), "one/0199-ab");
    assert_eq!(thread.agent_session.as_deref(), Some("0199-ab"));
    assert_ne!(other.id, thread.id);
    assert!(Arc::ptr_eq(
        &connection.session(Some(&connection.conversation("0199-ab")), None, None),
        &thread
    ));
    table.disconnected(&connection);
    for session in [default, thread, other] {
        assert!(away(&table, &session.id.to_string()));
    }
}

#[test]
fn a_thread_beyond_the_limit_begins_no_session() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", hello(1));
    for number in 0..limits::CONNECTION_SESSIONS_MAX {
        let thread = format!("thread-{number}");
        assert!(!connection.is_full(&thread), "{thread}");
        connection.session(Some(&connection.conversation(&thread)), None, None);
    }
    assert!(connection.is_full("one-more") && !connection.is_full("thread-0"));
    let other = connect(&table, "two", hello(2));
    assert!(!other.is_full("one-more"), "another connection has room of its own");

    // A subagent's call stays with its session.
    let thread = connection.conversation("thread-0");
    let session = connection.session(Some(&thread), None, None);
    table.expect_call(&session, "agent", "call");
    let by = connection.session(Some(&thread), None, Some("call"));
    assert_eq!(by.id, session.id);
    assert_eq!(table.all().len(), limits::CONNECTION_SESSIONS_MAX);
}

#[test]
fn a_name_with_the_same_prefix_is_another_session() {
    let table = Arc::new(SessionTable::default());
    let (short, long) = (connect(&table, "one", hello(1)), connect(&table, "one2", hello(2)));
    short.session(None, None, None);
    long.session(None, None, None);
    table.disconnected(&short);
    assert!(away(&table, "one") && !away(&table, "one2"));
}

#[test]
fn a_shim_that_reconnects_early_replaces_its_old_connection() {
    let table = Arc::new(SessionTable::default());
    let old = connect(&table, "one", hello(1));
    old.session(None, None, None);
    let new = connect(&table, "one", hello(1));
    assert!(old.stop.is_cancelled() && !new.stop.is_cancelled());
    table.disconnected(&old);
    assert!(!away(&table, "one"));
    assert_eq!(table.connections(), 1);
}

#[test]
fn a_shim_that_returns_as_another_session_leaves_the_old_one_away() {
    let table = Arc::new(SessionTable::default());
    let old = connect(&table, "one", hello(1));
    old.session(None, None, None);
    let new = connect(&table, "two", hello(1));
    new.session(None, None, None);
    table.disconnected(&old);
    assert!(away(&table, "one"), "else nobody would ever fold what it has staged");
    assert!(!away(&table, "two"));
    assert_eq!(table.connections(), 1);
}

#[test]
fn a_call_that_outlives_its_connection_begins_no_live_session() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", hello(1));
    table.disconnected(&connection);
    connection.session(None, None, None);
    assert!(away(&table, "one"));
}

#[test]
fn a_session_of_an_earlier_daemon_is_away_until_its_shim_says_hello() {
    let table = Arc::new(SessionTable::default());
    let id = SessionId::new("one");
    let known = Session::new(id.clone(), Arc::new(hello(1)), Some("agent-7".into()), Timestamp(5));
    known.set_client("agent");
    table.restore(known);
    assert!(away(&table, "one") && table.all()[0].orphan);

    let named = Hello { project: Some("/elsewhere".to_owned()), ..hello(1) };
    let back = connect(&table, "one", named).session(None, None, None);
    assert!(!away(&table, "one") && !table.all()[0].orphan);
    assert_eq!(back.hello.project.as_deref(), Some("/elsewhere"), "what it says now counts");
    assert_eq!((back.started, back.client().as_ref()), (Timestamp(5), "agent"));
    assert_eq!(back.agent_session.as_deref(), Some("agent-7"));
}

#[test]
fn restoring_does_not_replace_a_connected_session() {
    let table = Arc::new(SessionTable::default());
    let here = connect(&table, "one", hello(1)).session(None, None, None);
    table.restore(Session::new(here.id.clone(), Arc::new(hello(1)), None, Timestamp(5)));
    assert!(!away(&table, "one") && Arc::ptr_eq(&table.all()[0].session, &here));
}

#[test]
fn threads_that_differ_only_in_punctuation_are_two_sessions() {
    let table = Arc::new(SessionTable::default());
    let connection = connect(&table, "one", hello(1));
    let session =
        |thread| connection.session(Some(&connection.conversation(thread)), None, None).id.clone();
    assert_eq!(session("ab-1"), SessionId::new("one/ab-1"), "one that is plain is kept as it is");
    assert_ne!(session("a.b"), session("ab"));
    assert_ne!(session("a.b"), session("a/b"));
    assert_eq!(session("a.b"), session("a.b"));
}
