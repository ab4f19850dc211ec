//! The words for each kind of record, one module each.
//!
//! Code that shows records of any kind asks [`Worded`] and [`WordedItem`], and names no kind.

mod anchor;
mod blueprint;
mod lesson;
mod note;
mod rule;
mod session_row;
mod topic;

use super::cut::titled;
use crate::fold::with_block;
use crate::ids::Kind;
use crate::kinds::{SeenFiles, each_kind};
use crate::record::{Body, Record};
use crate::staged::Staged;

pub use note::end;
pub(super) use session_row::earlier;
pub(super) use topic::brief;

/// Words what became of the files that a record names. Files that are as they were cost no words.
fn since(seen: &SeenFiles) -> String {
    let staleness = seen.staleness.unwrap_or_default();
    let files = |count: u32| format!("{count} file{}", if count == 1 { "" } else { "s" });
    match (staleness.changed, staleness.unchecked) {
        (0, 0) => String::new(),
        (0, unchecked) => format!(" ({} unchecked)", files(unchecked)),
        (changed, 0) => format!(" ({} changed since)", files(changed)),
        (changed, unchecked) => {
            format!(" ({} changed since, {unchecked} unchecked)", files(changed))
        }
    }
}

/// The words for the fields of a record. `of` is the record that they are the body of.
pub(super) trait Worded {
    /// Renders the record in full. The first line begins with its id. Further lines are indented,
    /// so that no content can pass for the frame around it.
    fn full(&self, of: &Record) -> String;

    /// Renders everything, whatever is condensed.
    fn whole(&self, of: &Record) -> String {
        self.full(of)
    }

    /// Returns the line of the title, before it is cut.
    fn title_line(&self, of: &Record) -> String {
        self.full(of).lines().next().unwrap_or_default().to_owned()
    }

    /// Renders the record on one short line.
    fn title(&self, of: &Record) -> String {
        titled(&self.title_line(of), &self.full(of))
    }

    /// Returns a head of at most about half of `chars_max`, and the text of which an excerpt shows
    /// a part. Without them, the full text is clipped.
    fn excerpt(&self, _: &Record, _chars_max: usize) -> Option<(String, String)> {
        None
    }

    /// Renders the record in full for agents that did not ask for it, without marks for editors.
    fn loaded(&self, of: &Record) -> String {
        self.full(of)
    }

    /// Renders the record for a load, with a summary in place of the content.
    fn condensed(&self, of: &Record) -> String {
        self.loaded(of)
    }

    /// Returns the record's line for a load without room for everything; `None` if the record is
    /// whole even then.
    fn line(&self, _: &Record) -> Option<Line> {
        None
    }

    /// Returns the line of the title in a load, before it is cut.
    fn loaded_title(&self, of: &Record) -> String {
        self.loaded(of)
    }

    /// Returns a head, and the text of which a hook shows what matters. Without them, the full text
    /// is cut.
    fn loaded_excerpt(&self, _: &Record) -> Option<(String, &str)> {
        None
    }
}

/// A record's line, before it is cut.
pub(super) struct Line {
    pub(super) text: String,
    /// The end of the line, which stays even if the text is cut.
    pub(super) end: String,
    /// Whether the text says all that the record says.
    pub(super) is_all: bool,
    /// Whether several lines were joined, so that the record still has more to show.
    pub(super) is_joined: bool,
}

/// The words for a staged item.
pub(super) trait WordedItem {
    /// Returns whether other sessions are shown it.
    fn is_for_others(&self) -> bool {
        true
    }

    /// Returns the head and the text for the next session, after this one ended.
    fn ended(&self) -> (String, String);

    /// Renders it for the session itself, after a compaction.
    fn resumed(&self) -> String {
        let (head, text) = self.ended();
        with_block(format!("- {head}"), &text, "  ")
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $kind:ident $module:ident $field:ident $(as $item:ident)?,)*) => {
        /// Returns the words for a record.
        pub(super) fn words(record: &Record) -> &dyn Worded {
            match &record.body {
                $(Body::$kind(fields) => fields,)*
            }
        }

        /// Returns all staged items, the most informative first.
        pub(super) fn staged_items(staged: &Staged) -> Vec<(Kind, &dyn WordedItem)> {
            let mut items: Vec<(Kind, &dyn WordedItem)> = Vec::new();
            $($(
                let list: &[crate::kinds::$item] = &staged.$field;
                items.extend(list.iter().map(|item| (Kind::$kind, item as _)));
            )?)*
            items.sort_by_key(|(kind, _)| kind.facts().share.later_place());
            items
        }
    };
}
each_kind!(words);
