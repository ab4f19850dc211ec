//! The command line's requests, over the router alone, and the uniform format of errors.

use std::pin::pin;

use axum::body::Body;
use futures::FutureExt;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::ServiceExt;

use super::*;
use crate::sessions;
use crate::testing::{World, dead, hello_from, poll};

async fn send(world: &World, method: Method, target: &str, body: &str) -> (u16, String) {
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_owned()))
        .unwrap();
    let response = router(Arc::clone(&world.daemon.admin)).oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn get_json(world: &World, target: &str) -> Value {
    let (status, body) = send(world, Method::GET, target, "").await;
    assert_eq!(status, 200, "{target}: {body}");
    serde_json::from_str(&body).unwrap()
}

async fn post_json(world: &World, target: &str, body: Value) -> Value {
    let (status, reply) = send(world, Method::POST, target, &body.to_string()).await;
    assert_eq!(status, 200, "{target}: {reply}");
    serde_json::from_str(&reply).unwrap()
}

/// Returns the output of `anchord load` for a directory or an id.
async fn loaded(world: &World, project: &str) -> String {
    let call = json!({ "project": project, "tool": "memory_load" });
    let reply = post_json(world, api::TOOL, call).await;
    reply["text"].as_str().unwrap().to_owned()
}

/// Saves something in the project by a session that is gone afterwards. Returns the project's id.
async fn saved(world: &World) -> String {
    let mut shim = world.connect(dead(world.hello())).await;
    shim.initialize("2025-06-18").await;
    let lesson =
        json!({ "session_summary": "did it", "lessons": [{ "summary": "warm the cache" }] });
    shim.call("memory_save", lesson).await;
    drop(shim);
    poll(|| (world.daemon.sessions.table.connections() == 0).then_some(())).await;
    sessions::sweep(&world.daemon.sessions).await;
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    id.to_string()
}

#[tokio::test]
async fn every_error_has_the_same_form() {
    let world = World::new().await;
    let demo = world.directory("demo").display().to_string();
    let unknown = "00000000-0000-4000-8000-000000000001";
    let delete = json!({ "project": demo, "confirm": "yes" }).to_string();
    let link = json!({ "path": demo, "project": unknown }).to_string();
    let import = json!({
        "project": demo, "source": "zipmem", "path": "state.json", "dry_run": true,
        "texts": [{ "name": "state.json", "text": "{" }],
    });
    let import = import.to_string();
    let cases = [
        (Method::GET, api::PROJECT.to_owned(), "", 400, "bad_request"),
        (Method::GET, format!("{}?project={unknown}", api::PROJECT), "", 404, "not_found"),
        (Method::GET, format!("{}?project={demo}", api::PROJECT), "", 404, "not_found"),
        (Method::GET, format!("{}?project=/nowhere", api::PROJECT), "", 400, "bad_request"),
        (Method::GET, format!("{}?project={demo}&format=pdf", api::EXPORT), "", 400, "bad_request"),
        (Method::GET, format!("{}?project={demo}&limit=x", api::JOURNAL), "", 400, "bad_request"),
        (Method::POST, api::PROJECT_DELETE.to_owned(), "", 400, "bad_request"),
        (Method::POST, api::PROJECT_DELETE.to_owned(), "{", 400, "bad_request"),
        (Method::POST, api::PROJECT_DELETE.to_owned(), delete.as_str(), 404, "not_found"),
        (Method::POST, api::PROJECT_LINK.to_owned(), link.as_str(), 404, "not_found"),
        (Method::POST, api::IMPORT.to_owned(), import.as_str(), 400, "bad_request"),
        (Method::GET, "/v9/anything".to_owned(), "", 404, "not_found"),
        (Method::POST, api::STATUS.to_owned(), "", 404, "not_found"),
    ];
    for (method, target, body, status, code) in cases {
        let (found, reply) = send(&world, method.clone(), &target, body).await;
        assert_eq!(found, status, "{method} {target}: {reply}");
        let error: ErrorReply = serde_json::from_str(&reply).unwrap();
        assert_eq!(serde_json::to_value(error.code).unwrap(), code, "{method} {target}: {reply}");
        assert!(!error.error.is_empty());
    }
    assert_eq!(world.daemon.projects.open.all().len(), 0, "nothing came of any of them");
}

