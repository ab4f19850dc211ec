//! Lessons made from fixed failures, and fixes that leave no lesson.

use std::sync::Arc;

use insta::assert_snapshot;

use super::put_fixes;
use crate::draft::Draft;
use crate::import::{PastSession, plan_import_sessions};
use crate::lifecycle::{CommandRun, Event, ToolRun};
use crate::limits::{CAPTURED_FIXES_MAX, CAPTURED_LESSONS_MAX};
use crate::testing::{anchor, anchors, apply, day, lesson, lessons, origin, save};
use crate::{
    Body, Change, Kind, Lesson, Memory, NoticeCause, Plan, Reader, Record, Rewrite,
    SessionActivity, SessionId, Timestamp, plan_capture, plan_forget, plan_keep, plan_rewrite,
};

const HEADS: &str = "FAILED: Multiple head revisions are present for given argument 'head'";

fn prompt(text: &str) -> Event {
    Event::PromptSubmitted { prompt: text.to_owned() }
}

fn edit(file: &str) -> Event {
    let edited = vec![format!("/src/app/{file}")];
    Event::ToolRan(ToolRun { tool: "Edit".to_owned(), edited, ..ToolRun::default() })
}

fn run(command: &str, passed: bool, output: &str) -> Event {
    let command = Some(CommandRun::judge(command.to_owned(), Some(passed), output));
    Event::ToolRan(ToolRun { tool: "Bash".to_owned(), command, ..ToolRun::default() })
}

fn passed(command: &str) -> Event {
    run(command, true, "")
}

fn failed(command: &str, output: &str) -> Event {
    run(command, false, &format!("Exit code 1\n{output}"))
}

fn captured_on(on: i64, events: &[Event]) -> SessionActivity {
    let mut captured = SessionActivity::of("claude-code:5f1c");
    captured.saw(&prompt("make it work"), day(on));
    for (event, at) in events.iter().zip(1..) {
        captured.saw(event, Timestamp(day(on).0 + at));
    }
    captured.relative_to("/src/app")
}

/// Runs a session with these events that ends without a save.
fn session(memory: &mut Memory, name: &str, on: i64, events: &[Event]) {
    let captured = captured_on(on, events);
    if let Some(plan) = plan_capture(memory, &origin(name, on), captured) {
        apply(memory, plan);
    }
    keep(memory, name, on + 1);
}

fn keep(memory: &mut Memory, name: &str, on: i64) {
    let by = origin("anchord", on);
    if let Some(plan) = plan_keep(memory, &SessionId::new(name), &by, NoticeCause::Ended, false) {
        apply(memory, plan);
    }
}

fn kept(memory: &Memory) -> Vec<&Arc<Record>> {
    memory.active_of(Kind::Lesson).filter(|record| record.is_captured()).collect()
}

fn said(memory: &Memory) -> Vec<String> {
    let summary = |record: &Arc<Record>| match &record.body {
        Body::Lesson(lesson) => lesson.summary.clone(),
        _ => String::new(),
    };
    kept(memory).into_iter().map(summary).collect()
}

fn after(events: &[Event]) -> Vec<String> {
    let mut memory = Memory::default();
    session(&mut memory, "one", 1, events);
    said(&memory)
}

#[test]
fn commands_run_before_the_pass_are_the_remedy() {
    let events = [
        failed("cd /src/app && alembic upgrade head 2>&1", HEADS),
        passed("alembic heads"),
        passed("alembic merge heads"),
        passed("git status"),
        passed("alembic upgrade head"),
    ];
    assert_snapshot!(after(&events).join("\n"), @r"`alembic upgrade head` failed with `Multiple head revisions are present for given argument 'head'`: run `alembic merge heads`");
}

