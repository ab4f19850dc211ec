//! Two clones of a project, each with a memory of its own, and a stand-in for git between them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use anchord_proto::hello::Hello;
use serde_json::{Value, json};

use super::*;
use crate::admin::shared_files;
use crate::api::{SharedAction, SharedParams, SharedReply};
use crate::testing::{World, hello_from, poll};

mod agreements;
mod topics;

/// A clone of one project.
struct Checkout {
    root: PathBuf,
}

/// The shared files of a clone, by path.
type Files = BTreeMap<String, String>;

impl Checkout {
    fn new(world: &World, name: &str) -> Self {
        let root = world.directory(name);
        for part in ["objects", "refs"] {
            fs::create_dir_all(root.join(".git").join(part)).unwrap();
        }
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        Self { root: fs::canonicalize(root).unwrap() }
    }

    async fn act(&self, world: &World, action: SharedAction) -> SharedReply {
        let project = self.root.to_str().unwrap().to_owned();
        shared_files(&world.daemon.sessions, SharedParams { project, action }).await.unwrap()
    }

    async fn share(&self, world: &World) -> SharedReply {
        self.act(world, SharedAction::Share).await
    }

    /// Makes a pass and returns the state.
    async fn state(&self, world: &World) -> SharedStatus {
        self.act(world, SharedAction::Look).await.status.unwrap()
    }

    async fn call(&self, world: &World, tool: &str, arguments: Value) -> String {
        let mut shim = world.connect(hello_from(&self.root)).await;
        shim.initialize("2025-06-18").await;
        shim.call(tool, arguments).await
    }

    async fn note(&self, world: &World, content: &str, more: Value) -> String {
        let mut arguments = json!({ "content": content });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let said = self.call(world, "memory_note", arguments).await;
        assert!(!said.contains("rror"), "{said}");
        said
    }

    async fn load(&self, world: &World) -> String {
        self.call(world, "memory_load", json!({})).await
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.join(DIRECTORY).join(file)
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        let folders = fs::read_dir(self.root.join(DIRECTORY)).unwrap().map(|it| it.unwrap().path());
        for folder in folders.filter(|path| path.is_dir()) {
            for file in fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()) {
                let path = file.strip_prefix(self.root.join(DIRECTORY)).unwrap();
                let text = fs::read_to_string(&file).unwrap();
                files.insert(path.to_str().unwrap().to_owned(), text);
            }
        }
        files
    }

    /// Returns the one file that has this text.
    fn file_with(&self, text: &str) -> String {
        let files = self.files();
        let mut found = files.iter().filter(|(_, content)| content.contains(text));
        let (path, _) = found.next().unwrap_or_else(|| panic!("{text}: {files:?}"));
        assert_eq!(found.next(), None);
        path.clone()
    }

    fn write(&self, file: &str, text: &str) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{text}");
        self.write(file, &text.replace(from, to));
    }

    /// Checks other files out, as git does.
    fn check_out(&self, files: &Files) {
        for path in self.files().keys().filter(|path| !files.contains_key(*path)) {
            fs::remove_file(self.path(path)).unwrap();
        }
        let now = self.files();
        for (path, text) in files.iter().filter(|(path, text)| now.get(*path) != Some(text)) {
            // git never writes in place.
            let _ = fs::remove_file(self.path(path));
            self.write(path, text);
        }
    }
}

/// Merges two clones' files as git does, where each file was changed on one side alone.
fn merged(base: &Files, one: &Files, other: &Files) -> Files {
    let paths = base.keys().chain(one.keys()).chain(other.keys());
    let merge = |path: &String| {
        let (was, a, b) = (base.get(path), one.get(path), other.get(path));
        assert!(a == b || a == was || b == was, "{path} is for git to merge");
        let text = if a == was { b } else { a };
        text.map(|text| (path.clone(), text.clone()))
    };
    paths.filter_map(merge).collect()
}

/// Whoever may edit the files would change rules in force.
#[tokio::test]
async fn rules_are_not_shared_as_files() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    let mut shim =
        world.connect(Hello { tools: Some("all".to_owned()), ..hello_from(&one.root) }).await;
    shim.initialize("2025-06-18").await;
    let rule = json!({"title": "No force push", "reason": "others build on it", "effect": "deny",
        "commands": ["git push --force"]});
    let said = shim.call("memory_rule_set", rule).await;
    assert!(said.contains("r1 is proposed"), "{said}");
    one.note(&world, "Shared", json!({})).await;
    let shared = one.share(&world).await;
    assert_eq!((shared.records, shared.files), (1, 1));
    assert!(!one.root.join(".anchord/memory/rule").exists());
    fs::create_dir(one.root.join(".anchord/memory/rule")).unwrap();
    let remarks = one.state(&world).await.remarks;
    assert!(remarks.iter().any(|remark| remark.what.contains("no such kind")), "{remarks:?}");
}

