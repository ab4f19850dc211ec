//! Finding secrets in what is stored, and purging content from disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anchord_memory::secrets::{self, SecretKind};
use anchord_memory::{
    Audience, Change, Memory, Note, PurgedRecord, RecordId, Revision, Seq, Shell, limits, render,
    reply_texts, secrets_in,
};

use super::{AdminService, Answer, Target, bind_error, internal, opened, store_error, write_error};
use crate::api::{
    ErrorCode, ErrorReply, ProjectRef, PurgeParams, PurgeReply, PurgedStatus, SecretEntry,
    SecretRecord, SecretsReply,
};
use crate::blocking::run_blocking;
use crate::clock;
use crate::project::{ClosedStore, OpenProject};
use crate::purging::{self, PurgeError, PurgeScope, RedactionReport, Survey, TextPlaces, asked_in};
use crate::sessions::SessionService;
use crate::shared::{PurgedFiles, SoughtFiles};
use crate::store::{Entry, Opened, StoreError};
use crate::{hooks, team_copy};

/// Removes records from disk in all versions, or shows what that would remove.
pub(crate) async fn purge(admin: &AdminService, params: PurgeParams) -> Answer<PurgeReply> {
    let projects = &admin.sessions.projects;
    let (target, open) = opened(&admin.sessions, &params.project).await?;
    if let Some(why) = open.owner.health().read_only.clone() {
        // What follows a bad place is unknown, so a report that nothing was found would be wrong.
        return Err(store_error(StoreError::ReadOnly { why }));
    }
    // Pending activity exists only in the daemon's memory. It is staged so that the purge covers
    // it.
    hooks::stage_of(&admin.hooks, target.id).await.map_err(bind_error)?;
    // For the same reason, edits of shared files are taken in.
    if admin.sessions.shared.is_on(target.id) {
        admin.sessions.shared.look(&open).await;
    }
    let (wanted, already) = wanted(&params, &open.memory())?;
    let retrievals = projects.open.retrievals();
    retrievals.flush().await;
    let places = TextPlaces::of(projects, target.id);
    let (surveyed, found) = survey(&open, &wanted, &places).await?;
    let team = open.owner.team().is_some();
    let is_shared = |gone: &PurgedRecord| !gone.newest.is_private();
    let of_team = team && surveyed.purge.records().any(is_shared);
    // A plan that this member may not carry out is not shown, and nobody is asked about it.
    if of_team && !team_copy::may_purge(projects, target.id).await? {
        return Err(ErrorReply {
            code: ErrorCode::Refused,
            error: "only a maintainer purges what the team shares".to_owned(),
            action: Some("Ask a maintainer of the project.".to_owned()),
        });
    }
    let asides = projects.open.asides(target.id).await.map_err(store_error)?;
    let asides: Vec<String> = asides.iter().map(|path| super::text(path)).collect();
    let records: BTreeSet<RecordId> = surveyed.purge.records().map(|gone| gone.id).collect();
    let sought = SoughtFiles { records, query: wanted.query.clone() };
    let files = admin.sessions.shared.files_to_purge(&open, &sought).await;
    let planned = reply(&surveyed, &target, &found);
    let mut plan = PurgeReply { team: of_team, asides, already, ..planned };
    name_files(&mut plan, &files);
    if params.dry_run || plan.is_empty() {
        return Ok(plan);
    }
    drop(open);
    let held = admin.sessions.shared.before_purge(target.id, &sought).await;
    let (_hold, files) = held.map_err(|error| not_removed(&error))?;
    // The retrieval logs are redacted before the records are removed, so that an interrupted purge
    // can be repeated. They are redacted again afterwards because of calls in the meantime.
    for directory in asked_in(projects, target.id) {
        let ids = surveyed.ids();
        retrievals.forget(directory, ids).await.map_err(|error| internal(&error))?;
    }
    let (surveyed, mut found, written) = if team {
        let (surveyed, found) = team_copy::purge(projects, target.id, wanted, places).await?;
        (surveyed, found, None)
    } else {
        let closed = move |closed: &ClosedStore| carry_out(closed, &places, wanted);
        projects.open.close_and(target.id, closed).await?
    };
    found.failed.extend(admin.hooks.forget_purged(target.id).await);
    let open = projects.open_project(target.id).await.map_err(store_error)?;
    // In a team, what stays on this machine is purged without a commit.
    let of_team = team && surveyed.purge.records().any(is_shared);
    let is_commit = of_team || !team && !surveyed.is_empty();
    let revision = is_commit.then(|| written.unwrap_or_else(|| open.memory().revision()).0);
    tracing::info!(project = %target.id, records = surveyed.purge.records().count(), "purged");
    let PurgeReply { asides, already, .. } = plan;
    let changed = reply(&surveyed, &target, &found);
    let mut done =
        PurgeReply { applied: true, revision, team: of_team, asides, already, ..changed };
    name_files(&mut done, &files);
    Ok(done)
}

