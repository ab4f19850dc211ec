//! Events that are logged, and content that never is.

use std::fs;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::handler::server::ServerHandler;
use rmcp::service::{QuitReason, ServiceExt};
use tokio::io::AsyncWriteExt;
use tracing::subscriber::with_default;

use super::*;

/// A log in memory.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn logged(filter: Option<&str>, emit: impl FnOnce()) -> String {
    let page = Page::default();
    let writer = page.clone();
    with_default(subscriber(Filter::parse(filter).unwrap(), move || writer.clone()), emit);
    page.text()
}

fn emit_all() {
    tracing::info!(target: "anchord_daemon::store", "ours-info");
    tracing::debug!(target: "anchord_daemon::store", "ours-debug");
    tracing::error!(target: "hyper::proto", "theirs-error");
    tracing::warn!(target: "hyper::proto", "theirs-warn");
    tracing::error!(target: "rmcp::service", "rmcp-error");
    tracing::trace!(target: "rmcp::service", "rmcp-trace");
    tracing::info!(target: "anchord_like", "likeness-info");
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| word.contains('-') && !word.starts_with("20")).collect()
}

#[test]
fn by_default_logs_our_info_and_errors_of_dependencies() {
    assert_eq!(words(&logged(None, emit_all)), ["ours-info", "theirs-error"]);
    assert_eq!(words(&logged(Some(" "), emit_all)), ["ours-info", "theirs-error"]);
}

#[test]
fn the_variable_changes_only_our_log_level() {
    for (filter, expected) in [
        ("debug", vec!["ours-info", "ours-debug", "theirs-error"]),
        ("trace,rmcp=trace,hyper=trace", vec!["ours-info", "ours-debug", "theirs-error"]),
        ("anchord_daemon::store=debug", vec!["ours-info", "ours-debug", "theirs-error"]),
        ("anchord_daemon::http=debug", vec!["theirs-error"]),
        ("off", vec!["theirs-error"]),
    ] {
        assert_eq!(words(&logged(Some(filter), emit_all)), expected, "{filter}");
    }
    let error = Filter::parse(Some("anchord=loud")).unwrap_err().to_string();
    assert!(error.contains("anchord=loud") && error.contains("trace"), "{error}");
}

struct Silent;

impl ServerHandler for Silent {}

/// The real rmcp logs as much as it can, and gets good and bad requests that hold a secret.
#[test]
fn rmcp_never_logs_a_request() {
    const SECRET: &str = "the-memory-itself";
    let lines = [
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-06-18","capabilities":{{}},"clientInfo":{{"name":"{SECRET}","version":"1"}}}}}}"#
        ),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"x","arguments":{{"a":"{SECRET}"}}}}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{SECRET}","params":"{SECRET}"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":4,"method":"tools/call","params":"{SECRET}"}}"#),
        format!("{{ not json {SECRET}"),
    ];
    let serve = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = tokio::io::duplex(1 << 16);
            for line in &lines {
                client.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            }
            client.shutdown().await.unwrap();
            let reason = Silent.serve(server).await.unwrap().waiting().await.unwrap();
            assert!(matches!(reason, QuitReason::Closed), "{reason:?}");
        });
    };
    let text = logged(Some("trace,rmcp=trace"), serve);
    assert!(!text.contains(SECRET), "{text}");

    // Without our filter, rmcp prints the secret.
    let page = Page::default();
    let writer = page.clone();
    let open = tracing_subscriber::fmt::layer().with_writer(move || writer.clone());
    with_default(tracing_subscriber::registry().with(open), serve);
    assert!(page.text().contains(SECRET), "rmcp no longer logs requests; this test shows nothing");
}

#[test]
fn a_days_log_stops_at_its_limit_and_continues_the_next_day() {
    thread_local! {
        static TODAY: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
    }
    let page = Page::default();
    let mut log = Capped::new(page.clone(), 10, || Timestamp(TODAY.get() * MILLIS_PER_DAY));
    for line in ["12345", "67890", "too much", "still"] {
        log.write_all(line.as_bytes()).unwrap();
    }
    TODAY.set(1);
    log.write_all(b"next").unwrap();
    let full = "this day's log is full; the rest of the day is not logged\n";
    assert_eq!(page.text(), format!("1234567890{full}next"));
}

#[test]
fn a_line_is_written_without_its_secrets() {
    let page = Page::default();
    let mut log = Capped::new(page.clone(), 1_000, || Timestamp(0));
    let token = ["gh", "p_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b"].concat();
    let line = format!("cannot read {token}\n");
    assert_eq!(log.write(line.as_bytes()).unwrap(), line.len());
    assert_eq!(page.text(), "cannot read [secret removed: GitHub token]\n");
}

/// No other test sets this process's subscriber.
#[test]
fn events_reach_a_plain_file_in_the_logs_directory() {
    let dir = tempfile::tempdir().unwrap();
    let logs = start(dir.path(), None, None).unwrap();
    tracing::info!(target: "anchord_daemon::logs", answer = 42, "reached");
    assert!(matches!(start(dir.path(), None, None), Err(LogsError::Taken(_))));
    drop(logs);
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let name = files[0].file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("anchord."), "{name}");
    assert_eq!(files[0].extension().unwrap(), "log");
    let text = fs::read_to_string(&files[0]).unwrap();
    assert!(text.contains("reached") && text.contains("answer=42"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn an_unwritable_directory_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = start(&file, None, None).unwrap_err();
    assert!(matches!(&error, LogsError::Directory { .. }), "{error}");
    assert!(error.to_string().contains("file"), "{error}");
    let error = start(dir.path(), None, Some("syslog")).unwrap_err().to_string();
    assert!(error.contains("`syslog`") && error.contains("stderr"), "{error}");
}
