//! The public status shows only counts, and only to requests that name this machine.

use std::net::Ipv4Addr;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::ServiceExt;

use super::*;
use crate::testing::{World, hello_from};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn on(port: u16) -> HttpConfig {
    HttpConfig { enabled: true, address: LOOPBACK, port }
}

/// A name that is recognisable wherever it turns up.
const SECRET: &str = "zanzibar";

async fn get_as(world: &World, path: &str, hosts: &[&str]) -> (StatusCode, String) {
    let mut request = Request::builder().uri(path);
    for host in hosts {
        request = request.header(header::HOST, *host);
    }
    let request = request.body(Body::empty()).unwrap();
    let response =
        router(Arc::clone(&world.daemon.status), LOOPBACK).oneshot(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn get_local(world: &World, path: &str) -> String {
    let (status, body) = get_as(world, path, &["127.0.0.1:7717"]).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    body
}

/// Returns a world in which something was written under names that must not leak.
async fn with_a_secret() -> World {
    let world = World::new().await;
    std::fs::create_dir(world.directory(SECRET)).unwrap();
    let mut shim = world.connect(hello_from(&world.directory(SECRET))).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_save", json!({ "session_summary": SECRET })).await;
    shim.call("memory_get", json!({ "id": SECRET })).await;
    world
}

#[tokio::test]
async fn only_requests_to_a_local_host_name_are_answered() {
    let world = World::new().await;
    for host in ["127.0.0.1", "127.0.0.1:7717", "localhost", "LocalHost:80"] {
        assert_eq!(get_as(&world, "/healthz", &[host]).await, (StatusCode::OK, "ok\n".to_owned()));
    }
    let others: [&[&str]; 7] = [
        &[],
        &["evil.example"],
        &["evil.example:7717"],
        &["127.0.0.1.evil.example"],
        &["localhost:7717:evil"],
        &["localhost@evil.example"],
        &["127.0.0.1", "evil.example"],
    ];
    for hosts in others {
        for path in ["/healthz", "/status", "/metrics", "/nothing"] {
            let (status, body) = get_as(&world, path, hosts).await;
            assert_eq!(status, StatusCode::MISDIRECTED_REQUEST, "{path} as {hosts:?}: {body}");
        }
    }
}

#[tokio::test]
async fn the_status_has_counts_and_no_names() {
    let world = with_a_secret().await;
    let body = get_local(&world, "/status").await;
    let status: Value = serde_json::from_str(&body).unwrap();
    let count = |pointer: &str| status.pointer(pointer).unwrap().as_u64().unwrap();
    assert_eq!((count("/calls/ok"), count("/calls/failed")), (1, 1));
    assert_eq!((count("/projects_known"), count("/sessions")), (1, 1));
    assert_eq!(count("/latency/calls"), 2);
    let instance = world.directory("instance");
    for secret in [SECRET, "demo", "test-agent", instance.to_str().unwrap(), "/"] {
        assert!(!body.contains(secret), "{secret} is in {body}");
    }
    let session = &world.daemon.sessions.table.all()[0].session.id;
    assert!(!body.contains(session.0.as_ref()), "{body}");
}

#[tokio::test]
async fn the_metrics_are_machine_readable_and_contain_no_names() {
    let world = with_a_secret().await;
    let body = get_local(&world, "/metrics").await;
    assert!(body.ends_with("# EOF\n"), "{body}");
    for line in body.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("anchord_"), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
    for line in [
        "anchord_connections_total 1",
        "anchord_tool_calls_total{tool=\"memory_save\",ok=\"true\"} 1",
        "anchord_tool_calls_total{tool=\"memory_get\",ok=\"false\"} 1",
        "anchord_tool_call_seconds_count 2",
        "anchord_commit_seconds_count 1",
        "anchord_append_seconds_count 1",
        "anchord_sessions 1",
        "anchord_projects_open 1",
    ] {
        assert!(body.lines().any(|found| found == line), "{line} is not in {body}");
    }
    assert!(!body.contains(SECRET), "{body}");
}

#[tokio::test]
async fn the_metrics_count_tokens_given_and_left_out() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    let items = ["retry with jitter", "retry five times", "retry never"];
    let items: Vec<Value> = items.iter().map(|text| json!({ "content": text })).collect();
    shim.call("memory_note", json!({ "items": items })).await;
    let mut tokens = 0;
    for arguments in [json!({ "query": "retry" }), json!({ "query": "retry", "limit": 1 })] {
        let text = shim.call("memory_search", arguments).await;
        tokens += anchord_memory::tokens::count(&text);
    }
    let refused = shim.call("memory_get", json!({ "id": "n99" })).await;
    tokens += anchord_memory::tokens::count(refused.trim_start_matches("ERROR "));
    world.daemon.projects.open.retrievals().flush().await;
    let body = get_local(&world, "/metrics").await;
    for line in [
        "anchord_retrieval_seconds_count 3",
        "anchord_retrieval_answers_total 2",
        "anchord_retrieval_answers_truncated_total 1",
        &format!("anchord_retrieval_tokens_total {tokens}"),
    ] {
        assert!(body.lines().any(|found| found == line), "{line} is not in {body}");
    }
    let value = |name: &str| -> f64 {
        let line = body.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse().unwrap()
    };
    let used = value("anchord_budget_utilisation ");
    assert!(used > 0.0 && used < 0.1, "{used}");
    let [half, most] = ["0.5", "0.99"]
        .map(|at| value(&format!("anchord_retrieval_quantile_seconds{{quantile=\"{at}\"}}")));
    assert!(half > 0.0 && half <= most, "{half} {most}");
}

/// A scraper in another container names the pod or the service.
#[tokio::test]
async fn a_port_that_is_open_to_other_machines_answers_under_any_name() {
    let world = World::new().await;
    let everywhere = HttpConfig { address: Ipv4Addr::UNSPECIFIED.into(), ..on(0) };
    let state = listen(&world.daemon.status, &everywhere).await;
    let HttpState::Listening { address } = state else { panic!("{state:?}") };
    assert!(address.starts_with("0.0.0.0:"), "{address}");
    let router = router(Arc::clone(&world.daemon.status), everywhere.address);
    let request = Request::get("/metrics").header(header::HOST, "memory.example:7717");
    let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn other_paths_and_methods_are_refused() {
    let world = World::new().await;
    assert_eq!(get_as(&world, "/v1/status", &["localhost"]).await.0, StatusCode::NOT_FOUND);
    let post = Request::post("/status").header(header::HOST, "localhost").body(Body::empty());
    let response =
        router(Arc::clone(&world.daemon.status), LOOPBACK).oneshot(post.unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_taken_port_is_reported_and_not_fatal() {
    let world = World::new().await;
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let state = listen(&world.daemon.status, &on(port)).await;
    assert!(matches!(state, HttpState::Taken { port: found, .. } if found == port), "{state:?}");
    let state = listen(&world.daemon.status, &HttpConfig { enabled: false, ..on(port) }).await;
    assert!(matches!(state, HttpState::Off));
    let state = listen(&world.daemon.status, &on(0)).await;
    let HttpState::Listening { address } = state else { panic!("{state:?}") };
    assert!(address.starts_with("127.0.0.1:"), "{address}");
}

#[tokio::test]
async fn the_budget_metric_of_a_closed_project_is_kept() {
    let world = World::new().await;
    let mut shim = world.shim_with("all").await;
    shim.call("memory_configure", json!({ "budget_tokens": 1_000 })).await;
    let words: Vec<String> = (0..100).map(|word| format!("w{word}")).collect();
    shim.call("memory_note", json!({ "content": words.join(" ") })).await;
    let share = async || {
        let text = get_local(&world, "/metrics").await;
        let line = text.lines().find_map(|line| line.strip_prefix("anchord_budget_utilisation "));
        line.unwrap().parse::<f64>().unwrap()
    };
    let open = share().await;
    assert!(open > 0.1, "{open}");
    let id = world.daemon.projects.open.all()[0].id;
    world.daemon.projects.open.close_and(id, |_| ()).await;
    assert!(world.daemon.projects.open.get(id).is_none());
    assert!((share().await - open).abs() < 1e-9, "it is as full as it was");
    world.daemon.projects.open.close_and(id, crate::project::ClosedStore::remove).await.unwrap();
    assert!(share().await.abs() < 1e-9, "a project that was deleted has no budget");
}

/// Returns whether the status port drops a client within `time`. The client sends `request`, then
/// neither sends nor reads.
async fn is_left_within(world: &World, request: &str, time: Duration) -> bool {
    let (mut peer, ours) = tokio::io::duplex(1 << 9);
    let serving = tokio::spawn(serve(ours, router(Arc::clone(&world.daemon.status), LOOPBACK)));
    peer.write_all(request.as_bytes()).await.unwrap();
    tokio::time::timeout(time, serving).await.is_ok()
}

#[tokio::test]
async fn a_stalled_client_is_disconnected() {
    let world = World::new().await;
    tokio::time::pause();
    let head = "GET /status HTTP/1.1\r\nhost: localhost\r\n";
    let slack = Duration::from_millis(100);
    for request in ["", "GET", head] {
        let time = limits::STATUS_HEADER_TIME_MAX + slack;
        assert!(is_left_within(&world, request, time).await, "{request:?}");
    }
    // The reply is longer than the pipe's buffer.
    let time = limits::STATUS_REQUEST_TIME_MAX + slack;
    assert!(is_left_within(&world, &format!("{head}\r\n"), time).await);
}

/// Idle connections once took all places of the port, so that nobody else was answered.
#[tokio::test]
async fn idle_connections_do_not_block_new_ones() {
    let world = World::new().await;
    let state = listen(&world.daemon.status, &on(0)).await;
    let HttpState::Listening { address } = state else { panic!("{state:?}") };
    let mut idle = Vec::new();
    for _ in 0..limits::STATUS_CONNECTIONS_MAX * 2 {
        idle.push(TcpStream::connect(&address).await.unwrap());
    }
    let mut client = TcpStream::connect(&address).await.unwrap();
    client.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut reply = String::new();
    let read = client.read_to_string(&mut reply);
    tokio::time::timeout(limits::STATUS_HEADER_TIME_MAX / 2, read).await.unwrap().unwrap();
    assert!(reply.ends_with("ok\n"), "{reply}");
    let mut byte = [0];
    let read = tokio::time::timeout(limits::STATUS_HEADER_TIME_MAX / 2, idle[0].read(&mut byte));
    assert_eq!(read.await.expect("the oldest is closed").unwrap_or(0), 0);
}
