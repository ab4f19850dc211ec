//! Findings in words and as JSON, and the repairs of `--fix`.

use anchord_daemon::api::TeamState;

use super::*;

fn place_of(home: &Path) -> UserEnvironment {
    let variables = std::collections::BTreeMap::new();
    UserEnvironment { home: home.to_owned(), path: Vec::new(), variables }
}

#[test]
fn findings_say_what_to_do() {
    let findings = [
        Finding::good("daemon", "version 1 answers"),
        Finding::note("Codex", "it does not know anchord").action("Run `anchord setup codex`."),
        Finding::problem("data", "/home/ada/x has mode 777", "Run chmod.")
            .fix(Fix::Remove(PathBuf::from("/x"))),
    ];
    let mut out = anstream::StripStream::new(Vec::new());
    render(&findings, false, Some(Path::new("/home/ada")), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out.into_inner()).unwrap(), @r"
    ✓ daemon: version 1 answers
    - Codex: it does not know anchord
        Run `anchord setup codex`.
    ✗ data: ~/x has mode 777
        Run chmod.

    1 problem, 1 note
    `anchord doctor --fix` repairs 1 of them.
    ");
}

#[test]
fn json_findings_have_the_fields_for_scripts() {
    let finding = Finding::problem("data", "full", "Make room.").fix(Fix::Remove("/x".into()));
    let json = serde_json::to_value(finding).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "severity": "problem", "about": "data", "what": "full", "action": "Make room.", "fixed": null
        })
    );
}

#[test]
fn modes_and_leftovers_are_fixed() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, file) = (InstanceDir::named(folder.path()), folder.path().join("sock"));
    let place = place_of(folder.path());
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let mut found = Vec::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    daemon::findings(&dir, None, &mut found);
    let fixes: Vec<Fix> = found.iter().filter_map(|finding| finding.fix.clone()).collect();
    assert_eq!(fixes[0], Fix::Mode(folder.path().to_owned(), 0o700));
    let fix = fixes[1].clone();
    assert_eq!(fix, Fix::Mode(file.clone(), 0o600));
    fix.apply(&dir, &place).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Fix::Remove(file.clone()).apply(&dir, &place).unwrap(), "removed");
    assert!(!file.exists());
    assert!(Fix::Remove(file).apply(&dir, &place).is_err());
}

#[test]
fn an_agents_files_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(folder.path()).unwrap();
    let place = place_of(&home);
    let write = |name: &str, text: &str| {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let texts = || -> Vec<String> {
        let (found, _) = agents::findings(&place, None, true);
        let text = |finding: &Finding| finding.what.replace(home.to_str().unwrap(), "~");
        found.iter().map(text).collect()
    };
    assert_eq!(texts(), [""; 0], "no agent, no word");
    write(".gemini/settings.json", "{}");
    write(".gemini/.anchord-Xy12", "");
    assert_eq!(
        texts(),
        [
            "~/.gemini/.anchord-Xy12 was left by a set-up that was killed",
            "it is on this machine and does not know anchord"
        ]
    );
    fs::remove_file(home.join(".gemini/.anchord-Xy12")).unwrap();
    let server = r#"{"command": "/gone/anchord-mcp", "args": []}"#;
    let hook = r#"{"type": "command", "command": "/gone/anchord-hook gemini"}"#;
    let settings = format!(
        r#"{{"mcpServers": {{"anchord": {server}, "memory": {server}}},
        "hooks": {{"SessionEnd": [{{"hooks": [{hook}, {hook}]}}]}}}}"#
    );
    write(".gemini/settings.json", &settings);
    write(".gemini/extensions/anchord/x", "");
    assert_eq!(
        texts(),
        [
            "the server is registered 3 times: `anchord` in ~/.gemini/settings.json, `memory` in \
             ~/.gemini/settings.json, the plugin",
            "~/.gemini/settings.json runs /gone/anchord-hook, which is not there",
            "~/.gemini/settings.json runs /gone/anchord-mcp, which is not there",
            "~/.gemini/settings.json runs anchord's hook several times at SessionEnd",
            "hooks come from the plugin and from the settings",
            "hooks are not as this version sets them up: SessionEnd",
        ]
    );
    fs::remove_dir_all(home.join(".gemini/extensions")).unwrap();
    let missing = "no hook at SessionStart, BeforeAgent, BeforeTool, AfterTool, AfterAgent";
    assert!(texts().iter().any(|text| text == missing), "{:?}", texts());
    let hooks = format!(r#"{{"hooks": {{"SessionEnd": [{{"hooks": [{hook}]}}]}}}}"#);
    write(".gemini/settings.json", &hooks);
    assert_eq!(
        texts(),
        [
            "hooks run and no server is registered: it has no tools to save or find with",
            "~/.gemini/settings.json runs /gone/anchord-hook, which is not there",
            "hooks are not as this version sets them up: SessionEnd",
        ]
    );
    let (found, _) = agents::findings(&place, None, true);
    let mend = Fix::SetUp(Agent::named("gemini").unwrap(), Scope::User);
    assert!(found.iter().all(|finding| finding.fix.as_ref() == Some(&mend)), "{found:?}");
    write(".gemini/settings.json", "{,}");
    let [text] = &texts()[..] else { panic!("one cause: {:?}", texts()) };
    assert!(text.starts_with("~/.gemini/settings.json cannot be read"), "{text}");
    let (found, _) = agents::findings(&place, None, true);
    assert_eq!(found[0].fix, None, "nothing is promised that cannot be done");
}

