//! The nearest setting wins, and affects only its own holder.

use anchord_memory::{Change, Seq};

use super::*;

fn configured(client: Option<&str>, tokens: u32) -> Change {
    let settings = Settings { budget_tokens: Some(tokens), ..Settings::default() };
    Change::Configure { client: client.map(str::to_owned), settings, shared: false }
}

fn holder(client: &str, flag: Option<u32>) -> Holder {
    Holder { client: client.to_owned(), flag, ..Holder::default() }
}

#[test]
fn the_setting_nearest_to_the_project_wins() {
    let (mut memory, mut config) = (Memory::default(), Config::default());
    let tokens = |memory: &Memory, config: &Config| {
        let InForce { budget, from } = project(memory, config);
        (budget.tokens, from)
    };
    assert_eq!(tokens(&memory, &config), (100_000, "the default"));
    config.memory.budget_tokens = Some(50_000);
    assert_eq!(tokens(&memory, &config), (50_000, "from config.toml"));
    memory.apply(Seq(1), &[configured(None, 20_000)]);
    assert_eq!(tokens(&memory, &config), (20_000, "set with memory_configure"));
}

#[test]
fn each_client_has_its_own_budget() {
    let (mut memory, mut config) = (Memory::default(), Config::default());
    memory.apply(Seq(1), &[configured(None, 20_000), configured(Some("cursor"), 5_000)]);
    let tokens = |config: &Config, holder: &Holder| {
        let InForce { budget, from } = session(&memory, config, holder);
        (budget.tokens, from)
    };
    let claude = holder("claude-code", None);
    assert_eq!(tokens(&config, &claude), (80_000, "the client's default"));
    config.session_memory.budget_tokens = Some(9_000);
    assert_eq!(tokens(&config, &claude), (9_000, "from config.toml"));
    assert_eq!(tokens(&config, &holder("claude-code", Some(7_000))), (7_000, "from --budget"));
    assert_eq!(tokens(&config, &holder("claude-code", Some(0))), (1, "from --budget"), "the least");
    let least = SESSION_BUDGET_TOKENS_MIN;
    assert_eq!(anchord_proto::limits::BUDGET_TOKENS_MIN, least, "what a shim refuses");
    let cursor = holder("cursor", Some(7_000));
    assert_eq!(tokens(&config, &cursor), (5_000, "set with memory_configure"));
}

#[test]
fn settings_under_a_client_s_former_name_stay_in_force() {
    let mut memory = Memory::default();
    memory.apply(Seq(1), &[configured(Some("gemini-cli"), 5_000)]);
    let tokens = |memory: &Memory, client: &str| {
        session(memory, &Config::default(), &holder(client, None)).budget.tokens
    };
    assert_eq!(tokens(&memory, "gemini"), 5_000);
    assert_eq!(settings_name(&memory, "gemini"), "gemini-cli");
    assert_eq!(settings_name(&memory, "codex"), "codex");
    memory.apply(Seq(2), &[configured(Some("gemini"), 6_000)]);
    assert_eq!(tokens(&memory, "gemini"), 6_000);
}
