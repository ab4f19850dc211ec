//! The files of the project's journal, and ways to damage them while no daemon has them open.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Fault;
use crate::writes::Dice;
use anchord::exit::Error;

/// The directory for original files that damage replaces. It is on the same disk, so that they can
/// be renamed into it.
const KEPT: &str = "kept-by-torture";

/// The journal, index and snapshots of the scratch instance's only project.
pub(crate) struct Journal {
    project: PathBuf,
    kept: PathBuf,
}

/// An earlier copy of a segment.
pub(crate) struct Copy {
    file: PathBuf,
    bytes: Vec<u8>,
}

/// Damage that can be undone.
pub(crate) struct Damage {
    /// Each damaged file's path, and the path where its original is kept.
    kept: Vec<(PathBuf, PathBuf)>,
    /// The segment before one that was removed.
    before: Option<PathBuf>,
}

impl Journal {
    pub(crate) fn find(data: &Path) -> Result<Self, Error> {
        let projects = fs::read_dir(data.join("projects")).context("there are no projects")?;
        let project = projects.filter_map(Result::ok).map(|entry| entry.path()).next();
        let project = project.ok_or_else(|| Error::failed("there is no project"))?;
        Ok(Self { project, kept: data.join(KEPT) })
    }

    /// Returns the index's directory.
    pub(crate) fn index(&self) -> PathBuf {
        self.project.join("sled")
    }

    /// Removes the index and the snapshots. The next opening has to replay the whole journal.
    pub(crate) fn remove_derived(&self) -> Result<(), Error> {
        for dir in [self.index(), self.project.join("snapshot")] {
            match fs::remove_dir_all(&dir) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                removed => removed.with_context(|| format!("cannot remove {}", dir.display()))?,
            }
        }
        Ok(())
    }

    /// Returns the segments' files in order. Older ones may be compressed archives.
    pub(crate) fn segments(&self) -> Result<Vec<PathBuf>, Error> {
        let files = fs::read_dir(self.project.join("journal")).context("there is no journal")?;
        let is_segment = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let number = name.strip_suffix(".gz").unwrap_or(&name).strip_suffix(".jsonl");
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let mut segments: Vec<PathBuf> =
            files.filter_map(Result::ok).map(|entry| entry.path()).filter(is_segment).collect();
        segments.sort_unstable();
        Ok(segments)
    }

    /// Returns the size in bytes of the last segment, which is the one being written.
    pub(crate) fn last_bytes(&self) -> Result<u64, Error> {
        Ok(fs::metadata(self.last()?).context("cannot measure the last segment")?.len())
    }

    /// Returns a copy of the last segment.
    pub(crate) fn copy_last(&self) -> Result<Copy, Error> {
        let file = self.last()?;
        let bytes = fs::read(&file).context("cannot read the last segment")?;
        Ok(Copy { file, bytes })
    }

    /// Damages the journal. The inner error says why this fault is not possible at the moment.
    pub(crate) fn damage(
        &self,
        fault: Fault,
        older: &Copy,
        dice: &mut Dice,
    ) -> Result<Result<Damage, String>, Error> {
        let segments = self.segments()?;
        let count = segments.len() as u64;
        let pick = |roll: u64| segments.get(usize::try_from(roll % count).unwrap_or(0)).cloned();
        let (roll, other) = (dice.next(), 1 + dice.below(count.saturating_sub(1)));
        let picked = pick(roll).ok_or_else(|| Error::failed("the journal has no segment"))?;
        let write = |file: &Path, bytes: &[u8]| {
            fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
        };
        let damage = match fault {
            Fault::SegmentRemoved => {
                // Without the last segment, the journal ends too early in the one before.
                let at = segments.iter().position(|segment| *segment == picked).unwrap_or(0);
                let before = at.checked_sub(1).and_then(|at| segments.get(at)).cloned();
                Damage { before, ..self.keep([picked])? }
            }
            Fault::SegmentCut => {
                let Copy { file, bytes } = self.copy_last()?;
                // The cut removes at least one byte and never the header.
                let header = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                if header == bytes.len() {
                    return Ok(Err("the last segment has no entry yet".to_owned()));
                }
                let left = dice.below((bytes.len() - header) as u64);
                let left = header + usize::try_from(left).unwrap_or(0);
                let damage = self.keep([file.clone()])?;
                write(&file, bytes.get(..left).unwrap_or_default())?;
                damage
            }
            Fault::SegmentReplaced => {
                if !older.file.exists() {
                    return Ok(Err("the segment was archived since it was copied".to_owned()));
                }
                if fs::read(&older.file).is_ok_and(|now| now == older.bytes) {
                    return Ok(Err("nothing was written since the segment was copied".to_owned()));
                }
                let damage = self.keep([older.file.clone()])?;
                write(&older.file, &older.bytes)?;
                damage
            }
            _ => {
                let second = pick(roll.wrapping_add(other)).filter(|second| *second != picked);
                let Some(second) = second else {
                    return Ok(Err("the journal has one segment".to_owned()));
                };
                let read = |file: &Path| fs::read(file).context("cannot read a segment");
                let (first_bytes, second_bytes) = (read(&picked)?, read(&second)?);
                let damage = self.keep([picked.clone(), second.clone()])?;
                write(&picked, &second_bytes)?;
                write(&second, &first_bytes)?;
                damage
            }
        };
        Ok(Ok(damage))
    }

    fn last(&self) -> Result<PathBuf, Error> {
        let last = self.segments()?.pop();
        last.ok_or_else(|| Error::failed("the journal has no segment"))
    }

    /// Moves original files out of the journal.
    fn keep<const N: usize>(&self, files: [PathBuf; N]) -> Result<Damage, Error> {
        fs::create_dir_all(&self.kept).context("cannot make a folder")?;
        let mut kept = Vec::new();
        for file in files {
            let to = self.kept.join(file.file_name().unwrap_or_default());
            fs::rename(&file, &to).with_context(|| format!("cannot move {}", file.display()))?;
            kept.push((file, to));
        }
        Ok(Damage { kept, before: None })
    }
}

impl Damage {
    /// Returns the damaged files as messages name them. A report of the damage has to name at least
    /// one.
    pub(crate) fn files(&self) -> Vec<String> {
        let name = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.trim_end_matches(".gz").to_owned()
        };
        let files = self.kept.iter().map(|(file, _)| file).chain(&self.before);
        files.map(|file| format!("journal/{}", name(file))).collect()
    }

    /// Puts the original files back.
    pub(crate) fn undo(self) -> Result<(), Error> {
        for (file, kept) in self.kept {
            fs::rename(&kept, &file)
                .with_context(|| format!("cannot put {} back", file.display()))?;
        }
        Ok(())
    }

    /// Removes the original files, because the journal was repaired without them.
    pub(crate) fn forget(self) -> Result<(), Error> {
        for (_, kept) in self.kept {
            fs::remove_file(&kept).with_context(|| format!("cannot remove {}", kept.display()))?;
        }
        Ok(())
    }
}
