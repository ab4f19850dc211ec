//! Providers that answer, refuse, break, stall and die, played by a server on loopback.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anchord_daemon::config::{Api, KeySource, MergeConfig, ProviderConfig};
use serde_json::{Value, json};

use super::*;

/// One reply of a fake provider.
enum Reply {
    /// A status, further header lines, and a body.
    Say(u16, &'static str, String),
    /// Nothing, until the client gives up.
    Stall,
    /// The connection is closed before the reply is complete.
    Break,
}

/// A request that a fake provider got: the lines of its head, and the body.
struct Request {
    head: Vec<String>,
    body: Value,
}

/// Serves these replies, one a connection, and hands the requests over.
fn serve(replies: Vec<Reply>) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        let mut stalled = Vec::new();
        for reply in replies {
            let (stream, _) = listener.accept().unwrap();
            let request = read_request(&stream);
            // The test may have all that it wants to see.
            let _ = sender.send(request);
            match reply {
                Reply::Say(status, headers, body) => answer(stream, status, headers, &body),
                Reply::Stall => stalled.push(stream),
                Reply::Break => {
                    let mut stream = stream;
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{").unwrap();
                }
            }
        }
        // A stalled client has its own deadline; this one only has to outlive it.
        for mut stream in stalled {
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    (url, requests)
}

fn read_request(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Request { head, body: serde_json::from_slice(&body).unwrap() }
}

fn answer(mut stream: TcpStream, status: u16, headers: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n");
    stream.write_all(format!("{head}{headers}\r\n{body}").as_bytes()).unwrap();
}

fn gemini_says(text: &str) -> Reply {
    let reply = json!({ "candidates": [{
        "content": { "parts": [{ "text": text }], "role": "model" }, "finishReason": "STOP",
    }] });
    Reply::Say(200, "", reply.to_string())
}

fn anthropic_says(text: &str) -> Reply {
    let reply = json!({
        "type": "message", "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn",
    });
    Reply::Say(200, "", reply.to_string())
}

fn openai_says(text: &str) -> Reply {
    let choice = json!({
        "message": { "role": "assistant", "content": text }, "finish_reason": "stop",
    });
    Reply::Say(200, "", json!({ "choices": [choice] }).to_string())
}

fn fails(status: u16) -> Reply {
    let body = json!({ "error": { "message": "the words of the provider" } });
    Reply::Say(status, "", body.to_string())
}

fn provider(api: Api, url: &str) -> ProviderConfig {
    ProviderConfig {
        name: format!("{}-1", api.name()),
        api,
        url: url.to_owned(),
        model: "model-1".to_owned(),
        key: KeySource::None,
    }
}

fn config(providers: Vec<ProviderConfig>) -> MergeConfig {
    MergeConfig { providers, retries: 1, ..MergeConfig::default() }
}

/// Asks with a configuration; returns the answer or error, and the number of calls.
fn ask(config: &MergeConfig, calls_left: u32) -> (Result<Answer, String>, u32) {
    let mut asker = Asker::new(config, calls_left).unwrap();
    let answer = asker.ask(&prompt("{\"brief\":1}", "what was done"));
    (answer.map_err(|error| error.to_string()), asker.calls())
}

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.head.iter().find_map(|line| line.strip_prefix(&format!("{name}: ")))
}

#[test]
fn gemini_is_asked_in_its_own_form() {
    let (url, requests) = serve(vec![gemini_says("{\"a\": 1}")]);
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), "key-1\n").unwrap();
    let file = KeySource::File(key.path().to_owned());
    let config = config(vec![ProviderConfig { key: file, ..provider(Api::Gemini, &url) }]);
    let (answer, calls) = ask(&config, 9);
    assert_eq!(answer.unwrap(), Answer { state: json!({"a": 1}), provider: "gemini-1".into() });
    assert_eq!(calls, 1);
    let request = requests.recv().unwrap();
    assert_eq!(request.head[0], "POST /v1beta/models/model-1:generateContent HTTP/1.1");
    assert_eq!(header(&request, "x-goog-api-key"), Some("key-1"));
    assert_eq!(request.body.pointer("/generationConfig/temperature"), Some(&json!(0.3)));
    let question = request.body.pointer("/contents/0/parts/0/text").unwrap().as_str().unwrap();
    assert!(question.contains("{\"brief\":1}") && question.contains("what was done"));
}

