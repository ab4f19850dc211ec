//! Reads the shared files of a project. A file that has not changed since the last scan is not read
//! again.

use std::collections::BTreeMap;
use std::path::Path;

use anchord_memory::shared::{FileForm, FileNames, FileProblem};
use anchord_memory::{Kind, ShareId};

use super::place::{DIRECTORY, MARK_NAME, file, open};
use crate::limits::{SHARED_FILE_BYTES_MAX, SHARED_FILES_MAX};
use crate::projects::{
    FileDigest, FileStamp, Listed, MirrorError, ProjectFiles, name_of_displaced,
};
use crate::secrets::{Removed, clean_fields};

/// A file with the name of a shared record.
#[derive(Clone, Debug)]
pub(super) struct ScannedFile {
    pub(super) id: ShareId,
    pub(super) kind: Kind,
    pub(super) stamp: FileStamp,
    /// The digest; `None` if the file was not read.
    pub(super) digest: Option<FileDigest>,
    pub(super) form: Result<FileForm, Unusable>,
    /// The secrets that were left out.
    pub(super) secrets: Option<String>,
}

/// The reason why a file is left alone.
#[derive(Clone, Debug)]
pub(super) struct Unusable {
    pub(super) what: String,
    /// Whether git left a conflict in it.
    pub(super) is_conflict: bool,
}

/// The files by path, relative to the shared directory.
pub(super) type ScannedFiles = BTreeMap<String, ScannedFile>;

/// The shared directory as it was found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Whether the directory is there with its mark. A branch without it shares no memory.
    pub(super) is_there: bool,
    pub(super) files: ScannedFiles,
    /// Names and what is wrong with them.
    pub(super) odd: Vec<(String, String)>,
    /// Whether all of it could be listed. Otherwise a missing file proves nothing.
    pub(super) is_whole: bool,
    /// Whether anything differs from the last scan.
    pub(super) has_changed: bool,
}

/// Scans the shared directory beneath a root. `before` has the files of the last scan.
pub(super) fn scan(root: &Path, before: ScannedFiles) -> Result<Scan, MirrorError> {
    scan_directory(root, before, true)
}

/// Scans the shared directory also if its mark is missing, since its files are there nevertheless.
pub(super) fn scan_unmarked(root: &Path, before: ScannedFiles) -> Result<Scan, MirrorError> {
    scan_directory(root, before, false)
}

fn scan_directory(
    root: &Path,
    mut before: ScannedFiles,
    needs_mark: bool,
) -> Result<Scan, MirrorError> {
    let files = open(root)?;
    let mut scan = Scan { is_whole: true, ..Scan::default() };
    let Some(entries) = files.list(Path::new(DIRECTORY), SHARED_FILES_MAX)? else {
        scan.has_changed = !before.is_empty();
        return Ok(scan);
    };
    let is_mark =
        |(name, what): &(String, Listed)| name == MARK_NAME && matches!(what, Listed::File(_));
    if needs_mark && !entries.iter().any(is_mark) {
        scan.has_changed = !before.is_empty();
        return Ok(scan);
    }
    scan.is_there = true;
    for (name, what) in entries {
        let kind = Kind::ALL.into_iter().find(|kind| kind.noun() == name && kind.is_shared());
        match (what, kind) {
            (Listed::Directory, Some(kind)) => folder(&files, kind, &mut before, &mut scan),
            (Listed::Directory, None) => {
                scan.odd.push((name, "this anchord knows no such kind".to_owned()));
            }
            (_, Some(_)) => {
                scan.is_whole = false;
                scan.odd.push((name, "it is not a directory".to_owned()));
            }
            _ => {}
        }
    }
    scan.has_changed |= !before.is_empty();
    Ok(scan)
}

fn folder(files: &ProjectFiles, kind: Kind, before: &mut ScannedFiles, scan: &mut Scan) {
    let entries = match files.list(&file(kind.noun()), SHARED_FILES_MAX) {
        Ok(entries) => entries.unwrap_or_default(),
        Err(error) => {
            scan.is_whole = false;
            scan.odd.push((kind.noun().to_owned(), format!("failed to {error}")));
            return;
        }
    };
    for (name, what) in entries {
        if name_of_displaced(&name).is_some() {
            let what = "it is left of a write that was cut short; if its text is nowhere else, \
                        copy it from there, then remove this file";
            scan.odd.push((format!("{}/{name}", kind.noun()), what.to_owned()));
        }
        // Other names with a dot are temporary files of anchord's and of editors.
        let is_markdown = Path::new(&name).extension().is_some_and(|end| end == "md");
        if name.starts_with('.') || !is_markdown {
            continue;
        }
        let path = format!("{}/{name}", kind.noun());
        let Some((kind, id)) = FileNames::parse(&path) else {
            scan.odd.push((path, "its name does not begin with the id of a record".to_owned()));
            continue;
        };
        let known = before.remove(&path);
        let seen = match (what, known) {
            (Listed::File(stamp), Some(known))
                if known.stamp == stamp && known.digest.is_some() =>
            {
                known
            }
            (Listed::File(_), _) => {
                scan.has_changed = true;
                match read(files, kind, id, &path) {
                    Some(seen) => seen,
                    None => continue,
                }
            }
            (_, known) => {
                scan.has_changed |= known.is_none();
                let what = "it is not a regular file".to_owned();
                unusable(kind, id, FileStamp::default(), None, what, false)
            }
        };
        scan.files.insert(path, seen);
    }
}

/// Reads a file. Returns `None` if it has just gone.
fn read(files: &ProjectFiles, kind: Kind, id: ShareId, path: &str) -> Option<ScannedFile> {
    let read = match files.read_whole(&file(path), SHARED_FILE_BYTES_MAX) {
        Ok(read) => read?,
        Err(error) => {
            let what = format!("failed to {error}");
            return Some(unusable(kind, id, FileStamp::default(), None, what, false));
        }
    };
    let digest = Some(FileDigest::of(&read.bytes));
    let mut form = match FileForm::parse(kind, &read.bytes) {
        Ok(form) => form,
        Err(problem) => {
            let is_conflict = problem == FileProblem::Markers;
            return Some(unusable(kind, id, read.stamp, digest, problem.to_string(), is_conflict));
        }
    };
    let (mut fields, mut removed) = (form.content.to_json(), Removed::default());
    clean_fields(&mut fields, &mut removed);
    form.content = form.content.with_json(fields);
    let secrets = (!removed.no_secrets()).then(|| removed.kinds());
    Some(ScannedFile { id, kind, stamp: read.stamp, digest, form: Ok(form), secrets })
}

fn unusable(
    kind: Kind,
    id: ShareId,
    stamp: FileStamp,
    digest: Option<FileDigest>,
    what: String,
    is_conflict: bool,
) -> ScannedFile {
    let form = Err(Unusable { what, is_conflict });
    ScannedFile { id, kind, stamp, digest, form, secrets: None }
}

/// Returns a file as a scan finds it after it was written with this text.
pub(super) fn written(
    path: &str,
    id: &ShareId,
    stamp: FileStamp,
    text: &str,
) -> Option<ScannedFile> {
    let (kind, _) = FileNames::parse(path)?;
    let form = FileForm::parse(kind, text.as_bytes()).ok()?;
    let digest = Some(FileDigest::of(text.as_bytes()));
    Some(ScannedFile { id: id.clone(), kind, stamp, digest, form: Ok(form), secrets: None })
}
