//! `memory_search`: finds records of every kind by words, tags, file or time.

use std::sync::Arc;

use anchord_memory::files::normalise;
use anchord_memory::render::{self, PageCursor, ParseCursorError, SearchView, Tight};
use anchord_memory::search::{Hit, Tuning};
use anchord_memory::{
    Kind, ParsePastError, Recall, Recalled, Record, Timestamp, limits, parse_past,
    parse_past_up_to, recall,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::{KindParams, ScopeParams, limit, tokens_max, wanted_tags};
use super::personal::{Reading, of_key, own, reading};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::ANCHORS_FEW_TIME_MAX;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::{Context, Ranking};
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::sessions::View;

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// Words, "a phrase", -without
    #[serde(default)]
    query: String,
    key: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    kinds: Vec<KindParams>,
    scope: Option<ScopeParams>,
    file: Option<String>,
    /// 2026-11-02
    since: Option<String>,
    until: Option<String>,
    limit: Option<usize>,
    max_tokens: Option<u32>,
    cursor: Option<String>,
    #[serde(default)]
    explain: bool,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_search",
        "Find what is remembered, best first. Before you search code, or meet an error.",
        Effect::Reads,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let tokens_max = tokens_max(params.max_tokens).map_err(failed)?;
    let limit = limit(params.limit, limits::HITS, limits::HITS_MAX).map_err(failed)?;
    if let Some(key) = &params.key {
        return fact(&context, params.scope, key, tokens_max).await;
    }
    let mut reading = reading(&context, params.scope).await?;
    let now = clock::now();
    let read = |cursor: &str| {
        cursor.parse().map_err(|why: ParseCursorError| failed(format!("`{cursor}` {why}")))
    };
    let cursor: Option<PageCursor> = params.cursor.as_deref().map(read).transpose()?;
    let criteria = Criteria::read(&params, &reading.view, now)?;
    let rankings = Rankings::of(&reading, now);
    let from = cursor.map_or(0, |cursor| cursor.from);
    let hits_max = from.saturating_add(limit + limits::HITS_NAMED_MAX + 1);
    let found = find(&reading, &params, criteria, &rankings, hits_max).await;
    let context = reading.context.clone();
    let hits = found.hits.iter().filter_map(|hit| reading.view.memory.record(hit.id));
    let hits: Vec<_> = hits.cloned().collect();
    let sessions = &context.sessions;
    reading.view = reading.view.with_anchors(sessions, ANCHORS_FEW_TIME_MAX, &hits).await;
    let view = &reading.view;
    let explain = |record: &Record| rankings.of_record(record).explain(record);
    let answer = render::search(
        reading.memories(),
        &found,
        &SearchView {
            query: &params.query,
            cursor,
            limit,
            tokens_max,
            tight: context.session.tight(&context.sessions, &view.memory),
            explain: if params.explain { Some(&explain) } else { None },
            now: view.now(),
            audience: &context.audience,
        },
    );
    reading.accessed(&answer.shown, now);
    let unseen = unseen(&reading);
    let text = ToolAnswer::from(reading.remark.clone() + &answer.text + &unseen);
    let shown = text.with_newest(reading.memories(), &answer.shown);
    Ok(shown.truncated(answer.next.is_some()).with_rest(answer.next, Some(answer.left_out)))
}

fn failed(why: impl std::fmt::Display) -> ToolError {
    ToolError::failed("search", why)
}

/// Says that saves of the session are not searched while they wait for a team's database.
fn unseen(reading: &Reading) -> String {
    match reading.view.memory.held_of(&reading.context.session.id).count() {
        0 => String::new(),
        1 => "\nNot searched: your save that waits for the team's database; memory_load shows it."
            .into(),
        saves => format!(
            "\nNot searched: your {saves} saves that wait for the team's database; memory_load shows them."
        ),
    }
}

/// The data by which retention ranks a project's records and the user's own.
#[derive(Clone)]
struct Rankings {
    project: Ranking,
    /// `None` if no memory of the user's own is searched next to the project's.
    personal: Option<Ranking>,
}

