//! Words for what rules decide about an action, and for the list of rules.

use std::fmt::Write as _;

use anchord_rules::{DecidingRule, Effect, Field, Matched, Pass, Unparsed, Verdict};

use crate::audience::Audience;
use crate::fold::{clip, one_line, with_block};
use crate::ids::{Kind, RecordId, Timestamp};
use crate::kinds::Standing;
use crate::limits::{APPROVED_MINUTES, RULES_FAULTS_CHARS_MAX, UNKNOWN_PART_CHARS_MAX};
use crate::memory::Memory;
use crate::plan::RuleOutcome;
use crate::record::Rule;
use crate::render::kinds::words;

/// A verdict, with what a reader needs to go on.
#[derive(Clone, Copy, Debug)]
pub struct RuleVerdict<'a> {
    /// The verdict.
    pub verdict: &'a Verdict,
    /// The id with which a person approves the action, if the client has no prompt for that.
    pub approval: Option<&'a str>,
    /// Whether a person approved the action a moment ago, so that it passes.
    pub is_approved: bool,
}

/// Renders an answer to `memory_rule_check`.
pub fn rule_check(of: &RuleVerdict<'_>) -> String {
    let Verdict { effect, deciding, .. } = of.verdict;
    let head = match effect {
        _ if of.is_approved => "Allowed: a person approved it.",
        Effect::Allow if deciding.is_empty() => return "Allowed: no rule matches.\n".to_owned(),
        Effect::Allow => "Allowed.",
        Effect::Ask => "Asked: a person has to approve it.",
        Effect::Deny => "Denied.",
    };
    let mut text = format!("{head}\n");
    text.push_str(&reasons(of));
    text
}

/// Renders why a tool is stopped, for the model and the person.
pub fn rule_stop(of: &RuleVerdict<'_>) -> String {
    let head = match of.verdict.effect {
        Effect::Deny => "A rule of this project denies this.",
        Effect::Allow | Effect::Ask => "A rule of this project wants a person to approve this.",
    };
    format!("{head}\n{}", reasons(of))
}

fn reasons(of: &RuleVerdict<'_>) -> String {
    let Verdict { deciding, unparsed, .. } = of.verdict;
    let causes: Vec<Option<Cause>> =
        deciding.iter().map(|decided| cause(decided, unparsed.as_ref())).collect();
    let mut text = String::new();
    for (at, (decided, cause)) in deciding.iter().zip(&causes).enumerate() {
        let Some(cause) = cause else {
            let _ = writeln!(text, "{}", reason(decided, None));
            continue;
        };
        if causes.iter().take(at).flatten().any(|earlier| earlier == cause) {
            continue;
        }
        let is_same = |(_, other): &(&DecidingRule, &Option<Cause>)| other.as_ref() == Some(cause);
        let same: Vec<&DecidingRule> =
            deciding.iter().zip(&causes).filter(is_same).map(|(decided, _)| decided).collect();
        let words =
            if same.len() == 1 { reason(decided, Some(cause)) } else { joint(&same, cause) };
        let _ = writeln!(text, "{words}");
    }
    let is_said = causes.iter().flatten().any(|cause| cause.is_of_reading);
    if let Some(unparsed) = unparsed.as_ref().filter(|_| !is_said) {
        let _ = writeln!(text, "It was not read completely: {}.", one_line(&unparsed.to_string()));
    }
    if let Some(id) = of.approval {
        let _ = writeln!(
            text,
            "Ask the user to run `anchord approve {id}`. For {APPROVED_MINUTES} minutes, exactly \
             this action then passes. Do not look for a way around the rule."
        );
    }
    text
}

/// The reason why it is not known whether a rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cause {
    /// The reason, as a sentence without its period.
    what: String,
    /// The change with which the action may pass, behind "if you".
    way: &'static str,
    /// Whether a part of the command could not be read, so that nothing more is to be said of it.
    is_of_reading: bool,
}

