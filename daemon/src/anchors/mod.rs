//! Checks whether the code of anchors is still where they say, and whether the files that lessons
//! and blueprints name are as they were.
//!
//! A check is lazy. A file with an unchanged stamp is not read. One with unchanged content is not
//! compared again. Everything has a time limit: an anchor that is not reached in time is unchecked,
//! which claims nothing. Lines that are not in their own file are looked for in the files that are
//! near it.

mod check;
mod known;
mod upkeep;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::files::named_in;
use anchord_memory::fingerprint::{Fingerprint, Lines, Source};
use anchord_memory::limits::NAMED_FILES_MAX;
use anchord_memory::lines::LineRange;
use anchord_memory::{
    Anchor, AnchorState, Body, Memory, Record, RecordId, SeenFiles, Staged, Staleness, UnseenCode,
    Version, WhyUnseen,
};
use parking_lot::Mutex;

use self::check::{AnchorCheck, digest};
use self::known::KnownRoots;
use crate::bounded_fs;
use crate::clock;
use crate::projects::{FileRefusal, ProjectFiles};

pub(crate) use self::upkeep::{AnchorUpkeep, keep};

/// Checks anchors, and keeps what it knows of files.
#[derive(Debug, Default)]
pub(crate) struct AnchorService {
    known: Arc<Mutex<KnownRoots>>,
}

/// The place of a project's files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProjectRoots<'a> {
    pub(crate) root: &'a Path,
    /// The root of the repository that the project is a part of.
    pub(crate) repository: Option<&'a Path>,
}

/// An anchor whose lines have no fingerprint. Only their existence can be checked.
#[derive(Clone, Debug)]
struct Unprinted {
    id: RecordId,
    version: Version,
    file: String,
    lines: LineRange,
}

/// An anchor that is checked.
#[derive(Clone, Debug)]
struct Wanted {
    id: RecordId,
    version: Version,
    file: String,
    lines: Lines,
    print: Fingerprint,
}

/// The files that a record names, as they were.
#[derive(Clone, Debug)]
struct NamedFiles {
    id: RecordId,
    digests: BTreeMap<String, u64>,
}

/// The subjects of a check.
#[derive(Clone, Debug, Default)]
struct Wants {
    printed: Vec<Wanted>,
    unprinted: Vec<Unprinted>,
    named: Vec<NamedFiles>,
}

/// The outcome of a check.
#[derive(Debug)]
struct CheckOutcome {
    anchors: Vec<CheckedCode>,
    files: Vec<(RecordId, Staleness)>,
}

/// The state of an anchor's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedCode {
    pub(crate) id: RecordId,
    pub(crate) version: Version,
    pub(crate) state: AnchorState,
    /// The file and the lines of the code now: those of the anchor if it is not elsewhere.
    pub(crate) file: String,
    pub(crate) lines: LineRange,
    /// The fingerprint at the new place, if all lines are there.
    pub(crate) print: Option<Fingerprint>,
}

impl AnchorService {
    /// Returns a memory that shows the state of some of its records: of an anchor's code, and of
    /// the files that others name. Anchors without a fingerprint have no state if their lines
    /// exist. Without a place, everything is unchecked.
    pub(crate) async fn shown(
        &self,
        place: Option<ProjectRoots<'_>>,
        memory: &Arc<Memory>,
        time_max: Duration,
        shown: &[Arc<Record>],
    ) -> Arc<Memory> {
        let wants = Wants::of(shown.iter().map(AsRef::as_ref));
        if wants.is_empty() {
            return Arc::clone(memory);
        }
        let CheckOutcome { anchors, files } = match place {
            Some(place) => self.check(place, wants, time_max).await,
            None => wants.unchecked(),
        };
        let anchors = anchors.into_iter().filter_map(|seen| {
            let anchor = memory.record(seen.id)?.anchor()?;
            Some((seen.id, Body::Anchor(seen.shown(anchor))))
        });
        let files = files.into_iter().filter_map(|(id, staleness)| {
            let mut body = memory.record(id)?.body.clone();
            body.seen_files_mut()?.staleness = Some(staleness);
            Some((id, body))
        });
        Arc::new(memory.showing(anchors.chain(files)))
    }

