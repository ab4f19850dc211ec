//! The view `learned`: what is new since the last visit, and what a person should decide.

use std::collections::BTreeSet;

use anchord_daemon::api::{
    self, AnchorsParams, AnchorsReply, CheckedAnchor, CodeState, RecordPick, RecordsParams,
    RecordsReply, SharedRemark, ShownRecord,
};
use anchord_memory::{Kind, RecordId};
use maud::{Markup, html};

use super::{Scene, parts};
use crate::daemon::Failure;
use crate::server::Fields;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Records on a page.
const PAGE: u32 = 30;
/// Entries of each list of things to decide.
const DECIDE_MAX: usize = 5;
/// The age from which a note that nobody looked up is worth a question.
const UNUSED_DAYS: i64 = 30;

pub(super) async fn view(scene: &Scene<'_>, fields: &Fields) -> Result<Markup, Failure> {
    if scene.project.is_empty() {
        return Ok(
            html! { p { "Nothing is remembered yet. `anchord setup` connects your agents." } },
        );
    }
    let (since, words) = since(scene, fields);
    let shows_kept = fields.get("kept").is_some_and(|value| !value.is_empty());
    let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::SessionRow).collect();
    let page: RecordsReply =
        pick(scene, RecordPick::Newest { kinds, since: Some(since) }, PAGE, fields).await?;
    let (decide, above) = decide(scene).await;
    let below = page.records.iter().filter(|shown| !above.contains(&shown.record.id));
    let (kept, fresh): (Vec<&ShownRecord>, Vec<&ShownRecord>) =
        below.partition(|shown| is_kept(scene, shown));
    if !scene.is_file {
        let project = scene.project.clone();
        scene.app.see(|visits| visits.visit(&project, scene.now)).await?;
    }
    Ok(html! {
        (periods(scene, &words))
        (decide)
        h2 { "New " (words) }
        @if fresh.is_empty() { p { "Nothing new that you have not kept." } }
        @for shown in fresh.iter().copied() { (parts::card(scene, shown)) }
        @if !kept.is_empty() && !scene.is_file {
            @if shows_kept {
                h2 { "Kept" }
                @for shown in &kept { (parts::card(scene, shown)) }
            } @else {
                p { a href=(parts::link("/learned", &[("project", &scene.project), ("kept", "1")])) {
                    "Show the " (parts::count(kept.len() as u64, "record")) " that you kept"
                } }
            }
        }
        (more(scene, "/learned", fields, page.cursor.as_deref()))
    })
}

/// Returns the time from which records are new, and the words for it.
fn since(scene: &Scene<'_>, fields: &Fields) -> (i64, String) {
    let yesterday = || (scene.now - DAY_MS, "since yesterday".to_owned());
    match fields.get("since").map(String::as_str) {
        Some("week") => (scene.now - 7 * DAY_MS, "in the last 7 days".to_owned()),
        Some("month") => (scene.now - 30 * DAY_MS, "in the last 30 days".to_owned()),
        Some("yesterday") => yesterday(),
        _ => match scene.app.last_visit(&scene.project).filter(|_| !scene.is_file) {
            Some(last) => {
                (last, format!("since your last visit, {}", parts::relative(scene.now, last)))
            }
            None => yesterday(),
        },
    }
}

fn periods(scene: &Scene<'_>, words: &str) -> Markup {
    if scene.is_file {
        return html! {};
    }
    let choices =
        [("", "last visit"), ("yesterday", "yesterday"), ("week", "7 days"), ("month", "30 days")];
    html! {
        p.lead aria-label={ "Shown: " (words) } {
            "Since "
            @for (value, name) in choices {
                a href=(parts::link("/learned", &[("project", &scene.project), ("since", value)])) { (name) } " "
            }
        }
    }
}

fn is_kept(scene: &Scene<'_>, shown: &ShownRecord) -> bool {
    let record = &shown.record;
    scene.app.seen(|visits| visits.is_kept(&scene.project, record.id, record.version))
}

