//! Row-level security withstands a member that attacks with SQL of its own.
//!
//! Each attack is also run by a role that may do it, or is followed by a look at the rows. So it is
//! the right that is missing, and not the SQL that is wrong.

use std::slice::from_ref;

use anchord_team::{AppendError, Appended, Error, NewEntry, Replacement, Role};
use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::{Team, entry, open};

/// Returns the SQL of an entry, in a transaction that also moves the head.
fn append_sql(project: Uuid, seq: u64, more: (&str, &str)) -> String {
    let (column, value) = more;
    format!(
        "BEGIN; UPDATE anchord.projects SET seq = {seq}, digest = repeat('a', 64) \
             WHERE id = '{project}'; \
         INSERT INTO anchord.entries (project, seq, instance, number, machine, time_ms, \
             operation, changes, digest {column}) \
         VALUES ('{project}', {seq}, 'sql', {seq}, 'm', 1, 'save', '{{}}', repeat('a', 64) \
             {value}); \
         COMMIT"
    )
}

impl Team {
    /// Asserts that SQL of a role fails, for lack of rights.
    #[track_caller]
    fn refused(&self, user: &str, sql: &str) {
        let said = self.server.psql_as(user, sql).expect_err(&format!("{user}: {sql}"));
        let reasons = [
            "permission denied",
            "must be owner",
            "row-level security",
            "does not go back",
            "only a maintainer",
            "is its last entry",
            "has no gap",
        ];
        assert!(reasons.iter().any(|reason| said.contains(reason)), "{user}: {sql}: {said}");
    }

    /// Asserts that SQL of a role finds no row to change or to return.
    #[track_caller]
    fn finds_nothing(&self, user: &str, sql: &str) {
        assert_eq!(self.server.psql_as(user, sql).as_deref(), Ok(""), "{user}: {sql}");
    }