/// Returns the reason why a rule only may match, if the command has a part that only its run shows.
fn cause(decided: &DecidingRule, unparsed: Option<&Unparsed>) -> Option<Cause> {
    if decided.certain || decided.matched.is_empty() {
        return None;
    }
    let of_command = |it: &&Matched| it.field != Field::Branch && it.text.contains('…');
    let unknown = decided.matched.iter().find(of_command).map(|it| one_line(&it.text));
    let is_whole = unknown.as_ref().is_some_and(|text| is_unknown(text));
    let (what, way) = match (unparsed, unknown) {
        (Some(unreadable @ Unparsed::Syntax(_)), _) => {
            (sentence(&unreadable.to_string()), "write it in plain shell")
        }
        (Some(unreadable @ Unparsed::TooMuch { .. }), _) => {
            (sentence(&unreadable.to_string()), "run its parts one by one")
        }
        (Some(Unparsed::Dynamic(part)), Some(_)) if is_whole && !is_unknown(part) => {
            let part = clip(&one_line(part), UNKNOWN_PART_CHARS_MAX);
            (format!("What `{part}` will run is not known before it runs"), WRITE_OUT)
        }
        (_, Some(_)) if is_whole => {
            ("What will run is not known before it runs".to_owned(), WRITE_OUT)
        }
        (_, Some(text)) => {
            (format!("`{text}` has a part that is not known before it runs"), WRITE_OUT)
        }
        (_, None) => return None,
    };
    Some(Cause { what, way, is_of_reading: unparsed.is_some() })
}

const WRITE_OUT: &str = "write it out, without variables and substitutions";

/// Whether nothing of a text is known.
fn is_unknown(text: &str) -> bool {
    text.chars().all(|c| c == '…' || c.is_whitespace())
}

/// Returns a fragment as a sentence begins.
fn sentence(fragment: &str) -> String {
    let fragment = one_line(fragment);
    let mut rest = fragment.chars();
    let first = rest.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(rest).collect()
}

/// Words what several rules ask for the same cause.
fn joint(rules: &[&DecidingRule], cause: &Cause) -> String {
    let names: Vec<String> =
        rules.iter().map(|it| format!("{} {}", it.rule, one_line(&it.title))).collect();
    let Cause { what, way, .. } = cause;
    let count = names.len();
    format!("{what}. So {count} rules may match: {}. It passes if you {way}.", names.join("; "))
}

fn reason(decided: &DecidingRule, cause: Option<&Cause>) -> String {
    let DecidingRule { rule, title, reason, certain, matched, pass, .. } = decided;
    let mut text = format!("{rule} {title}");
    if !reason.is_empty() {
        let _ = write!(text, ": {}", one_line(reason));
    }
    if !text.ends_with(['.', '!', '?', '…']) {
        text.push('.');
    }
    let of_matched = |it: &Matched| match it.field {
        Field::Branch if is_unknown(&it.text) => "a branch that is not known".to_owned(),
        _ => format!("`{}`", one_line(&it.text)),
    };
    let shown: Vec<String> = matched.iter().map(of_matched).collect();
    if let Some(cause) = cause {
        let _ = write!(text, " {}.", cause.what);
    } else if !shown.is_empty() {
        let matches = if *certain { "It matches" } else { "It may match" };
        let _ = write!(text, " {matches} {}.", shown.join(" and "));
    }
    // Everybody sees that what matches can be left out.
    let is_new = |pass: &&Pass| match pass {
        Pass::Without(part) => matched.iter().all(|it| it.text != *part),
        Pass::OtherBranch(branch) => !is_unknown(branch),
        Pass::Literal(_) => cause.is_none(),
        _ => true,
    };
    let mut ways: Vec<String> = pass.iter().filter(is_new).filter_map(way).collect();
    ways.extend(cause.map(|cause| cause.way.to_owned()));
    if !ways.is_empty() {
        let _ = write!(text, " It passes if you {}.", ways.join(", or "));
    }
    text
}

/// Returns a change that would make the action pass. An approval is worded separately.
fn way(pass: &Pass) -> Option<String> {
    Some(match pass {
        Pass::Approval => return None,
        Pass::Wait(time) => {
            format!("wait until {}", Timestamp(time.as_millisecond()).minute())
        }
        Pass::Without(part) => format!("leave out `{}`", one_line(part)),
        Pass::Literal(part) => {
            format!("write out `{}`, without variables and substitutions", one_line(part))
        }
        Pass::OtherBranch(branch) => format!("use another branch than `{}`", one_line(branch)),
    })
}

/// The file of a team's rules, relative to the project's root.
pub(crate) const RULES_FILE: &str = ".anchord/rules.toml";

