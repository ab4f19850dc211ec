//! Anchors on the history of a git repository: how many are right after many commits.
//!
//! Anchors are placed on random functions at a commit. What became of each is followed commit by
//! commit, with git's own list of changed files and a difference of each file. That is the truth
//! with which three answers are compared. The fingerprint knows only the two ends. The others are
//! the line number, and one difference between the two ends. A merge counts as one commit.

mod repository;
#[cfg(test)]
mod tests;
mod truth;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anchord_fingerprint::{Fingerprint, Lines, Outcome, Source, check, nearby, search};
use anyhow::{Context, Result, bail, ensure};

use repository::Repository;
use truth::{Tracked, Truth, functions, mapped};

/// The numbers of commits after which anchors are checked.
const DISTANCES: [usize; 3] = [50, 200, 1_000];

/// The number of functions that get an anchor.
const ANCHORS: usize = 200;

/// The fewest lines of a function that gets an anchor.
const LINES_MIN: u32 = 3;

/// The files in which lines are looked for that are not in their own.
const CANDIDATES: usize = 200;

/// The share of new lines in percent from which other files are looked at too.
const CHANGED_MUCH: u8 = 60;

/// The arguments of a measurement.
struct Arguments<'a> {
    directory: &'a str,
    seed: u64,
    anchors: usize,
    shows: bool,
}

/// Prints a row for each number of commits.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Arguments { directory, seed, anchors, shows } = parse(arguments)?;
    let mut repository = Repository::open(Path::new(directory))?;
    println!("seed {seed}\n\n{}", Score::head());
    for (commits, score) in measure(&mut repository, &DISTANCES, anchors, seed)? {
        println!("| {commits} | {score} |");
        for line in score.wrong.iter().filter(|_| shows) {
            println!("  {line}");
        }
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Arguments<'_>> {
    let mut parsed = Arguments { directory: "", seed: 1, anchors: ANCHORS, shows: false };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--history" => parsed.directory = value()?,
            "--seed" => parsed.seed = value()?.parse()?,
            "--anchors" => parsed.anchors = value()?.parse()?,
            "--wrong" => parsed.shows = true,
            _ => bail!("unknown argument {word:?}"),
        }
    }
    ensure!(!parsed.directory.is_empty(), "name a git repository with --history DIR");
    Ok(parsed)
}

/// Places anchors for each distance as many commits before the newest, and scores them there.
fn measure(
    repository: &mut Repository,
    distances: &[usize],
    anchors: usize,
    seed: u64,
) -> Result<Vec<(usize, Score)>> {
    let far = distances.iter().copied().max().unwrap_or_default();
    let commits = repository.commits(far)?;
    ensure!(commits.len() > far, "the repository has only {} commits", commits.len());
    let (beginning, later) = commits.split_first().context("there are commits")?;
    let mut placed = place(repository, beginning, anchors, seed)?;
    let mut scores = Vec::new();
    for (number, commit) in (1..).zip(later) {
        let changes = repository.changes(commit)?;
        let mut tracked: Vec<&mut Tracked> = placed.iter_mut().map(|it| &mut it.tracked).collect();
        truth::follow(repository, &changes, &mut tracked)?;
        if distances.contains(&number) {
            scores.push((number, score(repository, commit, &placed)?));
        }
    }
    Ok(scores)
}

/// An anchor: its place at the beginning, and what is known of it.
struct Placed {
    path: String,
    lines: Lines,
    text: String,
    print: Fingerprint,
    tracked: Tracked,
}

/// Chooses functions at random and takes their fingerprints.
fn place(
    repository: &mut Repository,
    commit: &str,
    anchors: usize,
    seed: u64,
) -> Result<Vec<Placed>> {
    let mut all = Vec::new();
    for (path, blob) in repository.tree(commit)? {
        let Some(text) = repository.text(&blob)? else { continue };
        for item in functions(&path, &text) {
            if item.last - item.first + 1 >= LINES_MIN {
                all.push((path.clone(), blob.clone(), item));
            }
        }
    }
    let mut random = Random(seed);
    let mut placed = Vec::new();
    while placed.len() < anchors && !all.is_empty() {
        let (path, blob, item) = all.swap_remove(random.below(all.len()));
        let text = repository.text(&blob)?.context("it was read before")?;
        let lines = Lines { first: item.first, last: item.last };
        let print = Fingerprint::capture(&Source::new(&text), lines).context("it has lines")?;
        let tracked = Tracked::new(&path, &text, lines, &item.name);
        placed.push(Placed { path, lines, text, print, tracked });
    }
    Ok(placed)
}

