//! Writes rules. An agent proposes; a person puts in force, changes and disables.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::change::Change;
use crate::draft::{Draft, RecordFields};
use crate::ids::{Kind, RecordId, Timestamp};
use crate::kinds::{MergeKey, Rule, Standing, lint_rule};
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::record::{Body, Record, RecordState};
use crate::refusal::Refusal;
use crate::room::has_room;
use crate::size::Size;

/// The outcome of a write of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOutcome {
    /// The rule's record.
    pub id: RecordId,
    /// Whether the rule is in force now.
    pub standing: Standing,
    /// Whether nothing had to change.
    pub unchanged: bool,
    /// The faults with which the rule was stored all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The author of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleAuthor {
    /// An agent, with a tool.
    Agent,
    /// A person, at the command line.
    Person,
}

/// Stores a rule, or replaces the one with its title. What an agent writes is proposed; what a
/// person writes is in force.
///
/// # Errors
/// Fails if a field is not valid, or the project has no room. Fails for an agent if a person has
/// accepted or disabled a rule of this title that says something else.
pub fn plan_rule(
    memory: &Memory,
    rule: Rule,
    author: RuleAuthor,
    origin: &Provenance,
) -> Result<Plan<RuleOutcome>, Refusal> {
    let mut rule = checked(memory, rule)?;
    let stored = find(memory, &rule);
    rule.standing = match author {
        RuleAuthor::Agent => Standing::Proposed,
        RuleAuthor::Person => Standing::Accepted,
    };
    if let Some((record, stored)) = stored.filter(|_| author == RuleAuthor::Agent)
        && record.state != RecordState::Forgotten
        && stored.standing != Standing::Proposed
    {
        rule.standing = stored.standing;
        if rule != *stored {
            return Err(only_a_person(record.id, stored.standing));
        }
    }
    let mut draft = Draft::new(memory);
    let id = if let Some((record, _)) = stored {
        put(&mut draft, record, rule, origin);
        record.id
    } else {
        let pinned = rule.standing == Standing::Accepted;
        let id = draft.create(Body::Rule(rule), origin);
        draft.mark(id, Vec::new(), pinned, origin);
        id
    };
    finish(memory, draft, id, origin.time)
}

/// Puts a rule in force, or disables it. Only a person does that.
///
/// # Errors
/// Fails if the record is not a rule.
pub fn plan_rule_standing(
    memory: &Memory,
    id: RecordId,
    standing: Standing,
    origin: &Provenance,
) -> Result<Plan<RuleOutcome>, Refusal> {
    let record = memory.record(id).filter(|record| record.state != RecordState::Forgotten);
    let record = record.ok_or(Refusal::NotFound { id })?;
    let Body::Rule(rule) = &record.body else {
        return Err(Refusal::invalid(id.to_string(), "is not a rule"));
    };
    let mut draft = Draft::new(memory);
    put(&mut draft, record, Rule { standing, ..rule.clone() }, origin);
    finish(memory, draft, id, origin.time)
}

/// The outcome for a rule of another memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proposed {
    New,
    /// A rule with all its fields is here, in force or not.
    Here,
    /// Another rule of its title is here, and stays.
    Differs,
}

/// Proposes a rule of another memory, whether or not it is in force there.
pub(crate) fn propose(
    draft: &mut Draft<'_>,
    rule: &Rule,
    origin: &Provenance,
) -> Result<Proposed, Refusal> {
    let proposal = |rule: &Rule| Rule { standing: Standing::Proposed, ..rule.clone() };
    let rule = checked(draft.head(), proposal(rule))?;
    let stored = find(draft.head(), &rule);
    let stored = stored.map(|(record, stored)| (Arc::clone(record), proposal(stored)));
    if let Some((record, stored)) = &stored
        && record.state != RecordState::Forgotten
    {
        return Ok(if *stored == rule { Proposed::Here } else { Proposed::Differs });
    }
    let bytes = draft.new_record(Body::Rule(rule.clone()), origin).text_bytes() as u64;
    has_room(&draft.head().totals().kept, Kind::Rule, Size { records: 1, bytes })?;
    match stored {
        Some((record, _)) => put(draft, &record, rule, origin),
        None => drop(draft.create(Body::Rule(rule), origin)),
    }
    Ok(Proposed::New)
}

