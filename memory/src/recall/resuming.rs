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
    /// The prompt without phrases that mean the last session. Rows quote prompts, so those phrases
    /// would find the sessions that asked the same.
    pub(super) text: String,
}

/// Returns the earlier work that a prompt asks to go on with, if it does. "Where did we leave off
/// with refunds?" names a subject.
pub(super) fn resuming(prompt: &str) -> Option<Resumed> {
    static PHRASES: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(GO_ON.iter().chain(LEFT_OFF))
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
    let left_off: Vec<&Match> =
        found.iter().filter(|phrase| phrase.pattern().as_usize() >= GO_ON.len()).collect();
    if found.is_empty() {
        return None;
    }
    if left_off.is_empty() {
        return Some(Resumed { work: Resuming::Subject, text: prompt.to_owned() });
    }
    let stop_words = common_words::stop_words(&lower);
    let names_subject = |phrase: &Match| {
        let after = lower.get(phrase.end()..).unwrap_or_default().trim_start();
        let subject = WITH.iter().find_map(|with| after.strip_prefix(*with)?.strip_prefix(' '));
        let subject = subject.and_then(|text| text.split(['.', '?', '!', ';', '\n']).next());
        subject.is_some_and(|subject| !common_words::says_nothing(subject, stop_words))
    };
    let is_named = left_off.into_iter().any(names_subject);
    let work = if is_named { Resuming::Subject } else { Resuming::LastSession };
    // Where lower case has another length, the offsets are those of the lower case.
    let source = if lower.len() == prompt.len() { prompt } else { lower.as_str() };
    let (mut text, mut end) = (String::new(), 0);
    for phrase in &found {
        text.push_str(source.get(end..phrase.start()).unwrap_or_default());
        end = phrase.end();
    }
    text.push_str(source.get(end..).unwrap_or_default());
    Some(Resumed { work, text })
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
        ] {
            assert_eq!(resuming(prompt).map(|resumed| resumed.work), wanted, "{prompt}");
        }
    }

    #[test]
    fn a_phrase_that_means_the_last_session_is_not_searched_for() {
        for (prompt, text) in [
            ("Continue with the Export", "Continue with the Export"),
            ("Pick up where we left off", " where "),
            ("Where did we leave off with Refunds?", "Where  with Refunds?"),
        ] {
            assert_eq!(resuming(prompt).map(|resumed| resumed.text).as_deref(), Some(text));
        }
    }
}
