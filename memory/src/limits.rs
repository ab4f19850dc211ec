//! Every limit of the domain, with its unit last in the name.

pub use anchord_search::limits::{QUERY_CHARS_MAX, QUERY_TERMS_MAX};

/// Work that one session may have staged. More is refused, with the advice to save.
pub const STAGED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Staged work of all sessions of a project.
pub const STAGED_PROJECT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Staged work that each session may have even if the others use up the project's limit: no session
/// can block another. It has room for two of the longest texts.
pub const STAGED_SHARE_BYTES: usize = 2 * TEXT_BYTES_MAX;
/// Bytes that a staged item counts besides its texts, for its numbers and times and for the record
/// that it becomes.
pub const STAGED_ITEM_BYTES: usize = 128;
/// Items of one kind in one write.
pub const ITEMS_MAX: usize = 1_000;
/// A blueprint's title, a lesson's summary, an anchor's concept.
pub const LINE_CHARS_MAX: usize = 1_000;
/// A path, or the text that replaces line numbers.
pub const PATH_CHARS_MAX: usize = 1_000;
/// A blueprint's content, a lesson's detail, a session's summary.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Paths that are read out of one text.
pub const NAMED_FILES_MAX: usize = 64;
/// Files of one record of which a digest is kept.
pub const SEEN_FILES_MAX: usize = 16;
/// Files that one lesson concerns.
pub const LESSON_FILES_MAX: usize = 100;
/// Items of one kind in a write of zipmem's tools or of an import.
pub const WIDE_ITEMS_MAX: usize = 100_000;
/// A title, summary or concept in such a write.
pub const WIDE_LINE_CHARS_MAX: usize = 100_000;
/// A text in such a write, as long as a call's line.
pub const WIDE_TEXT_BYTES_MAX: usize = 4 << 20;
/// Files of a lesson in such a write.
pub const WIDE_FILES_MAX: usize = 2_000;

/// The key under which a conversation's topic is found again.
pub const BINDING_KEY_CHARS_MAX: usize = 200;
/// A topic's name.
pub const TOPIC_NAME_CHARS_MAX: usize = 60;
/// A topic's name in snap-memory's tool set, where any text is one.
pub const SNAP_NAME_CHARS_MAX: usize = 200;
/// Decisions that snap-memory's tool set shows.
pub const SNAP_DECISIONS_SHOWN_MAX: usize = 50;
/// Lines of history that snap-memory's tool set shows.
pub const SNAP_HISTORY_SHOWN_MAX: usize = 30;
/// The name of a topic's file, without what systems put around it. Most file systems allow 255
/// bytes in all.
pub const TOPIC_FILE_STEM_BYTES_MAX: usize = 180;
/// A topic's status.
pub const TOPIC_STATUS_CHARS_MAX: usize = 4_000;
/// A topic's overview.
pub const TOPIC_OVERVIEW_CHARS_MAX: usize = 10_000;
/// A topic's description of the architecture.
pub const TOPIC_ARCHITECTURE_CHARS_MAX: usize = 40_000;
/// A line of a topic's history that is recorded by rule; a longer one is clipped.
pub const TOPIC_HISTORY_CHARS_MAX: usize = 300;
/// A line of a topic's history from an agent; a longer one is refused.
pub const TOPIC_LINE_WRITTEN_CHARS_MAX: usize = 1_000;
/// Decisions that a topic keeps; earlier ones are in its earlier versions.
pub const TOPIC_DECISIONS_MAX: usize = 100;
/// Lines of history that a topic keeps; earlier ones are in its earlier versions.
pub const TOPIC_HISTORY_MAX: usize = 100;
/// Active files of a topic, and files of one line of its history.
pub const TOPIC_FILES_MAX: usize = 50;
/// Decisions of a topic in view.
pub const TOPIC_DECISIONS_SHOWN_MAX: usize = 20;
/// Lines of a topic's history in view.
pub const TOPIC_HISTORY_SHOWN_MAX: usize = 30;
/// Characters of a topic's overview that a load shows.
pub const TOPIC_OVERVIEW_LOADED_CHARS_MAX: usize = 800;
/// Characters of its description of the architecture that a load shows.
pub const TOPIC_ARCHITECTURE_LOADED_CHARS_MAX: usize = 400;
/// Lines of a topic's history that a load shows.
pub const TOPIC_HISTORY_LOADED_MAX: usize = 5;
/// Pairs of contradicting blueprints that a reply names; the others are counted.
pub const CONTRADICTIONS_NAMED_MAX: usize = 10;
/// Lost commits of a session that a remark names; the others are counted.
pub const LOST_COMMITS_NAMED_MAX: usize = 10;
/// Purged records that a line of history names; the others are counted.
pub const PURGED_NAMED_MAX: usize = 10;
/// Anchors without readable lines that a reply names; the others are counted.
pub const UNSEEN_NAMED_MAX: usize = 10;
/// Characters of a decision, or of a line of history, that a load shows.
pub const TOPIC_LINE_CHARS_MAX: usize = 300;
/// Other topics that a load names if the request was not for topics alone.
pub const TOPICS_SHOWN_MAX: usize = 5;
/// Tokens of a context, of which infinite-context shows the used part.
pub const INFINITE_CONTEXT_TOKENS: u32 = 200_000;
/// Checkpoints that the status of infinite-context names.
pub const INFINITE_CONTEXT_NAMED_MAX: usize = 10;
/// Earlier versions of notes that an import looks at.
pub const IMPORT_EARLIER_VERSIONS_MAX: usize = 20_000;
/// Records that an import left out for one reason and names; the others are counted.
pub const IMPORT_NAMED_MAX: usize = 20;
/// Files that an import left out and names.
pub const IMPORT_FILES_NAMED_MAX: usize = 20;
/// Recent changes of a brief.
pub const BRIEF_CHANGES_MAX: usize = 10;
/// Characters of a text that a refused merge of a brief names.
pub const LOSS_CHARS_MAX: usize = 120;
/// Things that a refused merge of a brief names; the others are counted.
pub const LOSSES_NAMED_MAX: usize = 20;
/// Characters of a label in a free text.
pub const LABEL_CHARS_MAX: usize = 30;
/// Importance of a note that is the text of a checkpoint. What it says belongs into records.
pub const CHECKPOINT_IMPORTANCE: u8 = 3;
/// Saves, and ends of sessions, that wait for a team's database.
pub const HELD_MAX: usize = 500;
/// Conversations that are bound to a topic; the oldest binding is dropped.
pub const BINDINGS_MAX: usize = 1_000;

