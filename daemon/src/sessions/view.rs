//! The view that a session's calls read: a project's memory, or an earlier one, and its place.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{Accesses, ItemIds, MAIN, Memory, Record, SessionId, Timestamp, render};

use super::bind::record_move;
use super::error::BindError;
use super::service::SessionService;
use super::{Session, SessionLocation};
use crate::anchors::ProjectRoots;
use crate::bounded_fs;
use crate::clock;
use crate::project::history::PastMemory;
use crate::project::{OpenProject, TeamStatus, make_searchable};
use crate::projects::{EstablishError, Presence, ProjectId, identify, moved};
use crate::rules::RuleSources;
use crate::store::Away;

/// The view that a call reads.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) place: Arc<SessionLocation>,
    /// `None` until the first write here.
    pub(crate) project: Option<Arc<OpenProject>>,
    pub(crate) memory: Arc<Memory>,
    /// Whether the database of the team that shares the memory answered, just before it was read.
    team: Option<Arc<TeamStatus>>,
    /// A remark for the user, such as that this place is a copy or has moved.
    pub(crate) remark: Option<String>,
    /// The time from which ages are counted, if the memory is an earlier one.
    past: Option<Timestamp>,
}

impl View {
    /// Words what waits for the database of the team that shares the memory, if anything does. What
    /// the session `own` has saved is listed.
    pub(crate) fn team(&self, own: Option<&SessionId>) -> String {
        let Some(status) = &self.team else { return String::new() };
        let error = status.outage().map(|fault| (fault.why.as_str(), fault.away == Away::Barred));
        let slow = status.slow_commits(self.memory.held().count(), clock::now());
        let slow = slow.map(|untaken| (untaken.fault.why.as_str(), Some(untaken.since)));
        let refused = status.refused.as_ref().map(|untaken| &untaken.fault);
        let refused = refused.filter(|fault| !fault.away.is_unanswered());
        let refused = slow.or(refused.map(|fault| (fault.why.as_str(), None)));
        render::team(&self.memory, own, status.answered, error, refused)
    }

    /// Returns the time from which ages are counted.
    pub(crate) fn now(&self) -> Timestamp {
        self.past.unwrap_or_else(clock::now)
    }

    /// Returns the ids of the items of this memory, which has none before its first write.
    pub(crate) fn item_ids(&self) -> ItemIds {
        let project = self.project.as_ref();
        project.map_or_else(ItemIds::unsalted, |project| ItemIds::of(&project.id.to_string()))
    }

    /// Returns whether the memory is an earlier one.
    pub(crate) fn is_past(&self) -> bool {
        self.past.is_some()
    }

    /// Returns the places that the rules for this view are from.
    pub(crate) fn rule_sources(&self) -> RuleSources<'_> {
        let id = self.project.as_ref().map(|project| project.id);
        RuleSources { id, memory: &self.memory, located: self.place.located() }
    }

    /// Returns how often and when records were read.
    pub(crate) fn accesses(&self) -> Accesses {
        self.project.as_ref().map(|project| project.accesses()).unwrap_or_default()
    }

    /// Returns a view that shows the state of some records' code and files.
    pub(crate) async fn with_anchors(
        mut self,
        service: &SessionService,
        time_max: Duration,
        shown: &[Arc<Record>],
    ) -> Self {
        // An earlier memory says nothing about the code of now.
        if !self.is_past() {
            let repository = self.place.repository();
            let place = self.place.root().map(|root| ProjectRoots { root, repository });
            self.memory = service.anchors.shown(place, &self.memory, time_max, shown).await;
        }
        self
    }

    /// Returns those of these files that do not exist; none if the project's files cannot be seen.
    pub(crate) async fn absent(&self, files: Vec<String>) -> BTreeSet<String> {
        // An earlier memory says nothing about the files that are there now.
        if files.is_empty() || self.is_past() {
            return BTreeSet::new();
        }
        let Some(root) = self.place.root() else { return BTreeSet::new() };
        let place = Arc::clone(&self.place);
        let looking = bounded_fs::run(root, move || {
            let Some(project) = place.files() else { return BTreeSet::new() };
            let gone = |file: &String| project.exists(file.as_ref()) == Presence::Absent;
            files.into_iter().filter(gone).collect()
        });
        looking.await.unwrap_or_default()
    }

    /// Returns those of a topic's active files that do not exist. Without a name, uses the topic
    /// `main`.
    pub(crate) async fn gone_files(&self, topic: Option<&str>) -> BTreeSet<String> {
        let record = self.memory.topic(topic.unwrap_or(MAIN));
        let topic = record.and_then(|record| record.topic());
        self.absent(topic.map(|topic| topic.files.clone()).unwrap_or_default()).await
    }
}

impl Session {
    /// Returns the memory as [`Self::view`] does, once it can be searched without a wait.
    pub(crate) async fn searchable_view(
        &self,
        service: &SessionService,
    ) -> Result<View, BindError> {
        let view = self.view(service).await?;
        make_searchable(&view.memory).await;
        Ok(view)
    }

    /// Returns the memory that the session's calls read. Creates nothing. Does not wait for the
    /// search index, which is built in the background after a memory was opened.
    pub(crate) async fn view(&self, service: &SessionService) -> Result<View, BindError> {
        let place = self.place(service).await?;
        if let Some(PastMemory { memory, now, .. }) = &self.past {
            // Without the project, nothing that is said here is about the present.
            let memory = Arc::clone(memory);
            let (project, team, remark, past) = (None, None, None, Some(*now));
            return Ok(View { place, project, memory, team, remark, past });
        }
        let registry = service.projects.registry.snapshot();
        let known = self.project_id();
        let (id, remark) = match (place.as_ref(), known) {
            (SessionLocation::Personal, _) => (Some(ProjectId::PERSONAL), None),
            (SessionLocation::Foreign(id), _) if registry.project(*id).is_none() => {
                return Err(BindError::Unknown(*id));
            }
            (SessionLocation::Foreign(id), _) => (Some(*id), None),
            (SessionLocation::Here(_), Some(id)) if registry.project(id).is_some() => {
                (Some(id), None)
            }
            (SessionLocation::Here(located), _) => {
                let there = located.clone();
                let looking = bounded_fs::run(&located.root, move || {
                    let resolution = identify(&there, &registry)?;
                    let notice = resolution.notice(&there, &registry);
                    let found = moved(&there, &registry, &resolution, clock::now());
                    Ok::<_, EstablishError>((resolution.id, notice, found))
                });
                let (id, notice, found) = looking.await??;
                record_move(&service.projects.registry, found).await;
                (id, notice)
            }
        };
        let project = match id {
            Some(id) => service.projects.open_to_read(id).await?,
            None => None,
        };
        if let Some(project) = &project {
            service.shared.before_reading(project).await;
        }
        self.works_in(project.as_ref());
        let team = project.as_ref().and_then(|project| project.owner.team());
        let memory = project.as_ref().map(|project| project.memory()).unwrap_or_default();
        Ok(View { place, project, memory, team, remark, past: None })
    }
}
