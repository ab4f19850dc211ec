//! `anchord setup`: makes the agents of this machine use anchord, and undoes that.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anchord_agents::setup::parts::EditKind;
use anchord_agents::setup::{
    Agent, Programs, READ_TOOLS, Reads, Scope, Setting, UserEnvironment, Wishes,
};
use anchord_agents::transcripts;
use anchord_daemon::projects::locate;
use anchord_proto::instance::InstanceDir;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use owo_colors::OwoColorize;

use super::{directory, import};
use crate::agents::manifest::Manifest;
use crate::agents::plan::{self, FilePlan, Plans, RealDisk, Refusal};
use crate::agents::state::State;
use crate::agents::user_environment;
use crate::client::Client;
use crate::confirm::{asked, can_ask, confirmed};
use crate::exit::{Error, Kind};
use crate::show;

mod check;

pub(super) use check::{CHECKS, round_trip};

/// Set up the agents of this machine, once: server, hooks, and a check that it works
///
/// Finds the agents installed, shows what it will write where, asks once, writes, and then starts
/// the server as each of them would. Running it again brings everything up to date. With --remove,
/// everything is taken back: to the byte where nothing else changed a file, else only what is
/// anchord's.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord setup
  anchord setup claude-code codex --yes --allow-reads
  anchord setup --dry-run
  anchord setup --scope project
  anchord setup --remove

Exit codes: 1 where an agent could not be set up or its check failed, 2 where there is no terminal
to ask on and no --yes, 3 where a daemon runs and does not answer.")]
#[expect(clippy::struct_excessive_bools, reason = "flags are bools")]
pub(crate) struct Args {
    /// The agents [default: those found on this machine]
    #[arg(value_name = "AGENT", value_parser = agents())]
    agents: Vec<Agent>,
    /// All agents that anchord knows, found or not
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// For all projects of yours, or in the working directory's project
    #[arg(long, value_enum, default_value = "user")]
    scope: ScopeName,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Let agents use the tools that only read memory without asking you each time
    #[arg(long, conflicts_with = "remove")]
    allow_reads: bool,
    /// Remove what setup wrote
    #[arg(long)]
    remove: bool,
}

