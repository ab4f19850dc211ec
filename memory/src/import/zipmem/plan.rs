//! Plans an import of zipmem's memory.

use std::collections::BTreeSet;

use super::{Dated, Pending, SourceRow, Zipmem};
use crate::change::{Change, Notice, NoticeCause};
use crate::draft::Draft;
use crate::fold::clip;
use crate::guide::CheckpointMode;
use crate::ids::{Kind, SessionId, Timestamp};
use crate::import::judged::{Forgotten, adds, existing, is_corrected};
use crate::import::{
    ImportOutcome, ImportStep, ZIPMEM, put_anchor, put_blueprint, remembered, word_refusal,
};
use crate::intake::WriteLimits;
use crate::limits::PURGE_TITLE_CHARS_MAX;
use crate::memory::Memory;
use crate::plan::{Plan, Row, add_entries, notice_of_end, put_row, stored_row, stored_row_of};
use crate::provenance::Provenance;
use crate::record::{Body, SessionRow, TrailEntry};
use crate::room::{check_items, has_room};
use crate::settings::Settings;
use crate::size::Size;
use crate::staged::{Counts, Staged, accept, count};

/// Plans an import of zipmem's memory. Records keep the times of their originals; newer content
/// here stays. `digest` identifies the source.
pub fn plan_import_zipmem(
    memory: &Memory,
    source: &Zipmem,
    digest: &str,
    origin: &Provenance,
) -> Plan<ImportOutcome> {
    if let Some(before) = memory.imported(ZIPMEM, digest) {
        let outcome = ImportOutcome::known(before, &source.found());
        return Plan { changes: Vec::new(), outcome };
    }
    let mut notes = source.notes.clone();
    let forgotten = Forgotten::of(memory);
    let mut source = usable(memory, source, &mut notes);
    let pending = source.pending.as_mut();
    let stayed = pending.map_or(0, |pending| drop_forgotten(memory, &forgotten, pending));
    let forgotten_work = source.pending.take_if(|pending| !pending.staged.has_work());
    let source = &source;
    let mut import = ZipmemImport {
        memory,
        draft: Draft::new(memory),
        origin,
        forgotten,
        remarks: Vec::new(),
        stayed,
        rows_new: BTreeSet::new(),
        rows_here: BTreeSet::new(),
        no_room: Vec::new(),
    };
    import.items(source);
    import.rows(&source.rows);
    if let Some(forgotten) = &forgotten_work {
        import.row_stays(&forgotten.session);
    }
    let notice = source.pending.as_ref().and_then(|pending| import.keep_pending(pending));

    let is_whole = import.no_room.is_empty();
    notes.append(&mut import.remarks);
    notes.append(&mut import.no_room);
    let written = import.draft.finish();
    let here = import.stayed + count(import.rows_here.len());
    let outcome = ImportOutcome {
        before: None,
        added: written.added,
        merged: written.merged + here,
        sessions: count(import.rows_new.len()),
        pending: notice.as_ref().map(|notice| notice.kept).unwrap_or_default(),
        left_out: 0,
        kept: written.kept,
        notes,
    };
    let notice = notice.map(|notice| Change::Notify(Box::new(notice)));
    let others = notice.into_iter().chain(checkpoint_mode(memory, source.mode));
    let changes = remembered(memory, written.changes, others, (ZIPMEM, digest), is_whole);
    Plan { changes, outcome }
}

/// Drops the staged items that were forgotten here, and returns their number.
fn drop_forgotten(memory: &Memory, forgotten: &Forgotten, pending: &mut Pending) -> u32 {
    let Pending { staged, updated, .. } = pending;
    let (updated, all) = (*updated, staged.items().len());
    let comes = |item: Body| !forgotten.keeps_out(memory, &item, updated);
    staged.blueprints.retain(|it| comes(Body::Blueprint(it.clone())));
    staged.anchors.retain(|it| comes(Body::Anchor(it.clone())));
    staged.lessons.retain(|it| comes(Body::Lesson(it.clone())));
    count(all - staged.items().len())
}

