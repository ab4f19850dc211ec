//! Explanations of why a prompt or a file is given certain records and no others, for people who
//! look after a memory.

use super::hooks::{FileContext, PromptContext, RenderedContext, file_context, prompt_context};
use super::{append, loaded};
use crate::audience::Audience;
use crate::ids::{RecordId, SessionId};
use crate::limits::WHY_CANDIDATES_MAX;
use crate::memory::Memory;
use crate::recall::{Candidate, PromptChoice, PromptQuery, for_prompt};

/// Renders what a new conversation is given at a prompt, with each candidate's score and the parts
/// of that score.
pub fn why_prompt(memory: &Memory, of: &PromptQuery<'_>) -> RenderedContext {
    let nobody = SessionId::new("");
    let PromptQuery { reader, prompt, given, now } = *of;
    let context =
        PromptContext { reader, session: &nobody, prompt: Some(prompt), since: None, given, now };
    let rendered = prompt_context(memory, &context);
    let text = &rendered.text;
    let PromptChoice { given: chosen, asks, candidates, last_session } = for_prompt(memory, of);
    let candidates = with_words(candidates);
    let mut why = String::new();
    if candidates.is_empty() && last_session.is_none() {
        let why = "Nothing is given: no record has a word of this prompt.\n";
        return RenderedContext { text: why.to_owned(), ..rendered };
    }
    if chosen.is_empty() {
        append(
            &mut why,
            format_args!(
                "Nothing is given: this prompt does not seem to ask for anything in memory (score \
                 {asks:.1}; it takes 0).\n"
            ),
        );
    } else if last_session.is_some() {
        append(
            &mut why,
            format_args!(
                "{}\nThis prompt goes on with the last session, so that session comes first.\n",
                text.trim_end()
            ),
        );
    } else {
        append(
            &mut why,
            format_args!(
                "{}\nThis prompt seems to ask for something in memory (score {asks:.1}; it takes \
                 0).\n",
                text.trim_end()
            ),
        );
    }
    for (head, is_given) in [("Given:", true), ("Not given:", false)] {
        let of_these =
            candidates.iter().filter(|candidate| chosen.contains(&candidate.id) == is_given);
        let lines: Vec<String> =
            of_these.take(WHY_CANDIDATES_MAX).filter_map(|it| candidate(memory, it)).collect();
        if !lines.is_empty() {
            append(&mut why, format_args!("\n{head}\n{}\n", lines.join("\n")));
        }
    }
    RenderedContext { text: why, ..rendered }
}

/// Renders what a new conversation is given before it reads or edits a file.
pub fn why_file(memory: &Memory, of: &FileContext<'_>) -> RenderedContext {
    let rendered = file_context(memory, of);
    if rendered.text.is_empty() {
        let why = format!("Nothing is given: no record names {} or its directory.\n", of.file);
        return RenderedContext { text: why, ..rendered };
    }
    rendered
}

/// Renders what a session is shown at its start, whatever the prompt. Empty if that is nothing.
pub fn why_start(shown: &[RecordId], audience: &Audience) -> String {
    if shown.is_empty() {
        return String::new();
    }
    let named: Vec<String> =
        shown.iter().take(WHY_CANDIDATES_MAX).map(ToString::to_string).collect();
    let more = match shown.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "\nA session's start shows these without a prompt ({}): {}{more}.\n",
        audience.command(&["load"]),
        named.join(", ")
    )
}

/// Returns the candidates that have a word of the prompt. What is stored beside such a record may
/// have none, and is not given.
fn with_words(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.retain(|candidate| !candidate.evidence.words.is_empty());
    candidates
}

/// Renders a candidate's title, its score and the parts of that score.
fn candidate(memory: &Memory, candidate: &Candidate) -> Option<String> {
    let record = memory.record(candidate.id)?;
    let evidence = &candidate.evidence;
    let words: Vec<String> =
        evidence.words.iter().map(|(word, weight)| format!("{word} {weight:.2}")).collect();
    Some(format!(
        "{}\n  score {:.2}: {}; {:.0} % of the prompt, {:.2} in one sentence, {:.0} % of the title, place {}",
        loaded::title(record),
        candidate.score,
        words.join(", "),
        evidence.share * 100.0,
        evidence.dense,
        evidence.named * 100.0,
        evidence.rank + 1,
    ))
}

#[cfg(test)]
mod tests;
