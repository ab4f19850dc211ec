//! Topics that several clones share.

use proptest::prelude::*;

use super::clones::{Clone, Files, change, meet};
use super::*;
use crate::kinds::topic::{HistoryLine, Topic, TopicDecision};
use crate::shared::FilesOfTopic;

fn question(question: &str, decided: Option<&str>) -> TopicDecision {
    let decided = decided.map(str::to_owned);
    TopicDecision { question: question.to_owned(), decided, time: Timestamp::default() }
}

fn status(text: &str) -> TopicPart {
    TopicPart { status: Some(text.to_owned()), ..TopicPart::default() }
}

fn part() -> impl Strategy<Value = TopicPart> {
    let word = || prop::sample::select(vec!["alpha", "beta", "gamma", "delta"]);
    let decisions = prop::collection::vec((word(), prop::option::of(word())), 0..3);
    let files = prop::collection::vec(word(), 0..3);
    let history = prop::collection::vec((word(), prop::collection::vec(word(), 0..2)), 0..2);
    (prop::option::of(word()), decisions, files, history).prop_map(
        |(status, decisions, files, history)| TopicPart {
            status: status.map(str::to_owned),
            decisions: decisions.into_iter().map(|(a, b)| question(&format!("{a}?"), b)).collect(),
            files: files.into_iter().map(str::to_owned).collect(),
            history: (history.into_iter())
                .map(|(text, files)| HistoryLine {
                    files: files.into_iter().map(str::to_owned).collect(),
                    ..HistoryLine::written(text.to_owned())
                })
                .collect(),
            ..TopicPart::default()
        },
    )
}

#[derive(Clone, Debug)]
enum Step {
    /// A clone saves, and its daemon may look.
    Save(usize, Box<TopicPart>, bool),
    /// A clone pulls and pushes.
    Sync(usize),
    /// A clone's record loses an item of a list.
    Lose(usize, usize),
    /// A person removes an item from a file.
    Cut(usize, usize),
    /// A clone rewrites the overview.
    Describe(usize, &'static str),
}

fn additions() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..3_usize, part(), any::<bool>()).prop_map(|(at, part, looks)| Step::Save(at, Box::new(part), looks)),
        1 => (0..3_usize).prop_map(Step::Sync),
    ];
    prop::collection::vec(step, 1..16)
}

fn anything() -> impl Strategy<Value = Vec<Step>> {
    let texts = prop::sample::select(vec!["one text", "another text", "a third"]);
    let step = prop_oneof![
        4 => (0..3_usize, part(), any::<bool>()).prop_map(|(at, part, looks)| Step::Save(at, Box::new(part), looks)),
        2 => (0..3_usize).prop_map(Step::Sync),
        1 => (0..3_usize, 0..9_usize).prop_map(|(at, item)| Step::Lose(at, item)),
        1 => (0..3_usize, 0..9_usize).prop_map(|(at, item)| Step::Cut(at, item)),
        1 => (0..3_usize, texts).prop_map(|(at, text)| Step::Describe(at, text)),
    ];
    prop::collection::vec(step, 1..16)
}

/// Removes an item from a topic.
fn lose(topic: &mut Topic, item: usize) {
    let mut item = item;
    let mut cut = |len: usize| {
        let at = (item < len).then_some(item);
        item = item.wrapping_sub(len);
        at
    };
    if let Some(at) = cut(topic.decisions.len()) {
        topic.decisions.remove(at);
    } else if let Some(at) = cut(topic.files.len()) {
        topic.files.remove(at);
    } else if let Some(at) = cut(topic.history.len()) {
        topic.history.remove(at);
    }
}

