//! Sessions: one agent conversation each, as far as it can be identified.
//!
//! A connection has a default session, and one for each conversation that its calls name. A session
//! outlives its connection. It is gone when its agent says so. Otherwise it is gone only when its
//! socket is closed, the grace period is over, and its process no longer exists ([`sweep`]). Only
//! then is its staged work folded ([`end`]).

mod bind;
mod compaction;
mod conversation;
mod end;
mod ended;
mod error;
mod event;
mod liveness;
mod loading;
mod location;
mod processes;
mod reading;
mod saving;
mod service;
mod sweep;
mod table;
mod team_gate;
mod view;
mod writing;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use anchord_agents::McpNames;
use anchord_memory::{Revision, SessionId, Timestamp};
use anchord_proto::hello::{Hello, Role, ToolSet};
use arc_swap::{ArcSwap, ArcSwapOption};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

pub(crate) use bind::{establish_in_registry, record_move};
pub(crate) use compaction::Compaction;
pub(crate) use conversation::NamedConversation;
pub(crate) use end::{hand_over, keep_and_end};
pub(crate) use error::BindError;
pub(crate) use location::{PERSONAL_NAME, SessionLocation};
pub(crate) use processes::{is_elsewhere, is_foreign_process};
pub(crate) use reading::LiveSession;
pub(crate) use saving::{SaveCall, Saved, SessionCall, Waits, WritePlan};
pub(crate) use service::SessionService;
pub(crate) use sweep::{recover, sweep};
pub(crate) use table::{
    EventSource, MatchConfidence, Replaced, ResolvedSession, SessionTable, SessionsElsewhere,
};
pub(crate) use team_gate::{Joining, TeamGate};
pub(crate) use view::View;
pub(crate) use writing::WriteOutcome;

use crate::project::history::PastMemory;
use crate::project::{OpenProject, StepBack, StepBacksSeen};
use crate::projects::ProjectId;
use crate::{clock, secrets};

/// One shim's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The default session.
    pub(crate) id: SessionId,
    /// The shim's random id, under which its writes are numbered.
    pub(crate) instance: Arc<str>,
    /// The tools offered to the client.
    pub(crate) tool_set: ToolSet,
    /// The digest of the tools that its client has seen before, if it comes back.
    pub(crate) tools_seen: Option<String>,
    pub(crate) hello: Arc<Hello>,
    /// The processes above the one that started the shim, nearest first. Some clients start servers
    /// through wrappers.
    above: Vec<u32>,
    /// The place of its own directory, once a conversation was looked for.
    place: tokio::sync::OnceCell<Arc<SessionLocation>>,
    /// Whether it was warned that a conversation belongs to another project.
    refused_conversation: AtomicBool,
    pub(crate) stop: CancellationToken,
    table: Arc<SessionTable>,
}

/// Disconnects its connection when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionGuard(pub(crate) Arc<Connection>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.table.disconnected(&self.0);
    }
}

impl Connection {
    /// Returns whether a call of this conversation would begin one session too many.
    pub(crate) fn is_full(&self, conversation: &str) -> bool {
        self.table.is_full(self, &secrets::clean(conversation))
    }

    /// Returns the session of a call: the conversation's own if the call names one. `call` is the
    /// client's id of the call, which may show that one of the session's subagents makes it.
    pub(crate) fn session(
        &self,
        conversation: Option<&NamedConversation>,
        client: Option<&str>,
        call: Option<&str>,
    ) -> Arc<Session> {
        let client = client.map(secrets::clean);
        self.table.session(self, conversation, client.as_deref(), call)
    }
}

/// Returns the key of a session's topic: the client and its own name for the conversation, else the
/// session's id.
///
/// Only the first word of the client's name counts, as in the keys that topics are bound to. A
/// subagent works on its conversation's topic.
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

/// The shim's start options that apply to the sessions whose calls it forwards.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// The token budget of the session's own notes.
    budget: Option<u32>,
    tools: ToolSet,
    /// Whether the shim named exactly the directory of a memory, with `--state-dir`.
    is_exact: bool,
}

impl Flags {
    fn of(hello: &Hello) -> Self {
        let tools = hello.tools.as_deref().and_then(|named| named.parse().ok());
        let tools = tools.unwrap_or_default();
        Self { budget: hello.budget, tools, is_exact: hello.exact }
    }
}

/// The project that a session works in. The reference is weak: a session may live for days and must
/// not keep a closed project's memory.
#[derive(Debug)]
struct Working {
    id: ProjectId,
    open: Weak<OpenProject>,
}

