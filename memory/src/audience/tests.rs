//! The same calls, as an agent and as a person at a shell read them.

use serde_json::json;

use super::*;

fn person(typed: &str) -> Audience {
    Audience::Person(Shell { typed: typed.split(' ').map(str::to_owned).collect() })
}

/// A tool, its parameters, the words for an agent, what a person typed, and the words for them.
type Case<'a> = (Tool, &'a [(&'a str, Value)], &'a str, &'a str, &'a str);

#[test]
fn a_call_is_json_for_an_agent_and_a_command_for_a_person() {
    let sections = json!(["notes", "lessons"]);
    let cases: [Case<'_>; 7] = [
        (
            Tool::Load,
            &[("cursor", json!("n12,n12")), ("sections", sections)],
            r#"memory_load {"cursor":"n12,n12","sections":["notes","lessons"]}"#,
            "load --project /a/b",
            "`anchord load --cursor n12,n12 --section notes --section lessons --project /a/b`",
        ),
        (
            Tool::Get,
            &[("id", json!("b1")), ("version", json!(2)), ("cursor", json!("9"))],
            r#"memory_get {"id":"b1","version":2,"cursor":"9"}"#,
            "get b1",
            "`anchord get b1 --version 2 --cursor 9`",
        ),
        (
            Tool::Load,
            &[("cursor", json!("n60"))],
            r#"memory_load {"cursor":"n60"}"#,
            "load --max-tokens 600 --project=/a --cursor n1",
            "`anchord load --cursor n60 --max-tokens 600 --project=/a`",
        ),
        (
            Tool::Load,
            &[("cursor", json!("b1"))],
            r#"memory_load {"cursor":"b1"}"#,
            "load --at 20",
            "`anchord load --cursor b1 --at 20`",
        ),
        (
            Tool::Get,
            &[("id", json!("n4"))],
            r#"memory_get {"id":"n4"}"#,
            "load --max-tokens 600 -- --project /a",
            "`anchord get n4`",
        ),
        (
            Tool::Load,
            &[("cursor", json!("l4"))],
            r#"memory_load {"cursor":"l4"}"#,
            "search x --max-tokens 300",
            "`anchord load --cursor l4`",
        ),
        (
            Tool::Get,
            &[("key", json!("it's \"mine\""))],
            r#"memory_get {"key":"it's \"mine\""}"#,
            "list",
            r#"`anchord get 'it'\''s "mine"'`"#,
        ),
    ];
    for (tool, parameters, agents, typed, persons) in cases {
        assert_eq!(Audience::Agent.call(tool, parameters), agents);
        assert_eq!(person(typed).call(tool, parameters), persons, "{typed}");
    }
}

#[test]
fn the_command_for_the_next_page_repeats_the_typed_options() {
    let cases = [
        ("list --kind note --cursor 30 --tag=x", "`anchord list --kind note --tag=x --cursor 12`"),
        ("list --cursor=30", "`anchord list --cursor 12`"),
        (
            "search --limit=1 -- -x --cursor",
            "`anchord search --limit=1 --cursor 12 -- -x --cursor`",
        ),
    ];
    for (typed, expected) in cases {
        assert_eq!(person(typed).again("12"), expected);
    }
    assert_eq!(Audience::Agent.again("12"), r#"{"cursor":"12"} added to this call"#);
}

#[test]
fn a_tool_is_named_for_its_audience() {
    for tool in Tool::ALL {
        let name = tool.command();
        assert_eq!(Audience::Agent.tool(tool), format!("memory_{name}"));
        assert_eq!(person("load").tool(tool), format!("`anchord {name}`"));
    }
}

/// A copied command must not write to another memory than the one that was read.
#[test]
fn a_command_names_the_memory_that_the_typed_one_named() {
    let cases = [
        ("undo", "`anchord undo 9`"),
        ("restore --to 1 --project /a", "`anchord undo 9 --project /a`"),
        ("undo --project=/a --force", "`anchord undo 9 --project=/a`"),
        ("undo 4 --user", "`anchord undo 9 --user`"),
        ("note -- --user --project /a", "`anchord undo 9`"),
    ];
    for (typed, expected) in cases {
        assert_eq!(person(typed).command(&["undo", "9"]), expected, "{typed}");
    }
    assert_eq!(Audience::Agent.command(&["load"]), "`anchord load`");
    assert_eq!(Audience::Agent.tool(Tool::Search), "memory_search");
    let here = person("load --project /a").tool(Tool::Search);
    assert_eq!(here, "`anchord search --project /a`");
}
