//! Topics as files, with people who edit them.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::*;
use crate::clock;
use crate::config::TopicsConfig;
use crate::testing::{Shim, World, poll_steps};

struct Desk {
    world: World,
    shim: Shim,
    mirror: TopicMirror,
}

impl Desk {
    async fn new() -> Self {
        let world = World::new().await;
        let shim = world.shim_with("snap-memory").await;
        let mirror = mirror_of(&world);
        Self { world, shim, mirror }
    }

    async fn checkpoint(&mut self, more: serde_json::Value) {
        let mut call = json!({ "action": "checkpoint", "topic": "cache" });
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        let said = self.shim.call("context_snap", call).await;
        assert!(said.starts_with('✅'), "{said}");
    }

    /// Writes the topic with another tool set, which has descriptions.
    async fn write(&mut self, mut topic: serde_json::Value) {
        topic["name"] = json!("cache");
        let mut shim = self.world.shim_with("all").await;
        let said = shim.call("memory_topic", json!({ "action": "write", "topic": topic })).await;
        assert!(!said.starts_with("ERROR"), "{said}");
    }

    fn path(&self) -> PathBuf {
        self.world.directory("demo/.anchord/topics/cache.md")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap_or_default()
    }

    fn edit(&self, from: &str, to: &str) {
        let text = self.text();
        assert!(text.contains(from), "{text}");
        std::fs::write(self.path(), text.replace(from, to)).unwrap();
    }

    fn memory(&self) -> Arc<Memory> {
        self.world.daemon.projects.open.all().first().unwrap().memory()
    }

    fn topic(&self) -> Topic {
        self.memory().topic("cache").unwrap().topic().unwrap().clone()
    }

    /// Updates the mirror until something holds of the file and memory.
    async fn settle(&mut self, is_settled: impl Fn(&Self) -> bool) {
        poll_steps(async || {
            self.mirror.update().await;
            is_settled(self).then_some(())
        })
        .await;
    }
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(clock::now().0.unsigned_abs())
}

fn mirror_of(world: &World) -> TopicMirror {
    let config = Config { topics: TopicsConfig { markdown: true }, ..Config::default() };
    TopicMirror::new(Arc::clone(&world.daemon.projects), &config)
}

#[tokio::test]
async fn a_topic_is_a_file_and_a_written_file_is_not_read_back() {
    let mut desk = Desk::new().await;
    desk.checkpoint(json!({ "status": "half way", "decisions": ["LRU"] })).await;
    desk.mirror.update().await;
    let text = desk.text();
    assert!(text.contains("## Current Status\nhalf way\n") && text.contains(": LRU\n"), "{text}");
    let revision = desk.memory().revision();
    desk.mirror.update().await;
    // Another daemon knows what was written, by the marks.
    desk.mirror = mirror_of(&desk.world);
    desk.mirror.update().await;
    assert_eq!((desk.memory().revision(), desk.text()), (revision, text));
}

#[tokio::test]
async fn without_the_setting_nothing_is_written() {
    let mut desk = Desk::new().await;
    desk.mirror = TopicMirror::new(Arc::clone(&desk.world.daemon.projects), &Config::default());
    desk.checkpoint(json!({ "status": "half way" })).await;
    desk.mirror.update().await;
    assert!(!desk.path().exists());
}

