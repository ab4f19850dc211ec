//! Two machines and a team's journal in memory, with the network that each test needs.

use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{
    Change, HeldKey, Kind, Memory, NewNote, Provenance, Reader, RecordId, Refusal, Released,
    Revision, Save, SessionId, Staged, Team, Timestamp, ToldBy, Update, Version, plan_checkpoint,
    plan_hold, plan_notes, plan_release, plan_save, plan_update,
};
use futures::FutureExt;

use super::super::{
    Operation, Reply, TeamLink, Transition, WriteCommand, WriteError, WriterHandle, Written,
};
use crate::store::fakes::{MemJournal, MemTeam, Network};
use crate::store::{Call, Opened, StateMachine, StoreError};
use crate::{clock, limits};

mod silent;

/// One machine: its journal, and its way to the team's.
struct Machine {
    journal: MemJournal<Memory>,
    team: MemTeam<Change>,
    owner: WriterHandle<Memory>,
}

type Saved = Result<Written<Memory, String>, WriteError>;

impl Machine {
    /// Returns the machine that creates the team's project.
    async fn first() -> Self {
        let this = Self::over(MemJournal::default(), MemTeam::new("one"));
        let begin: WriteCommand<Memory> = Arc::new(|memory, _| {
            let team: Team = memory.team_change(Some("api"));
            Ok(Transition::silent(vec![Change::Team(team)]))
        });
        this.owner.write(None, None, "team", begin).await.unwrap();
        this
    }

    /// Returns another machine of the team.
    async fn join(&self, name: &str) -> Self {
        let this = Self::over(MemJournal::default(), self.team.from(name));
        this.sees(self.owner.snapshot().revision().0).await;
        this
    }

    fn over(journal: MemJournal<Memory>, team: MemTeam<Change>) -> Self {
        let Opened { store, state, replies, .. } = journal.open();
        let runtime = tokio::runtime::Handle::current();
        let link = TeamLink { journal: Arc::new(team.clone()), runtime };
        let owner = WriterHandle::start(Box::new(store), state, replies, Some(link)).unwrap();
        owner.follow_team();
        Self { journal, team, owner }
    }

    /// Returns the machine after its daemon ended and another began.
    async fn again(self) -> Self {
        self.owner.close().await;
        Self::over(self.journal, self.team)
    }

    /// Waits until this machine has a revision.
    async fn sees(&self, revision: u64) {
        while self.owner.snapshot().revision().0 < revision {
            self.owner.follow_team();
            tokio::task::yield_now().await;
        }
    }

    async fn save(&self, name: &'static str, number: u64, summary: &'static str) -> Saved {
        self.owner
            .write(Some(session(name)), Some(call(name, number)), "save", saving(name, summary))
            .await
    }

    async fn stage(&self, name: &'static str, summary: &'static str) -> Saved {
        let operation = Operation::staying("checkpoint");
        self.owner.write(Some(session(name)), None, operation, staging(name, summary)).await
    }

    /// Writes a note that stays on this machine, and returns its id.
    async fn note_alone(&self, name: &'static str, content: &'static str) -> Saved {
        let decide: WriteCommand<Memory, String> = Arc::new(move |memory, now| {
            let content = content.to_owned();
            let note = NewNote { content, private: true, ..NewNote::default() };
            let plan = plan_notes(memory, &by(name, now), vec![Ok(note)])?;
            let id = plan.outcome.stored.first().map(|it| it.id.to_string());
            Ok(Transition { changes: plan.changes, outcome: id.unwrap_or_default() })
        });
        self.owner.write(Some(session(name)), None, "note", decide).await
    }

    fn notes(&self) -> Vec<(RecordId, String)> {
        let memory = self.owner.snapshot();
        let note = |record: &Arc<anchord_memory::Record>| {
            Some((record.id, record.note()?.content.clone()))
        };
        memory.records().filter(|record| !record.is_private()).filter_map(note).collect()
    }
}

fn session(name: &str) -> SessionId {
    SessionId::new(name)
}

fn call(name: &str, number: u64) -> Call {
    Call { instance: name.into(), number, acknowledged: 0 }
}

fn by(name: &str, time: Timestamp) -> Provenance {
    Provenance::new(session(name), "agent".into(), time)
}

