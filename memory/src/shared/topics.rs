//! The files of a topic: one for each clone that added to it. The topic is their combination.
//!
//! A clone adds to its own file alone, so two clones' additions never conflict in git. An item
//! stays in the file where it is. If one file replaces something of another, such as a status, both
//! stay. Rules that need nothing but the files tell which one counts. So every clone combines the
//! same files to the same topic, and none has to write after a pull.

mod lists;
mod merge;

use std::collections::BTreeMap;

use super::content::body_of;
use super::{FileForm, SharedContent};
use crate::ids::{Kind, ShareId, Timestamp};
use crate::kinds::topic::{HistoryLine, Topic, topic_key};
use crate::limits::{TAGS_MAX, TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX, TOPIC_HISTORY_MAX};
use crate::record::{Body, Record};

use lists::{limited, spread};
pub(crate) use merge::merged;

/// The time from which a file's status holds.
const STATUS_AT: &str = "status_at";

/// The files of one topic, the first created first.
#[derive(Clone, Debug)]
pub struct FilesOfTopic {
    parts: Vec<Part>,
}

/// Files to write, and those to remove.
pub type ChangedTopicFiles = BTreeMap<ShareId, Option<FileForm>>;

/// The last agreement of a topic's record with its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicAgreement {
    /// Whether the record's content is still the same.
    pub is_record_same: bool,
    /// Whether the files are still the same, with none more or less.
    pub are_files_same: bool,
}

/// The next step towards an agreement of a topic's record with its files.
#[derive(Clone, Debug, PartialEq)]
pub enum TopicStep {
    /// Both say the same.
    Agreed,
    /// These files change.
    Write(ChangedTopicFiles),
    /// The record takes the combination in, which alone has changed.
    Follow(FileForm),
    /// The record takes the combination in. Both may have changed since they last agreed.
    Merge(FileForm),
}

/// A description in one file for which an earlier file has other words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherText {
    /// The file.
    pub id: ShareId,
    /// The field: overview or architecture.
    pub field: &'static str,
}

/// One file.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    id: ShareId,
    created: Option<Timestamp>,
    status_at: Option<Timestamp>,
    whole: Whole,
}

/// The shared content of a topic.
#[derive(Clone, Debug, Default, PartialEq)]
struct Whole {
    topic: Topic,
    tags: Vec<String>,
    pinned: bool,
}

