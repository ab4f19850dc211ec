//! Fixes that the daemon observed, kept as lessons made by rule.
//!
//! Such a lesson says what to do when a command fails the same way again. If the same failure is
//! fixed again, the lesson counts it and says what helped last. A lesson that a person has edited
//! only counts it. Forgotten and purged lessons do not come back. Lessons made by rule have a limit
//! of their own, so they never push out lessons that agents wrote.

use crate::activity::{Fix, SessionActivity, own_files};
use crate::draft::Draft;
use crate::fold::{clip, one_line};
use crate::ids::{Kind, Timestamp};
use crate::limits::{CAPTURED_LESSONS_MAX, FIX_COMMAND_CHARS_MAX, FIX_ERROR_CHARS_MAX};
use crate::provenance::Provenance;
use crate::record::{Body, FixedFailure, Lesson, Record, RecordState};

/// Keeps the fixes noted from a session, if the session leaves a row.
pub(crate) fn put_fixes(draft: &mut Draft<'_>, captured: &SessionActivity, origin: &Provenance) {
    if !captured.leaves_row() {
        return;
    }
    for fix in captured.fixes() {
        put_fix(draft, fix, origin);
    }
    archive_oldest(draft, origin);
}

fn put_fix(draft: &mut Draft<'_>, fix: &Fix, origin: &Provenance) {
    let time = fix.time.min(origin.time);
    let Some(lesson) = lesson(fix, time) else { return };
    let tombstones = draft.head().tombstones();
    let purged =
        [&fix.error, &lesson.summary].into_iter().any(|text| tombstones.of(text).is_some());
    if purged || is_forgotten(draft, &lesson, origin) {
        return;
    }
    let body = Body::Lesson(lesson.clone());
    let Some(stored) = draft.head().existing_match(&body).cloned() else {
        draft.create(body, origin);
        return;
    };
    let Body::Lesson(known) = &stored.body else { return };
    // A longer transcript may be read again, and a conversation may be reported twice. If a fix is
    // dated after this write, nothing shows whether an earlier write counted it.
    let is_dated_later = fix.time > time;
    if is_dated_later || known.captured.as_ref().is_some_and(|known| known.last >= time) {
        return;
    }
    let body = Body::Lesson(fixed_again(known, lesson));
    draft.change(stored.id, body, RecordState::Active, origin);
}

/// Returns a stored lesson with the next fix of its failure. It says what helped last, unless a
/// person has edited it.
fn fixed_again(known: &Lesson, new: Lesson) -> Lesson {
    let Some((before, now)) = known.captured.as_deref().zip(new.captured.as_deref()) else {
        return new;
    };
    let counts = (before.times.saturating_add(now.times), now.last);
    let mut lesson = if is_edited(known) { known.clone() } else { new };
    if let Some(fixed) = &mut lesson.captured {
        (fixed.times, fixed.last) = counts;
    }
    lesson
}

/// Builds the lesson of a fix; `None` if it has neither a remedy nor files of its own.
fn lesson(fix: &Fix, time: Timestamp) -> Option<Lesson> {
    let files = own_files(fix);
    let captured = FixedFailure {
        command: fix.command.clone(),
        error: fix.error.clone(),
        remedy: fix.remedy.clone(),
        times: 1,
        last: time,
    };
    let (summary, detail) = texts(&captured, &files)?;
    let captured = Some(Box::new(captured));
    Some(Lesson { summary, detail, files, captured, ..Lesson::default() })
}

/// Builds the summary and detail of a lesson from a failure and the files edited to fix it; `None`
/// if there is neither a remedy nor a file.
fn texts(fixed: &FixedFailure, files: &[String]) -> Option<(String, String)> {
    let advice = match &fixed.remedy {
        Some(remedy) => format!("run {}", quoted(remedy)),
        None if files.is_empty() => return None,
        None => format!("passed after editing {}", files.join(", ")),
    };
    // The summary is shown on one line that may be cut, so the advice has to fit.
    let error = clip(without_level(&fixed.error), FIX_ERROR_CHARS_MAX);
    let command = clip(&fixed.command, FIX_COMMAND_CHARS_MAX);
    let summary = format!("{} failed with {}: {advice}", quoted(&command), quoted(&error));
    let is_cut = error.ends_with('…') || command.ends_with('…');
    let detail = if is_cut { format!("{}\n{}", fixed.command, fixed.error) } else { String::new() };
    Some((summary, detail))
}

/// Whether a person edited a lesson made by rule: its texts are not those that the rule makes.
fn is_edited(lesson: &Lesson) -> bool {
    let Some(fixed) = &lesson.captured else { return false };
    texts(fixed, &lesson.files).is_none_or(|(summary, detail)| {
        // An import or an edit of the tags may have trimmed them.
        one_line(&summary) != one_line(&lesson.summary) || detail.trim() != lesson.detail.trim()
    })
}

/// Formats a text as Markdown code, with its own backquotes replaced.
fn quoted(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// Strips the prefix that only says that the line is an error.
fn without_level(error: &str) -> &str {
    const LEVELS: [&str; 6] = ["error: ", "Error: ", "ERROR: ", "fatal: ", "FATAL: ", "FAILED: "];
    LEVELS.iter().find_map(|level| error.strip_prefix(level)).unwrap_or(error)
}

/// Whether the same lesson made by rule was forgotten. If an undo took it back together with its
/// session, that session may be imported again.
fn is_forgotten(draft: &Draft<'_>, lesson: &Lesson, origin: &Provenance) -> bool {
    let key = lesson.text_key();
    let is_undone =
        |record: &Record| record.is_taken_back() && record.created.session == origin.session;
    let forgotten = draft
        .head()
        .records_of(Kind::Lesson)
        .filter(|record| record.state == RecordState::Forgotten && !is_undone(record));
    let mut same = forgotten.filter_map(|record| match &record.body {
        Body::Lesson(lesson) if lesson.captured.is_some() => Some(lesson.text_key()),
        _ => None,
    });
    same.any(|forgotten| forgotten == key)
}

/// Archives lessons made by rule beyond the limit, starting with those not seen for the longest
/// time. Pinned ones stay.
fn archive_oldest(draft: &mut Draft<'_>, origin: &Provenance) {
    let active = draft.head().active_of(Kind::Lesson);
    let mut captured: Vec<_> = active
        .filter(|record| !record.pinned)
        .filter_map(|record| Some((failure(record)?.last, record.id)))
        .collect();
    captured.sort_unstable();
    let over = captured.len().saturating_sub(CAPTURED_LESSONS_MAX);
    for (_, id) in captured.into_iter().take(over) {
        draft.set_state(id, RecordState::Archived, origin);
    }
}

/// Returns the failure of a lesson made by rule.
fn failure(record: &Record) -> Option<&FixedFailure> {
    match &record.body {
        Body::Lesson(lesson) => lesson.captured.as_deref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
