//! Quality of rankings over many questions.

use std::fmt;

use super::dataset::Question;

/// Sums over questions. They are divided when they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Score {
    pub questions: usize,
    recall: [f64; KS.len()],
    hit: [f64; KS.len()],
    reciprocal: f64,
    precision_at_5: f64,
}

/// The numbers of hits at which recall and hits are measured.
pub(crate) const KS: [usize; 3] = [1, 5, 10];
/// The depth to which a ranking is searched for the first answer.
pub(crate) const DEEPEST: usize = 10;

impl Score {
    /// Adds a question and its ranking: note numbers, best first.
    pub(crate) fn add(&mut self, question: &Question, ranking: &[usize]) {
        let is_answer = |note: &&usize| question.evidence.contains(note);
        self.questions += 1;
        for ((k, recall), hit) in KS.iter().zip(&mut self.recall).zip(&mut self.hit) {
            let found = ranking.iter().take(*k).filter(is_answer).count();
            *recall += share(found, question.evidence.len());
            *hit += f64::from(found > 0);
        }
        let first = ranking.iter().take(DEEPEST).position(|note| is_answer(&note));
        self.reciprocal += first.map_or(0.0, |at| share(1, at + 1));
        self.precision_at_5 += share(ranking.iter().take(5).filter(is_answer).count(), 5);
    }

    /// Adds another score's questions.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.questions += other.questions;
        for (sum, more) in self.recall.iter_mut().zip(other.recall) {
            *sum += more;
        }
        for (sum, more) in self.hit.iter_mut().zip(other.hit) {
            *sum += more;
        }
        self.reciprocal += other.reciprocal;
        self.precision_at_5 += other.precision_at_5;
    }

    /// Returns the share of the answers that are among the first `k`, averaged over questions.
    pub(crate) fn recall(&self, k: usize) -> f64 {
        self.mean(
            KS.iter().zip(self.recall).find(|(known, _)| **known == k).map_or(0.0, |(_, sum)| sum),
        )
    }

    /// Returns the share of questions with an answer among the first `k`.
    pub(crate) fn hit(&self, k: usize) -> f64 {
        self.mean(
            KS.iter().zip(self.hit).find(|(known, _)| **known == k).map_or(0.0, |(_, sum)| sum),
        )
    }

    /// Returns the mean reciprocal rank of the first answer, where a rank beyond the tenth counts
    /// as 0.
    pub(crate) fn mrr(&self) -> f64 {
        self.mean(self.reciprocal)
    }

    /// Returns the share of answers among the first five.
    pub(crate) fn precision_at_5(&self) -> f64 {
        self.mean(self.precision_at_5)
    }

    /// Returns the header of a table of scores.
    pub(crate) fn head() -> &'static str {
        "| what | questions | recall@1 | recall@5 | recall@10 | hit@1 | hit@5 | MRR | precision@5 |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    }

    fn mean(&self, sum: f64) -> f64 {
        if self.questions == 0 { 0.0 } else { sum / float(self.questions) }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.questions)?;
        for figure in [
            self.recall(1),
            self.recall(5),
            self.recall(10),
            self.hit(1),
            self.hit(5),
            self.mrr(),
            self.precision_at_5(),
        ] {
            write!(f, " | {figure:.3}")?;
        }
        Ok(())
    }
}

fn share(part: usize, whole: usize) -> f64 {
    float(part) / float(whole)
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("a few thousand questions"))
}
