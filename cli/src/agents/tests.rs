//! Set-up and removal in scratch homes, with files only.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anchord_agents::setup::{Agent, Programs, Scope, Setting, UserEnvironment, Wishes};
use anchord_proto::instance::InstanceDir;

use super::manifest::{self, Manifest};
use super::plan::{self, Disk, RealDisk, Refusal};
use super::state::State;
use crate::edit::Edit;
use crate::exit::Error;

mod refused;

struct Home {
    folder: tempfile::TempDir,
    place: UserEnvironment,
    programs: Programs,
    dir: InstanceDir,
}

/// Variants of the clients' files: comments, tabs, trailing commas, CRLF, a byte order mark, no
/// last newline, entries of others.
const FILES: [(&str, &str); 23] = [
    (
        ".claude.json",
        "{\"numStartups\":3,\n   \"mcpServers\": {\"o\": {\"command\": \"x\"}},\"z\":[1,2]}",
    ),
    (
        ".claude/settings.json",
        "\u{feff}{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}]\r\n\t},\r\n\t\"permissions\": {\"allow\": [\"Bash(ls)\"]}\r\n}\r\n",
    ),
    (
        ".codex/config.toml",
        "# mine\r\nmodel='x'   # odd\r\n\r\n[mcp_servers.o] # theirs\r\n  args = [ \"a\",  \"b\" ]\r\n",
    ),
    (
        ".gemini/settings.json",
        "{\n   // note\n   \"a\": 1,\n   \"mcpServers\": {\"o\": {\"command\": \"x\"}} // hi\n}",
    ),
    (
        ".config/opencode/opencode.jsonc",
        "{\n  /* a */ \"mcp\": {\n    \"o\": {\"type\": \"local\",\"command\": [\"x\"],},\n  },\n}\n",
    ),
    (
        ".copilot/settings.json",
        "{\"hooks\": {\"agentStop\": [\n    {\"type\": \"command\", \"bash\": \"say\"}]},\n\n  \"banner\": \"never\"}",
    ),
    (".copilot/mcp-config.json", "{\r\n  \"mcpServers\": {}\r\n}"),
    (
        ".qwen/settings.json",
        "{\n // mine\n \"security\": {\"auth\": {\"selectedType\": \"openai\"}}\n}\n",
    ),
    (
        ".cline/data/settings/cline_mcp_settings.json",
        "{\n  \"mcpServers\": {\n    \"o\": {\"transport\": {\"type\": \"stdio\", \"command\": \"x\"}}\n  }\n}",
    ),
    (".factory/mcp.json", "{\n\t\"mcpServers\": {}\n}\n"),
    (
        ".factory/settings.json",
        "{\"model\":\"x\",\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say\"}]}]}}",
    ),
    (".pi/agent/settings.json", "{ \"theme\": \"dark\" }\n"),
    (".config/kilo/kilo.jsonc", "{\n  // theirs\n  \"model\": \"x/y\"\n}\n"),
    (".config/amp/settings.json", "{\n  \"amp.showCosts\": true,\n}\n"),
    (
        ".config/crush/crush.json",
        "{\"mcp\":{},\"hooks\":{\"PreToolUse\":[{\"matcher\":\"^bash$\",\"command\":\"./say.sh\"}]}}",
    ),
    (".junie/mcp/mcp.json", "{\r\n\t\"mcpServers\": {}\r\n}\r\n"),
    (".cursor/hooks.json", "{ \"version\": 1, \"hooks\": {} }\n"),
    (
        ".config/goose/config.yaml",
        "GOOSE_MODEL: x/y # mine\nextensions:\n  memory:\n    enabled: false\n    type: builtin\n",
    ),
    (".config/zed/settings.json", "// mine\n{\n  \"theme\": \"One\", // dark\n}\n"),
    (".config/Code/User/mcp.json", "{\n\t\"servers\": {\n\t},\n\t\"inputs\": []\n}\n"),
    (".codeium/windsurf/mcp_config.json", "{}"),
    (".kiro/settings/mcp.json", "{\"mcpServers\":{\"o\":{\"command\":\"x\",\"disabled\":false}}}"),
    (".openclaw/openclaw.json", "{ mcp: { servers: { o: { command: 'x', }, }, }, // theirs\n}\n"),
];

