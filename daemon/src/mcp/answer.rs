//! The answer of a tool: a text for its caller, and the data behind the text.

use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{CompactionPlan, HistoryView, Memories, Record, RecordId};
use anchord_outline::Outline;

use super::input::UnknownFields;

/// The answer of a tool. The data is for the log, and for programs that need more than the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolAnswer {
    pub(crate) text: String,
    /// The records that the answer has or that the call wrote, in the order of the text.
    pub(crate) records: Vec<Arc<Record>>,
    /// Whether there is more than the answer has.
    pub(crate) truncated: bool,
    /// The part that did not fit.
    pub(crate) rest: Option<Rest>,
    /// The errors of records that cannot be given, for a command. An agent reads them in the text.
    pub(crate) refused: Vec<String>,
    /// A compaction that the answer only shows.
    pub(crate) plan: Option<Arc<CompactionPlan>>,
    /// An answer about history.
    pub(crate) history: Option<Arc<HistoryView>>,
    /// The outline of a file.
    pub(crate) outline: Option<Box<OutlineAnswer>>,
    /// Whether an action that the call checks may be done.
    pub(crate) passes: Option<bool>,
    /// The time that the journal took for the call's writes; `None` if it wrote nothing.
    pub(crate) append: Option<Duration>,
    /// Whether the text has the remark about the session's place, if there is one.
    pub(crate) has_place_remark: bool,
    /// Whether the text is JSON. Nothing may follow it then.
    pub(crate) is_json: bool,
    /// Fields within the call's items that no parameter accepts.
    pub(crate) unknown: UnknownFields,
}

/// A file's outline, and what it cost.
#[derive(Clone, Debug)]
pub(crate) struct OutlineAnswer {
    pub(crate) path: String,
    /// The digest of the file's content.
    pub(crate) digest: String,
    pub(crate) outline: Arc<Outline>,
    /// Whether it was made before.
    pub(crate) is_cached: bool,
    pub(crate) tokens_given: u32,
    pub(crate) tokens_saved: u32,
}

/// The part of an answer that did not fit.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    /// The cursor that fetches it.
    pub(crate) cursor: String,
    /// The minimum number of records; `None` if it is the rest of one record.
    pub(crate) left_out: Option<usize>,
}

impl From<String> for ToolAnswer {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl ToolAnswer {
    /// Adds the records that the answer has.
    #[must_use]
    pub(crate) fn with_records(self, records: impl IntoIterator<Item = Arc<Record>>) -> Self {
        Self { records: records.into_iter().collect(), ..self }
    }

    /// Adds records that the answer has at their newest version.
    #[must_use]
    pub(crate) fn with_newest<'a>(self, memory: impl Into<Memories<'a>>, ids: &[RecordId]) -> Self {
        let memory = memory.into();
        self.with_records(ids.iter().filter_map(|id| memory.record(*id).cloned()))
    }

    /// Returns the records that the answer gives or names, for the log.
    pub(crate) fn named(&self) -> Vec<RecordId> {
        let records = self.records.iter().map(|record| record.id);
        let history = self.history.iter().flat_map(|history| history.named());
        if self.records.is_empty() { history.collect() } else { records.collect() }
    }

    /// Says whether there is more than the answer has.
    #[must_use]
    pub(crate) fn truncated(self, truncated: bool) -> Self {
        Self { truncated, ..self }
    }

    /// Adds the cursor that fetches the part that did not fit, if there is one.
    #[must_use]
    pub(crate) fn with_rest(self, cursor: Option<String>, left_out: Option<usize>) -> Self {
        Self { rest: cursor.map(|cursor| Rest { cursor, left_out }), ..self }
    }
}
