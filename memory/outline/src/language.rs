//! A language: how its files are recognised.

use std::fmt;

use serde::{Serialize, Serializer};

/// A language that has a grammar.
pub struct Language {
    /// The name in caches and arguments. It never changes.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The extensions of its files, in lower case.
    pub extensions: &'static [&'static str],
    /// The names of files that have no such extension.
    pub files: &'static [&'static str],
    /// The programs that a script of this language names in its first line.
    pub interpreters: &'static [&'static str],
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Language {}

impl Serialize for Language {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id)
    }
}
