//! Writes `.zipmem/state.json` and `.zipmem/session.json` as zipmem would, for scripts that read
//! them. Only `zipmem.mirror = true` asks for that, and nothing reads the files back.
//!
//! A file that anchord did not write is left alone: it may be a memory that nobody has imported.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::export::{self, ZipmemSession, ZipmemStatus};
use anchord_memory::{Memory, SessionId, Timestamp};
use parking_lot::Mutex;
use serde_json::Value;

use crate::bounded_fs;
use crate::clock;
use crate::limits::PROJECT_FILE_BYTES_MAX;
use crate::projects::{FileDigest, MirrorError, ProjectFiles, ProjectId};
use crate::sessions::{Session, SessionService};

const STATE: &str = ".zipmem/state.json";
const SESSION: &str = ".zipmem/session.json";

/// The field that marks a file as a mirror, and its value. zipmem ignores fields that it does not
/// know.
const MARK: (&str, &str) = ("written_by", "anchord");

/// The mirrors that this daemon has written.
#[derive(Debug)]
pub(crate) struct ZipmemMirror {
    sessions: Arc<SessionService>,
    /// The sessions that are shown as active, by the root of their files.
    active: Mutex<HashMap<PathBuf, MirroredSession>>,
}

/// The session that a `session.json` shows.
#[derive(Clone, Debug)]
struct MirroredSession {
    id: SessionId,
    pids: (u32, u32),
    started: Timestamp,
    /// Its project's memory; `None` before the first write.
    project: Option<ProjectId>,
    /// The project's display name.
    name: String,
}

impl ZipmemMirror {
    pub(crate) fn new(sessions: Arc<SessionService>) -> Self {
        Self { sessions, active: Mutex::default() }
    }

    /// Writes the files after a session's call, if they are wanted. A failure is logged, since the
    /// call itself has done its work.
    pub(crate) async fn write(&self, session: &Session, status: ZipmemStatus) {
        if self.sessions.config.zipmem.mirror {
            log(self.try_write(session, status).await);
        }
    }

    async fn try_write(&self, session: &Session, status: ZipmemStatus) -> Result<(), String> {
        let view = session.view(&self.sessions).await.map_err(|error| error.to_string())?;
        let Some(root) = view.place.root() else { return Ok(()) };
        let hello = &session.hello;
        let mirrored = MirroredSession {
            id: session.id.clone(),
            pids: (hello.pid, hello.agent_pid.unwrap_or_default()),
            started: session.started,
            project: view.project.as_ref().map(|project| project.id),
            name: view.place.name(&self.sessions),
        };
        mirrored.write(root, Some(&view.memory), status).await?;
        let mut active = self.active.lock();
        match status {
            ZipmemStatus::Active => active.insert(root.to_owned(), mirrored),
            ZipmemStatus::Closed | ZipmemStatus::Interrupted => active.remove(root),
        };
        Ok(())
    }

    /// Shows the sessions as interrupted that have ended without a save, and what was folded for
    /// them.
    pub(crate) async fn update(&self) {
        let table = &self.sessions.table;
        let ended: Vec<(PathBuf, MirroredSession)> =
            self.active.lock().extract_if(|_, session| table.is_over(&session.id)).collect();
        for (root, session) in ended {
            log(self.interrupt(&root, &session).await);
        }
    }

    async fn interrupt(&self, root: &Path, session: &MirroredSession) -> Result<(), String> {
        let project = match session.project {
            Some(id) => self.sessions.projects.open_known(id).await,
            None => Ok(None),
        };
        let project = project.map_err(|error| error.to_string())?;
        let memory = project.map(|project| project.memory());
        session.write(root, memory.as_deref(), ZipmemStatus::Interrupted).await
    }
}

fn log(written: Result<(), String>) {
    if let Err(error) = written {
        tracing::warn!(error, "failed to mirror a memory in zipmem's files");
    }
}

impl MirroredSession {
    /// Writes both files, or the session's alone if there is no memory.
    async fn write(
        &self,
        root: &Path,
        memory: Option<&Memory>,
        status: ZipmemStatus,
    ) -> Result<(), String> {
        let now = clock::now();
        let session = export::zipmem_session(&ZipmemSession {
            id: &self.id,
            pids: self.pids,
            status,
            started: self.started,
            now,
            staged: memory.and_then(|memory| memory.staged_by(&self.id)).map(AsRef::as_ref),
        });
        let state = memory.map(|memory| (STATE, export::zipmem_state(memory, &self.name, now)));
        let files: Vec<_> = state.into_iter().chain([(SESSION, session)]).collect();
        let place = root.to_owned();
        let written = bounded_fs::run(root, move || replace(&place, files)).await;
        written.map_err(|timeout| timeout.to_string())?.map_err(|error| error.to_string())
    }
}

fn replace(root: &Path, files: Vec<(&'static str, Value)>) -> Result<(), MirrorError> {
    let place = ProjectFiles::open(root).map_err(|source| MirrorError::Io {
        verb: "open",
        path: root.display().to_string(),
        source,
    })?;
    // Neither is written if one of them is zipmem's own.
    let known = [expected(&place, STATE)?, expected(&place, SESSION)?];
    let [state, session] = &known;
    for (name, mut value) in files {
        if let Some(fields) = value.as_object_mut() {
            fields.insert(MARK.0.to_owned(), MARK.1.into());
        }
        let text = format!("{value:#}\n");
        let known = if name == STATE { state } else { session };
        place.write_whole(Path::new(name), text.as_bytes(), known.as_ref())?;
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
