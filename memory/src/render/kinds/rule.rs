//! Rules: the effect and the title, then the reason and what it matches.

use super::Worded;
use crate::fold::with_block;
use crate::kinds::Standing;
use crate::record::{Record, Rule};

impl Worded for Rule {
    fn full(&self, of: &Record) -> String {
        let standing = match self.standing {
            Standing::Accepted => String::new(),
            other => format!(", {}", other.name()),
        };
        let head = format!("{} [{}{standing}] {}", of.id, self.effect.word(), self.title);
        with_block(head, &self.block(), "  ")
    }

    fn loaded(&self, of: &Record) -> String {
        self.full(of)
    }
}
