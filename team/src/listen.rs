//! Notifications about new entries, on a connection of their own.
//!
//! A pooler in transaction mode does not pass notifications on, so this needs a direct connection.

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use crate::append::CHANNEL;
use crate::connect::{Dialer, Session};
use crate::error::Error;
use crate::limits::{LISTENER_ANSWER_TIME_MAX, LISTENER_IDLE_TIME_MAX, NOTIFICATIONS_MAX};

/// A notification: a project's head has reached a `seq`. It is a hint and may be lost, repeated or
/// forged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadNotification {
    /// The project.
    pub project: Uuid,
    /// The `seq` of its last entry at that time.
    pub seq: u64,
}

/// A connection that hears the notifications of all projects.
#[derive(Debug)]
pub struct Listener {
    session: Session,
    notified: mpsc::Receiver<String>,
    round_trips: watch::Sender<u64>,
    answer: Duration,
}

impl Listener {
    pub(crate) async fn open(dialer: &Dialer) -> Result<Self, Error> {
        let (sender, notified) = mpsc::channel(NOTIFICATIONS_MAX);
        let session = dialer.connect(Some(sender)).await?;
        if session.is_standby {
            return Err(Error::ReadOnlyServer);
        }
        let listen = format!("LISTEN {CHANNEL}");
        let listened = session.client.batch_execute(&listen);
        tokio::time::timeout(dialer.timeouts.query, listened).await.map_err(|_| Error::Slow)??;
        let answer = LISTENER_ANSWER_TIME_MAX.min(dialer.timeouts.query);
        Ok(Self { session, notified, round_trips: watch::Sender::new(1), answer })
    }

    /// Waits for the next notification.
    ///
    /// Makes a round trip every 0.5 s meanwhile, and fails when the connection is lost or a round
    /// trip takes more than 5 s. After an error, open another listener and read all heads. Nothing
    /// is lost if the future is dropped.
    pub async fn next(&mut self) -> Result<HeadNotification, Error> {
        loop {
            let payload = tokio::select! {
                biased;
                payload = self.notified.recv() => payload,
                () = tokio::time::sleep(LISTENER_IDLE_TIME_MAX) => {
                    self.session.ping(self.answer).await?;
                    self.round_trips.send_modify(|count| *count += 1);
                    continue;
                }
            };
            let end = || Error::Unreachable(self.session.events.end());
            if let Some(notified) = parse(&payload.ok_or_else(end)?) {
                return Ok(notified);
            }
        }
    }

    /// Returns the count of round trips, which rises while [`next`](Self::next) is awaited. The
    /// caller is connected as long as it has changed within the last second.
    pub fn round_trips(&self) -> watch::Receiver<u64> {
        self.round_trips.subscribe()
    }
}

fn parse(payload: &str) -> Option<HeadNotification> {
    let (project, seq) = payload.split_once(' ')?;
    Some(HeadNotification { project: project.parse().ok()?, seq: seq.parse().ok()? })
}

#[cfg(test)]
mod tests;
