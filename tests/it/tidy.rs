//! Rules for the tree that the compiler and clippy do not check.
//!
//! Each rule is a function from a file to its faults, and is shown bad samples below. This file
//! names what it forbids, so the rules about content skip it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The most lines of a file. In a longer one, look for the second idea.
const LINES: usize = 600;

/// This file's path, as the walk reports it.
const HERE: &str = "tests/it/tidy.rs";

pub(crate) struct File {
    /// The path relative to the workspace, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

type Rule = fn(&File) -> Vec<String>;

const RULES: &[(&str, Rule)] = &[
    ("says its purpose first", header),
    ("is short", length),
    ("has a telling name", name),
    ("expects lints, with a reason", allows),
    ("reads no clock outside the clock", clock),
    ("names a dependency in its one place", confined),
    ("waits for an event, not for time", sleeps),
    ("keeps limits in limits.rs", limits),
    ("has its locks in ARCHITECTURE.md", locks),
    ("documents each item by itself", same),
    ("names no machine's paths", machine_paths),
    ("leaves a client's name to its folder", client_names),
];

#[test]
fn every_file_is_tidy() {
    let files = tree();
    assert!(files.len() > 20, "the walk found {} files only", files.len());
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|file| RULES.iter().map(move |(rule, check)| (file, rule, check(file))))
        .flat_map(|(file, rule, found)| {
            found.into_iter().map(move |what| format!("{}: {what} (a file {rule})", file.path))
        })
        .collect();
    assert!(wrong.is_empty(), "{} found:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn links_between_documents_have_a_target() {
    let root = root();
    let broken: Vec<String> = tree()
        .iter()
        .filter(|file| file.is_markdown())
        .flat_map(|file| dead_links(file, |path| root.join(path).exists()))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn licence_files_are_present() {
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(root().join(file).metadata().is_ok_and(|meta| meta.len() > 500), "{file}");
    }
}

fn header(file: &File) -> Vec<String> {
    let missing = file.is_rust() && !file.text.starts_with("//! ");
    missing.then(|| "no `//!` header on the first line".to_owned()).into_iter().collect()
}

fn length(file: &File) -> Vec<String> {
    let lines = file.text.lines().count();
    let long = file.is_rust() && lines > LINES;
    long.then(|| format!("{lines} lines, the limit is {LINES}")).into_iter().collect()
}

fn name(file: &File) -> Vec<String> {
    let vague = ["utils", "util", "helpers", "helper", "common", "manager", "misc"];
    let stem = |part: &str| part.strip_suffix(".rs").unwrap_or(part).to_owned();
    let bad = file.path.split('/').map(stem).find(|part| vague.contains(&part.as_str()));
    file.is_rust()
        .then_some(bad)
        .flatten()
        .map(|part| format!("`{part}` says nothing"))
        .into_iter()
        .collect()
}

fn allows(file: &File) -> Vec<String> {
    file.naming(&["#[allow", "#![allow"])
}

fn clock(file: &File) -> Vec<String> {
    let may_read = ["shim/", "cli/", "dashboard/", "tests/", "benches/"];
    if file.path == "daemon/src/clock.rs" || may_read.iter().any(|at| file.path.starts_with(at)) {
        return Vec::new();
    }
    file.naming(&["SystemTime::now", "Instant::now", "Utc::now", "Timestamp::now", "Zoned::now"])
}

fn confined(file: &File) -> Vec<String> {
    let places = [
        ("sled::", "daemon/src/store/sled_index.rs"),
        ("rmcp::", "daemon/src/mcp/"),
        ("axum::", "daemon/src/http/"),
        ("sd_notify::", "daemon/src/activation.rs"),
        ("directories::", "daemon/src/instance"),
        ("libc::", "daemon/src/heap.rs"),
    ];
    places
        .iter()
        .filter(|(_, place)| !file.path.starts_with(place))
        // The dashboard is a server of its own.
        .filter(|(dependency, _)| *dependency != "axum::" || !file.path.starts_with("dashboard/"))
        // That file tests that rmcp's own log lines, which contain memory, are not logged.
        .filter(|(dependency, _)| {
            *dependency != "rmcp::" || file.path != "daemon/src/logs/tests.rs"
        })
        .flat_map(|(dependency, _)| file.naming(&[dependency]))
        .collect()
}

fn sleeps(file: &File) -> Vec<String> {
    let is_test = file.path.starts_with("tests/")
        || file.path.ends_with("/tests.rs")
        || file.path.contains("/tests/");
    // Torture is a program. It waits between the attempts of a session and in the midst of a fault.
    if !is_test || file.path == "tests/src/poll.rs" || file.path.starts_with("tests/torture/") {
        return Vec::new();
    }
    file.naming(&["thread::sleep", "time::sleep", "sleep("])
}

fn limits(file: &File) -> Vec<String> {
    let in_source = ["proto/", "memory/", "agents/", "shim/", "daemon/"];
    let is_place = file.path.ends_with("/limits.rs") || file.path.contains("/limits/");
    if is_place || !in_source.iter().any(|at| file.path.starts_with(at)) {
        return Vec::new();
    }
    file.code()
        .filter_map(|(number, line)| Some((number, line.split_once("const ")?.1)))
        .filter_map(|(number, rest)| Some((number, rest.split_once(':')?.0)))
        .filter(|(_, name)| name.ends_with("_MAX") || name.starts_with("MAX_"))
        .map(|(number, name)| format!("line {number}: `{name}` belongs in limits.rs"))
        .collect()
}

/// The section of ARCHITECTURE.md with the daemon's locks.
static LOCKS: LazyLock<String> = LazyLock::new(|| {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = page.split_once("\n## Locks\n").unwrap();
    section.split("\n## ").next().unwrap_or_default().to_owned()
});

/// Finds locks of the daemon that the section does not list. It names the type, then the fields.
fn locks(file: &File) -> Vec<String> {
    let of_tests = ["/tests", "/testing.rs", "/fakes", "/sim_disk.rs"];
    if !file.path.starts_with("daemon/src/") || of_tests.iter().any(|it| file.path.contains(it)) {
        return Vec::new();
    }
    let lists = |name: &str| LOCKS.contains(&format!("`{name}`"));
    let mut owner = "";
    let mut missing = Vec::new();
    for (number, line) in file.code() {
        if let Some((_, named)) = line.split_once("struct ") {
            owner = named.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        }
        let lock = ["Mutex<", "RwLock<"].iter().find_map(|lock| line.split_once(lock));
        let Some((before, _)) = lock else { continue };
        let before = before.trim_end_matches("tokio::sync::").trim_end_matches("Arc<");
        let field = before.strip_suffix(": ").and_then(|before| before.rsplit(' ').next());
        let (name, is_listed) = match field {
            Some(field) if before.contains("static ") => (field.to_owned(), lists(field)),
            Some(field) => {
                let name = format!("{owner}::{field}");
                let is_with_others = LOCKS.contains(&format!("`{owner}::")) && lists(field);
                let is_listed = lists(&name) || is_with_others;
                (name, is_listed)
            }
            None if before.ends_with('(') => (owner.to_owned(), lists(owner)),
            // A reference to a lock of others.
            None => continue,
        };
        if !is_listed {
            missing.push(format!("line {number}: `{name}` is not listed"));
        }
    }
    missing
}

/// Finds comments that refer to the item above, which documentation does not show.
fn same(file: &File) -> Vec<String> {
    let says = |line: &str| line.trim_start().starts_with("/// The same");
    let lines = file.text.lines().enumerate().filter(|(_, line)| says(line));
    lines.map(|(at, _)| format!("line {}: the same as what?", at + 1)).collect()
}

/// Paths that name a machine: this tree's parent and its owner's home on any machine, and common
/// homes elsewhere.
static MACHINE_PATHS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let holds_more = |dir: &&Path| *dir != Path::new("/") && !dir.starts_with(std::env::temp_dir());
    let dirs = [root().parent().map(Path::to_owned), std::env::home_dir()];
    let dirs = dirs.iter().flatten().map(PathBuf::as_path).filter(holds_more);
    let own = dirs.map(|dir| format!("{}/", dir.display()));
    own.chain(["/home/user/".to_owned(), "/Users/".to_owned()]).collect()
});

