//! The pages over a daemon that answers from a table, without a browser.

use anchord_daemon::api;
use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;
use crate::daemon::{Daemon, Finding, Severity};

const PORT: u16 = 40_321;
const HOST: &str = "127.0.0.1:40321";

/// Answers as a daemon with one project would, and writes down what it is asked to change.
#[derive(Default)]
struct Scripted {
    changes: Mutex<Vec<Value>>,
    is_gone: bool,
    /// The work that the live session staged last.
    staged: Mutex<String>,
}

fn record(id: &str, title: &str) -> Value {
    let by = json!({"session": "s1", "client": "claude-code", "time": now() - 60_000});
    let body = json!({"note": {"content": title, "importance": 5}});
    json!({
        "record": {"id": id, "version": 1, "revision": 3, "created": by, "updated": by, "body": body},
        "title": title, "text": "", "reads": 0,
    })
}

const HOSTILE: &str = "<script>alert(1)</script>";

impl Daemon for Scripted {
    fn get(&self, path: &str, _: &Value) -> Result<Value, Failure> {
        if self.is_gone {
            return Err(Failure {
                message: "no daemon is running".to_owned(),
                action: Some("It starts with the next agent.".to_owned()),
            });
        }
        let project = json!({"id": "p1", "root": "/home/ada/proj", "name": "proj", "exists": true,
            "open": true, "revision": 3, "entries": 3, "bytes": 10});
        let session = json!({"id": "session-1", "client": HOSTILE, "since": 0, "last_call": 0,
            "connected": true, "project": {"id": "p1", "root": "/home/ada/proj"}});
        let given = json!({"number": 4, "time": 0, "session": "session-1", "tool": "hook prompt",
            "ids": ["n1"], "tokens": 30});
        Ok(match path {
            api::STATUS => json!({
                "build": "0", "pid": 1, "started": 0, "uptime_ms": 1, "sessions": [], "projects": [project],
                "instance": {"id": "i", "directory": "", "data": "", "config": "", "logs": ""},
                "http": {"state": "off"},
            }),
            api::NOW => json!({
                "lanes": [{
                    "session": session, "staged": ["a staged lesson", *self.staged.lock()], "given": [given],
                    "saved": [{"id": "n1", "title": HOSTILE, "time": 0}],
                    "waits": {"for": "writer", "jobs": 2, "behind": ["other-session"]},
                }],
                "approvals": [{"id": "3fa2", "action": "make deploy", "rules": ["Ask first"],
                    "session": "session-1", "since": 0}],
            }),
            api::GIVEN => json!({
                "text": HOSTILE, "cause": "deploy it",
                "records": [{"id": "n1", "title": "A note", "why": "has deploy of the prompt"}],
            }),
            api::GROWTH => json!({
                "days": [{"day": 0, "created": 3, "note_tokens": 20}], "active": 1_234, "note_tokens": 20,
                "note_budget": 1_000, "load_tokens": 2_500,
                "compactions": [{"revision": 7, "time": 0, "archived": 5, "changed": 1, "forgotten": 2}],
            }),
            api::LOG => json!({
                "lines": [{"number": 1, "time": 5, "session": "s", "tool": "memory_search", "tokens": 9}],
                "fault": "the disk is read-only",
            }),
            _ => panic!("{path} is not scripted"),
        })
    }

    fn post(&self, path: &str, params: &Value) -> Result<Value, Failure> {
        let reply = json!({"text": "done\n", "records": []});
        match (path, params["pick"]["by"].as_str(), params["tool"].as_str()) {
            (api::RECORDS, Some("newest"), _) => {
                let records = [record("n1", HOSTILE), record("n2", "A second note")];
                Ok(json!({"revision": 3, "records": records, "cursor": "1.n1"}))
            }
            (api::RECORDS, Some("ids"), _) => {
                let ids = params["pick"]["ids"].as_array().unwrap();
                let found: Vec<Value> =
                    ids.iter().map(|id| record(id.as_str().unwrap(), "A note")).collect();
                Ok(json!({"revision": 3, "records": found}))
            }
            (api::RECORDS, ..) => Ok(json!({"revision": 3, "records": []})),
            (api::ANCHORS, ..) => Err(Failure::new("the project's files cannot be seen from here")),
            (api::TOOL, _, Some("memory_history")) => Ok(reply),
            (api::TOOL, _, Some("memory_rules")) => {
                assert_eq!(params["arguments"], json!({"only_file": true}));
                Ok(json!({"text": format!("file:friday [deny] {HOSTILE}\n"), "records": []}))
            }
            (api::TOOL, _, Some("memory_search")) => {
                let found = record("n1", "A note")["record"].clone();
                Ok(json!({"text": "n1: A note\n", "records": [found]}))
            }
            (api::TOOL, ..) => {
                self.changes.lock().push(params.clone());
                Ok(reply)
            }
            _ => panic!("{path} {params} is not scripted"),
        }
    }

