//! Appending, reading and hearing of entries.

use std::time::Duration;

use anchord_team::{
    AppendError, Appended, Error, FIRST_DIGEST, Following, HeadNotification, Log, NewEntry, Point,
    Replacement, Rewritten, Role, Timeouts,
};

use crate::{Team, entry, open_within};

#[tokio::test]
async fn a_batch_is_appended_in_order_and_read_back() {
    let Some(team) = Team::start().await else { return };
    let log = team.log("alice");
    let mut second = entry("a", 2);
    second.session = None;
    second.reply = Some("{\"quoted\":\"it's \\\\ \\\"x\\\" ü\"}".to_owned());
    let batch = [entry("a", 1), second];
    let appended = log.append(0, &batch).await.unwrap();
    let Appended::Committed { digests, .. } = appended else { panic!() };

    let entries = team.log("rita").entries(0, 100, u64::MAX).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2]);
    assert!(entries.iter().all(|entry| entry.member == "alice"));
    let read: Vec<NewEntry> = entries.into_iter().map(|entry| entry.content).collect();
    assert_eq!(read, batch);
    let head = log.head().await.unwrap();
    assert_eq!((head.seq, Some(&head.digest), head.epoch), (2, digests.last(), 0));
    let projects = team.owner.projects().await.unwrap();
    assert_eq!((projects[0].name.as_str(), projects[0].head), ("alpha", 2));
}

#[tokio::test]
async fn an_entry_has_the_name_that_its_member_has_when_it_is_read() {
    let Some(team) = Team::start().await else { return };
    let alice = team.log("alice");
    alice.append(0, &[entry("a", 1)]).await.unwrap();
    let bob = team.log("bob");
    let name = async || bob.entries(0, 1, u64::MAX).await.unwrap().pop().unwrap().name;
    assert_eq!(name().await.as_deref(), Some("A member"));
    team.owner.invite(team.project, "alice", "Alice L.", Role::Writer).await.unwrap();
    assert_eq!(name().await.as_deref(), Some("Alice L."));
    team.owner.remove(team.project, "alice").await.unwrap();
    assert_eq!(name().await, None, "the role has left");
}

#[tokio::test]
async fn a_moved_head_writes_nothing_and_the_missing_entries_can_be_read() {
    let Some(team) = Team::start().await else { return };
    let (alice, bob) = (team.log("alice"), team.log("bob"));
    alice.append(0, &[entry("a", 1), entry("a", 2)]).await.unwrap();
    let moved = bob.append(0, &[entry("b", 1)]).await.unwrap();
    assert_eq!(moved, Appended::HeadMoved { head: 2 });
    assert_eq!(bob.entries(0, 10, u64::MAX).await.unwrap().len(), 2);
    assert!(matches!(bob.append(2, &[entry("b", 1)]).await, Ok(Appended::Committed { .. })));
    // A head in the future is a different head too.
    let moved = bob.append(9, &[entry("b", 2)]).await.unwrap();
    assert_eq!(moved, Appended::HeadMoved { head: 3 });
    assert_eq!(team.numbers().await.len(), 3);
}

#[tokio::test]
async fn a_repeated_key_returns_what_is_stored() {
    let Some(team) = Team::start().await else { return };
    let log = team.log("alice");
    log.append(0, &[entry("a", 1), entry("a", 2)]).await.unwrap();
    let stored = log.entries(0, 10, u64::MAX).await.unwrap();
    // Also with another head, with other content, and beside a new key.
    let mut other = entry("a", 2);
    other.changes = "{}".to_owned();
    for expected in [0, 2, 7] {
        let batch = [other.clone(), entry("a", 3)];
        let repeated = log.append(expected, &batch).await.unwrap();
        assert_eq!(repeated, Appended::Repeated(vec![stored[1].clone()]));
    }
    // Another member with the same key gets it too.
    let by_bob = team.log("bob").append(2, &[entry("a", 1)]).await.unwrap();
    assert_eq!(by_bob, Appended::Repeated(vec![stored[0].clone()]));
    assert_eq!(team.numbers().await.len(), 2);
    let three = log.append(2, &[entry("a", 3)]).await.unwrap();
    assert!(matches!(three, Appended::Committed { .. }), "{three:?}");
}

#[tokio::test]
async fn a_key_is_never_null() {
    let Some(team) = Team::start().await else { return };
    team.log("alice").append(0, &[entry("a", 1)]).await.unwrap();
    for column in ["instance", "number"] {
        let without = format!("UPDATE anchord.entries SET {column} = NULL");
        let refused = team.server.psql_as("postgres", &without).unwrap_err();
        assert!(refused.contains("not-null"), "{refused}");
    }
}

