//! Exports of a memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use anchord_memory::{ItemIds, Memory, Record, RecordId, export};

use super::forgotten::whole_records;
use super::tool::ephemeral_session;
use super::{Answer, Target, internal, opened};
use crate::api::{ExportDocument, ExportFormat, Retrieval};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::RETRIEVAL_IDS_MAX;
use crate::sessions::SessionService;

/// Exports a project's memory as a document.
pub(crate) async fn export_document(
    service: &SessionService,
    project: &str,
    format: ExportFormat,
) -> Answer<String> {
    let started = clock::start();
    let (target, open) = opened(service, project).await?;
    let (memory, of) = (open.memory(), target);
    let rendered = Arc::clone(&memory);
    let whole = match format {
        ExportFormat::Json => whole_records(&open, memory.records()).await?,
        // These formats leave out forgotten records.
        ExportFormat::Markdown
        | ExportFormat::Zipmem
        | ExportFormat::Compactor
        | ExportFormat::InfiniteContext
        | ExportFormat::SnapMemory => BTreeMap::new(),
    };
    // The document may be as long as the memory is large, so no worker thread renders it.
    let text = run_blocking(move || document(&of, &rendered, &whole, format)).await?;
    let name = serde_json::to_value(format).map_err(|error| internal(&error.to_string()))?;
    let ids = memory.records().take(RETRIEVAL_IDS_MAX).map(|record| record.id.to_string());
    let line = Retrieval {
        tool: "memory_export".to_owned(),
        asked: serde_json::json!({ "format": name }),
        ids: ids.collect(),
        more: memory.records().count().saturating_sub(RETRIEVAL_IDS_MAX) as u64,
        ..Retrieval::default()
    };
    // The document goes to a file: nobody receives its tokens.
    ephemeral_session(&open).log(service, line, started.elapsed(), String::new());
    Ok(text)
}

/// Renders a memory. `whole` has the forgotten records of which the memory has the heads.
fn document(
    target: &Target,
    memory: &Memory,
    whole: &BTreeMap<RecordId, Record>,
    format: ExportFormat,
) -> Answer<String> {
    let whole = |record: &Arc<Record>| whole.get(&record.id).unwrap_or(record).clone();
    let json = match format {
        ExportFormat::Markdown => return Ok(export::markdown(memory, &target.name, clock::now())),
        ExportFormat::Zipmem => export::zipmem_state(memory, &target.name, clock::now()),
        ExportFormat::Compactor => {
            let ids = ItemIds::of(&target.id.to_string());
            export::compactor_state(memory, ids, clock::now(), |_| true)
        }
        ExportFormat::InfiniteContext => {
            let id = target.reference.id.clone();
            export::infinite_context_state(memory, &id, clock::now())
        }
        ExportFormat::SnapMemory => serde_json::json!(export::snap_memory(memory)),
        ExportFormat::Json => {
            let document = ExportDocument {
                format: 1,
                project: target.reference.clone(),
                revision: memory.revision().0,
                records: memory.records().map(whole).collect(),
                staged: memory
                    .staged()
                    .map(|(session, staged)| (session.clone(), staged.as_ref().clone()))
                    .collect(),
                bindings: memory
                    .bindings()
                    .map(|(key, bound)| (key.to_owned(), bound.topic.clone()))
                    .collect(),
            };
            serde_json::to_value(document).map_err(|error| internal(&error.to_string()))?
        }
    };
    let text = serde_json::to_string_pretty(&json).map_err(|error| internal(&error.to_string()))?;
    Ok(text + "\n")
}
