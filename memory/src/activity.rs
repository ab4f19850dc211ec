//! A session's activity, recorded by rule. It comes from lifecycle events alone, so a session that
//! saved nothing still leaves a row.
//!
//! Events come in batches, and a daemon may die between them. So [`SessionActivity`] is additive:
//! the value over all events is the sum of one value per event, however they are grouped. Each list
//! keeps either its first or its last items, and both hold for sums. Every text is bounded, free of
//! secrets, and free of text that anchord injected. Nothing is interpreted: these are the prompts,
//! edits, commands and messages themselves.

mod trace;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files::{normalise, relative};
use crate::fold::{clip, clip_words, one_line};
use crate::ids::Timestamp;
use crate::injected::strip;
use crate::lifecycle::{CommandOutcome, CommandRun, Event, ToolRun, ToolUse};
use crate::limits::{
    BINDING_KEY_CHARS_MAX, CAPTURED_COMMAND_CHARS_MAX, CAPTURED_COMMANDS_SHOWN_MAX,
    CAPTURED_FAILED_MAX, CAPTURED_FILES_MAX, CAPTURED_FILES_SHOWN_MAX, CAPTURED_MESSAGE_CHARS_MAX,
    CAPTURED_PASSED_MAX, CAPTURED_PROMPT_CHARS_MAX, CAPTURED_READ_BYTES_MAX, CAPTURED_WORKED_MAX,
    PATH_CHARS_MAX,
};
use crate::omit::is_default;
use crate::secrets::scrub;
use crate::shell::{bare, only_looks, without_redirect};
use trace::Trace;
pub(crate) use trace::{Fix, own_files};

/// Precedes the first prompt in a row's entry.
pub(crate) const ASKED: &str = "Asked: ";
/// Precedes the agent's last message, at the end of a row's entry.
pub(crate) const LAST_MESSAGE: &str = "Said last: ";

/// The pending activity of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionActivity {
    /// The conversation as its client names it, `claude-code:5f1c…`; empty if it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    key: String,
    /// The time of the first event.
    first: Timestamp,
    /// The time of the last event.
    last: Timestamp,
    /// The time of the last prompt, edit or command; a message alone is not work. The epoch in
    /// values from older builds.
    #[serde(default, skip_serializing_if = "is_default")]
    acted: Timestamp,
    /// The first prompt, on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    /// The last prompt, if it is not the first one. Older builds did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_prompt: Option<String>,
    /// The number of prompts.
    #[serde(default, skip_serializing_if = "is_default")]
    prompts: u32,
    /// Edited files, the latest edit last. If there are many, only the last ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Whether more files were edited than are named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    more_files: bool,
    /// Commands that failed, in the order of their first failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<Failed>,
    /// Digests of commands that passed: one may have failed in an earlier batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passed: Vec<u64>,
    /// Commands that passed and were not trivial, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    worked: Vec<String>,
    /// The commands in their order, and the fixes found in them.
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    trace: Trace,
    /// The agent's last message.
    #[serde(rename = "said", default, skip_serializing_if = "Option::is_none")]
    last_message: Option<String>,
    /// Whether the agent checkpointed or saved on its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    kept_itself: bool,
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Failed {
    command: String,
    /// Whether it passed later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fixed: bool,
}

impl SessionActivity {
    /// Creates an empty value for the conversation that a client names `key`.
    pub fn of(key: &str) -> Self {
        Self { key: scrub(key).text.into_owned(), ..Self::default() }
    }

    /// Adds one event.
    pub fn saw(&mut self, event: &Event, time: Timestamp) {
        self.absorb(&Self::from_event(event, time));
    }

