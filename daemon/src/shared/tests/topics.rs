//! Topics, of which each clone has a file.

use anchord_memory::Topic;

use super::*;
use crate::config::{Config, TopicsConfig};
use crate::testing::poll_steps;
use crate::topic_files::TopicMirror;

impl Checkout {
    async fn save(&self, world: &World, topic: Value) {
        let save = json!({ "session_summary": "worked", "topic": topic });
        let said = self.call(world, "memory_save", save).await;
        assert!(!said.contains("rror"), "{said}");
    }

    async fn open(&self, world: &World) -> Arc<OpenProject> {
        let registry = world.daemon.projects.registry.snapshot();
        let id = registry.projects().find(|project| project.root == self.root).unwrap().id;
        world.daemon.projects.open_project(id).await.unwrap()
    }

    async fn topic(&self, world: &World, name: &str) -> Option<Topic> {
        let open = self.open(world).await;
        open.memory().topic(name).and_then(|record| record.topic()).cloned()
    }

    async fn main(&self, world: &World) -> Topic {
        self.topic(world, "main").await.unwrap()
    }

    fn topics(&self) -> Vec<String> {
        self.files().into_keys().filter(|path| path.starts_with("topic/")).collect()
    }
}

fn questions(topic: &Topic) -> Vec<&str> {
    let mut questions: Vec<&str> = topic.decisions.iter().map(|it| &*it.question).collect();
    questions.sort_unstable();
    questions
}

/// Makes passes until the topic `main` is as wanted. A deletion has to last for a moment.
async fn poll_main(clone: &Checkout, world: &World, is: impl Fn(&Topic) -> bool) {
    poll_steps(async || {
        clone.state(world).await;
        is(&clone.main(world).await).then_some(())
    })
    .await;
}

/// Returns two clones that each have a file of `main` and both know both.
async fn two(world: &World) -> (Checkout, Checkout) {
    let (one, other) = (Checkout::new(world, "one"), Checkout::new(world, "other"));
    let asked = |question: &str| json!({"decisions": [{"question": question}]});
    one.save(world, asked("Which port?")).await;
    other.save(world, asked("Which host?")).await;
    one.share(world).await;
    other.share(world).await;
    let both = merged(&Files::new(), &one.files(), &other.files());
    for clone in [&one, &other] {
        clone.check_out(&both);
        assert_eq!(clone.state(world).await.conflicts, 0);
        assert_eq!(clone.files(), both, "nobody writes after a merge");
        assert_eq!(questions(&clone.main(world).await), ["Which host?", "Which port?"]);
    }
    (one, other)
}

#[tokio::test]
async fn a_clone_writes_its_own_file_alone() {
    let world = World::new().await;
    let (one, other) = two(&world).await;
    let before = one.files();
    let own = one.file_with("Which port?");
    let answers = json!({"status": "done", "files": ["src/a.rs"], "decisions": [
        {"question": "Which host?", "decision": "localhost"},
        {"question": "Which port?", "decision": "7717"},
    ]});
    one.save(&world, answers).await;
    let state = one.state(&world).await;
    assert_eq!((state.records, state.files, state.conflicts), (1, 2, 0));
    let after = one.files();
    let changed: Vec<&String> = after.keys().filter(|path| before[*path] != after[*path]).collect();
    assert_eq!(changed, [&own]);
    other.check_out(&after);
    other.state(&world).await;
    assert_eq!(other.files(), after);
    let main = other.main(&world).await;
    assert_eq!(
        (main.pending().count(), &*main.status, &*main.files),
        (0, "done", &["src/a.rs".to_owned()][..])
    );
}

#[tokio::test]
async fn an_undo_takes_its_items_out_of_the_file_that_has_them() {
    let world = World::new().await;
    let (one, other) = two(&world).await;
    let pulled = one.files();
    // The third commit took the other's file in.
    let mut shim =
        world.connect(Hello { tools: Some("all".to_owned()), ..hello_from(&one.root) }).await;
    shim.initialize("2025-06-18").await;
    let said = shim.call("memory_rollback", json!({ "undo": 2 })).await;
    assert!(said.contains("Took back commit 2"), "{said}");
    one.state(&world).await;
    assert_eq!(questions(&one.main(&world).await), ["Which port?"], "{said}");
    assert_eq!(one.topics().len(), 1, "its last item left it");
    let after = merged(&pulled, &one.files(), &other.files());
    other.check_out(&after);
    poll_main(&other, &world, |main| questions(main) == ["Which port?"]).await;
}

