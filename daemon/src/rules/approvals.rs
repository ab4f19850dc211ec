//! Actions that wait for a person, and those that one approved.
//!
//! An approval is for exactly one action in one project. It is kept in memory alone: after a
//! restart, the action asks again.

use std::collections::BTreeMap;

use anchord_memory::Timestamp;
use anchord_memory::limits::APPROVED_MINUTES;
use sha2::{Digest as _, Sha256};

use super::Asked;
use crate::limits::{APPROVAL_WAITS_MINUTES, APPROVALS_MAX};

/// An action that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// The action as people read it.
    pub(crate) action: String,
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

/// Actions by id.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    pending: BTreeMap<String, Pending>,
    approved: BTreeMap<String, Timestamp>,
}

impl Approvals {
    pub(super) fn is_approved(&self, key: &str, now: Timestamp) -> bool {
        self.approved.get(key).is_some_and(|until| now < *until)
    }

    pub(super) fn ask(&mut self, key: &str, pending: Pending) {
        self.clear(pending.since);
        self.pending.insert(key.to_owned(), pending);
        while self.pending.len() > APPROVALS_MAX {
            let oldest = self.pending.iter().min_by_key(|(_, pending)| pending.since);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            self.pending.remove(&oldest);
        }
    }

    pub(super) fn approve(&mut self, id: &str, now: Timestamp) -> Option<Approval> {
        self.clear(now);
        let pending = self.pending.remove(id)?;
        let until = Timestamp(now.0 + minutes(APPROVED_MINUTES));
        self.approved.insert(id.to_owned(), until);
        Some(Approval { action: pending.action, until })
    }

    pub(super) fn pending(&mut self, now: Timestamp) -> Vec<(String, Pending)> {
        self.clear(now);
        let pending = self.pending.iter().map(|(id, pending)| (id.clone(), pending.clone()));
        let mut pending: Vec<_> = pending.collect();
        pending.sort_by_key(|(_, pending)| pending.since);
        pending
    }

    fn clear(&mut self, now: Timestamp) {
        self.approved.retain(|_, until| now < *until);
        self.pending.retain(|_, it| now.0 - it.since.0 < minutes(APPROVAL_WAITS_MINUTES));
    }
}

fn minutes(minutes: u32) -> i64 {
    i64::from(minutes) * 60_000
}

/// Returns the id of an action in a project. A command is the same action whichever tool runs it or
/// asks about it.
pub(super) fn key(project: &str, asked: &Asked) -> String {
    let Asked { action, command, paths, tool, writes: _, access: _ } = asked;
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
    digest.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
