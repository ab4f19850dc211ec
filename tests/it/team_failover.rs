//! The primary of a synchronous standby dies while agents of several machines write, and the
//! standby takes its place.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anchord_team::testing::{Server, poll as poll_server};
use anchord_tests::{PATIENCE, poll, skip};

use crate::team::Machine;
use crate::team_torture::{Tags, write};

const MACHINES: usize = 3;
const AGENTS: usize = 2;

/// Writes of each agent that begins before the primary dies.
const WRITES: usize = 30;

/// Writes of each agent that begins when the standby is promoted.
const LATER_WRITES: usize = 5;

#[test]
fn no_acknowledged_write_is_lost_when_a_standby_is_promoted() {
    let Some(mut primary) = Server::start() else { return skip("PostgreSQL is not installed") };
    primary.psql("CREATE ROLE ada LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO ada;");
    let standby = primary.start_standby("second");
    primary.set("synchronous_standby_names", "second");
    assert!(poll_server(|| primary.has_standby("second")), "the standby follows");
    // The standby is first, so that it has to be passed over.
    let url = format!(
        "postgres://ada@127.0.0.1:{},127.0.0.1:{}/postgres?sslmode=disable",
        standby.port(),
        primary.port()
    );
    let machines: Vec<Machine> = (0..MACHINES).map(|_| Machine::new()).collect();
    for (at, machine) in machines.iter().enumerate() {
        match at {
            0 => machine.create(&url),
            _ => machine.join(&url),
        };
    }
    let (tags, done) = (Mutex::new(Tags::default()), AtomicUsize::new(0));
    let acknowledged = || tags.lock().unwrap().acknowledged();
    let (mut before, mut after) = (0, 0);
    std::thread::scope(|scope| {
        let all_write = |wave: &str, writes| {
            for (at, machine) in machines.iter().enumerate() {
                for agent in 0..AGENTS {
                    let (tags, done, name) = (&tags, &done, format!("m{at}a{agent}{wave}"));
                    scope.spawn(move || write(machine, &name, writes, None, tags, done));
                }
            }
        };
        all_write("x", WRITES);
        poll(PATIENCE, "a third of the writes", || {
            (done.load(Ordering::SeqCst) * 3 >= MACHINES * AGENTS * WRITES).then_some(())
        });
        before = acknowledged();
        primary.kill();
        standby.promote();
        after = acknowledged();
        // The others may have written all that they have.
        all_write("y", LATER_WRITES);
    });
    let all = acknowledged();
    println!(
        "acknowledged: {before} before the end of the primary, {after} before the standby, {all}"
    );
    assert!(before > 0 && all > after, "{before}, {after} and {all} writes are acknowledged");
    assert!(standby.psql("SELECT pg_is_in_recovery()") == "f");
    tags.into_inner().unwrap().check(&machines, &standby);
}
