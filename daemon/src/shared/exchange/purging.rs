//! Removes the files that a purge must not leave: those of its records, and those with its text.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anchord_memory::shared::{FileForm, FileNames, FilesOfTopic};
use anchord_memory::{Memory, RecordId};
use serde_json::Value;

use super::Mirror;
use crate::blocking::run_blocking;
use crate::bounded_fs;
use crate::limits::SHARED_FILE_BYTES_MAX;
use crate::project::OpenProject;
use crate::shared::decision::{Bases, Remove};
use crate::shared::place::{DIRECTORY, file, open};
use crate::shared::scan::{Scan, ScannedFile, scan_unmarked};

/// The files that a purge looks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoughtFiles {
    /// The records whose files go.
    pub(crate) records: BTreeSet<RecordId>,
    /// The text that no file keeps, also one that is not a record's.
    pub(crate) query: Option<String>,
}

/// The files that a purge removes, relative to the project's root.
#[derive(Debug, Default)]
pub(crate) struct PurgedFiles {
    pub(crate) removed: Vec<PathBuf>,
    /// Files that could not be read or removed, and so may still have a purged text.
    pub(crate) stay: Vec<PathBuf>,
}

/// The files that were found, and the scan that found them.
struct FoundFiles {
    removes: Vec<Remove>,
    unread: Vec<PathBuf>,
    scan: Scan,
}

/// The paths of files whose text is known by their bytes alone.
#[derive(Default)]
struct ReadFiles {
    with_text: BTreeSet<String>,
    unread: Vec<PathBuf>,
}

impl Mirror {
    /// Finds the files that a purge would remove.
    pub(in crate::shared) async fn files_to_purge(
        &mut self,
        project: &OpenProject,
        root: &Path,
        sought: &SoughtFiles,
    ) -> Result<PurgedFiles, String> {
        let FoundFiles { removes, unread, scan } = self.find(project, root, sought).await?;
        self.seen = scan.files;
        self.done = None;
        let removed = removes.iter().map(|remove| file(&remove.path)).collect();
        Ok(PurgedFiles { removed, stay: unread })
    }

    /// Removes the files that a purge must not leave. Those that cannot be read stay, so no pass
    /// takes them in. Also returns the first failure to remove a file.
    ///
    /// The agreements with all files of the records end first. If nothing is purged after all, the
    /// files are written again, and none counts as deleted.
    pub(in crate::shared) async fn remove_for_purge(
        &mut self,
        project: &OpenProject,
        root: &Path,
        sought: &SoughtFiles,
    ) -> Result<(PurgedFiles, Option<String>), String> {
        let FoundFiles { removes, unread, mut scan } = self.find(project, root, sought).await?;
        let of_text = removes.iter().filter_map(|remove| self.bases.get(&remove.id));
        let records = of_text.map(|base| base.record).chain(sought.records.iter().copied());
        let records: BTreeSet<RecordId> = records.collect();
        let mut changed = self.end_agreements(&records);
        let mut files = PurgedFiles { removed: Vec::new(), stay: unread };
        let mut failed = None;
        for remove in removes {
            let path = remove.path.clone();
            let put = self.put(root, &mut scan, Vec::new(), vec![remove], &mut changed).await;
            let why = match put {
                Ok(()) if !scan.files.contains_key(&path) => {
                    files.removed.push(file(&path));
                    continue;
                }
                Ok(()) => format!("{} has just been changed", file(&path).display()),
                Err(why) => why,
            };
            files.stay.push(file(&path));
            failed.get_or_insert(why);
        }
        self.mark(project, changed).await;
        self.seen = scan.files;
        self.done = None;
        Ok((files, failed))
    }

    async fn find(
        &mut self,
        project: &OpenProject,
        root: &Path,
        sought: &SoughtFiles,
    ) -> Result<FoundFiles, String> {
        let scan = self.scan_by(root, scan_unmarked).await?;
        let read = match &sought.query {
            Some(query) => read_opaque(root, &scan, query).await?,
            None => ReadFiles::default(),
        };
        let (memory, name) = (project.memory(), project.id.to_string());
        let (bases, wanted) = (self.bases.clone(), sought.clone());
        let finding = run_blocking(move || {
            let (removes, unread) = files_of(&memory, &name, &bases, &scan, (&wanted, read));
            FoundFiles { removes, unread, scan }
        });
        Ok(finding.await)
    }
}

