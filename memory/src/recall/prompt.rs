//! Records that a good engineer would want to know of before acting on a prompt.
//!
//! Nobody asked for them, so nothing is better than noise. A search score only ranks hits within
//! one answer. Whether to give anything at all needs a measure that is comparable between prompts.
//! There are two, both from regressions over the labelled prompts of
//! `benches/data/given/ferry.json` and `coast.json`, rounded.
//!
//! The first is a record's **score**, from a conditional logistic regression over the records that
//! each prompt could be given. It uses:
//!
//! - The share of the prompt that the record has, by the rarity of the words, and how much is in
//!   one sentence.
//!
//! - The share of its title or key that the prompt contains, its rank in the search, its kind and
//!   its importance.
//!
//! The second is whether the prompt **asks** for anything that memory could know, from a logistic
//! regression. It uses:
//!
//! - The best record's score, its share of the prompt, and its key.
//!
//! - The number of telling words of the prompt that memory has.
//!
//! - The prompt's length, and whether it is about the code at hand ("this loop", "rename the
//!   variable").
//!
//! `docs/given.md` says how often records are given rightly and wrongly, including for prompts that
//! the measures were not fitted to.

use std::collections::BTreeSet;

use super::naming::{Naming, title};
use super::resuming::{Resumed, Resuming, resuming};
use super::{common_words, synonyms};
use crate::activity::ASKED;
use crate::gist::sentences;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::kinds::topic::Topic;
use crate::limits::{
    IMPORTANCE, PROMPT_CLAUSES_MAX, PROMPT_RECORDS_MAX, PROMPT_TEXT_BYTES_READ, QUERY_CHARS_MAX,
};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::{Body, Record, RecordState, SessionRow};
use crate::search::{Find, Query, Terms, Tuning};

/// The number of hits that are considered for each clause.
const CONSIDERED: usize = 20;
/// The factor on the weight of a word that replaces one of the prompt's.
const STAND_IN_SHARE: f32 = 0.6;
/// The least weight of a word that tells what a prompt is about.
const TELLING_WEIGHT: f32 = 0.42;
/// The maximum distance of a given record's score from the best one.
const SCORE_BEHIND: f32 = 4.0;
/// A prompt with fewer words than this may point at something instead of naming it.
const POINTING_WORDS: usize = 10;
/// A prompt with fewer words than this may be about nothing but the code at hand.
const AT_HAND_WORDS: usize = 20;
/// Words with which a prompt points at what is being discussed.
const POINTING: [&str; 8] = ["this", "that", "these", "those", "it", "there", "here", "them"];

/// A prompt, and the reader that it is for.
#[derive(Clone, Copy, Debug)]
pub struct PromptQuery<'a> {
    /// The reader; records that it may not see are left out.
    pub reader: &'a Reader,
    /// The text that a person wrote, or the task of a subagent.
    pub prompt: &'a str,
    /// Records whose text the model already has.
    pub given: &'a BTreeSet<RecordId>,
    /// The current time, which decides which notes have expired.
    pub now: Timestamp,
}

/// A record that has something of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The record.
    pub id: RecordId,
    /// Its score. Between two records of a prompt, the difference is the logarithm of the odds that
    /// the first is wanted rather than the second.
    pub score: f32,
    /// The values that the score is computed from.
    pub evidence: Evidence,
}

/// The parts of a prompt, or of one of its clauses, that a record has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The words as written in the prompt, each with its weight. The weight is the rarity, from 0
    /// to 1, lowered if every request has the word or if it replaces another word.
    pub words: Vec<(String, f32)>,
    /// The sum of those weights.
    pub weight: f32,
    /// `weight` divided by the weight of the clause's own words, at most 1.
    pub share: f32,
    /// The most weight that one sentence of the record has.
    pub dense: f32,
    /// The share of the key or title that the prompt has, by rarity.
    pub named: f32,
    /// Whether the record is a fact: a note with a key.
    pub is_fact: bool,
    /// Its rank, from 0, among the hits for the whole prompt, or for the first clause that found
    /// it.
    pub rank: usize,
}

