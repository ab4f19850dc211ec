//! Words history: commits, versions, differences, and what a rollback does.
//!
//! The text is made of lines with a style. An agent gets their text, and a person the colours.

use std::collections::VecDeque;

use super::append;
use crate::audience::Audience;
use crate::fold::one_line;
use crate::history::{
    CommitDetail, CommitPage, DiffLine, FieldDiff, HistoryView, LineChange, RecordDiff,
    RecordVersions, RevisionDiff, VersionDetail,
};
use crate::ids::{RecordId, Revision};
use crate::limits::PURGED_NAMED_MAX;
use crate::plan::{
    LeftRecord, UndoConflict, UndoEnd, UndoOutcome, UndoTarget, Undone, UndoneRecord, WhyLeft,
};
use crate::record::Record;

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// An ordinary line.
    Plain,
    /// The head of a commit, a version or a record.
    Head,
    /// Less important text.
    Faint,
    /// A line that only the later side has.
    Added,
    /// A line that only the earlier side has.
    Removed,
    /// Something that needs the reader's attention.
    Warning,
}

/// A line with its style, without a line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyledLine {
    /// The style.
    pub style: Style,
    /// The text.
    pub text: String,
}

/// Words an answer about history.
pub fn history(view: &HistoryView, audience: &Audience) -> Vec<StyledLine> {
    let mut text = Text { lines: Vec::new(), audience };
    match view {
        HistoryView::Commits(page) => text.commits(page),
        HistoryView::Commit(commit) => text.commit(commit),
        HistoryView::Versions(versions) => text.versions(versions),
        HistoryView::Diff(diff) => text.difference(diff),
        HistoryView::Rollback(outcome) => text.rollback(outcome, Rollback::Done),
    }
    text.lines
}

/// Words the plan of a rollback.
pub fn planned_rollback(plan: &UndoOutcome, audience: &Audience) -> Vec<StyledLine> {
    let mut text = Text { lines: Vec::new(), audience };
    text.rollback(plan, Rollback::Planned);
    text.lines
}

/// Words the outcome of a rollback.
pub fn rollback(outcome: &UndoOutcome, audience: &Audience) -> Vec<StyledLine> {
    let mut text = Text { lines: Vec::new(), audience };
    text.rollback(outcome, Rollback::Done);
    text.lines
}

/// Whether a rollback was made or only planned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rollback {
    Planned,
    Done,
}

/// Returns the words that name a record, on one line.
pub fn plain_name(record: &Record) -> String {
    crate::history::name(record)
}

/// Joins lines to a text of at most `chars_max` characters. Says how many lines are left out.
pub fn joined(lines: &[StyledLine], chars_max: usize) -> (String, usize) {
    const FRAME_CHARS: usize = 120;
    let (mut text, mut chars) = (String::new(), 0);
    let mut lines: VecDeque<&StyledLine> = lines.iter().collect();
    while let Some(line) = lines.front() {
        let more = line.text.chars().count() + 1;
        if chars + more > chars_max.saturating_sub(FRAME_CHARS) {
            break;
        }
        chars += more;
        append(&mut text, format_args!("{}\n", line.text));
        lines.pop_front();
    }
    if !lines.is_empty() {
        append(&mut text, format_args!("… {} more lines are left out\n", lines.len()));
    }
    (text, lines.len())
}

struct Text<'a> {
    lines: Vec<StyledLine>,
    audience: &'a Audience,
}

