//! `init` in scratch projects. The tests of `directive` cover the edits of texts.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

type Make<'a> = &'a dyn Fn(&Path);

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(scratch.path()).unwrap().join("project");
    fs::create_dir(&root).unwrap();
    (scratch, root)
}

fn init(root: &Path, mode: Option<CheckpointMode>) -> Result<Vec<String>, Error> {
    apply(root, &placement(root, root.join(".git").is_dir(), wanted(mode, None), &[])?)
}

fn wanted(mode: Option<CheckpointMode>, tools: Option<DirectiveTools>) -> Wanted {
    Wanted { mode, tools, loading: Loading::ByAgent }
}

fn remove(root: &Path) -> Result<Vec<String>, Error> {
    apply(root, &removal(root)?)
}

fn apply(root: &Path, edits: &[Edit]) -> Result<Vec<String>, Error> {
    let name = |edit: &Edit| {
        let path = edit.path.strip_prefix(root).unwrap_or(&edit.path);
        format!("{} {}", path.display(), edit.done())
    };
    for edit in edits {
        edit.apply()?;
    }
    Ok(edits.iter().map(name).collect())
}

fn text(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(name)).unwrap()
}

#[test]
fn an_empty_project_gets_a_claude_md_that_can_be_removed() {
    let (_scratch, root) = scratch();
    assert_eq!(init(&root, None).unwrap(), ["CLAUDE.md made"]);
    assert!(text(&root, "CLAUDE.md").starts_with("<!-- anchord:start v1 mode=balanced -->\n"));
    assert_eq!(init(&root, None).unwrap(), [""; 0], "a second time changes nothing");
    assert_eq!(remove(&root).unwrap(), ["CLAUDE.md removed"]);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn every_agent_that_is_set_up_gets_its_file() {
    let (_scratch, root) = scratch();
    let agents = ["claude-code", "codex", "opencode"].map(|id| Agent::named(id).unwrap());
    let served = || apply(&root, &placement(&root, false, wanted(None, None), &agents).unwrap());
    assert_eq!(served().unwrap(), ["AGENTS.md made", "CLAUDE.md made"]);
    assert_eq!(served().unwrap(), [""; 0], "a second time changes nothing");
    assert_eq!(remove(&root).unwrap(), ["CLAUDE.md removed", "AGENTS.md removed"]);

    // One file under two names needs no second block.
    fs::write(root.join("AGENTS.md"), "# Agents\n").unwrap();
    symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
    assert_eq!(served().unwrap(), ["AGENTS.md changed"]);
}

#[test]
fn only_existing_files_are_changed() {
    let (_scratch, root) = scratch();
    fs::write(root.join("AGENTS.md"), "# Agents\r\n").unwrap();
    fs::write(root.join("memory.md"), "kept").unwrap();
    let changed = init(&root, Some(CheckpointMode::Aggressive)).unwrap();
    assert_eq!(changed, ["AGENTS.md changed", "memory.md changed"]);
    assert!(text(&root, "AGENTS.md").contains("mode=aggressive -->\r\n"));

    assert_eq!(init(&root, None).unwrap(), [""; 0], "the mode is kept when none is given");
    init(&root, Some(CheckpointMode::Conservative)).unwrap();
    assert!(text(&root, "memory.md").contains("mode=conservative"));
    remove(&root).unwrap();
    assert_eq!(text(&root, "AGENTS.md"), "# Agents\r\n");
    assert_eq!(text(&root, "memory.md"), "kept");
}

#[test]
fn permissions_are_kept() {
    let (_scratch, root) = scratch();
    let file = root.join("CLAUDE.md");
    fs::write(&file, "x\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    init(&root, None).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_link_inside_the_project_stays_a_link_and_its_target_is_written_once() {
    let (_scratch, root) = scratch();
    fs::write(root.join("AGENTS.md"), "one\n").unwrap();
    symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
    assert_eq!(init(&root, None).unwrap(), ["AGENTS.md changed"]);
    assert!(fs::symlink_metadata(root.join("CLAUDE.md")).unwrap().is_symlink());
    assert_eq!(text(&root, "AGENTS.md").matches("anchord:start").count(), 1);
}

#[test]
fn if_one_file_cannot_be_changed_none_is() {
    let (scratch, root) = scratch();
    fs::write(root.join("CLAUDE.md"), "mine\n").unwrap();
    let outside = scratch.path().join("outside.md");
    fs::write(&outside, "theirs\n").unwrap();
    let spoil: [(&str, Make<'_>); 5] = [
        ("is a link out of the project", &|path| symlink(&outside, path).unwrap()),
        ("cannot follow the link", &|path| symlink("nowhere", path).unwrap()),
        ("is not a regular file", &|path| fs::create_dir(path).unwrap()),
        ("is not UTF-8", &|path| fs::write(path, b"\xff\xfe").unwrap()),
        ("anchord:end --> is missing", &|path| {
            fs::write(path, "<!-- anchord:start v1 mode=balanced -->\n").unwrap();
        }),
    ];
    for (words, make) in spoil {
        let path = root.join("memory.md");
        make(&path);
        let error = init(&root, None).unwrap_err();
        assert!(error.message.replace('`', "").contains(words), "{error}");
        assert_eq!(text(&root, "CLAUDE.md"), "mine\n", "{words}");
        if path.is_dir() { fs::remove_dir(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs\n");
}

#[test]
fn an_unknown_mode_in_a_block_requires_the_mode_option() {
    let (_scratch, root) = scratch();
    let block = "<!-- anchord:start v1 mode=frantic -->\n<!-- anchord:end -->\n";
    fs::write(root.join("CLAUDE.md"), block).unwrap();
    let error = init(&root, None).unwrap_err();
    assert!(error.to_string().contains("frantic"), "{error}");
    init(&root, Some(CheckpointMode::Balanced)).unwrap();
    assert!(text(&root, "CLAUDE.md").contains("mode=balanced"));
}

#[test]
fn the_projects_folder_is_added_to_gitignore() {
    let (_scratch, root) = scratch();
    fs::create_dir(root.join(".anchord")).unwrap();
    assert_eq!(init(&root, None).unwrap(), ["CLAUDE.md made"], "without git nothing is ignored");
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".gitignore"), "target").unwrap();
    assert_eq!(init(&root, None).unwrap(), [".gitignore changed"]);
    assert!(text(&root, ".gitignore").ends_with("\n.anchord/"));
    assert_eq!(init(&root, None).unwrap(), [""; 0]);
    remove(&root).unwrap();
    assert_eq!(text(&root, ".gitignore"), "target");
}

fn init_for(root: &Path, tools: DirectiveTools) -> Vec<String> {
    let edits = placement(root, false, wanted(None, Some(tools)), &[]).unwrap();
    apply(root, &edits).unwrap()
}

#[test]
fn a_zipmem_block_is_replaced_and_its_mode_kept() {
    for (words, mode) in [
        ("**Do NOT call `zipmem_checkpoint`** on your own", "conservative"),
        ("Call `zipmem_checkpoint` only at **major milestones**", "balanced"),
        ("Call `zipmem_checkpoint` periodically", "aggressive"),
        ("the first version knew no checkpoints", "balanced"),
    ] {
        let (_scratch, root) = scratch();
        let theirs = format!("<!-- zipmem:start -->\n{words}\n<!-- zipmem:end -->");
        fs::write(root.join("CLAUDE.md"), format!("# Rules\n\n{theirs}\n\nMine.\n")).unwrap();
        assert_eq!(init_for(&root, DirectiveTools::Zipmem), ["CLAUDE.md changed"]);
        let now = text(&root, "CLAUDE.md");
        let first = format!("# Rules\n\n<!-- anchord:start v1 mode={mode} tools=zipmem -->\n");
        assert!(now.starts_with(&first) && now.ends_with("-->\n\nMine.\n"), "{now}");
        assert!(
            now.contains("`zipmem_save_and_compact`") && !now.contains("zipmem:start"),
            "{now}"
        );
        assert_eq!(init(&root, None).unwrap(), [""; 0], "set and mode are kept");
        assert_eq!(init_for(&root, DirectiveTools::Anchord), ["CLAUDE.md changed"]);
        assert!(text(&root, "CLAUDE.md").contains("`memory_save`"));
        remove(&root).unwrap();
        assert_eq!(text(&root, "CLAUDE.md"), "# Rules\n\nMine.\n");
    }
}

#[test]
fn of_two_blocks_zipmems_goes_and_without_its_tools_it_stays() {
    let (_scratch, root) = scratch();
    let theirs = "<!-- zipmem:start -->\nmilestones\n<!-- zipmem:end -->\n";
    fs::write(root.join("CLAUDE.md"), theirs).unwrap();
    init(&root, None).unwrap();
    assert!(text(&root, "CLAUDE.md").starts_with(theirs), "it is somebody else's");
    assert_eq!(init_for(&root, DirectiveTools::Zipmem), ["CLAUDE.md changed"]);
    let now = text(&root, "CLAUDE.md");
    assert!(!now.contains("zipmem:start") && now.matches("anchord:start").count() == 1, "{now}");
}
