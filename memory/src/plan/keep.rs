//! Handles the staged work of a gone session: keeps it on the session's behalf, or hands it to the
//! session's successor.

use super::held::hold;
use super::{Plan, Row, notice_of_end, put_fixes, put_row, stored_row_of};
use crate::activity::{LAST_MESSAGE, SessionActivity};
use crate::change::{Change, Notice, NoticeCause};
use crate::draft::Draft;
use crate::fold::{fold, keep_end};
use crate::held::{Held, HeldKey};
use crate::ids::{Kind, SessionId};
use crate::kinds::note::{Note, Scope};
use crate::limits::TEXT_BYTES_MAX;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::record::{Body, SessionRow};
use crate::staged::Counts;
use crate::staged::{Staged, count};

/// Folds a gone session's staged work into memory on its behalf and leaves a notice for the next
/// load. Returns `None` if nothing is staged. `origin` gives the time, and the client if the work
/// names none; `files_unseen` goes into the notice unchanged. In a team, only what stays on this
/// machine is folded. The rest is held until the team's database has it.
///
/// The row gets an entry if there is something new to say. The entry has the last staged summary
/// or, without one, the activity noted by rule. Then come counts of the staged work, what was not
/// taken of it, and the agent's last message.
///
/// A session that left only activity, lines of a topic's history or private notes gets no notice:
/// there is nothing to review.
pub fn plan_keep(
    memory: &Memory,
    session: &SessionId,
    origin: &Provenance,
    cause: NoticeCause,
    files_unseen: bool,
) -> Option<Plan<()>> {
    let staged = memory.staged_by(session)?;
    let client = if staged.client.is_empty() { &origin.client } else { &staged.client };
    let origin = Provenance::new(session.clone(), client.clone(), origin.time);

    let mut draft = Draft::new(memory);
    let rows = [true, false].map(|on_behalf| stored_row_of(&draft, session, on_behalf));
    let before = rows.into_iter().flatten().map(|(_, row)| row).max_by_key(|row| row.ended);
    // A topic's history may have been written by rule, so there may be something to fold without
    // any work.
    let held = if memory.team().is_some() {
        hold(&mut draft, Staged::clone(staged), &origin)
    } else {
        draft.fold(staged, &origin);
        None
    };
    if let Some(activity) = &staged.captured {
        put_fixes(&mut draft, activity, &origin);
    }
    let (kept, overtaken) = (shared_counts(staged, &draft), draft.not_taken());
    let row = row(staged, before.as_ref(), kept, &overtaken, &draft, &origin);
    let row = row.map(|row| put_row(&mut draft, row, &origin));
    let mut changes = draft.finish().changes;
    changes.push(Change::Unstage { session: session.clone() });
    let waits = |staged: Staged| Held {
        expected: None,
        key: HeldKey::of_end(session, origin.time),
        session: session.clone(),
        client: origin.client.clone(),
        time: origin.time,
        started: staged.first,
        summary: None,
        staged,
        merge: None,
        merge_end: None,
        left_out: Vec::new(),
        unseen: Vec::new(),
    };
    changes.extend(held.map(|staged| Change::Hold(Box::new(waits(staged)))));
    let Some(row) = row.filter(|_| staged.has_work()) else {
        return Some(Plan { changes, outcome: () });
    };
    let nothing_kept = kept == Counts::default() && overtaken.is_empty();
    let nothing_shared = nothing_kept && staged.summary.is_none();
    if staged.has_history_alone() || nothing_shared && cause == NoticeCause::Ended {
        return Some(Plan { changes, outcome: () });
    }
    let notice = notice_of_end(memory, row, &origin, cause, kept);
    changes.push(Change::Notify(Box::new(Notice { files_unseen, ..notice })));
    Some(Plan { changes, outcome: () })
}

/// Counts the staged work that others may see. Private notes are left out, and so is what was not
/// taken.
fn shared_counts(staged: &Staged, draft: &Draft<'_>) -> Counts {
    let shared = staged.notes.iter().filter(|note| !note.private).count();
    let mut counts = Counts { notes: count(shared), ..staged.counts() };
    let left_out = draft.left_out();
    for kind in Kind::ALL {
        *counts.of_mut(kind) = counts.of(kind).saturating_sub(left_out.of(kind));
    }
    counts
}