/// Returns the records that have something of a prompt, best first, whether or not they are worth
/// giving.
fn candidates(memory: &Memory, of: &PromptQuery<'_>, resumed: Option<&Resumed>) -> Vec<Candidate> {
    let stop_words = common_words::stop_words(read(of.prompt));
    let prompt = read(resumed.map_or(of.prompt, |resumed| resumed.text.as_str()));
    let resuming = resumed.map(|resumed| resumed.work);
    // The last session is known without a search.
    let is_last = resuming == Some(Resuming::LastSession);
    if is_last && common_words::says_nothing(prompt, stop_words) {
        return Vec::new();
    }
    let mut clauses = sentences(prompt);
    clauses.truncate(PROMPT_CLAUSES_MAX);
    // People often name the subject in one sentence and say in the next what they want.
    let whole = [prompt];
    let clauses =
        whole.into_iter().chain(clauses.iter().copied().filter(|clause| *clause != prompt));

    let mut found: Vec<Candidate> = Vec::new();
    for clause in clauses {
        let asked = ClauseQuery::of(memory, clause, stop_words);
        for (rank, (record, terms)) in asked.hits(memory, of, resuming).into_iter().enumerate() {
            let known = found.iter().position(|known| known.id == record.id);
            let known_rank = known.and_then(|at| found.get(at)).map(|known| known.evidence.rank);
            let evidence = asked.evidence(memory, record, terms, known_rank.unwrap_or(rank));
            let favour = if is_favoured(record, resuming) { RESUMED_SCORE } else { 0.0 };
            let score = score(record, &evidence) + favour;
            let candidate = Candidate { id: record.id, score, evidence };
            match known.and_then(|at| found.get_mut(at)) {
                Some(known) if known.score < candidate.score => *known = candidate,
                Some(_) => {}
                None => found.push(candidate),
            }
        }
    }
    found.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
    found
}

/// Returns the part of a prompt that is read.
fn read(prompt: &str) -> &str {
    let end = prompt.char_indices().nth(QUERY_CHARS_MAX).map(|(end, _)| end);
    prompt.get(..end.unwrap_or(prompt.len())).unwrap_or_default()
}

/// The records for a prompt, and the reasons for the choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptChoice {
    /// The records to give, best first.
    pub given: Vec<RecordId>,
    /// The certainty that the prompt asks for something that memory could know. Below 0, nothing is
    /// given.
    pub asks: f32,
    /// The records that have something of the prompt, best first.
    pub candidates: Vec<Candidate>,
    /// The row of the last session, if the prompt means that session. It is given first, whether or
    /// not it has words of the prompt.
    pub last_session: Option<RecordId>,
}

/// Chooses the records to give with a prompt; none if it asks for nothing that memory could know.
pub fn for_prompt(memory: &Memory, of: &PromptQuery<'_>) -> PromptChoice {
    let resumed = resuming(of.prompt);
    let candidates = candidates(memory, of, resumed.as_ref());
    let is_last = resumed.is_some_and(|resumed| resumed.work == Resuming::LastSession);
    let last_session = is_last.then(|| last_row(memory, of)).flatten();
    let asks = candidates.first().map_or(0.0, |best| asks(of.prompt, best, &candidates));
    let best = candidates.first().map_or(0.0, |best| best.score);
    // A record may be found by what it was stored beside, and have no word of the prompt.
    let near = candidates.iter().filter(|it| asks >= 0.0 && it.evidence.weight > 0.0);
    let near = near.filter(|it| it.score >= best - SCORE_BEHIND);
    let near = near.map(|candidate| candidate.id).filter(|id| Some(*id) != last_session);
    let given = last_session.into_iter().chain(near).take(PROMPT_RECORDS_MAX).collect();
    PromptChoice { given, asks, candidates, last_session }
}

/// Returns the row of the session that ended last, but neither the reader's own nor one that the
/// model has. A session that only asked for the one before it does not count.
fn last_row(memory: &Memory, of: &PromptQuery<'_>) -> Option<RecordId> {
    let rows = memory.active_of(Kind::SessionRow).filter_map(|record| match &record.body {
        Body::SessionRow(row) if !of.reader.owns(&row.session) && !only_asked(row) => {
            Some((row.ended, record.id))
        }
        _ => None,
    });
    rows.max().map(|(_, id)| id).filter(|id| !of.given.contains(id))
}

