//! Sessions: one agent conversation each, as far as it can be told.
//!
//! A connection has a default session, and one for each agent thread that its calls name. A session
//! outlives its connection: it is gone only when the socket is closed, the grace is over, and its
//! process no longer exists ([`sweep`]), or its agent says so. Only then is its staged work folded ([`end`]).

mod bind;
mod compaction;
mod end;
mod ended;
mod loading;
mod reading;
mod sweep;
mod table;
mod thread;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use anchord_memory::{Revision, SessionId, Timestamp};
use anchord_proto::hello::{Hello, Role, ToolSet};
use arc_swap::{ArcSwap, ArcSwapOption};
use tokio_util::sync::CancellationToken;

pub(crate) use bind::{
    BindError, PERSONAL_NAME, Place, View, Wrote, establish_in_registry, is_elsewhere,
    is_foreign_process,
};
pub(crate) use compaction::{Compacted, Compaction, Touched, keep_to_budget, plan as plan_within};
pub(crate) use end::{hand_over, keep_and_end};
pub(crate) use reading::LiveSession;
pub(crate) use sweep::{recover, sweep};
pub(crate) use table::{Joined, Replaced, SessionTable, Sure, Teller};
pub(crate) use thread::Thread;

use crate::project::OpenProject;
use crate::projects::ProjectId;
use crate::{clock, secrets};

/// One shim's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The default session.
    pub(crate) id: SessionId,
    /// The shim's random id: its writes are numbered under it.
    pub(crate) instance: Arc<str>,
    /// The tools it is offered.
    pub(crate) tool_set: ToolSet,
    /// The digest of the tools its client has seen before, if it comes back.
    pub(crate) tools_seen: Option<String>,
    pub(crate) hello: Arc<Hello>,
    /// The processes above the one that started the shim, nearest first: some clients start servers through wrappers.
    above: Vec<u32>,
    /// The place of its own directory, once a call has named a conversation.
    place: tokio::sync::OnceCell<Arc<Place>>,
    /// Whether it was told that a conversation belongs to another project.
    refused_thread: AtomicBool,
    pub(crate) stop: CancellationToken,
    table: Arc<SessionTable>,
}

/// A connection for as long as its stream is open.
#[derive(Debug)]
pub(crate) struct Open(pub(crate) Arc<Connection>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.table.disconnected(&self.0);
    }
}

impl Connection {
    /// Whether a call of this thread would begin one session too many.
    pub(crate) fn is_full(&self, thread: &str) -> bool {
        self.table.is_full(self, &secrets::clean(thread))
    }

    /// The session of a call: the thread's own if the call names one. `call` is the client's id of the call, by which
    /// it may be known that one of the session's subagents makes it.
    pub(crate) fn session(
        &self,
        thread: Option<&Thread>,
        client: Option<&str>,
        call: Option<&str>,
    ) -> Arc<Session> {
        let client = client.map(secrets::clean);
        self.table.session(self, thread, client.as_deref(), call)
    }
}

/// Under which a session's topic is found again: the client and its own name for the conversation, else the session.
/// Of the client's name only the first word counts, since the same client calls itself `gemini` in a hook and
/// `gemini-cli` here. A subagent works on its conversation's topic.
pub(crate) fn session_key(session: &Session) -> String {
    let parent = session.id.parent();
    let Some(named) = session.agent_session.as_deref() else {
        return parent.as_ref().unwrap_or(&session.id).to_string();
    };
    let above = parent.and_then(|_| SessionId::new(named).parent());
    let conversation = above.as_ref().map_or(named, |above| &above.0);
    let client = session.client().to_lowercase();
    let first = client.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let key = format!("{first}:{conversation}");
    key.chars().take(anchord_memory::limits::BINDING_KEY_CHARS_MAX).collect()
}

/// How some clients call the part of them that speaks MCP: `codex-mcp-client`, `openclaw-bundle-mcp`.
const MCP_PARTS: [&str; 2] = ["-mcp-client", "-bundle-mcp"];

/// What a shim was started with that counts for the sessions whose calls come by it.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// Tokens of what a session keeps for itself.
    budget: Option<u32>,
    tools: ToolSet,
}

impl Flags {
    fn of(hello: &Hello) -> Self {
        let tools = hello.tools.as_deref().and_then(|named| named.parse().ok());
        Self { budget: hello.budget, tools: tools.unwrap_or_default() }
    }
}

/// The project that a session works in. When that is closed the session, which may go on for days, must not keep its
/// memory.
#[derive(Debug)]
struct Working {
    id: ProjectId,
    open: Weak<OpenProject>,
}

/// A session that is connected, or was and is not gone yet.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// What the agent itself calls the conversation, if it says.
    pub(crate) agent_session: Option<Arc<str>>,
    /// What was said by whoever began it; hooks know nothing of the shim's flags.
    pub(crate) hello: Arc<Hello>,
    /// Those of the shim that its calls come by, as its table knows.
    flags: ArcSwap<Flags>,
    pub(crate) started: Timestamp,
    client: Mutex<Arc<str>>,
    place: Mutex<Option<Arc<Place>>>,
    working: ArcSwapOption<Working>,
    binding: tokio::sync::Mutex<bool>,
    /// In no table and no registry: it stages nothing, so nothing of it is to be found again.
    visits: bool,
    /// A remark about the project's place, for the next answer.
    remark: Mutex<Option<String>>,
    revision_seen: AtomicU64,
    injected: AtomicU64,
}

