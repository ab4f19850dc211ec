//! Topics in staged work: one part for each topic, with everything that was staged for it.

use super::{
    HistoryLine, Topic, TopicDecision, TopicPart, absorb, all_files, merge_key, part_texts,
    topic_key, topic_name,
};
use crate::fold::one_line;
use crate::ids::{Revision, Timestamp};
use crate::intake::{BRIEFLY, WriteLimits, chars, files, line};
use crate::kinds::{FoldRule, Keyed, MergeKey, StagedItem};
use crate::limits::{
    ITEMS_MAX, LINE_CHARS_MAX, TOPIC_ARCHITECTURE_CHARS_MAX, TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX,
    TOPIC_LINE_WRITTEN_CHARS_MAX, TOPIC_OVERVIEW_CHARS_MAX, TOPIC_STATUS_CHARS_MAX,
};
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::{Refusal, RefusedField};

impl StagedItem for TopicPart {
    fn accept(items: Vec<Self>, _: &WriteLimits) -> Result<Vec<Self>, Refusal> {
        let mut parts = items.into_iter().map(accept_topic).collect::<Result<Vec<_>, Refusal>>()?;
        parts.retain(|part| part.name.is_some() || !part.is_empty());
        let mut accepted = Vec::new();
        absorb(&mut accepted, &parts);
        Ok(accepted)
    }

    fn absorb(items: &mut Vec<Self>, later: &[Self], _: Timestamp) -> Vec<Body> {
        absorb(items, later);
        Vec::new()
    }

    /// Has only what is missing here. A newer status or answer here stays. If the topic is newer
    /// here, files and questions are added only as long as there is room.
    fn of_record(record: &Record, here: Option<&Record>, origin: &Provenance) -> Option<Self> {
        let topic = record.topic()?;
        let newer = here.is_some_and(|here| here.updated.time >= origin.time);
        let none = Topic::default();
        let here = here.and_then(Record::topic).unwrap_or(&none);
        let room = |here: usize, items_max: usize| {
            if newer { items_max.saturating_sub(here) } else { items_max }
        };
        let new = topic.decisions.iter().filter(|decision| is_news(here, decision));
        let files = topic.files.iter().filter(|file| !here.files.contains(*file));
        let description = |there: &String, here: &String| {
            let is_news = here.is_empty() || !newer && there != here;
            Some(there.clone()).filter(|there| is_news && !there.is_empty())
        };
        Some(Self {
            name: Some(topic.name.clone()),
            status: Some(topic.status.clone())
                .filter(|status| !newer && !status.is_empty() && *status != here.status),
            overview: description(&topic.overview, &here.overview),
            architecture: description(&topic.architecture, &here.architecture),
            decisions: new.take(room(here.decisions.len(), TOPIC_DECISIONS_MAX)).cloned().collect(),
            history: topic.history.clone(),
            files: files.take(room(here.files.len(), TOPIC_FILES_MAX)).cloned().collect(),
            ..Self::default()
        })
    }

    fn count(items: &[Self]) -> usize {
        items.iter().filter(|part| part.is_work()).count()
    }

    fn rule(&self) -> FoldRule<'_> {
        FoldRule::Keyed(self)
    }

    fn bytes(&self) -> usize {
        self.text_bytes()
    }

    fn is_work(&self) -> bool {
        self.is_work()
    }

    fn change_files(&mut self, change: &mut dyn FnMut(&mut String)) {
        let lines = self.history.iter_mut().flat_map(|line| &mut line.files);
        self.files.iter_mut().chain(lines).for_each(change);
    }

    /// A call has one topic.
    fn field(&self, _: &'static str, _: usize) -> RefusedField {
        "topic".into()
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        let files = all_files(&self.files, &self.history);
        let texts = part_texts(self).into_iter().chain(files).chain([self.topic()]);
        texts.map(|text| ("", text)).collect()
    }

    fn whole_texts(&self) -> Vec<(&'static str, String)> {
        part_texts(self).into_iter().map(|text| ("", text.to_owned())).collect()
    }

    fn purge_key(&self) -> Option<MergeKey> {
        Some(merge_key(self.topic()))
    }
}

impl Keyed for TopicPart {
    fn body(&self) -> Body {
        let mut new = Topic { name: self.topic().to_owned(), ..Topic::default() };
        new.take_in(self);
        Body::Topic(new)
    }

    /// The name stays as it was spelt first.
    fn merged(&self, stored: Body, written: Revision) -> Option<Body> {
        let Body::Topic(mut stored) = stored else { return Some(self.body()) };
        let taken = self.taken(&stored, written);
        stored.take_in(&taken);
        Some(Body::Topic(stored))
    }
}

