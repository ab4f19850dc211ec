//! Resources: memory, a topic or a record, for people who attach them by hand. A resource has the
//! same text as the answer of the tool with the same purpose.

use std::sync::LazyLock;

use anchord_memory::defuse::defuse_line;
use anchord_memory::{MAIN, Memory};
use anchord_proto::hello::ToolSet;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, ResourceTemplate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::ToolAnswer;
use super::context::Context;
use super::error::ToolError;
use super::tool::{Effect, ToolSpec};
use super::tools::ToolList;
use crate::limits::RESOURCES_LISTED_MAX;

const MEMORY: &str = "anchord://memory";
const TOPIC: &str = "anchord://topic/";
const RECORD: &str = "anchord://record/";

/// Characters that a URI contains unescaped.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'/');

/// Returns the listed resources: memory and, if the project is open, the topics written last.
pub(super) fn list(memory: Option<&Memory>) -> Vec<Resource> {
    let mut topics: Vec<_> = memory.into_iter().flat_map(Memory::topics).collect();
    topics.sort_by_key(|(record, _)| std::cmp::Reverse((record.updated.time, record.id)));
    let mut resources = vec![
        Resource::new(MEMORY, "memory")
            .with_description("What earlier sessions settled and learned, condensed")
            .with_mime_type("text/plain"),
    ];
    resources.extend(topics.iter().take(RESOURCES_LISTED_MAX).map(|(_, topic)| {
        let uri = format!("{TOPIC}{}", utf8_percent_encode(&topic.name, &PLAIN));
        Resource::new(uri, format!("topic {}", defuse_line(&topic.name)))
            .with_description("How this thread of work stands")
            .with_mime_type("text/plain")
    }));
    resources
}

/// Returns the templates of resources that need a name.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{TOPIC}{{name}}"), "topic")
            .with_description(format!("How a thread of work stands; `{MAIN}` is the project's own"))
            .with_mime_type("text/plain"),
        ResourceTemplate::new(format!("{RECORD}{{id}}"), "record")
            .with_description("One record in full, b12")
            .with_mime_type("text/plain"),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    uri: String,
}

/// Returns the tool that reads a resource. Resources run as tools, so that they are measured and
/// logged.
pub(super) fn reader() -> ToolSpec {
    ToolSpec::new("resources/read", "", Effect::Reads, read).without_remarks()
}

async fn read(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let Some((tool, arguments)) = call_of(&params.uri) else {
        let text = format!(
            "no resource `{}`; there are {MEMORY}, {TOPIC}{{name}} and {RECORD}{{id}}",
            params.uri.chars().take(100).collect::<String>()
        );
        return Err(ToolError::caller(text));
    };
    run_tool(context, tool, arguments).await
}

/// All tools. The list depends only on the build.
static TOOLS: LazyLock<ToolList> = LazyLock::new(|| ToolList::new(ToolSet::All));

/// Runs one of our tools for a request that is not a tool call.
pub(super) async fn run_tool(
    context: Context,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<ToolAnswer, ToolError> {
    let Some(spec) = TOOLS.get(tool) else {
        return Err(ToolError::Internal(format!("there is no tool {tool}")));
    };
    spec.run(context, arguments).await.0
}

/// Returns the tool call that gives a resource's text.
fn call_of(uri: &str) -> Option<(&'static str, Map<String, Value>)> {
    let (tool, arguments) = if uri == MEMORY {
        ("memory_load", json!({}))
    } else if let Some(name) = uri.strip_prefix(TOPIC) {
        let name = percent_decode_str(name).decode_utf8().ok()?;
        ("memory_topic", json!({ "action": "read", "name": name }))
    } else if let Some(id) = uri.strip_prefix(RECORD) {
        ("memory_get", json!({ "id": id }))
    } else {
        return None;
    };
    Some((tool, arguments.as_object().cloned()?))
}

#[cfg(test)]
mod tests;
