//! Checks anchors against files: whether their code is unchanged, has moved, changed, or is gone.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use anchord_memory::fingerprint::{Fingerprint, Lines, Outcome, Source, check, nearby, search};
use anchord_memory::lines::LineRange;
use anchord_memory::{AnchorState, RecordId, Staleness};

use super::known::{Elsewhere, FoundElsewhere, KnownFile, KnownFiles, KnownOutcome};
use super::{CheckedCode, NamedFiles, Unprinted, Wanted};
use crate::clock;
use crate::limits::{
    ANCHOR_CANDIDATES_MAX, ANCHOR_CHANGED_PERCENT_MAX, ANCHOR_GONE_FOR, ANCHOR_LIST_FOR,
    ANCHOR_STAMP_AGE,
};
use crate::projects::{FileRead, FileRefusal, ProjectFiles};

/// The number of lines of a file.
#[derive(Clone, Copy, Debug)]
enum LineCount {
    NoFile,
    Lines(u32),
}

/// One check of a project's anchors.
pub(super) struct AnchorCheck<'a> {
    pub(super) files: &'a ProjectFiles,
    pub(super) repository: Option<&'a Path>,
    /// The time at which it ends.
    pub(super) until: Instant,
    pub(super) known: KnownFiles,
}

impl AnchorCheck<'_> {
    /// Returns the state of each anchor.
    pub(super) fn all(&mut self, wanted: &[Wanted]) -> Vec<CheckedCode> {
        let mut files: BTreeMap<&str, Vec<&Wanted>> = BTreeMap::new();
        for it in wanted {
            files.entry(&it.file).or_default().push(it);
        }
        let mut seen = Vec::with_capacity(wanted.len());
        for (file, wanted) in files {
            seen.extend(self.file(file, &wanted));
        }
        seen
    }

    /// Returns the states of anchors without a fingerprint. An anchor whose lines all exist has no
    /// state, since its code may differ.
    pub(super) fn unprinted(&mut self, wanted: &[Unprinted]) -> Vec<CheckedCode> {
        let mut counts: HashMap<&str, Option<LineCount>> = HashMap::new();
        let mut seen = Vec::new();
        for it in wanted {
            let count = *counts.entry(&it.file).or_insert_with(|| self.line_count(&it.file));
            seen.extend(match count {
                None => Some(it.seen(AnchorState::Unchecked)),
                Some(LineCount::NoFile) => Some(it.seen(AnchorState::Gone)),
                Some(LineCount::Lines(count)) => it.among(count),
            });
        }
        seen
    }

    /// Returns how many lines a file has; `None` if it could not be looked at, or not in time.
    fn line_count(&mut self, file: &str) -> Option<LineCount> {
        let known = self.current(file)?;
        let count = match known.digest {
            0 => LineCount::NoFile,
            _ => LineCount::Lines(known.lines),
        };
        self.known.files.insert(file.to_owned(), known);
        Some(count)
    }

    /// Returns what became of the files that each record names.
    pub(super) fn files(&mut self, named: &[NamedFiles]) -> Vec<(RecordId, Staleness)> {
        let mut digests: HashMap<&str, Option<u64>> = HashMap::new();
        let mut found = Vec::with_capacity(named.len());
        for it in named {
            let mut staleness = Staleness::default();
            for (file, digest) in &it.digests {
                let now = *digests.entry(file).or_insert_with(|| self.digest(file));
                match now {
                    None => staleness.unchecked += 1,
                    Some(now) if now != *digest => staleness.changed += 1,
                    Some(_) => {}
                }
            }
            found.push((it.id, staleness));
        }
        found
    }

    /// Returns the digest of a file's content, which is zero if it is missing; `None` if it could
    /// not be looked at, or not in time.
    fn digest(&mut self, file: &str) -> Option<u64> {
        let known = self.current(file)?;
        let digest = known.digest;
        self.known.files.insert(file.to_owned(), known);
        Some(digest)
    }

    fn is_over(&self) -> bool {
        clock::start() >= self.until
    }

    /// Returns the states of the anchors of one file.
    fn file(&mut self, file: &str, wanted: &[&Wanted]) -> Vec<CheckedCode> {
        let unchecked = || wanted.iter().map(|it| it.unchecked()).collect();
        let Some(mut known) = self.current(file) else { return unchecked() };
        let has = |it: &&&Wanted| !known.outcomes.contains_key(&(it.id, it.version));
        if known.digest != 0 && wanted.iter().any(|it| has(&it)) && !self.read(file, &mut known) {
            return unchecked();
        }
        if known.digest != 0 {
            self.compare(file, &mut known, wanted);
        }
        self.elsewhere(file, &mut known, wanted);
        let seen = wanted.iter().map(|it| known.seen(it)).collect();
        self.known.files.insert(file.to_owned(), known);
        seen
    }

    /// Takes out what is known of a file, and brings it up to date. Returns `None` if the file
    /// cannot be read, or not in time. Nothing is known of it then.
    fn current(&mut self, file: &str) -> Option<KnownFile> {
        if self.is_over() {
            return None;
        }
        let mut known = self.known.files.remove(file).unwrap_or_default();
        match self.files.stamp(file.as_ref()) {
            Ok(stamp) if known.stamp == Some(stamp) => Some(known),
            Ok(_) => self.read(file, &mut known).then_some(known),
            Err(FileRefusal::Missing(_)) => {
                Some(KnownFile { elsewhere: known.elsewhere, ..KnownFile::default() })
            }
            Err(_) => None,
        }
    }

    /// Reads a file, and forgets what was known of it if its content changed. Returns whether it
    /// was read.
    fn read(&self, file: &str, known: &mut KnownFile) -> bool {
        let Ok(FileRead { bytes, stamp }) = self.files.read_stamped(file.as_ref()) else {
            return false;
        };
        let digest = digest(&bytes);
        if known.digest != digest {
            let lines = String::from_utf8_lossy(&bytes).lines().count();
            let lines = u32::try_from(lines).unwrap_or(u32::MAX);
            *known = KnownFile { digest, lines, ..KnownFile::default() };
        }
        // A file may change once more within the time that its stamp tells apart.
        known.stamp =
            Some(stamp).filter(|stamp| clock::now().0 - stamp.time().0 > ANCHOR_STAMP_AGE);
        true
    }

    /// Compares a file with the fingerprints that it was not compared with yet.
    fn compare(&self, file: &str, known: &mut KnownFile, wanted: &[&Wanted]) {
        let is_new = |it: &&&Wanted| !known.outcomes.contains_key(&(it.id, it.version));
        let new: Vec<&&Wanted> = wanted.iter().filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let Ok(FileRead { bytes, .. }) = self.files.read_stamped(file.as_ref()) else { return };
        if digest(&bytes) != known.digest {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        let source = Source::new(&text);
        for it in new {
            if self.is_over() {
                return;
            }
            let outcome = check(&it.print, it.lines.first, &source);
            let print = moved(&source, outcome);
            known.outcomes.insert((it.id, it.version), KnownOutcome { outcome, print });
        }
    }

    /// Looks in other files for anchors that are not in their own.
    fn elsewhere(&mut self, file: &str, known: &mut KnownFile, wanted: &[&Wanted]) {
        let now = clock::start();
        known.elsewhere.retain(|_, it| match &it.found {
            Some(found) => self.files.stamp(found.file.as_ref()).ok() == Some(found.stamp),
            None => now.duration_since(it.checked) < ANCHOR_GONE_FOR,
        });
        let missing: Vec<&&Wanted> = wanted
            .iter()
            .filter(|it| {
                let key = (it.id, it.version);
                let here = known.outcomes.get(&key).map(|it| it.outcome);
                let was_compared = here.is_some() || known.digest == 0;
                was_compared
                    && !here.is_some_and(|it| it.is_settled(ANCHOR_CHANGED_PERCENT_MAX))
                    && !known.elsewhere.contains_key(&key)
            })
            .collect();
        if missing.is_empty() || self.is_over() {
            return;
        }
        let Some((all, is_complete)) = self.list() else { return };
        let near = nearby(file, all.iter().map(String::as_str), ANCHOR_CANDIDATES_MAX);
        let mut best: Vec<(Outcome, Option<FoundElsewhere>)> =
            vec![(Outcome::Gone, None); missing.len()];
        for path in near {
            if self.is_over() {
                return; // Nothing is known of those that are left.
            }
            let Ok(FileRead { bytes, stamp }) = self.files.read_stamped(path.as_ref()) else {
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            let source = Source::new(&text);
            for (it, best) in missing.iter().zip(&mut best) {
                let outcome = search(&it.print, &source);
                if !outcome.is_better_than(best.0) {
                    continue;
                }
                let (lines, percent) = match outcome {
                    Outcome::Moved(lines) => (lines, 0),
                    Outcome::Changed { lines, percent } => (lines, percent),
                    Outcome::Fresh | Outcome::Gone | Outcome::Unsure => continue,
                };
                let print = moved(&source, outcome);
                let file = path.to_owned();
                *best = (outcome, Some(FoundElsewhere { file, stamp, lines, percent, print }));
            }
        }
        for (it, (_, found)) in missing.iter().zip(best) {
            // Without a list of all files, nothing is known to be gone.
            if found.is_some() || is_complete {
                let checked = clock::start();
                known.elsewhere.insert((it.id, it.version), Elsewhere { found, checked });
            }
        }
    }

    /// Returns the paths of the project's files, and whether these are all.
    fn list(&mut self) -> Option<(Vec<String>, bool)> {
        let is_new = |at: &Instant| at.elapsed() < ANCHOR_LIST_FOR;
        if let Some((_, all, is_complete)) = self.known.list.as_ref().filter(|it| is_new(&it.0)) {
            return Some((all.clone(), *is_complete));
        }
        let left = self.until.saturating_duration_since(clock::start());
        if left == Duration::ZERO {
            return None;
        }
        let (all, is_complete) = self.files.all_files(self.repository, left);
        self.known.list = Some((clock::start(), all.clone(), is_complete));
        Some((all, is_complete))
    }
}

impl KnownFile {
    /// Returns what is known of an anchor.
    fn seen(&self, it: &Wanted) -> CheckedCode {
        let key = (it.id, it.version);
        let here = self.outcomes.get(&key);
        let elsewhere = self.elsewhere.get(&key);
        let found = elsewhere.and_then(|it| it.found.as_ref());
        let percent_here = match here.map(|it| it.outcome) {
            Some(Outcome::Changed { percent, .. }) => percent,
            _ => 100,
        };
        if let Some(found) = found.filter(|found| found.percent < percent_here) {
            let seen = if found.percent == 0 {
                it.seen(AnchorState::Moved { from: from(it) })
            } else {
                it.seen(AnchorState::Changed { percent: found.percent })
            };
            let (file, lines) = (found.file.clone(), found.lines);
            return CheckedCode { file, lines: range(lines), print: found.print.clone(), ..seen };
        }
        let at = |lines: Lines, state| CheckedCode { lines: range(lines), ..it.seen(state) };
        match here.map(|it| it.outcome) {
            Some(Outcome::Fresh) => it.seen(AnchorState::Fresh),
            Some(Outcome::Moved(lines)) => CheckedCode {
                print: here.and_then(|it| it.print.clone()),
                ..at(lines, AnchorState::Moved { from: from(it) })
            },
            Some(Outcome::Changed { lines, percent }) => {
                at(lines, AnchorState::Changed { percent })
            }
            Some(Outcome::Gone) if elsewhere.is_some() => it.seen(AnchorState::Gone),
            None if self.digest == 0 && elsewhere.is_some() => it.seen(AnchorState::Gone),
            Some(Outcome::Gone | Outcome::Unsure) | None => it.unchecked(),
        }
    }
}

fn from(it: &Wanted) -> (String, LineRange) {
    (it.file.clone(), range(it.lines))
}

fn range(lines: Lines) -> LineRange {
    let Lines { first, last } = lines;
    LineRange::Span { first, last }
}

/// Returns the fingerprint at the place to which all lines moved.
fn moved(source: &Source<'_>, outcome: Outcome) -> Option<Fingerprint> {
    match outcome {
        Outcome::Moved(lines) => Fingerprint::capture(source, lines),
        _ => None,
    }
}

/// Digests a content; never zero, which is the digest of a missing file.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(bytes);
    digest.iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte)) | 1
}
