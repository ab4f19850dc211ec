//! Lessons: what was learned from a failure, written by an agent or recorded by rule.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::staging::absorb_by_key;
use super::{
    Facts, Fields, FoldRule, Keyed, Kind, MergeKey, Searched, SeenFiles, Share, StagedItem, Which,
    accepted_one,
};
use crate::error_line::normalised;
use crate::fold::{clip, fold, keep_end, one_line, substance};
use crate::forgotten::{LEFT_OUT, shorten};
use crate::gist::first_sentence;
use crate::ids::{Revision, Timestamp};
use crate::intake::{BELOW, WriteLimits, files};
use crate::kinds::note::ContentType;
use crate::limits::{
    CAPTURED_COMMAND_CHARS_MAX, ERROR_LINE_CHARS_MAX, FORGOTTEN_BYTES_MAX, LESSONS_BYTES_MAX,
    LESSONS_MAX, PURGED_LINE_BYTES_MIN, WIDE_FILES_MAX, WIDE_TEXT_BYTES_MAX,
};
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

pub(crate) const FACTS: Facts = Facts {
    noun: "lesson",
    plural: "lessons",
    noun_in_full: "lesson",
    heading: "Lessons",
    letter: 'l',
    limit: (LESSONS_MAX, LESSONS_BYTES_MAX),
    which: Some(Which {
        place: 1,
        line: "| learned from a failure | **lesson** (summary, detail, files) |",
    }),
    share: Share::Lessons,
    page_place: 3,
    file_place: 0,
    file_texts: &["detail"],
    file_times: &[],
    local_fields: &["captured", "seen"],
};

/// Knowledge gained from a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// The summary, on one line. Its folded form identifies the lesson.
    pub summary: String,
    /// Further text, if there is any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The files that it concerns, relative to the project's root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The files as they were when it was written.
    #[serde(default, skip_serializing_if = "SeenFiles::is_empty")]
    pub seen: SeenFiles,
    /// The failure that was fixed, if the lesson was recorded by rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<Box<FixedFailure>>,
}

/// A failure whose fix the daemon observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedFailure {
    /// The command that failed and later passed.
    pub command: String,
    /// The line of its output that identifies the error.
    pub error: String,
    /// The command that succeeded in between and is related to the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The number of times that it was fixed.
    pub times: u32,
    /// The time of the last fix.
    pub last: Timestamp,
}

impl Lesson {
    /// Creates a lesson of a text: its first sentence is the summary, and the rest the detail.
    pub fn written(text: &str) -> Self {
        let (summary, detail) = first_sentence(text);
        Self { summary, detail, ..Self::default() }
    }

    /// Returns the key by which lessons merge. A lesson recorded by rule is identified by its
    /// failure. Its key has a line break, which no summary has, so it never merges with a lesson
    /// that an agent wrote.
    pub(crate) fn text_key(&self) -> String {
        match &self.captured {
            Some(fixed) => format!("{}\n{}", fixed.command, normalised(&fixed.error)),
            None => substance(&self.summary),
        }
    }

    /// Returns whether both say the same, whatever is known of the files.
    pub(crate) fn content_eq(&self, other: &Self) -> bool {
        *self == Self { seen: self.seen.clone(), ..other.clone() }
    }

    fn accept(&mut self, limits: &WriteLimits) -> Result<(), Refusal> {
        self.summary = limits.line("summary", &self.summary, BELOW)?;
        self.detail = limits.text("detail", &self.detail)?;
        self.files = files("files", &self.files, limits.files_max)?;
        Ok(())
    }

    /// Cuts a lesson to a record's limits: keeps the end of the detail, and the files named last.
    /// A record may be as large as the largest write.
    #[must_use]
    pub(crate) fn within_limits(mut self) -> Self {
        self.detail = keep_end(self.detail, WIDE_TEXT_BYTES_MAX);
        self.files.drain(..self.files.len().saturating_sub(WIDE_FILES_MAX));
        if let Some(fixed) = &mut self.captured {
            fixed.command = clip(&one_line(&fixed.command), CAPTURED_COMMAND_CHARS_MAX);
            fixed.error = clip(&one_line(&fixed.error), ERROR_LINE_CHARS_MAX);
            let remedy = fixed.remedy.take();
            fixed.remedy = remedy.map(|line| clip(&one_line(&line), CAPTURED_COMMAND_CHARS_MAX));
        }
        self
    }

    /// Merges another version of the same lesson: the more specific summary, all details, all
    /// files.
    pub(crate) fn unite(&mut self, later: &Self) {
        let mut known = LessonContent::of(self);
        self.unite_known(later, &mut known);
    }