/// Surveys what a purge would remove, in the store and in these places.
async fn survey(
    open: &OpenProject,
    wanted: &PurgeScope,
    places: &TextPlaces,
) -> Answer<(Survey, RedactionReport)> {
    let reading = open.owner.ask(|store, _| store.reading()).await.map_err(write_error)?;
    let (memory, wanted, places) = (open.memory(), wanted.clone(), places.clone());
    let surveying = run_blocking(move || {
        let surveyed = Survey::of(&reading, &memory, wanted)?;
        let found = purging::find(&places.directories, &surveyed.texts());
        Ok::<_, PurgeError>((surveyed, found))
    });
    Ok(surveying.await?)
}

/// Names the files in the project that go, and those that may still have a purged text.
fn name_files(reply: &mut PurgeReply, files: &PurgedFiles) {
    reply.shared = files.removed.iter().map(|path| super::text(path)).collect();
    let root = Path::new(&reply.project.root);
    let stay: Vec<String> = files.stay.iter().map(|path| super::text(&root.join(path))).collect();
    reply.failed.extend(stay);
}

/// Returns what is to be purged, and the ids of records that were purged before. Those are no
/// error: a purge that was cut off is finished by repeating it.
fn wanted(params: &PurgeParams, memory: &Memory) -> Answer<(PurgeScope, Vec<String>)> {
    let bad = |error: String| ErrorReply { code: ErrorCode::BadRequest, error, action: None };
    let mut ids = BTreeSet::new();
    for name in &params.ids {
        match name.parse() {
            Ok(id) => drop(ids.insert(id)),
            Err(_) => ids.extend(with_key(memory, name, params)?),
        }
    }
    let query = params.query.clone().filter(|query| !query.is_empty());
    let bytes_min = limits::PURGE_QUERY_BYTES_MIN;
    if query.as_ref().is_some_and(|query| query.len() < bytes_min) {
        return Err(bad(format!("the text to purge by has less than {bytes_min} bytes")));
    }
    if ids.is_empty() && query.is_none() {
        return Err(bad("nothing to purge: name records, or a text that they contain".to_owned()));
    }
    let is_gone = |id: &&RecordId| memory.record(**id).is_none();
    let gone: Vec<RecordId> = ids.iter().filter(is_gone).copied().collect();
    if let Some(id) = gone.iter().find(|id| memory.purged(**id).is_none()) {
        return Err(ErrorReply {
            code: ErrorCode::NotFound,
            error: format!("there is no record {id}"),
            action: Some(how_to_find(params)),
        });
    }
    ids.retain(|id| !gone.contains(id));
    Ok((PurgeScope { ids, query }, gone.iter().map(ToString::to_string).collect()))
}

/// Finds all facts that have or had this key, shared or private, forgotten ones included.
fn with_key(memory: &Memory, key: &str, params: &PurgeParams) -> Answer<Vec<RecordId>> {
    let has = |note: &Note| note.key.as_deref() == Some(key.trim());
    let records = memory.records().filter(|record| record.note().is_some_and(has));
    let ids: Vec<RecordId> = records.map(|record| record.id).collect();
    if ids.is_empty() {
        return Err(ErrorReply {
            code: ErrorCode::NotFound,
            error: format!("`{key}` is not an id (as n9 or b12), and no fact has that key"),
            action: Some(how_to_find(params)),
        });
    }
    Ok(ids)
}

fn how_to_find(params: &PurgeParams) -> String {
    let list = Audience::Person(Shell { typed: params.typed.clone() }).command(&["list"]);
    format!("{list} shows ids and keys; `--query TEXT` finds records by a text in any version")
}

/// Returns the error for shared files that stand in a purge's way. They would bring their records
/// back.
fn not_removed(error: &str) -> ErrorReply {
    ErrorReply {
        code: ErrorCode::Failed,
        error: format!("nothing was purged, since shared files could not be removed: {error}"),
        action: Some("Run it again once that is mended; a purge can be repeated.".to_owned()),
    }
}

impl From<PurgeError> for ErrorReply {
    fn from(error: PurgeError) -> Self {
        match error {
            PurgeError::Store(error) if error.is_damage() => store_error(error),
            PurgeError::Store(error) => Self {
                action: Some("Run it again: a purge is done as a whole or not at all.".to_owned()),
                ..store_error(error)
            },
            PurgeError::Team(error) => Self {
                code: ErrorCode::Failed,
                error,
                action: Some(
                    "Run it again once that is mended; a purge can be repeated.".to_owned(),
                ),
            },
            PurgeError::Overtaken | PurgeError::Rewritten => Self {
                code: ErrorCode::Busy,
                error: format!("nothing was purged: {}", team_copy::OVERTAKEN),
                action: Some("Run it again when they pause.".to_owned()),
            },
            PurgeError::TooMuch(why) => Self {
                code: ErrorCode::Refused,
                error: format!("too much to purge at once: {why}"),
                action: Some("Purge fewer records at a time.".to_owned()),
            },
        }
    }
}

