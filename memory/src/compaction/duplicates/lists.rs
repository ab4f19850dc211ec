//! Which notes have a run among their rarest: lists, of which runs with the same slot share one.

use crate::limits::DUPLICATE_LISTS_MAX;
use crate::staged::count;

/// Lists for each note, about as many as it has rare runs.
const LISTS_OF_A_NOTE: usize = 16;
/// Bits of a run that choose its list, at most. The bits above tell it from others in the list.
const LIST_BITS: u32 = 24;

/// The lists, each with the newest note first.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Where each list begins in `links`, counted from 1.
    heads: Vec<u32>,
    links: Vec<Link>,
}

/// That a note has a run.
#[derive(Debug)]
struct Link {
    /// Those bits of the run that are not its list's. Two runs that are taken for one cost a comparison.
    run: u32,
    note: u32,
    /// The next link, counted from 1.
    next: u32,
}

impl Lists {
    /// Empty lists for about so many notes.
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

    /// The notes with a run, newest first.
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
