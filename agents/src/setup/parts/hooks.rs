//! Hooks in an agent's settings: one handler for several events, some of them narrowed to tools.

use std::collections::BTreeSet;

use anchord_memory::shell_line;
use serde_json::{Value, json};

use super::{
    EditKind, Outcome, PartChange, PartError, entries, indexed, ours, prune, steps, with, words_of,
};
use crate::setup::{Document, Programs, Step};

/// Hooks with the same handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// The events, each with the tools to which it is narrowed.
    pub events: Vec<(&'static str, Option<&'static str>)>,
    /// The handler that runs at each event.
    pub handler: Value,
    /// Whether an event lists its handlers directly, without groups.
    pub is_flat: bool,
    /// Fields that the file needs next to its hooks.
    pub needs: Vec<(&'static str, Value)>,
}

/// A hook of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundHook {
    /// The event.
    pub event: String,
    /// The index of its group among the event's groups; without groups, its own.
    pub group: usize,
    /// Its index in the group; 0 without groups.
    pub index: usize,
    /// The command that it runs, word by word.
    pub words: Vec<String>,
    /// Whether set-up would change it for a reason other than its program: other tools, another
    /// timeout. Of several hooks at an event, set-up changes the first.
    pub outdated: bool,
}

/// The field that contains hooks, in every agent that has them.
const HOOKS: &str = "hooks";

/// The fields that limit how long a hook may run.
const TIMEOUTS: [&str; 2] = ["timeout", "timeoutSec"];

impl Hooks {
    /// Returns hooks in groups, as Claude Code introduced them.
    pub(crate) fn grouped(
        events: Vec<(&'static str, Option<&'static str>)>,
        handler: Value,
    ) -> Self {
        Self { events, handler, is_flat: false, needs: Vec::new() }
    }

