//! A gate that is opened by an attempt to join, and what waits at it.

use std::sync::Arc;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_first_attempt_and_then_hears_why_it_failed() {
    let gate = Arc::new(TeamGate::new(Joining::Trying));
    let waiting = Arc::clone(&gate);
    let waiting = tokio::spawn(async move { waiting.pass().await });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    gate.report(Joining::Failed("the database is away".to_owned()));
    let refused = waiting.await.unwrap().unwrap_err().to_string();
    assert!(refused.contains("the database is away"), "{refused}");
    // Later calls do not wait for the next attempt.
    assert!(gate.pass().await.is_err());
    gate.report(Joining::Done);
    assert!(gate.pass().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_ever() {
    let refused = TeamGate::new(Joining::Trying).pass().await.unwrap_err().to_string();
    assert!(refused.contains(STILL), "{refused}");
}