fn run(
    clones: &mut [Clone; 3],
    repository: &mut Files,
    steps: Vec<Step>,
) -> Result<bool, TestCaseError> {
    let mut is_both = false;
    for (minute, step) in (1..).zip(steps) {
        match step {
            Step::Save(at, part, looks) => {
                clones[at].save(minute, *part);
                if looks {
                    clones[at].settle();
                }
            }
            Step::Sync(at) => {
                let (is_clean, both) = clones[at].sync(repository);
                prop_assert!(is_clean || is_both || both);
                is_both |= both;
            }
            Step::Lose(at, item) if clones[at].memory.topic("main").is_some() => {
                clones[at].rewrite(|topic| lose(topic, item));
            }
            Step::Cut(at, item) => {
                let clone = &mut clones[at];
                clone.settle();
                let Some(id) = clone.files.keys().nth(item % 3).cloned() else { continue };
                let form = clone.files.get_mut(&id).unwrap();
                let mut body = form.content.body(None, day(1)).unwrap();
                if let Body::Topic(topic) = &mut body {
                    lose(topic, item);
                }
                form.content = SharedContent::new(&body, Vec::new(), false);
                clone.settle();
            }
            Step::Describe(at, text) => {
                let overview = Some(text.to_owned());
                clones[at].save(minute, TopicPart { overview, ..TopicPart::default() });
            }
            Step::Lose(..) => {}
        }
    }
    Ok(is_both)
}

fn three() -> ([Clone; 3], Files) {
    ([Clone::new("one"), Clone::new("two"), Clone::new("three")], Files::new())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// No clone writes another's file or has to write after a pull, all end equal, and nothing that
    /// was said is lost.
    #[test]
    fn additions_of_three_clones_never_meet_in_one_file(steps in additions()) {
        let (mut clones, mut repository) = three();
        let parts = steps.iter().filter_map(|step| match step {
            Step::Save(_, part, _) => Some(TopicPart::clone(part)),
            _ => None,
        });
        let parts: Vec<TopicPart> = parts.collect();
        prop_assert!(!run(&mut clones, &mut repository, steps)?);
        prop_assert!(!meet(&mut clones, &mut repository));
        let main = clones[0].main();
        for part in parts {
            for decision in &part.decisions {
                let known = main.decisions.iter().find(|it| it.question == decision.question);
                let is_open = known.is_some_and(|known| known.decided.is_none());
                prop_assert!(known.is_some() && !(is_open && decision.decided.is_some()));
            }
            let has_line = |text: &str| main.history.iter().any(|line| line.text == text);
            prop_assert!(part.status.iter().all(|status| has_line(status)));
            prop_assert!(part.history.iter().all(|line| has_line(&line.text)));
            prop_assert!(part.files.iter().all(|file| main.files.contains(file)));
        }
    }

    /// Whatever clones do, they come to rest and end equal.
    #[test]
    fn clones_come_to_rest(steps in anything()) {
        let (mut clones, mut repository) = three();
        run(&mut clones, &mut repository, steps)?;
        meet(&mut clones, &mut repository);
    }
}

/// Returns the clones after each saved more than a topic keeps.
fn full(decisions: bool) -> ([Clone; 3], Files) {
    let (mut clones, mut repository) = three();
    for round in 0..6_i64 {
        for (at, clone) in (0..).zip(&mut clones) {
            let minute = 1_000 * round + 10 * at;
            let items = |what: &str, n: usize| -> Vec<String> {
                (0..n).map(|item| format!("{what} {round} {item} of {}", clone.name)).collect()
            };
            let asked = items("question", if decisions { 17 } else { 0 });
            let part = TopicPart {
                decisions: asked.iter().map(|text| question(text, Some("yes"))).collect(),
                files: items("src", 11),
                history: items("line", 21).into_iter().map(HistoryLine::written).collect(),
                ..status(&format!("round {round} of {}", clone.name))
            };
            clone.save(minute, part);
            let (is_clean, both) = clone.sync(&mut repository);
            assert!(is_clean && !both, "a full list is no reason to write another's file");
        }
    }
    (clones, repository)
}

