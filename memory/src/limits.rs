//! Every limit of the domain, with its unit last in the name.

/// What one session may have staged; more is refused with the advice to save.
pub const STAGED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Staged work of all sessions of a project.
pub const STAGED_PROJECT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Staged work that each session may have even if the others use up the project's limit: no session
/// can block another. Room for two of the longest texts.
pub const STAGED_SHARE_BYTES: usize = 2 * TEXT_BYTES_MAX;
/// What an item that is staged counts beside its texts: for its numbers and times, and the record that it becomes.
pub const STAGED_ITEM_BYTES: usize = 128;
/// Items of one kind in one write.
pub const ITEMS_MAX: usize = 1_000;
/// A blueprint's title, a lesson's summary, an anchor's concept.
pub const LINE_CHARS_MAX: usize = 1_000;
/// A path, or what stands in for line numbers.
pub const PATH_CHARS_MAX: usize = 1_000;
/// A blueprint's content, a lesson's detail, a session's summary.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Files that one lesson concerns.
pub const LESSON_FILES_MAX: usize = 100;

/// The key under which a conversation's topic is found again.
pub const BINDING_KEY_CHARS_MAX: usize = 200;
/// A topic's name.
pub const TOPIC_NAME_CHARS_MAX: usize = 60;
/// A topic's status.
pub const TOPIC_STATUS_CHARS_MAX: usize = 4_000;
/// A line of a topic's history.
pub const TOPIC_HISTORY_CHARS_MAX: usize = 300;
/// Decisions that a topic keeps; earlier ones are in its earlier versions.
pub const TOPIC_DECISIONS_MAX: usize = 100;
/// Lines of history that a topic keeps; earlier ones are in its earlier versions.
pub const TOPIC_HISTORY_MAX: usize = 100;
/// Active files of a topic.
pub const TOPIC_FILES_MAX: usize = 50;
/// Decisions of a topic in view.
pub const TOPIC_DECISIONS_SHOWN_MAX: usize = 20;
/// Lines of a topic's history in view.
pub const TOPIC_HISTORY_SHOWN_MAX: usize = 30;
/// Lines of a topic's history that a load shows.
pub const TOPIC_HISTORY_LOADED_MAX: usize = 5;
/// Pairs of contradicting blueprints that a reply names; the others are counted.
pub const CONTRADICTIONS_NAMED_MAX: usize = 10;
/// Characters of a decision, or of a line of history, that a load shows.
pub const TOPIC_LINE_CHARS_MAX: usize = 300;
/// Other topics that a load names when it was not asked for topics alone.
pub const TOPICS_SHOWN_MAX: usize = 5;
/// Threads that are bound to a topic; the binding that was made first goes.
pub const BINDINGS_MAX: usize = 1_000;

/// Bytes of active text above which a load and a save ask for tidying.
pub const ACTIVE_TEXT_SOFT_BYTES_MAX: u64 = 100 * 1024;
/// Bytes of active text above which the next save archives.
pub const ACTIVE_TEXT_HARD_BYTES_MAX: u64 = 500 * 1024;
/// An anchor younger than this is never archived, even when its file is gone.
pub const ANCHOR_KEPT_DAYS_MIN: i64 = 30;
/// A topic named after a session that was written later than this is never archived by itself.
pub const TOPIC_KEPT_DAYS_MIN: i64 = 30;
/// The newest session rows that are never folded.
pub const ROWS_KEPT_MIN: usize = 20;
/// Entries that a session row's trail keeps. Older entries are folded into one; the row's earlier
/// versions still have them.
pub const ROW_ENTRIES_MAX: usize = 20;
/// Bytes of text in all entries before the newest.
pub const ROW_EARLIER_BYTES_MAX: usize = 64 * 1024;
/// The newest lessons that are never archived.
pub const LESSONS_KEPT_MIN: usize = 20;

