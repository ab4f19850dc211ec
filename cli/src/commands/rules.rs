//! `anchord rules`: what must or must not be done, checked before an agent acts.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anchord_agents::events::{Adapter, Envelope, ParsedEvent};
use anchord_daemon::clock;
use anchord_daemon::rules::{WithoutDaemon, guard, guard_unchecked, log_guarded};
use anchord_memory::defuse::defuse;
use anchord_memory::lifecycle::{Answer, Event};
use anchord_memory::lint_rule;
use anchord_memory::render::{RuleVerdict, rule_stop};
use anchord_memory::rules::{Access, Action, Effect, Verdict, parse_rules_file};
use anchord_proto::instance::InstanceDir;
use anchord_proto::limits::{HOOK_EVENT_BYTES_MAX, HOOK_INPUT_BYTES_MAX};
use anyhow::Context as _;
use serde_json::json;

use super::{ProjectArg, surroundings};
use crate::exit::{Error, Kind};
use crate::history::person;
use crate::show;
use crate::text;
use crate::tool::{self, Caller};

mod torn;

/// The file of a team's rules, relative to the project's root.
pub(super) const FILE: &str = ".anchord/rules.toml";

/// Rules that hooks enforce before an agent acts
///
/// A rule is a guardrail, not a sandbox: docs/rules.md lists what it cannot see. Agents propose
/// rules; only you put them in force. A team keeps its own in .anchord/rules.toml.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Add a rule, in force at once, or change the one of this title
    Add(AddArgs),
    /// List the rules, those of .anchord/rules.toml too
    List(ListArgs),
    /// Check what the rules say about an action; exits with 1 unless it is allowed
    Test(TestArgs),
    /// Look for mistakes in .anchord/rules.toml
    Lint(LintArgs),
    /// Put a proposed or disabled rule in force
    #[command(after_help = "Examples:
  anchord rules accept r3
  anchord rules accept r3 --project ~/src/shop")]
    Accept(StandArgs),
    /// Take a rule out of force; it stays in the list
    #[command(after_help = "Examples:
  anchord rules disable r3
  anchord rules disable r3 --project ~/src/shop")]
    Disable(StandArgs),
    /// Check an agent's event without the daemon; hooks run this
    #[command(
        hide = true,
        after_help = "Examples:
  anchord rules guard AGENT < event.json"
    )]
    Guard(GuardArgs),
}

/// Add a rule, in force at once, or change the one of this title
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord rules add 'No force push' --deny --command 'git push --force' --reason 'others build on it'
  anchord rules add 'Migrations are final' --deny --write 'migrations/**' --reason 'add a new one'
  anchord rules add 'No deploy' --deny --command 'make deploy' --day fri --from 12:00 --reason 'weekend'")]
pub(crate) struct AddArgs {
    /// The rule on one line
    title: String,
    /// Why; agents and people read it when the rule decides
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    effect: EffectArgs,
    /// A command: words in this order, `*` for any one
    #[arg(long = "command", value_name = "PATTERN")]
    commands: Vec<String>,
    /// A glob of files that the action uses
    #[arg(long = "path", value_name = "GLOB")]
    paths: Vec<String>,
    /// A glob of files that the action writes; reading them does not match
    #[arg(long = "write", value_name = "GLOB")]
    writes: Vec<String>,
    /// A tool's name in the agent
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// A glob of the branch that is checked out
    #[arg(long = "branch", value_name = "GLOB")]
    branches: Vec<String>,
    /// Words of an action that an agent asks about
    #[arg(long = "action", value_name = "WORDS")]
    actions: Vec<String>,
    /// A day on which it applies: mon, tue, …
    #[arg(long = "day", value_name = "DAY")]
    days: Vec<String>,
    /// The time of day or the date from which it applies
    #[arg(long, value_name = "TIME|DATE", value_parser = text::bound)]
    from: Option<String>,
    /// The time of day or the date until which it applies
    #[arg(long, value_name = "TIME|DATE", value_parser = text::bound)]
    until: Option<String>,
    /// The time zone of days, times and dates
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    tz: String,
    /// End of the rule: 30d, 2026-12-01
    #[arg(long, value_name = "TIME", value_parser = text::when)]
    expires: Option<String>,
    /// Apply it even to calls that the daemon cannot check
    #[arg(long)]
    fail_closed: bool,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct EffectArgs {
    /// Stop the action
    #[arg(long)]
    deny: bool,
    /// Have a person approve the action
    #[arg(long)]
    ask: bool,
    /// Let the action pass; deny and ask of other rules are stronger
    #[arg(long)]
    allow: bool,
}

impl EffectArgs {
    fn word(&self) -> &'static str {
        if self.deny {
            "deny"
        } else if self.ask {
            "ask"
        } else {
            "allow"
        }
    }
}

