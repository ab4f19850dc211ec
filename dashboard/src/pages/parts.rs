//! The parts that several views have: records, actions, times.

use anchord_daemon::api::ShownRecord;
use anchord_memory::render::{self, Style, StyledLine};
use anchord_memory::{Body, RecordState, Standing, Timestamp};
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Scene;
use crate::actions::editable;

/// The characters of a text that are shown before it has to be opened.
const TEXT_CHARS: usize = 700;

const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'/');

/// Returns an address with parameters. Empty ones are left out.
pub(crate) fn link(path: &str, pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, QUERY)))
        .collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// Renders a button that changes something. `key` is the key that presses it.
pub(crate) fn action(
    scene: &Scene<'_>,
    name: &str,
    label: &str,
    key: Option<&str>,
    fields: &[(&str, &str)],
) -> Markup {
    if scene.is_file {
        return html! {};
    }
    html! {
        form.act action={ "/do/" (name) } method="post" {
            input type="hidden" name="csrf" value=(scene.app.guard.csrf());
            input type="hidden" name="back" value=(scene.back);
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button data-key=[key] title=[key] { (label) }
        }
    }
}

/// Renders a record with what can be done about it.
pub(crate) fn card(scene: &Scene<'_>, shown: &ShownRecord) -> Markup {
    let record = &shown.record;
    let id = record.id.to_string();
    let own = [("project", scene.project.as_str()), ("id", id.as_str())];
    let page = link("/memory/record", &own);
    html! {
        article.card tabindex="0" aria-label=(shown.title) data-id=(id) {
            header {
                span.kind { (kind(shown)) }
                @if scene.is_file { strong { (shown.title) } }
                @else { a.title href=(page) data-key="o" { (shown.title) } }
                (badges(shown))
            }
            @if !shown.text.is_empty() { (text(&shown.text)) }
            p.faint {
                (id) " · " @if !record.updated.client.is_empty() { (record.updated.client) " · " }
                (ago(scene, record.updated.time.0)) " · " (reads(scene, shown))
                @if !record.tags.is_empty() { " · " (record.tags.join(", ")) }
            }
            @if !scene.is_file { (actions(scene, shown, &own)) }
        }
    }
}

fn actions(scene: &Scene<'_>, shown: &ShownRecord, own: &[(&str, &str)]) -> Markup {
    let record = &shown.record;
    html! {
        div.actions {
            (action(scene, "keep", "Keep", Some("y"), own))
            @if let Some(rule) = record.rule() {
                @if rule.standing != Standing::Accepted {
                    (action(scene, "accept", "Accept", None, own))
                }
                @if rule.standing != Standing::Disabled {
                    (action(scene, "disable", "Disable", None, own))
                }
            }
            @if editable(record.kind()).is_some() {
                a.button href=(link("/memory/edit", own)) data-key="e" { "Edit" }
                a.button href=(link("/memory/merge", own)) data-key="m" { "Merge" }
            }
            @if record.pinned { (action(scene, "unpin", "Unpin", Some("p"), own)) }
            @else { (action(scene, "pin", "Pin", Some("p"), own)) }
            @if record.state != RecordState::Forgotten {
                (action(scene, "forget", "Forget", Some("f"), own))
            }
        }
    }
}

/// Returns the kind as people say it.
pub(crate) fn kind(shown: &ShownRecord) -> &'static str {
    match &shown.record.body {
        Body::Blueprint(blueprint) => blueprint.category.name(),
        Body::Note(note) if note.key.is_some() => "fact",
        _ => shown.record.kind().noun(),
    }
}

fn badges(shown: &ShownRecord) -> Markup {
    let record = &shown.record;
    html! {
        @if record.pinned { span.badge { "pinned" } }
        @if record.is_captured() { span.badge { "by rule" } }
        @match record.state {
            RecordState::Active => {},
            RecordState::Archived => span.badge { "archived" },
            RecordState::Forgotten => span.badge.bad { "forgotten" },
        }
        @if let Some(rule) = record.rule() { span.badge { (rule.standing.name()) } }
        @if let Body::Note(note) = &record.body { span.badge { "importance " (note.importance) } }
    }
}

/// Renders a text; a long one is opened on demand.
pub(crate) fn text(text: &str) -> Markup {
    let text = text.trim_end();
    match text.char_indices().nth(TEXT_CHARS) {
        None => html! { pre.text { (text) } },
        Some((end, _)) => html! {
            pre.text { (text.get(..end).unwrap_or_default()) "…" }
            details { summary { "Show the whole text" } pre.text { (text) } }
        },
    }
}

fn reads(scene: &Scene<'_>, shown: &ShownRecord) -> Markup {
    html! {
        @match (shown.reads, shown.last_read) {
            (0, _) => "never looked up",
            (1, Some(last)) => { "looked up once, " (ago(scene, last)) },
            (times, Some(last)) => { "looked up " (times) " times, last " (ago(scene, last)) },
            (times, None) => { "looked up " (times) " times" },
        }
    }
}

/// Words a time relative to now.
pub(crate) fn ago(scene: &Scene<'_>, time: i64) -> Markup {
    html! { time datetime=(minute(time)) title=(minute(time)) { (relative(scene.now, time)) } }
}

pub(crate) fn relative(now: i64, time: i64) -> String {
    const MONTH_MS: i64 = 30 * 86_400_000;
    if now.saturating_sub(time) < MONTH_MS {
        render::ago(now, time)
    } else {
        format!("on {}", Timestamp(time).date())
    }
}

/// Returns a moment by day and minute.
pub(crate) fn minute(time: i64) -> String {
    Timestamp(time).minute()
}

/// Renders lines in their styles.
pub(crate) fn lines(lines: &[StyledLine]) -> Markup {
    html! {
        pre.lines {
            @for line in lines {
                span class=(match line.style {
                    Style::Plain => "plain",
                    Style::Head => "head",
                    Style::Faint => "faint",
                    Style::Added => "added",
                    Style::Removed => "removed",
                    Style::Warning => "warning",
                }) { (line.text) "\n" }
            }
        }
    }
}

/// Words a count: `1 record`, `2 records`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(number)) }
}

/// Separates thousands by commas.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    //! Words and addresses.

    use super::*;

    #[test]
    fn times_and_numbers_are_words() {
        let day = 86_400_000;
        assert_eq!(relative(40 * day, 40 * day - 90_000), "1 min ago");
        assert_eq!(relative(40 * day, 0), "on 1970-01-01");
        assert_eq!(relative(0, 5_000), "just now", "clocks differ");
        assert_eq!([7, 1_234, 1_234_567].map(grouped), ["7", "1,234", "1,234,567"]);
        assert_eq!(
            (count(1, "record"), count(0, "record")),
            ("1 record".into(), "0 records".into())
        );
    }

    #[test]
    fn an_address_carries_any_text() {
        let pairs = [("q", "a&b=\"ü\" <x>"), ("empty", "")];
        assert_eq!(link("/memory", &pairs), "/memory?q=a%26b%3D%22%C3%BC%22%20%3Cx%3E");
        assert_eq!(link("/now", &[]), "/now");
    }
}