#[tokio::test]
async fn a_notice_follows_commit_in_its_message() {
    let Some(team) = Team::start().await else { return };
    team.server.set("log_statement", "all");
    team.log("alice").append(0, &[entry("a", 1)]).await.unwrap();
    let notice = format!("statement: COMMIT;NOTIFY anchord, '{} 1'", team.project);
    assert!(team.server.log().contains(&notice), "{}", team.server.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_came_too_late_has_the_next_turn() {
    let Some(team) = Team::start().await else { return };
    let alice = team.log("alice");
    let bob = open_within(&team.server.url("bob"), patient()).log(team.project);
    alice.append(0, &[entry("a", 1)]).await.unwrap();
    let moved = bob.append(0, &[entry("b", 1)]).await.unwrap();
    assert_eq!(moved, Appended::HeadMoved { head: 1 });
    // Alice asks first, and bob comes first.
    let later = tokio::spawn(async move { alice.append(1, &[entry("a", 2)]).await });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    assert!(crate::testing::poll(|| team.server.psql(waiting) == "1"), "she waits for the head");
    let mine = bob.append(1, &[entry("b", 1)]).await.unwrap();
    assert!(matches!(mine, Appended::Committed { .. }), "{mine:?}");
    assert_eq!(later.await.unwrap().unwrap(), Appended::HeadMoved { head: 2 });
    // A turn that nobody takes ends by itself.
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    assert!(crate::testing::poll(|| team.server.psql(open) == "0"), "a transaction stays open");
}

/// Returns limits by which a writer that came too late has its turn, however slow the machine is.
fn patient() -> Timeouts {
    Timeouts { turn: Duration::from_secs(30), ..Timeouts::default() }
}

/// Appends each number once, and decides again whenever the head has moved. It comes too late at
/// most once for each. Returns how often it did.
async fn append_all(log: Log, instance: &'static str, count: u64) -> u64 {
    let mut head = 0;
    let mut moved = 0;
    for number in 1..=count {
        loop {
            assert!(moved <= number, "{moved} times too late for {number} entries");
            match log.append(head, &[entry(instance, number)]).await.unwrap() {
                Appended::Committed { .. } => {
                    head += 1;
                    break;
                }
                Appended::HeadMoved { head: newer } => {
                    assert!(newer > head);
                    head = newer;
                    moved += 1;
                }
                Appended::Repeated(_) => panic!("nothing is repeated"),
            }
        }
    }
    moved
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn racing_writers_each_win_once_and_leave_no_gap() {
    let Some(team) = Team::start().await else { return };
    let names = ["a", "b", "c", "d"];
    let mut running = Vec::new();
    for (at, name) in names.into_iter().enumerate() {
        let url = team.server.url(if at % 2 == 0 { "alice" } else { "bob" });
        let log = open_within(&url, patient()).log(team.project);
        running.push(tokio::spawn(append_all(log, name, 25)));
    }
    let mut moved = 0;
    for running in running {
        moved += running.await.unwrap();
    }
    let mut numbers = team.numbers().await;
    numbers.sort();
    let expected: Vec<(String, u64)> = names
        .iter()
        .flat_map(|name| (1..=25).map(move |number| ((*name).to_owned(), number)))
        .collect();
    assert_eq!(numbers, expected);
    assert!(moved > 0, "the writers met");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_append_from_two_places_is_applied_once() {
    let Some(team) = Team::start().await else { return };
    for number in 1..=20 {
        let (alice, bob) = (team.log("alice"), team.log("bob"));
        let batch = [entry("shared", number)];
        let head = number - 1;
        let (one, two) = tokio::join!(alice.append(head, &batch), bob.append(head, &batch));
        let outcomes = [one.unwrap(), two.unwrap()];
        let committed =
            outcomes.iter().filter(|out| matches!(out, Appended::Committed { .. })).count();
        let repeated = outcomes.iter().filter(|out| matches!(out, Appended::Repeated(_))).count();
        assert_eq!((committed, repeated), (1, 1), "{outcomes:?}");
    }
    assert_eq!(team.numbers().await.len(), 20);
}

#[tokio::test]
async fn a_rewrite_replaces_texts_and_keeps_the_chain() {
    let Some(team) = Team::start().await else { return };
    let alice = team.log("alice");
    let batch: Vec<NewEntry> = (1..=450).map(|number| entry("a", number)).collect();
    alice.append(0, &batch).await.unwrap();
    let before = alice.entries(0, 1_000, u64::MAX).await.unwrap();
    let log = team.owner.log(team.project);
    let replacement = |seq| Replacement { seq, changes: "[]".to_owned(), reply: Some("1".into()) };
    let batch = [replacement(230), replacement(7)];
    let purge = entry("p", 1);
    let Ok(Rewritten::Committed(head)) = log.rewrite(450, &batch, &purge).await else { panic!() };
    assert_eq!((head.seq, head.epoch), (451, 1));
    assert_eq!(log.head().await.unwrap(), head);
    assert_eq!(team.numbers().await.len(), 451, "the chain holds");
    let after = alice.entries(0, 1_000, u64::MAX).await.unwrap();
    for (old, new) in before.iter().zip(&after) {
        let mut expected = old.content.clone();
        if [7, 230].contains(&old.seq) {
            expected.changes = "[]".to_owned();
            expected.reply = Some("1".to_owned());
        }
        assert_eq!((new.content.clone(), &new.member), (expected, &old.member));
        assert_eq!(new.digest == old.digest, old.seq < 7, "entry {}", old.seq);
    }
    // The keys stay, and a head that has moved stops it.
    let repeated = alice.append(451, &[entry("a", 7)]).await.unwrap();
    assert_eq!(repeated, Appended::Repeated(vec![after[6].clone()]));
    let moved = log.rewrite(450, &[replacement(1)], &entry("p", 2)).await.unwrap();
    assert_eq!(moved, Rewritten::HeadMoved { head: 451 });
    let again = log.rewrite(451, &[replacement(1)], &purge).await.unwrap();
    assert_eq!((again, log.head().await.unwrap().epoch), (Rewritten::Repeated, 1));
    let absent = log.rewrite(451, &[replacement(452)], &entry("p", 2)).await;
    assert!(matches!(absent, Err(AppendError::NotWritten(Error::Invalid(_)))), "{absent:?}");
}

#[tokio::test]
async fn a_rewrite_that_came_too_late_comes_before_the_next_append() {
    let Some(team) = Team::start().await else { return };
    let (alice, log) = (team.log("alice"), team.owner.log(team.project));
    alice.append(0, &[entry("a", 1), entry("a", 2)]).await.unwrap();
    let batch = [Replacement { seq: 1, changes: "[]".to_owned(), reply: None }];
    let late = log.rewrite(1, &batch, &entry("p", 1)).await.unwrap();
    assert_eq!(late, Rewritten::HeadMoved { head: 2 });
    let (next, purge) = ([entry("a", 3)], entry("p", 1));
    let (appended, rewritten) =
        tokio::join!(alice.append(2, &next), log.rewrite(2, &batch, &purge));
    assert!(matches!(rewritten, Ok(Rewritten::Committed(_))), "{rewritten:?}");
    assert_eq!(appended.unwrap(), Appended::HeadMoved { head: 3 });
}

#[tokio::test]
async fn a_journal_is_followed_only_from_a_point_that_it_contains() {
    let Some(team) = Team::start().await else { return };
    let alice = team.log("alice");
    let first = alice.append(0, &[entry("a", 1), entry("a", 2)]).await.unwrap();
    let Appended::Committed { digests, epoch: 0 } = first else { panic!("{first:?}") };
    let points: Vec<Point> = std::iter::once(FIRST_DIGEST.to_owned())
        .chain(digests)
        .zip(0..)
        .map(|(digest, seq)| Point { seq, digest: Some(digest) })
        .collect();
    let follow = async |point: &Point| match alice.follow(point, 10, u64::MAX).await.unwrap() {
        Following::Entries { entries, epoch } => Ok((entries.len(), epoch)),
        Following::Apart(head) => Err((head.seq, head.epoch)),
    };
    for (point, later) in points.iter().zip([2, 1, 0]) {
        assert_eq!(follow(point).await, Ok((later, 0)));
        assert_eq!(follow(&Point { digest: None, ..point.clone() }).await, Ok((later, 0)));
    }
    // The journal ends before the point, or has something else there.
    let beyond = Point { seq: 3, digest: None };
    let other = Point { seq: 1, digest: points[2].digest.clone() };
    assert_eq!(follow(&beyond).await, Err((2, 0)));
    assert_eq!(follow(&other).await, Err((2, 0)));

    // A purge of the second entry leaves what is up to the first one.
    let replacement = Replacement { seq: 2, changes: "[]".to_owned(), reply: None };
    let owner = team.owner.log(team.project);
    owner.rewrite(points[2].clone(), &[replacement], &entry("p", 1)).await.unwrap();
    assert_eq!(follow(&points[1]).await, Ok((2, 1)));
    assert_eq!(follow(&points[2]).await, Err((3, 1)));
    // Nobody appends to a journal that is not the one that was decided on.
    let moved = alice.append(Point { seq: 3, ..points[2].clone() }, &[entry("a", 3)]).await;
    assert_eq!(moved.unwrap(), Appended::HeadMoved { head: 3 });
    let head = alice.head().await.unwrap();
    let at_head = Point { seq: head.seq, digest: Some(head.digest) };
    let appended = alice.append(at_head, &[entry("a", 3)]).await.unwrap();
    assert!(matches!(appended, Appended::Committed { epoch: 1, .. }), "{appended:?}");

    team.server.psql("UPDATE anchord.entries SET changes = 'other' WHERE seq = 4");
    let damaged = alice.follow(&points[1], 10, u64::MAX).await;
    assert!(matches!(damaged, Err(Error::Damaged(_))), "{damaged:?}");
}

#[tokio::test]
async fn reads_stop_at_their_limits() {
    let Some(team) = Team::start().await else { return };
    let log = team.log("alice");
    let sized = |number: u64, bytes: usize| {
        let mut entry = entry("a", number);
        entry.changes = "1".repeat(bytes);
        entry
    };
    log.append(0, &[sized(1, 100), sized(2, 100), sized(3, 5_000), sized(4, 1)]).await.unwrap();
    let read = async |after, entries_max, bytes_max| {
        let entries = log.entries(after, entries_max, bytes_max).await.unwrap();
        entries.iter().map(|entry| entry.seq).collect::<Vec<_>>()
    };
    assert_eq!(read(0, 100, u64::MAX).await, [1, 2, 3, 4]);
    assert_eq!(read(0, 3, u64::MAX).await, [1, 2, 3]);
    assert_eq!(read(0, 100, 200).await, [1, 2]);
    assert_eq!(read(0, 100, 199).await, [1]);
    assert_eq!(read(2, 100, 10).await, [3], "one entry is always returned");
    assert_eq!(read(0, 0, 0).await, [1]);
    assert_eq!(read(4, 100, u64::MAX).await, [0_u64; 0]);
}

#[tokio::test]
async fn values_beyond_their_limits_are_refused_before_anything_is_sent() {
    let Some(team) = Team::start().await else { return };
    let log = team.log("alice");
    let mut named = entry("a", 1);
    named.machine = "m".repeat(201);
    let mut with_nul = entry("a", 1);
    with_nul.changes = "a\0b".to_owned();
    let too_many: Vec<NewEntry> = (0..1_001).map(|number| entry("a", number)).collect();
    let batches = [
        vec![],
        vec![named],
        vec![with_nul],
        vec![entry("", 1)],
        vec![entry("a", u64::MAX)],
        vec![entry("a", 1), entry("a", 1)],
        too_many,
    ];
    for batch in batches {
        let refused = log.append(0, &batch).await;
        assert!(matches!(refused, Err(AppendError::NotWritten(Error::Invalid(_)))), "{refused:?}");
    }
    assert_eq!(team.numbers().await.len(), 0);
}

#[tokio::test]
async fn a_listener_hears_of_commits_alone() {
    let Some(team) = Team::start().await else { return };
    let mut listener = team.owner.listen().await.unwrap();
    let trips = listener.round_trips();
    let before = *trips.borrow();
    let log = team.log("alice");
    log.append(0, &[entry("a", 1), entry("a", 2)]).await.unwrap();
    // Neither is a commit.
    log.append(0, &[entry("a", 3)]).await.unwrap();
    log.append(2, &[entry("a", 1)]).await.unwrap();
    team.server.psql("NOTIFY anchord, 'nonsense'");
    log.append(2, &[entry("a", 3)]).await.unwrap();
    let limit = Duration::from_secs(10);
    let first = tokio::time::timeout(limit, listener.next()).await.unwrap().unwrap();
    let second = tokio::time::timeout(limit, listener.next()).await.unwrap().unwrap();
    let heard = |seq| HeadNotification { project: team.project, seq };
    assert_eq!([first, second], [heard(2), heard(3)]);

    // A silent listener keeps asking, and its future can be dropped.
    let mut waiting = listener.round_trips();
    let asked = async {
        tokio::select! {
            heard = listener.next() => panic!("{heard:?}"),
            changed = waiting.wait_for(|count| *count > before + 1) => assert!(changed.is_ok()),
        }
    };
    tokio::time::timeout(limit, asked).await.unwrap();
}