impl Home {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        let dir = InstanceDir::named(home.join(".local/state/anchord"));
        dir.ensure().unwrap();
        let programs =
            Programs::new("/opt/anchord".to_owned(), None, Some("/opt/anchord-hook".to_owned()));
        let place = UserEnvironment { home, path: Vec::new(), variables: BTreeMap::new() };
        Self { folder, place, programs, dir }
    }

    fn full() -> Self {
        let home = Self::empty();
        for (name, text) in FILES {
            home.write(name, text);
        }
        home
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.place.home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.place.home.join(name)).unwrap()
    }

    fn set_up(&self, disk: &mut dyn Disk) -> Result<(), Error> {
        self.set_up_by(&self.programs, disk)
    }

    fn set_up_by(&self, programs: &Programs, disk: &mut dyn Disk) -> Result<(), Error> {
        let setting = Setting { programs, ..self.setting() };
        let manifest = Manifest::read(&self.dir)?;
        let plans = plan::setup(&Agent::all(), &setting, &manifest);
        let written = plan::write(&plans.files, &self.dir, manifest, disk)?;
        assert_eq!(written.commands_failed, [""; 0]);
        complete(&[plans.refused, written.refused].concat())
    }

    fn take_back(&self, disk: &mut dyn Disk) -> Result<(), Error> {
        let manifest = Manifest::read(&self.dir)?;
        let plans = plan::removal(&Agent::all(), &self.setting(), &manifest);
        let refused = plan::take_back(&plans.files, &self.dir, manifest, disk)?;
        complete(&[plans.refused, refused].concat())
    }

    fn setting(&self) -> Setting<'_> {
        let Self { place, programs, .. } = self;
        Setting { place, scope: &Scope::User, programs, wishes: Wishes { reads: true } }
    }

    /// Returns every file in it, with its text.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap();
                    found.insert(path, text);
                }
            }
        }
        found
    }
}

/// Returns an error if any file was left as it was.
fn complete(refused: &[Refusal]) -> Result<(), Error> {
    refused.first().map_or(Ok(()), |refusal| Err(Error::failed(refusal.why.clone())))
}

fn agent(id: &str) -> Agent {
    Agent::named(id).unwrap()
}

/// A disk that fails from the n-th write on, like a process that was killed.
struct Dying<'a> {
    left: &'a RefCell<usize>,
}

impl Disk for Dying<'_> {
    fn write(&mut self, edit: &Edit) -> Result<(), Error> {
        let mut left = self.left.borrow_mut();
        *left = left.checked_sub(1).ok_or_else(|| Error::failed("killed"))?;
        edit.apply()
    }
}

#[test]
fn undoing_a_set_up_restores_every_file_exactly() {
    for home in [Home::full(), Home::empty()] {
        let before = home.files();
        home.set_up(&mut RealDisk).unwrap();
        let set_up = home.files();
        assert!(set_up.len() >= 8, "{:?}", set_up.keys());
        for agent in Agent::all() {
            let state = State::of(agent, &home.setting());
            assert_eq!(state.servers.len(), 1, "{agent:?}");
            assert_eq!((state.missing.len(), state.unreadable.len()), (0, 0), "{agent:?}");
        }
        home.set_up(&mut RealDisk).unwrap();
        assert_eq!(home.files(), set_up, "a second time changes nothing");
        home.take_back(&mut RealDisk).unwrap();
        assert_eq!(home.files(), before);
        home.take_back(&mut RealDisk).unwrap();
        assert_eq!(home.files(), before, "nor does taking back twice");
    }
    let home = Home::empty();
    home.set_up(&mut RealDisk).unwrap();
    home.take_back(&mut RealDisk).unwrap();
    assert!(!home.place.home.join(".config").exists(), "folders that were made go, too");
}

