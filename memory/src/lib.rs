//! anchord's domain, pure: the content of a memory, how writes merge, and what a reader sees.
//!
//! There is no I/O and no clock. Time, session ids and file facts are arguments, so that the same
//! calls give the same memory on every machine. A policy reads a [`Memory`] and returns a plan (a
//! value); another function applies it. The daemon journals the [`Change`]s of a plan before it
//! applies them.

mod activity;
pub mod archive;
mod audience;
pub mod brief;
mod change;
mod compaction;
mod dates;
pub mod defuse;
mod difference;
mod draft;
pub mod error_line;
pub mod export;
pub mod files;
mod fold;
mod forgotten;
mod gist;
pub mod guide;
mod held;
mod history;
mod ids;
pub mod import;
mod index;
pub mod injected;
mod intake;
mod kinds;
pub mod lifecycle;
pub mod limits;
pub mod lines;
mod memories;
mod memory;
mod merge;
mod omit;
mod overtaken;
mod per_kind;
mod plan;
mod provenance;
mod purge;
mod reader;
mod recall;
mod record;
mod refusal;
pub mod render;
mod retention;
mod room;
pub mod search;
mod settings;
pub mod shared;
mod shell;
mod size;
mod staged;
#[cfg(test)]
mod testing;
pub mod topic_file;

pub use anchord_fingerprint as fingerprint;
pub use anchord_secrets as secrets;
pub use anchord_tokens as tokens;

pub use activity::SessionActivity;
pub use anchord_rules as rules;
pub use archive::{ArchivePlan, Archived};
pub use audience::{Audience, Shell, Tool};
pub use brief::MergeEnd;
pub use change::{Change, Copied, CopyMark, Notice, NoticeCause, Purged, Team};
pub use compaction::{CompactionPlan, Fold, NearDuplicates, Pool, Scoring, plan_compaction};
pub use dates::{ParsePastError, names_no_day, parse_past, parse_past_up_to};
pub use draft::KeptBlueprint;
pub use held::{Held, HeldKey};
pub use history::{
    Commit, CommitCounts, CommitDetail, CommitHead, CommitPage, DiffLine, FieldDiff, HistoryView,
    LineChange, RecordDiff, RecordVersions, RevisionDiff, StoredCommit, StoredVersion,
    VersionContent, VersionDetail, Versions, WantedVersions, diff,
};
pub use ids::{
    ItemIds, Kind, NoticeId, ParseIdError, ParseShareIdError, RecordId, Revision, Seq, SessionId,
    ShareId, Timestamp, Version,
};
pub use index::Totals;
pub use intake::WriteLimits;
pub use kinds::note::{
    ContentType, Expires, NewNote, Note, ParseExpiryError, Scope, detect, tag_as_kept, tags_as_kept,
};
pub use kinds::topic::{
    HistoryLine, MAIN, Topic, TopicDecision, TopicPart, topic_name, topic_named_after,
};
pub use kinds::*;
pub use memories::Memories;
pub use memory::{Bound, Counters, Memory, Restore};
pub use overtaken::Overtaken;
pub use per_kind::PerKind;
pub use plan::{
    AddOutcome, AnchorMove, BindOutcome, BriefOutcome, CheckpointOutcome, CompactionOutcome,
    Contradiction, FailedNote, ForgetOutcome, LaterChanges, LeftRecord, NoteOutcome, NotesOutcome,
    Plan, Released, Rewrite, Rivals, RuleAuthor, RuleOutcome, Save, SaveOutcome, SnapCheckpoint,
    SnapOutcome, StoredNote, TakeItem, TakeOutcome, ToldBy, TopicOutcome, UndoBasis, UndoConflict,
    UndoEnd, UndoOutcome, UndoTarget, Undone, UndoneRecord, Update, UpdateOutcome, WhyLeft, WhyNot,
    contradicting, find, find_fact, find_topic, former_facts, in_conversation, is_expired,
    plan_add, plan_adopt, plan_bind, plan_brief, plan_capture, plan_checkpoint,
    plan_checkpoint_within, plan_configure, plan_forget, plan_hold, plan_keep, plan_leave,
    plan_notes, plan_release, plan_restage, plan_rewrite, plan_rule, plan_rule_standing, plan_save,
    plan_say_left, plan_snap, plan_take_in, plan_take_private, plan_team, plan_topic, plan_undo,
    plan_update, plan_upkeep, plan_use, plan_withhold, refuse_rule_changes, rules_in_force,
    shared_part, shared_rivals, snap_record, why_refused,
};
pub use provenance::Provenance;
pub use purge::{Purge, PurgedRecord, Tombstones, reply_texts, secrets_in};
pub use reader::Reader;
pub use recall::{
    Candidate, Evidence, FailureView, FileQuery, PromptChoice, PromptQuery, Recall, Recalled,
    about_file, for_prompt, recall, remedies,
};
pub use record::{Body, ContentVersion, Record, RecordState};
pub use refusal::{Refusal, RefusedField};
pub use retention::{Access, Accesses, Formula, RetentionParts};
pub use room::limit;
pub use settings::{Budget, Settings, Unfit};
pub use shell::{shell_line, shell_word};
pub use size::{Size, Sizes};
pub use staged::{Counts, Staged};
