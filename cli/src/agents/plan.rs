//! Plans of what set-up would write or undo, as values, and the functions that carry them out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anchord_agents::setup::parts::{
    self, Before, EditKind, Outcome, Part, PartChange, PartError, SERVER,
};
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

/// A file that is left as it is, because it cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The agent that the file belongs to.
    pub(crate) agent: Agent,
    /// The file, as the agent names it.
    pub(crate) shown: PathBuf,
    /// The reason, with the file's name.
    pub(crate) why: String,
    /// The parts of anchord that may be in it, as words after "remove".
    pub(crate) by_hand: String,
}

/// Plans, and the files for which none could be made. A file that fails does not stop the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plans {
    /// The plans.
    pub(crate) files: Vec<FilePlan>,
    /// The files that are left as they are.
    pub(crate) refused: Vec<Refusal>,
}

impl Refusal {
    fn new(agent: Agent, target: &Target, why: String) -> Self {
        Self { agent, shown: target.path.clone(), why, by_hand: parts::by_hand(&target.parts) }
    }

    fn of_part(agent: Agent, target: &Target, error: &PartError) -> Self {
        Self::new(agent, target, format!("{}: {error}", target.path.display()))
    }

    /// Describes a file whose plan could not be carried out.
    fn of_plan(plan: &FilePlan, error: Error) -> Self {
        let by_hand = "what anchord wrote".to_owned();
        Self { agent: plan.agent, shown: plan.shown.clone(), why: error.message, by_hand }
    }
}

/// The outcome of carrying out a set-up.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// The errors of agents' own commands. The files were then written directly.
    pub(crate) commands_failed: Vec<String>,
    /// The files that could not be written.
    pub(crate) refused: Vec<Refusal>,
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

/// Plans the changes that set these agents up. Writes nothing. An agent with a file that cannot be
/// changed is not set up at all.
pub(crate) fn setup(agents: &[Agent], setting: &Setting<'_>, manifest: &Manifest) -> Plans {
    let mut plans = Plans::default();
    for agent in agents {
        let targets = agent.targets(setting).into_iter();
        let placed: Result<Vec<FilePlan>, Refusal> =
            targets.map(|target| placed(*agent, target, setting.scope, manifest)).collect();
        match placed {
            Ok(files) => plans.files.extend(files),
            Err(refusal) => plans.refused.push(refusal),
        }
    }
    plans
}

fn placed(
    agent: Agent,
    target: Target,
    scope: &Scope,
    manifest: &Manifest,
) -> Result<FilePlan, Refusal> {
    let original = Original::read(&target.path)
        .map_err(|error| Refusal::new(agent, &target, error.message))?;
    let outcome = parts::place(original.text.as_deref(), target.format, &target.parts)
        .map_err(|error| Refusal::of_part(agent, &target, &error))?;
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
    let before = before(&original, &target, manifest)
        .map_err(|error| Refusal::of_part(agent, &target, &error))?;
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
pub(crate) fn removal(agents: &[Agent], setting: &Setting<'_>, manifest: &Manifest) -> Plans {
    let mut plans = Plans::default();
    let mut seen = BTreeSet::new();
    // This covers wishes of earlier set-ups too.
    let setting = Setting { wishes: Wishes { reads: true }, ..*setting };
    for agent in agents {
        for target in agent.targets(&setting) {
            let original = match Original::read(&target.path) {
                Ok(original) => original,
                Err(error) => {
                    let real = fs::canonicalize(&target.path);
                    seen.insert(real.unwrap_or_else(|_| target.path.clone()));
                    plans.refused.push(Refusal::new(*agent, &target, error.message));
                    continue;
                }
            };
            seen.insert(original.path.clone());
            let known = manifest.entry(&original.path);
            match taken_out(*agent, target, original, known) {
                Ok(plan) => plans.files.extend(plan),
                Err(refusal) => plans.refused.push(refusal),
            }
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
            match left_behind(entry) {
                Ok(plan) => plans.files.push(plan),
                Err(refusal) => plans.refused.push(refusal),
            }
        }
    }
    plans
}

/// Returns whether a project was deleted: it is missing, but its parent folder has other entries.
/// An empty or missing parent may belong to a disk that is not mounted.
fn is_gone(root: &Path) -> bool {
    let siblings = root.parent().and_then(|folder| fs::read_dir(folder).ok());
    !root.exists() && siblings.is_some_and(|mut siblings| siblings.next().is_some())
}

fn taken_out(
    agent: Agent,
    target: Target,
    original: Original,
    known: Option<&Entry>,
) -> Result<Option<FilePlan>, Refusal> {
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
        None => match parts::take_out(&text, target.format, &target.parts, before) {
            Ok(outcome) => outcome,
            // A broken file of an agent that was never set up is not anchord's business.
            Err(_) if entry.is_none() && !text.contains(SERVER) => return Ok(None),
            Err(error) => return Err(Refusal::of_part(agent, &target, &error)),
        },
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

fn left_behind(entry: &Entry) -> Result<FilePlan, Refusal> {
    let original = Original::read(&entry.path).map_err(|error| Refusal {
        agent: entry.agent,
        shown: entry.path.clone(),
        why: error.message,
        by_hand: "what anchord wrote".to_owned(),
    })?;
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

/// Carries out a set-up. The manifest comes first, so that an interruption between two files can be
/// repaired.
pub(crate) fn write(
    plans: &[FilePlan],
    dir: &InstanceDir,
    mut manifest: Manifest,
    disk: &mut dyn Disk,
) -> Result<Written, Error> {
    for plan in plans.iter().filter(|plan| plan.edit.is_some()) {
        plan.entry.iter().cloned().for_each(|entry| manifest.note(entry));
    }
    save(&manifest, dir, disk)?;
    let mut written = Written::default();
    for plan in plans {
        let (Some(edit), Some(target)) = (&plan.edit, &plan.target) else { continue };
        let done = match &plan.own {
            None => disk.write(edit),
            Some(own) => {
                written.commands_failed.extend(run(own).err());
                complete(target, dir, &mut manifest, disk)
            }
        };
        written.refused.extend(done.err().map(|error| Refusal::of_plan(plan, error)));
    }
    Ok(written)
}

/// Adds what an agent's own command left undone.
fn complete(
    target: &Target,
    dir: &InstanceDir,
    manifest: &mut Manifest,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    let now = Original::read(&target.path)?;
    let (path, text) = (now.path.clone(), now.text.clone());
    manifest.wrote(&path, text.as_deref());
    let rest = parts::place(text.as_deref(), target.format, &target.parts)
        .map_err(|error| Error::failed(format!("{}: {error}", target.path.display())))?;
    manifest.wrote(&path, rest.text.as_deref());
    save(manifest, dir, disk)?;
    now.becomes(rest.text).map_or(Ok(()), |edit| disk.write(&edit))
}

/// Carries out a removal. The manifest comes last: until then everything can be repeated. Returns
/// the files that could not be changed; they stay in the manifest.
pub(crate) fn take_back(
    plans: &[FilePlan],
    dir: &InstanceDir,
    mut manifest: Manifest,
    disk: &mut dyn Disk,
) -> Result<Vec<Refusal>, Error> {
    let mut refused = Vec::new();
    for plan in plans {
        if let Some(Err(error)) = plan.edit.as_ref().map(|edit| disk.write(edit)) {
            refused.push(Refusal::of_plan(plan, error));
            continue;
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
    save(&manifest, dir, disk)?;
    Ok(refused)
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
