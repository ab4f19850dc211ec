//! Prompts that ask to go on with earlier work: "continue with the invoice export", "where did we
//! leave off?".
//!
//! Such a prompt is about what a session did, so the rows of sessions and the topics come first.
//! "Continue" or "go on" alone means the work at hand, which the model has before it.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind};

use super::common_words;

/// Phrases that name the subject of earlier work next.
const GO_ON: &[&str] = &[
    "carry on with",
    "continue on",
    "continue the work on",
    "continue to work on",
    "continue with",
    "continue work on",
    "continue working on",
    "get back to",
    "go back to",
    "go on with",
    "keep going with",
    "keep working on",
    "pick up",
    "proceed with",
    "resume",
    "resume work on",
    "weiter an",
    "weiter mit",
    "weiterarbeiten an",
    "weitermachen mit",
    "zurück zu",
    "continúa con",
    "continua con",
    "continuamos con",
    "continuemos con",
    "sigamos con",
    "sigue con",
    "seguimos con",
    "volvamos a",
    "continue avec",
    "continuer avec",
    "continuons avec",
    "reprenons",
    "reprends",
    "revenons à",
];

/// Questions that name the subject of earlier work next.
const OPEN: &[&str] = &[
    "what is left to do for",
    "what is left to do on",
    "what is still open for",
    "what is still open on",
    "what is still open with",
    "what's left to do for",
    "what's left to do on",
    "what's still open for",
    "what's still open on",
    "what's still open with",
    "where are we with",
    "where do we stand on",
    "where do we stand with",
    "was fehlt noch bei",
    "was fehlt noch beim",
    "was ist noch offen bei",
    "was ist noch offen beim",
    "was ist noch zu tun bei",
    "was ist noch zu tun beim",
    "wo stehen wir bei",
    "wo stehen wir beim",
    "wo stehen wir mit",
    "por dónde vamos con",
    "qué falta por hacer en",
    "qué queda pendiente de",
    "qué queda pendiente en",
    "qué queda por hacer en",
    "où en est-on avec",
    "où en sommes-nous avec",
    "qu'est-ce qui reste à faire sur",
    "que reste-t-il à faire sur",
];

/// Phrases that mean the last session.
const LEFT_OFF: &[&str] = &[
    "did we leave off",
    "did we stop",
    "i left off",
    "last session",
    "previous session",
    "the other day",
    "we did last",
    "we left off",
    "we stopped",
    "we were last time",
    "were we doing",
    "were we working on",
    "letzte sitzung",
    "letzten sitzung",
    "stehen geblieben",
    "stehengeblieben",
    "waren wir gerade",
    "wir aufgehört",
    "donde lo dejamos",
    "dónde lo dejamos",
    "en qué estábamos",
    "la sesión anterior",
    "la última sesión",
    "la dernière session",
    "où en était-on",
    "où on en était",
    "où nous en étions",
    "où nous nous sommes arrêtés",
];

/// Words that name a subject just after a phrase of [`LEFT_OFF`].
const WITH: &[&str] = &["with", "mit", "con", "avec"];

/// Words that name a subject before such a phrase, where the verb comes last.
const BEFORE: &[&str] = &[" bei ", " beim ", " mit "];

/// Words after which a phrase is still the beginning of a request.
const POLITE: &[&str] = &["bitte", "let's", "please"];

/// Words at the end of a request that say nothing about its subject.
const FILLERS: &[&str] = &[" again", " bitte", " please", " wieder", " work"];

/// Earlier work that a prompt asks to go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resuming {
    /// Work on a subject that the prompt names.
    Subject,
    /// The work of the last session.
    LastSession,
}

/// A prompt that asks to go on with earlier work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resumed {
    /// The work.
    pub(super) work: Resuming,
    /// Whether the prompt asks how far the work is, and does not order more of it.
    pub(super) is_question: bool,
    /// The prompt without the phrases that ask this. Rows quote prompts, so those phrases would
    /// find the sessions that asked the same.
    pub(super) text: String,
}

