//! `anchord doctor`: finds problems of this machine's anchord, with a remedy for each.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anchord_agents::setup::{Agent, Programs, Scope, Setting, UserEnvironment, Wishes};
use anchord_daemon::api::ProjectStatus;
use anchord_daemon::projects::{Surroundings, locate};
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use owo_colors::OwoColorize;
use serde::Serialize;

use super::{directory, home, print_json};
use crate::agents::manifest::Manifest;
use crate::agents::plan::{self, FilePlan, RealDisk};
use crate::agents::user_environment;
use crate::client::refuse_stopped;
use crate::exit::{Error, Kind};
use crate::show;

mod agents;
mod config;
mod daemon;
mod data;
mod merge;
mod rules;
mod team;

/// Check the daemon, the socket, versions, agents' entries and hooks, data and logs
///
/// Each finding says what to do. Nothing is sent anywhere. --fix repairs what is safe to repair:
/// stale paths of anchord's, modes, leftovers. Each agent's server is started once, and with it the
/// daemon if none runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord doctor
  anchord doctor --fix
  anchord doctor --json | jq '.[] | select(.severity == \"problem\")'

Exit codes: 0 where nothing is wrong (there may be notes), 1 where there are problems that --fix did not repair,
2 where the command line is wrong.")]
pub(crate) struct Args {
    /// Repair what is safe to repair
    #[arg(long)]
    fix: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Severity {
    /// Everything is as it should be.
    Good,
    /// The finding is worth knowing.
    Note,
    /// The finding should be repaired.
    Problem,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    severity: Severity,
    /// The subject: `daemon`, `data`, an agent.
    about: String,
    /// The description.
    what: String,
    /// The remedy; `None` if there is nothing to do.
    action: Option<String>,
    /// A description of what --fix did.
    fixed: Option<String>,
    #[serde(skip)]
    fix: Option<Fix>,
}

/// A repair that --fix may carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fix {
    /// The mode that a file of anchord's should have.
    Mode(PathBuf, u32),
    /// A leftover of anchord's to remove.
    Remove(PathBuf),
    /// An agent whose parts to update, and the scope.
    SetUp(Agent, Scope),
}

impl Finding {
    fn new(severity: Severity, about: &str, what: impl Into<String>) -> Self {
        let (about, what) = (about.to_owned(), what.into());
        Self { severity, about, what, action: None, fixed: None, fix: None }
    }

    fn good(about: &str, what: impl Into<String>) -> Self {
        Self::new(Severity::Good, about, what)
    }

    fn note(about: &str, what: impl Into<String>) -> Self {
        Self::new(Severity::Note, about, what)
    }

    fn problem(about: &str, what: impl Into<String>, action: impl Into<String>) -> Self {
        Self::new(Severity::Problem, about, what).action(action)
    }

    fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }

    fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }
}

/// Whether a finding already has this error of a project.
fn is_reported(found: &[Finding], project: &ProjectStatus, error: &Error) -> bool {
    let has = |finding: &Finding| {
        finding.what.starts_with(&project.name) && finding.what.contains(&error.message)
    };
    found.iter().any(has)
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let findings = found(&InstanceDir::locate()?, self.fix)?;
        let wrong = findings.iter().any(|finding| finding.severity == Severity::Problem);
        if self.json {
            print_json(out, &findings)?;
        } else {
            render(&findings, self.fix, home().as_deref(), out)?;
        }
        Ok(if wrong { ExitCode::from(Kind::Failed.code()) } else { ExitCode::SUCCESS })
    }
}

/// Examines this machine for the dashboard.
pub(super) fn for_dashboard(
    dir: &InstanceDir,
    fix: bool,
) -> Result<Vec<anchord_dashboard::Finding>, Error> {
    use anchord_dashboard::Severity as Shown;
    let shown = |finding: Finding| anchord_dashboard::Finding {
        severity: match finding.severity {
            Severity::Good => Shown::Good,
            Severity::Note => Shown::Note,
            Severity::Problem => Shown::Problem,
        },
        about: finding.about,
        what: finding.what,
        action: finding.action,
        fixed: finding.fixed,
        is_repairable: finding.fix.is_some(),
    };
    Ok(found(dir, fix)?.into_iter().map(shown).collect())
}

/// Looks at everything. With `fix`, repairs what is safe to repair, and looks again.
fn found(dir: &InstanceDir, fix: bool) -> Result<Vec<Finding>, Error> {
    let place = user_environment()?;
    let mut hangs = daemon::unserved(dir);
    let findings = examined(dir, &place, hangs.as_ref());
    if !fix {
        return Ok(findings);
    }
    let repaired = repaired(findings, dir, &place);
    // One that is suspended is not waited for a second time.
    if hangs.is_none() || refuse_stopped(dir).is_ok() {
        hangs = daemon::unserved(dir);
    }
    let again = examined(dir, &place, hangs.as_ref());
    Ok(if repaired.is_empty() { again } else { checked_again(repaired, again) })
}

