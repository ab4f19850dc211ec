//! Finds the lines of a fingerprint in a text: as they were, or changed.

use std::cmp::Reverse;

use crate::candidate::Candidate;
use crate::changed::changed;
use crate::limits::COPIES_MAX;
use crate::lines::Lines;
use crate::outcome::Outcome;
use crate::print::Fingerprint;
use crate::source::Source;

/// The score by which a place must be above every other one.
const MARGIN: u32 = 80;

/// Finds the lines in the text in which they began at line `first`.
pub fn check(print: &Fingerprint, first: u32, source: &Source<'_>) -> Outcome {
    unchanged(print, source, Some(first)).unwrap_or_else(|| changed(print, source, true))
}

/// Finds the lines in a text in which they did not stand. They are never fresh there.
pub fn search(print: &Fingerprint, source: &Source<'_>) -> Outcome {
    unchanged(print, source, None).unwrap_or_else(|| changed(print, source, false))
}

/// Finds the lines as they were. Returns `None` if they are nowhere, or if only lines with the same
/// text are there and the definition with their name differs.
fn unchanged(print: &Fingerprint, source: &Source<'_>, first: Option<u32>) -> Option<Outcome> {
    let copies = copies(print, source);
    let copy = |first: u32| {
        let lines = Lines { first, last: first.saturating_add(print.count - 1) };
        Candidate::new(print, source, lines, 1000)
    };
    let mut copies: Vec<Candidate> = copies.into_iter().map(copy).collect();
    copies.sort_by_key(|it| {
        Reverse((it.score(), Reverse(it.lines.first.abs_diff(first.unwrap_or_default()))))
    });
    let best = copies.first()?;
    if !best.has_path && has_namesake(print, source, &copies) {
        return None;
    }
    let here = copies.iter().find(|it| Some(it.lines.first) == first);
    let others = || copies.iter().filter(|it| Some(it.lines.first) != first);
    let most = others().map(Candidate::score).max().unwrap_or_default();
    if let Some(here) = here {
        let stands_out =
            here.score() >= most + MARGIN || here.is_as_it_was(print) && here.score() >= most;
        if here.is_certain(print) && stands_out {
            return Some(Outcome::Fresh);
        }
    }
    let next = copies.get(1).map_or(0, Candidate::score);
    let moved = Some(best.lines.first) != first
        && best.is_certain_elsewhere(print)
        && (copies.len() == 1 || best.score() >= next + MARGIN);
    Some(if moved { Outcome::Moved(best.lines) } else { Outcome::Unsure })
}

/// Returns whether a definition with all names of the fingerprint's is at no copy.
fn has_namesake(print: &Fingerprint, source: &Source<'_>, copies: &[Candidate]) -> bool {
    let Some(symbol) = &print.symbol else { return false };
    source.definitions().iter().any(|it| {
        it.kind == symbol.kind
            && it.path == symbol.path
            && copies.iter().all(|copy| !copy.lines.overlaps(it.lines))
    })
}

/// Returns the first lines of the places at which all lines are as they were.
fn copies(print: &Fingerprint, source: &Source<'_>) -> Vec<u32> {
    let rarest = print.lines().filter(|(_, short)| *short != 0);
    let Some((offset, short)) = rarest.min_by_key(|(_, short)| source.places(*short).len()) else {
        return Vec::new();
    };
    let firsts = source.places(short).iter().filter_map(|line| line.checked_sub(offset));
    firsts.filter(|first| *first > 0 && print.is_at(source, *first)).take(COPIES_MAX).collect()
}