/// Reads the files of which a scan keeps no text, or only a part.
async fn read_opaque(root: &Path, scan: &Scan, query: &str) -> Result<ReadFiles, String> {
    let is_opaque = |seen: &ScannedFile| seen.form.is_err() || seen.secrets.is_some();
    let opaque = scan.files.iter().filter(|(_, seen)| is_opaque(seen)).map(|(path, _)| path);
    let paths: Vec<String> = opaque.chain(scan.odd.iter().map(|(path, _)| path)).cloned().collect();
    if paths.is_empty() {
        return Ok(ReadFiles::default());
    }
    let escaped = serde_json::to_string(query).unwrap_or_default();
    let (at, texts) = (root.to_owned(), [query.to_owned(), escaped.trim_matches('"').to_owned()]);
    let reading = bounded_fs::run(root, move || {
        let files = open(&at)?;
        let mut read = ReadFiles::default();
        for path in paths {
            match files.read_whole(&file(&path), SHARED_FILE_BYTES_MAX) {
                Ok(Some(found)) => {
                    let text = String::from_utf8_lossy(&found.bytes);
                    if texts.iter().any(|sought| text.contains(sought.as_str())) {
                        read.with_text.insert(path);
                    }
                }
                Ok(None) => {}
                Err(_) => read.unread.push(file(&path)),
            }
        }
        Ok::<_, crate::projects::MirrorError>(read)
    });
    let read = reading.await.map_err(|error| error.to_string())?;
    read.map_err(|error| format!("failed to {error}"))
}

/// Returns how to remove the files that are sought, and the paths that cannot be read. `name` is
/// that of the memory.
fn files_of(
    memory: &Memory,
    name: &str,
    bases: &Bases,
    scan: &Scan,
    (sought, read): (&SoughtFiles, ReadFiles),
) -> (Vec<Remove>, Vec<PathBuf>) {
    let records = &sought.records;
    let names = FileNames::of(memory, name);
    let live = records.iter().filter_map(|id| memory.record(*id)).filter(|it| it.is_shared());
    let topics: BTreeSet<String> = live.filter_map(|record| FilesOfTopic::key(record)).collect();
    let is_of_topic =
        |form: &FileForm| form.content.topic_key().is_some_and(|key| topics.contains(&key));
    let has_query = |form: &FileForm| {
        let query = sought.query.as_deref();
        query.is_some_and(|query| form.content.to_json().values().any(|it| has_text(it, query)))
    };
    let is_sought = |path: &str, seen: &ScannedFile| {
        // A file that was once a record's own may be another's by now.
        let known = bases.get(&seen.id).map(|base| base.record);
        known.or_else(|| names.record(&seen.id)).is_some_and(|record| records.contains(&record))
            || seen.form.as_ref().is_ok_and(|form| is_of_topic(form) || has_query(form))
            || read.with_text.contains(path)
    };
    let mut removes = Vec::new();
    let mut unread: BTreeSet<PathBuf> = read.unread.iter().cloned().collect();
    for (path, seen) in scan.files.iter().filter(|(path, seen)| is_sought(path, seen)) {
        match seen.digest.clone() {
            Some(expected) => {
                removes.push(Remove { id: seen.id.clone(), path: path.clone(), expected });
            }
            None => drop(unread.insert(file(path))),
        }
    }
    // A file with another name may be anybody's, so it is named and stays.
    let odd = scan.odd.iter().filter(|(path, _)| read.with_text.contains(path));
    unread.extend(odd.map(|(path, _)| file(path)));
    if scan.is_there && !scan.is_whole {
        unread.insert(DIRECTORY.into());
    }
    (removes, unread.into_iter().collect())
}

fn has_text(value: &Value, query: &str) -> bool {
    match value {
        Value::String(text) => text.contains(query),
        Value::Array(items) => items.iter().any(|item| has_text(item, query)),
        Value::Object(fields) => fields.values().any(|field| has_text(field, query)),
        _ => false,
    }
}
