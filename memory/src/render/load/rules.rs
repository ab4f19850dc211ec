//! The rules of the project's file in a load. They follow the rules of memory.

use std::fmt::Write as _;

use super::LoadView;
use crate::ids::{Kind, Timestamp};
use crate::render::room::Room;
use crate::render::rules::{self, RULES_FILE, of_file};

/// The rules of a project's file, `.anchord/rules.toml`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileRulesView<'a> {
    /// The rules; none if the file cannot be read.
    pub rules: &'a [anchord_rules::Rule],
    /// The reason why the file cannot be read, and where in it.
    pub error: Option<&'a str>,
}

impl FileRulesView<'_> {
    /// Whether a load says something of the file.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.error.is_none()
    }

    /// Renders the rules that have not expired, in full, or the file's fault. Those for which there
    /// is no room are counted.
    pub(in crate::render) fn text(&self, now: Timestamp, room: Room) -> String {
        let mut text = self.error.map(rules::rules_unreadable).unwrap_or_default();
        let now = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
        let live = |rule: &&anchord_rules::Rule| rule.expires.is_none_or(|at| now < at);
        let live: Vec<_> = self.rules.iter().filter(live).collect();
        for (at, rule) in live.iter().enumerate() {
            let rest = live.len() - at;
            let rest =
                format!("{rest} more {} in {RULES_FILE}.\n", if rest == 1 { "is" } else { "are" });
            let next = format!("{}\n", of_file(rule));
            if !room.holds(Room::of(&format!("{text}{next}{rest}"))) {
                text.push_str(&rest);
                break;
            }
            let _ = write!(text, "{next}");
        }
        text
    }
}

/// Renders the file's rules for a load. Only the first page of a load with rules has them.
pub(super) fn file_rules(view: &LoadView<'_>, room: Room) -> String {
    if view.cursor.is_some() || !view.sections.contains(&Kind::Rule) {
        return String::new();
    }
    view.file_rules.text(view.now, room)
}
