//! Parses a topic's file, as it was rendered, or as snap-memory or a person wrote it.

use super::{
    ARCHITECTURE, DECISIONS, Decision, DecisionItem, HISTORY, HistoryItem, INJECTED, META,
    NO_STATUS, NONE_YET, OVERVIEW, STATUS, Section, TopicFile,
};
use crate::fold::one_line;
use crate::ids::Timestamp;

/// A part of a file, from its heading to the next one.
struct Block<'a> {
    heading: &'a str,
    lines: Vec<&'a str>,
}

impl TopicFile {
    /// Parses a file. Any text is one: what has no place in the form is in `others`. Sections of
    /// the same name unite.
    ///
    /// A heading is a whole line, so `## History of the bug` in a status is a section of a person's
    /// own. In a list, a line without a bullet belongs to the item above it. Text that snap-memory
    /// had injected is left out, from its heading on.
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<&str> = text.lines().collect();
        let mut lines = without_injected(&lines);
        let mut file = Self::default();
        let first = lines.iter().position(|line| !line.trim().is_empty());
        if let Some(at) = first
            && let Some(title) = lines.get(at).and_then(|line| line.strip_prefix("# "))
        {
            file.title = one_line(title);
            lines.drain(..=at);
        }
        for block in blocks(&lines) {
            file.take(&block);
        }
        file
    }

    fn take(&mut self, block: &Block<'_>) {
        let known = [META, OVERVIEW, ARCHITECTURE, STATUS, DECISIONS, HISTORY];
        match known.into_iter().find(|known| known.eq_ignore_ascii_case(block.heading)) {
            Some(META) => self.take_meta(&block.lines),
            Some(OVERVIEW) => describe(&mut self.overview, &block.lines),
            Some(ARCHITECTURE) => describe(&mut self.architecture, &block.lines),
            Some(STATUS) => {
                let text = body(&block.lines);
                if text == NO_STATUS {
                    return;
                }
                let placeholder = |rest: &str| rest == NO_STATUS;
                let text = unescaped(&text, placeholder).to_owned();
                let before = self.status.take().map(|before| before + "\n\n").unwrap_or_default();
                self.status = Some(before + &text).filter(|text| !text.is_empty());
            }
            Some(DECISIONS) => {
                self.decisions.extend(items(&block.lines).iter().map(|item| decision(item)));
            }
            Some(HISTORY) => {
                self.history.extend(items(&block.lines).iter().map(|item| {
                    let (day, text) = split_day(item);
                    HistoryItem { day, text: unescaped(text, is_marked).to_owned() }
                }));
            }
            _ => {
                let section =
                    Section { heading: one_line(block.heading), text: body(&block.lines) };
                self.others.push(section);
            }
        }
    }

    /// Takes entries of the form `- **key**: value`. Anything else is a text of a person's own.
    fn take_meta(&mut self, lines: &[&str]) {
        let mut other = Vec::new();
        for line in lines {
            let entry = line.trim().strip_prefix("- **").and_then(|rest| rest.split_once("**:"));
            let Some((key, value)) = entry else {
                other.push(*line);
                continue;
            };
            let (key, value) = (one_line(key), one_line(value));
            let slot = match key.as_str() {
                "created" => &mut self.created,
                "updated" => &mut self.updated,
                _ => {
                    self.meta.push((key, value));
                    continue;
                }
            };
            match moment(&value) {
                Some(day) => *slot = Some(day),
                None => self.meta.push((key, value)),
            }
        }
        let text = body(&other);
        if !text.is_empty() {
            self.others.push(Section { heading: String::new(), text });
        }
    }
}

/// Adds the text of a section to a description.
fn describe(text: &mut Option<String>, lines: &[&str]) {
    let before = text.take().map(|before| before + "\n\n").unwrap_or_default();
    *text = Some(before + &body(lines)).filter(|text| !text.trim().is_empty());
}

/// Splits lines at their headings. Text before the first one has an empty heading.
fn blocks<'a>(lines: &[&'a str]) -> Vec<Block<'a>> {
    let mut blocks = vec![Block { heading: "", lines: Vec::new() }];
    for line in lines {
        if is_heading(line) {
            let heading = line.trim_start_matches('#').trim();
            blocks.push(Block { heading, lines: Vec::new() });
        } else if let Some(block) = blocks.last_mut() {
            block.lines.push(line);
        }
    }
    let is_blank = |block: &Block<'_>| block.lines.iter().all(|line| line.trim().is_empty());
    if blocks.first().is_some_and(is_blank) {
        blocks.remove(0);
    }
    blocks
}