fn agents() -> impl TypedValueParser<Value = Agent> {
    PossibleValuesParser::new(Agent::all().into_iter().map(Agent::id))
        .try_map(|id| Agent::named(&id).ok_or("it is not a known agent"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ScopeName {
    User,
    Project,
}

/// The data of a run.
struct Run<'a> {
    dir: &'a InstanceDir,
    place: UserEnvironment,
    programs: Programs,
    scope: Scope,
    agents: Vec<Agent>,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let dir = InstanceDir::locate()?;
        if dir.is_named() {
            return Err(Error::usage("ANCHORD_HOME names an instance that agents would not find")
                .with_action(
                    "Unset it: agents are set up for the instance in your home directory.",
                ));
        }
        let place = user_environment()?;
        let programs = Programs::here()?;
        let scope = self.scope()?;
        let agents = self.chosen(&place, &scope, &Manifest::read(&dir)?, out)?;
        if agents.is_empty() && !self.remove {
            writeln!(out, "No agent was found on this machine that anchord can set up.")?;
            writeln!(out, "It knows {}.", names(&Agent::all()))?;
            writeln!(out, "Have any other agent that speaks MCP run `anchord mcp` as a server.")?;
            return Ok(ExitCode::SUCCESS);
        }
        let run = Run { dir: &dir, place, programs, scope, agents };
        if self.remove { self.take_back(&run, out) } else { self.set_up(run, out) }
    }

    fn scope(&self) -> Result<Scope, Error> {
        if self.scope == ScopeName::User {
            return Ok(Scope::User);
        }
        let surroundings = super::surroundings();
        let located = locate(&directory(Path::new("."))?, &surroundings)
            .map_err(|error| Error::usage(format!("failed to {error}")))?;
        Ok(Scope::Project(located.root))
    }

    /// Returns the chosen agents, and prints which ones were searched for.
    fn chosen(
        &self,
        place: &UserEnvironment,
        scope: &Scope,
        manifest: &Manifest,
        out: &mut dyn Write,
    ) -> Result<Vec<Agent>, Error> {
        let fits = |agent: &Agent| *scope == Scope::User || agent.facts().has_project_scope;
        if let Some(agent) = self.agents.iter().find(|agent| !fits(agent)) {
            let name = agent.name();
            return Err(Error::usage(format!("{name} has no configuration of a project"))
                .with_action("Leave out --scope: it is set up for all your projects."));
        }
        let mut agents: Vec<Agent> = if self.all {
            Agent::all().into_iter().filter(fits).collect()
        } else if !self.agents.is_empty() {
            self.agents.clone()
        } else {
            let written = |agent: &Agent| manifest.files.iter().any(|file| file.agent == *agent);
            let meant =
                |agent: &Agent| agent.found(place).is_some() || (self.remove && written(agent));
            Agent::all().into_iter().filter(meant).filter(fits).collect()
        };
        agents.sort_unstable();
        agents.dedup();
        if !self.remove {
            for agent in &agents {
                let found = agent.found(place).map_or_else(
                    || "not found on this machine".to_owned(),
                    |path| show::path(&path.to_string_lossy(), Some(&place.home)),
                );
                writeln!(out, "{} ({found})", agent.name().bold())?;
            }
            if !agents.is_empty() {
                writeln!(out)?;
            }
        }
        Ok(agents)
    }

    fn set_up(&self, mut run: Run<'_>, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let mut wishes = Wishes { reads: self.allow_reads };
        let Plans { files: mut plans, mut refused } = run.plan(wishes)?;
        run.agents.retain(|agent| !refused.iter().any(|refusal| refusal.agent == *agent));
        let changes = show_plans(&plans, &run.place.home, out)?;
        show_refused(&refused, out)?;
        if run.agents.is_empty() {
            return not_set_up(&refused).map_or(Ok(ExitCode::SUCCESS), Err);
        }
        if changes == 0 {
            writeln!(out, "Already set up: there is nothing to write.")?;
        }
        warn_of_both_scopes(&run, out)?;
        if self.dry_run {
            writeln!(out, "Nothing was written: this was a dry run.")?;
            return not_set_up(&refused).map_or(Ok(ExitCode::SUCCESS), Err);
        }
        let renewed = plans.iter().filter(|plan| plan.trust().is_some()).map(|plan| plan.agent);
        let renewed: Vec<Agent> = renewed.collect();
        if changes > 0 {
            out.flush()?;
            if !confirmed("Write this?", self.yes)? {
                writeln!(out, "nothing was written")?;
                return Ok(ExitCode::SUCCESS);
            }
            if !wishes.reads && !self.yes && !run.listing_reads().is_empty() && can_ask() {
                let question = format!(
                    "Let agents read memory without asking you each time? This allows {} for {}.",
                    READ_TOOLS.join(", "),
                    names(&run.listing_reads())
                );
                wishes.reads = asked(&question)?;
                let again = run.plan(wishes)?;
                plans = again.files;
                refused.extend(again.refused);
            }
            run.dir.ensure()?;
            allow_starts(run.dir)?;
            let written = plan::write(&plans, run.dir, Manifest::read(run.dir)?, &mut RealDisk)?;
            for why in written.commands_failed {
                writeln!(out, "{why}; anchord wrote the file instead")?;
            }
            refused.extend(written.refused);
            writeln!(out, "Written. `anchord setup --remove` takes it back.")?;
        }
        writeln!(out)?;
        // Each agent's server would wait for a daemon that hangs.
        let hangs = Client::check(run.dir).err();
        let working = hangs.is_none() && check::all(&run.agents, &run.programs, out)?;
        run.remarks(wishes, &renewed, out)?;
        if changes > 0 && working && refused.is_empty() {
            self.past_sessions(&run, out)?;
        }
        if let Some(error) = not_set_up(&refused).into_iter().chain(hangs).reduce(both) {
            return Err(error);
        }
        Ok(if working { ExitCode::SUCCESS } else { ExitCode::from(Kind::Failed.code()) })
    }

    /// Offers to import past sessions, so that a memory need not begin empty. Nothing is imported
    /// without a question, not even with --yes.
    fn past_sessions(&self, run: &Run<'_>, out: &mut dyn Write) -> Result<(), Error> {
        let project = match &run.scope {
            Scope::User => None,
            Scope::Project(root) => Some(root.clone()),
        };
        let number = transcripts::count(&run.place.home, project.as_deref());
        if number == 0 {
            return Ok(());
        }
        let found = format!("\nfound {} here", show::count(number as u64, "past session"));
        if self.yes || !can_ask() {
            return Ok(writeln!(out, "{found}: `anchord import sessions` brings them over")?);
        }
        out.flush()?;
        if asked(&format!("{found}; import?"))? {
            match import::past_sessions(project, out) {
                // Set-up itself is complete.
                Err(error) if error.kind == Kind::Damaged => writeln!(out, "{}", error.message)?,
                done => done?,
            }
        }
        Ok(())
    }

    fn take_back(&self, run: &Run<'_>, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let manifest = Manifest::read(run.dir)?;
        let Plans { files: plans, mut refused } =
            plan::removal(&run.agents, &run.setting(Wishes::default()), &manifest);
        let changes = show_plans(&plans, &run.place.home, out)?;
        show_refused(&refused, out)?;
        if changes == 0 && refused.is_empty() {
            writeln!(out, "Nothing of anchord's is there to take back.")?;
        }
        if self.dry_run {
            writeln!(out, "Nothing was written: this was a dry run.")?;
            return not_taken_back(&refused).map_or(Ok(ExitCode::SUCCESS), Err);
        }
        if changes > 0 {
            out.flush()?;
            if !confirmed("Take this back?", self.yes)? {
                writeln!(out, "nothing was written")?;
                return Ok(ExitCode::SUCCESS);
            }
        }
        let others = others(&manifest, &run.scope);
        refused.extend(plan::take_back(&plans, run.dir, manifest, &mut RealDisk)?);
        // The directory goes if nothing else of anchord is left, as after `anchord uninstall`.
        let _ = fs::remove_dir(run.dir.path());
        if changes > 0 {
            writeln!(out, "Taken back.")?;
        }
        for agent in &run.agents {
            for leftover in (agent.facts().leftovers)(&run.setting(Wishes::default())) {
                writeln!(out, "{}: {}", agent.name(), show::plain(&leftover))?;
            }
        }
        for project in others {
            let path = show::path(&project.to_string_lossy(), Some(&run.place.home));
            let remark = if project.exists() {
                "is set up for itself: `anchord setup --scope project --remove` there"
            } else {
                "was set up for itself and cannot be looked at now; what was written there is remembered"
            };
            writeln!(out, "{path} {remark}")?;
        }
        not_taken_back(&refused).map_or(Ok(ExitCode::SUCCESS), Err)
    }
}

/// Adds a second failure to the first.
fn both(first: Error, second: Error) -> Error {
    let first = first.and_action(&second.message);
    second.action.iter().fold(first, |error, action| error.and_action(action))
}

/// Warns of agents that are set up both for the user and for this project.
fn warn_of_both_scopes(run: &Run<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let twice = run.in_both_scopes();
    if twice.is_empty() {
        return Ok(());
    }
    let remark = format!(
        "! for all your projects already: {}. With this project's as well each event comes twice.",
        names(&twice)
    );
    Ok(writeln!(out, "{}\n", remark.yellow())?)
}

/// Returns the error for agents that could not be set up; `None` if there are none.
fn not_set_up(refused: &[Refusal]) -> Option<Error> {
    let again = |refusal: &Refusal| {
        let id = refusal.agent.id();
        format!("{}. Repair the file and run `anchord setup {id}`.", refusal.why)
    };
    incomplete("set up", refused, again)
}

/// Returns the error for files from which anchord's part could not be removed; `None` if there are
/// none.
pub(super) fn not_taken_back(refused: &[Refusal]) -> Option<Error> {
    let again = |refusal: &Refusal| {
        let Refusal { agent, why, by_hand, .. } = refusal;
        format!(
            "{why}. Repair the file and run `anchord setup --remove {}`, or remove from it by \
             hand: {by_hand}.",
            agent.id()
        )
    };
    incomplete("take anchord out of", refused, again)
}

fn incomplete(
    what: &str,
    refused: &[Refusal],
    again: impl Fn(&Refusal) -> String,
) -> Option<Error> {
    let mut agents: Vec<Agent> = refused.iter().map(|refusal| refusal.agent).collect();
    agents.sort_unstable();
    agents.dedup();
    let error = Error::failed(format!("cannot {what} {}", names(&agents)));
    let actions: Vec<String> = refused.iter().map(again).collect();
    (!refused.is_empty()).then(|| error.with_action(actions.join("\n  ")))
}

/// Lets daemons be started again after a removal.
pub(super) fn allow_starts(dir: &InstanceDir) -> Result<(), Error> {
    match fs::remove_file(dir.removed()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let what = format!("cannot remove {}: {error}", dir.removed().display());
            Err(Error::failed(what))
        }
        _ => Ok(()),
    }
}

