//! Imports sessions that ended before anchord knew them, from the transcripts that their clients
//! keep. Each yields one row, recorded by rule.
//!
//! A conversation has one row forever, identified by its client's own key. So the same transcript
//! again changes nothing, even after its row was forgotten. After an undo of the import it can be
//! imported again. A conversation that hooks recorded has its row already. A transcript that has
//! grown since updates its row.

use std::collections::{BTreeMap, BTreeSet};

use crate::activity::SessionActivity;
use crate::draft::Draft;
use crate::ids::{Kind, SessionId, Timestamp};
use crate::memory::Memory;
use crate::plan::{Plan, Row, put_fixes, put_row};
use crate::provenance::Provenance;
use crate::record::{Body, Record, SessionRow};
use crate::staged::Counts;

/// A session that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastSession {
    /// The session's client, such as `codex`.
    pub client: String,
    /// The recorded activity; its key identifies the conversation.
    pub captured: SessionActivity,
}

/// The outcome of an import of past sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PastOutcome {
    /// The number of new rows.
    pub added: u32,
    /// The number of updated rows, of sessions that continued after an earlier import.
    pub updated: u32,
    /// The number of sessions that have a row, or had one that was purged or that somebody forgot.
    pub known: u32,
    /// The number of sessions without a prompt and without a written file.
    pub empty: u32,
}

/// Plans a row for each session that has none, oldest first and with its own times. Updates the row
/// of a session that continued after an earlier import. `now` bounds the times.
pub fn plan_import_sessions(
    memory: &Memory,
    sessions: &[PastSession],
    now: Timestamp,
) -> Plan<PastOutcome> {
    let mut outcome = PastOutcome::default();
    let longest = longest(sessions, &mut outcome);
    let known = KnownConversations::of(memory);
    let mut draft = Draft::new(memory);
    for past in longest {
        let captured = &past.captured;
        let is_gone = |text: &str| memory.tombstones().of(text).is_some();
        let own = captured.clone().without(is_gone);
        if known.went_on(past.captured.key(), &own) {
            put_past(&mut draft, &past.client, own, now);
            outcome.updated += 1;
        } else if known.has(past) || is_gone(captured.key()) || is_gone(&captured.row_summary()) {
            outcome.known += 1;
        } else if captured.key().is_empty() || !own.leaves_row() {
            outcome.empty += 1;
        } else {
            put_past(&mut draft, &past.client, own, now);
            outcome.added += 1;
        }
    }
    Plan { changes: draft.finish().changes, outcome }
}

/// Returns each conversation once, in its longest form, ordered by its end.
fn longest<'a>(sessions: &'a [PastSession], outcome: &mut PastOutcome) -> Vec<&'a PastSession> {
    let mut sessions: Vec<&PastSession> = sessions.iter().collect();
    sessions.sort_by_key(|past| (past.captured.times().1, past.captured.key()));
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    sessions.reverse();
    sessions.retain(|past| {
        let first = past.captured.key().is_empty() || seen.insert(past.captured.key());
        outcome.known += u32::from(!first);
        first
    });
    sessions.reverse();
    sessions
}

fn put_past(draft: &mut Draft<'_>, client: &str, captured: SessionActivity, now: Timestamp) {
    let session = SessionId::new(captured.key());
    let (started, ended) = captured.times();
    let ended = ended.min(now);
    let origin = Provenance::new(session, client.into(), ended);
    put_fixes(draft, &captured, &origin);
    let captured = captured.without_trace();
    let summary = captured.row_summary();
    let row = Row {
        captured: Some(Box::new(captured)),
        // A transcript that has grown still contains everything from before.
        rewrites: true,
        ..Row::of_end(&origin, started.min(ended), summary, Counts::default())
    };
    put_row(draft, row, &origin);
}

/// Returns whether an active row was imported here, rather than written for hooks. Such a row has
/// its conversation's key, and was written at the time of its session's end. A session reported by
/// hooks is kept later than it ends.
fn is_of_transcript(record: &Record, row: &SessionRow, captured: &SessionActivity) -> bool {
    let own_key = captured.key() == &*row.session.0;
    record.state.is_active() && own_key && record.updated.time == row.ended
}

/// The conversations that a memory knows, by each way of recognising them.
struct KnownConversations<'a> {
    keys: BTreeSet<&'a str>,
    /// The activity in active rows that came from transcripts, by conversation. Rows that hooks
    /// wrote are left to the hooks.
    imported: BTreeMap<&'a str, &'a SessionActivity>,
    /// Rows that agents wrote, which name no conversation.
    written: Vec<(&'a Record, &'a SessionRow)>,
}

impl<'a> KnownConversations<'a> {
    fn of(memory: &'a Memory) -> Self {
        let mut known =
            Self { keys: BTreeSet::new(), imported: BTreeMap::new(), written: Vec::new() };
        let staged = memory.staged();
        known.keys.extend(
            staged
                .filter_map(|(_, staged)| staged.captured.as_ref())
                .map(|activity| activity.key()),
        );
        for record in memory.records().filter(|record| record.kind() == Kind::SessionRow) {
            let Body::SessionRow(row) = &record.body else { continue };
            // Its import was undone. What hooks wrote is later than its session's end.
            if record.is_taken_back() && record.created.time <= row.ended {
                continue;
            }
            known.keys.insert(&row.session.0);
            match &row.captured {
                Some(captured) => {
                    known.keys.insert(captured.key());
                    if is_of_transcript(record, row, captured) {
                        known.imported.insert(captured.key(), captured);
                    }
                }
                None => known.written.push((record, row)),
            }
        }
        known
    }

    /// Returns whether an imported session did more since its import.
    fn went_on(&self, key: &str, own: &SessionActivity) -> bool {
        let later = |before: &SessionActivity| {
            own.times().1 > before.times().1 && own.clone().without_trace() != *before
        };
        self.imported.get(key).is_some_and(|before| later(before))
    }

    /// Returns whether this session has a row. An agent's own row does not name its conversation.
    /// If the agent saved something itself, a row of the same client and time counts as its own.
    fn has(&self, past: &PastSession) -> bool {
        let (first, last) = past.captured.times();
        let same_client = |client: &str| {
            !client.is_empty()
                && (client.starts_with(&past.client) || past.client.starts_with(client))
        };
        let own = |(record, row): &(&Record, &SessionRow)| {
            same_client(&record.created.client) && row.started <= last && row.ended >= first
        };
        self.keys.contains(past.captured.key())
            || (past.captured.kept_itself() && self.written.iter().any(own))
    }
}

#[cfg(test)]
mod tests;