/// An older anchord wrote other hooks, and recorded the text before them.
#[test]
fn an_older_set_up_is_updated_and_can_still_be_undone_exactly() {
    let home = Home::full();
    let before = home.files();
    home.set_up(&mut RealDisk).unwrap();
    let newest = home.files();
    let name = ".claude/settings.json";
    let mut manifest = Manifest::read(&home.dir).unwrap();
    let older = home
        .text(name)
        .replace("\"timeout\": 3", "\"timeout\": 60")
        .replace("Bash|Edit|", "Edit|")
        .replace("/opt/anchord-hook", "/old/anchord-hook")
        .replace("PostCompact", "Notification");
    home.write(name, &older);
    manifest.wrote(&home.place.home.join(name), Some(&older));
    manifest.saved(&home.dir).unwrap().unwrap().apply().unwrap();

    let plans = plan::setup(&[agent("claude-code")], &home.setting(), &manifest).files;
    let changes = plans.iter().flat_map(|plan| &plan.outcome.changes).map(ToString::to_string);
    let changes: Vec<String> = changes.collect();
    assert_eq!(changes.len(), 4, "{changes:#?}");
    assert!(changes[0].starts_with("+ hooks: PostCompact"), "{changes:#?}");
    assert!(changes[2].contains("timeout 60 -> 3, matcher Edit|"), "{changes:#?}");
    home.set_up(&mut RealDisk).unwrap();
    assert!(!home.text(name).contains("/old/") && !home.text(name).contains("Notification"));
    let again = plan::setup(&Agent::all(), &home.setting(), &Manifest::read(&home.dir).unwrap());
    assert!(again.files.iter().all(|plan| plan.edit.is_none()), "nothing is left to do");
    assert_eq!(home.files().len(), newest.len());
    home.take_back(&mut RealDisk).unwrap();
    assert_eq!(home.files(), before);
}

#[test]
fn what_stands_in_the_files() {
    let home = Home::full();
    home.set_up(&mut RealDisk).unwrap();
    insta::assert_snapshot!(home.text(".codex/config.toml"));
    insta::assert_snapshot!(home.text(".gemini/settings.json"));
    insta::assert_snapshot!(
        home.text(".claude/settings.json").replace('\r', "").replace('\u{feff}', "BOM")
    );
    insta::assert_snapshot!(home.text(".config/opencode/opencode.jsonc"));
    insta::assert_snapshot!(home.text(".openclaw/openclaw.json"));
}

#[test]
fn removal_keeps_later_changes_by_others() {
    let home = Home::full();
    home.set_up(&mut RealDisk).unwrap();
    let change = |name: &str, old: &str, new: &str| {
        let text = home.text(name);
        assert!(text.contains(old), "{name}: {text}");
        home.write(name, &text.replacen(old, new, 1));
    };
    change(".claude.json", "\"numStartups\":3", "\"numStartups\":4");
    change(".claude/settings.json", "Bash(ls)", "Bash(cat)");
    change(".codex/config.toml", "model='x'", "model='y'");
    change(".codex/hooks.json", "{", "{\"note\": 1,");
    change(".gemini/settings.json", "\"a\": 1", "\"a\": 2");
    change(".config/opencode/opencode.jsonc", "/* a */", "/* b */");
    change(".openclaw/openclaw.json", "// theirs", "// mine");
    home.take_back(&mut RealDisk).unwrap();
    for (path, text) in home.files() {
        assert!(!text.contains("anchord"), "{}: {text}", path.display());
    }
    assert_eq!(home.text(".codex/config.toml"), FILES[2].1.replace("='x'", "='y'"));
    let claude = home.text(".claude/settings.json");
    assert!(
        claude.contains("say") && claude.contains("Bash(cat)") && claude.starts_with('\u{feff}')
    );
    assert!(home.text(".codex/hooks.json").contains("note"), "a file of theirs now");
    assert!(home.text(".gemini/settings.json").contains("// note\n   \"a\": 2"));
    assert!(home.text(".openclaw/openclaw.json").contains("// mine"));
}