/// An import of zipmem's memory under way.
struct ZipmemImport<'a> {
    /// The memory before the import.
    memory: &'a Memory,
    draft: Draft<'a>,
    origin: &'a Provenance,
    forgotten: Forgotten,
    /// A line for each item that stays as it was judged here, and says something else.
    remarks: Vec<String>,
    /// The number of items that stay as they are here, or stay forgotten, without a line.
    stayed: u32,
    /// The sessions whose rows are new.
    rows_new: BTreeSet<SessionId>,
    /// The sessions whose rows were here, or stay forgotten.
    rows_here: BTreeSet<SessionId>,
    /// A line for each item for which there was no room.
    no_room: Vec<String>,
}

impl ZipmemImport<'_> {
    fn items(&mut self, source: &Zipmem) {
        for Dated { time, item } in &source.blueprints {
            if self.is_judged(&item.title, &Body::Blueprint(item.clone()), *time) {
                continue;
            }
            let part = Staged { blueprints: vec![item.clone()], ..Staged::default() };
            if let Some(origin) = self.origin_if_room(*time, &item.title, &part) {
                put_blueprint(&mut self.draft, item, &origin);
            }
        }
        for Dated { time, item } in &source.anchors {
            if self.is_judged(&item.file, &Body::Anchor(item.clone()), *time) {
                continue;
            }
            let part = Staged { anchors: vec![item.clone()], ..Staged::default() };
            if let Some(origin) = self.origin_if_room(*time, &item.file, &part) {
                put_anchor(&mut self.draft, item, &origin);
            }
        }
        for Dated { time, item } in &source.lessons {
            if self.is_judged(&item.summary, &Body::Lesson(item.clone()), *time) {
                continue;
            }
            let part = Staged { lessons: vec![item.clone()], ..Staged::default() };
            if let Some(origin) = self.origin_if_room(*time, &item.summary, &part) {
                self.draft.keyed(item, &origin);
            }
        }
    }

    /// Adds an entry to the row of each session, unless the row has it.
    fn rows(&mut self, rows: &[SourceRow]) {
        for row in rows {
            let time = row.ended.or(row.started);
            let stored = stored_row(&self.draft, &row.session);
            // In a team, an export of this machine also has the rows that stay on it.
            let private = stored_row_of(&self.draft, &row.session, true);
            let has_it = |(_, here): &(_, SessionRow)| has_entry(here, &row.summary, time);
            let stays = stored.iter().chain(&private).any(has_it)
                || stored.is_none() && self.forgotten.has_row(&row.session, time);
            if stays {
                self.row_stays(&row.session);
                continue;
            }
            let is_new = stored.is_none();
            let more = Size { records: u64::from(is_new), bytes: row.summary.len() as u64 };
            let kept = self.draft.head().totals().kept;
            if let Err(refusal) = has_room(&kept, Kind::SessionRow, more) {
                self.no_room.push(word_refusal(&row.session.to_string(), &refusal));
                continue;
            }
            self.row_comes(&row.session, is_new);
            let origin = self.origin_at(&row.session, time);
            // An entry that is not the newest goes to its place by time.
            if let Some(stored) = stored.filter(|(_, here)| here.ended > origin.time) {
                let summary = row.summary.clone();
                let entry = TrailEntry { time: origin.time, summary, on_behalf: false, folded: 0 };
                add_entries(&mut self.draft, stored, std::iter::once(entry), &origin);
                continue;
            }
            let row = Row {
                session: row.session.clone(),
                started: row.started.unwrap_or(origin.time),
                ended: origin.time,
                summary: row.summary.clone(),
                on_behalf: false,
                captured: None,
                earlier: Vec::new(),
                rewrites: false,
                added: row.added,
            };
            put_row(&mut self.draft, row, &origin);
        }
    }

    /// Counts a session whose row gets an entry.
    fn row_comes(&mut self, session: &SessionId, is_new: bool) {
        if is_new {
            self.rows_new.insert(session.clone());
            self.rows_here.remove(session);
        } else {
            self.row_stays(session);
        }
    }

    /// Counts a session whose row is here or stays forgotten, unless this import began the row.
    fn row_stays(&mut self, session: &SessionId) {
        if !self.rows_new.contains(session) {
            self.rows_here.insert(session.clone());
        }
    }

    /// Keeps a session's staged work, as is done here for a session that is gone. A row that was
    /// forgotten here stays so. There is no notice if all of it was kept before.
    fn keep_pending(&mut self, pending: &Pending) -> Option<Notice> {
        let origin = self.origin_at(&pending.session, pending.updated);
        let draft = &mut self.draft;
        let before = draft.added();
        draft.fold(&pending.staged, &origin);
        let after = draft.added();
        let kept = pending.staged.counts();
        let stored = stored_row_of(draft, &pending.session, true);
        if stored.is_none() && self.forgotten.has_row(&pending.session, pending.updated) {
            self.row_stays(&pending.session);
            return None;
        }
        let summary = pending.staged.summary.clone();
        let was_kept = stored.as_ref().is_some_and(|(_, here)| {
            let says = |summary: &String| has_entry(here, summary, pending.updated);
            let is_newer = pending.updated.is_some() && here.ended < origin.time;
            !is_newer && summary.as_ref().is_none_or(says)
        });
        if was_kept && after == before {
            self.row_stays(&pending.session);
            return None;
        }
        let added = Counts {
            blueprints: after.blueprints - before.blueprints,
            anchors: after.anchors - before.anchors,
            lessons: after.lessons - before.lessons,
            ..Counts::default()
        };
        let started = pending.started.unwrap_or(origin.time);
        let summary = summary.unwrap_or_else(|| format!("Staged {kept}."));
        let row = Row::of_end(&origin, started, summary, added);
        let row = put_row(draft, row, &origin);
        self.row_comes(&pending.session, stored.is_none());
        let cause = if pending.interrupted {
            NoticeCause::Crashed { files: Vec::new(), more: 0 }
        } else {
            NoticeCause::Ended
        };
        Some(notice_of_end(self.memory, row, &origin, cause, kept))
    }

    /// Returns whether an item stays as it was judged here: forgotten, or changed since. Newer
    /// blueprints and anchors have rules of their own.
    fn is_judged(&mut self, name: &str, item: &Body, time: Option<Timestamp>) -> bool {
        let name = clip(name, PURGE_TITLE_CHARS_MAX);
        if self.forgotten.keeps_out(self.draft.head(), item, time) {
            if time.is_none() && self.forgotten.differs(item) {
                self.remarks.push(format!("{name} was forgotten here and stays so"));
            } else {
                self.stayed += 1;
            }
            return true;
        }
        let Some(here) = existing(self.memory, item) else { return false };
        let was_changed = match (time, item) {
            (None, _) => is_corrected(here, ZIPMEM),
            (Some(time), Body::Lesson(lesson)) => here.updated.time > time && adds(here, lesson),
            (Some(_), _) => false,
        };
        if was_changed {
            self.remarks.push(format!("{name} was changed here and stays as it is"));
        }
        was_changed
    }

    /// Returns the provenance of an item, or notes that there is no room for it.
    fn origin_if_room(
        &mut self,
        time: Option<Timestamp>,
        name: &str,
        part: &Staged,
    ) -> Option<Provenance> {
        let origin = self.origin_at(&self.origin.session, time);
        match check_items(self.draft.head(), part, part, &origin) {
            Ok(()) => Some(origin),
            Err(refusal) => {
                self.no_room.push(word_refusal(name, &refusal));
                None
            }
        }
    }

    /// Returns the provenance of something that was written at a time there, if that is past.
    fn origin_at(&self, session: &SessionId, time: Option<Timestamp>) -> Provenance {
        let time = time.filter(|time| *time < self.origin.time).unwrap_or(self.origin.time);
        Provenance::new(session.clone(), ZIPMEM.into(), time)
    }
}

