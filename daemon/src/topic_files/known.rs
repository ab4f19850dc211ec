//! Knows what was written into a mirror's files, notices edits, and replaces files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use anchord_memory::Timestamp;
use anchord_memory::topic_file::TopicFile;

use super::{ENDING, directory};
use crate::bounded_fs;
use crate::clock;
use crate::limits::{MIRROR_ENTRIES_MAX, MIRROR_SETTLED_MILLIS, PROJECT_FILE_BYTES_MAX};
use crate::project::OpenProject;
use crate::projects::{
    FileDigest, FileRead, FileStamp, Listed, MirrorDir, MirrorError, MissingDirectory,
    name_of_displaced,
};

/// The beginning of the soft marks that remember what was written.
const MARK: &str = "topic-file/";

/// A file as it was last written or taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MirroredFile {
    /// The digest of its bytes.
    bytes: FileDigest,
    /// The digests of its texts.
    pub(super) texts: TextDigests,
    /// The stamp with which these bytes were last seen.
    pub(super) stamp: Option<FileStamp>,
    /// The digest of the bytes that it displaced, until these are dropped.
    before: Option<FileDigest>,
    /// The digests of the texts in the bytes that it displaced, if they are known.
    pub(super) texts_before: Option<TextDigests>,
    /// The time at which it was written.
    written: Option<Instant>,
}

/// The digests of the texts of a file that are overwritten as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextDigests {
    pub(super) status: FileDigest,
    /// The overview and the architecture; `None` if the daemon that wrote the file knew neither.
    pub(super) descriptions: Option<(FileDigest, FileDigest)>,
}

impl TextDigests {
    fn of(file: &TopicFile) -> Self {
        let digest =
            |text: &Option<String>| FileDigest::of(text.as_deref().unwrap_or_default().as_bytes());
        let descriptions = Some((digest(&file.overview), digest(&file.architecture)));
        Self { status: digest(&file.status), descriptions }
    }
}

/// The place of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EditPlace {
    /// The file itself.
    InPlace,
    /// The file that was displaced when the topic was written.
    Displaced,
}

/// A file that somebody else wrote.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) name: String,
    pub(super) place: EditPlace,
    pub(super) file: FileRead,
}

impl Edit {
    /// Returns the digest of the content.
    pub(super) fn digest(&self) -> FileDigest {
        FileDigest::of(&self.file.bytes)
    }
}

/// The state of a mirror's files.
#[derive(Debug, Default)]
pub(super) struct MirrorState {
    /// Edits that are complete.
    pub(super) edits: Vec<Edit>,
    /// Files that may still be being written, or whose displaced content is not settled.
    pub(super) unsettled: BTreeSet<String>,
    /// New stamps of files with known content.
    pub(super) stamps: Vec<(String, FileStamp)>,
    /// Files that were written and are not there.
    pub(super) missing: BTreeSet<String>,
}

/// Compares the files with what was written.
pub(super) fn look(
    root: &Path,
    known: &BTreeMap<String, MirroredFile>,
) -> Result<MirrorState, String> {
    let mut look =
        MirrorState { missing: known.keys().cloned().collect(), ..MirrorState::default() };
    let Some(dir) = directory(root, MissingDirectory::Leave)? else { return Ok(look) };
    let now = clock::now();
    let listed = said(dir.list(MIRROR_ENTRIES_MAX))?;
    for (name, _) in &listed {
        look.missing.remove(name);
    }
    let is_topic = |name: &str| name.ends_with(ENDING) && !name.starts_with('.');
    for (name, what) in listed.iter().filter(|(name, _)| is_topic(name)) {
        let Listed::File(stamp) = what else { continue };
        let file = known.get(name);
        if file.is_some_and(|known| known.stamp == Some(*stamp)) {
            continue;
        }
        let Some(content) = said(dir.read(name, PROJECT_FILE_BYTES_MAX))? else { continue };
        let name = name.clone();
        if file.is_some_and(|known| known.bytes == FileDigest::of(&content.bytes)) {
            look.stamps.push((name, content.stamp));
        } else if is_settled(&content, now) {
            look.edits.push(Edit { name, place: EditPlace::InPlace, file: content });
        } else {
            look.unsettled.insert(name);
        }
    }
    let displaced = listed.iter().filter_map(|(name, _)| name_of_displaced(name));
    for name in displaced.filter(|name| is_topic(name)) {
        let file = known.get(name);
        let just = file.and_then(|known| known.written).is_some_and(|written| {
            written.elapsed().as_millis() < u128::from(MIRROR_SETTLED_MILLIS)
        });
        match displaced_file(&dir, name)? {
            // An editor may have had it open when it was displaced.
            Some(content) if just || !is_settled(&content, now) => {
                look.unsettled.insert(name.to_owned());
            }
            Some(content) if !is_ours(file, &FileDigest::of(&content.bytes)) => {
                let (name, place) = (name.to_owned(), EditPlace::Displaced);
                look.edits.push(Edit { name, place, file: content });
            }
            // It was written by us, or it is a link.
            _ => said(dir.drop_displaced(name))?,
        }
    }
    Ok(look)
}

/// Reads what was displaced; `None` if it is no regular file.
fn displaced_file(dir: &MirrorDir, name: &str) -> Result<Option<FileRead>, String> {
    match dir.displaced(name, PROJECT_FILE_BYTES_MAX) {
        Err(MirrorError::NotPlain(_)) => Ok(None),
        read => said(read),
    }
}

fn is_ours(known: Option<&MirroredFile>, digest: &FileDigest) -> bool {
    known.is_some_and(|known| known.bytes == *digest || known.before.as_ref() == Some(digest))
}