impl Text<'_> {
    fn push(&mut self, style: Style, text: impl Into<String>) {
        self.lines.push(StyledLine { style, text: text.into() });
    }

    fn commits(&mut self, page: &CommitPage) {
        for commit in &page.commits {
            self.commit(commit);
        }
        match (page.commits.is_empty(), page.next) {
            (true, None) if page.newest == Revision(0) => {
                self.push(Style::Plain, "Nothing is recorded yet.");
            }
            (true, None) => self.push(Style::Plain, "No commit matches."),
            (true, Some(next)) => {
                let text = format!("No commit after revision {} matches.", next.0);
                self.push(Style::Plain, text);
            }
            _ => {}
        }
        if let Some(next) = page.next {
            let again = self.audience.again(&next.0.to_string());
            self.push(Style::Faint, format!("Earlier commits: go on with {again}"));
        }
    }

    fn commit(&mut self, detail: &CommitDetail) {
        let commit = &detail.commit;
        let counts =
            commit.counts_beside_purged().named().into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        let session = commit.head.session.as_ref().map_or("", |session| &session.0);
        let by = match (commit.client.as_str(), session) {
            ("", "") => String::new(),
            ("", session) => format!("  session {session}"),
            (client, session) => format!("  {client} {session}"),
        };
        let by = match &commit.member {
            Some(member) => format!("  {}{by}", one_line(member)),
            None => by,
        };
        let head = &commit.head;
        self.push(
            Style::Head,
            format!("{}  {}  {}{by}", head.revision.0, head.time.minute(), head.operation),
        );
        let counts =
            if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
        let purged = match commit.purged.as_slice() {
            [] => String::new(),
            ids => format!(" of {}", listed(ids)),
        };
        self.push(Style::Plain, format!("  {}{purged}{counts}", commit.summary));
        self.records(&detail.records, detail.more);
    }

    fn records(&mut self, records: &[RecordDiff], more: u64) {
        for record in records {
            self.record(record);
        }
        if more > 0 {
            self.push(Style::Faint, format!("  … {more} more records"));
        }
    }

    fn record(&mut self, record: &RecordDiff) {
        let versions = match (record.before, record.after) {
            (None, Some(after)) if after.0 == 1 => "new".to_owned(),
            (None, Some(after)) => format!("version {}", after.0),
            (Some(before), Some(after)) => format!("version {} → {}", before.0, after.0),
            (Some(before), None) => format!("version {} → none", before.0),
            (None, None) => "no version".to_owned(),
        };
        self.push(Style::Head, format!("  {} {} ({versions})", record.id, record.name));
        if record.unknown {
            self.push(Style::Warning, "    The earlier version is not in the journal any more.");
        } else if record.fields.is_empty() {
            self.push(Style::Faint, "    The content is the same.");
        }
        record.fields.iter().for_each(|field| self.field(field));
    }

    fn field(&mut self, field: &FieldDiff) {
        self.push(Style::Faint, format!("    {}:", field.field));
        for DiffLine { change, text } in &field.lines {
            let (style, mark) = match change {
                LineChange::Same => (Style::Plain, ' '),
                LineChange::Removed => (Style::Removed, '-'),
                LineChange::Added => (Style::Added, '+'),
                LineChange::Gap => (Style::Faint, '…'),
            };
            self.push(style, format!("    {mark} {text}").trim_end());
        }
        if field.more > 0 {
            self.push(Style::Faint, format!("    … {} more lines", field.more));
        }
    }

    fn versions(&mut self, record: &RecordVersions) {
        self.push(Style::Plain, format!("{} {}", record.id, record.name));
        for version in &record.versions {
            self.version(version);
        }
        if !record.others.is_empty() {
            let ids: Vec<String> = record.others.iter().map(ToString::to_string).collect();
            let line = format!("Forgotten before, with the same key: {}", ids.join(", "));
            self.push(Style::Faint, line);
        }
        if let Some(next) = record.next {
            let again = self.audience.again(&next.0.to_string());
            self.push(Style::Faint, format!("Earlier versions: go on with {again}"));
        }
    }

    fn version(&mut self, version: &VersionDetail) {
        let commit = match version.revision {
            Some(revision) => format!("commit {}", revision.0),
            None => "not shared".to_owned(),
        };
        let by = [version.member.as_deref().unwrap_or_default(), &version.client];
        let by: String =
            by.iter().filter(|by| !by.is_empty()).map(|by| format!("  {}", one_line(by))).collect();
        let (number, time) = (version.version.0, version.time.minute());
        let head = format!("version {number}  {time}  {commit}, {}{by}", version.operation);
        self.push(Style::Head, head);
        match &version.diff {
            Some(diff) if diff.unknown => {
                self.push(Style::Warning, "    The version before is not in the journal any more.");
            }
            Some(diff) if diff.fields.is_empty() => {
                self.push(Style::Faint, "    The content is the same.");
            }
            Some(diff) => diff.fields.iter().for_each(|field| self.field(field)),
            None => self.push(Style::Warning, "    Its content cannot be shown."),
        }
    }

    fn difference(&mut self, diff: &RevisionDiff) {
        let (from, to) = (diff.from.0, diff.to.0);
        if diff.records.is_empty() {
            let text = format!("Nothing differs between revision {from} and {to}.");
            return self.push(Style::Plain, text);
        }
        self.push(Style::Plain, format!("From revision {from} to {to}:"));
        self.records(&diff.records, diff.more);
    }

    fn rollback(&mut self, outcome: &UndoOutcome, rollback: Rollback) {
        let planned = rollback == Rollback::Planned;
        let what = target(outcome);
        match outcome.end {
            UndoEnd::Nothing if outcome.is_purges_alone => {
                self.push(Style::Plain, purges(outcome, &what, self.audience));
            }
            UndoEnd::Nothing => {
                let text = format!("Nothing to do: taking back {what} would change nothing.");
                self.push(Style::Plain, text);
            }
            UndoEnd::Moved => {
                self.push(Style::Warning, "The records are being changed; try again.");
            }
            UndoEnd::Conflicts => {
                self.push(Style::Warning, format!("Later commits build on {what}:"));
                outcome.conflicts.iter().for_each(|conflict| self.conflict(conflict));
                self.more(outcome.conflicts_more);
            }
            UndoEnd::Done { revision } => {
                let verb = if planned { "Would take back" } else { "Took back" };
                let number = outcome.records.len() as u64 + outcome.more;
                let records = if number == 1 { "record" } else { "records" };
                let commit = match revision.filter(|_| !planned) {
                    Some(revision) => format!(" in commit {}", revision.0),
                    None => String::new(),
                };
                self.push(Style::Plain, format!("{verb} {what}{commit}: {number} {records}"));
            }
        }
        if outcome.end != UndoEnd::Conflicts {
            outcome.records.iter().for_each(|record| self.undone(record));
            self.more(outcome.more);
        }
        if outcome.imports > 0 && matches!(outcome.end, UndoEnd::Done { .. }) {
            let text = "  What was imported counts as it did before these commits.";
            self.push(Style::Plain, text);
        }
        outcome.left.iter().for_each(|left| self.left(left));
        self.more(outcome.left_more);
        if let UndoEnd::Done { revision: Some(revision) } = outcome.end
            && !planned
        {
            let again = undo_of(revision, self.audience);
            self.push(Style::Faint, format!("To take this back: {again}"));
        }
    }

    fn more(&mut self, more: u64) {
        if more > 0 {
            self.push(Style::Faint, format!("  … and {more} more"));
        }
    }

    fn conflict(&mut self, conflict: &UndoConflict) {
        let UndoConflict { id, name, rival, commits } = conflict;
        let commits: Vec<String> = commits.iter().map(|commit| commit.0.to_string()).collect();
        let word = if commits.len() == 1 { "commit" } else { "commits" };
        let when = match commits.as_slice() {
            [] => "since, in private".to_owned(),
            commits => format!("in {word} {}", commits.join(", ")),
        };
        let how = match rival {
            Some(rival) => format!("{rival} took its place {when}"),
            None => format!("changed again {when}"),
        };
        self.push(Style::Warning, format!("  {id} {name} ({how})"));
    }

    fn undone(&mut self, record: &UndoneRecord) {
        let done = match record.done {
            Undone::Forgotten => "forgotten".to_owned(),
            Undone::Revived => "no longer forgotten".to_owned(),
            Undone::Archived => "archived".to_owned(),
            Undone::Activated => "active".to_owned(),
            Undone::BackTo(version) => format!("as in version {}", version.0),
            Undone::Merged => "the change is out, later ones stay".to_owned(),
        };
        let too = if record.is_conflict { ", and later changes go too" } else { "" };
        self.push(Style::Plain, format!("  {} {} ({done}{too})", record.id, record.name));
    }

    fn left(&mut self, left: &LeftRecord) {
        let why = match left.why {
            WhyLeft::Purged(time) => format!("it was purged on {}", time.date()),
            WhyLeft::Missing => "its earlier version is not in the journal any more".to_owned(),
            WhyLeft::Shared => "it was private before, and stays shared".to_owned(),
        };
        let named = [left.id.to_string(), left.name.clone()];
        let named: Vec<&str> =
            named.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        self.push(Style::Warning, format!("  {} stays as it is: {why}", named.join(" ")));
    }
}

