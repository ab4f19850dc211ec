//! Appends and reads through pgbouncer in transaction mode.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use anchord_team::{AppendError, Appended, Error};

use crate::testing::poll;
use crate::{Team, entry, open, open_within, short};

/// A running pgbouncer. It ends with this value.
struct Pooler {
    process: Child,
    port: u16,
}

impl Pooler {
    /// Starts one in front of a server, with few connections to it.
    fn start(team: &Team, dir: &std::path::Path) -> Option<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let users = dir.join("users.txt");
        std::fs::write(&users, "\"alice\" \"\"\n\"bob\" \"\"\n").unwrap();
        let settings = format!(
            "[databases]\npostgres = host=127.0.0.1 port={}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 2\n",
            team.server.port(),
            users.display()
        );
        let file = dir.join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new("pgbouncer");
        command.arg("-q").arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
        if rustix::process::geteuid().is_root() {
            // It refuses root, and reads files that all may read.
            command.uid(65_534).gid(65_534);
        }
        let process = command.stderr(Stdio::null()).spawn().ok()?;
        let pooler = Self { process, port };
        let answers = || std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
        assert!(poll(answers), "pgbouncer listens");
        Some(pooler)
    }

    fn url(&self, user: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_share_connections_to_the_server() {
    let Some(team) = Team::start().await else { return };
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(dir.path(), None, None).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), mode).unwrap();
    let Some(pooler) = Pooler::start(&team, dir.path()) else {
        eprintln!("SKIPPED: pgbouncer is not in PATH");
        return;
    };
    // More clients than connections, and each statement on whichever is free.
    let mut running = Vec::new();
    for client in ["a", "b", "c", "d", "e", "f"] {
        let log = open(&pooler.url("alice")).log(team.project);
        running.push(tokio::spawn(async move {
            let mut head = 0;
            for number in 1..=10 {
                loop {
                    match log.append(head, &[entry(client, number)]).await.unwrap() {
                        Appended::Committed { .. } => break head += 1,
                        Appended::HeadMoved { head: newer } => head = newer,
                        Appended::Repeated(_) => panic!("nothing is repeated"),
                    }
                }
                assert!(!log.entries(0, 5, u64::MAX).await.unwrap().is_empty());
            }
        }));
    }
    for running in running {
        running.await.unwrap();
    }
    assert_eq!(team.numbers().await.len(), 60);
    let settings = "SELECT current_setting('lock_timeout')";
    assert_eq!(team.server.psql(settings), "0");

    // A transaction that times out is rolled back, although the pooler stays connected.
    let log = open_within(&pooler.url("alice"), short()).log(team.project);
    let (client, connection) =
        tokio_postgres::connect(&team.server.url("bob"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; UPDATE anchord.projects SET seq = seq").await.unwrap();
    let slow = log.append(60, &[entry("g", 1)]).await;
    assert!(matches!(slow, Err(AppendError::NotWritten(Error::Slow))), "{slow:?}");
    client.batch_execute("ROLLBACK").await.unwrap();
    let appended = log.append(60, &[entry("g", 1)]).await.unwrap();
    assert!(matches!(appended, Appended::Committed { .. }), "{appended:?}");
}
