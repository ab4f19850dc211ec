//! Entries are recognised as ours by the command that they run.

use serde_json::json;

use super::*;

fn server() -> Part {
    Part::Server(Server {
        list: &["mcpServers"],
        launch: vec!["/new/anchord".to_owned(), "mcp".to_owned()],
        fields: ProgramFields::Command,
        more: vec![("alwaysLoad", json!(true))],
    })
}

fn hooks(matcher: Option<&'static str>) -> Part {
    let handler = json!({"type": "command", "command": "/new/anchord-hook codex", "timeout": 5});
    Part::Hooks(Hooks::grouped(vec![("Stop", None), ("PostToolUse", matcher)], handler))
}

fn placed(text: &str, part: Part) -> Outcome {
    place(Some(text), Format::Jsonc, &[part]).unwrap()
}

fn value(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.text.as_deref().unwrap()).unwrap()
}

fn said(outcome: &Outcome) -> Vec<String> {
    outcome.changes.iter().map(ToString::to_string).collect()
}

#[test]
fn an_old_entry_gets_the_new_program_and_keeps_the_users_settings() {
    let cases = [
        (
            json!({"command": "/old/anchord-mcp", "args": ["--tools", "all"]}),
            vec!["mcp", "--tools", "all"],
        ),
        (
            json!({"command": "anchord", "args": ["mcp", "--project", "/p"], "env": {"A": "b"}}),
            vec!["mcp", "--project", "/p"],
        ),
        (json!({"command": "anchord-mcp"}), vec!["mcp"]),
    ];
    for (old, args) in cases {
        let text = json!({"mcpServers": {"anchord": old}}).to_string();
        let outcome = placed(&text, server());
        let entry = &value(&outcome)["mcpServers"]["anchord"];
        assert_eq!(entry["command"], "/new/anchord");
        assert_eq!(entry["args"], json!(args));
        assert_eq!(entry["env"], old["env"]);
        assert_eq!(entry["alwaysLoad"], true);
        let again = placed(outcome.text.as_deref().unwrap(), server());
        assert_eq!(said(&again), [""; 0], "a second time changes nothing");
        assert_eq!(again.text, outcome.text);
    }
}