/// A session that is connected, or was and is not gone yet.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The agent's own name for the conversation, if it sends one.
    pub(crate) agent_session: Option<Arc<str>>,
    /// The hello that began the session. Hooks know nothing of the shim's flags.
    pub(crate) hello: Arc<Hello>,
    /// The flags of the shim that forwards its calls, set by the session table.
    flags: ArcSwap<Flags>,
    pub(crate) started: Timestamp,
    /// Ids under which the same conversation was known before hooks named it.
    former: ArcSwap<Vec<SessionId>>,
    client: Mutex<Arc<str>>,
    place: Mutex<Option<Arc<SessionLocation>>>,
    working: ArcSwapOption<Working>,
    binding: tokio::sync::Mutex<bool>,
    /// Whether the session is in no table and no registry. It stages nothing, so none of its work
    /// needs recovery.
    is_ephemeral: bool,
    /// The earlier memory that the session reads, instead of the current one.
    past: Option<PastMemory>,
    /// Remarks about the project's place, for the next answer.
    remarks: Mutex<Vec<String>>,
    /// The earliest time at which it may have made a call, in milliseconds.
    began: AtomicI64,
    revision_seen: AtomicU64,
    injected: AtomicU64,
    /// The last step back of a copy of a team's journal that both count, in milliseconds.
    stepped_back: AtomicI64,
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
            former: ArcSwap::default(),
            client: Mutex::default(),
            place: Mutex::default(),
            working: ArcSwapOption::empty(),
            binding: tokio::sync::Mutex::default(),
            is_ephemeral: false,
            past: None,
            remarks: Mutex::default(),
            began: AtomicI64::new(now.0),
            revision_seen: AtomicU64::new(u64::MAX),
            injected: AtomicU64::new(u64::MAX),
            stepped_back: AtomicI64::new(StepBacksSeen::before(now).0.0),
        }
    }

    /// Records that this conversation was known as another session, and under that one's names.
    pub(crate) fn continues(&self, before: &Self) {
        let names = |known: &Arc<Vec<SessionId>>| {
            let of_before = before.former.load_full();
            let more = of_before.iter().chain([&before.id]).cloned();
            known.iter().cloned().chain(more).collect::<Vec<_>>()
        };
        self.former.rcu(names);
    }

    /// Returns every id under which this conversation was known.
    pub(crate) fn ids(&self) -> Vec<SessionId> {
        self.former.load().iter().chain([&self.id]).cloned().collect()
    }

    /// Creates an ephemeral session for one call that a command makes, not an agent. It ends with
    /// the call.
    pub(crate) fn ephemeral(client: &str, place: SessionLocation) -> Self {
        let id = SessionId::new(format!("cli-{}", uuid::Uuid::now_v7()));
        let hello = Hello::new(Role::Http, uuid::Uuid::new_v4(), std::process::id());
        let session = Self::new(id, Arc::new(hello), None, clock::now());
        session.set_client(client);
        Self { place: Mutex::new(Some(Arc::new(place))), is_ephemeral: true, ..session }
    }

    /// Returns this ephemeral session as a reader of an earlier memory. It cannot write.
    pub(crate) fn in_past(self, past: PastMemory) -> Self {
        Self { past: Some(past), ..self }
    }

    /// Returns this session for one call in the user's own memory. It writes there under its own id
    /// and stages nothing.
    pub(crate) fn in_personal(&self) -> Self {
        let hello = Arc::clone(&self.hello);
        let session = Self::new(self.id.clone(), hello, self.agent_session.clone(), self.started);
        session.set_client(&self.client());
        session.flags.store(self.flags.load_full());
        Self {
            place: Mutex::new(Some(Arc::new(SessionLocation::Personal))),
            is_ephemeral: true,
            ..session
        }
    }

    /// Returns whether the session works in the user's own memory.
    pub(crate) fn is_in_personal(&self) -> bool {
        let place = self.place.lock();
        matches!(place.as_deref(), Some(SessionLocation::Personal))
    }

    /// Returns whether the session is ephemeral.
    pub(crate) fn is_ephemeral(&self) -> bool {
        self.is_ephemeral
    }

    /// Returns the session, at work in an open project.
    pub(crate) fn within(self, project: &Arc<OpenProject>) -> Self {
        self.works_in(Some(project));
        self
    }

    /// Sets the project that the session works in from now on. `None` means a project that has no
    /// id yet.
    fn works_in(&self, project: Option<&Arc<OpenProject>>) {
        let working =
            project.map(|open| Arc::new(Working { id: open.id, open: Arc::downgrade(open) }));
        self.working.store(working);
    }

    /// Returns this session with the hello of a shim that has reconnected.
    fn resumed(&self, hello: Arc<Hello>) -> Self {
        let session = Self::new(self.id.clone(), hello, self.agent_session.clone(), self.started);
        session.set_client(&self.client());
        session.flags.store(self.flags.load_full());
        session
    }

    /// Sets the flags of the shim that forwards the session's calls.
    fn set_flags(&self, shim: &Hello) {
        self.flags.store(Arc::new(Flags::of(shim)));
    }

    /// Returns the tools that the shim which forwards the session's calls offers.
    pub(crate) fn tool_set(&self) -> ToolSet {
        self.flags.load().tools
    }

    /// Returns the client's display name. It is empty until the client sends one.
    pub(crate) fn client(&self) -> Arc<str> {
        Arc::clone(&self.client.lock())
    }

    fn set_client(&self, name: &str) {
        let name = McpNames::recorded(name);
        let mut client = self.client.lock();
        if client.as_ref() != name {
            *client = name.into();
        }
    }

    /// Adds a remark about the project's place to the next answer, unless that has it already.
    fn remark_on(&self, remark: Option<String>) {
        let Some(remark) = remark else { return };
        let mut kept = self.remarks.lock();
        if !kept.contains(&remark) {
            kept.push(remark);
        }
    }

    /// Takes the remarks about the project's place, for an answer.
    pub(crate) fn take_remarks(&self) -> Option<String> {
        let remarks = std::mem::take(&mut *self.remarks.lock());
        (!remarks.is_empty()).then(|| remarks.join("\n"))
    }

    /// Notes that calls of the session may have come as early as this.
    fn set_began(&self, earlier: Option<Timestamp>) {
        if let Some(Timestamp(earlier)) = earlier {
            self.began.fetch_min(earlier, Ordering::SeqCst);
        }
    }

    /// Returns whether a call of the session may be about ids from before its project's records got
    /// others. It counts as told of that from now on.
    pub(crate) async fn take_renumbered(&self, service: &SessionService, names_ids: bool) -> bool {
        let open = self.project_id().and_then(|id| service.projects.open.get(id));
        let project = match open {
            Some(open) => Some(open),
            // The tool reports why there is none.
            None => self.view(service).await.ok().and_then(|view| view.project),
        };
        let Some(project) = project else { return false };
        let began = Timestamp(self.began.load(Ordering::SeqCst));
        project.take_renumbered(&self.id, began, names_ids).await
    }

    /// Returns the project that the session works in, once it is known.
    pub(crate) fn project_id(&self) -> Option<ProjectId> {
        Some(self.working.load().as_ref()?.id)
    }

    /// Returns the project that the session works in, while it is open.
    pub(crate) fn project(&self) -> Option<Arc<OpenProject>> {
        self.working.load().as_ref()?.open.upgrade()
    }

    /// Returns the root of its project's files, once it is known.
    pub(crate) fn known_root(&self) -> Option<String> {
        let place = self.place.lock();
        Some(place.as_ref()?.root()?.to_string_lossy().into_owned())
    }

    /// Returns the revision at the session's last load; `None` before its first.
    pub(crate) fn revision_seen(&self) -> Option<Revision> {
        seen(&self.revision_seen)
    }

    /// Sets the revision seen. This is a soft mark: if it is lost with the daemon, at worst a
    /// notice is repeated. `None` means that nothing was delivered after all.
    pub(crate) fn set_revision_seen(&self, revision: Option<Revision>) {
        self.revision_seen.store(mark(revision), Ordering::Relaxed);
    }

    /// Returns the revision of the memory that a hook put into the model's context and that is
    /// still there.
    pub(crate) fn injected(&self) -> Option<Revision> {
        seen(&self.injected)
    }

    /// Sets the injected revision. This is a soft mark: if it is lost with the daemon, at worst a
    /// load is given in full. `None` means that the context was emptied.
    pub(crate) fn set_injected(&self, revision: Option<Revision>) {
        self.injected.store(mark(revision), Ordering::Relaxed);
    }

    /// Lowers what the session has seen to what remained when its project's copy of a team's
    /// journal stepped back. A context from before has what is missing, so it is no load.
    pub(crate) fn step_back(&self, step_backs: &[StepBack]) {
        let mut last = StepBacksSeen(Timestamp(self.stepped_back.load(Ordering::SeqCst)));
        let Some(to) = last.take(step_backs) else { return };
        let Timestamp(at) = last.0;
        if self.stepped_back.fetch_max(at, Ordering::SeqCst) < at {
            self.set_revision_seen(self.revision_seen().map(|seen| seen.min(to)));
            self.set_injected(None);
        }
    }

    /// Returns the last steps back of its project's copy of a team's journal.
    pub(crate) fn step_backs(&self, service: &SessionService) -> Vec<StepBack> {
        let id = self.project_id();
        id.map(|id| service.projects.open.step_backs(id)).unwrap_or_default()
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
