//! Rules: what must or must not be done, and can be checked.
//!
//! A rule that an agent writes is proposed. It is in force once a person accepts it. Only a person
//! changes a rule in force.

use std::sync::Arc;

use anchord_rules::limits::{REASON_BYTES_MAX, TITLE_BYTES_MAX};
use anchord_rules::{Effect, Matches, Window};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Facts, Fields, MergeKey, Searched, Share, Which};
use crate::fold::{fold, one_line};
use crate::forgotten::shorten;
use crate::ids::{Kind, Timestamp};
use crate::intake::{BRIEFLY, line};
use crate::kinds::note::ContentType;
use crate::limits::{RULES_BYTES_MAX, RULES_MAX};
use crate::omit::is_default;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

pub(crate) const FACTS: Facts = Facts {
    noun: "rule",
    plural: "rules",
    noun_in_full: "rule",
    heading: "Rules",
    letter: 'r',
    limit: (RULES_MAX, RULES_BYTES_MAX),
    which: Some(Which {
        place: 5,
        line: "| something that must or must not be done, and can be checked | **rule** (added by a person: `anchord rules add`) |",
    }),
    share: Share::Settled,
    page_place: 0,
    file_place: 0,
    // Whoever edits a shared file would change a rule in force. Teams have `.anchord/rules.toml`.
    file_texts: &[],
    file_times: &[],
    local_fields: &[],
};

/// Something that must or must not be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The title, on one line. It identifies the rule.
    pub title: String,
    /// The reason, on one line. Agents and people read it when the rule decides.
    pub reason: String,
    /// The effect on an action that it matches.
    pub effect: Effect,
    /// The actions that it matches.
    pub matches: Matches,
    /// The times at which it applies; always if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
    /// The time from which it no longer applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Whether hooks apply it without the daemon as well.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fail_closed: bool,
    /// Whether it is in force.
    pub standing: Standing,
}

/// Whether a rule is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// An agent proposed it, and no person has accepted it.
    Proposed,
    /// It is in force.
    Accepted,
    /// A person has disabled it.
    Disabled,
}

impl Standing {
    /// Returns the word for people and agents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Accepted => "in force",
            Self::Disabled => "disabled",
        }
    }
}

impl Rule {
    /// Returns the rule for a check, under the id of its record.
    pub(crate) fn checked(&self, id: &str) -> anchord_rules::Rule {
        anchord_rules::Rule {
            id: id.to_owned(),
            title: self.title.clone(),
            reason: self.reason.clone(),
            effect: self.effect,
            matches: self.matches.clone(),
            windows: self.windows.clone(),
            expires: self.expires.and_then(|at| jiff::Timestamp::from_millisecond(at.0).ok()),
            fail_closed: self.fail_closed,
        }
    }

    /// Returns a rule of the project's file, in the form in which memory has its own.
    pub(crate) fn of_file(rule: &anchord_rules::Rule) -> Self {
        let lines = |list: &[String]| list.iter().map(|entry| entry.replace('\n', "\\n")).collect();
        let of = &rule.matches;
        Self {
            title: one_line(&rule.title),
            reason: one_line(&rule.reason),
            effect: rule.effect,
            matches: Matches {
                commands: lines(&of.commands),
                paths: lines(&of.paths),
                writes: lines(&of.writes),
                tools: lines(&of.tools),
                branches: lines(&of.branches),
                actions: lines(&of.actions),
            },
            windows: rule.windows.clone(),
            expires: rule.expires.map(|at| Timestamp(at.as_millisecond())),
            fail_closed: rule.fail_closed,
            standing: Standing::Accepted,
        }
    }

    /// Checks the fields of a write, and brings them into their stored form.
    pub(crate) fn accept(mut self) -> Result<Self, Refusal> {
        self.title = line("title", &self.title)?;
        self.reason = line("reason", &self.reason)?;
        for (field, text, bytes_max) in
            [("title", &self.title, TITLE_BYTES_MAX), ("reason", &self.reason, REASON_BYTES_MAX)]
        {
            if text.len() > bytes_max {
                let (what, bytes) = (field.into(), text.len());
                return Err(Refusal::TooLarge { what, bytes, bytes_max, advice: BRIEFLY.into() });
            }
        }
        let findings = anchord_rules::lint(&self.checked("r1"), jiff::Timestamp::MIN);
        match findings.iter().find(|finding| finding.is_error()) {
            Some(finding) => Err(Refusal::invalid("the rule", format!("is not valid: {finding}"))),
            None => Ok(self),
        }
    }
}

