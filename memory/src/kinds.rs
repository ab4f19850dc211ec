//! The kinds of records, one module each.
//!
//! A kind's module holds its fields and its [`Facts`]. It has the merge key and the rules by which
//! writes merge, the texts and their size. It also says what a search reads, and has the forms in
//! an export. Generic code asks [`Fields`] and [`Facts`], and names no kind.

pub(crate) mod anchor;
pub(crate) mod blueprint;
mod fields;
mod key;
pub(crate) mod lesson;
mod list;
pub(crate) mod note;
pub(crate) mod rule;
mod seen_files;
pub(crate) mod session_row;
mod staging;
pub(crate) mod topic;

pub use anchor::{Anchor, AnchorState, UnseenCode, WhyUnseen};
pub use blueprint::{Blueprint, Category, ParseCategoryError};
pub(crate) use fields::{Fields, Searched};
pub(crate) use key::MergeKey;
pub use lesson::{FixedFailure, Lesson};
pub use list::Kind;
pub(crate) use list::{Facts, Share, Which};
pub(crate) use note::{NewNote, Note, Scope};
pub use rule::{Rule, Standing, check_action, lint_rule};
pub use seen_files::{SeenFiles, Staleness};
pub use session_row::{SessionRow, TrailEntry};
pub(crate) use staging::{FoldRule, Keyed, StagedItem, accepted_one};
pub(crate) use topic::{Topic, TopicPart};

/// Calls a macro with a line for each kind, in the order in which they are shown.
///
/// A line has the variant and type, the module, and the field of
/// [`PerKind`](crate::per_kind::PerKind). If sessions stage the kind, the type of a staged item
/// follows, and the field is also that of [`Staged`](crate::staged::Staged).
macro_rules! each_kind {
    ($then:ident) => {
        $then! {
            /// Settled and lasting; kept verbatim.
            Blueprint blueprint blueprints as Blueprint,
            /// The place of some code, and why it matters.
            Anchor anchor anchors as Anchor,
            /// Learned from a failure.
            Lesson lesson lessons as Lesson,
            /// Anything else worth keeping; with a key it is a fact.
            Note note notes as NewNote,
            /// The state of a thread of work.
            Topic topic topics as TopicPart,
            /// The account of a session; written by the daemon alone.
            SessionRow session_row rows,
            /// Must or must not be done, and can be checked.
            Rule rule rules,
        }
    };
}

pub(crate) use each_kind;

/// Replaces the paths for which `within` gives another.
fn move_each(files: &mut [String], within: &dyn Fn(&str) -> Option<String>) {
    for file in files {
        if let Some(rest) = within(file) {
            *file = rest;
        }
    }
}
