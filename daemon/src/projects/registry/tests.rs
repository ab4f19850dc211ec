//! The registry as a state machine: its rows hold all of it, and only changed rows are written.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use proptest::prelude::*;

use super::*;

fn project(number: u128, path: &str) -> ProjectRecord {
    ProjectRecord {
        id: ProjectId(Uuid::from_u128(number)),
        name: format!("project {number}"),
        root: PathBuf::from(path),
        place: ProjectDir { path: PathBuf::from(path), dev: 1, ino: 2, git: false, part: None },
        carries_id: true,
        stored: false,
        forgotten: false,
        shared: false,
        unshared: false,
        time: Timestamp(5),
    }
}

fn session(id: &str, project: u128) -> SessionRecord {
    SessionRecord {
        session: SessionId::new(id),
        project: ProjectId(Uuid::from_u128(project)),
        client: "agent".to_owned(),
        agent_session: Some(format!("agent-{id}")),
        instance: "instance".into(),
        pid: 1,
        pid_start: Some(2),
        boot: None,
        pidns: None,
        cwd: PathBuf::from("/p"),
        first_write: Timestamp(1),
        is_bound_by_git_root: true,
    }
}

fn ended(id: &str) -> RegistryChange {
    RegistryChange::SessionEnded { session: SessionId::new(id), time: Timestamp(9), saved: true }
}

fn after(changes: &[RegistryChange]) -> Registry {
    let mut registry = Registry::default();
    registry.apply(Seq(1), changes);
    registry
}

fn restored(registry: &Registry) -> Registry {
    Registry::restore(&mut registry.rows()).unwrap()
}

/// Earlier builds kept the mark in the project's record, in the journal and in the index.
#[test]
fn a_memory_stored_by_an_earlier_build_is_still_known() {
    let known = project(1, "/p");
    let mut value = serde_json::to_value(&known).unwrap();
    value["stored"] = true.into();
    let change = serde_json::json!({ "project_seen": value.clone() });
    let replayed = after(&[serde_json::from_value(change).unwrap()]);
    let mut rows = after(&[RegistryChange::ProjectSeen(known.clone())]).rows().collect::<Vec<_>>();
    rows.retain(|row| !row.key.starts_with("project/"));
    rows.push(Row::of(&format!("project/{}", known.id), &value.to_string()));
    let opened = Registry::restore(&mut rows.into_iter()).unwrap();
    for mut registry in [replayed, opened] {
        assert!(registry.is_stored(known.id));
        let seen = [RegistryChange::ProjectSeen(project(1, "/elsewhere"))];
        registry.apply(Seq(2), &seen);
        let rows = registry.touched_rows(&seen);
        assert!(rows.iter().any(|row| row.key.starts_with("stored/") && row.value.is_some()));
        assert!(restored(&registry).is_stored(known.id));
    }
}

#[test]
fn sessions_that_have_not_ended_are_kept_with_their_projects() {
    let bound = |id, project| RegistryChange::SessionBound(session(id, project));
    let registry =
        after(&[bound("a", 1), bound("b", 1), bound("c", 2), ended("c"), ended("ghost")]);
    let project = ProjectId(Uuid::from_u128(1));
    let projects: Vec<ProjectId> = registry.sessions().map(|session| session.project).collect();
    assert_eq!(projects, [project, project]);
    assert_eq!(registry.sessions_by_agent("agent-b").count(), 1);
    assert_eq!(registry.sessions_by_agent("agent-c").count(), 0);
    assert!(registry.session(&SessionId::new("c")).is_none());
    let gone: Vec<_> =
        registry.ended().into_iter().map(|e| e.session.session.to_string()).collect();
    assert_eq!(gone, ["c"]);
}

#[test]
fn a_path_belongs_to_the_project_last_found_there() {
    let older = project(2, "/p");
    let newer = ProjectRecord { time: Timestamp(6), ..project(1, "/p") };
    let registry = after(&[
        RegistryChange::ProjectSeen(newer.clone()),
        RegistryChange::ProjectSeen(older),
        RegistryChange::ProjectSeen(project(3, "/q")),
    ]);
    assert_eq!(registry.project_at(Path::new("/p")).unwrap().id, newer.id);
    let forgotten = {
        let mut registry = registry;
        registry.apply(Seq(2), &[RegistryChange::ProjectForgotten { id: newer.id }]);
        registry
    };
    assert_eq!(forgotten.project_at(Path::new("/p")).unwrap().id, ProjectId(Uuid::from_u128(2)));
    assert_eq!(forgotten.projects().count(), 2);
}

