//! The time until another machine sees a save.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anchord_team::testing::Server;
use serde_json::json;

use super::Machine;
use crate::client::Client;
use crate::table::Row;
use crate::times::Times;

const SAVES: usize = 300;

/// The pause after a save was seen, so that nothing of it is under way.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn run(server: &Server, _records: u64) -> Vec<Row> {
    let machines = Machine::team(server, "seen", 2);
    let [one, other] = machines.as_slice() else { return Vec::new() };
    let mut writer = Client::open(&one.instance, &one.project, 0);
    let (report, seen) = mpsc::channel();
    let (asking, ask) = mpsc::channel::<usize>();
    let (mut since_call, mut since_answer) = (Vec::new(), Vec::new());
    let mut save = |number: usize| {
        let note = json!({ "key": "signal", "content": format!("number {number} is here") });
        writer.tool("memory_save", &json!({ "session_summary": "Worked.", "notes": [note] }));
    };
    save(0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut reader = Client::open(&other.instance, &other.project, 1);
            for number in ask {
                let wanted = format!("number {number} is here");
                let is_there = |answer: Result<String, String>| {
                    answer.is_ok_and(|text| text.contains(&wanted))
                };
                while !is_there(reader.call("memory_get", &json!({ "key": "signal" }))) {}
                report.send(Instant::now()).expect("the writer waits");
            }
        });
        for number in 1..=SAVES {
            asking.send(number).expect("the reader runs");
            std::thread::park_timeout(PAUSE);
            let called = Instant::now();
            save(number);
            let answered = Instant::now();
            let seen = seen.recv().expect("the reader runs");
            since_call.push(seen.duration_since(called));
            since_answer.push(seen.saturating_duration_since(answered));
        }
        drop(asking);
    });
    let times = |durations: &[Duration]| {
        Times::measured(durations.len(), |at| durations.get(at).copied().unwrap_or_default())
    };
    let (since_call, since_answer) = (times(&since_call), times(&since_answer));
    vec![Row {
        what: "until another machine sees a save, after its answer".to_owned(),
        measured: format!("{since_answer}; after its call {since_call}"),
        floor: String::new(),
        target: "≤ 200 ms",
    }]
}
