//! Copies of the rules that fail closed, one file for each project. Hooks apply them to calls that
//! the daemon does not check.
//!
//! The daemon writes a copy when the rules have changed. `anchord rules guard` reads it. A copy
//! that cannot be read makes every action ask. What was checked goes into a log, which has a
//! directory of its own so that a purge can redact it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::check_action;
use anchord_memory::files::{directory_below, relative};
use anchord_memory::rules::{Action, Effect, Rule, Verdict};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{cleaned, file, unreadable};
use crate::blocking::run_blocking;
use crate::clock;
use crate::limits::{GUARD_LOG_BYTES_MAX, GUARD_LOG_COMMAND_BYTES_MAX};
use crate::private_file;
use crate::projects::{FileDigest, ProjectId};
use crate::secrets::{self, Removed};

/// The log of what was checked without the daemon.
const LOG: &str = "checks.jsonl";
/// Its lines before those.
const OLDER_LOG: &str = "checks.1.jsonl";

/// The rules of one project.
#[derive(Debug, Serialize, Deserialize)]
struct Copied {
    /// The project's root.
    root: PathBuf,
    /// The memory that some of the rules are from. A purge from it leaves none of its texts here.
    #[serde(default)]
    memory: Option<ProjectId>,
    rules: Vec<Rule>,
}

/// The copies that were written, by root, with their digests.
#[derive(Debug)]
pub(super) struct Copies {
    directory: PathBuf,
    written: Mutex<BTreeMap<PathBuf, Option<FileDigest>>>,
    /// A turn to write a copy. It lasts until the disk has answered.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Copies {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, written: Mutex::default(), turn: Arc::default() }
    }

    /// Returns the directory of the copies.
    pub(super) fn directory(&self) -> PathBuf {
        self.directory.clone()
    }

    /// Returns the directory of the log.
    pub(super) fn logs(&self) -> PathBuf {
        logs(&self.directory)
    }

    /// Writes the copies with rules of a memory again, each with those that are `in_force` now and
    /// those of its project's file. Its project may be gone, or on a disk that does not respond.
    /// Blackens what the log has of actions on which the rules `gone` decided.
    ///
    /// # Errors
    /// Returns the files that could not be read or written.
    pub(super) async fn renew(
        &self,
        memory: ProjectId,
        in_force: &[Rule],
        gone: &BTreeSet<String>,
    ) -> Result<(), Vec<PathBuf>> {
        let (directory, gone) = (self.directory.clone(), gone.clone());
        let (copies, mut failed) = run_blocking(move || {
            let (copies, mut failed) = all(&directory);
            let own = copies.iter().filter(|copied| copied.memory == Some(memory));
            let roots: Vec<&Path> = own.map(|copied| copied.root.as_path()).collect();
            for name in [LOG, OLDER_LOG] {
                let path = logs(&directory).join(name);
                if let Err(error) = blacken(&path, &roots, &gone) {
                    tracing::warn!(path = %path.display(), %error, "a log of checks may have a purged rule");
                    failed.push(path);
                }
            }
            (copies, failed)
        })
        .await;
        for Copied { root, memory: from, rules } in copies {
            if from == Some(memory) {
                let of_file = rules.into_iter().filter(file::is_of_file);
                let rules: Vec<Rule> = in_force.iter().cloned().chain(of_file).collect();
                if self.keep(&root, from, &rules).await.is_err() {
                    failed.push(path(&self.directory, &root));
                }
            }
        }
        if failed.is_empty() { Ok(()) } else { Err(failed) }
    }

    /// Writes the copy of a project if it differs from the last one. A project without such rules
    /// has none.
    pub(super) async fn keep(
        &self,
        root: &Path,
        memory: Option<ProjectId>,
        rules: &[Rule],
    ) -> io::Result<()> {
        let rules: Vec<Rule> = rules.iter().filter(|rule| rule.fail_closed).cloned().collect();
        let text = (!rules.is_empty()).then(|| {
            let copied = Copied { root: root.to_owned(), memory, rules };
            serde_json::to_vec(&copied).unwrap_or_default()
        });
        let digest = text.as_deref().map(FileDigest::of);
        let is_written = || self.written.lock().get(root) == Some(&digest);
        if is_written() {
            return Ok(());
        }
        // Sessions check at once. Their copies share a temporary name, and an earlier one that came
        // last would stay.
        let turn = Arc::clone(&self.turn).lock_owned().await;
        if is_written() {
            return Ok(());
        }
        // If the caller stops waiting, the file is not known until it is written again.
        self.written.lock().remove(root);
        let (directory, path) = (self.directory.clone(), path(&self.directory, root));
        let writing = move || (write(&directory, &path, text.as_deref()), turn);
        let (done, _turn) = run_blocking(writing).await;
        if let Err(error) = done {
            tracing::warn!(%error, root = %root.display(), "hooks have no current copy of the rules");
            return Err(error);
        }
        self.written.lock().insert(root.to_owned(), digest);
        Ok(())
    }
}

