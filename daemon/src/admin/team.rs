//! Shares a memory with a team through its database, and ends that.

mod replaced;
mod state;
mod unfinished;
mod unmerged;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::import::{EXPORTED, MERGED, NamedText};
use anchord_memory::{
    Change, Memory, Record, RecordState, Revision, Seq, plan_leave, plan_take_private, plan_team,
    plan_withhold, shared_part,
};
use anchord_team::{Database, Error as DatabaseError, ProjectInfo, Role, invite_sql, remove_sql};
use serde_json::Value;
use tokio::runtime::Handle;
use uuid::Uuid;

pub(super) use state::team_fault;

use super::import::import_as;
use super::{Answer, NamedProject, ask, export_document, internal, store_error};
use crate::api::{
    ErrorCode, ErrorReply, ExportFormat, ImportParams, TeamAction, TeamParams, TeamPlace,
    TeamProjectsReply, TeamReply,
};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::{TEAM_READ_BYTES_MAX, TEAM_UPLOAD_ENTRIES_MAX, TEAM_WAIT_MAX};
use crate::private_file;
use crate::project::{ClosedStore, OpenProject};
use crate::projects::ProjectId;
use crate::secrets::{Removed, clean_json};
use crate::sessions::SessionService;
use crate::store::{
    Arrived, Entry, EntryKey, Opened, Replies, StateMachine, Store, StoreError, TeamAppended,
    TeamEntry, TeamJournal, TeamPoint,
};
use crate::team::{self, CommitJournal, TeamConfig};
use crate::team_copy;

/// Reports or changes the team of a project.
pub(crate) async fn team(service: &SessionService, params: TeamParams) -> Answer<TeamReply> {
    let asked = ask(service, &params.project).await?;
    if asked.id.is_some_and(ProjectId::is_personal) {
        return Err(refused("your own notes are never shared with a team"));
    }
    let (mut sql, mut aside, mut remarks) = (None, None, Vec::new());
    let counts_lost = matches!(params.action, TeamAction::Look | TeamAction::Leave);
    match params.action {
        TeamAction::Look => {}
        TeamAction::Create(place) => {
            let id = established(service, &asked).await?;
            create(service, id, place).await?;
        }
        TeamAction::Join { place, merge } => {
            let id = established(service, &asked).await?;
            let directory = service.projects.open.directory(id);
            let joined = join(service, id, place, merge).await;
            (aside, remarks) = joined
                .map_err(|error| if merge { unmerged::advise(error, &directory) } else { error })?;
        }
        TeamAction::Leave => {
            let id = asked.id.ok_or_else(nothing_here)?;
            leave(service, id).await?;
        }
        TeamAction::Invite { role_name, name, role, run } => {
            let (database, config) = reached(service, &asked)?;
            if run {
                has_role(&database, &role_name).await?;
                let invited = database.invite(config.project, &role_name, &name, role).await;
                invited.map_err(database_error)?;
            } else {
                sql = Some(invite_sql(config.project, &config.name, &role_name, &name, role));
            }
        }
        TeamAction::Remove { role_name, run } => {
            let (database, config) = reached(service, &asked)?;
            if run {
                database.remove(config.project, &role_name).await.map_err(database_error)?;
            } else {
                sql = Some(remove_sql(config.project, &config.name, &role_name));
            }
        }
    }
    let asked = ask(service, &params.project).await?;
    let Some(id) = asked.id else { return Ok(TeamReply { sql, ..TeamReply::default() }) };
    let (team, lost) = match service.projects.open_known(id).await.map_err(store_error)? {
        Some(open) => state::of(service, &open, counts_lost, &mut remarks).await?,
        None => (None, Vec::new()),
    };
    let asides = service.projects.open.asides(id).await.map_err(store_error)?;
    let asides = asides.iter().map(|path| super::text(path)).collect();
    let aside = aside.as_deref().map(super::text);
    let project = Some(asked.reference(service, id));
    Ok(TeamReply { project, team, aside, asides, lost, sql, remarks })
}

