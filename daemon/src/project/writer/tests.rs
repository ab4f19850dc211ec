//! The order of a write over the store's strict fake, and the state that each fault leaves behind.

use std::pin::{Pin, pin};
use std::sync::mpsc;

use anchord_memory::{
    Change, CheckpointOutcome, Lesson, Memory, Provenance, Refusal, Revision, Save, Staged,
    Timestamp, plan_checkpoint, plan_save,
};
use futures::FutureExt;

use super::super::{Reply, Transition};
use super::*;
use crate::store::fakes::{self, MemJournal, failing as failing_at};
use crate::store::{Entry, Opened};

type Writing = Pin<Box<dyn Future<Output = Result<Written<Memory, String>, WriteError>>>>;

fn over(journal: &MemJournal<Memory>) -> WriterHandle<Memory> {
    let Opened { store, state, replies, .. } = journal.open();
    WriterHandle::start(Box::new(store), state, replies, None).unwrap()
}

/// Returns a writer whose `n`-th append or index catch-up fails.
fn failing(journal: &MemJournal<Memory>, fails_at: u64) -> WriterHandle<Memory> {
    let Opened { store, state, replies, .. } = journal.open();
    WriterHandle::start(Box::new(failing_at(store, fails_at)), state, replies, None).unwrap()
}

fn call(number: u64) -> Call {
    Call { instance: "shim".into(), number, acknowledged: 0 }
}

fn session(name: &str) -> SessionId {
    SessionId::new(name)
}

fn by(name: &str, time: Timestamp) -> Provenance {
    Provenance::new(SessionId::new(name), "agent".into(), time)
}

fn lesson(summary: &str) -> Staged {
    let lesson = Lesson { summary: summary.to_owned(), ..Lesson::default() };
    Staged { lessons: vec![lesson], ..Staged::default() }
}

/// Stages a lesson. The outcome has the number of lessons that the session has staged.
fn staging(name: &'static str, summary: &str) -> WriteCommand<Memory, String> {
    let part = lesson(summary);
    Arc::new(move |memory, now| {
        let plan = plan_checkpoint(memory, &by(name, now), part.clone())?;
        let outcome = format!("{name} has staged {}", plan.outcome.pending.lessons);
        Ok(Transition { changes: plan.changes, outcome })
    })
}

fn saving(name: &'static str, summary: &str) -> WriteCommand<Memory, String> {
    let part = lesson(summary);
    Arc::new(move |memory, now| {
        let save = Save { session_summary: "worked", part: part.clone(), ..Save::default() };
        let plan = plan_save(memory, &by(name, now), save)?;
        let outcome = format!("revision {}", plan.outcome.revision.0);
        Ok(Transition { changes: plan.changes, outcome })
    })
}

/// Queues a write and does not wait for it.
fn queue(
    owner: &WriterHandle<Memory>,
    name: &'static str,
    call: Option<Call>,
    decide: WriteCommand<Memory, String>,
) -> Writing {
    let owner = owner.clone();
    let mut writing: Writing =
        Box::pin(async move { owner.write(Some(session(name)), call, "checkpoint", decide).await });
    assert!(
        (&mut writing).now_or_never().is_none(),
        "the owner is held up, so nothing is answered"
    );
    writing
}

/// Holds the writer up until the sender is used or dropped, so that everything queued becomes one
/// batch.
async fn hold(owner: &WriterHandle<Memory>) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let (begun, begins) = oneshot::channel();
    let owner = owner.clone();
    tokio::spawn(async move {
        let question = move |_: &mut dyn Store<Memory>, _: &Memory| {
            begun.send(()).unwrap();
            let _ = held.recv();
        };
        owner.ask(question).await.unwrap();
    });
    begins.await.unwrap();
    release
}

async fn text(
    writing: impl Future<Output = Result<Written<Memory, String>, WriteError>>,
) -> String {
    match writing.await {
        Ok(written) => written.outcome,
        Err(error) => format!("{error:?}"),
    }
}