/// Bytes of active text above which a load and a save ask for tidying.
pub const ACTIVE_TEXT_SOFT_BYTES_MAX: u64 = 100 * 1024;
/// Bytes of active text above which the next save archives.
pub const ACTIVE_TEXT_HARD_BYTES_MAX: u64 = 500 * 1024;
/// An anchor younger than this is never archived, even when its file is gone.
pub const ANCHOR_KEPT_DAYS_MIN: i64 = 30;
/// Age of the last write below which a topic named after a session is never archived automatically.
pub const TOPIC_KEPT_DAYS_MIN: i64 = 30;
/// The newest session rows that are never folded.
pub const ROWS_KEPT_MIN: usize = 20;
/// Entries that a session row's trail keeps. Older entries are folded into one; the row's earlier
/// versions still have them.
pub const ROW_ENTRIES_MAX: usize = 20;
/// Bytes of text in all entries before the newest.
pub const ROW_EARLIER_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the staged texts in an entry that were not taken, since others wrote later.
pub const ROW_OVERTAKEN_BYTES_MAX: usize = 64 * 1024;
/// Bytes of such texts in the reply to a save.
pub const REPLY_OVERTAKEN_BYTES_MAX: usize = 2 * 1024;
/// Bytes that each of them may have, however many there are.
pub const OVERTAKEN_BYTES_MIN: usize = 160;
/// Percent of the hard limit that archiving comes down to.
pub const ACTIVE_TEXT_KEPT_PERCENT: u64 = 80;
/// The newest lessons that are never archived.
pub const LESSONS_KEPT_MIN: usize = 20;

