//! The ledger of an agent's unanswered requests. It is pure: lines and events go in, lines to send
//! come out. It knows no socket and no clock.
//!
//! Invariants:
//!
//! - A line keeps its number for ever. A connection gets its lines in the order of their numbers,
//!   those of an earlier connection first.
//!
//! - A request leaves by its reply, by its cancellation, or by an error to its caller.
//!
//! - After a death, requests go one at a time ([`Ledger::needs_turn`]) until none is left that was
//!   in flight at the death. A request that kills again is then alone.
//!
//! - A request in flight at two deaths is not sent a third time.

use std::collections::VecDeque;

use anchord_proto::limits::{UNANSWERED_BYTES_MAX, UNANSWERED_LINES_MAX};
use anchord_proto::line::McpLine;

use crate::message::{Call, Id};

/// See the module's header.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    last_number: u64,
    /// Unanswered requests, ordered by number. There are a few in practice and a thousand at most,
    /// so searching is cheap.
    open: Vec<Request>,
    /// Lines that this connection has not been sent, in order.
    queue: VecDeque<Queued>,
    queued_notifications: usize,
    held_bytes: usize,
    handshake: Option<Handshake>,
    /// Whether a reply is due to a handshake whose first reply the agent has already seen.
    swallow: bool,
    careful: bool,
    alone: Option<u64>,
}

#[derive(Debug)]
struct Request {
    number: u64,
    json: String,
    id: Id,
    call: Call,
    sent: bool,
    deaths: u8,
    /// Whether it was in flight at a death, and has not been in flight long enough since to be
    /// cleared.
    suspect: bool,
}

#[derive(Debug)]
enum Queued {
    Request(u64),
    Notification(u64, String),
    /// Part of a repeated handshake.
    Handshake(u64, String),
}

#[derive(Debug)]
struct Handshake {
    number: u64,
    json: String,
    id: Id,
    revision: Option<String>,
    initialized: Option<(u64, String)>,
}

/// A request that no daemon will answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Failed {
    pub(crate) id: Id,
    /// Whether it was in flight when a daemon died, so that it may have taken effect.
    pub(crate) died: bool,
}

/// The treatment of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The reply goes to the agent.
    Forward,
    /// The reply is dropped, since the agent already has it.
    Swallow,
}

impl Ledger {
    /// Returns whether there is no room for a request of this length.
    pub(crate) fn is_full_for(&self, json: &str) -> bool {
        self.open.len() + self.queued_notifications >= UNANSWERED_LINES_MAX
            || self.held_bytes + json.len() > UNANSWERED_BYTES_MAX
    }

    /// Returns whether so much waits for a daemon that no line can be taken, not even a
    /// notification.
    pub(crate) fn is_flooded(&self) -> bool {
        self.queued_notifications >= UNANSWERED_LINES_MAX || self.held_bytes > UNANSWERED_BYTES_MAX
    }

    /// Returns whether every request is answered and every line is sent.
    pub(crate) fn is_settled(&self) -> bool {
        self.open.is_empty() && self.queue.is_empty()
    }

    /// Returns whether any request is unanswered.
    pub(crate) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the requests whose answers are due. A lasting request is answered only at its end.
    pub(crate) fn due(&self) -> impl Iterator<Item = &str> {
        let due = self.open.iter().filter(|request| request.call != Call::Lasting);
        due.map(|request| request.json.as_str())
    }

    /// Returns the MCP revision from the reply to `initialize`.
    pub(crate) fn revision(&self) -> Option<&str> {
        self.handshake.as_ref()?.revision.as_deref()
    }

    /// Adds a request.
    pub(crate) fn request(&mut self, id: Id, call: Call, json: String) {
        let number = self.number();
        if call == Call::Initialize {
            self.handshake = Some(Handshake {
                number,
                json: json.clone(),
                id: id.clone(),
                revision: None,
                initialized: None,
            });
        }
        self.held_bytes += json.len();
        self.open.push(Request { number, json, id, call, sent: false, deaths: 0, suspect: false });
        self.queue.push_back(Queued::Request(number));
    }

