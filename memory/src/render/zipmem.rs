//! Texts of `--tools zipmem`, in the forms that users of that system know, over the same memory.

use std::collections::BTreeSet;

use super::load::LoadText;
use super::{append, item, kinds, newest_rows, notice, replies};
use crate::archive::Archived;
use crate::change::{Notice, NoticeCause};
use crate::fold::{one_line, with_block};
use crate::ids::{Kind, NoticeId, Timestamp};
use crate::limits::{ACTIVE_TEXT_SOFT_BYTES_MAX, ROWS_SHOWN_MAX, ZIPMEM_FILES_MAX};
use crate::memory::Memory;
use crate::plan::{CheckpointOutcome, SaveOutcome};
use crate::record::{Body, Category, Record, RecordState};

/// The arguments of a load in this form.
#[derive(Clone, Copy, Debug)]
pub struct LoadView<'a> {
    /// The project's name.
    pub project: &'a str,
    /// The kinds to show.
    pub sections: &'a [Kind],
    /// Whether to show lessons that are out of the other sections, to make room.
    pub archived_lessons: bool,
    /// Notices that have been shown before.
    pub notices_seen: &'a BTreeSet<NoticeId>,
    /// The day that an empty memory shows as its last update.
    pub now: Timestamp,
}

/// Renders the reply to `zipmem_load_memory`. It is never cut, as in the original.
pub fn load(memory: &Memory, view: &LoadView<'_>) -> LoadText {
    let (mut text, notices_shown, _) =
        notice::notices(memory, view.notices_seen, usize::MAX, |group, _| Some(recovery(group)));
    if !text.is_empty() {
        text.push('\n');
    }
    let updated = memory.last_written().map_or(view.now, |record| record.updated.time);
    append(
        &mut text,
        format_args!(
            "# ZipMem: Project Memory Loaded\n## Project: {} | Sessions: {} | Updated: {}\n",
            one_line(view.project),
            memory.session_rows(),
            updated.date()
        ),
    );
    let totals = memory.totals();
    if totals.active() == 0 {
        text.push_str(
            "Nothing is recorded yet. Call zipmem_checkpoint as you work and zipmem_save_and_compact before you end.\n",
        );
        return LoadText { text, notices_shown, ..LoadText::default() };
    }
    if totals.text_bytes > ACTIVE_TEXT_SOFT_BYTES_MAX {
        let size = totals.text_bytes / 1024;
        append(
            &mut text,
            format_args!(
                "> ⚠️ Memory is {size}KB (soft limit 100KB). Leave out of the next saves what no longer matters.\n"
            ),
        );
    }
    for kind in Kind::ALL {
        if view.sections.contains(&kind) && totals.active.of(kind) > 0 {
            text.push_str(&section(memory, kind));
        }
    }
    if view.archived_lessons {
        let is_archived = |record: &&Record| record.state == RecordState::Archived;
        let lessons = memory.records_of(Kind::Lesson).map(|record| &**record).filter(is_archived);
        let lessons: Vec<&Record> = lessons.collect();
        let count = lessons.len();
        append(&mut text, format_args!("\n### Archived Lessons ({count})\n{}", lines(&lessons)));
    }
    let rows = newest_rows(memory, ROWS_SHOWN_MAX).into_iter().map(|row| row.id);
    let kept = [Kind::Blueprint, Kind::Anchor, Kind::Lesson]
        .into_iter()
        .flat_map(|kind| memory.active_of(kind).map(|record| record.id));
    let shown = kept.chain(rows).filter(|id| view.sections.contains(&id.kind)).collect();
    LoadText { text, notices_shown, shown, ..LoadText::default() }
}

fn section(memory: &Memory, kind: Kind) -> String {
    let records: Vec<&Record> = memory.active_of(kind).map(|record| &**record).collect();
    let count = records.len();
    match kind {
        Kind::Blueprint => format!("\n### Blueprints ({count})\n{}", lines(&records)),
        Kind::Anchor => format!(
            "\n### File Anchors ({count})\n{}_Anchors are coordinates, not code. Read the file at those lines to expand any anchor._\n",
            lines(&records)
        ),
        Kind::Lesson => format!("\n### Lessons Learned ({count})\n{}", lines(&records)),
        Kind::SessionRow => {
            let mut newest = newest_rows(memory, ROWS_SHOWN_MAX);
            newest.reverse();
            let total = memory.session_rows();
            format!("\n### Recent Sessions ({} of {total})\n{}", newest.len(), lines(&newest))
        }
        // The original system has no others.
        _ => String::new(),
    }
}