/// Characters of an answer over MCP: some client cuts longer ones in the middle.
pub const ANSWER_CHARS_MAX: usize = 9_000;
/// The smallest budget of a rendered text.
pub const ANSWER_CHARS_MIN: usize = 2_000;
/// Characters of a record's line if its whole text does not fit.
pub const TITLE_CHARS_MAX: usize = 160;
/// Characters of a load's line for a lesson or a session, without the names of files.
pub const LOADED_LINE_CHARS_MAX: usize = 260;
/// A topic's status in its short form.
pub const TOPIC_BRIEF_CHARS_MAX: usize = 300;
/// Sessions that a load shows if the request was not for sessions alone.
pub const ROWS_SHOWN_MAX: usize = 5;
/// Records that a load puts first because they are about the task.
pub const RELEVANT_MAX: usize = 200;
/// Sessions whose staged work a load shows before it is folded; the rest are counted.
pub const ENDED_SESSIONS_SHOWN_MAX: usize = 5;
/// Items of one such session that a load considers; the rest are counted.
pub const ENDED_ITEMS_MAX: usize = 200;
/// Characters of the staged work of ended sessions in a load.
pub const ENDED_CHARS_MAX: usize = 3_000;
/// Tokens of the notes that belong to the user, in a load or at a subagent's start.
pub const PERSONAL_TOKENS_MAX: u32 = 300;
/// Divisor of a smaller load's tokens that gives the share of the user's notes.
pub const PERSONAL_SHARE: u32 = 8;
/// Tokens above which a note of the user is shown there by its title.
pub const PERSONAL_NOTE_TOKENS_MAX: u32 = 100;
/// Tokens of such a title: in some scripts a character takes more than one.
pub const PERSONAL_TITLE_TOKENS_MAX: u32 = 60;
/// Newest records of each kind in a load that has no time to consider all.
pub const PART_RECORDS_MAX: usize = 20;
/// Longest record that such a load shows in full.
pub const PART_TEXT_BYTES_MAX: usize = 4 * 1024;
/// Notices that one load shows; the rest wait for the next.
pub const NOTICES_SHOWN_MAX: usize = 5;
/// Notices that a project keeps, shown or not: the newest.
pub const NOTICES_MAX: usize = 300;
/// Kept records that one notice names; the others are counted.
pub const NOTICE_NAMED_MAX: usize = 3;
/// Characters of such a record's title.
pub const NOTICE_TITLE_CHARS_MAX: usize = 60;
/// Changed files that one notice names.
pub const NOTICE_FILES_MAX: usize = 50;
/// Changed files that the zipmem form names.
pub const ZIPMEM_FILES_MAX: usize = 20;
/// Characters of one change by others.
pub const CHANGE_CHARS_MAX: usize = 200;
/// Changes by others that one load names.
pub const CHANGES_SHOWN_MAX: usize = 20;
/// Near keys offered for one that does not exist.
pub const NEAREST_MAX: usize = 3;

/// Length below which a text is not searched elsewhere when its record is purged: it could be
/// anybody's.
pub const PURGED_TEXT_BYTES_MIN: usize = 8;
/// Bytes of a longer text that are searched for: a text with this beginning has the rest.
pub const PURGED_TEXT_BYTES_SOUGHT: usize = 256;
/// Characters of the line that shows a record about to be purged.
pub const PURGE_TITLE_CHARS_MAX: usize = 60;
/// Length below which a part of a purged record is not searched elsewhere. Such parts are a topic's
/// status, decisions and history lines, and a lesson's paragraphs. Many of them use the same few
/// words.
pub const PURGED_LINE_BYTES_MIN: usize = 24;
/// Shortest text by which records can be purged.
pub const PURGE_QUERY_BYTES_MIN: usize = 4;

/// Longest name of a mark that is not shown as it is; a longer one is not a mark.
pub const MARK_NAME_BYTES_MAX: usize = 48;

/// Minutes for which an approved action passes.
pub const APPROVED_MINUTES: u32 = 10;
/// Characters of a command's unknown part that the reason of an ask names.
pub(crate) const UNKNOWN_PART_CHARS_MAX: usize = 80;
/// Characters of the faults of a rules file that a load shows.
pub(crate) const RULES_FAULTS_CHARS_MAX: usize = 400;
/// Rules that a project keeps.
pub const RULES_MAX: u64 = 500;
/// Bytes of the text of a project's rules.
pub const RULES_BYTES_MAX: u64 = 1 << 20;