fn staged(memory: &Memory, name: &str) -> u32 {
    memory.staged_by(&SessionId::new(name)).map_or(0, |staged| staged.counts().lessons)
}

#[tokio::test]
async fn a_reply_follows_its_entry_and_a_snapshot_that_includes_it() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    for number in 1..=3 {
        let written = owner.write(
            Some(session("a")),
            Some(call(number)),
            "checkpoint",
            staging("a", &number.to_string()),
        );
        assert_eq!(text(written).await, format!("a has staged {number}"));
        assert_eq!(journal.entries().len() as u64, number);
        assert_eq!(owner.snapshot().seq(), Seq(number));
    }
    let entry = journal.entries().remove(2);
    assert_eq!(entry.reply, Some("a has staged 3".into()));
    assert_eq!(
        (entry.call, entry.session, entry.revision),
        (Some(call(3)), Some(session("a")), None)
    );
    let saved = owner.write(Some(session("a")), Some(call(4)), "save", saving("a", "4"));
    assert_eq!(text(saved).await, "revision 1");
    assert_eq!(journal.entries()[3].revision, Some(Revision(1)));
}

#[tokio::test]
async fn commands_of_a_batch_see_the_effects_of_earlier_ones() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let release = hold(&owner).await;
    let first = queue(&owner, "a", Some(call(1)), staging("a", "one"));
    let second = queue(&owner, "a", Some(call(2)), staging("a", "two"));
    let other = queue(&owner, "b", None, staging("b", "one"));
    assert_eq!(owner.snapshot().seq(), Seq(0));
    drop(release);
    assert_eq!(text(second).await, "a has staged 2");
    assert_eq!(text(first).await, "a has staged 1");
    assert_eq!(text(other).await, "b has staged 1");
}

#[tokio::test]
async fn a_batch_that_the_disk_refuses_has_no_effect() {
    let journal = MemJournal::default();
    let owner = failing(&journal, 1);
    let release = hold(&owner).await;
    let first = queue(&owner, "a", Some(call(1)), staging("a", "one"));
    let second = queue(&owner, "b", Some(call(2)), staging("b", "one"));
    let refused = queue(&owner, "c", None, Arc::new(|_, _| Err(Refusal::EmptyNote.into())));
    drop(release);
    for writing in [first, second, refused] {
        // The refusal fails too, since it may depend on what was not written.
        assert!(matches!(writing.await, Err(WriteError::NotSaved(_))));
    }
    assert_eq!((journal.entries().len(), owner.snapshot().seq()), (0, Seq(0)));

    let again = owner.write(Some(session("a")), Some(call(1)), "checkpoint", staging("a", "one"));
    assert_eq!(text(again).await, "a has staged 1");
    assert_eq!(staged(&owner.snapshot(), "a"), 1);
    assert_eq!(staged(&owner.snapshot(), "b"), 0);
}

#[tokio::test]
async fn a_failed_save_reports_the_stores_error_once() {
    let owner = failing(&MemJournal::default(), 1);
    let error =
        owner.write(Some(session("a")), None, "checkpoint", staging("a", "one")).await.unwrap_err();
    insta::assert_snapshot!(error, @"not saved, nothing of it was kept: cannot write twin: call 1 fails on purpose");
}

#[tokio::test]
async fn an_index_that_falls_behind_changes_no_answer() {
    let journal = MemJournal::default();
    // The second call is the advance_index after the first write.
    let owner = failing(&journal, 2);
    for (number, what) in [(1, "x"), (2, "y")] {
        let written =
            owner.write(Some(session("a")), Some(call(number)), "save", saving("a", what));
        assert_eq!(text(written).await, format!("revision {number}"));
        let behind = owner.ask(|store, _| store.unsettled_bytes()).await.unwrap();
        assert_eq!(behind, 0);
    }
    assert_eq!(journal.entries().len(), 2);
}