    /// Adds later activity.
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
        let last = later.last_prompt.as_ref();
        let last = last.or(later.prompt.as_ref().filter(|_| self.prompt.is_some()));
        if let Some(last) = last {
            self.last_prompt = Some(last.clone());
        }
        self.prompt = self.prompt.take().or_else(|| later.prompt.clone());
        self.prompts = self.prompts.saturating_add(later.prompts);
        self.more_files |= keep_last(&mut self.files, &later.files, CAPTURED_FILES_MAX);
        self.more_files |= later.more_files;
        self.absorb_commands(later);
        self.trace.absorb(&later.trace);
        if later.last_message.is_some() {
            self.last_message.clone_from(&later.last_message);
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

    /// Returns whether there is no activity.
    pub fn is_empty(&self) -> bool {
        let Self { key, first, last, acted, .. } = self;
        let empty = Self::default();
        *self == Self { key: key.clone(), first: *first, last: *last, acted: *acted, ..empty }
    }

    /// Returns whether this alone is worth a row: there was a prompt, or a file was written.
    pub fn leaves_row(&self) -> bool {
        self.prompts > 0 || !self.files.is_empty()
    }

    /// Returns the conversation's name, as its client gives it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the times of the first and the last event.
    pub fn times(&self) -> (Timestamp, Timestamp) {
        (self.first, self.last)
    }

    /// Returns the time of the last prompt, edit or command.
    pub fn acted(&self) -> Timestamp {
        if self.acted == Timestamp::default() && self.leaves_row() { self.last } else { self.acted }
    }

    /// Returns the number of prompts.
    pub fn prompts(&self) -> u32 {
        self.prompts
    }

    /// Returns the edited files, the latest edit last.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns commands that failed and then passed, in the order of their first failure.
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

    /// Returns the commands that passed last, the latest last. Trivial commands are left out.
    pub fn worked(&self) -> &[String] {
        &self.worked
    }

    /// Returns the agent's last message.
    pub fn last_message(&self) -> Option<&str> {
        self.last_message.as_deref()
    }

    /// Returns whether the agent checkpointed or saved on its own.
    pub fn kept_itself(&self) -> bool {
        self.kept_itself
    }

    /// Returns the text of a session row made from this alone. It has one line each for the prompt,
    /// the edits, the commands that were made to pass, and the agent's last message.
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
        if let Some(message) = &self.last_message {
            lines.push(format!("{LAST_MESSAGE}{message}"));
        }
        lines.join("\n")
    }

    /// Returns the lines about the prompt and the edits.
    pub(crate) fn asked_and_edited(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(prompt) = &self.prompt {
            let more = match self.prompts {
                0 | 1 => String::new(),
                prompts => format!(" ({prompts} prompts)"),
            };
            let last = self.last_prompt.as_ref().filter(|last| *last != prompt);
            let last = last.map_or_else(String::new, |last| format!("; last: {last}"));
            lines.push(format!("{ASKED}{prompt}{more}{last}"));
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

    /// Removes the texts for which `is_gone` says that they may not be kept.
    #[must_use]
    pub(crate) fn without(mut self, is_gone: impl Fn(&str) -> bool) -> Self {
        self.prompt = self.prompt.filter(|text| !is_gone(text));
        self.last_prompt = self.last_prompt.filter(|text| !is_gone(text));
        self.last_message = self.last_message.filter(|text| !is_gone(text));
        self.files.retain(|text| !is_gone(text));
        self.failed.retain(|failed| !is_gone(&failed.command));
        self.worked.retain(|text| !is_gone(text));
        self.trace.without(is_gone);
        self
    }

    /// Brings activity from elsewhere into the form and within the limits used here.
    #[must_use]
    pub(crate) fn within_limits(self) -> Self {
        let mut kept = Self {
            key: clip(&self.key, BINDING_KEY_CHARS_MAX),
            prompt: self.prompt.as_deref().and_then(prompted),
            last_prompt: self.last_prompt.as_deref().and_then(prompted),
            files: Vec::new(),
            failed: Vec::new(),
            passed: Vec::new(),
            worked: Vec::new(),
            trace: Trace::default(),
            last_message: self.last_message.as_deref().and_then(last_message),
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

    /// Returns the texts that people and agents wrote.
    pub(crate) fn quotable_texts(&self) -> impl Iterator<Item = &str> {
        let prompts = self.prompt.iter().chain(&self.last_prompt);
        prompts.chain(&self.last_message).map(String::as_str)
    }

    /// Returns all texts, including file names and commands.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let commands = self.failed.iter().map(|failed| &failed.command);
        let named = self.files.iter().chain(commands).chain(&self.worked);
        self.quotable_texts().chain(named.map(String::as_str)).chain(self.trace.texts())
    }

    /// Returns what distinguishes it from others: the conversation and its times, without texts.
    pub(crate) fn head(&self) -> Self {
        let Self { first, last, acted, kept_itself, .. } = *self;
        Self { key: self.key.clone(), first, last, acted, kept_itself, ..Self::default() }
    }

    /// Returns the size of all texts in bytes.
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
                seen.edited(edited);
                seen.kept_itself =
                    ["memory_save", "memory_checkpoint"].iter().any(|name| tool.ends_with(name));
                if let Some(run) = command {
                    seen.ran(run);
                    seen.trace.absorb(&Trace::of_run(run, time));
                }
            }
            Event::ToolBegins(ToolUse { writes, is_run: true, .. }) => seen.edited(writes),
            Event::TurnEnded { last_message: Some(message) } => {
                seen.last_message = last_message(message);
            }
            _ => {}
        }
        let Self { prompts, files, failed, worked, passed, .. } = &seen;
        let acted = *prompts > 0
            || !(files.is_empty() && failed.is_empty() && worked.is_empty() && passed.is_empty());
        seen.acted = if acted { time } else { Timestamp::default() };
        seen
    }

