//! Blueprints: settled and lasting statements, kept verbatim and replaced only on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Facts, Fields, FoldRule, Keyed, MergeKey, Searched, SeenFiles, Share, StagedItem, Which,
    accepted_one,
};
use crate::fold::{fold, names_path};
use crate::forgotten::shorten;
use crate::gist::first_sentence;
use crate::ids::{Revision, Timestamp};
use crate::intake::{BELOW, WriteLimits};
use crate::kinds::note::ContentType;
use crate::limits::{BLUEPRINTS_BYTES_MAX, BLUEPRINTS_MAX};
use crate::omit::is_default;
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

pub(crate) const FACTS: Facts = Facts {
    noun: "blueprint",
    plural: "blueprints",
    noun_in_full: "blueprint",
    heading: "Blueprints",
    letter: 'b',
    limit: (BLUEPRINTS_MAX, BLUEPRINTS_BYTES_MAX),
    which: Some(Which {
        place: 0,
        line: "| settled and lasting: architecture, schema, decision, convention, dependency; kept verbatim, replaced only on purpose | **blueprint** |",
    }),
    share: Share::Settled,
    page_place: 0,
    file_place: 2,
    file_texts: &["content"],
    file_times: &[],
    local_fields: &["seen"],
};

/// A settled and lasting statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blueprint {
    /// The subject.
    pub category: Category,
    /// The title, on one line. With the category it identifies the blueprint.
    pub title: String,
    /// The content, verbatim. anchord never rewrites it.
    pub content: String,
    /// Whether it stays unchanged until a write says `immutable: false`.
    pub immutable: bool,
    /// Whether its writer means exactly this spelling of the title. zipmem's users do.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exact: bool,
    /// The files that the content names, as they were when it was written.
    #[serde(default, skip_serializing_if = "SeenFiles::is_empty")]
    pub seen: SeenFiles,
    /// The revision at which it was staged; `None` in a record, and for an item of a save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Revision>,
}

impl Blueprint {
    /// Creates a blueprint that stays as it is. Nothing is known of the files that it names.
    pub fn new(category: Category, title: String, content: String) -> Self {
        let seen = SeenFiles::default();
        Self { category, title, content, immutable: true, exact: false, seen, staged: None }
    }

    /// Creates a blueprint of a text that begins with its category: `decision: use sled. It is …`.
    /// The first sentence behind it is the title. `None` if the text names no category.
    pub fn written(text: &str) -> Option<Self> {
        let (category, text) = text.split_once(':')?;
        Some(Self::without_title(category.parse().ok()?, text))
    }

    /// Creates a blueprint whose title is the text's first sentence.
    pub fn without_title(category: Category, text: &str) -> Self {
        Self::new(category, first_sentence(text).0, text.trim().to_owned())
    }

    /// Returns the category and the title as its writer tells titles apart. Two staged blueprints
    /// with the same pair are one.
    pub(crate) fn category_and_title(&self) -> (Category, String) {
        // No folded title begins with a line break.
        let title = if self.exact { format!("\n{}", self.title) } else { fold(&self.title) };
        (self.category, title)
    }

    /// Finds the stored blueprint that this one merges with: the one in the same spelling, or else
    /// the first. Their titles are equal but for case.
    pub(crate) fn existing_match<'m>(
        &self,
        mut same_key: impl Iterator<Item = &'m Arc<Record>>,
    ) -> Option<&'m Arc<Record>> {
        let is_spelled_so = |record: &&Arc<Record>| match &record.body {
            Body::Blueprint(stored) => stored.title == self.title,
            _ => false,
        };
        let first = same_key.next()?;
        if is_spelled_so(&first) {
            return Some(first);
        }
        same_key.find(is_spelled_so).or((!self.exact).then_some(first))
    }

    /// Returns whether both can be stored at once, although their titles are equal but for case.
    pub(crate) fn may_coexist_with(&self, other: &Self) -> bool {
        (self.exact || other.exact) && self.title != other.title
    }

    /// Returns the merge key of staged blueprints in exactly this spelling.
    pub(crate) fn spelled_key(&self) -> MergeKey {
        let (category, title) = Self { exact: true, ..self.clone() }.category_and_title();
        MergeKey::Blueprint(category, title.into())
    }

    /// Returns this blueprint as the successor of a stored one. An exact title stays as it is.
    fn replacing(mut self, stored: &Self) -> Self {
        if stored.exact {
            (self.title, self.exact) = (stored.title.clone(), true);
        }
        self
    }

    /// Returns whether both say the same, whatever is known of the files.
    pub(crate) fn content_eq(&self, other: &Self) -> bool {
        *self == Self { seen: self.seen.clone(), staged: self.staged, ..other.clone() }
    }

    /// Returns the blueprint as a record has it.
    fn stored(&self) -> Self {
        Self { staged: None, ..self.clone() }
    }

    /// Takes over what a later write of the same blueprint saw of the files.
    fn seeing(mut self, later: &Self) -> Self {
        self.seen.unite(&later.seen);
        self
    }

    fn accept(&mut self, limits: &WriteLimits) -> Result<(), Refusal> {
        self.title = limits.line("title", &self.title, BELOW)?;
        if self.content.trim().is_empty() && !limits.allows_empty {
            return Err(Refusal::invalid("content", "is empty"));
        }
        limits.fits("content", &self.content)
    }
}