/// Returns a rule in its stored form, unless a field is not valid or was purged.
fn checked(memory: &Memory, rule: Rule) -> Result<Rule, Refusal> {
    let rule = rule.accept()?;
    for (field, text) in [("title", &rule.title), ("reason", &rule.reason)] {
        memory.tombstones().refuse_text(field, text)?;
    }
    Ok(rule)
}

/// Refuses changes by an agent to rules that a person put in force or disabled.
///
/// # Errors
/// Fails if there is such a change.
pub fn refuse_rule_changes(memory: &Memory, changes: &[Change]) -> Result<(), Refusal> {
    for record in changes.iter().filter_map(Change::record) {
        if record.id.kind != Kind::Rule {
            continue;
        }
        let stored = memory.record(record.id).filter(|it| it.state != RecordState::Forgotten);
        let standing = stored.and_then(|it| it.rule()).map(|rule| rule.standing);
        let new = record.rule().map(|rule| rule.standing);
        let (settled, now) = (standing.filter(|it| *it != Standing::Proposed), new);
        match (settled, now) {
            (Some(standing), _) => return Err(only_a_person(record.id, standing)),
            (None, Some(standing)) if standing != Standing::Proposed => {
                return Err(only_a_person(record.id, standing));
            }
            _ => {}
        }
    }
    Ok(())
}

fn only_a_person(id: RecordId, standing: Standing) -> Refusal {
    Refusal::invalid(id.to_string(), format!("is a rule that is {}", standing.name()))
        .advising("only a person changes it, with `anchord rules`; or propose one of another title")
}

fn find<'a>(memory: &'a Memory, rule: &Rule) -> Option<(&'a Arc<Record>, &'a Rule)> {
    let key = MergeKey::Text(Kind::Rule, rule.folded_title().into());
    let record = memory.keyed(&key).next()?;
    Some((record, record.rule()?))
}

/// Writes a rule over a record. A rule in force is pinned: every load has it in full.
fn put(draft: &mut Draft<'_>, record: &Record, rule: Rule, origin: &Provenance) {
    let pinned = rule.standing == Standing::Accepted;
    let fields = RecordFields {
        id: record.id,
        body: Body::Rule(rule),
        state: RecordState::Active,
        tags: record.tags.clone(),
        pinned,
    };
    draft.write(fields, origin);
}

fn finish(
    memory: &Memory,
    draft: Draft<'_>,
    id: RecordId,
    now: Timestamp,
) -> Result<Plan<RuleOutcome>, Refusal> {
    let (before, after) = (memory.totals().kept, draft.head().totals().kept);
    has_room(&before, Kind::Rule, after.of(Kind::Rule).minus(before.of(Kind::Rule)))?;
    let written = draft.finish();
    let rule = written.head.record(id).and_then(|record| record.rule());
    let rule = rule.ok_or(Refusal::NotFound { id })?;
    let findings = lint_rule(&rule.checked(&id.to_string()), now);
    let warnings = findings.iter().filter(|it| !it.is_error()).map(ToString::to_string).collect();
    let unchanged = written.changes.is_empty();
    let outcome = RuleOutcome { id, standing: rule.standing, unchanged, warnings };
    Ok(Plan { changes: written.changes, outcome })
}

/// Returns the rules in force, as a check wants them. `now` leaves out expired ones.
pub fn rules_in_force(memory: &Memory, now: Timestamp) -> Vec<anchord_rules::Rule> {
    let in_force = memory.active_of(Kind::Rule).filter_map(|record| {
        let rule = record.rule()?;
        let is_live = rule.expires.is_none_or(|at| at > now);
        (rule.standing == Standing::Accepted && is_live)
            .then(|| rule.checked(&record.id.to_string()))
    });
    in_force.collect()
}

#[cfg(test)]
mod tests;