#[tokio::test]
async fn an_edit_becomes_a_commit_and_sections_of_a_persons_own_become_notes() {
    let mut desk = Desk::new().await;
    desk.checkpoint(json!({ "status": "half way", "decisions": ["LRU"] })).await;
    desk.mirror.update().await;
    desk.edit(": LRU\n", ": LRU\n- Warm it at start\n");
    desk.edit("half way", "nearly done");
    desk.edit(
        "## History\n",
        "## Links\nhttps://example.org\n\n## History\n- 2026-01-02: Ada looked at it\n",
    );
    desk.settle(|desk| desk.topic().status == "nearly done").await;
    let topic = desk.topic();
    assert!(topic.decisions.iter().any(|it| it.question == "Warm it at start"), "{topic:?}");
    assert!(topic.history.iter().any(|line| line.text == "half way"), "{topic:?}");
    assert!(topic.history.iter().any(|line| line.text == "Ada looked at it"), "{topic:?}");
    let memory = desk.memory();
    let notes = memory.records().filter_map(|record| record.note());
    assert!(notes.into_iter().any(|note| note.content.contains("https://example.org")));
    desk.settle(|desk| {
        desk.text().contains("- 2026-01-02: Ada looked at it\n") && !desk.text().contains("Links")
    })
    .await;
    let revision = desk.memory().revision();
    desk.mirror.update().await;
    assert_eq!(desk.memory().revision(), revision, "it is read back once");
}

#[tokio::test]
async fn if_both_sides_wrote_a_status_the_newer_one_wins_and_the_other_is_history() {
    for person_is_last in [true, false] {
        let mut desk = Desk::new().await;
        desk.checkpoint(json!({ "status": "begun" })).await;
        desk.mirror.update().await;
        let edited = desk.text().replace("begun", "the person's");
        std::fs::write(desk.path(), edited).unwrap();
        let hour = Duration::from_hours(1);
        let written = if person_is_last { now() + hour } else { now() - hour };
        std::fs::File::options()
            .append(true)
            .open(desk.path())
            .unwrap()
            .set_modified(written)
            .unwrap();
        desk.checkpoint(json!({ "status": "the agent's" })).await;
        let (wins, loses) = if person_is_last {
            ("the person's", "the agent's")
        } else {
            ("the agent's", "the person's")
        };
        desk.settle(|desk| {
            let topic = desk.topic();
            topic.status == wins && topic.history.iter().any(|line| line.text == loses)
        })
        .await;
        desk.settle(|desk| desk.text().contains(&format!("## Current Status\n{wins}\n"))).await;
    }
}

#[tokio::test]
async fn descriptions_are_in_the_file_and_edits_of_them_are_read_back() {
    let mut desk = Desk::new().await;
    let topic = json!({ "status": "begun", "overview": "A cache.", "architecture": "One writer." });
    desk.write(topic).await;
    desk.mirror.update().await;
    let text = desk.text();
    assert!(text.contains("## Overview\nA cache.\n\n## Architecture\nOne writer.\n"), "{text}");
    desk.edit("A cache.", "A cache of pages.");
    desk.settle(|desk| desk.topic().overview == "A cache of pages.").await;
    let topic = desk.topic();
    assert_eq!(topic.architecture, "One writer.");
    assert!(!topic.history.iter().any(|line| line.text.contains("cache")), "{topic:?}");
    // A description that is deleted from the file stays, and is written again.
    desk.edit("## Architecture\nOne writer.\n", "");
    desk.settle(|desk| desk.text().contains("## Architecture\nOne writer.\n")).await;
    assert_eq!(desk.topic().architecture, "One writer.");
}

#[tokio::test]
async fn a_description_that_a_person_left_as_it_was_says_nothing() {
    for is_same_daemon in [true, false] {
        let mut desk = Desk::new().await;
        desk.write(json!({ "status": "begun", "overview": "A cache." })).await;
        desk.mirror.update().await;
        if !is_same_daemon {
            // It knows by the marks which descriptions were written.
            desk.mirror = mirror_of(&desk.world);
        }
        desk.edit("begun", "half way");
        desk.write(json!({ "overview": "A store." })).await;
        desk.settle(|desk| desk.topic().status == "half way").await;
        let topic = desk.topic();
        assert_eq!(topic.overview, "A store.");
        assert!(!topic.history.iter().any(|line| line.text.contains("cache")), "{topic:?}");
    }
}