#[test]
fn switched_off_hooks_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let place = place_of(folder.path());
    let settings = folder.path().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    for (text, found) in
        [("{\"disableAllHooks\": true}", true), ("{\"disableAllHooks\": false}", false)]
    {
        fs::write(&settings, text).unwrap();
        let (findings, _) = agents::findings(&place, None, false);
        let off = findings.iter().any(|finding| {
            finding.severity == Severity::Problem
                && finding.what.starts_with("no hook runs, because of `disableAllHooks` in ")
        });
        assert_eq!(off, found, "{findings:?}");
    }
}

/// Its files are the user's in every project, so they are not looked at twice.
#[test]
fn an_agent_without_files_in_projects_is_checked_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = place_of(folder.path());
    let file = folder.path().join(".copilot/mcp-config.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, r#"{"mcpServers": {"anchord": {"command": "/gone/anchord-mcp"}}}"#).unwrap();
    let project = Scope::Project(folder.path().join("project"));
    let (found, _) = agents::findings(&place, Some(&project), false);
    assert!(found.iter().all(|finding| !finding.what.contains("2 times")), "{found:?}");
}

#[test]
fn a_repair_counts_only_if_its_finding_is_gone() {
    let problem = |what: &str, path: &str| {
        Finding::problem("data", what, "Do it.").fix(Fix::Remove(PathBuf::from(path)))
    };
    let (gone, stays, refused) =
        (problem("gone", "/a"), problem("stays", "/b"), problem("refused", "/c"));
    let repaired = vec![
        (gone, Ok("removed".to_owned())),
        (stays.clone(), Ok("removed".to_owned())),
        (refused.clone(), Err(Error::failed("no right to it"))),
    ];
    let after = vec![Finding::good("daemon", "answers"), stays, refused];
    let found = checked_again(repaired, after);
    let shown: Vec<_> = found
        .iter()
        .map(|finding| (finding.severity, finding.what.as_str(), finding.fixed.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            (Severity::Note, "gone", Some("removed")),
            (Severity::Good, "answers", None),
            (Severity::Problem, "stays", Some("the repair did not help; it is still so")),
            (Severity::Problem, "refused", Some("cannot be repaired: no right to it")),
        ]
    );
}

