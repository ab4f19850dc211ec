//! Checks actions against the rules of a project: those in force in its memory, and those of its
//! file `.anchord/rules.toml`.
//!
//! The decision itself is `anchord_rules`. This module collects the rules, knows what a person
//! approved, and counts. A file of rules that cannot be read makes every action that could be
//! matched ask: nothing passes because anchord could not look.

mod approvals;
mod file;
mod guard;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use anchord_memory::rules::{Access, Action, DecidingRule, Effect, Matches, Rule, Verdict};
use anchord_memory::{Memory, SessionId, Timestamp, check_action, rules_in_force};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use self::approvals::{ActionKey, Approvals};
pub(crate) use self::approvals::{Approval, Pending};
pub(crate) use self::file::{FILE, FileRules};
pub use self::guard::{Guarded, WithoutDaemon, guard, guard_log, guard_unchecked, log_guarded};
use crate::bounded_fs;
use crate::clock;
use crate::limits::{
    CLEANED_COMMAND_BYTES_MAX, LOGGED_COMMAND_BYTES_MIN, RETRIEVAL_ASKED_BYTES_MAX,
};
use crate::metrics::Metrics;
use crate::projects::{Located, ProjectId};
use crate::retrieval_log::{RULE_CHECK, Retrieval};
use crate::secrets::{self, Removed};

/// An action that somebody is about to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntendedAction {
    /// The action in words.
    pub(crate) action: Option<String>,
    /// The command line.
    pub(crate) command: Option<String>,
    /// The directory in which it runs, relative to the project's root; `None` in the root.
    pub(crate) directory: Option<String>,
    /// The files, relative to the project's root where they are beneath it.
    pub(crate) paths: Vec<String>,
    /// Those of them that are written.
    pub(crate) writes: Vec<String>,
    /// The use of the others.
    pub(crate) access: Access,
    /// The tool's name in the client.
    pub(crate) tool: Option<String>,
}

/// The places that a session's rules are from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSources<'a> {
    /// `None` before the project's first write.
    pub(crate) id: Option<ProjectId>,
    pub(crate) memory: &'a Memory,
    /// The project with the file of rules.
    pub(crate) located: Option<&'a Located>,
}

/// The decision about an action.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    pub(crate) verdict: Verdict,
    /// Whether a person approved the action a moment ago.
    pub(crate) is_approved: bool,
    /// The id under which a person can approve it.
    pub(crate) approval: Option<String>,
    /// Whether there is any rule to check against.
    pub(crate) has_rules: bool,
}

impl Checked {
    /// Returns whether the action passes.
    pub(crate) fn passes(&self) -> bool {
        self.is_approved || self.verdict.effect == Effect::Allow
    }

    /// Returns the word for the result.
    pub(crate) fn word(&self) -> &'static str {
        match self.verdict.effect {
            _ if self.is_approved => "approved",
            effect => effect.word(),
        }
    }
}

/// Checks actions, and keeps what people approved.
#[derive(Debug)]
pub(crate) struct RuleService {
    metrics: Arc<Metrics>,
    approvals: Mutex<Approvals>,
    files: file::Cache,
    copies: guard::Copies,
}

impl RuleService {
    pub(crate) fn new(metrics: Arc<Metrics>, directory: PathBuf) -> Self {
        Self {
            metrics,
            approvals: Mutex::default(),
            files: file::Cache::default(),
            copies: guard::Copies::new(directory),
        }
    }

    /// Returns the directory with the log of what hooks checked without the daemon.
    pub(crate) fn guard_logs(&self) -> PathBuf {
        self.copies.logs()
    }

    /// Returns the directory with the copies of rules.
    pub(crate) fn copies(&self) -> PathBuf {
        self.copies.directory()
    }

    /// Leaves a copy of the rules that hooks apply without the daemon, if they have changed. One
    /// that cannot be written is logged.
    pub(crate) async fn leave_copy(&self, sources: &RuleSources<'_>) {
        let file = self.file(sources.located).await;
        self.keep_copy(sources, &all(sources.memory, &file, clock::now())).await;
    }

    /// Writes the copies with rules of a memory again, wherever their projects are, because the
    /// records `gone` were purged from it. Blackens what was checked by them without the daemon.
    ///
    /// # Errors
    /// Returns the files that could not be read or written, and so may still have it.
    pub(crate) async fn renew_copies(
        &self,
        id: ProjectId,
        memory: &Memory,
        gone: &BTreeSet<String>,
    ) -> Result<(), Vec<PathBuf>> {
        self.copies.renew(id, &rules_in_force(memory, clock::now()), gone).await
    }

