//! Appends to the journals of many projects at once, without daemons: the server's own limit.

use std::time::{Duration, Instant};

use anchord_team::testing::Server;
use anchord_team::{Address, Appended, Database, Key, NewEntry, Secret};
use futures::future::join_all;
use uuid::Uuid;

use super::{bare, per_second};
use crate::notes;
use crate::table::Row;

const PROJECTS: [usize; 4] = [1, 4, 16, 64];
const TIME: Duration = Duration::from_secs(5);
const ROW_BYTES: usize = 1_500;

/// Projects that share the connections of one [`Database`], as those of one daemon do.
const PROJECTS_A_DAEMON: usize = 8;

pub(super) fn run(server: &Server, _records: u64) -> Vec<Row> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        database(server).migrate().await.expect("the role may create the schema");
    });
    PROJECTS
        .into_iter()
        .map(|projects| {
            let floor = bare::inserts_per_second(server, projects, ROW_BYTES, TIME / 2);
            let rate = runtime.block_on(append(server, projects));
            Row {
                what: format!("appends a second, {projects} projects, one writer each"),
                measured: per_second(rate),
                floor: format!(
                    "{} (bare INSERT + COMMIT, {projects} connections)",
                    per_second(floor)
                ),
                target: "",
            }
        })
        .collect()
}

fn database(server: &Server) -> Database {
    let address = Address::parse(&server.url("ada")).expect("the address is right");
    Database::open(address, Secret::None).expect("opening does nothing yet")
}

/// Returns the appends a second of one entry each.
async fn append(server: &Server, projects: usize) -> f64 {
    let mut logs = Vec::new();
    let mut shared = database(server);
    for at in 0..projects {
        if at % PROJECTS_A_DAEMON == 0 {
            shared = database(server);
        }
        let name = format!("{projects}-{at}");
        let project = shared.create_project(&name).await.expect("the name is free").id;
        logs.push(shared.log(project));
    }
    let begin = Instant::now();
    let appending = logs.into_iter().map(|log| {
        tokio::spawn(async move {
            let instance = Uuid::new_v4().to_string();
            let mut head = 0;
            while begin.elapsed() < TIME {
                let appended = log.append(head, &[entry(&instance, head)]).await;
                let appended = appended.expect("the server answers");
                assert!(matches!(appended, Appended::Committed { .. }), "nobody else writes");
                head += 1;
            }
            u32::try_from(head).unwrap_or_default()
        })
    });
    let counts = join_all(appending).await.into_iter().map(|count| count.expect("it ends"));
    f64::from(counts.sum::<u32>()) / begin.elapsed().as_secs_f64()
}

fn entry(instance: &str, number: u64) -> NewEntry {
    NewEntry {
        key: Key { instance: instance.to_owned(), number },
        machine: "0197a6a0-0000-7000-8000-000000000001".to_owned(),
        time: 1_700_000_000_000,
        session: Some("0197a6a0-0000-7000-8000-000000000002".to_owned()),
        operation: "save".to_owned(),
        changes: format!("[{{\"text\":\"{}\"}}]", notes::text(number).repeat(2)),
        reply: None,
    }
}
