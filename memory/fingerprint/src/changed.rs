//! Finds lines that are not as they were: by a chain of those that are left, and by name.

use std::cmp::Reverse;

use crate::align::{Chain, Point, chain};
use crate::candidate::Candidate;
use crate::hash;
use crate::limits::NAMESAKES_MAX;
use crate::lines::Lines;
use crate::outcome::Outcome;
use crate::print::{Fingerprint, Symbol};
use crate::source::Source;
use crate::symbols::Definition;

/// The shares of lines that must be left, in thousandths. They are for lines without a name, a part
/// of a named definition, and a whole one elsewhere.
const LEFT_UNNAMED: u32 = 560;
const LEFT_PART: u32 = 400;
const LEFT_ELSEWHERE: u32 = 400;

/// The share that must be left of lines without a name in another file.
const LEFT_UNNAMED_ELSEWHERE: u32 = 800;

/// The shares that must be left of a whole definition: of one whose name is there several times,
/// and of a long one.
const LEFT_NAMESAKE: u32 = 250;
const LEFT_LONG: u32 = 200;

/// The number of lines that identify something from which a definition is long.
const TELLING_LONG: usize = 8;

/// The share of lines, in percent, that may be new in a place without the name.
const NEW_UNNAMED: u8 = 50;

/// The share that may be new in another file, and in a place that is far longer than it was.
const NEW_ELSEWHERE: u8 = 60;
const NEW_NAMED: u8 = 60;

/// The number of lines that identify something without which lines are recognised by name alone.
const TELLING_MIN: usize = 3;

/// The lines above and below a definition that belong to its surroundings.
const AROUND: u32 = 12;

/// The score by which a place must be above every other one.
const MARGIN: u32 = 100;

/// Finds the lines in a text that does not have all of them.
pub(crate) fn changed(print: &Fingerprint, source: &Source<'_>, is_home: bool) -> Outcome {
    let mut places = Vec::new();
    let whole = Lines { first: 1, last: source.count() };
    let best = chain(print, source, whole, None);
    let next = best.ends(print).map(|(first, last)| Lines { first: first.line, last: last.line });
    let next = next.map(|there| chain(print, source, whole, Some(there)));
    for definition in namesakes(print, source) {
        let around = Lines {
            first: definition.lines.first.saturating_sub(AROUND).max(1),
            last: definition.lines.last.saturating_add(AROUND),
        };
        places.extend(place(print, source, &chain(print, source, around, None), Some(definition)));
    }
    let named: Vec<Lines> = places
        .iter()
        .filter(|it| it.has_path && is_enough(print, source, it, is_home))
        .map(|it| it.lines)
        .collect();
    for chain in [Some(best), next].into_iter().flatten() {
        let place = place(print, source, &chain, None);
        // Lines that went from a function into the next are in both; the name decides.
        places.extend(place.filter(|it| !named.iter().any(|lines| lines.overlaps(it.lines))));
    }
    places.sort_by_key(|it| Reverse(it.score()));
    let enough = places.iter().find(|it| is_enough(print, source, it, is_home));
    let Some(best) = enough else { return Outcome::Gone };
    let rival = places.iter().find(|it| !it.lines.overlaps(best.lines));
    // A copy under another name is not what the lines became.
    if print.is_at(source, best.lines.first) {
        return Outcome::Unsure;
    }
    if rival.is_some_and(|it| it.score() + MARGIN > best.score()) {
        return Outcome::Unsure;
    }
    Outcome::Changed { lines: best.lines, percent: percent(print, source, best.lines) }
}

/// Returns whether enough is left of the lines at a place.
fn is_enough(print: &Fingerprint, source: &Source<'_>, it: &Candidate, is_home: bool) -> bool {
    let telling = print.telling() >= TELLING_MIN;
    let Some(symbol) = print.symbol.filter(|_| it.has_name) else {
        let left = if is_home { LEFT_UNNAMED } else { LEFT_UNNAMED_ELSEWHERE };
        return telling && it.kept >= left && percent(print, source, it.lines) <= NEW_UNNAMED;
    };
    if symbol.lead.is_none() {
        return it.kept >= LEFT_PART && (telling || it.has_path);
    }
    let new = percent(print, source, it.lines);
    if new > NEW_NAMED && it.lines.count() > 3 * print.count + 10 {
        return false;
    }
    if !is_home {
        let left = if it.has_path { LEFT_ELSEWHERE } else { LEFT_UNNAMED_ELSEWHERE };
        return telling && it.kept >= left && new <= NEW_ELSEWHERE;
    }
    if print.telling() >= TELLING_LONG && it.kept < LEFT_LONG {
        return false;
    }
    let alike = |other: &&Definition| other.kind == symbol.kind && other.path == symbol.path;
    it.has_path && source.definitions().iter().filter(alike).count() == 1
        || it.kept >= LEFT_NAMESAKE
}