#[tokio::test]
async fn the_same_call_again_is_applied_once_and_answered_alike() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let write = |owner: &WriterHandle<Memory>, number| {
        let owner = owner.clone();
        async move {
            // Two saves with the same content within a millisecond would be one.
            let summary = ["", "one", "two"][usize::try_from(number).unwrap()];
            text(owner.write(Some(session("a")), Some(call(number)), "save", saving("a", summary)))
                .await
        }
    };
    assert_eq!(write(&owner, 1).await, "revision 1");
    assert_eq!(write(&owner, 2).await, "revision 2");
    assert_eq!(write(&owner, 1).await, "revision 1");
    owner.close().await;

    let owner = over(&journal);
    assert_eq!(write(&owner, 2).await, "revision 2", "also after the store was opened again");
    assert_eq!(journal.entries().len(), 2);
}

#[tokio::test]
async fn the_same_call_twice_in_one_batch_is_applied_once() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let release = hold(&owner).await;
    let first = queue(&owner, "a", Some(call(7)), saving("a", "one"));
    let again = queue(&owner, "a", Some(call(7)), saving("a", "one"));
    drop(release);
    assert_eq!(text(again).await, "revision 1");
    assert_eq!(text(first).await, "revision 1");
    assert_eq!(journal.entries().len(), 1);
}

#[tokio::test]
async fn two_shims_with_the_same_numbers_do_not_mix() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let other = Call { instance: "another".into(), number: 1, acknowledged: 0 };
    let first = owner.write(Some(session("a")), Some(call(1)), "save", saving("a", "one"));
    assert_eq!(text(first).await, "revision 1");
    let second = owner.write(Some(session("b")), Some(other), "save", saving("b", "two"));
    assert_eq!(text(second).await, "revision 2");
}

/// The journal keeps the outcome as data. A journal of an earlier format has the words.
#[tokio::test]
async fn a_call_answered_by_an_earlier_build_gets_the_same_text_again() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let first = owner.write(Some(session("a")), Some(call(1)), "checkpoint", staging("a", "one"));
    assert_eq!(text(first).await, "a has staged 1", "a text, as up to format 5");
    let again = || -> WriteCommand<Memory, Reply<CheckpointOutcome>> {
        Arc::new(|_, _| panic!("decided again"))
    };
    let counted = |outcome: &CheckpointOutcome| format!("{} lessons", outcome.pending.lessons);
    let written = owner.write(Some(session("a")), Some(call(1)), "checkpoint", again()).await;
    assert_eq!(written.unwrap().outcome.in_words(counted), "a has staged 1");

    let decide: WriteCommand<Memory, Reply<CheckpointOutcome>> = Arc::new(|memory, now| {
        let plan = plan_checkpoint(memory, &by("a", now), lesson("two")).unwrap();
        Ok(Transition { changes: plan.changes, outcome: Reply::Outcome(plan.outcome) })
    });
    let first = owner.write(Some(session("a")), Some(call(2)), "checkpoint", decide).await.unwrap();
    assert_eq!(first.outcome.in_words(counted), "2 lessons");
    owner.close().await;
    let owner = over(&journal);
    let written = owner.write(Some(session("a")), Some(call(2)), "checkpoint", again()).await;
    assert_eq!(written.unwrap().outcome.in_words(counted), "2 lessons");

    // A build that kept other data. The write was applied, so it must not be applied again.
    let other: WriteCommand<Memory, u32> = Arc::new(|_, _| panic!("decided again"));
    let read = owner.write(Some(session("a")), Some(call(2)), "checkpoint", other).await;
    assert!(matches!(read, Err(WriteError::Unreadable(_))), "{read:?}");
}