    async fn keep_copy(&self, sources: &RuleSources<'_>, rules: &[Rule]) {
        if let Some(located) = sources.located {
            // A failure is logged there. The next check tries again.
            let _ = self.copies.keep(&located.root, sources.id, rules).await;
        }
    }

    /// Reads the project's file of rules, and the branch.
    pub(crate) async fn file(&self, located: Option<&Located>) -> FileRules {
        let Some(located) = located else { return FileRules::default() };
        let place = located.clone();
        let reading = bounded_fs::run(&located.root, move || file::look(&place));
        match reading.await {
            Ok(looked) => self.files.parsed(&located.root, looked),
            Err(error) => FileRules::unreadable(error.to_string()),
        }
    }

    /// Returns the rules of the project's file as they were last read, without reading a disk.
    /// `None` if the file was not parsed yet.
    pub(crate) fn file_at_hand(&self, located: Option<&Located>) -> Option<FileRules> {
        self.files.known(&located?.root)
    }

    /// Checks an action. If a session `asks`, an action that needs approval gets an id with which a
    /// person can approve it.
    pub(crate) async fn check(
        &self,
        sources: &RuleSources<'_>,
        asked: &IntendedAction,
        asks: Option<&SessionId>,
    ) -> Checked {
        let (now, located) = (clock::now(), sources.located);
        let file = self.file(located).await;
        let all = all(sources.memory, &file, now);
        self.keep_copy(sources, &all).await;
        let key = key(located, asked);
        if all.is_empty() && file.error.is_none() {
            self.approvals().settle(key);
            return Checked::default();
        }
        let verdict = decide(all, &file, asked, now);
        let mut checked = Checked { verdict, has_rules: true, ..Checked::default() };
        let mut approvals = self.approvals();
        if checked.verdict.effect == Effect::Ask {
            checked.is_approved = approvals.is_approved(key, now);
            if let Some(session) = asks.filter(|_| !checked.is_approved) {
                // What cannot be read is no title of a rule, and needs its file.
                let title = |it: &DecidingRule| match &*it.rule {
                    FILE => format!("{FILE} {}", it.title),
                    _ => it.title.clone(),
                };
                let pending = Pending {
                    action: shown(asked),
                    root: root(located),
                    rules: checked.verdict.deciding.iter().map(title).collect(),
                    session: session.to_string(),
                    since: now,
                };
                checked.approval = Some(approvals.ask(key, pending));
            }
        }
        if checked.passes() {
            approvals.settle(key);
        }
        drop(approvals);
        self.metrics.rule_checked(checked.word(), checked.passes());
        checked
    }

    /// Records that a command was run, which needs no approval any more. A client may have asked in
    /// its own prompt.
    pub(crate) fn ran(&self, located: Option<&Located>, command: &str) {
        let command = Some(command.to_owned());
        let key = key(located, &IntendedAction { command, ..IntendedAction::default() });
        self.approvals().settle(key);
    }

    /// Approves an action that asked, for the time that an approval lasts.
    pub(crate) fn approve(&self, id: &str) -> Option<Approval> {
        self.approvals().approve(id, clock::now())
    }

    /// Returns the actions that wait for an approval, with their ids, oldest first.
    pub(crate) fn pending(&self) -> Vec<(String, Pending)> {
        self.approvals().pending(clock::now())
    }

    fn approvals(&self) -> MutexGuard<'_, Approvals> {
        self.approvals.lock()
    }
}

/// Returns the key of an action in a project.
fn key(located: Option<&Located>, asked: &IntendedAction) -> ActionKey {
    approvals::key(root(located).as_deref().unwrap_or_default(), asked)
}

fn root(located: Option<&Located>) -> Option<String> {
    located.map(|located| located.root.display().to_string())
}

/// Returns the rules in force: those of memory, and those of the project's file.
fn all(memory: &Memory, file: &FileRules, now: Timestamp) -> Vec<Rule> {
    let mut all = rules_in_force(memory, now);
    all.extend(file.rules.iter().cloned());
    all
}

fn decide(
    mut rules: Vec<Rule>,
    file: &FileRules,
    asked: &IntendedAction,
    now: Timestamp,
) -> Verdict {
    let action = Action {
        action: asked.action.as_deref(),
        command: asked.command.as_deref(),
        directory: asked.directory.as_deref(),
        paths: &asked.paths,
        writes: &asked.writes,
        access: asked.access,
        tool: asked.tool.as_deref(),
        branch: file.branch.as_deref(),
    };
    rules.extend(guards());
    let verdict = check_action(&rules, &action, now);
    let acts = asked.command.is_some() || !asked.paths.is_empty() || asked.action.is_some();
    match &file.error {
        Some(error) if acts && verdict.effect < Effect::Ask => unreadable(FILE, error.clone()),
        _ => verdict,
    }
}

