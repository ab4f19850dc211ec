//! The floor of a commit: a bare INSERT that PostgreSQL commits.

use std::time::{Duration, Instant};

use anchord_team::testing::Server;
use futures::future::join_all;

/// Returns the inserts a second over so many connections, each of a row of so many bytes.
pub(super) fn inserts_per_second(
    server: &Server,
    connections: usize,
    bytes: usize,
    time: Duration,
) -> f64 {
    let url = server.url("ada");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        let (first, driver) =
            tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("the server runs");
        tokio::spawn(driver);
        let table = "CREATE TABLE IF NOT EXISTS public.bare (id bigserial PRIMARY KEY, row text)";
        first.batch_execute(table).await.expect("the role may create it");
        let row = "x".repeat(bytes);
        let connecting = (0..connections).map(|_| async {
            let connected = tokio_postgres::connect(&url, tokio_postgres::NoTls).await;
            let (client, driver) = connected.expect("the server runs");
            tokio::spawn(driver);
            let insert = client.prepare("INSERT INTO public.bare (row) VALUES ($1)").await;
            (client, insert.expect("the table is there"))
        });
        let connected = join_all(connecting).await;
        let begin = Instant::now();
        let inserting = connected.into_iter().map(|(client, insert)| {
            let row = row.clone();
            tokio::spawn(async move {
                let mut count = 0_u32;
                while begin.elapsed() < time {
                    client.execute(&insert, &[&row]).await.expect("the row is written");
                    count += 1;
                }
                count
            })
        });
        let counts = join_all(inserting).await.into_iter().map(|count| count.expect("it ends"));
        f64::from(counts.sum::<u32>()) / begin.elapsed().as_secs_f64()
    })
}