/// List the rules, those of .anchord/rules.toml too
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord rules list
  anchord rules list --json --project ~/src/shop")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Check what the rules say about an action; exits with 1 unless it is allowed
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord rules test --command 'git push --force origin main'
  anchord rules test --tool Edit --write migrations/0007.sql
  anchord rules test --action 'deploy to production'")]
pub(crate) struct TestArgs {
    /// A command line
    #[arg(long, value_name = "LINE")]
    command: Option<String>,
    /// A file
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// A file that it writes
    #[arg(long = "write", value_name = "PATH")]
    writes: Vec<String>,
    /// A tool's name in the agent
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// An action in words
    #[arg(long, value_name = "WORDS")]
    action: Option<String>,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Look for mistakes in .anchord/rules.toml
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord rules lint
  anchord rules lint --project ~/src/shop")]
pub(crate) struct LintArgs {
    #[command(flatten)]
    project: ProjectArg,
}

/// A rule by its id
#[derive(Debug, clap::Args)]
pub(crate) struct StandArgs {
    /// The id, as `anchord rules list` shows it
    id: String,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let done = ExitCode::SUCCESS;
        match self {
            Self::Add(args) => args.run(out).map(|()| done),
            Self::List(ListArgs { project, json }) => {
                let project = project.resolve()?;
                tool::run(out, project, "memory_rules", json!({}), json).map(|_| done)
            }
            Self::Test(args) => args.run(out),
            Self::Lint(args) => args.run(out),
            Self::Accept(args) => args.accept(out).map(|()| done),
            Self::Disable(args) => args.disable(out).map(|()| done),
            Self::Guard(args) => args.run(out).map(|()| done),
        }
    }
}

/// Check an agent's event without the daemon
#[derive(Debug, clap::Args)]
pub(crate) struct GuardArgs {
    /// Stop a tool that could not be checked, for this reason
    #[arg(long, value_name = "WHY", hide = true)]
    unchecked: Option<String>,
    /// Check without the daemon, which cannot start for this reason
    #[arg(long, value_name = "WHY", hide = true)]
    no_daemon: Option<String>,
    /// The agent, as its hooks name it
    client: String,
}