    /// Returns the states of all anchors of a memory. Those without a fingerprint whose lines exist
    /// have none. Looks at the files that other records name too, so that their states are known
    /// when they are shown.
    pub(crate) async fn all(
        &self,
        place: ProjectRoots<'_>,
        memory: &Memory,
        time_max: Duration,
    ) -> Vec<CheckedCode> {
        let wants = Wants::of(memory.active_with_code().map(AsRef::as_ref));
        self.check(place, wants, time_max).await.anchors
    }

    /// Returns the state of each anchor and of each record's files. Those that the disk or the time
    /// did not allow to check are unchecked.
    async fn check(
        &self,
        place: ProjectRoots<'_>,
        wants: Wants,
        time_max: Duration,
    ) -> CheckOutcome {
        let until = clock::start() + time_max;
        let unchecked = wants.unchecked();
        let (root, repository) = (place.root.to_owned(), place.repository.map(Path::to_owned));
        let kept = Arc::clone(&self.known);
        let checking = bounded_fs::run(place.root, move || {
            let files = ProjectFiles::open(&root).ok()?;
            // What is known is taken out, so that no lock is held while files are read.
            let known = kept.lock().take(&root);
            let mut check =
                AnchorCheck { files: &files, repository: repository.as_deref(), until, known };
            let mut anchors = check.all(&wants.printed);
            anchors.extend(check.unprinted(&wants.unprinted));
            let found = CheckOutcome { anchors, files: check.files(&wants.named) };
            let known = check.known;
            kept.lock().put(&root, known);
            Some(found)
        });
        // One file may take longer. The next answer then knows what it says.
        let late = until + time_max;
        match tokio::time::timeout_at(late.into(), checking).await {
            Ok(Ok(Some(found))) => found,
            _ => unchecked,
        }
    }
}

/// Takes down how the files of new items are now: fingerprints of anchors' lines, and digests of
/// the files that lessons and blueprints name. A file that cannot be read has neither. The part
/// lists the anchors whose lines could not be read, for the reply.
pub(crate) async fn capture(root: &Path, part: Staged) -> Staged {
    if part.anchors.is_empty() && part.lessons.is_empty() && part.blueprints.is_empty() {
        return part;
    }
    let (at, given) = (root.to_owned(), part.clone());
    let reading = bounded_fs::run(root, move || {
        let files = ProjectFiles::open(&at).ok()?;
        Some(Capture { files, texts: BTreeMap::new(), digests: BTreeMap::new() }.all(given))
    });
    match reading.await {
        Ok(Some(captured)) => captured,
        _ => part,
    }
}

/// Reads the files of a write, those of anchors and those that are named once each.
struct Capture {
    files: ProjectFiles,
    /// The texts of anchors' files, or why they could not be read.
    texts: BTreeMap<String, Result<String, WhyUnseen>>,
    /// The digests of named files. Their contents are not kept: there may be many.
    digests: BTreeMap<String, Option<u64>>,
}

impl Capture {
    fn all(mut self, mut part: Staged) -> Staged {
        for anchor in &mut part.anchors {
            match self.print(anchor) {
                Ok(print) => anchor.print = print,
                Err(why) => {
                    anchor.print = None;
                    let (file, lines) = (anchor.file.clone(), anchor.lines.clone());
                    part.unseen.push(UnseenCode { file, lines, why });
                }
            }
        }
        for lesson in &mut part.lessons {
            lesson.seen = self.seen(&lesson.files);
        }
        for blueprint in &mut part.blueprints {
            blueprint.seen = self.seen(&named_in(&blueprint.content));
        }
        part
    }

    fn seen(&mut self, files: &[String]) -> SeenFiles {
        let named = files.iter().take(NAMED_FILES_MAX);
        SeenFiles::new(named.filter_map(|file| Some((file.clone(), self.digest(file)?))))
    }

    fn digest(&mut self, file: &str) -> Option<u64> {
        let read = || self.files.read_stamped(file.as_ref()).ok();
        *self.digests.entry(file.to_owned()).or_insert_with(|| Some(digest(&read()?.bytes)))
    }

    /// Takes the fingerprint of an anchor's lines; `None` if they are no range, or blank.
    fn print(&mut self, anchor: &Anchor) -> Result<Option<Fingerprint>, WhyUnseen> {
        let text = self.text(&anchor.file)?;
        let LineRange::Span { first, last } = anchor.lines else { return Ok(None) };
        let source = Source::new(text);
        if last > source.count() {
            return Err(WhyUnseen::FewerLines(source.count()));
        }
        Ok(Fingerprint::capture(&source, Lines { first, last }))
    }

