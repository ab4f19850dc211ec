//! The view `now`: a lane for each live session.

use anchord_daemon::api::{
    self, GivenQuery, GivenReply, HookMoment, Lane, NowReply, Retrieval, WaitingApproval, Waits,
};
use anchord_memory::Timestamp;
use maud::{Markup, html};
use serde_json::json;

use super::{Scene, parts, problem};
use crate::daemon::Failure;
use crate::server::{App, Fields};

/// Renders the view. It goes on to change by itself.
pub(super) async fn view(scene: &Scene<'_>) -> Markup {
    html! {
        p.lead { "Live sessions in all projects: what each staged, saved and was given." }
        div id="live" data-events=[(!scene.is_file).then_some("/now/events")] aria-live="off" {
            (sessions(scene).await)
        }
    }
}

/// Renders the lanes alone, for those who watch.
pub(crate) async fn lanes(app: &App) -> Markup {
    let scene = Scene::bare(app);
    sessions(&scene).await
}

async fn sessions(scene: &Scene<'_>) -> Markup {
    let reply: Result<NowReply, Failure> = scene.app.daemon.get(api::NOW, json!({})).await;
    let NowReply { lanes: all, approvals } = match reply {
        Ok(reply) => reply,
        Err(failure) => return problem(&failure),
    };
    let mut texts = Vec::new();
    if scene.is_file {
        // A file cannot fetch a text when it is opened.
        for line in all.iter().flat_map(|lane| &lane.given) {
            texts.push((line.session.clone(), line.number, text_of(scene.app, line).await));
        }
    }
    html! {
        @for approval in &approvals { (waiting(scene, &all, approval)) }
        @let (idle, lanes): (Vec<&Lane>, Vec<&Lane>) = all.iter().partition(|lane| lane.is_idle());
        @if lanes.is_empty() {
            p { "No session is live. One appears here as soon as an agent starts in a project." }
        }
        @for lane in &lanes { (session(scene, &all, lane, &texts)) }
        @if !idle.is_empty() {
            p.faint {
                "Not connected, and with nothing to show: "
                (idle.iter().map(|lane| name(&all, &lane.session.id)).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn waiting(scene: &Scene<'_>, lanes: &[Lane], approval: &WaitingApproval) -> Markup {
    html! {
        div.problem data-id=(approval.id) {
            p {
                strong { (name(lanes, &approval.session)) } " waits for you: " code { (approval.action) }
            }
            p.faint { "Asked by " (approval.rules.join(", ")) ", " (parts::ago(scene, approval.since)) }
            (parts::action(scene, "approve", "Approve for 10 minutes", None, &[("id", &approval.id)]))
        }
    }
}

/// Returns the words for a session: its client and the beginning of its id.
fn name(lanes: &[Lane], session: &str) -> String {
    let short: String =
        session.chars().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect();
    let lane = lanes.iter().find(|lane| lane.session.id == session);
    match lane.map(|lane| lane.session.client.as_str()).filter(|client| !client.is_empty()) {
        Some(client) => format!("{client} …{short}"),
        None => format!("session …{short}"),
    }
}

type Texts = [(String, u64, Markup)];

fn session(scene: &Scene<'_>, lanes: &[Lane], lane: &Lane, texts: &Texts) -> Markup {
    let session = &lane.session;
    let root = session.project.as_ref().map_or("", |project| project.root.as_str());
    let place = std::path::Path::new(root).file_name().map(|name| name.to_string_lossy());
    html! {
        section.lane aria-label=(name(lanes, &session.id)) {
            h2 {
                (name(lanes, &session.id))
                span.faint title=(root) {
                    " " (place.as_deref().unwrap_or("no project yet")) " · since "
                    (Timestamp(session.since).minute())
                }
            }
            @if let Some(waits) = &lane.waits { p.warning { (waits_for(lanes, waits)) } }
            div.columns {
                div {
                    h3 { "Staged" }
                    @if lane.staged.is_empty() { p.faint { "nothing" } }
                    ul { @for item in &lane.staged { li { (clipped(item)) } } }
                    @if lane.staged_more > 0 { p.faint { "and " (lane.staged_more) " more" } }
                }
                div {
                    h3 { "Saved" }
                    @if lane.saved.is_empty() { p.faint { "nothing" } }
                    ul {
                        @for saved in &lane.saved {
                            @let id = saved.id.to_string();
                            li data-id={ (session.id) "/" (id) } {
                                @let project = session.project.as_ref().map_or("", |it| it.id.as_str());
                                @if scene.is_file { (saved.title) }
                                @else {
                                    a href=(parts::link("/memory/record", &[("project", project), ("id", &id)])) {
                                        (saved.title)
                                    }
                                }
                            }
                        }
                    }
                }
                div {
                    h3 { "Given" }
                    @if lane.given.is_empty() {
                        p.faint { "nothing since the daemon started" }
                    }
                    @for line in &lane.given { (given_line(line, texts)) }
                }
            }
        }
    }
}

fn waits_for(lanes: &[Lane], waits: &Waits) -> String {
    match waits {
        Waits::Writer { jobs, behind } => {
            let writes = parts::count(*jobs as u64, "write");
            let behind: Vec<String> = behind.iter().map(|id| name(lanes, id)).collect();
            if behind.is_empty() {
                format!("{writes} queued")
            } else {
                format!("{writes} queued behind {}", behind.join(", "))
            }
        }
        Waits::Approval { ids } if ids.len() == 1 => "waits for your approval".to_owned(),
        Waits::Approval { ids } => format!("waits for {} approvals of yours", ids.len()),
        Waits::Agent => "not connected: the daemon waits for its agent".to_owned(),
    }
}

/// The characters of a staged item that are shown.
const ITEM_CHARS: usize = 240;

fn clipped(text: &str) -> String {
    match text.char_indices().nth(ITEM_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Renders one answer: what it was, and its text once it is opened.
fn given_line(line: &Retrieval, texts: &Texts) -> Markup {
    let number = line.number.to_string();
    let source = parts::link("/now/given", &[("session", &line.session), ("number", &number)]);
    let known = texts
        .iter()
        .find(|(session, number, _)| *session == line.session && *number == line.number);
    html! {
        details data-id={ (line.session) "/" (number) } data-source=(source) {
            summary {
                (Timestamp(line.time).minute().get(11..16).unwrap_or_default()) " "
                strong { (moment(&line.tool)) } " "
                span.faint {
                    (parts::count(line.ids.len() as u64 + line.more, "record")) ", "
                    (parts::count(line.tokens.into(), "token"))
                    @if line.truncated { ", cut" }
                    @if line.refused { ", refused" }
                }
            }
            div.given {
                @match known {
                    Some((.., text)) => (text),
                    None => a href=(source) { "Show the text" },
                }
            }
        }
    }
}

/// Returns the words for the moment of an answer, or the tool that gave it.
fn moment(tool: &str) -> String {
    let Some(moment) = HookMoment::named(tool) else { return tool.to_owned() };
    let words = match moment {
        HookMoment::Start => "at its start",
        HookMoment::Restored => "after a compaction",
        HookMoment::Resumed => "when it resumed",
        HookMoment::Prompt => "with a prompt",
        HookMoment::Compaction => "before a compaction",
        HookMoment::Subagent => "to a subagent",
        HookMoment::File => "before a file",
        HookMoment::Failure => "after a failure",
    };
    words.to_owned()
}

/// Renders the text of the answer that the fields name.
pub(crate) async fn given(app: &App, fields: &Fields) -> Markup {
    let text = |name: &str| fields.get(name).map_or("", String::as_str);
    let line = Retrieval {
        session: text("session").to_owned(),
        number: text("number").parse().unwrap_or_default(),
        ..Retrieval::default()
    };
    text_of(app, &line).await
}

async fn text_of(app: &App, line: &Retrieval) -> Markup {
    let query = GivenQuery { session: line.session.clone(), number: line.number };
    let GivenReply { text, cause, records } = match app.daemon.get(api::GIVEN, query).await {
        Ok(reply) => reply,
        Err(failure) => return problem(&failure),
    };
    html! {
        @if let Some(cause) = cause { p.faint { "Because of: " q { (clipped(&cause)) } } }
        pre.text { (text.trim_end()) }
        @if !records.is_empty() {
            table {
                caption { "Why each record" }
                tbody {
                    @for record in &records {
                        tr { td { code { (record.id) } } td { (record.title) } td { (record.why) } }
                    }
                }
            }
        }
    }
}
