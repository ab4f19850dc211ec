//! The cost of the tools' definitions, which each agent pays with every request.

use anchord_proto::hello::ToolSet;
use anchord_tests::{Agent, Instance, Project};
use serde_json::json;

use crate::table::Row;

/// Counts the tokens of `tools/list` as a client gets it, with the tokenizer of `o200k`.
pub(crate) fn run() -> Vec<Row> {
    let tokenizer = tiktoken_rs::o200k_base().expect("the vocabulary is part of the crate");
    let instance = Instance::new();
    let project = Project::git();
    instance.start_daemon();
    let mut rows = Vec::new();
    for set in ToolSet::ALL {
        let mut shim = instance.shim(project.path());
        shim.args(["--tools", set.name()]);
        let mut agent = Agent::start_by(shim);
        agent.initialize();
        let list = agent.request("tools/list", &json!({})).expect("tools are listed");
        let tools = list.get("tools").and_then(|tools| tools.as_array()).expect("a list of tools");
        let (mut sum, mut count) = (0, 0);
        for tool in tools {
            let name = tool.get("name").and_then(|name| name.as_str()).unwrap_or_default();
            // The programs that tests drive have extra tools, which are not shipped.
            if name.starts_with("test_") {
                continue;
            }
            let tokens = tokenizer.encode_ordinary(&tool.to_string()).len();
            count += 1;
            rows.push(Row {
                what: format!("definition of `{name}`, {set} set"),
                measured: format!("{tokens} tokens"),
                floor: String::new(),
                target: "",
            });
            sum += tokens;
        }
        rows.push(Row {
            what: format!("definitions of the {set} set, {count} tools"),
            measured: format!("{sum} tokens"),
            floor: String::new(),
            target: if set == ToolSet::Default { "≤ 1,500" } else { "" },
        });
    }
    rows
}