#[test]
fn a_forgotten_project_is_known_by_its_id_until_deleted() {
    let record = project(1, "/p");
    let mut registry = after(&[RegistryChange::ProjectSeen(record.clone())]);
    registry.apply(Seq(2), &[RegistryChange::ProjectForgotten { id: record.id }]);
    assert_eq!((registry.projects().count(), registry.project(record.id)), (0, None));
    assert!(registry.known_or_forgotten(record.id).unwrap().forgotten);
    assert_eq!(restored(&registry), registry);

    let mut again = registry.clone();
    again.apply(Seq(3), &[RegistryChange::ProjectSeen(record.clone())]);
    assert_eq!(again.project(record.id).map(AsRef::as_ref), Some(&record));
    assert_eq!(restored(&again), again);
    registry.apply(Seq(3), &[RegistryChange::ProjectDeleted { id: record.id }]);
    assert_eq!(registry.known_or_forgotten(record.id), None);
    assert_eq!(restored(&registry), registry);
}

#[test]
fn an_ended_session_beyond_the_limit_replaces_the_oldest() {
    let mut registry = Registry::default();
    for number in 0..=ENDED_SESSIONS_MAX {
        let id = format!("s{number}");
        let changes = [RegistryChange::SessionBound(session(&id, 1)), ended(&id)];
        registry.apply(Seq(number + 1), &changes);
    }
    let kept = registry.ended();
    assert_eq!(kept.len() as u64, ENDED_SESSIONS_MAX);
    assert_eq!(kept.first().unwrap().session.session, SessionId::new("s1"));
    assert_eq!(kept.last().unwrap().number, ENDED_SESSIONS_MAX + 1);
    assert_eq!(restored(&registry), registry);
}

#[test]
fn paths_that_are_not_utf_8_survive() {
    let path = Path::new(OsStr::from_bytes(b"/odd/\xff\n\"name"));
    let mut odd = project(1, "/p");
    odd.root = path.to_owned();
    odd.place.part = Some(PathBuf::from(OsStr::from_bytes(b"\xfe")));
    let id = odd.id;
    let changes =
        [RegistryChange::ProjectSeen(odd), RegistryChange::Linked { path: path.to_owned(), id }];
    let text = serde_json::to_string(&changes).unwrap();
    assert_eq!(serde_json::from_str::<Vec<RegistryChange>>(&text).unwrap(), changes);
    let registry = after(&changes);
    assert_eq!(restored(&registry), registry);
    assert_eq!(restored(&registry).link(path), Some(id));
    assert_eq!(registry.links().collect::<Vec<_>>(), [(path.to_owned(), id)]);
}

#[test]
fn foreign_rows_are_refused() {
    let row = |key: &str, value: &str| Row { key: key.to_owned(), value: Some(value.to_owned()) };
    let meta = || row("meta", r#"{"seq":1,"ended":0}"#);
    for (rows, reason) in [
        (vec![row("link/p", "\"x\"")], "link/p"),
        (vec![row("session/a", "{}"), meta()], "session/a"),
        (vec![row("other", "1"), meta()], "other"),
        (vec![row("link//p", "\"00000000-0000-0000-0000-000000000001\"")], "meta"),
    ] {
        let error = Registry::restore(&mut rows.into_iter()).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(Registry::restore(&mut std::iter::empty()).unwrap(), Registry::default());
}

fn change() -> impl Strategy<Value = RegistryChange> {
    let id = (0..4_u128).prop_map(|number| ProjectId(Uuid::from_u128(number)));
    let path = prop::sample::select(vec!["/p", "/q", "/p/with space"]);
    let name = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        (0..4_u128, path.clone()).prop_map(|(n, p)| RegistryChange::ProjectSeen(project(n, p))),
        id.clone().prop_map(|id| RegistryChange::ProjectForgotten { id }),
        id.clone().prop_map(|id| RegistryChange::ProjectDeleted { id }),
        id.clone().prop_map(|id| RegistryChange::MemoryStored { id }),
        (path, id).prop_map(|(path, id)| RegistryChange::Linked { path: path.into(), id }),
        (name.clone(), 0..4_u128).prop_map(|(s, p)| RegistryChange::SessionBound(session(s, p))),
        name.prop_map(ended),
    ]
}

proptest! {
    /// The rows describe the state. The rows that an entry touched, applied to the earlier rows,
    /// give the later ones.
    #[test]
    fn rows_describe_the_state_and_touched_rows_the_changes(
        entries in prop::collection::vec(prop::collection::vec(change(), 0..6), 0..8)
    ) {
        let mut registry = Registry::default();
        let mut index: BTreeMap<String, String> = BTreeMap::new();
        for (nth, changes) in entries.iter().enumerate() {
            registry.apply(Seq(nth as u64 + 1), changes);
            for Row { key, value } in registry.touched_rows(changes) {
                match value {
                    Some(value) => index.insert(key, value),
                    None => index.remove(&key),
                };
            }
            let rows: Vec<_> = registry.rows().collect();
            prop_assert!(rows.is_sorted_by(|a, b| a.key < b.key));
            let expected: BTreeMap<_, _> =
                rows.into_iter().map(|row| (row.key, row.value.unwrap())).collect();
            prop_assert_eq!(&index, &expected);
            prop_assert_eq!(restored(&registry), registry.clone());
        }
    }
}
