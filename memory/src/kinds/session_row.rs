//! Session rows: what each session did. The daemon alone writes them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Facts, Fields, MergeKey, Searched, Share};
use crate::activity::SessionActivity;
use crate::fold::{clip, names_path, with_block};
use crate::forgotten::shorten;
use crate::ids::{SessionId, Timestamp};
use crate::limits::{SESSION_ROWS_BYTES_MAX, SESSION_ROWS_MAX};
use crate::omit::is_default;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

pub(crate) const FACTS: Facts = Facts {
    noun: "session",
    plural: "sessions",
    noun_in_full: "session row",
    heading: "Sessions",
    letter: 's',
    limit: (SESSION_ROWS_MAX, SESSION_ROWS_BYTES_MAX),
    which: None,
    share: Share::Sessions,
    page_place: 5,
    file_place: 5,
    file_texts: &[],
    file_times: &[],
    local_fields: &[],
};

/// A session and its trail: an entry for each save, and for each end without a save.
///
/// The newest entry is in the row's own fields, where builds that do not know trails find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// A running number among the project's sessions, from 1: shown as `S3`.
    pub number: u64,
    /// The session itself; one row each.
    pub session: SessionId,
    /// The time of its first write.
    pub started: Timestamp,
    /// The time of the newest entry: the last save, or the time when its work was kept.
    pub ended: Timestamp,
    /// The text of the newest entry: the agent's words, or anchord's if it was written on its
    /// behalf.
    pub summary: String,
    /// Whether the newest entry was written on the session's behalf, since it ended without a save.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_behalf: bool,
    /// All activity recorded by rule. Present only if all entries were made from it, none by the
    /// agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Box<SessionActivity>>,
    /// The entries before the newest, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<TrailEntry>,
    /// The number of new blueprints in this session.
    #[serde(default)]
    pub blueprints_added: u32,
    /// The number of new anchors in this session.
    #[serde(default)]
    pub anchors_added: u32,
    /// The number of new lessons in this session.
    #[serde(default)]
    pub lessons_added: u32,
    /// The number of old rows folded into this one; 0 for a session's own row.
    #[serde(default, skip_serializing_if = "is_default")]
    pub folded: u32,
}

/// An entry of a session row's trail before the newest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailEntry {
    /// The time at which it was written.
    pub time: Timestamp,
    /// The agent's words, or anchord's if it was written on the session's behalf.
    pub summary: String,
    /// Whether it was written on the session's behalf.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_behalf: bool,
    /// The number of folded entries that this one replaces; 0 for an ordinary entry.
    #[serde(default, skip_serializing_if = "is_default")]
    pub folded: u32,
}

impl SessionRow {
    /// Yields the text of every entry, the newest first.
    pub fn summaries(&self) -> impl Iterator<Item = &str> {
        let earlier = self.earlier.iter().rev().map(|entry| entry.summary.as_str());
        std::iter::once(self.summary.as_str()).chain(earlier)
    }

    /// Counts the entries before the newest, including folded ones.
    pub fn earlier_count(&self) -> u32 {
        let count = |sum: u32, entry: &TrailEntry| sum.saturating_add(entry.folded.max(1));
        self.earlier.iter().fold(0, count)
    }

    /// Renders the whole trail: the newest entry, then each earlier one under its time, the newest
    /// first.
    pub(crate) fn trail_text(&self) -> String {
        let mut text = self.summary.trim().to_owned();
        for entry in self.earlier.iter().rev() {
            let mark = if entry.on_behalf { " (ended without saving)" } else { "" };
            let summary = entry.summary.trim();
            let (first, rest) = summary.split_once('\n').unwrap_or((summary, ""));
            text.push('\n');
            let head = format!("Earlier, {}{mark}: {first}", entry.time.minute());
            text.push_str(&with_block(head, rest, "  "));
        }
        text
    }

    /// Returns the newest entry as a trail entry.
    pub(crate) fn newest(&self) -> TrailEntry {
        TrailEntry {
            time: self.ended,
            summary: self.summary.clone(),
            on_behalf: self.on_behalf,
            folded: 0,
        }
    }

    /// Returns each entry as one of zipmem's log, the oldest first. Only the newest has the row's
    /// counts, since an import adds them up.
    pub(crate) fn zipmem_log(&self) -> Vec<Value> {
        let mut log: Vec<Value> =
            self.earlier.iter().map(|entry| self.logged(entry, (0, 0))).collect();
        log.push(self.logged(&self.newest(), (self.anchors_added, self.lessons_added)));
        log
    }

    fn logged(&self, entry: &TrailEntry, (anchors, lessons): (u32, u32)) -> Value {
        json!({
            "session_id": self.session.to_string(),
            "started_at": self.started.iso(),
            "ended_at": entry.time.iso(),
            "summary": entry.summary,
            "anchors_added": anchors,
            "lessons_added": lessons,
        })
    }

    /// Returns whether the session saved on its own: some entry was not written on its behalf.
    pub(crate) fn saved_itself(&self) -> bool {
        let own = |entry: &TrailEntry| !entry.on_behalf && entry.folded == 0;
        !self.on_behalf || self.earlier.iter().any(own)
    }
}

impl Fields for SessionRow {
    fn key(&self) -> Option<MergeKey> {
        (self.folded == 0).then(|| MergeKey::SessionRow(self.session.clone()))
    }

    fn text_bytes(&self) -> usize {
        let captured = self.captured.as_ref().map_or(0, |captured| captured.text_bytes());
        self.summaries().map(str::len).sum::<usize>() + captured
    }

    /// A row has no name.
    fn name(&self) -> String {
        String::new()
    }

    fn order(&self) -> String {
        clip(&self.summary, 100)
    }

    fn searched(&self) -> Searched<'_> {
        Searched { texts: self.summaries().collect(), files: Vec::new() }
    }

    fn concerns(&self, file: &str) -> bool {
        self.summaries().any(|summary| names_path(summary, file))
    }

    fn own_texts(&self) -> Vec<&str> {
        let quoted = self.captured.iter().flat_map(|captured| captured.quotable_texts());
        self.summaries().chain(quoted).collect()
    }

    fn other_texts(&self) -> Vec<&str> {
        self.captured.iter().flat_map(|captured| captured.texts()).collect()
    }

    fn tombstone_texts(&self) -> Vec<String> {
        let telling = self.summaries().filter(|text| self.is_telling(text.trim()));
        telling.map(str::to_owned).collect()
    }

    fn shorten(&mut self) -> bool {
        shorten(&mut self.summary);
        for entry in &mut self.earlier {
            entry.summary = String::new();
        }
        self.captured = self.captured.as_deref().map(SessionActivity::head).map(Box::new);
        true
    }

    fn prompt_text(&self) -> String {
        self.summary.clone()
    }

    fn worth_bytes(&self) -> usize {
        self.summaries().map(str::len).sum()
    }

    fn move_files(&mut self, folder: &str, _: &dyn Fn(&str) -> Option<String>) -> bool {
        if let Some(captured) = self.captured.take() {
            self.captured = Some(Box::new(captured.relative_to(folder)));
        }
        true
    }

    /// No session writes a row itself.
    fn accepted(&self) -> Result<Body, Refusal> {
        Err(Refusal::invalid("a session row", "is written by the daemon alone"))
    }

    fn zipmem(&self, _: &Record) -> Value {
        self.logged(&self.newest(), (self.anchors_added, self.lessons_added))
    }

    fn page(&self, of: &Record, _: &str, _: Timestamp) -> String {
        let summary = self.trail_text().replace('\n', "\n  ");
        format!("- {} {}: {summary}", of.id, self.ended.date())
    }
}