/// Lists the projects that a team's database shows.
pub(crate) async fn team_projects(
    service: &SessionService,
    place: TeamPlace,
) -> Answer<TeamProjectsReply> {
    let database = service.projects.open.teams().database(&place.url, &place.secret);
    let names = names_in(&database.map_err(|error| refused(&error))?).await?;
    Ok(TeamProjectsReply { names })
}

async fn names_in(database: &Database) -> Answer<Vec<String>> {
    let projects = database.projects().await.map_err(database_error)?;
    let names = projects.into_iter().map(|project| project.name);
    Ok(names.filter(|name| !unfinished::is(name)).collect())
}

/// Returns the project, and gives it an id if it has none.
async fn established(service: &SessionService, asked: &NamedProject) -> Answer<ProjectId> {
    let (id, _) = asked.establish(service).await?.ok_or_else(nothing_here)?;
    Ok(id)
}

/// Refuses a role that the server does not have. A mistyped name would become a role of its own.
async fn has_role(database: &Database, role_name: &str) -> Answer<()> {
    if database.has_role(role_name).await.map_err(database_error)? {
        return Ok(());
    }
    let action = "check the spelling, or have an administrator run the SQL that `anchord team \
                  invite` prints without --run: it creates the role";
    Err(ErrorReply {
        action: Some(action.to_owned()),
        ..refused(&format!("the database has no role called {role_name}"))
    })
}

/// Returns the team's database of a project.
fn reached(service: &SessionService, asked: &NamedProject) -> Answer<(Database, TeamConfig)> {
    let id = asked.id.ok_or_else(nothing_here)?;
    let directory = service.projects.open.directory(id);
    let config = team::read(&directory).map_err(store_error)?.ok_or_else(no_team)?;
    let database = service.projects.open.teams().database(&config.url, &config.secret);
    Ok((database.map_err(|error| refused(&error))?, config))
}

/// Returns the name of a project where a request gives none: that of its directory.
fn name_of(service: &SessionService, id: ProjectId, place: &TeamPlace) -> Answer<String> {
    let registry = service.projects.registry.snapshot();
    let of_directory = || registry.project(id).map(|record| record.name.clone());
    place.name.clone().or_else(of_directory).ok_or_else(|| refused("give the project a --name"))
}

fn config_of(found: &ProjectInfo, name: String, place: TeamPlace) -> TeamConfig {
    let TeamPlace { url, secret, .. } = place;
    let (member, lost) = (Some(found.member.clone()), BTreeMap::new());
    TeamConfig { project: found.id, name, member, renumbered: None, lost, url, secret }
}

async fn create(service: &SessionService, id: ProjectId, place: TeamPlace) -> Answer<()> {
    let name = name_of(service, id, &place)?;
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    alone(service, &open)?;
    let teams = Arc::clone(service.projects.open.teams());
    let database = teams.database(&place.url, &place.secret).map_err(|it| refused(&it))?;
    database.migrate().await.map_err(database_error)?;
    if names_in(&database).await?.contains(&name) {
        return Err(database_error(DatabaseError::NameTaken));
    }
    // A project that this member does not see may have the name. Then nothing is sent.
    let created = database.create_project(&name).await.map_err(database_error)?;
    // If it ends half-way, the name is still free. With nothing to send, the first of several that
    // create it at once has the name.
    if open.memory().revision() > Revision(0) {
        let renamed = database.rename_project(created.id, &unfinished::named(&name)).await;
        renamed.map_err(database_error)?;
    }
    let config = config_of(&created, name, place);
    let journal = teams.journal(&config).map_err(|error| refused(&error))?;
    let directory = service.projects.open.directory(id);
    let runtime = Handle::current();
    let uploaded = service
        .projects
        .open
        .close_and(id, move |closed| {
            let name = || runtime.block_on(database.rename_project(config.project, &config.name));
            upload(closed, &journal, &config, &directory, &runtime, name)
        })
        .await;
    uploaded.map_err(|error| refused(&error))?;
    service.projects.open_project(id).await.map_err(store_error)?;
    Ok(())
}

