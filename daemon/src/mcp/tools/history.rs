//! `memory_history`: lists commits, shows one, or lists a record's versions.

use std::fmt::Display;
use std::sync::Arc;

use anchord_memory::{
    CommitPage, HistoryView, Memory, ParsePastError, Reader, RecordId, RecordVersions, Refusal,
    Revision, Version, VersionDetail, find, former_facts, limits, parse_past, parse_past_up_to,
    render,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::{KindParams, limit};
use super::personal::{Reading, of_key, reading};
use crate::blocking::run_blocking;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::project::history::{CommitQuery, HistoryError, HistoryReader, compared};
use crate::sessions::View;
use crate::store::StoreError;

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// Versions of this record: id or key
    record: Option<String>,
    /// This commit alone, in full
    revision: Option<u64>,
    session: Option<String>,
    #[serde(default)]
    kinds: Vec<KindParams>,
    file: Option<String>,
    /// As 2w, yesterday or 2026-11-02
    since: Option<String>,
    until: Option<String>,
    /// With what each commit changed
    #[serde(default)]
    diff: bool,
    limit: Option<usize>,
    cursor: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_history",
        "What changed in memory, when and by whom: commits newest first, or one record's versions.",
        Effect::Reads,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let number = limit(params.limit, limits::HISTORY_COMMITS, limits::HISTORY_COMMITS_MAX);
    let number = number.map_err(|refusal: Refusal| context.refused(OPERATION, &refusal))?;
    let cursor = params.cursor.as_deref().map(str::trim).map(str::parse::<u64>).transpose();
    let cursor = cursor.map_err(|_| failed("the cursor is not one of history; leave it out"))?;
    if let Some(name) = &params.record {
        if name.trim().is_empty() {
            return Err(failed("record is empty; give an id, or a fact's key"));
        }
        let named = named(&context, name).await?;
        return versions(named, cursor, number).await;
    }
    let view = context.view().await?;
    let reader = context.keeper();
    if let Some(revision) = params.revision.map(Revision) {
        let read = move |history: &HistoryReader| {
            let commit = history.commit(revision)?;
            let detail = history.details(&[commit], &reader, true)?.pop();
            Ok(detail.map(HistoryView::Commit))
        };
        let shown = read_journal(&view, read).await?.flatten();
        let missing = || failed(format!("there is no commit {}", revision.0));
        return Ok(answer(&context, shown.ok_or_else(missing)?));
    }
    let now = clock::now();
    let refused = |name: &str, error: ParsePastError| failed(format!("{name} {error}"));
    let since = params.since.map(|text| parse_past(&text, now)).transpose();
    let until = params.until.map(|text| parse_past_up_to(&text, now)).transpose();
    let query = CommitQuery {
        newest: cursor.map(Revision),
        session: params.session,
        kinds: params.kinds.into_iter().map(|KindParams(kind)| kind).collect(),
        file: params.file.map(|file| view.place.relative(&file)),
        operation: None,
        since: since.map_err(|error| refused("since", error))?,
        until: until.map_err(|error| refused("until", error))?,
        limit: number,
    };
    let (with_diff, newest) = (params.diff, view.memory.revision());
    let read = move |history: &HistoryReader| {
        let (commits, next) = history.commits(&query, &reader)?;
        let commits = history.details(&commits, &reader, with_diff)?;
        Ok(CommitPage { commits, newest, next })
    };
    let page = read_journal(&view, read).await?.unwrap_or_default();
    Ok(answer(&context, HistoryView::Commits(page)))
}

/// The operation in error texts.
const OPERATION: &str = "read the history";

fn failed(why: impl Display) -> ToolError {
    ToolError::failed(OPERATION, why)
}

/// A record that an id or a key led to.
pub(super) struct Named {
    /// The call, made in the record's memory.
    pub(super) context: Context,
    /// The record's memory.
    pub(super) view: View,
    /// The record.
    pub(super) id: RecordId,
    /// Other forgotten records that had the same key before.
    pub(super) others: Vec<RecordId>,
}

/// Finds a record by its id, or a fact by its key. A key that no fact has leads to the forgotten
/// fact that had it last.
pub(super) async fn named(context: &Context, name: &str) -> Result<Named, ToolError> {
    let others = Vec::new();
    if let Ok(id) = name.parse::<RecordId>() {
        let context = if id.is_personal() { context.personal() } else { context.clone() };
        let view = context.view().await?;
        find(&view.memory, &context.keeper(), id)
            .map_err(|refusal| context.refused(OPERATION, &refusal))?;
        return Ok(Named { context, view, id, others });
    }
    let missing = match of_key(context, None, Context::keeper, name).await? {
        Ok(fact) => {
            return Ok(Named { context: fact.context, view: fact.view, id: fact.id, others });
        }
        Err(missing) => missing,
    };
    let Reading { context, view, personal, .. } = reading(context, None).await?;
    let personal = personal.map(|view| (context.personal(), view));
    for (context, view) in [(context, view)].into_iter().chain(personal) {
        let former = former_facts(&view.memory, &context.keeper(), name);
        if let Some((id, others)) = former.split_first() {
            return Ok(Named { id: *id, others: others.to_vec(), context, view });
        }
    }
    Err(failed(missing))
}

