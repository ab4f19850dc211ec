//! Tests of the messages. `tests/it/` has the errors of a real server.

use super::{AppendError, Error};

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