#[tokio::test]
async fn the_status_shows_sessions_and_projects() {
    let world = World::new().await;
    let empty = get_json(&world, api::STATUS).await;
    assert_eq!((&empty["projects"], &empty["sessions"]), (&json!([]), &json!([])));

    let id = saved(&world).await;
    let mut shim = world.shim().await;
    shim.call("memory_checkpoint", json!({ "lessons": [{ "summary": "another" }] })).await;
    let status = get_json(&world, api::STATUS).await;
    assert_eq!(status["projects"][0]["id"], id);
    assert_eq!(status["projects"][0]["records"]["lessons"], 1);
    assert_eq!(status["counters"]["calls"], 2);
    let live: Vec<&Value> = status["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|session| session["connected"] == true)
        .collect();
    assert_eq!(live.len(), 1);
    assert_eq!(
        (&live[0]["staged"]["lessons"], &live[0]["client"]),
        (&json!(1), &json!("test-agent"))
    );
    let listed = get_json(&world, api::PROJECTS).await;
    for field in ["id", "name", "root", "records", "revision", "entries"] {
        assert_eq!(listed["projects"][0][field], status["projects"][0][field], "{field}");
    }
}

#[tokio::test]
async fn a_load_the_journal_and_an_export_show_what_was_saved() {
    let world = World::new().await;
    let demo = world.directory("demo").display().to_string();
    let before = loaded(&world, &demo).await;
    assert!(before.contains("Nothing"), "{before}");

    let id = saved(&world).await;
    for project in [&demo, &id] {
        let load = loaded(&world, project).await;
        assert!(load.contains("warm the cache"), "{load}");
    }
    let journal = format!("{}?project={id}&limit=10", api::JOURNAL);
    let (status, lines) = send(&world, Method::GET, &journal, "").await;
    assert_eq!((status, lines.lines().count()), (200, 1), "{lines}");
    let line: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(
        (&line["seq"], &line["revision"], &line["op"]),
        (&json!(1), &json!(1), &json!("save"))
    );
    let all = format!("{}?project={id}&limit=10&from=0", api::JOURNAL);
    assert_eq!(send(&world, Method::GET, &all, "").await, (200, lines));
    let beyond = format!("{}?project={id}&limit=10&from=2", api::JOURNAL);
    assert_eq!(send(&world, Method::GET, &beyond, "").await, (200, String::new()));
    for format in ["markdown", "json", "zipmem"] {
        let export = format!("{}?project={id}&format={format}", api::EXPORT);
        let (status, text) = send(&world, Method::GET, &export, "").await;
        assert_eq!(status, 200);
        assert!(text.contains("warm the cache"), "{text}");
    }
}

#[tokio::test]
async fn a_journal_is_verified_and_its_index_rebuilt() {
    let world = World::new().await;
    let id = saved(&world).await;
    let project = json!({ "project": id });
    let verified = post_json(&world, api::JOURNAL_VERIFY, project.clone()).await;
    assert_eq!((&verified["entries"], &verified["problems"]), (&json!(1), &json!([])));
    let rebuilt = post_json(&world, api::JOURNAL_REBUILD, project.clone()).await;
    assert_eq!(rebuilt["entries"], 1);
    let reply: api::VerifyReply =
        serde_json::from_value(post_json(&world, api::JOURNAL_VERIFY, project).await).unwrap();
    assert!(reply.is_sound(), "{reply:?}");
}

#[tokio::test]
async fn a_project_with_a_live_session_is_not_removed() {
    let world = World::new().await;
    let id = saved(&world).await;
    let mut shim = world.shim().await;
    shim.call("memory_load", json!({})).await;
    let confirmed = json!({ "project": id, "confirm": id });
    for (target, body) in
        [(api::PROJECT_DELETE, confirmed.clone()), (api::PROJECT_FORGET, json!({ "project": id }))]
    {
        let (status, reply) = send(&world, Method::POST, target, &body.to_string()).await;
        assert_eq!(status, 409, "{reply}");
        assert!(reply.contains("1 live session(s) work"), "{reply}");
    }
    drop(shim);
    poll(|| (world.daemon.sessions.table.connections() == 0).then_some(())).await;
    let (status, _) = send(
        &world,
        Method::POST,
        api::PROJECT_DELETE,
        &json!({ "project": id, "confirm": "" }).to_string(),
    )
    .await;
    assert_eq!(status, 400, "not without its id");
    let removed = post_json(&world, api::PROJECT_DELETE, confirmed).await;
    assert!(removed["bytes"].as_u64().unwrap() > 0);
    let data = world.daemon.admin.instance.data().join("projects").join(&id);
    assert!(!data.exists());
    assert_eq!(get_json(&world, api::PROJECTS).await["projects"], json!([]));
}

#[tokio::test]
async fn a_directory_can_be_linked_to_another_projects_memory() {
    let world = World::new().await;
    let id = saved(&world).await;
    let other = world.directory("other").display().to_string();
    std::fs::create_dir(&other).unwrap();
    let linked =
        post_json(&world, api::PROJECT_LINK, json!({ "path": other, "project": id })).await;
    assert_eq!(linked["id"], id);
    let load = loaded(&world, &other).await;
    assert!(load.contains("warm the cache"), "{load}");
}

#[tokio::test]
async fn a_link_is_removed_with_its_project() {
    let world = World::new().await;
    let id = saved(&world).await;
    let other = world.directory("other").display().to_string();
    std::fs::create_dir(&other).unwrap();
    let link = json!({ "path": other, "project": id });
    let save = async |directory: &str, text: &str| {
        let mut shim = world.connect(dead(hello_from(&world.directory(directory)))).await;
        shim.initialize("2025-06-18").await;
        let arguments = json!({ "session_summary": "s", "lessons": [{ "summary": text }] });
        assert!(shim.call("memory_save", arguments).await.starts_with("Saved"));
        drop(shim);
        poll(|| (world.daemon.sessions.table.connections() == 0).then_some(())).await;
        sessions::sweep(&world.daemon.sessions).await;
    };
    let of_other = async || {
        let project = get_json(&world, &format!("{}?project={other}", api::PROJECT)).await;
        project["id"].clone()
    };
    let removals = [
        (api::PROJECT_FORGET, json!({ "project": id })),
        (api::PROJECT_DELETE, json!({ "project": id, "confirm": id })),
    ];
    for (removal, body) in removals {
        post_json(&world, api::PROJECT_LINK, link.clone()).await;
        assert_eq!(of_other().await, id);
        post_json(&world, removal, body).await;
        save("other", "in other").await;
        let listed = get_json(&world, api::PROJECTS).await;
        let own = &listed["projects"][0]["id"];
        assert!(own.is_string() && *own != id, "what was saved is listed: {listed}");
        assert_eq!(of_other().await, *own);
        save("demo", "anew").await;
    }
    let (own, text) = (of_other().await, loaded(&world, &other).await);
    assert!(
        own != id && text.contains("in other"),
        "who has the id of a deleted one is another: {text}"
    );
}

#[tokio::test]
async fn a_forgotten_project_comes_back_with_its_memory() {
    let world = World::new().await;
    let id = saved(&world).await;
    post_json(&world, api::PROJECT_FORGET, json!({ "project": id })).await;
    assert_eq!(get_json(&world, api::PROJECTS).await["projects"], json!([]));
    let mut shim = world.shim().await;
    let load = shim.call("memory_load", json!({})).await;
    assert!(load.contains("warm the cache"), "{load}");
    shim.call("memory_save", json!({ "session_summary": "back" })).await;
    assert_eq!(get_json(&world, api::PROJECTS).await["projects"][0]["id"], id);
}

#[tokio::test]
async fn an_import_is_planned_applied_once_and_then_recognised() {
    let world = World::new().await;
    let demo = world.directory("demo").display().to_string();
    let state = json!({
        "blueprints": [{ "category": "decision", "title": "t", "content": "c", "immutable": true }],
        "anchors": [], "lessons": [], "session_log": [],
    });
    let import = |dry_run: bool| {
        json!({
            "project": demo, "source": "zipmem", "path": "state.json", "dry_run": dry_run,
            "texts": [{ "name": "state.json", "text": state.to_string() }],
        })
    };
    let plan = post_json(&world, api::IMPORT, import(true)).await;
    assert_eq!((&plan["applied"], &plan["blueprints"]["new"]), (&json!(false), &json!(1)));
    assert!(!world.directory("demo/.anchord").exists(), "a plan changes nothing");
    let done = post_json(&world, api::IMPORT, import(false)).await;
    assert_eq!((&done["applied"], &done["revision"]), (&json!(true), &json!(1)));
    let again = post_json(&world, api::IMPORT, import(false)).await;
    assert_eq!((&again["applied"], &again["already"]), (&json!(false), &json!(true)));
}

#[tokio::test]
async fn compactor_items_are_imported_recalled_and_exported() {
    let world = World::new().await;
    let demo = world.directory("demo").display().to_string();
    let state = json!({ "version": 1, "items": [{ "content": "port 4000", "importance": 9 }] });
    let import = json!({
        "project": demo, "source": "compactor", "path": "state.json", "dry_run": false,
        "texts": [{ "name": "state.json", "text": state.to_string() }],
    });
    let done = post_json(&world, api::IMPORT, import.clone()).await;
    assert_eq!(
        (&done["applied"], &done["notes"]),
        (&json!(true), &json!({ "found": 1, "new": 1 }))
    );
    assert_eq!(post_json(&world, api::IMPORT, import).await["already"], true);

    let mut shim = world.shim_with("compactor").await;
    let recalled = shim.call("recall", json!({})).await;
    assert!(recalled.contains("importance:9") && recalled.contains("port 4000"), "{recalled}");
    shim.call("store", json!({ "content": "my own" })).await;
    let mut shim = world.shim().await;
    let listed = shim.call("memory_load", json!({})).await;
    assert!(listed.contains("port 4000"), "{listed}");

    let export = format!("{}?project={demo}&format=compactor", api::EXPORT);
    let state = get_json(&world, &export).await;
    let contents: Vec<&Value> =
        state["items"].as_array().unwrap().iter().map(|item| &item["content"]).collect();
    assert_eq!(contents, ["port 4000", "my own"]);
}

#[tokio::test]
async fn an_incomplete_stop_request_stops_nothing() {
    let world = World::new().await;
    for body in ["", "{", "{\"a\":", "stop", "null"] {
        let (status, reply) = send(&world, Method::POST, api::STOP, body).await;
        assert_eq!(status, 400, "{body:?}: {reply}");
        let reply: ErrorReply = serde_json::from_str(&reply).unwrap();
        assert_eq!(reply.code, ErrorCode::BadRequest, "{body:?}");
    }
    let cut = futures::stream::iter([Ok("{"), Err(std::io::Error::other("it hung up"))]);
    let request = Request::builder()
        .method(Method::POST)
        .uri(api::STOP)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from_stream(cut))
        .unwrap();
    let response = router(Arc::clone(&world.daemon.admin)).oneshot(request).await.unwrap();
    assert_eq!(response.status().as_u16(), 400);
    assert!(!world.daemon.shutdown.is_started());
}

