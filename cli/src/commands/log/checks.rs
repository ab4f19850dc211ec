//! Lines of `anchord log --rules`: checks of actions against rules.

use anchord_daemon::api::{RULE_CHECK, Retrieval};
use anchord_daemon::rules::NOT_CHECKED;
use serde_json::Value;

use super::Layout;
use crate::commands::journal;
use crate::limits::LATE_CHECK_MS_MAX;
use crate::show;

/// A check as a line shows it.
#[derive(Debug)]
pub(super) struct Check {
    time: i64,
    session: String,
    client: String,
    result: String,
    action: String,
    rules: Vec<String>,
    /// The reason why the daemon did not check it.
    without: Option<String>,
}

impl Check {
    /// Reads a line of the log.
    pub(super) fn logged(line: &Retrieval) -> Self {
        let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
        let result = text(&line.asked, "result").unwrap_or("-");
        Self {
            time: line.time,
            session: or_dash(journal::short(&line.session)),
            client: or_dash(line.client.clone()),
            result: result.strip_suffix(" without the daemon").unwrap_or(result).to_owned(),
            action: action(&line.asked),
            rules: line.ids.clone(),
            without: text(&line.asked, "checked").map(str::to_owned),
        }
    }
}

/// Returns a check that a hook made without the daemon in the form of the daemon's log. It has no
/// number, session or client.
pub(super) fn without_daemon(mut asked: Value) -> Retrieval {
    let time = asked.get("time").and_then(Value::as_i64).unwrap_or_default();
    let rules = asked.get("rules").and_then(Value::as_array).into_iter().flatten();
    let ids = rules.filter_map(Value::as_str).map(str::to_owned).collect();
    if let Some(fields) = asked.as_object_mut() {
        fields.retain(|name, value| !value.is_null() && name != "time" && name != "root");
        // Logs of earlier versions do not say why.
        fields.entry("checked").or_insert_with(|| "without the daemon".into());
    }
    Retrieval { time, tool: RULE_CHECK.to_owned(), asked, ids, ..Retrieval::default() }
}

/// Leaves out the daemon's late checks of actions that a hook then checked by itself. Each action
/// has one line, since each of the hooks' lines stands for one of the daemon's.
pub(super) fn without_doubles(lines: &mut Vec<Retrieval>, guarded: &[Retrieval]) {
    let mut guarded: Vec<&Retrieval> = guarded.iter().collect();
    lines.retain(|line| {
        let double = guarded.iter().rposition(|guarded| is_late(line) && is_same(line, guarded));
        double.map(|at| guarded.remove(at)).is_none()
    });
}

/// Whether a check came too late for its hook.
pub(super) fn is_late(line: &Retrieval) -> bool {
    text(&line.asked, "result") == Some(NOT_CHECKED)
}

/// Whether a late check and one without the daemon are of one action. What a log has cut, or could
/// not read, may be anything.
fn is_same(late: &Retrieval, guarded: &Retrieval) -> bool {
    let is_same = |name: &str| match (late.asked.get(name), guarded.asked.get(name)) {
        (Some(Value::String(one)), Some(Value::String(other))) => {
            let (one, other) = (one.trim_end_matches('…'), other.trim_end_matches('…'));
            one.starts_with(other) || other.starts_with(one)
        }
        (Some(one), Some(other)) => one == other || other.as_array().is_some_and(Vec::is_empty),
        _ => true,
    };
    late.time.abs_diff(guarded.time) <= LATE_CHECK_MS_MAX
        && ["tool", "command", "paths"].into_iter().all(is_same)
}

fn text<'a>(fields: &'a Value, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}

/// Returns the action as people read it.
fn action(fields: &Value) -> String {
    // What was too long to be kept whole is a clipped text.
    if let Some(clipped) = fields.as_str() {
        return clipped.to_owned();
    }
    let first = ["command", "action", "tool"].into_iter().find_map(|name| text(fields, name));
    let paths = fields.get("paths").and_then(Value::as_array).into_iter().flatten();
    let paths = paths.filter_map(Value::as_str).filter(|_| text(fields, "command").is_none());
    first.into_iter().chain(paths).collect::<Vec<_>>().join(" ")
}

impl Layout {
    pub(super) fn checks_head(self) -> String {
        let line = if self.is_wide() {
            format!(
                "{:19}  {:8}  {:14}  {:8}  action -> rules",
                "time (UTC)", "session", "client", "result"
            )
        } else {
            format!("{:11}  {:11}  {:8}  action -> rules", "time (UTC)", "client", "result")
        };
        self.fitted(line)
    }

    pub(super) fn check(self, check: &Check) -> String {
        let time = self.time(check.time);
        let start = if self.is_wide() {
            let (session, client) = (self.cell(&check.session, 8), self.cell(&check.client, 14));
            format!("{time}  {session}  {client}  {}  ", self.cell(&check.result, 8))
        } else {
            let client = self.cell(&check.client, 11);
            format!("{time}  {client}  {}  ", self.cell(&check.result, 8))
        };
        let mut rules = check.rules.join(" ");
        if rules.is_empty() {
            rules.push_str("none");
        }
        if let Some(without) = &check.without {
            rules = format!("{rules} ({without})");
        }
        self.line(&start, show::plain(&check.action), &show::plain(&rules))
    }
}
