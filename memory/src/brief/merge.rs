//! Checks a state that an agent or a model made of a brief and a text, and says what to write.
//!
//! Nothing leaves the brief unless the text names it: questions, answers, files and recent changes
//! stay, and no description is lost. Only the texts that the state was made of count, and for a
//! decision only those that are newer.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Brief;
use super::state::{ChangeForm, DecisionState, DecisionStatus, StateForm};
use crate::files::normalise;
use crate::fold::{clip, fold, names_path, one_line, path_mentions, substance};
use crate::ids::{Timestamp, Version};
use crate::intake::WriteLimits;
use crate::kinds::StagedItem;
use crate::kinds::topic::{HistoryLine, Topic, TopicDecision, TopicPart, topic_key};
use crate::limits::LOSS_CHARS_MAX;

/// A merge that may be written: what it adds to the brief, and what the text took out by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BriefMerge {
    /// The version that it was made from. Another one must not be overwritten.
    pub version: Version,
    /// The part to write.
    pub part: TopicPart,
    /// Whether the current task ends without another one.
    pub ends_task: bool,
    /// The active files that are no longer active.
    pub files_left: Vec<String>,
}

/// A text that a state was made of.
#[derive(Clone, Copy, Debug)]
pub struct MergedText<'a> {
    /// The text.
    pub text: &'a str,
    /// The time at which it was stored; `None` if it comes with the state.
    pub stored: Option<Timestamp>,
}

/// The end of a merge of a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeEnd {
    /// It was written.
    Done,
    /// The brief is at another version by now, so nothing of it was written.
    Stale,
}

/// A reason why a state is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The text is not a state.
    Form(String),
    /// It was made from another version.
    Version {
        /// The version that it names.
        made_from: Version,
        /// The newest one.
        newest: Version,
    },
    /// It has the id of another project.
    Project(String),
    /// A question is missing.
    Question(String),
    /// A decided question is pending.
    Reopened(String),
    /// An answer is missing, or differs from the one so far without a newer text that has it.
    Answer {
        /// The question.
        question: String,
        /// The answer so far; `None` if the question was open.
        so_far: Option<String>,
    },
    /// A file that exists is missing, and the text does not name it.
    File(String),
    /// A recent change is missing.
    Change(String),
    /// The time or the files of a recent change are others.
    Altered(String),
    /// A description is missing.
    Emptied(&'static str),
    /// A description has less than half of its characters.
    Shortened {
        /// The field.
        field: &'static str,
        /// Its characters so far.
        so_far: usize,
        /// Its characters in the state.
        chars: usize,
    },
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |text: &str| clip(&one_line(text), LOSS_CHARS_MAX);
        match self {
            Self::Form(why) => write!(f, "state {}", cut(why)),
            Self::Version { made_from, newest } => {
                write!(f, "meta.version is {}, the brief is at version {}", made_from.0, newest.0)
            }
            Self::Project(id) => write!(f, "meta.session_id is another one: {}", cut(id)),
            Self::Question(question) => write!(f, "the question is missing: {}", cut(question)),
            Self::Reopened(question) => {
                write!(f, "the question was decided and is pending: {}", cut(question))
            }
            Self::Answer { question, so_far: None } => {
                write!(f, "the question is decided without a decision: {}", cut(question))
            }
            Self::Answer { question, so_far: Some(answer) } => write!(
                f,
                "the decision is missing or another one, which no newer text says: {} was {}",
                cut(question),
                cut(answer)
            ),
            Self::File(file) => write!(
                f,
                "the active file is missing, and the text does not name it: {}",
                cut(file)
            ),
            Self::Change(summary) => write!(f, "the recent change is missing: {}", cut(summary)),
            Self::Altered(summary) => {
                write!(f, "the recent change has another time or other files: {}", cut(summary))
            }
            Self::Emptied(field) => write!(f, "{field} is empty"),
            Self::Shortened { field, so_far, chars } => write!(
                f,
                "{field} has {chars} of {so_far} characters; \"replaces\": true in the state allows that"
            ),
        }
    }
}

