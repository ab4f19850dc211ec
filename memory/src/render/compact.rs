//! Compaction plans and their outcomes.

use super::append;
use super::cut::CUT;
use super::item;
use super::list::expired;
use crate::audience::{Audience, Tool};
use crate::compaction::CompactionPlan;
use crate::fold::{clip, one_line};
use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::{COMPACTION_SHOWN_MAX, TITLE_CHARS_MAX};
use crate::memory::Memory;
use crate::plan::CompactionOutcome;
use crate::settings::Budget;

/// The maximum length in characters of a note's title in a list.
const TITLE_CHARS: usize = TITLE_CHARS_MAX / 2;

/// Renders a plan for `dry_run`, which changes nothing.
pub fn compaction_plan(
    memory: &Memory,
    plan: &CompactionPlan,
    now: Timestamp,
    audience: &Audience,
) -> String {
    if plan.is_empty() {
        return format!(
            "Nothing to compact: {} tokens, the target is {}.\n{}",
            plan.tokens_before,
            plan.target_tokens,
            wants_summary(memory, &plan.wants_summary, now, audience)
        );
    }
    let mut text = format!(
        "Would bring {} tokens down to {} (target {}); nothing is changed yet.\n",
        plan.tokens_before, plan.tokens_after, plan.target_tokens
    );
    let title = |id: &RecordId| title(memory, *id, now);
    section(
        &mut text,
        "Show by their summaries",
        plan.promote.len(),
        plan.promote.keys().map(title),
    );
    let folds =
        plan.fold.iter().map(|(id, fold)| format!("{} (into {})", title(id), fold.survivor));
    section(&mut text, "Fold near duplicates", plan.fold.len(), folds);
    section(&mut text, "Archive", plan.archive.len(), plan.archive.keys().map(title));
    text.push_str(&wants_summary(memory, &plan.wants_summary, now, audience));
    text
}

/// Renders the reply to `memory_compact`. `memory` may be from before or after the compaction,
/// since nothing shown here changes.
pub fn compaction(
    memory: &Memory,
    outcome: &CompactionOutcome,
    now: Timestamp,
    audience: &Audience,
) -> String {
    if outcome.is_nothing() {
        let wants = wants_summary(memory, &outcome.wants_summary, now, audience);
        return format!("Nothing to compact: {} tokens.\n{wants}", outcome.tokens_before);
    }
    let mut text = done(outcome);
    let (search, get) = (audience.tool(Tool::Search), audience.tool(Tool::Get));
    let other = match audience {
        Audience::Agent | Audience::Compactor => "memory_update",
        Audience::Person(_) => "an agent",
    };
    append(
        &mut text,
        format_args!(
            " All is still found by {search}, and active again when {get} or {other} uses it."
        ),
    );
    if outcome.set_aside().len() > COMPACTION_SHOWN_MAX {
        let list = audience.tool(Tool::List);
        append(&mut text, format_args!(" {list} marks all that is archived."));
    }
    text.push('\n');
    if outcome.skipped > 0 {
        let skipped = outcome.skipped;
        append(&mut text, format_args!("{skipped} changed meanwhile and stay as they are.\n"));
    }
    text.push_str(&wants_summary(memory, &outcome.wants_summary, now, audience));
    text
}

/// Renders what a compaction removed from the budget, in one line that names no tool.
pub fn made_room(outcome: &CompactionOutcome) -> String {
    let more = outcome.set_aside().len() > COMPACTION_SHOWN_MAX;
    let more = if more { " A list of all records marks what is archived." } else { "" };
    format!("{}{more}\n", done(outcome))
}

fn done(outcome: &CompactionOutcome) -> String {
    let CompactionOutcome { promoted, tokens_before, tokens_after, .. } = outcome;
    let mut room = COMPACTION_SHOWN_MAX;
    let archived = counted(&outcome.archived, &mut room);
    let folded = counted(&outcome.folded, &mut room);
    format!(
        "Compacted from {tokens_before} to {tokens_after} tokens: archived {archived}, shown by their summaries \
         {promoted}, folded as near duplicates {folded}."
    )
}

