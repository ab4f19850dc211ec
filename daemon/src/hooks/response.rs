//! The response to an event, before a client's adapter writes it.

use std::sync::Arc;
use std::time::Duration;

use anchord_memory::lifecycle::Answer;
use anchord_memory::render::LoadText;
use anchord_memory::render::hooks::RenderedContext;
use anchord_memory::{NoticeId, RecordId};

use super::conversations::Name;
use crate::retrieval_log::Retrieval;
use crate::sessions::Session;

/// The answer to an event, and what is logged about it.
#[derive(Debug, Default)]
pub(super) struct HookResponse {
    pub(super) answer: Answer,
    /// The records shown; `None` if nothing is shown, or nothing new.
    pub(super) shown: Option<Shown>,
    /// The check against rules whose result the answer has.
    pub(super) check: Option<Box<DeliveredCheck>>,
}

/// A check against rules to log once the hook has its result, or has left.
#[derive(Debug)]
pub(super) struct DeliveredCheck {
    pub(super) session: Arc<Session>,
    pub(super) line: Retrieval,
    pub(super) took: Duration,
    /// The conversation and the digest of the event.
    pub(super) event: (Name, u64),
    /// Whether the same event came a moment ago.
    pub(super) is_double: bool,
}

/// The part of memory that an answer shows.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) ids: Vec<RecordId>,
    /// The shown records that the text gives in full.
    pub(super) whole: Vec<RecordId>,
    /// Whether there was more to show.
    pub(super) truncated: bool,
    pub(super) notices: Vec<NoticeId>,
}

impl HookResponse {
    /// Answers with a text for the model's context. An empty text is no answer.
    pub(super) fn context(context: RenderedContext) -> Self {
        let RenderedContext { text, shown: ids, whole, truncated } = context;
        if text.is_empty() {
            return Self::default();
        }
        let shown = Shown { ids, whole, truncated, notices: Vec::new() };
        Self { answer: Answer::Context(text), shown: Some(shown), check: None }
    }

    /// Answers with a load for the model's context.
    pub(super) fn load(load: LoadText) -> Self {
        let LoadText { text, notices_shown, shown, whole, truncated, .. } = load;
        let mut response = Self::context(RenderedContext { text, shown, whole, truncated });
        if let Some(shown) = &mut response.shown {
            shown.notices = notices_shown;
        }
        response
    }

    /// Answers with what a compaction must keep.
    pub(super) fn instructions(context: RenderedContext) -> Self {
        match Self::context(context) {
            Self { answer: Answer::Context(text), shown, check } => {
                Self { answer: Answer::Instructions(text), shown, check }
            }
            nothing => nothing,
        }
    }
}