/// What an answer over MCP may be: longer ones are cut in the middle by some client.
pub const ANSWER_CHARS_MAX: usize = 9_000;
/// The smallest budget a rendered text keeps to.
pub const ANSWER_CHARS_MIN: usize = 2_000;
/// A record's line when its whole text does not fit.
pub const TITLE_CHARS_MAX: usize = 160;
/// One line of a load for a lesson or a session, without the names of files.
pub const LOADED_LINE_CHARS_MAX: usize = 260;
/// A topic's status in its short form.
pub const TOPIC_BRIEF_CHARS_MAX: usize = 300;
/// A session row's line, which is its newest entry.
pub const ROW_LINE_CHARS_MAX: usize = 400;
/// Sessions a load shows when it was not asked for sessions alone.
pub const ROWS_SHOWN_MAX: usize = 5;
/// Records that a load puts first since they are about the task.
pub const RELEVANT_MAX: usize = 200;
/// Sessions whose staged work a load shows before it is folded; the rest are counted.
pub const ENDED_SESSIONS_SHOWN_MAX: usize = 5;
/// Items of one such session that a load considers; the rest are counted.
pub const ENDED_ITEMS_MAX: usize = 200;
/// Characters of the staged work of ended sessions in a load.
pub const ENDED_CHARS_MAX: usize = 3_000;
/// Tokens of the notes that belong to the user, in a load or at a subagent's start.
pub const PERSONAL_TOKENS_MAX: u32 = 300;
/// In a smaller load they get at most its tokens divided by this.
pub const PERSONAL_SHARE: u32 = 8;
/// A longer note of the user is shown there by its title.
pub const PERSONAL_NOTE_TOKENS_MAX: u32 = 100;
/// Tokens of such a title: in some scripts a character takes more than one.
pub const PERSONAL_TITLE_TOKENS_MAX: u32 = 60;
/// Newest records of each kind in a load for which there is no time to consider all.
pub const PART_RECORDS_MAX: usize = 20;
/// Longest record that such a load shows in full.
pub const PART_TEXT_BYTES_MAX: usize = 4 * 1024;
/// Notices one load shows; the rest wait for the next.
pub const NOTICES_SHOWN_MAX: usize = 5;
/// Notices that a project keeps, whether or not they were shown: the newest.
pub const NOTICES_MAX: usize = 300;
/// Changed files one notice names.
pub const NOTICE_FILES_MAX: usize = 50;
/// Changed files the zipmem form names.
pub const ZIPMEM_FILES_MAX: usize = 20;
/// Characters of one change by others.
pub const CHANGE_CHARS_MAX: usize = 200;
/// Changes by others one load names.
pub const CHANGES_SHOWN_MAX: usize = 20;
/// Near ids offered for one that is not there.
pub const NEAREST_MAX: usize = 3;

/// A text shorter than this is not looked for elsewhere when its record is purged: it could be any.
pub const PURGED_TEXT_BYTES_MIN: usize = 8;
/// So much of a longer text is looked for: who has that has the rest.
pub const PURGED_TEXT_BYTES_SOUGHT: usize = 256;
/// The line in which a record is shown that is about to be purged.
pub const PURGE_TITLE_CHARS_MAX: usize = 60;
/// A status, a decision or a line of a topic's history, or a paragraph of a lesson, that is shorter than this is not
/// looked for elsewhere when its record is purged: many are said in the same few words.
pub const PURGED_LINE_BYTES_MIN: usize = 24;
/// A text by which records are purged is at least this long.
pub const PURGE_QUERY_BYTES_MIN: usize = 4;

/// Times that a text is looked through for secrets: what is removed may show another.
pub const SECRET_PASSES_MAX: usize = 4;
/// A name longer than this says nothing about the value beside it.
pub const SECRET_NAME_BYTES_MAX: usize = 200;
/// A secret beside a word is shorter than this; what is longer is data.
pub const SECRET_VALUE_BYTES_MAX: usize = 512;
/// Lines over which a token may be broken.
pub const SECRET_BROKEN_LINES_MAX: usize = 8;
/// A title over a secret is no longer than this.
pub const SECRET_TITLE_CHARS_MAX: usize = 60;
/// Rows of a table that are looked through for each column of secrets.
pub const SECRET_TABLE_ROWS_MAX: usize = 50;
/// Bytes between the name of a secret and its sign, as in `password for staging:`.
pub const SECRET_OWNER_BYTES_MAX: usize = 48;
/// Letters of a word of a seed phrase.
pub const SEED_WORD_BYTES_MAX: usize = 8;
/// Bytes between two words of a seed phrase: a comma, a line break, a number.
pub const SEED_GAP_BYTES_MAX: usize = 8;
/// The name of a mark that is not shown as it is; a longer one is no mark.
pub const MARK_NAME_BYTES_MAX: usize = 48;
/// A block with a private key ends within this.
pub const KEY_BLOCK_BYTES_MAX: usize = 32 * 1024;

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
/// A summary that a save may always have, however many sessions there were.
pub const SHORT_SUMMARY_BYTES_MAX: usize = 4 * 1024;
/// Notes of a project, archived ones included. What was staged while there was room is folded above it, too: losing
/// nothing comes first. That adds what sessions have staged, each at most [`STAGED_BYTES_MAX`].
pub const NOTES_MAX: u64 = 100_000;
/// Text of all notes of a project, archived ones included; the same.
pub const NOTES_BYTES_MAX: u64 = 256 << 20;
/// A note's content.
pub const NOTE_BYTES_MAX: usize = 1 << 20;
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
/// The importance of what is said to have none.
pub const IMPORTANCE: u8 = 5;
/// Notes of at least this importance come before others.
pub const IMPORTANT_MIN: u8 = 8;
/// The highest importance.
pub const IMPORTANCE_MAX: u8 = 10;
/// A record this long or longer in tokens wants a summary.
pub const SUMMARY_WANTED_ABOVE_TOKENS: u32 = 100;