/// Blueprints of a project, archived ones included. These limits and the following ones apply to
/// new writes. Work that was staged while there was room is folded above them.
pub const BLUEPRINTS_MAX: u64 = 10_000;
/// Text of all blueprints of a project.
pub const BLUEPRINTS_BYTES_MAX: u64 = 16 << 20;
/// Anchors of a project, archived ones included.
pub const ANCHORS_MAX: u64 = 50_000;
/// Text of all anchors of a project.
pub const ANCHORS_BYTES_MAX: u64 = 16 << 20;
/// Lessons of a project, archived ones included.
pub const LESSONS_MAX: u64 = 100_000;
/// Text of all lessons of a project.
pub const LESSONS_BYTES_MAX: u64 = 16 << 20;
/// Topics of a project, archived ones included.
pub const TOPICS_MAX: u64 = 20_000;
/// Text of all topics of a project.
pub const TOPICS_BYTES_MAX: u64 = 16 << 20;
/// Session rows that an import may make.
pub const SESSION_ROWS_MAX: u64 = 200_000;
/// Text of all session rows of a project. Above it, a save needs a short summary.
pub const SESSION_ROWS_BYTES_MAX: u64 = 64 << 20;
/// Longest summary that a save may always have, however many sessions there were.
pub const SHORT_SUMMARY_BYTES_MAX: usize = 4 * 1024;
/// Notes of a project, archived ones included. Work that was staged while there was room is folded
/// above it: losing nothing comes first. That adds the sessions' staged work, at most
/// [`STAGED_BYTES_MAX`] each.
pub const NOTES_MAX: u64 = 100_000;
/// Text of all notes of a project, archived ones included. Staged work is folded above it as well.
pub const NOTES_BYTES_MAX: u64 = 256 << 20;
/// A note's content.
pub const NOTE_BYTES_MAX: usize = 1 << 20;
/// Text of a forgotten record that stays in memory whole, since its head would not be shorter.
pub const FORGOTTEN_BYTES_MAX: usize = 200;
/// Notes in one call.
pub const NOTE_ITEMS_MAX: usize = 100;
/// A note's summary.
pub const NOTE_SUMMARY_CHARS_MAX: usize = 2_000;
/// A note's key.
pub const KEY_CHARS_MAX: usize = 200;
/// Tags of one record.
pub const TAGS_MAX: usize = 20;
/// A tag.
pub const TAG_CHARS_MAX: usize = 60;
/// Tags given to a note that came without any.
pub const AUTO_TAGS_MAX: usize = 5;
/// The importance of an item that comes without one.
pub const IMPORTANCE: u8 = 5;
/// The importance from which notes come before others.
pub const IMPORTANT_MIN: u8 = 8;
/// The highest importance.
pub const IMPORTANCE_MAX: u8 = 10;
/// Length in tokens from which a record should have a summary.
pub const SUMMARY_WANTED_ABOVE_TOKENS: u32 = 100;

/// Tokens of active project notes, unless configured.
pub const BUDGET_TOKENS: u32 = 100_000;
/// Tokens of a session's own active notes, unless configured or its client has a default.
pub const SESSION_BUDGET_TOKENS: u32 = 100_000;
/// The smallest budget that can be configured, in tokens.
pub const BUDGET_TOKENS_MIN: u32 = 1_000;
/// The smallest budget of a client's own notes, in tokens.
pub const SESSION_BUDGET_TOKENS_MIN: u32 = 1;
/// The largest budget that can be configured, in tokens.
pub const BUDGET_TOKENS_MAX: u32 = 100_000_000;
/// Tokens of a load, unless configured.
pub const LOAD_TOKENS: u32 = 2_500;
/// The smallest load that can be configured, in tokens.
pub const LOAD_TOKENS_MIN: u32 = 600;
/// Percent of the budget above which a write compacts, unless configured.
pub const COMPACT_ABOVE_PERCENT: u8 = 90;
/// The lowest such percent that can be configured.
pub const COMPACT_ABOVE_PERCENT_MIN: u8 = 10;
/// Percent of the budget that compaction comes down to, unless configured.
pub const COMPACT_TO_PERCENT: u8 = 80;
/// Percent of the budget above which answers show summaries.
pub const TIGHT_ABOVE_PERCENT: u8 = 80;
/// Hits of one search, by default.
pub const HITS: usize = 10;
/// Hits of one search at most.
pub const HITS_MAX: usize = 100;
/// The smallest answer of a search, a list, a record or an export that can be requested, in tokens.
pub const ANSWER_TOKENS_MIN: u32 = 250;
/// Characters of one hit's text.
pub const HIT_CHARS_MAX: usize = 700;
/// Hits of a search, or records of a list, that were left out and are named.
pub const HITS_NAMED_MAX: usize = 20;
/// Number of hits with a word of the query, below which hits without one are shown too.
pub const HITS_FEW: usize = 5;
/// Hits without any word of the query that are shown after the others.
pub const HITS_BESIDE_MAX: usize = 3;
/// Found records that a search counts beyond its hits; then it only says that there are more.
pub const FOUND_COUNTED_MAX: usize = 100;
/// Records on one page of a list, by default.
pub const LIST_RECORDS: usize = 20;
/// Records on one page of a list at most.
pub const LIST_RECORDS_MAX: usize = 200;
/// Factor by which shared notes fade more slowly than a session's own.
pub const PROJECT_HALF_LIFE_FACTOR: u32 = 24;
/// The largest factor that can be configured; the smallest is 1.
pub const HALF_LIFE_FACTOR_MAX: u32 = 10_000;
/// Notes that one note is compared with in search of near duplicates.
pub const DUPLICATE_CANDIDATES_MAX: usize = 100;
/// List entries read for one note in search of near duplicates. A note counts once for each rare
/// run that it shares.
pub const DUPLICATE_LINKS_MAX: usize = 10_000;
/// Lists of notes that have a rare run, in search of near duplicates.
pub const DUPLICATE_LISTS_MAX: usize = 1 << 21;
/// Counters of runs, as a power of two. Runs that share a counter seem more common, which costs
/// time but not correctness.
pub const DUPLICATE_COUNTERS_LOG2_MAX: u32 = 24;
/// Approximate bytes of note texts that one commit of a compaction writes; the rest comes in
/// further commits. An entry of the journal has room for six times as much, since escapes may make
/// a text that long.
pub const COMPACTION_COMMIT_BYTES_MAX: usize = 10 << 20;
/// Notes of each list that a compaction's plan or reply names.
pub const COMPACTION_SHOWN_MAX: usize = 20;
/// Characters of an item without a summary in the compactor's `recall`.
pub const COMPACTOR_PREVIEW_CHARS_MAX: usize = 200;
/// Characters of an item in the compactor's `list`.
pub const COMPACTOR_LINE_CHARS_MAX: usize = 80;

