//! Staged work: what a session has checkpointed but not saved. It is durable, and private to the
//! session.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::activity::SessionActivity;
use crate::files::relative;
use crate::ids::{Kind, Revision, Timestamp};
use crate::intake::WriteLimits;
use crate::kinds::{StagedItem, TopicPart, UnseenCode, each_kind};
use crate::limits::STAGED_ITEM_BYTES;
use crate::per_kind::PerKind;
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::Refusal;
use crate::size::{Size, Sizes};

pub use crate::per_kind::Counts;

macro_rules! staged {
    ($($(#[$doc:meta])* $kind:ident $module:ident $field:ident $(as $item:ident)?,)*) => {
        /// One session's staged work, or one checkpoint's part of it. Each kind has a list of
        /// items, in the order in which they came.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Staged {
            /// The summary at the last checkpoint that had one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub summary: Option<String>,
            $($(
                #[doc = concat!("Items of the type [`", stringify!($item), "`](crate::kinds::", stringify!($item), ").")]
                #[serde(default, skip_serializing_if = "Vec::is_empty")]
                pub $field: Vec<crate::kinds::$item>,
            )?)*
            /// The session's activity, recorded by rule, in case the session saves nothing itself.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub captured: Option<Box<SessionActivity>>,
            /// The time of the first checkpoint, or of the first event if there was none.
            pub first: Timestamp,
            /// The time of the last checkpoint, or of the last event if there was none.
            pub last: Timestamp,
            /// The client that staged it, for the row written on the session's behalf.
            #[serde(default, skip_serializing_if = "str::is_empty")]
            pub client: Arc<str>,
            /// The anchors of a write whose lines could not be read. It is never stored.
            #[serde(skip)]
            pub unseen: Vec<UnseenCode>,
        }

        impl Staged {
            /// Returns all items, by kind.
            pub(crate) fn items(&self) -> Vec<(Kind, &dyn StagedItem)> {
                let mut items: Vec<(Kind, &dyn StagedItem)> = Vec::new();
                $($(
                    let list: &[crate::kinds::$item] = &self.$field;
                    items.extend(list.iter().map(|item| (Kind::$kind, item as _)));
                )?)*
                items
            }

            /// Changes every item, and keeps those for which `change` returns true.
            pub(crate) fn retain(&mut self, mut change: impl FnMut(&mut dyn StagedItem) -> bool) {
                $($( self.$field.retain_mut(|item: &mut crate::kinds::$item| change(item)); )?)*
            }

            /// Brings all items into their stored form.
            fn accept_items(&mut self, limits: &WriteLimits) -> Result<(), Refusal> {
                $($(
                    let items = std::mem::take(&mut self.$field);
                    self.$field = crate::kinds::$item::accept(items, limits)?;
                )?)*
                Ok(())
            }

            /// Merges later items, and returns those that are left out.
            pub(crate) fn absorb_items(&mut self, later: &Self) -> Vec<Body> {
                let mut left_out = Vec::new();
                $($(
                    let absorbed = crate::kinds::$item::absorb(&mut self.$field, &later.$field, later.last);
                    left_out.extend(absorbed);
                )?)*
                left_out
            }

            /// Returns the number of items of each kind.
            pub fn counts(&self) -> Counts {
                let mut counts = Counts::default();
                $($( counts.$field = count(crate::kinds::$item::count(&self.$field)); )?)*
                counts
            }

            /// Returns what a session would stage to write a record of another memory into this
            /// one. `here` is the record that it merges with.
            pub(crate) fn of_record(
                record: &Record,
                here: Option<&Record>,
                origin: &Provenance,
            ) -> Self {
                let mut part = Self::default();
                $($( part.$field.extend(crate::kinds::$item::of_record(record, here, origin)); )?)*
                part
            }
        }
    };
}
each_kind!(staged);

impl Staged {
    /// Returns whether there is neither staged work nor recorded activity.
    pub fn is_empty(&self) -> bool {
        !self.has_work() && self.topics.is_empty() && self.captured.is_none()
    }

    /// Returns whether the agent staged anything. Activity recorded by rule is not its work.
    pub fn has_work(&self) -> bool {
        self.summary.is_some() || self.items().iter().any(|(_, item)| item.is_work())
    }

    /// Returns whether there are only lines for the history of topics, which hooks record.
    pub(crate) fn has_history_alone(&self) -> bool {
        let others = Counts { topics: 0, ..self.counts() };
        self.summary.is_none()
            && others == Counts::default()
            && self.topics.iter().all(TopicPart::has_history_alone)
    }

    /// Returns the size of the items if each becomes a record of its own.
    pub(crate) fn sizes(&self) -> Sizes {
        let mut sizes = Sizes::default();
        for (kind, item) in self.items() {
            let size = sizes.of_mut(kind);
            *size = size.plus(Size { records: 1, bytes: item.bytes() as u64 });
        }
        sizes
    }

    /// Returns the texts of each item of the kinds for which `wanted` returns true.
    pub fn texts_of(&self, wanted: impl Fn(Kind) -> bool) -> impl Iterator<Item = String> {
        let items = self.items().into_iter().filter(move |(kind, _)| wanted(*kind));
        items.map(|(_, item)| {
            let texts: Vec<&str> = item.texts().into_iter().map(|(_, text)| text).collect();
            texts.join(" ")
        })
    }

    /// Returns the size that the limit on staged work counts: the bytes of all texts, and
    /// [`STAGED_ITEM_BYTES`] for each item.
    pub fn bytes(&self) -> usize {
        let sizes = self.sizes();
        let of_kinds = Kind::ALL.map(|kind| sizes.of(kind));
        let texts = of_kinds.iter().map(|size| size.bytes).sum::<u64>();
        let items = of_kinds.iter().map(|size| size.records).sum::<u64>();
        let lines = self
            .topics
            .iter()
            .map(|part| part.decisions.len() + part.history.len() + part.files.len());
        let items = usize::try_from(items).unwrap_or(usize::MAX).saturating_add(lines.sum());
        let captured = self.captured.as_ref().map_or(0, |captured| captured.text_bytes());
        let summary = self.summary.as_ref().map_or(0, String::len);
        usize::try_from(texts)
            .unwrap_or(usize::MAX)
            .saturating_add(items.saturating_mul(STAGED_ITEM_BYTES))
            .saturating_add(captured + summary)
    }

    /// Dates what a call writes. `revision` is that of the memory as it is staged, since others may
    /// write the same before it is folded. It is `None` for a save, which folds it itself.
    pub(crate) fn stamp(&mut self, revision: Option<Revision>, origin: &Provenance) {
        for topic in &mut self.topics {
            topic.stamp(origin);
            topic.staged = revision;
        }
        let facts = self.notes.iter_mut().filter(|note| note.key.is_some());
        facts.for_each(|note| note.staged = revision);
        self.blueprints.iter_mut().for_each(|blueprint| blueprint.staged = revision);
        (self.first, self.last) = (origin.time, origin.time);
    }

    /// Has items that no checkpoint has dated judged as if they had been staged at a revision.
    pub(crate) fn judge_from(&mut self, revision: Revision) {
        let topics = self.topics.iter_mut().map(|topic| &mut topic.staged);
        let facts = self.notes.iter_mut().filter(|note| note.key.is_some());
        let facts = facts.map(|note| &mut note.staged);
        let blueprints = self.blueprints.iter_mut().map(|blueprint| &mut blueprint.staged);
        for staged in topics.chain(facts).chain(blueprints) {
            staged.get_or_insert(revision);
        }
    }

    /// Makes absolute paths beneath `root` relative to it.
    #[must_use]
    pub fn relative_to(mut self, root: &str) -> Self {
        self.retain(|item| {
            item.change_files(&mut |file| *file = relative(file, root));
            true
        });
        self.captured = self.captured.map(|captured| Box::new(captured.relative_to(root)));
        self
    }
}

/// Checks a write's items and returns them in their stored form. The refusal names the item:
/// `blueprints[2].title is empty`.
pub(crate) fn accept(mut part: Staged, limits: &WriteLimits) -> Result<Staged, Refusal> {
    let mut counts = PerKind::<usize>::default();
    for (kind, _) in part.items() {
        *counts.of_mut(kind) += 1;
    }
    for (kind, items) in Kind::ALL.map(|kind| (kind, counts.of(kind))) {
        let most = limits.items_max;
        if items > most {
            let why = format!("has {items} items, {most} are allowed");
            return Err(Refusal::invalid(kind.plural(), why).advising("send them in parts"));
        }
    }
    part.summary = match part.summary {
        Some(summary) => {
            Some(limits.text("summary", &summary)?).filter(|summary| !summary.is_empty())
        }
        None => None,
    };
    part.accept_items(limits)?;
    part.unseen.clear();
    Ok(part)
}

/// Converts a count to the type used on disk. No list in memory exceeds it.
pub(crate) fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
