//! Takes a copy back to a commit, since the team's database lacks the later ones.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anchord_memory::{
    Change, CommitHead, Memory, Reader, Revision, Seq, SessionId, StoredCommit, render,
};

use super::missing::set_aside;
use crate::clock;
use crate::limits;
use crate::project::{ClosedStore, Marks, add_told, untold};
use crate::store::{
    BackupError, BackupHeader, BackupWriter, Entry, ReadEntries, Split, StateMachine, Store,
    StoreError, backup_line,
};
use crate::team::{self, TeamConfig};

/// Rewrites a closed store without the commits after `common`. Returns the file that has them, but
/// for saves of this machine, which wait again. What stays on this machine remains.
pub(super) fn step_back(
    closed: &ClosedStore,
    store: Box<dyn Store<Memory>>,
    common: Revision,
    directory: &Path,
) -> Result<Option<PathBuf>, StoreError> {
    let copy = directory.join("team-copy.tmp");
    let mut commits = BTreeMap::new();
    let written = write(&store.reading(), common, directory, &copy, &mut commits);
    let marks = store.marks().clone();
    store.close();
    let missing = written?;
    // The file has the commits that sessions are told of.
    let file = missing.as_ref().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    let lost = commits.into_iter();
    let lost = lost.map(|(session, commits)| (session, render::commits_lost(&commits, &file)));
    renumber(directory, &marks, lost)?;
    closed.restore(&copy)?;
    closed.note_step_back(common);
    std::fs::remove_file(&copy).map_err(StoreError::io("remove", &copy))?;
    Ok(missing)
}

/// Notes that ids of the missing records will be those of others. Live sessions may know them. Also
/// notes what to tell sessions, after what an earlier loss has left to tell.
fn renumber(
    directory: &Path,
    marks: &Marks,
    texts: impl Iterator<Item = (SessionId, String)>,
) -> Result<(), StoreError> {
    let Some(config) = team::read(directory)? else { return Ok(()) };
    let mut lost = untold(&config, marks);
    for (session, text) in texts {
        // A crash after this, and before the copy goes back, repeats it.
        add_told(lost.entry(session).or_default(), &text);
    }
    while lost.len() > limits::TOLD_SESSIONS_MAX {
        lost.pop_first();
    }
    let config = TeamConfig { renumbered: Some(clock::now()), lost, ..config };
    team::write(directory, &config).map_err(StoreError::io("write to", directory))
}

/// Writes the journal to go back to as a backup, and the missing commits into a file. Writes no
/// file if all of them are made again. Adds those of this machine's sessions to `commits`.
fn write(
    reading: &ReadEntries<Memory>,
    common: Revision,
    directory: &Path,
    copy: &Path,
    commits: &mut BTreeMap<SessionId, Vec<String>>,
) -> Result<Option<PathBuf>, StoreError> {
    let file = File::create(copy).map_err(StoreError::io("create", copy))?;
    let header = BackupHeader::new::<Memory>(String::new(), String::new(), clock::now());
    let mut writer = BackupWriter::new(file, &header).map_err(|error| unwritten(copy, error))?;
    let (mut missing, mut last) = (Vec::new(), common);
    let mut failed = None;
    let mut line = Vec::new();
    reading(Seq(1), &mut |entry| {
        let kept = match entry.revision.filter(|revision| *revision > common) {
            None => Some(entry.clone()),
            Some(revision) => {
                last = revision;
                if !waits_again(entry) {
                    backup_line(entry, &mut missing);
                }
                if let Some((session, commit)) = of_session(entry) {
                    commits.entry(session).or_default().push(commit);
                }
                rest(entry)
            }
        };
        let Some(kept) = kept else { return true };
        line.clear();
        backup_line(&Entry { seq: Seq(writer.entries() + 1), ..kept }, &mut line);
        failed = writer.line(line.trim_ascii_end()).err();
        failed.is_none()
    })?;
    if let Some(error) = failed {
        return Err(unwritten(copy, error));
    }
    writer.finish().map_err(|error| unwritten(copy, error))?;
    if missing.is_empty() {
        return Ok(None);
    }
    set_aside(directory, common, last, &missing).map(Some)
}

/// Returns what a lost commit left on this machine. Its save was not folded, so it waits again.
fn rest(entry: &Entry<Change>) -> Option<Entry<Change>> {
    let Split { mut after, .. } = Memory::split(entry.changes.clone());
    after.retain(|change| !matches!(change, Change::Release(_) | Change::Copied(_)));
    let (revision, call, reply) = (None, None, None);
    let kept = Entry { revision, call, reply, changes: after, ..entry.clone() };
    (!kept.changes.is_empty()).then_some(kept)
}

/// Returns whether a lost commit is a save of this machine. It was held before, and is again.
fn waits_again(entry: &Entry<Change>) -> bool {
    entry.changes.iter().any(|change| matches!(change, Change::Release(_)))
}

