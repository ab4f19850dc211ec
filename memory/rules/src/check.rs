//! The check of an action against rules.

use jiff::Timestamp;

use crate::command::CommandPattern;
use crate::limits::SHOWN_CHARS_MAX;
use crate::paths;
use crate::rule::{Effect, Rule};
use crate::shell::{self, Reading, program_name};
use crate::verdict::{Action, DecidingRule, Field, Matched, Pass, Verdict};
use crate::wild::{Match, Wild, syms};

/// Checks an action at a time.
///
/// Deny beats ask, and ask beats allow. All rules with the winning effect are named, by id. An ask
/// or deny rule that may match asks, as does one with commands or paths if the command cannot be
/// read.
pub fn check(rules: &[Rule], action: &Action<'_>, now: Timestamp) -> Verdict {
    let reading = action.command.map(shell::read).unwrap_or_default();
    let touched = paths::touched(action, &reading);
    let subject = Subject { action, reading: &reading, touched };
    let in_force = rules.iter().filter(|rule| is_in_force(rule, now));
    let mut deciding: Vec<DecidingRule> =
        in_force.filter_map(|rule| subject.decide(rule, now)).collect();
    let effect = deciding.iter().map(|decided| decided.effect).max().unwrap_or_default();
    deciding.retain(|decided| decided.effect == effect);
    deciding.sort_by(|a, b| (&a.rule, &a.title, &a.reason).cmp(&(&b.rule, &b.title, &b.reason)));
    Verdict { effect, deciding, unparsed: reading.unparsed }
}

/// Whether a rule is in force at a time.
fn is_in_force(rule: &Rule, now: Timestamp) -> bool {
    let live = rule.expires.is_none_or(|expires| now < expires);
    live && (rule.windows.is_empty() || rule.windows.iter().any(|window| window.contains(now)))
}

/// An action with what was read of its command.
struct Subject<'a> {
    action: &'a Action<'a>,
    reading: &'a Reading,
    touched: Vec<paths::PathWord>,
}

/// The best match of a field, with the entry and the text that match.
type BestMatch = (Match, Option<Matched>);

/// The entries of a field, and how they are matched.
type OfField<'f> = (&'f [String], &'f dyn Fn(&[String]) -> BestMatch);

