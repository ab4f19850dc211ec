//! What memory has that a good engineer would want to be told before acting on a prompt.
//!
//! Nobody asked, so nothing is better than noise. A search score ranks within one answer; whether to speak at all needs a
//! measure that is comparable between prompts. Two are taken, both as a logistic regression has them over the labelled
//! prompts of `benches/data/given/ferry.json`, rounded:
//!
//! - a record's **score**: what it has of the prompt, by the rarity of the words; how much of that stands in one sentence;
//!   whether its title or key says it; its place in the search; its kind and importance;
//! - whether the prompt **asks** for anything that memory could know: the best score, how many telling words of it memory
//!   has, its length, and whether it only points at what is being talked about ("this loop", "that file").
//!
//! How often that speaks, rightly and wrongly, also on prompts it was not fitted to: `docs/given.md`.

use std::collections::BTreeSet;

use super::naming::{Naming, title};
use super::words;
use crate::gist::sentences;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::limits::{
    IMPORTANCE, PROMPT_CLAUSES_MAX, PROMPT_RECORDS_MAX, PROMPT_TEXT_BYTES_READ, QUERY_CHARS_MAX,
};
use crate::memory::Memory;
use crate::reader::Reader;
use crate::record::{Body, Record, Standing};
use crate::search::{Find, Query, Terms, Tuning};

/// Hits of each clause that are considered.
const CONSIDERED: usize = 20;
/// Of the weight of a word that every request has, so much counts.
const COMMON_SHARE: f32 = 0.4;
/// Of the weight of a word that stands for one of the prompt's, so much counts.
const STAND_IN_SHARE: f32 = 0.6;
/// A word with at least this weight tells what a prompt is about.
const TELLING_WEIGHT: f32 = 0.42;
/// A record whose score is lower than the best one's by more than this is not given beside it.
const SCORE_BEHIND: f32 = 2.5;
/// A prompt with fewer words than this may point at something in place of saying it.
const POINTING_WORDS: usize = 10;
/// Words by which a prompt points at what is being talked about.
const POINTING: [&str; 8] = ["this", "that", "these", "those", "it", "there", "here", "them"];

/// Who asks what.
#[derive(Clone, Copy, Debug)]
pub struct PromptQuery<'a> {
    /// Who reads.
    pub reader: &'a Reader,
    /// What a person wrote, or what a subagent is asked to do.
    pub prompt: &'a str,
    /// Records whose text the model has already.
    pub given: &'a BTreeSet<RecordId>,
    /// Tells what has expired.
    pub now: Timestamp,
}

/// A record that has something of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The record.
    pub id: RecordId,
    /// Comparable between prompts: the logarithm of the odds that it is wanted.
    pub score: f32,
    /// What the score is made of.
    pub evidence: Evidence,
}

/// What a record has of a prompt, or of one clause of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The words as they were asked, and what each weighs: its rarity from 0 to 1, less where every request has it.
    pub words: Vec<(String, f32)>,
    /// The sum of that.
    pub weight: f32,
    /// That by the rarities of all words of the clause.
    pub share: f32,
    /// Of `weight`, what one sentence of the record has.
    pub dense: f32,
    /// Of `weight`, what the record's key or title has.
    pub title: f32,
    /// Which part of the key or title the prompt has, by rarity.
    pub named: f32,
    /// The rarity of the rarest word that it has.
    pub rarest: f32,
    /// Its place among the hits for the prompt as a whole, from 0.
    pub rank: usize,
}