#[test]
fn full_lists_are_no_fight() {
    for decisions in [false, true] {
        let (mut clones, mut repository) = full(decisions);
        assert!(!meet(&mut clones, &mut repository));
        let main = clones[0].main();
        assert_eq!((main.history.len(), main.files.len()), (100, 50));
        let of = |name: &str| main.files.iter().filter(|file| file.ends_with(name)).count();
        assert!(of("one") > 10 && of("two") > 10 && of("three") > 10);
        assert_eq!(repository.len(), 3);
        // The file just mentioned is in view, although the list was full.
        clones[1].save(9_000, TopicPart { files: vec!["src/new.rs".to_owned()], ..status("x") });
        clones[1].settle();
        assert!(clones[1].main().files.contains(&"src/new.rs".to_owned()));
        assert!(!meet(&mut clones, &mut repository));
        assert!(clones[2].main().files.contains(&"src/new.rs".to_owned()));
    }
}

#[test]
fn a_file_mentioned_again_stays_in_a_full_list() {
    let (mut clones, mut repository) = full(false);
    let old = clones[0].main().files.into_iter().find(|file| file.ends_with("of one")).unwrap();
    for round in 0..40 {
        let files = vec![old.clone(), format!("src/more {round}")];
        clones[0].save(10_000 + round, TopicPart { files, ..TopicPart::default() });
        clones[0].settle();
        assert!(clones[0].main().files.contains(&old), "round {round}");
    }
    assert!(!meet(&mut clones, &mut repository));
    assert!(clones[1].main().files.contains(&old));
}

#[test]
fn each_clone_has_its_own_file_and_all_have_one_topic() {
    let (mut clones, mut repository) = three();
    for (minute, clone) in (1..).zip(&mut clones) {
        let name = clone.name;
        let decisions = vec![question(&format!("Which port for {name}?"), None)];
        clone.save(minute, TopicPart { decisions, ..status(&format!("{name} works")) });
    }
    assert!(!meet(&mut clones, &mut repository));
    assert_eq!(repository.len(), 3);
    for clone in &clones {
        let main = clone.main();
        assert_eq!((&*main.status, main.decisions.len()), ("three works", 3));
        let lines: Vec<&str> = main.history.iter().map(|line| &*line.text).collect();
        assert_eq!(lines, ["one works", "two works", "three works"]);
    }
    // One answers another's question, in its own file.
    let theirs = repository[&clones[1].own()].clone();
    let decisions = vec![question("which PORT for two?", Some("7717"))];
    clones[0].save(9, TopicPart { decisions, ..TopicPart::default() });
    assert!(!meet(&mut clones, &mut repository));
    assert_eq!(repository[&clones[1].own()], theirs);
    let open: Vec<_> = clones[2].main().pending().map(|it| it.question.clone()).collect();
    assert_eq!(open, ["Which port for one?", "Which port for three?"]);
}

#[test]
fn a_removal_of_the_others_item_is_honoured() {
    let (mut clones, mut repository) = three();
    for (minute, clone) in (1..).zip(&mut clones) {
        let files = vec![format!("src/{}.rs", clone.name), "src/all.rs".to_owned()];
        clone.save(minute, TopicPart { files, ..status(clone.name) });
    }
    meet(&mut clones, &mut repository);
    let gone = ["src/two.rs", "src/all.rs"];
    clones[0].rewrite(|topic| topic.files.retain(|file| !gone.contains(&&**file)));
    clones[2].save(9, TopicPart { files: vec!["src/new.rs".to_owned()], ..TopicPart::default() });
    meet(&mut clones, &mut repository);
    for clone in &clones {
        let mut files = clone.main().files;
        files.sort();
        assert_eq!(files, ["src/new.rs", "src/one.rs", "src/three.rs"]);
    }
}

