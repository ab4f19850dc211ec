//! The changes that a person makes, by the tools that commands use.

use anchord_daemon::api::{
    self, AnchorsParams, AnchorsReply, RecordPick, RecordsParams, RecordsReply, SharedAction,
    SharedParams, SharedReply, ShownRecord, ToolReply,
};
use anchord_memory::{Body, Kind, RecordId};
use serde_json::{Map, Value, json};

use crate::daemon::{Failure, Severity};
use crate::server::{App, Fields, Said};

/// Carries out an action. The fields are those of its form.
pub(crate) async fn run(app: &App, action: &str, fields: &Fields) -> Result<Said, Failure> {
    match action {
        "keep" => keep(app, fields).await,
        "pin" => pin(app, fields, true).await,
        "unpin" => pin(app, fields, false).await,
        "edit" => edit(app, fields).await,
        "merge" => merge(app, fields).await,
        "forget" => forget(app, fields).await,
        "undo" => undo(app, fields).await,
        "accept" => stand(app, fields, false).await,
        "disable" => stand(app, fields, true).await,
        "approve" => approve(app, fields).await,
        "move-anchors" => move_anchors(app, fields).await,
        "keep-memory" => share(app, fields, SharedAction::KeepMemory).await,
        "keep-file" => share(app, fields, SharedAction::KeepFile).await,
        "repair" => repair(app).await,
        _ => Err(Failure::new(format!("there is no action `{action}`"))),
    }
}

/// Returns a field that the form must have.
pub(crate) fn field<'a>(fields: &'a Fields, name: &str) -> Result<&'a str, Failure> {
    let value = fields.get(name).map(String::as_str);
    value.ok_or_else(|| Failure::new(format!("the form lacks `{name}`")))
}

/// Reads the record that a form is about.
pub(crate) async fn named(app: &App, fields: &Fields, name: &str) -> Result<ShownRecord, Failure> {
    let (project, id) = (field(fields, "project")?, field(fields, name)?);
    let id: RecordId = id.parse().map_err(|_| Failure::new(format!("`{id}` is no record's id")))?;
    find(app, project, id).await
}

async fn find(app: &App, project: &str, id: RecordId) -> Result<ShownRecord, Failure> {
    let params = RecordsParams {
        project: project.to_owned(),
        pick: RecordPick::Ids { ids: vec![id] },
        limit: 1,
        cursor: None,
    };
    let page: RecordsReply = app.daemon.post(api::RECORDS, params).await?;
    page.records.into_iter().next().ok_or_else(|| Failure::new(format!("there is no record {id}")))
}

fn done(text: String) -> Said {
    Said { text, is_failure: false, undo: None }
}

/// Says what was done, with the commit that undo takes back.
async fn changed(app: &App, project: &str, text: String, reply: &ToolReply, id: RecordId) -> Said {
    let written = reply.records.iter().find(|record| record.id == id);
    let revision = match written {
        Some(record) => Some(record.revision.0),
        // The reply of a removal names no record. What cannot be read cannot be offered.
        None => find(app, project, id).await.ok().map(|shown| shown.record.revision.0),
    };
    let undo = revision.map(|revision| (project.to_owned(), vec![revision]));
    Said { text, is_failure: false, undo }
}

async fn keep(app: &App, fields: &Fields) -> Result<Said, Failure> {
    let (project, shown) = (field(fields, "project")?, named(app, fields, "id").await?);
    let (id, version) = (shown.record.id, shown.record.version);
    app.see(|visits| visits.keep(project, id, version)).await?;
    Ok(done(format!("Kept {id} as it is. It shows here again when it changes.")))
}

async fn pin(app: &App, fields: &Fields, pinned: bool) -> Result<Said, Failure> {
    let (project, shown) = (field(fields, "project")?, named(app, fields, "id").await?);
    let id = shown.record.id;
    let arguments = json!({ "id": id, "pinned": pinned });
    let reply = app.daemon.tool(project, "memory_update", arguments).await?;
    let text = if pinned {
        format!("Pinned {id}: it comes first in every load.")
    } else {
        format!("Unpinned {id}.")
    };
    Ok(changed(app, project, text, &reply, id).await)
}