fn notes<const N: usize>(contents: [&str; N]) -> Staged {
    let note = |content: &str| NewNote { content: content.to_owned(), ..NewNote::default() };
    Staged { notes: contents.into_iter().map(note).collect(), ..Staged::default() }
}

fn staging(name: &'static str, summary: &'static str) -> WriteCommand<Memory, String> {
    Arc::new(move |memory, now| {
        let plan = plan_checkpoint(memory, &by(name, now), notes([summary]))?;
        Ok(Transition { changes: plan.changes, outcome: "staged".to_owned() })
    })
}

fn saving(name: &'static str, content: &'static str) -> WriteCommand<Memory, String> {
    Arc::new(move |memory, now| {
        let save = Save { session_summary: "Worked.", part: notes([content]), ..Save::default() };
        let plan = plan_save(memory, &by(name, now), save)?;
        let outcome = format!("revision {}", plan.outcome.revision.0);
        Ok(Transition { changes: plan.changes, outcome })
    })
}

/// Returns the command that holds a save of session `a` with a note.
fn holding(key: &HeldKey) -> WriteCommand<Memory> {
    let key = key.clone();
    Arc::new(move |memory, now| {
        let save = Save { session_summary: "Worked.", part: notes(["Warm."]), ..Save::default() };
        let plan = plan_hold(memory, &by("a", now), &key, save);
        Ok(plan?.into())
    })
}

/// Returns the command that folds what is held, and reports whether that was a save.
fn folding(key: &HeldKey) -> WriteCommand<Memory, Reply<bool>> {
    let key = key.clone();
    Arc::new(move |memory, _| {
        let plan = plan_release(memory, &key, None, ToldBy::Row)?;
        let outcome = Reply::Outcome(matches!(plan.outcome, Released::Save(_)));
        Ok(Transition { changes: plan.changes, outcome })
    })
}

fn refused(saved: Saved) -> String {
    saved.unwrap_err().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn machines_that_save_at_once_end_equal_and_lose_nothing() {
    const SAVES: u64 = 20;
    let one = Machine::first().await;
    let two = one.join("two").await;
    let all = |machine: &Machine, name: &'static str| {
        let owner = machine.owner.clone();
        let saves = (1..=SAVES).map(move |number| {
            let owner = owner.clone();
            let decide: WriteCommand<Memory, String> = Arc::new(move |memory, now| {
                let content = format!("{name} learned {number}.");
                let part = notes([&content]);
                let save = Save { session_summary: "Worked.", part, ..Save::default() };
                let plan = plan_save(memory, &by(name, now), save)?;
                Ok(Transition { changes: plan.changes, outcome: String::new() })
            });
            async move {
                let line = call(name, number);
                owner.write(Some(session(name)), Some(line), "save", decide).await.unwrap();
            }
        });
        futures::future::join_all(saves)
    };
    futures::future::join(all(&one, "a"), all(&two, "b")).await;

    for machine in [&one, &two] {
        machine.sees(1 + 2 * SAVES).await;
    }
    assert_eq!(one.notes(), two.notes());
    assert_eq!(one.notes().len() as u64, 2 * SAVES);
    let revisions: Vec<u64> = one.team.all().iter().map(|entry| entry.revision.0).collect();
    assert_eq!(revisions, (1..=1 + 2 * SAVES).collect::<Vec<_>>(), "no gap");
}

#[tokio::test]
async fn without_the_database_a_save_is_refused_and_a_checkpoint_is_not() {
    let one = Machine::first().await;
    one.team.set(Network::Down);
    let why = refused(one.save("a", 1, "The cache is warm.").await);
    assert!(why.contains("not saved") && why.contains("the network is down"), "{why}");
    one.stage("a", "The cache is warm.").await.unwrap();
    assert_eq!(one.team.all().len(), 1);
    assert!(one.owner.team().unwrap().error.as_ref().unwrap().why.contains("down"));

    one.team.set(Network::Up);
    one.save("a", 2, "The lock is fair.").await.unwrap();
    assert_eq!(one.notes().len(), 2);
    assert_eq!(one.owner.team().unwrap().error, None);
}