    /// Adds a line that needs no answer.
    pub(crate) fn notification(&mut self, json: String) {
        let number = self.number();
        self.queued_notifications += 1;
        self.held_bytes += json.len();
        self.queue.push_back(Queued::Notification(number, json));
    }

    /// Adds `notifications/initialized`, which a new daemon must get, too.
    pub(crate) fn initialized(&mut self, json: String) {
        let number = self.last_number + 1;
        if let Some(handshake) = &mut self.handshake {
            handshake.initialized = Some((number, json.clone()));
        }
        self.notification(json);
    }

    /// Records that a request is cancelled, so that it is not sent again. Of two with the same id,
    /// this is the later one. `initialize` cannot be cancelled.
    pub(crate) fn cancelled(&mut self, id: &Id) {
        let number = self
            .open
            .iter()
            .rev()
            .find(|request| request.id == *id && request.call != Call::Initialize)
            .map(|request| request.number);
        if let Some(number) = number {
            self.close(number);
            self.queue.retain(|queued| !matches!(queued, Queued::Request(n) if *n == number));
        }
    }

    /// Drops waiting notifications. For use while no search for a daemon runs.
    pub(crate) fn drop_notifications(&mut self) {
        let held_bytes = &mut self.held_bytes;
        self.queue.retain(|queued| {
            if let Queued::Notification(_, json) = queued {
                *held_bytes -= json.len();
            }
            matches!(queued, Queued::Request(_))
        });
        self.queued_notifications = 0;
    }

    /// Records a new connection. Repeats the handshake if the agent has seen its reply.
    pub(crate) fn connected(&mut self) {
        let Some(handshake) = self.handshake.as_ref().filter(|h| h.revision.is_some()) else {
            return;
        };
        self.swallow = true;
        if let Some((number, json)) = &handshake.initialized {
            let unsent = self
                .queue
                .iter()
                .any(|queued| matches!(queued, Queued::Notification(n, _) if n == number));
            if !unsent {
                self.queue.push_front(Queued::Handshake(*number, json.clone()));
            }
        }
        self.queue.push_front(Queued::Handshake(handshake.number, handshake.json.clone()));
    }

    /// Records that the connection is lost. Returns the requests that will not be sent a third
    /// time.
    pub(crate) fn lost(&mut self) -> Vec<Id> {
        self.swallow = false;
        self.alone = None;
        self.careful = true;
        for request in self.open.iter_mut().filter(|request| request.sent) {
            request.sent = false;
            request.suspect = true;
            request.deaths += 1;
        }
        let failed: Vec<u64> = self
            .open
            .iter()
            .filter(|request| request.deaths >= 2)
            .map(|request| request.number)
            .collect();
        let failed = failed.into_iter().filter_map(|number| self.give_up(number)).collect();

        // Queues the requests again, each at its place among the notifications that were not sent.
        let mut requests = self.open.iter().map(|request| request.number).peekable();
        let mut queue = VecDeque::with_capacity(self.open.len());
        for queued in self.queue.drain(..) {
            if let Queued::Notification(number, _) = &queued {
                while let Some(earlier) = requests.next_if(|request| request < number) {
                    queue.push_back(Queued::Request(earlier));
                }
                queue.push_back(queued);
            }
        }
        queue.extend(requests.map(Queued::Request));
        self.queue = queue;
        failed
    }

    /// Records that no daemon will answer. Returns every open request and drops all waiting lines.
    pub(crate) fn fail_all(&mut self) -> Vec<Failed> {
        let open: Vec<(u64, bool)> =
            self.open.iter().map(|request| (request.number, request.deaths > 0)).collect();
        self.queue.clear();
        self.queued_notifications = 0;
        let failed = open
            .into_iter()
            .filter_map(|(number, died)| Some(Failed { id: self.give_up(number)?, died }))
            .collect();
        self.held_bytes = 0;
        failed
    }

