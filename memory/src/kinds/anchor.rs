//! Anchors: where some code is and why it matters, never the code itself.

use std::collections::BTreeMap;

use anchord_fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Facts, Fields, FoldRule, MergeKey, Searched, Share, StagedItem, Which, accepted_one};
use crate::fold::one_line;
use crate::ids::Timestamp;
use crate::intake::{BRIEFLY, WriteLimits, chars, path};
use crate::kinds::note::ContentType;
use crate::limits::{ANCHORS_BYTES_MAX, ANCHORS_MAX, PATH_CHARS_MAX};
use crate::lines::{LineRange, Places};
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

pub(crate) const FACTS: Facts = Facts {
    noun: "anchor",
    plural: "anchors",
    noun_in_full: "anchor",
    heading: "Anchors",
    letter: 'a',
    limit: (ANCHORS_MAX, ANCHORS_BYTES_MAX),
    which: Some(Which {
        place: 2,
        line: "| where some code is and why it matters; never the code itself | **anchor** (file, lines, concept) |",
    }),
    share: Share::Places,
    page_place: 1,
    // It is about this file, and short. A blueprint only mentions it.
    file_place: 1,
    file_texts: &["concept"],
    file_times: &[],
    local_fields: &["print", "unites_adjacent"],
};

/// The place of some code, and why it matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The file, relative to the project's root, with forward slashes.
    pub file: String,
    /// The lines, or the text that was given instead of lines.
    pub lines: LineRange,
    /// The reason why the lines matter, on one line.
    pub concept: String,
    /// The fingerprint of exactly these lines, as they were when they were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub print: Option<Fingerprint>,
    /// Whether the write also unites it with ranges that it touches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unites_adjacent: bool,
    /// A digest of the concepts that were stored at its place as it was staged; `None` in a record,
    /// and for an item of a save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// The state of the lines now, in a copy that is shown. It is never stored.
    #[serde(skip)]
    pub state: Option<AnchorState>,
}

/// The state of an anchor's lines now. The lines of the anchor that has it are those of now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum AnchorState {
    /// The code is where the anchor says.
    Fresh,
    /// The code was found elsewhere.
    Moved {
        /// The file and the lines that are stored.
        from: (String, LineRange),
    },
    /// The code is there, with changes.
    Changed {
        /// The share of the lines that is new or gone, in percent.
        percent: u8,
    },
    /// The code was not found.
    Gone,
    /// The code was not looked for, or it is not certain where it is.
    Unchecked,
}

/// An anchor whose lines could not be read when it was written, for the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnseenCode {
    /// The anchor's file.
    pub file: String,
    /// The anchor's lines.
    pub lines: LineRange,
    /// The reason.
    pub why: WhyUnseen,
}

/// The reason why an anchor's lines could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyUnseen {
    /// The file does not exist.
    NoFile,
    /// The file has only this many lines.
    FewerLines(u32),
    /// The file was not read. The text fits after "failed to".
    NotRead(String),
}

impl Anchor {
    /// Creates an anchor of lines that are not known.
    pub fn new(file: String, lines: LineRange, concept: String) -> Self {
        Self {
            file,
            lines,
            concept,
            print: None,
            unites_adjacent: false,
            before: None,
            state: None,
        }
    }

    /// Returns whether both have a line in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.file == other.file && self.lines.meets(&other.lines, 0)
    }

    /// Returns whether a write of one replaces the other, since both begin with the same line. With
    /// `unites_adjacent`, one also replaces what it overlaps or touches.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        let unites = self.unites_adjacent || other.unites_adjacent;
        self.file == other.file
            && (self.lines.begins_like(&other.lines) || unites && self.lines.meets(&other.lines, 1))
    }

    /// Takes from the places of its file those that its write replaces. Returns the lines of the
    /// write, and the values of those places. With `unites_adjacent`, these are the lines of all.
    pub(crate) fn take_same<T>(&self, places: &mut Places<T>) -> (LineRange, Vec<T>) {
        if self.unites_adjacent {
            places.take_met(&self.lines)
        } else {
            (self.lines.clone(), places.take_begun(&self.lines))
        }
    }

    /// Returns it with other lines. Their fingerprint is not known, unless they are the same.
    #[must_use]
    pub(crate) fn over(&self, lines: LineRange) -> Self {
        let print = self.print.clone().filter(|_| lines == self.lines);
        Self { lines, print, ..self.clone() }
    }

    /// Returns whether both say the same, whatever is known of the code.
    pub(crate) fn content_eq(&self, other: &Self) -> bool {
        (&self.file, &self.lines, &self.concept) == (&other.file, &other.lines, &other.concept)
    }

    fn accept(&mut self, limits: &WriteLimits) -> Result<(), Refusal> {
        self.file = path("file", &self.file)?;
        self.concept = limits.line("concept", &self.concept, BRIEFLY)?;
        if let LineRange::Text(range) = &self.lines {
            let range = one_line(range);
            if range.is_empty() {
                let refusal = Refusal::invalid("lines", "is empty");
                return Err(refusal.advising("give lines as 42-67 or 42"));
            }
            chars("lines", &range, PATH_CHARS_MAX)?;
            self.lines = LineRange::from(range);
        }
        Ok(())
    }
}

