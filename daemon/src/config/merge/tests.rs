//! `[merge]`: the order, the defaults, and what is refused.

use std::path::Path;

use super::*;

fn config(text: &str) -> Result<MergeConfig, String> {
    let table: MergeTable = toml::from_str(text).map_err(|error| error.to_string())?;
    table
        .config(Path::new("/etc/anchord"))
        .map_err(|unfit| format!("{} is {}; allowed: {}", unfit.key, unfit.value, unfit.allowed))
}

#[test]
fn without_an_order_no_provider_is_called() {
    assert_eq!(config("").unwrap(), MergeConfig::default());
    let described = "[provider.gemini]\nmodel = \"flash\"\n";
    assert_eq!(config(described).unwrap().providers, []);
}

#[test]
fn providers_are_tried_in_the_written_order() {
    let text = r#"
        order = ["local", "gemini", "anthropic"]
        temperature = 0
        time_limit_seconds = 5
        retries = 0
        calls_per_day = 3
        [provider.gemini]
        model = "gemini-flash"
        key_file = "gemini.key"
        [provider.anthropic]
        model = "claude"
        key_command = "pass show 'anthropic key'"
        [provider.local]
        api = "openai"
        url = "http://127.0.0.1:11434/v1"
        model = "qwen3:8b"
    "#;
    let config = config(text).unwrap();
    let names: Vec<&str> = config.providers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["local", "gemini", "anthropic"]);
    assert_eq!(config.providers[0].key, KeySource::None);
    assert_eq!(config.providers[1].key, KeySource::File("/etc/anchord/gemini.key".into()));
    assert_eq!(config.providers[1].url, Api::Gemini.url());
    assert_eq!(config.providers[2].key, KeySource::Command("pass show 'anthropic key'".into()));
    assert_eq!((config.temperature, config.retries, config.calls_per_day), (0.0, 0, 3));
    assert_eq!(config.time_limit, Duration::from_secs(5));
}

#[test]
fn an_invalid_setting_is_refused_with_the_allowed_values() {
    for (text, part) in [
        ("order = [\"x\"]", "add a table [merge.provider.x]"),
        ("order = [\"gemini\", \"gemini\"]\n[provider.gemini]\nmodel = \"m\"", "each name once"),
        ("temperature = 2.5", "a number from 0 to 2"),
        ("temperature = nan", "a number from 0 to 2"),
        ("retries = -1", "a whole number from 0 to 10"),
        ("time_limit_seconds = 0", "a whole number from 1 to 600"),
        ("calls_per_day = \"many\"", "a whole number from 0 to 100000"),
        ("order = [\"gemini\"]\n[provider.gemini]", "merge.provider.gemini.model is missing"),
        ("order = [\"x\"]\n[provider.x]\nmodel = \"m\"", "`gemini`, `anthropic` or `openai`"),
        (
            "order = [\"gemini\"]\n[provider.gemini]\nmodel = \"m\"\nkey_file = \"a\"\nkey_command = \"b\"",
            "either key_file or key_command",
        ),
        ("order = [\"gemini\"]\n[provider.gemini]\nmodel = \"../m\"", "the name of a model"),
    ] {
        let refused = config(text).unwrap_err();
        assert!(refused.contains(part), "{text}\n{refused}");
    }
}

#[test]
fn a_key_is_sent_over_tls_or_to_this_machine_only() {
    for url in [
        "https://api.example",
        "http://127.0.0.1:8080/v1",
        "http://localhost/v1",
        "http://[::1]:80/v1",
        "http://[::1]",
    ] {
        assert!(is_safe(url), "{url}");
    }
    for url in [
        "http://api.example",
        "http://127.0.0.1.example/v1",
        "http://localhost@example/v1",
        "http://[::1].example",
        "ftp://127.0.0.1",
        "https://",
        "https://a b",
        "",
    ] {
        assert!(!is_safe(url), "{url}");
    }
}