#[test]
fn a_set_up_killed_between_any_two_writes_can_be_completed_or_undone() {
    let hook = Some("/opt/anchord-hook".to_owned());
    let programs = Programs::new("/new/anchord".to_owned(), None, hook);
    for writes in 0.. {
        let home = Home::full();
        let before = home.files();
        let left = RefCell::new(writes);
        let done = home.set_up(&mut Dying { left: &left }).is_ok();
        for (name, old) in FILES {
            let text = home.text(name);
            assert!(text == old || text.contains("/opt/anchord"), "{name} is whole: {text}");
        }
        home.take_back(&mut RealDisk).unwrap();
        assert_eq!(home.files(), before, "taken back after {writes} writes");

        // Repeat this with a set-up by another program, which is killed as well.
        *left.borrow_mut() = writes;
        let _ = home.set_up(&mut Dying { left: &left });
        *left.borrow_mut() = writes;
        let _ = home.set_up_by(&programs, &mut Dying { left: &left });
        home.set_up(&mut RealDisk).unwrap();
        *left.borrow_mut() = writes;
        let _ = home.take_back(&mut Dying { left: &left });
        home.take_back(&mut RealDisk).unwrap();
        assert_eq!(home.files(), before, "mended after {writes} writes");
        if done {
            assert!(writes > 6, "{writes}");
            return;
        }
    }
}

#[test]
fn symlinks_are_followed_and_file_modes_kept() {
    let home = Home::full();
    let dotfiles = home.place.home.join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let (link, real) = (home.place.home.join(".codex/config.toml"), dotfiles.join("codex.toml"));
    fs::rename(&link, &real).unwrap();
    symlink(&real, &link).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    home.set_up(&mut RealDisk).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("anchord"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    home.take_back(&mut RealDisk).unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), FILES[2].1);
}

#[test]
fn removal_without_a_manifest_removes_our_entries() {
    let home = Home::full();
    home.set_up(&mut RealDisk).unwrap();
    fs::remove_file(home.dir.path().join(manifest::NAME)).unwrap();
    home.take_back(&mut RealDisk).unwrap();
    for (path, text) in home.files() {
        assert!(!text.contains("anchord"), "{}: {text}", path.display());
    }
}

#[test]
fn an_entry_written_by_hand_is_restored_and_reported() {
    let home = Home::empty();
    let name = ".gemini/settings.json";
    let by_hand = r#"{"mcpServers": {"anchord": {"command": "anchord-mcp"}}}"#;
    home.write(name, by_hand);
    home.set_up(&mut RealDisk).unwrap();
    let manifest = Manifest::read(&home.dir).unwrap();
    let plans = plan::removal(&[agent("gemini")], &home.setting(), &manifest).files;
    assert!(plans[0].outcome.remarks[0].contains("stood there before set-up"), "{plans:?}");
    home.take_back(&mut RealDisk).unwrap();
    assert_eq!(home.text(name), by_hand);
    home.take_back(&mut RealDisk).unwrap();
    assert!(!home.text(name).contains("anchord"));
}

#[test]
fn no_manifest_is_left_once_nothing_is_set_up() {
    let left = |home: &Home| home.dir.path().join(manifest::NAME).exists();
    // The original text in the manifest is damaged.
    let home = Home::full();
    home.set_up(&mut RealDisk).unwrap();
    let mut manifest = Manifest::read(&home.dir).unwrap();
    manifest.files[0].before = Some("damaged".to_owned());
    manifest.saved(&home.dir).unwrap().unwrap().apply().unwrap();
    home.take_back(&mut RealDisk).unwrap();
    assert!(!left(&home));
    // The set-up was for a project that is gone.
    let disk = home.place.home.join("disk");
    let project = disk.join("project");
    fs::create_dir_all(&project).unwrap();
    let scope = Scope::Project(project.clone());
    let setting = Setting { scope: &scope, ..home.setting() };
    let manifest = Manifest::read(&home.dir).unwrap();
    let plans = plan::setup(&[agent("gemini")], &setting, &manifest).files;
    plan::write(&plans, &home.dir, manifest, &mut RealDisk).unwrap();
    home.take_back(&mut RealDisk).unwrap();
    assert!(left(&home), "the project is still there");
    // The disk is not mounted: its mount point is empty or missing.
    let elsewhere = home.place.home.join("elsewhere");
    fs::rename(&disk, &elsewhere).unwrap();
    for _ in 0..2 {
        home.take_back(&mut RealDisk).unwrap();
        assert!(left(&home), "nobody knows whether the project is gone");
        fs::create_dir_all(&disk).unwrap();
    }
    fs::write(disk.join("another"), "").unwrap();
    home.take_back(&mut RealDisk).unwrap();
    assert!(!left(&home));
}