fn machine_paths(file: &File) -> Vec<String> {
    file.lines()
        .filter_map(|(number, line)| {
            let path = MACHINE_PATHS.iter().find(|path| begins_in(line, path))?;
            (file.path != HERE).then(|| format!("line {number}: `{path}`"))
        })
        .collect()
}

/// The first words of clients' names, by their folders.
static CLIENT_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folders = root().join(CLIENTS).read_dir().unwrap();
    let names = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap());
    let first = names.map(|name| name.split('_').next().unwrap_or_default().to_owned());
    first.filter(|name| !WORDS.contains(&name.as_str())).collect()
});

/// Names of clients that are also words of a program, or begin such a word.
const WORDS: [&str; 4] = ["amp", "cursor", "kilo", "pi"];

/// The folder of the clients' folders.
const CLIENTS: &str = "agents/src/clients";

/// Finds the name of a client in code outside its folder. Examples in help may have one. So may the
/// list of the tags that no shown text may have, and the import from a plugin of one client. The
/// calls of a model's API may name it, since a client has its name.
fn client_names(file: &File) -> Vec<String> {
    let is_source = file.path.contains("/src/") && !file.path.contains("benches/");
    let is_test = file.path.starts_with("tests/")
        || file.path.contains("/tests/")
        || file.path.ends_with("/tests.rs")
        || file.path.ends_with("/testing.rs");
    let may_name = [
        "memory/src/defuse/wrappers.rs",
        "memory/src/import/observations.rs",
        "memory/src/import/snap_memory.rs",
        "daemon/src/config/merge.rs",
        "merge/src/api.rs",
    ];
    let is_home = file.path.starts_with(CLIENTS) || may_name.contains(&file.path.as_str());
    if !file.is_rust() || !is_source || is_test || is_home {
        return Vec::new();
    }
    let examples = ["claude mcp add ", "anchord hook ", "anchord setup "];
    file.code()
        .filter(|(_, line)| !examples.iter().any(|example| line.contains(example)))
        .filter_map(|(number, line)| {
            let line = line.to_lowercase();
            // `zed` also ends other words.
            let begins = |name: &&String| {
                let found = line.match_indices(name.as_str());
                found.into_iter().any(|(at, _)| !line[..at].ends_with(char::is_alphabetic))
            };
            let name = CLIENT_NAMES.iter().find(begins)?;
            Some(format!("line {number}: `{name}`"))
        })
        .collect()
}