impl Brief {
    /// Checks a state that was made of this brief and of texts, and returns what it changes. `name`
    /// is the topic's.
    ///
    /// # Errors
    /// Returns everything that is missing in the state. Nothing of it is to be written then.
    pub fn merge(
        &self,
        name: &str,
        state: &Value,
        texts: &[MergedText<'_>],
    ) -> Result<BriefMerge, Vec<Loss>> {
        let state: StateForm = read(state).map_err(|why| vec![Loss::Form(why)])?;
        let mut check = Check {
            brief: self,
            texts,
            losses: Vec::new(),
            merge: BriefMerge { version: self.version, ..BriefMerge::default() },
        };
        check.merge.part.name = Some(name.to_owned());
        check.meta(&state);
        let described = &state.project_context;
        check.merge.part.overview =
            check.description("overview", &self.topic.overview, &described.overview, &state);
        check.merge.part.architecture = check.description(
            "architecture",
            &self.topic.architecture,
            &described.architecture,
            &state,
        );
        check.changes(&described.recent_changes);
        check.task(&state.active_context.current_task);
        check.files(&state.active_context.active_files);
        check.decisions(&state.active_context.active_decisions);
        if let Err(refusal) =
            TopicPart::accept(vec![check.merge.part.clone()], &WriteLimits::default())
        {
            check.losses.push(Loss::Form(refusal.to_string()));
        }
        if check.losses.is_empty() { Ok(check.merge) } else { Err(check.losses) }
    }
}

impl BriefMerge {
    /// Takes out of the topic what the text took out by name.
    pub(crate) fn take_out(&self, topic: &mut Topic) {
        topic.files.retain(|file| !self.files_left.contains(file));
        if self.ends_task {
            topic.status.clear();
        }
    }
}

/// Reads a state: an object, or the text of one.
fn read(state: &Value) -> Result<StateForm, String> {
    let read = match state {
        Value::String(text) => serde_json::from_str(text),
        state => StateForm::deserialize_from(state),
    };
    read.map_err(|error| format!("cannot be read: {error}"))
}

impl StateForm {
    fn deserialize_from(state: &Value) -> Result<Self, serde_json::Error> {
        Deserialize::deserialize(state)
    }
}

/// A check in progress.
struct Check<'a> {
    brief: &'a Brief,
    texts: &'a [MergedText<'a>],
    losses: Vec<Loss>,
    merge: BriefMerge,
}

