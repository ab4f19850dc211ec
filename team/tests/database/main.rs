//! A journal on a real Postgres server, which each test starts for itself.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says that it fails by panicking")]

mod faults;
mod journal;
mod pooler;
mod rights;
mod schema;
#[path = "../../src/testing.rs"]
#[expect(dead_code, unreachable_pub, reason = "other crates use it as part of the library")]
mod testing;

use std::time::Duration;

use anchord_team::{Address, Database, Key, Log, NewEntry, Role, Secret, Timeouts};
use uuid::Uuid;

use testing::Server;

/// A server with a project `alpha` of the role `owner`, whose members are the writers `alice` and
/// `bob` and the reader `rita`. The owner of the schema is not a superuser.
struct Team {
    server: Server,
    owner: Database,
    project: Uuid,
}

impl Team {
    async fn start() -> Option<Self> {
        Some(Self::on(Server::start()?).await)
    }

    async fn on(server: Server) -> Self {
        server.psql("CREATE ROLE owner LOGIN CREATEROLE");
        server.psql("GRANT CREATE ON DATABASE postgres TO owner");
        let owner = open(&server.url("owner"));
        owner.migrate().await.unwrap();
        let project = owner.create_project("alpha").await.unwrap().id;
        for (role_name, role) in
            [("alice", Role::Writer), ("bob", Role::Writer), ("rita", Role::Reader)]
        {
            owner.invite(project, role_name, "A member", role).await.unwrap();
        }
        Self { server, owner, project }
    }

    fn log(&self, user: &str) -> Log {
        open(&self.server.url(user)).log(self.project)
    }

    /// Returns the journal as its owner sees it, after checking it.
    async fn numbers(&self) -> Vec<(String, u64)> {
        let log = self.owner.log(self.project);
        let head = log.head().await.unwrap();
        let entries = log.entries(0, 100_000, u64::MAX).await.unwrap();
        assert_eq!(entries.len() as u64, head.seq);
        let digest = anchord_team::verify(0, anchord_team::FIRST_DIGEST, &entries).unwrap();
        assert_eq!(digest, head.digest);
        let keys = entries.into_iter().map(|entry| entry.content.key);
        keys.map(|key| (key.instance, key.number)).collect()
    }
}

fn open(url: &str) -> Database {
    open_within(url, Timeouts::default())
}

fn open_within(url: &str, timeouts: Timeouts) -> Database {
    Database::open_with(Address::parse(url).unwrap(), Secret::None, timeouts).unwrap()
}

/// Limits under which a test of a time-out is short.
fn short() -> Timeouts {
    Timeouts {
        append: Duration::from_millis(600),
        commit: Duration::from_millis(600),
        ..Timeouts::default()
    }
}

fn key(instance: &str, number: u64) -> Key {
    Key { instance: instance.to_owned(), number }
}

fn entry(instance: &str, number: u64) -> NewEntry {
    NewEntry {
        key: key(instance, number),
        machine: "laptop".to_owned(),
        time: 1_700_000_000_000,
        session: Some("s-1".to_owned()),
        operation: "save".to_owned(),
        changes: format!("{{\"n\":{number}}}"),
        reply: None,
    }
}
