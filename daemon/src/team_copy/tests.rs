//! Copies that are compared while their memories are open, and the end of a wait for commits that
//! do not come.

use std::fmt::Write as _;
use std::sync::Arc;

use anchord_memory::{Change, NewNote, Provenance, Seq, SessionId, plan_notes, shared_part};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::*;
use crate::project::{OpenProject, OpenProjects, Transition, WriteCommand};
use crate::registry_store::RegistryStore;
use crate::store::fakes::{MemTeam, Network};
use crate::store::{EntryKey, FileStores, TeamEntry, TeamJournal, TeamPoint};
use crate::team::TeamLinks;
use crate::testing::poll;

const ID: ProjectId = ProjectId(Uuid::from_u128(1));

/// A machine with a copy that has two commits, of a team's journal that has lost the second.
struct Machine {
    _scratch: tempfile::TempDir,
    projects: ProjectService,
    team: MemTeam<Change>,
}

impl Machine {
    async fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let stores = Arc::new(FileStores::new(scratch.path().to_owned()));
        let (registry, ..) = RegistryStore::open(Arc::clone(&stores) as _).await.unwrap();
        let open = OpenProjects::new(stores, Arc::new(TeamLinks::new(Uuid::nil())));
        let (purged, _) = mpsc::unbounded_channel();
        let projects = ProjectService { registry, open, logs: Vec::new(), purged };
        let machine = Self { _scratch: scratch, projects, team: MemTeam::new("one") };
        machine.note("The port is 1.", false).await;
        let open = machine.open().await;
        let reading = open.owner.ask(|store, _| store.reading()).await.unwrap();
        let mut shared = Vec::new();
        reading(Seq(1), &mut |entry| {
            let Some(revision) = entry.revision else { return true };
            shared.push(TeamEntry {
                revision,
                key: EntryKey { instance: "one".into(), number: entry.seq.0 },
                is_own: true,
                time: entry.time,
                session: entry.session.clone(),
                operation: entry.operation.clone().into_owned(),
                changes: shared_part(&entry.changes),
                reply: None,
            });
            true
        })
        .unwrap();
        let first = TeamPoint { revision: Revision(0), mark: None };
        machine.team.append(first, shared, TEAM_ANSWER_MAX).await.unwrap();
        machine.note("The host is a.", false).await;
        machine
    }

    async fn open(&self) -> Arc<OpenProject> {
        self.projects.open_project(ID).await.unwrap()
    }

    async fn note(&self, content: &'static str, private: bool) {
        let session = SessionId::new("one");
        let writer = session.clone();
        let decide: WriteCommand<Memory> = Arc::new(move |memory, now| {
            let by = Provenance::new(writer.clone(), "agent".into(), now);
            let content = content.to_owned();
            let note = NewNote { content, private, ..NewNote::default() };
            let planned = plan_notes(memory, &by, vec![Ok(note)]);
            Ok(Transition::silent(planned.expect("a note can be stored").changes))
        });
        self.open().await.owner.write(Some(session), None, "note", decide).await.unwrap();
    }

    async fn agree(&self) -> Result<(), String> {
        let theirs = Arc::new(self.team.clone());
        let stopping = self.projects.open.stopping();
        let reader = TeamReader::of(theirs, Handle::current(), stopping);
        let (wanted, places) = (PurgeScope::default(), TextPlaces::of(&self.projects, ID));
        let agreed = agree_with(&self.projects, ID, reader, wanted, &places).await;
        agreed.map(drop).map_err(worded)
    }

    /// Waits until the team's journal is asked for its entries.
    async fn compares(&self) {
        poll(|| (self.team.calls() > 0).then_some(())).await;
    }

    async fn revision(&self) -> Revision {
        self.open().await.memory().revision()
    }
}

#[tokio::test]
async fn a_memory_is_read_while_its_copy_is_compared_and_a_stop_ends_that() {
    let machine = Machine::new().await;
    machine.team.set(Network::Stalled);
    let agreeing = machine.agree();
    tokio::pin!(agreeing);
    let read = async {
        machine.compares().await;
        machine.revision().await
    };
    tokio::select! {
        _ = &mut agreeing => panic!("the team's journal does not answer"),
        revision = read => assert_eq!(revision, Revision(2)),
    }
    assert!(machine.projects.open.get(ID).is_some());
    machine.projects.open.stop_comparing();
    assert_eq!(agreeing.await.unwrap_err(), compare::STOPPING);
    assert_eq!(machine.revision().await, Revision(2), "nothing was decided");
}

#[tokio::test]
async fn the_end_of_all_projects_does_not_wait_for_a_comparison() {
    let machine = Machine::new().await;
    machine.team.set(Network::Stalled);
    let agreeing = machine.agree();
    tokio::pin!(agreeing);
    tokio::select! {
        _ = &mut agreeing => panic!("the team's journal does not answer"),
        () = machine.compares() => {}
    }
    // The comparison is not even polled meanwhile.
    machine.projects.open.close_all().await;
    assert!(machine.projects.open.get(ID).is_none());
    assert_eq!(agreeing.await.unwrap_err(), compare::STOPPING);
}

#[tokio::test]
async fn a_copy_that_was_compared_while_it_was_open_goes_back_and_keeps_what_came_meanwhile() {
    let machine = Machine::new().await;
    machine.team.set(Network::Stalled);
    let meanwhile = async {
        machine.compares().await;
        machine.note("Only here.", true).await;
        machine.team.set(Network::Up);
    };
    let (agreed, ()) = tokio::join!(machine.agree(), meanwhile);
    agreed.unwrap();
    let open = machine.projects.open.get(ID).expect("it is open again");
    let memory = open.memory();
    assert_eq!(memory.revision(), Revision(1));
    let reading = open.owner.ask(|store, _| store.reading()).await.unwrap();
    let mut text = String::new();
    reading(Seq(1), &mut |entry| {
        let _ = write!(text, "{:?}", entry.changes);
        true
    })
    .unwrap();
    assert!(text.contains("The port is 1.") && text.contains("Only here."), "{text}");
    assert!(!text.contains("The host is a."), "{text}");
}

#[tokio::test]
async fn a_comparison_with_a_copy_that_was_changed_meanwhile_changes_nothing() {
    let machine = Machine::new().await;
    machine.team.set(Network::Stalled);
    let meanwhile = async {
        machine.compares().await;
        machine.note("The path is b.", false).await;
        machine.team.set(Network::Up);
    };
    let (agreed, ()) = tokio::join!(machine.agree(), meanwhile);
    agreed.unwrap();
    assert_eq!(machine.revision().await, Revision(3));
    machine.agree().await.unwrap();
    assert_eq!(machine.revision().await, Revision(1));
}

#[test]
fn the_wait_for_commits_begins_again_with_each_that_comes() {
    let start = clock::start();
    let mut progress = Progress::new(start);
    let mut waited = |revision, seconds| {
        progress.time_without(Revision(revision), start + Duration::from_secs(seconds)).as_secs()
    };
    assert_eq!([waited(1, 0), waited(1, 15), waited(2, 19), waited(2, 30)], [0, 15, 0, 11]);
    assert!(waited(2, 39) >= TEAM_ANSWER_MAX.as_secs());
}