/// Refuses a memory that is shared already. Each way of sharing would take the other's records for
/// new ones, and files have other names in each clone.
fn alone(service: &SessionService, open: &OpenProject) -> Answer<()> {
    if service.shared.is_on(open.id) {
        return Err(ErrorReply {
            action: Some("`anchord init --unshare` ends that, and all records stay".to_owned()),
            ..refused("this memory is shared through git already")
        });
    }
    match open.memory().team() {
        Some(_) => Err(ErrorReply {
            action: Some("`anchord team leave --keep` makes it this machine's own".to_owned()),
            ..refused("a team shares this memory already")
        }),
        None => Ok(()),
    }
}

/// Sends all earlier commits to the team's journal, and then the one by which the team takes the
/// memory over. Then names the project.
fn upload(
    closed: &ClosedStore,
    journal: &CommitJournal,
    config: &TeamConfig,
    directory: &Path,
    runtime: &Handle,
    name: impl FnOnce() -> Result<(), DatabaseError>,
) -> Result<(), String> {
    let worded = |error: StoreError| error.to_string();
    let opened = closed.open().map_err(worded)?;
    let mut writing = Writing::of(opened);
    let sent = (|| {
        let withheld = plan_withhold(&writing.state);
        writing.append("withhold", withheld)?;
        let mut upload = Upload::new(journal, runtime);
        let mut failed = None;
        writing
            .store
            .entries(Seq(1), &mut |entry| {
                let Some(revision) = entry.revision else { return true };
                let sent = upload.add(revision, entry);
                failed = sent.err();
                failed.is_none()
            })
            .map_err(worded)?;
        if let Some(why) = failed {
            return Err(why);
        }
        let changes = plan_team(&writing.state, &config.project.to_string());
        let mut entry = writing.entry("team", changes);
        let revision = entry.revision.ok_or("a team takes a memory over by a commit")?;
        upload.add(revision, &entry)?;
        upload.send()?;
        name().map_err(|error| format!("failed to {error}"))?;
        entry.changes.extend(upload.sent.mark.map(|mark| Change::Copied(mark.into())));
        writing.keep(entry)?;
        team::write(directory, config).map_err(|error| format!("cannot write team.json: {error}"))
    })();
    writing.close();
    sent
}

/// A store that is open without a writer.
struct Writing {
    store: Box<dyn Store<Memory>>,
    state: Memory,
    replies: Replies,
}

impl Writing {
    fn of(opened: Opened<Memory, Box<dyn Store<Memory>>>) -> Self {
        let Opened { store, state, replies, .. } = opened;
        Self { store, state, replies }
    }

    fn entry(&self, operation: &'static str, changes: Vec<Change>) -> Entry<Change> {
        let is_commit = Memory::is_commit(&changes);
        Entry {
            seq: Seq(self.state.seq().0 + 1),
            revision: is_commit.then(|| Revision(self.state.revision().0 + 1)),
            time: clock::now(),
            session: None,
            call: None,
            operation: operation.into(),
            changes,
            reply: None,
        }
    }

    fn append(&mut self, operation: &'static str, changes: Vec<Change>) -> Result<(), String> {
        if changes.is_empty() {
            return Ok(());
        }
        self.keep(self.entry(operation, changes))
    }

    fn keep(&mut self, entry: Entry<Change>) -> Result<(), String> {
        let appended = self.store.append(self.state.seq(), std::slice::from_ref(&entry));
        appended.map_err(|error| error.to_string())?;
        StateMachine::apply(&mut self.state, entry.seq, &entry.changes);
        Ok(())
    }

    fn close(mut self) {
        if let Err(error) = self.store.advance_index(&self.state, &mut self.replies) {
            tracing::warn!(%error, "the index did not follow");
        }
        self.store.close();
    }
}

