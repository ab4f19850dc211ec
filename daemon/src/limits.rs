//! Every limit of the daemon, with its unit last in the name. The limits of the wire are in the
//! crate `proto`.

mod team;

use std::time::Duration;

pub use team::*;

/// Ended sessions that the registry still knows. Each further one displaces the oldest.
pub const ENDED_SESSIONS_MAX: u64 = 1_000;

/// A project file larger than this is not read.
pub const PROJECT_FILE_BYTES_MAX: u64 = 4 << 20;

/// Links followed while one path is opened beneath a project's root.
pub const PROJECT_PATH_LINKS_MAX: u32 = 40;

/// Unknown fields of a call that are named. The others are counted.
pub const UNKNOWN_FIELDS_NAMED_MAX: usize = 5;

/// Files named as changed since some time; the others are counted.
pub const CHANGED_FILES_MAX: usize = 50;

/// Directory entries read for one list of changed files.
pub const CHANGED_ENTRIES_MAX: u32 = 100_000;

/// Directory levels that a list of changed files descends.
pub const CHANGED_DEPTH_MAX: usize = 128;

/// Time given to one list of changed files.
pub const CHANGED_TIME_MAX: Duration = Duration::from_secs(2);

/// An ignore file larger than this is not read.
pub const IGNORE_FILE_BYTES_MAX: u64 = 256 << 10;

/// Entries of a directory that are listed.
pub const LISTED_ENTRIES_MAX: usize = 1_000;

/// Bytes of a directory's files that are read for one list.
pub const LISTED_BYTES_MAX: u64 = 8 << 20;

/// Time given to one list of a directory.
pub const LISTED_TIME_MAX: Duration = Duration::from_secs(1);

/// Outlines on disk. Beyond this, the ones used longest ago are removed.
pub const OUTLINES_MAX: usize = 4_000;

/// Bytes of the outlines on disk.
pub const OUTLINES_BYTES_MAX: u64 = 64 << 20;

/// Bytes of one outline, on disk and from the process that parses.
pub const OUTLINE_BYTES_MAX: u64 = 4 << 20;

/// Time given to the process that parses one file.
pub const OUTLINE_TIME_MAX: Duration = Duration::from_secs(4);

/// Processes that parse at once.
pub const OUTLINES_AT_ONCE_MAX: usize = 2;

/// Sessions of which it is remembered which outlines they saw. A further one displaces the one that
/// saw its last outline longest ago.
pub const SEEN_SESSIONS_MAX: usize = 256;

/// Files whose outlines are remembered as seen by one session.
pub const SEEN_FILES_MAX: usize = 500;

/// Lines of the record of what a session saw. A longer one is shortened to the last line of each
/// file.
pub const SEEN_LINES_MAX: usize = SEEN_FILES_MAX * 2;

/// The most bytes that are read of the record of what a session saw.
pub const SEEN_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Directories besides projects that may be outlined.
pub const ADDITIONAL_ROOTS_MAX: usize = 32;

/// Characters of an agent's own summary that an outline shows.
pub const FILE_SUMMARY_CHARS_MAX: usize = 1_500;

/// Lines above which a hook offers the outline instead of the whole file.
pub const OFFERED_LINES_MIN: usize = 400;

/// Time that a hook waits for an outline that it could offer.
pub const HOOK_OUTLINE_TIME_MAX: Duration = Duration::from_millis(250);

/// A project's id file must be shorter than this.
pub const PROJECT_ID_FILE_BYTES_MAX: u64 = 128;

/// A file in which git names a place (`.git`, `commondir`, `gitdir`) must be shorter than this.
pub const GIT_POINTER_BYTES_MAX: u64 = 8 << 10;

/// A repository's own configuration that is not shorter than this is not read. One with thousands
/// of branches has a few hundred kilobytes.
pub const GIT_CONFIG_BYTES_MAX: u64 = 4 << 20;

/// Records of each project that are named before a memory is split; the others are counted.
pub const SPLIT_TITLES_MAX: usize = 20;

/// An index of tracked files that is not shorter than this is not read. A name takes about 100
/// bytes.
pub const GIT_INDEX_BYTES_MAX: u64 = 512 << 20;