#[test]
fn the_manifest_records_whether_hooks_load() {
    let home = Home::empty();
    let elsewhere = Path::new("/p");
    assert!(!Manifest::read(&home.dir).unwrap().hooked(elsewhere), "nothing is set up");
    let write = |agents: &[Agent]| {
        let manifest = Manifest::read(&home.dir).unwrap();
        let plans = plan::setup(agents, &home.setting(), &manifest).files;
        plan::write(&plans, &home.dir, manifest, &mut RealDisk).unwrap();
        Manifest::read(&home.dir).unwrap().hooked(elsewhere)
    };
    assert!(write(&[agent("claude-code"), agent("codex"), agent("gemini")]));
}

#[test]
fn the_agents_own_command_is_used_with_the_editor_as_fallback() {
    let home = Home::full();
    let bin = home.place.home.join("bin");
    let claude = bin.join("claude");
    let place = UserEnvironment { path: vec![bin], ..home.place.clone() };
    let setting = Setting { place: &place, ..home.setting() };
    let before = home.files();
    // Rewrites the file as Claude Code does, then fails as an older version would.
    let script = "#!/bin/sh\n[ \"$2\" = add-json ] || exit 2\n\
        printf '{\"numStartups\":3,\"mcpServers\":{\"o\":{\"command\":\"x\"},\"anchord\":%s}}' \"$6\" > \"$(dirname \"$0\")/../.claude.json\"\n";
    for (script, failures, by_command) in [(script, 0, true), ("#!/bin/sh\nexit 1\n", 1, false)] {
        home.write("bin/claude", script);
        fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
        let manifest = Manifest::read(&home.dir).unwrap();
        let plans = plan::setup(&[agent("claude-code")], &setting, &manifest).files;
        let written = plan::write(&plans, &home.dir, manifest, &mut RealDisk).unwrap();
        assert_eq!(written.commands_failed.len(), failures, "{written:?}");
        let text = home.text(".claude.json");
        assert!(text.contains("/opt/anchord"), "{text}");
        assert_eq!(!text.contains("\"z\""), by_command, "{text}");
        home.take_back(&mut RealDisk).unwrap();
        fs::remove_file(&claude).unwrap();
        let now = home.files();
        assert_eq!(
            now.get(&place.home.join(".claude.json")),
            before.get(&place.home.join(".claude.json"))
        );
    }
}

#[test]
fn programs_in_a_build_folder_are_refused() {
    let refused = Programs::next_to(Path::new("/src/anchord/target/debug/anchord")).unwrap_err();
    let refused = Error::from(refused).to_string();
    assert!(refused.contains("cargo install --path cli"), "{refused}");
}

#[test]
fn plugins_run_the_program_that_set_them_up() {
    let home = Home::empty();
    home.set_up(&mut RealDisk).unwrap();
    let right = || State::of(agent("opencode"), &home.setting()).whole[0].1;
    assert!(!right(), "that program is not there");
    for name in [".config/opencode/plugin/anchord.js", ".openclaw/anchord-plugin/index.js"] {
        let text = home.text(name);
        assert!(text.contains("const PROGRAM = \"/opt/anchord\"\n"), "{name}");
        home.write(name, &text.replace("/opt/anchord", "/bin/sh"));
    }
    assert!(right(), "another one that is there is as good");
}