    /// Returns hooks that each event lists directly.
    pub(crate) fn flat(events: &[&'static str], handler: Value) -> Self {
        let events = events.iter().map(|event| (*event, None)).collect();
        Self { events, handler, is_flat: true, needs: Vec::new() }
    }

    /// Adds the hooks, and updates those that exist.
    pub(super) fn place(
        &self,
        document: &mut dyn Document,
        outcome: &mut Outcome,
    ) -> Result<(), PartError> {
        for (field, value) in &self.needs {
            if document.get(&[(*field).into()]).is_none() {
                document.set(&[(*field).into()], value)?;
            }
        }
        let mut added = Vec::new();
        // The changes, each with its events, since most events change in the same way.
        let mut renewed: Vec<(String, Vec<&str>)> = Vec::new();
        for (event, matcher) in &self.events {
            let ours: Vec<_> = handlers(document)
                .into_iter()
                .filter(|(at, .., handler)| at == event && hook_words(handler).is_some())
                .collect();
            let Some((_, group, index, handler)) = ours.first() else {
                self.append(document, event, *matcher)?;
                added.push(*event);
                continue;
            };
            let mut differences = differences(handler, &self.handler);
            if !differences.is_empty() {
                document.set(&handler_at(event, *group, *index), &self.handler)?;
            }
            let narrowed = matcher_of(document, event, *group);
            if narrowed.as_deref() != *matcher {
                self.narrow(document, event, (*group, *index), *matcher)?;
                let spoken = |matcher: Option<&str>| matcher.unwrap_or("all").to_owned();
                let (old, new) = (spoken(narrowed.as_deref()), spoken(*matcher));
                differences.push(format!("matcher {old} -> {new}"));
            }
            if !differences.is_empty() {
                let differences = differences.join(", ");
                match renewed.iter_mut().find(|(known, _)| *known == differences) {
                    Some((_, events)) => events.push(event),
                    None => renewed.push((differences, vec![event])),
                }
            }
            if ours.len() > 1 {
                let number = ours.len();
                outcome.remarks.push(format!("{event} runs anchord's hook {number} times"));
            }
        }
        if !added.is_empty() {
            let runs = shell_line(hook_words(&self.handler).unwrap_or_default());
            let words = format!("{}: {runs}", added.join(", "));
            outcome.changes.push(PartChange::of_hooks(EditKind::Added, &words));
        }
        for (differences, events) in renewed {
            let words = format!("{}: {differences}", events.join(", "));
            outcome.changes.push(PartChange::of_hooks(EditKind::Changed, &words));
        }
        let wanted = |event: &str| self.events.iter().any(|(wanted, _)| *wanted == event);
        let dropped = unhook(document, None, |event| !wanted(event));
        if !dropped.is_empty() {
            let words = format!("{}: not needed any more", dropped.join(", "));
            outcome.changes.push(PartChange::of_hooks(EditKind::Removed, &words));
        }
        Ok(())
    }

    /// Removes the fields that the hooks needed, unless they existed before or other hooks stay.
    pub(super) fn free(
        &self,
        document: &mut dyn Document,
        old: Option<&dyn Document>,
        is_our_file: bool,
    ) {
        if document.get(&[HOOKS.into()]).is_some() {
            return;
        }
        for (field, value) in &self.needs {
            let at = [(*field).into()];
            let is_new = is_our_file || old.is_some_and(|old| old.get(&at).is_none());
            if is_new && document.get(&at).as_ref() == Some(value) {
                document.remove(&at);
            }
        }
    }

    /// Finds our existing hooks, including those at other events.
    pub(super) fn found(&self, document: &dyn Document) -> Vec<FoundHook> {
        let mut found: Vec<FoundHook> = Vec::new();
        for (event, group, index, handler) in handlers(document) {
            let Some(words) = hook_words(&handler) else { continue };
            let narrowed = matcher_of(document, &event, group);
            let differs = |matcher: Option<&str>| {
                TIMEOUTS.iter().any(|field| handler.get(field) != self.handler.get(field))
                    || narrowed.as_deref() != matcher
            };
            let first = || !found.iter().any(|known| known.event == event);
            let outdated = match self.events.iter().find(|(wanted, _)| *wanted == event) {
                Some((_, matcher)) => differs(*matcher) && first(),
                None => true,
            };
            let index = index.unwrap_or_default();
            found.push(FoundHook { event, group, index, words, outdated });
        }
        found
    }

    /// Appends a group for the hook after those of others.
    fn append(
        &self,
        document: &mut dyn Document,
        event: &str,
        matcher: Option<&str>,
    ) -> Result<(), PartError> {
        let list = steps(&[HOOKS, event], &[]);
        let next = indexed(document, &list).len();
        let group = match matcher {
            _ if self.is_flat => self.handler.clone(),
            Some(matcher) => json!({"matcher": matcher, HOOKS: [self.handler]}),
            None => json!({HOOKS: [self.handler]}),
        };
        Ok(document.set(&with(&list, Step::Index(next)), &group)?)
    }

    /// Gives our handler another matcher. If others are in its group, it moves into a group of its
    /// own, since the group's matcher belongs to them too.
    fn narrow(
        &self,
        document: &mut dyn Document,
        event: &str,
        (group, index): (usize, Option<usize>),
        matcher: Option<&str>,
    ) -> Result<(), PartError> {
        let at = handler_at(event, group, index);
        let group = steps(&[HOOKS, event], &[]).into_iter().chain([Step::Index(group)]);
        let group: Vec<Step> = group.collect();
        if indexed(document, &with(&group, HOOKS.into())).len() > 1 {
            document.remove(&at);
            return self.append(document, event, matcher);
        }
        let at = with(&group, "matcher".into());
        match matcher {
            Some(matcher) => document.set(&at, &json!(matcher))?,
            None => document.remove(&at),
        }
        Ok(())
    }
}

/// Returns the tools to which a group is narrowed; `None` if it matches all.
fn matcher_of(document: &dyn Document, event: &str, group: usize) -> Option<String> {
    let at = vec![HOOKS.into(), event.into(), Step::Index(group), "matcher".into()];
    let matcher = document.get(&at)?.as_str()?.to_owned();
    Some(matcher).filter(|matcher| !matches!(matcher.as_str(), "" | "*"))
}

/// Returns the differences between a handler and the wanted one, as fragments.
fn differences(known: &Value, wanted: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let (old, new) = (hook_words(known), hook_words(wanted));
    let runs = |words: Option<Vec<String>>| shell_line(words.unwrap_or_default());
    if old != new {
        found.push(format!("{} -> {}", runs(old), runs(new)));
    }
    let pairs = [known, wanted].into_iter().filter_map(Value::as_object).flatten();
    let keys: BTreeSet<&str> = pairs.map(|(key, _)| key.as_str()).collect();
    for key in keys.into_iter().filter(|key| !matches!(*key, "command" | "args" | "bash")) {
        let spoken = |value: Option<&Value>| value.map_or("none".to_owned(), Value::to_string);
        let (old, new) = (known.get(key), wanted.get(key));
        if old != new {
            found.push(format!("{key} {} -> {}", spoken(old), spoken(new)));
        }
    }
    if found.is_empty() && known != wanted {
        found.push("written another way".to_owned());
    }
    found
}

/// Removes our hooks at the events that `at_event` accepts. Returns the events.
pub(super) fn unhook(
    document: &mut dyn Document,
    old: Option<&dyn Document>,
    at_event: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    // Removing from the end keeps the indexes of earlier hooks valid.
    for (event, group, index, handler) in handlers(document).into_iter().rev() {
        if hook_words(&handler).is_none() || !at_event(&event) {
            continue;
        }
        let at = handler_at(&event, group, index);
        document.remove(&at);
        let list = at.get(..at.len() - 1).unwrap_or_default();
        if index.is_some()
            && document.get(list).is_some_and(|rest| rest.as_array().is_some_and(Vec::is_empty))
        {
            let group = list.get(..list.len() - 1).unwrap_or_default();
            document.remove(group);
        }
        prune(document, old, &steps(&[HOOKS, &event], &[]));
        if !events.contains(&event) {
            events.insert(0, event);
        }
    }
    events
}

/// Returns every handler with its event, its group and its index in the group. One that the event
/// lists directly has no index.
fn handlers(document: &dyn Document) -> Vec<(String, usize, Option<usize>, Value)> {
    let mut found = Vec::new();
    for (event, groups) in entries(document, &[HOOKS.into()]) {
        for (group, value) in groups.as_array().into_iter().flatten().enumerate() {
            let Some(list) = value.get(HOOKS) else {
                found.push((event.clone(), group, None, value.clone()));
                continue;
            };
            let list = list.as_array().into_iter().flatten().cloned().enumerate();
            found.extend(list.map(|(i, v)| (event.clone(), group, Some(i), v)));
        }
    }
    found
}

fn handler_at(event: &str, group: usize, index: Option<usize>) -> Vec<Step> {
    let mut at = vec![HOOKS.into(), event.into(), Step::Index(group)];
    at.extend(index.into_iter().flat_map(|index| [HOOKS.into(), Step::Index(index)]));
    at
}

fn hook_words(handler: &Value) -> Option<Vec<String>> {
    let words = words_of(handler);
    ours(&words, Programs::HOOK, "hook").then_some(words)
}
