//! Connections and servers that fail in the midst of an append.

use std::time::Duration;

use anchord_team::{Address, AppendError, Appended, Database, Error, Secret, Timeouts};
use tokio::time::{MissedTickBehavior, interval};

use crate::testing::{COMMIT, Cut, Proxy, Server};
use crate::{Team, entry, open, open_within, short};

#[tokio::test]
async fn a_cut_before_commit_is_repeated_on_another_connection() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let log = open(&proxy.url("alice")).log(team.project);
    let cuts = [
        ("BEGIN ISOLATION", Cut::Before),
        ("BEGIN ISOLATION", Cut::After),
        ("INSERT INTO anchord.entries", Cut::Before),
        ("INSERT INTO anchord.entries", Cut::After),
    ];
    for (count, (pattern, cut)) in (1..).zip(cuts) {
        proxy.on(pattern, cut);
        let number = u64::from(count);
        let appended = log.append(number - 1, &[entry("a", number)]).await;
        assert!(matches!(appended, Ok(Appended::Committed { .. })), "{cut:?}: {appended:?}");
        proxy.wait_caught(count);
    }
    assert_eq!(team.numbers().await.len(), 4);
    // The head is compared by the repeat, too.
    proxy.on("INSERT INTO anchord.entries", Cut::Before);
    let moved = log.append(2, &[entry("a", 5)]).await;
    assert!(matches!(moved, Ok(Appended::HeadMoved { head: 4 })), "{moved:?}");
}

