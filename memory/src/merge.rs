//! The rules by which writes merge: the same on every machine, however writes are batched.
//!
//! The rules are stated once, for two records of a kind, in the kind's module. Staged work merges
//! by them ([`Staged::absorb`]), and so does memory (`draft.rs`). Staged work keeps everything that
//! a later fold needs: `a.absorb(b)` and then folding gives the same memory as folding `a` and then
//! `b`.

use crate::record::Body;
use crate::staged::Staged;

impl Staged {
    /// Absorbs later staged work, by the rules that also merge records. Returns the items that it
    /// left out because an earlier one is to stay.
    pub fn absorb(&mut self, later: &Self) -> Vec<Body> {
        if later.is_empty() {
            return Vec::new();
        }
        // Checkpoints date the work. Activity recorded by rule dates it only if there are none.
        match (self.has_work(), later.has_work()) {
            (true, false) => {}
            (false, true) => (self.first, self.last) = (later.first, later.last),
            _ if self.is_empty() => (self.first, self.last) = (later.first, later.last),
            _ => {
                self.first = self.first.min(later.first);
                self.last = self.last.max(later.last);
            }
        }
        if let Some(later) = &later.captured {
            self.captured.get_or_insert_default().absorb(later);
        }
        if later.summary.is_some() {
            self.summary.clone_from(&later.summary);
        }
        if !later.client.is_empty() {
            self.client = later.client.clone();
        }
        self.absorb_items(later)
    }
}

#[cfg(test)]
mod tests;
