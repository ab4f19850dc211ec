//! Checks whether the code of anchors is still where they say.
//!
//! A check is lazy. A file whose stamp is as it was is not read, and one whose content is as it was
//! is not compared again. Everything has a time limit: an anchor that is not reached in time is
//! unchecked, which claims nothing. Lines that are not in their own file are looked for in the
//! files that are near it.

mod known;
mod look;
mod upkeep;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anchord_memory::fingerprint::{Fingerprint, Lines, Source};
use anchord_memory::lines::LineRange;
use anchord_memory::{Anchor, AnchorState, Memory, Record, RecordId, RecordState, Version};

use self::known::Known;
use self::look::Look;
use crate::bounded_fs;
use crate::clock;
use crate::projects::ProjectFiles;

pub(crate) use self::upkeep::AnchorUpkeep;

/// Checks anchors, and keeps what it knows of files.
#[derive(Debug, Default)]
pub(crate) struct AnchorService {
    known: Arc<Mutex<Known>>,
}

/// The place of a project's files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) root: &'a Path,
    /// The root of the repository that the project is a part of.
    pub(crate) repository: Option<&'a Path>,
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

/// The state of an anchor's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: RecordId,
    pub(crate) version: Version,
    pub(crate) state: AnchorState,
    /// The file and the lines of the code now: those of the anchor if it is not elsewhere.
    pub(crate) file: String,
    pub(crate) lines: Lines,
    /// The fingerprint at the new place, if all lines are there.
    pub(crate) print: Option<Fingerprint>,
}

impl AnchorService {
    /// Returns a memory that shows the state of the anchors that `is_shown` selects. Anchors
    /// without a fingerprint have no state.
    pub(crate) async fn shown(
        &self,
        place: Place<'_>,
        memory: &Arc<Memory>,
        time_max: Duration,
        is_shown: impl Fn(&Record) -> bool,
    ) -> Arc<Memory> {
        let records = memory.records().filter(|record| is_shown(record));
        let wanted: Vec<Wanted> = records.filter_map(|record| Wanted::of(record)).collect();
        if wanted.is_empty() {
            return Arc::clone(memory);
        }
        let seen = self.look(place, wanted, time_max).await;
        let shown = seen.into_iter().filter_map(|seen| {
            let anchor = memory.record(seen.id)?.anchor()?;
            Some((seen.id, seen.shown(anchor)))
        });
        Arc::new(memory.showing(shown))
    }

    /// Returns the states of all anchors of a memory that have a fingerprint.
    pub(crate) async fn all(
        &self,
        place: Place<'_>,
        memory: &Memory,
        time_max: Duration,
    ) -> Vec<Seen> {
        let active = memory.records().filter(|record| record.state == RecordState::Active);
        let wanted = active.filter_map(|record| Wanted::of(record)).collect();
        self.look(place, wanted, time_max).await
    }

    /// Returns the state of each anchor. Those that the disk or the time did not allow to look for
    /// are unchecked.
    async fn look(&self, place: Place<'_>, wanted: Vec<Wanted>, time_max: Duration) -> Vec<Seen> {
        let until = clock::start() + time_max;
        let unchecked: Vec<Seen> = wanted.iter().map(Wanted::unchecked).collect();
        let (root, repository) = (place.root.to_owned(), place.repository.map(Path::to_owned));
        let kept = Arc::clone(&self.known);
        let looking = bounded_fs::run(place.root, move || {
            let files = ProjectFiles::open(&root).ok()?;
            // What is known is taken out, so that no lock is held while files are read.
            let known = lock(&kept).take(&root);
            let mut look = Look { files: &files, repository: repository.as_deref(), until, known };
            let seen = look.all(&wanted);
            let known = look.known;
            lock(&kept).put(&root, known);
            Some(seen)
        });
        // One file may take longer. The next answer then knows what it says.
        let late = until + time_max;
        match tokio::time::timeout_at(late.into(), looking).await {
            Ok(Ok(Some(seen))) => seen,
            _ => unchecked,
        }
    }
}

/// Takes the fingerprints of new anchors' lines, as they are now. One whose lines cannot be read
/// gets none.
pub(crate) async fn capture(root: &Path, mut anchors: Vec<Anchor>) -> Vec<Anchor> {
    if anchors.iter().all(|anchor| span(anchor).is_none()) {
        return anchors;
    }
    let (at, given) = (root.to_owned(), anchors.clone());
    let reading = bounded_fs::run(root, move || {
        let files = ProjectFiles::open(&at).ok()?;
        let mut texts: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut prints = Vec::with_capacity(given.len());
        for anchor in &given {
            let text = texts.entry(anchor.file.clone()).or_insert_with(|| {
                let read = files.read_stamped(anchor.file.as_ref()).ok()?;
                Some(String::from_utf8_lossy(&read.bytes).into_owned())
            });
            let lines = span(anchor).zip(text.as_ref());
            prints.push(
                lines.and_then(|(lines, text)| Fingerprint::capture(&Source::new(text), lines)),
            );
        }
        Some(prints)
    });
    if let Ok(Some(prints)) = reading.await {
        for (anchor, print) in anchors.iter_mut().zip(prints) {
            anchor.print = print;
        }
    }
    anchors
}

/// Returns an anchor's lines, if it has a range of them.
fn span(anchor: &Anchor) -> Option<Lines> {
    match anchor.lines {
        LineRange::Span { first, last } => Some(Lines { first, last }),
        LineRange::Text(_) => None,
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

    fn unchecked(&self) -> Seen {
        self.seen(AnchorState::Unchecked)
    }

    /// Returns a state at the place that the anchor has.
    fn seen(&self, state: AnchorState) -> Seen {
        let Self { id, version, file, lines, .. } = self.clone();
        Seen { id, version, state, file, lines, print: None }
    }
}

impl Seen {
    /// Returns the anchor as it is shown.
    fn shown(&self, anchor: &Anchor) -> Anchor {
        let Lines { first, last } = self.lines;
        Anchor {
            file: self.file.clone(),
            lines: LineRange::Span { first, last },
            state: Some(self.state.clone()),
            ..anchor.clone()
        }
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