impl Subject<'_> {
    fn decide(&self, rule: &Rule, now: Timestamp) -> Option<DecidingRule> {
        let matches = &rule.matches;
        let fields = matches.fields().into_iter();
        let has_others =
            fields.filter(|(field, _)| *field != Field::Branch).any(|(_, list)| !list.is_empty());
        let fields: [OfField<'_>; 6] = [
            (&matches.tools, &|patterns| self.of_tool(patterns)),
            (&matches.branches, &|patterns| self.of_branch(patterns, has_others)),
            (&matches.actions, &|entries| self.of_words(entries)),
            (&matches.commands, &|patterns| self.of_commands(patterns)),
            (&matches.paths, &|globs| self.of_paths(Field::Path, globs)),
            (&matches.writes, &|globs| self.of_paths(Field::Write, globs)),
        ];
        let (mut worst, mut entries_found) = (Match::No, Vec::new());
        for (entries, of_field) in fields {
            if entries.is_empty() {
                continue;
            }
            let (found, entry) = of_field(entries);
            if found == Match::No {
                return None;
            }
            worst = if entries_found.is_empty() { found } else { worst.min(found) };
            entries_found.extend(entry.map(|entry| (found, entry)));
        }
        let effect = match (worst, rule.effect) {
            (Match::No, _) | (Match::Maybe, Effect::Allow) => return None,
            (Match::Maybe, _) => Effect::Ask,
            (Match::Yes, effect) => effect,
        };
        let pass = pass(rule, effect, &entries_found, now);
        let matched = entries_found.into_iter().map(|(_, entry)| entry).collect();
        Some(DecidingRule {
            rule: rule.id.clone(),
            title: rule.title.clone(),
            reason: rule.reason.clone(),
            effect,
            certain: worst == Match::Yes,
            matched,
            pass,
        })
    }

    fn of_tool(&self, patterns: &[String]) -> BestMatch {
        let Some(tool) = self.action.tool else { return (Match::No, None) };
        best(patterns.iter().map(|pattern| {
            (
                Wild::word_in_any_case(pattern).matches(&syms(tool)),
                Field::Tool,
                pattern,
                tool.to_owned(),
            )
        }))
    }

    /// Matches the current branch, and those to which the command switches. A branch that is not
    /// known may be any, but only for a rule that also matches by something else.
    fn of_branch(&self, patterns: &[String], has_others: bool) -> BestMatch {
        let mut branches: Vec<_> = self.action.branch.map(syms).into_iter().collect();
        for invocation in &self.reading.invocations {
            let name = invocation.words.first().and_then(program_name);
            let switches = |word: &shell::Word| {
                matches!(word.text().as_deref(), Some("checkout" | "switch" | "worktree"))
            };
            if name.as_deref() == Some("git")
                && let Some(at) = invocation.words.iter().position(switches)
            {
                let operands = invocation.words.iter().skip(at + 1).filter(|word| !word.is_flag());
                branches.extend(operands.map(|word| word.syms.clone()));
            }
        }
        if self.action.branch.is_none() && has_others {
            branches.push(vec![crate::wild::Sym::Any]);
        }
        best(patterns.iter().flat_map(|pattern| {
            let wild = Wild::glob(pattern);
            branches.iter().map(move |branch| {
                let found = wild.as_ref().map_or(Match::Maybe, |wild| wild.matches(branch));
                (found, Field::Branch, pattern, crate::wild::shown(branch))
            })
        }))
    }

    fn of_words(&self, entries: &[String]) -> BestMatch {
        let Some(action) = self.action.action else { return (Match::No, None) };
        let said: Vec<String> = words(action).collect();
        best(entries.iter().map(|entry| {
            let mut wanted = words(entry).peekable();
            let is_there = wanted.peek().is_some() && wanted.all(|word| has_word(&said, &word));
            let found = if is_there { Match::Yes } else { Match::No };
            (found, Field::Action, entry, action.to_owned())
        }))
    }

    fn of_commands(&self, patterns: &[String]) -> BestMatch {
        let unread = self.unread(Field::Command, patterns);
        if self.reading.invocations.is_empty() {
            return unread;
        }
        let found = best(patterns.iter().filter_map(|pattern| {
            let compiled = CommandPattern::new(pattern)?;
            let each = self.reading.invocations.iter();
            let (found, one) = each
                .map(|one| (compiled.matches(one), one))
                .reduce(|best, next| if next.0 > best.0 { next } else { best })?;
            (found != Match::No).then(|| (found, Field::Command, pattern, one.text()))
        }));
        if found.0 >= unread.0 { found } else { unread }
    }

    fn of_paths(&self, field: Field, globs: &[String]) -> BestMatch {
        let unread = self.unread(field, globs);
        let found = best(globs.iter().filter_map(|glob| {
            let (found, text) = paths::matches(glob, &self.touched, field == Field::Write)?;
            Some((found, field, glob, text))
        }));
        if found.0 >= unread.0 { found } else { unread }
    }

    /// A command that cannot be read may run anything.
    fn unread(&self, field: Field, patterns: &[String]) -> BestMatch {
        use crate::verdict::Unparsed::{Dynamic, Syntax, TooMuch};
        match &self.reading.unparsed {
            Some(Syntax(_) | TooMuch { .. }) => best(patterns.iter().take(1).map(|pattern| {
                let text = self.action.command.unwrap_or_default();
                (Match::Maybe, field, pattern, text.chars().take(SHOWN_CHARS_MAX).collect())
            })),
            Some(Dynamic(_)) | None => (Match::No, None),
        }
    }
}

/// Returns the first of the best matches.
fn best<'p>(each: impl Iterator<Item = (Match, Field, &'p String, String)>) -> BestMatch {
    let best = each.reduce(|best, next| if next.0 > best.0 { next } else { best });
    match best {
        Some((found, field, pattern, text)) if found != Match::No => {
            (found, Some(Matched { field, pattern: pattern.clone(), text }))
        }
        _ => (Match::No, None),
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase)
}

/// Whether a word is among those said. `deploy` is also found as `deploying`.
fn has_word(said: &[String], word: &str) -> bool {
    const STEM_CHARS_MIN: usize = 4;
    let is_stem = word.chars().count() >= STEM_CHARS_MIN;
    said.iter().any(|said| said == word || is_stem && said.starts_with(word))
}

/// Returns what would make the action pass.
fn pass(rule: &Rule, effect: Effect, matched: &[(Match, Matched)], now: Timestamp) -> Vec<Pass> {
    if effect == Effect::Allow {
        return Vec::new();
    }
    let mut pass = Vec::new();
    if effect == Effect::Ask {
        pass.push(Pass::Approval);
    }
    pass.extend(crate::window::free_from(&rule.windows, rule.expires, now).map(Pass::Wait));
    for (found, entry) in matched {
        pass.push(match entry.field {
            Field::Branch => Pass::OtherBranch(entry.text.clone()),
            // The words may be plain, and only the program's use of them unknown.
            Field::Write => Pass::Without(entry.text.clone()),
            _ if *found == Match::Maybe => Pass::Literal(entry.text.clone()),
            _ => Pass::Without(entry.text.clone()),
        });
    }
    pass
}