#[tokio::test]
async fn a_file_that_goes_takes_its_items_and_no_others() {
    let world = World::new().await;
    let (one, other) = two(&world).await;
    let theirs = one.file_with("Which host?");
    let text = fs::read_to_string(one.path(&theirs)).unwrap();
    fs::remove_file(one.path(&theirs)).unwrap();
    one.state(&world).await;
    assert_eq!(questions(&one.main(&world).await).len(), 2, "git may be about to write it");
    assert_eq!(one.topics().len(), 1, "nor is it written meanwhile");
    poll_main(&one, &world, |main| questions(main) == ["Which port?"]).await;
    one.write(&theirs, &text);
    one.state(&world).await;
    assert_eq!(questions(&one.main(&world).await).len(), 2);
    assert_eq!(one.files(), other.files());
    // Without any file, the topic is forgotten.
    for file in one.topics() {
        fs::remove_file(one.path(&file)).unwrap();
    }
    poll_state(&one, &world, |state| state.records == 0).await;
    assert!(one.files().is_empty() && one.topic(&world, "main").await.is_none());
}

#[tokio::test]
async fn a_file_with_markers_loses_nothing_and_holds_its_topic() {
    let world = World::new().await;
    let (one, _) = two(&world).await;
    let theirs = one.file_with("Which host?");
    let text = fs::read_to_string(one.path(&theirs)).unwrap();
    one.write(&theirs, &format!("{text}\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"));
    let before = one.files();
    one.save(&world, json!({"decisions": [{"question": "Which user?"}]})).await;
    let state = one.state(&world).await;
    assert_eq!(state.conflicts, 1, "{state:?}");
    assert_eq!(questions(&one.main(&world).await), ["Which host?", "Which port?", "Which user?"]);
    assert_eq!(one.files(), before);
    one.write(&theirs, &text);
    assert_eq!(one.state(&world).await.conflicts, 0);
    assert_eq!(one.file_with("Which user?"), one.file_with("Which port?"));
    assert_eq!(questions(&one.main(&world).await).len(), 3);
}

#[tokio::test]
async fn a_bad_file_of_a_topic_is_left_out_alone() {
    let world = World::new().await;
    let (one, _) = two(&world).await;
    let bad = "topic/0123456789ab-main.md";
    let long = "x".repeat(5_000);
    one.write(bad, &format!("+++\nname = \"main\"\n+++\n\n{long}\n"));
    let good = "topic/0123456789ac-main.md";
    let line = "{ question = \"Which user?\", time = 2026-11-01T12:00:00.000Z }";
    one.write(good, &format!("+++\nname = \"main\"\ndecisions = [\n  {line},\n]\n+++\n"));
    let state = one.state(&world).await;
    let named: Vec<_> = state.remarks.iter().map(|remark| remark.file.as_deref()).collect();
    assert_eq!(named, [Some(bad)], "{state:?}");
    assert!(state.remarks[0].what.contains("not taken in"), "{state:?}");
    assert_eq!(questions(&one.main(&world).await).len(), 3);
}

#[tokio::test]
async fn a_topic_can_be_renamed_in_its_file_and_a_file_can_change_its_topic() {
    let world = World::new().await;
    let (one, _) = two(&world).await;
    let id = one.open(&world).await.memory().topic("main").unwrap().id;
    // One of two files leaves: its items are a topic of their own.
    let own = one.file_with("Which port?");
    one.edit(&own, "name = \"main\"", "name = \"trunk\"");
    one.state(&world).await;
    assert_eq!(questions(&one.main(&world).await), ["Which host?"]);
    assert_eq!(questions(&one.topic(&world, "trunk").await.unwrap()), ["Which port?"]);
    // Its own file is taken, and a save finds another.
    one.save(&world, json!({"decisions": [{"question": "Which user?"}]})).await;
    let state = one.state(&world).await;
    assert_eq!((state.conflicts, state.files, state.records), (0, 3, 2), "{state:?}");
    one.edit(&own, "name = \"trunk\"", "name = \"main\"");
    poll_state(&one, &world, |state| state.records == 1).await;
    assert_eq!(questions(&one.main(&world).await).len(), 3);
    // All files of a topic get another name.
    for file in one.topics() {
        one.edit(&file, "name = \"main\"", "name = \"Trunk\"");
    }
    let state = one.state(&world).await;
    assert_eq!((state.records, state.files), (1, 3));
    let record = one.open(&world).await.memory().topic("trunk").unwrap().clone();
    assert_eq!((record.id, questions(record.topic().unwrap()).len()), (id, 3));
}

#[tokio::test]
async fn a_person_decides_between_two_descriptions() {
    for keep_file in [false, true] {
        let world = World::new().await;
        let (one, other) = (Checkout::new(&world, "one"), Checkout::new(&world, "other"));
        one.save(&world, json!({"overview": "A cache."})).await;
        other.save(&world, json!({"overview": "A queue.", "status": "half way"})).await;
        one.share(&world).await;
        other.share(&world).await;
        let both = merged(&Files::new(), &one.files(), &other.files());
        for clone in [&one, &other] {
            clone.check_out(&both);
            assert_eq!(clone.state(&world).await.conflicts, 1);
            assert_eq!(clone.files(), both);
            let main = clone.main(&world).await;
            assert_eq!((&*main.overview, &*main.status), ("A cache.", "half way"));
        }
        let state = one.state(&world).await;
        assert_eq!(state.remarks[0].file.as_deref(), Some(&*one.file_with("A queue.")));
        let id = state.remarks[0].record.unwrap();
        let (action, kept, gone) = if keep_file {
            (SharedAction::KeepFile(id), "A queue.", "A cache.")
        } else {
            (SharedAction::KeepMemory(id), "A cache.", "A queue.")
        };
        let state = one.act(&world, action).await.status.unwrap();
        assert_eq!(state.conflicts, 0, "{state:?}");
        let files = one.files();
        assert!(!files.values().any(|text| text.contains(gone)), "{files:?}");
        other.check_out(&files);
        for clone in [&one, &other] {
            let is_decided = |main: &Topic| (&*main.overview, &*main.status) == (kept, "half way");
            poll_main(clone, &world, is_decided).await;
            assert_eq!(clone.state(&world).await.conflicts, 0);
            assert_eq!(clone.files(), files);
        }
    }
}

