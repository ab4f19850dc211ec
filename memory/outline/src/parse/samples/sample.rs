//! A crate.

use std::fmt;
use std::{collections::BTreeMap, io};

/// The most entries. More are dropped.
pub const ENTRIES: usize = 10;

/// A table of names.
#[derive(Clone, Debug)]
pub struct Table<T> {
    names: BTreeMap<String, T>,
}

impl<T: Clone> Table<T> {
    /// Creates an empty table.
    pub fn new() -> Self {
        const LOCAL: u8 = 1;
        Self { names: BTreeMap::new() }
    }
}

impl<T> fmt::Display for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn inner() {}
        inner();
        f.write_str("table")
    }
}

trait Named {
    type Name: fmt::Display;
    fn name(&self) -> Self::Name;
}

enum Color { Red }

macro_rules! twice {
    ($e:expr) => { $e; $e };
}

mod inner {
    pub(crate) fn helper(
        first: u32,
        second: u32,
    ) -> u32 {
        first + second
    }
}
