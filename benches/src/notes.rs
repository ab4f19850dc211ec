//! Notes that an agent stores and finds over its shim, while the number of kept notes grows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anchord_tests::{Agent, Instance, Project, process};
use serde_json::{Value, json};

use crate::floor;
use crate::logged::Logged;
use crate::table::Row;
use crate::times::{Times, show};

/// Notes in one call while a project is filled.
const BATCH: u64 = 100;
/// Words in one note.
const WORDS: u64 = 60;
/// Words of which notes are made. As in language, a few are in most notes and most are in few.
const VOCABULARY: u64 = 20_000;
const WRITES: usize = 300;
const SEARCHES: usize = 1_000;
/// The approximate size of such a note's line in the journal.
const LINE_BYTES: usize = 1_500;

pub(crate) fn run() -> Vec<Row> {
    // The limit is 100,000. This leaves room for the measured writes.
    [1_000, 10_000, 99_000].into_iter().flat_map(with).collect()
}

fn with(notes: u64) -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    let mut agent = Agent::with_all_tools(&instance, project.path());
    agent.tool("memory_configure", &json!({ "budget_tokens": 100_000_000 }));
    for first in (0..notes).step_by(usize::try_from(BATCH).expect("small")) {
        let items: Vec<Value> =
            (first..first + BATCH).map(|n| json!({ "content": text(n) })).collect();
        agent.tool("memory_note", &json!({ "items": items }));
    }
    let wrote = write(&mut agent, notes + 1_000_000);
    let floor = floor::append_and_sync(WRITES, LINE_BYTES);
    let idle = Times::of(SEARCHES, |_| {
        agent.tool("memory_status", &json!({}));
    });
    let searched = search(&mut agent);
    let (busy, busy_floor) = write_while_searching(&instance, &project, notes + 2_000_000);
    let bytes = || instance.daemon_pid().and_then(process::private_bytes).unwrap_or_default();
    let filled = bytes();
    let daemon = instance.daemon_pid().expect("it runs");
    drop(agent);
    let stopped = instance.anchord().arg("stop").status().expect("the program runs");
    assert!(stopped.success(), "the daemon stops when it is asked to");
    instance.wait_gone(daemon);
    let logged = Logged::of(&instance);
    let start = Instant::now();
    let mut agent = Agent::with_all_tools(&instance, project.path());
    agent.tool("memory_search", &json!({ "query": query(7) }));
    let opened = start.elapsed();
    let reopened = bytes();
    let row = |what: &str, measured: String, floor: String, target: &'static str| Row {
        what: format!("{what}, {notes} notes kept"),
        measured,
        floor,
        target,
    };
    let inside = |tool: &str, session: usize, count: usize| {
        let (took, append) = logged.last(tool, session, count);
        (took.to_string(), append.to_string())
    };
    let (wrote_inside, wrote_append) = inside("memory_note", 0, WRITES);
    let (busy_inside, busy_append) = inside("memory_note", 1, WRITES);
    let (searched_inside, _) = inside("memory_search", 0, SEARCHES);
    let (searched_beside, _) = inside("memory_search", 1, usize::MAX);
    let aim = match notes {
        10_000 => "p99 ≤ 1 ms",
        99_000 => "p99 ≤ 5 ms",
        _ => "",
    };
    let megabytes = |bytes: u64| format!("{} MB", bytes / 1_000_000);
    let memory_target = match notes {
        10_000 => "≤ 50 MB",
        99_000 => "≤ 250 MB",
        _ => "",
    };
    vec![
        row("`memory_note`", wrote.to_string(), format!("{floor} (append + fdatasync)"), ""),
        row(
            "the same in the daemon",
            format!("{wrote_inside}; of that the journal {wrote_append}"),
            format!("{floor} (append + fdatasync)"),
            "",
        ),
        row("`memory_search`", searched.to_string(), format!("{idle} (`memory_status`)"), ""),
        row("the same in the daemon", searched_inside, String::new(), aim),
        row(
            "`memory_note` while another session searches",
            busy.to_string(),
            format!("{busy_floor} (append + fdatasync while it searches)"),
            "",
        ),
        row(
            "the same in the daemon",
            format!("{busy_inside}; of that the journal {busy_append}"),
            format!("{busy_floor} (append + fdatasync while it searches)"),
            if notes == 99_000 { "p99 ≤ 5 ms" } else { "" },
        ),
        row(
            "`memory_search` while another session notes, in the daemon",
            searched_beside,
            String::new(),
            aim,
        ),
        row(
            "start of the daemon to the first answer",
            show(opened),
            String::new(),
            if notes == 99_000 { "≤ 2 s" } else { "" },
        ),
        row("private memory of the daemon", megabytes(filled), String::new(), memory_target),
        row(
            "private memory of the daemon after reopening",
            megabytes(reopened),
            String::new(),
            memory_target,
        ),
    ]
}

fn write(agent: &mut Agent, first: u64) -> Times {
    Times::of(WRITES, |number| {
        agent.tool("memory_note", &json!({ "content": text(first + number as u64) }));
    })
}

fn search(agent: &mut Agent) -> Times {
    Times::of(SEARCHES, |number| {
        agent.tool("memory_search", &json!({ "query": query(number as u64) }));
    })
}

/// Measures how long a note takes, and the floor, while another session searches without a pause.
fn write_while_searching(instance: &Instance, project: &Project, first: u64) -> (Times, Times) {
    let mut writer = Agent::with_all_tools(instance, project.path());
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut searcher = Agent::with_all_tools(instance, project.path());
            for number in (0..).take_while(|_| !ended.load(Ordering::Relaxed)) {
                searcher.tool("memory_search", &json!({ "query": query(number) }));
            }
        });
        let times = write(&mut writer, first);
        let floor = floor::append_and_sync(WRITES, LINE_BYTES);
        ended.store(true, Ordering::Relaxed);
        (times, floor)
    })
}

/// Returns a note that is like no other, and the same in every run.
pub(crate) fn text(number: u64) -> String {
    let words: Vec<String> = (0..WORDS).map(|at| word(number * WORDS + at)).collect();
    words.join(" ")
}

/// Returns three words that some notes have.
pub(crate) fn query(number: u64) -> String {
    let words: Vec<String> = (0..3).map(|at| word(number * 7 + at)).collect();
    words.join(" ")
}

/// Returns a word distributed roughly by Zipf's law: the n-th most frequent word is about n times
/// rarer than the first.
pub(crate) fn word(seed: u64) -> String {
    // SplitMix64 (Steele, Lea, Flood, 2014) spreads a counter over all numbers.
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank below 20,000"
    )]
    let rank = (VOCABULARY as f64).powf((mixed >> 11) as f64 / (1_u64 << 53) as f64) as u64;
    format!("term{}", letters(rank))
}

/// Returns a number in letters, since digits would be words of their own.
fn letters(mut number: u64) -> String {
    let mut text = String::new();
    while number > 0 {
        text.push(char::from(b'a' + u8::try_from(number % 26).expect("below 26")));
        number /= 26;
    }
    text
}