#[tokio::test]
async fn two_clones_that_merge_in_both_directions_end_equal() {
    let world = World::new().await;
    let (one, other) = (Checkout::new(&world, "one"), Checkout::new(&world, "other"));
    let save = |clone: &'static str, status: &'static str| {
        json!({
            "session_summary": format!("worked on {clone}"),
            "blueprints": [{"category": "decision", "title": format!("Use {clone}"), "content": "It is fast."}],
            "lessons": [{"summary": format!("Sync the folder of {clone}"), "detail": "Lost a day."}],
            "anchors": [{"file": "src/a.rs", "lines": "3-9", "concept": format!("the lock of {clone}")}],
            "notes": [{"content": format!("plain {clone}")}, {"content": "said by both"}],
            "topic": {"status": status, "files": [format!("src/{clone}.rs")]},
        })
    };
    // Both remember something before anything is shared, with the same numbers.
    one.call(&world, "memory_save", save("alpha", "first half")).await;
    other.call(&world, "memory_save", save("beta", "second half")).await;
    one.share(&world).await;
    other.share(&world).await;
    let (a, b) = (one.files(), other.files());
    assert_eq!((a.len(), b.len()), (6, 6), "{a:?}");
    assert!(a.keys().all(|path| !b.contains_key(path)), "additions never conflict");

    let both = merged(&Files::new(), &a, &b);
    one.check_out(&both);
    other.check_out(&both);
    for _ in 0..2 {
        assert_eq!(one.state(&world).await.conflicts, 0);
        assert_eq!(other.state(&world).await.conflicts, 0);
    }
    assert_eq!(one.files(), other.files());
    // The anchors and the note that both have are one each. So is the topic, with two files.
    assert_eq!(one.files().len(), 10, "{:?}", one.files().keys());
    let (first, second) = (one.load(&world).await, other.load(&world).await);
    for text in ["Use alpha", "Use beta", "Sync the folder of alpha", "plain beta", "second half"] {
        assert!(first.contains(text) && second.contains(text), "{text}: {first}\n{second}");
    }

    // Each changes, adds and removes something else.
    let base = one.files();
    one.note(&world, "a fact of alpha", json!({"key": "db"})).await;
    let gone = other.file_with("plain alpha");
    fs::remove_file(other.path(&gone)).unwrap();
    let lesson = other.file_with("Sync the folder of alpha");
    other.edit(&lesson, "Lost a day.", "Lost two days.");
    one.state(&world).await;
    poll_state(&other, &world, |state| state.records == 8).await;
    let both = merged(&base, &one.files(), &other.files());
    one.check_out(&both);
    other.check_out(&both);
    poll_state(&one, &world, |state| state.records == 9).await;
    poll_state(&other, &world, |state| state.records == 9).await;
    assert_eq!((one.files(), other.files()), (both.clone(), both));
    let load = one.load(&world).await;
    assert!(!load.contains("plain alpha") && load.contains("a fact of alpha"), "{load}");
    assert!(other.load(&world).await.contains("a fact of alpha"));
    let found = one.call(&world, "memory_search", json!({"query": "Lost two days"})).await;
    assert!(found.contains("Sync the folder of alpha"), "{found}");
}

#[tokio::test]
async fn what_two_clones_said_differently_is_kept_and_named() {
    let world = World::new().await;
    let (one, other) = (Checkout::new(&world, "one"), Checkout::new(&world, "other"));
    let part = |overview: &str, port: &str| {
        json!({
            "session_summary": "described it",
            "topic": {"overview": overview},
            "notes": [{"key": "port", "content": port}],
        })
    };
    one.call(&world, "memory_save", part("A cache.", "7717")).await;
    other.call(&world, "memory_save", part("A queue.", "7718")).await;
    one.share(&world).await;
    other.share(&world).await;
    let both = merged(&Files::new(), &one.files(), &other.files());
    for clone in [&one, &other] {
        clone.check_out(&both);
        clone.state(&world).await;
        let state = clone.state(&world).await;
        assert_eq!(state.conflicts, 2, "{state:?}");
        let said = |text: &str| state.remarks.iter().any(|remark| remark.what.contains(text));
        assert!(said("under one name, `port`; forget one"), "{state:?}");
        assert!(said("another overview of topic `main`"), "{state:?}");
        let files = clone.files();
        let has = |text: &str| files.values().any(|file| file.contains(text));
        assert!(has("A cache.") && has("A queue."), "{files:?}");
        let load = clone.load(&world).await;
        assert!(load.contains("2 to decide (`anchord shared status`): "), "{load}");
    }
    assert_eq!(one.files(), other.files());
}

