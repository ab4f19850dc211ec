//! The truth about functions: each line followed through every commit, and the parser's ranges.

use std::collections::HashMap;

use anchord_fingerprint::Lines;
use anchord_outline::{Item, Language, languages};
use anyhow::Result;
use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::repository::{Change, Repository};

/// The share of lines in percent that must be equal in a function that was moved.
const MOVED_MIN: usize = 60;

/// A function that is followed.
pub(super) struct Tracked {
    pub(super) path: String,
    pub(super) name: String,
    /// The lines with text that it had: each one's text, and where it is now.
    lines: Vec<(String, Option<u32>)>,
}

/// The place of a function at a commit.
pub(super) struct Truth {
    pub(super) path: String,
    /// The lines that the parser gives.
    pub(super) lines: Lines,
    /// The lines that are left of the beginning.
    left: Vec<u32>,
    /// Whether all lines are left and there are no others.
    pub(super) is_whole: bool,
}

impl Truth {
    /// Returns whether lines are right: none is outside the function, and they have at least nine
    /// tenths of the lines that are left.
    pub(super) fn is_right(&self, place: Option<(&str, Lines)>) -> bool {
        place.is_some_and(|(path, given)| {
            let inside = self.lines.first <= given.first && given.last <= self.lines.last;
            let has = |line: &&u32| (given.first..=given.last).contains(line);
            path == self.path
                && inside
                && self.left.iter().filter(has).count() * 10 >= self.left.len() * 9
        })
    }
}

impl Tracked {
    pub(super) fn new(path: &str, text: &str, at: Lines, name: &str) -> Self {
        let numbered = (1_u32..).zip(text.lines());
        let own = numbered.filter(|(line, _)| (at.first..=at.last).contains(line));
        let lines = own.map(|(line, text)| (normal(text), Some(line)));
        Self {
            path: path.to_owned(),
            name: name.to_owned(),
            lines: lines.filter(|(text, _)| !text.is_empty()).collect(),
        }
    }

    /// Returns where the function is in the text of its file. `None` if no function has its name
    /// and some of its lines, and none has half of its lines.
    pub(super) fn truth(&self, text: &str) -> Option<Truth> {
        let left: Vec<u32> = self.telling().filter_map(|(_, line)| *line).collect();
        let items = functions(&self.path, text);
        let held = |item: &Item| {
            left.iter().filter(|line| (item.first..=item.last).contains(line)).count()
        };
        let item = items
            .iter()
            .filter(|item| held(item) > 0)
            .max_by_key(|item| (held(item), std::cmp::Reverse(item.last - item.first)))?;
        let is_it = item.name == self.name || held(item) * 2 >= self.telling().count();
        let now: Vec<String> = text.lines().map(normal).collect();
        let range = usize::try_from(item.first - 1).ok()?..usize::try_from(item.last).ok()?;
        let now = now.get(range)?.iter().filter(|line| !line.is_empty());
        is_it.then(|| Truth {
            path: self.path.clone(),
            lines: Lines { first: item.first, last: item.last },
            left: left.into_iter().filter(|line| (item.first..=item.last).contains(line)).collect(),
            is_whole: now.eq(self.lines.iter().map(|(text, _)| text)),
        })
    }

    /// Returns the lines that have more than brackets.
    fn telling(&self) -> impl Iterator<Item = &(String, Option<u32>)> {
        self.lines.iter().filter(|(text, _)| tells(text))
    }
}

/// Follows functions through one commit.
pub(super) fn follow(
    repository: &mut Repository,
    changes: &[Change],
    tracked: &mut [&mut Tracked],
) -> Result<()> {
    let mut maps: HashMap<usize, Vec<Option<u32>>> = HashMap::new();
    for it in tracked {
        let touched = |change: &&(usize, &Change)| {
            change.1.old.as_ref().is_some_and(|(path, _)| *path == it.path)
        };
        let Some((at, change)) =
            changes.iter().enumerate().collect::<Vec<_>>().iter().find(touched).copied()
        else {
            continue;
        };
        let Some((_, old)) = &change.old else { continue };
        let old = repository.text(old)?.unwrap_or_default();
        let new = match &change.new {
            Some((_, blob)) => repository.text(blob)?.unwrap_or_default(),
            None => String::new(),
        };
        let map = maps.entry(at).or_insert_with(|| mapped(&old, &new));
        let there = |line: u32| map.get(usize::try_from(line - 1).ok()?).copied().flatten();
        let before: Vec<Option<u32>> = it.lines.iter().map(|(_, line)| *line).collect();
        let after: Vec<Option<u32>> = before.iter().map(|line| line.and_then(there)).collect();
        let count = |lines: &[Option<u32>]| lines.iter().flatten().count();
        if count(&after) * 2 < count(&before)
            && let Some((path, lines)) = moved(repository, changes, it, &old)?
        {
            it.path = path;
            it.lines.iter_mut().zip(lines).for_each(|((_, line), now)| *line = now);
            continue;
        }
        if let Some((path, _)) = &change.new {
            it.path.clone_from(path);
        }
        it.lines.iter_mut().zip(after).for_each(|((_, line), now)| *line = now);
    }
    Ok(())
}

