//! Words about the database of a team that shares a memory, while it cannot be used.

use std::fmt::Write as _;

use super::hooks::held_at_load;
use crate::ids::{SessionId, Timestamp};
use crate::memory::Memory;

/// Renders what waits for the team's database, and how old the memory is while it cannot be
/// reached. `answered` is the last time that it answered since the memory was opened. `error` is
/// the reason why it cannot be used now, and whether that lasts until a person mends it. `refused`
/// is the reason why it did not take the last commit. It has a time if the database was too slow:
/// no write has gone through since then. Lists what `own` has saved itself: until then, no other
/// read shows it. Empty if nothing is to be said.
pub fn team(
    memory: &Memory,
    own: Option<&SessionId>,
    answered: Option<Timestamp>,
    error: Option<(&str, bool)>,
    refused: Option<(&str, Option<Timestamp>)>,
) -> String {
    let mut text = String::new();
    let ended = memory.held().filter(|held| held.summary.is_none()).count();
    let saves = memory.held().count() - ended;
    let mut waits = |count: usize, noun: &str| {
        if count > 0 {
            let (plural, verb) = if count == 1 { ("", "waits") } else { ("s", "wait") };
            let _ = writeln!(
                text,
                "{count} {noun}{plural} {verb} for the team's database; nothing is lost, and \
                 nothing needs to be saved again."
            );
        }
    };
    waits(saves, "save");
    waits(ended, "ended session");
    let own = own.map(|session| held_at_load(memory, session)).unwrap_or_default();
    if !own.is_empty() {
        let _ =
            writeln!(text, "What you saved, which no search finds until then:\n{}", own.join("\n"));
    }
    if let Some((error, needs_person)) = error {
        let since = answered.map_or_else(
            || "since this daemon started".to_owned(),
            |answered| format!("since {}", answered.minute()),
        );
        let until = if needs_person {
            "That does not pass by itself: tell the person. Checkpoints work; a save is kept here \
             until it is mended."
        } else {
            "Checkpoints work; a save is kept here until it is back."
        };
        let _ = writeln!(
            text,
            "The team's database cannot be used {since} ({error}): others' newer work is not here. \
             {until}"
        );
    }
    if (answered, error) == (None, None) {
        text.push_str(
            "The team's database has not answered yet: others' newer work may not be here.\n",
        );
    }
    match refused.filter(|_| error.is_none()) {
        Some((why, Some(since))) => {
            let _ = writeln!(
                text,
                "No write to the team's database has gone through since {}: {why}. Checkpoints \
                 work; a save is kept here and shared later.",
                since.second()
            );
        }
        Some((why, None)) if !text.is_empty() => {
            let _ = writeln!(text, "The team's database does not take it: {why}.");
        }
        Some(_) | None => {}
    }
    text
}

#[cfg(test)]
mod tests;