#[tokio::test]
async fn a_clone_takes_nothing_in_until_its_user_agrees() {
    let world = World::new().await;
    let (one, other) = (Checkout::new(&world, "one"), Checkout::new(&world, "other"));
    one.note(&world, "planted", json!({})).await;
    one.share(&world).await;
    fs::create_dir_all(other.root.join(DIRECTORY)).unwrap();
    fs::copy(one.path("README.md"), other.path("README.md")).unwrap();
    other.check_out(&one.files());
    let load = other.load(&world).await;
    assert!(!load.contains("planted") && load.contains("`anchord init --shared`"), "{load}");
    other.note(&world, "own", json!({})).await;
    other.state_is_off(&world).await;
    assert_eq!(other.files(), one.files(), "nothing is written either");
    let reply = other.share(&world).await;
    assert!(reply.is_on && reply.files == 2, "{reply:?}");
    let load = other.load(&world).await;
    assert!(load.contains("planted") && !load.contains("anchord init --shared"), "{load}");
    // Stopping leaves records and files.
    other.act(&world, SharedAction::Unshare).await;
    other.note(&world, "later", json!({})).await;
    other.state_is_off(&world).await;
    assert_eq!(other.files().len(), 2);
    // Nor is each load to tell of files that its own user knows.
    let load = other.load(&world).await;
    assert!(load.contains("planted") && !load.contains("anchord init --shared"), "{load}");
    assert!(other.act(&world, SharedAction::Look).await.was_on);
    other.share(&world).await;
    assert!(!other.act(&world, SharedAction::Look).await.was_on);
}

impl Checkout {
    async fn state_is_off(&self, world: &World) {
        let reply = self.act(world, SharedAction::Look).await;
        assert!(!reply.is_on && reply.has_files && reply.status.is_none(), "{reply:?}");
    }
}

#[tokio::test]
async fn what_is_private_is_never_written() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.share(&world).await;
    one.note(&world, "for this session", json!({"scope": "session"})).await;
    one.note(&world, "about the user", json!({"scope": "user"})).await;
    one.call(
        &world,
        "memory_checkpoint",
        json!({"summary": "half", "notes": [{"content": "staged"}]}),
    )
    .await;
    one.call(&world, "memory_save", json!({"session_summary": "worked on something"})).await;
    one.note(&world, "for everybody", json!({})).await;
    one.note(&world, "password = hunter2hunter2X9!", json!({"key": "api_token"})).await;
    let state = one.state(&world).await;
    let files = one.files();
    let texts: Vec<&String> = files.values().collect();
    for private in ["for this session", "about the user", "worked on something", "hunter2"] {
        assert!(!texts.iter().any(|text| text.contains(private)), "{private}: {texts:?}");
    }
    assert!(texts.iter().any(|text| text.contains("for everybody")));
    assert_eq!(state.conflicts, 0);
    let ignore = fs::read_to_string(one.root.join(".anchord/.gitignore")).unwrap();
    assert!(ignore.starts_with("*\n") && ignore.contains("!/memory/**\n"));
    // git may check it out with other line breaks.
    for (text, is_remarked) in [(ignore.replace('\n', "\r\n"), false), (ignore + "!/more\n", true)]
    {
        fs::write(one.root.join(".anchord/.gitignore"), text).unwrap();
        let shared = one.share(&world).await;
        assert_eq!(shared.remark.is_some(), is_remarked, "{:?}", shared.remark);
    }
}

