//! Prompts that a person invokes by name: `save`, `resume` and `handoff`. Their text is a request
//! to the agent; quotes from memory are framed as reference.

use anchord_memory::defuse::defuse;
use anchord_memory::injected::{FRAME_CHARS, frame};
use anchord_memory::{MAIN, limits};
use rmcp::model::{Prompt, PromptArgument};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::ToolAnswer;
use super::context::Context;
use super::error::ToolError;
use super::resources::run_tool;
use super::tool::{Effect, ToolSpec};
use crate::limits::PROMPT_NAME_CHARS_MAX;
use crate::sessions::session_key;

const SAVE: &str = "save";
const RESUME: &str = "resume";
const HANDOFF: &str = "handoff";

/// Returns the available prompts.
pub(super) fn list() -> Vec<Prompt> {
    let argument = |name: &str, description: &str| {
        Some(vec![PromptArgument::new(name).with_description(description).with_required(false)])
    };
    vec![
        Prompt::new(SAVE, Some("Save this session to the project's memory"), None),
        Prompt::new(
            RESUME,
            Some("Go on where the work stands"),
            argument("topic", "The thread of work; yours when left out"),
        ),
        Prompt::new(
            HANDOFF,
            Some("Save so that another agent can take over"),
            argument("to", "Who takes over"),
        ),
    ]
}

/// Returns a prompt's purpose in one line.
pub(super) fn description(name: &str) -> Option<String> {
    list().into_iter().find(|prompt| prompt.name == name)?.description
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Returns the tool that gets a prompt. Prompts run as tools, so that they are measured and logged.
pub(super) fn getter() -> ToolSpec {
    ToolSpec::new("prompts/get", "", Effect::Reads, get).without_remarks()
}

async fn get(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let argument = |name: &str| {
        let text = params.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let name: String = words.join(" ").chars().take(PROMPT_NAME_CHARS_MAX).collect();
        (!name.is_empty()).then_some(name)
    };
    let request = match params.name.as_str() {
        SAVE => save(&context).await?,
        RESUME => resume(context, argument("topic")).await?,
        HANDOFF => handoff(context, argument("to")).await?,
        other => {
            let other: String = other.chars().take(PROMPT_NAME_CHARS_MAX).collect();
            let text = format!("no prompt `{other}`; there are {SAVE}, {RESUME} and {HANDOFF}");
            return Err(ToolError::caller(text));
        }
    };
    Ok(request.into_answer())
}

/// A request to an agent.
struct Request {
    /// The request itself. Names in it are the caller's.
    ask: String,
    /// The part of memory that it is about, if any.
    quoted: ToolAnswer,
}

impl Request {
    /// Answers with the text, and with the data of what it quotes.
    fn into_answer(self) -> ToolAnswer {
        let text = safe_text(&self.ask, &self.quoted.text);
        ToolAnswer { text, ..self.quoted }
    }
}

/// Makes a request safe to show and frames what it quotes. Cuts at a line what does not fit into an
/// answer.
fn safe_text(ask: &str, quoted: &str) -> String {
    const CUT: &str = "… cut; memory_load has the rest\n";
    let ask = defuse(ask);
    if quoted.is_empty() {
        return ask.into_owned();
    }
    let left = limits::ANSWER_CHARS_MAX.saturating_sub(ask.chars().count());
    let room = left.saturating_sub(FRAME_CHARS + CUT.chars().count());
    if quoted.chars().count() <= room {
        return ask.into_owned() + &frame(quoted, left);
    }
    let mut part: String = quoted.chars().take(room).collect();
    part.truncate(part.rfind('\n').map_or(0, |at| at + 1));
    ask.into_owned() + &frame(&(part + CUT), left)
}

async fn save(context: &Context) -> Result<Request, ToolError> {
    let view = context.view().await?;
    let topic = view.memory.bound(&session_key(&context.session)).unwrap_or(MAIN);
    let staged = match context.staged(&view) {
        Some(staged) => format!("\nStaged already, and saved with it: {staged}."),
        None => String::new(),
    };
    let ask = format!(
        "Save this session to the project's memory now: call memory_save with a session_summary of what was done and \
         what is open, and with whatever was settled, learned from a failure or found in this conversation and is \
         not in memory yet. Say in `topic` how `{topic}` stands: its status, the questions that are open and those \
         that were decided, the files being worked on.{staged}\nThen say in one line what was saved.\n"
    );
    Ok(Request { ask, quoted: ToolAnswer::default() })
}

async fn resume(context: Context, topic: Option<String>) -> Result<Request, ToolError> {
    let of = topic.as_ref().map_or_else(String::new, |name| format!(" on `{name}`"));
    let ask = format!(
        "Go on with the work{of} where it stands. Below is what the project's memory has; files on disk win over it. Say \
         in a few lines where it stands, what is open and what you do next, then do it.\n\n"
    );
    let arguments = match topic {
        Some(topic) => json!({ "topic": topic }),
        None => json!({}),
    };
    let load = run_tool(context, "memory_load", arguments.as_object().cloned().unwrap_or_default());
    Ok(Request { ask, quoted: load.await? })
}

async fn handoff(context: Context, to: Option<String>) -> Result<Request, ToolError> {
    let view = context.view().await?;
    let key = session_key(&context.session);
    let topic = view.memory.bound(&key).unwrap_or(MAIN).to_owned();
    let to = to.unwrap_or_else(|| "another agent".to_owned());
    let ask = format!(
        "Hand this work over to {to}. Call memory_save: in the session_summary what was done; in `topic` (`{topic}`) a \
         status that says where the work stands, what the next step is and what was tried in vain, the open \
         questions, what was decided, the files being worked on; what was settled or learned as blueprints and \
         lessons. Leave out what is plain from the code. Then write a message to {to} of a few lines: the next step, and \
         that memory_load {{\"topic\":\"{topic}\"}} gives the rest.\n"
    );
    let known = view.memory.topic_as_staged(&topic, &context.session.id).is_some();
    if !known {
        return Ok(Request { ask, quoted: ToolAnswer::default() });
    }
    let mut arguments = Map::new();
    arguments.insert("action".to_owned(), "read".into());
    arguments.insert("name".to_owned(), topic.into());
    let quoted = run_tool(context, "memory_topic", arguments).await?;
    Ok(Request { ask: format!("{ask}\nWhat memory has of it now:\n\n"), quoted })
}

#[cfg(test)]
mod tests;
