//! Checks the places of memory and logs: space, permissions, and the last errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anchord_daemon::api::{
    self, ProjectParams, ProjectQuery, ProjectStatus, SplitParams, SplitPart, SplitReply,
    StatusReply, VerifyReply,
};
use anchord_daemon::store::refuse_network_fs;
use anchord_memory::shell_line;
use anchord_proto::instance::{InstanceDir, InstanceFile};

use super::super::{shared, status};
use super::{Finding, is_reported};
use crate::client::Client;
use crate::exit::{Error, Kind};
use crate::limits::{
    DOCTOR_FREE_BYTES_MIN, DOCTOR_JOURNAL_BYTES_MAX, DOCTOR_LOG_BYTES_MAX, DOCTOR_LOG_LINES_MAX,
};
use crate::show;

const ABOUT: &str = "data";
const SHARED: &str = "shared";
const MAKE_READABLE: &str = "Make it readable again, for the user whom the daemon runs as.";

/// Reports how a project's memory is shared, if it is.
fn shared(project: &ProjectStatus) -> Option<Finding> {
    let state = project.shared.as_ref()?;
    let what = format!("{}: {}", project.name, shared::line(state));
    let action = format!("Run `anchord shared status --project {}`.", project.id);
    Some(if state.conflicts > 0 {
        Finding::problem(SHARED, what, action)
    } else if state.paused.is_some() || !state.remarks.is_empty() {
        Finding::note(SHARED, what).action(action)
    } else {
        Finding::good(SHARED, what)
    })
}

/// Reports directories that several memories belong to. A directory that was cloned again, or lost
/// its id, begins another memory, and the earlier one is no longer shown there.
pub(super) fn with_several_memories(projects: &[ProjectStatus]) -> Vec<Finding> {
    let mut by_root: BTreeMap<&str, Vec<&ProjectStatus>> = BTreeMap::new();
    for project in projects.iter().filter(|project| project.revision > 0) {
        by_root.entry(&project.root).or_default().push(project);
    }
    let several = by_root.into_iter().filter(|(_, memories)| memories.len() > 1);
    let finding = |(root, memories): (&str, Vec<&ProjectStatus>)| {
        let listed = memories.iter().map(|it| format!("{} at revision {}", it.id, it.revision));
        let listed: Vec<String> = listed.collect();
        let number = memories.len();
        let what =
            format!("{number} memories belong to {root}:\n      {}", listed.join("\n      "));
        let action = format!(
            "Only one is used there. `anchord load --project ID` shows one, `anchord project link \
             {} --project ID` uses it, and `anchord project delete ID` removes it.",
            shell_line([root])
        );
        Finding::note(ABOUT, what).action(action)
    };
    several.map(finding).collect()
}