#[test]
fn a_fix_names_the_files_edited_before_the_command_passed() {
    let events = [
        failed("make migrate", "psql:seed.sql:12: ERROR:  relation \"orders\" does not exist"),
        edit("migrations/env.py"),
        edit("migrations/0002_orders.py"),
        passed("make migrate"),
    ];
    assert_snapshot!(after(&events).join("\n"), @r#"`make migrate` failed with `psql:seed.sql:12: ERROR: relation "orders" does not exist`: passed after editing migrations/env.py, migrations/0002_orders.py"#);
    let red = "FAILED tests/test_api.py::test_login - assert 401 == 200";
    let events = [failed("pytest -q", red), edit("app/auth.py"), passed("pytest -q")];
    assert_snapshot!(after(&events).join("\n"), @r"`pytest -q` failed with `FAILED tests/test_api.py::test_login - assert 401 == 200`: passed after editing app/auth.py");
}

#[test]
fn a_step_that_prepares_something_is_the_remedy_if_nothing_was_edited() {
    let rejected = "To github.com:acme/shop.git\n ! [rejected]        main -> main (fetch first)\n\
                    error: failed to push some refs to 'github.com:acme/shop.git'";
    let push = |between: Vec<Event>| {
        let steps = [failed("git push", rejected)].into_iter().chain(between);
        after(&steps.chain([passed("git push")]).collect::<Vec<_>>()).join("\n")
    };
    let pulled = push(vec![passed("git stash"), passed("git pull --rebase")]);
    assert_snapshot!(pulled, @"`git push` failed with `! [rejected] main -> main (fetch first)`: run `git pull --rebase`");
    assert_eq!(push(vec![passed("git commit -m wip")]), "", "recording work prepares nothing");
    let edited = push(vec![edit("a.py"), passed("git pull --rebase")]);
    assert!(edited.ends_with("passed after editing a.py"), "{edited}");
    let refused = "psycopg.OperationalError: connection to server at 127.0.0.1 failed";
    let events =
        [failed("pytest -q", refused), passed("docker compose up -d"), passed("pytest -q")];
    assert!(after(&events)[0].ends_with("run `docker compose up -d`"));
    let events = [failed("pytest -q", refused), passed("git pull"), passed("pytest -q")];
    assert_eq!(after(&events), [""; 0], "git is routine for other programs");
}

#[test]
fn commands_that_passed_as_one_line_count_each() {
    let missing = "ModuleNotFoundError: No module named 'freezegun'";
    let traceback =
        format!("Traceback (most recent call last):\n  File \"a.py\", line 1\n{missing}");
    let events = [failed("pytest -q", &traceback), passed("pip install freezegun && pytest -q")];
    assert_snapshot!(after(&events).join("\n"), @r"`pytest -q` failed with `ModuleNotFoundError: No module named 'freezegun'`: run `pip install freezegun`");
}

#[test]
fn a_fix_that_explains_nothing_is_not_kept() {
    let red = "FAILED tests/test_api.py::test_login - assert 401 == 200";
    let lock = "error: the lock is held by another process";
    let compiler = "error[E0425]: cannot find value `cfg` in this scope\n  --> src/main.rs:14:9";
    let many = |n: usize| (0..n).map(|at| edit(&format!("src/{at}.rs")));
    let mut feature = vec![failed("pytest -q", red)];
    feature.extend(many(6));
    feature.push(passed("pytest -q"));
    let mut long_ago = vec![failed("make migrate", lock), edit("a.py")];
    long_ago.extend((0..30).map(|at| passed(&format!("make {at}"))));
    long_ago.push(passed("make migrate"));
    for (why, events) in [
        ("it was flaky", vec![failed("pytest -q", red), passed("pytest -q")]),
        ("others passed", vec![failed("pytest -q", red), passed("make lint"), passed("pytest -q")]),
        (
            "git is routine",
            vec![
                failed("pytest -q", "error: branch login has no upstream branch"),
                passed("git push -u origin login"),
                passed("pytest -q"),
            ],
        ),
        ("it fails still", vec![failed("pytest -q", red), edit("a.py"), failed("pytest -q", red)]),
        ("no line says why", vec![failed("make all", ""), edit("a.py"), passed("make all")]),
        (
            "the compiler says it",
            vec![failed("cargo build", compiler), edit("src/main.rs"), passed("cargo build")],
        ),
        ("much was done", feature),
        ("much was run", long_ago),
        ("it only looks", vec![failed("grep -c x a", lock), edit("a.py"), passed("grep -c x a")]),
        (
            "the status is another's",
            vec![failed("make migrate", lock), edit("a.py"), passed("make migrate | tail -1")],
        ),
        (
            "it is beside the project",
            vec![
                failed("make migrate", lock),
                Event::ToolRan(ToolRun {
                    edited: vec!["/etc/hosts".to_owned()],
                    ..ToolRun::default()
                }),
                passed("make migrate"),
            ],
        ),
    ] {
        assert_eq!(after(&events), [""; 0], "{why}");
        let beside = why == "it is beside the project";
        assert_eq!(captured_on(1, &events).fixes().len(), usize::from(beside), "{why}");
    }
}

#[test]
fn a_fix_lists_only_steps_after_the_last_failure() {
    let lock = |n| format!("error: the lock {n} is held by another process");
    let events = [
        failed("make migrate", &lock(1)),
        edit("a.py"),
        failed("make migrate", &lock(2)),
        edit("b.py"),
        passed("make migrate"),
    ];
    let told = after(&events);
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("passed after editing b.py"), "{told:?}");
}

