//! Settings: the defaults, what overrides them, and errors that name what is wrong.

use super::*;

fn load(text: &str, http: Option<&str>) -> Result<Config, String> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(CONFIG_FILE), text).unwrap();
    Config::load(dir.path(), http).map_err(|error| error.to_string())
}

fn http(enabled: bool, port: u16) -> Config {
    Config { http: HttpConfig { enabled, port, ..HttpConfig::default() }, ..Config::default() }
}

#[test]
fn without_a_file_the_defaults_apply() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Config::load(dir.path(), None).unwrap(), http(true, 7717));
    assert_eq!(Config::load(&dir.path().join("missing"), None).unwrap(), Config::default());
    assert_eq!(load("", None).unwrap(), Config::default());
}

#[test]
fn the_environment_overrides_the_file_which_overrides_the_defaults() {
    let text = "[http]\nenabled = false\nport = 0\n";
    assert_eq!(load(text, None).unwrap(), http(false, 0));
    assert_eq!(load(text, Some("8080")).unwrap(), http(true, 8080));
    assert_eq!(load("[http]\nport = 9", Some("off")).unwrap(), http(false, 9));
    // Only the environment opens the port to other machines.
    let everywhere = load(text, Some("0.0.0.0:7717")).unwrap().http;
    assert!(everywhere.enabled && everywhere.address.is_unspecified() && everywhere.port == 7717);
    assert!(load("[http]\naddress = \"0.0.0.0\"", None).is_err());
}

#[test]
fn the_session_grace_period_is_set_in_seconds() {
    let grace = |text: &str| load(text, None).unwrap().sessions.grace;
    assert_eq!(grace(""), SESSION_GRACE);
    assert_eq!(grace("[sessions]\ngrace_seconds = 1"), Duration::from_secs(1));
    assert_eq!(grace("[sessions]\ngrace_seconds = 3600"), Duration::from_hours(1));
}

#[test]
fn budgets_are_set_for_projects_and_sessions() {
    let config = load(
        "[memory]\nbudget_tokens = 50000\nload_tokens = 900\nauto_compact = false\ncompact_above = 95\ncompact_to = 70\n\
         [session_memory]\nbudget_tokens = 8000",
        None,
    );
    let config = config.unwrap();
    let budget = config.memory.project_budget();
    assert_eq!(
        (budget.tokens, budget.auto_compact, budget.above, budget.to),
        (50_000, false, 95, 70)
    );
    assert_eq!(config.memory.load_tokens(), 900);
    assert_eq!(config.session_memory.session_budget(Some(80_000)).tokens, 8_000);
}