/// Returns the definitions that have the fingerprint's name. Those with the same names around them
/// come first.
fn namesakes<'a>(print: &Fingerprint, source: &'a Source<'_>) -> Vec<&'a Definition> {
    let Some(symbol) = print.symbol else { return Vec::new() };
    let alike = |it: &&Definition| it.kind == symbol.kind && it.name == symbol.name;
    let mut found: Vec<&Definition> = source.definitions().iter().filter(alike).collect();
    found.sort_by_key(|it| it.path != symbol.path);
    found.truncate(NAMESAKES_MAX);
    found
}

/// Returns the place that a chain describes. `None` if no line of the fingerprint is in it, unless
/// a definition is given.
fn place(
    print: &Fingerprint,
    source: &Source<'_>,
    chain: &Chain,
    definition: Option<&Definition>,
) -> Option<Candidate> {
    let ends = chain.ends(print);
    let symbol = print.symbol.filter(|it| it.lead.is_some());
    let around = definition.or_else(|| {
        let (first, last) = ends?;
        let there = Lines { first: first.line, last: last.line };
        let all = source.definitions().iter();
        let symbol = symbol?;
        let holds = |it: &&Definition| it.kind == symbol.kind && it.lines.contains(there);
        all.filter(holds).min_by_key(|it| it.lines.count())
    });
    let lines = match (ends, symbol.zip(around)) {
        (None, None) => return None,
        // No line is left but the name.
        (None, Some((_, around))) => around.lines,
        (Some((first, last)), None) => Lines {
            first: first_line(print, source, chain, first),
            last: last_line(print, source, chain, last),
        },
        (Some((first, last)), Some((symbol, around))) => Lines {
            first: head(print, source, chain, first, symbol, around),
            last: foot(print, source, last, around),
        },
    };
    let kept = kept(print, source, lines);
    Some(Candidate::new(print, source, lines, kept))
}

/// Returns the first line of a place that is a whole definition. Lines above its head count only
/// if the fingerprint has such lines, and only below the definition before it.
fn head(
    print: &Fingerprint,
    source: &Source<'_>,
    chain: &Chain,
    point: Point,
    symbol: Symbol,
    around: &Definition,
) -> u32 {
    let head = around.lines.first;
    let lead = u32::from(symbol.lead.unwrap_or_default());
    if lead == 0 {
        return head;
    }
    let ended = source.definitions().iter().map(|it| it.lines.last).filter(|last| *last < head);
    let above = ended.max().unwrap_or_default().max(head.saturating_sub(2 * lead + 1));
    let first = first_line(print, source, chain, point);
    let written = |line: &u32| source.short(*line) != 0;
    let unbroken = || (head.saturating_sub(lead)..head).rev().take_while(written).last();
    let first = if first < head { first } else { unbroken().unwrap_or(head) };
    first.clamp(above + 1, head)
}

/// Returns the last line of a place that is a whole definition. Lines below its end count only if
/// they are left and no other definition begins before them, since an end is found by a rule.
fn foot(print: &Fingerprint, source: &Source<'_>, point: Point, around: &Definition) -> u32 {
    let last = downwards(print, source, point);
    let end = around.lines.last;
    let begins = |it: &Definition| end < it.lines.first && it.lines.first <= last.line;
    if last.line > end && source.definitions().iter().any(begins) {
        end
    } else {
        end.max(last.line)
    }
}

/// Returns the first line of a place that is no whole definition: the fingerprint's own first line,
/// or the one after its surroundings. Else only what is certain: the first line that is left.
fn first_line(print: &Fingerprint, source: &Source<'_>, chain: &Chain, point: Point) -> u32 {
    let first = upwards(print, source, point);
    if first.offset == 0 {
        return first.line;
    }
    let begins = print.before.is_empty().then_some(0);
    let above = chain.line_at(-1).or(begins).filter(|above| *above < first.line);
    let below = above.map(|above| {
        (above + 1..first.line).find(|line| source.short(*line) != 0).unwrap_or(first.line)
    });
    let near = |line: &u32| i64::from(first.line - line) <= 2 * first.offset + 4;
    below.filter(near).unwrap_or(first.line)
}

