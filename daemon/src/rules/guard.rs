//! Copies of the rules that hooks apply while the daemon cannot be reached: one file for each
//! project, with the rules that fail closed.
//!
//! The daemon writes a copy when the rules have changed. `anchord rules guard` reads it. What it
//! finds goes into a log next to the copies.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anchord_memory::check_action;
use anchord_memory::rules::{Action, Effect, Rule, Verdict};
use serde::{Deserialize, Serialize};

use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::GUARD_LOG_BYTES_MAX;
use crate::projects::FileDigest;

/// The log of what was checked without the daemon.
const LOG: &str = "log.jsonl";

/// The rules of one project.
#[derive(Debug, Serialize, Deserialize)]
struct Copied {
    /// The project's root.
    root: PathBuf,
    rules: Vec<Rule>,
}

/// The copies that were written, by root, with their digests.
#[derive(Debug)]
pub(super) struct Copies {
    directory: PathBuf,
    written: Mutex<BTreeMap<PathBuf, Option<FileDigest>>>,
}

impl Copies {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, written: Mutex::default() }
    }

    /// Writes the copy of a project if it differs from the last one. A project without such rules
    /// has none.
    pub(super) async fn keep(&self, root: &Path, rules: &[Rule]) {
        let rules: Vec<Rule> = rules.iter().filter(|rule| rule.fail_closed).cloned().collect();
        let text = (!rules.is_empty()).then(|| {
            let copied = Copied { root: root.to_owned(), rules };
            serde_json::to_vec(&copied).unwrap_or_default()
        });
        let digest = text.as_deref().map(FileDigest::of);
        {
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if written.get(root) == Some(&digest) {
                return;
            }
            written.insert(root.to_owned(), digest);
        }
        let (directory, path) = (self.directory.clone(), path(&self.directory, root));
        let done = run_blocking(move || write(&directory, &path, text.as_deref())).await;
        if let Err(error) = done {
            self.written.lock().unwrap_or_else(PoisonError::into_inner).remove(root);
            tracing::warn!(%error, root = %root.display(), "hooks have no current copy of the rules");
        }
    }
}

fn write(directory: &Path, path: &Path, text: Option<&[u8]>) -> io::Result<()> {
    let Some(text) = text else {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    };
    fs::create_dir_all(directory)?;
    let new = path.with_extension("new");
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

fn path(directory: &Path, root: &Path) -> PathBuf {
    let digest = FileDigest::of(root.as_os_str().as_encoded_bytes());
    directory.join(format!("{}.json", digest.as_str()))
}

/// The result of a check without the daemon.
#[derive(Debug)]
pub struct Guarded {
    /// The project's root.
    pub root: PathBuf,
    /// The verdict of the rules that fail closed.
    pub verdict: Verdict,
}

/// Checks an action in `cwd` against the copy of its project's rules. Logs the result. Returns
/// `None` if there is no copy.
///
/// # Errors
/// Fails if the copy cannot be read.
pub fn guard(directory: &Path, cwd: &Path, action: &Action<'_>) -> io::Result<Option<Guarded>> {
    // Roots are canonical. A directory that is gone may still be named as it was.
    let cwd = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    for root in cwd.ancestors() {
        let text = match fs::read(path(directory, root)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let copied: Copied = serde_json::from_slice(&text)?;
        let verdict = check_action(&copied.rules, action, clock::now());
        log(directory, root, action, &verdict)?;
        return Ok(Some(Guarded { root: copied.root, verdict }));
    }
    Ok(None)
}

fn log(directory: &Path, root: &Path, action: &Action<'_>, verdict: &Verdict) -> io::Result<()> {
    let result = match verdict.effect {
        Effect::Allow => "passed without the daemon",
        effect => effect.word(),
    };
    let rules: Vec<&str> = verdict.deciding.iter().map(|it| it.rule.as_str()).collect();
    let line = serde_json::json!({
        "time": clock::now().0,
        "root": root,
        "result": result,
        "rules": rules,
        "tool": action.tool,
        "command": action.command,
        "paths": action.paths,
    });
    let path = directory.join(LOG);
    if path.metadata().is_ok_and(|meta| meta.len() > GUARD_LOG_BYTES_MAX) {
        fs::rename(&path, directory.join("log.1.jsonl"))?;
    }
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// Reads the log's lines of a project, oldest first.
///
/// # Errors
/// Fails if the log cannot be read.
pub fn guard_log(directory: &Path, root: &Path) -> io::Result<Vec<serde_json::Value>> {
    let text = match fs::read_to_string(directory.join(LOG)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let lines =
        text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    Ok(lines.filter(|line| line["root"].as_str() == root.to_str()).collect())
}

#[cfg(test)]
mod tests;