/// Finds the function that a commit added and that has most of a followed function's lines.
fn moved(
    repository: &mut Repository,
    changes: &[Change],
    it: &Tracked,
    old: &str,
) -> Result<Option<(String, Vec<Option<u32>>)>> {
    let texts: Vec<String> = old.lines().map(normal).collect();
    let text_at = |line: u32| texts.get(usize::try_from(line - 1).ok()?);
    let was: Vec<String> =
        it.lines.iter().filter_map(|(_, line)| line.and_then(text_at).cloned()).collect();
    let mut best: Option<(usize, String, u32, Vec<String>)> = None;
    for change in changes {
        let Some((path, blob)) = &change.new else { continue };
        let Some(new) = repository.text(blob)? else { continue };
        let before = match &change.old {
            Some((_, blob)) => repository.text(blob)?.unwrap_or_default(),
            None => String::new(),
        };
        let known: Vec<Vec<String>> =
            functions(path, &before).iter().map(|item| of_item(&before, item)).collect();
        for item in functions(path, &new) {
            let is = of_item(&new, &item);
            if known.contains(&is) || is.len() > 3 * was.len() + 9 {
                continue;
            }
            let equal = equal(&was, &is);
            let share = equal * 100 / was.len().max(1);
            if share >= MOVED_MIN && best.as_ref().is_none_or(|(most, ..)| share > *most) {
                best = Some((share, path.clone(), item.first, is));
            }
        }
    }
    Ok(best.map(|(_, path, first, is)| {
        let map = map_lines(&was, &is);
        let mut at = map.into_iter();
        let now = it.lines.iter().map(|(_, line)| {
            line.and_then(text_at)?;
            at.next().flatten().map(|line| first + line - 1)
        });
        (path, now.collect())
    }))
}

/// Returns a function's lines, also those without text.
fn of_item(text: &str, item: &Item) -> Vec<String> {
    let numbered = (1_u32..).zip(text.lines());
    let own = numbered.filter(|(line, _)| (item.first..=item.last).contains(line));
    own.map(|(_, line)| normal(line)).collect()
}

/// Returns the functions of a file.
pub(super) fn functions(path: &str, text: &str) -> Vec<Item> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(language) = Language::of_file(name, text) else { return Vec::new() };
    let mut items = languages::parse(language, text).items;
    items.retain(|item| item.kind.is_function());
    items
}

/// Returns the line of the new text for each line of the old one that is in both.
pub(super) fn mapped(old: &str, new: &str) -> Vec<Option<u32>> {
    let old: Vec<String> = old.lines().map(normal).collect();
    let new: Vec<String> = new.lines().map(normal).collect();
    map_lines(&old, &new)
}

fn map_lines(old: &[String], new: &[String]) -> Vec<Option<u32>> {
    let mut map = vec![None; old.len()];
    for change in capture_diff_slices(Algorithm::Patience, old, new) {
        if change.tag() == DiffTag::Equal {
            for (from, to) in change.old_range().zip(change.new_range()) {
                if let Some(line) = map.get_mut(from) {
                    *line = u32::try_from(to + 1).ok();
                }
            }
        }
    }
    map
}

fn equal(old: &[String], new: &[String]) -> usize {
    let equal = map_lines(old, new);
    equal.iter().zip(old).filter(|(line, text)| line.is_some() && tells(text)).count() * old.len()
        / old.iter().filter(|text| tells(text)).count().max(1)
}

fn tells(line: &str) -> bool {
    line.chars().filter(|char| char.is_alphanumeric()).count() > 2
}

/// Returns a line without the white space that makes no difference.
fn normal(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