/// An index with a tracked file whose path is not shorter than this is rejected.
pub const GIT_INDEX_NAME_BYTES_MAX: u64 = 64 << 10;

/// Files and directories read in a search for repositories beneath a directory.
pub const NESTED_ENTRIES_MAX: u32 = 20_000;

/// Time given to one search for repositories beneath a directory.
pub const NESTED_TIME_MAX: Duration = Duration::from_secs(1);

/// Time that one daemon waits for another to finish writing a project's id.
pub const PROJECT_ID_WAIT_MAX: Duration = Duration::from_secs(1);

/// The longest wait of a read for the record of a project's move.
pub const MOVE_WAIT_MAX: Duration = Duration::from_millis(200);

/// Model providers that can be tried one after the other.
pub const MERGE_PROVIDERS_MAX: usize = 8;

/// Repeated calls of one provider.
pub const MERGE_RETRIES_MAX: u32 = 10;

/// Seconds that one call of a provider may be given.
pub const MERGE_TIME_SECONDS_MAX: u32 = 600;

/// Calls of providers on one day.
pub const MERGE_CALLS_DAILY_MAX: u32 = 100_000;

/// Texts that wait to be merged by a model; a further one stays appended.
pub const MERGE_JOBS_WAITING_MAX: usize = 64;

/// Bytes of a text that a model gets.
pub const MERGE_TEXT_BYTES_MAX: usize = 256 << 10;

/// Characters that the log keeps of a failed merge.
pub const MERGE_ERROR_CHARS_MAX: usize = 600;

/// The configuration file must be shorter than this.
pub const CONFIG_FILE_BYTES_MAX: u64 = 64 << 10;

/// The instance's own small files (`instance.json`, `lock`) must be shorter than this.
pub const INSTANCE_FILE_BYTES_MAX: u64 = 64 << 10;

/// The interval at which a starting daemon checks whether a draining one has released the lock.
pub const LOCK_POLL: Duration = Duration::from_millis(20);

/// Log files kept, one a day.
pub const LOG_FILES_MAX: usize = 7;

/// Bytes written to one day's log file; the rest of the day is not logged.
pub const LOG_FILE_BYTES_MAX: u64 = 64 << 20;

/// Steps back of a copy of a team's journal that are known until the daemon ends. A session that
/// was silent during more of them is not told of all that is new.
pub const STEP_BACKS_KEPT_MAX: usize = 16;

/// Sessions of a project for which a text waits to go with their next answer.
pub const TOLD_SESSIONS_MAX: usize = 64;
/// Bytes of such texts for one session. More texts are counted.
pub const TOLD_BYTES_MAX: usize = 8 << 10;

/// Lines that wait to be written to the log; it loses any more. Their memory is allocated at the
/// start.
pub const LOG_LINES_QUEUED_MAX: usize = 4_096;

/// Time for which lines of the log are gathered before they are written together. To wake a thread
/// for each line takes longer than to write it.
pub const LOG_PAUSE: Duration = Duration::from_millis(20);

/// Jobs of one session that wait for a project's writer. A session with more has to wait.
pub const QUEUE_LANE_JOBS_MAX: usize = 32;

/// Time that a session waits for room in its lane before it gets "busy".
pub const QUEUE_WAIT_MAX: Duration = Duration::from_secs(5);
/// Time that a write waits for another session to bring a budget down. After that the write is
/// answered, and the next one tries again.
pub const COMPACTION_TURN_WAIT_MAX: Duration = Duration::from_secs(5);

/// Attempts to append a batch while other writers are faster. After that its callers get an error.
pub const APPEND_TRIES_MAX: usize = 100;

/// Jobs decided and synced together.
pub const BATCH_JOBS_MAX: usize = 256;

/// Time that the index may lag in its own buffers. The journal is the promise; this bounds a
/// rebuild.
pub const INDEX_FLUSH_AFTER: Duration = Duration::from_secs(3);

/// Replies queued for one shim that does not read them. Then nothing more is read from it.
pub const CONNECTION_REPLIES_MAX: usize = 64;

/// Characters kept of a client's own name.
pub const CLIENT_CHARS_MAX: usize = 100;

