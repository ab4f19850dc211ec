//! What a session did, by rule: made from its lifecycle events alone, so that a session in which nothing was saved
//! still leaves a row.
//!
//! Events come in batches, and a daemon may die between them. So [`Captured`] is made to be added up: one value over
//! all events is the sum of one value for each of them, however they are grouped. Each list keeps either what came
//! first or what came last, which holds for sums as well. Nothing here is long, nothing here holds a secret or what
//! anchord itself had injected, and nothing here is judged: it is what was asked, written, run and said.

mod trace;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files::{normalise, relative};
use crate::fold::{clip, one_line};
use crate::ids::Timestamp;
use crate::injected::strip;
use crate::lifecycle::{CommandOutcome, CommandRun, Event, ToolRun};
use crate::limits::{
    BINDING_KEY_CHARS_MAX, CAPTURED_COMMAND_CHARS_MAX, CAPTURED_COMMANDS_SHOWN_MAX,
    CAPTURED_FAILED_MAX, CAPTURED_FILES_MAX, CAPTURED_FILES_SHOWN_MAX, CAPTURED_MESSAGE_CHARS_MAX,
    CAPTURED_PASSED_MAX, CAPTURED_PROMPT_CHARS_MAX, CAPTURED_READ_BYTES_MAX, CAPTURED_WORKED_MAX,
    PATH_CHARS_MAX,
};
use crate::secrets::scrub;
use crate::shell::{bare, only_looks, without_redirect};
use trace::Trace;
pub(crate) use trace::{Fix, own_files};

/// Precedes the first prompt in a row's entry.
const ASKED: &str = "Asked: ";
/// Precedes the agent's last message in a row's entry, which is the end of the entry.
pub(crate) const SAID: &str = "Said last: ";

/// What was noted of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The conversation as its client names it, `claude-code:5f1c…`; empty where that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    key: String,
    /// The first event noted.
    first: Timestamp,
    /// The last event noted.
    last: Timestamp,
    /// The time of the last prompt, edit or command noted; a message alone is not work. The epoch
    /// in values that older builds noted.
    #[serde(default, skip_serializing_if = "is_epoch")]
    acted: Timestamp,
    /// The first prompt, on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    /// Prompts in all.
    #[serde(default, skip_serializing_if = "is_zero")]
    prompts: u32,
    /// Files edited, the last edited last; the last ones alone when there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// More files were edited than are named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    more_files: bool,
    /// Commands that failed, in the order of their first failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<Failed>,
    /// Digests of commands that passed: one may have failed in an earlier batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passed: Vec<u64>,
    /// Commands that passed and did more than look, the last one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    worked: Vec<String>,
    /// The commands in their order, and the fixes found in them.
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    trace: Trace,
    /// The agent's last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said: Option<String>,
    /// The agent checkpointed or saved by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    kept_itself: bool,
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Failed {
    command: String,
    /// It passed later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fixed: bool,
}

impl Captured {
    /// Nothing yet, of the conversation that a client names so.
    pub fn of(key: &str) -> Self {
        Self { key: scrub(key).text.into_owned(), ..Self::default() }
    }

    /// Takes in one event.
    pub fn saw(&mut self, event: &Event, time: Timestamp) {
        self.absorb(&Self::from_event(event, time));
    }

    /// Takes in what was noted later.
    pub fn absorb(&mut self, later: &Self) {
        if !later.key.is_empty() {
            self.key.clone_from(&later.key);
        }
        if later.is_empty() {
            return;
        }
        if self.is_empty() {
            (self.first, self.last) = (later.first, later.last);
        } else {
            self.first = self.first.min(later.first);
            self.last = self.last.max(later.last);
        }
        self.acted = self.acted.max(later.acted);
        self.prompt = self.prompt.take().or_else(|| later.prompt.clone());
        self.prompts = self.prompts.saturating_add(later.prompts);
        self.more_files |= keep_last(&mut self.files, &later.files, CAPTURED_FILES_MAX);
        self.more_files |= later.more_files;
        self.absorb_commands(later);
        self.trace.absorb(&later.trace);
        if later.said.is_some() {
            self.said.clone_from(&later.said);
        }
        self.kept_itself |= later.kept_itself;
    }