/// Commits on their way to a team's journal.
struct Upload<'a> {
    journal: &'a CommitJournal,
    runtime: &'a Handle,
    /// Random, so that a second attempt has other keys.
    instance: Arc<str>,
    sent: TeamPoint,
    batch: Vec<TeamEntry<Change>>,
    bytes: u64,
}

impl<'a> Upload<'a> {
    fn new(journal: &'a CommitJournal, runtime: &'a Handle) -> Self {
        let instance = Uuid::new_v4().to_string().into();
        let sent = TeamPoint { revision: Revision(0), mark: None };
        let (batch, bytes) = (Vec::new(), 0);
        Self { journal, runtime, instance, sent, batch, bytes }
    }

    fn add(&mut self, revision: Revision, entry: &Entry<Change>) -> Result<(), String> {
        let changes = shared_part(&entry.changes);
        // The filter may know forms of secrets that it did not know when this was written.
        let mut json = serde_json::to_value(&changes).map_err(|error| error.to_string())?;
        let mut removed = Removed::default();
        clean_json(&mut json, &mut removed);
        self.bytes += json.to_string().len() as u64;
        let changes = if removed.no_secrets() { changes } else { parsed(json)? };
        self.batch.push(TeamEntry {
            revision,
            key: EntryKey { instance: Arc::clone(&self.instance), number: revision.0 },
            is_own: true,
            time: entry.time,
            session: entry.session.clone(),
            operation: entry.operation.clone().into_owned(),
            changes,
            reply: None,
        });
        if self.batch.len() >= TEAM_UPLOAD_ENTRIES_MAX || self.bytes >= TEAM_READ_BYTES_MAX {
            return self.send();
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), String> {
        let batch = std::mem::take(&mut self.batch);
        let Some(last) = batch.last().map(|entry| entry.revision) else { return Ok(()) };
        self.bytes = 0;
        let appended =
            self.runtime.block_on(self.journal.append(self.sent.clone(), batch, TEAM_WAIT_MAX));
        match appended.map_err(|error| error.to_string())? {
            TeamAppended::Committed(marks) => {
                self.sent = TeamPoint { revision: last, mark: marks.into_iter().next_back() };
            }
            TeamAppended::Moved(arrived) => {
                // The connection broke after these were committed.
                let is_last = |arrived: &Arrived<Change>| {
                    let TeamEntry { revision, key, .. } = &arrived.entry;
                    *revision == last && key.instance == self.instance
                };
                let arrived = arrived.into_iter().next_back().filter(is_last);
                let mark = arrived.ok_or("somebody else writes to the new project")?.mark;
                self.sent = TeamPoint { revision: last, mark: Some(mark) };
            }
        }
        Ok(())
    }
}

fn parsed(json: Value) -> Result<Vec<Change>, String> {
    serde_json::from_value(json).map_err(|error| error.to_string())
}

/// Joins a project. Returns the place of the memory that was here before, if it had records. Also
/// returns what of it could not be added as it was, and what it replaced.
async fn join(
    service: &SessionService,
    id: ProjectId,
    place: TeamPlace,
    merge: bool,
) -> Answer<(Option<PathBuf>, Vec<String>)> {
    let name = name_of(service, id, &place)?;
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    let memory = open.memory();
    let teams = Arc::clone(service.projects.open.teams());
    let database = teams.database(&place.url, &place.secret).map_err(|it| refused(&it))?;
    let projects = database.projects().await.map_err(database_error)?;
    let Some(found) = projects.iter().find(|known| known.name == name) else {
        let names = projects.iter().map(|known| known.name.as_str());
        let names: Vec<&str> = names.filter(|name| !unfinished::is(name)).collect();
        let error = format!("the database shows you no project called {name}");
        let action = if names.is_empty() {
            "ask a maintainer to invite you: `anchord team invite`".to_owned()
        } else {
            format!("give one of these as --name: {}", names.join(", "))
        };
        return Err(ErrorReply { action: Some(action), ..refused(&error) });
    };
    let is_member = memory.team() == Some(found.id.to_string().as_str());
    if !is_member {
        alone(service, &open)?;
    }
    // Records of two memories would have the same ids.
    let begins_anew = !is_member && memory.records().next().is_some();
    let has_own = !is_member && memory.revision() > Revision(0);
    let directory = service.projects.open.directory(id);
    if found.role == Role::Reader && (has_own || !unmerged_in(&directory)?.is_empty()) {
        return Err(ErrorReply {
            action: Some("ask a maintainer for the right to write, and join then".to_owned()),
            ..refused("this project has a memory of its own, and a reader adds nothing to a team's")
        });
    }
    if !merge {
        nothing_to_merge(has_own.then_some(&memory), &directory)?;
    }
    if begins_anew && memory.staged().next().is_some() {
        return Err(ErrorReply {
            action: Some("let the sessions here save or end, and join then".to_owned()),
            ..refused("work is staged here that is not saved yet")
        });
    }
    let exported = memory.seq();
    drop((open, memory));
    let own = if has_own {
        Some(export_document(service, &id.to_string(), ExportFormat::Json).await?)
    } else {
        None
    };
    let config = config_of(found, name, place);
    // A file that cannot be read is what joining again repairs.
    let earlier = team::read(&directory).ok().flatten();
    let linked = service.projects.open.close_and(id, move |closed| {
        let begin = || begin_anew(closed, &directory, exported, own.as_deref());
        let aside = begins_anew.then(begin).transpose()?;
        let (renumbered, lost) = match earlier {
            _ if begins_anew => (Some(clock::now()), BTreeMap::new()),
            Some(earlier) => (earlier.renumbered, earlier.lost),
            None => (None, BTreeMap::new()),
        };
        let written = team::write(&directory, &TeamConfig { renumbered, lost, ..config });
        written.map_err(|error| format!("cannot write team.json: {error}"))?;
        Ok(aside)
    });
    let aside = linked.await.map_err(|error: String| refused(&error))?;
    let remarks = take_part(service, id, aside.as_deref()).await?;
    Ok((aside, remarks))
}

/// Refuses to join without a merge if there is something to merge.
fn nothing_to_merge(own: Option<&Memory>, directory: &Path) -> Answer<()> {
    let (why, what) = match own {
        Some(memory) => {
            let is_added =
                |it: &&Arc<Record>| !it.is_private() && it.state != RecordState::Forgotten;
            let count = memory.records().filter(is_added).count();
            let (records, them) = if count == 1 { ("record", "it") } else { ("records", "them") };
            (format!("this project has a memory of its own, with {count} {records}"), them)
        }
        None => match unmerged_in(directory)?.first() {
            Some(export) => {
                let export = super::text(export);
                let why =
                    format!("what this project had before is not merged yet; it is in {export}");
                (why, "those records")
            }
            None => return Ok(()),
        },
    };
    let action = Some(format!("`--merge` adds {what} to the team's memory"));
    Err(ErrorReply { action, ..refused(&why) })
}

fn unmerged_in(directory: &Path) -> Answer<Vec<PathBuf>> {
    let found = unmerged::in_directory(directory);
    found.map_err(|error| internal(&format!("cannot look for files: {error}")))
}

/// Waits until a memory has all that the team has, and adds what the project had before. Returns
/// what could not be added as it was, and what it replaced. `aside` is the memory that was set
/// aside just now, if one was.
async fn take_part(
    service: &SessionService,
    id: ProjectId,
    aside: Option<&Path>,
) -> Answer<Vec<String>> {
    team_copy::catch_up(&service.projects, id).await.map_err(|why| refused(&why))?;
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    if open.memory().team().is_none() {
        let why = "its creation has not ended; if that stays so, create it under another name";
        return Err(refused(why));
    }
    let mut remarks = Vec::new();
    for path in unmerged_in(&service.projects.open.directory(id))? {
        let failed =
            |error: std::io::Error| internal(&format!("cannot use {}: {error}", path.display()));
        let export = path.clone();
        let text = run_blocking(move || std::fs::read_to_string(export)).await.map_err(failed)?;
        let params = ImportParams {
            project: id.to_string(),
            part: false,
            source: EXPORTED.to_owned(),
            path: "the memory before the team".to_owned(),
            texts: vec![NamedText::new("memory.json", text)],
            dry_run: false,
        };
        let before = open.memory();
        let (merged, outcome) = import_as(MERGED, service, params).await?;
        remarks.extend(merged.remarks);
        if outcome.left_out > 0 {
            // An earlier attempt has set it aside, if this one did not.
            let asides = match aside {
                Some(aside) => vec![aside.to_owned()],
                None => service.projects.open.asides(id).await.map_err(store_error)?,
            };
            remarks.extend(replaced::remain(&asides));
        }
        let revision = merged.revision.map(Revision);
        remarks.extend(revision.and_then(|it| replaced::remark(&before, &open.memory(), it)));
        private_file::remove(&path).map_err(failed)?;
    }
    Ok(remarks)
}

/// Sets a memory aside and begins another in its place, with the notes of sessions alone, beside
/// the export of what was there. `exported` is the last entry that the export certainly has.
fn begin_anew(
    closed: &ClosedStore,
    directory: &Path,
    exported: Seq,
    own: Option<&str>,
) -> Result<PathBuf, String> {
    let worded = |error: StoreError| error.to_string();
    let Opened { store, state, .. } = closed.open().map_err(worded)?;
    store.close();
    if state.seq() != exported {
        return Err("something was stored meanwhile; join again".to_owned());
    }
    let aside = closed.set_aside().map_err(worded)?;
    let kept = std::fs::create_dir_all(directory).and_then(|()| {
        unmerged::keep(directory, &aside, own)?;
        team_copy::take_missing(&aside, directory)
    });
    kept.map_err(|error| format!("cannot keep what is in {}: {error}", aside.display()))?;
    let mut writing = Writing::of(closed.open().map_err(worded)?);
    let taken = writing.append("join team", plan_take_private(&state));
    writing.close();
    // What sessions have seen was of the memory before.
    closed.note_step_back(Revision(0));
    taken.map(|()| aside)
}

async fn leave(service: &SessionService, id: ProjectId) -> Answer<()> {
    let directory: PathBuf = service.projects.open.directory(id);
    // A purge under way would take the leave's own commit for one that the database has lost.
    let _agreeing = service.projects.open.agreeing(id).await;
    let open = service.projects.open_known(id).await.map_err(store_error)?;
    let open = open.ok_or_else(nothing_here)?;
    if open.owner.team().is_none() {
        return Err(no_team());
    }
    drop(open);
    let left = service.projects.open.close_and(id, move |closed| {
        // Without the file, commits are refused, so a crash here loses nothing.
        team::remove(&directory).map_err(|error| format!("cannot remove team.json: {error}"))?;
        let mut writing = Writing::of(closed.open().map_err(|error| error.to_string())?);
        let appended = writing.append("leave team", plan_leave(&writing.state));
        writing.close();
        appended
    });
    left.await.map_err(|error| refused(&error))?;
    // What waited for the database is this memory's own now.
    let open = service.projects.open_project(id).await.map_err(store_error)?;
    open.release(|_| true).await.map(drop).map_err(super::write_error)
}

fn refused(error: &str) -> ErrorReply {
    ErrorReply { code: ErrorCode::Refused, error: error.to_owned(), action: None }
}

fn nothing_here() -> ErrorReply {
    refused("nothing is remembered here yet")
}

fn no_team() -> ErrorReply {
    ErrorReply {
        action: Some("`anchord team create` or `anchord team join` changes that".to_owned()),
        ..refused("no team shares this memory")
    }
}

fn database_error(error: DatabaseError) -> ErrorReply {
    ErrorReply { code: ErrorCode::Failed, error: format!("failed to {error}"), action: None }
}