/// Requests of one shim that wait for their turn. Then nothing more is read from it until one is
/// done.
pub const CONNECTION_CALLS_MAX: usize = 64;

/// Time that an ending connection waits for its last replies to be written.
pub const LAST_REPLIES_TIME_MAX: Duration = Duration::from_secs(1);

/// The longest answer of a tool. It fits into a line to the shim even if every second byte is
/// escaped.
pub const ANSWER_BYTES_MAX: usize = 1_900_000;

/// The longest numbered line of a shim, numbers included.
pub const MCP_LINE_BYTES_MAX: usize =
    anchord_proto::limits::LINE_BYTES_MAX + anchord_proto::limits::LINE_PREFIX_BYTES_MAX;

/// Pause after a failed accept, usually caused by a lack of descriptors.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Sessions of one connection: its own, those of conversations that calls name, and subagents'.
pub const CONNECTION_SESSIONS_MAX: usize = 128;

/// Characters of a conversation's name that go into its session's id.
pub const CONVERSATION_ID_CHARS_MAX: usize = 64;

/// Characters of a name that a person gives to a prompt.
pub const PROMPT_NAME_CHARS_MAX: usize = 60;

/// Topics that the list of resources names.
pub const RESOURCES_LISTED_MAX: usize = 20;

/// Time after which a project that no session uses is closed.
pub const PROJECT_IDLE_AFTER: Duration = Duration::from_mins(1);

/// A session whose process cannot be judged is gone after this time without a connection.
pub const FOREIGN_GRACE: Duration = Duration::from_hours(24);

/// Interval of the periodic work.
pub const JOBS_EVERY: Duration = Duration::from_secs(2);

/// Ticks of the periodic work, without calls or connections, after which free memory is returned:
/// 10 s.
pub const HEAP_QUIET_TICKS: u32 = 5;

/// Topics of a project that have a file, the most recently written ones.
pub const MIRRORED_TOPICS_MAX: usize = 1_000;
/// Entries of a directory of mirrored topics; one with more is not read.
pub const MIRROR_ENTRIES_MAX: usize = 10_000;
/// Attempts to swap a mirrored file that others create and remove meanwhile.
pub const SWAPS_MAX: usize = 10;
/// Age from which an edited file counts as complete. Its writer may not be done before.
pub const MIRROR_SETTLED_MILLIS: u32 = 500;

/// Time that periodic work waits for one project. It exceeds the time limit for reading its files.
pub const JOB_TIME_MAX: Duration = Duration::from_secs(8);

/// The longest pause between attempts to end a session whose project accepts no writes. The first
/// pause is [`JOBS_EVERY`]; each further one is twice as long.
pub const END_RETRY_TIME_MAX: Duration = Duration::from_mins(10);

/// Time that a load waits for the process of a session whose socket has just closed. A shim exits
/// within 100 ms.
pub const EXIT_TIME_MAX: Duration = Duration::from_millis(150);

/// Pause between two checks of whether that process still exists.
pub const EXIT_POLL: Duration = Duration::from_millis(5);

/// Age of a closed socket from which its process counts as running on without it.
pub const CLOSED_LATELY: Duration = Duration::from_secs(1);

/// Threads of the runtime. Its work is mostly waiting; writers have threads of their own.
pub const WORKER_THREADS: usize = 2;

/// Time that the shutdown waits for reads of projects' files that are still running.
pub const RUNTIME_SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(1);

/// Time after which a store that is read-only for a reason that may pass is opened again on demand.
pub const REOPEN_AFTER: Duration = Duration::from_secs(2);

/// Files and sockets that the daemon aims to be able to open.
pub const DESCRIPTORS_WANTED: u64 = 65_536;

/// Descriptors that connections leave free for files.
pub const CONNECTIONS_KEPT_FREE: usize = 128;

/// Connections of one process. A shim holds one; a client in an agent's own process holds a few.
pub const PEER_CONNECTIONS_MAX: usize = 256;

/// Time for a connection that is refused before it sends anything.
pub const REFUSAL_TIME_MAX: Duration = Duration::from_millis(500);

