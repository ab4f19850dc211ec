//! The keys by which records merge.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::{Category, Kind};
use crate::ids::SessionId;
use crate::kinds::note::Scope;

/// The property that two merging records share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MergeKey {
    /// Category and folded title of a blueprint. Titles that are told apart by case are compared as
    /// well.
    Blueprint(Category, Arc<str>),
    /// The kind and a text. For an anchor it is the file; lines are compared one by one.
    Text(Kind, Arc<str>),
    /// The scope and the fact's key.
    Fact(Scope, Arc<str>),
    /// The scope and a hash of the content, which is compared as well.
    Note(Scope, u64),
    /// The session. A row that covers folded ones has no key.
    SessionRow(SessionId),
}

impl MergeKey {
    /// Returns the merge key of a note with this key, or else with this content.
    pub(crate) fn note(scope: &Scope, key: Option<&str>, content: &str) -> Self {
        if let Some(key) = key {
            return Self::Fact(scope.clone(), key.into());
        }
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        Self::Note(scope.clone(), hasher.finish())
    }

    /// Returns the merge key of the anchors of a file.
    pub(crate) fn anchor(file: &str) -> Self {
        Self::Text(Kind::Anchor, file.into())
    }
}