impl Check<'_> {
    fn meta(&mut self, state: &StateForm) {
        let newest = self.brief.version;
        match state.meta.version.map(Version) {
            None => self.losses.push(Loss::Form("has no meta.version".to_owned())),
            Some(made_from) if made_from != newest => {
                self.losses.push(Loss::Version { made_from, newest });
            }
            Some(_) => {}
        }
        if let Some(id) = &state.meta.session_id
            && *id != self.brief.project
        {
            self.losses.push(Loss::Project(id.clone()));
        }
    }

    /// Returns the new text of a description, if it differs.
    fn description(
        &mut self,
        field: &'static str,
        so_far: &str,
        new: &str,
        state: &StateForm,
    ) -> Option<String> {
        let (so_far, new) = (so_far.trim(), new.trim());
        if new == so_far {
            return None;
        }
        let (before, after) = (so_far.chars().count(), new.chars().count());
        if after == 0 {
            self.losses.push(Loss::Emptied(field));
        } else if after * 2 < before && !state.replaces {
            self.losses.push(Loss::Shortened { field, so_far: before, chars: after });
        }
        Some(new.to_owned())
    }

    fn changes(&mut self, changes: &[ChangeForm]) {
        for known in self.brief.changes() {
            let same: Vec<&ChangeForm> = changes.iter().filter(|new| is_same(new, known)).collect();
            let is_whole = |new: &ChangeForm| {
                new.time() == Some(known.time) && file_set(&new.files) == file_set(&known.files)
            };
            if same.is_empty() {
                self.losses.push(Loss::Change(known.text.clone()));
            } else if !same.iter().any(|new| is_whole(new)) {
                self.losses.push(Loss::Altered(known.text.clone()));
            }
        }
        // A change keeps its time only if it is known: nobody else knows when it was.
        let is_known =
            |new: &&ChangeForm| self.brief.topic.history.iter().any(|known| is_same(new, known));
        let new = changes.iter().filter(|new| !is_known(new)).map(|new| HistoryLine {
            files: new.files.clone(),
            ..HistoryLine::written(new.summary.clone())
        });
        self.merge.part.history = new.collect();
    }

    fn task(&mut self, task: &str) {
        let (so_far, task) = (self.brief.topic.status.trim(), task.trim());
        if task != so_far {
            self.merge.part.status = Some(task.to_owned()).filter(|task| !task.is_empty());
            self.merge.ends_task = task.is_empty();
        }
    }

    fn files(&mut self, files: &[String]) {
        let stay = file_set(files);
        for file in &self.brief.topic.files {
            if stay.contains(file) {
                continue;
            }
            if self.texts.iter().any(|it| self.names(it.text, file)) {
                self.merge.files_left.push(file.clone());
            } else if !self.brief.gone.contains(file) {
                self.losses.push(Loss::File(file.clone()));
            }
        }
        let known: BTreeSet<&String> = self.brief.topic.files.iter().collect();
        let new = files.iter().filter(|file| !known.contains(&normalise(file)));
        self.merge.part.files = new.cloned().collect();
    }

    fn decisions(&mut self, decisions: &[DecisionState]) {
        for known in &self.brief.topic.decisions {
            let key = topic_key(&known.question);
            let new = decisions.iter().rfind(|new| topic_key(&new.question) == key);
            if let Some(loss) = self.decision(known, new) {
                self.losses.push(loss);
            }
        }
        let is_new = |decision: &&DecisionState| {
            let key = topic_key(&decision.question);
            !self.brief.topic.decisions.iter().any(|known| topic_key(&known.question) == key)
        };
        let new: Vec<TopicDecision> =
            decisions.iter().filter(is_new).map(DecisionState::decision).collect();
        self.merge.part.decisions.extend(new);
    }

    /// Compares a decision with what the state has of it. Adds it to the part if it changes.
    fn decision(&mut self, known: &TopicDecision, new: Option<&DecisionState>) -> Option<Loss> {
        let question = known.question.clone();
        let Some(new) = new else { return Some(Loss::Question(question)) };
        let answer = new.decision.as_deref().map(str::trim).filter(|answer| !answer.is_empty());
        match (&known.decided, new.status, answer) {
            (None, DecisionStatus::Pending, _) => None,
            (Some(_), DecisionStatus::Pending, _) => Some(Loss::Reopened(question)),
            (Some(_), DecisionStatus::Decided, None) if known.is_statement() => None,
            (so_far, DecisionStatus::Decided, None) => {
                Some(Loss::Answer { question, so_far: so_far.clone() })
            }
            (Some(so_far), DecisionStatus::Decided, Some(answer))
                if fold(so_far) == fold(answer) =>
            {
                None
            }
            (Some(so_far), DecisionStatus::Decided, Some(answer))
                if !self.says(answer, known.time) =>
            {
                Some(Loss::Answer { question, so_far: Some(so_far.clone()) })
            }
            (_, DecisionStatus::Decided, Some(_)) => {
                self.merge.part.decisions.push(TopicDecision { question, ..new.decision() });
                None
            }
        }
    }

    /// Returns whether a paragraph of a text has every word of substance of an answer. A text that
    /// is not newer than the decision does not change it.
    fn says(&self, answer: &str, decided: Timestamp) -> bool {
        let answer = words(answer);
        let newer = self.texts.iter().filter(|it| it.stored.is_none_or(|at| at > decided));
        let mut paragraphs = newer.flat_map(|it| paragraphs(it.text));
        paragraphs.any(|paragraph| answer.is_subset(&words(&paragraph)))
    }

    /// Returns whether a text names a file, by its path or by its name alone. The name of several
    /// active files names none of them.
    fn names(&self, text: &str, file: &str) -> bool {
        let name_of = |file: &str| file.rsplit('/').next().unwrap_or(file).to_owned();
        let name = name_of(file);
        let is_only = self.brief.topic.files.iter().filter(|it| name_of(it) == name).count() == 1;
        // Behind a slash it is the name of a file in another directory.
        let is_alone = |at: &usize| !text.get(..*at).is_some_and(|it| it.ends_with(['/', '\\']));
        names_path(text, file) || is_only && path_mentions(text, &name).any(|at| is_alone(&at))
    }
}

/// Returns the paragraphs of a text, each in one line.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        match paragraphs.last_mut().filter(|_| !line.trim().is_empty()) {
            Some(paragraph) => {
                paragraph.push(' ');
                paragraph.push_str(line);
            }
            None => paragraphs.push(String::new()),
        }
    }
    paragraphs
}

fn words(text: &str) -> BTreeSet<String> {
    substance(text).split(' ').map(str::to_owned).collect()
}

fn is_same(new: &ChangeForm, known: &HistoryLine) -> bool {
    one_line(&new.summary) == known.text
}

fn file_set(files: &[String]) -> BTreeSet<String> {
    files.iter().map(|file| normalise(file)).collect()
}
