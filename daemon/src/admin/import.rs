//! Imports of another system's memory. The caller reads its files. This plans the import, and
//! carries it out as one commit for each step of the source.

use std::sync::Arc;

use anchord_memory::import::{
    self, EarlierTexts, IMPORTED, ImportError, ImportOutcome, ImportSteps, NamedText, Source,
};
use anchord_memory::{
    Body, Change, Kind, Memory, PerKind, Plan, Provenance, Seq, SessionId, render,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Answer, ask, ask_part, bad_request, not_found, store_error, write_error};
use crate::api::{ByKind, ErrorCode, ErrorReply, ImportCounts, ImportParams, ImportReply};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::{IMPORT_NAME_CHARS_MAX, IMPORT_TEXTS_MAX};
use crate::project::{BudgetKeeper, OpenProject, Transition, WriteCommand, WriteSet};
use crate::projects::ProjectId;
use crate::secrets::{self, Removed};
use crate::sessions::SessionService;

/// Imports another system's memory, or shows what that would do.
pub(crate) async fn import_memory(
    service: &SessionService,
    params: ImportParams,
) -> Answer<ImportReply> {
    import_as(IMPORTED, service, params).await.map(|(reply, _)| reply)
}

/// Imports like [`import_memory`], as an operation of this name. Also returns the outcome as the
/// memory counts it.
pub(super) async fn import_as(
    operation: &'static str,
    service: &SessionService,
    params: ImportParams,
) -> Answer<(ImportReply, ImportOutcome)> {
    let source = check(&params)?;
    let (named, part, dry_run) = (params.project, params.part, params.dry_run);
    // The texts may have 64 MiB, so no worker thread parses them.
    let reading = run_blocking(move || SourceSteps::read(source, params.texts));
    let mut read = reading.await.map_err(|error| bad_request(&error))?;
    let asked = if part { ask_part(service, &named).await? } else { ask(service, &named).await? };
    read.keep_fitting(asked.id.is_some_and(ProjectId::is_personal))?;
    if let Some(id) = asked.id {
        read.set_root(&asked.reference(service, id).root);
    } else if let Some(root) = asked.located.as_ref().and_then(|located| located.root.to_str()) {
        read.set_root(root);
    }
    let by = Provenance::new(
        SessionId::new(format!("import-{}", uuid::Uuid::now_v7())),
        "anchord import".into(),
        clock::now(),
    );
    let existing = match asked.id {
        Some(id) => service.projects.open_known(id).await.map_err(store_error)?,
        None => None,
    };
    let memory = existing.as_ref().map(|open| open.memory()).unwrap_or_default();
    if let Some(open) = &existing {
        read.set_earlier(earlier_texts(open, &memory).await?);
    }
    let read = Arc::new(read);
    let (planning, author, here) = (Arc::clone(&read), by.clone(), memory.clone());
    let planned = run_blocking(move || planning.plan_all(&memory, &author)).await;
    let mut reply = ImportReply {
        project: asked.id.map(|id| asked.reference(service, id)),
        applied: false,
        already: planned.outcome.before.is_some(),
        nothing: planned.changes.is_empty(),
        revision: None,
        revisions: Vec::new(),
        counts: read.counts(&planned.outcome),
        merged: planned.outcome.merged,
        remarks: remarks(&planned.outcome, &here, &read.removed),
    };
    if dry_run || reply.nothing {
        return Ok((reply, planned.outcome));
    }
    let established = asked.establish(service).await?;
    let (id, notice) = established.ok_or_else(|| not_found(&named))?;
    reply.remarks.extend(notice);
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    let written = write_steps(&open, &read, &by, operation).await?;
    reply.remarks.extend(keep_budget(service, &open).await);
    reply.applied = true;
    reply.revision = written.last().copied();
    reply.revisions = Some(written).filter(|all| all.len() > 1).unwrap_or_default();
    reply.project = Some(asked.reference(service, id));
    Ok((reply, planned.outcome))
}

