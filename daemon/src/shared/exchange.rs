//! One project's shared files: compares them with the memory, and makes both agree.
//!
//! A pass first takes in what changed in the files, then writes what changed in the memory. What
//! the two last agreed on is a soft mark of each record. If a mark is lost or
//! old, the record's history is read. If that does not help, the difference is a conflict.
//!
//! Without a mark, a record whose file was deleted looks like one that had no file yet. So the file
//! is written again. A record that was forgotten by mistake might go unnoticed.

mod agreements;
mod purging;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anchord_memory::shared::{ChangedTopicFiles, FileNames, FilesOfTopic, SharedContent};
use anchord_memory::{
    Kind, Memory, Provenance, Record, RecordId, Seq, SessionId, ShareId, TakeItem, TakeOutcome,
    Version, WantedVersions, plan_take_in, shared_rivals,
};

pub(crate) use purging::{PurgedFiles, SoughtFiles};

use super::decide::decide;
use super::decision::{Base, Bases, ExchangePlan, HeldFiles, Remove, Take, Write};
use super::place::file;
use super::scan::{Scan, ScannedFiles, scan};
use super::{KeptSide, topics};
use crate::api::{SharedRemark, SharedStatus};
use crate::blocking::run_blocking;
use crate::bounded_fs;
use crate::clock;
use crate::limits::{
    SHARED_GONE_AFTER, SHARED_ROUNDS_MAX, SHARED_TAKE_BYTES_MAX, SHARED_TAKE_FILES_MAX,
    SHARED_VERSIONS_MAX, SHARED_WRITES_AT_ONCE,
};
use crate::project::{OpenProject, SHARED, WriteCommand};
use crate::projects::{FileDigest, MirrorError, ProjectFiles};

/// The session under which changes of files are written.
const SESSION: &str = "shared-files";

/// The state of a project's shared files while it is open.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    bases: Bases,
    seen: ScannedFiles,
    /// Names that the last scan found, and what is wrong with them.
    odd: Vec<(String, String)>,
    held: HeldFiles,
    /// Since when the file of a record is missing.
    missing: BTreeMap<ShareId, Instant>,
    /// The entry up to which the memory is written.
    done: Option<Seq>,
    status: SharedStatus,
}

impl Mirror {
    /// Returns the state after the marks of an open project.
    pub(super) fn new(project: &OpenProject) -> Self {
        let read = |(key, value): (&String, &String)| {
            let id: ShareId = key.strip_prefix(SHARED)?.parse().ok()?;
            Some((id, serde_json::from_str::<Base>(value).ok()?))
        };
        let bases = project.shared_marks().iter().filter_map(read).collect();
        Self { bases, ..Self::default() }
    }

    pub(super) fn status(&self) -> &SharedStatus {
        &self.status
    }

    /// Makes memory and files agree, as far as nobody has to decide.
    pub(super) async fn pass(&mut self, project: &OpenProject, root: &Path) -> Result<(), String> {
        if let Some(why) = &project.owner.health().read_only {
            return Err(format!("the memory is read-only: {why}"));
        }
        let mut scan = self.scan(root).await?;
        if !scan.is_there {
            // A branch from before the sharing. What is not there was not deleted.
            self.status = SharedStatus::default();
            self.done = None;
            return Err("this branch has no shared memory, so nothing is exchanged".to_owned());
        }
        let is_same = !scan.has_changed && scan.odd == self.odd;
        if is_same && self.done == Some(project.memory().seq()) {
            self.seen = scan.files;
            return Ok(());
        }
        let name = project.id.to_string();
        let mut changed = BTreeSet::new();
        let (mut remarks, mut records) = (Vec::new(), 0);
        let mut failed = None;
        for _ in 0..SHARED_ROUNDS_MAX {
            let memory = project.memory();
            let done = memory.seq();
            let decision = self.decided(&name, memory, &mut scan).await;
            let ExchangePlan { mut takes, writes, removes, agreed, dropped, .. } = decision;
            (remarks, records) = (decision.remarks, decision.records);
            let is_waiting = self.wait_for_missing(&mut takes);
            let is_quiet = takes.is_empty() && writes.is_empty() && removes.is_empty();
            for (id, base) in agreed {
                self.bases.insert(id.clone(), base);
                changed.insert(id);
            }
            for id in dropped {
                self.bases.remove(&id);
                changed.insert(id);
            }
            if is_quiet {
                self.done = Some(done).filter(|_| !is_waiting && scan.is_whole);
                break;
            }
            let step = async {
                if takes.is_empty() {
                    self.put(root, &mut scan, writes, removes, &mut changed).await
                } else {
                    self.take(project, &name, root, &mut scan, takes, &mut changed).await
                }
            };
            if let Err(error) = step.await {
                failed = Some(error);
                break;
            }
        }
        self.mark(project, changed).await;
        let memory = project.memory();
        let files = scan.files.len();
        (self.seen, self.odd) = (scan.files, scan.odd);
        remarks.extend(shared_rivals(&memory).iter().map(SharedRemark::rivals));
        let status = SharedStatus { records, files, ..SharedStatus::default() };
        self.status = status.with_remarks(remarks);
        failed.map_or(Ok(()), Err)
    }

