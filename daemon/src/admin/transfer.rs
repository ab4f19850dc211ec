//! Exports and imports of a memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use anchord_memory::import::{self, Compactor, Exported, ImportError, ImportOutcome, Zipmem};
use anchord_memory::{
    Kind, Memory, PerKind, Plan, Provenance, Record, RecordId, SessionId, export, render,
};

use super::forgotten::whole_records;
use super::tool::ephemeral_session;
use super::{
    Answer, Target, ask, bad_request, bind_error, internal, not_found, opened, store_error,
    write_error,
};
use crate::api::{
    ByKind, ErrorCode, ErrorReply, ExportDocument, ExportFormat, ImportCounts, ImportParams,
    ImportReply, ImportSource, Retrieval,
};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::RETRIEVAL_IDS_MAX;
use crate::project::{BudgetKeeper, Transition, WriteCommand, WriteSet};
use crate::projects::ProjectId;
use crate::secrets::{self, Removed};
use crate::sessions;
use crate::sessions::SessionService;

/// Exports a project's memory as a document.
pub(crate) async fn export_document(
    service: &SessionService,
    project: &str,
    format: ExportFormat,
) -> Answer<String> {
    let started = clock::start();
    let (target, open) = opened(service, project).await?;
    let (memory, of) = (open.memory(), target);
    let rendered = Arc::clone(&memory);
    let whole = match format {
        ExportFormat::Json => whole_records(&open, memory.records()).await?,
        // These formats leave out forgotten records.
        ExportFormat::Markdown | ExportFormat::Zipmem | ExportFormat::Compactor => BTreeMap::new(),
    };
    // The document may be as long as the memory is large, so no worker thread renders it.
    let text = run_blocking(move || document(&of, &rendered, &whole, format)).await?;
    let name = serde_json::to_value(format).map_err(|error| internal(&error.to_string()))?;
    let ids = memory.records().take(RETRIEVAL_IDS_MAX).map(|record| record.id.to_string());
    let line = Retrieval {
        tool: "memory_export".to_owned(),
        asked: serde_json::json!({ "format": name }),
        ids: ids.collect(),
        more: memory.records().count().saturating_sub(RETRIEVAL_IDS_MAX) as u64,
        ..Retrieval::default()
    };
    // The document goes to a file: nobody receives its tokens.
    ephemeral_session(&open).log(service, line, started.elapsed(), String::new());
    Ok(text)
}

/// Renders a memory. `whole` has the forgotten records of which the memory has the heads.
fn document(
    target: &Target,
    memory: &Memory,
    whole: &BTreeMap<RecordId, Record>,
    format: ExportFormat,
) -> Answer<String> {
    let whole = |record: &Arc<Record>| whole.get(&record.id).unwrap_or(record).clone();
    let json = match format {
        ExportFormat::Markdown => return Ok(export::markdown(memory, &target.name, clock::now())),
        ExportFormat::Zipmem => export::zipmem_state(memory, &target.name, clock::now()),
        ExportFormat::Compactor => export::compactor_state(memory, clock::now(), |_| true),
        ExportFormat::Json => {
            let document = ExportDocument {
                format: 1,
                project: target.reference.clone(),
                revision: memory.revision().0,
                records: memory.records().map(whole).collect(),
                staged: memory
                    .staged()
                    .map(|(session, staged)| (session.clone(), staged.as_ref().clone()))
                    .collect(),
                bindings: memory
                    .bindings()
                    .map(|(key, bound)| (key.to_owned(), bound.topic.clone()))
                    .collect(),
            };
            serde_json::to_value(document).map_err(|error| internal(&error.to_string()))?
        }
    };
    let text = serde_json::to_string_pretty(&json).map_err(|error| internal(&error.to_string()))?;
    Ok(text + "\n")
}

/// Imports another system's memory, or shows what that would do.
pub(crate) async fn import_memory(
    service: &SessionService,
    params: ImportParams,
) -> Answer<ImportReply> {
    let (named, dry_run) = (params.project.clone(), params.dry_run);
    // The text may have 64 MiB, so no worker thread parses it.
    let reading = run_blocking(move || Read::of(&params));
    let Read { source, digest, removed } = reading.await.map_err(|error| bad_request(&error))?;
    let asked = ask(service, &named).await?;
    let source = Arc::new(source.fitting(asked.id.is_some_and(ProjectId::is_personal))?);
    let by = Provenance {
        session: SessionId::new(format!("import-{}", uuid::Uuid::now_v7())),
        client: "anchord import".into(),
        time: clock::now(),
    };
    let existing = match asked.id {
        Some(id) => service.projects.open_known(id).await.map_err(store_error)?,
        None => None,
    };
    let memory = existing.as_ref().map(|open| open.memory()).unwrap_or_default();
    let (read, known, author) = (Arc::clone(&source), digest.clone(), by.clone());
    let planned = run_blocking(move || read.plan(&memory, &known, &author)).await;
    let outcome = &planned.outcome;
    let mut reply = ImportReply {
        project: asked.id.map(|id| asked.reference(service, id)),
        applied: false,
        already: outcome.before.is_some(),
        nothing: planned.changes.is_empty(),
        revision: None,
        counts: source.counts(outcome),
        merged: outcome.merged,
        remarks: remarks(outcome, &removed),
    };
    if dry_run || reply.nothing {
        return Ok(reply);
    }
    let id = match (&asked.located, asked.id) {
        (Some(located), _) => {
            let established =
                sessions::establish_in_registry(&service.projects.registry, located.clone()).await;
            let (id, notice) = established.map_err(bind_error)?;
            reply.remarks.extend(notice);
            id
        }
        (None, Some(id)) => id,
        (None, None) => return Err(not_found(&named)),
    };
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    let decide: WriteCommand<Memory> = Arc::new(move |memory, now| {
        let by = Provenance { time: now, ..by.clone() };
        let plan = source.plan(memory, &digest, &by);
        Ok(Transition::silent(plan.changes))
    });
    open.owner.write(None, None, "import", decide).await.map_err(write_error)?;
    // Nothing of the import has been used here yet, so existing notes compete with it on equal
    // terms.
    let compacted = BudgetKeeper::of_daemon(&service.config).keep(&open, WriteSet::default()).await;
    let made_room = compacted.iter().map(|compacted| &compacted.outcome);
    let made_room = made_room.filter(|outcome| !outcome.is_nothing()).map(render::made_room);
    reply.remarks.extend(made_room.map(|said| said.trim_end().to_owned()));
    reply.applied = true;
    reply.revision = Some(open.memory().revision().0);
    reply.project = Some(asked.reference(service, id));
    Ok(reply)
}