    fn findings(&self, _: bool) -> Result<Vec<Finding>, Failure> {
        let finding = |severity, what: &str| Finding {
            severity,
            about: "daemon".to_owned(),
            what: what.to_owned(),
            action: Some("Run it again.".to_owned()),
            fixed: None,
            is_repairable: severity == Severity::Problem,
        };
        Ok(vec![finding(Severity::Good, "answers"), finding(Severity::Problem, "is old")])
    }
}

/// A browser that was let in.
struct Browser {
    daemon: Arc<Scripted>,
    app: Arc<App>,
    cookie: String,
}

impl Browser {
    async fn over(daemon: Scripted) -> Self {
        let daemon = Arc::new(daemon);
        let requests = Requests(Arc::clone(&daemon) as Arc<dyn Daemon>);
        let app = Arc::new(App::new(requests, Options::default(), PORT).unwrap());
        let mut browser = Self { daemon, app, cookie: String::new() };
        let path = browser.app.url().replace(&format!("http://{HOST}"), "");
        let reply = browser.send(Method::GET, &path, &[], "").await;
        let cookie = reply.headers[header::SET_COOKIE].to_str().unwrap();
        browser.cookie = cookie.split(';').next().unwrap().to_owned();
        browser
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &'static str,
    ) -> Reply {
        let mut request =
            Request::builder().method(method).uri(path).header("cookie", &self.cookie);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", HOST);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body)).unwrap();
        let response = router(Arc::clone(&self.app)).oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        Reply { status: head.status, headers: head.headers, text }
    }

    async fn page(&self, path: &str) -> String {
        let reply = self.send(Method::GET, path, &[], "").await;
        assert_eq!(reply.status, StatusCode::OK, "{path}: {}", reply.text);
        reply.text
    }

