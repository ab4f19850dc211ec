//! The view `memory`: search and lists, a record with its versions, and the forms to change one.

use anchord_daemon::api::{RecordPick, RecordsReply, ShownRecord, ToolReply};
use anchord_memory::render;
use anchord_memory::{Audience, Kind, RecordId, Shell};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::learned::{more, pick};
use super::{Scene, parts};
use crate::actions::{editable, field, named, values};
use crate::daemon::Failure;
use crate::server::Fields;

/// Records on a page.
const PAGE: u32 = 50;
/// Records in a file, which has no further pages.
const FILE_PAGE: u32 = 200;
/// Records with which another can be merged, as offered.
const MERGE_OFFERS: u32 = 5;

pub(super) async fn view(scene: &Scene<'_>, fields: &Fields) -> Result<Markup, Failure> {
    if scene.project.is_empty() {
        return Ok(
            html! { p { "Nothing is remembered yet. `anchord setup` connects your agents." } },
        );
    }
    let text = |name: &str| fields.get(name).map(|value| value.trim()).filter(|it| !it.is_empty());
    let asks = ["q", "tag", "file", "since"].iter().any(|name| text(name).is_some());
    let list = if asks { search(scene, fields).await? } else { newest(scene, fields).await? };
    let of_file = if !asks && wanted_kinds(fields) == [Kind::Rule] {
        file_rules(scene).await
    } else {
        html! {}
    };
    Ok(html! {
        @if !scene.is_file { (form(scene, fields)) }
        (of_file)
        (list)
    })
}

/// Renders the rules of the project's file. Where they cannot be looked at, it says so.
async fn file_rules(scene: &Scene<'_>) -> Markup {
    let arguments = json!({ "only_file": true });
    match scene.app.daemon.tool(&scene.project, "memory_rules", arguments).await {
        Ok(reply) if reply.text.trim().is_empty() => html! {},
        Ok(reply) => html! {
            section {
                h2 { "Rules from .anchord/rules.toml" }
                pre.text { (reply.text.trim_end()) }
            }
        },
        Err(failure) => super::problem(&failure),
    }
}

fn form(scene: &Scene<'_>, fields: &Fields) -> Markup {
    let value = |name: &str| fields.get(name).map_or("", String::as_str);
    html! {
        form.search action="/memory" method="get" role="search" {
            input type="hidden" name="project" value=(scene.project);
            label { "Search" input type="search" name="q" value=(value("q")) data-key="/"
                placeholder="words, \"a phrase\", -without"; }
            label { "Kind"
                select name="kind" {
                    option value="" { "all" }
                    @for kind in Kind::ALL.into_iter() {
                        option value=(kind.noun()) selected[value("kind") == kind.noun()] { (kind.plural()) }
                    }
                }
            }
            label { "Tag" input name="tag" value=(value("tag")); }
            label { "File" input name="file" value=(value("file")); }
            label { "Since" input name="since" value=(value("since")) placeholder="2w"; }
            button { "Search" }
        }
        p.faint {
            @for (kind, name) in [(Kind::Topic, "Topics"), (Kind::Rule, "Rules"), (Kind::SessionRow, "Sessions")] {
                a href=(parts::link("/memory", &[("project", &scene.project), ("kind", kind.noun())])) { (name) } " · "
            }
            a href="/memory?project=user" { "Your own memory" }
        }
    }
}

fn wanted_kinds(fields: &Fields) -> Vec<Kind> {
    let noun = fields.get("kind").map_or("", String::as_str);
    Kind::ALL.into_iter().filter(|kind| kind.noun() == noun).collect()
}

async fn newest(scene: &Scene<'_>, fields: &Fields) -> Result<Markup, Failure> {
    let by = RecordPick::Newest { kinds: wanted_kinds(fields), since: None };
    let limit = if scene.is_file { FILE_PAGE } else { PAGE };
    let page: RecordsReply = pick(scene, by, limit, fields).await?;
    Ok(html! {
        @if page.records.is_empty() { p { "There are no such records." } }
        @for shown in &page.records { (parts::card(scene, shown)) }
        (more(scene, "/memory", fields, page.cursor.as_deref()))
        @if scene.is_file && page.cursor.is_some() {
            p.faint { "Older records are left out. `anchord export` writes all." }
        }
    })
}

