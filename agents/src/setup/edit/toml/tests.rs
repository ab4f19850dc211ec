//! Only the named values change; the rest stays the same to the byte.

use serde_json::json;

use super::*;

fn at(path: &str) -> Vec<Step> {
    path.split('.').map(Step::from).collect()
}

const ODD: &str = "# mine\nmodel='x'   # odd\n\n[mcp_servers.other] # theirs\n  args = [ \"a\",  \"b\" ]\n\n[z]\ninline = { a = 1 }";

fn edited(text: &str, path: &str, value: Value) -> String {
    let mut toml = Toml::parse(text).unwrap();
    toml.set(&at(path), &value).unwrap();
    toml.text()
}

#[test]
fn unchanged_text_stays_identical() {
    for text in [ODD, "", "\u{feff}a = 1\r\n", "a = 1", "[x]\r\ny = 2\r\n"] {
        assert_eq!(Toml::parse(text).unwrap().text(), text);
    }
}

#[test]
fn a_table_can_be_added_and_removed_again() {
    for text in [ODD, "", "a = 1\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n"] {
        let with = edited(text, "mcp_servers.anchord", json!({"command": "/x", "args": ["mcp"]}));
        assert!(with.contains("[mcp_servers.anchord]"), "{with}");
        assert!(with.find("command = \"/x\"") < with.find("args = [\"mcp\"]"), "{with}");
        assert_eq!(with.contains("\r\n"), text.contains("\r\n"), "{with:?}");
        assert!(!text.contains("\r\n") || !with.replace("\r\n", "").contains('\n'), "{with:?}");
        let mut toml = Toml::parse(&with).unwrap();
        assert_eq!(toml.get(&at("mcp_servers.anchord.args")), Some(json!(["mcp"])));
        toml.remove(&at("mcp_servers.anchord"));
        let rest = toml.text();
        assert!(!rest.contains("anchord"), "{rest}");
        assert_eq!(rest.trim_end(), text.trim_end(), "comments, order and spaces");
    }
}

#[test]
fn a_value_is_replaced_in_place() {
    let text = "[mcp_servers.anchord]\ncommand = \"old\" # why\nargs = []\n";
    let text = edited(text, "mcp_servers.anchord.command", json!("new"));
    assert_eq!(text, "[mcp_servers.anchord]\ncommand = \"new\" # why\nargs = []\n");
}

#[test]
fn inline_tables_and_dotted_keys_are_edited_as_written() {
    let text = edited(
        "mcp_servers = { o = { command = \"x\" } }\n",
        "mcp_servers.anchord",
        json!({"command": "y"}),
    );
    let toml = Toml::parse(&text).unwrap();
    assert_eq!(toml.get(&at("mcp_servers.anchord.command")), Some(json!("y")), "{text}");
    let toml = Toml::parse("mcp_servers.anchord.command = \"z\"\n").unwrap();
    assert_eq!(toml.get(&at("mcp_servers.anchord.command")), Some(json!("z")));
}

#[test]
fn invalid_toml_and_a_conflicting_value_are_refused() {
    let why = Toml::parse("# mine\r\na = 1\r\n[x").err();
    assert_eq!(why.as_deref(), Some("unclosed table, expected `]` on line 3"));
    let mut toml = Toml::parse("mcp_servers = 3\n").unwrap();
    let clash = toml.set(&at("mcp_servers.anchord"), &json!({"command": "x"})).unwrap_err();
    assert_eq!(clash.to_string(), "`mcp_servers` is not a table");
}