impl GuardArgs {
    /// Prints the answer to a tool that a rule stops, and nothing to all else. Where rules fail
    /// closed, a tool that cannot be checked is stopped, too.
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let mut line = Vec::new();
        std::io::stdin().take(HOOK_INPUT_BYTES_MAX as u64).read_to_end(&mut line)?;
        let Some(adapter) = Adapter::of(&self.client) else { return Ok(()) };
        if let Some(why) = &self.unchecked {
            return Self::stop_unchecked(adapter, &line, why, out);
        }
        match adapter.read(&line) {
            Ok((ParsedEvent::Event(envelope), _)) => {
                let without = if line.len() > HOOK_EVENT_BYTES_MAX {
                    WithoutDaemon::TooLong
                } else {
                    WithoutDaemon::NoAnswer
                };
                self.check(adapter, &envelope, without, out)
            }
            Ok(_) => Ok(()),
            Err(error) => Self::stop_unchecked(adapter, &line, &error.to_string(), out),
        }
    }

    /// Checks a tool against the copy of the rules.
    fn check(
        &self,
        adapter: Adapter,
        envelope: &Envelope,
        without: WithoutDaemon,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let Event::ToolBegins(begins) = &envelope.event else { return Ok(()) };
        let paths: Vec<String> = begins.files.iter().chain(&begins.writes).cloned().collect();
        let action = Action {
            action: None,
            command: begins.command.as_deref(),
            directory: begins.directory.as_deref(),
            paths: &paths,
            writes: &begins.writes,
            access: if begins.only_reads { Access::Read } else { Access::Unknown },
            tool: Some(begins.tool.as_str()).filter(|tool| !tool.is_empty()),
            branch: None,
        };
        let copies = InstanceDir::locate()?.guard();
        let cwd = Self::directory(envelope)?;
        let Some(guarded) = guard(&copies, &cwd, &action) else { return Ok(()) };
        // The answer comes first: a log that cannot be written lets no action pass.
        let answered = self.answer(adapter, envelope, &guarded.verdict, without, out);
        log_guarded(&copies, &action, &guarded, without)
            .context("cannot log what was checked without the daemon")?;
        answered
    }

    /// Returns the directory in which the agent works.
    fn directory(envelope: &Envelope) -> std::io::Result<PathBuf> {
        envelope.cwd.as_ref().map_or_else(std::env::current_dir, |cwd| Ok(cwd.into()))
    }

    /// Prints the answer to a tool, if the verdict stops it.
    fn answer(
        &self,
        adapter: Adapter,
        envelope: &Envelope,
        verdict: &Verdict,
        without: WithoutDaemon,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        if verdict.effect == Effect::Allow {
            return Ok(());
        }
        // Nobody can approve anything while the daemon is gone.
        let asks = verdict.effect == Effect::Ask && adapter.asks;
        let stop = RuleVerdict { verdict, approval: None, is_approved: false };
        let away = match (without, &self.no_daemon) {
            (WithoutDaemon::NoAnswer, None) => "anchord's daemon cannot be reached.",
            (WithoutDaemon::NoAnswer, Some(why)) => {
                &format!("anchord's daemon cannot be reached: {why}")
            }
            (WithoutDaemon::TooLong, _) => {
                "The call is too long for anchord's daemon, and was checked without it."
            }
        };
        let reason = format!("{}{away}\n", rule_stop(&stop));
        Self::stop(adapter, envelope, asks, &reason, out)
    }

    fn stop(
        adapter: Adapter,
        envelope: &Envelope,
        asks: bool,
        reason: &str,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let stop = Answer::Stop { asks, reason: defuse(reason).into_owned() };
        write!(out, "{}", adapter.write(envelope, &stop))?;
        Ok(out.flush()?)
    }

    /// Stops a tool that could not be checked, if its project has rules that fail closed.
    fn stop_unchecked(
        adapter: Adapter,
        line: &[u8],
        why: &str,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let Some(envelope) = torn::tool(adapter, line) else { return Ok(()) };
        let Event::ToolBegins(begins) = &envelope.event else { return Ok(()) };
        let copies = InstanceDir::locate()?.guard();
        let cwd = Self::directory(&envelope)?;
        let Some(guarded) = guard_unchecked(&copies, &cwd, why) else { return Ok(()) };
        let reason = format!(
            "This project has rules that fail closed, and this call could not be checked: {why}.\n"
        );
        let answered = Self::stop(adapter, &envelope, adapter.asks, &reason, out);
        let tool = Some(begins.tool.as_str()).filter(|tool| !tool.is_empty());
        let action = Action { tool, ..Action::default() };
        log_guarded(&copies, &action, &guarded, WithoutDaemon::NoAnswer)
            .context("cannot log what was not checked")?;
        answered
    }
}

impl AddArgs {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let has_window = !self.days.is_empty() || self.from.is_some() || self.until.is_some();
        let mut window = json!({ "days": self.days, "tz": self.tz });
        for (name, bound) in [("from", self.from), ("until", self.until)] {
            if let (Some(bound), Some(fields)) = (bound, window.as_object_mut()) {
                fields.insert(name.to_owned(), bound.into());
            }
        }
        let arguments = json!({
            "title": self.title,
            "reason": self.reason,
            "effect": self.effect.word(),
            "commands": self.commands,
            "paths": self.paths,
            "writes": self.writes,
            "tools": self.tools,
            "branches": self.branches,
            "actions": self.actions,
            "windows": if has_window { vec![window] } else { Vec::new() },
            "expires": self.expires,
            "fail_closed": self.fail_closed,
        });
        tool::run(out, self.project.resolve()?, "memory_rule_set", arguments, self.json).map(drop)
    }
}