/// Plans the removal of everything that set-ups wrote, in the user's own scope and in each project.
pub(super) fn whole_removal(dir: &InstanceDir) -> Result<Plans, Error> {
    let (place, manifest) = (user_environment()?, Manifest::read(dir)?);
    if manifest.files.is_empty() {
        return Ok(Plans::default());
    }
    let projects = others(&manifest, &Scope::User).into_iter().map(Scope::Project);
    let programs = Programs::here().unwrap_or_else(|_| Programs::on_path());
    let mut plans = Plans::default();
    for scope in [Scope::User].into_iter().chain(projects) {
        let (place, scope, programs, wishes) = (&place, &scope, &programs, Wishes::default());
        let setting = Setting { place, scope, programs, wishes };
        let Plans { files, refused } = plan::removal(&Agent::all(), &setting, &manifest);
        for plan in files {
            if !plans.files.iter().any(|known| known.shown == plan.shown) {
                plans.files.push(plan);
            }
        }
        for refusal in refused {
            if !plans.refused.iter().any(|known| known.shown == refusal.shown) {
                plans.refused.push(refusal);
            }
        }
    }
    plans.files.retain(|plan| plan.edit.is_some());
    Ok(plans)
}

/// Carries out [`whole_removal`]. Returns the files that could not be changed.
pub(super) fn take_back_all(plans: &[FilePlan], dir: &InstanceDir) -> Result<Vec<Refusal>, Error> {
    plan::take_back(plans, dir, Manifest::read(dir)?, &mut RealDisk)
}

