//! The schema, its migrations, the SQL for administrators, and the protection of connections.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use anchord_team::{
    Address, AppendError, Database, Error, NewEntry, Role, Secret, invite_sql, remove_sql,
};

use crate::testing::Server;
use crate::{Team, entry, open};

fn with_secret(url: &str, secret: Secret) -> Database {
    Database::open(Address::parse(url).unwrap(), secret).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_migrations_at_once_make_one_schema() {
    let Some(server) = Server::start() else { return };
    let database = open(&server.url("postgres"));
    assert!(matches!(database.check().await, Err(Error::SchemaMissing)));
    assert!(matches!(database.projects().await, Err(Error::SchemaMissing)));
    let running: Vec<_> = (0..4)
        .map(|_| {
            let url = server.url("postgres");
            tokio::spawn(async move { open(&url).migrate().await })
        })
        .collect();
    for running in running {
        running.await.unwrap().unwrap();
    }
    database.migrate().await.unwrap();
    assert_eq!(server.psql("SELECT version FROM anchord.schema_history ORDER BY 1"), "1\n2");
    let checked = database.check().await.unwrap();
    assert!(checked.writable && !checked.tls);
    assert_eq!((checked.schema, checked.user.as_str()), (2, "postgres"));
    assert_eq!(checked.synchronous_commit, "on");
    assert!(checked.version.starts_with(|first: char| first.is_ascii_digit()));
}

#[tokio::test]
async fn a_newer_schema_is_left_alone() {
    let Some(team) = Team::start().await else { return };
    // A member may ask for a migration of a current schema, which is a no-op.
    open(&team.server.url("rita")).migrate().await.unwrap();
    team.server.psql(
        "INSERT INTO anchord.schema_history VALUES (7, 'later', '2030-01-01T00:00:00Z', '1')",
    );
    let newer = |error: Error| matches!(error, Error::SchemaNewer { found: 7, known: 2 });
    assert!(newer(team.owner.check().await.unwrap_err()));
    assert!(newer(team.owner.migrate().await.unwrap_err()));
}

#[tokio::test]
async fn an_older_schema_is_brought_up_to_date_by_its_owner() {
    let Some(team) = Team::start().await else { return };
    team.server.psql(
        "DROP TRIGGER check_changes ON anchord.entries; \
         DROP FUNCTION anchord.check_changes, anchord.elements; \
         DELETE FROM anchord.schema_history WHERE version = 2",
    );
    let settings = |number| NewEntry {
        changes: r#"[{"configure":{"settings":{},"shared":true}}]"#.to_owned(),
        ..entry("a", number)
    };
    let alice = open(&team.server.url("alice"));
    assert_eq!(alice.check().await.unwrap().schema, 1);
    // It is used as it is, and a member cannot change it.
    alice.log(team.project).append(0, &[settings(1)]).await.unwrap();
    assert!(matches!(alice.migrate().await, Err(Error::Refused(_))));
    team.owner.migrate().await.unwrap();
    assert_eq!(alice.check().await.unwrap().schema, 2);
    let refused = alice.log(team.project).append(1, &[settings(2)]).await;
    assert!(matches!(refused, Err(AppendError::NotWritten(Error::Refused(_)))), "{refused:?}");
    assert_eq!(team.numbers().await.len(), 1);
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let Some(team) = Team::start().await else { return };
    assert!(matches!(team.owner.create_project("alpha").await, Err(Error::NameTaken)));
    // A member of any project may create another, and sees only its own.
    let rita = open(&team.server.url("rita"));
    let created = rita.create_project("it's \"beta\"").await.unwrap();
    assert!(rita.projects().await.unwrap().contains(&created), "{created:?}");
    let project = created.id;
    rita.log(project).append(0, &[entry("r", 1)]).await.unwrap();
    assert_eq!(rita.members(project).await.unwrap()[0].role, Role::Maintainer);
    assert_eq!(rita.projects().await.unwrap().len(), 2);
    assert_eq!(team.owner.projects().await.unwrap().len(), 1);
    // Row-level security is forced on the owner of the tables as well.
    for (table, rows) in [("projects", "1"), ("entries", "0")] {
        let count = format!("SELECT count(*) FROM anchord.{table}");
        assert_eq!(team.server.psql_as("owner", &count).unwrap(), rows, "{table}");
    }
    assert!(matches!(rita.create_project("").await, Err(Error::Invalid(_))));
    // A project gets another name under the same rule, from a maintainer.
    assert!(matches!(rita.rename_project(project, "alpha").await, Err(Error::NameTaken)));
    assert!(matches!(rita.rename_project(project, "").await, Err(Error::Invalid(_))));
    rita.rename_project(project, "gamma").await.unwrap();
    assert!(rita.projects().await.unwrap().iter().any(|known| known.name == "gamma"));
    assert!(matches!(team.owner.rename_project(project, "mine").await, Err(Error::NotAMember)));
    let alice = open(&team.server.url("alice"));
    assert!(matches!(alice.rename_project(team.project, "mine").await, Err(Error::Refused(_))));
}

#[tokio::test]
async fn printed_sql_invites_and_removes_whatever_the_names_contain() {
    let Some(team) = Team::start().await else { return };
    let names = [
        ("carol", "Carol"),
        ("d'Arc\"; DROP SCHEMA anchord; --", "O'Neil \\'; DROP SCHEMA anchord CASCADE; --"),
        ("$$; DROP SCHEMA anchord; $anchord1$", "$$"),
        ("line\nDROP SCHEMA anchord CASCADE;", "a\nb"),
        ("Ünï Cödé", "名前"),
    ];
    for (role_name, name) in names {
        let sql =
            invite_sql(team.project, "al\nDROP SCHEMA anchord;", role_name, name, Role::Writer);
        team.server.psql(&sql);
        team.server.psql(&sql);
        let members = team.owner.members(team.project).await.unwrap();
        let member = members.iter().find(|member| member.role_name == role_name).unwrap();
        assert_eq!((member.name.as_str(), member.role), (name, Role::Writer));
        let head = "SELECT count(*) FROM anchord.projects";
        assert_eq!(team.server.psql_as(role_name, head).unwrap(), "1");
    }
    for (role_name, _) in names {
        team.server.psql(&remove_sql(team.project, "alpha", role_name));
        let groups = "SELECT count(*) FROM pg_auth_members WHERE member = \
            (SELECT oid FROM pg_roles WHERE rolname = session_user)";
        assert_eq!(team.server.psql_as(role_name, groups).unwrap(), "0");
    }
    // A role may be dropped before its member is removed.
    team.server.psql(&invite_sql(team.project, "alpha", "zoe", "Zoe", Role::Writer));
    team.server.psql("DROP ROLE zoe");
    team.server.psql(&remove_sql(team.project, "alpha", "zoe"));
    assert_eq!(team.owner.members(team.project).await.unwrap().len(), 4);
    // The same names through the connection.
    for (role_name, name) in names {
        team.owner.invite(team.project, role_name, name, Role::Reader).await.unwrap();
        team.owner.remove(team.project, role_name).await.unwrap();
    }
}

#[tokio::test]
async fn a_dump_carries_everything() {
    let Some(team) = Team::start().await else { return };
    team.log("alice").append(0, &[entry("a", 1), entry("a", 2)]).await.unwrap();
    let dump = team.server.dump();
    let tables = ["projects", "members", "entries"];
    let all = || tables.map(|table| team.server.psql(&format!("TABLE anchord.{table}")));
    let before = all();
    team.server.psql("DROP SCHEMA anchord CASCADE");
    team.server.restore(&dump);
    assert_eq!(all(), before);
    let log = team.log("bob");
    log.append(2, &[entry("b", 1)]).await.unwrap();
    assert_eq!(team.numbers().await.len(), 3);
    let forged = "UPDATE anchord.projects SET seq = 1";
    assert!(team.server.psql_as("alice", forged).is_err(), "triggers are restored too");
    assert_eq!(open(&team.server.url("rita")).check().await.unwrap().schema, 2);
}

#[tokio::test]
async fn a_password_is_read_anew_for_each_connection() {
    let Some(team) = Team::start().await else { return };
    team.server.require_passwords();
    let url = team.server.url("alice");
    let file = tempfile::NamedTempFile::new().unwrap();
    let refused = open(&url).log(team.project).head().await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    for password in ["first one", "second-'\"\\"] {
        let literal = password.replace('\'', "''");
        team.server.psql(&format!("ALTER ROLE alice PASSWORD '{literal}'"));
        std::fs::write(file.path(), format!("{password}\nanother line\n")).unwrap();
        let by_file = with_secret(&url, Secret::File(file.path().to_owned()));
        assert_eq!(by_file.log(team.project).head().await.unwrap().seq, 0);
        let line = format!("cat '{}'", file.path().display());
        let by_command = with_secret(&url, Secret::Command(line));
        assert_eq!(by_command.log(team.project).head().await.unwrap().seq, 0);
        for database in [by_file, by_command] {
            assert!(!format!("{database:?}").contains(password));
        }
    }
    std::fs::write(file.path(), "wrong-password\n").unwrap();
    let wrong = with_secret(&url, Secret::File(file.path().to_owned()));
    let refused = wrong.log(team.project).head().await.unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused:?}");
    assert!(!format!("{refused:?}{refused}").contains("wrong-password"));
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(file.path(), open).unwrap();
    let refused = wrong.log(team.project).head().await;
    assert!(matches!(refused, Err(Error::Secret(_))), "{refused:?}");
    assert!(!team.server.log().contains("second-"), "no password reaches the server's log");
}

