//! The paths of the dashboard.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::{Form, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get, post};
use futures::Stream;
use maud::Markup;
use parking_lot::Mutex;

use crate::Options;
use crate::actions;
use crate::daemon::{Failure, Requests};
use crate::guard::{Denied, Guard, add_headers};
use crate::pages::{self, View};
use crate::visits::Visits;

/// The parameters of an address or a form.
pub(crate) type Fields = HashMap<String, String>;

/// The time between two looks at the daemon while somebody watches the view `now`.
const LIVE_EVERY: Duration = Duration::from_millis(400);

/// Everything that a request needs.
pub(crate) struct App {
    pub(crate) daemon: Requests,
    pub(crate) guard: Guard,
    /// The memory that is shown first.
    pub(crate) project: String,
    port: u16,
    visits: Mutex<Visits>,
    /// Visits as they were when this run began.
    before: Visits,
    file: Option<PathBuf>,
    said: Mutex<Option<Said>>,
}

/// Words about the last change, for the next page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) is_failure: bool,
    /// The project and the commits that undo would take back, the newest first.
    pub(crate) undo: Option<(String, Vec<u64>)>,
}

impl App {
    pub(crate) fn new(daemon: Requests, options: Options, port: u16) -> io::Result<Self> {
        let Options { project, visits: file } = options;
        let visits = file.as_deref().map(Visits::read).transpose()?.unwrap_or_default();
        let guard = Guard::new(port).map_err(io::Error::other)?;
        Ok(Self {
            daemon,
            guard,
            project,
            port,
            before: visits.clone(),
            visits: Mutex::new(visits),
            file,
            said: Mutex::default(),
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/open?token={}", self.port, self.guard.token())
    }

    /// Returns the time of the last visit to a memory before this run.
    pub(crate) fn last_visit(&self, project: &str) -> Option<i64> {
        self.before.last(project)
    }

    /// Reads what was seen.
    pub(crate) fn seen<T>(&self, read: impl FnOnce(&Visits) -> T) -> T {
        read(&self.visits.lock())
    }

    /// Changes what was seen, and writes it down.
    pub(crate) async fn see(&self, change: impl FnOnce(&mut Visits)) -> Result<(), Failure> {
        let visits = {
            let mut visits = self.visits.lock();
            change(&mut visits);
            visits.clone()
        };
        let Some(file) = self.file.clone() else { return Ok(()) };
        let written = tokio::task::spawn_blocking(move || visits.write(&file)).await;
        written
            .unwrap_or_else(|_| Err(io::Error::other("the write panicked")))
            .map_err(|why| Failure::new(format!("cannot remember what was seen: {why}")))
    }

    /// Leaves words for the next page.
    pub(crate) fn say(&self, said: Said) {
        *self.said.lock() = Some(said);
    }

    /// Takes the words for this page.
    pub(crate) fn take_said(&self) -> Option<Said> {
        self.said.lock().take()
    }
}

/// Returns the current time in milliseconds since the Unix epoch.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn router(app: Arc<App>) -> Router {
    let mut pages = Router::new();
    for view in View::ALL {
        pages = pages.route(view.path(), shows(view));
    }
    let pages = pages
        .route("/", get(|| async { Redirect::to(View::Now.path()) }))
        .route("/now/given", get(given))
        .route("/now/events", get(events))
        .route("/do/{action}", post(act))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), only_let_in));
    Router::new()
        .route("/open", get(open))
        .route("/app.css", get(|| async { asset("text/css; charset=utf-8", pages::CSS) }))
        .route("/app.js", get(|| async { asset("text/javascript; charset=utf-8", pages::SCRIPT) }))
        .merge(pages)
        .fallback(|| async { turned_away(StatusCode::NOT_FOUND, "There is no such page.") })
        .layer(middleware::from_fn_with_state(Arc::clone(&app), only_own_host))
        .with_state(app)
}

async fn only_own_host(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match app.guard.check_host(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(denied) => denied.into_response(),
    };
    add_headers(response.headers_mut());
    response
}

async fn only_let_in(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match app.guard.check_cookie(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(denied) => denied.into_response(),
    }
}

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        turned_away(StatusCode::FORBIDDEN, self.words())
    }
}

fn turned_away(status: StatusCode, words: &str) -> Response {
    (status, Html(pages::plain("anchord", words).into_string())).into_response()
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

async fn open(State(app): State<Arc<App>>, Query(fields): Query<Fields>) -> Response {
    match app.guard.exchange(fields.get("token").map_or("", String::as_str)) {
        // The page goes on by itself: a redirect from another site would not carry the cookie.
        Ok(cookie) => {
            ([(header::SET_COOKIE, cookie)], Html(pages::let_in().into_string())).into_response()
        }
        Err(denied) => denied.into_response(),
    }
}

/// Serves a view, or what went wrong, in the frame of all pages.
fn shows(view: View) -> MethodRouter<Arc<App>> {
    get(async move |State(app): State<Arc<App>>, Query(fields): Query<Fields>| {
        let page = pages::render(&app, view, &fields).await;
        let status = if page.is_failure { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
        (status, Html(page.html.into_string())).into_response()
    })
}

/// Returns the text of one answer, without a frame.
async fn given(State(app): State<Arc<App>>, Query(fields): Query<Fields>) -> Response {
    Html(pages::given(&app, &fields).await.into_string()).into_response()
}

/// Sends the sessions whenever something about them has changed.
async fn events(State(app): State<Arc<App>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let stream = futures::stream::unfold((app, String::new()), |(app, before)| async move {
        loop {
            let html: Markup = pages::lanes(&app).await;
            let html = html.into_string();
            if html != before {
                let event = Event::default().event("now").data(html.replace('\r', ""));
                return Some((Ok(event), (app, html)));
            }
            tokio::time::sleep(LIVE_EVERY).await;
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

async fn act(
    State(app): State<Arc<App>>,
    Path(action): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    let csrf = fields.get("csrf").map_or("", String::as_str);
    if let Err(denied) = app.guard.check_change(&headers, csrf) {
        return denied.into_response();
    }
    let said = match actions::run(&app, &action, &fields).await {
        Ok(said) => said,
        Err(Failure { message, action }) => Said {
            text: match action {
                Some(action) => format!("{message}. {action}"),
                None => message,
            },
            is_failure: true,
            undo: None,
        },
    };
    app.say(said);
    let back = fields.get("back").filter(|back| back.starts_with('/') && !back.starts_with("//"));
    Redirect::to(back.map_or(View::Now.path(), String::as_str)).into_response()
}

#[cfg(test)]
mod tests;
