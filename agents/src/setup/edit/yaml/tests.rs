//! Only the named values change; the rest stays the same to the byte.

use serde_json::json;

use super::*;

fn at(path: &str) -> Vec<Step> {
    path.split('.').map(Step::from).collect()
}

const ODD: &str = "# mine\nactive: x   # odd\n\nextensions:\n  developer:\n    enabled: true\n    args:\n    - a\n    - \"b\"\n\n  # theirs\n  memory:\n    timeout: 300\nlast: 'y'";

#[test]
fn unchanged_text_stays_identical() {
    let block = "text: |\n  one\ttwo\n\n   three\nfolded: >-\n  four\nquoted: \"a\\tb\" #\ttab\n";
    let merged = "base: &base {a: 1}\nmore:\n  <<: *base\n  b: !!str 2\n";
    for text in [
        ODD,
        block,
        merged,
        "",
        "# only a comment\n",
        "\u{feff}a: 1\r\n",
        "a: 1",
        "---\nx:\r\n  y: 2\r\n",
    ] {
        assert_eq!(Yaml::parse(text).unwrap().text(), text);
    }
}

#[test]
fn a_mapping_can_be_added_and_removed_again() {
    let entry = json!({"cmd": "/x y/z", "args": ["mcp"], "enabled": true, "timeout": 300});
    let windows = "a: 1\r\nextensions:\r\n  o:\r\n    cmd: x\r\n";
    let block = "text: |\n  one\ttwo\n\n   three\nfolded: >-\n  four\nquoted: \"a\\tb\" #\ttab\n";
    let merged = "base: &base {a: 1}\nmore:\n  <<: *base\n  b: !!str 2\n";
    for text in [
        ODD,
        block,
        merged,
        "",
        "# only a comment\n",
        "a: 1\n",
        windows,
        "extensions: {o: {cmd: x}}\n",
    ] {
        let mut yaml = Yaml::parse(text).unwrap();
        yaml.set(&at("extensions.anchord"), &entry).unwrap();
        let with = yaml.text();
        assert_eq!(with.contains("\r\n"), text.contains("\r\n"), "{with:?}");
        assert!(!text.contains("\r\n") || !with.replace("\r\n", "").contains('\n'), "{with:?}");
        let mut yaml = Yaml::parse(&with).unwrap();
        assert_eq!(yaml.get(&at("extensions.anchord")), Some(entry.clone()), "{with}");
        yaml.remove(&at("extensions.anchord"));
        if !text.contains("extensions") {
            yaml.remove(&at("extensions"));
        }
        // The mapping that the file did not have stays, empty.
        let rest = yaml.text();
        let rest = rest.trim_end().strip_suffix("{}").unwrap_or(&rest).trim_end();
        assert_eq!(rest, text.trim_end(), "comments, order and spaces");
    }
}

#[test]
fn a_value_is_replaced_in_place() {
    let mut yaml =
        Yaml::parse("extensions:\n  anchord:\n    cmd: old # why\n    args: []\n").unwrap();
    yaml.set(&at("extensions.anchord.cmd"), &json!("new")).unwrap();
    assert_eq!(yaml.text(), "extensions:\n  anchord:\n    cmd: new # why\n    args: []\n");
}

#[test]
fn values_have_the_types_that_they_have_in_the_file() {
    let yaml = Yaml::parse("a: {t: true, n: 3, s: '3', off: \"no\", none: ~, l: [x]}\n").unwrap();
    let wanted = json!({"t": true, "n": 3, "s": "3", "off": "no", "none": null, "l": ["x"]});
    assert_eq!(yaml.get(&at("a")), Some(wanted));
    assert_eq!(yaml.get(&[Step::from("a"), Step::from("l"), Step::Index(0)]), Some(json!("x")));
    assert_eq!(yaml.get(&at("a.b.c")), None);
}

#[test]
fn a_key_without_a_value_takes_the_entry() {
    let mut yaml = Yaml::parse("extensions:\na: 1\n").unwrap();
    yaml.set(&at("extensions.anchord"), &json!({"enabled": true})).unwrap();
    assert_eq!(yaml.text(), "extensions:\n  anchord:\n    enabled: true\na: 1\n");
}

#[test]
fn invalid_yaml_and_a_conflicting_value_are_refused() {
    let doubled = "a: 1\na: 2\n";
    for text in ["a: [\n", "a:\n\tb: 1\n", doubled, "a: 1\n---\nb: 2\n", "- a\n", "words\n"] {
        assert!(Yaml::parse(text).is_err(), "{text}");
    }
    let mut yaml = Yaml::parse("extensions: 3\n").unwrap();
    let clash = yaml.set(&at("extensions.anchord"), &json!({"cmd": "x"})).unwrap_err();
    assert_eq!(clash.to_string(), "`extensions` is not a mapping");
}