/// Reads the earlier texts of notes that were corrected here from the journal.
async fn earlier_texts(open: &OpenProject, memory: &Arc<Memory>) -> Answer<EarlierTexts> {
    let wanted = EarlierTexts::wanted(memory);
    if wanted.is_empty() {
        return Ok(EarlierTexts::default());
    }
    let (history, memory) = (open.history().map_err(write_error)?, Arc::clone(memory));
    let reading = run_blocking(move || {
        history.versions(wanted).map(|versions| {
            let records = versions.values().filter_map(|stored| stored.content.record());
            EarlierTexts::of(&memory, records.map(AsRef::as_ref))
        })
    });
    reading.await.map_err(store_error)
}

/// Writes the steps of an import, a commit each. Returns the revisions of the commits. Sessions may
/// write between them.
async fn write_steps(
    open: &OpenProject,
    read: &Arc<SourceSteps>,
    by: &Provenance,
    operation: &'static str,
) -> Answer<Vec<u64>> {
    let mut revisions = Vec::new();
    for at in 0..read.steps.len() {
        let (read, by) = (Arc::clone(read), by.clone());
        let decide: WriteCommand<Memory> = Arc::new(move |memory, now| {
            let plan = read.plan(at, memory, &Provenance { time: now, ..by.clone() });
            Ok(Transition::silent(plan.changes))
        });
        let written = open.owner.write(None, None, operation, decide).await.map_err(write_error)?;
        if written.changes.iter().any(Change::is_shared) {
            revisions.push(written.before.revision().0 + 1);
        }
    }
    Ok(revisions)
}

/// Brings the notes to their budget after an import. Returns a remark for each pool in which
/// something made room.
async fn keep_budget(service: &SessionService, open: &OpenProject) -> Vec<String> {
    // Nothing of the import has been used here yet, so existing notes compete with it on equal
    // terms.
    let compacted = BudgetKeeper::of_daemon(&service.config).keep(open, WriteSet::default()).await;
    let outcomes = compacted.iter().map(|compacted| &compacted.outcome);
    let made_room = outcomes.filter(|outcome| !outcome.is_nothing()).map(render::made_room);
    made_room.map(|text| text.trim_end().to_owned()).collect()
}

/// Checks the limits of a request, and returns its source.
fn check(params: &ImportParams) -> Answer<&'static Source> {
    let refused = |error: String, action: &str| ErrorReply {
        code: ErrorCode::BadRequest,
        error,
        action: Some(action.to_owned()),
    };
    let count = params.texts.len();
    if count > IMPORT_TEXTS_MAX {
        let error = format!("{count} files are too many for one request of {IMPORT_TEXTS_MAX}");
        return Err(refused(error, "import them folder by folder"));
    }
    let too_long = |text: &&NamedText| text.name.chars().count() > IMPORT_NAME_CHARS_MAX;
    if let Some(text) = params.texts.iter().find(too_long) {
        let length = text.name.chars().count();
        let error =
            format!("a file name has {length} characters, {IMPORT_NAME_CHARS_MAX} are allowed");
        return Err(refused(error, "shorten it, or import the folder that it is in"));
    }
    import::source(&params.source).ok_or_else(|| {
        let error = format!("`{}` is not a system that this daemon knows", params.source);
        refused(error, "`anchord restart` starts the newest build")
    })
}

/// The parsed source, without secrets.
struct SourceSteps {
    steps: ImportSteps,
    digest: String,
    removed: Removed,
}

impl SourceSteps {
    fn read(source: &Source, mut texts: Vec<NamedText>) -> Result<Self, ImportError> {
        let digest = digest(&texts);
        let mut removed = Removed::default();
        for NamedText { name, text } in &mut texts {
            remove_secrets(text, &mut removed);
            *name = secrets::clean(name).into_owned();
        }
        Ok(Self { steps: (source.read)(&texts)?, digest, removed })
    }

    /// Keeps what belongs in the target.
    fn keep_fitting(&mut self, personal: bool) -> Answer<()> {
        if self.steps.iter_mut().all(|step| step.keep_fitting(personal)) {
            return Ok(());
        }
        Err(ErrorReply {
            code: ErrorCode::BadRequest,
            error: "the user's own memory imports only what \
                    `anchord export --user --format json` wrote"
                .to_owned(),
            action: Some("import it into a project".to_owned()),
        })
    }