#[test]
fn an_invalid_setting_is_reported_with_the_allowed_values() {
    for (text, variable, parts) in [
        ("colour = 1", None, ["config.toml", "line 1: unknown key colour", "known here: http, "]),
        ("[colour]", None, ["config.toml", "line 1: unknown key colour", "known here: http, "]),
        ("http = 1", None, ["config.toml", "line 1, `http = 1`", "[http]"]),
        (
            "[http]\nprot = 1",
            None,
            ["config.toml", "line 2: unknown key prot;", "did you mean port?"],
        ),
        ("[http]\nport = 65536", None, ["config.toml", "`http.port` is 65536", "0 to 65535"]),
        ("[http]\nport = \"x\"", None, ["config.toml", "`http.port` is \"x\"", "0 to 65535"]),
        ("[http]\nenabled = 1", None, ["config.toml", "line 2, `enabled = 1`", "a boolean"]),
        ("sessions = 1", None, ["config.toml", "line 1, `sessions = 1`", "[sessions]"]),
        (
            "[sessions]\ngrace = 1",
            None,
            ["config.toml", "line 2: unknown key grace;", "known here: grace_seconds"],
        ),
        (
            "[sessions]\ngrace_seconds = 0",
            None,
            ["config.toml", "`sessions.grace_seconds` is 0", "1 to 3600"],
        ),
        (
            "[sessions]\ngrace_seconds = 3601",
            None,
            ["config.toml", "`sessions.grace_seconds` is 3601", "1 to 3600"],
        ),
        ("memory = 1", None, ["config.toml", "line 1, `memory = 1`", "[memory]"]),
        (
            "memory = [5000]",
            None,
            ["config.toml", "line 1, `memory = [5000]`", "a table, [memory]"],
        ),
        ("\nhttp = [true, 8123]", None, ["config.toml", "line 2, `http = ", "a table, [http]"]),
        (
            "[[hooks]]\nprompt_recall = true",
            None,
            ["config.toml", "line 1, `[[hooks]]`", "[hooks]"],
        ),
        ("sessions = []", None, ["config.toml", "line 1, `sessions = []`", "[sessions]"]),
        (
            "[memory]\nbudget = 1",
            None,
            ["config.toml", "line 2: unknown key budget;", "budget_tokens, load_tokens"],
        ),
        (
            "[session_memory]\nbudget_tokens = 999",
            None,
            ["config.toml", "`session_memory.budget_tokens` is 999", "from 1000"],
        ),
        (
            "[memory]\ncompact_above = 101",
            None,
            ["config.toml", "`memory.compact_above` is 101", "from 10 to 100"],
        ),
        (
            "[memory]\nauto_compact = 1",
            None,
            ["config.toml", "line 2, `auto_compact = 1`", "a boolean"],
        ),
        (
            "[memory]\ncompact_to = 300",
            None,
            ["config.toml", "`memory.compact_to` is 300", "from 1 to 100"],
        ),
        (
            "[memory]\nload_tokens = \"many\"",
            None,
            ["config.toml", "`memory.load_tokens` is \"many\"", "from 600 to"],
        ),
        (
            "[memory]\nhalf_life_factor = -1",
            None,
            ["config.toml", "`memory.half_life_factor` is -1", "from 1 to 10000"],
        ),
        (
            "[hooks]\nprompt_recal = false",
            None,
            ["config.toml", "line 2: unknown key prompt_recal;", "did you mean prompt_recall?"],
        ),
        (
            "[hooks]\nsubagent_skip = \"Explore\"",
            None,
            ["config.toml", "line 2, `subagent_skip = ", "expected a sequence"],
        ),
        ("[http]\nport = 1\nport = 2", None, ["config.toml", "line 3", "duplicate key"]),
        ("", Some("on"), ["the environment", "`ANCHORD_HTTP` is `on`", "off, or a port"]),
        ("", Some("-1"), ["the environment", "`ANCHORD_HTTP` is `-1`", "off, or a port"]),
    ] {
        let error = load(text, variable).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_wrong_value_is_reported_with_its_line() {
    for (text, line, key) in [
        ("# mine\n\n[memory]\nload_tokens = \"a\"\n", 4, "memory.load_tokens"),
        ("[http]\nenabled = true\nport = 77177", 3, "http.port"),
        ("http.port = 77177", 1, "http.port"),
        ("http = {\n enabled = true,\n port = 77177 }", 3, "http.port"),
        ("\n[sessions]\ngrace_seconds = 0", 3, "sessions.grace_seconds"),
        ("[hooks]\nsubagent_skip = []\n[files]\nadditional_roots = 1", 4, "files.additional_roots"),
        ("[merge]\nretries = 1\norder=[\"foo\"]", 3, "merge.order"),
        ("[merge]\nretries = 1\ntemperature = 3", 3, "merge.temperature"),
        // The key is missing, so the line is that of its table.
        (
            "[merge]\norder = [\"gemini\"]\n[merge.provider.gemini]\nkey_file = \"x\"",
            3,
            "merge.provider.gemini.model",
        ),
        (
            "[merge]\norder = [\"a.b\"]\n[merge.provider.\"a.b\"]\nmodel = \"x\"\napi = \"y\"",
            5,
            "merge.provider.a.b.api",
        ),
    ] {
        let error = load(text, None).unwrap_err();
        let named = format!("config.toml: line {line}: `{key}` is ");
        assert!(error.contains(&named), "`{named}` is not in: {error}");
    }
}

#[test]
fn a_known_key_in_the_wrong_place_is_reported_with_its_table() {
    for (text, belongs) in [
        ("load_tokens = 100", "load_tokens; it belongs in [memory] or [session_memory]"),
        ("[memory]\nport = 1", "port; it belongs in [http]"),
        ("[merge]\nmodel = \"x\"", "model; it belongs in [merge.provider.NAME]"),
        ("[http]\norder = []", "order; it belongs in [merge]"),
        // Misspelled as well.
        (
            "# mine\nload_token = 900",
            "line 2: unknown key load_token; did you mean load_tokens, in [memory] or [session_memory]?",
        ),
        ("[memory]\nprot = 1", "prot; did you mean port, in [http]?"),
    ] {
        let error = load(text, None).unwrap_err();
        assert!(error.ends_with(belongs), "{error}");
    }
}

/// A daemon runs whatever was typed.
#[test]
fn the_defaults_apply_in_place_of_what_cannot_be_used() {
    let dir = tempfile::tempdir().unwrap();
    let typed = |text: &str, http| {
        std::fs::write(dir.path().join(CONFIG_FILE), text).unwrap();
        Config::load_or_default(dir.path(), http)
    };
    let config = typed("[topics]\nmarkdown = true\n[memory]\nload_token = 900\n", Some("off"));
    let [why] = config.ignored.as_slice() else { panic!("{:?}", config.ignored) };
    assert!(why.ends_with("line 4: unknown key load_token; did you mean load_tokens?"), "{why}");
    let ignored = config.ignored.clone();
    assert_eq!(config, Config { ignored, ..http(false, 7717) }, "nothing of the file applies");

    let config = typed("[http]\nport = 8", Some("on"));
    assert!(config.ignored[0].contains("`ANCHORD_HTTP` is `on`"), "{:?}", config.ignored);
    assert_eq!(config.http, http(true, 8).http);
    assert!(typed("[http]\nport = 8", None).ignored.is_empty());
}

/// The file refuses the same values as `memory_configure`.
#[test]
fn the_file_has_the_same_bounds_as_the_tool() {
    let types = |number: usize, chars: usize| {
        let types = vec![format!("\"{}\"", "x".repeat(chars)); number];
        load(
            &format!("[hooks]\nprompt_recall = false\nsubagent_skip = [{}]", types.join(", ")),
            None,
        )
    };
    let hooks = types(50, 100).unwrap().memory;
    assert_eq!((hooks.prompt_recall, hooks.subagent_skip.unwrap().len()), (Some(false), 50));
    for refused in [types(51, 1), types(1, 101)] {
        let error = refused.unwrap_err();
        let allowed =
            "`hooks.subagent_skip` is an array; allowed: 50 types of 100 characters at most";
        assert!(error.ends_with(allowed), "{error}");
    }
}

#[test]
fn an_unreadable_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(CONFIG_FILE);
    std::fs::create_dir(&file).unwrap();
    assert!(matches!(Config::load(dir.path(), None), Err(ConfigError::Io { .. })));
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, "#".repeat(70_000)).unwrap();
    let error = Config::load(dir.path(), None).unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");
}
