//! Index from a run to the notes that have it among their rarest. Runs with the same slot share a
//! list.

use crate::limits::DUPLICATE_LISTS_MAX;
use crate::staged::count;

/// The number of lists per note: about as many as a note has rare runs.
const LISTS_OF_A_NOTE: usize = 16;
/// The lowest of the bits that distinguish a run from others in its list. The bits that choose the
/// list are below it.
const LIST_BITS: u32 = 24;

/// Lists of notes, newest first.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The index of each list's first link in `links`, counted from 1; 0 for an empty list.
    heads: Vec<u32>,
    links: Vec<Link>,
}

/// An entry of a list: a note that has a run.
#[derive(Debug)]
struct Link {
    /// The bits of the run that distinguish it from others in the list. Mistaking one run for
    /// another costs only a comparison.
    run: u32,
    note: u32,
    /// The index of the next link, counted from 1; 0 at the end.
    next: u32,
}

impl Lists {
    /// Creates empty lists for about `notes` notes.
    pub(super) fn for_notes(notes: usize) -> Self {
        let heads = (notes.max(1) * LISTS_OF_A_NOTE).next_power_of_two().min(DUPLICATE_LISTS_MAX);
        Self { heads: vec![0; heads], links: Vec::new() }
    }

    pub(super) fn add(&mut self, run: u64, note: u32) {
        let list = self.list(run);
        if let Some(head) = self.heads.get_mut(list) {
            self.links.push(Link { run: in_list(run), note, next: *head });
            *head = count(self.links.len());
        }
    }

    /// Yields the notes with a run, newest first.
    pub(super) fn notes_with(&self, run: u64) -> impl Iterator<Item = u32> {
        let link = |at: u32| self.links.get((at as usize).checked_sub(1)?);
        let first = self.heads.get(self.list(run)).copied().unwrap_or_default();
        let run = in_list(run);
        std::iter::successors(link(first), move |of| link(of.next))
            .filter(move |of| of.run == run)
            .map(|of| of.note)
    }

    fn list(&self, run: u64) -> usize {
        let mask = self.heads.len().saturating_sub(1) as u64;
        usize::try_from(run & mask).unwrap_or_default()
    }
}

fn in_list(run: u64) -> u32 {
    u32::try_from(run >> LIST_BITS & u64::from(u32::MAX)).unwrap_or_default()
}