fn fixed_lock(on: i64, file: &str) -> [Event; 3] {
    let lock = format!("error: the lock 0x{on:08x} is held by process {on}");
    [failed("make migrate", &lock), edit(file), passed("make migrate")]
}

#[test]
fn a_repeated_failure_is_one_lesson_with_the_latest_fix() {
    let mut memory = Memory::default();
    session(&mut memory, "one", 1, &fixed_lock(1, "a.py"));
    session(&mut memory, "two", 3, &fixed_lock(3, "b.py"));
    let records = kept(&memory);
    assert_eq!(records.len(), 1);
    let Body::Lesson(lesson) = &records[0].body else { panic!("a lesson") };
    assert_eq!(lesson.files, ["b.py"]);
    assert_eq!(lesson.captured.as_ref().unwrap().times, 2);
    assert_snapshot!(crate::render::title(records[0], day(9)), @r"l1 (captured, 2 times, last 2026-11-03) `make migrate` failed with `the lock 0x00000003 is held by process 3`: passed after editing b.py");
    // It ends again with no new activity.
    let before = memory.clone();
    keep(&mut memory, "two", 6);
    assert_eq!(memory.records().count(), before.records().count());
    assert_eq!(kept(&memory)[0].version, kept(&before)[0].version);
}

fn merged_heads(on: i64, remedy: &str, file: &str) -> [Event; 4] {
    let heads = format!("{HEADS} of process {on}");
    let command = "alembic upgrade head";
    [failed(command, &heads), passed(remedy), edit(file), passed(command)]
}

/// Edits the only lesson made by rule, fixes its failure again, and returns it before and after.
fn edited_then_fixed(first: &[Event], edit: Rewrite, again: &[Event]) -> (Lesson, Lesson) {
    let mut memory = Memory::default();
    session(&mut memory, "one", 1, first);
    let id = kept(&memory)[0].id;
    let by = origin("shell", 4);
    let plan = plan_rewrite(&memory, &Reader::owner(), id, &edit, None, &by).unwrap();
    apply(&mut memory, plan);
    let lesson = |memory: &Memory| match &memory.record(id).unwrap().body {
        Body::Lesson(lesson) => lesson.clone(),
        body => panic!("{body:?}"),
    };
    let before = lesson(&memory);
    for (name, on) in [("two", 5), ("three", 7)] {
        session(&mut memory, name, on, again);
    }
    assert_eq!(memory.records_of(Kind::Lesson).count(), 1, "no second lesson about it");
    (before, lesson(&memory))
}

fn fixed(lesson: &Lesson) -> (u32, Timestamp) {
    lesson.captured.as_ref().map(|fixed| (fixed.times, fixed.last)).unwrap()
}

#[test]
fn a_lesson_edited_by_a_person_keeps_its_text_and_counts_repeats() {
    let summary = || Rewrite { summary: Some("kill it first".to_owned()), ..Rewrite::default() };
    let detail = || Rewrite { detail: Some("see the manual".to_owned()), ..Rewrite::default() };
    let files = |files: &[&str]| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        Rewrite { files: Some(files), ..Rewrite::default() }
    };
    let by_files = |edit| edited_then_fixed(&fixed_lock(1, "a.py"), edit, &fixed_lock(3, "b.py"));
    let by_remedy = |edit| {
        let [first, again] = ["merge heads", "merge heads -m x"].map(|remedy| {
            merged_heads(1, &format!("alembic {remedy}"), &format!("{}.py", remedy.len()))
        });
        edited_then_fixed(&first, edit, &again)
    };
    for edit in [summary(), detail(), files(&["c.py"]), files(&[])] {
        for (before, after) in [by_files(edit.clone()), by_remedy(edit.clone())] {
            let texts = |it: &Lesson| (it.summary.clone(), it.detail.clone(), it.files.clone());
            assert_eq!(texts(&after), texts(&before), "{edit:?}");
            assert_eq!((fixed(&before).0, fixed(&after).0), (1, 3), "{edit:?}");
            assert!(fixed(&after).1 > fixed(&before).1, "{edit:?}");
        }
    }
    // Tags are not advice.
    let tags = Rewrite { tags: Some(vec!["db".to_owned()]), ..Rewrite::default() };
    for (before, after) in [by_files(tags.clone()), by_remedy(tags)] {
        assert_ne!(after.summary, before.summary);
        assert_eq!(fixed(&after).0, 3);
    }
}