    /// Keeps only deletions that have lasted for a moment, since git replaces a file by removing it
    /// first. Returns whether others are left.
    fn wait_for_missing(&mut self, takes: &mut Vec<Take>) -> bool {
        let now: BTreeSet<&ShareId> = takes.iter().flat_map(|take| &take.gone).collect();
        self.missing.retain(|id, _| now.contains(id));
        let all = takes.len();
        takes.retain(|take| {
            take.gone.iter().fold(true, |lasted, id| {
                let since = self.missing.entry(id.clone()).or_insert_with(clock::start);
                since.elapsed() >= SHARED_GONE_AFTER && lasted
            })
        });
        takes.len() < all
    }

    /// Decides a conflict for one side. Returns the record's file.
    pub(super) async fn resolve(
        &mut self,
        project: &OpenProject,
        root: &Path,
        record: RecordId,
        keep: KeptSide,
    ) -> Result<String, String> {
        let name = project.id.to_string();
        let memory = project.memory();
        let stored = memory.record(record).filter(|stored| stored.is_shared());
        let stored = stored.ok_or_else(|| format!("{record} is not a shared record"))?;
        if record.kind == Kind::Topic {
            return self.resolve_topic(project, root, &name, stored, keep).await;
        }
        let id = FileNames::id(stored, &name);
        self.seen = self.scan(root).await?.files;
        let found = self.seen.iter().find(|(_, seen)| seen.id == id);
        let Some((path, seen)) = found else { return Err(format!("{record} has no file")) };
        let (path, digest) = (path.clone(), seen.digest.clone());
        self.held.remove(&id);
        self.done = None;
        let unread = || format!("{path} cannot be read");
        let digest = digest.ok_or_else(unread)?;
        // The side that goes counts as what both last agreed on.
        if keep == KeptSide::File {
            let form =
                seen.form.clone().map_err(|unusable| format!("{path}: {}", unusable.what))?;
            let base = Some(SharedContent::of(stored));
            let item = TakeItem { id, record: Some(record), base, file: Some(form) };
            if let [TakeOutcome::Refused(why)] = write(project, &name, vec![item]).await?.as_slice()
            {
                return Err(format!("{path}: {why}"));
            }
        } else {
            let text = anchord_memory::shared::FileForm::of(stored).render();
            let base = Base {
                record,
                version: stored.version,
                digest: FileDigest::of(text.as_bytes()),
                path: path.clone(),
            };
            let write = Write { id: id.clone(), base, text, expected: Some(digest) };
            let mut scan = Scan { files: std::mem::take(&mut self.seen), ..Scan::default() };
            let mut changed = BTreeSet::new();
            let written = self.put(root, &mut scan, vec![write], Vec::new(), &mut changed).await;
            self.mark(project, changed).await;
            written?;
        }
        Ok(path)
    }

