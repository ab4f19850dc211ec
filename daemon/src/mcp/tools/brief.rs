//! A free text and a state in a call: both go into a topic, the brief of that call.

use std::sync::Arc;

use anchord_memory::brief::{Append, Brief, BriefMerge, CHECKPOINT_TAG, Loss, MergedText};
use anchord_memory::render::{self, Rest, StateCall, TextEnd};
use anchord_memory::{
    MAIN, Memory, MergeEnd, Note, Record, RecordId, RecordState, SessionId, Staged, limits,
};
use serde_json::Value;

use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::merging::MergeJob;
use crate::sessions::{View, session_key};

/// A call's text and state for its brief.
#[derive(Clone, Debug, Default)]
pub(super) struct BriefCall {
    /// The topic's name, in the spelling of the call.
    pub(super) name: String,
    /// The text, unless this session has checkpointed the same before.
    append: Option<Append>,
    /// The state, if it may be merged.
    pub(super) merge: Option<Arc<BriefMerge>>,
    /// The reasons why the state is not taken.
    losses: Vec<Loss>,
}

impl BriefCall {
    /// Reads a call. `topic` is the name that it gives; without one, the brief is the bound topic
    /// or the project's own.
    pub(super) async fn read(
        context: &Context,
        operation: &str,
        topic: Option<&str>,
        text: Option<&str>,
        state: Option<&Value>,
    ) -> Result<Self, ToolError> {
        if text.is_none() && state.is_none() {
            return Ok(Self::default());
        }
        let view = context.view().await?;
        let memory = &view.memory;
        let key = session_key(&context.session);
        let name = topic.or_else(|| memory.bound(&key)).unwrap_or(MAIN).to_owned();
        let known: Vec<(&Record, &Note)> = texts(memory, &context.session.id).collect();
        let is_text = |note: &Note, text: &str| note.content.trim() == text.trim();
        let is_new = |text: &&str| !known.iter().any(|(_, note)| is_text(note, text));
        // Without a state the same text is a checkpoint of its own.
        let new = text.filter(|text| state.is_none() || is_new(text));
        // Without a name the conversation is not bound.
        let append = new.map(|text| Append::of(topic, text)).transpose();
        let append = append.map_err(|refusal| context.refused(operation, &refusal))?;
        let mut call = Self { name, append, ..Self::default() };
        if let Some(state) = state {
            // A text that the brief was written after is worked in already, or was passed over.
            let written = memory.topic(&call.name).map(|record| record.content_version().revision);
            let waiting = known
                .iter()
                .filter(|(record, _)| Some(record.content_version().revision) >= written);
            let waiting = waiting.map(|(record, note)| MergedText {
                text: &note.content,
                stored: Some(record.created.time),
            });
            let own = text.map(|text| MergedText { text, stored: None });
            let texts: Vec<MergedText<'_>> = waiting.chain(own).collect();
            let brief = brief(&view, &call.name).await;
            match brief.merge(&call.name, state, &texts) {
                Ok(merge) => call.merge = Some(Arc::new(merge)),
                Err(losses) => call.losses = losses,
            }
        }
        Ok(call)
    }

    /// Adds the text to a part of a write.
    pub(super) fn add_to(&self, part: &mut Staged) {
        if let Some(append) = &self.append {
            append.clone().add_to(part);
        }
    }

    /// Returns whether there is nothing to write: a state that is refused, without a new text.
    pub(super) fn is_refused(&self) -> bool {
        self.append.is_none() && self.merge.is_none()
    }

    /// Returns those of the written records that have the text.
    pub(super) fn notes(&self, written: &[Arc<Record>]) -> Vec<RecordId> {
        let texts = self.append.iter().flat_map(|append| &append.notes);
        let texts: Vec<&str> = texts.map(|note| note.content.as_str()).collect();
        let is_text = |record: &&Arc<Record>| {
            record.note().is_some_and(|note| texts.contains(&note.content.as_str()))
        };
        written.iter().filter(is_text).map(|record| record.id).collect()
    }

    /// Words the refusal of the state.
    pub(super) fn refusal(&self) -> String {
        render::state_refused(&self.losses)
    }

    /// Words what became of the text and the state: the state that is still to be made, and last
    /// the steps that applied.
    pub(super) async fn end(
        &self,
        context: &Context,
        notes: &[RecordId],
        end: Option<MergeEnd>,
        asked: StateCall,
        room_chars: usize,
    ) -> Result<String, ToolError> {
        let mut text = String::new();
        let is_stale = end == Some(MergeEnd::Stale);
        if !self.losses.is_empty() {
            text.push('\n');
            text.push_str(&self.refusal());
        } else if is_stale {
            text.push_str("\nThe state was not taken: somebody wrote the brief meanwhile.\n");
        }
        let has_more = self.append.as_ref().is_some_and(|append| append.has_more);
        // An agent that sends states goes on with them.
        let is_by_agent = is_stale || !self.losses.is_empty();
        let is_merged = end == Some(MergeEnd::Done);
        let rest = if is_by_agent {
            Rest::Agent
        } else if is_merged || !has_more {
            Rest::Nobody
        } else if self.is_taken_by_model(context, notes).await? {
            Rest::Model
        } else {
            Rest::Agent
        };
        if rest == Rest::Agent {
            let brief = brief(&context.view().await?, &self.name).await;
            text.push_str(&render::ask_for_state(&brief, asked, room_chars));
        }
        let fields = self.append.as_ref().map_or(&[][..], |append| &append.fields);
        text.push_str(&render::text_end(&TextEnd { notes, fields, is_merged, rest }));
        Ok(text)
    }

    /// Hands the text over to be merged by a model, if one is configured. Returns whether it will.
    async fn is_taken_by_model(
        &self,
        context: &Context,
        notes: &[RecordId],
    ) -> Result<bool, ToolError> {
        let Some(project) = context.view().await?.project.filter(|_| !notes.is_empty()) else {
            return Ok(false);
        };
        Ok(context.merging.request(MergeJob {
            project: project.id,
            topic: self.name.clone(),
            notes: notes.to_vec(),
        }))
    }
}

/// Returns the brief as it is now.
pub(crate) async fn brief(view: &View, name: &str) -> Brief {
    let record = view.memory.topic(name).map(|record| &**record);
    let files = record.and_then(Record::topic).map(|topic| topic.files.clone());
    let gone = view.absent(files.unwrap_or_default()).await;
    let project = view.project.as_ref().map(|project| project.id.to_string());
    Brief::of(&project.unwrap_or_default(), record, gone)
}

/// Returns the texts that a session has checkpointed.
fn texts<'m>(
    memory: &'m Memory,
    session: &'m SessionId,
) -> impl Iterator<Item = (&'m Record, &'m Note)> {
    let is_text = |record: &&Arc<Record>| {
        record.updated.session == *session
            && record.state != RecordState::Forgotten
            && record.tags.iter().any(|tag| tag == CHECKPOINT_TAG)
    };
    memory.records().filter(is_text).filter_map(|record| Some((&**record, record.note()?)))
}

/// The characters of an answer that a compatibility set may have. Their originals have no limit.
pub(super) const WHOLE_CHARS: usize = limits::TOPIC_ARCHITECTURE_CHARS_MAX * 10;