pub(super) async fn pick(
    scene: &Scene<'_>,
    pick: RecordPick,
    limit: u32,
    fields: &Fields,
) -> Result<RecordsReply, Failure> {
    let cursor = fields.get("cursor").cloned();
    let params = RecordsParams { project: scene.project.clone(), pick, limit, cursor };
    scene.app.daemon.post(api::RECORDS, params).await
}

/// Renders the link to the next page.
pub(super) fn more(scene: &Scene<'_>, path: &str, fields: &Fields, cursor: Option<&str>) -> Markup {
    let Some(cursor) = cursor.filter(|_| !scene.is_file) else { return html! {} };
    let mut pairs: Vec<(&str, &str)> = fields
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "cursor" | "project"))
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    pairs.sort_unstable();
    pairs.extend([("project", scene.project.as_str()), ("cursor", cursor)]);
    html! { p { a.button href=(parts::link(path, &pairs)) rel="next" { "Older records" } } }
}

/// Renders what a person should decide. A part that cannot be looked at says so. Also returns the
/// records that it shows as cards.
async fn decide(scene: &Scene<'_>) -> (Markup, BTreeSet<RecordId>) {
    let none = Fields::new();
    let proposed = pick(scene, RecordPick::ProposedRules, 200, &none).await;
    let contradicting = pick(scene, RecordPick::Contradicting, 200, &none).await;
    let written_before = scene.now - UNUSED_DAYS * DAY_MS;
    let unused = pick(scene, RecordPick::NeverRead { written_before }, 200, &none).await;
    let anchors = anchors(scene).await;
    let pages = [&proposed, &contradicting].into_iter().flatten();
    let shown = pages.flat_map(|page| page.records.iter().take(DECIDE_MAX));
    let shown = shown.map(|shown| shown.record.id).collect();
    let parts = [
        proposed.map(|page| rules(scene, &page)),
        contradicting.map(|page| contradictions(scene, &page)),
        Ok(shared(scene)),
        anchors.map(|reply| stale(scene, &reply)),
        unused.map(|page| never_used(scene, &page)),
    ];
    let parts: Vec<Markup> = parts
        .into_iter()
        .map(|part| part.unwrap_or_else(|failure| super::problem(&failure)))
        .filter(|part| !part.0.is_empty())
        .collect();
    let html = html! {
        @if !parts.is_empty() {
            section.decide aria-label="To decide" {
                h2 { "To decide" }
                @for part in &parts { (part) }
            }
        }
    };
    (html, shown)
}

async fn anchors(scene: &Scene<'_>) -> Result<AnchorsReply, Failure> {
    if scene.is_personal() {
        return Ok(AnchorsReply { project: None, anchors: Vec::new() });
    }
    let params = AnchorsParams { project: scene.project.clone(), fix: false };
    scene.app.daemon.post(api::ANCHORS, params).await
}

fn rules(scene: &Scene<'_>, page: &RecordsReply) -> Markup {
    let open: Vec<&ShownRecord> =
        page.records.iter().filter(|shown| !is_kept(scene, shown)).collect();
    html! {
        @if !open.is_empty() { h3 { "Proposed rules: not enforced until you accept them" } }
        @for shown in open.iter().take(DECIDE_MAX) { (parts::card(scene, shown)) }
        (rest(open.len(), "rule"))
    }
}

fn contradictions(scene: &Scene<'_>, page: &RecordsReply) -> Markup {
    let pairs = page.records.chunks(2);
    let open: Vec<&[ShownRecord]> =
        pairs.filter(|pair| !pair.iter().all(|shown| is_kept(scene, shown))).collect();
    html! {
        @if !open.is_empty() { h3 { "Contradictions: forget the one that no longer holds" } }
        @for pair in open.iter().take(DECIDE_MAX) {
            div.pair { @for shown in *pair { (parts::card(scene, shown)) } }
        }
        (rest(open.len(), "contradiction"))
    }
}