/// Checks a topic. The status is also added to the history, so that one which another session
/// overwrites stays visible.
fn accept_topic(mut part: TopicPart) -> Result<TopicPart, Refusal> {
    let field = |name: &str| format!("topic.{name}");
    part.name = part.name.as_deref().map(topic_name).transpose()?;
    for (name, text, chars_max) in [
        ("status", &mut part.status, TOPIC_STATUS_CHARS_MAX),
        ("overview", &mut part.overview, TOPIC_OVERVIEW_CHARS_MAX),
        ("architecture", &mut part.architecture, TOPIC_ARCHITECTURE_CHARS_MAX),
    ] {
        let Some(written) = text.take() else { continue };
        let written = written.trim();
        let length = written.chars().count();
        if length > chars_max {
            let advice = match name {
                "status" => "say where it stands, and note the rest",
                _ => "keep what matters most, and note the rest",
            };
            return Err(Refusal::too_long(field(name), length, chars_max).advising(advice));
        }
        *text = Some(written.to_owned()).filter(|text| !text.is_empty());
    }
    if let Some(line) = part.status.as_deref().map(HistoryLine::new)
        && !part.history.iter().any(|known| known.text == line.text)
    {
        part.history.push(line);
    }
    if part.decisions.len() > ITEMS_MAX || part.history.len() > ITEMS_MAX {
        let why = format!("has more than {ITEMS_MAX} decisions or lines");
        return Err(Refusal::invalid("topic", why).advising("send them in parts"));
    }
    for (at, decision) in part.decisions.iter_mut().enumerate() {
        let field = |name: &str| field(&format!("decisions[{at}].{name}"));
        decision.question = line(field("question"), &decision.question)?;
        if let Some(decided) = &decision.decided {
            let decided = one_line(decided);
            chars(field("decision"), &decided, LINE_CHARS_MAX)
                .map_err(|refusal| refusal.advising(BRIEFLY))?;
            decision.decided = Some(decided).filter(|decided| !decided.is_empty());
        }
    }
    for (at, line) in part.history.iter_mut().enumerate() {
        line.text = one_line(&line.text);
        let length = line.text.chars().count();
        if length > TOPIC_LINE_WRITTEN_CHARS_MAX {
            let place = field(&format!("history[{at}]"));
            let refusal = Refusal::too_long(place, length, TOPIC_LINE_WRITTEN_CHARS_MAX);
            return Err(refusal.advising("split it, or note the rest"));
        }
        let place = || field(&format!("history[{at}].files"));
        line.files = files(place(), &line.files, TOPIC_FILES_MAX)?;
    }
    part.history.retain(|line| !line.text.is_empty());
    part.files = files("topic.files", &part.files, TOPIC_FILES_MAX)?;
    Ok(part)
}

/// Returns whether a question is unknown here, undecided here, or was decided differently and later
/// there.
fn is_news(here: &Topic, new: &TopicDecision) -> bool {
    let key = topic_key(&new.question);
    match here.decisions.iter().find(|known| topic_key(&known.question) == key) {
        None => true,
        Some(known) => {
            let later = known.decided.is_none() || new.time > known.time;
            new.decided.is_some() && new.decided != known.decided && later
        }
    }
}

#[cfg(test)]
impl crate::testing::Sample for TopicPart {
    fn any() -> proptest::prelude::BoxedStrategy<Self> {
        use proptest::prelude::*;

        use crate::testing::words;

        let name = prop::option::of(prop::sample::select(vec!["main", "Cache", "cache", "Wire 2"]));
        let decision = (
            prop::sample::select(vec!["Which port?", "which  port?", "LRU?", "Keep?"]),
            prop::option::of(words()),
            0_i64..4,
        );
        let decision = decision.prop_map(|(question, decided, time)| TopicDecision {
            question: question.to_owned(),
            decided,
            time: Timestamp(time),
        });
        let files = || {
            let file = prop::sample::select(vec!["a.rs", "./a.rs", "b.rs"]);
            prop::collection::vec(file.prop_map(str::to_owned), 0..3)
        };
        let line = (words(), 0_i64..4, files(), any::<bool>());
        let line = line.prop_map(|(text, time, files, by_rule)| {
            let line = if by_rule { HistoryLine::new(&text) } else { HistoryLine::written(text) };
            HistoryLine { time: Timestamp(time), files, ..line }
        });
        let text = || prop::option::of(words());
        let decision = prop_oneof![
            decision,
            prop::sample::select(vec!["LRU it is.", "lru  it is."])
                .prop_map(TopicDecision::statement),
        ];
        let decisions = prop::collection::vec(decision, 0..5);
        let texts = (text(), text(), text());
        (name, texts, decisions, prop::collection::vec(line, 0..4), files())
            .prop_map(|(name, (status, overview, architecture), decisions, history, files)| {
                TopicPart {
                    name: name.map(str::to_owned),
                    status,
                    overview,
                    architecture,
                    decisions,
                    history,
                    files,
                    ..TopicPart::default()
                }
            })
            .boxed()
    }

    fn of_size(name: &str, bytes: usize) -> Self {
        let status = Some("x".repeat(bytes.min(3_900)));
        Self { name: Some(name.to_owned()), status, ..Self::default() }
    }
}