#[tokio::test]
async fn if_both_sides_wrote_an_overview_the_newer_one_wins_and_the_other_is_history() {
    for person_is_last in [true, false] {
        let mut desk = Desk::new().await;
        desk.write(json!({ "overview": "begun" })).await;
        desk.mirror.update().await;
        desk.edit("begun", "the person's");
        let hour = Duration::from_hours(1);
        let written = if person_is_last { now() + hour } else { now() - hour };
        let file = std::fs::File::options().append(true).open(desk.path()).unwrap();
        file.set_modified(written).unwrap();
        desk.write(json!({ "overview": "the agent's" })).await;
        let (wins, other) = if person_is_last {
            ("the person's", "Overview: the agent's")
        } else {
            ("the agent's", "Overview: the person's")
        };
        let is_told = |desk: &Desk| desk.topic().history.iter().any(|line| line.text == other);
        desk.settle(is_told).await;
        assert_eq!(desk.topic().overview, wins);
        desk.settle(|desk| desk.text().contains(&format!("## Overview\n{wins}\n"))).await;
    }
}

#[tokio::test]
async fn edits_while_the_daemon_writes_lose_nothing() {
    const EDITS: usize = 12;
    let mut desk = Desk::new().await;
    desk.checkpoint(json!({ "status": "begun" })).await;
    desk.mirror.update().await;
    let path = desk.path();
    let (go, told) = std::sync::mpsc::channel::<usize>();
    let editor = std::thread::spawn(move || {
        for edit in told {
            // Some editors write into the file, others put a new one in its place.
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.replace("## History\n", &format!("- edit {edit}\n\n## History\n"));
            if edit % 2 == 0 {
                std::fs::write(&path, text).unwrap();
            } else {
                let new = path.with_extension("swp");
                std::fs::write(&new, text).unwrap();
                std::fs::rename(new, &path).unwrap();
            }
        }
    });
    let has = |desk: &Desk, text: &str| desk.topic().decisions.iter().any(|it| it.question == text);
    for edit in 0..EDITS {
        let decision = format!("call {edit}");
        desk.checkpoint(json!({ "decisions": [decision], "status": format!("at {edit}") })).await;
        // The edit and the update run at the same time.
        go.send(edit).unwrap();
        desk.mirror.update().await;
        if edit % 3 == 2 {
            desk.settle(|desk| has(desk, &format!("edit {edit}"))).await;
        }
    }
    drop(go);
    editor.join().unwrap();
    let all = |desk: &Desk| {
        let edits = (0..EDITS).all(|edit| has(desk, &format!("edit {edit}")));
        edits && (0..EDITS).all(|call| has(desk, &format!("call {call}")))
    };
    desk.settle(all).await;
    desk.settle(|desk| desk.text().contains(&format!("at {}\n", EDITS - 1))).await;
    assert!((0..EDITS).all(|edit| desk.text().contains(&format!(": edit {edit}\n"))));
}

#[tokio::test]
async fn a_file_that_cannot_be_taken_in_stays_as_it_is() {
    let mut desk = Desk::new().await;
    desk.checkpoint(json!({ "status": "begun" })).await;
    desk.mirror.update().await;
    std::fs::write(desk.path(), b"\xff\xfe not text").unwrap();
    let old = now() - Duration::from_mins(1);
    std::fs::File::options().append(true).open(desk.path()).unwrap().set_modified(old).unwrap();
    desk.checkpoint(json!({ "status": "done" })).await;
    for _ in 0..3 {
        desk.mirror.update().await;
    }
    assert_eq!(std::fs::read(desk.path()).unwrap(), b"\xff\xfe not text");
    std::fs::remove_file(desk.path()).unwrap();
    desk.settle(|desk| desk.text().contains("## Current Status\ndone\n")).await;
}