fn write(directory: &Path, path: &Path, text: Option<&[u8]>) -> io::Result<()> {
    match text {
        None => private_file::remove(path),
        Some(text) => {
            fs::create_dir_all(directory)?;
            private_file::replace(path, text)
        }
    }
}

/// Reads all copies, and names the files that cannot be read. Such a copy makes every action ask,
/// and the next check writes it again.
fn all(directory: &Path) -> (Vec<Copied>, Vec<PathBuf>) {
    let (mut copies, mut failed) = (Vec::new(), Vec::new());
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (copies, failed),
        Err(error) => {
            tracing::warn!(path = %directory.display(), %error, "no copy of rules can be read");
            return (copies, vec![directory.to_owned()]);
        }
    };
    for entry in entries {
        let path = entry.map_or_else(|_| directory.to_owned(), |entry| entry.path());
        if path != directory && path.extension().is_none_or(|it| it != "json") {
            continue;
        }
        match fs::read(&path).and_then(|text| Ok(serde_json::from_slice::<Copied>(&text)?)) {
            Ok(copied) => copies.push(copied),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a copy of rules cannot be read");
                failed.push(path);
            }
        }
    }
    (copies, failed)
}

fn path(directory: &Path, root: &Path) -> PathBuf {
    let digest = FileDigest::of(root.as_os_str().as_encoded_bytes());
    directory.join(format!("{}.json", digest.as_str()))
}

/// The result of a check without the daemon.
#[derive(Debug)]
pub struct Guarded {
    /// The project's root.
    root: PathBuf,
    /// The verdict of the rules that fail closed.
    pub verdict: Verdict,
    /// The reason why the call could not be checked; `None` if it was.
    unchecked: Option<String>,
}

/// The reason why a call is checked without the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutDaemon {
    /// The daemon cannot be reached, or gave no answer.
    NoAnswer,
    /// The call is longer than the daemon takes.
    TooLong,
}

/// Checks an action in `cwd` against the copy of its project's rules. Returns `None` if there is no
/// copy. A copy that cannot be read makes the action ask.
pub fn guard(directory: &Path, cwd: &Path, action: &Action<'_>) -> Option<Guarded> {
    let (root, copied) = copy_for(directory, cwd)?;
    let of_root = |path: &String| relative(path, &root.to_string_lossy());
    let paths: Vec<String> = action.paths.iter().map(of_root).collect();
    let writes: Vec<String> = action.writes.iter().map(of_root).collect();
    let below = action.directory.and_then(|directory| {
        // Agents may be in the directory by another name.
        let real = fs::canonicalize(directory).unwrap_or_else(|_| directory.into());
        directory_below(&real.to_string_lossy(), &root.to_string_lossy())
    });
    let action = &Action { paths: &paths, writes: &writes, directory: below.as_deref(), ..*action };
    let verdict = match copied {
        Ok(copied) => check_action(&copied.rules, action, clock::now()),
        Err(error) => {
            let path = path(directory, &root);
            unreadable("rules", format!("{}: {error}", path.display()))
        }
    };
    Some(Guarded { root, verdict, unchecked: None })
}

/// Has an action in `cwd` asked that could not be checked, for the reason `why`. Returns `None` if
/// its project has no copy of rules.
pub fn guard_unchecked(directory: &Path, cwd: &Path, why: &str) -> Option<Guarded> {
    let (root, _) = copy_for(directory, cwd)?;
    let verdict = unreadable("call", why.to_owned());
    Some(Guarded { root, verdict, unchecked: Some(why.to_owned()) })
}

/// Reads the copy for the project of a directory, and returns the project's root too.
fn copy_for(directory: &Path, cwd: &Path) -> Option<(PathBuf, io::Result<Copied>)> {
    // Roots are canonical. A directory that is gone may still be named as it was.
    let cwd = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    cwd.ancestors().find_map(|root| {
        let text = match fs::read(path(directory, root)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            text => text,
        };
        let copied = text.and_then(|text| Ok(serde_json::from_slice::<Copied>(&text)?));
        Some((root.to_owned(), copied))
    })
}