#[tokio::test]
async fn a_slow_database_keeps_no_checkpoint_of_another_session_waiting() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    let mut saving = Box::pin(one.save("a", 1, "The cache is warm."));
    assert!((&mut saving).now_or_never().is_none());
    one.stage("b", "Half done.").await.unwrap();
    // A later write of the session that waits comes after its save.
    let mut later = Box::pin(one.stage("a", "After the save."));
    assert!((&mut later).now_or_never().is_none());
    one.stage("b", "Nearly done.").await.unwrap();
    assert!((&mut later).now_or_never().is_none());

    one.team.set(Network::Up);
    saving.await.unwrap();
    later.await.unwrap();
    let memory = one.owner.snapshot();
    assert_eq!(one.notes().len(), 1);
    assert_eq!(memory.staged_by(&session("a")).unwrap().notes.len(), 1);
    assert_eq!(memory.staged_by(&session("b")).unwrap().notes.len(), 2);
}

#[tokio::test]
async fn a_write_whose_turn_comes_after_a_call_in_vain_is_answered_in_its_own_time() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    let (begin, appends) = (clock::start(), one.team.times().len());
    let mut first = Box::pin(one.save("a", 1, "The cache is warm."));
    assert!((&mut first).now_or_never().is_none());
    while one.team.times().len() == appends {
        tokio::task::yield_now().await;
    }
    let mut second = Box::pin(one.save("b", 1, "The queue is fair."));
    assert!((&mut second).now_or_never().is_none());
    let later = begin.elapsed();
    let (first, second) = tokio::join!(first, second);
    // The first one was given up at the end of its time.
    let last = one.team.times().pop().unwrap();
    assert!(last <= later, "{last:?} of {later:?}");
    for saved in [first, second] {
        let why = refused(saved);
        assert!(why.contains("busy, retry"), "{why}");
    }
}

/// Under way with another session's commit, the note would have an id that others get meanwhile.
#[tokio::test]
async fn what_stays_on_this_machine_is_never_under_way() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    let mut saving = Box::pin(one.save("a", 1, "The cache is warm."));
    assert!((&mut saving).now_or_never().is_none());
    one.stage("b", "Half done.").await.unwrap();
    // It waits for its session's save, and so does a commit of another session.
    let mut noting = Box::pin(one.note_alone("a", "Only for a."));
    assert!((&mut noting).now_or_never().is_none());
    let mut other = Box::pin(one.save("c", 1, "The queue is fair."));
    assert!((&mut other).now_or_never().is_none());
    one.stage("b", "Nearly done.").await.unwrap();

    one.team.set(Network::Once);
    saving.await.unwrap();
    let first = noting.await.unwrap().outcome;
    let second = one.note_alone("b", "Only for b.").await.unwrap().outcome;
    assert!((&mut other).now_or_never().is_none());
    one.team.set(Network::Up);
    other.await.unwrap();
    let memory = one.owner.snapshot();
    for (id, content) in [(first, "Only for a."), (second, "Only for b.")] {
        let record = memory.record(id.parse().unwrap()).unwrap();
        assert_eq!(record.note().unwrap().content, content);
    }
}

#[tokio::test]
async fn a_session_stages_and_notes_while_its_held_save_is_sent() {
    let one = Machine::first().await;
    let key = HeldKey { instance: "a".into(), number: 1 };
    let hold = holding(&key);
    one.owner.write(Some(session("a")), None, Operation::staying("hold"), hold).await.unwrap();
    one.team.set(Network::Stalled);
    let line = || Some(call("a", 1));
    let send =
        || one.owner.write(Some(session("a")), line(), Operation::releasing("save"), folding(&key));
    let mut sending = Box::pin(send());
    assert!((&mut sending).now_or_never().is_none());
    one.stage("a", "Already at the next step.").await.unwrap();
    one.note_alone("a", "Only for a.").await.unwrap();
    // The line itself is not decided twice at once.
    let mut again = Box::pin(send());
    assert!((&mut again).now_or_never().is_none());

    one.team.set(Network::Up);
    let (first, again) = (sending.await.unwrap(), again.await.unwrap());
    assert_eq!((&first.outcome, &again.outcome), (&Reply::Outcome(true), &Reply::Outcome(true)));
    let memory = one.owner.snapshot();
    assert_eq!((memory.held().count(), one.notes().len()), (0, 1));
    assert_eq!(memory.staged_by(&session("a")).unwrap().notes.len(), 1);
    assert_eq!(one.team.all().len(), 2);
}