async fn search(scene: &Scene<'_>, fields: &Fields) -> Result<Markup, Failure> {
    let mut arguments = Map::new();
    for (name, parameter) in
        [("q", "query"), ("file", "file"), ("since", "since"), ("cursor", "cursor")]
    {
        if let Some(value) = fields.get(name).filter(|value| !value.trim().is_empty()) {
            arguments.insert(parameter.to_owned(), value.as_str().into());
        }
    }
    if let Some(tag) = fields.get("tag").filter(|tag| !tag.trim().is_empty()) {
        arguments.insert("tags".to_owned(), json!([tag.trim()]));
    }
    let kinds = wanted_kinds(fields);
    if !kinds.is_empty() {
        let nouns: Vec<&str> = kinds.iter().map(|kind| kind.noun()).collect();
        arguments.insert("kinds".to_owned(), json!(nouns));
    }
    arguments.insert("explain".to_owned(), true.into());
    let reply = scene.app.daemon.tool(&scene.project, "memory_search", arguments.into()).await?;
    let ids = reply.records.iter().map(|record| record.id).collect();
    let shown = in_order(scene, ids).await?;
    Ok(html! {
        p { (parts::count(shown.len() as u64, "record")) " found"
            @if let Some(left) = reply.left_out { ", at least " (parts::grouped(left)) " more" } "." }
        @for shown in &shown { (parts::card(scene, shown)) }
        details { summary { "Why in this order" } pre.text { (reply.text.trim_end()) } }
        (more(scene, "/memory", fields, reply.cursor.as_deref()))
    })
}

async fn in_order(scene: &Scene<'_>, ids: Vec<RecordId>) -> Result<Vec<ShownRecord>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let by = RecordPick::Ids { ids };
    Ok(pick(scene, by, FILE_PAGE, &Fields::new()).await?.records)
}

/// Renders a record, and its versions with their differences.
pub(super) async fn record(scene: &Scene<'_>, fields: &Fields) -> Result<Markup, Failure> {
    let shown = named(scene.app, &own(scene, fields), "id").await?;
    let id = shown.record.id;
    let mut arguments = json!({ "record": id, "diff": true });
    if let (Some(cursor), Value::Object(arguments)) = (fields.get("cursor"), &mut arguments) {
        arguments.insert("cursor".to_owned(), cursor.as_str().into());
    }
    let reply = scene.app.daemon.tool(&scene.project, "memory_history", arguments).await;
    let reader = Audience::Person(Shell { typed: vec!["dashboard".to_owned()] });
    let versions = reply.map(|reply| reply.history.map(|view| render::history(&view, &reader)));
    Ok(html! {
        (parts::card(scene, &shown))
        p.faint {
            "Created " (parts::ago(scene, shown.record.created.time.0))
            @if !shown.record.created.client.is_empty() { " by " (shown.record.created.client) }
            ", revision " (shown.record.revision.0)
        }
        h2 { "Versions" }
        @match versions {
            Ok(Some(lines)) => (parts::lines(&lines)),
            Ok(None) => p { "The daemon sent no versions. It may be older: run `anchord restart`." },
            Err(failure) => (super::problem(&failure)),
        }
    })
}

/// Returns the fields with the memory that is shown.
fn own(scene: &Scene<'_>, fields: &Fields) -> Fields {
    let mut own = fields.clone();
    own.insert("project".to_owned(), scene.project.clone());
    own
}

/// Renders the form to edit a record.
pub(super) async fn edit(scene: &Scene<'_>, fields: &Fields) -> Result<Markup, Failure> {
    let shown = named(scene.app, &own(scene, fields), "id").await?;
    let values = values(&shown.record.body);
    if values.is_empty() {
        let kind = shown.record.kind().noun();
        return Err(Failure::new(format!("a {kind} is not edited here")));
    }
    let tags = shown.record.tags.join(", ");
    let title = format!("Edit {}", shown.title);
    Ok(change_form(scene, ("edit", "Save", &title), &shown, values, Some(&tags), &[]))
}