#[tokio::test]
async fn certificates_are_verified() {
    let Some(mut team) = Team::start().await else { return };
    let data = team.server.dir().join("data");
    let (key, certificate) = (data.join("server.key"), data.join("server.crt"));
    let made = Command::new("openssl")
        .args(["req", "-new", "-x509", "-days", "2", "-nodes", "-newkey", "rsa:2048"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("SKIPPED: openssl makes no certificate");
        return;
    }
    team.server.own("server.key");
    team.server.own("server.crt");
    team.server.psql("ALTER SYSTEM SET ssl = on");
    team.server.restart();
    team.server.require_passwords();
    team.server.psql("ALTER ROLE alice PASSWORD 'of alice'");
    let url = |host: &str, query: &str| {
        format!("postgres://alice@{host}:{}/postgres?{query}", team.server.port())
    };
    let trusted = format!("sslrootcert={}", certificate.display());
    let secret = || Secret::Command("echo of alice".to_owned());
    let check = async |url: String| with_secret(&url, secret()).check().await;

    // With channel binding, which binds the password's proof to the certificate.
    let bound = format!("sslmode=verify-full&channel_binding=require&{trusted}");
    assert!(check(url("localhost", &bound)).await.unwrap().tls);
    assert!(check(url("localhost", &trusted)).await.unwrap().tls);
    // An unknown authority, and another name.
    for (host, query) in [
        ("localhost", "sslmode=require".to_owned()),
        ("localhost", "sslmode=verify-full".to_owned()),
        ("127.0.0.1", format!("sslmode=require&{trusted}")),
    ] {
        let refused = check(url(host, &query)).await;
        assert!(matches!(refused, Err(Error::Unreachable(_))), "{host} {query}: {refused:?}");
    }
    // Only on this machine, and only by default, does the connection go without.
    assert!(!check(url("localhost", "sslmode=prefer")).await.unwrap().tls);
    assert!(!check(team.server.socket_url("alice")).await.unwrap().tls);
}