/// Checks the directories of an instance, and its projects if a daemon reports them.
pub(super) fn findings(dir: &InstanceDir, status: Option<&StatusReply>, found: &mut Vec<Finding>) {
    if refuse_network_fs(dir.path()).is_err() {
        let what = format!("{} is on a network file system", dir.path().display());
        let action = "Machines that share it would share the socket's name and not the daemon: set ANCHORD_HOME to a \
                      local directory on each.";
        found.push(Finding::problem("home", what, action));
    }
    let file = match InstanceFile::read(dir) {
        Ok(Some(file)) => file,
        Ok(None) => return,
        Err(error) => {
            let action = "Restore it from a backup, or move the instance directory away.";
            found.push(Finding::problem(ABOUT, error.to_string(), action));
            return;
        }
    };
    directory(&file.data, found);
    if let Some(why) = status.and_then(|status| status.read_only.as_deref()) {
        let what = format!("the daemon's own records cannot be written: {why}");
        let place = file.data.join("daemon");
        let shown = place.display();
        let action = if rustix::fs::access(&place, rustix::fs::Access::WRITE_OK).is_ok() {
            format!("Put {shown} back from a backup; projects are not touched.")
        } else {
            format!("Make {shown} writable; nothing in it is lost.")
        };
        found.push(Finding::problem(ABOUT, what, action));
    }
    found.extend(with_several_memories(status.map(|status| &*status.projects).unwrap_or_default()));
    let mut journals = Journals::default();
    for project in status.map(|status| status.projects.as_slice()).unwrap_or_default() {
        found.extend(shared(project));
        match read_only(dir, project) {
            Ok(None) => journals.check(dir, &project.id, &project.name, project.bytes, found),
            Ok(Some(reason)) => {
                let what = format!("{} {}", project.name, status::unusable(project, &reason));
                let action = if project.unread {
                    MAKE_READABLE.to_owned()
                } else {
                    format!("Run `anchord journal verify --project {}`.", project.id)
                };
                found.push(Finding::problem(ABOUT, what, action));
            }
            Err(error) => {
                let what = format!("{} could not be opened: {}", project.name, error.message);
                let verify = || format!("Run `anchord journal verify --project {}`.", project.id);
                let action = match error.action {
                    Some(_) if error.kind == Kind::Damaged => verify(),
                    Some(action) => action,
                    None => "Once that is put right, run `anchord doctor` again.".to_owned(),
                };
                found.push(Finding::problem(ABOUT, what, action));
            }
        }
    }
    let projects = status.map(|status| status.projects.as_slice()).unwrap_or_default();
    for project in projects.iter().filter(|project| !project.unread) {
        match mixed(dir, project) {
            Ok(finding) => found.extend(finding),
            Err(error) if is_reported(found, project, &error) => {}
            Err(error) => {
                let what = format!(
                    "{}: could not check for records from other projects: {}",
                    project.name, error.message
                );
                found.push(Finding::note(ABOUT, what));
            }
        }
    }
    if let Some(personal) = status.and_then(|status| status.personal.as_ref()) {
        if let Some(reason) = &personal.read_only {
            let what = format!("your own notes {}", status::unusable(personal, reason));
            let verify = "Run `anchord journal verify --user`.";
            let action = if personal.unread { MAKE_READABLE } else { verify };
            found.push(Finding::problem(ABOUT, what, action));
        } else {
            journals.check(dir, api::USER, "your own notes", personal.bytes, found);
        }
    }
    found.extend(journals.summary());
    let errors = last_errors(&file.logs);
    if !errors.is_empty() {
        let what = format!("errors logged last:\n      {}", errors.join("\n      "));
        let action = format!("All of them are in {}.", file.logs.display());
        found.push(Finding::note("logs", what).action(action));
    }
}

/// The journals that were read.
#[derive(Debug, Default)]
struct Journals {
    intact: u64,
    /// The names of those that are too long to be read here.
    too_long: Vec<String>,
}

impl Journals {
    /// Reads a journal from its beginning to its end. `memory` is a project's id, or the user's own
    /// memory.
    fn check(
        &mut self,
        dir: &InstanceDir,
        memory: &str,
        name: &str,
        bytes: u64,
        found: &mut Vec<Finding>,
    ) {
        if bytes > DOCTOR_JOURNAL_BYTES_MAX {
            self.too_long.push(name.to_owned());
            return;
        }
        let which =
            if memory == api::USER { "--user".to_owned() } else { format!("--project {memory}") };
        let action = format!("Run `anchord journal verify {which}`.");
        let params = ProjectParams { project: memory.to_owned() };
        let reply = Client::running(dir)
            .and_then(|mut client| client.post::<VerifyReply>(api::JOURNAL_VERIFY, &params));
        match reply {
            Ok(reply) if reply.is_sound() => self.intact += 1,
            Ok(reply) => {
                let damaged = show::count(reply.problems.len() as u64, "damaged place");
                let what = format!("{name}: {damaged} in the journal");
                found.push(Finding::problem(ABOUT, what, action));
            }
            Err(error) => {
                let what = format!("{name}: the journal could not be checked: {}", error.message);
                // The daemon's advice on damage does not name the memory.
                let advice = error.action.filter(|_| error.kind != Kind::Damaged);
                found.push(Finding::problem(ABOUT, what, advice.unwrap_or(action)));
            }
        }
    }

