//! Irregular verbs, whose forms a stemmer cannot unite. A record and a query often use different
//! tenses.
//!
//! Forms that are also words with forms of their own are deliberately absent (`left`, `bound`,
//! `bit`, `thought`, `led`). With them, `bounds` would no longer find `bound`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Each verb, followed by its other forms.
const VERBS: &str = "\
    arise arose arisen, awake awoke awoken, become became, begin began begun, bend bent, bite bitten, bleed bled, \
    blow blew blown, break broke broken, breed bred, bring brought, build built, buy bought, catch caught, \
    choose chose chosen, cling clung, come came, creep crept, deal dealt, dig dug, draw drew drawn, \
    drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, \
    find found, flee fled, fly flew flown, forbid forbade forbidden, forget forgot forgotten, \
    forgive forgave forgiven, freeze froze frozen, get got gotten, give gave given, go went gone, grow grew grown, \
    hang hung, hear heard, hide hid hidden, hold held, keep kept, kneel knelt, know knew known, lay laid, lend lent, \
    light lit, lose lost, make made, mean meant, meet met, mistake mistook mistaken, outgrow outgrew outgrown, \
    overcome overcame, override overrode overridden, overwrite overwrote overwritten, pay paid, rebuild rebuilt, \
    redo redid redone, redraw redrew redrawn, rerun reran, rewrite rewrote rewritten, ride rode ridden, \
    ring rang rung, run ran, say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken, \
    shine shone, show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid, \
    speak spoke spoken, spend spent, spin spun, spring sprang sprung, stand stood, steal stole stolen, stick stuck, \
    sting stung, strike struck, strive strove striven, swear swore sworn, sweep swept, swim swam swum, swing swung, \
    take took taken, teach taught, tear tore torn, tell told, throw threw thrown, understand understood, \
    undertake undertook undertaken, undo undid undone, wake woke woken, wear wore worn, weave wove woven, weep wept, \
    win won, withdraw withdrew withdrawn, withhold withheld, write wrote written";

/// Returns the form that a lower-case word is stemmed as: an irregular verb's infinitive, or the
/// word itself.
pub(super) fn infinitive(word: &str) -> &str {
    static INFINITIVES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
        let verb = |verb: &'static str| {
            let mut forms = verb.split_whitespace();
            let infinitive = forms.next().unwrap_or_default();
            forms.map(move |form| (form, infinitive))
        };
        VERBS.split(',').flat_map(verb).collect()
    });
    INFINITIVES.get(word).copied().unwrap_or(word)
}

#[cfg(test)]
mod tests;