/// A running description: its name, and its text in a topic.
type Description = (&'static str, fn(&mut Topic) -> &mut String);

const DESCRIPTIONS: [Description; 2] =
    [("overview", |topic| &mut topic.overview), ("architecture", |topic| &mut topic.architecture)];

/// Returns the times that the file of a record has and the record has not.
pub(super) fn times(record: &Record) -> BTreeMap<String, Timestamp> {
    let topic = record.topic().filter(|topic| !topic.status.is_empty());
    topic.map(|topic| (STATUS_AT.to_owned(), status_time(topic, record))).into_iter().collect()
}

/// Returns the time of a record's status: that of the line of history which its write added.
fn status_time(topic: &Topic, record: &Record) -> Timestamp {
    let line = status_line(&topic.status, Timestamp::default());
    let written = topic.history.iter().rev().find(|known| known.text == line.text);
    written.map_or(record.updated.time, |line| line.time)
}

/// Returns the line of history for a status.
fn status_line(status: &str, time: Timestamp) -> HistoryLine {
    HistoryLine { time, ..HistoryLine::new(status) }
}

impl SharedContent {
    /// Returns the folded name of a topic, by which its files belong together.
    pub fn topic_key(&self) -> Option<String> {
        self.topic_name().map(|name| topic_key(&name))
    }

    /// Returns the name of a topic.
    pub(crate) fn topic_name(&self) -> Option<String> {
        Some(Whole::of(self)?.topic.name)
    }

    /// Returns whether two contents are the same record's. The order of a topic's lists has no
    /// meaning between clones.
    pub fn says_the_same(&self, other: &Self) -> bool {
        match (Whole::of(self), Whole::of(other)) {
            (Some(one), Some(other)) => one.says_the_same(&other),
            _ => self == other,
        }
    }

    /// Returns whether two topics have the same overview and architecture.
    pub fn describes_the_same(&self, other: &Self) -> bool {
        let texts = |content: &Self| {
            let mut topic = Whole::of(content)?.topic;
            Some(DESCRIPTIONS.map(|(_, text)| std::mem::take(text(&mut topic))))
        };
        texts(self) == texts(other)
    }

    /// Returns a topic with these descriptions and all else of `other`. Without another, it has
    /// nothing else.
    #[must_use]
    pub fn with_rest_of(&self, other: Option<&Self>) -> Option<Self> {
        let mut own = Whole::of(self)?.topic;
        let mut whole = other.and_then(Whole::of).unwrap_or_default();
        for (_, text) in DESCRIPTIONS {
            *text(&mut whole.topic) = std::mem::take(text(&mut own));
        }
        Some(whole.content())
    }
}

impl Whole {
    /// Returns the content as that of a topic, if it is one.
    fn of(content: &SharedContent) -> Option<Self> {
        if content.kind != Kind::Topic {
            return None;
        }
        let Body::Topic(topic) = body_of(content.kind, content.fields.clone()).ok()? else {
            return None;
        };
        Some(Self { topic, tags: content.tags.clone(), pinned: content.pinned })
    }

    fn content(self) -> SharedContent {
        SharedContent::new(&Body::Topic(self.topic), self.tags, self.pinned)
    }

    fn says_the_same(&self, other: &Self) -> bool {
        let texts = |it: &Self| {
            let Topic { name, status, overview, architecture, .. } = it.topic.clone();
            (name, status, overview, architecture, it.pinned)
        };
        texts(self) == texts(other)
            && lists::are_same(&self.topic.decisions, &other.topic.decisions)
            && lists::are_same(&self.topic.history, &other.topic.history)
            && lists::are_same(&self.topic.files, &other.topic.files)
            && lists::are_same(&self.tags, &other.tags)
    }

    /// Returns whether it has nothing but a name.
    fn is_empty(&self) -> bool {
        let name = self.topic.name.clone();
        *self == Self { topic: Topic { name, ..Topic::default() }, ..Self::default() }
    }
}

impl Part {
    fn new(id: ShareId, form: &FileForm) -> Option<Self> {
        let status_at = form.times.get(STATUS_AT).copied();
        Some(Self { id, created: form.created, status_at, whole: Whole::of(&form.content)? })
    }

    fn order(&self) -> (Timestamp, ShareId) {
        (self.created.unwrap_or_default(), self.id.clone())
    }

    fn form(self) -> FileForm {
        let times = self.status_at.map(|time| (STATUS_AT.to_owned(), time));
        FileForm {
            created: self.created,
            times: times.into_iter().collect(),
            content: self.whole.content(),
        }
    }

    /// Returns from when the file's status holds; `None` if the file says nothing about it. A time
    /// without a status means that the topic has none since then.
    fn status_since(&self) -> Option<Timestamp> {
        let created = Some(self.created.unwrap_or_default());
        self.status_at.or(created.filter(|_| !self.whole.topic.status.is_empty()))
    }

    fn is_empty(&self) -> bool {
        self.status_at.is_none() && self.whole.is_empty()
    }
}

impl FilesOfTopic {
    /// Returns by what the files of a record's topic are known, if it is a topic.
    pub fn key(record: &Record) -> Option<String> {
        record.topic().map(|topic| topic_key(&topic.name))
    }

    /// Returns these files. Those of other kinds are left out.
    pub fn new<'a>(files: impl IntoIterator<Item = (ShareId, &'a FileForm)>) -> Self {
        let parts = files.into_iter().filter_map(|(id, form)| Part::new(id, form));
        let mut parts: Vec<Part> = parts.collect();
        parts.sort_by_key(Part::order);
        Self { parts }
    }

    /// Returns the files after these changes.
    #[must_use]
    pub fn with(&self, changes: &ChangedTopicFiles) -> Self {
        let mut parts = self.parts.clone();
        parts.retain(|part| !changes.contains_key(&part.id));
        let new = changes.iter().filter_map(|(id, form)| Part::new(id.clone(), form.as_ref()?));
        parts.extend(new);
        parts.sort_by_key(Part::order);
        Self { parts }
    }

    /// Returns the topic that the files are together; `None` if there is no file.
    pub fn combined(&self) -> Option<FileForm> {
        let mut parts = self.parts.clone();
        let whole = combined(&mut parts)?;
        let status = self.newest_status().map(|(since, _)| (STATUS_AT.to_owned(), since));
        Some(FileForm {
            created: parts.iter().filter_map(|part| part.created).min(),
            times: status.into_iter().collect(),
            content: whole.content(),
        })
    }

    /// Returns the next step for a record and these files. `own` is the id of this clone's file,
    /// `agreed` their last agreement. Returns `None` if there is no file.
    pub fn step(
        &self,
        record: &Record,
        own: &ShareId,
        agreed: Option<TopicAgreement>,
    ) -> Option<TopicStep> {
        let all = self.combined()?;
        if SharedContent::of(record).says_the_same(&all.content) {
            return Some(TopicStep::Agreed);
        }
        Some(match agreed {
            Some(agreed) if agreed.are_files_same => match self.distribute(record, own) {
                changed if changed.is_empty() => TopicStep::Follow(all),
                changed => TopicStep::Write(changed),
            },
            Some(agreed) if agreed.is_record_same => TopicStep::Follow(all),
            None if self.parts.iter().all(|part| part.id != *own) => match self.joining(record) {
                Some(file) => TopicStep::Write([(own.clone(), Some(file))].into()),
                None => TopicStep::Merge(all),
            },
            _ => TopicStep::Merge(all),
        })
    }

    /// Returns the descriptions that do not count, since an earlier file has other words.
    pub fn other_texts(&self) -> Vec<OtherText> {
        let mut parts = self.parts.clone();
        let mut others = Vec::new();
        for (field, text) in DESCRIPTIONS {
            let first = first_text(&mut parts, text);
            for part in &mut parts {
                let own = text(&mut part.whole.topic);
                if !own.is_empty() && *own != first {
                    others.push(OtherText { id: part.id.clone(), field });
                }
            }
        }
        others
    }

    /// Returns the changes that give the files what the record gained and lost since it was their
    /// combination. `own` is the id of this clone's file, which gets all that is new.
    fn distribute(&self, record: &Record, own: &ShareId) -> ChangedTopicFiles {
        let Some(wanted) = Whole::of(&SharedContent::of(record)) else {
            return ChangedTopicFiles::new();
        };
        let mut parts = self.parts.clone();
        let at = parts.iter().position(|part| part.id == *own).unwrap_or_else(|| {
            let name = wanted.topic.name.clone();
            let whole = Whole { topic: Topic { name, ..Topic::default() }, ..Whole::default() };
            let created = Some(record.updated.time);
            parts.push(Part { id: own.clone(), created, status_at: None, whole });
            parts.len() - 1
        });
        for part in &mut parts {
            lists::date(&mut part.whole.topic.decisions, &wanted.topic.decisions);
            lists::date(&mut part.whole.topic.history, &wanted.topic.history);
        }
        self.give_name(&mut parts, &wanted.topic.name);
        self.give_status(&mut parts, at, &wanted.topic, record);
        give_descriptions(&mut parts, at, wanted.topic.clone());
        give_pin(&mut parts, at, wanted.pinned);
        let derived = unsaid(&parts);
        spread(
            &wanted.topic.decisions,
            TOPIC_DECISIONS_MAX,
            &[],
            at,
            each(&mut parts, |it| &mut it.topic.decisions),
        );
        spread(
            &wanted.topic.history,
            TOPIC_HISTORY_MAX,
            &derived,
            at,
            each(&mut parts, |it| &mut it.topic.history),
        );
        spread(
            &wanted.topic.files,
            TOPIC_FILES_MAX,
            &[],
            at,
            each(&mut parts, |it| &mut it.topic.files),
        );
        spread(&wanted.tags, TAGS_MAX, &[], at, each(&mut parts, |it| &mut it.tags));
        self.changes(parts)
    }

    /// Returns this clone's own file for a record that never agreed with these files: all that they
    /// lack. `None` if they lack nothing.
    fn joining(&self, record: &Record) -> Option<FileForm> {
        let mut new = Part::new(ShareId::derive("", record.id), &FileForm::of(record))?;
        let Some(known) = combined(&mut self.parts.clone()) else { return Some(new.form()) };
        let topic = &mut new.whole.topic;
        if topic.status == known.topic.status {
            topic.status.clear();
            new.status_at = None;
        }
        let mut there = known.topic.clone();
        for (_, text) in DESCRIPTIONS {
            if text(topic) == text(&mut there) {
                text(topic).clear();
            }
        }
        lists::drop_known(&mut topic.decisions, &known.topic.decisions);
        lists::drop_known(&mut topic.history, &known.topic.history);
        lists::drop_known(&mut topic.files, &known.topic.files);
        lists::drop_known(&mut new.whole.tags, &known.tags);
        new.whole.pinned &= !known.pinned;
        (!new.is_empty()).then(|| new.form())
    }

    /// Returns the changes that leave one description of each kind: the record's, or the next one
    /// if the first is to go.
    pub fn keep_descriptions(&self, record: Option<&Topic>) -> ChangedTopicFiles {
        let mut parts = self.parts.clone();
        for (_, text) in DESCRIPTIONS {
            let first = first_text(&mut parts, text);
            let texts: Vec<&mut String> = parts
                .iter_mut()
                .map(|part| text(&mut part.whole.topic))
                .filter(|text| !text.is_empty())
                .collect();
            let differ = texts.iter().any(|text| **text != first);
            match record.cloned() {
                Some(mut record) => {
                    let mut kept = Some(std::mem::take(text(&mut record)));
                    for text in texts {
                        *text = kept.take().unwrap_or_default();
                    }
                }
                None if differ => {
                    texts.into_iter().filter(|text| **text == first).for_each(String::clear);
                }
                None => {}
            }
        }
        self.changes(parts)
    }

    /// Returns the status that counts, with the time from which it holds.
    fn newest_status(&self) -> Option<(Timestamp, &Part)> {
        newest_status(&self.parts)
    }

    /// Returns the files that differ from those here. A file that lost its last item is removed,
    /// unless it is the only one.
    fn changes(&self, parts: Vec<Part>) -> ChangedTopicFiles {
        let is_known = |part: &Part| self.parts.iter().any(|known| known.id == part.id);
        let is_same = |part: &Part| self.parts.contains(part);
        let goes = |part: &Part| part.is_empty() && !is_same(part);
        let mut kept = parts.iter().filter(|part| !goes(part));
        let last = match kept.next() {
            None => parts.iter().find(|part| is_known(part)).map(|part| part.id.clone()),
            Some(_) => None,
        };
        let changed = parts.into_iter().filter(|part| !is_same(part));
        let changed = changed.filter(|part| !goes(part) || is_known(part));
        let file = |part: Part| {
            let is_removed = goes(&part) && last.as_ref() != Some(&part.id);
            (part.id.clone(), (!is_removed).then(|| part.form()))
        };
        changed.map(file).collect()
    }

    /// Gives all files the record's name, if it is that of another topic.
    fn give_name(&self, parts: &mut [Part], name: &str) {
        let key = topic_key(name);
        if self.parts.first().is_some_and(|first| topic_key(&first.whole.topic.name) != key) {
            for part in parts {
                name.clone_into(&mut part.whole.topic.name);
            }
        }
    }

    fn give_status(&self, parts: &mut [Part], own: usize, wanted: &Topic, record: &Record) {
        let newest = self.newest_status();
        let status = newest.map_or("", |(_, part)| part.whole.topic.status.as_str());
        if status == wanted.status {
            return;
        }
        let written = status_time(wanted, record);
        // It follows the earlier one, whatever the other clone's clock said.
        let after = newest.map(|(since, _)| Timestamp(since.0.saturating_add(1)));
        if let Some(part) = parts.get_mut(own) {
            part.whole.topic.status.clone_from(&wanted.status);
            part.status_at = Some(after.map_or(written, |after| written.max(after)));
        }
    }
}

