//! Checks whether the code of anchors is still where they say, and whether the files that lessons
//! and blueprints name are as they were.
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
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::files::named_in;
use anchord_memory::fingerprint::{Fingerprint, Lines, Source};
use anchord_memory::limits::NAMED_FILES_MAX;
use anchord_memory::lines::LineRange;
use anchord_memory::{
    Anchor, AnchorState, Body, Memory, Record, RecordId, SeenFiles, Staged, Staleness, Version,
};
use parking_lot::Mutex;

use self::known::Known;
use self::look::{Look, digest};
use crate::bounded_fs;
use crate::clock;
use crate::projects::ProjectFiles;

pub(crate) use self::upkeep::{AnchorUpkeep, keep};

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

/// The files that a record names, as they were.
#[derive(Clone, Debug)]
struct NamedFiles {
    id: RecordId,
    digests: BTreeMap<String, u64>,
}

/// The outcome of a look.
#[derive(Debug)]
struct Found {
    anchors: Vec<Seen>,
    files: Vec<(RecordId, Staleness)>,
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
    /// Returns a memory that shows the state of some of its records: of an anchor's code, and of
    /// the files that others name. Anchors without a fingerprint have no state.
    pub(crate) async fn shown(
        &self,
        place: Place<'_>,
        memory: &Arc<Memory>,
        time_max: Duration,
        shown: &[Arc<Record>],
    ) -> Arc<Memory> {
        let wanted: Vec<Wanted> = shown.iter().filter_map(|it| Wanted::of(it)).collect();
        let named: Vec<NamedFiles> = shown.iter().filter_map(|it| NamedFiles::of(it)).collect();
        if wanted.is_empty() && named.is_empty() {
            return Arc::clone(memory);
        }
        let Found { anchors, files } = self.look(place, wanted, named, time_max).await;
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

    /// Returns the states of all anchors of a memory that have a fingerprint. Looks at the files
    /// that other records name too, so that their states are known when they are shown.
    pub(crate) async fn all(
        &self,
        place: Place<'_>,
        memory: &Memory,
        time_max: Duration,
    ) -> Vec<Seen> {
        let wanted = memory.active_with_code().filter_map(|it| Wanted::of(it)).collect();
        let named = memory.active_with_code().filter_map(|it| NamedFiles::of(it)).collect();
        self.look(place, wanted, named, time_max).await.anchors
    }

    /// Returns the state of each anchor and of each record's files. Those that the disk or the time
    /// did not allow to look for are unchecked.
    async fn look(
        &self,
        place: Place<'_>,
        wanted: Vec<Wanted>,
        named: Vec<NamedFiles>,
        time_max: Duration,
    ) -> Found {
        let until = clock::start() + time_max;
        let unchecked = Found {
            anchors: wanted.iter().map(Wanted::unchecked).collect(),
            files: named.iter().map(NamedFiles::unchecked).collect(),
        };
        let (root, repository) = (place.root.to_owned(), place.repository.map(Path::to_owned));
        let kept = Arc::clone(&self.known);
        let looking = bounded_fs::run(place.root, move || {
            let files = ProjectFiles::open(&root).ok()?;
            // What is known is taken out, so that no lock is held while files are read.
            let known = kept.lock().take(&root);
            let mut look = Look { files: &files, repository: repository.as_deref(), until, known };
            let found = Found { anchors: look.all(&wanted), files: look.files(&named) };
            let known = look.known;
            kept.lock().put(&root, known);
            Some(found)
        });
        // One file may take longer. The next answer then knows what it says.
        let late = until + time_max;
        match tokio::time::timeout_at(late.into(), looking).await {
            Ok(Ok(Some(found))) => found,
            _ => unchecked,
        }
    }
}

/// Takes down how the files of new items are now: fingerprints of anchors' lines, and digests of
/// the files that lessons and blueprints name. What cannot be read is left out.
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
    /// The texts of anchors' files; `None` for those that could not be read.
    texts: BTreeMap<String, Option<String>>,
    /// The digests of named files. Their contents are not kept: there may be many.
    digests: BTreeMap<String, Option<u64>>,
}

impl Capture {
    fn all(mut self, mut part: Staged) -> Staged {
        for anchor in &mut part.anchors {
            anchor.print = span(anchor).and_then(|lines| {
                Fingerprint::capture(&Source::new(self.text(&anchor.file)?), lines)
            });
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

    fn text(&mut self, file: &str) -> Option<&str> {
        let read = || self.files.read_stamped(file.as_ref()).ok();
        let text = || Some(String::from_utf8_lossy(&read()?.bytes).into_owned());
        self.texts.entry(file.to_owned()).or_insert_with(text).as_deref()
    }
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

#[cfg(test)]
mod tests;