fn lines(records: &[&Record]) -> String {
    let line = |(at, record): (usize, &&Record)| match &record.body {
        Body::Blueprint(blueprint) => with_block(
            format!("[{}] {}", tag(blueprint.category), blueprint.title),
            &blueprint.content,
            "    ",
        ),
        Body::Anchor(anchor) => {
            format!("[{} -> {} -> {}]", anchor.file, anchor.lines, anchor.concept)
        }
        Body::Lesson(lesson) => {
            let files = if lesson.files.is_empty() {
                String::new()
            } else {
                format!(" ({})", lesson.files.join(", "))
            };
            let head = format!("[L{}] {}{files}", at + 1, lesson.summary);
            with_block(head, &one_line(&lesson.detail), "    ")
        }
        Body::SessionRow(row) => {
            let (day, more) = (row.ended.date(), kinds::earlier(row));
            format!("[S{}] {day}: {}{more}", row.number, one_line(&row.summary))
        }
        _ => item::full(record),
    };
    records.iter().enumerate().map(|entry| line(entry) + "\n").collect()
}

/// Returns the short label of a category.
fn tag(category: Category) -> &'static str {
    match category {
        Category::Architecture => "ARCH",
        Category::Schema => "SCHEMA",
        Category::Decision => "DECISION",
        Category::Convention => "CONVENTION",
        Category::Dependency => "DEPENDENCY",
    }
}

/// Renders the block that comes first after an abrupt end. An end without a save is not abrupt and
/// gets one line, and so do several subagents of one session.
fn recovery(group: &[&Notice]) -> String {
    let Some(notice) = group.first() else { return String::new() };
    let kept = notice::kept_by(group);
    let counts = format!(
        "{} blueprint(s), {} anchor(s), {} lesson(s)",
        kept.blueprints, kept.anchors, kept.lessons
    );
    let day = notice.time.date();
    let unseen = if notice.files_unseen { "> Not all files could be looked at.\n" } else { "" };
    if group.len() > 1 {
        let count = group.len();
        return format!(
            "> {count} subagents ended without saving ({day}); kept from their checkpoints: {counts}.\n"
        );
    }
    match &notice.cause {
        NoticeCause::Ended => {
            format!(
                "> A session ended without saving ({day}); kept from its checkpoints: {counts}.\n{unseen}"
            )
        }
        NoticeCause::Crashed { files, .. } => {
            let changed =
                if files.is_empty() { "" } else { "> Files changed since its last checkpoint:\n" };
            format!(
                "> ⚠️ **ZipMem recovery**\n> The previous session ended abruptly ({day}).\n> Recovered from checkpoints: {counts}.\n{unseen}{changed}{}",
                notice::files(notice, ZIPMEM_FILES_MAX, usize::MAX, ">   - ")
            )
        }
    }
}

/// Renders the reply to `zipmem_checkpoint`.
pub fn checkpoint(outcome: &CheckpointOutcome) -> String {
    let pending = outcome.pending;
    format!(
        "Checkpoint staged. Pending — blueprints: {}, anchors: {}, lessons: {}. This is crash-safe; finalize with zipmem_save_and_compact before exit.",
        pending.blueprints, pending.anchors, pending.lessons
    )
}

/// Renders the reply to `zipmem_save_and_compact`. Lines follow about what was not replaced, which
/// the original does not know.
pub fn save(outcome: &SaveOutcome) -> String {
    let (active, added) = (outcome.active, outcome.added);
    let size = super::size::kilobytes(outcome.text_bytes).replace(' ', "");
    let Archived { anchors, rows, lessons, .. } = outcome.archived;
    let pruned = if anchors + rows + lessons > 0 {
        " (state pruned to stay under the hard limit)"
    } else {
        ""
    };
    let overtaken = replies::overtaken(&outcome.overtaken);
    let apart = if overtaken.is_empty() { "" } else { "\n" };
    format!(
        "Memory compacted{pruned}. Blueprints: {} (+{}), Anchors: {} (+{}), Lessons: {} (+{}), Sessions: {}. State size: {size}.{apart}{}",
        active.blueprints,
        added.blueprints,
        active.anchors,
        added.anchors,
        active.lessons,
        added.lessons,
        outcome.sessions,
        overtaken.trim_end()
    )
}

#[cfg(test)]
mod tests;