#[test]
fn versions_and_containers_are_checked() {
    let status = serde_json::json!({
        "build": "0.2.0", "pid": 1, "pid_namespace": 7, "started": 0, "uptime_ms": 0,
        "instance": {"id": "", "directory": "", "data": "", "config": "", "logs": ""},
        "http": {"state": "off"}, "projects": [],
        "sessions": [{"id": "s", "client": "codex 0.169.0", "pid": 42, "since": 0, "last_call": 0, "connected": true}],
        "connections": [{"build": "0.1.0", "pid": 42}, {"build": "0.2.0", "pid": 43, "elsewhere": true}],
    });
    let status = serde_json::from_value(status).unwrap();
    let mut found = Vec::new();
    daemon::shims(&status, &mut found);
    daemon::elsewhere(&status, Some(8), &mut found);
    let whats: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
    assert_eq!(
        whats,
        [
            "the shim of codex 0.169.0, pid 42, is version 0.1.0, the daemon 0.2.0",
            "the daemon runs in another container than this command, or outside of one: both have this home",
            "1 of 2 connected shims run in another container than the daemon: they have this home, too",
        ]
    );
    assert!(
        found.iter().all(|finding| finding.action.is_some() && finding.severity == Severity::Note)
    );
    found.clear();
    daemon::elsewhere(&status, Some(7), &mut found);
    assert_eq!(found.len(), 1, "the same namespace as the daemon's");

    let folder = tempfile::tempdir().unwrap();
    let hook = folder.path().join("anchord-hook");
    let named = [
        (Agent::named("codex").unwrap(), hook.clone()),
        (Agent::named("claude-code").unwrap(), hook.clone()),
    ];
    for (says, what) in [
        ("anchord-hook 0.1.9", "is version 0.1.9, the daemon 0.2.0"),
        ("", "does not report its version"),
    ] {
        fs::write(&hook, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        found.clear();
        daemon::versions(Some(&status), &named, &mut found);
        let about =
            found.iter().find(|finding| finding.what.starts_with(hook.to_str().unwrap())).unwrap();
        assert!(
            about.what.contains(what) && about.what.ends_with("; Claude Code, Codex run it"),
            "{about:?}"
        );
        assert!(
            about.action.as_ref().unwrap().contains("`anchord setup claude-code codex`"),
            "{about:?}"
        );
    }
}

#[test]
fn several_memories_of_one_directory_are_noted() {
    let project = |id: &str, root: &str, revision: u64| -> ProjectStatus {
        serde_json::from_value(serde_json::json!({
            "id": id, "root": root, "name": "api", "exists": true, "open": false,
            "revision": revision, "entries": revision, "bytes": 1,
        }))
        .unwrap()
    };
    let alone = [project("a", "/src/api", 3), project("b", "/src/web", 3)];
    assert!(data::with_several_memories(&alone).is_empty());
    let unused = [project("a", "/src/api", 3), project("b", "/src/api", 0)];
    assert!(
        data::with_several_memories(&unused).is_empty(),
        "nothing was ever stored in one of them"
    );
    let found =
        data::with_several_memories(&[project("a", "/my src", 3), project("b", "/my src", 7)]);
    insta::assert_snapshot!(found[0].what, @"
    2 memories belong to /my src:
          a at revision 3
          b at revision 7
    ");
    let action = found[0].action.as_deref().unwrap();
    assert!(action.contains("`anchord project link '/my src' --project ID`"), "{action}");
}

#[test]
fn a_teams_database_that_a_person_must_see_to_is_not_said_to_come_back() {
    let project: ProjectStatus = serde_json::from_value(serde_json::json!({
        "id": "p1", "root": "/src/api", "name": "api", "exists": true, "open": true,
        "revision": 3, "entries": 3, "bytes": 1,
    }))
    .unwrap();
    let action = |needs_person| {
        let error = Some("failed to do that".to_owned());
        let state = TeamState { error, needs_person, ..TeamState::default() };
        team::finding(&project, &state).action.unwrap()
    };
    assert_eq!(
        action(false),
        "Saves stay on this machine until the database takes them. `anchord team status --project \
         p1` shows them."
    );
    assert!(action(true).starts_with("That does not pass by itself."), "{}", action(true));
}