/// Bytes read from the beginning of a failed command's output.
pub const OUTPUT_HEAD_BYTES_MAX: usize = 1024;
/// Bytes read from the end of a failed command's output.
pub const OUTPUT_TAIL_BYTES_MAX: usize = 4 * 1024;
/// Shortest line that identifies an error.
pub const ERROR_LINE_CHARS_MIN: usize = 20;
/// Longest line that identifies an error; the rest is cut.
pub const ERROR_LINE_CHARS_MAX: usize = 160;
/// Longest line of an output that is compared with records.
pub const ERROR_TEXT_CHARS_MAX: usize = 400;
/// Lines at the end of an output that are searched for a sign of failure.
pub const FAILURE_LINES_MAX: usize = 20;
/// Records given after a failed command.
pub const REMEDIES_MAX: usize = 2;

/// Characters kept by rule of a session's first prompt.
pub const CAPTURED_PROMPT_CHARS_MAX: usize = 200;
/// Characters kept by rule of the agent's last message.
pub const CAPTURED_MESSAGE_CHARS_MAX: usize = 1_000;
/// Characters kept by rule of a command.
pub const CAPTURED_COMMAND_CHARS_MAX: usize = 200;
/// Edited files kept by rule of one session: the last ones.
pub const CAPTURED_FILES_MAX: usize = 30;
/// Failed commands kept by rule of one session: the first ones.
pub const CAPTURED_FAILED_MAX: usize = 50;
/// Passed commands whose digests are kept for one session.
pub const CAPTURED_PASSED_MAX: usize = 500;
/// Last passed commands kept by rule of one session.
pub const CAPTURED_WORKED_MAX: usize = 8;
/// Bytes read of a text that an event brings.
pub const CAPTURED_READ_BYTES_MAX: usize = 64 * 1024;
/// Commands between a failure and the run that passed, for a fix to be recognised.
pub const FIX_COMMANDS_MAX: usize = 20;
/// Files edited in between. More edits than this are other work.
pub const FIX_FILES_MAX: usize = 5;
/// A command in the summary of a lesson recorded by rule.
pub const FIX_COMMAND_CHARS_MAX: usize = 60;
/// An error in the summary of a lesson recorded by rule.
pub const FIX_ERROR_CHARS_MAX: usize = 90;
/// Fixes kept by rule from one session: the last ones.
pub const CAPTURED_FIXES_MAX: usize = 4;
/// Active lessons of a project that were recorded by rule. Beyond that, those not seen for the
/// longest time are archived.
pub const CAPTURED_LESSONS_MAX: usize = 60;
/// Edited files that a row recorded by rule names.
pub const CAPTURED_FILES_SHOWN_MAX: usize = 10;
/// Commands that a row recorded by rule names.
pub const CAPTURED_COMMANDS_SHOWN_MAX: usize = 5;
/// Rows recorded by rule that a load shows if agents wrote enough others.
pub const CAPTURED_ROWS_SHOWN_MAX: usize = 2;