/// Combines files in their order.
fn combined(parts: &mut [Part]) -> Option<Whole> {
    let mut topic = Topic { name: parts.first()?.whole.topic.name.clone(), ..Topic::default() };
    if let Some((_, newest)) = newest_status(parts) {
        topic.status.clone_from(&newest.whole.topic.status);
    }
    let unsaid = unsaid(parts);
    for (_, text) in DESCRIPTIONS {
        *text(&mut topic) = first_text(parts, text);
    }
    let all = || parts.iter().map(|part| &part.whole);
    let decisions = all().map(|it| it.topic.decisions.as_slice()).collect::<Vec<_>>();
    topic.decisions = limited(&decisions, TOPIC_DECISIONS_MAX);
    let history = all().map(|it| it.topic.history.as_slice()).chain([unsaid.as_slice()]);
    topic.history = limited(&history.collect::<Vec<_>>(), TOPIC_HISTORY_MAX);
    let files = all().map(|it| it.topic.files.as_slice()).collect::<Vec<_>>();
    topic.files = limited(&files, TOPIC_FILES_MAX);
    let tags = all().map(|it| it.tags.as_slice()).collect::<Vec<_>>();
    let tags = limited(&tags, TAGS_MAX);
    let pinned = all().any(|it| it.pinned);
    Some(Whole { topic, tags, pinned })
}