#[tokio::test]
async fn an_edit_a_deletion_and_a_restored_file_are_taken_in() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "Postgres 16", json!({"key": "db"})).await;
    one.share(&world).await;
    let file = one.file_with("Postgres 16");
    one.edit(&file, "Postgres 16", "Postgres 17");
    // A load looks before it shows, unless somebody has just looked.
    let started = clock::start();
    while !one.load(&world).await.contains("Postgres 17") {
        assert!(started.elapsed() < Duration::from_secs(30));
    }
    let text = fs::read_to_string(one.path(&file)).unwrap();
    fs::remove_file(one.path(&file)).unwrap();
    assert_eq!(one.state(&world).await.records, 1, "git may be about to write it");
    poll_state(&one, &world, |state| state.records == 0).await;
    assert!(!one.load(&world).await.contains("Postgres"));
    assert!(one.files().is_empty(), "a forgotten record is not written again");
    one.write(&file, &text);
    one.state(&world).await;
    assert!(one.load(&world).await.contains("Postgres 17"));
    // Forgetting here removes the file.
    let id = one.call(&world, "memory_search", json!({"key": "db"})).await;
    let id = id.split(|c: char| !c.is_alphanumeric()).find(|word| {
        word.starts_with('n')
            && word.len() > 1
            && word[1..].bytes().all(|byte| byte.is_ascii_digit())
    });
    one.call(&world, "memory_forget", json!({"id": id.unwrap()})).await;
    one.state(&world).await;
    assert!(one.files().is_empty());
}

#[tokio::test]
async fn a_branch_without_shared_memory_forgets_nothing() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "kept", json!({})).await;
    one.share(&world).await;
    let aside = world.directory("aside");
    fs::rename(one.root.join(DIRECTORY), &aside).unwrap();
    let state = one.state(&world).await;
    assert!(state.paused.unwrap().contains("branch"));
    one.note(&world, "written meanwhile", json!({})).await;
    one.state(&world).await;
    assert!(!one.root.join(DIRECTORY).exists(), "nothing gets in git's way");
    let load = one.load(&world).await;
    assert!(load.contains("kept") && load.contains("written meanwhile"), "{load}");
    fs::rename(&aside, one.root.join(DIRECTORY)).unwrap();
    poll_state(&one, &world, |state| state.paused.is_none()).await;
    assert_eq!(one.files().len(), 2);
}

/// Makes passes until the state is as wanted.
async fn poll_state(clone: &Checkout, world: &World, is: impl Fn(&SharedStatus) -> bool) {
    let started = clock::start();
    loop {
        let state = clone.state(world).await;
        if is(&state) {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{state:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn bad_files_are_named_and_left_alone_while_others_go_on() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "good", json!({})).await;
    one.share(&world).await;
    let name = |at: u32| format!("note/00000000000{at}-x.md");
    let note = |front: &str, text: &str| format!("+++\nimportance = 5\n{front}+++\n\n{text}\n");
    one.write(&name(1), "no front matter");
    one.write(&name(2), &note("colour = \"red\"\n", "from a newer anchord"));
    one.write(&name(3), &note("", "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other"));
    fs::write(one.path(&name(4)), b"+++\n\xff\n+++\n").unwrap();
    one.write(&name(5), &"x".repeat(5 << 20));
    symlink("/etc/hostname", one.path(&name(6))).unwrap();
    one.write("note/readable-name.md", &note("", "no id"));
    one.write("recipe/000000000007-x.md", "unknown kind");
    one.write(&name(8), &note("", "taken in"));
    one.write(&name(9), &note("", "token: ghp_16C7e42F292c6912E7710c838347Ae178B4a taken in"));
    let before = fs::read(one.path(&name(2))).unwrap();
    let state = one.state(&world).await;
    assert_eq!((state.conflicts, state.remarks.len()), (1, 9), "{:#?}", state.remarks);
    assert_eq!(fs::read(one.path(&name(2))).unwrap(), before);
    let load = one.load(&world).await;
    assert!(
        load.contains("good") && load.contains("taken in") && !load.contains("ghp_16C7"),
        "{load}"
    );
    let conflict = format!("`anchord shared status`): {}: ", name(3));
    assert!(load.contains(&conflict), "the conflict is in the load, with its file: {load}");
    let revision = |memory: &str| memory.to_owned();
    assert_eq!(revision(&one.load(&world).await), load, "the same files are taken in once");
    // The conflict ends when somebody resolves it in the file.
    one.write(&name(3), &note("", "mine and theirs"));
    assert_eq!(one.state(&world).await.conflicts, 0);
}

#[tokio::test]
async fn both_sides_of_a_conflict_are_kept_until_somebody_decides() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "first", json!({"key": "db"})).await;
    one.share(&world).await;
    let file = one.file_with("first");
    for (keep_file, kept) in [(true, "theirs"), (false, "ours")] {
        // The file is out of reach while both sides change.
        let text = fs::read_to_string(one.path(&file)).unwrap();
        let body = text.trim_end().rsplit('\n').next().unwrap().to_owned();
        let aside = world.directory("aside");
        fs::rename(one.root.join(DIRECTORY), &aside).unwrap();
        one.state(&world).await;
        one.note(&world, "ours", json!({"key": "db"})).await;
        fs::rename(&aside, one.root.join(DIRECTORY)).unwrap();
        one.edit(&file, &body, &format!("theirs {keep_file}"));
        let state = one.state(&world).await;
        assert_eq!(state.conflicts, 1, "{state:?}");
        let id = state.remarks[0].record.unwrap();
        assert!(one.files()[&file].contains("theirs") && one.load(&world).await.contains("ours"));
        let action =
            if keep_file { SharedAction::KeepFile(id) } else { SharedAction::KeepMemory(id) };
        let reply = one.act(&world, action).await;
        assert_eq!(reply.status.unwrap().conflicts, 0);
        assert!(one.files()[&file].contains(kept) && one.load(&world).await.contains(kept));
    }
}