    fn set_root(&mut self, root: &str) {
        self.steps.iter_mut().for_each(|step| step.set_root(root));
    }

    fn set_earlier(&mut self, earlier: EarlierTexts) {
        let earlier = Arc::new(earlier);
        self.steps.iter_mut().for_each(|step| step.set_earlier(&earlier));
    }

    fn plan(&self, at: usize, memory: &Memory, by: &Provenance) -> Plan<ImportOutcome> {
        // Each step is remembered by itself, so that an import that was cut short continues.
        let digest = match at {
            0 => self.digest.clone(),
            at => format!("{}-{at}", self.digest),
        };
        let step = self.steps.get(at).map(|step| step.plan(memory, &digest, by));
        step.unwrap_or_else(|| Plan { changes: Vec::new(), outcome: ImportOutcome::default() })
    }

    /// Plans all steps, each on the memory that the earlier ones leave.
    fn plan_all(&self, memory: &Memory, by: &Provenance) -> Plan<ImportOutcome> {
        let mut whole = self.plan(0, memory, by);
        if self.steps.len() > 1 {
            let mut memory = memory.clone();
            memory.apply(Seq(memory.seq().0 + 1), &whole.changes);
            for at in 1..self.steps.len() {
                let Plan { changes, outcome } = self.plan(at, &memory, by);
                memory.apply(Seq(memory.seq().0 + 1), &changes);
                whole = whole.map(|before| before.and(outcome)).and(changes);
            }
        }
        whole
    }

    /// Counts the items that were found, and those of them that are new.
    fn counts(&self, outcome: &ImportOutcome) -> ByKind<ImportCounts> {
        let mut found = PerKind::<usize>::default();
        for step in self.steps.iter().map(|step| step.found()) {
            for kind in Kind::ALL {
                *found.of_mut(kind) += step.of(kind);
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
fn remarks(outcome: &ImportOutcome, here: &Memory, removed: &Removed) -> Vec<String> {
    let taken =
        (!removed.no_secrets()).then(|| format!("secrets were taken out: {}", removed.kinds()));
    let injected =
        removed.had_injected().then(|| "anchord's own injected text was taken out".to_owned());
    let kept = outcome.kept.iter().map(|kept| {
        let stored = kept.id.and_then(|id| here.record(id)).map(|record| &record.body);
        let why = match stored {
            Some(Body::Blueprint(stored)) if !stored.immutable => "newer",
            _ => "immutable",
        };
        format!("blueprint \"{}\" is {why} here and stays as it is", kept.title)
    });
    kept.chain(outcome.notes.iter().cloned()).chain(taken).chain(injected).collect()
}

/// Removes secrets and injected text from a text of a source. JSON is searched by its values. So is
/// each line of a text that begins with a line of JSON.
fn remove_secrets(text: &mut String, removed: &mut Removed) {
    if let Some(value) = without_secrets(text, removed) {
        *text = value;
        return;
    }
    let first = text.lines().find(|line| !line.trim().is_empty());
    if first.is_none_or(|line| serde_json::from_str::<Value>(line).is_err()) {
        return secrets::clean_text(text, removed);
    }
    let clean = |line: &str, removed: &mut Removed| {
        without_secrets(line, removed).unwrap_or_else(|| {
            let mut line = line.to_owned();
            secrets::clean_text(&mut line, removed);
            line
        })
    };
    let lines: Vec<String> = text.lines().map(|line| clean(line, removed)).collect();
    *text = lines.join("\n");
}

/// Returns a JSON text without its secrets, or nothing for any other text.
fn without_secrets(text: &str, removed: &mut Removed) -> Option<String> {
    let mut value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    secrets::clean_json(&mut value, removed);
    Some(value.to_string())
}

fn digest(texts: &[NamedText]) -> String {
    let mut hasher = Sha256::new();
    for NamedText { name, text } in texts {
        for part in [name, text] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    base16ct::lower::encode_string(&hasher.finalize())
}

#[cfg(test)]
mod tests;
