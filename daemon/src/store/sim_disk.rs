//! A disk in memory that distinguishes written from synced data and fails on request. For tests.
//!
//! After [`SimDisk::power_loss`] a file holds its synced bytes and a random part of the rest, in
//! which sectors or pages may be missing. Names that were created, changed or removed since the
//! last sync of their directory may have reverted. As on Linux, a later sync does not write bytes
//! whose sync failed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Disk, DiskFile};
use parking_lot::Mutex;

/// A simulated disk. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SimDisk {
    state: Arc<Mutex<Sim>>,
}

/// The operations that fail, counted from 1 since the fault was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Only this operation.
    Once(u64),
    /// This operation and all later ones.
    From(u64),
}

#[derive(Clone, Debug, Default)]
struct Sim {
    files: BTreeMap<u64, SimFile>,
    next_file: u64,
    /// The names that a reader sees now.
    names: BTreeMap<PathBuf, u64>,
    /// The names after a power loss that keeps nothing unsynced.
    durable_names: BTreeMap<PathBuf, u64>,
    name_changes: Vec<NameChange>,
    /// Number of power losses. Files opened before the last one are unusable.
    boot: u64,
    operations: u64,
    bytes_read: u64,
    fault: Option<Fault>,
    read_only: bool,
    capacity: Option<Capacity>,
}

#[derive(Clone, Copy, Debug)]
struct Capacity {
    bytes: u64,
    reports_free: bool,
}

#[derive(Clone, Debug, Default)]
struct SimFile {
    data: Vec<u8>,
    durable: Vec<u8>,
    /// Range of bytes whose sync failed. A reader sees them, but on the disk they are zeros.
    doomed: Option<(usize, usize)>,
}

#[derive(Clone, Debug)]
enum NameChange {
    Set(PathBuf, u64),
    Gone(PathBuf),
    Renamed(PathBuf, PathBuf),
}

#[derive(Debug)]
struct SimHandle {
    disk: SimDisk,
    file: u64,
    boot: u64,
}

impl SimDisk {
    /// Sets the fault and restarts the count of operations. A failing write writes half.
    pub fn fail(&self, fault: Option<Fault>) {
        let mut sim = self.state.lock();
        sim.operations = 0;
        sim.fault = fault;
    }

    /// Returns the number of operations since the last [`SimDisk::fail`].
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// Returns the number of bytes read from files so far.
    pub fn bytes_read(&self) -> u64 {
        self.state.lock().bytes_read
    }

    /// Makes every change fail, as on a disk that is mounted read-only.
    pub fn set_read_only(&self, read_only: bool) {
        self.state.lock().read_only = read_only;
    }

    /// Limits the disk to so many bytes. If `reports_free` is set, it also reports its free bytes.
    /// Otherwise writes just fail.
    pub fn set_capacity(&self, bytes: Option<u64>, reports_free: bool) {
        self.state.lock().capacity = bytes.map(|bytes| Capacity { bytes, reports_free });
    }

    /// Simulates a power loss and restart. The seed determines every choice.
    pub fn power_loss(&self, seed: u64) {
        let mut random = Random(seed);
        let mut sim = self.state.lock();
        sim.boot += 1;
        // A file system may or may not keep the order of changes in a directory.
        let is_ordered = random.below(2) == 0;
        let mut stopped: Vec<PathBuf> = Vec::new();
        for change in std::mem::take(&mut sim.name_changes) {
            let dir = change.dir();
            let is_lost = random.below(2) == 0;
            if is_lost && is_ordered {
                stopped.push(dir.clone());
            }
            if !is_lost && !stopped.contains(&dir) {
                change.apply(&mut sim.durable_names);
            }
        }
        sim.names = sim.durable_names.clone();
        for file in sim.files.values_mut() {
            file.lose(&mut random);
        }
    }