/// Names what a rollback takes back.
fn target(outcome: &UndoOutcome) -> String {
    let record = |id: &RecordId, what: String| format!("the changes of {id} {what}");
    match &outcome.target {
        UndoTarget::Commit(revision) => format!("commit {}", revision.0),
        // There may be fewer commits than were asked for.
        UndoTarget::Last(_) => match (outcome.commits, outcome.revisions.first()) {
            (1, Some(revision)) => format!("commit {}", revision.0),
            (0 | 1, _) => "the last commit".to_owned(),
            (number, _) => format!("the last {number} commits"),
        },
        UndoTarget::Session(session) => {
            let commits = commits(outcome.commits);
            format!("session {session} ({commits})")
        }
        UndoTarget::Project(to) => {
            format!("everything after revision {} ({})", to.0, commits(outcome.commits))
        }
        UndoTarget::Record(id, to) => record(id, format!("after revision {}", to.0)),
        UndoTarget::Steps(id, 1) => format!("the last change of {id}"),
        UndoTarget::Steps(id, steps) => format!("the last {steps} changes of {id}"),
    }
}

/// Says that purges cannot be taken back, and what can be.
fn purges(outcome: &UndoOutcome, what: &str, audience: &Audience) -> String {
    let are = if outcome.commits == 1 { "is a purge, which" } else { "are purges, which" };
    let instead = outcome.instead.map(|revision| undo_of(revision, audience));
    let instead = instead.map_or(String::new(), |undo| {
        format!(" The newest commit that can be is taken back with {undo}.")
    });
    format!("Nothing to do: {what} {are} cannot be taken back.{instead}")
}

fn commits(number: u64) -> String {
    if number == 1 { "1 commit".to_owned() } else { format!("{number} commits") }
}

/// Lists ids, and counts those that are too many.
fn listed(ids: &[RecordId]) -> String {
    let named: Vec<String> = ids.iter().take(PURGED_NAMED_MAX).map(ToString::to_string).collect();
    match ids.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Words the call that undoes a commit.
fn undo_of(revision: Revision, audience: &Audience) -> String {
    match audience {
        Audience::Agent | Audience::Compactor => {
            format!("memory_rollback {{\"undo\":{}}}", revision.0)
        }
        Audience::Person(_) => audience.command(&["undo", &revision.0.to_string()]),
    }
}

#[cfg(test)]
mod tests;