#[test]
fn a_session_that_saved_still_leaves_its_fixes() {
    let mut memory = Memory::default();
    let plan = plan_capture(&memory, &origin("one", 1), captured_on(1, &fixed_lock(1, "a.py")));
    apply(&mut memory, plan.unwrap());
    let outcome = save(&mut memory, &origin("one", 2), anchors([anchor("a.rs", "1", "x")]));
    assert_eq!(said(&memory).len(), 1);
    let text = crate::render::save(&outcome);
    assert!(text.contains(": 1 anchor (+1), 1 lesson (+1), 1 session;"), "{text}");
    let Some(Body::SessionRow(row)) = memory.record(outcome.row).map(|row| row.body.clone()) else {
        panic!("a row")
    };
    assert_eq!((row.lessons_added, row.captured), (0, None), "nobody wrote it");
    // Activity after the save is kept when the session ends.
    let later = captured_on(3, &[failed("make all", HEADS), edit("b.py"), passed("make all")]);
    let plan = plan_capture(&memory, &origin("one", 3), later).unwrap();
    apply(&mut memory, plan);
    keep(&mut memory, "one", 4);
    assert_eq!(said(&memory).len(), 2);
}

#[test]
fn a_failure_may_be_fixed_in_a_later_batch() {
    let events = fixed_lock(1, "a.py");
    for cut in 0..=events.len() {
        let mut memory = Memory::default();
        let (one, other) = events.split_at(cut);
        for part in [one, other] {
            let plan = plan_capture(&memory, &origin("one", 1), captured_on(1, part));
            apply(&mut memory, plan.unwrap());
        }
        keep(&mut memory, "one", 2);
        assert_eq!(said(&memory).len(), 1, "{cut}");
    }
}

#[test]
fn captured_fixes_are_limited_per_session_and_per_project() {
    let mut memory = Memory::default();
    let mut events = Vec::new();
    for at in 0..9 {
        let target = char::from(b'a' + at);
        events.push(failed(&format!("make {target}"), "error: the lock is held by someone"));
        events.push(edit("a.py"));
        events.push(passed(&format!("make {target}")));
    }
    session(&mut memory, "one", 1, &events);
    assert_eq!(said(&memory).len(), CAPTURED_FIXES_MAX);
    assert!(said(&memory).last().unwrap().starts_with("`make i`"));

    save(&mut memory, &origin("agent", 1), lessons([lesson("Locks are short", "")]));
    for on in 0..70 {
        let command = format!("make task-{}", "abcdefghij".repeat(7).split_at(on).0);
        let events = [failed(&command, HEADS), edit("a.py"), passed(&command)];
        session(&mut memory, &format!("s{on}"), 3 + i64::try_from(on).unwrap(), &events);
    }
    assert_eq!(kept(&memory).len(), CAPTURED_LESSONS_MAX);
    assert!(!said(&memory).iter().any(|said| said.contains("`make i`")), "the oldest went");
    assert_eq!(memory.active_of(Kind::Lesson).count(), CAPTURED_LESSONS_MAX + 1);
}

#[test]
fn a_forgotten_or_purged_fix_does_not_come_back() {
    let mut memory = Memory::default();
    session(&mut memory, "one", 1, &fixed_lock(1, "a.py"));
    let id = kept(&memory)[0].id;
    let plan = plan_forget(&memory, &Reader::anyone(), id, None, &origin("two", 2)).unwrap();
    apply(&mut memory, plan);
    session(&mut memory, "three", 3, &fixed_lock(3, "a.py"));
    assert_eq!(said(&memory), [""; 0]);

    let mut memory = Memory::default();
    let digest = {
        use sha2::{Digest, Sha256};
        base16ct::lower::encode_string(&Sha256::digest(format!("salt\0{HEADS}")))
    };
    let change =
        Change::Tombstones { salt: "salt".to_owned(), digests: vec![digest], time: day(1) };
    memory.apply(crate::Seq(1), &[change]);
    session(&mut memory, "one", 1, &[failed("make all", HEADS), edit("a.py"), passed("make all")]);
    assert_eq!(said(&memory), [""; 0]);
}

