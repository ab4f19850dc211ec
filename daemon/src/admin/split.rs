//! Splits a memory in which several projects wrote, by where each record was written.
//!
//! Only sessions that were bound by the project search of earlier builds matter. Since then, a
//! session writes in the project that its directory leads to.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::import::{
    SplitPlan, TakenIn, WrittenIn, last_split, plan_bring_back, plan_give_back, plan_set_aside,
    plan_split, plan_take_in, set_aside_by, split_session,
};
use anchord_memory::{Memory, Plan, Provenance, Record, SessionId, render};

use super::forgotten::whole_records;
use super::{Answer, Target, bind_error, opened, store_error, text, write_error};
use crate::api::{ErrorCode, ErrorReply, SplitParams, SplitPart, SplitReply};
use crate::blocking::run_blocking;
use crate::bounded_fs;
use crate::clock;
use crate::limits::SPLIT_TITLES_MAX;
use crate::project::{BudgetKeeper, OpenProject, Outcome, WriteCommand, WriteSet};
use crate::projects::{Located, ProjectId, ProjectRecord, SessionRecord, identify, locate};
use crate::sessions::SessionService;
use crate::sessions::{self, is_foreign_process};

/// Splits a memory, shows what that would do, or undoes the last split.
pub(crate) async fn split_project(
    service: &SessionService,
    params: SplitParams,
) -> Answer<SplitReply> {
    let (target, open) = opened(service, &params.project).await?;
    let Some(known) = service.projects.registry.snapshot().project(target.id).cloned() else {
        return Err(ErrorReply {
            code: ErrorCode::BadRequest,
            error: "only a project's memory can be separated".to_owned(),
            action: None,
        });
    };
    if params.undo {
        return undo(service, &target, &open, params.dry_run).await;
    }
    let others = Others::of(service, &known).await;
    let memory = open.memory();
    let (planned, others) = run_blocking(move || (others.plan(&memory), others)).await;
    let now = clock::now();
    let part = |(to, records): (&usize, &Vec<Record>)| {
        let located = others.projects.get(*to)?;
        let titles = records.iter().take(SPLIT_TITLES_MAX);
        Some(SplitPart {
            root: text(&located.main_root()),
            records: count(records.len()),
            titles: titles.map(|record| render::title(record, now)).collect(),
            left: 0,
        })
    };
    let mut reply = SplitReply {
        project: Some(target.reference.clone()),
        applied: false,
        parts: planned.parts.iter().filter_map(part).collect(),
        unknown: planned.unknown,
        several: planned.several,
        outside: planned.outside,
        private: planned.private,
        restored: 0,
    };
    if params.dry_run || reply.parts.is_empty() {
        return Ok(reply);
    }
    let split = split_session(&uuid::Uuid::now_v7().to_string());
    for ((to, records), part) in planned.parts.into_iter().zip(&mut reply.parts) {
        let Some(located) = others.projects.get(to) else { continue };
        let taken = take_in(service, located, records, &split).await?;
        // Only records that are on disk in the other project are set aside here.
        let TakenIn { records, left } = taken;
        part.left = left;
        let by = provenance(&split);
        let aside = move |memory: &Memory| plan_set_aside(memory, &records, &by);
        part.records = write(&open, "split", aside).await?;
    }
    tracing::info!(project = %target.id, %split, "separated what other projects wrote");
    Ok(SplitReply { applied: true, ..reply })
}

async fn take_in(
    service: &SessionService,
    located: &Located,
    records: Vec<Record>,
    split: &SessionId,
) -> Answer<TakenIn> {
    let established =
        sessions::establish_in_registry(&service.projects.registry, located.clone()).await;
    let (id, _) = established.map_err(bind_error)?;
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    let (by, split) = (provenance(split), split.clone());
    let taking = move |memory: &Memory| plan_take_in(memory, &records, &split, &by);
    let taken = write(&open, "split", taking).await?;
    BudgetKeeper::of_daemon(&service.config).keep(&open, WriteSet::default()).await;
    Ok(taken)
}