/// Tokens of active project notes, unless configured.
pub const BUDGET_TOKENS: u32 = 100_000;
/// Tokens of a session's own active notes, unless configured.
pub const SESSION_BUDGET_TOKENS: u32 = 100_000;
/// Tokens of the own active notes of sessions whose clients' names begin so, in lower case.
pub const SESSION_BUDGETS: [(&str, u32); 2] = [("claude", 80_000), ("cursor", 60_000)];
/// The smallest budget that can be configured, in tokens.
pub const BUDGET_TOKENS_MIN: u32 = 1_000;
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
/// Hits of one search, unless said otherwise.
pub const HITS: usize = 10;
/// Hits of one search at most.
pub const HITS_MAX: usize = 100;
/// The smallest answer of a search, a list, a record or an export that can be asked for, in tokens.
pub const ANSWER_TOKENS_MIN: u32 = 250;
/// Characters of one hit's text.
pub const HIT_CHARS_MAX: usize = 700;
/// Hits of a search, or records of a list, that were left out and are named.
pub const HITS_NAMED_MAX: usize = 20;
/// Hits without any word of the query are shown only if fewer hits than this have one.
pub const HITS_FEW: usize = 5;
/// Hits without any word of the query that are shown after the others.
pub const HITS_BESIDE_MAX: usize = 3;
/// What a search finds is counted so far beyond the hits that it gives; then it says that there is more.
pub const FOUND_COUNTED_MAX: usize = 100;
/// Records on one page of a list, unless said otherwise.
pub const LIST_RECORDS: usize = 20;
/// Records on one page of a list at most.
pub const LIST_RECORDS_MAX: usize = 200;
/// How much slower what the project shares fades than what one session keeps for itself.
pub const PROJECT_HALF_LIFE_FACTOR: u32 = 24;
/// What may be set instead: from 1 to this.
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
/// About what one commit of a compaction writes of notes, in bytes of their texts; what is more comes in further commits. An
/// entry of the journal has room for six times as much, which is what escapes may make of a text.
pub const COMPACTION_COMMIT_BYTES_MAX: usize = 10 << 20;
/// Notes of each list that a compaction's plan or reply names.
pub const COMPACTION_SHOWN_MAX: usize = 20;
/// Characters of an item without a summary in the compactor's `recall`.
pub const COMPACTOR_PREVIEW_CHARS_MAX: usize = 200;
/// Characters of an item in the compactor's `list`.
pub const COMPACTOR_LINE_CHARS_MAX: usize = 80;

/// Characters of a query that are read.
pub const QUERY_CHARS_MAX: usize = 2_000;
/// Terms of a query that are searched.
pub const QUERY_TERMS_MAX: usize = 64;
/// Terms of a query that are corrected when nothing is found.
pub const CORRECTED_TERMS_MAX: usize = 8;
/// What is told apart of a word.
pub const SEARCH_TERM_BYTES_MAX: usize = 64;
/// Long texts whose passages one search looks at, those first that could have most, beside those by which it tells what need not be added: about five microseconds each.
pub const SEARCH_LONG_TEXTS_MAX: usize = 100;
/// Words whose stems are remembered on one thread.
pub const SEARCH_MEMO_WORDS_MAX: usize = 16_384;
/// Words that are kept with their terms while many documents are read, on one thread.
pub const SEARCH_LEXICON_WORDS_MAX: usize = 65_536;

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

