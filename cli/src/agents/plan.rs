//! Plans of what set-up would write or undo, as values, and the functions that carry them out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anchord_agents::setup::parts::{self, Before, EditKind, Outcome, Part, PartChange, PartError};
use anchord_agents::setup::{Agent, OwnCommand, Scope, Setting, Target, Trust, Wishes};
use anchord_proto::instance::InstanceDir;

use super::manifest::{Entry, Manifest, digest};
use crate::edit::{Edit, Original};
use crate::exit::Error;
use crate::limits::{OWN_COMMAND_SECONDS_MAX, POLL_MILLISECONDS};

/// The plan for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilePlan {
    /// The agent that the file belongs to.
    pub(crate) agent: Agent,
    /// The file, as the agent names it.
    pub(crate) shown: PathBuf,
    /// The changes, a line each, and what was left alone.
    pub(crate) outcome: Outcome,
    /// The change; `None` if everything is as it should be.
    pub(crate) edit: Option<Edit>,
    /// The agent's own command, which runs first. The edit is then for what the command left
    /// undone.
    pub(crate) own: Option<OwnCommand>,
    /// The new manifest entry; `None` if the file is removed from the manifest.
    entry: Option<Entry>,
    target: Option<Target>,
}

impl FilePlan {
    /// Returns the trust that a person has to give because hooks are added or changed.
    pub(crate) fn trust(&self) -> Option<&'static Trust> {
        let hooks = |change: &PartChange| change.is_of_hooks && change.kind != EditKind::Removed;
        let trust = self.agent.facts().trust.as_ref();
        trust.filter(|_| self.outcome.changes.iter().any(hooks))
    }
}

/// The only interface through which files change. Tests replace it with one that fails.
pub(crate) trait Disk {
    /// Changes a file wholly or not at all.
    fn write(&mut self, edit: &Edit) -> Result<(), Error>;
}

/// The real disk.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn write(&mut self, edit: &Edit) -> Result<(), Error> {
        edit.apply()
    }
}

/// Plans the changes that set these agents up. Writes nothing.
pub(crate) fn setup(
    agents: &[Agent],
    setting: &Setting<'_>,
    manifest: &Manifest,
) -> Result<Vec<FilePlan>, Error> {
    let mut plans = Vec::new();
    for agent in agents {
        for target in agent.targets(setting) {
            plans.push(placed(*agent, target, setting.scope, manifest)?);
        }
    }
    Ok(plans)
}

fn placed(
    agent: Agent,
    target: Target,
    scope: &Scope,
    manifest: &Manifest,
) -> Result<FilePlan, Error> {
    let original = Original::read(&target.path)?;
    let outcome = parts::place(original.text.as_deref(), target.format, &target.parts)
        .map_err(|error| refused(agent, &target, &error))?;
    // The command adds an entry, and refuses to change one.
    let adds = outcome.changes.iter().all(|change| change.kind == EditKind::Added);
    let own = target.own.clone().filter(|_| adds && !outcome.changes.is_empty());
    let entry = Entry {
        agent,
        project: match scope {
            Scope::User => None,
            Scope::Project(root) => Some(root.clone()),
        },
        path: original.path.clone(),
        before: None,
        before_digest: None,
        after: outcome.text.as_deref().map(digest).into_iter().collect(),
        folders: missing_folders(&original.path),
        hooks: target.parts.iter().any(|part| matches!(part, Part::Hooks(_) | Part::Whole(_))),
    };
    let before =
        before(&original, &target, manifest).map_err(|error| refused(agent, &target, &error))?;
    let entry = Entry { before_digest: before.as_deref().map(digest), before, ..entry };
    let edit = original.becomes(outcome.text.clone());
    Ok(FilePlan {
        agent,
        shown: target.path.clone(),
        outcome,
        edit,
        own,
        entry: Some(entry),
        target: Some(target),
    })
}