/// Returns the earlier work that a prompt asks to go on with, if it does. "Where did we leave off
/// with refunds?" names a subject.
pub(super) fn resuming(prompt: &str) -> Option<Resumed> {
    static PHRASES: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(GO_ON.iter().chain(OPEN).chain(LEFT_OFF))
            .expect("the phrases are short")
    });
    let lower = prompt.to_lowercase();
    let is_whole = |start: usize, end: usize| {
        let before = lower.get(..start).and_then(|text| text.chars().next_back());
        let after = lower.get(end..).and_then(|text| text.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    };
    let whole = |phrase: &Match| is_whole(phrase.start(), phrase.end());
    let found: Vec<Match> = PHRASES.find_iter(&lower).filter(whole).collect();
    let is_from = |phrase: &Match, first: usize| phrase.pattern().as_usize() >= first;
    let left_off: Vec<&Match> =
        found.iter().filter(|phrase| is_from(phrase, GO_ON.len() + OPEN.len())).collect();
    let is_question = found.iter().any(|phrase| is_from(phrase, GO_ON.len()));
    if found.is_empty() {
        return None;
    }
    // Where lower case has another length, the offsets are those of the lower case.
    let source = if lower.len() == prompt.len() { prompt } else { lower.as_str() };
    let stop_words = common_words::stop_words(&lower);
    if left_off.is_empty() {
        let asks = |phrase: &&Match| is_question || begins_request(&lower, phrase.start());
        let rest = found.first().filter(asks).map(|phrase| without(source, [phrase]));
        let subject = rest.as_deref().map(without_fillers);
        let subject = subject.filter(|text| !common_words::says_nothing(text, stop_words));
        let text = subject.unwrap_or(prompt).to_owned();
        return Some(Resumed { work: Resuming::Subject, is_question, text });
    }
    let names_subject = |phrase: &Match| {
        let after = lower.get(phrase.end()..).unwrap_or_default().trim_start();
        let subject = WITH.iter().find_map(|with| after.strip_prefix(*with)?.strip_prefix(' '));
        let subject = subject.and_then(|text| text.split(ENDS).next());
        let before = lower.get(..phrase.start()).unwrap_or_default();
        let before = before.rsplit(ENDS).next().unwrap_or_default();
        let before = BEFORE.iter().filter_map(|word| before.rsplit_once(*word));
        let before = before.map(|(_, subject)| subject);
        subject
            .into_iter()
            .chain(before)
            .any(|subject| !common_words::says_nothing(subject, stop_words))
    };
    let is_named = left_off.into_iter().any(names_subject);
    let work = if is_named { Resuming::Subject } else { Resuming::LastSession };
    Some(Resumed { work, is_question, text: without(source, &found) })
}

/// Characters that end a sentence or a part of it.
const ENDS: [char; 5] = ['.', '?', '!', ';', '\n'];

/// Returns a text without these phrases.
fn without<'a>(source: &str, phrases: impl IntoIterator<Item = &'a Match>) -> String {
    let (mut text, mut end) = (String::new(), 0);
    for phrase in phrases {
        text.push_str(source.get(end..phrase.start()).unwrap_or_default());
        end = phrase.end();
    }
    text.push_str(source.get(end..).unwrap_or_default());
    text
}

/// Whether a request begins at this place: "the worker should pick up" is no request.
fn begins_request(lower: &str, at: usize) -> bool {
    let before = lower.get(..at).unwrap_or_default().trim_end();
    before.is_empty()
        || before.ends_with(|c: char| c.is_ascii_punctuation())
        || POLITE.iter().any(|word| before.ends_with(word))
}

/// Returns a request without the words at its end that say nothing about the subject.
fn without_fillers(text: &str) -> &str {
    let mut text = text.trim_end_matches(|c: char| c.is_whitespace() || ENDS.contains(&c));
    while let Some(rest) = FILLERS.iter().find_map(|word| text.strip_suffix(*word)) {
        text = rest.trim_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_a_subject_is_told_from_the_last_session_and_from_the_work_at_hand() {
        for (prompt, wanted) in [
            ("Continue with the invoice export", Some(Resuming::Subject)),
            ("ok, go on with: refunds. Run the tests first.", Some(Resuming::Subject)),
            ("Mach weiter mit dem Export", Some(Resuming::Subject)),
            ("SIGUE CON LAS FACTURAS", Some(Resuming::Subject)),
            ("continue where we left off", Some(Resuming::LastSession)),
            ("Pick up where we stopped", Some(Resuming::LastSession)),
            ("Wo haben wir aufgehört?", Some(Resuming::LastSession)),
            ("EN QUÉ ESTÁBAMOS", Some(Resuming::LastSession)),
            ("continue", None),
            ("go on", None),
            ("mach weiter", None),
            ("presume nothing about resumes", None),
            ("Where did we leave off with refunds?", Some(Resuming::Subject)),
            ("where did we leave off with this? Fix the refunds", Some(Resuming::LastSession)),
            ("wo waren wir gerade mit dem Export?", Some(Resuming::Subject)),
            ("where we left off, with less noise", Some(Resuming::LastSession)),
            ("pick up the refunds work again", Some(Resuming::Subject)),
            ("wo sind wir bei refunds stehengeblieben?", Some(Resuming::Subject)),
            ("Wo sind wir stehengeblieben?", Some(Resuming::LastSession)),
            ("what is still open on the logout?", Some(Resuming::Subject)),
            ("Was ist noch offen beim Export?", Some(Resuming::Subject)),
            ("¿Qué queda pendiente de las facturas?", Some(Resuming::Subject)),
            ("Que reste-t-il à faire sur les factures ?", Some(Resuming::Subject)),
            ("which ports are still open on the server?", None),
            ("what is still open in the editor", None),
            ("welche Tickets sind noch offen?", None),
            ("qué queda en la cola", None),
            ("que reste-t-il dans la file ?", None),
        ] {
            assert_eq!(resuming(prompt).map(|resumed| resumed.work), wanted, "{prompt}");
        }
    }

    #[test]
    fn a_phrase_that_goes_on_with_earlier_work_is_not_searched_for() {
        for (prompt, text) in [
            ("Continue with the Export", " the Export"),
            ("please pick up the Refunds work again.", "please  the Refunds"),
            ("The worker should pick up jobs again", "The worker should pick up jobs again"),
            ("What is still open on the logout?", " the logout"),
            ("Pick up where we left off", " where "),
            ("Where did we leave off with Refunds?", "Where  with Refunds?"),
        ] {
            assert_eq!(resuming(prompt).map(|resumed| resumed.text).as_deref(), Some(text));
        }
    }
}
