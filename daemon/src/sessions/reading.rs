//! The parts of a session's view besides records: its own staged work and the other live sessions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Counts, Reader, Staged, Timestamp};

use super::service::SessionService;
use super::{Session, View, session_key};
use crate::bounded_fs;
use crate::clock;
use crate::retrieval_log::{LoggedAnswer, Retrieval};
use crate::shared::{DIRECTORY, has_shared_files, is_lost};

/// Another session that is live in the same project.
#[derive(Clone, Debug)]
pub(crate) struct LiveSession {
    /// The key of its topic.
    pub(crate) key: String,
    pub(crate) client: Arc<str>,
    pub(crate) since: Timestamp,
}

impl Session {
    /// Returns the reader that represents this session.
    pub(crate) fn reader(&self, service: &SessionService) -> Reader {
        let reader = Reader::session(self.id.clone());
        let Some(project) = self.project_id() else { return reader };
        // Includes the work that an earlier process of this conversation left. The first write
        // takes that work over, unless that session has ended.
        let registry = service.projects.registry.snapshot();
        let earlier = self.predecessors(&registry, project);
        reader
            .inheriting(earlier.iter().map(|record| record.session.clone()))
            .inheriting(self.id.parent())
            .inheriting(self.ended_before(&registry, project))
    }

    /// Returns the reader for the maintenance of single records. For a command it is the owner of
    /// all records: ended sessions leave some that nobody else reaches and that take up room.
    pub(crate) fn keeper(&self, service: &SessionService) -> Reader {
        if self.is_ephemeral { Reader::owner() } else { self.reader(service) }
    }

    /// Words what this conversation has staged and not saved. Includes the work of an earlier
    /// process, which the next write takes over.
    pub(crate) fn staged(&self, service: &SessionService, view: &View) -> Option<String> {
        let project = view.project.as_ref()?;
        let registry = service.projects.registry.snapshot();
        let earlier = self.predecessors(&registry, project.id);
        let mut staged = Staged::default();
        for session in earlier.iter().map(|record| &record.session).chain([&self.id]) {
            if let Some(part) = view.memory.staged_by(session) {
                staged.absorb(part);
            }
        }
        match staged.counts() {
            _ if !staged.has_work() => None,
            counts if counts == Counts::default() => Some("a summary".to_owned()),
            counts => Some(counts.to_string()),
        }
    }

    /// Logs what was given to the session. `line` says what and how; this fills in the rest.
    pub(crate) fn log(
        &self,
        service: &SessionService,
        line: Retrieval,
        took: Duration,
        given: impl Into<LoggedAnswer>,
    ) {
        let line = Retrieval {
            time: clock::now().0,
            session: self.id.to_string(),
            client: self.client().to_string(),
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            ..line
        };
        let directory = self.project_id().map(|id| service.projects.open.directory(id));
        service.projects.open.retrievals().write(directory, line, given.into());
    }

    /// Returns the other conversations that are live in this project, oldest first. A conversation
    /// counts once, with its subagents.
    pub(crate) fn others_live(&self, service: &SessionService, view: &View) -> Vec<LiveSession> {
        let Some(project) = &view.project else { return Vec::new() };
        let conversation = |session: &Self| session.id.parent().unwrap_or(session.id.clone());
        let own = conversation(self);
        let mut others: Vec<LiveSession> = service
            .table
            .all()
            .into_iter()
            .filter(|status| status.disconnected.is_none())
            .filter(|status| conversation(&status.session) != own)
            .filter(|status| status.session.project_id() == Some(project.id))
            .map(|status| LiveSession {
                key: session_key(&status.session),
                client: status.session.client(),
                since: status.session.started,
            })
            .collect();
        others.sort_by_key(|live| live.since);
        let mut seen = BTreeSet::new();
        others.retain(|live| seen.insert(live.key.clone()));
        others
    }

    /// Returns the lines at a load's end that concern only this session: its staged work, its
    /// project's place, and a memory that can be imported.
    pub(crate) async fn remarks(&self, service: &SessionService, view: &View) -> String {
        let mut remarks = String::new();
        if let Some(staged) = self.staged(service, view) {
            remarks = format!("Staged by you and not saved yet: {staged}; memory_save keeps it.\n");
        }
        // A remark from a hook's write that no answer has carried yet.
        if let Some(remark) = view.remark.clone().or_else(|| self.take_remarks()) {
            remarks.push_str(&remark);
            remarks.push('\n');
        }
        if let Some(remark) = self.shared_remark(service, view).await {
            remarks.push_str(&remark);
        }
        if view.memory.seq().0 == 0
            && let Some(root) = view.place.root()
        {
            let state = root.join(".zipmem/state.json");
            if bounded_fs::run(root, move || state.is_file()).await.unwrap_or(false) {
                remarks.push_str(
                    "A zipmem memory is here: `anchord import .zipmem` takes it in; the original stays.\n",
                );
            }
        }
        remarks
    }

    /// Returns a line about shared files: what a person has to decide, or files that wait for the
    /// user to agree.
    async fn shared_remark(&self, service: &SessionService, view: &View) -> Option<String> {
        if let Some(project) = view.project.as_ref().filter(|it| service.shared.is_on(it.id)) {
            let status = service.shared.status(project.id)?;
            let registry = service.projects.registry.snapshot();
            if status.paused.is_some()
                && let Some(record) = registry.project(project.id)
                && let Some(here) = view.place.located()
                && is_lost(record, here).await
            {
                let gone = record.root.display();
                return Some(format!(
                    "Sharing through git is paused: the worktree {gone}, which had the files, is \
                     gone. `anchord init --shared` uses the files of this one.\n"
                ));
            }
            let first = status.remarks.first().filter(|_| status.conflicts > 0);
            return first.map(|first| {
                let conflicts = status.conflicts;
                let what = first.in_full();
                format!(
                    "Shared through git, {conflicts} to decide (`anchord shared status`): {what}\n"
                )
            });
        }
        // A memory is shared in one way. Somebody who stopped sharing it knows of the files.
        let has_stopped = view.project.as_ref().is_some_and(|it| service.shared.was_on(it.id));
        if view.memory.team().is_some() || has_stopped {
            return None;
        }
        let root = view.place.root()?;
        let at = root.to_owned();
        let found = bounded_fs::run(root, move || has_shared_files(&at).unwrap_or(false));
        found.await.unwrap_or(false).then(|| {
            format!(
                "Others share a memory in {DIRECTORY}. Nothing of it is read until the user agrees: \
                 `anchord init --shared`.\n"
            )
        })
    }
}
