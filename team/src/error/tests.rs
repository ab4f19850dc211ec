//! Tests of the messages. `tests/it/` has the errors of a real server.

use super::{AppendError, Error, missing_right, refused_login};

#[test]
fn messages_fit_after_failed_to_and_say_what_to_do() {
    let newer = Error::SchemaNewer { found: 7, known: 1 };
    assert_eq!(newer.to_string(), "use schema version 7: this anchord knows 1; update anchord");
    let error = AppendError::NotWritten(Error::Slow);
    assert_eq!(
        error.to_string(),
        "append to the journal, and nothing was written: \
         get an answer from the database in time; retry later"
    );
}

#[test]
fn a_refusal_says_what_to_do() {
    let missing = refused_login("invalid configuration: password missing".to_owned());
    assert!(missing.contains("--password-file"), "{missing}");
    let other = "authentication error: unsupported".to_owned();
    assert_eq!(refused_login(other.clone()), other);
    let outside = missing_right("permission denied for schema anchord");
    assert!(outside.ends_with("`anchord team invite`"), "{outside}");
    assert_eq!(missing_right("only a maintainer purges"), "ask a maintainer of the project");
}
