//! Every limit of the daemon, with its unit last in the name. The wire's limits are in the crate `proto`.

use std::time::Duration;

/// Sessions that ended which the registry still knows; the oldest goes when another ends.
pub const ENDED_SESSIONS_MAX: u64 = 1_000;

/// A project file larger than this is not read.
pub const PROJECT_FILE_BYTES_MAX: u64 = 4 << 20;

/// Links followed while one path is opened beneath a project's root.
pub const PROJECT_PATH_LINKS_MAX: u32 = 40;

/// Unknown fields of a call that are named. The others are counted.
pub const UNKNOWN_FIELDS_NAMED_MAX: usize = 5;

/// Files named as changed since some time; the others are counted.
pub const CHANGED_FILES_MAX: usize = 50;

/// Directory entries looked at for one list of changed files.
pub const CHANGED_ENTRIES_MAX: u32 = 100_000;

/// Directories within each other that a list of changed files goes down.
pub const CHANGED_DEPTH_MAX: usize = 128;

/// Time given to one list of changed files.
pub const CHANGED_TIME_MAX: Duration = Duration::from_secs(2);

/// An ignore file larger than this is not read.
pub const IGNORE_FILE_BYTES_MAX: u64 = 256 << 10;

/// A project's id file is shorter than this, or is no id.
pub const PROJECT_ID_FILE_BYTES_MAX: u64 = 128;

/// A file of git's that says where something is (`.git`, `commondir`, `gitdir`) is shorter than this.
pub const GIT_POINTER_BYTES_MAX: u64 = 8 << 10;

/// A repository's own configuration is shorter than this, or is not read. One with thousands of branches
/// has a few hundred kilobytes.
pub const GIT_CONFIG_BYTES_MAX: u64 = 4 << 20;

/// Records of each project that are named before a memory is separated; the others are counted.
pub const SPLIT_TITLES_MAX: usize = 20;

/// git's list of tracked files is shorter than this, or is not read. A name takes about 100 bytes.
pub const GIT_INDEX_BYTES_MAX: u64 = 512 << 20;

/// A tracked file's path is shorter than this, or the list is not understood.
pub const GIT_INDEX_NAME_BYTES_MAX: u64 = 64 << 10;

/// Files and directories looked at for repositories beneath a directory.
pub const NESTED_ENTRIES_MAX: u32 = 20_000;

/// Time given to one look for repositories beneath a directory.
pub const NESTED_TIME_MAX: Duration = Duration::from_secs(1);

/// How long one daemon waits for another to finish writing a project's id.
pub const PROJECT_ID_WAIT_MAX: Duration = Duration::from_secs(1);

/// The configuration file is shorter than this.
pub const CONFIG_FILE_BYTES_MAX: u64 = 64 << 10;

/// The instance's own small files (`instance.json`, `lock`) are shorter than this.
pub const INSTANCE_FILE_BYTES_MAX: u64 = 64 << 10;

/// How often a starting daemon looks whether a draining one let go of the lock.
pub const LOCK_POLL: Duration = Duration::from_millis(20);

/// Log files kept, one a day.
pub const LOG_FILES_MAX: usize = 7;

/// Bytes written to one day's log file; the rest of the day is not logged.
pub const LOG_FILE_BYTES_MAX: u64 = 64 << 20;

/// Lines that wait to be written to it; with more the log loses some. Room for all of them is taken at the start.
pub const LOG_LINES_QUEUED_MAX: usize = 4_096;

/// Jobs of one session that wait for a project's owner; a session with more waits itself.
pub const QUEUE_LANE_JOBS_MAX: usize = 32;

/// How long a session waits for room in its lane before it is told "busy".
pub const QUEUE_WAIT_MAX: Duration = Duration::from_secs(5);
/// Time that a write waits for another session to bring a budget down. After that the write is
/// answered, and the next one tries again.
pub const COMPACTION_TURN_WAIT_MAX: Duration = Duration::from_secs(5);

/// Jobs decided and synced together.
pub const BATCH_JOBS_MAX: usize = 256;

/// How long the index may lag in its own buffers. The journal is the promise; this bounds a rebuild.
pub const INDEX_FLUSH_AFTER: Duration = Duration::from_secs(3);

/// Replies queued for one shim that does not read; then nothing more is taken of it.
pub const CONNECTION_REPLIES_MAX: usize = 64;

/// Characters of a client's own name that are kept of it.
pub const CLIENT_CHARS_MAX: usize = 100;