#[tokio::test]
async fn a_stop_request_starts_draining() {
    let world = World::new().await;
    let stopped = post_json(&world, api::STOP, json!({})).await;
    assert_eq!(stopped["pid"], std::process::id());
    assert!(world.daemon.shutdown.is_started());
}

#[tokio::test]
async fn the_users_own_memory_can_be_named_instead_of_a_project() {
    let world = World::new().await;
    let status = get_json(&world, "/v1/status").await;
    assert_eq!(status["personal"], Value::Null, "nothing was ever stored");
    let (code, error) =
        send(&world, Method::POST, "/v1/journal/verify", r#"{"project":"user"}"#).await;
    assert!(code == 404 && error.contains("anchord note --user"), "{code} {error}");
    let note = json!({ "project": "user", "tool": "memory_note", "arguments": { "content": "answers in German" } });
    let stored = post_json(&world, "/v1/tool", note).await;
    assert_eq!(stored["records"][0]["id"], "u1", "also where the scope is left out: {stored}");
    let status = get_json(&world, "/v1/status").await;
    assert_eq!(status["personal"]["records"]["notes"], 1, "{status}");
    assert_eq!(status["projects"], json!([]), "it is no project");
    let verified = post_json(&world, "/v1/journal/verify", json!({ "project": "user" })).await;
    assert_eq!(
        (&verified["entries"], &verified["problems"]),
        (&json!(1), &json!([])),
        "{verified}"
    );
    let load =
        post_json(&world, "/v1/tool", json!({ "project": "user", "tool": "memory_load" })).await;
    assert!(load["text"].as_str().unwrap().contains("u1: answers in German"), "{load}");
    for tool in ["memory_topic", "memory_configure", "memory_status"] {
        let call = json!({ "project": "user", "tool": tool }).to_string();
        let (code, error) = send(&world, Method::POST, "/v1/tool", &call).await;
        assert!(code == 400 && error.contains("is about a project"), "{code} {error}");
    }
    let delete = json!({ "project": "user", "confirm": "user" }).to_string();
    let (code, error) = send(&world, Method::POST, "/v1/projects/delete", &delete).await;
    assert_eq!(code, 404, "no project is called so: {error}");
    let link = json!({ "path": world.directory("demo"), "project": "user" }).to_string();
    assert_eq!(send(&world, Method::POST, "/v1/projects/link", &link).await.0, 404);
}

#[tokio::test]
async fn a_change_ends_though_its_client_hangs_up_and_a_read_does_not() {
    for (method, ends) in [(Method::POST, true), (Method::GET, false)] {
        let (go, gone) = watch::channel(false);
        let (done, mut is_done) = watch::channel(false);
        let work = async move || {
            let mut gone = gone.clone();
            gone.wait_for(|gone| *gone).await.unwrap();
            done.send_replace(true);
        };
        let router = Router::new().route("/", get(work.clone()).post(work));
        let router = router.layer(middleware::from_fn(to_the_end));
        let request = Request::builder().method(method.clone()).body(Body::empty()).unwrap();
        {
            let mut answer = pin!(router.oneshot(request));
            assert!((&mut answer).now_or_never().is_none(), "it waits");
        }
        go.send_replace(true);
        let ended = is_done.wait_for(|done| *done).await.is_ok();
        assert_eq!(ended, ends, "{method}");
    }
}