impl TestArgs {
    fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let of = |paths: Vec<String>| -> Vec<String> {
            paths.into_iter().map(|path| self.project.file(path)).collect()
        };
        let (paths, writes) = (of(self.paths), of(self.writes));
        let arguments = json!({
            "command": self.command,
            "directory": self.project.file(".".to_owned()),
            "paths": paths,
            "writes": writes,
            "tool": self.tool,
            "action": self.action,
        });
        let reply = Caller::new(self.project.resolve()?)?.call("memory_rule_check", arguments)?;
        tool::print(out, &reply, self.json)?;
        Ok(if reply.passes == Some(true) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// A team's file of rules.
struct RulesFile {
    /// The project's root.
    root: PathBuf,
    /// The name that a person finds it by: with its directory if the project was named.
    name: String,
    /// The content; `None` if there is no file.
    text: Option<String>,
}

impl RulesFile {
    fn of(project: &ProjectArg) -> Result<Self, Error> {
        let root = project.locate(&surroundings())?.root;
        let path = root.join(FILE);
        let name = match project.named() {
            Some(_) => path.display().to_string(),
            None => FILE.to_owned(),
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::failed(format!("failed to read {name}: {error}"))),
        };
        Ok(Self { root, name, text })
    }
}

impl LintArgs {
    fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let RulesFile { root, name, text } = RulesFile::of(&self.project)?;
        let Some(text) = text else {
            writeln!(out, "There is no {FILE} in {}.", root.display())?;
            return Ok(ExitCode::SUCCESS);
        };
        let rules = match parse_rules_file(&text) {
            Ok(rules) => rules,
            Err(errors) => {
                for error in &errors {
                    writeln!(out, "{}", show::plain(&format!("{name}: {error}")))?;
                }
                return Ok(ExitCode::FAILURE);
            }
        };
        let now = clock::now();
        let mut is_sound = true;
        for rule in &rules {
            for finding in lint_rule(rule, now) {
                is_sound &= !finding.is_error();
                let line = format!("{name}: {}: {finding}", rule.id);
                writeln!(out, "{}", show::plain(&line))?;
            }
        }
        writeln!(out, "{}", show::count(rules.len() as u64, "rule"))?;
        Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl StandArgs {
    fn accept(self, out: &mut dyn Write) -> Result<(), Error> {
        self.set(out, false)
    }

    fn disable(self, out: &mut dyn Write) -> Result<(), Error> {
        self.set(out, true)
    }

    fn set(self, out: &mut dyn Write, disable: bool) -> Result<(), Error> {
        if let Some(id) = self.id.strip_prefix("file:") {
            return Err(self.of_file(id, disable)?);
        }
        let arguments = json!({ "id": self.id, "disable": disable });
        let reply = Caller::new(self.project.resolve()?)?.send("memory_rule_stand", arguments)?;
        tool::print(out, &reply, self.json)
    }

    /// Returns why a rule of the file cannot be set by a command.
    fn of_file(&self, id: &str, disable: bool) -> Result<Error, Error> {
        let RulesFile { name, text, .. } = RulesFile::of(&self.project)?;
        let rules = match parse_rules_file(&text.unwrap_or_default()) {
            Ok(rules) => rules,
            Err(errors) => {
                let first = errors.first().map(ToString::to_string).unwrap_or_default();
                return Err(Error::failed(format!("failed to read {name}: {first}"))
                    .with_action(person().command(&["rules", "lint"]) + " shows all mistakes."));
            }
        };
        if !rules.iter().any(|rule| rule.id == self.id || rule.id == id) {
            let list = person().command(&["rules", "list"]);
            return Ok(Error::new(Kind::NotFound, format!("there is no rule {id} in {name}"))
                .with_action(format!("{list} shows the rules.")));
        }
        let done = if disable { "taken out" } else { "put in force" };
        Ok(Error::usage(format!("{} is a rule in {name}", self.id))
            .with_action(format!("Edit that file: its rules are {done} there.")))
    }
}

#[cfg(test)]
mod tests;
