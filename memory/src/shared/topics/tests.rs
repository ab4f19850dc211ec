//! Laws of combining a topic's files and of distributing a record to them.

use proptest::prelude::*;

use super::*;
use crate::ids::RecordId;
use crate::kinds::topic::TopicDecision;
use crate::testing::{day, origin, save};
use crate::{Memory, Staged, TopicPart};

fn record(whole: Whole) -> Record {
    let mut memory = Memory::default();
    let part = TopicPart { files: vec!["src/a.rs".to_owned()], ..TopicPart::default() };
    let staged = Staged { topics: vec![part], ..Staged::default() };
    save(&mut memory, &origin("s1", 9), staged);
    let record = Record::clone(memory.topic("main").unwrap());
    Record { body: Body::Topic(whole.topic), tags: whole.tags, pinned: whole.pinned, ..record }
}

fn id(at: usize) -> ShareId {
    let record: RecordId = "t1".parse().unwrap();
    ShareId::derive(&format!("clone {at}"), record)
}

fn topic() -> impl Strategy<Value = Whole> {
    let word = || prop::sample::select(vec!["alpha", "beta", "gamma", "delta"]);
    let time = || (1..5_i64).prop_map(day);
    let texts = (
        prop::option::of(word()),
        prop::option::of(prop::sample::select(vec!["one", "two"])),
        any::<bool>(),
    );
    let decisions = prop::collection::btree_map(word(), (prop::option::of(word()), time()), 0..4);
    let lines = prop::collection::btree_map(
        (time(), word()),
        prop::collection::btree_set(word(), 0..2),
        0..4,
    );
    let files = prop::collection::btree_set(word(), 0..4);
    let tags = prop::collection::btree_set(word(), 0..3);
    (texts, decisions, lines, files, tags).prop_map(
        |((status, overview, pinned), decisions, lines, files, tags)| {
            let list = |words: std::collections::BTreeSet<&str>| -> Vec<String> {
                words.into_iter().map(str::to_owned).collect()
            };
            let decisions =
                decisions.into_iter().map(|(question, (decided, time))| TopicDecision {
                    question: question.to_owned(),
                    decided: decided.map(str::to_owned),
                    time,
                });
            let history = lines.into_iter().map(|((time, text), files)| HistoryLine {
                time,
                files: list(files),
                ..HistoryLine::written(text.to_owned())
            });
            let topic = Topic {
                name: "main".to_owned(),
                status: status.unwrap_or_default().to_owned(),
                overview: overview.unwrap_or_default().to_owned(),
                decisions: decisions.collect(),
                history: history.collect(),
                files: list(files),
                ..Topic::default()
            };
            Whole { topic, tags: list(tags), pinned }
        },
    )
}

fn files() -> impl Strategy<Value = FilesOfTopic> {
    let part = (topic(), 1..4_i64, prop::option::of(1..6_i64));
    prop::collection::vec(part, 1..4).prop_map(|parts| {
        let parts = parts.into_iter().enumerate().map(|(at, (whole, created, status_at))| Part {
            id: id(at),
            created: Some(day(created)),
            status_at: status_at.map(day),
            whole,
        });
        let forms: Vec<_> = parts.map(|part| (part.id.clone(), part.form())).collect();
        FilesOfTopic::new(forms.iter().map(|(id, form)| (id.clone(), form)))
    })
}

fn whole(files: &FilesOfTopic) -> Whole {
    combined(&mut files.parts.clone()).unwrap()
}

proptest! {
    /// A second overview that waits for a decision shows once the first is gone, and a status that
    /// is replaced may become a line. All else is as the record has it.
    #[test]
    fn what_is_distributed_is_combined_again(files in files(), wanted in topic(), own in 0..4_usize) {
        let record = record(wanted.clone());
        let changed = files.distribute(&record, &id(own));
        let files = files.with(&changed);
        let mut got = whole(&files);
        if wanted.topic.overview.is_empty() {
            got.topic.overview.clear();
        }
        let unsaid = unsaid(&files.parts);
        got.topic.history.retain(|line| !unsaid.contains(line) || wanted.topic.history.contains(line));
        prop_assert!(got.says_the_same(&wanted), "{got:#?}\n{wanted:#?}");
        // Once more changes nothing.
        prop_assert!(files.distribute(&record, &id(own)).is_empty() || wanted.topic.overview.is_empty());
    }

    #[test]
    fn without_a_change_no_file_changes(files in files(), own in 0..4_usize) {
        let record = record(whole(&files));
        prop_assert_eq!(files.distribute(&record, &id(own)), ChangedTopicFiles::new());
        let step = files.step(&record, &id(own), None);
        prop_assert_eq!(step, Some(TopicStep::Agreed));
    }

    /// Also if the new things replace what another file has.
    #[test]
    fn additions_change_the_own_file_alone(files in files(), more in topic(), own in 0..4_usize) {
        let mut wanted = whole(&files);
        let later = day(20);
        let decisions = more.topic.decisions.into_iter().filter(|it| it.decided.is_some());
        let history = more.topic.history.into_iter().map(|line| HistoryLine { time: later, ..line });
        wanted.topic.take_in(&TopicPart {
            status: Some("a new status".to_owned()),
            decisions: decisions.map(|it| TopicDecision { time: later, ..it }).collect(),
            history: history.collect(),
            files: more.topic.files,
            ..TopicPart::default()
        });
        wanted.tags.push("new".to_owned());
        let changed = files.distribute(&record(wanted), &id(own));
        prop_assert!(changed.keys().all(|changed| *changed == id(own)), "{changed:#?}");
    }

    #[test]
    fn the_order_in_which_files_are_read_has_no_meaning(files in files()) {
        let mut forms: Vec<_> =
            files.parts.iter().map(|part| (part.id.clone(), part.clone().form())).collect();
        forms.reverse();
        let other = FilesOfTopic::new(forms.iter().map(|(id, form)| (id.clone(), form)));
        prop_assert_eq!(other.combined(), files.combined());
    }
}