impl Rule {
    /// Returns the title as it is compared.
    pub(crate) fn folded_title(&self) -> String {
        fold(&self.title)
    }

    /// Returns the reason, then what it matches and when, one line each.
    pub(crate) fn block(&self) -> String {
        let Matches { commands, paths, writes, tools, branches, actions } = &self.matches;
        let lists = [
            ("commands", commands),
            ("files", paths),
            ("files to write", writes),
            ("tools", tools),
            ("branches", branches),
            ("actions", actions),
        ];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let lines = lists.map(|(name, list)| format!("\n{name}: {}", list.join(" | ")));
        let mut block = self.reason.clone();
        block.extend(lines);
        block.extend(self.windows.iter().map(|window| format!("\nwhen: {}", when(window))));
        block.extend(self.expires.map(|at| format!("\nuntil: {}", at.minute())));
        if self.fail_closed {
            block.push_str("\nalso without the daemon");
        }
        block
    }

    /// Returns what it matches, as people read it.
    fn matched(&self) -> Vec<&str> {
        let Matches { commands, paths, writes, tools, branches, actions } = &self.matches;
        let lists = [commands, paths, writes, tools, branches, actions];
        lists.into_iter().flatten().map(String::as_str).collect()
    }
}

/// Checks an action against rules. The same rules, action and time give the same verdict.
pub fn check_action(
    rules: &[anchord_rules::Rule],
    action: &anchord_rules::Action<'_>,
    now: Timestamp,
) -> anchord_rules::Verdict {
    let now = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
    anchord_rules::check(rules, action, now)
}

/// Returns the faults of a rule at a time, in the order of its fields.
pub fn lint_rule(rule: &anchord_rules::Rule, now: Timestamp) -> Vec<anchord_rules::Finding> {
    anchord_rules::lint(rule, jiff::Timestamp::from_millisecond(now.0).unwrap_or_default())
}

/// Returns the times of a window: `fri from 12:00 (Europe/Berlin)`.
fn when(window: &Window) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(window.days.iter().map(|day| format!("{day:?}").to_lowercase()));
    let bound = |name: &str, bound: anchord_rules::Bound| {
        let text = bound.to_string();
        format!("{name} {}", text.strip_suffix(":00").unwrap_or(&text))
    };
    words.extend(window.from.map(|from| bound("from", from)));
    words.extend(window.until.map(|until| bound("until", until)));
    words.push(format!("({})", window.tz));
    words.join(" ")
}

impl Fields for Rule {
    fn key(&self) -> Option<MergeKey> {
        Some(MergeKey::Text(Kind::Rule, Arc::from(self.folded_title())))
    }

    fn text_bytes(&self) -> usize {
        let matched: usize = self.matched().into_iter().map(str::len).sum();
        self.title.len() + self.reason.len() + matched
    }

    fn name(&self) -> String {
        self.title.clone()
    }

    fn searched(&self) -> Searched<'_> {
        let mut texts = vec![self.title.as_str(), self.reason.as_str()];
        texts.extend(self.matched());
        Searched { texts, files: Vec::new() }
    }

    fn own_texts(&self) -> Vec<&str> {
        vec![&self.title, &self.reason]
    }

    fn other_texts(&self) -> Vec<&str> {
        self.matched()
    }

    fn tombstone_texts(&self) -> Vec<String> {
        self.telling(self.reason.clone())
    }

    fn shorten(&mut self) -> bool {
        shorten(&mut self.reason);
        true
    }

    fn prompt_text(&self) -> String {
        format!("{}. {}", self.title, self.reason)
    }

    fn content_type(&self) -> ContentType {
        ContentType::Decision
    }

    fn accepted(&self) -> Result<Body, Refusal> {
        Ok(Body::Rule(self.clone().accept()?))
    }

    fn zipmem(&self, of: &Record) -> Value {
        json!({
            "id": of.id.to_string(),
            "title": self.title,
            "reason": self.reason,
            "effect": self.effect,
            "timestamp": of.updated.time.iso(),
        })
    }

    fn page(&self, _: &Record, whole: &str, _: Timestamp) -> String {
        format!("- {}", whole.trim_end())
    }
}