/// Builds the entry that is written on a session's behalf; `None` if there is nothing new to say.
fn row(
    staged: &Staged,
    before: Option<&SessionRow>,
    kept: Counts,
    overtaken: &[String],
    draft: &Draft<'_>,
    origin: &Provenance,
) -> Option<Row> {
    let activity = activity_since(staged, before);
    let summary = match (&staged.summary, &activity) {
        (Some(summary), _) => Some(summary.clone()),
        (None, Some(activity)) => Some(without_message(activity).row_summary()),
        (None, None) => None,
    };
    let kept = Some(kept).filter(|kept| *kept != Counts::default());
    let message = staged
        .captured
        .as_deref()
        .and_then(SessionActivity::last_message)
        .filter(|_| staged.has_work() || activity.is_some())
        .filter(|message| staged.summary.iter().all(|summary| !contains(summary, message)))
        .filter(|message| before.is_none_or(|row| !contains(&row.summary, message)));
    // A message comes last, since it may have any number of lines.
    let mut lines: Vec<String> = summary.into_iter().filter(|it| !it.is_empty()).collect();
    lines.extend(kept.map(|kept| format!("Staged {kept}.")));
    lines.extend(overtaken.iter().cloned());
    lines.extend(message.map(|message| format!("{LAST_MESSAGE}{message}")));
    if lines.is_empty() {
        if !staged.has_work() {
            return None;
        }
        lines.push(format!("Staged {}.", staged.counts()));
    }
    let by_rule = staged.summary.is_none() && before.is_none_or(|row| row.captured.is_some());
    let captured = activity.filter(|_| by_rule).map(|activity| {
        let mut all = before.and_then(|row| row.captured.as_deref().cloned()).unwrap_or_default();
        all.absorb(activity);
        Box::new(all.without_trace())
    });
    let (started, ended) = match (staged.has_work(), activity) {
        (false, Some(activity)) => activity.times(),
        _ => (staged.first, origin.time),
    };
    let summary = keep_end(lines.join("\n"), TEXT_BYTES_MAX);
    Some(Row {
        ended: before.map_or(ended, |row| row.ended.max(ended)),
        captured,
        ..Row::of_end(origin, started, summary, draft.added())
    })
}

/// Returns a session's pending activity if it is worth an entry. The session must have had a prompt
/// or written a file, and some of that must be newer than the row's newest entry.
fn activity_since<'a>(
    staged: &'a Staged,
    before: Option<&SessionRow>,
) -> Option<&'a SessionActivity> {
    let activity = staged.captured.as_deref().filter(|activity| activity.leaves_row())?;
    let Some(before) = before else { return Some(activity) };
    // The activity of the turn in which a session saves may be staged after that save.
    let is_later = before.on_behalf || activity.acted() > before.ended;
    let is_new = is_later
        && (!activity.files().is_empty()
            || activity.fixed().next().is_some()
            || activity.last_message().is_some_and(|message| !contains(&before.summary, message)));
    is_new.then_some(activity)
}

fn without_message(activity: &SessionActivity) -> SessionActivity {
    activity.clone().without(|text| Some(text) == activity.last_message())
}

/// Whether a text contains a message word for word, ignoring line breaks.
fn contains(text: &str, message: &str) -> bool {
    fold(text).contains(&fold(message))
}

/// Hands the staged work and private notes of a dead session to the session that continues it;
/// `None` if there are neither.
pub fn plan_adopt(
    memory: &Memory,
    from: &SessionId,
    to: &SessionId,
    origin: &Provenance,
) -> Option<Plan<()>> {
    if from == to {
        return None;
    }
    let mut draft = Draft::new(memory);
    for record in memory.private_of(from) {
        if let Body::Note(note) = &record.body {
            let note = Note { scope: Scope::Session(to.clone()), ..note.clone() };
            draft.take_over(record, note, origin);
        }
    }
    let mut changes = draft.finish().changes;
    if memory.staged_by(from).is_some() {
        changes.insert(0, Change::Adopt { from: from.clone(), to: to.clone() });
    }
    (!changes.is_empty()).then_some(Plan { changes, outcome: () })
}
