//! Runs the client over a real socket. The test plays the daemon.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::thread::JoinHandle;

use anchord_daemon::api::{JournalQuery, ProjectQuery, StopReply};

use super::*;

/// Plays a daemon that answers each hello and each request with fixed bytes. Returns what it read.
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
fn the_daemons_error_keeps_its_wording() {
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
    let refused = not_found("it did not answer".to_owned(), Some(refused));
    assert_eq!(refused.to_string(), "error: speaks 1\n  Restart.", "it says more");
}

/// Holds the lock of an instance as a daemon does.
fn locked(dir: &InstanceDir) -> std::fs::File {
    let mut lock = std::fs::File::create(dir.lock()).unwrap();
    lock.lock().unwrap();
    let boot = host::boot_id();
    write!(lock, "{}", serde_json::json!({"pid": 4711, "boot": boot, "name": "here"})).unwrap();
    lock
}

#[test]
fn the_lock_holder_counts_as_a_daemon_even_if_silent() {
    let (_scratch, dir) = instance();
    let lock = locked(&dir);
    let starts = Client::running(&dir).err().unwrap();
    assert_eq!(starts.kind, Kind::Passing, "{starts}");
    assert!(starts.message.contains("pid 4711"), "{starts}");

    // Something listens but never answers.
    let listener = socket::bind(&dir).unwrap();
    let silent = Client::running(&dir).err().unwrap();
    assert_eq!(silent.kind, Kind::Silent, "{silent}");
    let what = "the daemon (pid 4711) does not answer: it starts, ends or hangs (";
    assert!(silent.message.starts_with(what), "{silent}");
    assert_eq!(silent.action.as_deref(), Some("Wait a minute; if it stays so, `kill 4711`."));
    let starts = not_found("a daemon is starting".to_owned(), Some(silent));
    assert_eq!(starts, Error::new(Kind::NoDaemon, "a daemon is starting"));

    // A service manager listens, but its daemon never starts.
    drop(lock);
    let managed = Client::running(&dir).err().unwrap();
    assert_eq!(managed.kind, Kind::Silent, "{managed}");
    assert!(managed.message.starts_with("no daemon holds the instance, and "), "{managed}");

    drop(listener);
    assert_eq!(Client::running(&dir).err().unwrap().kind, Kind::NoDaemon);
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

#[test]
fn each_request_uses_its_own_connection() {
    let (_scratch, dir) = instance();
    let reply = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\n\"a\"";
    let first = played(&dir, WELCOME, reply);
    let mut client = Client::running(&dir).unwrap();
    assert_eq!(client.get::<String>("/v1/a", &()).unwrap(), "a");
    first.join().unwrap();
    // The daemon may be replaced between two requests, while the user thinks.
    std::fs::remove_file(dir.sock()).ok();
    let second = played(&dir, WELCOME, reply);
    assert_eq!(client.get::<String>("/v1/b", &()).unwrap(), "a");
    assert!(second.join().unwrap().contains("GET /v1/b HTTP/1.1"));
}
