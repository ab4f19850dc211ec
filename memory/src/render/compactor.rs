//! Texts of `--tools compactor`, in the forms that users of that system know, over the same memory.
//!
//! Its items are the reader's private notes, own or inherited, and the project's notes. The budget
//! bounds only the private ones. Ids have 16 hexadecimal digits there; here each encodes the number
//! of a record and its memory.

use super::{append, percent};
use crate::fold::one_line;
use crate::ids::{ItemIds, Kind, RecordId, Timestamp};
use crate::limits::{COMPACTION_SHOWN_MAX, COMPACTOR_LINE_CHARS_MAX, COMPACTOR_PREVIEW_CHARS_MAX};
use crate::memory::Memory;
use crate::plan::{CompactionOutcome, NotesOutcome, is_expired};
use crate::reader::Reader;
use crate::record::{Record, RecordState};
use crate::settings::Budget;
use crate::tokens;

/// The ids of a memory's items, and the time at which they are shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The ids of this memory.
    pub ids: ItemIds,
    /// The time.
    pub now: Timestamp,
}

/// The use of the budget, and the number of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The tokens of the notes that the budget bounds.
    pub used: u64,
    /// The number of items, including the project's.
    pub items: u64,
    /// The budget.
    pub budget: Budget,
}

impl Usage {
    /// Computes the current usage.
    pub fn of(memory: &Memory, reader: &Reader, budget: Budget) -> Self {
        let (own, used) = memory.own_usage(reader);
        Self { used, items: own + memory.totals().active.notes, budget }
    }

    /// Whether summaries are shown in place of contents.
    fn is_tight(&self) -> bool {
        self.budget.is_tight(self.used)
    }

    /// Renders the mark of a list that shows summaries.
    fn says_tight(&self) -> &'static str {
        if self.is_tight() { " (budget tight, showing summaries where available)" } else { "" }
    }

    /// Renders `12345/80000 tokens (15.4%)`.
    fn precise(&self) -> String {
        let (used, tokens) = (self.used, self.budget.tokens);
        format!("{used}/{tokens} tokens ({}%)", percent(used, tokens))
    }

    fn auto_compact(&self) -> String {
        let Budget { auto_compact, above, .. } = self.budget;
        format!("Auto-compact: {auto_compact} (threshold: {above}%)\n")
    }

    /// Returns the share of the budget in whole percent.
    fn percent(&self) -> u64 {
        let tokens = u64::from(self.budget.tokens).max(1);
        (self.used * 100 + tokens / 2) / tokens
    }

    /// Renders the line that ends the replies to writes.
    pub fn line(&self) -> String {
        let Self { used, items, budget } = self;
        format!("Budget: {used}/{} tokens ({}%), {items} items", budget.tokens, self.percent())
    }
}

/// Renders the end of the replies to writes.
pub fn used(usage: &Usage) -> String {
    usage.line() + "\n"
}

/// Returns the active notes that a reader sees, oldest first.
pub fn items<'a>(memory: &'a Memory, reader: &'a Reader) -> Vec<&'a Record> {
    let own = memory.own_notes(reader).filter(|record| record.state.is_active());
    let mut items: Vec<&Record> =
        own.chain(memory.active_of(Kind::Note)).map(|record| &**record).collect();
    items.sort_by_key(|record| (record.created.time, record.id));
    items
}

/// Returns the active notes that a reader sees, highest retention score first.
pub fn ranked<'a>(
    memory: &'a Memory,
    reader: &'a Reader,
    score: impl Fn(&Record) -> f64,
) -> Vec<&'a Record> {
    let items = items(memory, reader);
    let mut scored: Vec<(f64, &Record)> =
        items.into_iter().map(|record| (score(record), record)).collect();
    // Of two with equal scores, the newer comes first.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.id.cmp(&a.1.id)));
    scored.into_iter().map(|(_, record)| record).collect()
}

/// The part of an item that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    /// The summary, or else the beginning of the content.
    Brief,
    /// The beginning of the content, regardless of any summary, without a rule above it.
    Line,
    /// The whole content, unless the note is condensed to its summary.
    Standing,
    /// The summary with its own tokens, or else the whole content.
    Exported,
    /// The whole content.
    Whole,
}

