//! The errors of the database, named after what the caller will do about them.

use tokio_postgres::error::{DbError, Severity};

/// A failed call. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no connection, or it broke. The same call may succeed later.
    #[error("reach the database: {0}")]
    Unreachable(String),
    /// The time limit has passed. The same call may succeed later.
    #[error("get an answer from the database in time; retry later")]
    Slow,
    /// The server refused the role, its password or the statement, in its own words.
    #[error("do that with this database role: {0}")]
    Refused(String),
    /// The password cannot be read.
    #[error("read the database password: {0}")]
    Secret(String),
    /// The server is a standby or otherwise read-only.
    #[error("write to the database: the server is read-only; use the address of the primary")]
    ReadOnlyServer,
    /// The caller's role is not a member of the project, or there is no such project.
    #[error(
        "find the project: this database role is not a member of it; ask a maintainer to invite it"
    )]
    NotAMember,
    /// The project has no member with this database role.
    #[error("find {0}: no member of the project has this database role")]
    NoSuchMember(String),
    /// There is no schema `anchord`.
    #[error("find anchord's schema in this database: its owner creates it first")]
    SchemaMissing,
    /// A newer version of anchord made the schema.
    #[error("use schema version {found}: this anchord knows {known}; update anchord")]
    SchemaNewer {
        /// The version in the database.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// Another project has the name.
    #[error("create the project: another one has this name; choose another name")]
    NameTaken,
    /// A row with this key exists.
    #[error("store the row: another one has its key")]
    Exists,
    /// The stored journal contradicts itself.
    #[error("read the journal: {0}; restore the database from a backup")]
    Damaged(String),
    /// A value is empty, or longer than its limit. Nothing was sent.
    #[error("send the value: {0}")]
    Invalid(String),
    /// Any other error of the database, in its own words.
    #[error("use the database: {0}")]
    Database(String),
}

/// A failed append.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Nothing was written, and nothing will be. COMMIT was not sent, or the server refused it.
    #[error("append to the journal, and nothing was written: {0}")]
    NotWritten(#[source] Error),
    /// COMMIT was sent, and its outcome is unknown. Repeat the append with the same keys.
    #[error("learn whether the journal was written: {0}")]
    Unknown(#[source] Error),
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(error) = error.as_db_error() {
            return Self::from(error);
        }
        let text = chain(&error);
        // The kind of these errors is private. Both mean that the password is missing or wrong.
        let is_refusal = ["authentication error", "invalid configuration"];
        if is_refusal.iter().any(|start| text.starts_with(start)) {
            return Self::Refused(refused_login(text));
        }
        Self::Unreachable(text)
    }
}

impl From<&DbError> for Error {
    /// Leaves out the detail, which may contain a row.
    fn from(error: &DbError) -> Self {
        let code = error.code().code();
        let text = error.message().to_owned();
        match code {
            "25006" => Self::ReadOnlyServer,
            "3F000" | "42P01" => Self::SchemaMissing,
            "23505" => Self::Exists,
            "42501" => Self::Refused(format!("{text}; {}", missing_right(&text))),
            // A cancelled statement, a lock that was not free, an open transaction that was ended.
            "57014" | "55P03" | "25P03" => Self::Slow,
            "53300" => Self::Unreachable(text),
            _ if code.starts_with("28") => {
                Self::Refused(format!("{text}; check the role and its password file or command"))
            }
            _ if code.starts_with("08") || code.starts_with("57P") => Self::Unreachable(text),
            _ => Self::Database(format!("{text} ({code})")),
        }
    }
}

/// Words a refused login. Without a password, it names the options that give one.
fn refused_login(text: String) -> String {
    if !text.contains("password missing") {
        return text;
    }
    "the server asks for a password; name a file that has it with --password-file, or a command \
     with --password-command"
        .to_owned()
}

/// Returns what to do about a right that a role does not have.
fn missing_right(text: &str) -> &'static str {
    // A role that no project has invited is not in the group.
    if text.starts_with("permission denied for schema") {
        "ask a maintainer of the project for `anchord team invite`"
    } else {
        "ask a maintainer of the project"
    }
}

/// Returns whether the server ended the transaction for a reason that a repeat may not meet: a
/// serialization failure or a deadlock.
pub(crate) fn is_retryable(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| matches!(code.code(), "40001" | "40P01"))
}

/// Returns whether the server's answer to COMMIT says for certain that nothing was committed.
pub(crate) fn is_rolled_back(error: &tokio_postgres::Error) -> bool {
    let Some(error) = error.as_db_error() else { return false };
    let code = error.code().code();
    let is_error = error.parsed_severity() == Some(Severity::Error);
    let classes = ["22", "23", "25", "40", "42", "P0"];
    is_error && code != "40003" && classes.iter().any(|class| code.starts_with(class))
}

/// Returns an error's message with those of its sources.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
