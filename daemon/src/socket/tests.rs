//! Line 1 and its answer, for each role and every malformed hello.

use anchord_proto::hello::{Answer, Hello, RefusalCode, Role};
use tokio::io::AsyncReadExt;

use super::*;
use crate::testing::{World, line_of, poll};

fn code(answer: &Answer) -> Option<RefusalCode> {
    match answer {
        Answer::Welcome(_) => None,
        Answer::Refused(refused) => Some(refused.code),
    }
}

#[tokio::test]
async fn welcoming_a_shim_opens_no_project() {
    let world = World::new().await;
    let shim = world.connect(world.hello()).await;
    assert!(shim.welcome.session.is_some() && shim.welcome.resume.is_some());
    assert_eq!(shim.welcome.anchord, PROTOCOL);
    assert_eq!(world.daemon.projects.open.all().len(), 0);
    assert_eq!(world.daemon.admin.metrics.connections(), 1);
}

#[tokio::test]
async fn an_invalid_hello_is_refused_with_advice() {
    let world = World::new().await;
    let tools = Hello { tools: Some("everything".to_owned()), ..world.hello() };
    let newer = Hello { anchord: PROTOCOL + 2, ..world.hello() };
    let long = vec![b'x'; wire::HELLO_BYTES_MAX + 1];
    let cases = [
        (line_of(&tools), RefusalCode::BadHello),
        (line_of(&newer), RefusalCode::TooOld),
        (b"GET / HTTP/1.1\n".to_vec(), RefusalCode::BadHello),
        ([&long[..], b"\n"].concat(), RefusalCode::BadHello),
    ];
    for (line, expected) in cases {
        let answer = world.greet(&line).await;
        assert_eq!(code(&answer), Some(expected));
        let Answer::Refused(refused) = answer else { panic!("refused") };
        assert!(!refused.message.is_empty() && !refused.action.is_empty(), "{refused:?}");
    }
    assert_eq!(world.daemon.admin.metrics.connections(), 0);
}

#[tokio::test]
async fn a_draining_daemon_refuses_agents_but_serves_the_command_line() {
    let world = World::new().await;
    world.daemon.shutdown.start("asked by a test");
    assert_eq!(code(&world.greet(&line_of(&world.hello())).await), Some(RefusalCode::Draining));
    let http = Hello { role: Role::Http, ..world.hello() };
    assert_eq!(code(&world.greet(&line_of(&http)).await), None);
}

#[tokio::test]
async fn a_newer_client_makes_an_older_daemon_stop() {
    let world = World::new().await;
    let replace = Hello { role: Role::Replace, anchord: PROTOCOL + 2, ..world.hello() };
    assert_eq!(code(&world.greet(&line_of(&replace)).await), None);
    poll(|| world.daemon.shutdown.is_started().then_some(())).await;
}

#[tokio::test]
async fn a_hook_gets_the_reply_that_prints_nothing() {
    let world = World::new().await;
    let (mut peer, ours) = tokio::io::duplex(1 << 10);
    let (reader, writer) = tokio::io::split(ours);
    tokio::spawn(serve(Arc::clone(&world.daemon.socket), reader, writer));
    let hello = Hello { role: Role::Hook, ..world.hello() };
    peer.write_all(&line_of(&hello)).await.unwrap();
    peer.write_all(b"{\"hook_event_name\":\"SessionStart\"}\n").await.unwrap();
    let mut said = String::new();
    peer.read_to_string(&mut said).await.unwrap();
    let (_, reply) = said.split_once('\n').unwrap();
    assert_eq!(reply, "{}\n");
}

#[tokio::test]
async fn a_shim_that_leaves_before_its_welcome_does_not_count_as_connected() {
    let world = World::new().await;
    let (mut peer, ours) = tokio::io::duplex(1 << 10);
    let (reader, writer) = tokio::io::split(ours);
    peer.write_all(&line_of(&world.hello())).await.unwrap();
    drop(peer);
    serve(Arc::clone(&world.daemon.socket), reader, writer).await;
    assert_eq!(world.daemon.sessions.table.connections(), 0);
}

#[tokio::test]
async fn a_silent_peer_is_not_waited_for() {
    let world = World::new().await;
    tokio::time::pause();
    let (_peer, ours) = tokio::io::duplex(1 << 10);
    let (reader, writer) = tokio::io::split(ours);
    // The clock jumps ahead as soon as every task waits.
    let serving = serve(Arc::clone(&world.daemon.socket), reader, writer);
    let long = wire::millis(wire::WELCOME_DEADLINE_MS) * 10;
    assert!(tokio::time::timeout(long, serving).await.is_ok(), "it is left");
}

/// Returns whether a client is dropped in time that says hello, sends `request`, and then neither
/// sends nor reads.
async fn is_left(world: &World, request: &str) -> bool {
    let (mut peer, ours) = tokio::io::duplex(1 << 9);
    let (reader, writer) = tokio::io::split(ours);
    let serving = tokio::spawn(serve(Arc::clone(&world.daemon.socket), reader, writer));
    peer.write_all(&line_of(&Hello { role: Role::Http, ..world.hello() })).await.unwrap();
    // The client reads the welcome, but nothing after it.
    while peer.read_u8().await.unwrap() != b'\n' {}
    peer.write_all(request.as_bytes()).await.unwrap();
    tokio::time::timeout(crate::limits::ADMIN_STALL_MAX * 2, serving).await.is_ok()
}

#[tokio::test]
async fn a_stalled_admin_client_is_disconnected() {
    let world = World::new().await;
    tokio::time::pause();
    let head = "HTTP/1.1\r\nhost: anchord\r\n";
    let part_of_a_body = format!(
        "POST /v1/tool {head}content-type: application/json\r\ncontent-length: 9\r\n\r\n{{"
    );
    assert!(is_left(&world, "").await, "no request");
    assert!(is_left(&world, &format!("GET /v1/status {head}")).await, "part of a head");
    assert!(is_left(&world, &format!("GET /x {head}\r\n")).await, "no second request");
    assert!(is_left(&world, &part_of_a_body).await, "part of a body");
    assert!(
        is_left(&world, &format!("GET /v1/status {head}\r\n")).await,
        "a reply it does not read"
    );
}