/// Concurrent connections to the status port. A further one replaces the oldest.
pub const STATUS_CONNECTIONS_MAX: usize = 16;

/// Time for the head of a status request.
pub const STATUS_HEADER_TIME_MAX: Duration = Duration::from_secs(2);

/// Time for a whole status request.
pub const STATUS_REQUEST_TIME_MAX: Duration = Duration::from_secs(5);

/// Time for which a client of the admin interface may neither send (the rest of) a request nor read
/// its reply.
pub const ADMIN_STALL_MAX: Duration = Duration::from_secs(30);

/// The largest body of an admin request: an import carries another system's whole memory.
pub const ADMIN_BODY_BYTES_MAX: usize = 64 << 20;

/// Texts in one import request: files, or parts of a database.
pub const IMPORT_TEXTS_MAX: usize = 20_000;

/// Length of such a text's name.
pub const IMPORT_NAME_CHARS_MAX: usize = 1_000;

/// The default time in which a session may come back once its connection and process are gone.
pub const SESSION_GRACE: Duration = Duration::from_secs(30);

/// The longest grace that can be configured.
pub const SESSION_GRACE_SECONDS_MAX: u64 = 3_600;

/// Extra time that a starting daemon waits for a draining one, beyond the drain deadline. The sum
/// is less than the time that its starter waits for its report.
pub const LOCK_SLACK_MS: u64 = 1_500;

/// Time for one access to a project's files. Then the session gets an error that they cannot be
/// read.
pub const FILES_TIME_MAX: Duration = Duration::from_secs(5);

/// Concurrent accesses to the files of one place. A disk that hangs holds as many threads.
pub const LOOKS_AT_ONCE_MAX: usize = 4;

/// Places read concurrently for one answer.
pub const PLACES_AT_ONCE: usize = 16;

/// Journal entries in one answer. The caller continues with the next entry.
pub const JOURNAL_PAGE_ENTRIES_MAX: u32 = 10_000;

/// The length from which an answer with journal entries ends, after the entry that reaches it.
pub const JOURNAL_PAGE_BYTES: usize = 4 << 20;

/// The longest latency of a tool call that is measured, in microseconds. Longer ones count as this.
pub const LATENCY_MICROS_MAX: u64 = 60_000_000;

/// Bytes of each of the two files of a project's retrieval log.
pub const RETRIEVAL_FILE_BYTES_MAX: u64 = 4 << 20;

/// Answers that wait to be logged; the log loses any more.
pub const RETRIEVALS_QUEUED_MAX: usize = 256;

/// Time for which answers are gathered before they are logged together, for the same reason as
/// [`LOG_PAUSE`]. Whoever reads the log right after an answer waits as long.
pub const RETRIEVAL_PAUSE: Duration = Duration::from_millis(10);

/// Records that one line of the retrieval log names; the others are counted.
pub const RETRIEVAL_IDS_MAX: usize = 200;

/// Bytes of the arguments in one line of the retrieval log.
pub const RETRIEVAL_ASKED_BYTES_MAX: usize = 2_000;

/// Lines of the retrieval log in one answer.
pub const RETRIEVAL_PAGE_LINES_MAX: usize = 10_000;

/// Items of each list of a live session that a view shows.
pub const LANE_ITEMS_MAX: usize = 12;

/// Records that are looked at, the newest first, for those that a live session wrote.
pub const LANE_RECORDS_LOOKED_AT_MAX: usize = 500;

/// Days of a memory's growth.
pub const GROWTH_DAYS_MAX: i64 = 90;

/// Compactions in a view of growth.
pub const GROWTH_COMPACTIONS_MAX: usize = 30;

/// Records in one page of a view.
pub const VIEW_RECORDS_MAX: usize = 200;

/// Bytes of a record's text in a page of a view.
pub const VIEW_TEXT_BYTES_MAX: usize = 16 << 10;

/// Bytes of the texts of the last answers that are kept in memory, of all sessions.
pub const TEXTS_BYTES_MAX: usize = 512 << 10;

/// Answers of one session whose texts are kept in memory.
pub const TEXTS_OF_SESSION_MAX: usize = 8;

