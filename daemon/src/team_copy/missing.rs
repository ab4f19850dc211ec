//! The files with commits that a team's database has lost. Counts these, and those of them that
//! were made again.
//!
//! A commit made again has other ids, another revision and another key. So what its records say is
//! compared: then it counts as well if somebody wrote it again by hand.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use anchord_memory::{Body, Change, Memory, Record, Revision, Seq};

use crate::private_file;
use crate::store::{Entry, ReadEntries, StoreError, read_backup_line};

/// The beginning and the ending of the name of a file with commits that a team's database lacks.
const MISSING: (&str, &str) = ("missing-", ".jsonl");

/// A file with commits that a team's database has lost.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) path: PathBuf,
    /// The number of commits in it.
    pub(crate) commits: u64,
    /// The number of those that were made again since.
    pub(crate) again: u64,
}

/// Writes commits after `common` into a file, and returns its path.
pub(super) fn set_aside(
    directory: &Path,
    common: Revision,
    last: Revision,
    commits: &[u8],
) -> Result<PathBuf, StoreError> {
    let name = format!("{}{}-{}", MISSING.0, common.0 + 1, last.0);
    let path = place_for(directory, &name, commits);
    // A crash must not leave half of them, which would be counted as all.
    private_file::replace(&path, commits).map_err(StoreError::io("write", &path))?;
    Ok(path)
}

/// Returns a path that nothing has, or that has these bytes already, as after a crash. The database
/// may lose commits with the same numbers twice.
fn place_for(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let first = directory.join(format!("{name}{}", MISSING.1));
    let later = (2_u32..).map(|number| directory.join(format!("{name}-{number}{}", MISSING.1)));
    let has_them = |path: &Path| std::fs::read(path).is_ok_and(|found| found == bytes);
    let is_fit = |path: &PathBuf| !path.exists() || has_them(path);
    std::iter::once(first.clone()).chain(later).find(is_fit).unwrap_or(first)
}

/// Returns the files with commits that the team's database has lost.
pub(crate) fn missing_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(MISSING.0) && name.ends_with(MISSING.1) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Moves the files with such commits to a memory's new directory.
pub(crate) fn take_missing(from: &Path, to: &Path) -> io::Result<()> {
    for file in missing_in(from)? {
        std::fs::rename(&file, to.join(file.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Returns the revision of the first commit that was missing, as a file's name has it.
fn first_in_name(file: &Path) -> Option<Revision> {
    let numbers = file.file_name()?.to_str()?.strip_prefix(MISSING.0)?;
    numbers.split('-').next()?.parse().ok().map(Revision)
}

/// Counts the commits in files, and those that a journal has again. Reads all of it.
///
/// # Errors
/// Fails if a file or the journal cannot be read.
pub(crate) fn count_missing(
    files: Vec<PathBuf>,
    reading: &ReadEntries<Memory>,
) -> Result<Vec<Missing>, StoreError> {
    let mut lost = Vec::new();
    for path in files {
        let commits = commits_in(&path)?;
        lost.push((path, commits));
    }
    // The last revision with each text that is wanted.
    let mut found: HashMap<String, Revision> = HashMap::new();
    for (text, _) in lost.iter().flat_map(|(_, commits)| commits).flatten() {
        found.insert(text.clone(), Revision(0));
    }
    if !found.is_empty() {
        reading(Seq(1), &mut |entry| {
            if let Some((revision, text)) = entry.revision.zip(text_of(entry))
                && let Some(last) = found.get_mut(&text)
            {
                *last = revision;
            }
            true
        })?;
    }
    let counted = lost.into_iter().map(|(path, commits)| {
        // The journal went back to before the first of them, which may have no text.
        let lowest = || commits.iter().flatten().map(|(_, revision)| *revision).min();
        let first = first_in_name(&path).or_else(lowest).unwrap_or_default();
        let is_again = |text: &String| found.get(text).is_some_and(|last| *last >= first);
        let again = commits.iter().flatten().filter(|(text, _)| is_again(text)).count();
        Missing { path, commits: commits.len() as u64, again: again as u64 }
    });
    Ok(counted.collect())
}

/// Returns the text and the revision of each commit in a file; `None` for one that has no text.
fn commits_in(path: &Path) -> Result<Vec<Option<(String, Revision)>>, StoreError> {
    let bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(lines
        .map(|line| {
            // A person may have changed the file.
            let entry = read_backup_line::<Change>(line).ok()?;
            Some((text_of(&entry)?, entry.revision?))
        })
        .collect())
}

/// Returns what the shared records of an entry say, if it has any.
fn text_of(entry: &Entry<Change>) -> Option<String> {
    let records = entry.changes.iter().filter_map(Change::record);
    let texts: Vec<String> =
        records.filter(|record| !record.is_private()).filter_map(|record| said(record)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Returns what a record says, without what differs when it is written again.
fn said(record: &Record) -> Option<String> {
    let body = match &record.body {
        Body::SessionRow(row) => serde_json::to_string(&(&row.session, &row.summary)),
        body => serde_json::to_string(body),
    };
    Some(format!("{:?} {:?} {}", record.kind(), record.state, body.ok()?))
}

#[cfg(test)]
pub(super) mod tests {
    use anchord_memory::{NewNote, Provenance, SessionId, Timestamp, plan_notes};

    use super::*;
    use crate::store::backup_line;

    /// Returns the commit of a note.
    pub(in crate::team_copy) fn noted(revision: u64, content: &str) -> Entry<Change> {
        let session = SessionId::new("one");
        let by = Provenance::new(session.clone(), "agent".into(), Timestamp(1));
        let note = NewNote { content: content.to_owned(), ..NewNote::default() };
        let plan = plan_notes(&Memory::default(), &by, vec![Ok(note)]).unwrap();
        Entry {
            seq: Seq(revision),
            revision: Some(Revision(revision)),
            time: Timestamp(1),
            session: Some(session),
            call: None,
            operation: "note".into(),
            changes: plan.changes,
            reply: None,
        }
    }

    /// Returns a function that reads these entries, whichever are asked for.
    pub(in crate::team_copy) fn reading(journal: Vec<Entry<Change>>) -> ReadEntries<Memory> {
        Box::new(move |_: Seq, visit: &mut dyn FnMut(&Entry<Change>) -> bool| {
            for entry in &journal {
                visit(entry);
            }
            Ok(())
        })
    }

    #[test]
    fn a_commit_that_was_made_again_after_the_loss_is_counted_as_such() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("missing-3-6.jsonl");
        let mut text = Vec::new();
        let empty = Entry { changes: Vec::new(), ..noted(3, "nothing") };
        for entry in [empty, noted(4, "again"), noted(5, "earlier"), noted(6, "never")] {
            backup_line(&entry, &mut text);
        }
        text.extend_from_slice(b"edited by hand\n");
        std::fs::write(&path, text).unwrap();
        let journal = vec![noted(2, "earlier"), noted(3, "again"), noted(4, "another")];
        let counted = count_missing(vec![path.clone()], &reading(journal)).unwrap();
        assert_eq!(counted, [Missing { path, commits: 5, again: 1 }]);
    }
}