impl Session {
    fn new(
        id: SessionId,
        hello: Arc<Hello>,
        agent_session: Option<Arc<str>>,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            agent_session,
            flags: ArcSwap::from_pointee(Flags::of(&hello)),
            hello,
            started: now,
            client: Mutex::default(),
            place: Mutex::default(),
            working: ArcSwapOption::empty(),
            binding: tokio::sync::Mutex::default(),
            visits: false,
            remark: Mutex::default(),
            revision_seen: AtomicU64::new(u64::MAX),
            injected: AtomicU64::new(u64::MAX),
        }
    }

    /// A session of one call that a command makes and no agent; with the call it is over.
    pub(crate) fn visit(client: &str, place: Place) -> Self {
        Self::brief("cli", client, place)
    }

    /// Whose what the daemon does to a project by itself is.
    pub(crate) fn of_daemon(project: &Arc<OpenProject>) -> Self {
        Self::brief("daemon", "anchord", Place::without_files(project.id)).within(project)
    }

    /// A session that is over at once. In the journal its id begins with whose it was.
    fn brief(whose: &str, client: &str, place: Place) -> Self {
        let id = SessionId::new(format!("{whose}-{}", uuid::Uuid::now_v7()));
        let hello = Hello::new(Role::Http, uuid::Uuid::new_v4(), std::process::id());
        let session = Self::new(id, Arc::new(hello), None, clock::now());
        session.set_client(client);
        Self { place: Mutex::new(Some(Arc::new(place))), visits: true, ..session }
    }

    /// Returns this session for one call in the user's own memory. It writes there under its own id
    /// and stages nothing.
    pub(crate) fn in_personal(&self) -> Self {
        let hello = Arc::clone(&self.hello);
        let session = Self::new(self.id.clone(), hello, self.agent_session.clone(), self.started);
        session.set_client(&self.client());
        session.flags.store(self.flags.load_full());
        Self { place: Mutex::new(Some(Arc::new(Place::Personal))), visits: true, ..session }
    }

    /// Whether it works in the user's own memory.
    pub(crate) fn is_in_personal(&self) -> bool {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(place.as_deref(), Some(Place::Personal))
    }

    /// Whether it is one of those.
    pub(crate) fn is_visit(&self) -> bool {
        self.visits
    }

    /// The session, at work in a project that is open.
    pub(crate) fn within(self, project: &Arc<OpenProject>) -> Self {
        self.works_in(Some(project));
        self
    }

    /// From now on the session works in this project; in none that has an id yet, with none.
    fn works_in(&self, project: Option<&Arc<OpenProject>>) {
        let working =
            project.map(|open| Arc::new(Working { id: open.id, open: Arc::downgrade(open) }));
        self.working.store(working);
    }

    /// This session, now that its shim has found this daemon and says again what it works in.
    fn resumed(&self, hello: Arc<Hello>) -> Self {
        let session = Self::new(self.id.clone(), hello, self.agent_session.clone(), self.started);
        session.set_client(&self.client());
        session.flags.store(self.flags.load_full());
        session
    }

    /// The session's calls come by the connection of this shim.
    fn set_flags(&self, shim: &Hello) {
        self.flags.store(Arc::new(Flags::of(shim)));
    }

    /// The client's own name, as people know it; empty until it said one.
    pub(crate) fn client(&self) -> Arc<str> {
        Arc::clone(&self.client.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_client(&self, name: &str) {
        let name = MCP_PARTS.iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name);
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.as_ref() != name {
            *client = name.into();
        }
    }

    /// Adds a remark about the project's place to the next answer.
    fn remark_on(&self, remark: Option<String>) {
        let Some(remark) = remark else { return };
        let mut kept = self.remark.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(match kept.take() {
            Some(earlier) if earlier.contains(&remark) => earlier,
            Some(earlier) => format!("{earlier}\n{remark}"),
            None => remark,
        });
    }

    /// Takes what an answer has to tell about the project's place.
    pub(crate) fn take_remark(&self) -> Option<String> {
        self.remark.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The project the session works in, once it is known.
    pub(crate) fn project_id(&self) -> Option<ProjectId> {
        Some(self.working.load().as_ref()?.id)
    }

    /// The project the session works in, while it is open.
    pub(crate) fn project(&self) -> Option<Arc<OpenProject>> {
        self.working.load().as_ref()?.open.upgrade()
    }

    /// The root of its project's files, once it is known.
    pub(crate) fn known_root(&self) -> Option<String> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        Some(place.as_ref()?.root()?.to_string_lossy().into_owned())
    }

    /// The revision at the session's last load; `None` before its first.
    pub(crate) fn revision_seen(&self) -> Option<Revision> {
        seen(&self.revision_seen)
    }

    /// A soft mark: lost with the daemon, at worst something is told twice. `None` when nothing was told after all.
    pub(crate) fn set_revision_seen(&self, revision: Option<Revision>) {
        self.revision_seen.store(mark(revision), Ordering::Relaxed);
    }

    /// The revision of the memory that a hook has put into the model's context and that is still there.
    pub(crate) fn injected(&self) -> Option<Revision> {
        seen(&self.injected)
    }

    /// A soft mark: lost with the daemon, at worst a load is given in full. `None` when the context was emptied.
    pub(crate) fn set_injected(&self, revision: Option<Revision>) {
        self.injected.store(mark(revision), Ordering::Relaxed);
    }
}

fn mark(revision: Option<Revision>) -> u64 {
    revision.map_or(u64::MAX, |revision| revision.0)
}

fn seen(mark: &AtomicU64) -> Option<Revision> {
    match mark.load(Ordering::Relaxed) {
        u64::MAX => None,
        revision => Some(Revision(revision)),
    }
}