    /// Merges the same lesson from another project, if both are recorded by rule. The newer one
    /// says what to do. Both may count the same fixes, so the larger count is kept. Returns whether
    /// both are recorded by rule.
    fn unite_captured(&mut self, later: &Self) -> bool {
        let (Some(known), Some(new)) = (&self.captured, &later.captured) else { return false };
        let times = known.times.max(new.times);
        if new.last >= known.last {
            *self = later.clone();
        }
        if let Some(fixed) = &mut self.captured {
            fixed.times = times;
        }
        true
    }

    /// Merges one of many versions like [`Lesson::unite`]. `known` is the lesson's content so far.
    pub(crate) fn unite_known(&mut self, later: &Self, known: &mut LessonContent) {
        if self.unite_captured(later) {
            return;
        }
        let length = |summary: &str| fold(summary).chars().count();
        if length(&later.summary) > length(&self.summary) {
            self.summary.clone_from(&later.summary);
        }
        for paragraph in paragraphs(&later.detail) {
            if known.paragraphs.insert(fold(paragraph)) {
                add_paragraph(&mut self.detail, paragraph);
            }
        }
        for file in &later.files {
            if known.files.insert(file.clone()) {
                self.files.push(file.clone());
            }
        }
        self.seen.unite(&later.seen);
    }
}

impl Fields for Lesson {
    fn key(&self) -> Option<MergeKey> {
        Some(MergeKey::Text(Kind::Lesson, self.text_key().into()))
    }

    fn text_bytes(&self) -> usize {
        self.summary.len() + self.detail.len() + self.files.iter().map(String::len).sum::<usize>()
    }

    fn name(&self) -> String {
        self.summary.clone()
    }

    fn secret_name(&self) -> Option<&str> {
        Some(&self.summary)
    }

    fn searched(&self) -> Searched<'_> {
        Searched {
            texts: vec![&self.summary, &self.detail],
            files: self.files.iter().map(String::as_str).collect(),
        }
    }

    fn file_text(&self) -> String {
        self.error_text()
    }

    fn lists_directories(&self) -> bool {
        true
    }

    fn own_texts(&self) -> Vec<&str> {
        // Commands occur in many texts; the error is specific to this lesson.
        let error = self.captured.as_ref().map(|fixed| fixed.error.as_str());
        [self.summary.as_str(), &self.detail].into_iter().chain(error).collect()
    }

    fn other_texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = self.files.iter().map(String::as_str).collect();
        if let Some(fixed) = &self.captured {
            texts.extend([fixed.command.as_str()].into_iter().chain(fixed.remedy.as_deref()));
        }
        texts
    }

    fn tombstone_texts(&self) -> Vec<String> {
        // A later part of the lesson follows the earlier ones, and would come back alone.
        let (whole, paragraphs) = (whole_text(self), paragraphs(&self.detail));
        let whole = Some(whole).filter(|whole| self.is_telling(whole.trim()));
        // A heading such as "## Root cause" occurs in many lessons.
        let telling = paragraphs.filter(|text| text.len() >= PURGED_LINE_BYTES_MIN);
        let fixed = self.captured.iter().flat_map(|fixed| [&fixed.error, &self.summary]);
        whole.into_iter().chain(telling.map(str::to_owned)).chain(fixed.cloned()).collect()
    }

    /// A lesson made by rule is recognised by its failure, which is short and stays.
    fn shorten(&mut self) -> bool {
        shorten(&mut self.detail);
        let is_long = self.files.iter().map(String::len).sum::<usize>() > FORGOTTEN_BYTES_MAX;
        if is_long && self.captured.is_none() {
            self.files = Vec::new();
            if self.detail.is_empty() {
                LEFT_OUT.clone_into(&mut self.detail);
            }
        }
        true
    }

    fn prompt_text(&self) -> String {
        format!("{}. {}", self.summary, self.detail)
    }

    fn error_text(&self) -> String {
        format!("{} {}", self.summary, self.detail)
    }

    fn content_type(&self) -> ContentType {
        ContentType::Error
    }

    fn worth_bytes(&self) -> usize {
        self.summary.len() + self.detail.len()
    }

    fn move_files(&mut self, _: &str, within: &dyn Fn(&str) -> Option<String>) -> bool {
        super::move_each(&mut self.files, within);
        self.seen.move_files(within);
        true
    }

    fn accepted(&self) -> Result<Body, Refusal> {
        Ok(Body::Lesson(accepted_one(self.clone())?))
    }

    fn zipmem(&self, of: &Record) -> Value {
        json!({
            "id": of.id.to_string(),
            "summary": self.summary,
            "detail": self.detail,
            "related_files": self.files,
            "timestamp": of.updated.time.iso(),
        })
    }

    fn page(&self, of: &Record, _: &str, _: Timestamp) -> String {
        let files: Vec<String> = self.files.iter().map(|file| format!("`{file}`")).collect();
        let files =
            if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) };
        let detail = if self.detail.is_empty() {
            String::new()
        } else {
            format!("\n  {}", self.detail.replace('\n', "\n  "))
        };
        format!("- {} **{}**{files}{detail}", of.id, self.summary)
    }
}

