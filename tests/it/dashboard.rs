//! The dashboard of a real daemon in a real Chromium.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use anchord_tests::{Agent, Instance, PATIENCE, Project, Shell, skip};
use fantoccini::error::NewSessionError;
use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A process that is ended with the test.
struct Running {
    child: Child,
    /// Open until the end, so that the process can go on to write.
    lines: BufReader<ChildStdout>,
}

impl Running {
    /// Starts a command, and reads its lines up to the first for which `wanted` gives a text.
    fn start(mut command: Command, wanted: impl Fn(&str) -> Option<String>) -> (Self, String) {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self { child, lines };
        let mut line = String::new();
        loop {
            line.clear();
            assert!(running.lines.read_line(&mut line).unwrap() > 0, "it ended without the line");
            if let Some(found) = wanted(&line) {
                return (running, found);
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn dashboard(shell: &Shell<'_>) -> (Running, String) {
    let command = shell.command(&["dashboard", "--no-open"]);
    Running::start(command, |line| {
        line.split_whitespace().find(|word| word.starts_with("http://")).map(str::to_owned)
    })
}

/// Starts chromedriver; `None` where it or Chromium is missing.
fn driver() -> Option<(Running, String)> {
    let is_there = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success())
    };
    if !is_there("chromedriver") || !is_there("chromium") {
        return None;
    }
    let mut command = Command::new("chromedriver");
    command.arg("--port=0");
    Some(Running::start(command, |line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        Some(format!("http://127.0.0.1:{}", port.trim().trim_end_matches('.')))
    }))
}

async fn browser(driver: &str) -> Result<Client, NewSessionError> {
    let size = "--window-size=1000,900";
    // A container may have no sandbox, and little shared memory.
    let args = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", size];
    let options = json!({ "args": args });
    let mut capabilities = serde_json::Map::new();
    capabilities.insert("goog:chromeOptions".to_owned(), options);
    let connector = hyper_util::client::legacy::connect::HttpConnector::new();
    ClientBuilder::new(connector).capabilities(capabilities).connect(driver).await
}

/// Waits until the page has a text, which has no quotation mark.
async fn until(page: &Client, wanted: &str) {
    let path = format!("//body[contains(., \"{wanted}\")]");
    let found = page.wait().at_most(PATIENCE).for_element(Locator::XPath(&path)).await;
    let shown = page.source().await.unwrap();
    assert!(found.is_ok(), "the page lacks `{wanted}`:\n{shown}");
}

/// Clicks an element. The page renews itself, so it may be another one than was found.
async fn click(page: &Client, css: &str) {
    for _ in 0..20 {
        let found = page.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await.unwrap();
        match found.click().await {
            Err(error) if error.to_string().contains("stale element") => {}
            clicked => return clicked.unwrap(),
        }
    }
    unreachable!("{css} is never the same");
}

/// Presses a key where the focus is.
async fn press(page: &Client, key: char) {
    let body = page.active_element().await.unwrap();
    body.send_keys(&key.to_string()).await.unwrap();
}

/// Changes of which one must be shown in time.
const ATTEMPTS: usize = 10;

/// Expects one of a few changes to be in the page within a second of the daemon's commit. Any one
/// may be late on a busy machine. By a clock without load, the server's test expects it of each.
async fn shows_a_change_within_a_second(page: &Client, agent: &mut Agent, shell: &Shell<'_>) {
    let script = "window.shownAt = {};
        const live = document.getElementById('live');
        new MutationObserver(() => {
          for (const [word] of live.textContent.matchAll(/change-[0-9]+/g))
            window.shownAt[word] ??= Date.now();
        }).observe(live, { childList: true, subtree: true })";
    page.execute(script, Vec::new()).await.unwrap();
    let mut took = Vec::new();
    for number in 0..ATTEMPTS {
        let word = format!("change-{number}");
        agent.tool("memory_note", &json!({"content": word}));
        until(page, &word).await;
        let newest = shell.json(&["list", "--kind", "note", "--limit", "1"]);
        let committed = newest.pointer("/records/0/updated/time").unwrap().as_i64().unwrap();
        let script = format!("return window.shownAt['{word}']");
        let shown = page.execute(&script, Vec::new()).await.unwrap().as_i64().unwrap();
        took.push(shown - committed);
        if shown - committed <= 1_000 {
            break;
        }
    }
    let is_in_time = took.iter().any(|millis| *millis <= 1_000);
    assert!(is_in_time, "milliseconds from each commit to the page: {took:?}");
}

/// Serves a page on another port of this machine, until the runtime ends. Returns its address.
async fn foreign_server(page: String) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let page = page.clone();
            // A browser also opens connections in advance, and asks for an icon.
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let read = stream.read(&mut request).await.unwrap_or(0);
                if read > 0 {
                    let length = page.len();
                    let reply = format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\
                         Connection: close\r\n\r\n{page}"
                    );
                    // The browser may have gone on already.
                    let _ = stream.write_all(reply.as_bytes()).await;
                }
            });
        }
    });
    address
}

