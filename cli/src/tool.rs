//! Calls a tool as agents do, in a session that ends with the call, and prints its answer.

use std::io::Write;

use anchord_daemon::api::{self, ToolParams, ToolReply};
use anchord_proto::instance::InstanceDir;
use serde_json::{Map, Value};

use crate::client::Client;
use crate::commands::print_json;
use crate::exit::Error;
use crate::{show, spoken};

/// A kind of record that can be asked for.
#[derive(Clone, Copy, Debug, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Blueprint,
    Anchor,
    Lesson,
    Note,
    Topic,
    Session,
}

/// The scope of notes to search.
#[derive(Clone, Copy, Debug, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// Shared records
    Project,
    /// Private notes of all sessions
    Session,
    /// Your own notes, which are in every project
    User,
}

/// A caller of tools in one project.
pub(crate) struct Caller {
    client: Client,
    project: String,
}

impl Caller {
    /// Connects to the daemon and starts one if none runs. The project is an id or an absolute
    /// directory.
    pub(crate) fn new(project: String) -> Result<Self, Error> {
        Ok(Self::over(Client::started(&InstanceDir::locate()?)?, project))
    }

    /// Creates a caller over an existing connection.
    pub(crate) fn over(client: Client, project: String) -> Self {
        Self { client, project }
    }

    /// Switches to another project for all later calls.
    pub(crate) fn within(&mut self, project: String) -> &mut Self {
        self.project = project;
        self
    }

    /// Calls a tool. Leaves out those of the arguments, an object, that are null or empty.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<ToolReply, Error> {
        let Value::Object(mut arguments) = arguments else {
            return Err(Error::failed(format!("{tool} wants an object")));
        };
        arguments.retain(|_, value| !says_nothing(value));
        self.send(tool, arguments.into())
    }

    /// Calls a tool with the arguments unchanged: here, false and an empty text have a meaning.
    pub(crate) fn send(&mut self, tool: &str, arguments: Value) -> Result<ToolReply, Error> {
        let Value::Object(arguments) = arguments else {
            return Err(Error::failed(format!("{tool} wants an object")));
        };
        self.client.post(api::TOOL, &self.params(tool, arguments)).map_err(|mut error| {
            error.message = spoken::named(&error.message);
            error
        })
    }

    fn params(&self, tool: &str, arguments: Map<String, Value>) -> ToolParams {
        let (project, typed) = (self.project.clone(), Vec::new());
        ToolParams { project, tool: tool.to_owned(), arguments, typed }
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Calls a tool for each record, in the memory that has it, and prints the answers. A failure does
/// not stop the others; all errors are returned as one.
pub(crate) fn for_each(
    out: &mut dyn Write,
    names: &[String],
    json: bool,
    memory: impl Fn(&str) -> Result<String, Error>,
    call: impl Fn(&mut Caller, &str) -> Result<ToolReply, Error>,
) -> Result<(), Error> {
    let mut caller = Caller::new(String::new())?;
    let (mut replies, mut errors) = (Vec::new(), Vec::new());
    for name in names {
        let reply = memory(name).and_then(|memory| call(caller.within(memory), name));
        match reply {
            Ok(reply) if json => replies.push(reply),
            Ok(reply) => print(out, &reply, false)?,
            Err(error) => errors.push(error),
        }
    }
    if json {
        print_json(out, &replies)?;
    }
    let Some(first) = errors.first() else { return Ok(()) };
    out.flush()?;
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    Err(Error {
        kind: first.kind,
        message: messages.join("\nerror: "),
        action: first.action.clone(),
    })
}

/// Prints what an agent would read, or everything as JSON.
pub(crate) fn print(out: &mut dyn Write, reply: &ToolReply, json: bool) -> Result<(), Error> {
    print_as(out, reply, json, spoken::as_commands)
}

/// Prints a record in full as an agent would read it, or everything as JSON.
pub(crate) fn print_record(
    out: &mut dyn Write,
    reply: &ToolReply,
    json: bool,
) -> Result<(), Error> {
    print_as(out, reply, json, |text, typed| spoken::record(text, reply.truncated, typed))
}

fn print_as(
    out: &mut dyn Write,
    reply: &ToolReply,
    json: bool,
    spoken: impl Fn(&str, &[String]) -> String,
) -> Result<(), Error> {
    let text = spoken(&reply.text, &spoken::typed());
    if json {
        return print_json(out, &ToolReply { text, ..reply.clone() });
    }
    writeln!(out, "{}", show::plain_lines(text.trim_end_matches('\n')))?;
    if let Some(remark) = &reply.remark {
        writeln!(out, "{}", show::plain_lines(remark))?;
    }
    Ok(())
}