#[tokio::test]
async fn a_daemon_that_died_before_it_wrote_catches_up() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "before", json!({"key": "db"})).await;
    one.share(&world).await;
    let file = one.file_with("before");
    // Commits without a pass, as if the daemon died in between. The marks may be lost as well.
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let open = world.daemon.projects.open_project(id).await.unwrap();
    let hello = hello_from(&one.root);
    let mut shim = world.connect(hello).await;
    shim.initialize("2025-06-18").await;
    shim.call("memory_note", json!({"content": "after", "key": "db"})).await;
    shim.call("memory_note", json!({"content": "new"})).await;
    let share_id: anchord_memory::ShareId = file.split_once('/').unwrap().1[..12].parse().unwrap();
    let key = format!("shared/{share_id}");
    open.owner.ask(move |store, _| store.mark(&key, None)).await.unwrap();
    drop((shim, open));
    let world = world.restart(true).await;
    let state = one.state(&world).await;
    assert_eq!(state.conflicts, 0, "{state:?}");
    let files = one.files();
    assert!(files[&file].contains("after") && files.len() == 2, "{files:?}");
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_named_and_caught_up_with() {
    if rustix::process::getuid().is_root() {
        println!("SKIPPED: root may write everywhere");
        return;
    }
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "before", json!({})).await;
    one.share(&world).await;
    let folder = one.path("note");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    one.note(&world, "after", json!({})).await;
    assert!(one.state(&world).await.paused.unwrap().contains("write"));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    poll_state(&one, &world, |state| state.paused.is_none()).await;
    assert_eq!(one.files().len(), 2);
}

#[tokio::test]
async fn a_file_where_the_directory_belongs_is_named_and_goes_on_later() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.share(&world).await;
    one.write("lesson", "in the way");
    one.call(
        &world,
        "memory_save",
        json!({"session_summary": "x", "lessons": [{"summary": "Sync the folder too"}]}),
    )
    .await;
    let state = one.state(&world).await;
    assert!(!state.remarks.is_empty() || state.paused.is_some(), "{state:?}");
    fs::remove_file(one.path("lesson")).unwrap();
    poll_state(&one, &world, |state| state.paused.is_none() && state.files == 1).await;
    assert!(one.load(&world).await.contains("Sync the folder too"));
}

#[tokio::test]
async fn thousands_of_files_are_taken_in_and_then_cost_little() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.share(&world).await;
    for at in 0..2_000 {
        let path = format!("lesson/{:0>12}-x.md", format!("{at:x}"));
        one.write(&path, &format!("+++\nsummary = \"Lesson number {at}\"\n+++\n\nDetail {at}.\n"));
    }
    poll_state(&one, &world, |state| state.records == 2_000).await;
    let started = clock::start();
    assert_eq!(one.state(&world).await.files, 2_000);
    println!("a pass over 2,000 unchanged files: {:?}", started.elapsed());
    assert!(one.load(&world).await.contains("Lesson number"));
}

#[tokio::test]
async fn periodic_work_notices_a_change_by_itself() {
    let world = World::new().await;
    let one = Checkout::new(&world, "one");
    one.note(&world, "first", json!({})).await;
    one.share(&world).await;
    let id = world.daemon.projects.registry.snapshot().projects().next().unwrap().id;
    let open = world.daemon.projects.open_project(id).await.unwrap();
    one.edit(&one.file_with("first"), "first", "second");
    world.daemon.sessions.shared.pass_all().await;
    let is_taken = |open: &Arc<OpenProject>| {
        open.memory().records().any(|it| it.note().is_some_and(|note| note.content == "second"))
    };
    poll(|| is_taken(&open).then_some(())).await;
}