    /// Decides between the descriptions of a topic's record and its files, or of two files. All
    /// else is merged by the next pass.
    async fn resolve_topic(
        &mut self,
        project: &OpenProject,
        root: &Path,
        name: &str,
        stored: &Record,
        keep: KeptSide,
    ) -> Result<String, String> {
        let mut scan = self.scan(root).await?;
        let files = topics::files_of(stored, &scan.files);
        let together = FilesOfTopic::new(files.iter().map(|(id, _, form, _)| (id.clone(), form)));
        let Some(all) = together.combined() else {
            self.seen = scan.files;
            return Err(format!("{} has no file", stored.id));
        };
        let path = files.first().map(|(_, path, ..)| path.clone()).unwrap_or_default();
        self.held.remove(&FileNames::own_id(stored, name));
        self.done = None;
        let bases = files.iter().filter_map(|(id, ..)| self.bases.get(id));
        let version = bases.filter(|base| base.record == stored.id).map(|base| base.version).min();
        let ours = SharedContent::of(stored);
        let changes = match stored.topic() {
            Some(topic) if keep == KeptSide::Memory => together.keep_descriptions(Some(topic)),
            // The files agree with the record, and with each other they do not.
            _ if all.content.describes_the_same(&ours) => together.keep_descriptions(None),
            _ => ChangedTopicFiles::new(),
        };
        let all = together.with(&changes).combined().unwrap_or(all);
        let mut decision = ExchangePlan::default();
        topics::change(stored, &files, changes, &mut decision);
        let ExchangePlan { writes, removes, remarks, .. } = decision;
        let written = match remarks.into_iter().next() {
            Some(remark) => Err(remark.what),
            None => self.put_alone(project, root, &mut scan, (writes, removes)).await,
        };
        self.seen = scan.files;
        written?;
        if keep == KeptSide::File {
            let base = match version {
                Some(version) => self.content_at(project, stored.id, version).await?,
                None => None,
            };
            // The record's descriptions count as what both last agreed on.
            let base = ours.with_rest_of(base.as_ref());
            let (id, record) = (FileNames::own_id(stored, name), Some(stored.id));
            let item = TakeItem { id, record, base, file: Some(all) };
            let taken = write(project, name, vec![item]).await?.pop();
            if let Some(TakeOutcome::Refused(why)) = taken {
                return Err(format!("{path}: {why}"));
            }
        }
        Ok(path)
    }

    /// Writes and removes files of which the rest has not been compared yet.
    async fn put_alone(
        &mut self,
        project: &OpenProject,
        root: &Path,
        scan: &mut Scan,
        (writes, removes): (Vec<Write>, Vec<Remove>),
    ) -> Result<(), String> {
        let ids: Vec<ShareId> = writes.iter().map(|write| write.id.clone()).collect();
        let agreed: Vec<_> = ids.iter().map(|id| self.bases.get(id).cloned()).collect();
        let mut changed = BTreeSet::new();
        let written = self.put(root, scan, writes, removes, &mut changed).await;
        for (id, agreed) in ids.into_iter().zip(agreed) {
            match agreed {
                Some(base) => drop(self.bases.insert(id, base)),
                None => drop(self.bases.remove(&id)),
            }
        }
        self.mark(project, changed).await;
        written
    }

    /// Returns a record's content at an earlier version, if the history still has it.
    async fn content_at(
        &self,
        project: &OpenProject,
        record: RecordId,
        version: Version,
    ) -> Result<Option<SharedContent>, String> {
        let history = project.history().map_err(|error| error.to_string())?;
        let versions = run_blocking(move || history.versions([(record, version)].into())).await;
        let versions = versions.map_err(|error| error.to_string())?;
        let stored = versions.get(&(record, version)).and_then(|found| found.content.record());
        Ok(stored.map(|record| SharedContent::of(record)))
    }

    async fn scan(&mut self, root: &Path) -> Result<Scan, String> {
        self.scan_by(root, scan).await
    }