impl StagedItem for Lesson {
    fn accept(mut items: Vec<Self>, limits: &WriteLimits) -> Result<Vec<Self>, Refusal> {
        for (at, lesson) in items.iter_mut().enumerate() {
            lesson.accept(limits).map_err(|refusal| refusal.of_item("lessons", at))?;
        }
        Ok(items)
    }

    fn absorb(items: &mut Vec<Self>, later: &[Self], _: Timestamp) -> Vec<Body> {
        let mut known: BTreeMap<usize, LessonContent> = BTreeMap::new();
        absorb_by_key(items, later, Self::text_key, |at, stored, lesson| {
            let known = known.entry(at).or_insert_with(|| LessonContent::of(stored));
            stored.unite_known(lesson, known);
        });
        Vec::new()
    }

    /// A lesson merged before the limit existed may be larger.
    fn of_record(record: &Record, _: Option<&Record>, _: &Provenance) -> Option<Self> {
        let Body::Lesson(lesson) = &record.body else { return None };
        Some(lesson.clone().within_limits())
    }

    fn rule(&self) -> FoldRule<'_> {
        FoldRule::Keyed(self)
    }

    fn bytes(&self) -> usize {
        self.text_bytes()
    }

    fn change_files(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.files.iter_mut().for_each(change);
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        let own = [("", self.summary.as_str()), (&self.summary, &self.detail)];
        own.into_iter().chain(self.files.iter().map(|file| ("", file.as_str()))).collect()
    }

    /// A lesson as a whole, and each paragraph of its detail.
    fn whole_texts(&self) -> Vec<(&'static str, String)> {
        let paragraphs = paragraphs(&self.detail).map(str::to_owned);
        std::iter::once(whole_text(self)).chain(paragraphs).map(|text| ("", text)).collect()
    }

    fn purge_key(&self) -> Option<MergeKey> {
        self.key()
    }
}

impl Keyed for Lesson {
    /// Staged in several parts, the lesson may be larger than any of them.
    fn body(&self) -> Body {
        Body::Lesson(self.clone().within_limits())
    }

    fn merged(&self, stored: Body, _: Revision) -> Option<Body> {
        let Body::Lesson(mut stored) = stored else { return Some(self.body()) };
        stored.unite(self);
        Some(Body::Lesson(stored.within_limits()))
    }
}

fn whole_text(lesson: &Lesson) -> String {
    format!("{}\n{}", lesson.summary, lesson.detail)
}

/// A lesson's content, built once for all the versions that merge into it.
pub(crate) struct LessonContent {
    /// Folded paragraphs.
    paragraphs: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl LessonContent {
    pub(crate) fn of(lesson: &Lesson) -> Self {
        let paragraphs = paragraphs(&lesson.detail).map(fold).collect();
        Self { paragraphs, files: lesson.files.iter().cloned().collect() }
    }
}

/// Returns the paragraphs of a text. Each version of a lesson may have some of them.
pub(crate) fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n")
        .map(|paragraph| paragraph.trim_start_matches('\n').trim_end())
        .filter(|paragraph| !paragraph.is_empty())
}

/// Appends a paragraph to a text, and trims blanks before it.
fn add_paragraph(text: &mut String, paragraph: &str) {
    text.truncate(text.trim_end().len());
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(paragraph);
}

#[cfg(test)]
impl crate::testing::Sample for Lesson {
    fn any() -> proptest::prelude::BoxedStrategy<Self> {
        use proptest::prelude::*;

        use crate::testing::{any_text, words};

        let detail = prop_oneof![Just(String::new()), any_text()];
        let files =
            prop::collection::vec(prop::sample::select(vec!["a.rs", "./a.rs", "b.rs"]), 0..3);
        (words(), detail, files)
            .prop_map(|(summary, detail, files)| Lesson {
                files: files.into_iter().map(str::to_owned).collect(),
                summary,
                detail,
                ..Lesson::default()
            })
            .boxed()
    }

    fn of_size(name: &str, bytes: usize) -> Self {
        Self { summary: name.to_owned(), detail: "x".repeat(bytes), ..Self::default() }
    }
}