fn reply(surveyed: &Survey, target: &Target, found: &RedactionReport) -> PurgeReply {
    let records = surveyed.purge.records().map(|gone| PurgedStatus {
        id: gone.id.to_string(),
        versions: gone.versions,
        title: render::purged_title(&gone.newest),
    });
    PurgeReply {
        project: target.reference.clone(),
        applied: false,
        revision: None,
        team: false,
        records: records.collect(),
        checkpoints: surveyed.checkpoints,
        replies: surveyed.replies,
        elsewhere: surveyed.purge.elsewhere().map(|id| id.to_string()).collect(),
        files: u32::try_from(found.files.len()).unwrap_or(u32::MAX),
        shared: Vec::new(),
        failed: found.failed.iter().map(|path| path.display().to_string()).collect(),
        asides: Vec::new(),
        already: Vec::new(),
    }
}

/// Purges a store whose project is closed. Also reports which other files in `places` held a purged
/// text, and the purge's own revision. The store may have changed since the plan was shown.
fn carry_out(
    closed: &ClosedStore,
    places: &TextPlaces,
    wanted: PurgeScope,
) -> Result<(Survey, RedactionReport, Option<Revision>), PurgeError> {
    let Opened { store, state, .. } = closed.open()?;
    let mut surveyed = Survey::of(&store.reading(), &state, wanted)?;
    if surveyed.is_empty() {
        store.close();
        let found = surveyed.redact(&places.directories);
        return Ok((surveyed, found, None));
    }
    let revision = Some(Revision(state.revision().0 + 1));
    let last = Entry {
        seq: Seq(state.seq().0 + 1),
        revision,
        time: clock::now(),
        session: None,
        call: None,
        operation: "purge".into(),
        changes: vec![surveyed.purge.tombstones()],
        reply: None,
    };
    let found = surveyed.erase(store, places, &mut |_| false, &last)?;
    Ok((surveyed, found, revision))
}

/// Scans all versions of all records, checkpoints and replies for possible secrets.
pub(crate) async fn scan_secrets(service: &SessionService, project: &str) -> Answer<SecretsReply> {
    let (target, open) = opened(service, project).await?;
    let project = target.reference;
    let reading = open.owner.ask(|store, _| store.reading()).await.map_err(write_error)?;
    // Meanwhile the writer serves sessions.
    let scanning = run_blocking(move || {
        let mut scan = Scan::default();
        let read = reading(Seq(1), &mut |entry| {
            scan.entry(entry);
            true
        });
        read.map(|()| scan.reply(project))
    });
    scanning.await.map_err(store_error)
}

#[derive(Default)]
struct Scan {
    entries: u64,
    records: BTreeMap<RecordId, (Vec<u32>, BTreeSet<SecretKind>)>,
    others: Vec<SecretEntry>,
}

impl Scan {
    fn entry(&mut self, entry: &Entry<Change>) {
        self.entries += 1;
        for change in &entry.changes {
            let kinds = secrets_in(change);
            match change.record() {
                _ if kinds.is_empty() => {}
                Some(record) => {
                    let (versions, found) = self.records.entry(record.id).or_default();
                    versions.push(record.version.0);
                    found.extend(kinds);
                }
                None => self.other(entry.seq, "checkpoint", kinds),
            }
        }
        let texts = entry.reply.as_ref().map(reply_texts).unwrap_or_default();
        let kinds: Vec<SecretKind> =
            texts.into_iter().flat_map(|text| secrets::scrub(text).removed).collect();
        if !kinds.is_empty() {
            self.other(entry.seq, "reply", kinds);
        }
    }

    fn other(&mut self, seq: Seq, place: &str, kinds: Vec<SecretKind>) {
        let kinds = names(&kinds.into_iter().collect());
        self.others.push(SecretEntry { seq: seq.0, place: place.to_owned(), kinds });
    }

    fn reply(self, project: ProjectRef) -> SecretsReply {
        let records = self.records.into_iter().map(|(id, (versions, kinds))| SecretRecord {
            id: id.to_string(),
            versions,
            kinds: names(&kinds),
        });
        let (entries, records) = (self.entries, records.collect());
        SecretsReply { project, entries, records, others: self.others }
    }
}

fn names(kinds: &BTreeSet<SecretKind>) -> Vec<String> {
    kinds.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests;
