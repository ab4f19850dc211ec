//! Calls a tool in a session that ends with the call, and prints its reply as it comes.

use std::io::Write;

use anchord_daemon::api::{self, AsOf, ToolParams, ToolReply};
use anchord_memory::Kind;
use anchord_proto::instance::InstanceDir;
use clap::builder::{PossibleValue, PossibleValuesParser};
use serde_json::{Map, Value};

use crate::client::Client;
use crate::commands::print_json;
use crate::exit::Error;
use crate::show;

/// Accepts the kinds of records that can be asked for, by their nouns or plurals.
pub(crate) fn kinds() -> PossibleValuesParser {
    let nouns = Kind::NOUNS.into_iter().zip(Kind::PLURALS);
    PossibleValuesParser::new(nouns.map(|(noun, plural)| PossibleValue::new(noun).alias(plural)))
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
    /// The command line that replies are for.
    typed: Vec<String>,
    /// The moment whose memory is read, if it is an earlier one.
    at: Option<String>,
}

impl Caller {
    /// Connects to the daemon and starts one if none runs. The project is an id or an absolute
    /// directory. Replies are for the person who typed this command.
    pub(crate) fn new(project: String) -> Result<Self, Error> {
        let client = Client::started(&InstanceDir::locate()?)?;
        Ok(Self { client, project, typed: typed(), at: None })
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
        self.client.post(api::TOOL, &self.params(tool, arguments))
    }

    fn params(&self, tool: &str, arguments: Map<String, Value>) -> ToolParams {
        let (project, typed) = (self.project.clone(), self.typed.clone());
        ToolParams { project, tool: tool.to_owned(), arguments, typed, at: self.at.clone() }
    }
}

/// Returns the words of this command line, without the program.
pub(crate) fn typed() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Calls a tool in a memory and prints its answer. Leaves out those of the arguments, an object,
/// that are null or empty.
pub(crate) fn run(
    out: &mut dyn Write,
    memory: String,
    tool: &str,
    arguments: Value,
    json: bool,
) -> Result<ToolReply, Error> {
    let reply = Caller::new(memory)?.call(tool, arguments)?;
    print(out, &reply, json)?;
    Ok(reply)
}

/// Like [`run`], but reads memory as it was `at` a revision or time, if one is given.
pub(crate) fn run_at(
    out: &mut dyn Write,
    memory: String,
    tool: &str,
    arguments: Value,
    at: Option<String>,
    json: bool,
) -> Result<ToolReply, Error> {
    let mut caller = Caller::new(memory)?;
    caller.at = at;
    let reply = caller.call(tool, arguments)?;
    match reply.as_of {
        None if caller.at.is_some() => return Err(older_daemon()),
        Some(AsOf { revision, committed }) if !json => match committed {
            Some(time) => writeln!(out, "As of revision {}, {}:", revision.0, time.minute())?,
            None => writeln!(out, "Before the first commit:")?,
        },
        _ => {}
    }
    print(out, &reply, json)?;
    Ok(reply)
}

/// Reports that the daemon's answer lacks what this command needs.
pub(crate) fn older_daemon() -> Error {
    Error::failed("the daemon's answer lacks what was asked for")
        .with_action("It may be older than this command: run `anchord restart`.")
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

/// Prints a reply's text, or everything as JSON.
pub(crate) fn print(out: &mut dyn Write, reply: &ToolReply, json: bool) -> Result<(), Error> {
    if json {
        return print_json(out, reply);
    }
    writeln!(out, "{}", show::plain_lines(reply.text.trim_end_matches('\n')))?;
    if let Some(remark) = &reply.remark {
        writeln!(out, "{}", show::plain_lines(remark))?;
    }
    Ok(())
}
