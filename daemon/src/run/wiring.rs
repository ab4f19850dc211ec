//! Wires the services of a daemon, each made of those below it. Only `run.rs` and tests of a whole
//! daemon name this type.

use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;

use crate::admin::AdminService;
use crate::anchors::AnchorUpkeep;
use crate::clock;
use crate::config::Config;
use crate::hooks::HookService;
use crate::hooks::state::Patience;
use crate::http::StatusService;
use crate::instance::Instance;
use crate::jobs::JobService;
use crate::mcp::ToolService;
use crate::merging::MergeService;
use crate::metrics::Metrics;
use crate::outlines::{OutlineService, Parser};
use crate::project::{OpenProjects, ProjectService};
use crate::projects::Surroundings;
use crate::registry_store::RegistryStore;
use crate::rules::RuleService;
use crate::sessions::{Joining, SessionService, SessionTable, TeamGate};
use crate::shared::SharedService;
use crate::shutdown::Shutdown;
use crate::socket::SocketService;
use crate::team_upkeep::TeamUpkeep;
use crate::topic_files::TopicMirror;
use crate::zipmem_files::ZipmemMirror;

/// The directory of kept outlines, in the data directory. It may be deleted at any time.
const OUTLINES: &str = "outlines";

/// The parts that need an environment, opened by `run.rs`.
pub(crate) struct Parts {
    pub(crate) instance: Instance,
    pub(crate) config: Config,
    pub(crate) surroundings: Surroundings,
    pub(crate) registry: RegistryStore,
    pub(crate) projects: OpenProjects,
    pub(crate) after_crash: bool,
    /// The soft mark of the calls of providers.
    pub(crate) merge_calls: Option<String>,
    pub(crate) outline_parser: Parser,
    /// The time that the load of a hook may take.
    pub(crate) patience: Patience,
    /// Whether sessions have to wait until this machine has joined a team.
    pub(crate) joining: Joining,
}

/// The services of one daemon.
pub(crate) struct Daemon {
    pub(crate) projects: Arc<ProjectService>,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) hooks: Arc<HookService>,
    pub(crate) admin: Arc<AdminService>,
    pub(crate) status: Arc<StatusService>,
    pub(crate) jobs: JobService,
    pub(crate) socket: Arc<SocketService>,
    pub(crate) shutdown: Shutdown,
}

impl Daemon {
    pub(crate) fn wire(parts: Parts) -> Self {
        let Parts {
            instance,
            config,
            surroundings,
            registry,
            projects,
            after_crash,
            merge_calls,
            outline_parser,
            patience,
            joining,
        } = parts;
        let (instance, config) = (Arc::new(instance), Arc::new(config));
        let (metrics, shutdown) = (Arc::<Metrics>::default(), Shutdown::default());
        let up_since = clock::start();
        let guard = anchord_proto::instance::InstanceDir::named(instance.dir()).guard();
        let rules = RuleService::new(Arc::clone(&metrics), guard);
        let logs = vec![instance.logs().to_owned(), rules.guard_logs()];
        let (purging, purged) = mpsc::unbounded_channel();
        let projects = Arc::new(ProjectService { registry, open: projects, logs, purged: purging });
        let merging = Arc::new(MergeService::new(
            Arc::clone(&config),
            Arc::clone(&projects),
            merge_calls.as_deref(),
        ));
        let outlines = Arc::new(OutlineService::new(
            outline_parser,
            instance.data().join(OUTLINES),
            &config.files.additional_roots,
            Arc::clone(&metrics),
        ));
        let sessions = Arc::new(SessionService {
            shared: Arc::new(SharedService::new(Arc::clone(&projects))),
            anchors: Arc::default(),
            rules,
            gate: TeamGate::new(joining),
            projects: Arc::clone(&projects),
            table: Arc::<SessionTable>::default(),
            config,
            surroundings,
            after_crash,
        });
        let hooks = Arc::new(HookService::new(
            Arc::clone(&sessions),
            Arc::clone(&outlines),
            Arc::clone(&metrics),
            patience,
        ));
        let zipmem = Arc::new(ZipmemMirror::new(Arc::clone(&sessions)));
        let tools = Arc::new(ToolService::new(
            Arc::clone(&sessions),
            Arc::clone(&metrics),
            Arc::clone(&merging),
            outlines,
            Arc::clone(&zipmem),
        ));
        let admin = Arc::new(AdminService {
            instance: Arc::clone(&instance),
            started: clock::now(),
            up_since,
            sessions: Arc::clone(&sessions),
            hooks: Arc::clone(&hooks),
            tools: Arc::clone(&tools),
            metrics: Arc::clone(&metrics),
            merging,
            shutdown: shutdown.clone(),
            http_state: OnceLock::new(),
        });
        let status = Arc::new(StatusService {
            up_since,
            sessions: Arc::clone(&sessions),
            metrics: Arc::clone(&metrics),
            shutdown: shutdown.clone(),
        });
        let jobs = JobService {
            instance: Arc::clone(&instance),
            sessions: Arc::clone(&sessions),
            hooks: Arc::clone(&hooks),
            metrics: Arc::clone(&metrics),
            mirror: TopicMirror::new(Arc::clone(&projects), &sessions.config),
            zipmem,
            anchors: AnchorUpkeep::new(Arc::clone(&projects), Arc::clone(&sessions.anchors)),
            teams: TeamUpkeep::new(Arc::clone(&projects), Arc::clone(&sessions.config)),
            purged,
            shutdown: shutdown.clone(),
        };
        let socket = Arc::new(SocketService {
            instance,
            sessions: Arc::clone(&sessions),
            hooks: Arc::clone(&hooks),
            tools,
            admin: Arc::clone(&admin),
            metrics,
            shutdown: shutdown.clone(),
        });
        Self { projects, sessions, hooks, admin, status, jobs, socket, shutdown }
    }
}

#[cfg(test)]
mod tests;