    /// Returns another disk with the same content.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self { state: Arc::new(Mutex::new(self.state.lock().clone())) }
    }

    /// Returns every file's path.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.state.lock().names.keys().cloned().collect()
    }

    /// Returns a file's bytes as a reader sees them.
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let sim = self.state.lock();
        sim.names.get(path).and_then(|file| sim.files.get(file)).map(|file| file.data.clone())
    }

    /// Creates a synced file, as if from outside.
    pub fn put(&self, path: &Path, bytes: Vec<u8>) {
        let mut sim = self.state.lock();
        let file = sim.new_file();
        sim.files.insert(file, SimFile { durable: bytes.clone(), data: bytes, doomed: None });
        sim.names.insert(path.to_owned(), file);
        sim.durable_names.insert(path.to_owned(), file);
    }
}

impl Disk for SimDisk {
    fn create_dir(&self, _dir: &Path) -> io::Result<()> {
        self.state.lock().step()
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut sim = self.state.lock();
        sim.step()?;
        let here = sim.names.keys().filter(|path| path.parent() == Some(dir));
        Ok(here.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut sim = self.state.lock();
        sim.step_change()?;
        let file = sim.new_file();
        sim.files.insert(file, SimFile::default());
        sim.change(NameChange::Set(path.to_owned(), file));
        Ok(Box::new(SimHandle { disk: self.clone(), file, boot: sim.boot }))
    }

    fn open_append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut sim = self.state.lock();
        sim.step_change()?;
        let file = sim.find(path)?;
        Ok(Box::new(SimHandle { disk: self.clone(), file, boot: sim.boot }))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read_at(path, 0, usize::MAX)
    }

    fn read_at(&self, path: &Path, offset: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut sim = self.state.lock();
        sim.step()?;
        let file = sim.find(path)?;
        let data = sim.files.get(&file).map(|file| file.data.as_slice()).unwrap_or_default();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
        let end = start.saturating_add(bytes_max).min(data.len());
        let bytes = data.get(start..end).unwrap_or_default().to_vec();
        sim.bytes_read += bytes.len() as u64;
        Ok(bytes)
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        let mut sim = self.state.lock();
        sim.step()?;
        let file = sim.find(path)?;
        Ok(sim.files.get(&file).map_or(0, |file| file.data.len() as u64))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut sim = self.state.lock();
        sim.step_change()?;
        sim.find(from)?;
        sim.change(NameChange::Renamed(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut sim = self.state.lock();
        sim.step_change()?;
        sim.find(path)?;
        sim.change(NameChange::Gone(path.to_owned()));
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut sim = self.state.lock();
        sim.step()?;
        let changes = std::mem::take(&mut sim.name_changes);
        for change in changes {
            if change.dir() == dir {
                change.apply(&mut sim.durable_names);
            } else {
                sim.name_changes.push(change);
            }
        }
        Ok(())
    }

    fn free_space(&self, _dir: &Path) -> io::Result<u64> {
        let mut sim = self.state.lock();
        sim.step()?;
        Ok(match sim.capacity {
            Some(Capacity { bytes, reports_free: true }) => bytes.saturating_sub(sim.used()),
            _ => u64::MAX,
        })
    }
}

impl DiskFile for SimHandle {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with(|sim, file| {
            let outcome = sim.step_change();
            let room = sim.capacity.map_or(usize::MAX, |capacity| {
                usize::try_from(capacity.bytes.saturating_sub(sim.used())).unwrap_or(usize::MAX)
            });
            let fits = if outcome.is_err() { bytes.len() / 2 } else { bytes.len().min(room) };
            let file = sim.files.get_mut(&file).ok_or(io::ErrorKind::NotFound)?;
            file.data.extend_from_slice(bytes.get(..fits).unwrap_or_default());
            outcome?;
            if fits < bytes.len() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        })
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.with(|sim, file| {
            let outcome = sim.step_change();
            let file = sim.files.get_mut(&file).ok_or(io::ErrorKind::NotFound)?;
            if outcome.is_ok() {
                file.durable = file.on_disk();
            } else {
                file.doom();
            }
            outcome
        })
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.with(|sim, file| {
            sim.step_change()?;
            let file = sim.files.get_mut(&file).ok_or(io::ErrorKind::NotFound)?;
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            file.data.truncate(bytes);
            file.doomed = file
                .doomed
                .map(|(start, end)| (start, end.min(bytes)))
                .filter(|(start, end)| start < end);
            Ok(())
        })
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        self.with(|sim, file| {
            sim.step()?;
            Ok(sim.names.get(path) == Some(&file))
        })
    }
}

impl SimHandle {
    fn with<T>(&self, act: impl FnOnce(&mut Sim, u64) -> io::Result<T>) -> io::Result<T> {
        let mut sim = self.disk.state.lock();
        if sim.boot != self.boot {
            return Err(io::Error::other("opened before the power loss"));
        }
        act(&mut sim, self.file)
    }
}

impl Sim {
    fn step(&mut self) -> io::Result<()> {
        self.operations += 1;
        let fails = match self.fault {
            Some(Fault::Once(n)) => self.operations == n,
            Some(Fault::From(n)) => self.operations >= n,
            None => false,
        };
        if fails { Err(io::Error::other("simulated fault")) } else { Ok(()) }
    }