    fn absorb_commands(&mut self, later: &Self) {
        for failed in &mut self.failed {
            failed.fixed |= later.passed.contains(&digest(&failed.command));
        }
        for new in &later.failed {
            let room = self.failed.len() < CAPTURED_FAILED_MAX;
            match self.failed.iter_mut().find(|known| known.command == new.command) {
                Some(known) => known.fixed |= new.fixed,
                None if room => self.failed.push(new.clone()),
                None => {}
            }
        }
        for new in &later.passed {
            if self.passed.len() < CAPTURED_PASSED_MAX && !self.passed.contains(new) {
                self.passed.push(*new);
            }
        }
        keep_last(&mut self.worked, &later.worked, CAPTURED_WORKED_MAX);
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        let Self { key, first, last, acted, .. } = self;
        let empty = Self::default();
        *self == Self { key: key.clone(), first: *first, last: *last, acted: *acted, ..empty }
    }

    /// Whether this alone is worth a row: somebody asked for something, or a file was written.
    pub fn leaves_row(&self) -> bool {
        self.prompts > 0 || !self.files.is_empty()
    }

    /// The conversation as its client names it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The first event noted, and the last.
    pub fn times(&self) -> (Timestamp, Timestamp) {
        (self.first, self.last)
    }

    /// The last prompt, edit or command noted.
    pub fn acted(&self) -> Timestamp {
        if self.acted == Timestamp::default() && self.leaves_row() { self.last } else { self.acted }
    }

    /// Prompts in all.
    pub fn prompts(&self) -> u32 {
        self.prompts
    }

    /// Files edited, the last edited last.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Commands that failed and then passed, in the order of their first failure.
    pub fn fixed(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.failed.iter().filter(|failed| failed.fixed).map(|failed| failed.command.as_str())
    }

    /// Returns the failures that were fixed, each once, the last one last.
    pub(crate) fn fixes(&self) -> &[Fix] {
        self.trace.fixes()
    }

    /// Removes the trace, which a session's row does not keep.
    #[must_use]
    pub(crate) fn without_trace(mut self) -> Self {
        self.trace = Trace::default();
        self
    }

    /// Commands that passed last, the last one last; not those that only look.
    pub fn worked(&self) -> &[String] {
        &self.worked
    }

    /// The agent's last message.
    pub fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    /// Whether the agent checkpointed or saved by itself.
    pub fn kept_itself(&self) -> bool {
        self.kept_itself
    }

    /// What a session row says that is made from this alone: a line each for what was asked, what was edited, which
    /// commands were made to pass, and what the agent said last.
    pub fn row_summary(&self) -> String {
        let mut lines = self.asked_and_edited();
        let mut fixed: Vec<String> = self
            .fixed()
            .rev()
            .take(CAPTURED_COMMANDS_SHOWN_MAX)
            .map(|c| format!("`{c}`"))
            .collect();
        fixed.reverse();
        if !fixed.is_empty() {
            lines.push(format!("Failed, then passed: {}", fixed.join(", ")));
        }
        if let Some(said) = &self.said {
            lines.push(format!("{SAID}{said}"));
        }
        lines.join("\n")
    }

    /// The lines on what was asked and what was edited.
    pub(crate) fn asked_and_edited(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(prompt) = &self.prompt {
            let more = match self.prompts {
                0 | 1 => String::new(),
                prompts => format!(" ({prompts} prompts)"),
            };
            lines.push(format!("{ASKED}{prompt}{more}"));
        }
        if !self.files.is_empty() {
            let shown = self.files.iter().rev().take(CAPTURED_FILES_SHOWN_MAX);
            let mut names: Vec<&str> = shown.map(String::as_str).collect();
            names.reverse();
            let left = self.files.len() - names.len();
            let more = match (left, self.more_files) {
                (0, false) => String::new(),
                (_, true) => " and more".to_owned(),
                (left, false) => format!(" and {left} more"),
            };
            lines.push(format!("Edited: {}{more}", names.join(", ")));
        }
        lines
    }