#[test]
fn anthropic_and_an_openai_service_are_asked_in_their_own_forms() {
    let (url, requests) = serve(vec![anthropic_says("{\"a\": 1}")]);
    let command = KeySource::Command("printf key-2".to_owned());
    let one = ProviderConfig { key: command.clone(), ..provider(Api::Anthropic, &url) };
    assert!(ask(&config(vec![one]), 9).0.is_ok());
    let request = requests.recv().unwrap();
    assert_eq!(request.head[0], "POST /v1/messages HTTP/1.1");
    assert_eq!(header(&request, "x-api-key"), Some("key-2"));
    assert_eq!(header(&request, "anthropic-version"), Some("2023-06-01"));

    let (url, requests) = serve(vec![openai_says("Here it is:\n```json\n{\"a\": 1}\n```")]);
    let url = format!("{url}/v1/");
    let one = ProviderConfig { key: command, ..provider(Api::OpenAi, &url) };
    assert!(ask(&config(vec![one]), 9).0.is_ok());
    let request = requests.recv().unwrap();
    assert_eq!(request.head[0], "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(header(&request, "authorization"), Some("Bearer key-2"));
}

#[test]
fn a_provider_that_refuses_is_not_called_again_and_the_next_one_is() {
    for status in [400, 401, 403, 404] {
        let (bad, _) = serve(vec![fails(status)]);
        let (good, _) = serve(vec![anthropic_says("{}")]);
        let both = vec![provider(Api::Gemini, &bad), provider(Api::Anthropic, &good)];
        let (answer, calls) = ask(&config(both), 9);
        assert_eq!((answer.unwrap().provider.as_str(), calls), ("anthropic-1", 2), "{status}");
    }
    let (bad, _) = serve(vec![fails(401)]);
    let (answer, _) = ask(&config(vec![provider(Api::Gemini, &bad)]), 9);
    let expected =
        "no provider gave an answer; gemini-1: it refused with 401: the words of the provider";
    assert_eq!(answer.unwrap_err(), expected);
}

#[test]
fn a_busy_broken_or_rambling_provider_is_called_again() {
    let again: [fn() -> Reply; 5] = [
        || fails(429),
        || fails(500),
        || Reply::Break,
        || gemini_says("I am sorry."),
        || gemini_says("[1, 2]"),
    ];
    for first in again {
        let (url, _) = serve(vec![first(), gemini_says("{}")]);
        let (answer, calls) = ask(&config(vec![provider(Api::Gemini, &url)]), 9);
        assert_eq!((answer.is_ok(), calls), (true, 2));
    }
    let (url, _) = serve(vec![fails(503), fails(503)]);
    let (answer, calls) = ask(&config(vec![provider(Api::Gemini, &url)]), 9);
    assert!(answer.unwrap_err().contains("busy or broken, 503"));
    assert_eq!(calls, 2, "one call and one retry");
}

#[test]
fn an_answer_that_was_cut_off_is_not_taken() {
    let cut = json!({ "content": [{ "type": "text", "text": "{\"a\": {}}" }], "stop_reason": "max_tokens" });
    let (url, _) = serve(vec![Reply::Say(200, "", cut.to_string())]);
    let config = MergeConfig { retries: 0, ..config(vec![provider(Api::Anthropic, &url)]) };
    assert!(ask(&config, 9).0.unwrap_err().contains("cut off"));
}

#[test]
fn a_silent_and_a_dead_provider_are_given_up() {
    let (slow, _) = serve(vec![Reply::Stall]);
    let short = Duration::from_millis(300);
    let one = |url: &str| MergeConfig {
        time_limit: short,
        retries: 0,
        ..config(vec![provider(Api::Gemini, url)])
    };
    assert!(ask(&one(&slow), 9).0.unwrap_err().contains("it did not answer"));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(ask(&one(&format!("http://{closed}")), 9).0.unwrap_err().contains("it did not answer"));
}

#[test]
fn no_more_calls_are_made_than_are_left() {
    let (url, _) = serve(vec![fails(500), fails(500)]);
    let config = MergeConfig { retries: 5, ..config(vec![provider(Api::Gemini, &url)]) };
    let (answer, calls) = ask(&config, 2);
    assert!(answer.unwrap_err().starts_with("no calls are left for today; gemini-1: it is busy"));
    assert_eq!(calls, 2);
    let (answer, calls) = ask(&config, 0);
    assert_eq!(answer.unwrap_err(), "no calls are left for today; none was called");
    assert_eq!(calls, 0);
}

#[test]
fn a_pause_is_what_the_provider_asks_for_within_bounds() {
    let asked = |seconds| CallError::Busy {
        status: 429,
        message: String::new(),
        pause: Some(Duration::from_secs(seconds)),
    };
    assert_eq!(pause(1, Some(&asked(7))), Duration::from_secs(7));
    assert_eq!(pause(1, Some(&asked(3_600))), PAUSE_MAX);
    assert_eq!(pause(1, None), PAUSE_MIN);
    assert_eq!(pause(3, None), PAUSE_MIN * 4);
    assert_eq!(pause(60, None), PAUSE_MAX);
    let (url, _) =
        serve(vec![Reply::Say(429, "Retry-After: 0\r\n", "{}".to_owned()), gemini_says("{}")]);
    assert!(ask(&config(vec![provider(Api::Gemini, &url)]), 9).0.is_ok());
}

#[test]
fn a_redirect_is_not_followed_with_the_key() {
    let (url, _) = serve(vec![Reply::Say(307, "Location: http://127.0.0.1:1/\r\n", String::new())]);
    let config = MergeConfig { retries: 0, ..config(vec![provider(Api::Gemini, &url)]) };
    assert!(ask(&config, 9).0.unwrap_err().contains("refused with 307"));
}

mod keys {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::key::read;

    fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    fn failure(source: &KeySource) -> String {
        read(source).unwrap_err().to_string()
    }

    #[test]
    fn a_key_file_is_read_if_only_its_owner_can() {
        let good = file(" key-1\n", 0o600);
        let of = |file: &tempfile::NamedTempFile| KeySource::File(file.path().to_owned());
        assert_eq!(read(&of(&good)).unwrap().as_deref(), Some("key-1"));
        for mode in [0o640, 0o604, 0o644, 0o666] {
            let refused = failure(&of(&file("key-1", mode)));
            assert!(refused.contains("chmod 600"), "{refused}");
        }
        assert!(failure(&of(&file("\n", 0o600))).contains("it is empty"));
        assert!(failure(&of(&file("two keys", 0o600))).contains("one word"));
        assert!(failure(&of(&file(&"k".repeat(5_000), 0o600))).contains("longer than any key"));
        assert!(failure(&KeySource::File("/nowhere/key".into())).contains("/nowhere/key"));
    }

    #[test]
    fn a_key_command_runs_without_a_shell() {
        let of = |command: &str| KeySource::Command(command.to_owned());
        assert_eq!(read(&of("printf '%s' key-1")).unwrap().as_deref(), Some("key-1"));
        assert!(failure(&of("false")).contains("exit status: 1"));
        assert!(failure(&of("no-such-program-here")).contains("No such file"));
        assert!(failure(&of("")).contains("not a command line"));
        assert!(failure(&of("printf 'a b'")).contains("one word"));
        assert_eq!(read(&of("echo $HOME")).unwrap().as_deref(), Some("$HOME"));
    }
}