    fn summary(self) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.intact > 0 {
            let what =
                format!("{} read to the end and intact", show::count(self.intact, "journal"));
            found.push(Finding::good(ABOUT, what));
        }
        if !self.too_long.is_empty() {
            let what = format!("journals too long to be read here: {}", self.too_long.join(", "));
            found.push(Finding::note(ABOUT, what).action("`anchord journal verify` reads one."));
        }
        found
    }
}

/// Finds records that other projects wrote into a memory while a marker above them hid their own.
fn mixed(dir: &InstanceDir, project: &ProjectStatus) -> Result<Option<Finding>, Error> {
    let params = SplitParams { project: project.id.clone(), dry_run: true, undo: false };
    let plan: SplitReply = Client::running(dir)?.post(api::PROJECT_SPLIT, &params)?;
    if plan.parts.is_empty() {
        return Ok(None);
    }
    let part = |part: &SplitPart| format!("{} in {}", part.records, part.root);
    let parts: Vec<String> = plan.parts.iter().map(part).collect();
    let mut what = format!(
        "the memory of {} has records that were written in other projects: {}",
        project.root,
        parts.join(", ")
    );
    if plan.unknown > 0 {
        let unknown = show::count(plan.unknown.into(), "record");
        what = format!("{what}; for {unknown} that is not known, and they would stay");
    }
    let action = format!(
        "`anchord project split --project {}` shows them, asks, and moves them.",
        project.id
    );
    Ok(Some(Finding::note("projects", what).action(action)))
}

/// Returns the reason a project cannot be written to. Only opening it shows that.
fn read_only(dir: &InstanceDir, project: &ProjectStatus) -> Result<Option<String>, Error> {
    if project.open || project.read_only.is_some() {
        return Ok(project.read_only.clone());
    }
    let query = ProjectQuery { project: project.id.clone() };
    let project: ProjectStatus = Client::running(dir)?.get(api::PROJECT, &query)?;
    Ok(project.read_only)
}

fn directory(data: &Path, found: &mut Vec<Finding>) {
    if !data.is_dir() {
        let what = format!("{} is not there", data.display());
        found.push(Finding::problem(ABOUT, what, "Bring the disk back that it was on."));
        return;
    }
    if refuse_network_fs(data).is_err() {
        let what =
            format!("{} is on a network file system, where no store is opened", data.display());
        found.push(Finding::problem(ABOUT, what, "Move it to a local disk."));
    }
    if rustix::fs::access(data, rustix::fs::Access::WRITE_OK).is_err() {
        let what = format!("{} cannot be written", data.display());
        found.push(Finding::problem(ABOUT, what, "Make it yours: nothing can be saved."));
    }
    let Ok(space) = rustix::fs::statvfs(data) else { return };
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let what = format!("{}, {} free", data.display(), show::bytes(free));
    found.push(if free < DOCTOR_FREE_BYTES_MIN {
        Finding::problem(
            ABOUT,
            what,
            "Make room: at a full disk nothing is saved, and agents are told so.",
        )
    } else {
        Finding::good(ABOUT, what)
    });
}

/// Returns the last errors in the newest log.
fn last_errors(logs: &Path) -> Vec<String> {
    let newest = newest(logs).and_then(|path| fs::read(path).ok()).unwrap_or_default();
    let from = newest.len().saturating_sub(DOCTOR_LOG_BYTES_MAX);
    let text = String::from_utf8_lossy(newest.get(from..).unwrap_or_default());
    let mut errors: Vec<String> = text
        .lines()
        .rev()
        .filter(|line| line.split_whitespace().nth(1) == Some("ERROR"))
        .take(DOCTOR_LOG_LINES_MAX)
        .map(|line| line.chars().take(200).collect())
        .collect();
    errors.reverse();
    errors
}

fn newest(logs: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(logs).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let of_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("anchord") && name.contains("log")
    };
    // The day is part of the name.
    files.filter(of_ours).max()
}