#[tokio::test]
async fn a_decision_about_a_description_merges_all_else() {
    for keep_file in [false, true] {
        let world = World::new().await;
        let (one, _) = two(&world).await;
        one.save(&world, json!({"overview": "A cache."})).await;
        one.state(&world).await;
        // The files are out of reach while both sides change.
        let file = one.file_with("A cache.");
        let aside = world.directory("aside");
        fs::rename(one.root.join(DIRECTORY), &aside).unwrap();
        one.state(&world).await;
        let mine = json!({"overview": "My cache.", "decisions": [{"question": "Which user?"}]});
        one.save(&world, mine).await;
        fs::rename(&aside, one.root.join(DIRECTORY)).unwrap();
        one.edit(&file, "A cache.", "Their cache.");
        let line =
            "decisions = [\n  { question = \"Which disk?\", time = 2026-11-01T12:00:00.000Z },";
        one.edit(&file, "decisions = [", line);
        let state = one.state(&world).await;
        assert_eq!(state.conflicts, 1, "{state:?}");
        assert_eq!(one.main(&world).await.overview, "My cache.");
        let id = state.remarks[0].record.unwrap();
        let action =
            if keep_file { SharedAction::KeepFile(id) } else { SharedAction::KeepMemory(id) };
        let state = one.act(&world, action).await.status.unwrap();
        assert_eq!(state.conflicts, 0, "{state:?}");
        let main = one.main(&world).await;
        assert_eq!(main.overview, if keep_file { "Their cache." } else { "My cache." });
        assert_eq!(questions(&main), ["Which disk?", "Which host?", "Which port?", "Which user?"]);
        assert_eq!(one.file_with(&main.overview), file, "it stays in its file");
        assert!(one.files()[&file].contains("Which disk?"));
    }
}

#[tokio::test]
async fn a_daemon_that_died_before_it_wrote_adds_to_its_own_file() {
    let world = World::new().await;
    let (one, _) = two(&world).await;
    let before = one.files();
    let own = one.file_with("Which port?");
    one.save(&world, json!({"decisions": [{"question": "Which user?"}]})).await;
    // All marks are lost as well.
    let open = one.open(&world).await;
    let marks: Vec<String> = open.shared_marks().keys().cloned().collect();
    for key in marks {
        open.owner.ask(move |store, _| store.mark(&key, None)).await.unwrap();
    }
    drop(open);
    one.check_out(&before);
    let world = world.restart(true).await;
    assert_eq!(one.state(&world).await.conflicts, 0);
    assert_eq!(questions(&one.main(&world).await), ["Which host?", "Which port?", "Which user?"]);
    let after = one.files();
    let changed: Vec<&String> = after
        .iter()
        .filter(|(path, text)| before.get(*path) != Some(text))
        .map(|it| it.0)
        .collect();
    assert_eq!(changed, [&own]);
}

#[tokio::test]
async fn an_edit_of_a_topics_markdown_goes_into_the_own_file() {
    let world = World::new().await;
    let (one, other) = two(&world).await;
    let before = one.files();
    let own = one.file_with("Which port?");
    let config = Config { topics: TopicsConfig { markdown: true }, ..Config::default() };
    let mut mirror = TopicMirror::new(Arc::clone(&world.daemon.projects), &config);
    let path = one.root.join(".anchord/topics/main.md");
    mirror.update().await;
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("Which host?"), "{text}");
    fs::write(&path, text.replace("## History\n", "- Ada decided it\n\n## History\n")).unwrap();
    poll_steps(async || {
        mirror.update().await;
        (questions(&one.main(&world).await).len() == 3).then_some(())
    })
    .await;
    one.state(&world).await;
    let after = one.files();
    let is_changed = |path: &&String| before.get(*path) != after.get(*path);
    assert_eq!(after.keys().filter(is_changed).collect::<Vec<_>>(), [&own]);
    // The other clone's mirror has it, and writes nothing back.
    other.check_out(&after);
    other.state(&world).await;
    mirror.update().await;
    let text = fs::read_to_string(other.root.join(".anchord/topics/main.md")).unwrap();
    assert!(text.contains("Ada decided it"), "{text}");
    other.state(&world).await;
    assert_eq!(other.files(), after);
}