/// Requests of one shim that wait for their turn; then nothing more is taken of it until one's is over.
pub const CONNECTION_CALLS_MAX: usize = 64;

/// How long a connection that is over waits for its last replies to be written.
pub const LAST_REPLIES_TIME_MAX: Duration = Duration::from_secs(1);

/// The longest answer of a tool: a line to the shim has room for it, also when every second byte is escaped.
pub const ANSWER_BYTES_MAX: usize = 1_900_000;

/// A numbered line of a shim, numbers included.
pub const MCP_LINE_BYTES_MAX: usize =
    anchord_proto::limits::LINE_BYTES_MAX + anchord_proto::limits::LINE_PREFIX_BYTES_MAX;

/// After a failed accept, which mostly means that descriptors are short.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Sessions of one connection: its own, and those of an agent's threads and subagents.
pub const CONNECTION_SESSIONS_MAX: usize = 128;

/// Characters of an agent's thread id that name its session.
pub const THREAD_ID_CHARS_MAX: usize = 64;

/// Characters of a name that a person gives to a prompt.
pub const PROMPT_NAME_CHARS_MAX: usize = 60;

/// Topics that the list of resources names.
pub const RESOURCES_LISTED_MAX: usize = 20;

/// A project that no session uses is closed after this.
pub const PROJECT_IDLE_AFTER: Duration = Duration::from_mins(1);

/// A session whose process cannot be judged is gone after this time without a connection.
pub const FOREIGN_GRACE: Duration = Duration::from_hours(24);

/// How often ended sessions and idle projects are looked for.
pub const JOBS_EVERY: Duration = Duration::from_secs(2);

/// How long what the daemon does by itself waits for one project: longer than a look at its files may take.
pub const JOB_TIME_MAX: Duration = Duration::from_secs(8);

/// A session that could not be ended, because its project takes no writes, is tried again after [`JOBS_EVERY`], then after
/// twice as long, and so on, but no longer than this.
pub const END_RETRY_TIME_MAX: Duration = Duration::from_mins(10);

/// Time that a load waits for the process of a session whose socket has just closed. A shim exits
/// within 100 ms.
pub const EXIT_TIME_MAX: Duration = Duration::from_millis(150);

/// Pause between two checks of whether that process still exists.
pub const EXIT_POLL: Duration = Duration::from_millis(5);

/// Age of a closed socket from which its process counts as running on without it.
pub const CLOSED_LATELY: Duration = Duration::from_secs(1);

/// Threads of the runtime. The work is waiting; owners have threads of their own.
pub const WORKER_THREADS: usize = 2;

/// How long the end waits for files that are still being read.
pub const RUNTIME_SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(1);

/// A project that could not be written for a reason that may pass is opened again after this, if
/// somebody asks for it.
pub const REOPEN_AFTER: Duration = Duration::from_secs(2);

/// Files and sockets that the daemon wants to be able to open.
pub const DESCRIPTORS_WANTED: u64 = 65_536;

/// Descriptors that connections leave for files.
pub const CONNECTIONS_KEPT_FREE: usize = 128;

/// Connections of one process. A shim holds one, a client in an agent's own process a few.
pub const PEER_CONNECTIONS_MAX: usize = 256;

/// Time for a connection that is refused before it says anything.
pub const REFUSAL_TIME_MAX: Duration = Duration::from_millis(500);

/// Connections to the status port at once. One more takes the place of the oldest.
pub const STATUS_CONNECTIONS_MAX: usize = 16;

/// Time for the head of a status request.
pub const STATUS_HEADER_TIME_MAX: Duration = Duration::from_secs(2);

/// Time for a whole status request.
pub const STATUS_REQUEST_TIME_MAX: Duration = Duration::from_secs(5);

/// How long a client of the admin interface may neither send a request, or the rest of one, nor
/// read its reply.
pub const ADMIN_STALL_MAX: Duration = Duration::from_secs(30);

/// The body of an admin request: an import brings another system's whole memory.
pub const ADMIN_BODY_BYTES_MAX: usize = 64 << 20;

/// How long a session whose connection and process are gone may come back, unless configured.
pub const SESSION_GRACE: Duration = Duration::from_secs(30);

/// The longest grace that can be configured.
pub const SESSION_GRACE_SECONDS_MAX: u64 = 3_600;

/// A starting daemon waits for one that drains as long as that may take and this much longer; together
/// less than its starter waits for its report.
pub const LOCK_SLACK_MS: u64 = 1_500;