impl Fields for Blueprint {
    fn key(&self) -> Option<MergeKey> {
        Some(MergeKey::Blueprint(self.category, fold(&self.title).into()))
    }

    fn text_bytes(&self) -> usize {
        self.title.len() + self.content.len()
    }

    fn name(&self) -> String {
        self.title.clone()
    }

    fn secret_name(&self) -> Option<&str> {
        Some(&self.title)
    }

    fn searched(&self) -> Searched<'_> {
        Searched {
            texts: vec![self.category.name(), &self.title, &self.content],
            files: Vec::new(),
        }
    }

    fn concerns(&self, file: &str) -> bool {
        names_path(&self.content, file)
    }

    fn file_text(&self) -> String {
        self.error_text()
    }

    fn own_texts(&self) -> Vec<&str> {
        vec![&self.title, &self.content]
    }

    fn tombstone_texts(&self) -> Vec<String> {
        self.telling(self.content.clone())
    }

    fn shorten(&mut self) -> bool {
        shorten(&mut self.content);
        true
    }

    fn prompt_text(&self) -> String {
        format!("{}. {}", self.title, self.content)
    }

    fn error_text(&self) -> String {
        format!("{} {}", self.title, self.content)
    }

    fn content_type(&self) -> ContentType {
        ContentType::Decision
    }

    fn accepted(&self) -> Result<Body, Refusal> {
        Ok(Body::Blueprint(accepted_one(self.clone())?))
    }

    fn move_files(&mut self, _: &str, within: &dyn Fn(&str) -> Option<String>) -> bool {
        self.seen.move_files(within);
        true
    }

    fn zipmem(&self, of: &Record) -> Value {
        json!({
            "id": of.id.to_string(),
            "category": self.category.name(),
            "title": self.title,
            "content": self.content,
            "immutable": self.immutable,
            "timestamp": of.updated.time.iso(),
        })
    }

    fn page(&self, of: &Record, _: &str, _: Timestamp) -> String {
        let category = self.category.name();
        format!("### {} {} ({category})\n\n{}", of.id, self.title, self.content.trim_end())
    }
}

impl StagedItem for Blueprint {
    fn accept(mut items: Vec<Self>, limits: &WriteLimits) -> Result<Vec<Self>, Refusal> {
        for (at, blueprint) in items.iter_mut().enumerate() {
            blueprint.accept(limits).map_err(|refusal| refusal.of_item("blueprints", at))?;
        }
        Ok(items)
    }

    /// One title has at most two entries: a mutable one, which replaces any stored one, and after
    /// it the last immutable one. Alone, an immutable one would yield to the stored one.
    fn absorb(items: &mut Vec<Self>, later: &[Self], _: Timestamp) -> Vec<Body> {
        let mut left_out = Vec::new();
        let mut titles: Vec<Vec<Self>> = Vec::new();
        let mut at: BTreeMap<(Category, String), usize> = BTreeMap::new();
        for stored in items.drain(..) {
            let slot = *at.entry(stored.category_and_title()).or_insert(titles.len());
            match titles.get_mut(slot) {
                Some(entries) => entries.push(stored),
                None => titles.push(vec![stored]),
            }
        }
        for new in later {
            let slot = *at.entry(new.category_and_title()).or_insert(titles.len());
            match titles.get_mut(slot) {
                None => titles.push(vec![new.clone()]),
                Some(entries) => {
                    match entries.last().map_or(Verdict::Replaced, |stored| judge(stored, new)) {
                        Verdict::Replaced if new.immutable => entries.push(new.clone()),
                        Verdict::Replaced => *entries = vec![new.clone()],
                        Verdict::Kept => left_out.push(new.body()),
                        Verdict::Same => {
                            if let Some(stored) = entries.last_mut() {
                                stored.seen.unite(&new.seen);
                                stored.staged = new.staged;
                            }
                        }
                    }
                }
            }
        }
        *items = titles.into_iter().flatten().collect();
        left_out
    }

