//! One value for each kind of record.

use std::fmt;

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::ids::Kind;
use crate::kinds::each_kind;

macro_rules! per_kind {
    ($($(#[$doc:meta])* $kind:ident $module:ident $field:ident $(as $item:ident)?,)*) => {
        /// A value for each kind of record.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
        #[serde(default)]
        pub struct PerKind<T: Default> {
            $($(#[$doc])* pub $field: T,)*
        }

        impl<T: Copy + Default> PerKind<T> {
            /// Returns the value of one kind.
            pub fn of(&self, kind: Kind) -> T {
                match kind {
                    $(Kind::$kind => self.$field,)*
                }
            }

            /// Returns the value of one kind, to change it.
            pub fn of_mut(&mut self, kind: Kind) -> &mut T {
                match kind {
                    $(Kind::$kind => &mut self.$field,)*
                }
            }

            /// Returns the values with their kinds and the names of their fields.
            fn all(&self) -> [(Kind, &'static str, T); Kind::ALL.len()] {
                [$((Kind::$kind, stringify!($field), self.$field)),*]
            }
        }
    };
}
each_kind!(per_kind);

impl<T: Copy + Default + Serialize> PerKind<T> {
    /// Writes every value, also those that are zero.
    pub(crate) fn serialize_whole<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (_, field, value) in self.all() {
            map.serialize_entry(field, &value)?;
        }
        map.end()
    }
}

impl<T: Copy + Default + PartialEq + Serialize> Serialize for PerKind<T> {
    /// Leaves out zeros, except those of the first three kinds, which older builds need.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (kind, field, value) in self.all() {
            let is_older = matches!(kind, Kind::Blueprint | Kind::Anchor | Kind::Lesson);
            if value != T::default() || is_older {
                map.serialize_entry(field, &value)?;
            }
        }
        map.end()
    }
}

/// The number of records of each kind. Those of session rows are not counted.
pub type Counts = PerKind<u32>;

impl Counts {
    /// Adds two counts, kind by kind.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for kind in Kind::ALL {
            *self.of_mut(kind) += other.of(kind);
        }
        self
    }
}

impl fmt::Display for Counts {
    /// Writes `2 blueprints, 1 lesson`: leaves out kinds without records, and writes `nothing` if
    /// all are zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = Kind::ALL.into_iter().filter(|kind| self.of(*kind) > 0);
        let parts: Vec<String> = counted.map(|kind| kind.count(self.of(kind).into())).collect();
        f.write_str(if parts.is_empty() { "nothing" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests;