/// How long one look at a project's files may take before the session is told that they cannot be read.
pub const FILES_TIME_MAX: Duration = Duration::from_secs(5);

/// Looks at the files of one place at once: a disk that hangs keeps as many threads.
pub const LOOKS_AT_ONCE_MAX: usize = 4;

/// Places that are looked at side by side for one answer.
pub const PLACES_AT_ONCE: usize = 16;

/// Journal entries in one answer; who wants more asks from the next one on.
pub const JOURNAL_PAGE_ENTRIES_MAX: u32 = 10_000;

/// An answer with journal entries ends with the entry that makes it longer than this.
pub const JOURNAL_PAGE_BYTES: usize = 4 << 20;

/// The longest latency of a tool call that is told apart, in microseconds; longer ones count as this.
pub const LATENCY_MICROS_MAX: u64 = 60_000_000;

/// Bytes of each of the two files of a project's retrieval log.
pub const RETRIEVAL_FILE_BYTES_MAX: u64 = 4 << 20;

/// Answers that wait to be logged; with more the log loses some.
pub const RETRIEVALS_QUEUED_MAX: usize = 256;

/// Records that one line of the retrieval log names; the others are counted.
pub const RETRIEVAL_IDS_MAX: usize = 200;

/// Bytes of the arguments in one line of the retrieval log.
pub const RETRIEVAL_ASKED_BYTES_MAX: usize = 2_000;

/// Lines of the retrieval log in one answer.
pub const RETRIEVAL_PAGE_LINES_MAX: usize = 10_000;

/// How long a reader that follows the retrieval log is kept waiting before it has to ask again.
pub const RETRIEVAL_WAIT_MAX: Duration = Duration::from_secs(30);

/// Conversations of which hooks have told and that the daemon remembers something between two events of; the one
/// that was silent longest goes.
pub const THREADS_MAX: usize = 512;

/// Tasks of subagents that are about to start, kept for one conversation.
pub const TASKS_EXPECTED_MAX: usize = 32;

/// Files remembered as looked up for one context.
pub const FILES_TOLD_MAX: usize = 2_000;

/// Texts about actions that wait for one conversation's next prompt.
pub const CONTEXTS_WAITING_MAX: usize = 2;

/// Files of one tool use that memory is asked about.
pub const ACTION_FILES_MAX: usize = 8;

/// Events of one conversation that are told apart from doubles.
pub const EVENTS_SEEN_MAX: usize = 64;

/// An event that comes again in one conversation within this time is a double: plugin and settings both have the hook.
pub const DOUBLE_WITHIN: Duration = Duration::from_secs(10);

/// Names of fields and events that a client has and this build does not know; each is logged once.
pub const UNKNOWN_NAMES_MAX: usize = 256;

/// Processes above a hook, shells not counted, that may be the agent's: a launcher may be between. Few, since an agent
/// that another one started has that one above it.
pub const HOOK_ANCESTORS_MAX: usize = 2;

/// Processes above the one that started a shim that may be the agent's: OpenClaw starts servers through two wrappers.
pub const SHIM_ANCESTORS_MAX: usize = 4;

/// Calls that hooks said subagents would make and that may still arrive; the oldest goes.
pub const CALLS_EXPECTED_MAX: usize = 256;

/// A call that a hook told of comes within this time, since a person may be asked first, or is not known any more.
pub const CALL_EXPECTED_FOR: Duration = Duration::from_mins(15);

/// Characters of a client's name for a conversation that name its session.
pub const HOOK_SESSION_CHARS_MAX: usize = 120;

/// Time for opening a memory, from the begin of the load that a hook waits for. The hook leaves
/// after [`HOOK_DEADLINE_MS`](anchord_proto::limits::HOOK_DEADLINE_MS), which includes its own
/// start.
pub const HOOK_OPEN_TIME_MAX: Duration = Duration::from_millis(450);

/// Time until what a load shows beside records is looked up, from the same moment.
pub const HOOK_LOOK_TIME_MAX: Duration = Duration::from_millis(550);

/// Time until the whole load is rendered, from the same moment. Then a part of it is.
pub const HOOK_RENDER_TIME_MAX: Duration = Duration::from_millis(700);

/// What hooks told of a conversation is staged at the end of a turn, or when nothing was heard for so long: a turn may
/// last an hour, and a client that is killed ends none.
pub const NOTED_STAGED_AFTER: Duration = Duration::from_secs(5);