    fn of_record(record: &Record, _: Option<&Record>, _: &Provenance) -> Option<Self> {
        let Body::Blueprint(blueprint) = &record.body else { return None };
        Some(blueprint.clone())
    }

    fn count(items: &[Self]) -> usize {
        items.iter().map(Self::category_and_title).collect::<BTreeSet<_>>().len()
    }

    fn rule(&self) -> FoldRule<'_> {
        FoldRule::Keyed(self)
    }

    fn bytes(&self) -> usize {
        self.text_bytes()
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        vec![("", &self.title), (&self.title, &self.content)]
    }

    fn whole_texts(&self) -> Vec<(&'static str, String)> {
        vec![("", self.content.clone())]
    }

    fn purge_key(&self) -> Option<MergeKey> {
        if self.exact { Some(self.spelled_key()) } else { self.key() }
    }
}

impl Keyed for Blueprint {
    fn body(&self) -> Body {
        Body::Blueprint(self.stored())
    }

    fn staged(&self) -> Option<Revision> {
        self.staged
    }

    fn merged(&self, stored: Body, _: Revision) -> Option<Body> {
        let Body::Blueprint(before) = &stored else { return Some(self.body()) };
        match judge(before, self) {
            Verdict::Replaced => Some(Body::Blueprint(self.stored().replacing(before))),
            Verdict::Same => Some(Body::Blueprint(before.clone().seeing(self))),
            Verdict::Kept => None,
        }
    }
}

/// The effect on a stored blueprint when its category and title are written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The new one says nothing that the stored one does not.
    Same,
    /// Both are immutable, so the stored one stays, verbatim.
    Kept,
    /// The new one replaces it.
    Replaced,
}

pub(crate) fn judge(stored: &Blueprint, new: &Blueprint) -> Verdict {
    // A mutable blueprint takes the newest spelling of its title, however writes are batched.
    let same_title = stored.immutable || stored.title == new.title;
    if same_title && stored.content == new.content && stored.immutable == new.immutable {
        Verdict::Same
    } else if stored.immutable && new.immutable {
        Verdict::Kept
    } else {
        Verdict::Replaced
    }
}

/// The subject of a blueprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The structure of the system: its parts and how they work together.
    Architecture,
    /// The shape of data.
    Schema,
    /// A decision with its reasons.
    Decision,
    /// A convention of the project.
    Convention,
    /// A dependency.
    Dependency,
}

impl Category {
    /// All categories, in the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::Architecture, Self::Schema, Self::Decision, Self::Convention, Self::Dependency];
}

impl Category {
    /// Returns the name that agents write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Schema => "schema",
            Self::Decision => "decision",
            Self::Convention => "convention",
            Self::Dependency => "dependency",
        }
    }
}

/// The text does not name a category.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is not one of the categories architecture, schema, decision, convention, dependency: `{0}`"
)]
pub struct ParseCategoryError(String);

impl FromStr for Category {
    type Err = ParseCategoryError;

    /// Parses a name in any case, or a word that is often used for it. The first four letters of a
    /// name suffice: `ARCH`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.trim().to_lowercase();
        let by_name = Self::ALL
            .into_iter()
            .find(|category| wanted.len() >= 4 && category.name().starts_with(&wanted));
        let by_meaning = || match wanted.as_str() {
            "design" | "structure" => Some(Self::Architecture),
            "database" | "data model" | "model" => Some(Self::Schema),
            "choice" => Some(Self::Decision),
            "conventions" | "rule" | "style" | "guideline" | "pattern" | "standard"
            | "practice" => Some(Self::Convention),
            "dependencies" | "library" | "package" => Some(Self::Dependency),
            _ => None,
        };
        by_name
            .or_else(by_meaning)
            .ok_or_else(|| ParseCategoryError(text.chars().take(40).collect()))
    }
}

#[cfg(test)]
impl crate::testing::Sample for Blueprint {
    fn any() -> proptest::prelude::BoxedStrategy<Self> {
        use proptest::prelude::*;

        use crate::testing::any_text;

        let title = prop::sample::select(vec!["Store", "store ", "Wire", "Locks"]);
        let category = prop::sample::select(vec![Category::Decision, Category::Schema]);
        (category, title, any_text(), any::<bool>())
            .prop_map(|(category, title, content, immutable)| {
                let blueprint = Blueprint::new(category, title.to_owned(), content);
                Blueprint { immutable, ..blueprint }
            })
            .boxed()
    }

    fn of_size(name: &str, bytes: usize) -> Self {
        let content = "x".repeat(bytes);
        Self::new(Category::Decision, name.to_owned(), content)
    }
}