    fn text(&mut self, file: &str) -> Result<&str, WhyUnseen> {
        let text = || match self.files.read_stamped(file.as_ref()) {
            Ok(read) => Ok(String::from_utf8_lossy(&read.bytes).into_owned()),
            Err(FileRefusal::Missing(_)) => Err(WhyUnseen::NoFile),
            Err(refusal) => Err(WhyUnseen::NotRead(refusal.to_string())),
        };
        let text = self.texts.entry(file.to_owned()).or_insert_with(text);
        text.as_deref().map_err(Clone::clone)
    }
}

/// Returns an anchor's lines, if it has a range of them.
fn span(anchor: &Anchor) -> Option<Lines> {
    match anchor.lines {
        LineRange::Span { first, last } => Some(Lines { first, last }),
        LineRange::Text(_) => None,
    }
}

impl Wants {
    fn of<'a>(records: impl Iterator<Item = &'a Record>) -> Self {
        let mut wants = Self::default();
        for record in records {
            match Wanted::of(record) {
                Some(it) => wants.printed.push(it),
                None => wants.unprinted.extend(Unprinted::of(record)),
            }
            wants.named.extend(NamedFiles::of(record));
        }
        wants
    }

    fn is_empty(&self) -> bool {
        self.printed.is_empty() && self.unprinted.is_empty() && self.named.is_empty()
    }

    fn unchecked(&self) -> CheckOutcome {
        let unprinted = self.unprinted.iter().map(|it| it.seen(AnchorState::Unchecked));
        CheckOutcome {
            anchors: self.printed.iter().map(Wanted::unchecked).chain(unprinted).collect(),
            files: self.named.iter().map(NamedFiles::unchecked).collect(),
        }
    }
}

impl Unprinted {
    fn of(record: &Record) -> Option<Self> {
        let Anchor { file, lines, .. } = record.anchor()?.clone();
        Some(Self { id: record.id, version: record.version, file, lines })
    }

    /// Returns the state of lines in a file with `count` lines; `None` if all of them exist.
    fn among(&self, count: u32) -> Option<CheckedCode> {
        let LineRange::Span { first, last } = self.lines else { return None };
        if count < first {
            return Some(self.seen(AnchorState::Gone));
        }
        let lines = LineRange::Span { first, last: count };
        let gone = u64::from(last.checked_sub(count).filter(|gone| *gone > 0)?);
        let percent = (gone * 100).div_ceil(u64::from(last - first) + 1);
        let percent = u8::try_from(percent).unwrap_or(100);
        Some(CheckedCode { lines, ..self.seen(AnchorState::Changed { percent }) })
    }

    fn seen(&self, state: AnchorState) -> CheckedCode {
        let Self { id, version, file, lines } = self.clone();
        CheckedCode { id, version, state, file, lines, print: None }
    }
}

impl Wanted {
    fn of(record: &Record) -> Option<Self> {
        let anchor = record.anchor()?;
        Some(Self {
            id: record.id,
            version: record.version,
            file: anchor.file.clone(),
            lines: span(anchor)?,
            print: anchor.print.clone()?,
        })
    }

    fn unchecked(&self) -> CheckedCode {
        self.seen(AnchorState::Unchecked)
    }

    /// Returns a state at the place that the anchor has.
    fn seen(&self, state: AnchorState) -> CheckedCode {
        let Self { id, version, file, lines: Lines { first, last }, .. } = self.clone();
        let lines = LineRange::Span { first, last };
        CheckedCode { id, version, state, file, lines, print: None }
    }
}

impl NamedFiles {
    fn of(record: &Record) -> Option<Self> {
        let seen = record.body.seen_files().filter(|seen| !seen.is_empty())?;
        Some(Self { id: record.id, digests: seen.digests().clone() })
    }

    fn unchecked(&self) -> (RecordId, Staleness) {
        let unchecked = u32::try_from(self.digests.len()).unwrap_or(u32::MAX);
        (self.id, Staleness { changed: 0, unchecked })
    }
}

impl CheckedCode {
    /// Returns the anchor as it is shown.
    fn shown(&self, anchor: &Anchor) -> Anchor {
        Anchor {
            file: self.file.clone(),
            lines: self.lines.clone(),
            state: Some(self.state.clone()),
            ..anchor.clone()
        }
    }
}

#[cfg(test)]
mod tests;