/// Renders a count and as many ids as `room` allows: `3 (n1, n2 and 1 more)`.
fn counted(ids: &[RecordId], room: &mut usize) -> String {
    let named: Vec<String> = ids.iter().take(*room).map(RecordId::to_string).collect();
    *room -= named.len();
    match (named.len(), ids.len() - named.len()) {
        (0, all) => all.to_string(),
        (all, 0) => format!("{all} ({})", named.join(", ")),
        (_, more) => format!("{} ({} and {more} more)", ids.len(), named.join(", ")),
    }
}

fn section(text: &mut String, what: &str, count: usize, lines: impl Iterator<Item = String>) {
    if count == 0 {
        return;
    }
    append(text, format_args!("{what}: {}\n", Kind::Note.count(count as u64)));
    for line in lines.take(COMPACTION_SHOWN_MAX) {
        append(text, format_args!("  {line}\n"));
    }
    if let more @ 1.. = count.saturating_sub(COMPACTION_SHOWN_MAX) {
        append(text, format_args!("  {more} more\n"));
    }
}

/// Renders the long notes for which an agent could save room with a summary.
fn wants_summary(memory: &Memory, ids: &[RecordId], now: Timestamp, audience: &Audience) -> String {
    let mut text = String::new();
    let lines = ids.iter().map(|id| {
        let tokens =
            memory.record(*id).and_then(|record| record.note()).map_or(0, |note| note.tokens);
        format!("{} ({tokens} tokens)", title(memory, *id, now))
    });
    let what = match audience {
        Audience::Agent | Audience::Compactor => {
            "Without a summary, which memory_update can give them"
        }
        Audience::Person(_) => "Without a summary, which `anchord edit ID --summary` gives them",
    };
    section(&mut text, what, ids.len(), lines);
    text
}

fn title(memory: &Memory, id: RecordId, now: Timestamp) -> String {
    let Some(record) = memory.record(id) else { return id.to_string() };
    let line = item::title(record);
    let line = line.strip_suffix(CUT).unwrap_or(&line);
    clip(&one_line(line), TITLE_CHARS) + expired(record, now)
}

/// A budget that a write cannot meet, because pinned notes take more than compaction's target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FullOfPinned {
    /// The tokens of pinned notes.
    pub pinned: u64,
    /// The records written just now that stay active regardless.
    pub stays: Vec<RecordId>,
    /// The records written just now that have no room.
    pub archived: Vec<RecordId>,
}

/// Renders the remark on a write that could not meet its budget because too much of it is pinned.
pub fn full_of_pinned(full: &FullOfPinned, budget: &Budget, audience: &Audience) -> String {
    let stays = some_of(&full.stays, "stays active", "stay active");
    let archived = some_of(
        &full.archived,
        "has no room beside them and is archived",
        "have no room beside them and are archived",
    );
    let outcome = match (stays, archived) {
        (Some(stays), None) => format!("{stays}, and other notes make room for it"),
        (None, Some(archived)) => archived,
        (Some(stays), Some(archived)) => format!("{stays}, {archived}"),
        (None, None) => "Other notes make room for them".to_owned(),
    };
    let remedy = match audience {
        Audience::Agent | Audience::Compactor => {
            "unpin some (memory_update with pinned: false), or raise the budget with memory_configure"
        }
        Audience::Person(_) => {
            "`anchord unpin` some, or raise `budget_tokens` under [memory] in config.toml"
        }
    };
    format!(
        "The budget is full of pinned notes: {} of {} tokens. {outcome}; {remedy}.\n",
        full.pinned, budget.tokens
    )
}

/// Renders `n7 stays active` or `12 notes stay active`.
fn some_of(ids: &[RecordId], is: &str, are: &str) -> Option<String> {
    match ids {
        [] => None,
        [id] => Some(format!("{id} {is}")),
        ids => Some(format!("{} notes {are}", ids.len())),
    }
}

#[cfg(test)]
mod tests;
