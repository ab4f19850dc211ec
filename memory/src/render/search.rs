//! The reply to a search: hits in order, each as far as there is room, and the number left out.

use super::cursor::PageCursor;
use super::list::marks;
use super::{Tight, append, item};
use crate::audience::Audience;
use crate::fold::clip;
use crate::ids::{RecordId, Timestamp};
use crate::limits::{
    ANSWER_CHARS_MAX, HIT_CHARS_MAX, HITS_NAMED_MAX, QUERY_CHARS_MAX, QUERY_TERMS_MAX,
};
use crate::memories::Memories;
use crate::recall::Recalled;
use crate::record::Record;
use crate::search::{Bonus, Hit, Query};
use crate::tokens;

/// The way in which hits are shown.
#[derive(Clone, Copy)]
pub struct SearchView<'a> {
    /// The query, which selects the passages shown of long texts.
    pub query: &'a str,
    /// The end of an earlier page; `None` for the first page.
    pub cursor: Option<PageCursor>,
    /// The number of hits to show.
    pub limit: usize,
    /// The maximum number of tokens of the answer.
    pub tokens_max: Option<u32>,
    /// The budgets that are nearly used up; notes under them are shown by their summaries.
    pub tight: Tight,
    /// The renderer of a record's retention; if given, each hit is explained with it.
    pub explain: Option<&'a dyn Fn(&Record) -> String>,
    /// The current time, which decides what has expired.
    pub now: Timestamp,
    /// The reader of the answer.
    pub audience: &'a Audience,
}

/// A reply, and the records in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchText {
    /// The text, ending with a line break.
    pub text: String,
    /// The records that it shows, best first.
    pub shown: Vec<RecordId>,
    /// The number of records with words of the query that no page has shown so far.
    pub left_out: usize,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// The characters and tokens reserved for the text after the hits.
const FRAME_CHARS: usize = 600;
const FRAME_TOKENS: u32 = 120;

/// The part of an answer's tokens that remarks on the query may take, as a divisor.
const REMARKS_SHARE: u32 = 4;

/// Renders the hits of a search. Further hits are counted, and the next ones named. Hits without
/// any of the words are marked, and do not count as left out.
pub fn search<'a>(
    memory: impl Into<Memories<'a>>,
    found: &Recalled,
    view: &SearchView<'_>,
) -> SearchText {
    let memory = memory.into();
    let query = if found.relaxed { Query::plain(view.query) } else { Query::parse(view.query) };
    let mut answer =
        SearchText { text: remarks(&memory, found, &query, view), ..SearchText::default() };
    let from = view.cursor.map_or(0, |cursor| cursor.from);
    let hits = found.hits.get(from..).unwrap_or_default();
    if hits.is_empty() {
        if from > 0 {
            answer.text.push_str("Nothing more.\n");
        } else {
            let list = view.audience.tool(view.audience.overview());
            append(
                &mut answer.text,
                format_args!(
                    "Nothing matches. Try fewer or other words, or {list} to see what there is.\n"
                ),
            );
        }
        return answer;
    }
    let mut chars_left = ANSWER_CHARS_MAX.saturating_sub(FRAME_CHARS + answer.text.chars().count());
    let mut tokens_left = view
        .tokens_max
        .map_or(u32::MAX, |max| max.saturating_sub(FRAME_TOKENS + tokens::count(&answer.text)));
    for hit in hits.iter().take(view.limit) {
        let Some(record) = memory.record(hit.id) else { continue };
        let mut forms = forms(record, hit, &query, view);
        let fitting = forms.find_map(|text| {
            let chars = text.chars().count();
            let tokens = view.tokens_max.map_or(0, |_| tokens::count(&text));
            (chars <= chars_left && tokens <= tokens_left).then_some((text, chars, tokens))
        });
        let Some((text, chars, tokens)) = fitting else { break };
        chars_left -= chars;
        tokens_left -= tokens;
        answer.text.push_str(&text);
        answer.shown.push(hit.id);
    }
    let shown = from + answer.shown.len();
    let has_words = |hit: &&Hit| hit.neighbour_of.is_none();
    let listed = found.hits.iter().take(shown).filter(has_words).count();
    answer.left_out = found.matching.saturating_sub(listed);
    if answer.left_out > 0 {
        let named = found.hits.iter().skip(shown).filter(has_words).take(HITS_NAMED_MAX);
        let named: Vec<String> = named.map(|hit| hit.id.to_string()).collect();
        let next = PageCursor { from: shown, revision: memory.revision() }.to_string();
        let more = if answer.left_out > named.len() { ", …" } else { "" };
        let least = if found.more { "more than " } else { "" };
        let count = answer.left_out;
        append(
            &mut answer.text,
            format_args!(
                "truncated: true; {least}{count} left out: {}{more}; go on with {}\n",
                named.join(", "),
                view.audience.again(&next)
            ),
        );
        answer.next = Some(next);
    }
    answer
}