/// Returns the verdict on an action while the rules in `place` cannot be read.
fn unreadable(place: &str, error: String) -> Verdict {
    let decided = DecidingRule {
        rule: place.to_owned(),
        title: "cannot be read".to_owned(),
        reason: error,
        effect: Effect::Ask,
        certain: false,
        matched: Vec::new(),
        pass: Vec::new(),
    };
    Verdict { effect: Effect::Ask, deciding: vec![decided], unparsed: None }
}

/// The result in the log of an action that was not checked in time.
pub const NOT_CHECKED: &str = "no check";

/// The commands of anchord by which a person weakens rules, approves an action, or ends the checks.
const OF_PERSONS: [&str; 15] = [
    "anchord approve",
    "anchord rules add",
    "anchord rules accept",
    "anchord rules disable",
    "anchord edit",
    "anchord forget",
    "anchord import",
    "anchord project",
    "anchord purge",
    "anchord restore",
    "anchord setup",
    "anchord stop",
    "anchord undo",
    "anchord uninstall",
    "anchord unpin",
];

/// Returns the rules about rules, which every project with rules has. Without them, an agent that
/// can run commands and edit files could approve its own actions.
fn guards() -> [Rule; 2] {
    let guard = |id: &str, title: &str, matches: Matches| Rule {
        id: id.to_owned(),
        title: title.to_owned(),
        reason: "agents propose rules with memory_rule_set".to_owned(),
        effect: Effect::Ask,
        matches,
        windows: Vec::new(),
        expires: None,
        fail_closed: false,
    };
    let commands = OF_PERSONS.map(str::to_owned).into();
    [
        guard(
            "anchord",
            "Only a person runs this command",
            Matches { commands, ..Matches::default() },
        ),
        guard(
            "anchord",
            "Only a person changes the file of rules",
            Matches { writes: vec![FILE.to_owned()], ..Matches::default() },
        ),
    ]
}

/// Returns the log's line for a check.
pub(crate) fn logged(asked: &IntendedAction, checked: &Checked) -> Retrieval {
    let IntendedAction { action, command, paths, tool, .. } = asked;
    let rules: Vec<&str> = checked.verdict.deciding.iter().map(|it| it.rule.as_str()).collect();
    let mut asked = serde_json::json!({
        "result": checked.word(),
        "rules": rules,
        "action": action,
        "command": command.as_deref().map(cleaned),
        "paths": paths,
        "tool": tool,
    });
    if let Some(fields) = asked.as_object_mut() {
        let is_empty =
            |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        fields.retain(|_, value| !is_empty(value));
        secrets::clean_fields(fields, &mut Removed::default());
    }
    shorten(&mut asked);
    let ids = rules.into_iter().map(str::to_owned).collect();
    Retrieval { tool: RULE_CHECK.to_owned(), asked, ids, ..Retrieval::default() }
}

/// Returns the log's line for an action whose check came too late for its hook. The rules are those
/// that would have decided.
pub(crate) fn logged_late(mut line: Retrieval) -> Retrieval {
    if let Some(fields) = line.asked.as_object_mut() {
        let result = fields.get("result").and_then(Value::as_str).unwrap_or("answer");
        let late = format!("{result} came too late");
        fields.insert("result".to_owned(), NOT_CHECKED.into());
        fields.insert("checked".to_owned(), late.into());
    }
    shorten(&mut line.asked);
    line
}

/// Shortens the texts of a check until the log keeps its fields. A clipped line has no result.
fn shorten(asked: &mut Value) {
    for name in ["command", "action"] {
        while asked.to_string().len() > RETRIEVAL_ASKED_BYTES_MAX {
            let Some(Value::String(text)) = asked.get_mut(name) else { break };
            if text.len() <= LOGGED_COMMAND_BYTES_MIN {
                break;
            }
            let end = (text.len() / 4 * 3).min(RETRIEVAL_ASKED_BYTES_MAX);
            text.truncate(text.floor_char_boundary(end));
            text.push('…');
        }
    }
}

/// Returns the part of a command that is cleaned for a log. The filter for secrets takes time.
fn cleaned(command: &str) -> &str {
    command.get(..command.floor_char_boundary(CLEANED_COMMAND_BYTES_MAX)).unwrap_or(command)
}

/// Returns an action as people read it.
fn shown(asked: &IntendedAction) -> String {
    let parts = [&asked.command, &asked.action, &asked.tool];
    let first = parts.into_iter().flatten().next().cloned().unwrap_or_default();
    if asked.command.is_some() || asked.paths.is_empty() {
        return first;
    }
    format!("{first} {}", asked.paths.join(" "))
}
