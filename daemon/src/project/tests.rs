//! Projects are opened once when needed, and again after they were closed.

use std::path::Path;
use std::time::Duration;

use anchord_memory::{Change, Counts, Notice, NoticeCause, SessionId};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::*;
use crate::registry_store::RegistryStore;
use crate::store::{
    Arrived, FileStores, TeamAppended, TeamEntry, TeamError, TeamJournal, TeamPoint,
};
use crate::team::TeamLinks;

const ID: ProjectId = ProjectId(Uuid::from_u128(1));

fn beneath(data: &Path) -> OpenProjects {
    let teams = Arc::new(TeamLinks::new(Uuid::nil()));
    OpenProjects::new(Arc::new(FileStores::new(data.to_owned())), teams)
}

fn projects() -> (tempfile::TempDir, OpenProjects) {
    let scratch = tempfile::tempdir().unwrap();
    let projects = beneath(scratch.path());
    (scratch, projects)
}

fn unused_for_long(project: &OpenProject) {
    let used = clock::start().checked_sub(limits::PROJECT_IDLE_AFTER);
    *project.used.lock() = used.expect("the machine has been up for a while");
}

#[tokio::test]
async fn concurrent_opens_share_one_project() {
    let (_scratch, projects) = projects();
    assert!(!projects.exists(ID).unwrap() && projects.get(ID).is_none());
    let (one, two) = tokio::join!(projects.open(ID), projects.open(ID));
    assert!(Arc::ptr_eq(&one.unwrap(), &two.unwrap()));
    assert!(projects.exists(ID).unwrap() && projects.get(ID).is_some());
}

#[tokio::test]
async fn a_project_whose_writer_died_is_opened_again() {
    let (_scratch, projects) = projects();
    let dead = projects.open(ID).await.unwrap();
    dead.owner.close().await;
    let again = projects.open(ID).await.unwrap();
    assert!(!Arc::ptr_eq(&dead, &again));
    assert!(again.owner.ask(|_, _| ()).await.is_ok());
}

#[tokio::test]
async fn an_idle_project_is_closed() {
    let (_scratch, projects) = projects();
    let project = projects.open(ID).await.unwrap();
    projects.close_idle(&BTreeSet::new()).await;
    assert!(projects.get(ID).is_some(), "it was used just now");
    unused_for_long(&project);
    let weak = Arc::downgrade(&project);
    drop(project);
    projects.close_idle(&BTreeSet::from([ID])).await;
    assert!(projects.get(ID).is_some(), "a session works there");
    let project = weak.upgrade().unwrap();
    assert!(Arc::ptr_eq(&projects.open(ID).await.unwrap(), &project));
    drop(project);
    projects.close_idle(&BTreeSet::new()).await;
    assert!(projects.get(ID).is_some(), "opening it is using it");
    let project = weak.upgrade().unwrap();
    unused_for_long(&project);
    projects.close_idle(&BTreeSet::new()).await;
    assert!(projects.get(ID).is_some(), "somebody works with it");
    let owner = project.owner.clone();
    drop(project);
    projects.close_idle(&BTreeSet::new()).await;
    assert!(projects.get(ID).is_none() && projects.exists(ID).unwrap());
    assert!(matches!(owner.ask(|_, _| ()).await, Err(WriteError::Closed)));
}

#[tokio::test]
async fn a_project_on_a_hanging_disk_does_not_keep_others_open() {
    let (_scratch, projects) = projects();
    let mut held = Vec::new();
    for number in 1..4 {
        let project = projects.open(ProjectId(Uuid::from_u128(number))).await.unwrap();
        let (hold, held_by) = std::sync::mpsc::channel::<()>();
        held.push(hold);
        let (begun, begins) = tokio::sync::oneshot::channel();
        let owner = project.owner.clone();
        tokio::spawn(async move {
            let wait = move |_: &mut dyn Store<Memory>, _: &Memory| {
                begun.send(()).unwrap();
                held_by.recv().unwrap_err()
            };
            owner.ask(wait).await
        });
        begins.await.unwrap();
        unused_for_long(&project);
    }
    let free = projects.open(ProjectId(Uuid::from_u128(4))).await.unwrap();
    unused_for_long(&free);
    let owner = free.owner.clone();
    drop(free);
    let none = BTreeSet::new();
    let closed = crate::testing::poll(|| owner.is_closed().then_some(()));
    tokio::select! {
        _ = projects.close_idle(&none) => panic!("the others are still held"),
        () = closed => {}
    }
    drop(held);
    projects.close_all().await;
}