/// Entries that OpenClaw and Codex wrote with a person's consent are theirs, but point to files
/// that a removal deletes.
#[test]
fn entries_made_by_hand_for_our_hooks_are_reported_after_a_removal() {
    let home = Home::empty();
    let leftovers = || -> Vec<String> {
        let agents = Agent::all().into_iter();
        let told = agents.flat_map(|agent| (agent.facts().leftovers)(&home.setting()));
        told.map(|told| told.replace(home.place.home.to_str().unwrap(), "~")).collect()
    };
    assert_eq!(leftovers(), [""; 0]);
    let linked = home.place.home.join(".openclaw/anchord-plugin").display().to_string();
    let openclaw = format!(
        "{{ plugins: {{ load: {{ paths: ['/theirs/anchord-plugin', '{linked}'] }},
            entries: {{ anchord: {{ enabled: true }}, theirs: {{}} }}, allow: ['x', 'anchord'] }} }}"
    );
    home.write(".openclaw/openclaw.json", &openclaw);
    let hooks = home.place.home.join(".codex/hooks.json").display().to_string();
    let state =
        |event: &str| format!("[hooks.state.\"{hooks}:{event}:0:0\"]\ntrusted_hash = \"x\"\n");
    home.write(".codex/config.toml", &(state("stop") + &state("session_end")));
    assert_eq!(
        leftovers(),
        [
            "your trust in hooks of ~/.codex/hooks.json, which is gone, stays in ~/.codex/config.toml: 2 tables \
             `[hooks.state.\"~/.codex/hooks.json:…\"]`. They do nothing; remove them by hand if you like.",
            "you had it take in the plugin in ~/.openclaw/anchord-plugin, whose files are gone. Remove from \
             ~/.openclaw/openclaw.json by hand: `plugins.allow[1]` (anchord), `plugins.entries.anchord`, \
             `plugins.load.paths[1]` (~/.openclaw/anchord-plugin).",
        ]
    );
    home.write(".codex/hooks.json", "{}");
    assert_eq!(leftovers().len(), 1, "trust in hooks of others is theirs");
}

/// The published plugins run a program on the PATH. Otherwise they equal what set-up writes.
#[test]
fn plugins_have_the_same_hooks_as_set_up() {
    let home = Home::empty();
    home.set_up_by(&Programs::on_path(), &mut RealDisk).unwrap();
    let hooks =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["hooks"].take();
    let claude_code =
        include_str!("../../../integrations/claude-code/plugins/anchord/hooks/hooks.json");
    let codex = include_str!("../../../integrations/claude-code/plugins/anchord/hooks/codex.json");
    let gemini = include_str!("../../../integrations/gemini/hooks/hooks.json");
    for (plugin, settings) in [
        (claude_code, ".claude/settings.json"),
        (codex, ".codex/hooks.json"),
        (gemini, ".gemini/settings.json"),
    ] {
        assert_eq!(hooks(plugin), hooks(&home.text(settings)), "{settings}");
    }
}

#[test]
fn each_agent_is_detected_by_its_program_or_folder() {
    let home = Home::empty();
    assert!(Agent::all().iter().all(|agent| agent.found(&home.place).is_none()));
    home.write(".gemini/x", "");
    assert_eq!(agent("gemini").found(&home.place), Some(home.place.home.join(".gemini")));
    let full = Home::full();
    assert!(Agent::all().iter().all(|agent| agent.found(&full.place).is_some()));
}

#[test]
fn trust_is_read_from_the_codex_config() {
    let home = Home::full();
    home.set_up(&mut RealDisk).unwrap();
    let untrusted = || State::of(agent("codex"), &home.setting()).untrusted;
    assert_eq!(untrusted().len(), 10);
    let file = home.place.home.join(".codex/hooks.json");
    let key = format!("{}:session_start:0:0", file.display());
    let config = home.text(".codex/config.toml");
    home.write(
        ".codex/config.toml",
        &format!("{config}\n[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:0\"\n"),
    );
    assert_eq!(untrusted().len(), 9);
    assert!(!untrusted().contains(&"SessionStart".to_owned()));
}