/// Returns the text to restore: the one in the manifest, unless somebody else has changed the file
/// since.
fn before(
    original: &Original,
    target: &Target,
    manifest: &Manifest,
) -> Result<Option<String>, PartError> {
    let Some(known) = manifest.entry(&original.path).filter(|known| known.is_whole()) else {
        return Ok(original.text.clone());
    };
    let Some(text) = &original.text else { return Ok(None) };
    if known.wrote(text) {
        return Ok(known.before.clone());
    }
    let known = Before::known(known.before.as_deref());
    Ok(parts::take_out(text, target.format, &target.parts, known)?.text)
}

/// Plans the changes that remove everything of anchord's from these agents. Writes nothing.
pub(crate) fn removal(
    agents: &[Agent],
    setting: &Setting<'_>,
    manifest: &Manifest,
) -> Result<Vec<FilePlan>, Error> {
    let mut plans = Vec::new();
    let mut seen = BTreeSet::new();
    // This covers wishes of earlier set-ups too.
    let setting = Setting { wishes: Wishes { reads: true }, ..*setting };
    for agent in agents {
        for target in agent.targets(&setting) {
            let original = Original::read(&target.path)?;
            seen.insert(original.path.clone());
            let known = manifest.entry(&original.path);
            plans.extend(taken_out(*agent, target, original, known)?);
        }
    }
    let project = match setting.scope {
        Scope::User => None,
        Scope::Project(root) => Some(root),
    };
    let gone = |root: &PathBuf| project.is_none() && is_gone(root);
    // These are files that the agents no longer read. Either a variable that named another folder
    // is no longer set, or the whole project is gone.
    for entry in &manifest.files {
        let here = entry.project.as_ref() == project || entry.project.as_ref().is_some_and(gone);
        let meant = agents.contains(&entry.agent) && here;
        if meant && !seen.contains(&entry.path) {
            plans.push(left_behind(entry)?);
        }
    }
    Ok(plans)
}

/// Returns whether a project was deleted: it is missing, but its parent folder has other entries.
/// An empty or missing parent may belong to a disk that is not mounted.
fn is_gone(root: &Path) -> bool {
    let beside = root.parent().and_then(|folder| fs::read_dir(folder).ok());
    !root.exists() && beside.is_some_and(|mut beside| beside.next().is_some())
}

fn taken_out(
    agent: Agent,
    target: Target,
    original: Original,
    known: Option<&Entry>,
) -> Result<Option<FilePlan>, Error> {
    let Some(text) = original.text.clone() else {
        let gone = || FilePlan {
            agent,
            shown: target.path.clone(),
            outcome: Outcome::default(),
            edit: None,
            own: None,
            entry: known.cloned(),
            target: None,
        };
        return Ok(known.map(|_| gone()));
    };
    let entry = known.cloned();
    let known = known.filter(|known| known.is_whole());
    let before = known.map_or(Before::Unknown, |known| Before::known(known.before.as_deref()));
    let outcome = match known.filter(|known| known.wrote(&text)) {
        Some(known) => {
            let mut outcome = back_to(known);
            outcome.remarks.extend(older_remark(known, &target));
            outcome
        }
        None => parts::take_out(&text, target.format, &target.parts, before)
            .map_err(|error| refused(agent, &target, &error))?,
    };
    let edit = original.becomes(outcome.text.clone());
    Ok(Some(FilePlan { agent, shown: target.path, outcome, edit, own: None, entry, target: None }))
}

fn back_to(entry: &Entry) -> Outcome {
    let change = match entry.before {
        Some(_) => "what anchord wrote; the file is again as it was before, to the byte",
        None => "the file, which anchord made",
    };
    let changes = vec![PartChange::new(EditKind::Removed, change)];
    Outcome { text: entry.before.clone(), changes, remarks: Vec::new() }
}

/// Returns a remark if the restored text has entries of anchord's from before set-up.
fn older_remark(entry: &Entry, target: &Target) -> Option<String> {
    let before = entry.before.as_deref()?;
    let found = parts::inspect(before, target.format, &target.parts).ok()?;
    (!found.servers.is_empty() || !found.hooks.is_empty()).then(|| {
        "entries of anchord's stood there before set-up and do again: the same command once more takes them out"
            .to_owned()
    })
}