#[tokio::test]
async fn a_project_cannot_be_opened_while_its_directory_is_in_use() {
    let (_scratch, projects) = projects();
    let project = projects.open(ID).await.unwrap();
    let directory = projects.directory(ID);
    projects
        .close_and(ID, move |closed| {
            assert!(directory.is_dir() && project.owner.is_closed());
            closed.remove().unwrap();
        })
        .await;
    assert!(!projects.exists(ID).unwrap());
    assert!(projects.open(ID).await.unwrap().report.created);
}

#[tokio::test]
async fn no_project_is_opened_after_closing_all() {
    let (_scratch, projects) = projects();
    projects.open(ID).await.unwrap();
    projects.close_all().await;
    let refused = projects.open(ID).await.unwrap_err().to_string();
    assert!(refused.contains("this daemon is shutting down"), "{refused}");
}

#[tokio::test]
async fn closing_all_waits_for_a_project_that_is_being_opened() {
    let (_scratch, projects) = projects();
    assert!(projects.open(ID).now_or_never().is_none(), "it takes a while");
    let slot = projects.slots.lock().get(&ID).cloned().unwrap();
    while !slot.is_in_use() {
        tokio::task::yield_now().await;
    }
    projects.close_all().await;
    let _gate = slot.gate.lock().await;
    assert!(slot.current.load().is_none(), "no store is left open");
}

#[tokio::test]
async fn a_cancelled_open_leaves_no_second_writer() {
    let (_scratch, projects) = projects();
    assert!(projects.open(ID).now_or_never().is_none(), "it takes a while");
    let opened = projects.open(ID).await.unwrap();
    assert!(Arc::ptr_eq(&opened, &projects.open(ID).await.unwrap()));
    projects.close_and(ID, |_| ()).await;
    assert!(opened.owner.is_closed());
}

#[tokio::test]
async fn a_shown_notice_is_remembered() {
    let (_scratch, projects) = projects();
    let project = projects.open(ID).await.unwrap();
    project.mark_shown(vec![NoticeId(3), NoticeId(5)]);
    // The mark is written in the background; a question waits in the same lane behind it.
    tokio::task::yield_now().await;
    project.owner.ask(|_, _| ()).await.unwrap();
    projects.close_and(ID, |_| ()).await;
    let again = projects.open(ID).await.unwrap();
    assert_eq!(again.notices_shown(), BTreeSet::from([NoticeId(3), NoticeId(5)]));
}

#[tokio::test]
async fn marks_are_removed_with_dropped_notices() {
    let (_scratch, projects) = projects();
    let project = projects.open(ID).await.unwrap();
    let most = anchord_memory::limits::NOTICES_MAX as u64;
    project.mark_shown(vec![NoticeId(1), NoticeId(2), NoticeId(3)]);
    tokio::task::yield_now().await;
    let notify: WriteCommand<Memory> = Arc::new(move |_, now| {
        let notice = |number| Notice {
            id: NoticeId(number),
            time: now,
            session: SessionId::new("gone"),
            row: "s1".parse().expect("an id"),
            cause: NoticeCause::Ended,
            kept: Counts::default(),
            files_unseen: false,
            private: false,
        };
        let changes = (1..=most + 2).map(|number| Change::Notify(Box::new(notice(number))));
        Ok(Transition::silent(changes.collect()))
    });
    project.owner.write(None, None, "keep", notify).await.unwrap();
    projects.close_and(ID, |_| ()).await;
    let again = projects.open(ID).await.unwrap();
    assert_eq!(again.memory().notices().count() as u64, most);
    assert_eq!(again.notices_shown(), BTreeSet::from([NoticeId(3)]));
    let marks = again.owner.ask(|store, _| store.marks().clone()).await.unwrap();
    assert_eq!(marks.keys().collect::<Vec<_>>(), ["notice-shown/3"]);
    again.mark_shown(vec![NoticeId(4)]);
    assert_eq!(again.notices_shown(), BTreeSet::from([NoticeId(3), NoticeId(4)]));
}