    /// Makes absolute paths beneath `root` relative to it.
    #[must_use]
    pub fn relative_to(mut self, root: &str) -> Self {
        let files: Vec<String> = self.files.iter().map(|file| relative(file, root)).collect();
        self.files.clear();
        keep_last(&mut self.files, &files, CAPTURED_FILES_MAX);
        self.trace.relative_to(root);
        self
    }

    /// Leaves out the texts that `is_gone` says may not be kept.
    #[must_use]
    pub(crate) fn without(mut self, is_gone: impl Fn(&str) -> bool) -> Self {
        self.prompt = self.prompt.filter(|text| !is_gone(text));
        self.said = self.said.filter(|text| !is_gone(text));
        self.files.retain(|text| !is_gone(text));
        self.failed.retain(|failed| !is_gone(&failed.command));
        self.worked.retain(|text| !is_gone(text));
        self.trace.without(is_gone);
        self
    }

    /// Brings what was noted elsewhere into the form and within the limits in which it is noted here.
    #[must_use]
    pub(crate) fn within_limits(self) -> Self {
        let mut kept = Self {
            key: clip(&self.key, BINDING_KEY_CHARS_MAX),
            prompt: self.prompt.as_deref().and_then(prompted),
            files: Vec::new(),
            failed: Vec::new(),
            passed: Vec::new(),
            worked: Vec::new(),
            trace: Trace::default(),
            said: self.said.as_deref().and_then(said_last),
            ..self
        };
        let files: Vec<String> = self.files.iter().map(|file| path(file)).collect();
        kept.more_files |= keep_last(&mut kept.files, &files, CAPTURED_FILES_MAX);
        let failed = self
            .failed
            .into_iter()
            .map(|Failed { command, fixed }| Failed { command: command_line(&command), fixed });
        let failed = failed.filter(|failed| !failed.command.is_empty()).collect();
        let worked = self.worked.iter().map(|line| command_line(line)).collect();
        kept.absorb_commands(&Self { failed, passed: self.passed, worked, ..Self::default() });
        kept
    }

    /// What somebody wrote.
    pub(crate) fn said_texts(&self) -> impl Iterator<Item = &str> {
        self.prompt.iter().chain(&self.said).map(String::as_str)
    }

    /// All texts, names of files and commands included.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let commands = self.failed.iter().map(|failed| &failed.command);
        let named = self.files.iter().chain(commands).chain(&self.worked);
        self.said_texts().chain(named.map(String::as_str)).chain(self.trace.texts())
    }

    /// Bytes of all texts.
    pub(crate) fn text_bytes(&self) -> usize {
        self.texts().map(str::len).sum()
    }

    fn from_event(event: &Event, time: Timestamp) -> Self {
        let mut seen = Self { first: time, last: time, ..Self::default() };
        match event {
            Event::PromptSubmitted { prompt } => {
                if let Some(prompt) = prompted(prompt).filter(|prompt| !steers(prompt)) {
                    (seen.prompt, seen.prompts) = (Some(prompt), 1);
                }
            }
            Event::ToolRan(ToolRun { tool, edited, command, .. }) => {
                let files: Vec<String> = edited.iter().map(|file| path(file)).collect();
                seen.more_files = keep_last(&mut seen.files, &files, CAPTURED_FILES_MAX);
                seen.trace = Trace::of_edits(&files);
                seen.kept_itself =
                    ["memory_save", "memory_checkpoint"].iter().any(|name| tool.ends_with(name));
                if let Some(run) = command {
                    seen.ran(run);
                    seen.trace.absorb(&Trace::of_run(run, time));
                }
            }
            Event::TurnEnded { last_message: Some(said) } => {
                seen.said = said_last(said);
            }
            _ => {}
        }
        let Self { prompts, files, failed, worked, passed, .. } = &seen;
        let acted = *prompts > 0
            || !(files.is_empty() && failed.is_empty() && worked.is_empty() && passed.is_empty());
        seen.acted = if acted { time } else { Timestamp::default() };
        seen
    }

    fn ran(&mut self, run: &CommandRun) {
        let command = command_line(&run.command);
        if command.is_empty() {
            return;
        }
        match run.outcome {
            CommandOutcome::Failed { .. } => self.failed.push(Failed { command, fixed: false }),
            CommandOutcome::Passed => {
                self.passed.push(digest(&command));
                if !only_looks(&command) {
                    self.worked.push(line_as_run(&run.command));
                }
            }
            CommandOutcome::Unknown => {}
        }
    }
}