    fn step_change(&mut self) -> io::Result<()> {
        if self.read_only {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        self.step()
    }

    fn find(&self, path: &Path) -> io::Result<u64> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn new_file(&mut self) -> u64 {
        self.next_file += 1;
        self.next_file
    }

    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }

    fn used(&self) -> u64 {
        let bytes = |file: &u64| self.files.get(file).map_or(0, |file| file.data.len() as u64);
        self.names.values().map(bytes).sum()
    }
}

impl SimFile {
    /// Returns the bytes that a successful sync would leave on the disk.
    fn on_disk(&self) -> Vec<u8> {
        let mut bytes = self.data.clone();
        if let Some(lost) = self.doomed.and_then(|(start, end)| bytes.get_mut(start..end)) {
            lost.fill(0);
        }
        bytes
    }

    fn doom(&mut self) {
        let synced = common_prefix(&self.data, &self.durable);
        let start = self.doomed.map_or(synced, |(start, _)| start.min(synced));
        self.doomed = Some((start, self.data.len())).filter(|(start, end)| start < end);
    }

    fn lose(&mut self, random: &mut Random) {
        let written = self.on_disk();
        let common = common_prefix(&written, &self.durable);
        let kept_durable = common == self.durable.len();
        if kept_durable || random.below(2) == 0 {
            let more = random.below((written.len() - common) as u64 + 1);
            let end = common + usize::try_from(more).unwrap_or(0);
            self.durable = written.get(..end).unwrap_or_default().to_vec();
            self.drop_sectors(common, random);
        }
        self.data = self.durable.clone();
        self.doomed = None;
    }
}

impl SimFile {
    /// Loses some of the unsynced bytes after `synced`: sectors, or pages of eight sectors. They
    /// become zeros, as if the disk had written the length but not the bytes.
    fn drop_sectors(&mut self, synced: usize, random: &mut Random) {
        let unit = if random.below(2) == 0 { SECTOR_BYTES } else { PAGE_BYTES };
        if random.below(2) == 0 {
            return;
        }
        for start in (synced / unit * unit..self.durable.len()).step_by(unit) {
            let end = (start + unit).min(self.durable.len());
            if random.below(3) == 0
                && let Some(lost) = self.durable.get_mut(start.max(synced)..end)
            {
                lost.fill(0);
            }
        }
    }
}

const SECTOR_BYTES: usize = 512;
const PAGE_BYTES: usize = 4096;

impl NameChange {
    fn dir(&self) -> PathBuf {
        let (Self::Set(path, _) | Self::Gone(path) | Self::Renamed(path, _)) = self;
        path.parent().unwrap_or(Path::new("")).to_owned()
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, u64>) {
        match self {
            Self::Set(path, file) => {
                names.insert(path.clone(), *file);
            }
            Self::Gone(path) => {
                names.remove(path);
            }
            Self::Renamed(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
        }
    }
}

/// A generator of numbers that follow from a seed (splitmix64).
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)).checked_rem(end).unwrap_or(0)
    }

    /// Overwrites bytes with noise.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.below(256).to_le_bytes()[0];
        }
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