/// Renders the conflicts between records and shared files.
fn shared(scene: &Scene<'_>) -> Markup {
    let project = scene.projects.iter().find(|it| it.id == scene.project);
    let Some(status) = project.and_then(|project| project.shared.as_ref()) else { return html! {} };
    let conflicts: Vec<&SharedRemark> =
        status.remarks.iter().filter(|remark| remark.is_conflict).collect();
    html! {
        @if !conflicts.is_empty() { h3 { "Shared files: both sides changed" } }
        @for remark in conflicts.iter().take(DECIDE_MAX) {
            div.row {
                p { (remark.file.as_deref().unwrap_or_default()) " " (remark.what) }
                @if let Some(id) = remark.record {
                    @let id = id.to_string();
                    @let own = [("project", scene.project.as_str()), ("id", id.as_str())];
                    div.actions {
                        (parts::action(scene, "keep-memory", "Keep the record", None, &own))
                        (parts::action(scene, "keep-file", "Keep the file", None, &own))
                    }
                }
            }
        }
        (rest(conflicts.len(), "conflict"))
    }
}

/// Renders the anchors whose code is not where they say.
fn stale(scene: &Scene<'_>, reply: &AnchorsReply) -> Markup {
    let stale: Vec<&CheckedAnchor> = reply
        .anchors
        .iter()
        .filter(|it| !it.is_right() && it.state != CodeState::Unchecked)
        .collect();
    let moved = stale.iter().any(|anchor| anchor.state == CodeState::Moved);
    html! {
        @if !stale.is_empty() { h3 { "Anchors whose code is not where they say" } }
        @if moved {
            (parts::action(scene, "move-anchors", "Move them to their code", None, &[("project", &scene.project)]))
        }
        @for anchor in stale.iter().take(DECIDE_MAX) {
            div.row {
                p {
                    span.badge { (state(anchor)) } " "
                    @let was = anchor.was.as_ref();
                    @if let Some(was) = was { code { (was.file) ":" (was.lines) } " → " }
                    code { (anchor.file) ":" (anchor.lines) } " " (anchor.concept)
                }
                @let id = anchor.id.to_string();
                @let own = [("project", scene.project.as_str()), ("id", id.as_str())];
                div.actions {
                    a.button href=(parts::link("/memory/edit", &own)) { "Edit" }
                    (parts::action(scene, "forget", "Forget", None, &own))
                }
            }
        }
        (rest(stale.len(), "anchor"))
    }
}

fn state(anchor: &CheckedAnchor) -> String {
    match anchor.state {
        CodeState::Moved => "moved".to_owned(),
        CodeState::Changed => format!("changed by {} %", anchor.percent),
        CodeState::Gone => "gone".to_owned(),
        CodeState::Fresh | CodeState::NoFingerprint | CodeState::Unchecked => String::new(),
    }
}

fn never_used(scene: &Scene<'_>, page: &RecordsReply) -> Markup {
    let unkept: Vec<&ShownRecord> =
        page.records.iter().filter(|shown| !is_kept(scene, shown)).collect();
    let hidden = page.total.unwrap_or_default().saturating_sub(page.records.len() as u64);
    html! {
        @if !unkept.is_empty() {
            h3 { "Notes that nobody looked up in " (UNUSED_DAYS) " days" }
        }
        @for shown in unkept.iter().take(DECIDE_MAX) {
            div.row {
                p { code { (shown.record.id) } " " (shown.title) }
                (decide_one(scene, shown.record.id))
            }
        }
        (rest(unkept.len() + usize::try_from(hidden).unwrap_or_default(), "note"))
    }
}

/// Renders the two ways to settle one record.
fn decide_one(scene: &Scene<'_>, id: RecordId) -> Markup {
    let id = id.to_string();
    let own = [("project", scene.project.as_str()), ("id", id.as_str())];
    html! {
        div.actions {
            (parts::action(scene, "keep", "Keep", None, &own))
            (parts::action(scene, "forget", "Forget", None, &own))
        }
    }
}

fn rest(all: usize, noun: &str) -> Markup {
    let more = all.saturating_sub(DECIDE_MAX);
    html! { @if more > 0 { p.faint { "and " (parts::count(more as u64, noun)) " more" } } }
}
