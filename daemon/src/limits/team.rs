//! The limits of a memory that a team shares.

use std::time::Duration;

/// Attempts to append a batch to a team's journal while others are faster. After that its callers
/// should try again.
pub const TEAM_TRIES_MAX: u32 = 50;

/// The time that a caller waits for its turn at a team's journal. It is longer than a call takes,
/// whose own limits are 5 s until COMMIT and 5 s for the answer.
pub const TEAM_ANSWER_MAX: Duration = Duration::from_secs(20);

/// The time from the arrival of a write until the team's database has what it needs to commit it.
/// After it, the caller is told to try again. A refusal waits as long for others' commits.
pub const TEAM_WAIT_MAX: Duration = Duration::from_secs(5);

/// The time between two looks at whether this machine has what a team's database has.
pub const TEAM_POLL: Duration = Duration::from_millis(5);

/// Characters of a wanted name in that of a project whose creation has not ended. With the rest,
/// they take no more bytes than a name may have.
pub const TEAM_UNFINISHED_CHARS_MAX: usize = 30;

/// The time that a try has in any case, however long its callers have waited for their turn. If the
/// last call failed, it has no more: its callers most likely wait in vain.
pub const TEAM_TRY_MIN: Duration = Duration::from_secs(1);

/// The time after which a read no longer waits for an earlier call of its connection that waits for
/// a team's database. A read waits as long for its own write.
pub const TEAM_TURN_WAIT_MAX: Duration = Duration::from_millis(300);

/// The time after which a connection that carried notices of a team's database is tried again.
pub const TEAM_LISTEN_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// The time after which the daemon asks a team's database again that a person has to mend first, as
/// a wrong password. Servers log each attempt, and some lock the role after too many.
pub const TEAM_BARRED_AGAIN_AFTER: Duration = Duration::from_mins(1);

/// The time after which the memories of teams are opened again, for what was purged elsewhere while
/// nobody used them.
pub const TEAM_OPEN_AGAIN_AFTER: Duration = Duration::from_mins(10);

/// The time between two attempts to join the team that the environment names.
pub const TEAM_JOIN_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// Time that a call waits for the first of them.
pub const TEAM_JOIN_WAIT_MAX: Duration = Duration::from_secs(10);

/// Time that a report on a team waits for each of the database's answers.
pub const TEAM_LOOK_MAX: Duration = Duration::from_secs(5);

/// Milliseconds for which a report still names a write that a team's database was too slow to take.
/// It is for writes that nobody tries again. Reads that are answered say nothing about them.
pub const TEAM_SLOW_SHOWN_MILLIS: i64 = 30_000;

/// Records that a merge into a team's memory names.
pub const TEAM_NAMED_MAX: usize = 20;

/// Commits of a memory's past that one call sends to a team's journal.
pub const TEAM_UPLOAD_ENTRIES_MAX: usize = 500;

/// Attempts to purge from a team's journal, or to follow it, while others write and purge there.
pub const TEAM_PURGE_TRIES_MAX: u32 = 20;

/// Time that readers wait for the first look at a team's database, from the opening of the memory.
/// A hook that opens it first has [`HOOK_OPEN_TIME_MAX`](super::HOOK_OPEN_TIME_MAX) for both.
pub const TEAM_FIRST_LOOK_MAX: Duration = Duration::from_millis(300);

/// Time that a read of a memory just opened waits until the copy has lost what was purged
/// elsewhere. If the copy is being changed by then, it waits for the end of that.
pub const TEAM_AGREE_WAIT_MAX: Duration = Duration::from_secs(1);

/// Time between a failed attempt to bring a copy into agreement and the next one. Each reads the
/// team's journal as a whole.
pub const TEAM_AGREE_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// Time after a failed attempt to bring a copy into agreement in which no read waits for another
/// one to begin. It would most likely fail as well.
pub const TEAM_AGREE_UNAWAITED_FOR: Duration = Duration::from_mins(10);

/// Entries of a team's journal that one call reads.
pub const TEAM_READ_ENTRIES_MAX: u32 = 1_000;

/// Entries of a team's journal that are too many for the search index to follow one by one. It is
/// rebuilt when it is next needed.
pub const TEAM_ENTRIES_MANY: usize = 200;

/// Bytes of a team's entries at which the index follows though more of them are on their way.
pub const TEAM_UNSETTLED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Bytes of a team's journal after which one call reads no more entries.
pub const TEAM_READ_BYTES_MAX: u64 = 8 * 1024 * 1024;