fn item(record: &Record, form: Text, Shown { ids, now }: Shown) -> String {
    let Some(note) = record.note() else { return String::new() };
    let mut marks = String::new();
    if record.pinned {
        marks.push_str(" PINNED");
    }
    // The original system has neither state, but a reader needs to know before relying on the item.
    if record.state == RecordState::Archived {
        marks.push_str(" ARCHIVED");
    }
    if is_expired(record, now) {
        marks.push_str(" EXPIRED");
    }
    let tags = if record.tags.is_empty() {
        String::new()
    } else {
        format!("Tags: {}\n", record.tags.join(", "))
    };
    let summed = !note.summary.is_empty();
    let text = match form {
        Text::Brief | Text::Exported if summed => note.summary.clone(),
        Text::Brief => preview(&note.content, COMPACTOR_PREVIEW_CHARS_MAX),
        Text::Line => preview(&note.content, COMPACTOR_LINE_CHARS_MAX),
        Text::Standing if note.condensed => note.summary.clone(),
        Text::Standing | Text::Exported | Text::Whole => note.content.clone(),
    };
    // An item that is shown by its summary takes as many tokens.
    let tokens = match form {
        Text::Whole => note.tokens,
        Text::Exported if summed => tokens::count(&note.summary),
        _ => note.budget_tokens(),
    };
    let rule = if form == Text::Line { "" } else { "---\n" };
    let (id, importance) = (ids.show(record.id), note.importance);
    format!("[{id}] importance:{importance} tokens:{tokens}{marks}\n{tags}{rule}{text}\n")
}