/// Returns whether a file was not written just now. A time in the future says nothing.
fn is_settled(file: &FileRead, now: Timestamp) -> bool {
    let age = now.0 - file.stamp.time().0;
    !(0..i64::from(MIRROR_SETTLED_MILLIS)).contains(&age)
}

/// Remembers that the content of a file is in memory.
pub(super) async fn taken_in(
    root: &Path,
    known: &mut BTreeMap<String, MirroredFile>,
    edit: &Edit,
) -> Result<(), String> {
    let (at, name) = (root.to_owned(), edit.name.clone());
    match edit.place {
        EditPlace::Displaced => {
            let dropping = bounded_fs::run(root, move || {
                let Some(dir) = directory(&at, MissingDirectory::Leave)? else { return Ok(()) };
                said(dir.drop_displaced(&name))
            });
            dropping.await.map_err(|error| error.to_string())?
        }
        EditPlace::InPlace => {
            let text = String::from_utf8_lossy(&edit.file.bytes);
            known.insert(
                name,
                MirroredFile {
                    bytes: edit.digest(),
                    texts: TextDigests::of(&TopicFile::parse(&text)),
                    stamp: Some(edit.file.stamp),
                    before: None,
                    texts_before: None,
                    written: None,
                },
            );
            Ok(())
        }
    }
}

/// Writes files, and takes away those whose topics are gone. Returns what is known now, `None` for
/// a file that is gone, and the first failure.
pub(super) fn write(
    root: &Path,
    known: &BTreeMap<String, MirroredFile>,
    files: Vec<(String, TopicFile)>,
    gone: &[String],
) -> (Vec<(String, Option<MirroredFile>)>, Option<String>) {
    let mut written = Vec::new();
    for (name, file) in files {
        let text = file.render();
        let bytes = FileDigest::of(text.as_bytes());
        let before = known.get(&name);
        if before.is_some_and(|before| before.bytes == bytes && before.stamp.is_some()) {
            continue;
        }
        let replaced = || {
            let dir = directory(root, MissingDirectory::Create)?.ok_or("it cannot be created")?;
            said(dir.replace(&name, text.as_bytes()))
        };
        match replaced() {
            Ok(stamp) => {
                let known = MirroredFile {
                    bytes,
                    texts: TextDigests::of(&file),
                    stamp: Some(stamp),
                    before: before.map(|before| before.bytes.clone()),
                    texts_before: before.map(|before| before.texts.clone()),
                    written: Some(clock::start()),
                };
                written.push((name, Some(known)));
            }
            Err(why) => return (written, Some(why)),
        }
    }
    for name in gone {
        let taken = directory(root, MissingDirectory::Leave).and_then(|dir| match dir {
            Some(dir) => take_away(&dir, name, known.get(name)),
            None => Ok(()),
        });
        match taken {
            Ok(()) => written.push((name.clone(), None)),
            Err(why) => return (written, Some(why)),
        }
    }
    (written, None)
}

/// Takes the file of a topic that is gone away. An edited one is left to be taken in: then the
/// topic is there again.
fn take_away(dir: &MirrorDir, name: &str, known: Option<&MirroredFile>) -> Result<(), String> {
    said(dir.displace(name))?;
    let displaced = displaced_file(dir, name)?;
    if displaced.is_none_or(|file| is_ours(known, &FileDigest::of(&file.bytes))) {
        said(dir.drop_displaced(name))?;
    }
    Ok(())
}

/// Reads the marks of a project.
pub(super) async fn read_marks(
    project: &OpenProject,
) -> Result<BTreeMap<String, MirroredFile>, String> {
    let read = project.owner.ask(|store, _| {
        let marks = store.marks().iter();
        let of_files = marks.filter_map(|(key, value)| {
            let mut digests = value.split(' ').map(FileDigest::from_text);
            let (bytes, status) = (digests.next()?, digests.next()?);
            let known = MirroredFile {
                bytes,
                texts: TextDigests { status, descriptions: digests.next().zip(digests.next()) },
                stamp: None,
                before: None,
                texts_before: None,
                written: None,
            };
            Some((key.strip_prefix(MARK)?.to_owned(), known))
        });
        of_files.collect()
    });
    read.await.map_err(|error| error.to_string())
}

/// Remembers what was written, also for the next daemon.
pub(super) async fn mark(
    project: &OpenProject,
    known: &mut BTreeMap<String, MirroredFile>,
    written: Vec<(String, Option<MirroredFile>)>,
) -> Result<(), String> {
    if written.is_empty() {
        return Ok(());
    }
    let value = |known: &MirroredFile| {
        let TextDigests { status, descriptions } = &known.texts;
        let descriptions = descriptions.iter().flat_map(|(overview, rest)| [overview, rest]);
        let digests = [&known.bytes, status].into_iter().chain(descriptions);
        digests.map(FileDigest::as_str).collect::<Vec<_>>().join(" ")
    };
    let marks: Vec<(String, Option<String>)> = written
        .iter()
        .map(|(name, known)| (format!("{MARK}{name}"), known.as_ref().map(value)))
        .collect();
    for (name, new) in written {
        match new {
            Some(new) => known.insert(name, new),
            // An edit of it comes back as a new topic.
            None => known.remove(&name),
        };
    }
    let marked = project.owner.ask(move |store, _| {
        for (key, value) in &marks {
            store.mark(key, value.as_deref());
        }
    });
    marked.await.map_err(|error| error.to_string())
}

pub(super) fn said<T>(done: Result<T, MirrorError>) -> Result<T, String> {
    done.map_err(|error| format!("failed to {error}"))
}