#[tokio::test]
async fn an_acknowledged_call_is_stale() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let first = owner.write(Some(session("a")), Some(call(1)), "checkpoint", staging("a", "one"));
    assert_eq!(text(first).await, "a has staged 1");
    let second = owner.write(
        Some(session("a")),
        Some(Call { acknowledged: 1, ..call(2) }),
        "checkpoint",
        staging("a", "two"),
    );
    assert_eq!(text(second).await, "a has staged 2");
    let again = owner.write(Some(session("a")), Some(call(1)), "checkpoint", staging("a", "one"));
    assert_eq!(text(again).await, "Stale");
    assert_eq!(journal.entries().len(), 2);
}

#[tokio::test]
async fn refusals_and_no_op_writes_write_nothing() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let refused =
        owner.write(Some(session("a")), Some(call(1)), "checkpoint", staging("a", "")).await;
    assert!(matches!(refused, Err(WriteError::Refused(it)) if it.to_string().contains("summary")));
    let nothing: WriteCommand<Memory, String> =
        Arc::new(|_, _| Ok(Transition { changes: Vec::new(), outcome: "as it was".to_owned() }));
    assert_eq!(
        text(owner.write(Some(session("a")), Some(call(2)), "forget", nothing)).await,
        "as it was"
    );
    assert!(journal.entries().is_empty());
    // The number is not used up: the same line again is decided again.
    let again = owner.write(Some(session("a")), Some(call(1)), "checkpoint", staging("a", "one"));
    assert_eq!(text(again).await, "a has staged 1");
}

#[tokio::test]
async fn a_panicking_command_is_an_internal_error_and_the_writer_continues() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let release = hold(&owner).await;
    let before = queue(&owner, "a", Some(call(1)), staging("a", "one"));
    let panics = queue(&owner, "a", Some(call(2)), Arc::new(|_, _| panic!("on purpose")));
    let after = queue(&owner, "a", Some(call(3)), staging("a", "two"));
    drop(release);
    assert_eq!(text(panics).await, "Internal");
    assert_eq!(text(before).await, "a has staged 1");
    assert_eq!(text(after).await, "a has staged 2");

    let asked = owner.ask(|_, _| -> u32 { panic!("on purpose") }).await;
    assert!(matches!(asked, Err(WriteError::Internal)));
    let next = owner.write(Some(session("a")), Some(call(4)), "checkpoint", staging("a", "three"));
    assert_eq!(text(next).await, "a has staged 3");
}

#[tokio::test]
async fn a_read_sees_earlier_writes_and_no_later_ones() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let release = hold(&owner).await;
    // The lanes take turns, so the question comes between the two writes of one session.
    let first = queue(&owner, "a", None, staging("a", "one"));
    let mut asked = pin!(owner.ask(|store, memory| (store.sizes().entries, memory.seq())));
    assert!((&mut asked).now_or_never().is_none());
    let second = queue(&owner, "a", None, staging("a", "two"));
    drop(release);
    assert_eq!(asked.await.unwrap(), (1, Seq(1)));
    assert_eq!(
        (text(first).await, text(second).await),
        ("a has staged 1".into(), "a has staged 2".into())
    );
}

#[tokio::test]
async fn closing_serves_queued_writes_and_accepts_no_more() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let release = hold(&owner).await;
    let queued = queue(&owner, "a", Some(call(1)), staging("a", "one"));
    let mut closing = pin!(owner.close());
    assert!((&mut closing).now_or_never().is_none());
    assert!(owner.is_closed());
    let late = owner.write(Some(session("b")), None, "checkpoint", staging("b", "one"));
    assert_eq!(text(late).await, "Closed");
    drop(release);
    closing.await;
    assert_eq!(text(queued).await, "a has staged 1");
    // The fake refuses to open a journal that is open.
    assert_eq!(staged(&over(&journal).snapshot(), "a"), 1);
}