/// Time that a reader that follows the retrieval log waits before it has to ask again.
pub const RETRIEVAL_WAIT_MAX: Duration = Duration::from_secs(30);

/// Conversations with state between their events. A further one displaces the one silent for
/// longest.
pub const CONVERSATIONS_MAX: usize = 512;

/// Tasks of subagents that are about to start, kept for one conversation.
pub const TASKS_EXPECTED_MAX: usize = 32;

/// Subagents of one conversation whose rebuilt system prompts get the same bytes again. One more
/// displaces the one not heard of for longest, which then gets its slice of memory anew.
pub const REBUILT_AGENTS_MAX: usize = 256;

/// Files remembered as looked up for one context.
pub const FILES_LOOKED_UP_MAX: usize = 2_000;

/// Texts about actions that wait for one conversation's next prompt.
pub const CONTEXTS_WAITING_MAX: usize = 2;

/// Files of one tool use that are looked up in memory.
pub const ACTION_FILES_MAX: usize = 8;

/// Events of one conversation that are kept to detect doubles.
pub const EVENTS_SEEN_MAX: usize = 64;

/// Time within which an equal event in one conversation counts as a double. Then plugin and
/// settings both have the hook.
pub const DOUBLE_WITHIN: Duration = Duration::from_secs(10);

/// Unknown names of clients' fields and events; each is logged once.
pub const UNKNOWN_NAMES_MAX: usize = 256;

/// Processes above a hook, without shells, that may be the agent's. A launcher may be in between.
/// They are few because the process above may be another agent that started this one.
pub const HOOK_ANCESTORS_MAX: usize = 2;

/// Processes above the one that started a shim that may be the agent's. OpenClaw starts servers
/// through two wrappers.
pub const SHIM_ANCESTORS_MAX: usize = 4;

/// Calls that hooks announced for subagents and that may still arrive. Each further one displaces
/// the oldest.
pub const CALLS_EXPECTED_MAX: usize = 256;

/// Time within which an announced call must arrive, since a person may have to allow it first.
pub const CALL_EXPECTED_FOR: Duration = Duration::from_mins(15);

/// Characters of a client's id for a conversation that go into its session's id.
pub const HOOK_SESSION_CHARS_MAX: usize = 120;

/// Time for opening a memory, from the beginning of the load that a hook waits for. The hook leaves
/// after [`HOOK_DEADLINE_MS`](anchord_proto::limits::HOOK_DEADLINE_MS), which includes its own
/// start.
pub const HOOK_OPEN_TIME_MAX: Duration = Duration::from_millis(450);

/// Time for looking up what a load shows besides records, from the same moment.
pub const HOOK_LOOK_TIME_MAX: Duration = Duration::from_millis(550);

/// Time for rendering the whole load, from the same moment. After that only a part is rendered.
pub const HOOK_RENDER_TIME_MAX: Duration = Duration::from_millis(700);

/// Time for rendering that part, from the same moment. After that the hook is only told that there
/// is a memory.
pub const HOOK_PART_TIME_MAX: Duration = Duration::from_millis(850);

/// Silence after which a conversation's pending activity is staged, besides the end of a turn. A
/// turn may last an hour, and a killed client ends none.
pub const NOTED_STAGED_AFTER: Duration = Duration::from_secs(5);

/// Commits that are read for one page of history. A page that finds few of them is short.
pub const HISTORY_COMMITS_READ_MAX: usize = 2_000;

/// Versions of one record that are read in search of its checkpoints. Earlier ones are reached by
/// `memory_rollback` alone.
pub const RECORD_VERSIONS_READ_MAX: usize = 2_000;

/// Versions of one record that are looked up at once.
pub const RECORD_VERSIONS_PAGE: usize = 50;

/// Attempts to roll records back that other sessions keep changing.
pub const ROLLBACK_TRIES_MAX: usize = 3;

