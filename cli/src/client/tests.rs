//! Over a real socket, against a peer that is played here.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::thread::JoinHandle;

use anchord_daemon::http::api::{JournalQuery, ProjectQuery, StopReply};

use super::*;

/// Plays a daemon: answers each hello, then each request, with fixed bytes; gives back what it read.
fn played(dir: &InstanceDir, answer: &'static str, reply: &'static str) -> JoinHandle<String> {
    let listener: UnixListener = socket::bind(dir).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut seen = String::new();
        reader.read_line(&mut seen).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        if reply.is_empty() {
            return seen;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.trim().parse().unwrap();
            }
            seen.push_str(&line);
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        seen.push_str(&String::from_utf8(body).unwrap());
        stream.write_all(reply.as_bytes()).unwrap();
        seen
    })
}

fn instance() -> (tempfile::TempDir, InstanceDir) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = InstanceDir::named(scratch.path().join("instance"));
    dir.ensure().unwrap();
    (scratch, dir)
}

const WELCOME: &str = "{\"welcome\":{\"anchord\":1,\"build\":\"0.1.0\"}}\n";

#[test]
fn a_post_says_hello_and_reads_the_reply() {
    let (_scratch, dir) = instance();
    let daemon = played(
        &dir,
        WELCOME,
        "HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\n{\"pid\":12,\"sessions\":3}\n",
    );
    let mut client = Client::running(&dir).unwrap();
    let reply: StopReply = client.post("/v1/stop", &serde_json::json!({})).unwrap();
    assert_eq!(reply, StopReply { pid: 12, sessions: 3 });
    let seen = daemon.join().unwrap();
    assert!(seen.starts_with("{\"anchord\":1,\"role\":\"http\""), "{seen}");
    assert!(seen.contains("POST /v1/stop HTTP/1.1\r\n"), "{seen}");
    assert!(seen.ends_with("\r\n\r\n{}"), "{seen}");
}

#[test]
fn the_daemons_error_keeps_its_words() {
    let (_scratch, dir) = instance();
    let daemon = played(
        &dir,
        WELCOME,
        "HTTP/1.1 422 X\r\ncontent-length: 65\r\n\r\n{\"code\":\"damaged\",\"error\":\"line 3 is bad\",\"action\":\"Look at it.\"}",
    );
    let mut client = Client::running(&dir).unwrap();
    let error = client.text("/v1/export", &ProjectQuery { project: "/p".into() }).unwrap_err();
    daemon.join().unwrap();
    assert_eq!(error.kind, Kind::Damaged);
    assert_eq!(error.to_string(), "error: line 3 is bad\n  Look at it.");
}

#[test]
fn a_refusal_and_a_silent_directory_have_their_exit_codes() {
    let (_scratch, dir) = instance();
    let none = Client::running(&dir).err().unwrap();
    assert_eq!(none.kind, Kind::NoDaemon);

    let daemon = played(
        &dir,
        "{\"refused\":{\"code\":\"too_old\",\"message\":\"speaks 1\",\"action\":\"Restart.\"}}\n",
        "",
    );
    let refused = Client::running(&dir).err().unwrap();
    daemon.join().unwrap();
    assert_eq!(refused.kind, Kind::Refused);
    assert_eq!(refused.to_string(), "error: speaks 1\n  Restart.");
}

#[test]
fn queries_are_escaped_and_absent_fields_left_out() {
    let query = JournalQuery { project: "/a b/ü&x=1".into(), from: None, limit: 20 };
    assert_eq!(
        address("/v1/journal", &query).unwrap(),
        "/v1/journal?limit=20&project=/a%20b/%C3%BC%26x%3D1"
    );
    assert_eq!(address("/v1/status", &()).unwrap(), "/v1/status");
}