/// Yields the texts that an entry of a session row may quote as its prompt or last message: the
/// forms of [`Captured::row_summary`], read back. A prompt comes with and without its count.
pub(crate) fn quoted(entry: &str) -> impl Iterator<Item = &str> {
    let asked = entry.lines().filter_map(|line| line.strip_prefix(ASKED));
    let asked = asked.flat_map(|asked| [Some(asked), asked.rsplit_once(" (").map(|it| it.0)]);
    let said = entry.match_indices(SAID).filter_map(move |(at, _)| {
        let (before, said) = entry.split_at_checked(at)?;
        said.strip_prefix(SAID).filter(|_| before.is_empty() || before.ends_with('\n'))
    });
    asked.flatten().chain(said)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_epoch(time: &Timestamp) -> bool {
    *time == Timestamp::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Adds what came later, each once, and keeps the last `items_max`; says whether anything was left out. Keeping the
/// last of a sum is keeping the last of what its parts kept.
fn keep_last(list: &mut Vec<String>, later: &[String], items_max: usize) -> bool {
    for new in later.iter().filter(|new| !new.is_empty()) {
        list.retain(|known| known != new);
        list.push(new.clone());
    }
    let over = list.len().saturating_sub(items_max);
    list.drain(..over);
    over > 0
}

/// Commands by which a person steers a client: words after them ask for no work.
const STEERING: [&str; 12] = [
    "/clear", "/compact", "/config", "/effort", "/exit", "/export", "/model", "/new", "/quit",
    "/rename", "/resume", "/rewind",
];

/// Whether a prompt is a command to the client alone: a slash and a name without any words, or one of those that steer
/// it. `/review the parser` is a prompt like others, and so is a path.
fn steers(prompt: &str) -> bool {
    let (name, words) = prompt.split_once(' ').unwrap_or((prompt, ""));
    let Some(bare) = name.strip_prefix('/') else { return false };
    let is_name = bare.starts_with(char::is_alphabetic)
        && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_name && (words.trim().is_empty() || STEERING.contains(&name))
}

/// A text without what anchord injected and without secrets; of a very long one its beginning.
fn clean(text: &str) -> String {
    let read = text.get(..text.floor_char_boundary(CAPTURED_READ_BYTES_MAX)).unwrap_or(text);
    scrub(&strip(read)).text.into_owned()
}

fn prompted(prompt: &str) -> Option<String> {
    let prompt = clip(&one_line(&clean(prompt)), CAPTURED_PROMPT_CHARS_MAX);
    Some(prompt).filter(|prompt| !prompt.is_empty())
}

fn said_last(said: &str) -> Option<String> {
    let said = clip(clean(said).trim(), CAPTURED_MESSAGE_CHARS_MAX);
    Some(said).filter(|said| !said.is_empty())
}

fn path(file: &str) -> String {
    clip(&normalise(&one_line(&clean(file))), PATH_CHARS_MAX)
}

/// The form of a command line by which its runs are recognised.
fn command_line(command: &str) -> String {
    clip(bare(&one_line(&clean(command))), CAPTURED_COMMAND_CHARS_MAX)
}

/// The form of a command line by which it can be run again: in the directory that it names.
fn line_as_run(command: &str) -> String {
    clip(without_redirect(&one_line(&clean(command))), CAPTURED_COMMAND_CHARS_MAX)
}

/// The first eight bytes of the command's SHA-256: the same on every machine and in every build.
fn digest(command: &str) -> u64 {
    let digest = Sha256::digest(command.as_bytes());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