/// Looks at everything. Changes nothing, but starts the daemon. One that `hangs` is the cause of
/// whatever follows, so nothing is asked of it.
fn examined(dir: &InstanceDir, place: &UserEnvironment, hangs: Option<&Error>) -> Vec<Finding> {
    let mut findings = config::findings(dir);
    // The agents come before the daemon, because their checks start it.
    let here = project(dir);
    let scope = here.clone().map(Scope::Project);
    let (agents, named) = agents::findings(place, scope.as_ref(), hangs.is_none());
    let status = daemon::findings(dir, hangs, &mut findings);
    daemon::versions(status.as_ref(), &named, &mut findings);
    data::findings(dir, status.as_ref(), &mut findings);
    findings.extend(agents);
    if let Some(status) = &status {
        config::in_use(status, &mut findings);
        agents::hooks_delivered(status, &mut findings);
        merge::findings(status, &mut findings);
        team::findings(dir, status, &mut findings);
    }
    // While rules cannot be read, agents are stopped at every action. That comes first.
    let mut first = rules::findings(here.as_deref(), status.as_ref());
    first.append(&mut findings);
    first
}

/// A finding and the outcome of its repair.
type Repaired = (Finding, Result<String, Error>);

/// Carries out the repairs, each once.
fn repaired(findings: Vec<Finding>, dir: &InstanceDir, place: &UserEnvironment) -> Vec<Repaired> {
    let mut done: Vec<Repaired> = Vec::new();
    for finding in findings {
        let Some(fix) = &finding.fix else { continue };
        if !done.iter().any(|(known, _)| known.fix.as_ref() == Some(fix)) {
            let outcome = fix.apply(dir, place);
            done.push((finding, outcome));
        }
    }
    done
}

/// Compares repairs with what is found after them. A repair counts only if its finding is gone.
fn checked_again(repaired: Vec<Repaired>, mut found: Vec<Finding>) -> Vec<Finding> {
    let mut gone = Vec::new();
    for (mut finding, outcome) in repaired {
        let same = |other: &&mut Finding| other.what == finding.what && other.fix == finding.fix;
        match (found.iter_mut().find(same), outcome) {
            (Some(still), Ok(_)) => {
                still.fixed = Some("the repair did not help; it is still so".to_owned());
            }
            (Some(still), Err(error)) => {
                still.fixed = Some(format!("cannot be repaired: {}", error.message));
            }
            (None, outcome) => {
                finding.severity = Severity::Note;
                finding.fixed = Some(outcome.unwrap_or_else(|_| "no longer so".to_owned()));
                gone.push(finding);
            }
        }
    }
    gone.append(&mut found);
    gone
}

/// Returns the root of the working directory's project, where agents may be set up as well.
fn project(dir: &InstanceDir) -> Option<PathBuf> {
    let surroundings = Surroundings::here(Some(dir.path().to_owned()));
    let located = locate(&directory(Path::new(".")).ok()?, &surroundings).ok()?;
    Some(located.root)
}

impl Fix {
    fn apply(&self, dir: &InstanceDir, place: &UserEnvironment) -> Result<String, Error> {
        match self {
            Self::Mode(path, mode) => {
                fs::set_permissions(path, fs::Permissions::from_mode(*mode))
                    .with_context(|| format!("cannot change the mode of {}", path.display()))?;
                Ok(format!("its mode is {mode:03o} now"))
            }
            Self::Remove(path) => {
                fs::remove_file(path)
                    .with_context(|| format!("cannot remove {}", path.display()))?;
                Ok("removed".to_owned())
            }
            Self::SetUp(agent, scope) => {
                let programs = Programs::here()?;
                let (programs, wishes) = (&programs, Wishes::default());
                let setting = Setting { place, scope, programs, wishes };
                dir.ensure()?;
                let manifest = Manifest::read(dir)?;
                let plans = plan::setup(&[*agent], &setting, &manifest);
                let written = plan::write(&plans.files, dir, manifest, &mut RealDisk)?;
                if let Some(refused) = plans.refused.into_iter().chain(written.refused).next() {
                    return Err(Error::failed(refused.why));
                }
                Ok(match plans.files.iter().find_map(FilePlan::trust) {
                    Some(trust) => format!("set up again. {}", trust.remark),
                    None => "set up again".to_owned(),
                })
            }
        }
    }
}

fn render(
    findings: &[Finding],
    fix: bool,
    home: Option<&Path>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let short = |text: &str| match home.and_then(Path::to_str).filter(|home| home.len() > 1) {
        Some(home) => show::plain_lines(&text.replace(&format!("{home}/"), "~/")),
        None => show::plain_lines(text),
    };
    for finding in findings {
        let sign = match finding.severity {
            Severity::Good => "✓".green().to_string(),
            Severity::Note => "-".yellow().to_string(),
            Severity::Problem => "✗".red().to_string(),
        };
        writeln!(out, "{sign} {}: {}", finding.about.bold(), short(&finding.what))?;
        match (&finding.fixed, &finding.action) {
            (Some(fixed), _) => writeln!(out, "    {}", short(fixed))?,
            (None, Some(action)) => writeln!(out, "    {}", short(action))?,
            (None, None) => {}
        }
    }
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let problems = show::count(count(Severity::Problem) as u64, "problem");
    writeln!(out, "\n{problems}, {}", show::count(count(Severity::Note) as u64, "note"))?;
    let repairable = findings.iter().filter(|finding| finding.fix.is_some()).count();
    if repairable > 0 && !fix {
        writeln!(out, "`anchord doctor --fix` repairs {repairable} of them.")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