    /// Returns all rows, as the superuser sees them.
    fn everything(&self) -> String {
        self.server.psql("SELECT * FROM anchord.projects ORDER BY id")
            + &self.server.psql("SELECT * FROM anchord.entries ORDER BY project, seq")
            + &self.server.psql("SELECT * FROM anchord.members ORDER BY project, role_name")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_does_not_write() {
    let Some(team) = Team::start().await else { return };
    team.log("alice").append(0, &[entry("a", 1)]).await.unwrap();
    let before = team.everything();
    let append = append_sql(team.project, 2, ("", ""));
    team.refused("rita", &append);
    team.refused(
        "rita",
        &append.replace("UPDATE anchord.projects", "UPDATE anchord.projects AS p"),
    );
    let insert = append.split("; ").nth(2).unwrap();
    let said = team.server.psql_as("rita", insert).unwrap_err();
    assert!(said.contains("row-level security"), "{said}");
    for attack in [
        "UPDATE anchord.projects SET seq = seq RETURNING id",
        "UPDATE anchord.projects SET name = 'mine' RETURNING id",
        "UPDATE anchord.entries SET changes = '[]' RETURNING seq",
        "UPDATE anchord.members SET role = 'maintainer' RETURNING name",
        "DELETE FROM anchord.members RETURNING name",
    ] {
        team.finds_nothing("rita", attack);
    }
    team.refused("rita", "DELETE FROM anchord.entries");
    team.refused("rita", "TRUNCATE anchord.entries");
    assert_eq!(team.everything(), before);
    assert_eq!(team.server.psql_as("rita", "SELECT count(*) FROM anchord.entries").unwrap(), "1");
    let log = team.log("rita");
    let refused = log.append(1, &[entry("r", 1)]).await;
    assert!(matches!(refused, Err(AppendError::NotWritten(Error::Refused(_)))), "{refused:?}");
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    // The server itself would end it after 10 s.
    assert!((0..60).any(|_| team.server.psql(open) == "0"), "a transaction stays open");
    assert_eq!(team.server.psql_as("alice", &append).as_deref(), Ok(""), "a writer may");
}

#[tokio::test]
async fn a_writer_does_not_rewrite_the_journal() {
    let Some(team) = Team::start().await else { return };
    team.log("alice").append(0, &[entry("a", 1), entry("a", 2)]).await.unwrap();
    let before = team.everything();
    let project = team.project;
    for attack in [
        "UPDATE anchord.entries SET changes = '[]' RETURNING seq",
        "UPDATE anchord.entries SET reply = NULL, digest = repeat('b', 64) RETURNING seq",
        "UPDATE anchord.members SET role = 'maintainer' WHERE role_name = 'alice' RETURNING name",
        "DELETE FROM anchord.members WHERE role_name = 'rita' RETURNING name",
    ] {
        team.finds_nothing("alice", attack);
    }
    for attack in [
        "DELETE FROM anchord.entries",
        "TRUNCATE anchord.entries",
        "UPDATE anchord.entries SET member = 'bob'",
        "UPDATE anchord.entries SET seq = 9",
        "DELETE FROM anchord.projects",
        "UPDATE anchord.projects SET id = gen_random_uuid()",
        "UPDATE anchord.projects SET created = now()",
        // The head goes back, or beyond the last entry, or to another digest.
        "UPDATE anchord.projects SET seq = 1",
        "UPDATE anchord.projects SET seq = 1, digest = \
            (SELECT e.digest FROM anchord.entries e WHERE e.seq = 1)",
        "UPDATE anchord.projects SET seq = 3",
        "UPDATE anchord.projects SET digest = repeat('b', 64)",
        "UPDATE anchord.projects SET name = 'mine'",
        "UPDATE anchord.projects SET epoch = epoch + 1",
        "DROP TRIGGER check_head ON anchord.projects",
        "ALTER TABLE anchord.entries DISABLE ROW LEVEL SECURITY",
        "CREATE TABLE anchord.other ()",
        "UPDATE anchord.schema_history SET version = 9",
        "SET SESSION AUTHORIZATION bob",
    ] {
        team.refused("alice", attack);
    }
    let grants =
        format!("INSERT INTO anchord.members VALUES ('{project}', 'mallory', 'M', 'maintainer')");
    team.refused("alice", &grants);
    // Another member's name, even its own, is not for the client to say.
    team.refused("alice", &append_sql(project, 3, (", member", ", 'bob'")));
    team.refused("alice", &append_sql(project, 3, (", member", ", 'alice'")));
    // A gap, an entry without the head, and a head with another digest than its entry.
    let append = append_sql(project, 3, ("", ""));
    let insert = append.split("; ").nth(2).unwrap();
    team.refused("alice", &append_sql(project, 4, ("", "")));
    team.refused("alice", insert);
    team.refused("alice", &append.replacen("'a'", "'b'", 1));
    assert_eq!(team.everything(), before);
    team.server.psql_as("alice", &append).unwrap();
    let member = "SELECT member FROM anchord.entries WHERE seq = 3";
    assert_eq!(team.server.psql(member), "alice");
}

#[tokio::test]
async fn a_writer_proposes_rules_and_changes_no_settings() {
    let Some(team) = Team::start().await else { return };
    let put = |id: &str, standing: &str| {
        format!(r#"[{{"put":{{"id":"{id}","body":{{"rule":{{"standing":"{standing}"}}}}}}}}]"#)
    };
    let accepted = [put("r1", "accepted"), put("r2", "proposed"), put("n3", "of a note")];
    let settings = r#"[{"configure":{"settings":{},"shared":true}}]"#.to_owned();
    let purges = r#"[{"tombstones":{"salt":"","digests":["a"],"time":1}}]"#.to_owned();
    let with = |number, changes: String| NewEntry { changes, ..entry("a", number) };
    let owner = team.owner.log(team.project);
    for (seq, changes) in (0..).zip(accepted.into_iter().chain([settings.clone(), purges.clone()]))
    {
        let appended = owner.append(seq, &[with(seq, changes)]).await;
        assert!(matches!(appended, Ok(Appended::Committed { .. })), "{appended:?}");
    }
    let log = team.log("alice");
    let before = team.everything();
    for attack in [
        settings,
        purges,
        r#"[{"purged":{}}]"#.to_owned(),
        r#"[{"team":null}]"#.to_owned(),
        // A rule in force, also one that another machine would take for the same.
        put("r9", "accepted"),
        put("r1", "proposed"),
        put("r01", "proposed"),
        put(" R1", "proposed"),
        put("\u{a0}r1", "proposed"),
        put("\u{a0}r1", "proposed").replace("rule", "note"),
        put("r%", "proposed"),
        r#"[{"put":["r1",1,1]}]"#.to_owned(),
        r#"[{"put":{"id":"r8","body":{"rule":["Title"]}}}]"#.to_owned(),
        r#"[{"put":{"id":"r1","body":{}}}]"#.to_owned(),
        r#"[{"\u0070ut":{"id":"\u00721","body":{"rule":{"standing":"proposed"}}}}]"#.to_owned(),
        put("r2", "proposed").replace(']', r#",{"configure":{}}]"#),
        "not JSON".to_owned(),
    ] {
        let refused = log.append(5, &[with(9, attack.clone())]).await;
        assert!(matches!(refused, Err(AppendError::NotWritten(_))), "{attack}: {refused:?}");
        if !attack.starts_with("not") {
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("only a maintainer"), "{attack}: {said}");
        }
    }
    assert_eq!(team.everything(), before);
    let empty = r#"[{"tombstones":{"salt":"","digests":[],"time":1}}]"#.to_owned();
    let batch = [
        with(10, put("r2", "proposed")),
        with(11, put("r7", "proposed")),
        with(12, empty),
        with(13, r#"[{"put":{"id":"n1","body":{"note":{"content":"\u0000 r1"}}}}]"#.to_owned()),
    ];
    let appended = log.append(5, &batch).await;
    assert!(matches!(appended, Ok(Appended::Committed { .. })), "{appended:?}");
}

#[tokio::test]
async fn a_granted_column_still_does_not_let_a_writer_forge_a_member() {
    let Some(team) = Team::start().await else { return };
    // Without the column's privilege in the way, the policy alone refuses.
    team.server.psql("GRANT INSERT (member), DELETE ON anchord.entries TO anchord_member");
    team.server.psql("GRANT bob TO alice");
    team.refused("alice", &append_sql(team.project, 1, (", member", ", 'bob'")));
    // Acting as another role does not change who has logged in.
    let as_bob = format!("SET ROLE bob; {}", append_sql(team.project, 1, (", member", ", 'bob'")));
    team.refused("alice", &as_bob);
    team.server.psql_as("alice", &append_sql(team.project, 1, ("", ""))).unwrap();
    team.finds_nothing("alice", "DELETE FROM anchord.entries RETURNING seq");
}

#[tokio::test]
async fn a_member_of_another_project_sees_and_changes_nothing() {
    let Some(team) = Team::start().await else { return };
    team.log("alice").append(0, &[entry("a", 1)]).await.unwrap();
    let other = team.owner.create_project("beta").await.unwrap().id;
    team.owner.invite(other, "mallory", "Mallory", Role::Maintainer).await.unwrap();
    let mallory = open(&team.server.url("mallory"));
    let before = team.everything();
    for table in ["entries", "members", "projects"] {
        let (column, id) = if table == "projects" { ("id", "id") } else { ("project", "project") };
        let rows = format!("SELECT {id} FROM anchord.{table} WHERE {column} = '{}'", team.project);
        team.finds_nothing("mallory", &rows);
    }
    let project = team.project;
    for attack in [
        format!("UPDATE anchord.projects SET seq = seq WHERE id = '{project}' RETURNING id"),
        format!("DELETE FROM anchord.members WHERE project = '{project}' RETURNING name"),
        format!(
            "UPDATE anchord.entries SET changes = '' WHERE project = '{project}' RETURNING seq"
        ),
        format!("SELECT * FROM anchord.projects_as('maintainer') AS p WHERE p = '{project}'"),
    ] {
        team.finds_nothing("mallory", &attack);
    }
    for attack in [
        append_sql(project, 2, ("", "")),
        format!("INSERT INTO anchord.members VALUES ('{project}', 'mallory', 'M', 'reader')"),
        // Moving its own rows into the project.
        format!("UPDATE anchord.members SET project = '{project}'"),
        format!("UPDATE anchord.projects SET id = '{project}' WHERE id = '{other}'"),
    ] {
        team.refused("mallory", &attack);
    }
    assert_eq!(team.everything(), before);
    let log = mallory.log(project);
    let refused = log.append(1, &[entry("m", 1)]).await;
    assert!(matches!(refused, Err(AppendError::NotWritten(Error::NotAMember))), "{refused:?}");
    assert!(matches!(log.head().await, Err(Error::NotAMember)));
    assert_eq!(log.entries(0, 10, u64::MAX).await.unwrap(), []);
    assert!(matches!(mallory.members(project).await, Err(Error::NotAMember)));
    assert!(matches!(mallory.remove(project, "alice").await, Err(Error::NotAMember)));
    let names: Vec<String> =
        mallory.projects().await.unwrap().into_iter().map(|project| project.name).collect();
    assert_eq!(names, ["beta"]);
    assert!(mallory.log(other).append(0, &[entry("m", 1)]).await.is_ok(), "its own it may");
}

#[tokio::test]
async fn a_leaver_loses_access_at_once() {
    let Some(team) = Team::start().await else { return };
    let log = team.log("alice");
    log.append(0, &[entry("a", 1)]).await.unwrap();
    // A transaction that is open while its member is removed.
    let (client, connection) =
        tokio_postgres::connect(&team.server.url("alice"), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; SELECT FROM anchord.projects").await.unwrap();
    team.owner.remove(team.project, "alice").await.unwrap();
    let rows = client.query_typed("SELECT seq FROM anchord.entries", &[]).await.unwrap();
    assert_eq!(rows.len(), 0);
    client.batch_execute("ROLLBACK").await.unwrap();

    let refused = log.append(1, &[entry("a", 2)]).await;
    assert!(matches!(refused, Err(AppendError::NotWritten(Error::NotAMember))), "{refused:?}");
    assert!(matches!(log.head().await, Err(Error::NotAMember)));
    team.refused("alice", &append_sql(team.project, 2, ("", "")));
    team.finds_nothing("alice", "SELECT * FROM anchord.entries");
    assert_eq!(team.numbers().await.len(), 1, "its entries stay");
    // Outside the group, even the tables are closed.
    team.server.psql(&anchord_team::remove_sql(team.project, "alpha", "alice"));
    team.refused("alice", "SELECT * FROM anchord.entries");
    let database = open(&team.server.url("alice"));
    assert!(matches!(database.check().await, Err(Error::NotAMember)));
}

/// Nobody could invite anyone after the last maintainer.
#[tokio::test]
async fn the_only_maintainer_stays_until_there_is_another() {
    let Some(team) = Team::start().await else { return };
    for refused in [
        team.owner.remove(team.project, "owner").await,
        team.owner.invite(team.project, "owner", "owner", Role::Writer).await,
    ] {
        let Err(Error::Refused(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("owner is the only maintainer"), "{why}");
    }
    // A writer cannot make another one, so it is not told to.
    let writer = open(&team.server.url("bob"));
    for refused in [
        writer.remove(team.project, "owner").await,
        writer.invite(team.project, "owner", "owner", Role::Writer).await,
    ] {
        let Err(Error::Refused(why)) = refused else { panic!("{refused:?}") };
        assert!(why.ends_with("a member; ask one"), "{why}");
    }
    for sql in [
        anchord_team::remove_sql(team.project, "alpha", "owner"),
        anchord_team::invite_sql(team.project, "alpha", "owner", "owner", Role::Reader),
    ] {
        let refused = team.server.psql_as("postgres", &sql).unwrap_err();
        assert!(refused.contains("the only maintainer stays"), "{refused}");
    }
    team.owner.invite(team.project, "bob", "Bob", Role::Maintainer).await.unwrap();
    // One of two that remove each other at once stays.
    let bob = open(&team.server.url("bob"));
    let (first, second) =
        tokio::join!(team.owner.remove(team.project, "bob"), bob.remove(team.project, "owner"),);
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    let maintainers = "SELECT count(*) FROM anchord.members WHERE role = 'maintainer'";
    assert_eq!(team.server.psql(maintainers), "1");
}

#[tokio::test]
async fn a_maintainer_leaves_to_another_one() {
    let Some(team) = Team::start().await else { return };
    team.owner.invite(team.project, "bob", "Bob", Role::Maintainer).await.unwrap();
    team.owner.remove(team.project, "owner").await.unwrap();
    let bob = open(&team.server.url("bob"));
    assert!(matches!(bob.remove(team.project, "bob").await, Err(Error::Refused(_))));
}

#[tokio::test]
async fn a_maintainer_manages_members_and_purges() {
    let Some(team) = Team::start().await else { return };
    team.log("alice").append(0, &[entry("a", 1)]).await.unwrap();
    team.owner.invite(team.project, "bob", "Bob", Role::Maintainer).await.unwrap();
    let bob = open(&team.server.url("bob"));
    // Roles that exist need no administrator.
    bob.invite(team.project, "rita", "Rita", Role::Writer).await.unwrap();
    bob.remove(team.project, "alice").await.unwrap();
    let created = bob.invite(team.project, "newcomer", "New", Role::Reader).await;
    assert!(matches!(created, Err(Error::Refused(_))), "{created:?}");
    let members = bob.members(team.project).await.unwrap();
    let members: Vec<(&str, &str, Role)> = members
        .iter()
        .map(|member| (member.role_name.as_str(), member.name.as_str(), member.role))
        .collect();
    assert_eq!(
        members,
        [
            ("bob", "Bob", Role::Maintainer),
            ("owner", "owner", Role::Maintainer),
            ("rita", "Rita", Role::Writer)
        ]
    );
    let rita = open(&team.server.url("rita"));
    assert!(matches!(rita.remove(team.project, "bob").await, Err(Error::Refused(_))));
    let promoted = rita.invite(team.project, "rita", "Rita", Role::Maintainer).await;
    let Err(Error::Refused(why)) = promoted else { panic!("{promoted:?}") };
    assert_eq!(why, "only a maintainer invites a member; ask one");
    assert_eq!(bob.members(team.project).await.unwrap().len(), 3);

    let purge = "UPDATE anchord.entries SET changes = 'null', digest = repeat('c', 64) RETURNING 1";
    team.finds_nothing("rita", purge);
    let replacement = Replacement { seq: 1, changes: "null".to_owned(), reply: None };
    let by_rita = rita.log(team.project);
    let by_rita = by_rita.rewrite(1, from_ref(&replacement), &entry("p", 1)).await;
    assert!(matches!(by_rita, Err(AppendError::NotWritten(Error::Refused(_)))), "{by_rita:?}");
    let log = bob.log(team.project);
    log.rewrite(1, from_ref(&replacement), &entry("p", 1)).await.unwrap();
    assert_eq!(log.head().await.unwrap().epoch, 1);
    assert_eq!(log.entries(0, 1, u64::MAX).await.unwrap()[0].content.changes, "null");
    // Not even a maintainer sets the head back or changes who wrote an entry.
    team.refused("bob", "UPDATE anchord.projects SET epoch = 0");
    team.refused("bob", "UPDATE anchord.projects SET seq = 0");
    team.refused("bob", "UPDATE anchord.entries SET member = 'bob'");
    team.refused("bob", "DELETE FROM anchord.entries");
}

#[tokio::test]
async fn a_role_outside_the_group_reaches_nothing() {
    let Some(team) = Team::start().await else { return };
    team.server.psql("CREATE ROLE stranger LOGIN");
    for attack in [
        "SELECT * FROM anchord.projects",
        "SELECT * FROM anchord.schema_history",
        "SELECT anchord.create_project(gen_random_uuid(), 'mine')",
        "SELECT anchord.projects_as('maintainer')",
    ] {
        team.refused("stranger", attack);
    }
    let stranger = open(&team.server.url("stranger"));
    assert!(matches!(stranger.check().await, Err(Error::NotAMember)));
}