/// Returns the last line of a place, as [`first_line`] does.
fn last_line(print: &Fingerprint, source: &Source<'_>, chain: &Chain, point: Point) -> u32 {
    let last = downwards(print, source, point);
    let end = i64::from(print.count) - 1;
    if last.offset == end {
        return last.line;
    }
    let ends = print.after.is_empty().then_some(source.count() + 1);
    let below = chain.line_at(end + 1).or(ends).filter(|below| *below > last.line);
    let above = below.map(|below| {
        (last.line + 1..below).rev().find(|line| source.short(*line) != 0).unwrap_or(last.line)
    });
    let near = |line: &u32| i64::from(line - last.line) <= 2 * (end - last.offset) + 4;
    above.filter(near).unwrap_or(last.line)
}

/// Follows lines upwards that are as they were.
fn upwards(print: &Fingerprint, source: &Source<'_>, from: Point) -> Point {
    let mut at = from;
    let mut hashes = print.lines().collect::<Vec<_>>().into_iter().rev();
    hashes.find(|(offset, _)| i64::from(*offset) == from.offset);
    for (offset, short) in hashes {
        let line = at.line.saturating_sub(1);
        if i64::from(offset) + 1 != at.offset || line == 0 || source.short(line) != short {
            break;
        }
        at = Point { offset: i64::from(offset), line, ..at };
    }
    at
}

/// Follows lines downwards that are as they were.
fn downwards(print: &Fingerprint, source: &Source<'_>, from: Point) -> Point {
    let mut at = from;
    let mut hashes = print.lines();
    hashes.find(|(offset, _)| i64::from(*offset) == from.offset);
    for (offset, short) in hashes {
        let line = at.line.saturating_add(1);
        if i64::from(offset) != at.offset + 1
            || line > source.count()
            || source.short(line) != short
        {
            break;
        }
        at = Point { offset: i64::from(offset), line, ..at };
    }
    at
}

/// Returns the share of the fingerprint's lines that are left, in thousandths. Lines that identify
/// nothing count only if there are no others.
fn kept(print: &Fingerprint, source: &Source<'_>, lines: Lines) -> u32 {
    let any = print.telling() == 0;
    let counts = |short: &u32| *short != 0 && (any || hash::tells(*short));
    let was: Vec<u32> = print.hashes.iter().copied().filter(counts).collect();
    let is: Vec<u32> = shorts(source, lines).filter(counts).collect();
    part(common(&was, &is), was.len())
}

/// Returns the share of lines with text that are new or gone, in percent.
fn percent(print: &Fingerprint, source: &Source<'_>, lines: Lines) -> u8 {
    let has_text = |short: &u32| *short != 0;
    let was: Vec<u32> = print.hashes.iter().copied().filter(has_text).collect();
    let is: Vec<u32> = shorts(source, lines).filter(has_text).collect();
    let common = common(&was, &is);
    let gone = 1000 - part(common, was.len());
    // Of a long range only a sample is known, so that new lines show by the number alone.
    let known = if print.has_all() { common } else { is.len().min(usize_of(print.count)) };
    let new = 1000 - part(known, is.len());
    u8::try_from((gone.max(new) / 10).clamp(1, 100)).unwrap_or(100)
}

fn shorts<'a>(source: &'a Source<'_>, lines: Lines) -> impl Iterator<Item = u32> + 'a {
    (lines.first..=lines.last).map(|line| source.short(line))
}

fn part(some: usize, all: usize) -> u32 {
    u32::try_from(some * 1000 / all.max(1)).unwrap_or(1000).min(1000)
}

fn usize_of(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Returns the length of the longest common subsequence.
fn common(was: &[u32], is: &[u32]) -> usize {
    let mut row = vec![0_usize; was.len()];
    for there in is {
        let mut diagonal = 0;
        let mut left = 0;
        for (cell, here) in row.iter_mut().zip(was) {
            let above = *cell;
            *cell = if here == there { diagonal + 1 } else { above.max(left) };
            diagonal = above;
            left = *cell;
        }
    }
    row.last().copied().unwrap_or_default()
}