impl Rankings {
    fn of(reading: &Reading, now: Timestamp) -> Self {
        let (context, view) = (&reading.context, &reading.view);
        Self {
            project: context.ranking(view, view.now()),
            personal: reading.personal.as_ref().map(|view| context.ranking(view, now)),
        }
    }

    fn of_record(&self, record: &Record) -> &Ranking {
        self.personal.as_ref().filter(|_| record.is_personal()).unwrap_or(&self.project)
    }
}

/// Finds records of the project and, next to them, of the user, best first.
async fn find(
    reading: &Reading,
    params: &Params,
    criteria: Criteria,
    rankings: &Rankings,
    hits_max: usize,
) -> Recalled {
    let own = own(params.scope);
    // A command has no private notes of its own, so this means the private notes of all sessions.
    let context = &reading.context;
    let reader = if own == Some(true) { context.keeper() } else { context.reader() };
    // Only words have an index. Every other criterion checks each record.
    let checks_each = criteria.file.is_some() || params.query.trim().is_empty();
    let (query, explain) = (params.query.clone(), params.explain);
    let memory = Arc::clone(&reading.view.memory);
    let personal = reading.personal.as_ref().map(|view| Arc::clone(&view.memory));
    let mut views = std::iter::once(&reading.view).chain(&reading.personal);
    let builds_index = !views.all(|view| view.memory.is_searchable());
    let rankings = rankings.clone();
    let search = move || {
        let wanted = Recall {
            reader: &reader,
            query: &query,
            kinds: &criteria.kinds,
            tags: &criteria.tags,
            any_tag: false,
            own,
            file: criteria.file.as_deref(),
            since: criteria.since,
            until: criteria.until,
            limit: hits_max,
            tuning: &Tuning::default(),
            prior: &|record| rankings.of_record(record).prior(record),
            explain,
        };
        let found = recall(&memory, &wanted);
        match personal {
            Some(personal) => found.with_personal(recall(&personal, &wanted)),
            None => found,
        }
    };
    if checks_each || builds_index { run_blocking(search).await } else { search() }
}

/// The criteria that a record must meet besides the words.
struct Criteria {
    kinds: Vec<Kind>,
    tags: Vec<String>,
    /// A path relative to the project's root; `None` for all files.
    file: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Criteria {
    fn read(params: &Params, view: &View, now: Timestamp) -> Result<Self, ToolError> {
        let refused = |name: &str, error: ParsePastError| failed(format!("{name} {error}"));
        let root = view.place.root().map(|root| root.to_string_lossy()).unwrap_or_default();
        let file = params.file.as_deref().map(|file| view.place.relative(file));
        let since = params.since.as_deref().map(|text| parse_past(text, now)).transpose();
        let until = params.until.as_deref().map(|text| parse_past_up_to(text, now)).transpose();
        Ok(Self {
            kinds: params.kinds.iter().map(|kind| kind.0).collect(),
            tags: wanted_tags(&params.tags),
            // The root itself means all files.
            file: file.filter(|file| *file != normalise(&root)),
            since: since.map_err(|error| refused("since", error))?,
            until: until.map_err(|error| refused("until", error))?,
        })
    }
}

/// Answers with the fact that has a key, as the only hit of a search.
async fn fact(
    context: &Context,
    scope: Option<ScopeParams>,
    key: &str,
    tokens_max: Option<u32>,
) -> Result<ToolAnswer, ToolError> {
    let found = of_key(context, scope, Context::reader, key).await?.map_err(failed)?;
    let (context, now) = (&found.context, clock::now());
    let hit = Hit::certain(found.id, 1.0);
    let hits = Recalled { hits: vec![hit], matching: 1, ..Recalled::default() };
    let view = SearchView {
        query: "",
        cursor: None,
        limit: 1,
        tokens_max,
        tight: Tight::default(),
        explain: None,
        now,
        audience: &context.audience,
    };
    let answer = render::search(&found.view.memory, &hits, &view);
    if let Some(project) = &found.view.project {
        project.accessed(&answer.shown, now);
    }
    let text = ToolAnswer::from(answer.text + &found.hidden());
    Ok(text.with_newest(&found.view.memory, &answer.shown))
}
