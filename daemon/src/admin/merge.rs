//! Merging a text by a model: hands out the brief and the text, and writes the state that comes
//! back. The model is called elsewhere.

use std::sync::Arc;

use anchord_memory::brief::{CHECKPOINT_TAG, Loss, MergedText};
use anchord_memory::{
    BriefOutcome, Memory, MergeEnd, Note, Provenance, Record, RecordId, RecordState, SessionId,
    Staged, plan_brief,
};

use super::tool::place;
use super::{AdminService, Answer, bind_error, internal, write_error};
use crate::api::{ErrorCode, ErrorReply, MergeParams, MergeQuery, MergeReply, MergeTask};
use crate::clock;
use crate::limits::MERGE_TEXT_BYTES_MAX;
use crate::mcp::brief;
use crate::project::{Transition, WriteCommand};
use crate::secrets::{self, Removed};
use crate::sessions::{Session, View};

/// The client that a merge is written by.
const CLIENT: &str = "anchord merge";
/// The operation in the journal.
const OPERATION: &str = "merge brief";

/// Returns the brief of a project and a text to merge into it, and grants calls.
pub(crate) async fn begin_merge(service: &AdminService, query: MergeQuery) -> Answer<MergeTask> {
    let view = view(service, &query.project).await?;
    let notes = texts(&view.memory, &query.notes)?;
    let text = joined(&notes);
    if text.len() > MERGE_TEXT_BYTES_MAX {
        let bytes = text.len();
        return Err(ErrorReply {
            code: ErrorCode::Failed,
            error: format!("the text has {bytes} bytes; a model gets {MERGE_TEXT_BYTES_MAX}"),
            action: Some("it stays appended to the brief".to_owned()),
        });
    }
    let mut state = brief(&view, &query.topic).await.state();
    secrets::clean_json(&mut state, &mut Removed::default());
    let calls = match query.calls {
        0 => 0,
        wanted => service.merging.grant(wanted).await,
    };
    if calls == 0 && query.calls > 0 {
        let max = service.merging.config().calls_per_day;
        return Err(ErrorReply {
            code: ErrorCode::Failed,
            error: format!("all {max} calls of today are made"),
            action: Some("`calls_per_day` in [merge] of config.toml is the limit".to_owned()),
        });
    }
    let notes = notes.iter().map(|record| record.id.to_string()).collect();
    Ok(MergeTask { state, text: secrets::clean(&text).into_owned(), notes, calls })
}

/// Takes back unused calls, and writes a state into the brief if nothing is missing in it.
pub(crate) async fn end_merge(service: &AdminService, params: MergeParams) -> Answer<MergeReply> {
    service.merging.give_back(params.calls_left).await;
    let Some(mut state) = params.state else { return Ok(MergeReply::Nothing) };
    secrets::clean_json(&mut state, &mut Removed::default());
    let view = view(service, &params.project).await?;
    let notes = texts(&view.memory, &params.notes)?;
    let texts = notes.iter().filter_map(|record| {
        let text = record.note()?.content.as_str();
        Some(MergedText { text, stored: Some(record.created.time) })
    });
    let texts: Vec<MergedText<'_>> = texts.collect();
    let merge = match brief(&view, &params.topic).await.merge(&params.topic, &state, &texts) {
        Ok(merge) => merge,
        Err(losses) if losses.iter().any(|loss| matches!(loss, Loss::Version { .. })) => {
            return Ok(MergeReply::Stale);
        }
        Err(losses) => {
            let missing = losses.iter().map(ToString::to_string).collect();
            return Ok(MergeReply::Refused { missing });
        }
    };
    let Some(project) = view.project else { return Err(internal("a brief has no project")) };
    let by = Provenance::new(
        SessionId::new(format!("merge-{}", uuid::Uuid::now_v7())),
        CLIENT.into(),
        clock::now(),
    );
    let decide: WriteCommand<Memory, BriefOutcome> = Arc::new(move |memory, now| {
        let by = Provenance { time: now, ..by.clone() };
        let plan = plan_brief(memory, &by, Staged::default(), Some(&merge))?;
        Ok(Transition::from(plan))
    });
    let written = project.owner.write(None, None, OPERATION, decide).await.map_err(write_error)?;
    Ok(match written.outcome.merge {
        Some(MergeEnd::Done) => MergeReply::Merged { version: written.outcome.topic.version.0 },
        Some(MergeEnd::Stale) | None => MergeReply::Stale,
    })
}

/// Returns a project's memory and files.
async fn view(service: &AdminService, project: &str) -> Answer<View> {
    let session = Session::ephemeral(CLIENT, place(&service.sessions, project).await?);
    session.view(&service.sessions).await.map_err(bind_error)
}

/// Finds the notes that have a text: those that are named, or else those of the newest text.
fn texts(memory: &Memory, named: &[String]) -> Answer<Vec<Arc<Record>>> {
    let not_found = |error: String| ErrorReply { code: ErrorCode::NotFound, error, action: None };
    let is_text = |record: &&Arc<Record>| {
        record.state != RecordState::Forgotten
            && record.note().is_some()
            && record.tags.iter().any(|tag| tag == CHECKPOINT_TAG)
    };
    if named.is_empty() {
        let newest = memory.records().filter(is_text).max_by_key(|it| (it.updated.time, it.id));
        let Some(newest) = newest else {
            return Err(not_found("no text was checkpointed here".to_owned()));
        };
        // A text that was too long for one note is in several.
        let is_same = |record: &&Arc<Record>| record.updated == newest.updated;
        return Ok(memory.records().filter(is_text).filter(is_same).cloned().collect());
    }
    let find = |name: &String| {
        let id: Option<RecordId> = name.parse().ok();
        let record = id.and_then(|id| memory.record(id)).filter(is_text);
        record
            .cloned()
            .ok_or_else(|| not_found(format!("{name} is not a text that was checkpointed")))
    };
    named.iter().map(find).collect()
}

fn joined(records: &[Arc<Record>]) -> String {
    let texts = records.iter().filter_map(|record| record.note()).map(|note: &Note| &*note.content);
    texts.collect::<Vec<&str>>().join("\n")
}
