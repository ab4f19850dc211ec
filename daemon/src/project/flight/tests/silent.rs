//! A database that does not answer: what waits for it, and how long.

use super::*;

#[tokio::test]
async fn what_is_brought_back_passes_a_note_of_its_session_that_waits() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    let decide: WriteCommand<Memory> = Arc::new(|memory, now| {
        let note = NewNote { content: "The cache is warm.".to_owned(), ..NewNote::default() };
        let plan = plan_notes(memory, &by("a", now), vec![Ok(note)]);
        Ok(Transition::silent(plan?.changes))
    });
    let mut noting = Box::pin(one.owner.write(Some(session("a")), None, "note", decide));
    assert!((&mut noting).now_or_never().is_none());
    while !one.owner.waits_for_team(&session("a")) {
        tokio::task::yield_now().await;
    }
    let bring_back = |summary| {
        let operation = Operation::passing("use");
        one.owner.write(Some(session("a")), None, operation, staging("a", summary))
    };
    bring_back("The lock is fair.").await.unwrap();
    assert!(!one.owner.waits_for_team(&session("b")));
    // Another note keeps its place.
    let mut later = Box::pin(one.note_alone("a", "Only for a."));
    assert!((&mut later).now_or_never().is_none());
    bring_back("The queue is fair.").await.unwrap();
    assert!((&mut later).now_or_never().is_none());

    one.team.set(Network::Up);
    noting.await.unwrap();
    later.await.unwrap();
    while one.owner.waits_for_team(&session("a")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_write_after_a_call_in_vain_does_not_wait_as_long_again() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    let first = refused(one.save("a", 1, "The cache is warm.").await);
    let begin = clock::start();
    let second = refused(one.save("a", 2, "The lock is fair.").await);
    assert!(begin.elapsed() < limits::TEAM_WAIT_MAX, "{:?}", begin.elapsed());
    assert_eq!(first, second);
    assert_eq!(one.team.times().last(), Some(&limits::TEAM_TRY_MIN));
    // Once it answers, it is used at once.
    one.team.set(Network::Up);
    one.save("a", 3, "The queue is fair.").await.unwrap();
    one.save("a", 4, "The disk is full.").await.unwrap();
    assert!(one.team.times().pop().unwrap() > limits::TEAM_TRY_MIN);
}

#[tokio::test]
async fn a_call_for_news_that_a_write_displaced_still_shows_that_the_database_answers() {
    let one = Machine::first().await;
    one.team.set(Network::Stalled);
    one.owner.follow_team();
    refused(one.save("a", 1, "The cache is warm.").await);
    assert!(one.owner.team().unwrap().error.is_some());
    one.team.set(Network::Up);
    while one.owner.team().unwrap().error.is_some() {
        tokio::task::yield_now().await;
    }
}