#[test]
fn a_foreign_entry_with_our_name_is_not_touched() {
    let text =
        json!({"mcpServers": {"anchord": {"command": "docker", "args": ["run", "anchord"]}}})
            .to_string();
    let error = place(Some(&text), Format::Jsonc, &[server()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`mcpServers.anchord` runs `docker run anchord`, which is not anchord: rename or remove that entry"
    );
    let left = take_out(&text, Format::Jsonc, &[server()], Before::Unknown).unwrap();
    assert_eq!((left.changes.len(), left.text.as_deref()), (0, Some(text.as_str())));
}

#[test]
fn another_entry_that_runs_anchord_is_reported() {
    let text =
        json!({"mcpServers": {"memory": {"command": "/x/anchord-mcp", "args": []}}}).to_string();
    let outcome = placed(&text, server());
    assert_eq!(outcome.remarks, ["`mcpServers.memory` runs anchord, too: remove one of the two"]);
    assert_eq!(value(&outcome)["mcpServers"]["memory"]["command"], "/x/anchord-mcp");
}

#[test]
fn a_hook_is_added_once_and_an_old_one_is_updated_in_place() {
    let foreign = json!({"hooks": [{"type": "command", "command": "echo anchord hook"}]});
    let old = json!({"hooks": [{"type": "command", "command": "x"}, {"type": "command", "command": "'/my old/anchord' hook codex"}]});
    let text = json!({"hooks": {"Stop": [foreign, old]}}).to_string();
    let outcome = placed(&text, hooks(Some("Bash")));
    assert_eq!(
        said(&outcome),
        [
            "+ hooks: PostToolUse: /new/anchord-hook codex",
            "~ hooks: Stop: '/my old/anchord' hook codex -> /new/anchord-hook codex, timeout none -> 5"
        ]
    );
    let now = value(&outcome);
    assert_eq!(now["hooks"]["Stop"][0], foreign);
    assert_eq!(now["hooks"]["Stop"][1]["hooks"][0]["command"], "x");
    assert_eq!(now["hooks"]["Stop"][1]["hooks"][1]["command"], "/new/anchord-hook codex");
    assert_eq!(now["hooks"]["PostToolUse"][0]["matcher"], "Bash");
    assert_eq!(said(&placed(outcome.text.as_deref().unwrap(), hooks(Some("Bash")))), [""; 0]);

    let text = outcome.text.unwrap();
    let left = take_out(&text, Format::Jsonc, &[hooks(None)], Before::Unknown).unwrap();
    assert_eq!(said(&left), ["- hooks: PostToolUse, Stop"]);
    let rest =
        json!({"hooks": {"Stop": [foreign, {"hooks": [{"type": "command", "command": "x"}]}]}});
    assert_eq!(value(&left), rest);
}

/// An older anchord set up another timeout, other tools and an event that is no longer needed.
#[test]
fn hooks_of_an_older_set_up_are_updated() {
    let old = json!({"type": "command", "command": "/new/anchord-hook codex", "timeout": 60});
    let foreign = json!({"type": "command", "command": "x"});
    let text = |group: Value| {
        json!({"hooks": {
            "Stop": [{"hooks": [old]}],
            "PostToolUse": [group],
            "Notification": [{"hooks": [old]}, {"hooks": [foreign]}],
        }})
        .to_string()
    };
    let dropped = "- hooks: Notification: not needed any more";
    let alone = placed(&text(json!({"matcher": "Edit", "hooks": [old]})), hooks(Some("Bash")));
    assert_eq!(
        said(&alone),
        [
            "~ hooks: Stop: timeout 60 -> 5",
            "~ hooks: PostToolUse: timeout 60 -> 5, matcher Edit -> Bash",
            dropped
        ]
    );
    let now = value(&alone);
    let ours = json!({"type": "command", "command": "/new/anchord-hook codex", "timeout": 5});
    assert_eq!(now["hooks"]["PostToolUse"], json!([{"matcher": "Bash", "hooks": [ours]}]));
    assert_eq!(now["hooks"]["Notification"], json!([{"hooks": [foreign]}]));

    let shared = json!({"matcher": "Edit", "hooks": [old, foreign]});
    let now = value(&placed(&text(shared), hooks(None)));
    let kept = json!({"matcher": "Edit", "hooks": [foreign]});
    assert_eq!(now["hooks"]["PostToolUse"], json!([kept, {"hooks": [ours]}]), "theirs is theirs");

    let found = inspect(&text(json!({"hooks": [old]})), Format::Jsonc, &[hooks(None)]).unwrap();
    assert!(found.hooks.iter().all(|hook| hook.outdated), "{found:?}");
    for matcher in [None, Some("Bash")] {
        let again = text(json!({"matcher": "*", "hooks": [old]}));
        let done = placed(&again, hooks(matcher)).text.unwrap();
        let found = inspect(&done, Format::Jsonc, &[hooks(matcher)]).unwrap();
        assert!(found.hooks.iter().all(|hook| !hook.outdated), "{found:?}");
        assert_eq!(said(&placed(&done, hooks(matcher))), [""; 0], "a second time changes nothing");
    }
}

#[test]
fn a_hook_that_runs_twice_is_reported() {
    let ours =
        json!({"hooks": [{"type": "command", "command": "/new/anchord-hook", "args": ["codex"]}]});
    let text = json!({"hooks": {"Stop": [ours, ours]}}).to_string();
    let outcome = placed(&text, hooks(None));
    assert_eq!(outcome.remarks, ["Stop runs anchord's hook 2 times"]);
    let found = inspect(&text, Format::Jsonc, &[hooks(None)]).unwrap();
    assert_eq!(found.hooks.len(), 2);
    assert_eq!(found.hooks[1].words, ["/new/anchord-hook", "codex"]);
    let outdated = |text: &str| -> Vec<bool> {
        let found = inspect(text, Format::Jsonc, &[hooks(None)]).unwrap();
        found.hooks.iter().map(|hook| hook.outdated).collect()
    };
    assert_eq!(outdated(&text), [true, false], "the second stays as it is");
    assert_eq!(outdated(outcome.text.as_deref().unwrap()), [false; 3], "nothing is left to mend");
}

#[test]
fn removal_keeps_earlier_empty_objects_and_permissions() {
    let list: &[&str] = &["permissions", "allow"];
    let names = vec!["mcp__anchord__memory_load".to_owned(), "mcp__anchord__memory_get".to_owned()];
    let parts = [hooks(None), Part::Allowed { list, names }];
    let before = r#"{"hooks": {}, "permissions": {"allow": ["mcp__anchord__memory_get"]}}"#;
    let set_up = place(Some(before), Format::Jsonc, &parts).unwrap().text.unwrap();
    let left = take_out(&set_up, Format::Jsonc, &parts, Before::Text(before)).unwrap();
    assert_eq!(value(&left), serde_json::from_str::<Value>(before).unwrap());
    let left = take_out(&set_up, Format::Jsonc, &parts, Before::Unknown).unwrap();
    assert_eq!(value(&left), json!({}), "nobody knows what was there before");
    let left = take_out(&set_up, Format::Jsonc, &parts, Before::Absent).unwrap();
    assert_eq!(left.text, None, "the file was made for it");
}

#[test]
fn our_file_is_removed_unless_somebody_changed_it() {
    let parts = [Part::Whole("plugin\n".to_owned())];
    let made = place(None, Format::Whole, &parts).unwrap();
    assert_eq!(said(&made), ["+ the whole file"]);
    assert_eq!(take_out("plugin\n", Format::Whole, &parts, Before::Absent).unwrap().text, None);
    let kept = take_out("mine\n", Format::Whole, &parts, Before::Absent).unwrap();
    assert_eq!((kept.text.as_deref(), kept.remarks.len()), (Some("mine\n"), 1));
}

#[test]
fn a_flat_list_of_hooks_is_kept_and_left_as_it_was() {
    let handler = json!({"command": "/new/anchord-hook cursor"});
    let flat = Hooks { needs: vec![("version", json!(1))], ..Hooks::flat(&["stop"], handler) };
    let part = [Part::Hooks(flat)];
    let made = place(None, Format::Jsonc, &part).unwrap().text.unwrap();
    let shown: Value = serde_json::from_str(&made).unwrap();
    let ours = json!([{"command": "/new/anchord-hook cursor"}]);
    assert_eq!(shown, json!({"version": 1, "hooks": {"stop": ours}}));
    assert_eq!(take_out(&made, Format::Jsonc, &part, Before::Absent).unwrap().text, None);

    // Somebody else's hooks stay, and an old one of ours is updated in place.
    let text = r#"{"version": 1, "hooks": {"stop": [{"command": "x"}, {"command": "/old/anchord-hook cursor"}]}}"#;
    let outcome = place(Some(text), Format::Jsonc, &part).unwrap();
    assert_eq!(
        said(&outcome),
        ["~ hooks: stop: /old/anchord-hook cursor -> /new/anchord-hook cursor"]
    );
    let found = inspect(outcome.text.as_deref().unwrap(), Format::Jsonc, &part).unwrap();
    assert_eq!((found.hooks.len(), found.hooks[0].outdated), (1, false));
    let text = outcome.text.unwrap();
    let rest = take_out(&text, Format::Jsonc, &part, Before::Unknown).unwrap().text.unwrap();
    let rest: Value = serde_json::from_str(&rest).unwrap();
    assert_eq!(rest, json!({"version": 1, "hooks": {"stop": [{"command": "x"}]}}));
}
