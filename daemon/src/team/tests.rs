//! The file that names a project's team.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::limits;
use crate::store::{Away, TeamError, TeamPoint};
use anchord_memory::{CopyMark, Revision};
use anchord_team::{AppendError, Error as DatabaseError, Head};

fn config() -> TeamConfig {
    TeamConfig {
        project: Uuid::from_u128(7),
        name: "api".to_owned(),
        member: Some("Ada L.".to_owned()),
        renumbered: Some(Timestamp(7)),
        lost: BTreeMap::from([(SessionId::new("one"), "a note".to_owned())]),
        url: "postgres://ada@db.example/anchord".to_owned(),
        secret: Secret::Command("pass show anchord".to_owned()),
    }
}

#[test]
fn the_file_reads_back_and_only_its_owner_may_read_it() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(read(directory.path()).unwrap(), None);
    write(directory.path(), &config()).unwrap();
    assert_eq!(read(directory.path()).unwrap(), Some(config()));
    let mode = std::fs::metadata(directory.path().join(FILE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for _ in 0..2 {
        remove(directory.path()).unwrap();
    }
    assert_eq!(read(directory.path()).unwrap(), None);
}

#[test]
fn a_member_is_renamed_in_the_file_of_its_project_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (project, other) = (config().project, Uuid::from_u128(8));
    rename_member(directory.path(), project, "Ada").unwrap();
    assert_eq!(read(directory.path()).unwrap(), None, "the team was left meanwhile");
    write(directory.path(), &config()).unwrap();
    rename_member(directory.path(), other, "Ada").unwrap();
    assert_eq!(read(directory.path()).unwrap(), Some(config()));
    rename_member(directory.path(), project, "Ada").unwrap();
    let renamed = TeamConfig { member: Some("Ada".to_owned()), ..config() };
    assert_eq!(read(directory.path()).unwrap(), Some(renamed));
}

#[tokio::test]
async fn a_memory_of_a_team_whose_file_is_gone_or_unreadable_takes_no_commits() {
    let directory = tempfile::tempdir().unwrap();
    let links = TeamLinks::new(Uuid::nil());
    assert!(links.of(directory.path(), None).await.is_none());
    let refused = async |team| {
        let (journal, _) = links.of(directory.path(), team).await.unwrap();
        let at = TeamPoint { revision: Revision(0), mark: None };
        let refused = journal.append(at, Vec::new(), limits::TEAM_WAIT_MAX).await.unwrap_err();
        let TeamError::NotWritten(fault) = refused else { panic!("{refused:?}") };
        assert_eq!(fault.away, Away::Refused);
        let why = fault.why;
        assert!(why.contains(FILE) && why.contains("anchord team join"), "{why}");
    };
    refused(Some("api")).await;
    // A file that cannot be read is not taken for no team.
    for text in ["{", "{\"project\": 7}"] {
        std::fs::write(directory.path().join(FILE), text).unwrap();
        refused(Some("api")).await;
        refused(None).await;
    }
}

#[test]
fn the_fault_of_a_call_says_whether_the_database_was_reached() {
    let of_call = |error: DatabaseError| fault(&error).away;
    assert_eq!(of_call(DatabaseError::Unreachable("it is away".to_owned())), Away::Unreached);
    assert_eq!(of_call(DatabaseError::Slow), Away::Slow);
    // These words are the server's own.
    let refused = DatabaseError::Refused("cannot reach the database".to_owned());
    assert_eq!(of_call(refused), Away::Barred);
    assert_eq!(of_call(DatabaseError::NotAMember), Away::Barred);
    assert_eq!(
        of_call(DatabaseError::Secret("/home/ada/pw: no such file".to_owned())),
        Away::Barred
    );
    assert_eq!(of_call(DatabaseError::ReadOnlyServer), Away::Refused);
}

#[test]
fn the_fault_of_an_append_is_that_of_its_call() {
    let not_written = |error| journal::worded(AppendError::NotWritten(error)).fault();
    let away = || DatabaseError::Unreachable("it is away".to_owned());
    let fault = not_written(away());
    assert_eq!(fault.away, Away::Unreached);
    assert_eq!(fault.why, "failed to reach the database: it is away");
    assert_eq!(not_written(DatabaseError::Slow).away, Away::Slow);
    assert_eq!(not_written(DatabaseError::Refused("no".to_owned())).away, Away::Refused);
    let unknown = journal::worded(AppendError::Unknown(away())).fault();
    assert_eq!(unknown.away, Away::Unreached);
}

#[test]
fn a_commit_of_unknown_outcome_is_not_said_to_be_repeated() {
    let fault = journal::worded(AppendError::Unknown(DatabaseError::Slow)).fault();
    assert_eq!(fault.away, Away::Slow);
    assert!(!fault.why.contains("retry"), "{fault}");
}

#[test]
fn a_database_lacks_commits_only_if_it_ends_before_them() {
    let mark = Some(CopyMark { digest: "ours".into(), epoch: 0 });
    let copy = TeamPoint { revision: Revision(51), mark };
    let said = |seq| journal::apart(&copy, &Head { seq, digest: "theirs".to_owned(), epoch: 0 });
    let lacks = "ends at revision 50 and lacks what this machine has seen up to 51";
    assert!(said(50).contains(lacks), "{}", said(50));
    for seq in [51, 60] {
        let other = "the database has other commits up to revision 51 than this machine has seen;";
        assert!(said(seq).starts_with(other), "{}", said(seq));
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_used_is_said_to_have_failed() {
    let links = TeamLinks::new(Uuid::from_u128(1));
    let said = links.database("mysql://ada@localhost/anchord", &Secret::None).unwrap_err();
    assert!(said.starts_with("failed to read the address: "), "{said}");
}