#[test]
fn captured_fixes_contain_no_secret() {
    let key = "ghp_0123456789abcdefABCDEF0123456789abcd";
    let events = [
        failed(&format!("deploy --token {key}"), &format!("error: token {key} is not valid here")),
        passed(&format!("login --token {key}")),
        edit("a.py"),
        passed(&format!("deploy --token {key}")),
    ];
    let mut memory = Memory::default();
    session(&mut memory, "one", 1, &events);
    let json = serde_json::to_string(&memory.records().collect::<Vec<_>>()).unwrap();
    assert_eq!(said(&memory).len(), 1);
    assert!(!json.contains(key), "{json}");
}

#[test]
fn a_transcript_leaves_its_fixes_once() {
    let mut memory = Memory::default();
    let past = |events: &[Event]| PastSession {
        client: "claude-code".to_owned(),
        captured: captured_on(1, events),
    };
    let mut events = fixed_lock(1, "a.py").to_vec();
    let plan = plan_import_sessions(&memory, &[past(&events)], day(5));
    apply(&mut memory, plan);
    assert_eq!(said(&memory).len(), 1);
    // The transcript grew and is imported again.
    events.push(passed("make docs"));
    let plan = plan_import_sessions(&memory, &[past(&events)], day(6));
    apply(&mut memory, plan);
    let records = kept(&memory);
    let Body::Lesson(lesson) = &records[0].body else { panic!("a lesson") };
    assert_eq!((records.len(), lesson.captured.as_ref().unwrap().times), (1, 1));
}

/// The clock of the machine that wrote the transcript may be ahead.
#[test]
fn a_fix_from_the_future_is_counted_once() {
    let mut memory = Memory::default();
    let captured = captured_on(9, &fixed_lock(1, "a.py"));
    for on in [5, 5, 6] {
        let mut draft = Draft::new(&memory);
        put_fixes(&mut draft, &captured, &origin("one", on));
        let changes = draft.finish().changes;
        apply(&mut memory, Plan { changes, outcome: () });
        let records = kept(&memory);
        let Body::Lesson(lesson) = &records[0].body else { panic!("a lesson") };
        assert_eq!((records.len(), fixed(lesson)), (1, (1, day(5))));
    }
}

#[test]
fn a_captured_fix_keeps_the_disk_format_of_lessons_compatible() {
    let mut memory = Memory::default();
    session(&mut memory, "one", 1, &fixed_lock(1, "a.py"));
    let Body::Lesson(lesson) = &kept(&memory)[0].body else { panic!("a lesson") };
    assert_snapshot!(serde_json::to_string(lesson).unwrap(), @r#"{"summary":"`make migrate` failed with `the lock 0x00000001 is held by process 1`: passed after editing a.py","files":["a.py"],"captured":{"command":"make migrate","error":"error: the lock 0x00000001 is held by process 1","times":1,"last":1793534400003}}"#);
    let trace = serde_json::to_value(captured_on(1, &fixed_lock(1, "a.py"))).unwrap();
    assert_snapshot!(trace["trace"].to_string(), @r#"{"fixes":[{"command":"make migrate","error":"error: the lock 0x00000001 is held by process 1","files":["a.py"],"time":1793534400003}],"head":[{"command":"make migrate","ended":{"failed":{"error":"error: the lock 0x00000001 is held by process 1"}},"time":1793534400001},{"command":"make migrate","edited":["a.py"],"time":1793534400003}]}"#);
    // Lessons written by earlier builds have neither.
    let before: Lesson = serde_json::from_str(r#"{"summary":"short locks"}"#).unwrap();
    assert_eq!(before, crate::testing::lesson("short locks", ""));
    assert_eq!(serde_json::to_string(&before).unwrap(), r#"{"summary":"short locks"}"#);
    let row = memory.active_of(Kind::SessionRow).next().unwrap();
    assert!(!serde_json::to_string(row).unwrap().contains("trace"));
}