#[test]
fn a_person_reads_edits_forgets_and_undoes_in_chromium() {
    let Some((_driver, address)) = driver() else {
        return skip("chromium and chromedriver are not installed");
    };
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    let mut agent = Agent::with_all_tools(&instance, project.path());
    agent.tool("memory_note", &json!({"content": "The fixture needs port 4000", "importance": 6}));
    agent.tool("memory_note", &json!({"content": "Deploys happen before noon"}));
    agent.tool("memory_search", &json!({"query": "fixture"}));
    let (_dashboard, url) = dashboard(&shell);
    let base = url.split("/open").next().unwrap().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let page = match browser(&address).await {
            Ok(page) => page,
            Err(why) => return skip(&format!("chromium does not start: {why}")),
        };
        page.goto(&url).await.unwrap();
        until(&page, "Live sessions in all projects").await;
        until(&page, "The fixture needs port 4000").await;

        // A text is fetched when it is opened, with the reason for each record.
        click(&page, "details[data-source] summary").await;
        until(&page, "place 1 for “fixture”").await;

        // What an agent does appears by itself, in the page that is open. What was opened stays
        // open, and the focus stays.
        let script = "window.isFirst = true; document.querySelector('.lane li a').focus()";
        page.execute(script, Vec::new()).await.unwrap();
        let content = "Retries have jitter";
        agent.tool("memory_note", &json!({"content": content}));
        until(&page, content).await;
        let is_first = page.execute("return window.isFirst === true", Vec::new()).await.unwrap();
        assert_eq!(is_first, true, "no page was loaded again");
        let focused = page.active_element().await.unwrap().text().await.unwrap();
        assert_eq!(focused, "Deploys happen before noon");
        let open = page.find_all(Locator::Css("details[data-source][open]")).await.unwrap();
        assert_eq!(open.len(), 1);

        // Each view by its key.
        for (key, wanted) in [
            ('2', "New since yesterday"),
            ('3', "Your own memory"),
            ('4', "Tokens given to agents on each day"),
            ('5', "as `anchord doctor` finds them"),
            ('2', "Deploys happen before noon"),
        ] {
            press(&page, key).await;
            until(&page, wanted).await;
        }

        // The newest card is edited with keys.
        press(&page, 'j').await;
        press(&page, 'e').await;
        page.wait().for_element(Locator::Css("textarea[name=content]")).await.unwrap();
        for key in " of 20 %".chars() {
            press(&page, key).await;
        }
        click(&page, "form.edit button").await;
        until(&page, "Changed n3.").await;
        until(&page, "Retries have jitter of 20 %").await;

        // It is forgotten and brought back.
        press(&page, '2').await;
        until(&page, "New since yesterday").await;
        press(&page, 'j').await;
        press(&page, 'f').await;
        until(&page, "Forgot n3").await;
        let gone = agent.tool("memory_search", &json!({"query": "jitter"}));
        assert!(!gone.contains("n3"), "{gone}");
        press(&page, 'u').await;
        until(&page, "Undid revision").await;
        let found = agent.tool("memory_search", &json!({"query": "jitter"}));
        assert!(found.contains("n3"), "{found}");

        // The page is as wide as its window, also on a phone.
        for width in [1_000, 400] {
            page.set_window_size(width, 900).await.unwrap();
            for path in ["/now", "/learned", "/memory", "/growth", "/health"] {
                page.goto(&format!("{base}{path}")).await.unwrap();
                let script = "return document.documentElement.scrollWidth - window.innerWidth";
                let over = page.execute(script, Vec::new()).await.unwrap();
                assert!(over.as_i64().unwrap() <= 0, "{path} at {width}: {over}");
            }
        }

        page.goto(&format!("{base}/now")).await.unwrap();
        shows_a_change_within_a_second(&page, &mut agent, &shell).await;

        // A page of another server here is of the same site, so its form has the cookie. This one
        // also has the token of the pages.
        page.goto(&format!("{base}/memory?id=n1")).await.unwrap();
        let script = "const form = document.querySelector('form[action=\"/do/forget\"]');
            return form.outerHTML";
        let form = page.execute(script, Vec::new()).await.unwrap();
        let form = form.as_str().unwrap().replace("\"/do/", &format!("\"{base}/do/"));
        assert!(form.contains("name=\"csrf\""), "{form}");
        let other = foreign_server(format!(
            "<!doctype html><p>foreign</p>{form}<script>document.forms[0].submit()</script>"
        ))
        .await;
        page.goto(&other).await.unwrap();
        until(&page, "Another site asked for a change. Nothing was changed.").await;

        // The form of a page elsewhere has no cookie, no origin and no token.
        let form = format!(
            "data:text/html,<form method=post action={base}/do/forget>\
             <input name=id value=n1><input name=project value=x></form>\
             <script>document.forms[0].submit()</script>"
        );
        page.goto(&form).await.unwrap();
        until(&page, "has not been let in").await;
        page.close().await.unwrap();
    });
    let kept = agent.tool("memory_get", &json!({"id": "n1"}));
    assert!(kept.contains("The fixture needs port 4000"), "{kept}");
}