/// Characters of the reason why nothing can be saved, in a load.
pub const READ_ONLY_CHARS_MAX: usize = 400;
/// Tokens of the reason why nothing can be saved, in a load.
pub const READ_ONLY_TOKENS_MAX: u32 = 120;

/// Text given at a session's start, with its frame. It leaves room: after a compaction, the same
/// text and the conversation's own work have to fit into [`RESTORED_CHARS_MAX`].
pub const SESSION_START_CHARS_MAX: usize = 7_800;
/// Text given at a prompt, with its frame.
pub const PROMPT_CHARS_MAX: usize = 2_800;
/// Changes by others that are reported at a prompt.
pub const PROMPT_CHANGES_MAX: usize = 5;
/// Records given at a prompt.
pub const PROMPT_RECORDS_MAX: usize = 3;
/// Tokens of all records given at a prompt.
pub const PROMPT_RECORDS_TOKENS_MAX: u32 = 400;
/// Characters of one record given at a prompt.
pub const PROMPT_RECORDS_CHARS_MAX: usize = 1_400;
/// Text given at an action, with its frame.
pub const ACTION_CHARS_MAX: usize = 600;
/// Records given at an action.
pub const ACTION_RECORDS_MAX: usize = 3;
/// Records not given at an action that its text names.
pub const ACTION_NAMED_MAX: usize = 8;
/// Characters of one record given at an action.
pub const ACTION_RECORD_CHARS_MAX: usize = 420;
/// Instructions on what a compaction keeps, with their frame.
pub const COMPACTION_CHARS_MAX: usize = 5_000;
/// Decisions of the topic in those instructions.
pub const COMPACTION_DECIDED_MAX: usize = 3;
/// Text given after a compaction, with its frame. Some client writes a longer text to a file
/// instead.
pub const RESTORED_CHARS_MAX: usize = 9_000;
/// Characters of that text that are reserved for the load.
pub const RESTORED_LOAD_CHARS: usize = 4_000;
/// Text in a load about the session's own saves that wait for the team's database.
pub const HELD_CHARS_MAX: usize = 1_200;
/// Text given at a subagent's start, with its frame.
pub const SUBAGENT_CHARS_MAX: usize = 3_000;
/// Records that an explanation names, of those given and of those not given.
pub const WHY_CANDIDATES_MAX: usize = 8;
/// Words of a prompt in the reason why a record was given.
pub const REASON_WORDS_MAX: usize = 6;
/// Bytes of a record's text that are read to decide whether it is about a prompt.
pub const PROMPT_TEXT_BYTES_READ: usize = 8 * 1024;
/// Clauses of a prompt for which memory is searched.
pub const PROMPT_CLAUSES_MAX: usize = 8;

/// Types of subagents that can be configured to be given nothing.
pub const SUBAGENT_TYPES_MAX: usize = 50;

/// Characters of the name of one such type.
pub const SUBAGENT_TYPE_CHARS_MAX: usize = 100;

/// Lines of a text around a difference.
pub const DIFF_CONTEXT_LINES: usize = 2;
/// Lines of one field's difference.
pub const DIFF_LINES_MAX: usize = 400;
/// Records of one commit, or between two revisions, whose differences are shown.
pub const DIFF_RECORDS_MAX: usize = 200;
/// Commits on a page of history, unless the caller says otherwise.
pub const HISTORY_COMMITS: usize = 20;
/// Commits on a page of history.
pub const HISTORY_COMMITS_MAX: usize = 200;
/// Records that the outcome of a rollback names in each of its lists.
pub const ROLLBACK_NAMED_MAX: usize = 50;
/// Commits that a conflict names.
pub const CONFLICT_COMMITS_NAMED_MAX: usize = 5;
/// Characters of the words that name a record in a list of changes.
pub const NAME_CHARS_MAX: usize = 80;

/// Characters of a shared record's id: 60 random bits. Ten thousand records of a thousand clones
/// collide with a chance of one in twenty thousand.
pub const SHARE_ID_CHARS: usize = 12;
/// Characters of the readable part of a shared file's name.
pub const SLUG_CHARS_MAX: usize = 40;