/// Returns the lines without text that snap-memory had injected. A quotation of it has sections of
/// the same names, and snap-memory wrote its own sections after it. The text therefore ends at the
/// last heading of the section that follows.
fn without_injected<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let Some(begin) = lines.iter().position(|line| line.trim() == INJECTED) else {
        return lines.to_vec();
    };
    let (before, after) = lines.split_at(begin);
    let is =
        |line: &&str, name: &str| heading_of(line).is_some_and(|it| it.eq_ignore_ascii_case(name));
    let order = [META, OVERVIEW, ARCHITECTURE, STATUS, DECISIONS, HISTORY];
    let within = before.iter().rev().find_map(|line| order.iter().position(|name| is(line, name)));
    let following = order.iter().skip(within.map_or(0, |at| at + 1));
    let end = following
        .filter_map(|name| after.iter().rposition(|line| is(line, name)))
        .min()
        .unwrap_or(after.len());
    let rest = after.get(end..).unwrap_or_default();
    [before, rest].concat()
}

/// Returns the text of lines without blank lines around it. Takes back backslashes.
fn body(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| unescaped(line, is_heading)).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the items of a list, each on one line.
fn items(lines: &[&str]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        let bullet = ["- ", "* "].iter().find_map(|bullet| line.strip_prefix(bullet));
        let text = one_line(bullet.unwrap_or(line));
        if text.is_empty() || (bullet.is_none() && text == NONE_YET) {
            continue;
        }
        match items.last_mut().filter(|_| bullet.is_none()) {
            Some(item) => {
                item.push(' ');
                item.push_str(&text);
            }
            None => items.push(text),
        }
    }
    items
}

fn decision(item: &str) -> DecisionItem {
    let (day, text) = split_day(item);
    let decided = || {
        let words: Vec<&str> = text.strip_prefix("(decided) ")?.split(' ').collect();
        let at = words.iter().skip(1).position(|word| *word == "->")? + 1;
        let (question, answer) = words.split_at_checked(at)?;
        let answer = answer.get(1..)?.join(" ");
        let arrow = |rest: &str| rest == "->";
        let question: Vec<&str> = question.iter().map(|word| unescaped(word, arrow)).collect();
        (!answer.is_empty()).then(|| Decision::Decided(question.join(" "), answer))
    };
    let open = || text.strip_prefix("(open) ").map(|text| Decision::Open(text.to_owned()));
    let decision = open()
        .or_else(decided)
        .unwrap_or_else(|| Decision::Statement(unescaped(text, is_marked).to_owned()));
    DecisionItem { day, decision }
}

fn split_day(text: &str) -> (Option<Timestamp>, &str) {
    day_before(text).map_or((None, text), |(day, rest)| (Some(day), rest))
}

/// Splits `2026-11-22: text` into the day and the text, if it has both.
pub(super) fn day_before(text: &str) -> Option<(Timestamp, &str)> {
    let (day, rest) = text.split_once(':')?;
    let rest = rest.trim_start();
    Some((Timestamp::parse_day(day)?, rest)).filter(|_| !rest.is_empty())
}

/// Reads a day, or the day of a time.
fn moment(text: &str) -> Option<Timestamp> {
    Timestamp::parse_day(text).or_else(|| Some(Timestamp::parse(text)?.day_start()))
}

/// Returns whether a line begins a section.
pub(super) fn is_heading(line: &str) -> bool {
    heading_of(line).is_some()
}

fn heading_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("##")?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// Returns whether the text of an item would be read as more than a text.
pub(super) fn is_marked(text: &str) -> bool {
    ["(open) ", "(decided) "].iter().any(|mark| text.starts_with(mark))
        || day_before(text).is_some()
}

/// Returns whether a text, without backslashes in front of it, is of a kind.
pub(super) fn is_like(text: &str, is: impl Fn(&str) -> bool) -> bool {
    is(text.trim_start_matches('\\'))
}

/// Takes a backslash back that stands before a text of a kind.
fn unescaped(text: &str, is: impl Fn(&str) -> bool) -> &str {
    match text.strip_prefix('\\') {
        Some(rest) if is_like(rest, is) => rest,
        _ => text,
    }
}