fn left_behind(entry: &Entry) -> Result<FilePlan, Error> {
    let original = Original::read(&entry.path)?;
    let untouched = original.text.as_deref().is_some_and(|text| entry.wrote(text));
    let outcome = if untouched && entry.is_whole() {
        back_to(entry)
    } else {
        let remark =
            "its agent no longer looks there, and it was changed since: look through it by hand";
        let remarks = original.text.iter().map(|_| remark.to_owned()).collect();
        Outcome { text: original.text.clone(), changes: Vec::new(), remarks }
    };
    let edit = original.becomes(outcome.text.clone());
    let (agent, shown) = (entry.agent, entry.path.clone());
    Ok(FilePlan {
        agent,
        shown,
        outcome,
        edit,
        own: None,
        entry: Some(entry.clone()),
        target: None,
    })
}

fn refused(agent: Agent, target: &Target, error: &PartError) -> Error {
    let message = format!("{} of {}: {error}", target.path.display(), agent.name());
    Error::failed(message).with_action(format!(
        "Nothing was changed. Repair the file, or name the agents to set up without {}.",
        agent.id()
    ))
}

/// Carries out a set-up. The manifest comes first, so that an interruption between two files can be
/// repaired. Returns the agents' own commands that failed, with their errors; their files were then
/// written directly.
pub(crate) fn write(
    plans: &[FilePlan],
    dir: &InstanceDir,
    mut manifest: Manifest,
    disk: &mut dyn Disk,
) -> Result<Vec<String>, Error> {
    for plan in plans.iter().filter(|plan| plan.edit.is_some()) {
        plan.entry.iter().cloned().for_each(|entry| manifest.note(entry));
    }
    save(&manifest, dir, disk)?;
    let mut failed = Vec::new();
    for plan in plans {
        let (Some(edit), Some(target)) = (&plan.edit, &plan.target) else { continue };
        let Some(own) = &plan.own else {
            disk.write(edit)?;
            continue;
        };
        failed.extend(run(own).err());
        let now = Original::read(&target.path)?;
        let (path, text) = (now.path.clone(), now.text.clone());
        manifest.wrote(&path, text.as_deref());
        let rest = parts::place(text.as_deref(), target.format, &target.parts)
            .map_err(|error| refused(plan.agent, target, &error))?;
        manifest.wrote(&path, rest.text.as_deref());
        save(&manifest, dir, disk)?;
        if let Some(edit) = now.becomes(rest.text) {
            disk.write(&edit)?;
        }
    }
    Ok(failed)
}

/// Carries out a removal. The manifest comes last: until then everything can be repeated.
pub(crate) fn take_back(
    plans: &[FilePlan],
    dir: &InstanceDir,
    mut manifest: Manifest,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    for plan in plans {
        if let Some(edit) = &plan.edit {
            disk.write(edit)?;
        }
        let Some(entry) = &plan.entry else { continue };
        if plan.edit.as_ref().is_some_and(|edit| edit.text.is_none()) {
            for folder in entry.folders.iter().rev() {
                // This fails if the folder contains something else by now, and then the folder must
                // stay.
                let _ = fs::remove_dir(folder);
            }
        }
        manifest.files.retain(|known| known.path != entry.path);
    }
    save(&manifest, dir, disk)
}

fn save(manifest: &Manifest, dir: &InstanceDir, disk: &mut dyn Disk) -> Result<(), Error> {
    manifest.saved(dir)?.map_or(Ok(()), |edit| disk.write(&edit))
}

/// Returns the folders to create for a file, the outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|at| !at.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Runs an agent's own command to its end.
fn run(own: &OwnCommand) -> Result<(), String> {
    let failed = |why: &str| format!("`{}` {why}", own.line());
    let mut child = Command::new(&own.program)
        .args(&own.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|reason| failed(&format!("cannot be run: {reason}")))?;
    let deadline = Instant::now() + Duration::from_secs(OWN_COMMAND_SECONDS_MAX);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(&format!("failed ({status})"))),
            Err(reason) => return Err(failed(&format!("cannot be waited for: {reason}"))),
            Ok(None) if Instant::now() > deadline => {
                // Fails for a process that has just ended.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(&format!("took over {OWN_COMMAND_SECONDS_MAX} s")));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS)),
        }
    }
}