/// Returns whether a line contains a path as a whole, and not as the end of a longer one.
fn begins_in(line: &str, path: &str) -> bool {
    let goes_on = |before: char| before.is_alphanumeric() || "._-*})~".contains(before);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(goes_on))
}

/// Returns the targets of `[text](target)` that are neither on the web nor in the tree.
fn dead_links(file: &File, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    file.text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or(""))
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .filter(|target| !exists(&folder.join(target)))
        .map(|target| format!("{}: link to {target}, which is not there", file.path))
        .collect()
}

impl File {
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|ext| ext == "rs")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|ext| ext == "md")
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Returns the lines without their comments. A string with `//` is cut short, which hides
    /// nothing here.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().map(|(number, line)| (number, line.split("//").next().unwrap_or("")))
    }

    /// Reports the lines of code that contain one of these words.
    pub(crate) fn naming(&self, words: &[&str]) -> Vec<String> {
        if !self.is_rust() || self.path == HERE {
            return Vec::new();
        }
        self.code()
            .filter_map(|(number, line)| {
                words.iter().find(|word| line.contains(**word)).map(|word| (number, word))
            })
            .map(|(number, word)| format!("line {number}: `{word}`"))
            .collect()
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns every text file of the project, except build output, fixtures and most hidden files.
pub(crate) fn tree() -> Vec<File> {
    let root = root();
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let kind = entry.file_type().unwrap();
            let hidden = name.starts_with('.') && name != ".ci" && name != ".github";
            if kind.is_dir() && !hidden && name != "target" && name != "fixtures" {
                folders.push(entry.path());
            } else if kind.is_file()
                && !hidden
                && let Ok(text) = std::fs::read_to_string(entry.path())
            {
                let path = entry.path().strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                files.push(File { path, text });
            }
        }
    }
    files
}