    /// Returns whether the next line is a request that must be alone in flight, among the requests
    /// of all shims.
    pub(crate) fn needs_turn(&self) -> bool {
        self.careful
            && self.alone.is_none()
            && matches!(self.queue.front(), Some(Queued::Request(_)))
    }

    /// Returns whether a request is in flight alone and others wait for it.
    pub(crate) fn is_alone(&self) -> bool {
        self.alone.is_some()
    }

    /// Clears the request that is in flight alone. It has been there long enough not to be the one
    /// that kills.
    pub(crate) fn let_go(&mut self) {
        let Some(request) = self.alone.take().and_then(|number| self.open_mut(number)) else {
            return;
        };
        request.suspect = false;
        if request.call == Call::Lasting {
            // It lives through any number of restarts. A count of deaths would end it at the
            // second.
            request.deaths = 0;
        }
        self.careful = self.open.iter().any(|request| request.suspect);
    }

    /// Appends the next line to `out`. Returns whether there is one that may be sent now.
    pub(crate) fn write_next(&mut self, out: &mut Vec<u8>) -> bool {
        if self.alone.is_some() {
            return false;
        }
        let acknowledged = self.acknowledged();
        let mut write = |number: u64, json: &str| {
            McpLine { number, acknowledged: acknowledged.min(number - 1), json }.write_to(out);
        };
        match self.queue.pop_front() {
            None => return false,
            Some(Queued::Request(number)) => {
                let careful = self.careful;
                if let Some(request) = self.open_mut(number) {
                    request.sent = true;
                    write(number, &request.json);
                    self.alone = careful.then_some(number);
                }
            }
            Some(Queued::Notification(number, json)) => {
                self.queued_notifications -= 1;
                self.held_bytes -= json.len();
                write(number, &json);
            }
            Some(Queued::Handshake(number, json)) => write(number, &json),
        }
        true
    }

    /// Records a reply. `revision` reads it as a reply to `initialize`. Of two requests in flight
    /// with the same id, it answers the earlier one.
    pub(crate) fn reply(&mut self, id: &Id, revision: impl FnOnce() -> Option<String>) -> Reply {
        if self.swallow && self.handshake.as_ref().is_some_and(|handshake| handshake.id == *id) {
            self.swallow = false;
            return Reply::Swallow;
        }
        let number = self
            .open
            .iter()
            .find(|request| request.sent && request.id == *id)
            .map(|request| request.number);
        if let Some(number) = number {
            self.close(number);
            if let Some(handshake) = self.handshake.as_mut().filter(|h| h.number == number) {
                handshake.revision = revision();
            }
            // The handshake was refused, so there is none to repeat.
            self.handshake.take_if(|h| h.number == number && h.revision.is_none());
        }
        Reply::Forward
    }

    /// Returns the number up to which every line is answered or needs no answer.
    fn acknowledged(&self) -> u64 {
        self.open.first().map_or(self.last_number, |first| first.number - 1)
    }

    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn position(&self, number: u64) -> Option<usize> {
        self.open.iter().position(|request| request.number == number)
    }

    fn open_mut(&mut self, number: u64) -> Option<&mut Request> {
        self.open.iter_mut().find(|request| request.number == number)
    }

    /// Closes a request that failed. Its caller gets an error.
    fn give_up(&mut self, number: u64) -> Option<Id> {
        if self.handshake.as_ref().is_some_and(|handshake| handshake.number == number) {
            self.handshake = None;
        }
        self.close(number).map(|request| request.id)
    }

    fn close(&mut self, number: u64) -> Option<Request> {
        let request = self.open.remove(self.position(number)?);
        self.held_bytes = self.held_bytes.saturating_sub(request.json.len());
        if self.alone == Some(number) {
            self.alone = None;
        }
        if request.sent || request.suspect {
            self.careful &= self.open.iter().any(|request| request.suspect);
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests;
