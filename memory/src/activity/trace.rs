//! The commands of a conversation in their order, from which fixes are found.
//!
//! A fix is a command that failed and then passed on its next run, with something in between that
//! explains it. Traces are additive, like all recorded activity. The sum of two has the fixes of
//! both, and those that began in one and ended in the other. To that end, a trace keeps its first
//! and its last commands. A fix spans fewer commands than either end keeps.

use serde::{Deserialize, Serialize};

use super::{command_line, keep_last, path};
use crate::error_line::{error_line, normalised};
use crate::files::{is_inside, relative};
use crate::ids::Timestamp;
use crate::lifecycle::{CommandOutcome, CommandRun};
use crate::limits::{CAPTURED_FIXES_MAX, FIX_COMMANDS_MAX, FIX_FILES_MAX};
use crate::secrets::scrub;
use crate::shell::{joined, only_looks, prepares, program, shares_word};

/// A command that failed and then passed, with the work in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fix {
    /// The command that failed.
    pub command: String,
    /// The line of its output that identifies the error.
    pub error: String,
    /// Files edited in between; none if there were too many to be meaningful.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The last command in between that succeeded and shares a word with the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The time at which the command passed.
    pub time: Timestamp,
}

impl Fix {
    /// Returns a key that is equal for fixes of the same error of the same command.
    fn key(&self) -> (&str, String) {
        (&self.command, normalised(&self.error))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trace {
    /// The first commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    head: Vec<Step>,
    /// The last of the commands after those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tail: Vec<Step>,
    /// Files edited after the last command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edited: Vec<String>,
    /// The last fixes, by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix>,
}

/// One command and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    command: String,
    time: Timestamp,
    /// Files edited since the previous command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edited: Vec<String>,
    #[serde(default, skip_serializing_if = "Ended::is_passed")]
    ended: Ended,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    #[default]
    Passed,
    Failed {
        /// The line that identifies the error, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The file that a compiler complained about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
}

impl Ended {
    fn is_passed(&self) -> bool {
        *self == Self::Passed
    }

    fn error(&self) -> Option<&str> {
        match self {
            Self::Failed { error, .. } => error.as_deref(),
            Self::Passed => None,
        }
    }

    fn file(&self) -> Option<&str> {
        match self {
            Self::Failed { file, .. } => file.as_deref(),
            Self::Passed => None,
        }
    }
}

impl Trace {
    /// Returns the trace of a run; empty if the command is trivial or its outcome is unknown.
    pub(super) fn of_run(run: &CommandRun, time: Timestamp) -> Self {
        let mut trace = Self::default();
        let step =
            |command: String, ended: Ended| Step { command, time, edited: Vec::new(), ended };
        match &run.outcome {
            CommandOutcome::Passed => {
                // Every command that `&&` joins has passed. The whole line is one more step.
                let whole = command_line(&run.command);
                let parts: Vec<String> =
                    joined(&run.command).into_iter().map(command_line).collect();
                let several = parts.len() > 1;
                let lines = parts.into_iter().chain(several.then_some(whole));
                for line in lines.filter(|line| !line.is_empty() && !only_looks(line)) {
                    let next = Self { head: vec![step(line, Ended::Passed)], ..Self::default() };
                    trace.absorb(&next);
                }
            }
            CommandOutcome::Failed { output } => {
                let command = command_line(&run.command);
                if !command.is_empty() && !only_looks(&command) {
                    let line = error_line(output);
                    let file = line.as_ref().filter(|line| line.is_diagnostic);
                    let file = file.and_then(|line| line.file.clone());
                    let error = line.map(|line| scrub(&line.text).text.into_owned());
                    trace.head.push(step(command, Ended::Failed { error, file }));
                }
            }
            CommandOutcome::Unknown => {}
        }
        trace
    }

    /// Returns the trace of edits.
    pub(super) fn of_edits(files: &[String]) -> Self {
        let mut trace = Self::default();
        keep_last(&mut trace.edited, files, FIX_FILES_MAX + 1);
        trace
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn fixes(&self) -> &[Fix] {
        &self.fixes
    }

    /// Adds a trace of later events.
    pub(super) fn absorb(&mut self, later: &Self) {
        if later.is_empty() {
            return;
        }
        let mut later = later.clone();
        match later.head.first_mut() {
            Some(first) => {
                let after = std::mem::replace(&mut first.edited, std::mem::take(&mut self.edited));
                keep_last(&mut first.edited, &after, FIX_FILES_MAX + 1);
                self.edited = later.edited;
            }
            None => {
                keep_last(&mut self.edited, &later.edited, FIX_FILES_MAX + 1);
            }
        }
        let across = self.fixed_by(&later.head);
        self.keep_fixes(across.into_iter().chain(later.fixes));

        let mut rest = later.head;
        let room = FIX_COMMANDS_MAX.saturating_sub(self.head.len()).min(rest.len());
        self.head.extend(rest.drain(..room));
        self.tail.extend(rest);
        self.tail.extend(later.tail);
        let over = self.tail.len().saturating_sub(FIX_COMMANDS_MAX);
        self.tail.drain(..over);
    }

    /// Returns the fixes of commands that failed here and passed among the next commands.
    fn fixed_by(&self, next: &[Step]) -> Vec<Fix> {
        let kept = self.head.len() + self.tail.len();
        let before: Vec<&Step> = self
            .head
            .iter()
            .chain(&self.tail)
            .skip(kept.saturating_sub(FIX_COMMANDS_MAX))
            .collect();
        let mut fixes = Vec::new();
        for (at, passed) in next.iter().enumerate() {
            let earlier = next.iter().take(at);
            if !passed.ended.is_passed() || earlier.clone().any(|it| it.command == passed.command) {
                continue;
            }
            let failed = before.iter().rposition(|step| step.command == passed.command);
            let Some(failed) =
                failed.filter(|failed| before.len() - failed + at < FIX_COMMANDS_MAX)
            else {
                continue;
            };
            let between = before.iter().skip(failed + 1).copied().chain(earlier);
            let between: Vec<&Step> = between.collect();
            fixes.extend(before.get(failed).and_then(|failed| fix(failed, &between, passed)));
        }
        fixes
    }

    /// Keeps the last fixes, one for each error of a command. They are ordered by time and text, so
    /// that the order does not depend on how events were grouped.
    fn keep_fixes(&mut self, new: impl IntoIterator<Item = Fix>) {
        self.fixes.extend(new);
        self.fixes.sort_by(|one, other| {
            let of = |fix: &Fix| (fix.time, fix.command.clone(), fix.error.clone());
            of(one).cmp(&of(other)).then_with(|| one.files.cmp(&other.files))
        });
        let keys: Vec<(String, String)> =
            self.fixes.iter().map(|fix| (fix.command.clone(), fix.key().1)).collect();
        let mut at = 0;
        self.fixes.retain(|_| {
            at += 1;
            let later = keys.get(at..).unwrap_or_default();
            keys.get(at - 1).is_some_and(|key| !later.contains(key))
        });
        let over = self.fixes.len().saturating_sub(CAPTURED_FIXES_MAX);
        self.fixes.drain(..over);
    }

    /// Makes absolute paths beneath `root` relative to it.
    pub(super) fn relative_to(&mut self, root: &str) {
        let steps = self.head.iter_mut().chain(&mut self.tail).map(|step| &mut step.edited);
        let fixes = self.fixes.iter_mut().map(|fix| &mut fix.files);
        for files in steps.chain(fixes).chain([&mut self.edited]) {
            let own: Vec<String> = files.iter().map(|file| relative(file, root)).collect();
            files.clear();
            keep_last(files, &own, FIX_FILES_MAX + 1);
        }
    }

    /// Removes steps and fixes with a text that may not be kept, and such file names. A step stays
    /// without the file name, since its command and its error may still be kept.
    pub(super) fn without(&mut self, is_gone: impl Fn(&str) -> bool) {
        for steps in [&mut self.head, &mut self.tail] {
            steps.retain(|step| {
                !is_gone(&step.command) && !step.ended.error().is_some_and(&is_gone)
            });
            for step in steps {
                step.edited.retain(|file| !is_gone(file));
                if let Ended::Failed { file, .. } = &mut step.ended {
                    file.take_if(|file| is_gone(file));
                }
            }
        }
        self.edited.retain(|file| !is_gone(file));
        self.fixes.retain(|fix| !fix.texts().any(&is_gone));
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let steps = self.head.iter().chain(&self.tail).flat_map(|step| {
            let edited = step.edited.iter().map(String::as_str);
            let of_error = step.ended.error().into_iter().chain(step.ended.file());
            std::iter::once(step.command.as_str()).chain(of_error).chain(edited)
        });
        let edited = self.edited.iter().map(String::as_str);
        steps.chain(edited).chain(self.fixes.iter().flat_map(Fix::texts))
    }
}

impl Fix {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let files = self.files.iter().map(String::as_str);
        [self.command.as_str(), &self.error].into_iter().chain(self.remedy.as_deref()).chain(files)
    }
}

/// Returns the fix if something explains why a command passed after it had failed. Merely running
/// it again explains nothing.
fn fix(failed: &Step, between: &[&Step], passed: &Step) -> Option<Fix> {
    let Ended::Failed { error: Some(error), file } = &failed.ended else { return None };
    let mut files = Vec::new();
    for step in between.iter().copied().chain([passed]) {
        keep_last(&mut files, &step.edited, usize::MAX);
    }
    // If the compiler named the very file that was edited, the edit adds nothing.
    let names = |path: &String| file.as_deref() == path.rsplit('/').next();
    if files.len() > FIX_FILES_MAX || files.iter().all(names) {
        files.clear();
    }
    let may_help = |step: &&Step| {
        step.ended.is_passed()
            && !step.command.contains(&failed.command)
            && !step.command.ends_with('…')
            && !is_routine(&step.command, &failed.command)
    };
    let helps = |step: &&Step| shares_word(&step.command, error, &failed.command);
    // Where nothing was edited, a step that prepares something is the only explanation left.
    let edited = between.iter().copied().chain([passed]).any(|step| !step.edited.is_empty());
    let prepared = |step: &&Step| !edited && prepares(&step.command);
    let latest = || between.iter().copied().rev().filter(may_help);
    let remedy = latest().find(helps).or_else(|| latest().find(prepared));
    let remedy = remedy.map(|step| step.command.clone());
    let explained = remedy.is_some() || !files.is_empty();
    explained.then(|| Fix {
        command: failed.command.clone(),
        error: error.clone(),
        files,
        remedy,
        time: passed.time,
    })
}

/// Returns whether a command records work with git, which agents do between any two other commands.
fn is_routine(command: &str, failed: &str) -> bool {
    program(command) == Some("git") && program(failed) != Some("git")
}

/// Returns the files of a fix that are in the project.
pub(crate) fn own_files(fix: &Fix) -> Vec<String> {
    fix.files.iter().map(|file| path(file)).filter(|file| is_inside(file)).collect()
}