impl Fields for Anchor {
    fn key(&self) -> Option<MergeKey> {
        Some(MergeKey::anchor(&self.file))
    }

    fn text_bytes(&self) -> usize {
        self.file.len() + self.concept.len() + self.lines.text_bytes()
    }

    fn name(&self) -> String {
        format!("{} {}", self.file, self.concept)
    }

    fn order(&self) -> String {
        format!("{}:{}", self.file, self.lines)
    }

    fn searched(&self) -> Searched<'_> {
        Searched { texts: vec![&self.concept], files: vec![&self.file] }
    }

    fn own_texts(&self) -> Vec<&str> {
        vec![&self.concept]
    }

    fn other_texts(&self) -> Vec<&str> {
        vec![&self.file]
    }

    fn tombstone_texts(&self) -> Vec<String> {
        // The file's name is visible in the project anyway.
        if self.is_telling(&self.concept) { vec![whole_text(self)] } else { Vec::new() }
    }

    /// An anchor has nothing but what names it.
    fn shorten(&mut self) -> bool {
        false
    }

    fn prompt_text(&self) -> String {
        self.name()
    }

    fn content_type(&self) -> ContentType {
        ContentType::Code
    }

    fn worth_bytes(&self) -> usize {
        self.file.len() + self.concept.len()
    }

    fn move_files(&mut self, _: &str, within: &dyn Fn(&str) -> Option<String>) -> bool {
        within(&self.file).map(|file| self.file = file).is_some()
    }

    fn accepted(&self) -> Result<Body, Refusal> {
        Ok(Body::Anchor(accepted_one(self.clone())?))
    }

    fn zipmem(&self, of: &Record) -> Value {
        json!({
            "file_path": self.file,
            "line_range": self.lines.to_string(),
            "concept": self.concept,
            "timestamp": of.updated.time.iso(),
        })
    }

    fn page(&self, of: &Record, _: &str, _: Timestamp) -> String {
        format!("- {} `{}` {}: {}", of.id, self.file, self.lines, self.concept)
    }
}

impl StagedItem for Anchor {
    fn accept(mut items: Vec<Self>, limits: &WriteLimits) -> Result<Vec<Self>, Refusal> {
        for (at, anchor) in items.iter_mut().enumerate() {
            anchor.accept(limits).map_err(|refusal| refusal.of_item("anchors", at))?;
        }
        Ok(items)
    }

    /// Anchors stay in the order of their last write, so that the newest concept still wins if one
    /// replaces two of them.
    fn absorb(items: &mut Vec<Self>, later: &[Self], _: Timestamp) -> Vec<Body> {
        if later.is_empty() {
            return Vec::new();
        }
        let mut files: BTreeMap<String, Places<usize>> = BTreeMap::new();
        let mut written: Vec<Option<Self>> = Vec::with_capacity(items.len() + later.len());
        for mut anchor in items.drain(..).chain(later.iter().cloned()) {
            let places = files.entry(anchor.file.clone()).or_default();
            let (lines, replaced) = anchor.take_same(places);
            for at in replaced {
                written.get_mut(at).map(Option::take);
            }
            places.put(&lines, written.len());
            anchor = anchor.over(lines);
            written.push(Some(anchor));
        }
        *items = written.into_iter().flatten().collect();
        Vec::new()
    }

    fn of_record(record: &Record, _: Option<&Record>, _: &Provenance) -> Option<Self> {
        let Body::Anchor(anchor) = &record.body else { return None };
        Some(anchor.clone())
    }

    fn rule(&self) -> FoldRule<'_> {
        FoldRule::Anchor(self)
    }

    fn bytes(&self) -> usize {
        self.text_bytes()
    }

    fn change_files(&mut self, change: &mut dyn FnMut(&mut String)) {
        change(&mut self.file);
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        vec![("", &self.file), ("", &self.concept)]
    }

    fn whole_texts(&self) -> Vec<(&'static str, String)> {
        vec![("", whole_text(self))]
    }

    /// A purge compares lines instead, since an anchor may meet several.
    fn purge_key(&self) -> Option<MergeKey> {
        None
    }
}

/// Returns the text of which a purge keeps a digest.
fn whole_text(anchor: &Anchor) -> String {
    format!("{}\n{}", anchor.file, anchor.concept)
}

#[cfg(test)]
impl crate::testing::Sample for Anchor {
    fn any() -> proptest::prelude::BoxedStrategy<Self> {
        use proptest::prelude::*;

        use crate::testing::words;

        let file = prop::sample::select(vec!["src/a.rs", "./src\\a.rs", "b/../src/b.rs"]);
        let lines = prop_oneof![
            4 => (1_u32..40, 0_u32..8).prop_map(|(first, more)| format!("{first}-{}", first + more)),
            1 => prop::sample::select(vec!["fn main", "top"]).prop_map(str::to_owned),
        ];
        (file, lines, words())
            .prop_map(|(file, lines, concept)| Self::new(file.to_owned(), lines.into(), concept))
            .boxed()
    }

    fn of_size(name: &str, bytes: usize) -> Self {
        let concept = "x".repeat(bytes.min(900));
        Self::new(format!("{name}.rs"), "1-2".to_owned().into(), concept)
    }
}