#[tokio::test]
async fn an_oversized_entry_does_not_fail_the_others() {
    let journal = MemJournal::default();
    journal.limit_entries(2_000);
    let owner = over(&journal);
    let release = hold(&owner).await;
    let before = queue(&owner, "a", Some(call(1)), staging("a", "one"));
    let large = queue(&owner, "b", Some(call(2)), staging("b", &"x".repeat(990)));
    let larger: WriteCommand<Memory, String> = Arc::new(move |memory, now| {
        let items = (0..9).map(|n| lesson(&format!("{n}{}", "x".repeat(900))).lessons.remove(0));
        let part = Staged { lessons: items.collect(), ..Staged::default() };
        let plan = plan_checkpoint(memory, &by("c", now), part)?;
        Ok(Transition { changes: plan.changes, outcome: "too much".to_owned() })
    });
    let larger = queue(&owner, "c", Some(call(3)), larger);
    let after = queue(&owner, "d", Some(call(4)), staging("d", "one"));
    drop(release);
    assert_eq!(text(before).await, "a has staged 1");
    assert_eq!(text(large).await, "b has staged 1");
    assert_eq!(text(after).await, "d has staged 1");
    let error = larger.await.unwrap_err();
    assert!(
        matches!(&error, WriteError::NotSaved(why) if why.to_string().contains("over the limit of 2000")),
        "{error}"
    );
    assert_eq!((journal.entries().len(), staged(&owner.snapshot(), "c")), (3, 0));
}

#[tokio::test]
async fn everyone_waiting_is_released_if_the_thread_dies() {
    let journal = MemJournal::default();
    let Opened { store, state, replies, .. } = journal.open();
    let owner =
        WriterHandle::start(Box::new(fakes::panicking(store)), state, replies, None).unwrap();
    let release = hold(&owner).await;
    let first = queue(&owner, "a", Some(call(1)), staging("a", "one"));
    let second = queue(&owner, "b", Some(call(2)), staging("b", "one"));
    drop(release);
    assert_eq!((text(first).await, text(second).await), ("Closed".into(), "Closed".into()));
    owner.close().await;
    let late = owner.write(Some(session("a")), None, "checkpoint", staging("a", "two"));
    assert_eq!(text(late).await, "Closed");
    drop(journal.open());
}

#[tokio::test]
async fn a_look_up_and_a_close_bring_the_index_up_to_date() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    let release = hold(&owner).await;
    let saved = queue(&owner, "a", Some(call(1)), saving("a", "x"));
    let mut asked = pin!(owner.ask(|store, _| store.history("l1@1")));
    assert!(asked.as_mut().now_or_never().is_none());
    drop(release);
    assert_eq!(text(saved).await, "revision 1");
    assert_eq!(asked.await.unwrap().unwrap().map(|entry| entry.seq), Some(Seq(1)));
    text(owner.write(Some(session("a")), Some(call(2)), "save", saving("a", "y"))).await;
    owner.close().await;
    assert_eq!(journal.open().state.seq(), Seq(2), "its thread has ended well");
}

#[tokio::test]
async fn an_index_far_behind_catches_up_without_a_pause() {
    let journal = MemJournal::default();
    let owner = over(&journal);
    for number in 1..=6 {
        let decide: WriteCommand<Memory, String> = Arc::new(|_, _| {
            let part = lesson(&"x".repeat(100_000));
            let changes = vec![Change::Stage { session: session("a"), part: Box::new(part) }];
            Ok(Transition { changes, outcome: "staged".to_owned() })
        });
        let staged = owner.write(Some(session("a")), Some(call(number)), "checkpoint", decide);
        assert_eq!(text(staged).await, "staged", "{number}");
    }
}

