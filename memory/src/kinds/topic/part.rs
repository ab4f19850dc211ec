//! Topics in staged work: one part for each topic, with everything that was staged for it.

use super::{
    HistoryLine, Topic, TopicDecision, TopicPart, absorb, merge_key, part_texts, topic_key,
    topic_name,
};
use crate::fold::one_line;
use crate::ids::Timestamp;
use crate::intake::{chars, files, line};
use crate::kinds::{Keyed, MergeKey, Rule, StagedItem};
use crate::limits::{
    ITEMS_MAX, LINE_CHARS_MAX, TOPIC_DECISIONS_MAX, TOPIC_FILES_MAX, TOPIC_LINE_WRITTEN_CHARS_MAX,
    TOPIC_STATUS_CHARS_MAX,
};
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

impl StagedItem for TopicPart {
    fn accept(items: Vec<Self>) -> Result<Vec<Self>, Refusal> {
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
        Some(Self {
            name: Some(topic.name.clone()),
            status: Some(topic.status.clone()).filter(|status| !newer && *status != here.status),
            decisions: new.take(room(here.decisions.len(), TOPIC_DECISIONS_MAX)).cloned().collect(),
            history: topic.history.clone(),
            files: files.take(room(here.files.len(), TOPIC_FILES_MAX)).cloned().collect(),
        })
    }

    fn count(items: &[Self]) -> usize {
        items.iter().filter(|part| part.is_work()).count()
    }

    fn rule(&self) -> Rule<'_> {
        Rule::Keyed(self)
    }

    fn bytes(&self) -> usize {
        self.text_bytes()
    }

    fn is_work(&self) -> bool {
        self.is_work()
    }

    fn change_files(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.files.iter_mut().for_each(change);
    }

    /// A call has one topic.
    fn field(&self, _: &str, _: usize) -> String {
        "topic".to_owned()
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        let files = self.files.iter().map(String::as_str);
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
    fn merged(&self, stored: Body) -> Option<Body> {
        let Body::Topic(mut stored) = stored else { return Some(self.body()) };
        stored.take_in(self);
        Some(Body::Topic(stored))
    }
}

/// Checks a topic. The status is also added to the history, so that one which another session
/// overwrites stays visible.
fn accept_topic(mut part: TopicPart) -> Result<TopicPart, Refusal> {
    let field = |name: &str| format!("topic.{name}");
    part.name = part.name.as_deref().map(topic_name).transpose()?;
    if let Some(status) = &part.status {
        let status = status.trim();
        let length = status.chars().count();
        if length > TOPIC_STATUS_CHARS_MAX {
            let why = format!(
                "has {length} characters, {TOPIC_STATUS_CHARS_MAX} are allowed; say where it stands, and note the rest"
            );
            return Err(Refusal::invalid(field("status"), why));
        }
        part.status = Some(status.to_owned()).filter(|status| !status.is_empty());
    }
    if let Some(line) = part.status.as_deref().map(HistoryLine::new)
        && !part.history.iter().any(|known| known.text == line.text)
    {
        part.history.push(line);
    }
    if part.decisions.len() > ITEMS_MAX || part.history.len() > ITEMS_MAX {
        let why = format!("has more than {ITEMS_MAX} decisions or lines; send them in parts");
        return Err(Refusal::invalid("topic", why));
    }
    for (at, decision) in part.decisions.iter_mut().enumerate() {
        let field = |name: &str| field(&format!("decisions[{at}].{name}"));
        decision.question = line(field("question"), &decision.question)?;
        if let Some(decided) = &decision.decided {
            let decided = one_line(decided);
            chars(field("decision"), &decided, LINE_CHARS_MAX)?;
            decision.decided = Some(decided).filter(|decided| !decided.is_empty());
        }
    }
    for (at, told) in part.history.iter_mut().enumerate() {
        told.text = one_line(&told.text);
        let length = told.text.chars().count();
        if length > TOPIC_LINE_WRITTEN_CHARS_MAX {
            let why = format!(
                "has {length} characters, {TOPIC_LINE_WRITTEN_CHARS_MAX} are allowed; split it, or note the rest"
            );
            return Err(Refusal::invalid(field(&format!("history[{at}]")), why));
        }
    }
    part.history.retain(|told| !told.text.is_empty());
    part.files = files(field("files"), &part.files, TOPIC_FILES_MAX)?;
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