#[tokio::test]
async fn a_save_without_an_answer_is_applied_once_however_often_it_is_repeated() {
    for network in [Network::NoAnswers, Network::Panicking] {
        let one = Machine::first().await;
        one.team.set(network);
        let why = refused(one.save("a", 1, "The cache is warm.").await);
        assert!(why.contains("outcome unknown"), "{why}");
        assert_eq!(one.notes(), [], "nothing is shown before the database said so");

        one.team.set(Network::Up);
        for _ in 0..3 {
            let saved = one.save("a", 1, "The cache is warm.").await.unwrap();
            assert_eq!(saved.outcome, "revision 2");
        }
        assert_eq!((one.notes().len(), one.team.all().len()), (1, 2));
    }
}

#[tokio::test]
async fn a_daemon_that_died_after_the_commit_answers_the_line_when_it_comes_again() {
    let one = Machine::first().await;
    one.team.set(Network::NoAnswers);
    refused(one.save("a", 1, "The cache is warm.").await);
    let one = one.again().await;
    one.team.set(Network::Up);
    let saved = one.save("a", 1, "The cache is warm.").await.unwrap();
    assert_eq!(saved.outcome, "revision 2");
    assert_eq!(one.notes().len(), 1);
}

#[tokio::test]
async fn a_save_that_was_held_is_released_by_its_entry_alone() {
    let one = Machine::first().await;
    let key = HeldKey { instance: "a".into(), number: 1 };
    one.team.set(Network::NoAnswers);
    let hold = holding(&key);
    one.owner.write(Some(session("a")), None, Operation::staying("hold"), hold).await.unwrap();
    assert_eq!(one.owner.snapshot().held().count(), 1, "held without the database");

    let line = || Some(call("a", 1));
    let silent = one.owner.write(Some(session("a")), line(), "save", folding(&key)).await;
    let Err(WriteError::NotSaved(why)) = &silent else { panic!("{silent:?}") };
    assert!(matches!(**why, StoreError::TeamSilent(_)), "{why}");
    // The daemon dies. What others see is what this machine gets, and it waits no longer.
    let one = one.again().await;
    one.team.set(Network::Up);
    one.sees(2).await;
    assert_eq!((one.owner.snapshot().held().count(), one.notes().len()), (0, 1));
    let again = one.owner.write(Some(session("a")), line(), "save", folding(&key)).await.unwrap();
    assert_eq!(again.outcome, Reply::Outcome(true));
    assert_eq!(one.team.all().len(), 2);
}

#[tokio::test]
async fn a_private_note_of_a_mixed_write_stays_here_and_does_not_wait() {
    let one = Machine::first().await;
    let two = one.join("two").await;
    let mixed: WriteCommand<Memory, String> = Arc::new(|memory, now| {
        let note = |content: &str, private| {
            Ok(NewNote { content: content.to_owned(), private, ..NewNote::default() })
        };
        let items = vec![note("For me.", true), note("For all.", false)];
        let plan = plan_notes(memory, &by("a", now), items)?;
        let ids: Vec<String> = plan.outcome.stored.iter().map(|it| it.id.to_string()).collect();
        Ok(Transition { changes: plan.changes, outcome: ids.join(" ") })
    });
    let line = Some(call("a", 1));
    let written = one.owner.write(Some(session("a")), line, "note", mixed).await.unwrap();
    assert_eq!(written.outcome, "n1p n1");
    two.sees(2).await;
    assert_eq!(two.owner.snapshot().records().count(), 1);
    assert_eq!(one.owner.snapshot().records().count(), 2);
    let sent = format!("{:?}", one.team.all());
    assert!(sent.contains("For all.") && !sent.contains("For me."), "{sent}");
}

