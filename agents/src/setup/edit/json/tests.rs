//! Only the named values change; the rest stays the same to the byte.

use serde_json::json;

use super::*;

fn at(path: &str) -> Vec<Step> {
    path.split('.')
        .map(|step| step.parse().map_or_else(|_| Step::from(step), Step::Index))
        .collect()
}

fn edited(text: &str, path: &str, value: Value) -> String {
    let mut json = Json::parse(text).unwrap();
    json.set(&at(path), &value).unwrap();
    json.text()
}

fn without(text: &str, path: &str) -> String {
    let mut json = Json::parse(text).unwrap();
    json.remove(&at(path));
    json.text()
}

const ODD: &str =
    "{\n\t// mine\n\t\"b\": [1,2 ,3], /* and */ \"a\": {\"x\": 1,},\n\n\t\"c\": \"d\" // last\n}";

#[test]
fn unchanged_text_stays_identical() {
    for text in [ODD, "", "{}", " {\r\n}\r\n", "\u{feff}{\"a\":1}", "// only a comment\n"] {
        assert_eq!(Json::parse(text).unwrap().text(), text);
    }
}

#[test]
fn adding_a_value_keeps_comments_and_order() {
    let text = edited(ODD, "a.y", json!({"command": "x", "args": ["y"], "type": "stdio"}));
    assert!(text.starts_with("{\n\t// mine\n\t\"b\": [1,2 ,3], /* and */ \"a\": {"), "{text}");
    assert!(text.ends_with("\n\n\t\"c\": \"d\" // last\n}"), "{text}");
    let order = ["type", "command", "args"].map(|key| text.find(&format!("\"{key}\"")).unwrap());
    assert!(order.is_sorted(), "{text}");
    let json = Json::parse(&text).unwrap();
    assert_eq!(json.get(&at("a.y.args.0")), Some(json!("y")));
    assert_eq!(json.get(&at("a.x")), Some(json!(1)));
}

#[test]
fn an_added_value_can_be_removed_without_a_trace() {
    for text in [
        "{\n  \"a\": 1\n}\n",
        "{\r\n  \"a\": [\r\n    1\r\n  ]\r\n}",
        "{\n    \"a\": {\n        \"b\": 1\n    }\n}",
    ] {
        let with = edited(text, "new", json!({"x": [1, {"y": true}]}));
        assert_ne!(with, text);
        assert_eq!(with.contains('\r'), text.contains('\r'), "{with:?}");
        assert!(!text.contains("\r\n") || !with.replace("\r\n", "").contains('\n'), "{with:?}");
        assert_eq!(without(&with, "new"), text);
    }
}

#[test]
fn lists_are_created_extended_and_shortened() {
    let text = edited("", "hooks.Stop.0", json!({"command": "a"}));
    let text = edited(&text, "hooks.Stop.1", json!({"command": "b"}));
    let json = Json::parse(&text).unwrap();
    assert_eq!(json.get(&at("hooks")), Some(json!({"Stop": [{"command": "a"}, {"command": "b"}]})));
    let text = edited(&text, "hooks.Stop.0", json!({"command": "c"}));
    let text = without(&text, "hooks.Stop.1");
    let json = Json::parse(&text).unwrap();
    assert_eq!(json.get(&at("hooks.Stop")), Some(json!([{"command": "c"}])));
    assert!(text.ends_with("}\n"), "a new file ends its last line: {text:?}");
}

#[test]
fn a_conflicting_value_is_named() {
    let mut json = Json::parse("{\"hooks\": {\"Stop\": 3}, \"mcp\": []}").unwrap();
    let clash = json.set(&at("hooks.Stop.0"), &json!(1)).unwrap_err();
    assert_eq!(clash.to_string(), "`hooks.Stop` is not a list");
    let clash = json.set(&at("mcp.anchord"), &json!(1)).unwrap_err();
    assert_eq!(clash.to_string(), "`mcp` is not an object");
}

#[test]
fn an_invalid_configuration_is_refused() {
    for (text, loose) in
        [("{\"a\" 1}", false), ("[]", false), ("{a: 1}", false), ("{\"a\": 1", true)]
    {
        let parse = if loose { Json::parse_json5 } else { Json::parse };
        assert!(parse(text).is_err(), "{text}");
    }
    let json = Json::parse_json5("{a: 'b', c: 0x10,}").unwrap();
    assert_eq!(json.get(&at("a")), Some(json!("b")));
}
