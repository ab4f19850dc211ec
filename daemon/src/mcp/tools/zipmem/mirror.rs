//! Writes `.zipmem/state.json` and `.zipmem/session.json` as zipmem would, for scripts that read
//! them. Only `zipmem.mirror = true` asks for that, and nothing reads the files back.
//!
//! A file that anchord did not write is left alone: it may be a memory that nobody has imported.

use std::path::Path;

use anchord_memory::export::{self, ZipmemSession};
use serde_json::Value;

use crate::bounded_fs;
use crate::clock;
use crate::limits::PROJECT_FILE_BYTES_MAX;
use crate::mcp::context::Context;
use crate::projects::{FileDigest, MirrorError, ProjectFiles};

const STATE: &str = ".zipmem/state.json";
const SESSION: &str = ".zipmem/session.json";

/// The field that marks a file as a mirror, and its value. zipmem ignores fields that it does not
/// know.
const MARK: (&str, &str) = ("written_by", "anchord");

/// Writes the files if they are wanted. `is_active` is false after a save. A failure is logged,
/// since the call itself has done its work.
pub(super) async fn write(context: &Context, is_active: bool) {
    if !context.sessions.config.zipmem.mirror {
        return;
    }
    if let Err(error) = try_write(context, is_active).await {
        tracing::warn!(error, "failed to mirror a memory in zipmem's files");
    }
}

async fn try_write(context: &Context, is_active: bool) -> Result<(), String> {
    let view = context.view().await.map_err(|error| format!("{error:?}"))?;
    let Some(root) = view.place.root().map(Path::to_owned) else { return Ok(()) };
    let (now, name) = (clock::now(), view.place.name(&context.sessions));
    let hello = &context.session.hello;
    let session = export::zipmem_session(&ZipmemSession {
        id: &context.session.id,
        pids: (hello.pid, hello.agent_pid.unwrap_or_default()),
        is_active,
        started: context.session.started,
        now,
        staged: view.memory.staged_by(&context.session.id).map(AsRef::as_ref),
    });
    let state = export::zipmem_state(&view.memory, &name, now);
    let place = root.clone();
    let written = bounded_fs::run(&place, move || replace(&root, state, session)).await;
    written.map_err(|timeout| timeout.to_string())?.map_err(|error| error.to_string())
}

fn replace(root: &Path, state: Value, session: Value) -> Result<(), MirrorError> {
    let files = ProjectFiles::open(root).map_err(|source| MirrorError::Io {
        verb: "open",
        path: root.display().to_string(),
        source,
    })?;
    // Neither is written if one of them is zipmem's own.
    let known = [expected(&files, STATE)?, expected(&files, SESSION)?];
    for ((name, mut value), known) in [(STATE, state), (SESSION, session)].into_iter().zip(known) {
        if let Some(fields) = value.as_object_mut() {
            fields.insert(MARK.0.to_owned(), MARK.1.into());
        }
        let text = format!("{value:#}\n");
        files.write_whole(Path::new(name), text.as_bytes(), known.as_ref())?;
    }
    Ok(())
}

/// Returns the digest of a mirror that is there. Fails if there is a file of another writer.
fn expected(files: &ProjectFiles, name: &str) -> Result<Option<FileDigest>, MirrorError> {
    let Some(file) = files.read_whole(Path::new(name), PROJECT_FILE_BYTES_MAX)? else {
        return Ok(None);
    };
    let known: Option<Value> = serde_json::from_slice(&file.bytes).ok();
    let writer = known.as_ref().and_then(|known| known.get(MARK.0)).and_then(Value::as_str);
    if writer == Some(MARK.1) {
        Ok(Some(FileDigest::of(&file.bytes)))
    } else {
        Err(MirrorError::Changed(name.to_owned()))
    }
}