/// Returns the first characters of a text, with dots if there are more.
fn preview(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

fn with_items(head: &str, records: &[&Record], text: Text, shown: Shown) -> String {
    let mut all = format!("{head}\n");
    for record in records {
        all.push('\n');
        all.push_str(&item(record, text, shown));
    }
    all
}

/// Renders the reply to `recall`; `records` come in the order of [`ranked`].
pub fn recall(usage: &Usage, records: &[&Record], shown: Shown) -> String {
    let head = format!("Budget: {}, {} items stored", usage.precise(), usage.items);
    if usage.items == 0 {
        return format!("{head}\n\n{EMPTY}\n");
    }
    let tight = usage.says_tight();
    let head = format!("{head}\n\nTop {} items by relevance{tight}:", records.len());
    with_items(&head, records, Text::Brief, shown)
}

const EMPTY: &str = "Nothing is stored yet. Use `store` to save what you will want to have again.";

/// Renders the reply to `query`, best first.
pub fn query(usage: &Usage, records: &[&Record], shown: Shown) -> String {
    if records.is_empty() {
        return "No matching items found.\n".to_owned();
    }
    let text = if usage.is_tight() { Text::Brief } else { Text::Standing };
    let head = format!("Found {} items{}:", records.len(), usage.says_tight());
    with_items(&head, records, text, shown)
}

/// Renders the reply to `list`: a page of the items, newest first.
pub fn list(items: &[&Record], offset: usize, limit: usize, shown: Shown) -> String {
    let total = items.len();
    let page: Vec<&Record> = items.iter().rev().skip(offset).take(limit).copied().collect();
    match page.len() {
        0 => format!("No items (total: {total}).\n"),
        count => {
            let head = format!("Items {}-{} of {total}:", offset + 1, offset + count);
            with_items(&head, &page, Text::Line, shown)
        }
    }
}

/// Renders the reply to `export`, oldest first.
pub fn export(items: &[&Record], summaries_only: bool, shown: Shown) -> String {
    if items.is_empty() {
        return "No items to export.\n".to_owned();
    }
    let (text, mark) = if summaries_only {
        (Text::Exported, " (summaries where available)")
    } else {
        (Text::Whole, "")
    };
    with_items(&format!("Exported {} items{mark}:", items.len()), items, text, shown)
}

/// Renders the reply to `status`.
pub fn status(usage: &Usage) -> String {
    format!("Budget: {}\nItems: {}\n{}", usage.precise(), usage.items, usage.auto_compact())
}

/// Renders the reply to `configure`.
pub fn configure(usage: &Usage) -> String {
    let Usage { items, .. } = usage;
    let (budget, auto) = (usage.precise(), usage.auto_compact());
    format!("Configuration updated.\nBudget: {budget}, {items} items\n{auto}")
}

/// Renders the reply to `store`.
pub fn store(outcome: &NotesOutcome, usage: &Usage, ids: ItemIds) -> String {
    let stored = outcome.stored.iter().map(|note| stored(ids, note.id, note.tokens));
    let mut text: String = stored.collect();
    text.push_str(&used(usage));
    text
}

fn stored(ids: ItemIds, record: RecordId, tokens: u32) -> String {
    format!("Stored [{}] ({tokens} tokens)\n", ids.show(record))
}

/// Renders the reply to `bulk_store`: one line per item, in the order given. Items that failed are
/// counted from 1.
pub fn bulk_store(outcome: &NotesOutcome, usage: &Usage, ids: ItemIds) -> String {
    let ok = outcome.stored.iter().map(|note| (note.at, stored(ids, note.id, note.tokens)));
    let failed = outcome.failed.iter().map(|note| {
        let why = one_line(&note.why.to_string());
        (note.at, format!("FAILED item {}: {why}\n", note.at + 1))
    });
    let mut lines: Vec<(usize, String)> = ok.chain(failed).collect();
    lines.sort_by_key(|(at, _)| *at);
    let lines: String = lines.into_iter().map(|(_, line)| line).collect();
    let (stored, failed) = (outcome.stored.len(), outcome.failed.len());
    format!("{lines}\nStored: {stored}, Failed: {failed}\n{}", used(usage))
}

/// Renders the reply to `compact`; `memory` may be from before or after it.
pub fn compact(memory: &Memory, outcome: &CompactionOutcome, Shown { ids, now }: Shown) -> String {
    let CompactionOutcome { promoted, tokens_before, tokens_after, .. } = outcome;
    let (archived, folded) = (outcome.archived.len(), outcome.folded.len());
    let freed = tokens_before.saturating_sub(*tokens_after);
    let mut text = format!(
        "Compaction complete:\n- Evicted: {archived} items\n- Summary promoted: {promoted} items\n\
         - Deduplicated: {folded} pairs\n- Tokens freed: {freed}\n- Budget: {tokens_before} -> {tokens_after} tokens\n"
    );
    let wants = &outcome.wants_summary;
    if !wants.is_empty() {
        text.push_str("\nThese items have no summary; give each one with `update`:\n");
    }
    for record in wants.iter().take(COMPACTION_SHOWN_MAX).filter_map(|id| memory.record(*id)) {
        let Some(note) = record.note() else { continue };
        let line = preview(&one_line(&note.content), COMPACTOR_LINE_CHARS_MAX);
        let expired = if is_expired(record, now) { " EXPIRED" } else { "" };
        append(
            &mut text,
            format_args!(
                "- [{}] {} tokens{expired}: \"{line}\"\n",
                ids.show(record.id),
                note.tokens
            ),
        );
    }
    if let Some(more) = wants.len().checked_sub(COMPACTION_SHOWN_MAX).filter(|more| *more > 0) {
        append(&mut text, format_args!("- and {more} more\n"));
    }
    text + &set_aside(outcome, ids)
}

/// Renders an additional line that the original system lacks: the items that are no longer active.
/// Empty if all are.
pub fn set_aside(outcome: &CompactionOutcome, ids: ItemIds) -> String {
    let aside = outcome.set_aside();
    let more = aside.len().saturating_sub(COMPACTION_SHOWN_MAX);
    let named =
        aside.iter().take(COMPACTION_SHOWN_MAX).map(|record| format!("[{}]", ids.show(*record)));
    let named: Vec<String> = named.collect();
    match (named.as_slice(), more) {
        ([], _) => String::new(),
        (named, 0) => format!("Evicted: {}; `query` still finds them\n", named.join(", ")),
        (named, more) => {
            let named = named.join(", ");
            format!("Evicted: {named} and {more} more; `query` still finds them\n")
        }
    }
}

/// Renders another such line, for a write that exceeds its budget because pinned items take too
/// much.
pub fn full_of_pinned(pinned_tokens: u64, budget: &Budget) -> String {
    format!(
        "Pinned items take {pinned_tokens} of {} tokens; `unpin` some, or raise the budget with `configure`\n",
        budget.tokens
    )
}

/// Renders the reply to `update`.
pub fn update(id: &str) -> String {
    format!("Updated summary for [{id}]\n")
}

/// Renders the reply to `pin`.
pub fn pin(id: &str) -> String {
    format!("Pinned [{id}]\n")
}

/// Renders the reply to `unpin`.
pub fn unpin(id: &str) -> String {
    format!("Unpinned [{id}]\n")
}

/// Renders the reply to `forget`.
pub fn forget(id: &str, usage: &Usage) -> String {
    let Usage { used, items, .. } = usage;
    format!("Removed [{id}]. Budget: {used} tokens ({}%), {items} items\n", usage.percent())
}

#[cfg(test)]
mod tests;