#[tokio::test]
async fn a_new_file_begins_a_topic_and_a_forgotten_topic_has_none() {
    let mut desk = Desk::new().await;
    desk.checkpoint(json!({ "status": "begun" })).await;
    desk.mirror.update().await;
    let new = desk.world.directory("demo/.anchord/topics/queue.md");
    std::fs::write(
        &new,
        "# queue\n\n## Current Status\nto do\n\ntoken: ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
    )
    .unwrap();
    desk.settle(|desk| desk.memory().topic("queue").is_some()).await;
    let status = desk.memory().topic("queue").unwrap().topic().unwrap().status.clone();
    assert!(status.starts_with("to do") && !status.contains("ghp_0123"), "{status}");
    desk.settle(|_| !std::fs::read_to_string(&new).unwrap().contains("ghp_0123")).await;
    let id = desk.memory().topic("queue").unwrap().id;
    let mut agent = desk.world.shim().await;
    agent.call("memory_forget", json!({ "id": id.to_string() })).await;
    desk.settle(|_| !new.exists()).await;
    for _ in 0..3 {
        desk.mirror.update().await;
    }
    assert!(desk.memory().topics().count() == 1 && desk.path().exists());
}

#[tokio::test]
async fn a_deleted_file_is_written_again() {
    let mut desk = Desk::new().await;
    desk.checkpoint(json!({ "status": "half way" })).await;
    desk.mirror.update().await;
    let (text, revision) = (desk.text(), desk.memory().revision());
    std::fs::remove_file(desk.path()).unwrap();
    desk.settle(|desk| desk.text() == text).await;
    // So is the whole folder.
    std::fs::remove_dir_all(desk.path().parent().unwrap()).unwrap();
    desk.settle(|desk| desk.text() == text).await;
    assert_eq!(desk.memory().revision(), revision, "nothing was taken in");
}

#[tokio::test]
async fn a_new_file_without_the_form_of_one_begins_a_topic() {
    let mut desk = Desk::new().await;
    desk.checkpoint(json!({ "status": "begun" })).await;
    desk.mirror.update().await;
    let file = |name: &str| desk.world.directory("demo/.anchord/topics").join(name);
    let (todo, ideas, empty) = (file("todo.md"), file("ideas.md"), file("empty.md"));
    std::fs::write(&todo, "- buy milk\n- call Ada\n").unwrap();
    std::fs::write(&ideas, "# Some ideas\n\n## Caches\nOne for each reader.\n").unwrap();
    std::fs::write(&empty, "").unwrap();
    let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    desk.settle(|_| {
        let has_meta = |path| text(path).contains("## Meta\n");
        has_meta(&todo) && has_meta(&ideas) && has_meta(&empty)
    })
    .await;
    assert!(text(&todo).contains("## Current Status\n- buy milk\n- call Ada\n"), "{}", text(&todo));
    let memory = desk.memory();
    let mut names: Vec<String> = memory.topics().map(|(_, topic)| topic.name.clone()).collect();
    names.sort();
    assert_eq!(names, ["cache", "empty", "ideas", "todo"]);
    let mut notes = memory.records().filter_map(|record| record.note());
    assert!(notes.any(|note| note.content.contains("One for each reader.")));
}

#[tokio::test]
async fn a_project_that_is_made_again_at_the_same_path_has_topics_of_its_own() {
    let mut desk = Desk::new().await;
    desk.checkpoint(json!({ "status": "old work" })).await;
    desk.mirror.update().await;
    assert!(desk.text().contains("old work"));
    let root = desk.world.directory("demo");
    std::fs::remove_dir_all(&root).unwrap();
    std::fs::create_dir(&root).unwrap();
    let mut shim = desk.world.shim_with("snap-memory").await;
    let call = json!({ "action": "checkpoint", "topic": "fresh", "status": "new work" });
    let said = shim.call("context_snap", call).await;
    assert!(said.starts_with('✅'), "{said}");
    let fresh = root.join(".anchord/topics/fresh.md");
    desk.settle(|_| fresh.exists()).await;
    for _ in 0..4 {
        desk.mirror.update().await;
    }
    assert!(!desk.path().exists(), "{}", desk.text());
    let open = desk.world.daemon.projects.open.all();
    let names = |project: &Arc<OpenProject>| {
        project.memory().topics().map(|(_, topic)| topic.name.clone()).collect::<Vec<_>>()
    };
    let mut all: Vec<Vec<String>> = open.iter().map(names).collect();
    all.sort();
    assert_eq!(all, [["cache"], ["fresh"]]);
}