    fn edited(&mut self, files: &[String]) {
        let files: Vec<String> = files.iter().map(|file| path(file)).collect();
        self.more_files = keep_last(&mut self.files, &files, CAPTURED_FILES_MAX);
        self.trace = Trace::of_edits(&files);
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

/// Yields the texts that an entry of a session row may quote as its prompt or last message. Reads
/// the forms of [`SessionActivity::row_summary`] back. A prompt comes with and without its count.
pub(crate) fn quoted(entry: &str) -> impl Iterator<Item = &str> {
    let asked = entry.lines().filter_map(|line| line.strip_prefix(ASKED));
    let asked = asked.flat_map(|asked| [Some(asked), asked.rsplit_once(" (").map(|it| it.0)]);
    let messages = entry.match_indices(LAST_MESSAGE).filter_map(move |(at, _)| {
        let (before, message) = entry.split_at_checked(at)?;
        message.strip_prefix(LAST_MESSAGE).filter(|_| before.is_empty() || before.ends_with('\n'))
    });
    asked.flatten().chain(messages)
}

/// Adds later items, each once, and keeps the last `items_max`. Returns whether any were left out.
/// Keeping the last items of a sum equals keeping the last of those that its parts kept.
fn keep_last(list: &mut Vec<String>, later: &[String], items_max: usize) -> bool {
    for new in later.iter().filter(|new| !new.is_empty()) {
        list.retain(|known| known != new);
        list.push(new.clone());
    }
    let over = list.len().saturating_sub(items_max);
    list.drain(..over);
    over > 0
}

/// Commands that control a client. Words after them ask for no work.
const STEERING: [&str; 12] = [
    "/clear", "/compact", "/config", "/effort", "/exit", "/export", "/model", "/new", "/quit",
    "/rename", "/resume", "/rewind",
];

/// Returns whether a prompt is only a command to the client. That is a slash and a name without any
/// words, or a command that controls the client. `/review the parser` is an ordinary prompt, and so
/// is a path.
fn steers(prompt: &str) -> bool {
    let (name, words) = prompt.split_once(' ').unwrap_or((prompt, ""));
    let Some(bare) = name.strip_prefix('/') else { return false };
    let is_name = bare.starts_with(char::is_alphabetic)
        && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_name && (words.trim().is_empty() || STEERING.contains(&name))
}

/// Removes secrets and text that anchord injected. Of a very long text, only the beginning is read.
fn clean(text: &str) -> String {
    let read = text.get(..text.floor_char_boundary(CAPTURED_READ_BYTES_MAX)).unwrap_or(text);
    scrub(&strip(read)).text.into_owned()
}

fn prompted(prompt: &str) -> Option<String> {
    let prompt = clip_words(&one_line(&clean(prompt)), CAPTURED_PROMPT_CHARS_MAX);
    Some(prompt).filter(|prompt| !prompt.is_empty())
}

fn last_message(message: &str) -> Option<String> {
    let message = clip_words(clean(message).trim(), CAPTURED_MESSAGE_CHARS_MAX);
    Some(message).filter(|message| !message.is_empty())
}

fn path(file: &str) -> String {
    clip(&normalise(&one_line(&clean(file))), PATH_CHARS_MAX)
}

/// Returns the form of a command line by which its runs are recognised.
fn command_line(command: &str) -> String {
    clip(bare(&one_line(&clean(command))), CAPTURED_COMMAND_CHARS_MAX)
}

/// Returns the form of a command line that can be run again, in the directory that it names.
fn line_as_run(command: &str) -> String {
    clip(without_redirect(&one_line(&clean(command))), CAPTURED_COMMAND_CHARS_MAX)
}

/// Returns the first eight bytes of the command's SHA-256, which are the same on every machine and
/// in every build.
fn digest(command: &str) -> u64 {
    let digest = Sha256::digest(command.as_bytes());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