/// Bytes of a shared file that are read.
pub const SHARED_FILE_BYTES_MAX: u64 = PROJECT_FILE_BYTES_MAX;
/// Entries of a directory of shared files; one with more is not read.
pub const SHARED_FILES_MAX: usize = 100_000;
/// Changed shared files that one commit takes in.
pub const SHARED_TAKE_FILES_MAX: usize = 500;
/// Bytes of changed shared files that one commit takes in, unless one file has more.
pub const SHARED_TAKE_BYTES_MAX: u64 = 4 << 20;
/// Shared files that are written before the time limit for a disk starts again.
pub const SHARED_WRITES_AT_ONCE: usize = 50;
/// Rounds of one comparison of shared files: enough to take in all files that may be there.
pub const SHARED_ROUNDS_MAX: usize = 1_000;
/// Earlier versions of a record that are compared with its file.
pub const SHARED_VERSIONS_MAX: u32 = 50;
/// Remarks about shared files that a status names.
pub const SHARED_REMARKS_MAX: usize = 20;
/// A session's read compares shared files again if the last comparison is older.
pub const SHARED_FRESH: Duration = Duration::from_secs(1);
/// Time that a session's read waits for changed shared files.
pub const SHARED_WAIT_MAX: Duration = Duration::from_millis(400);
/// Time for which a shared file must be missing before its record is forgotten.
pub const SHARED_GONE_AFTER: Duration = Duration::from_secs(1);
/// Pause after a failed comparison of shared files, such as on a full disk.
pub const SHARED_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Bytes of a project's file of rules that are read.
pub const RULES_FILE_BYTES_MAX: u64 = 1 << 20;
/// Files of rules that are kept parsed.
pub const RULES_FILES_CACHED_MAX: usize = 64;
/// Actions that wait for a person's approval; the oldest make room.
pub const APPROVALS_MAX: usize = 200;
/// Minutes for which an action waits for an approval.
pub const APPROVAL_WAITS_MINUTES: u32 = 60;
/// Bytes of the log of checks without the daemon; then a new one begins, and one older stays.
pub const GUARD_LOG_BYTES_MAX: u64 = 1 << 20;
/// Bytes of a command that are cleaned for a log of checks. Rules do not read a longer command.
pub const CLEANED_COMMAND_BYTES_MAX: usize = 64 << 10;
/// Bytes of a command in that log. Fewer than are cleaned, so that the cut leaves no half secret.
pub const GUARD_LOG_COMMAND_BYTES_MAX: usize = 16 << 10;
/// Bytes of a command that the daemon's log of a check keeps at least.
pub const LOGGED_COMMAND_BYTES_MIN: usize = 100;

/// Ids in one `memory_get`.
pub const GET_IDS_MAX: usize = 20;

/// Time for the states of a load's anchors. Those that are not reached are unchecked.
pub const ANCHORS_TIME_MAX: Duration = Duration::from_millis(50);
/// Time for the states of the few anchors of another answer.
pub const ANCHORS_FEW_TIME_MAX: Duration = Duration::from_millis(20);
/// Time for the state of one anchor that an agent asks for.
pub const ANCHOR_TIME_MAX: Duration = Duration::from_secs(1);
/// Interval at which a project's anchors are checked in the background.
pub const ANCHORS_EVERY: Duration = Duration::from_secs(5);
/// Time for one such check.
pub const ANCHORS_UPKEEP_TIME_MAX: Duration = Duration::from_secs(2);
/// Time for a check of all anchors that a person asks for.
pub const ANCHORS_VERIFY_TIME_MAX: Duration = Duration::from_mins(1);
/// Other files that are searched for an anchor that is not in its own.
pub const ANCHOR_CANDIDATES_MAX: usize = 200;
/// Share of new lines, in percent, up to which an anchor is not looked for in other files.
pub const ANCHOR_CHANGED_PERCENT_MAX: u8 = 60;
/// Time for which an anchor that was found nowhere is not looked for again.
pub const ANCHOR_GONE_FOR: Duration = Duration::from_secs(30);
/// Time for which a list of a project's files is used.
pub const ANCHOR_LIST_FOR: Duration = Duration::from_secs(5);
/// Age in milliseconds from which a file's stamp tells its contents apart.
pub const ANCHOR_STAMP_AGE: i64 = 2_000;
/// Files of one project of which something is known.
pub const ANCHOR_FILES_MAX: usize = 20_000;
/// Projects of whose files something is known.
pub const ANCHOR_PROJECTS_MAX: usize = 64;