fn newest_status(parts: &[Part]) -> Option<(Timestamp, &Part)> {
    let since = parts.iter().filter_map(|part| Some((part.status_since()?, part)));
    since.max_by_key(|(since, part)| (*since, part.id.clone()))
}

/// Returns a line of history for each status that does not count and that no line tells of.
fn unsaid(parts: &[Part]) -> Vec<HistoryLine> {
    let newest = newest_status(parts).map_or("", |(_, part)| &part.whole.topic.status);
    let mut lines: Vec<HistoryLine> = Vec::new();
    for part in parts {
        let status = &part.whole.topic.status;
        let Some(since) = part.status_since().filter(|_| !status.is_empty() && status != newest)
        else {
            continue;
        };
        let line = status_line(status, since);
        let mut known = parts.iter().flat_map(|part| &part.whole.topic.history).chain(&lines);
        if !known.any(|known| known.text == line.text) {
            lines.push(line);
        }
    }
    lines
}

/// Returns the description that counts: that of the first file with one.
fn first_text(parts: &mut [Part], text: fn(&mut Topic) -> &mut String) -> String {
    let texts = parts.iter_mut().map(|part| text(&mut part.whole.topic).clone());
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// Writes descriptions where they are, or into the own file.
fn give_descriptions(parts: &mut [Part], own: usize, mut wanted: Topic) {
    for (_, text) in DESCRIPTIONS {
        let first = first_text(parts, text);
        let wanted = std::mem::take(text(&mut wanted));
        if first == wanted {
            continue;
        }
        if first.is_empty() {
            if let Some(part) = parts.get_mut(own) {
                *text(&mut part.whole.topic) = wanted;
            }
            continue;
        }
        let mut wanted = Some(wanted);
        let texts = parts.iter_mut().map(|part| text(&mut part.whole.topic));
        texts.filter(|text| **text == first).for_each(|text| {
            *text = wanted.take().unwrap_or_default();
        });
    }
}

fn give_pin(parts: &mut [Part], own: usize, pinned: bool) {
    if !pinned {
        for part in parts {
            part.whole.pinned = false;
        }
    } else if !parts.iter().any(|part| part.whole.pinned)
        && let Some(part) = parts.get_mut(own)
    {
        part.whole.pinned = true;
    }
}

/// Returns one list of each file.
fn each<T>(parts: &mut [Part], list: fn(&mut Whole) -> &mut Vec<T>) -> Vec<&mut Vec<T>> {
    parts.iter_mut().map(|part| list(&mut part.whole)).collect()
}

#[cfg(test)]
mod tests;