mod samples {
    //! Each rule finds its fault in a bad sample and accepts a good one.

    use super::*;

    fn check(rule: Rule, path: &str, text: &str) -> Vec<String> {
        rule(&File { path: path.to_owned(), text: text.to_owned() })
    }

    #[track_caller]
    fn bad(rule: Rule, path: &str, text: &str) {
        assert!(!check(rule, path, text).is_empty(), "nothing found in {path}: {text}");
    }

    #[track_caller]
    fn good(rule: Rule, path: &str, text: &str) {
        assert_eq!(check(rule, path, text), Vec::<String>::new());
    }

    #[test]
    fn headers_and_length() {
        bad(header, "daemon/src/a.rs", "use std::fs;\n");
        bad(header, "daemon/src/a.rs", "\n//! Late.\n");
        good(header, "daemon/src/a.rs", "//! Purpose.\n");
        good(header, "README.md", "# anchord\n");
        bad(length, "daemon/src/a.rs", &"\n".repeat(LINES + 1));
        good(length, "daemon/src/a.rs", &"\n".repeat(LINES));
    }

    #[test]
    fn names_follow_the_conventions() {
        bad(name, "daemon/src/utils.rs", "");
        bad(name, "daemon/src/common/mod.rs", "");
        good(name, "daemon/src/clock.rs", "");
    }

    #[test]
    fn lints_are_expected() {
        bad(allows, "daemon/src/a.rs", "#[allow(dead_code)]");
        bad(allows, "daemon/src/a.rs", "#![allow(dead_code)]");
        good(allows, "daemon/src/a.rs", "#[expect(dead_code, reason = \"…\")]");
    }

    #[test]
    fn the_clock_is_read_in_one_place() {
        bad(clock, "memory/src/a.rs", "let now = std::time::SystemTime::now();");
        bad(clock, "daemon/src/store/disk.rs", "let start = Instant::now();");
        good(clock, "daemon/src/clock.rs", "let now = SystemTime::now();");
        good(clock, "shim/src/lib.rs", "let start = Instant::now();");
        good(clock, "daemon/src/a.rs", "// not Instant::now here");
    }

    #[test]
    fn dependencies_are_used_in_one_place() {
        bad(confined, "daemon/src/store/mod.rs", "use sled::Db;");
        bad(confined, "daemon/src/sessions/mod.rs", "use rmcp::model::Content;");
        bad(confined, "daemon/src/mcp/mod.rs", "use axum::Router;");
        good(confined, "daemon/src/store/sled_index.rs", "use sled::Db;");
        good(confined, "daemon/src/mcp/tools/load.rs", "use rmcp::model::Content;");
        good(confined, "daemon/src/http/public.rs", "use axum::Router;");
    }

    #[test]
    fn tests_do_not_sleep() {
        bad(sleeps, "tests/it/race.rs", "std::thread::sleep(second);");
        bad(sleeps, "daemon/src/store/tests.rs", "tokio::time::sleep(second).await;");
        good(sleeps, "tests/src/poll.rs", "std::thread::sleep(STEP);");
        good(sleeps, "shim/src/lib.rs", "std::thread::sleep(pause);");
    }