impl Run<'_> {
    fn plan(&self, wishes: Wishes) -> Result<Plans, Error> {
        Ok(plan::setup(&self.agents, &self.setting(wishes), &Manifest::read(self.dir)?))
    }

    fn setting(&self, wishes: Wishes) -> Setting<'_> {
        let Self { place, scope, programs, .. } = self;
        Setting { place, scope, programs, wishes }
    }

    /// Returns the agents that would be set up for this project and already are for all projects.
    fn in_both_scopes(&self) -> Vec<Agent> {
        let setting = Setting { scope: &Scope::User, ..self.setting(Wishes::default()) };
        let agents = self.agents.iter().filter(|_| self.scope != Scope::User);
        let known = |agent: &Agent| {
            let state = State::of(*agent, &setting);
            !state.servers.is_empty() || !state.hooks.is_empty()
        };
        agents.copied().filter(known).collect()
    }

    /// Returns the agents that have a list of what is allowed without asking.
    fn listing_reads(&self) -> Vec<Agent> {
        let listing = |agent: &&Agent| agent.facts().reads == Reads::Listed;
        self.agents.iter().filter(listing).copied().collect()
    }

    /// Prints what a person still has to do. The hooks of the `renewed` agents differ from the
    /// trusted ones.
    fn remarks(&self, wishes: Wishes, renewed: &[Agent], out: &mut dyn Write) -> Result<(), Error> {
        writeln!(out)?;
        for agent in &self.agents {
            let facts = agent.facts();
            let state = State::of(*agent, &self.setting(wishes));
            if let Some(trust) = &facts.trust
                && (!state.untrusted.is_empty() || renewed.contains(agent))
            {
                writeln!(out, "{}", trust.remark)?;
            }
            for remark in (facts.remarks)(&self.place) {
                writeln!(out, "{}: {remark}", agent.name())?;
            }
            if let (Reads::Unlisted(why), true) = (facts.reads, wishes.reads) {
                writeln!(out, "{}: reading is not allowed beforehand; {why}", agent.name())?;
            }
        }
        if let Scope::Project(_) = self.scope {
            writeln!(
                out,
                "These files name programs on this machine: do not commit them for others."
            )?;
        }
        Ok(())
    }
}