/// Whether a row made by rule has nothing but one prompt that asks for earlier work: the last
/// session, or in one sentence a subject. An order to go on counts as work if it was answered.
fn only_asked(row: &SessionRow) -> bool {
    row.captured.as_ref().is_some_and(|activity| {
        let only_asks = |asked: &str| {
            let asked = asked.strip_prefix(ASKED).unwrap_or(asked);
            let stop_words = common_words::stop_words(asked);
            resuming(asked).is_some_and(|resumed| match resumed.work {
                Resuming::LastSession => common_words::says_nothing(&resumed.text, stop_words),
                Resuming::Subject => {
                    sentences(asked).len() <= 1
                        && (resumed.is_question || activity.last_message().is_none())
                }
            })
        };
        activity.prompts() == 1
            && activity.files().is_empty()
            && activity.worked().is_empty()
            && activity.row_summary().lines().next().is_some_and(only_asks)
    })
}

/// Whether a prompt that continues earlier work is about this kind of record.
fn is_favoured(record: &Record, resuming: Option<Resuming>) -> bool {
    resuming.is_some() && matches!(record.kind(), Kind::SessionRow | Kind::Topic)
}

/// The addition to the score of a topic or a session row, at a prompt that continues earlier work.
/// It makes up for what a row otherwise loses. Set by hand, since no labelled prompt is of this
/// kind.
const RESUMED_SCORE: f32 = 1.4;

/// Returns the certainty that a prompt asks for something that memory could know. `best` is the
/// first of its candidates.
fn asks(prompt: &str, best: &Candidate, candidates: &[Candidate]) -> f32 {
    let words: Vec<String> = prompt
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let has = |of: fn(&str) -> bool| words.iter().any(|word| of(word));
    let points = words.len() < POINTING_WORDS && has(|word| POINTING.contains(&word));
    let is_at_hand = words.len() < AT_HAND_WORDS && has(common_words::is_at_hand);
    let telling: BTreeSet<&str> = candidates
        .iter()
        .flat_map(|candidate| &candidate.evidence.words)
        .filter(|(_, weight)| *weight >= TELLING_WEIGHT)
        .map(|(word, _)| word.as_str())
        .collect();
    let key = if best.evidence.is_fact { best.evidence.named } else { 0.0 };
    #[expect(clippy::cast_precision_loss, reason = "a prompt has some thousand words at most")]
    let (length, telling) = (words.len() as f32, telling.len() as f32);
    0.75 * best.score
        + 3.5 * best.evidence.share
        + 4.3 * key
        + 2.0 * (1.0 + telling).ln()
        + 1.8 * (1.0 + length).ln()
        - if points { 1.8 } else { 0.0 }
        - if is_at_hand { 2.5 } else { 0.0 }
        - ASKS_BIAS
}

/// The threshold of [`asks`]. `docs/given.md` has how often a prompt that needs nothing still gets
/// a record.
const ASKS_BIAS: f32 = 10.9;

/// One clause of a prompt, or the whole prompt, as a query.
struct ClauseQuery<'a> {
    naming: Naming<'a>,
    query: Query,
    /// The weight of each term.
    weights: Vec<f32>,
    /// The number of terms that are the prompt's own; replacements follow them.
    own: usize,
}

impl<'a> ClauseQuery<'a> {
    fn of(memory: &Memory, text: &'a str, stop_words: &[&str]) -> Self {
        let own = Query::plain(text).without(|word| stop_words.contains(&word));
        let own_count = own.len();
        let mut stand_ins = synonyms::synonyms(text);
        if !stop_words.is_empty() {
            stand_ins.push_str(&memory.search().kin(&own));
        }
        let query = own.with(&stand_ins);
        let rarities = memory.search().rarities(&query);
        let weigh = |(at, (word, rarity)): (usize, (&str, f32))| {
            if at >= own_count {
                rarity * STAND_IN_SHARE
            } else {
                common_words::weight(word, rarity)
            }
        };
        let weights = query.asked().zip(rarities).enumerate().map(weigh).collect();
        Self { naming: Naming::new(text), query, weights, own: own_count }
    }