fn score(repository: &mut Repository, commit: &str, placed: &[Placed]) -> Result<Score> {
    let tree = repository.tree(commit)?;
    let mut score = Score::default();
    for anchor in placed {
        let truth = match tree.get(&anchor.tracked.path) {
            Some(blob) => {
                let text = repository.text(blob)?.unwrap_or_default();
                anchor.tracked.truth(&text)
            }
            None => None,
        };
        let (answer, place) = answer(repository, &tree, anchor)?;
        let home = match tree.get(&anchor.path) {
            Some(blob) => repository.text(blob)?,
            None => None,
        };
        let by_number = Some((anchor.path.as_str(), anchor.lines));
        let by_difference = home.and_then(|text| {
            Some((anchor.path.as_str(), difference(&anchor.text, &text, anchor.lines)?))
        });
        score.add(
            anchor,
            truth.as_ref(),
            answer,
            place.as_ref().map(|(path, lines)| (path.as_str(), *lines)),
        );
        if let Some(truth) = &truth {
            score.number += usize::from(truth.is_right(by_number));
            score.difference += usize::from(truth.is_right(by_difference));
        }
    }
    Ok(score)
}

/// Returns the fingerprint's answer at a commit, as the daemon finds it.
fn answer(
    repository: &mut Repository,
    tree: &BTreeMap<String, String>,
    anchor: &Placed,
) -> Result<(Outcome, Option<(String, Lines)>)> {
    let mut best = Outcome::Gone;
    let mut at = anchor.path.clone();
    if let Some(blob) = tree.get(&anchor.path)
        && let Some(text) = repository.text(blob)?
    {
        best = check(&anchor.print, anchor.lines.first, &Source::new(&text));
    }
    if !best.is_settled(CHANGED_MUCH) {
        for path in nearby(&anchor.path, tree.keys().map(String::as_str), CANDIDATES) {
            let Some(text) =
                tree.get(path).map(|blob| repository.text(blob)).transpose()?.flatten()
            else {
                continue;
            };
            let there = search(&anchor.print, &Source::new(&text));
            if there.is_better_than(best) {
                (best, at) = (there, path.to_owned());
            }
        }
    }
    let place = match best {
        Outcome::Fresh => Some(anchor.lines),
        Outcome::Moved(lines) | Outcome::Changed { lines, .. } => Some(lines),
        Outcome::Gone | Outcome::Unsure => None,
    };
    Ok((best, place.map(|lines| (at, lines))))
}

/// Returns the lines that one difference between two texts gives, from the first to the last that
/// is in both.
fn difference(old: &str, new: &str, lines: Lines) -> Option<Lines> {
    let mapped = mapped(old, new);
    let there = |line: u32| *mapped.get(usize::try_from(line - 1).ok()?)?;
    let mut kept = (lines.first..=lines.last).filter_map(there);
    let first = kept.next()?;
    Some(Lines { first, last: kept.next_back().unwrap_or(first) })
}

/// Numbers of anchors at one distance.
#[derive(Default)]
struct Score {
    anchors: usize,
    exists: usize,
    right: usize,
    honest: usize,
    wrong_lines: usize,
    wrongly_fresh: usize,
    number: usize,
    difference: usize,
    states: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Score {
    fn head() -> &'static str {
        "| commits | anchors | code exists | right | honestly marked | wrong lines | wrongly fresh \
         | line number right | difference right | states |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    }

    fn add(
        &mut self,
        anchor: &Placed,
        truth: Option<&Truth>,
        answer: Outcome,
        place: Option<(&str, Lines)>,
    ) {
        let state = match answer {
            Outcome::Fresh => "fresh",
            Outcome::Moved(_) => "moved",
            Outcome::Changed { .. } => "changed",
            Outcome::Gone => "gone",
            Outcome::Unsure => "unsure",
        };
        *self.states.entry(state).or_default() += 1;
        self.anchors += 1;
        self.exists += usize::from(truth.is_some());
        let is_right = truth.is_some_and(|truth| truth.is_right(place));
        let is_fresh = answer == Outcome::Fresh;
        let is_same = truth.is_some_and(|truth| truth.lines == anchor.lines && truth.is_whole);
        self.right += usize::from(is_right);
        self.honest += usize::from(place.is_none());
        self.wrongly_fresh += usize::from(is_fresh && !(is_right && is_same));
        self.wrong_lines += usize::from(place.is_some() && !is_right);
        if place.is_none() && truth.is_some() || place.is_some() && !is_right {
            let Lines { first, last } = anchor.lines;
            let truth = truth.map(|it| format!("{} {}-{}", it.path, it.lines.first, it.lines.last));
            let path = place.map_or("", |(path, _)| path);
            self.wrong.push(format!(
                "{} {} {first}-{last}: is at {truth:?}, answer {answer:?} {path}",
                anchor.path, anchor.tracked.name
            ));
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |count: usize| {
            let tenths = count * 1000 / self.exists.max(1);
            format!("{count} ({}.{} %)", tenths / 10, tenths % 10)
        };
        write!(
            f,
            "{} | {} | {} | {} | {} | {} | {} | {} | {:?}",
            self.anchors,
            self.exists,
            share(self.right),
            self.honest,
            self.wrong_lines,
            self.wrongly_fresh,
            share(self.number),
            share(self.difference),
            self.states
        )
    }
}

/// Numbers that look random and are the same for a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ it >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ it >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^= it >> 31;
        usize::try_from(it % u64::try_from(end.max(1)).unwrap_or(1)).unwrap_or_default()
    }
}
