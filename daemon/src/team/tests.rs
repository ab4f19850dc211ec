//! The file that names a project's team.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::store::{TeamError, TeamPoint};
use anchord_memory::Revision;

fn config() -> TeamConfig {
    TeamConfig {
        project: Uuid::from_u128(7),
        name: "api".to_owned(),
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

#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_taken_for_no_team() {
    let directory = tempfile::tempdir().unwrap();
    let links = TeamLinks::new(Uuid::nil());
    std::fs::write(directory.path().join(FILE), "{").unwrap();
    let error = links.of(directory.path(), None).await.unwrap_err().to_string();
    assert!(error.contains(FILE), "{error}");
}

#[tokio::test]
async fn a_memory_of_a_team_whose_file_is_gone_takes_no_commits() {
    let directory = tempfile::tempdir().unwrap();
    let links = TeamLinks::new(Uuid::nil());
    assert!(links.of(directory.path(), None).await.unwrap().is_none());
    let journal = links.of(directory.path(), Some("api")).await.unwrap().unwrap();
    let at = TeamPoint { revision: Revision(0), mark: None };
    let refused = journal.append(at, Vec::new()).await.unwrap_err();
    let TeamError::NotWritten(why) = refused else { panic!("{refused:?}") };
    assert!(why.contains("anchord team join"), "{why}");
}