#[tokio::test]
async fn a_failed_disk_access_is_an_error_and_not_an_empty_memory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("data"), "a file where the directory should be").unwrap();
    let projects = beneath(&dir.path().join("data"));
    assert!(projects.exists(ID).is_err() && projects.has_data(ID).is_err());
    let error = projects.exists(ProjectId::PERSONAL).unwrap_err();
    assert!(error.to_string().contains("look for"), "{error}");
}

/// A team's journal that differs from every copy.
#[derive(Debug)]
struct Differs;

impl TeamJournal<Change> for Differs {
    fn append(
        &self,
        _expected: TeamPoint,
        _batch: Vec<TeamEntry<Change>>,
        _time_max: Duration,
    ) -> BoxFuture<'static, Result<TeamAppended<Change>, TeamError>> {
        Box::pin(async { Err(TeamError::Apart("it differs".to_owned())) })
    }

    fn entries(
        &self,
        _after: TeamPoint,
    ) -> BoxFuture<'static, Result<Vec<Arrived<Change>>, TeamError>> {
        Box::pin(async { Err(TeamError::Apart("it differs".to_owned())) })
    }
}

async fn service() -> (tempfile::TempDir, ProjectService) {
    let (scratch, open) = projects();
    let stores = FileStores::new(scratch.path().to_owned());
    let (registry, ..) = RegistryStore::open(Arc::new(stores)).await.unwrap();
    let (purged, _) = mpsc::unbounded_channel();
    (scratch, ProjectService { registry, open, logs: Vec::new(), purged })
}

/// A purge or a team puts another directory in a memory's place.
#[tokio::test]
async fn a_memory_that_is_being_replaced_is_waited_for() {
    let (_scratch, projects) = service().await;
    projects.open_project(ID).await.unwrap();
    let directory = projects.open.directory(ID);
    let aside = directory.with_extension("aside");
    let (there, back) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
    let (from, to, is_there, go_on) = (directory.clone(), aside.clone(), there.0, back.1);
    let replacing = projects.open.close_and(ID, move |_| {
        std::fs::rename(&from, &to).unwrap();
        is_there.send(()).unwrap();
        go_on.recv().unwrap();
        std::fs::rename(&to, &from).unwrap();
    });
    let opening = async {
        run_blocking(move || there.1.recv().unwrap()).await;
        let mut opening = std::pin::pin!(projects.open_project(ID));
        assert!(futures::poll!(&mut opening).is_pending(), "it waits");
        back.0.send(()).unwrap();
        opening.await.map(drop)
    };
    let ((), opened) = tokio::join!(replacing, opening);
    opened.unwrap();
}

#[tokio::test]
async fn a_read_waits_for_no_agreement_with_a_team_after_one_that_failed() {
    let (_scratch, service) = service().await;
    let project = service.open.open(ID).await.unwrap();
    let slot = service.open.slots.lock().get(&ID).cloned().unwrap();
    slot.current.store(None);
    project.owner.close().await;
    let Opened { store, state, replies, .. } = service.open.stores.open(&store_name(ID)).unwrap();
    let link = TeamLink { journal: Arc::new(Differs), runtime: Handle::current() };
    let owner = WriterHandle::start(store, state, replies, Some(link)).unwrap();
    owner.follow_team();
    let project = Arc::into_inner(project).expect("nobody else has it");
    let project = OpenProject { owner, opened: clock::start(), ..project };
    slot.current.store(Some(Arc::new(project)));
    let is_apart = || service.open.get(ID).unwrap().begins_apart();
    crate::testing::poll(|| is_apart().then_some(())).await;

    service.open.note_agreement(ID, false);
    assert!(service.open_to_read(ID).await.unwrap().is_some());
    let asked = || service.open.teams().opened().notified();
    assert!(asked().now_or_never().is_none(), "the next one would fail as well");
    service.open.note_agreement(ID, true);
    tokio::select! {
        _ = service.open_to_read(ID) => panic!("it asks for an agreement"),
        () = asked() => {}
    }
}
