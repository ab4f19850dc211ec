//! The printed result of a scan.

use anchord_daemon::api::{ProjectRef, SecretEntry, SecretRecord};

use super::*;

fn found(records: Vec<SecretRecord>, others: Vec<SecretEntry>) -> SecretsReply {
    let project = ProjectRef { id: String::new(), root: "/src/parser".to_owned() };
    SecretsReply { project, entries: 112, records, others }
}

fn said(found: &SecretsReply) -> String {
    let mut out = Vec::new();
    show_found(&mut out, found).unwrap();
    let error = verdict(found).err().map(|error| error.to_string()).unwrap_or_default();
    anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string() + &error
}

#[test]
fn records_and_kinds_are_listed_with_the_purge_command() {
    let record = SecretRecord {
        id: "n12".to_owned(),
        versions: vec![1, 3],
        kinds: vec!["GitHub token".to_owned(), "password".to_owned()],
    };
    let entry =
        SecretEntry { seq: 7, place: "checkpoint".to_owned(), kinds: vec!["AWS key".to_owned()] };
    let others = vec![entry.clone()];
    insta::assert_snapshot!(said(&found(vec![record], others)), @r"
    /src/parser: secrets in 112 journal lines
      where                 versions  looks like
      n12                   1 3       GitHub token, password
      checkpoint (entry 7)  -         AWS key
    error: there are secrets in what is stored
      `anchord purge n12` takes these off the disk, with the checkpoints they came from.
      Then change the secrets: they were readable.
    ");
}

#[test]
fn a_secret_outside_records_gets_another_purge_command() {
    let entry =
        SecretEntry { seq: 7, place: "reply".to_owned(), kinds: vec!["AWS key".to_owned()] };
    insta::assert_snapshot!(said(&found(Vec::new(), vec![entry])), @r"
    /src/parser: secrets in 112 journal lines
      where            versions  looks like
      reply (entry 7)  -         AWS key
    error: there are secrets in what is stored
      `anchord purge --query TEXT` takes a text out of checkpoints and replies.
    ");
}

#[test]
fn nothing_found_is_success() {
    let clean = said(&found(Vec::new(), Vec::new()));
    assert_eq!(clean, "/src/parser: no secrets in 112 journal lines\n");
}