    #[test]
    fn limits_are_kept_together() {
        bad(limits, "daemon/src/project/mod.rs", "const QUEUE_WRITES_MAX: usize = 4;");
        bad(limits, "proto/src/frame.rs", "pub const MAX_LINE: usize = 4;");
        good(limits, "daemon/src/limits.rs", "pub const QUEUE_WRITES_MAX: usize = 4;");
        good(limits, "daemon/src/limits/team.rs", "pub const TEAM_TRIES_MAX: u32 = 4;");
        good(limits, "daemon/src/project/mod.rs", "const NAME: &str = \"x\";");
    }

    #[test]
    fn locks_are_listed() {
        bad(locks, "daemon/src/a.rs", "struct A {\n    b: Mutex<u8>,\n}");
        bad(locks, "daemon/src/a.rs", "struct A {\n    b: Arc<tokio::sync::RwLock<u8>>,\n}");
        bad(locks, "daemon/src/a.rs", "struct Session {\n    b: Mutex<u8>,\n}");
        bad(locks, "daemon/src/a.rs", "struct A(Mutex<u8>);");
        bad(locks, "daemon/src/a.rs", "static A: Mutex<u8> = Mutex::new(0);");
        good(locks, "daemon/src/a.rs", "struct Session {\n    client: Mutex<Arc<str>>,\n}");
        good(locks, "daemon/src/a.rs", "fn a(b: &Mutex<u8>) -> MutexGuard<'_, u8> {");
        good(locks, "daemon/src/a/tests.rs", "struct A(Mutex<u8>);");
    }

    #[test]
    fn items_have_their_own_documentation() {
        bad(same, "daemon/src/jobs.rs", "    /// The same, but later.");
        good(same, "daemon/src/jobs.rs", "    /// Looks again. The same holds then.");
    }

    #[test]
    fn machine_paths_are_not_committed() {
        for path in &*MACHINE_PATHS {
            bad(machine_paths, "docs/agents.md", &format!("see {path}notes"));
            good(machine_paths, "docs/agents.md", &format!("see daemon{path}notes"));
        }
        bad(machine_paths, "tests/it/a.rs", "// cd /home/user/anchord");
        good(machine_paths, "docs/agents.md", "see ~/.local/state/anchord");
    }

    #[test]
    fn clients_are_named_in_their_folders() {
        bad(client_names, "shim/src/identity.rs", "const A: &str = \"CLAUDE_PID\";");
        bad(client_names, "daemon/src/mcp/server.rs", "if client == \"codex\" {");
        bad(client_names, "agents/src/client.rs", "claude_code::source(payload)");
        good(client_names, "agents/src/clients/codex/mod.rs", "Client::new(\"codex\", \"Codex\")");
        good(client_names, "agents/src/clients.rs", "mod codex;");
        good(client_names, "cli/src/commands/mcp.rs", "  claude mcp add anchord -- anchord mcp");
        good(client_names, "daemon/src/api.rs", "    /// The client, such as `codex`.");
        good(client_names, "daemon/src/hooks/tests.rs", "hook(\"codex\")");
        bad(client_names, "daemon/src/api.rs", "if client == \"zed\" {");
        good(client_names, "memory/src/fold.rs", "let text = normalized(text);");
    }

    #[test]
    fn dead_links_are_reported() {
        let page = |text: &str| File { path: "docs/a.md".to_owned(), text: text.to_owned() };
        let here = |path: &Path| path == Path::new("docs/b.md");
        assert_eq!(
            dead_links(&page("[b](b.md#part) [c](c.md)"), here),
            ["docs/a.md: link to c.md, which is not there"]
        );
        assert!(dead_links(&page("[web](https://example.org) [here](#part)"), here).is_empty());
    }
}
