//! The shared directory in a project, and the files in it that are not records.

use std::path::{Path, PathBuf};

use anchord_memory::Kind;
use anchord_memory::shared::FileNames;

use crate::limits::{PROJECT_FILE_BYTES_MAX, SHARED_FILES_MAX};
use crate::projects::{FileDigest, MirrorError, ProjectFiles};

/// The directory of shared records, relative to the project's root.
pub(crate) const DIRECTORY: &str = ".anchord/memory";

/// The name of the file that marks the directory. git writes and removes it before all others. So a
/// half-way checkout is not taken for deletions.
pub(super) const MARK_NAME: &str = "README.md";

/// The file that marks the directory. Without it the branch has no shared memory.
const MARK: &str = ".anchord/memory/README.md";

const MARK_TEXT: &str = "# Shared memory\n\n\
    The files in these folders are records of anchord, the memory of coding agents in this project, \
    one file each.\nThey are shared through git like any other file: read them, edit them, review them \
    in pull requests.\n\nA clone takes them in once its user has run `anchord init --shared`.\n";

const IGNORE: &str = ".anchord/.gitignore";

/// The text that keeps everything of anchord's out of git.
const IGNORE_ALL: &str = "*\n";

/// The text that lets git track shared records, and nothing else.
const IGNORE_REST: &str = "*\n!/.gitignore\n!/memory/\n!/memory/**\n/memory/**/.*\n";

/// Returns whether a project has a directory of shared records.
pub(crate) fn has_shared_files(root: &Path) -> Result<bool, MirrorError> {
    let opened = open(root)?;
    Ok(opened.read_whole(Path::new(MARK), PROJECT_FILE_BYTES_MAX)?.is_some())
}

/// Counts the files of shared records, without reading them.
pub(crate) fn count_files(root: &Path) -> Result<usize, MirrorError> {
    let opened = open(root)?;
    let mut files = 0;
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_shared()) {
        let entries = match opened.list(&file(kind.noun()), SHARED_FILES_MAX) {
            // A pass says so.
            Err(MirrorError::NotPlain(_)) => continue,
            entries => entries?.unwrap_or_default(),
        };
        let is_record = |name: &str| FileNames::parse(&format!("{}/{name}", kind.noun())).is_some();
        files += entries.iter().filter(|(name, _)| is_record(name)).count();
    }
    Ok(files)
}

/// Prepares a project for shared records: the directory with its mark, and a `.gitignore` that lets
/// git track them. Returns a remark if the user's own `.gitignore` has to change.
pub(super) fn prepare(root: &Path) -> Result<Option<String>, MirrorError> {
    let opened = open(root)?;
    let mark = Path::new(MARK);
    if opened.read_whole(mark, PROJECT_FILE_BYTES_MAX)?.is_none() {
        opened.write_whole(mark, MARK_TEXT.as_bytes(), None)?;
    }
    let ignore = Path::new(IGNORE);
    let now = opened.read_whole(ignore, PROJECT_FILE_BYTES_MAX)?.map(|read| read.bytes);
    // git may have checked it out with the line breaks of Windows.
    let says = |now: &[u8], text: &str| {
        let lines = now.split(|byte| *byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.eq(text.as_bytes().split(|byte| *byte == b'\n'))
    };
    match now.as_deref() {
        Some(now) if says(now, IGNORE_REST) => Ok(None),
        Some(now) if !says(now, IGNORE_ALL) => Ok(Some(format!(
            "{IGNORE} is not as anchord wrote it, so it stays; it has to let git track memory/"
        ))),
        now => {
            let expected = now.map(FileDigest::of);
            opened.write_whole(ignore, IGNORE_REST.as_bytes(), expected.as_ref())?;
            Ok(None)
        }
    }
}

/// Returns the path of a shared file relative to the project's root.
pub(super) fn file(path: &str) -> PathBuf {
    Path::new(DIRECTORY).join(path)
}

/// Opens a project's root.
pub(super) fn open(root: &Path) -> Result<ProjectFiles, MirrorError> {
    let path = || root.display().to_string();
    ProjectFiles::open(root).map_err(|source| MirrorError::Io {
        verb: "open",
        path: path(),
        source,
    })
}