/// The parsed source, without secrets.
struct Read {
    source: Source,
    digest: String,
    removed: Removed,
}

impl Read {
    fn of(params: &ImportParams) -> Result<Self, ImportError> {
        let mut removed = Removed::default();
        let state = without_secrets(&params.state, &mut removed);
        let session = params.session.as_deref().map(|text| without_secrets(text, &mut removed));
        let source = Source::parse(params.source, &state, session.as_deref())?;
        Ok(Self { source, digest: digest(params), removed })
    }
}

/// The parsed memory of another system.
enum Source {
    Zipmem(Box<Zipmem>),
    Compactor(Compactor),
    Anchord(Exported),
}

impl Source {
    fn parse(kind: ImportSource, state: &str, session: Option<&str>) -> Result<Self, ImportError> {
        match kind {
            ImportSource::Zipmem => {
                import::parse(state, session).map(|zipmem| Self::Zipmem(Box::new(zipmem)))
            }
            ImportSource::Compactor => import::parse_compactor(state).map(Self::Compactor),
            ImportSource::Anchord => import::parse_export(state).map(Self::Anchord),
        }
    }

    /// Keeps what belongs in the target. A project takes none of the user's notes, and the user's
    /// own memory takes nothing else.
    fn fitting(self, personal: bool) -> Answer<Self> {
        match (self, personal) {
            (Self::Anchord(exported), true) => Ok(Self::Anchord(exported.for_user())),
            (Self::Anchord(exported), false) => Ok(Self::Anchord(exported.for_project())),
            (source, false) => Ok(source),
            (Self::Zipmem(_) | Self::Compactor(_), true) => Err(ErrorReply {
                code: ErrorCode::BadRequest,
                error: "the user's own memory imports only what \
                        `anchord export --user --format json` wrote"
                    .to_owned(),
                action: Some("import it into a project".to_owned()),
            }),
        }
    }

    fn plan(&self, memory: &Memory, digest: &str, by: &Provenance) -> Plan<ImportOutcome> {
        match self {
            Self::Zipmem(zipmem) => import::plan_import(memory, zipmem, digest, by),
            Self::Compactor(items) => import::plan_import_compactor(memory, items, digest, by),
            Self::Anchord(exported) => import::plan_import_export(memory, exported, digest, by),
        }
    }

    /// Counts the items that were found, and those of them that are new.
    fn counts(&self, outcome: &ImportOutcome) -> ByKind<ImportCounts> {
        let mut found = PerKind::<usize>::default();
        match self {
            Self::Zipmem(zipmem) => {
                found.blueprints = zipmem.blueprints.len();
                found.anchors = zipmem.anchors.len();
                found.lessons = zipmem.lessons.len();
                found.rows = zipmem.rows.len();
            }
            Self::Compactor(compactor) => found.notes = compactor.items.len(),
            Self::Anchord(exported) => {
                for record in &exported.records {
                    *found.of_mut(record.kind()) += 1;
                }
            }
        }
        let new = PerKind { rows: outcome.sessions, ..outcome.added };
        let mut counts = ByKind::default();
        for kind in Kind::ALL {
            let found = found.of(kind).try_into().unwrap_or(u32::MAX);
            *counts.0.of_mut(kind) = ImportCounts { found, new: new.of(kind) };
        }
        counts
    }
}

/// Returns remarks about blueprints that stayed as they were, and about what could not be used.
fn remarks(outcome: &ImportOutcome, removed: &Removed) -> Vec<String> {
    let taken =
        (!removed.no_secrets()).then(|| format!("secrets were taken out: {}", removed.kinds()));
    let injected =
        removed.had_injected().then(|| "anchord's own injected text was taken out".to_owned());
    let kept = outcome
        .kept
        .iter()
        .map(|kept| format!("blueprint \"{}\" is immutable here and stays as it is", kept.title));
    kept.chain(outcome.notes.iter().cloned()).chain(taken).chain(injected).collect()
}

/// Removes secrets from a source's text. Text that is not JSON is left for its parser to reject.
fn without_secrets(text: &str, removed: &mut Removed) -> String {
    match serde_json::from_str(text) {
        Ok(mut value) => {
            secrets::clean_json(&mut value, removed);
            value.to_string()
        }
        Err(_) => secrets::clean(text).into_owned(),
    }
}

fn digest(params: &ImportParams) -> String {
    use sha2::{Digest, Sha256};
    let mut hasher = Sha256::new();
    hasher.update(params.state.as_bytes());
    hasher.update([0]);
    hasher.update(params.session.as_deref().unwrap_or_default().as_bytes());
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