    async fn scan_by(
        &mut self,
        root: &Path,
        scan: fn(&Path, ScannedFiles) -> Result<Scan, MirrorError>,
    ) -> Result<Scan, String> {
        let (at, before) = (root.to_owned(), std::mem::take(&mut self.seen));
        let scanned = bounded_fs::run(root, move || scan(&at, before)).await;
        match scanned {
            Ok(Ok(scan)) => Ok(scan),
            Ok(Err(error)) => Err(format!("failed to {error}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Decides on a thread of its own, since a memory may have many records.
    async fn decided(&self, name: &str, memory: Arc<Memory>, scan: &mut Scan) -> ExchangePlan {
        let (name, bases, held) = (name.to_owned(), self.bases.clone(), self.held.clone());
        let own = std::mem::take(scan);
        let (decision, own) =
            run_blocking(move || (decide(&memory, &name, &bases, &own, &held), own)).await;
        *scan = own;
        decision
    }

    /// Takes in as many changed files as one commit may have.
    async fn take(
        &mut self,
        project: &OpenProject,
        name: &str,
        root: &Path,
        scan: &mut Scan,
        mut takes: Vec<Take>,
        changed: &mut BTreeSet<ShareId>,
    ) -> Result<(), String> {
        let mut bytes = 0;
        let fits = takes.iter().take(SHARED_TAKE_FILES_MAX).take_while(|take| {
            let seen = take.files.iter().filter_map(|(_, path, _)| scan.files.get(path));
            let size = seen.map(|seen| seen.stamp.bytes).sum::<u64>();
            bytes += size;
            bytes <= SHARED_TAKE_BYTES_MAX || bytes == size
        });
        let fits = fits.count().max(1);
        takes.truncate(fits);
        self.look_up(project, &mut takes, changed).await?;
        if takes.is_empty() {
            return Ok(());
        }
        let items: Vec<TakeItem> = takes.iter().map(|take| take.item.clone()).collect();
        let outcomes = write(project, name, items).await?;
        let memory = project.memory();
        let mut removes = Vec::new();
        for (take, outcome) in takes.into_iter().zip(outcomes) {
            let Take { item, path, digest, files, gone, moved, .. } = take;
            let id = item.id;
            let version = |record: RecordId| memory.record(record).map(|stored| stored.version);
            let hold = |remark| (digest.clone(), item.record.and_then(version), remark);
            match outcome {
                TakeOutcome::Taken(record) => {
                    let version = version(record).unwrap_or(Version::FIRST);
                    self.forget_bases(gone.iter().chain(&moved), item.record, changed);
                    self.agree(record, version, files, changed);
                }
                TakeOutcome::United(_) => {
                    for (id, path, expected) in files {
                        self.bases.remove(&id);
                        removes.push(Remove { id, path, expected });
                    }
                }
                TakeOutcome::Conflict(record) => {
                    let what = format!(
                        "{record} and its file were both changed; `anchord shared resolve {record}` \
                         keeps one of them"
                    );
                    let remark = SharedRemark::conflict_in(&path, &what);
                    let remark = SharedRemark { record: Some(record), ..remark };
                    self.held.insert(id.clone(), hold(remark));
                }
                TakeOutcome::Refused(why) => {
                    let what = format!("it is not taken in: {why}");
                    self.held.insert(id.clone(), hold(SharedRemark::file(&path, &what)));
                }
                TakeOutcome::Forgotten(_) | TakeOutcome::Kept(_) | TakeOutcome::Nothing => {
                    let files = files.iter().map(|(id, ..)| id);
                    let all = gone.iter().chain(&moved).chain(files);
                    self.forget_bases(all, item.record, changed);
                }
            }
            changed.insert(id);
        }
        self.put(root, scan, Vec::new(), removes, changed).await
    }

    /// Notes that a record and its files agree.
    fn agree(
        &mut self,
        record: RecordId,
        version: Version,
        files: Vec<(ShareId, String, FileDigest)>,
        changed: &mut BTreeSet<ShareId>,
    ) {
        for (id, path, digest) in files {
            self.bases.insert(id.clone(), Base { record, version, digest, path });
            changed.insert(id);
        }
    }

    /// Ends agreements of a record with files that it no longer has. One of them may have become
    /// another record's.
    fn forget_bases<'a>(
        &mut self,
        ids: impl Iterator<Item = &'a ShareId>,
        record: Option<RecordId>,
        changed: &mut BTreeSet<ShareId>,
    ) {
        for id in ids {
            let is_its = |base: &Base| record.is_none_or(|record| base.record == record);
            if self.bases.get(id).is_some_and(is_its) {
                self.bases.remove(id);
                changed.insert(id.clone());
            }
        }
    }

    /// Finds what records and files that both changed last agreed on. A file that has an earlier
    /// version of its record is not an edit: it is behind.
    async fn look_up(
        &mut self,
        project: &OpenProject,
        takes: &mut Vec<Take>,
        changed: &mut BTreeSet<ShareId>,
    ) -> Result<(), String> {
        let memory = project.memory();
        let mut wanted = WantedVersions::new();
        for take in takes.iter() {
            let stored = take.item.record.and_then(|record| memory.record(record));
            let (Some(from), Some(stored)) = (take.look_up, stored) else { continue };
            let last = stored.version.0.saturating_sub(1);
            let first = from.0.max(last.saturating_sub(SHARED_VERSIONS_MAX));
            wanted.insert((stored.id, from));
            wanted.extend((first..=last).map(|version| (stored.id, Version(version))));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let history = project.history().map_err(|error| error.to_string())?;
        let versions = run_blocking(move || history.versions(wanted)).await;
        let versions = versions.map_err(|error| error.to_string())?;
        let content = |record, version| {
            let stored = versions.get(&(record, version))?;
            stored.content.record().map(|record| SharedContent::of(record))
        };
        takes.retain_mut(|take| {
            let (Some(record), Some(from)) = (take.item.record, take.look_up) else { return true };
            let is_known =
                |id: &ShareId| self.bases.get(id).is_some_and(|base| base.record == record);
            let known = take.files.iter().map(|(id, ..)| id).chain(&take.gone).any(is_known);
            let file = take.item.file.as_ref().map(|file| &file.content);
            let earlier = versions.keys().rev().filter(|(id, _)| *id == record);
            let same = earlier.map(|(_, version)| *version).find(|version| {
                let both = content(record, *version).zip(file);
                both.is_some_and(|(content, file)| content.says_the_same(file))
            });
            if let Some(version) = same {
                let gone = take.gone.iter().chain(&take.moved);
                self.forget_bases(gone, Some(record), changed);
                self.agree(record, version, std::mem::take(&mut take.files), changed);
                return false;
            }
            take.item.base = if known { content(record, from) } else { None };
            true
        });
        Ok(())
    }

    /// Writes and removes files, a few at a time.
    async fn put(
        &mut self,
        root: &Path,
        scan: &mut Scan,
        writes: Vec<Write>,
        removes: Vec<Remove>,
        changed: &mut BTreeSet<ShareId>,
    ) -> Result<(), String> {
        let (mut writes, mut removes) = (writes.into_iter(), removes.into_iter());
        loop {
            let some: Vec<Write> = writes.by_ref().take(SHARED_WRITES_AT_ONCE).collect();
            let gone: Vec<Remove> = removes.by_ref().take(SHARED_WRITES_AT_ONCE).collect();
            if some.is_empty() && gone.is_empty() {
                return Ok(());
            }
            let at = root.to_owned();
            let done = bounded_fs::run(root, move || change_files(&at, some, gone)).await;
            let done = done.map_err(|error| error.to_string())?;
            for id in done.removed {
                self.bases.remove(&id);
                scan.files.retain(|_, seen| seen.id != id);
                changed.insert(id);
            }
            for (id, base, seen) in done.written {
                scan.files.insert(base.path.clone(), seen);
                self.bases.insert(id.clone(), base);
                changed.insert(id);
            }
            if let Some(error) = done.failed {
                return Err(error);
            }
        }
    }

    /// Hands new agreements to the store, which writes them when it has time.
    async fn mark(&self, project: &OpenProject, changed: BTreeSet<ShareId>) {
        let mark = |id: ShareId| {
            let base = self.bases.get(&id);
            let value = base.map(|base| serde_json::to_string(base).unwrap_or_default());
            (format!("{SHARED}{id}"), value)
        };
        let marks: Vec<(String, Option<String>)> = changed.into_iter().map(mark).collect();
        if marks.is_empty() {
            return;
        }
        let marked = project.owner.ask(move |store, _| {
            for (key, value) in &marks {
                store.mark(key, value.as_deref());
            }
        });
        if let Err(error) = marked.await {
            tracing::debug!(%error, "agreements with shared files were not marked");
        }
    }
}

/// Commits the changes of files.
async fn write(
    project: &OpenProject,
    name: &str,
    items: Vec<TakeItem>,
) -> Result<Vec<TakeOutcome>, String> {
    let name = name.to_owned();
    let command: WriteCommand<Memory, Vec<TakeOutcome>> = Arc::new(move |memory, now| {
        let origin = Provenance::new(SessionId::new(SESSION), SESSION.into(), now);
        Ok(plan_take_in(memory, &name, &items, &origin).into())
    });
    let written = project.owner.write(None, None, "shared", command).await;
    Ok(written.map_err(|error| format!("failed to take files in: {error}"))?.outcome)
}

/// The files that were changed.
#[derive(Default)]
struct ChangedFiles {
    written: Vec<(ShareId, Base, super::scan::ScannedFile)>,
    removed: Vec<ShareId>,
    failed: Option<String>,
}

fn change_files(root: &Path, writes: Vec<Write>, removes: Vec<Remove>) -> ChangedFiles {
    let mut done = ChangedFiles::default();
    let files = match ProjectFiles::open(root) {
        Ok(files) => files,
        Err(error) => {
            done.failed = Some(format!("failed to open {}: {error}", root.display()));
            return done;
        }
    };
    for Remove { id, path, expected } in removes {
        match files.remove_whole(&file(&path), &expected) {
            Ok(_) => done.removed.push(id),
            // The next pass sees the edit.
            Err(MirrorError::Changed(_)) => {}
            Err(error) => {
                done.failed = Some(format!("failed to {error}"));
                return done;
            }
        }
    }
    for Write { id, base, text, expected } in writes {
        match files.write_whole(&file(&base.path), text.as_bytes(), expected.as_ref()) {
            Ok(stamp) => {
                let seen = super::scan::written(&base.path, &id, stamp, &text);
                done.written.extend(seen.map(|seen| (id, base, seen)));
            }
            Err(MirrorError::Changed(_)) => {}
            Err(error) => {
                done.failed = Some(format!("failed to {error}"));
                return done;
            }
        }
    }
    done
}