#[test]
fn a_file_without_items_goes_and_the_last_one_stays() {
    let (mut clones, mut repository) = three();
    for (minute, clone) in (1..).zip(&mut clones) {
        let files = vec![format!("src/{}.rs", clone.name)];
        clone.save(minute, TopicPart { files, ..TopicPart::default() });
    }
    meet(&mut clones, &mut repository);
    assert_eq!(repository.len(), 3);
    clones[0].rewrite(|topic| topic.files.retain(|file| file != "src/two.rs"));
    meet(&mut clones, &mut repository);
    assert_eq!(repository.len(), 2);
    clones[1].rewrite(|topic| topic.files.clear());
    meet(&mut clones, &mut repository);
    assert_eq!((repository.len(), clones[2].main().files.len()), (1, 0));
}

#[test]
fn deleting_one_file_removes_its_items_and_deleting_the_last_forgets_the_topic() {
    let (mut clones, mut repository) = three();
    for (minute, clone) in (1..).zip(&mut clones) {
        clone.save(minute, TopicPart { files: vec![clone.name.to_owned()], ..status(clone.name) });
    }
    meet(&mut clones, &mut repository);
    let (own, before) = (clones[1].own(), repository.clone());
    clones[0].files.remove(&own);
    clones[0].settle();
    let main = clones[0].main();
    assert_eq!((main.files.len(), &*main.status), (2, "three"));
    assert!(main.history.iter().all(|line| line.text != "two"), "{main:?}");
    clones[0].files.clear();
    clones[0].settle();
    assert!(clones[0].memory.topic("main").is_none() && clones[0].files.is_empty());
    // Going back to the branch brings the same record back.
    let last = clones[0].memory.last_number();
    clones[0].files = before.clone();
    clones[0].settle();
    assert_eq!((clones[0].main().files.len(), clones[0].memory.last_number()), (3, last));
    // Forgetting the topic removes its files, for everybody.
    let id = clones[0].memory.topic("main").unwrap().id;
    let plan =
        crate::plan_forget(&clones[0].memory, &crate::Reader::owner(), id, None, &origin("one", 5));
    apply(&mut clones[0].memory, plan.unwrap());
    meet(&mut clones, &mut repository);
    assert!(repository.is_empty());
    assert!(clones.iter().all(|clone| clone.memory.topic("main").is_none()));
}

#[test]
fn an_edit_of_any_file_is_taken_in() {
    let (mut clones, mut repository) = three();
    for (minute, clone) in (1..).zip(&mut clones) {
        clone.save(
            minute,
            TopicPart { decisions: vec![question("Which?", None)], ..status(clone.name) },
        );
    }
    meet(&mut clones, &mut repository);
    // Somebody adds an undated line, answers, and changes the status by hand.
    let edited = clones[2].own();
    let text = clones[0].files[&edited].render();
    let text = text
        .replace("\nthree\n", "\nby hand\n")
        .replace("history = [", "history = [\n  { text = \"a line by hand\" },");
    let form = FileForm::parse(Kind::Topic, text.as_bytes()).unwrap();
    clones[0].files.insert(edited.clone(), form);
    clones[0].settle();
    let main = clones[0].main();
    assert_eq!(main.status, "by hand");
    let line = main.history.iter().find(|line| line.text == "a line by hand").unwrap();
    assert_eq!(line.time, day(30), "it is dated");
    assert!(clones[0].files[&edited].render().contains("text = \"a line by hand\", time = "));
    assert!(!meet(&mut clones, &mut repository));
    assert_eq!(clones[1].main().status, "by hand");
}

#[test]
fn a_status_that_no_line_tells_of_becomes_one_without_a_write() {
    let (mut clones, mut repository) = three();
    clones[0].save(1, status("begun"));
    meet(&mut clones, &mut repository);
    let own = clones[0].own();
    let text = clones[0].files[&own].render().replace("\nbegun\n", "\nedited by hand\n");
    clones[0].files.insert(own.clone(), FileForm::parse(Kind::Topic, text.as_bytes()).unwrap());
    clones[0].sync(&mut repository);
    clones[1].sync(&mut repository);
    clones[1].save(5, status("done"));
    let (is_clean, both) = clones[1].sync(&mut repository);
    assert!(is_clean && !both);
    assert!(!meet(&mut clones, &mut repository));
    for clone in &clones {
        let main = clone.main();
        assert_eq!(main.status, "done");
        assert!(main.history.iter().any(|line| line.text == "edited by hand"), "{main:?}");
    }
    assert!(repository[&own].render().contains("\nedited by hand\n"));
}