#[tokio::test]
async fn a_decision_on_a_version_that_another_machine_replaced_is_made_again() {
    let one = Machine::first().await;
    let two = one.join("two").await;
    let written = one.save("a", 1, "Port 4000.").await.unwrap();
    let id = RecordId::new(Kind::Note, 1);
    assert!(written.changes.iter().any(|it| it.record().is_some_and(|it| it.id == id)));
    two.sees(2).await;

    let update = |content: &'static str| -> WriteCommand<Memory, String> {
        Arc::new(move |memory, now| {
            let update = Update { content: Some(content.to_owned()), ..Update::default() };
            let reader = Reader::session(session("b"));
            let version = Some(Version::FIRST);
            let plan = plan_update(memory, &reader, id, &update, version, &by("b", now))?;
            Ok(Transition { changes: plan.changes, outcome: "updated".to_owned() })
        })
    };
    one.owner.write(Some(session("a")), None, "update", update("Port 5000.")).await.unwrap();
    // The second machine has not heard of it.
    let stale = two.owner.write(Some(session("b")), None, "update", update("Port 6000.")).await;
    assert!(matches!(&stale, Err(WriteError::Refused(_))), "{stale:?}");
    assert_eq!(two.notes(), one.notes());
    assert_eq!(two.notes()[0].1, "Port 5000.");
}

#[tokio::test]
async fn an_entry_that_this_machine_has_already_is_not_appended_again() {
    let one = Machine::first().await;
    let held = |memory: &Memory, now| {
        let key = HeldKey { instance: "a".into(), number: 1 };
        let save = Save { session_summary: "Worked.", part: notes(["Warm."]), ..Save::default() };
        plan_hold(memory, &by("a", now), &key, save).unwrap().changes
    };
    let hold = || -> WriteCommand<Memory> {
        Arc::new(move |memory, now| Ok(Transition::silent(held(memory, now))))
    };
    let release = || -> WriteCommand<Memory> {
        Arc::new(|memory, _| {
            let key = HeldKey { instance: "a".into(), number: 1 };
            let plan = plan_release(memory, &key, None, ToldBy::Row)?;
            Ok(Transition::silent(plan.changes))
        })
    };
    for _ in 0..2 {
        one.owner
            .write(Some(session("a")), None, Operation::staying("hold"), hold())
            .await
            .unwrap();
        one.owner.write(Some(session("a")), None, "save", release()).await.unwrap();
    }
    assert_eq!((one.team.all().len(), one.notes().len()), (2, 1));
    assert_eq!(one.owner.snapshot().held().count(), 0);
}

#[tokio::test]
async fn a_commit_does_not_wait_for_a_look_at_what_others_wrote() {
    let one = Machine::first().await;
    let two = one.join("two").await;
    one.save("a", 1, "The cache is warm.").await.unwrap();
    // The look is under way, and is not answered before the save is.
    two.team.set(Network::StalledReads);
    two.owner.follow_team();
    while two.team.calls() == 0 {
        tokio::task::yield_now().await;
    }
    let saving = two.save("b", 1, "The lock is fair.");
    tokio::time::timeout(Duration::from_secs(30), saving).await.unwrap().unwrap();
    assert_eq!(two.notes().len(), 2);
}

#[tokio::test]
async fn a_first_read_waits_for_what_others_wrote_meanwhile() {
    let one = Machine::first().await;
    let two = one.join("two").await;
    two.team.set(Network::StalledReads);
    let two = two.again().await;
    one.save("a", 1, "The cache is warm.").await.unwrap();
    let mut looking = Box::pin(two.owner.team_looked());
    assert!((&mut looking).now_or_never().is_none());
    assert_eq!(two.owner.team().unwrap().answered, None);
    two.team.set(Network::Up);
    looking.await;
    assert!(two.owner.team().unwrap().answered.is_some());
    assert_eq!(two.notes().len(), 1);
}

#[tokio::test]
async fn closing_waits_for_the_answer_of_a_write_that_is_under_way() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    let mut saving = Box::pin(one.save("a", 1, "The cache is warm."));
    assert!((&mut saving).now_or_never().is_none());
    let mut closing = Box::pin(one.owner.close());
    assert!((&mut closing).now_or_never().is_none());
    one.team.set(Network::Up);
    closing.await;
    saving.await.unwrap();
    assert!(Memory::is_commit(&one.team.all()[1].changes));
}

#[tokio::test]
async fn nothing_is_exchanged_with_a_journal_that_is_not_the_one_copied() {
    let one = Machine::first().await;
    one.save("a", 1, "Before the loss.").await.unwrap();
    one.team.lose_after(Revision(1));
    let why = refused(one.save("a", 2, "After the loss.").await);
    assert!(why.contains("busy, retry"), "{why}");
    assert!(one.owner.team().unwrap().is_apart);
    assert_eq!(one.team.all().len(), 1, "nothing follows what is missing");
    one.stage("a", "Staged after the loss.").await.unwrap();
    assert_eq!(one.owner.snapshot().revision(), Revision(2), "the copy stays as it is");
}