    /// Returns the best records, each with the terms that it has.
    fn hits<'m>(
        &self,
        memory: &'m Memory,
        of: &PromptQuery<'_>,
        resuming: Option<Resuming>,
    ) -> Vec<(&'m Record, Terms)> {
        let keep = |id: RecordId| may_be_given(memory.record(id)?, of, resuming).then_some(1.0);
        let find = Find {
            query: &self.query,
            tuning: &Tuning::default(),
            keep: &keep,
            limit: CONSIDERED,
            explain: true,
        };
        let covers = memory.search().cover(&find).into_iter();
        covers.filter_map(|cover| Some((&**memory.record(cover.id)?, cover.terms))).collect()
    }

    fn evidence(&self, memory: &Memory, record: &Record, terms: Terms, rank: usize) -> Evidence {
        let weights = &self.weights;
        let weight = terms.weight(weights);
        let title = title(record);
        let asked = self.query.asked().zip(weights.iter().copied()).enumerate();
        let had: Vec<(&str, f32)> =
            asked.filter(|(at, _)| terms.has(*at)).map(|(_, word)| word).collect();
        let own: f32 = weights.iter().take(self.own).sum();
        let all = own.max(f32::MIN_POSITIVE);
        let in_sentence = |sentence: &str| self.query.terms_in(sentence).weight(weights);
        let text = text(record);
        Evidence {
            words: had.iter().map(|(word, weight)| ((*word).to_owned(), *weight)).collect(),
            weight,
            share: (weight / all).min(1.0),
            dense: sentences(&text).into_iter().map(in_sentence).fold(0.0, f32::max),
            named: self.naming.share_of(memory, record, &title),
            is_fact: record.note().is_some_and(|note| note.key.is_some()),
            rank,
        }
    }
}

/// Whether a record may be given unasked: it is still valid and not in the model's context. Rows
/// made by rule quote prompts, so they would match every prompt; they count only where earlier work
/// on a subject is meant. Those of sessions that only asked for it never count. A topic that has
/// nothing but such texts has no more than their rows.
fn may_be_given(record: &Record, of: &PromptQuery<'_>, resuming: Option<Resuming>) -> bool {
    let is_row_by_rule = record.kind() == Kind::SessionRow && record.is_captured();
    let is_topic_by_rule = record.topic().is_some_and(Topic::is_by_rule);
    let is_asking = || matches!(&record.body, Body::SessionRow(row) if only_asked(row));
    record.state != RecordState::Forgotten
        && of.reader.sees(record)
        && !of.given.contains(&record.id)
        && !is_topic_by_rule
        && (!is_row_by_rule || resuming == Some(Resuming::Subject) && !is_asking())
        && !record.note().is_some_and(|note| note.is_expired(of.now))
}

fn score(record: &Record, evidence: &Evidence) -> f32 {
    let Evidence { weight, share, dense, named, is_fact, rank, .. } = *evidence;
    let importance = record.note().map_or(IMPORTANCE, |note| note.importance);
    let importance = f32::from(importance) / f32::from(IMPORTANCE) - 1.0;
    let kind = match record.kind() {
        // A lesson made by rule comes after one by an agent that says the same.
        Kind::Lesson if record.is_captured() => -1.5,
        Kind::Note if is_fact => 0.7,
        Kind::SessionRow => -1.4,
        _ => 0.0,
    };
    #[expect(clippy::cast_precision_loss, reason = "at most some dozen")]
    let place = 1.0 / (1.0 + rank as f32);
    1.7 * (weight * share).sqrt()
        + 1.45 * dense
        + 2.0 * named
        + 2.1 * place
        + 1.35 * importance
        + kind
}

/// Returns the text of a record that is compared with prompts, cut if it is long.
fn text(record: &Record) -> String {
    let mut text = record.body.fields().prompt_text();
    text.truncate(text.floor_char_boundary(PROMPT_TEXT_BYTES_READ));
    text
}