#[test]
fn the_newer_status_wins_also_if_both_changed_before_anybody_looked() {
    for (mine, theirs) in [(5, 7), (7, 5)] {
        let (mut clones, mut repository) = three();
        clones[0].save(1, status("begun"));
        meet(&mut clones, &mut repository);
        clones[1].save(theirs, status("theirs"));
        clones[1].sync(&mut repository);
        // The save and the pull are both new to the daemon.
        clones[0].save(mine, status("mine"));
        clones[0].files.clone_from(&repository);
        clones[0].settle();
        let main = clones[0].main();
        assert_eq!(main.status, if mine > theirs { "mine" } else { "theirs" });
        assert!(
            ["mine", "theirs"].iter().all(|text| main.history.iter().any(|it| it.text == *text))
        );
    }
}

#[test]
fn a_clock_that_is_behind_does_not_hide_what_is_written_next() {
    let (mut clones, mut repository) = three();
    clones[0].save(500, status("ahead"));
    meet(&mut clones, &mut repository);
    clones[1].save(3, status("written after it"));
    assert!(!meet(&mut clones, &mut repository));
    assert!(clones.iter().all(|clone| clone.main().status == "written after it"));
}

#[test]
fn descriptions_stay_where_they_are_and_two_are_named() {
    let described = |text: &str| {
        let overview = Some(text.to_owned());
        TopicPart { overview, ..TopicPart::default() }
    };
    let (mut clones, mut repository) = three();
    clones[0].save(1, described("A cache."));
    meet(&mut clones, &mut repository);
    clones[1].save(2, described("A cache of pages."));
    assert!(!meet(&mut clones, &mut repository));
    assert_eq!(repository.len(), 1, "it is rewritten in its file");
    // Two clones that begin it at once.
    let (mut clones, mut repository) = three();
    clones[0].save(1, described("A cache."));
    clones[1].save(2, described("A queue."));
    assert!(!meet(&mut clones, &mut repository));
    let together =
        |files: &Files| FilesOfTopic::new(files.iter().map(|(id, form)| (id.clone(), form)));
    for clone in &clones {
        assert_eq!(clone.main().overview, "A cache.");
        let others = together(&clone.files).other_texts();
        assert_eq!(others.len(), 1);
        assert_eq!((&others[0].id, others[0].field), (&clones[1].own(), "overview"));
    }
    // A person decides for a text of both.
    clones[2].save(3, described("A cache behind a queue."));
    meet(&mut clones, &mut repository);
    assert_eq!(together(&repository).other_texts().len(), 1, "nothing is lost silently");
    let kept = together(&repository).keep_descriptions(Some(&clones[2].main()));
    change(&mut clones[2].files, &kept);
    meet(&mut clones, &mut repository);
    assert!(together(&repository).other_texts().is_empty());
    assert!(clones.iter().all(|clone| clone.main().overview == "A cache behind a queue."));
}

#[test]
fn a_memory_with_one_file_is_read_as_it_is() {
    let mut one = Clone::new("one");
    one.save(1, status("begun"));
    one.settle();
    // Files of older builds have no time of the status.
    for form in one.files.values_mut() {
        form.times.clear();
    }
    let old = one.files.clone();
    let mut other = Clone::new("other");
    other.files.clone_from(&old);
    for clone in [&mut one, &mut other] {
        clone.settle();
        assert_eq!(clone.files, old, "nothing is written");
        assert_eq!(clone.main().status, "begun");
    }
    other.save(5, status("done"));
    other.settle();
    assert_eq!(other.files.len(), 2);
    one.files.clone_from(&other.files);
    one.settle();
    assert_eq!((&*one.main().status, &one.files), ("done", &other.files));
}