#[tokio::test]
async fn a_cut_after_commit_is_repeated_and_applied_once() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let log = open(&proxy.url("alice")).log(team.project);
    // The server commits, and its answer is lost.
    proxy.on(COMMIT, Cut::After);
    let repeated = log.append(0, &[entry("a", 1)]).await.unwrap();
    assert!(matches!(&repeated, Appended::Repeated(found) if found[0].seq == 1), "{repeated:?}");
    // COMMIT itself is lost. The caller cannot tell that from the case above.
    proxy.on(COMMIT, Cut::Before);
    let repeated = log.append(1, &[entry("a", 2)]).await.unwrap();
    assert!(matches!(repeated, Appended::Committed { .. }), "{repeated:?}");
    assert_eq!(team.numbers().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_after_commit_stays_unknown_while_nothing_answers() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let log = open_within(&proxy.url("alice"), short()).log(team.project);
    proxy.on(COMMIT, Cut::Stall);
    let cut = std::thread::scope(|scope| {
        scope.spawn(|| {
            proxy.wait_caught(1);
            proxy.refuse();
        });
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(log.append(0, &[entry("a", 1)]))
        })
    });
    assert!(matches!(cut, Err(AppendError::Unknown(Error::Unreachable(_)))), "{cut:?}");
    // It depends on the proxy whether COMMIT has reached the server.
    team.log("alice").append(0, &[entry("a", 1)]).await.unwrap();
    assert_eq!(team.numbers().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_outlives_a_restart_of_the_server() {
    let Some(mut team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let log = open(&proxy.url("alice")).log(team.project);
    proxy.on(COMMIT, Cut::Hold);
    let append = tokio::spawn({
        let log = log.clone();
        async move { log.append(0, &[entry("a", 1)]).await }
    });
    proxy.wait_caught(1);
    team.server.stop_immediate();
    proxy.cut();
    team.server.restart();
    let appended = append.await.unwrap();
    assert!(matches!(appended, Ok(Appended::Committed { .. })), "{appended:?}");
    assert_eq!(team.numbers().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_waits_for_the_first_attempt_that_is_still_open() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let through = open_within(&proxy.url("alice"), short()).log(team.project);
    // COMMIT is under way while its client gives up.
    proxy.on(COMMIT, Cut::Hold);
    let cut = through.append(0, &[entry("a", 1)]).await;
    assert!(matches!(cut, Err(AppendError::Unknown(Error::Slow))), "{cut:?}");
    let direct = team.log("alice");
    let repeat = tokio::spawn(async move { direct.append(0, &[entry("a", 1)]).await });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    let waits = || team.server.psql(waiting) == "1";
    assert!(crate::testing::poll(waits), "it waits for the head's lock");
    proxy.resume();
    let repeated = repeat.await.unwrap().unwrap();
    assert!(matches!(repeated, Appended::Repeated(_)), "{repeated:?}");
    assert_eq!(team.numbers().await.len(), 1);
}

#[tokio::test]
async fn a_stalled_answer_to_commit_is_unknown_in_time() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let log = open_within(&proxy.url("alice"), short()).log(team.project);
    proxy.on(COMMIT, Cut::Stall);
    let batch = [entry("a", 1)];
    let stalled = tokio::time::timeout(Duration::from_secs(3), log.append(0, &batch)).await;
    let stalled = stalled.expect("it ends by itself");
    assert!(matches!(stalled, Err(AppendError::Unknown(Error::Slow))), "{stalled:?}");
    proxy.resume();
    let repeated = log.append(0, &[entry("a", 1)]).await.unwrap();
    assert!(matches!(repeated, Appended::Repeated(_)), "{repeated:?}");
}

#[tokio::test]
async fn a_slow_start_writes_nothing_and_frees_the_head() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let log = open_within(&proxy.url("alice"), short()).log(team.project);
    log.append(0, &[entry("a", 1)]).await.unwrap();
    proxy.on("INSERT INTO anchord.entries", Cut::Hold);
    let slow = log.append(1, &[entry("a", 2)]).await;
    assert!(matches!(slow, Err(AppendError::NotWritten(Error::Slow))), "{slow:?}");
    proxy.resume();
    // The server sees that its client is gone, and gives the head to another.
    let other = team.log("bob").append(1, &[entry("b", 1)]).await.unwrap();
    assert!(matches!(other, Appended::Committed { .. }), "{other:?}");
    // Also while the answer is on the way and nobody reads it.
    proxy.on("INSERT INTO anchord.entries", Cut::Stall);
    let slow = log.append(2, &[entry("a", 2)]).await;
    assert!(matches!(slow, Err(AppendError::NotWritten(Error::Slow))), "{slow:?}");
    let (bob, batch) = (team.log("bob"), [entry("b", 2)]);
    let other = tokio::time::timeout(Duration::from_secs(3), bob.append(2, &batch)).await;
    assert!(matches!(other, Ok(Ok(Appended::Committed { .. }))), "{other:?}");
    let numbers = team.numbers().await;
    assert_eq!(numbers, [("a".to_owned(), 1), ("b".to_owned(), 1), ("b".to_owned(), 2)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_append_frees_the_head() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let log = open(&proxy.url("alice")).log(team.project);
    for (count, pattern) in [(1, "BEGIN ISOLATION"), (2, "INSERT INTO anchord.entries")] {
        proxy.on(pattern, Cut::Stall);
        let append = tokio::spawn({
            let log = log.clone();
            async move { log.append(u64::from(count) - 1, &[entry("a", 1)]).await }
        });
        proxy.wait_caught(count);
        append.abort();
        assert!(append.await.is_err_and(|error| error.is_cancelled()));
        let (bob, batch) = (team.log("bob"), [entry("b", count.into())]);
        let appended = bob.append(u64::from(count) - 1, &batch);
        let appended = tokio::time::timeout(Duration::from_secs(3), appended).await;
        assert!(matches!(appended, Ok(Ok(Appended::Committed { .. }))), "{appended:?}");
        proxy.resume();
    }
    assert_eq!(team.numbers().await, [("b".to_owned(), 1), ("b".to_owned(), 2)]);
}

#[tokio::test]
async fn a_busy_head_is_slow_and_writes_nothing() {
    let Some(team) = Team::start().await else { return };
    let log = open_within(&team.server.url("alice"), short()).log(team.project);
    let (client, connection) =
        tokio_postgres::connect(&team.server.url("bob"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; UPDATE anchord.projects SET seq = seq").await.unwrap();
    let batch = [entry("a", 1)];
    let slow = tokio::time::timeout(Duration::from_secs(3), log.append(0, &batch)).await.unwrap();
    assert!(matches!(slow, Err(AppendError::NotWritten(Error::Slow))), "{slow:?}");
    client.batch_execute("ROLLBACK").await.unwrap();
    assert!(matches!(log.append(0, &[entry("a", 1)]).await, Ok(Appended::Committed { .. })));
    assert_eq!(team.numbers().await.len(), 1);
}

#[tokio::test]
async fn a_server_that_is_gone_is_unreachable_and_comes_back() {
    let Some(mut team) = Team::start().await else { return };
    let log = team.log("alice");
    let mut listener = team.owner.listen().await.unwrap();
    log.append(0, &[entry("a", 1)]).await.unwrap();
    assert_eq!(listener.next().await.unwrap().seq, 1);
    team.server.stop_immediate();
    let gone = log.append(1, &[entry("a", 2)]).await;
    assert!(matches!(gone, Err(AppendError::NotWritten(Error::Unreachable(_)))), "{gone:?}");
    assert!(matches!(log.head().await, Err(Error::Unreachable(_))));
    let lost = tokio::time::timeout(Duration::from_secs(10), listener.next()).await.unwrap();
    assert!(matches!(lost, Err(Error::Unreachable(_))), "{lost:?}");
    team.server.restart();
    assert!(matches!(log.append(1, &[entry("a", 2)]).await, Ok(Appended::Committed { .. })));
    assert_eq!(team.numbers().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_and_other_projects_do_not_wait_for_a_busy_head() {
    let Some(team) = Team::start().await else { return };
    let database = open(&team.server.url("alice"));
    let other = database.create_project("beta").await.unwrap().id;
    let (client, connection) =
        tokio_postgres::connect(&team.server.url("bob"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let lock = format!("BEGIN; UPDATE anchord.projects SET seq = 0 WHERE id = '{}'", team.project);
    client.batch_execute(&lock).await.unwrap();
    let log = database.log(team.project);
    let append = |number| {
        let log = log.clone();
        tokio::spawn(async move { log.append(0, &[entry("a", number)]).await })
    };
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    let mut waiting = vec![append(1)];
    assert!(crate::testing::poll(|| team.server.psql(waits) == "1"), "it waits for the head");
    let limit = Duration::from_secs(3);
    let others = async { database.log(other).append(0, &[entry("a", 1)]).await };
    let appended = tokio::time::timeout(limit, others).await.unwrap();
    assert!(matches!(appended, Ok(Appended::Committed { .. })), "{appended:?}");
    // Reads work even if appends use all of their connections.
    waiting.extend((2..=9).map(append));
    assert!(crate::testing::poll(|| team.server.psql(waits) == "8"), "they wait for the head");
    let head = tokio::time::timeout(limit, log.head()).await.unwrap();
    assert_eq!(head.unwrap().seq, 0);
    client.batch_execute("ROLLBACK").await.unwrap();
    let mut committed = 0;
    for waiting in waiting {
        committed += u32::from(matches!(waiting.await.unwrap(), Ok(Appended::Committed { .. })));
    }
    assert_eq!(committed, 1);
}

#[tokio::test]
async fn one_dead_connection_discredits_the_others() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let timeouts = Timeouts { query: Duration::from_millis(500), ..short() };
    let log = open_within(&proxy.url("alice"), timeouts).log(team.project);
    // Several connections, whose other end then vanishes without a word.
    let batch = [entry("a", 1)];
    let append = log.append(0, &batch);
    let (one, two, three, appended) = tokio::join!(log.head(), log.head(), log.head(), append);
    assert!(one.is_ok() && two.is_ok() && three.is_ok() && appended.is_ok());
    proxy.strand();
    assert!(matches!(log.head().await, Err(Error::Slow)));
    for _ in 0..3 {
        assert_eq!(log.head().await.unwrap().seq, 1);
    }
    assert!(matches!(log.append(1, &[entry("a", 2)]).await, Ok(Appended::Committed { .. })));
}

/// A password manager may take longer than an append. The connection is there for the next one.
#[tokio::test]
async fn a_slow_password_command_does_not_end_appends_for_good() {
    let Some(team) = Team::start().await else { return };
    let address = Address::parse(&team.server.url("alice")).unwrap();
    let secret = Secret::Command("sleep 1.2; echo none".to_owned());
    let database = Database::open_with(address, secret, short()).unwrap();
    let log = database.log(team.project);
    let late = log.append(0, &[entry("a", 1)]).await;
    assert!(matches!(late, Err(AppendError::NotWritten(Error::Slow))), "{late:?}");
    // Each attempt ends before a command that began with it.
    let mut left = 5;
    while let Err(error) = log.append(0, &[entry("a", 1)]).await {
        left -= 1;
        assert!(left > 0, "{error}");
    }
}

#[tokio::test]
async fn a_listener_notices_a_stalled_connection() {
    let Some(team) = Team::start().await else { return };
    let proxy = Proxy::start(team.server.port());
    let timeouts = Timeouts { query: Duration::from_millis(500), ..Timeouts::default() };
    let mut listener = open_within(&proxy.url("alice"), timeouts).listen().await.unwrap();
    proxy.stall();
    let lost = tokio::time::timeout(Duration::from_secs(10), listener.next()).await.unwrap();
    assert!(matches!(lost, Err(Error::Slow)), "{lost:?}");
}

#[tokio::test]
async fn a_read_only_server_is_refused() {
    let Some(team) = Team::start().await else { return };
    let standby = team.server.start_standby("standby");
    let known = || standby.psql("SELECT count(*) FROM anchord.members") == "4";
    assert!(crate::testing::poll(known), "the standby follows");
    let database = open(&standby.url("alice"));
    let log = database.log(team.project);
    let refused = log.append(0, &[entry("a", 1)]).await;
    assert!(matches!(refused, Err(AppendError::NotWritten(Error::ReadOnlyServer))), "{refused:?}");
    assert!(matches!(log.head().await, Err(Error::ReadOnlyServer)));
    assert!(matches!(log.entries(0, 1, 1).await, Err(Error::ReadOnlyServer)));
    assert!(matches!(database.projects().await, Err(Error::ReadOnlyServer)));
    assert!(matches!(database.listen().await.map(|_| ()), Err(Error::ReadOnlyServer)));
    assert!(!database.check().await.unwrap().writable);
    // An address with both finds the primary.
    let both = format!(
        "postgres://alice@127.0.0.1:{},127.0.0.1:{}/postgres",
        standby.port(),
        team.server.port()
    );
    let both = open(&both);
    assert!(both.check().await.unwrap().writable);
    let log = both.log(team.project);
    assert!(matches!(log.append(0, &[entry("a", 1)]).await, Ok(Appended::Committed { .. })));
    // A primary that is set to be read-only.
    team.server.psql("ALTER ROLE bob SET default_transaction_read_only = on");
    let refused = team.log("bob").append(1, &[entry("b", 1)]).await;
    assert!(matches!(refused, Err(AppendError::NotWritten(Error::ReadOnlyServer))), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_is_not_reached_leaves_the_outcome_unknown() {
    let Some(team) = Team::start().await else { return };
    let log = open_within(&team.server.url("alice"), short()).log(team.project);
    let patient = team.log("alice");
    log.append(0, &[entry("a", 1)]).await.unwrap();
    // The role asks for less than the project needs.
    team.server.psql("ALTER ROLE alice SET synchronous_commit = off");
    team.server.set("synchronous_standby_names", "absent");
    let log = open_within(&team.server.url("alice"), short()).log(team.project);
    drop(patient);
    // Its COMMIT waits for the standby.
    let waiting = log.append(1, &[entry("a", 2)]).await;
    assert!(matches!(waiting, Err(AppendError::Unknown(Error::Slow))), "{waiting:?}");
    // A wait that somebody else cancels is answered with a warning. The repeat waits as well.
    let patient = team.log("alice");
    let repeat = tokio::spawn(async move { patient.append(1, &[entry("a", 2)]).await });
    let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity \
        WHERE wait_event = 'SyncRep'";
    // The first cancel ends the old transaction, the second the repeat's wait.
    for _ in 0..2 {
        assert!(crate::testing::poll(|| team.server.psql(cancel) != "0"), "a COMMIT waits");
    }
    let repeated = repeat.await.unwrap();
    assert!(
        matches!(&repeated, Err(AppendError::Unknown(Error::Database(warning)))
            if warning.contains("synchronous replication")),
        "{repeated:?}"
    );
    team.server.set("synchronous_standby_names", "");
    let repeated = log.append(1, &[entry("a", 2)]).await.unwrap();
    assert!(matches!(repeated, Appended::Repeated(_)), "{repeated:?}");
    assert_eq!(team.numbers().await.len(), 2);
}

#[tokio::test]
async fn serialization_failures_are_repeated_with_the_same_key() {
    let Some(team) = Team::start().await else { return };
    // Fails the first two inserts as an engine with a higher level of isolation would.
    team.server.psql(
        "CREATE SEQUENCE attempts; GRANT USAGE ON attempts TO anchord_member; \
         CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF nextval('attempts') <= 2 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; \
             END IF; RETURN NEW; END $$; \
         CREATE TRIGGER fail BEFORE INSERT ON anchord.entries \
             FOR EACH ROW EXECUTE FUNCTION fail()",
    );
    let log = team.log("alice");
    assert!(matches!(log.append(0, &[entry("a", 1)]).await, Ok(Appended::Committed { .. })));
    assert_eq!(team.server.psql("SELECT last_value FROM attempts"), "3");
    // One that never ends is given up.
    team.server.psql("ALTER SEQUENCE attempts MINVALUE -1000 RESTART -1000");
    let given_up = log.append(1, &[entry("a", 2)]).await;
    assert!(matches!(given_up, Err(AppendError::NotWritten(_))), "{given_up:?}");
    assert_eq!(team.numbers().await.len(), 1);
}

#[tokio::test]
async fn a_transaction_sets_what_it_depends_on_and_no_more() {
    let Some(team) = Team::start().await else { return };
    let names = [
        "synchronous_commit",
        "transaction_isolation",
        "statement_timeout",
        "lock_timeout",
        "idle_in_transaction_session_timeout",
    ];
    let settings = names.map(|name| format!("current_setting('{name}')")).join(", ");
    team.server.psql(&format!(
        "CREATE TABLE seen (settings text); GRANT INSERT ON seen TO anchord_member; \
         CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             INSERT INTO public.seen SELECT concat_ws(' ', {settings}); RETURN NEW; END $$; \
         CREATE TRIGGER look BEFORE INSERT ON anchord.entries \
             FOR EACH ROW EXECUTE FUNCTION look(); \
         ALTER ROLE alice SET synchronous_commit = local; \
         ALTER ROLE alice SET statement_timeout = '10min'; \
         ALTER ROLE alice SET default_transaction_isolation = serializable; \
         ALTER ROLE bob SET synchronous_commit = remote_apply"
    ));
    team.log("alice").append(0, &[entry("a", 1)]).await.unwrap();
    team.log("bob").append(1, &[entry("b", 1)]).await.unwrap();
    let seen = team.server.psql("SELECT * FROM seen");
    let limits = "read committed 0 5s 10s";
    assert_eq!(seen, format!("on {limits}\nremote_apply {limits}"));
}

#[tokio::test]
async fn a_refused_commit_is_not_written() {
    let Some(team) = Team::start().await else { return };
    team.server.psql(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             RAISE EXCEPTION 'no'; END $$; \
         CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON anchord.entries \
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()",
    );
    let refused = team.log("alice").append(0, &[entry("a", 1)]).await;
    assert!(matches!(refused, Err(AppendError::NotWritten(Error::Database(_)))), "{refused:?}");
    assert_eq!(team.numbers().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_survive_restarts_of_the_server() {
    let Some(server) = Server::start_with(&[]) else { return };
    let mut team = Team::on(server).await;
    let log = open_within(&team.server.url("alice"), short()).log(team.project);
    let acknowledged = tokio::spawn(async move {
        let mut head = 0;
        // Refusals come fast, and a server on a busy machine starts slowly.
        let mut pause = interval(Duration::from_millis(20));
        pause.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for number in 1..=60 {
            let appending = async {
                loop {
                    match log.append(head, &[entry("a", number)]).await {
                        Ok(Appended::Committed { .. }) => break head + 1,
                        Ok(Appended::Repeated(found)) => break found[0].seq,
                        Ok(Appended::HeadMoved { head: newer }) => head = newer,
                        Err(_) => drop(pause.tick().await),
                    }
                }
            };
            let appended = tokio::time::timeout(Duration::from_mins(1), appending).await;
            head = appended.expect("the server comes back");
        }
    });
    for reached in [10, 25, 40] {
        let head = "SELECT seq FROM anchord.projects";
        let far = || team.server.psql(head).parse::<u64>().unwrap() >= reached;
        assert!(crate::testing::poll(far), "the journal grows");
        team.server.restart();
    }
    acknowledged.await.unwrap();
    let expected: Vec<_> = (1..=60).map(|number| ("a".to_owned(), number)).collect();
    assert_eq!(team.numbers().await, expected);
}
