//! The version of the schema, and its migrations.

use refinery::Migration;

use crate::connect::Session;
use crate::error::Error;

/// The table of migrations that have run.
const HISTORY: &str = "anchord.schema_history";

/// The key of the lock that lets one migration run at a time: "anchord" in ASCII.
const LOCK: i64 = 0x0061_6e63_686f_7264;

/// The rights that a role needs to create the schema.
const NEEDED: &str = "to create the schema, it needs CREATE on the database, and CREATEROLE unless \
    an administrator has run `CREATE ROLE anchord_member`";

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Returns the newest version that this program knows.
pub(crate) fn known_version() -> u32 {
    let versions = embedded::migrations::runner();
    let versions = versions.get_migrations().iter().map(Migration::version);
    versions.max().and_then(|version| u32::try_from(version).ok()).unwrap_or(0)
}

/// Returns the version of the schema. Fails if there is none, or if it is newer than this program.
pub(crate) async fn version(session: &Session) -> Result<u32, Error> {
    let known = known_version();
    let sql = format!("SELECT max(version) FROM {HISTORY}");
    let row = session.client.query_typed_one(&sql, &[]).await?;
    let found: Option<i32> = row.try_get(0)?;
    let found =
        found.and_then(|version| u32::try_from(version).ok()).ok_or(Error::SchemaMissing)?;
    if found > known { Err(Error::SchemaNewer { found, known }) } else { Ok(found) }
}

/// Runs the migrations that are missing. Does nothing to a current schema, whoever the caller is.
pub(crate) async fn run(mut session: Session) -> Result<(), Error> {
    // The session ends with this function, and the lock with the session.
    session.client.batch_execute(&format!("SELECT pg_advisory_lock({LOCK})")).await?;
    match version(&session).await {
        Ok(found) if found == known_version() => return Ok(()),
        Ok(_) | Err(Error::SchemaMissing) => {}
        Err(error) => return Err(error),
    }
    session.client.batch_execute("CREATE SCHEMA IF NOT EXISTS anchord").await?;
    let mut runner = embedded::migrations::runner().set_grouped(true);
    runner.set_migration_table_name(HISTORY);
    let report = runner.run_async(&mut session.client).await;
    report.map(|_| ()).map_err(|error| {
        let source = std::error::Error::source(&error);
        match source.and_then(|source| source.downcast_ref::<tokio_postgres::Error>()) {
            Some(cause) => match cause.as_db_error() {
                Some(cause) if cause.code().code() == "42501" => {
                    Error::Refused(format!("{}; {NEEDED}", cause.message()))
                }
                Some(cause) => Error::from(cause),
                None => Error::Unreachable(crate::error::chain(cause)),
            },
            None => Error::Database(crate::error::chain(&error)),
        }
    })
}
