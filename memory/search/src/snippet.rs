//! Finds the passage of a long text that best answers a query.

use std::collections::HashMap;
use std::ops::Range;

use super::query::Query;
use super::words::{term, words};

/// The mark of omitted text.
const CUT: char = '…';

/// Returns the part of a text with most of the query's words, cut between words. It has at most
/// `chars_max` characters, including the marks for omitted text. A text that fits is returned
/// whole. A text without any of the words is cut from its beginning.
pub fn snippet(text: &str, query: &Query, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    // Leaves room for a mark on each side.
    let room = chars_max.saturating_sub(2);
    let found = matches(text, query);
    let best = best_window(text, &found, room);
    let passage = clip(text, widen(text, best, room), room);
    let mut cut = String::new();
    if chars_max >= 2 && text.get(..passage.start).is_some_and(|before| !before.trim().is_empty()) {
        cut.push(CUT);
    }
    cut.push_str(text.get(passage.clone()).unwrap_or_default().trim());
    if chars_max >= 1 && text.get(passage.end..).is_some_and(|after| !after.trim().is_empty()) {
        cut.push(CUT);
    }
    cut
}

/// Returns the ranges of the query's words, with their hashes.
fn matches(text: &str, query: &Query) -> Vec<(Range<usize>, u64)> {
    let mut found = Vec::new();
    words(text, 0, &mut |word| {
        let hash = term(word.raw).hash;
        if query.wanted.iter().any(|wanted| wanted.hash == hash) {
            found.push((word.range, hash));
        }
    });
    found.sort_by_key(|(range, _)| (range.start, range.end));
    found
}

/// Returns the first window with the most distinct words, then with the most words.
fn best_window(text: &str, found: &[(Range<usize>, u64)], room: usize) -> Range<usize> {
    let mut best = ((0, 0), 0..0);
    let mut inside: HashMap<u64, usize> = HashMap::new();
    let mut from = 0;
    for (to, (last, hash)) in found.iter().enumerate() {
        *inside.entry(*hash).or_default() += 1;
        while let Some((first, hash)) = found.get(from).filter(|_| from < to) {
            let fits = text
                .get(first.start..last.end)
                .is_some_and(|window| window.chars().nth(room).is_none());
            if fits {
                break;
            }
            if let Some(count) = inside.get_mut(hash) {
                *count -= 1;
                if *count == 0 {
                    inside.remove(hash);
                }
            }
            from += 1;
        }
        let worth = (inside.len(), to + 1 - from);
        if worth > best.0
            && let Some((first, _)) = found.get(from)
        {
            best = (worth, first.start..last.end);
        }
    }
    best.1
}

/// Widens the window to the available room, more after it than before. It cuts at white space where
/// there is any.
fn widen(text: &str, window: Range<usize>, room: usize) -> Range<usize> {
    let used = text.get(window.clone()).map_or(0, |window| window.chars().count());
    let spare = room.saturating_sub(used);
    let (before, after) = text.split_at(window.end.min(text.len()));
    let before = before.get(..window.start).unwrap_or_default();
    let lead =
        before.char_indices().rev().take(spare / 3).last().map_or(window.start, |(at, _)| at);
    let led = before.get(lead..).map_or(0, |lead| lead.chars().count());
    let tail_end =
        after.char_indices().nth(spare - led).map_or(text.len(), |(at, _)| window.end + at);
    // Room that the text after the window does not need is used before it.
    let tail = text.get(window.end..tail_end).map_or(0, |tail| tail.chars().count());
    let lead =
        before.char_indices().rev().take(spare - tail).last().map_or(window.start, |(at, _)| at);
    let start = whole_words_from(text, lead, window.start);
    let end = whole_words_to(text, tail_end, window.end.max(start));
    start..end
}

/// Cuts a passage to the available room, since a single word may be longer.
fn clip(text: &str, passage: Range<usize>, room: usize) -> Range<usize> {
    let inside = text.get(passage.clone()).unwrap_or_default();
    let end = inside.char_indices().nth(room).map_or(passage.end, |(at, _)| passage.start + at);
    passage.start..end
}

fn whole_words_from(text: &str, lead: usize, window: usize) -> usize {
    let mid_word =
        text.get(..lead).is_some_and(|before| before.ends_with(|c: char| !c.is_whitespace()));
    let space = text.get(lead..window).and_then(|lead| lead.find(char::is_whitespace));
    match space {
        Some(space) if mid_word => lead + space,
        _ => lead,
    }
}

fn whole_words_to(text: &str, tail: usize, window: usize) -> usize {
    let mid_word =
        text.get(tail..).is_some_and(|after| after.starts_with(|c: char| !c.is_whitespace()));
    let space = text.get(window..tail).and_then(|tail| tail.rfind(char::is_whitespace));
    match space {
        Some(space) if mid_word => window + space,
        _ => tail,
    }
}

#[cfg(test)]
mod tests;
