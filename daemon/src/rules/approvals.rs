//! Actions that wait for a person, and those that one approved.
//!
//! An approval is for exactly one action in one project. It is kept in memory alone: after a
//! restart, the action asks again.

use std::collections::BTreeMap;

use anchord_memory::Timestamp;
use anchord_memory::limits::APPROVED_MINUTES;
use sha2::{Digest as _, Sha256};

use super::IntendedAction;
use crate::limits::{APPROVAL_WAITS_MINUTES, APPROVALS_MAX};

/// The least number of digits of an id. More are used if two waiting actions begin alike.
const ID_DIGITS: usize = 8;

/// An action that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// The action as people read it.
    pub(crate) action: String,
    /// The root of its project, if it is in one.
    pub(crate) root: Option<String>,
    /// The titles of the rules that ask.
    pub(crate) rules: Vec<String>,
    /// The session that asked last.
    pub(crate) session: String,
    /// The time at which it last asked.
    pub(crate) since: Timestamp,
}

/// An approved action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Approval {
    pub(crate) action: String,
    /// The time until which it passes.
    pub(crate) until: Timestamp,
}

/// An action in a project, by the SHA-256 digest of all that makes it this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ActionKey([u8; 32]);

impl ActionKey {
    /// Returns the key in hexadecimal digits.
    fn digits(self) -> String {
        base16ct::lower::encode_string(&self.0)
    }
}

/// The actions that wait or were approved.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    /// By the id that a person types: the first digits of the key.
    pending: BTreeMap<String, (ActionKey, Pending)>,
    approved: BTreeMap<ActionKey, Timestamp>,
}

impl Approvals {
    pub(super) fn is_approved(&self, key: ActionKey, now: Timestamp) -> bool {
        self.approved.get(&key).is_some_and(|until| now < *until)
    }

    /// Keeps an action for a person to approve, and returns its id. No other waiting action has
    /// that id, so that nobody approves one for another.
    pub(super) fn ask(&mut self, key: ActionKey, pending: Pending) -> String {
        self.clear(pending.since);
        let digits = key.digits();
        let is_free = |id: &&str| self.pending.get(*id).is_none_or(|(other, _)| *other == key);
        let ids = (ID_DIGITS..=digits.len()).filter_map(|length| digits.get(..length));
        let id = ids.into_iter().find(is_free).unwrap_or(&digits).to_owned();
        self.pending.insert(id.clone(), (key, pending));
        while self.pending.len() > APPROVALS_MAX {
            let oldest = self.pending.iter().min_by_key(|(_, (_, pending))| pending.since);
            let Some(oldest) = oldest.map(|(id, _)| id.clone()) else { break };
            self.pending.remove(&oldest);
        }
        id
    }

    pub(super) fn approve(&mut self, id: &str, now: Timestamp) -> Option<Approval> {
        self.clear(now);
        let (key, pending) = self.pending.remove(id)?;
        let until = Timestamp(now.0 + minutes(APPROVED_MINUTES));
        self.approved.insert(key, until);
        Some(Approval { action: pending.action, until })
    }

    /// Forgets that an action waits, since it passes or was done.
    pub(super) fn settle(&mut self, key: ActionKey) {
        self.pending.retain(|_, (waiting, _)| *waiting != key);
    }

    pub(super) fn pending(&mut self, now: Timestamp) -> Vec<(String, Pending)> {
        self.clear(now);
        let pending = self.pending.iter().map(|(id, (_, pending))| (id.clone(), pending.clone()));
        let mut pending: Vec<_> = pending.collect();
        pending.sort_by_key(|(_, pending)| pending.since);
        pending
    }

    fn clear(&mut self, now: Timestamp) {
        self.approved.retain(|_, until| now < *until);
        self.pending.retain(|_, (_, it)| now.0 - it.since.0 < minutes(APPROVAL_WAITS_MINUTES));
    }
}

fn minutes(minutes: u32) -> i64 {
    i64::from(minutes) * 60_000
}

/// Returns the key of an action in a project. A command is the same action whichever tool runs or
/// asks about it, and in whichever directory.
pub(super) fn key(project: &str, asked: &IntendedAction) -> ActionKey {
    let IntendedAction { action, command, paths, tool, .. } = asked;
    let (others, paths) = match command {
        Some(_) => ([&None, &None], &[][..]),
        None => ([action, tool], paths.as_slice()),
    };
    let texts = [command, others[0], others[1]].map(|text| text.as_deref().unwrap_or_default());
    let texts = texts.into_iter().chain(paths.iter().map(String::as_str));
    let mut digest = Sha256::new();
    for text in std::iter::once(project).chain(texts) {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    }
    ActionKey(digest.finalize().into())
}

#[cfg(test)]
mod tests;
