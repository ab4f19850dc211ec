//! Turns, and lines that are not messages.

use std::pin::pin;

use futures::FutureExt;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use super::*;

fn order() -> Order {
    Order { instance: "shim".into(), previous: None }
}

fn admitted() -> OwnedSemaphorePermit {
    Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap()
}

fn turn(order: &mut Order, number: u64) -> Turn {
    order.ticket(number, 0, admitted()).turn().unwrap()
}

#[tokio::test]
async fn turns_follow_the_order_of_their_lines() {
    let mut order = order();
    let mut first = turn(&mut order, 1);
    let mut second = turn(&mut order, 2);
    assert!(first.come().now_or_never().is_some());
    assert!(second.come().now_or_never().is_none());
    drop(first);
    assert!(second.come().now_or_never().is_some());
}

#[tokio::test]
async fn a_dropped_turn_lets_nobody_overtake() {
    let mut order = order();
    let first = turn(&mut order, 1);
    let (unused, mut cancelled) = (order.ticket(2, 0, admitted()), turn(&mut order, 3));
    let mut last = turn(&mut order, 4);
    drop(unused);
    {
        let mut waiting = pin!(cancelled.come());
        assert!((&mut waiting).now_or_never().is_none());
    }
    drop(cancelled);
    let mut coming = pin!(last.come());
    assert!((&mut coming).now_or_never().is_none(), "the first is still at it");
    drop(first);
    assert!(coming.now_or_never().is_some());
}

#[tokio::test]
async fn calls_go_past_one_that_steps_aside_in_their_order() {
    let mut order = order();
    let mut turns: Vec<Turn> = (1..=5).map(|number| turn(&mut order, number)).collect();
    let [note, write, one, two, last] = turns.as_mut_slice() else { panic!() };
    assert!(note.come().now_or_never().is_some());
    assert!(write.come().now_or_never().is_none());
    assert!(one.come_past().now_or_never().is_none(), "the note has not stepped aside");
    note.step_aside();
    // The write waits for the note, and whoever may go past the note may go past the write.
    assert!(write.come().now_or_never().is_none());
    assert!(one.come_past().now_or_never().is_some());
    assert!(two.come_past().now_or_never().is_none(), "that one goes first");
    assert!(last.come().now_or_never().is_none());
    drop(turns.remove(2));
    let [note, _write, two, last] = turns.as_mut_slice() else { panic!() };
    assert!(two.come_past().now_or_never().is_some());
    assert!(last.come().now_or_never().is_none());
    assert!(note.come().now_or_never().is_some());
    drop(turns.remove(0));
    let [write, _two, last] = turns.as_mut_slice() else { panic!() };
    assert!(write.come().now_or_never().is_some());
    assert!(last.come().now_or_never().is_none());
    turns.truncate(1);
}

#[tokio::test]
async fn a_call_that_ends_early_lets_none_go_past_the_one_before() {
    let mut order = order();
    let mut note = turn(&mut order, 1);
    let (cancelled, mut read) = (turn(&mut order, 2), turn(&mut order, 3));
    drop(cancelled);
    assert!(read.come_past().now_or_never().is_none());
    note.step_aside();
    assert!(read.come_past().now_or_never().is_some());
}

#[test]
fn a_ticket_has_one_turn_and_its_lines_number() {
    let ticket = order().ticket(7, 3, admitted());
    let call = Call { instance: "shim".into(), number: 7, acknowledged: 3 };
    assert_eq!(ticket.call, call);
    let copy = ticket.clone();
    assert!(ticket.turn().is_some() && copy.turn().is_none());
}

fn transport() -> (NumberedLines<BufReader<tokio::io::ReadHalf<DuplexStream>>>, DuplexStream) {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (reader, writer) = tokio::io::split(ours);
    let lines = LineReader::new(BufReader::new(reader), 10);
    (NumberedLines::new(lines, writer, "shim".into(), CancellationToken::new()), theirs)
}

const PING: &[u8] = b"9 8 {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

/// Returns the transport's answers to lines that are not messages. The message after them gets
/// through.
async fn answers(lines: &[u8]) -> Vec<Value> {
    let (mut transport, peer) = transport();
    let (reader, mut writer) = tokio::io::split(peer);
    writer.write_all(lines).await.unwrap();
    writer.write_all(PING).await.unwrap();
    let Some(JsonRpcMessage::Request(mut ping)) = transport.receive().await else {
        panic!("no ping")
    };
    let ticket = ping.request.extensions_mut().get::<Ticket>().cloned().unwrap();
    assert_eq!((ticket.call.number, ticket.call.acknowledged), (9, 8));
    drop(transport);
    let mut answers = Vec::new();
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        answers.push(serde_json::from_str(&line).unwrap());
    }
    answers
}

