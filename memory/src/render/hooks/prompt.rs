//! Context at a prompt: the few records that would change a good engineer's next step, and others'
//! changes.

use std::collections::BTreeSet;

use super::{Page, RenderedContext};
use crate::audience::{Audience, Tool};
use crate::fold::{clip_words, one_line};
use crate::ids::{RecordId, Revision, SessionId, Timestamp};
use crate::limits::{
    PROMPT_CHANGES_MAX, PROMPT_CHARS_MAX, PROMPT_RECORDS_CHARS_MAX, PROMPT_RECORDS_TOKENS_MAX,
    TITLE_CHARS_MAX,
};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::recall::{PromptQuery, for_prompt};
use crate::record::Record;
use crate::render::{changes, loaded};
use crate::search::Query;
use crate::tokens;

/// A prompt that is about to be answered.
#[derive(Clone, Copy, Debug)]
pub struct PromptContext<'a> {
    /// The reader.
    pub reader: &'a Reader,
    /// The session. Its own changes are not reported.
    pub session: &'a SessionId,
    /// The user's text; `None` if nothing is to be recalled.
    pub prompt: Option<&'a str>,
    /// The revision since which others' changes are reported; `None` to leave changes out.
    pub since: Option<Revision>,
    /// Records whose text the model already has.
    pub given: &'a BTreeSet<RecordId>,
    /// The current time, which decides what has expired.
    pub now: Timestamp,
}

/// The heading above recalled records.
pub(super) const ON_THIS: &str = "Memory has on this:";

/// Renders the records that a prompt recalls, and others' changes, one line each. Records made by
/// rule are not reported as changes, nor are those that the prompt recalls.
pub fn prompt_context(memory: &Memory, view: &PromptContext<'_>) -> RenderedContext {
    let mut news = view.since.map_or_else(Vec::new, |since| news(memory, since, view.session));
    let mut page = page_for(&news);
    if let Some(prompt) = view.prompt {
        let of = PromptQuery { reader: view.reader, prompt, given: view.given, now: view.now };
        records(&mut page, memory, &of);
    }
    news.retain(|record| !page.shown.contains(&record.id));
    for record in news.iter().take(PROMPT_CHANGES_MAX) {
        let head = "Changed by other sessions since your last prompt:";
        page.change(head, record, view.session, view.now);
    }
    let rest = news.get(PROMPT_CHANGES_MAX..).unwrap_or_default();
    if !rest.is_empty() {
        page.line("", &format!("- {}", changes::more(rest)));
    }
    let context = page.finished();
    RenderedContext { truncated: context.truncated || !rest.is_empty(), ..context }
}

/// Renders the records that a task recalls, without a frame, or the call that searches for more.
pub(super) fn on_task(memory: &Memory, of: &PromptQuery<'_>) -> RenderedContext {
    let mut page = Page::of(PROMPT_CHARS_MAX);
    records(&mut page, memory, of);
    let Page { mut text, shown, whole, .. } = page;
    if text.is_empty() {
        let query = clip_words(&one_line(of.prompt), TITLE_CHARS_MAX);
        let search = Audience::Agent.call(Tool::Search, &[("query", query.into())]);
        text = format!("No record stands out for this task; {search} looks for its words.\n");
    }
    RenderedContext { text, shown, whole, truncated: false }
}

/// Creates a page for these changes by others. A load names only the newest ones, and once.
pub(super) fn page_for(news: &[&Record]) -> Page {
    let page = Page::of(PROMPT_CHARS_MAX);
    match changes::listing(news) {
        Some(listing) => page.with_rest(listing),
        None => page,
    }
}

/// Adds the records that a prompt or a subagent's task recalls, each with the day it was written. A
/// record that does not fit whole begins with the sentence that matters.
pub(super) fn records(page: &mut Page, memory: &Memory, of: &PromptQuery<'_>) {
    let chosen = for_prompt(memory, of).given;
    let query = Query::plain(of.prompt);
    let mut tokens_left = PROMPT_RECORDS_TOKENS_MAX;
    let count = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
    for (id, waiting) in chosen.into_iter().zip((1..=count).rev()) {
        let Some(record) = memory.record(id) else { continue };
        // An even share of what is left, so that a short record leaves more to the next.
        let (text, is_whole) = within(record, &query, tokens_left / waiting);
        tokens_left = tokens_left.saturating_sub(tokens::count(&text));
        if page.line(ON_THIS, &text) {
            page.gave(id, is_whole);
        }
    }
}

/// Renders a record in at most `tokens_max` tokens, but never cuts below [`PROMPT_RECORD_CHARS`]
/// characters. Also returns whether the text is the whole record.
fn within(record: &Record, query: &Query, tokens_max: u32) -> (String, bool) {
    let day = format!(" ({})", record.updated.time.date());
    let mut chars = PROMPT_RECORDS_CHARS_MAX;
    loop {
        let (text, is_whole) = loaded::excerpt(record, query, chars);
        let text = match text.split_once('\n') {
            Some((first, rest)) => format!("{first}{day}\n{rest}"),
            None => text + &day,
        };
        let takes = tokens::count(&text);
        if takes <= tokens_max || chars <= PROMPT_RECORD_CHARS {
            return (text, is_whole);
        }
        let fitting = chars.min(text.chars().count()) * tokens_max as usize / takes as usize;
        chars = fitting.min(chars - 1).max(PROMPT_RECORD_CHARS);
    }
}

/// The fewest characters to which a record is cut.
const PROMPT_RECORD_CHARS: usize = 120;

/// Lists records that others wrote since a revision, the newest first, except those made by rule.
pub(super) fn news<'a>(
    memory: &'a Memory,
    since: Revision,
    session: &SessionId,
) -> Vec<&'a Record> {
    let mut news = changes::written_by_others(memory, since, Some(session));
    news.retain(|record| !record.is_by_rule());
    news
}