/// Returns whether a row has an entry with this summary that is as new, or has folded the entries
/// of its time. A row made by rule is rewritten as its session goes on, so it covers what it said
/// before.
fn has_entry(row: &SessionRow, summary: &str, time: Option<Timestamp>) -> bool {
    let is_by = |end: Timestamp| time.is_some_and(|time| time <= end);
    let is_it = |it: &TrailEntry| {
        let is_as_new = time.is_none() || is_by(it.time);
        it.folded > 0 && is_by(it.time) || is_as_new && says(it, summary)
    };
    summary.is_empty()
        || row.captured.is_some() && is_by(row.ended)
        || says(&row.newest(), summary)
        || row.earlier.iter().any(is_it)
}

/// Returns whether an entry has this text. Exports of older builds have a row's earlier entries
/// below its newest one, as they are shown.
fn says(entry: &TrailEntry, summary: &str) -> bool {
    let is_trail = |rest: &str| {
        let earlier = rest.trim_start().strip_prefix("Earlier, ");
        earlier.is_some_and(|time| time.starts_with(|first: char| first.is_ascii_digit()))
    };
    let rest = summary.strip_prefix(entry.summary.trim());
    rest.is_some_and(|rest| rest.is_empty() || is_trail(rest))
}

/// Sets the source's checkpoint mode, unless the project has one or it is the default.
fn checkpoint_mode(memory: &Memory, mode: Option<CheckpointMode>) -> Option<Change> {
    let mode = mode.filter(|mode| *mode != CheckpointMode::default())?;
    let known = memory.settings(None).map(|known| Settings::clone(known)).unwrap_or_default();
    let settings = Settings { checkpoint_mode: Some(mode), ..known.clone() };
    let change = Change::Configure { client: None, settings, shared: memory.team().is_some() };
    known.checkpoint_mode.is_none().then_some(change)
}