fn change_form(
    scene: &Scene<'_>,
    (action, label, title): (&str, &str, &str),
    shown: &ShownRecord,
    values: Vec<(&'static str, String)>,
    tags: Option<&str>,
    more: &[(&str, &str)],
) -> Markup {
    let id = shown.record.id.to_string();
    html! {
        h2 { (title) }
        form.edit action={ "/do/" (action) } method="post" {
            input type="hidden" name="csrf" value=(scene.app.guard.csrf());
            input type="hidden" name="back" value=(parts::link("/memory/record", &[("project", &scene.project), ("id", &id)]));
            input type="hidden" name="project" value=(scene.project);
            input type="hidden" name="id" value=(id);
            input type="hidden" name="version" value=(shown.record.version.0);
            @for (name, value) in more { input type="hidden" name=(name) value=(value); }
            @for (name, value) in &values {
                label { (name)
                    @if is_long(name) { textarea name=(name) rows="12" { "\n" (value) } }
                    @else { input name=(name) value=(value); }
                }
            }
            @if let Some(tags) = tags { label { "tags" input name="tags" value=(tags); } }
            button { (label) }
            " " a href=(scene.back) { "Cancel" }
        }
    }
}

/// Returns whether a field may have several lines.
fn is_long(name: &str) -> bool {
    matches!(name, "content" | "detail" | "concept")
}

/// Renders the choice of a record to merge with, or the form for the joint text.
pub(super) async fn merge(scene: &Scene<'_>, fields: &Fields) -> Result<Markup, Failure> {
    let own = own(scene, fields);
    let shown = named(scene.app, &own, "id").await?;
    if editable(shown.record.kind()).is_none() {
        let kind = shown.record.kind().noun();
        return Err(Failure::new(format!("a {kind} is not merged here")));
    }
    if field(&own, "other").is_err() {
        return offers(scene, &shown).await;
    }
    let other = named(scene.app, &own, "other").await?;
    let gone = other.record.id.to_string();
    let theirs = values(&other.record.body);
    let joint = values(&shown.record.body).into_iter().map(|(name, value)| {
        let their = theirs.iter().find(|(other, _)| *other == name).map(|(_, value)| value);
        let value = match their {
            Some(their) if is_long(name) => joined(&value, their),
            _ => value,
        };
        (name, value)
    });
    let title = format!("Merge {gone} into {}", shown.title);
    let (names, other_id) = (("merge", "Merge", title.as_str()), [("other", gone.as_str())]);
    let form = change_form(scene, names, &shown, joint.collect(), None, &other_id);
    Ok(html! {
        (form)
        p { "The other record is forgotten:" }
        (parts::text(&other.text))
    })
}

/// Joins two texts, without the lines of the second that the first has.
fn joined(one: &str, other: &str) -> String {
    let new: Vec<&str> =
        other.lines().filter(|line| !one.lines().any(|own| own.trim() == line.trim())).collect();
    if new.is_empty() { one.to_owned() } else { format!("{one}\n{}", new.join("\n")) }
}

async fn offers(scene: &Scene<'_>, shown: &ShownRecord) -> Result<Markup, Failure> {
    let id = shown.record.id;
    let kind = shown.record.kind().noun();
    let arguments = json!({ "query": shown.title, "kinds": [kind], "limit": MERGE_OFFERS + 1 });
    let reply: ToolReply =
        scene.app.daemon.tool(&scene.project, "memory_search", arguments).await?;
    let others =
        reply.records.iter().map(|record| record.id).filter(|other| *other != id).collect();
    let others = in_order(scene, others).await?;
    let id = id.to_string();
    Ok(html! {
        h2 { "Merge " (shown.title) }
        (parts::text(&shown.text))
        @if others.is_empty() { p { "No other " (kind) " is like it." } }
        @else { p { "With which of these? You see the joint text before anything is written." } }
        @for other in &others {
            @let other_id = other.record.id.to_string();
            @let pairs = [("project", scene.project.as_str()), ("id", id.as_str()), ("other", other_id.as_str())];
            article.card tabindex="0" {
                header { a.title href=(parts::link("/memory/merge", &pairs)) data-key="m" { (other.title) } }
                (parts::text(&other.text))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    //! Joint texts.

    use super::joined;

    #[test]
    fn a_joint_text_has_each_line_once() {
        assert_eq!(joined("a\nb", "b \nc"), "a\nb\nc");
        assert_eq!(joined("a", "a"), "a");
    }
}