#[tokio::test]
async fn an_invalid_message_is_answered_and_the_next_one_gets_through() {
    let lines = [
        "no numbers",
        "1 0 not json",
        "2 0 {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":5}",
        "3 0 [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
        "3 3 {}",
    ];
    let answers = answers((lines.join("\n") + "\n").as_bytes()).await;
    assert_eq!(answers.len(), lines.len());
    assert!(answers.iter().all(|answer| answer["error"]["code"] == -32600), "{answers:?}");
    assert_eq!(answers[2]["id"], "a", "whoever asked hears of it");
    insta::assert_snapshot!(answers[0]["error"]["message"].as_str().unwrap(), @"line does not begin with its number");
}

#[test]
fn arguments_may_be_an_object_in_a_text() {
    let arguments = |json: &str| match message(json).unwrap() {
        JsonRpcMessage::Request(request) => match request.request {
            ClientRequest::CallToolRequest(call) => {
                serde_json::to_string(&call.params.arguments.unwrap()).unwrap()
            }
            _ => "no call".to_owned(),
        },
        _ => "no request".to_owned(),
    };
    let call = |arguments: Value| {
        let params = serde_json::json!({ "name": "memory_search", "arguments": arguments });
        let call = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        call.to_string()
    };
    for (given, read) in [
        (serde_json::json!({ "query": "x" }), r#"{"query":"x"}"#),
        (r#"{"query":"x"}"#.into(), r#"{"query":"x"}"#),
        (r#" { "a": { "b": "{}" } } "#.into(), r#"{"a":{"b":"{}"}}"#),
        ("".into(), "{}"),
        ("find the port".into(), "no call"),
        ("[1]".into(), "no call"),
    ] {
        assert_eq!(arguments(&call(given.clone())), read, "{given}");
    }
}

#[tokio::test]
async fn a_line_that_is_not_utf_8_is_answered() {
    let answers = answers(b"1 0 {\"id\":\"\xff\"}\n").await;
    assert_eq!(answers.len(), 1);
    assert!(answers[0]["error"]["message"].as_str().unwrap().contains("UTF-8"));
}

#[tokio::test]
async fn a_line_that_is_too_long_is_answered() {
    let (mut transport, peer) = transport();
    let (reader, mut writer) = tokio::io::split(peer);
    let received = tokio::spawn(async move { transport.receive().await.is_some() });
    writer.write_all(b"1 0 ").await.unwrap();
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..=(limits::MCP_LINE_BYTES_MAX >> 20) {
        writer.write_all(&chunk).await.unwrap();
    }
    writer.write_all(b"\n").await.unwrap();
    writer.write_all(PING).await.unwrap();
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).await.unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    insta::assert_snapshot!(answer["error"]["message"].as_str().unwrap(), @"a message may have 4194346 bytes at most");
    assert!(received.await.unwrap(), "the next line is read");
}

#[tokio::test]
async fn a_cancelled_receive_loses_no_answer() {
    let (mut transport, peer) = transport();
    let (reader, mut writer) = tokio::io::split(peer);
    writer.write_all(b"no numbers\n").await.unwrap();
    assert!(transport.receive().now_or_never().is_none());
    let mut line = String::new();
    let mut lines = BufReader::new(reader);
    tokio::select! {
        read = lines.read_line(&mut line) => assert!(read.unwrap() > 0),
        _ = transport.receive() => panic!("nothing was sent"),
    }
    assert!(line.contains("does not begin with its number"), "{line}");
}

fn ping(number: usize) -> Vec<u8> {
    format!("{number} 0 {{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"ping\"}}\n").into_bytes()
}

/// Returns the result of a future if it is ready at once, however much this task has done.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::task::unconstrained(future).now_or_never()
}

#[tokio::test]
async fn the_number_of_waiting_requests_is_limited() {
    let (mut transport, mut peer) = transport();
    for number in 0..2 * limits::CONNECTION_CALLS_MAX {
        peer.write_all(&ping(number)).await.unwrap();
    }
    let mut waiting = Vec::new();
    for _ in 0..limits::CONNECTION_CALLS_MAX {
        waiting.push(at_once(transport.receive()).expect("there is room"));
    }
    assert!(at_once(transport.receive()).is_none());
    drop(waiting.pop());
    let _next = at_once(transport.receive()).expect("there is room again");
    assert!(at_once(transport.receive()).is_none());
}

#[tokio::test]
async fn a_peer_that_never_reads_is_no_longer_read_from() {
    let (mut transport, mut peer) = transport();
    peer.write_all(&ping(1)).await.unwrap();
    let long = "x".repeat(64 << 10);
    let answer = || problem(ErrorCode::INTERNAL_ERROR, long.clone(), None);
    let mut unread = 0;
    while transport.send(*answer()).now_or_never().is_some() {
        unread += 1;
        tokio::task::yield_now().await;
    }
    assert!(unread > limits::CONNECTION_REPLIES_MAX);
    assert!(transport.receive().now_or_never().is_none());
    let mut reader = BufReader::new(peer).lines();
    let received = async { transport.receive().await.is_some() };
    let reading = async { while reader.next_line().await.unwrap().is_some() {} };
    tokio::select! {
        received = received => assert!(received),
        () = reading => panic!("the transport is there"),
    }
}