#[tokio::test]
async fn a_refusal_waits_for_a_look_but_not_where_the_work_stays_here() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    let refuse: WriteCommand<Memory> = Arc::new(|_, _| Err(Refusal::EmptyNote.into()));
    let refused =
        |operation| one.owner.write(Some(session("a")), None, operation, Arc::clone(&refuse));
    // Nobody would answer it now.
    let staying = refused(Operation::staying("checkpoint")).await;
    assert!(matches!(staying, Err(WriteError::Refused(_))), "{staying:?}");
    let waiting = refused("update".into());
    tokio::pin!(waiting);
    let looks = async {
        while one.team.calls() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        early = &mut waiting => panic!("answered without a look: {early:?}"),
        () = looks => {}
    }
    one.team.set(Network::Up);
    assert!(matches!(waiting.await, Err(WriteError::Refused(_))));
    // Without a database, a refusal is of what this machine has.
    one.team.set(Network::Down);
    assert!(matches!(refused("update".into()).await, Err(WriteError::Refused(_))));
}

#[tokio::test]
async fn a_write_that_the_member_may_not_make_fails_alone() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    let write = |name: &'static str, operation, content| {
        let command = saving(name, content);
        one.owner.write(Some(session(name)), Some(call(name, 1)), operation, command)
    };
    let writes = futures::future::join4(
        write("a", "save", "First."),
        write("b", "save", "Second."),
        write("c", "set the rule", "Third."),
        write("d", "save", "Fourth."),
    );
    tokio::pin!(writes);
    assert!((&mut writes).now_or_never().is_none());
    one.team.set(Network::Refusing("set the rule"));
    let (first, second, rule, fourth) = writes.await;
    assert!(first.is_ok() && second.is_ok() && fourth.is_ok(), "{first:?} {second:?} {fourth:?}");
    assert_eq!(refused(rule), "not saved: that is a maintainer's");
    let notes: Vec<_> = one.notes().into_iter().map(|(_, content)| content).collect();
    assert_eq!(notes, ["First.", "Second.", "Fourth."]);
}

#[tokio::test]
async fn many_entries_at_once_leave_the_search_index_until_it_is_needed() {
    let many = u64::try_from(limits::TEAM_ENTRIES_MANY).unwrap();
    let one = Machine::first().await;
    for number in 1..=many {
        one.save("a", number, "tide tables").await.unwrap();
    }
    let two = one.join("two").await;
    let memory = two.owner.snapshot();
    assert!(one.owner.snapshot().is_searchable() && !memory.is_searchable());
    let found = |memory: &Memory| memory.search().len();
    assert_eq!(found(&memory), found(&one.owner.snapshot()));
    one.save("a", many + 1, "wind gauges").await.unwrap();
    two.sees(one.owner.snapshot().revision().0).await;
    let memory = two.owner.snapshot();
    assert!(memory.is_searchable(), "one entry is followed");
    assert_eq!(found(&memory), found(&one.owner.snapshot()));
}

/// The next entries are asked for before these are written, so they may come to nothing.
#[tokio::test(flavor = "multi_thread")]
async fn entries_in_several_replies_are_copied_in_order_and_not_after_a_failure() {
    let one = Machine::first().await;
    for number in 1..=7 {
        one.save("ada", number, "A note.").await.unwrap();
    }
    let journal = MemJournal::default();
    journal.limit_entries(10);
    let two = Machine::over(journal, one.team.from("two").in_replies_of(2));
    let error = || two.owner.team().unwrap().error.clone();
    while error().is_none() {
        tokio::task::yield_now().await;
    }
    // The writer answers once it has taken what came.
    assert!(two.stage("bob", "Something.").await.is_err(), "it is too large as well");
    assert!(error().unwrap().why.contains("10"), "{:?}", error());
    assert_eq!(two.journal.entries(), []);
    two.journal.limit_entries(usize::MAX);
    let all = one.owner.snapshot().revision().0;
    two.sees(all).await;
    assert_eq!(two.notes(), one.notes());
    assert_eq!(two.owner.snapshot().revision().0, all);
}