/// Logs a check that was made without the daemon, without secrets. A long command is cut.
///
/// # Errors
/// Fails if the log cannot be written. The verdict holds all the same.
pub fn log_guarded(
    directory: &Path,
    action: &Action<'_>,
    guarded: &Guarded,
    without: WithoutDaemon,
) -> io::Result<()> {
    let Guarded { root, verdict, unchecked } = guarded;
    let (checked, passed) = match without {
        WithoutDaemon::NoAnswer => ("without the daemon", "passed without the daemon"),
        WithoutDaemon::TooLong => ("too long for the daemon", "passed"),
    };
    let result = match verdict.effect {
        Effect::Allow => passed,
        effect => effect.word(),
    };
    // No rule decided on a call that could not be checked.
    let (checked, rules) = if let Some(why) = unchecked {
        (format!("could not be checked: {why}"), Vec::new())
    } else {
        let rules = verdict.deciding.iter().map(|it| it.rule.as_str()).collect();
        (checked.to_owned(), rules)
    };
    let mut line = serde_json::json!({
        "time": clock::now().0,
        "root": root,
        "checked": checked,
        "result": result,
        "rules": rules,
        "tool": action.tool,
        "command": action.command.map(cleaned),
        "paths": paths(root, action),
    });
    secrets::clean_json(&mut line, &mut Removed::default());
    if let Some(Value::String(text)) = line.get_mut("command")
        && text.len() > GUARD_LOG_COMMAND_BYTES_MAX
    {
        text.truncate(text.floor_char_boundary(GUARD_LOG_COMMAND_BYTES_MAX));
        text.push('…');
    }
    let logs = logs(directory);
    fs::create_dir_all(&logs)?;
    let path = logs.join(LOG);
    if path.metadata().is_ok_and(|meta| meta.len() > GUARD_LOG_BYTES_MAX) {
        fs::rename(&path, logs.join(OLDER_LOG))?;
    }
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// Overwrites the commands and files in those lines of a log that are of these projects and name
/// one of these rules. Each line keeps its length, since a hook may be adding another one.
fn blacken(path: &Path, roots: &[&Path], rules: &BTreeSet<String>) -> io::Result<()> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        bytes => bytes?,
    };
    let names = |line: &Value| {
        let named = line["rules"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let root = line["root"].as_str().map(Path::new);
        root.is_some_and(|root| roots.contains(&root))
            && named.into_iter().any(|it| rules.contains(it))
    };
    let (mut file, mut at) = (None, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let parsed = serde_json::from_slice::<Value>(line).ok().filter(names);
        if let Some(mut parsed) = parsed {
            for (field, value) in parsed.as_object_mut().into_iter().flatten() {
                match value {
                    Value::String(_) if field == "command" => *value = "*".into(),
                    Value::Array(paths) if field == "paths" => paths.clear(),
                    _ => {}
                }
            }
            let mut black = parsed.to_string();
            let rest = line.trim_ascii_end().len().saturating_sub(black.len());
            black.extend(std::iter::repeat_n(' ', rest));
            let file = match &mut file {
                Some(file) => file,
                none => none.insert(OpenOptions::new().write(true).open(path)?),
            };
            file.write_all_at(black.as_bytes(), at)?;
        }
        at += line.len() as u64;
    }
    file.map_or(Ok(()), |file| file.sync_data())
}

/// Returns the files of an action as the daemon logs them: each once, and relative to the root.
fn paths(root: &Path, action: &Action<'_>) -> Vec<String> {
    let root = root.to_string_lossy();
    let mut paths: Vec<String> = Vec::new();
    for file in action.writes.iter().chain(action.paths) {
        let path = relative(file, &root);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns the directory of the log, beneath that of the copies.
fn logs(directory: &Path) -> PathBuf {
    directory.join("log")
}

/// Reads the log's lines of a project, oldest first.
///
/// # Errors
/// Fails if the log cannot be read.
pub fn guard_log(directory: &Path, root: &Path) -> io::Result<Vec<Value>> {
    let bytes = match fs::read(logs(directory).join(LOG)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    Ok(lines.filter(|line| line["root"].as_str() == root.to_str()).collect())
}

#[cfg(test)]
mod tests;