/// Renders the remarks on the query that come before its hits.
fn remarks(
    memory: &Memories<'_>,
    found: &Recalled,
    query: &Query,
    view: &SearchView<'_>,
) -> String {
    let cut = query.is_cut().then(|| {
        format!(
            "the query is long: nothing was looked for beyond its first {QUERY_CHARS_MAX} characters and \
             {QUERY_TERMS_MAX} words\n"
        )
    });
    let moved = view.cursor.is_some_and(|cursor| cursor.revision != memory.revision());
    let moved = moved.then(|| {
        "memory changed since the page before: a hit may come twice or be missed\n".into()
    });
    let relaxed = found.relaxed.then(|| RELAXED.into());
    let corrected = found
        .corrected
        .iter()
        .map(|(asked, searched)| format!("nothing has `{asked}`; searched `{searched}`\n"));
    let room = view.tokens_max.map_or(u32::MAX, |max| max / REMARKS_SHARE);
    let (mut text, mut taken, mut left_out) = (String::new(), 0, 0);
    for line in cut.into_iter().chain(moved).chain(relaxed).chain(corrected) {
        taken += tokens::count(&line);
        if taken <= room {
            text.push_str(&line);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        append(&mut text, format_args!("({left_out} remarks on the query left out)\n"));
    }
    text
}

/// The length in characters of a title that fits into nearly every answer.
const HIT_CHARS_MIN: usize = 60;

/// The remark for a query whose hard constraints were dropped.
const RELAXED: &str = "nothing fits the quotes or minus; searched plain words\n";

/// Returns the forms of a hit, longest first, each with its line break. They are rendered on
/// demand. The first one nearly always fits, and the last one always, so that each page shows
/// something.
fn forms(
    record: &Record,
    hit: &Hit,
    query: &Query,
    view: &SearchView<'_>,
) -> impl Iterator<Item = String> {
    let neighbour = hit.neighbour_of.map(|id| format!(" [stored beside {id}]"));
    let marks = format!("{}{}", marks(record, view.now), neighbour.unwrap_or_default());
    let why = view.explain.map(|retention| why(hit, &retention(record))).unwrap_or_default();
    let summed =
        view.tight.is(record) && record.note().is_some_and(|note| !note.summary.is_empty());
    let sizes = [HIT_CHARS_MAX, HIT_CHARS_MAX / 3].into_iter().filter(move |_| !summed);
    let excerpts = sizes.map(move |chars| item::excerpt(record, query, chars));
    let title = std::iter::once_with(move || item::title(record));
    let short = move || clip(&item::title(record), HIT_CHARS_MIN);
    let explained = excerpts.chain(title).chain(std::iter::once_with(short));
    let marks_explained = marks.clone();
    let explained = explained.map(move |text| format!("{text}{marks_explained}\n{why}"));
    let plain = std::iter::once_with(short).chain(std::iter::once_with(|| record.id.to_string()));
    explained.chain(plain.map(move |text| format!("{text}{marks}\n")))
}

/// Renders the parts of a hit's score: ` why: oauth 2.31 (tag), token 1.02; neighbours 0.40; ×
/// 0.950 (…); named 1.20; = 4.74`.
fn why(hit: &Hit, retention: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let terms: Vec<String> = hit
        .why
        .iter()
        .map(|share| {
            let tag = if share.in_tag { " (tag)" } else { "" };
            format!("{} {:.2}{tag}", share.term, share.score)
        })
        .collect();
    if !terms.is_empty() {
        parts.push(terms.join(", "));
    }
    if hit.neighbours > 0.0 {
        parts.push(format!("neighbours {:.2}", hit.neighbours));
    }
    parts.push(format!("× {:.3} {retention}", hit.prior));
    for Bonus { reason, score } in &hit.gains {
        parts.push(format!("{reason} {score:.2}"));
    }
    parts.push(format!("= {:.2}", hit.score));
    format!("  why: {}\n", parts.join("; "))
}

#[cfg(test)]
mod tests;