/// Returns the session of this machine that wrote a lost commit, and the commit in words. What a
/// save had waits again, so it is not lost.
fn of_session(entry: &Entry<Change>) -> Option<(SessionId, String)> {
    let is_others =
        |change: &Change| matches!(change, Change::Copied(copied) if copied.member.is_some());
    let is_lost = !waits_again(entry) && !entry.changes.iter().any(is_others);
    let session = entry.session.clone().filter(|_| is_lost)?;
    let head = CommitHead {
        revision: entry.revision.unwrap_or_default(),
        time: entry.time,
        session: entry.session.clone(),
        operation: entry.operation.to_string(),
    };
    let commit = StoredCommit { head, changes: entry.changes.clone() };
    let reader = Reader::session(session.clone());
    let summary = commit.described(&reader).summary;
    let more = match commit.records(&reader).count() {
        0 | 1 => String::new(),
        records => format!(" (and {} more)", records - 1),
    };
    Some((session, format!("{}: {summary}{more}", entry.operation)))
}

fn unwritten(path: &Path, error: BackupError) -> StoreError {
    StoreError::io("write", path)(match error {
        BackupError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use anchord_memory::{Copied, CopyMark, HeldKey, NewNote, Provenance, Timestamp, plan_notes};

    use super::*;
    use crate::team_copy::missing::tests::{noted, reading};
    use crate::team_copy::missing_in;
    use crate::testing::team_config;

    #[test]
    fn a_save_that_is_made_again_is_not_set_aside() {
        let scratch = tempfile::tempdir().unwrap();
        let mut save = noted(1, "Saved.");
        save.changes.push(Change::Release(HeldKey { instance: "shim".into(), number: 1 }));
        let set_aside = |journal: Vec<Entry<Change>>| {
            let (directory, copy) = (scratch.path(), scratch.path().join("copy"));
            let journal = reading(journal);
            let file = write(&journal, Revision(0), directory, &copy, &mut BTreeMap::new());
            file.unwrap().map(|file| std::fs::read_to_string(file).unwrap())
        };
        assert_eq!(set_aside(vec![save.clone()]), None);
        // A crash before the end repeats it.
        for _ in 0..2 {
            let text = set_aside(vec![save.clone(), noted(2, "Noted.")]).unwrap();
            assert!(text.contains("Noted.") && !text.contains("Saved."), "{text}");
        }
        let [file] = &missing_in(scratch.path()).unwrap()[..] else { panic!("not one file") };
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        set_aside(vec![save, noted(2, "Another.")]).unwrap();
        assert_eq!(missing_in(scratch.path()).unwrap().len(), 2, "the same numbers");
    }

    #[test]
    fn what_a_session_is_told_is_bounded_and_not_repeated() {
        let directory = tempfile::tempdir().unwrap();
        team::write(directory.path(), &team_config()).unwrap();
        let told_after = |text: &str| {
            let texts = [(SessionId::new("one"), text.to_owned())];
            renumber(directory.path(), &Marks::new(), texts.into_iter()).unwrap();
            let mut config = team::read(directory.path()).unwrap().unwrap();
            config.lost.remove(&SessionId::new("one")).unwrap()
        };
        assert_eq!(told_after("A note.\n"), "A note.\n");
        assert_eq!(told_after("A note.\n"), "A note.\n", "a crash has repeated it");
        assert_eq!(told_after("A rule.\n"), "A note.\nA rule.\n");
        let long = "x".repeat(limits::TOLD_BYTES_MAX);
        let told = told_after(&long);
        assert!(told.starts_with("A note.\nA rule.\nAnd 1 more: "), "{told}");
    }

    #[test]
    fn a_session_is_told_of_its_own_commits_that_are_not_made_again() {
        let session = SessionId::new("one");
        let by = Provenance::new(session.clone(), "agent".into(), Timestamp(1));
        let note = |content: &str| NewNote { content: content.to_owned(), ..NewNote::default() };
        let notes = vec![Ok(note("The port is 1.")), Ok(note("The host is a."))];
        let changes = plan_notes(&Memory::default(), &by, notes).unwrap().changes;
        let mark = CopyMark { digest: "a".into(), epoch: 0 };
        let entry = |member: Option<&str>| {
            let copied = Copied { mark: mark.clone(), member: member.map(Into::into) };
            let changes = changes.iter().cloned().chain([Change::Copied(copied)]).collect();
            Entry { changes, ..noted(1, "One of them.") }
        };
        let said = Some((session.clone(), "note: n1 The port is 1. (and 1 more)".to_owned()));
        assert_eq!(of_session(&entry(None)), said);
        assert_eq!(of_session(&entry(Some("Bob"))), None, "it is another machine's");
    }
}