    /// Sends a form as one of the pages would.
    async fn post(&self, path: &str, fields: &str) -> Reply {
        let body = format!("csrf={}&{fields}", self.app.guard.csrf());
        let headers = [
            ("origin", "http://127.0.0.1:40321"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        self.send(Method::POST, path, &headers, Box::leak(body.into_boxed_str())).await
    }
}

struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

#[tokio::test]
async fn every_view_shows_its_part_and_no_text_becomes_markup() {
    let browser = Browser::over(Scripted::default()).await;
    for (path, wanted) in [
        ("/now", &["a staged lesson", "2 writes queued behind session …ession", "make deploy"][..]),
        ("/learned", &["A second note", "New since yesterday", "files cannot be seen from here"]),
        ("/memory", &["A second note", "Older records", "cursor=1.n1"]),
        (
            "/memory?kind=rule",
            &["Rules from .anchord/rules.toml", "file:friday [deny]", "A second note"],
        ),
        ("/memory?q=note", &["1 record found", "Why in this order"]),
        ("/memory/record?id=n1", &["A note", "Versions"]),
        ("/memory/edit?id=n1", &["<textarea", "importance"]),
        ("/memory/merge?id=n2", &["With which of these?", "other=n1"]),
        ("/memory/merge?id=n2&other=n1", &["The other record is forgotten"]),
        (
            "/growth",
            &[
                "1,234 active records",
                "<svg",
                "As a table",
                "may be missing: the disk is read-only",
            ],
        ),
        ("/health", &["1 problem", "is old", "Repair what is safe"]),
        ("/now/given?session=session-1&number=4", &["has deploy of the prompt", "Because of"]),
    ] {
        let page = browser.page(path).await;
        for wanted in wanted {
            assert!(page.contains(wanted), "{path} lacks {wanted}:\n{page}");
        }
        assert!(!page.contains(HOSTILE), "{path}: a text is markup");
        assert!(!page.contains("style="), "{path}: the policy forbids it");
    }
    assert!(browser.page("/now").await.contains("&lt;script&gt;"), "it is shown as text");
}

#[tokio::test]
async fn only_a_browser_that_was_let_in_sees_a_page() {
    let browser = Browser::over(Scripted::default()).await;
    let stranger = Browser { cookie: String::new(), ..Browser::over(Scripted::default()).await };
    for path in ["/now", "/learned", "/now/events", "/memory/record?id=n1", "/now/given"] {
        let reply = stranger.send(Method::GET, path, &[], "").await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
        assert!(!reply.text.contains("note"), "{path}: {}", reply.text);
    }
    let wrong = browser.send(Method::GET, "/open?token=0", &[], "").await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    assert!(wrong.text.contains("Run `anchord dashboard`"), "{}", wrong.text);
    let other = browser.send(Method::GET, "/now", &[("host", "evil.example:40321")], "").await;
    assert_eq!(other.status, StatusCode::FORBIDDEN);
    let reply = browser.send(Method::GET, "/now", &[], "").await;
    let policy = reply.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(reply.headers["cache-control"], "no-store");
}

/// By a clock that stands still while anything is done, so the machine's load does not count.
#[tokio::test(start_paused = true)]
async fn a_change_is_sent_to_an_open_page_within_a_second() {
    let browser = Browser::over(Scripted::default()).await;
    let request = Request::builder().uri("/now/events").header("host", HOST);
    let request = request.header("cookie", &browser.cookie).body(Body::empty()).unwrap();
    let reply = router(Arc::clone(&browser.app)).oneshot(request).await.unwrap();
    let mut events = reply.into_body();
    let mut next = async || {
        let event = events.frame().await.unwrap().unwrap().into_data().unwrap();
        String::from_utf8(event.to_vec()).unwrap()
    };
    assert!(next().await.contains("a staged lesson"), "it begins with what is there");
    for word in ["first change", "second change"] {
        // The server has just looked, so it takes as long as it ever does to look again.
        let early = tokio::time::timeout(Duration::from_millis(1), next()).await;
        assert!(early.is_err(), "nothing has changed yet");
        word.clone_into(&mut browser.daemon.staged.lock());
        let event = tokio::time::timeout(Duration::from_secs(1), next()).await;
        let event = event.expect("an event within a second");
        assert!(event.starts_with("event: now\n") && event.contains(word), "{event}");
    }
}

#[tokio::test]
async fn a_change_of_another_site_changes_nothing() {
    let browser = Browser::over(Scripted::default()).await;
    let own = format!("csrf={}&project=p1&id=n1", browser.app.guard.csrf());
    let own: &'static str = Box::leak(own.into_boxed_str());
    let form = ("content-type", "application/x-www-form-urlencoded");
    for (headers, body) in [
        (&[form][..], own),
        (&[form, ("origin", "https://evil.example")], own),
        (&[form, ("origin", "http://127.0.0.1:40321")], "csrf=0&project=p1&id=n1"),
        (&[form, ("origin", "http://127.0.0.1:40321")], "project=p1&id=n1"),
    ] {
        let reply = browser.send(Method::POST, "/do/forget", headers, body).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    let asked = browser.send(Method::GET, "/do/forget?project=p1&id=n1", &[], "").await;
    assert_eq!(asked.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(*browser.daemon.changes.lock(), [] as [Value; 0]);
}

#[tokio::test]
async fn actions_call_the_tools_of_commands_and_offer_to_undo() {
    let browser = Browser::over(Scripted::default()).await;
    let reply = browser.post("/do/forget", "project=p1&id=n1&back=%2Flearned").await;
    assert_eq!(reply.status, StatusCode::SEE_OTHER);
    assert_eq!(reply.headers["location"], "/learned");
    let page = browser.page("/learned").await;
    assert!(
        page.contains("Forgot n1: A note") && page.contains("name=\"revisions\" value=\"3\""),
        "{page}"
    );
    assert!(!browser.page("/learned").await.contains("Forgot n1"), "it is said once");
    browser.post("/do/undo", "project=p1&revisions=3").await;
    browser.post("/do/pin", "project=p1&id=n1").await;
    browser.post("/do/edit", "project=p1&id=n1&version=1&content=new&importance=7&tags=a,+b").await;
    browser.post("/do/edit", "project=p1&id=n1&version=1&content=A+note&importance=5").await;
    browser.post("/do/merge", "project=p1&id=n1&other=n2&version=1&content=joint").await;
    browser.post("/do/accept", "project=p1&id=n1").await;
    browser.post("/do/approve", "id=3fa2").await;
    let changes = browser.daemon.changes.lock();
    let asked: Vec<String> = changes
        .iter()
        .map(|change| {
            assert_eq!(change["typed"], json!(["dashboard"]), "a person asks");
            format!(
                "{} {} {}",
                change["project"].as_str().unwrap(),
                change["tool"].as_str().unwrap(),
                change["arguments"]
            )
        })
        .collect();
    assert_eq!(
        asked,
        [
            r#"p1 memory_forget {"id":"n1"}"#,
            r#"p1 memory_rollback {"undo":3}"#,
            r#"p1 memory_update {"id":"n1","pinned":true}"#,
            r#"p1 memory_update {"content":"new","expected_version":1,"id":"n1","importance":7,"tags":["a","b"]}"#,
            r#"p1 memory_update {"content":"joint","expected_version":1,"id":"n1"}"#,
            r#"p1 memory_forget {"id":"n2"}"#,
            r#"p1 memory_rule_stand {"disable":false,"id":"n1"}"#,
            r#"user memory_approve {"id":"3fa2"}"#,
        ],
        "a form without a change writes nothing"
    );
}

#[tokio::test]
async fn a_kept_record_is_out_of_the_way_until_it_changes() {
    let browser = Browser::over(Scripted::default()).await;
    browser.post("/do/keep", "project=p1&id=n2").await;
    let page = browser.page("/learned").await;
    assert!(page.contains("Show the 1 record that you kept"), "{page}");
    assert!(!page.contains("A second note"), "{page}");
    assert!(browser.page("/learned?kept=1").await.contains("A second note"));
}

#[tokio::test]
async fn a_back_address_of_another_site_is_not_followed() {
    let browser = Browser::over(Scripted::default()).await;
    for back in ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", ""] {
        let reply = browser.post("/do/pin", &format!("project=p1&id=n1&back={back}")).await;
        assert_eq!(reply.headers["location"], "/now", "{back}");
    }
}

#[tokio::test]
async fn a_daemon_that_is_gone_and_a_wrong_form_are_said() {
    let gone = Browser::over(Scripted { is_gone: true, ..Scripted::default() }).await;
    let reply = gone.send(Method::GET, "/learned", &[], "").await;
    assert_eq!(reply.status, StatusCode::BAD_GATEWAY);
    assert!(reply.text.contains("no daemon is running"), "{}", reply.text);
    assert!(reply.text.contains("It starts with the next agent."), "{}", reply.text);
    let browser = Browser::over(Scripted::default()).await;
    for (path, fields, wanted) in [
        ("/do/forget", "project=p1", "the form lacks `id`"),
        ("/do/forget", "project=p1&id=x", "`x` is no record"),
        ("/do/fly", "project=p1&id=n1", "there is no action `fly`"),
        ("/do/undo", "project=p1&revisions=x", "`x` is no revision"),
        ("/do/merge", "project=p1&id=n1&other=n1", "merged with itself"),
    ] {
        browser.post(path, fields).await;
        let page = browser.page("/now").await;
        assert!(page.contains(wanted), "{path} {fields}: {page}");
    }
    let reply = browser.send(Method::GET, "/nothing", &[], "").await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_file_has_every_view_and_no_way_to_change_anything() {
    let daemon: Arc<dyn Daemon> = Arc::new(Scripted::default());
    let page = crate::page(daemon, Options::default()).await.unwrap();
    for wanted in ["A second note", "a staged lesson", "<svg", "is old", "has deploy of the prompt"]
    {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    for unwanted in ["<form", "<button", "<script", "csrf", "href=\"/", HOSTILE] {
        assert!(!page.contains(unwanted), "{unwanted}: {page}");
    }
}
