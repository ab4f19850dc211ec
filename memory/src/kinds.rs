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
pub(crate) mod session_row;
mod staging;
pub(crate) mod topic;

pub use anchor::Anchor;
pub use blueprint::{Blueprint, Category, ParseCategoryError};
pub(crate) use fields::{Fields, Searched};
pub(crate) use key::MergeKey;
pub use lesson::{FixedFailure, Lesson};
pub use list::Kind;
pub(crate) use list::{Facts, Share, Which, each_kind};
pub(crate) use note::{NewNote, Note, Scope};
pub use session_row::{SessionRow, TrailEntry};
pub(crate) use staging::{Keyed, Rule, StagedItem};
pub(crate) use topic::{Topic, TopicPart};

/// Replaces the paths for which `within` gives another.
fn move_each(files: &mut [String], within: &dyn Fn(&str) -> Option<String>) {
    for file in files {
        if let Some(rest) = within(file) {
            *file = rest;
        }
    }
}
