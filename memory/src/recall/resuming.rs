//! Prompts that ask to go on with earlier work: "continue with the invoice export", "where did we
//! leave off?".
//!
//! Such a prompt is about what a session did, so the rows of sessions and the topics come first.
//! "Continue" or "go on" alone means the work at hand, which the model has before it.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

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

/// Earlier work that a prompt asks to go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resuming {
    /// Work on a subject that the prompt names.
    Subject,
    /// The work of the last session.
    LastSession,
}

/// Returns the earlier work that a prompt asks to go on with, if it does.
pub(super) fn resuming(prompt: &str) -> Option<Resuming> {
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
    let found = PHRASES.find_iter(&lower).filter(|found| is_whole(found.start(), found.end()));
    let last = found.map(|phrase| phrase.pattern().as_usize()).max()?;
    Some(if last < GO_ON.len() { Resuming::Subject } else { Resuming::LastSession })
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
        ] {
            assert_eq!(resuming(prompt), wanted, "{prompt}");
        }
    }
}