/// Restores what the last split set aside, and then removes it from the other projects.
async fn undo(
    service: &SessionService,
    target: &Target,
    open: &Arc<OpenProject>,
    dry_run: bool,
) -> Answer<SplitReply> {
    let memory = open.memory();
    let Some(split) = last_split(&memory) else {
        return Err(ErrorReply {
            code: ErrorCode::NotFound,
            error: format!("no split of {} is left to take back", target.name),
            action: None,
        });
    };
    let mut reply = SplitReply { project: Some(target.reference.clone()), ..SplitReply::default() };
    let by = provenance(&SessionId::new(format!("undo-{split}")));
    let whole = whole_records(open, set_aside_by(&memory, &split)).await?;
    let (brought, given) = (split.clone(), split);
    let back = {
        let by = by.clone();
        move |memory: &Memory| plan_bring_back(memory, &whole, &brought, &by)
    };
    let give = move |memory: &Memory| plan_give_back(memory, &given, &by);
    reply.restored =
        if dry_run { back(&memory).outcome } else { write(open, "split", back).await? };
    let registry = service.projects.registry.snapshot();
    for other in registry.projects().filter(|other| other.id != target.id) {
        let Some(open) = service.projects.open_known(other.id).await.map_err(store_error)? else {
            continue;
        };
        let planned = give(&open.memory()).outcome;
        if planned == 0 {
            continue;
        }
        let records = if dry_run { planned } else { write(&open, "split", give.clone()).await? };
        reply.parts.push(SplitPart { root: text(&other.root), records, ..SplitPart::default() });
    }
    Ok(SplitReply { applied: !dry_run, ..reply })
}

/// Writes the changes of a plan and returns its outcome.
async fn write<O: Outcome>(
    open: &Arc<OpenProject>,
    operation: &'static str,
    plan: impl Fn(&Memory) -> Plan<O> + Send + Sync + 'static,
) -> Answer<O> {
    let command: WriteCommand<Memory, O> = Arc::new(move |memory, _| Ok(plan(memory).into()));
    let written = open.owner.write(None, None, operation, command).await.map_err(write_error)?;
    Ok(written.outcome)
}

fn provenance(session: &SessionId) -> Provenance {
    Provenance::new(session.clone(), "anchord project split".into(), clock::now())
}

/// The projects in which sessions of a memory worked, as found from their directories today.
struct Others {
    root: PathBuf,
    projects: Vec<Located>,
    written_in: HashMap<SessionId, WrittenIn>,
}

impl Others {
    async fn of(service: &SessionService, known: &ProjectRecord) -> Self {
        let registry = service.projects.registry.snapshot();
        let ended = registry.ended().into_iter().map(|ended| &ended.session);
        let all = registry.sessions().map(AsRef::as_ref).chain(ended);
        let mut by_directory: BTreeMap<&Path, Vec<&SessionRecord>> = BTreeMap::new();
        let mut others =
            Self { root: known.root.clone(), projects: Vec::new(), written_in: HashMap::new() };
        for session in all.filter(|session| session.project == known.id) {
            if session.is_bound_by_git_root {
                others.written_in.insert(session.session.clone(), WrittenIn::Here);
            } else if !is_foreign_process(session.pidns) {
                by_directory.entry(&session.cwd).or_default().push(session);
            }
        }
        for (directory, sessions) in by_directory {
            let written_in = match leads_to(service, directory).await {
                Some((_, Some(id))) if id == known.id => WrittenIn::Here,
                Some((located, _)) if is_at(&located, known) => WrittenIn::Here,
                Some((located, _)) => others.number(located),
                None => WrittenIn::Unknown,
            };
            let each = sessions.iter().map(|session| (session.session.clone(), written_in));
            others.written_in.extend(each);
        }
        others
    }

    fn number(&mut self, located: Located) -> WrittenIn {
        let same = |known: &Located| {
            (known.main_root(), &known.part) == (located.main_root(), &located.part)
        };
        if let Some(number) = self.projects.iter().position(same) {
            return WrittenIn::Other(number);
        }
        self.projects.push(located);
        WrittenIn::Other(self.projects.len() - 1)
    }

    fn plan(&self, memory: &Memory) -> SplitPlan {
        let folder = |located: &Located| {
            let beneath = located.main_root().strip_prefix(&self.root).ok()?.to_owned();
            beneath.to_str().filter(|folder| !folder.is_empty()).map(str::to_owned)
        };
        let folders: Vec<Option<String>> = self.projects.iter().map(folder).collect();
        plan_split(memory, &folders, |session| {
            let parent = || self.written_in.get(&session.parent()?);
            self.written_in.get(session).or_else(parent).copied().unwrap_or(WrittenIn::Unknown)
        })
    }
}

/// Returns the project that a directory leads to now, or `None` if that is unknown.
async fn leads_to(
    service: &SessionService,
    directory: &Path,
) -> Option<(Located, Option<ProjectId>)> {
    let (registry, surroundings) =
        (service.projects.registry.snapshot(), service.surroundings.clone());
    let start = directory.to_owned();
    let looking = bounded_fs::run(directory, move || {
        let located = locate(&start, &surroundings).ok()?;
        let id = identify(&located, &registry).ok()?.id;
        Some((located, id))
    });
    looking.await.ok()?
}

fn is_at(located: &Located, known: &ProjectRecord) -> bool {
    located
        .place()
        .is_ok_and(|place| (&place.path, &place.part) == (&known.place.path, &known.place.part))
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
