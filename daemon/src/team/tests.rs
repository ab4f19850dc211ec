//! The file that names a project's team.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::limits;
use crate::store::{TeamError, TeamPoint};
use anchord_memory::Revision;

fn config() -> TeamConfig {
    TeamConfig {
        project: Uuid::from_u128(7),
        name: "api".to_owned(),
        member: Some("Ada L.".to_owned()),
        renumbered: Some(Timestamp(7)),
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
        let TeamError::NotWritten(why) = refused else { panic!("{refused:?}") };
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
fn a_database_that_answers_again_was_unreached_and_one_that_refuses_was_not() {
    let unreached = anchord_team::Error::Unreachable("it does not answer".to_owned());
    assert!(is_unreached(&format!("failed to {unreached}")));
    assert!(is_unreached(&TeamError::Slow.to_string()));
    assert!(!is_unreached("a reader does not write to the journal"));
}

#[test]
fn a_commit_of_unknown_outcome_is_not_said_to_be_repeated() {
    let slow = anchord_team::AppendError::Unknown(anchord_team::Error::Slow);
    let said = journal::worded(slow).to_string();
    assert!(is_unreached(&said) && !said.contains("retry"), "{said}");
}

#[tokio::test]
async fn an_address_that_cannot_be_used_is_said_to_have_failed() {
    let links = TeamLinks::new(Uuid::from_u128(1));
    let said = links.database("mysql://ada@localhost/anchord", &Secret::None).unwrap_err();
    assert!(said.starts_with("failed to read the address: "), "{said}");
}