/// Reads the journal on a blocking thread. Returns `None` if nothing was ever written.
pub(super) async fn read_journal<T: Send + 'static>(
    view: &View,
    read: impl FnOnce(&HistoryReader) -> Result<T, HistoryError> + Send + 'static,
) -> Result<Option<T>, ToolError> {
    let Some(project) = &view.project else { return Ok(None) };
    let history = project.history()?;
    match run_blocking(move || read(&history)).await {
        Ok(read) => Ok(Some(read)),
        Err(HistoryError::Refused(why)) => Err(failed(why)),
        Err(HistoryError::Writer(error)) => Err(error.into()),
        Err(HistoryError::Store(error)) if error.is_damage() => {
            Err(ToolError::Damaged(error.to_string()))
        }
        Err(HistoryError::Store(error)) => Err(ToolError::Internal(error.to_string())),
    }
}

async fn versions(
    named: Named,
    cursor: Option<u64>,
    number: usize,
) -> Result<ToolAnswer, ToolError> {
    let Named { context, view, id, others } = named;
    let (memory, reader) = (Arc::clone(&view.memory), context.keeper());
    let read = move |history: &HistoryReader| {
        Ok(versions_of(history, &memory, &reader, id, cursor, number)?)
    };
    let shown = read_journal(&view, read).await?.flatten();
    let mut shown = shown.ok_or_else(|| failed(format!("there is no record {id}")))?;
    if cursor.is_none() {
        shown.others = others;
    }
    Ok(answer(&context, HistoryView::Versions(shown)))
}

fn versions_of(
    history: &HistoryReader,
    memory: &Memory,
    reader: &Reader,
    id: RecordId,
    cursor: Option<u64>,
    number: usize,
) -> Result<Option<RecordVersions>, StoreError> {
    let Some(newest) = memory.record(id) else { return Ok(None) };
    let from = cursor.and_then(|cursor| u32::try_from(cursor).ok()).unwrap_or(u32::MAX);
    let from = from.min(newest.version.0);
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let first = from.saturating_sub(number - 1).max(1);
    // One more, to compare the first with.
    let wanted = (first.saturating_sub(1).max(1)..=from).map(|version| (id, Version(version)));
    let stored = history.versions(wanted.collect())?;
    let mut found = RecordVersions {
        id,
        name: render::plain_name(newest),
        others: Vec::new(),
        versions: Vec::new(),
        next: (first > 1).then(|| Version(first - 1)),
    };
    for version in (first..=from).rev().map(Version) {
        let Some(it) = stored.get(&(id, version)) else { continue };
        // A version that a session wrote privately stays private after the record was shared.
        let seen = |record: &&Arc<_>| reader.sees(record) || newest.owner().is_some();
        let record = it.content.record().filter(seen);
        let by = record.map(|record| &record.updated);
        let by = by.filter(|by| Some(&by.session) == it.session.as_ref());
        found.versions.push(VersionDetail {
            version,
            revision: it.revision,
            time: it.time,
            client: by.map(|by| by.client.to_string()).unwrap_or_default(),
            member: it.member(by, history.member()).map(ToString::to_string),
            operation: it.operation.clone(),
            diff: record.and_then(|record| compared(&stored, record, reader)),
        });
    }
    Ok(Some(found))
}

/// Answers with a view. An agent gets as much of a page as an answer holds, and the cursor of the
/// rest. A person's command has the whole view.
pub(super) fn answer(context: &Context, mut view: HistoryView) -> ToolAnswer {
    let is_agent = !matches!(&*context.audience, anchord_memory::Audience::Person(_));
    loop {
        let lines = render::history(&view, &context.audience);
        let (text, left) = render::joined(&lines, limits::ANSWER_CHARS_MAX);
        if !is_agent || left == 0 || !shortened(&mut view) {
            let next = match &view {
                HistoryView::Commits(page) => page.next.map(|next| next.0),
                HistoryView::Versions(versions) => versions.next.map(|next| next.0.into()),
                _ => None,
            };
            let cursor = next.map(|next| next.to_string());
            let is_cut = left > 0 || cursor.is_some();
            let answer = ToolAnswer { history: Some(Arc::new(view)), ..ToolAnswer::from(text) };
            return answer.truncated(is_cut).with_rest(cursor, None);
        }
    }
}

/// Moves the last item of a page to the next page. Returns false if only one is left.
fn shortened(view: &mut HistoryView) -> bool {
    match view {
        HistoryView::Commits(page) if page.commits.len() > 1 => {
            page.next = page.commits.pop().map(|last| last.commit.head.revision);
        }
        HistoryView::Versions(page) if page.versions.len() > 1 => {
            page.next = page.versions.pop().map(|last| last.version);
        }
        _ => return false,
    }
    true
}