/// The line length at which a plan wraps, in characters: that of the narrowest usual terminal.
const LINE_CHARS: usize = 78;

/// Shows what happens to each file. Returns the number of files that change.
pub(super) fn show_plans(
    plans: &[FilePlan],
    home: &Path,
    out: &mut dyn Write,
) -> Result<usize, Error> {
    let mut changed = 0;
    for plan in plans {
        let Some(shown) = (plan.edit.is_some() || !plan.outcome.remarks.is_empty()).then_some(plan)
        else {
            continue;
        };
        let path = show::path(&shown.shown.to_string_lossy(), Some(home));
        writeln!(out, "{path}  ({})", shown.agent.name())?;
        for change in &shown.outcome.changes {
            let words = show::wrapped(&show::plain(&change.to_string()), LINE_CHARS, "      ");
            let line = match change.kind {
                EditKind::Added => words.green().to_string(),
                EditKind::Removed => words.red().to_string(),
                EditKind::Changed => words.yellow().to_string(),
            };
            writeln!(out, "  {line}")?;
        }
        for remark in &shown.outcome.remarks {
            writeln!(out, "  {}", format!("! {}", show::plain(remark)).yellow())?;
        }
        if let Some(own) = &shown.own {
            writeln!(out, "  by `{}`", show::plain(&own.line()))?;
        }
        changed += usize::from(shown.edit.is_some());
    }
    if changed > 0 {
        writeln!(out)?;
    }
    Ok(changed)
}

/// Shows the files that will be left as they are.
pub(super) fn show_refused(refused: &[Refusal], out: &mut dyn Write) -> Result<(), Error> {
    for Refusal { agent, why, .. } in refused {
        let line = format!("! left as it is ({}): {}", agent.name(), show::plain(why));
        writeln!(out, "{}", line.yellow())?;
    }
    if !refused.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

/// Returns the projects with a set-up of their own, other than this scope's.
fn others(manifest: &Manifest, scope: &Scope) -> Vec<PathBuf> {
    let mut projects: Vec<PathBuf> =
        manifest.files.iter().filter_map(|file| file.project.clone()).collect();
    projects.sort();
    projects.dedup();
    projects.retain(|project| *scope != Scope::Project(project.clone()));
    projects
}

fn names(agents: &[Agent]) -> String {
    agents.iter().map(|agent| agent.name()).collect::<Vec<_>>().join(", ")
}