/// Records that have something of a prompt, the best first, whether or not they are worth saying.
pub fn candidates(memory: &Memory, of: &PromptQuery<'_>) -> Vec<Candidate> {
    let read = of.prompt.char_indices().nth(QUERY_CHARS_MAX).map(|(end, _)| end);
    let prompt = of.prompt.get(..read.unwrap_or(of.prompt.len())).unwrap_or_default();
    let stop_words = words::stop_words(prompt);
    let mut clauses = sentences(prompt);
    clauses.truncate(PROMPT_CLAUSES_MAX);
    // People say in one sentence what it is about and in the next what they want.
    let whole = [prompt];
    let clauses =
        whole.into_iter().chain(clauses.iter().copied().filter(|clause| *clause != prompt));

    let mut found: Vec<Candidate> = Vec::new();
    for clause in clauses {
        let asked = Asked::of(memory, clause, stop_words);
        for (rank, (record, terms)) in asked.hits(memory, of).into_iter().enumerate() {
            let known = found.iter().position(|known| known.id == record.id);
            let known_rank = known.and_then(|at| found.get(at)).map(|known| known.evidence.rank);
            let evidence = asked.evidence(memory, record, terms, known_rank.unwrap_or(rank));
            let candidate = Candidate { id: record.id, score: score(record, &evidence), evidence };
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

/// The records that a prompt is given, the best first; none where it asks for nothing that memory could know.
pub fn for_prompt(memory: &Memory, of: &PromptQuery<'_>) -> Vec<RecordId> {
    let candidates = candidates(memory, of);
    let Some(best) = candidates.first().map(|best| best.score) else { return Vec::new() };
    if asks(of.prompt, &candidates) < 0.0 {
        return Vec::new();
    }
    let near = candidates.iter().filter(|candidate| candidate.score >= best - SCORE_BEHIND);
    near.map(|candidate| candidate.id).take(PROMPT_RECORDS_MAX).collect()
}

/// How surely a prompt asks for something that memory could know; above 0 it more likely does than not. `candidates` are
/// those of [`candidates`].
pub fn asks(prompt: &str, candidates: &[Candidate]) -> f32 {
    let words: Vec<String> = prompt
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let points =
        words.len() < POINTING_WORDS && words.iter().any(|word| POINTING.contains(&word.as_str()));
    let telling: BTreeSet<&str> = candidates
        .iter()
        .flat_map(|candidate| &candidate.evidence.words)
        .filter(|(_, weight)| *weight >= TELLING_WEIGHT)
        .map(|(word, _)| word.as_str())
        .collect();
    let best = candidates.first().map_or(f32::MIN, |best| best.score);
    #[expect(clippy::cast_precision_loss, reason = "a prompt has some thousand words at most")]
    let (length, telling) = (words.len() as f32, telling.len() as f32);
    let pointing = if points { 2.6 } else { 0.0 };
    1.6 * best + 1.2 * (1.0 + length).ln() + 1.4 * (1.0 + telling).ln() - pointing - ASKS_BIAS
}

/// Chosen so that of 20 prompts that need nothing at most one is given something.
const ASKS_BIAS: f32 = 1.75;

/// One clause of a prompt, or all of it.
struct Asked<'a> {
    naming: Naming<'a>,
    query: Query,
    /// What each term weighs.
    weights: Vec<f32>,
    /// How many of the terms are the prompt's own.
    own: usize,
}

impl<'a> Asked<'a> {
    fn of(memory: &Memory, text: &'a str, stop_words: &[&str]) -> Self {
        let own = Query::told(text).without(|word| stop_words.contains(&word));
        let own_count = own.len();
        let mut stand_ins = words::synonyms(text);
        if !stop_words.is_empty() {
            stand_ins.push_str(&memory.search().kin(&own));
        }
        let query = own.with(&stand_ins);
        let rarities = memory.search().rarities(&query);
        let weigh = |(at, (word, rarity)): (usize, (&str, f32))| {
            let share = if at >= own_count {
                STAND_IN_SHARE
            } else if words::is_common(word) {
                COMMON_SHARE
            } else {
                1.0
            };
            rarity * share
        };
        let weights = query.asked().zip(rarities).enumerate().map(weigh).collect();
        Self { naming: Naming::new(text), query, weights, own: own_count }
    }

    /// The best records, and the terms that they have.
    fn hits<'m>(&self, memory: &'m Memory, of: &PromptQuery<'_>) -> Vec<(&'m Record, Terms)> {
        let keep = |id: RecordId| may_be_given(memory.record(id)?, of).then_some(1.0);
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
            title: self.query.terms_in(&title).weight(weights),
            named: self.naming.share_of(memory, record, &title),
            rarest: had.iter().map(|(_, rarity)| *rarity).fold(0.0, f32::max),
            rank,
        }
    }
}

/// Whether a record may be given unasked: it holds, and is not in the model's context. Rows made by rule quote prompts, so
/// they are about every prompt.
fn may_be_given(record: &Record, of: &PromptQuery<'_>) -> bool {
    record.standing != Standing::Forgotten
        && of.reader.sees(record)
        && !of.given.contains(&record.id)
        && !(record.kind() == Kind::SessionRow && record.is_captured())
        && !record.note().is_some_and(|note| note.is_expired(of.now))
}

fn score(record: &Record, evidence: &Evidence) -> f32 {
    let Evidence { weight, share, dense, title, named, rank, .. } = *evidence;
    let note = record.note();
    let is_fact = note.is_some_and(|note| note.key.is_some());
    let importance = f32::from(note.map_or(IMPORTANCE, |note| note.importance));
    let importance = (importance - f32::from(IMPORTANCE)) / f32::from(IMPORTANCE);
    let kind = match record.kind() {
        // What nobody wrote comes behind what says the same.
        Kind::Lesson if record.is_captured() => -1.5,
        Kind::Note if is_fact => 0.7 + 1.3 * named,
        Kind::SessionRow => -0.4,
        _ => 0.0,
    };
    #[expect(clippy::cast_precision_loss, reason = "at most some dozen")]
    let place = 1.0 / (1.0 + rank as f32);
    0.75 * (weight * share).sqrt()
        + 0.75 * weight * share
        + 1.4 * dense
        + 0.5 * title
        + 1.9 * named
        + 2.2 * place
        + 1.4 * importance
        + kind
        - 5.8
}

/// What a record says, as far as it is read here.
fn text(record: &Record) -> String {
    let mut text = match &record.body {
        Body::Blueprint(blueprint) => format!("{}. {}", blueprint.title, blueprint.content),
        Body::Lesson(lesson) => format!("{}. {}", lesson.summary, lesson.detail),
        Body::Note(note) => {
            let key = note.key.as_deref().unwrap_or_default();
            format!("{key} {} {}", note.summary, note.content)
        }
        Body::Anchor(anchor) => format!("{} {}", anchor.file, anchor.concept),
        Body::Topic(topic) => format!("{}. {}", topic.name, topic.status),
        Body::SessionRow(row) => row.summary.clone(),
    };
    text.truncate(text.floor_char_boundary(PROMPT_TEXT_BYTES_READ));
    text
}