/// Renders a rule of the project's file in full, without a line break at its end.
pub(crate) fn of_file(rule: &anchord_rules::Rule) -> String {
    let of = Rule::of_file(rule);
    let head = format!("{} [{}, from {RULES_FILE}] {}", rule.id, of.effect.word(), of.title);
    with_block(head, &of.block(), "  ")
}

/// Renders the rules of the project's file in full.
pub fn file_rules(rules: &[anchord_rules::Rule]) -> String {
    rules.iter().map(|rule| of_file(rule) + "\n").collect()
}

/// Renders all rules: those of memory, and those of the project's file.
pub fn rules(memory: &Memory, team: &[anchord_rules::Rule], audience: &Audience) -> String {
    let mut text = String::new();
    let records: Vec<_> = memory.active_of(Kind::Rule).collect();
    for record in &records {
        let _ = writeln!(text, "{}", words(record).full(record));
    }
    text.push_str(&file_rules(team));
    if records.is_empty() && team.is_empty() {
        return match audience {
            Audience::Person(_) => {
                "There are no rules. `anchord rules add --help` shows how to write one.\n"
            }
            Audience::Agent | Audience::Compactor => "There are no rules.\n",
        }
        .to_owned();
    }
    let is_proposed = |standing| standing == Some(Standing::Proposed);
    let standing = |record: &crate::record::Record| record.rule().map(|rule| rule.standing);
    let proposed = records.iter().filter(|record| is_proposed(standing(record))).count();
    if proposed > 0 && matches!(audience, Audience::Person(_)) {
        let accept = audience.command(&["rules", "accept", "ID"]);
        let _ = writeln!(text, "Proposed rules are not in force: {accept}.");
    }
    text
}

/// Returns the ids of all rules.
pub fn rule_ids(memory: &Memory) -> Vec<RecordId> {
    memory.active_of(Kind::Rule).map(|record| record.id).collect()
}

/// Says that the file of rules cannot be read, and what follows. `error` does not name the file.
pub fn rules_unreadable(error: &str) -> String {
    let error = clip(&one_line(error), RULES_FAULTS_CHARS_MAX);
    let error = error.trim_end_matches('.');
    format!(
        "The rules of {RULES_FILE} cannot be read: {error}. Until that is mended, a person is \
         asked about every action.\n"
    )
}

/// Renders the reply to a write of a rule.
pub fn rule_set(outcome: &RuleOutcome) -> String {
    let mut text = rule_stands(outcome);
    for warning in &outcome.warnings {
        let _ = writeln!(text, "Warning: {warning}.");
    }
    text
}

fn rule_stands(outcome: &RuleOutcome) -> String {
    let id = outcome.id;
    let what = match (outcome.standing, outcome.unchanged) {
        (Standing::Accepted, true) => "is in force already.",
        (Standing::Accepted, false) => "is in force.",
        (Standing::Disabled, _) => "is disabled.",
        (Standing::Proposed, _) => {
            return format!(
                "{id} is proposed and not in force. Tell the user: `anchord rules accept {id}` \
                 puts it in force.\n"
            );
        }
    };
    format!("{id} {what}\n")
}

/// An action that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingAction {
    /// The id under which a person approves it.
    pub id: String,
    /// The action as people read it.
    pub action: String,
    /// The root of its project, if it is in one.
    pub root: Option<String>,
    /// The titles of the rules that ask.
    pub rules: Vec<String>,
}

/// Lists actions that wait for a person: id, action, the rules that ask, and the project.
pub fn approvals(pending: &[WaitingAction]) -> String {
    if pending.is_empty() {
        return "No action waits for an approval.\n".to_owned();
    }
    let mut text = "These actions wait for an approval:\n".to_owned();
    for WaitingAction { id, action, root, rules } in pending {
        let rules = rules.join(", ");
        let _ = write!(text, "{id}  {} ({})", clip(&one_line(action), 200), clip(&rules, 200));
        let _ = match root {
            Some(root) => writeln!(text, ", in {}", clip(&one_line(root), 200)),
            None => writeln!(text),
        };
    }
    text
}

/// Says that an action is approved.
pub fn approved(action: &str, until: Timestamp) -> String {
    format!("Approved until {}: {}\n", until.minute(), clip(&one_line(action), 200))
}

#[cfg(test)]
mod tests;
