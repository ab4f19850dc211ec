//! The kinds by name, and what is fixed about each.

use serde::{Deserialize, Serialize};

macro_rules! kind {
    ($($(#[$doc:meta])* $kind:ident $module:ident $field:ident $(as $item:ident)?,)*) => {
        /// The kind of a record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All kinds, in the order in which they are shown.
            pub const ALL: [Self; [$(Self::$kind),*].len()] = [$(Self::$kind),*];

            /// Their singular nouns, in the same order.
            pub const NOUNS: [&'static str; Self::ALL.len()] =
                [$(super::$module::FACTS.noun),*];

            /// Their plural nouns, in the same order.
            pub const PLURALS: [&'static str; Self::ALL.len()] =
                [$(super::$module::FACTS.plural),*];

            /// Returns what is fixed about the kind.
            pub(crate) fn facts(self) -> &'static Facts {
                match self {
                    $(Self::$kind => &super::$module::FACTS,)*
                }
            }

            /// Returns whether sessions stage the kind.
            pub(crate) fn is_staged(self) -> bool {
                let staged: &[(Self, &str)] = &[$($((Self::$kind, stringify!($item)),)?)*];
                staged.iter().any(|(kind, _)| *kind == self)
            }
        }
    };
}
super::each_kind!(kind);

/// The facts of a kind. Each kind's module has a constant of them.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The singular noun.
    pub(crate) noun: &'static str,
    /// The plural noun, which is also the name of the kind's section in a load.
    pub(crate) plural: &'static str,
    /// The singular noun where the short one would be unclear. Its plural ends in `s`.
    pub(crate) noun_in_full: &'static str,
    /// The heading of the kind's section.
    pub(crate) heading: &'static str,
    /// The first letter of ids.
    pub(crate) letter: char,
    /// The most records that a project keeps, and the most bytes of their text.
    pub(crate) limit: (u64, u64),
    /// The kind's line in the table "Which kind?"; `None` if agents do not write the kind.
    pub(crate) which: Option<Which>,
    /// The part of a load that shows the kind.
    pub(crate) share: Share,
    /// The place of the kind's section on an exported page.
    pub(crate) page_place: u8,
    /// The place of the kind among records about a file that are equally near.
    pub(crate) file_place: u8,
    /// The fields that are texts below the front matter of a shared file, the main one first. A
    /// kind without any is not shared.
    pub(crate) file_texts: &'static [&'static str],
    /// The times that a shared file has and the record has not.
    pub(crate) file_times: &'static [&'static str],
    /// The fields that are bookkeeping of one memory or follow from others, and are not shared.
    pub(crate) local_fields: &'static [&'static str],
}

/// A part of a load that has a room of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Share {
    /// Blueprints.
    Settled,
    /// Notes; those with a key come first.
    Facts,
    /// Lessons.
    Lessons,
    /// Topics and their open questions.
    Topics,
    /// Anchors.
    Places,
    /// Session rows.
    Sessions,
}

/// A line of the table "Which kind?".
#[derive(Debug)]
pub(crate) struct Which {
    /// The line's place in the table.
    pub(crate) place: u8,
    /// The line, from its first bar to its last.
    pub(crate) line: &'static str,
}

impl Kind {
    /// Returns the singular noun.
    pub fn noun(self) -> &'static str {
        self.facts().noun
    }

    /// Returns the plural noun, which is also the name of the kind's section in a load.
    pub fn plural(self) -> &'static str {
        self.facts().plural
    }

    /// Formats a count with its noun: `1 anchor`, `2 anchors`.
    pub fn count(self, count: u64) -> String {
        let noun = if count == 1 { self.noun() } else { self.plural() };
        format!("{count} {noun}")
    }

    /// Formats a count like [`Self::count`], with the noun that is clear anywhere.
    pub fn count_in_full(self, count: u64) -> String {
        format!("{count} {}{}", self.facts().noun_in_full, if count == 1 { "" } else { "s" })
    }

    /// Returns whether records of the kind are shared through files: agents write it, and a file of
    /// it has a text.
    pub fn is_shared(self) -> bool {
        self.facts().which.is_some() && !self.facts().file_texts.is_empty()
    }

    /// Returns the first letter of the kind's ids.
    pub(crate) fn letter(self) -> char {
        self.facts().letter
    }
}