/// The first prompt of a session, as it is kept by rule.
pub const CAPTURED_PROMPT_CHARS_MAX: usize = 200;
/// The agent's last message, as it is kept by rule.
pub const CAPTURED_MESSAGE_CHARS_MAX: usize = 1_000;
/// A command, as it is kept by rule.
pub const CAPTURED_COMMAND_CHARS_MAX: usize = 200;
/// Edited files that are kept by rule of one session: the last ones.
pub const CAPTURED_FILES_MAX: usize = 30;
/// Commands that failed that are kept by rule of one session: the first ones.
pub const CAPTURED_FAILED_MAX: usize = 50;
/// Commands that passed of which digests are kept for one session.
pub const CAPTURED_PASSED_MAX: usize = 500;
/// Commands that passed last and are kept by rule of one session.
pub const CAPTURED_WORKED_MAX: usize = 8;
/// Of a text that an event brings, so much is read.
pub const CAPTURED_READ_BYTES_MAX: usize = 64 * 1024;
/// Commands between a failure and the run that passed, for a fix to be recognised.
pub const FIX_COMMANDS_MAX: usize = 20;
/// Files edited in between. More edits than this are other work.
pub const FIX_FILES_MAX: usize = 5;
/// A command in the summary of a lesson made by rule.
pub const FIX_COMMAND_CHARS_MAX: usize = 60;
/// An error in the summary of a lesson made by rule.
pub const FIX_ERROR_CHARS_MAX: usize = 90;
/// Fixes kept by rule from one session: the last ones.
pub const CAPTURED_FIXES_MAX: usize = 4;
/// Active lessons of a project that were made by rule. Beyond that, those not seen for the longest
/// time are archived.
pub const CAPTURED_LESSONS_MAX: usize = 60;
/// Edited files that a row made by rule names.
pub const CAPTURED_FILES_SHOWN_MAX: usize = 10;
/// Commands that a row made by rule names.
pub const CAPTURED_COMMANDS_SHOWN_MAX: usize = 5;
/// Rows made by rule that a load shows when there are enough that agents wrote.
pub const CAPTURED_ROWS_SHOWN_MAX: usize = 2;

/// Characters of the reason why nothing can be saved, in a load.
pub const READ_ONLY_CHARS_MAX: usize = 400;
/// Tokens of the reason why nothing can be saved, in a load.
pub const READ_ONLY_TOKENS_MAX: u32 = 120;

/// A session's start, with its frame. It leaves room: after a compaction the same text and the
/// conversation's own work have to fit into [`RESTORED_CHARS_MAX`].
pub const SESSION_START_CHARS_MAX: usize = 7_800;
/// Text given at a prompt, with its frame.
pub const PROMPT_CHARS_MAX: usize = 2_800;
/// Changes by others that a prompt is told.
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
/// Characters of one record given at an action.
pub const ACTION_RECORD_CHARS_MAX: usize = 420;
/// What a compaction is told to keep, with its frame.
pub const COMPACTION_CHARS_MAX: usize = 5_000;
/// Decisions of the topic in that.
pub const COMPACTION_DECIDED_MAX: usize = 3;
/// Text given after a compaction, with its frame. Some client writes a longer text to a file
/// instead.
pub const RESTORED_CHARS_MAX: usize = 9_000;
/// Characters of that text that are reserved for the load.
pub const RESTORED_LOAD_CHARS: usize = 4_000;
/// What a subagent is given at its start, with its frame.
pub const SUBAGENT_CHARS_MAX: usize = 3_000;
/// Records that an explanation names, of those given and of those not given.
pub const WHY_CANDIDATES_MAX: usize = 8;
/// Bytes of a record's text that are read to decide whether it is about a prompt.
pub const PROMPT_TEXT_BYTES_READ: usize = 8 * 1024;
/// Clauses of a prompt for which memory is searched.
pub const PROMPT_CLAUSES_MAX: usize = 8;

/// Types of subagents that can be named as given nothing.
pub const SUBAGENT_TYPES_MAX: usize = 50;

/// Characters of the name of one.
pub const SUBAGENT_TYPE_CHARS_MAX: usize = 100;
