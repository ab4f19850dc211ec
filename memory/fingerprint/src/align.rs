//! Aligns a fingerprint with a text: the best chain of lines that are in both, in the same order.

use crate::hash;
use crate::limits::PLACES_MAX;
use crate::lines::Lines;
use crate::print::Fingerprint;
use crate::source::Source;

/// The weight of a line that occurs once in the region.
const WEIGHT: u32 = 240;

/// The share of a line's weight that a line of the surroundings has.
const CONTEXT_PART: u32 = 2;

/// The cost of each line by which a gap in the text differs from the gap in the fingerprint.
const GAP_COST: u32 = 4;

/// The highest cost of a gap.
const GAP_COST_CAP: u32 = 200;

/// A line of the fingerprint at a line of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// The offset from the fingerprint's first line. Lines before it are negative.
    pub(crate) offset: i64,
    /// The line of the text.
    pub(crate) line: u32,
    pub(crate) weight: u32,
}

/// Lines of a fingerprint in a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// The points in ascending order.
    pub(crate) points: Vec<Point>,
    /// The sum of the weights without the costs of gaps.
    pub(crate) weight: u32,
}

impl Chain {
    /// Returns the first and the last point that belong to the lines themselves.
    pub(crate) fn ends(&self, print: &Fingerprint) -> Option<(Point, Point)> {
        let own = |point: &&Point| (0..i64::from(print.count)).contains(&point.offset);
        let first = self.points.iter().find(own)?;
        let last = self.points.iter().rfind(own)?;
        Some((*first, *last))
    }

    /// Returns the line of the nearest line of the surroundings on a side.
    pub(crate) fn line_at(&self, offset: i64) -> Option<u32> {
        self.points.iter().find(|point| point.offset == offset).map(|point| point.line)
    }
}

/// Returns the best chain inside a region and outside the lines in `without`.
pub(crate) fn chain(
    print: &Fingerprint,
    source: &Source<'_>,
    region: Lines,
    without: Option<Lines>,
) -> Chain {
    let mut points = points(print, source, region, without);
    points.sort_by_key(|point| (point.line, point.offset));
    // The best sum of a chain that ends at each point, and the point before it.
    let mut best: Vec<(u32, Option<usize>)> = Vec::with_capacity(points.len());
    for (at, point) in points.iter().enumerate() {
        let before = points.iter().zip(&best).take(at).enumerate();
        let reached = before
            .filter(|(_, (from, _))| from.line < point.line && from.offset < point.offset)
            .map(|(from, (it, (sum, _)))| (sum.saturating_sub(gap(it, point)), Some(from)))
            .max_by_key(|(sum, _)| *sum);
        let (sum, from) = reached.filter(|(sum, _)| *sum > 0).unwrap_or((0, None));
        best.push((sum + point.weight, from));
    }
    let mut at = best.iter().enumerate().max_by_key(|(_, (sum, _))| *sum).map(|(at, _)| at);
    let mut chain = Chain::default();
    while let Some((point, (_, from))) = at.and_then(|at| points.get(at).zip(best.get(at))) {
        chain.points.push(*point);
        chain.weight += point.weight;
        at = *from;
    }
    chain.points.reverse();
    chain
}

fn gap(from: &Point, to: &Point) -> u32 {
    let expected = u32::try_from(to.offset - from.offset).unwrap_or(u32::MAX);
    let differs = expected.abs_diff(to.line - from.line);
    differs.saturating_mul(GAP_COST).min(GAP_COST_CAP)
}

/// Returns the places of the fingerprint's lines. Lines that identify nothing count only if the
/// fingerprint has no others.
fn points(
    print: &Fingerprint,
    source: &Source<'_>,
    region: Lines,
    without: Option<Lines>,
) -> Vec<Point> {
    let any = print.telling() == 0;
    let mut points = Vec::new();
    let mut add = |offset: i64, short: u32, part: u32| {
        if short == 0 || !(any || hash::tells(short)) {
            return;
        }
        let all = source.places(short);
        let begun = all.partition_point(|line| *line < region.first);
        let within = all.get(begun..).unwrap_or_default();
        let within = within.iter().copied().take_while(|line| *line <= region.last);
        let outside = |line: &u32| {
            without.is_none_or(|without| !(without.first..=without.last).contains(line))
        };
        let there: Vec<u32> = within.filter(outside).take(PLACES_MAX + 1).collect();
        if there.len() > PLACES_MAX {
            return;
        }
        let Ok(count) = u32::try_from(there.len()) else { return };
        let weight = WEIGHT / count.max(1) / part;
        points.extend(there.into_iter().map(|line| Point { offset, line, weight }));
    };
    for (offset, short) in print.lines() {
        add(i64::from(offset), short, 1);
    }
    for (at, short) in (1_i64..).zip(&print.before) {
        add(-at, *short, CONTEXT_PART);
    }
    for (at, short) in (0_i64..).zip(&print.after) {
        add(i64::from(print.count) + at, *short, CONTEXT_PART);
    }
    points
}