/// Sends a request as any local process could, and returns the reply.
fn request(base: &str, text: &str) -> String {
    let mut stream = TcpStream::connect(base.trim_start_matches("http://")).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn the_address_works_once_and_nothing_is_shown_without_it() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "a secret plan"]);
    let (dashboard, url) = dashboard(&shell);
    let base = url.split("/open").next().unwrap();
    let host = base.trim_start_matches("http://");
    let get = |path: &str, more: &str| {
        request(
            base,
            &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"),
        )
    };
    let without = get("/memory", "");
    assert!(without.starts_with("HTTP/1.1 403") && !without.contains("plan"), "{without}");
    let wrong = get("/open?token=00112233445566778899aabbccddeeff", "");
    assert!(wrong.starts_with("HTTP/1.1 403"), "{wrong}");
    let path = url.strip_prefix(base).unwrap();
    let opened = get(path, "");
    let cookie = opened.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    let seen = get("/memory", &cookie);
    assert!(seen.starts_with("HTTP/1.1 200") && seen.contains("a secret plan"), "{seen}");
    let again = get(path, "");
    assert!(again.starts_with("HTTP/1.1 403"), "{again}");

    // Cookie and token are not enough for a change: it must come from the pages' own origin.
    let (_, csrf) = seen.split_once("name=\"csrf\" value=\"").unwrap();
    let (csrf, _) = csrf.split_once('"').unwrap();
    let project = shell.json(&["project", "list"])["projects"][0]["id"].to_string();
    let body = format!("csrf={csrf}&project={}&id=n1", project.trim_matches('"'));
    let post = |origin: &str| {
        let length = body.len();
        request(
            base,
            &format!(
                "POST /do/forget HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{cookie}\
                 Origin: {origin}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                 Content-Length: {length}\r\n\r\n{body}"
            ),
        )
    };
    for origin in ["https://example.com", "null", "http://127.0.0.1:1"] {
        let foreign = post(origin);
        assert!(foreign.starts_with("HTTP/1.1 403"), "{origin}: {foreign}");
        assert!(foreign.contains("Another site asked for a change."), "{foreign}");
    }
    assert!(shell.said(&["search", "plan"]).1.contains("n1"), "it is still there");
    let own = post(base);
    assert!(own.starts_with("HTTP/1.1 303"), "{own}");
    assert_eq!(shell.said(&["search", "plan"]).0, 1, "it is forgotten");

    // A daemon that a person stops stays stopped, and the page says so.
    shell.done(&["stop"]);
    let gone = get("/memory", &cookie);
    assert!(gone.contains("no daemon is running"), "{gone}");
    assert_eq!(instance.daemon_pid(), None);
    drop(dashboard);
}

#[test]
fn a_static_page_is_one_file_without_script_or_address() {
    let (instance, project) = (Instance::new(), Project::git());
    let shell = Shell::new(&instance, project.path());
    shell.done(&["note", "Deploys happen before noon"]);
    let file = project.path().join("memory.html");
    let said = shell.done(&["dashboard", "--static", file.to_str().unwrap()]);
    assert!(said.contains("It holds the texts of the memory."), "{said}");
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("Deploys happen before noon"), "{page}");
    for unwanted in ["<script", "<form", "src=", "http://", "https://", "@import", "url("] {
        // The name of SVG is an address that nothing is loaded from.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains(unwanted), "{unwanted}: {page}");
    }
    let (code, said) = shell.said(&["dashboard", "--static", "/nowhere/memory.html"]);
    assert!(code == 1 && said.contains("cannot write /nowhere/memory.html"), "{said}");
    let (code, said) = shell.said(&["top"]);
    assert!(code == 2 && said.contains("anchord status --json"), "{said}");
}