/// Returns the tool that edits a record of a kind, and the fields that people edit.
pub(crate) fn editable(kind: Kind) -> Option<(&'static str, &'static [&'static str])> {
    match kind {
        Kind::Note => Some(("memory_update", &["summary", "content", "importance"])),
        Kind::Blueprint => Some(("memory_rewrite", &["title", "content"])),
        Kind::Lesson => Some(("memory_rewrite", &["summary", "detail"])),
        Kind::Anchor => Some(("memory_rewrite", &["file", "lines", "concept"])),
        _ => None,
    }
}

/// Returns the current values of those fields.
pub(crate) fn values(body: &Body) -> Vec<(&'static str, String)> {
    match body {
        Body::Note(note) => vec![
            ("summary", note.summary.clone()),
            ("content", note.content.clone()),
            ("importance", note.importance.to_string()),
        ],
        Body::Blueprint(it) => vec![("title", it.title.clone()), ("content", it.content.clone())],
        Body::Lesson(it) => vec![("summary", it.summary.clone()), ("detail", it.detail.clone())],
        Body::Anchor(it) => vec![
            ("file", it.file.clone()),
            ("lines", it.lines.to_string()),
            ("concept", it.concept.clone()),
        ],
        _ => Vec::new(),
    }
}

/// Writes the fields of a form that differ from a record.
async fn write(
    app: &App,
    fields: &Fields,
    shown: &ShownRecord,
) -> Result<Option<ToolReply>, Failure> {
    let project = field(fields, "project")?;
    let Some((tool, _)) = editable(shown.record.kind()) else {
        let kind = shown.record.kind().noun();
        return Err(Failure::new(format!("a {kind} is not edited here")));
    };
    let mut arguments = Map::new();
    for (name, old) in values(&shown.record.body) {
        // Browsers send line breaks as two characters.
        let Some(new) = fields.get(name).map(|text| text.replace("\r\n", "\n")) else { continue };
        if new == old {
            continue;
        }
        let value = if name == "importance" {
            new.trim().parse::<u8>().map_or_else(|_| Value::from(new.clone()), Value::from)
        } else {
            Value::from(new)
        };
        arguments.insert(name.to_owned(), value);
    }
    if let Some(tags) = fields.get("tags") {
        let tags: Vec<&str> =
            tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect();
        if tags != shown.record.tags {
            arguments.insert("tags".to_owned(), json!(tags));
        }
    }
    if arguments.is_empty() {
        return Ok(None);
    }
    let version = field(fields, "version")?;
    let version: u32 =
        version.parse().map_err(|_| Failure::new(format!("`{version}` is no version")))?;
    arguments.insert("id".to_owned(), json!(shown.record.id));
    arguments.insert("expected_version".to_owned(), version.into());
    app.daemon.tool(project, tool, arguments.into()).await.map(Some)
}

async fn edit(app: &App, fields: &Fields) -> Result<Said, Failure> {
    let (project, shown) = (field(fields, "project")?, named(app, fields, "id").await?);
    let id = shown.record.id;
    match write(app, fields, &shown).await? {
        None => Ok(done(format!("{id} is as it was."))),
        Some(reply) => Ok(changed(app, project, format!("Changed {id}."), &reply, id).await),
    }
}

/// Writes the joint text into one record and forgets the other. If the second step fails, the first
/// can be undone.
async fn merge(app: &App, fields: &Fields) -> Result<Said, Failure> {
    let project = field(fields, "project")?;
    let (kept, other) = (named(app, fields, "id").await?, named(app, fields, "other").await?);
    let (id, gone) = (kept.record.id, other.record.id);
    if id == gone {
        return Err(Failure::new("a record cannot be merged with itself"));
    }
    let written = write(app, fields, &kept).await?;
    let mut commits = Vec::new();
    if let Some(reply) = &written {
        let said = changed(app, project, String::new(), reply, id).await;
        commits.extend(said.undo.into_iter().flat_map(|(_, commits)| commits));
    }
    let forgotten = app.daemon.tool(project, "memory_forget", json!({ "id": gone })).await;
    match forgotten {
        Ok(reply) => {
            let said = changed(app, project, String::new(), &reply, gone).await;
            let last = said.undo.map(|(_, commits)| commits).unwrap_or_default();
            commits.splice(0..0, last);
            let text = format!("Merged {gone} into {id}.");
            Ok(Said { text, is_failure: false, undo: Some((project.to_owned(), commits)) })
        }
        Err(why) if written.is_some() => Ok(Said {
            text: format!("{id} has the joint text, but {gone} is still there: {why}"),
            is_failure: true,
            undo: Some((project.to_owned(), commits)),
        }),
        Err(why) => Err(why),
    }
}

async fn forget(app: &App, fields: &Fields) -> Result<Said, Failure> {
    let (project, shown) = (field(fields, "project")?, named(app, fields, "id").await?);
    let id = shown.record.id;
    let reply = app.daemon.tool(project, "memory_forget", json!({ "id": id })).await?;
    Ok(changed(app, project, format!("Forgot {id}: {}", shown.title), &reply, id).await)
}

/// Takes commits back, the newest first.
async fn undo(app: &App, fields: &Fields) -> Result<Said, Failure> {
    let project = field(fields, "project")?;
    let mut undone = Vec::new();
    for revision in field(fields, "revisions")?.split(',').filter(|text| !text.is_empty()) {
        let number: u64 =
            revision.parse().map_err(|_| Failure::new(format!("`{revision}` is no revision")))?;
        let arguments = json!({ "undo": number });
        app.daemon.tool(project, "memory_rollback", arguments).await.map_err(|why| Failure {
            message: format!("revision {number} was not undone: {why}"),
            action: why.action,
        })?;
        undone.push(number.to_string());
    }
    Ok(done(format!("Undid revision {}.", undone.join(" and "))))
}

async fn stand(app: &App, fields: &Fields, disable: bool) -> Result<Said, Failure> {
    let (project, shown) = (field(fields, "project")?, named(app, fields, "id").await?);
    let id = shown.record.id;
    let arguments = json!({ "id": id, "disable": disable });
    let reply = app.daemon.tool(project, "memory_rule_stand", arguments).await?;
    let text = if disable {
        format!("Disabled the rule {id}.")
    } else {
        format!("Accepted the rule {id}: hooks enforce it now.")
    };
    Ok(changed(app, project, text, &reply, id).await)
}

async fn approve(app: &App, fields: &Fields) -> Result<Said, Failure> {
    let arguments = json!({ "id": field(fields, "id")? });
    let reply = app.daemon.tool(api::USER, "memory_approve", arguments).await?;
    Ok(done(reply.text.trim().to_owned()))
}

async fn move_anchors(app: &App, fields: &Fields) -> Result<Said, Failure> {
    let params = AnchorsParams { project: field(fields, "project")?.to_owned(), fix: true };
    let reply: AnchorsReply = app.daemon.post(api::ANCHORS, params).await?;
    let moved = reply.anchors.iter().filter(|anchor| anchor.fixed).count();
    Ok(done(match moved {
        0 => "No anchor could be moved.".to_owned(),
        1 => "Moved 1 anchor to where its code is.".to_owned(),
        moved => format!("Moved {moved} anchors to where their code is."),
    }))
}

async fn share(
    app: &App,
    fields: &Fields,
    action: fn(RecordId) -> SharedAction,
) -> Result<Said, Failure> {
    let shown = named(app, fields, "id").await?;
    let id = shown.record.id;
    let project = field(fields, "project")?.to_owned();
    let params = SharedParams { project, action: action(id) };
    let reply: SharedReply = app.daemon.post(api::PROJECT_SHARED, params).await?;
    Ok(done(reply.remark.unwrap_or_else(|| format!("Decided for {id}."))))
}

async fn repair(app: &App) -> Result<Said, Failure> {
    let findings = app.daemon.findings(true).await?;
    let fixed: Vec<String> = findings
        .iter()
        .filter_map(|finding| Some(format!("{}: {}", finding.about, finding.fixed.as_ref()?)))
        .collect();
    let is_failure = findings.iter().any(|finding| finding.severity == Severity::Problem);
    let text = if fixed.is_empty() { "Nothing was repaired.".to_owned() } else { fixed.join(". ") };
    Ok(Said { text, is_failure, undo: None })
}