/// Returns the source's usable items in their stored form. Adds a line for each item that was
/// purged here or is too large.
fn usable(memory: &Memory, source: &Zipmem, notes: &mut Vec<String>) -> Zipmem {
    let mut source = source.clone();
    let mut taken = |what: &str, part: Staged| -> Staged {
        let accepted =
            memory.tombstones().refuse(&part).and_then(|()| accept(part, &WriteLimits::WIDE));
        accepted.unwrap_or_else(|refusal| {
            notes.push(word_refusal(what, &refusal));
            Staged::default()
        })
    };
    source.blueprints.retain_mut(|Dated { item, .. }| {
        let part = Staged { blueprints: vec![item.clone()], ..Staged::default() };
        replace(item, taken("a blueprint", part).blueprints)
    });
    source.anchors.retain_mut(|Dated { item, .. }| {
        let part = Staged { anchors: vec![item.clone()], ..Staged::default() };
        replace(item, taken("an anchor", part).anchors)
    });
    source.lessons.retain_mut(|Dated { item, .. }| {
        let part = Staged { lessons: vec![item.clone()], ..Staged::default() };
        replace(item, taken("a lesson", part).lessons)
    });
    source.rows.retain_mut(|row| {
        let part = Staged { summary: Some(row.summary.clone()), ..Staged::default() };
        row.summary.is_empty()
            || replace(&mut row.summary, taken("a session's summary", part).summary)
    });
    if let Some(Pending { staged, .. }) = &mut source.pending {
        staged.blueprints.retain_mut(|item| {
            let part = Staged { blueprints: vec![item.clone()], ..Staged::default() };
            replace(item, taken("a staged blueprint", part).blueprints)
        });
        staged.anchors.retain_mut(|item| {
            let part = Staged { anchors: vec![item.clone()], ..Staged::default() };
            replace(item, taken("a staged anchor", part).anchors)
        });
        staged.lessons.retain_mut(|item| {
            let part = Staged { lessons: vec![item.clone()], ..Staged::default() };
            replace(item, taken("a staged lesson", part).lessons)
        });
        if let Some(summary) = staged.summary.take() {
            let part = Staged { summary: Some(summary), ..Staged::default() };
            staged.summary = taken("a staged summary", part).summary;
        }
    }
    source.pending = source.pending.filter(|pending| pending.staged.has_work());
    source
}

/// Replaces an item with its accepted form. Returns whether there is one.
fn replace<T>(item: &mut T, accepted: impl IntoIterator<Item = T>) -> bool {
    accepted.into_iter().next().map(|accepted| *item = accepted).is_some()
}