/// Returns a writer whose third append, sixth, and so on find the work of a competing writer.
fn contested(journal: &MemJournal<Memory>, answered: &[u64]) -> WriterHandle<Memory> {
    let Opened { store, state, replies, .. } = journal.open();
    let mut calls = Vec::from(answered).into_iter();
    let entries = journal.clone();
    let compete = move || {
        let number = entries.entries().len() as u64 + 1;
        let now = Timestamp(i64::try_from(number).unwrap());
        let part = lesson(&number.to_string());
        let plan = plan_checkpoint(&Memory::default(), &by("other", now), part).unwrap();
        // A shim whose connection broke may have sent its line to the other writer too.
        let call = calls.next().map(call);
        Some(Entry {
            seq: Seq(number),
            revision: None,
            time: now,
            session: Some(session("other")),
            reply: call.is_some().then(|| "the other writer's".into()),
            call,
            operation: "checkpoint".into(),
            changes: plan.changes,
        })
    };
    let store = Box::new(fakes::contested(store, compete));
    WriterHandle::start(store, state, replies, None).unwrap()
}

#[tokio::test]
async fn a_writer_that_lost_a_race_decides_again_and_writes_once() {
    let journal = MemJournal::default();
    let owner = contested(&journal, &[]);
    for number in 1..=30 {
        let decide = staging("a", &number.to_string());
        let written = owner.write(Some(session("a")), Some(call(number)), "checkpoint", decide);
        assert_eq!(text(written).await, format!("a has staged {number}"));
    }
    // An append is tried 44 times, so the competitor wins 14 times.
    assert_eq!((staged(&owner.snapshot(), "a"), staged(&owner.snapshot(), "other")), (30, 14));
    assert_eq!(journal.entries().len(), 44);
    let again = owner.write(Some(session("a")), Some(call(30)), "checkpoint", staging("a", "x"));
    assert_eq!(text(again).await, "a has staged 30");
    owner.close().await;
    assert_eq!(staged(&journal.open().state, "a"), 30);
}

/// All decisions of a batch are made again, in their order, and a refusal may become a write.
#[tokio::test]
async fn a_batch_that_lost_a_race_is_decided_again_as_a_whole() {
    let journal = MemJournal::default();
    let owner = contested(&journal, &[]);
    for number in 1..=2 {
        text(owner.write(
            Some(session("a")),
            Some(call(number)),
            "checkpoint",
            staging("a", &number.to_string()),
        ))
        .await;
    }
    let release = hold(&owner).await;
    let late: WriteCommand<Memory, String> = Arc::new(|memory, _| {
        if staged(memory, "other") == 0 {
            return Err(Refusal::EmptyNote.into());
        }
        Ok(Transition { changes: Vec::new(), outcome: "somebody is here".to_owned() })
    });
    let first = queue(&owner, "a", Some(call(3)), staging("a", "three"));
    let repeated = queue(&owner, "a", Some(call(3)), staging("a", "three"));
    let late = queue(&owner, "b", None, late);
    let last = queue(&owner, "c", None, staging("c", "one"));
    drop(release);
    assert_eq!(text(first).await, "a has staged 3");
    assert_eq!(text(repeated).await, "a has staged 3");
    assert_eq!(text(late).await, "somebody is here");
    assert_eq!(text(last).await, "c has staged 1");
    let sessions: Vec<String> = journal
        .entries()
        .into_iter()
        .filter_map(|entry| entry.session.map(|session| session.to_string()))
        .collect();
    assert_eq!(sessions, ["a", "a", "other", "a", "c"]);
}

#[tokio::test]
async fn a_call_answered_by_a_faster_writer_is_not_applied_again() {
    let journal = MemJournal::default();
    let owner = contested(&journal, &[3]);
    for number in 1..=3 {
        let decide = staging("a", &number.to_string());
        let written = owner.write(Some(session("a")), Some(call(number)), "checkpoint", decide);
        let expected = match number {
            3 => "the other writer's".to_owned(),
            _ => format!("a has staged {number}"),
        };
        assert_eq!(text(written).await, expected);
    }
    assert_eq!(staged(&owner.snapshot(), "a"), 2);
    assert_eq!(journal.entries().len(), 3);
}
