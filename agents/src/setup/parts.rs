//! The parts that anchord puts into an agent's file: adding, finding and removing them.
//!
//! A part is ours if it runs one of our programs, wherever that is. Old paths are therefore
//! updated, and entries that merely have our name are left alone.

use std::fmt;
use std::path::Path;

use anchord_memory::shell_line;
use serde_json::{Map, Value, json};

use super::Programs;
use super::edit::{Clash, Document, Json, Step, Toml, Yaml, dotted};

mod hooks;

pub use hooks::{FoundHook, Hooks};

/// The name of our entry in every agent's list of servers.
pub const SERVER: &str = "anchord";

/// The format in which a file is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON with comments and trailing commas.
    Jsonc,
    /// JSON with all that JSON5 adds.
    Json5,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// A file that is entirely ours.
    Whole,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The MCP server.
    Server(Server),
    /// Hooks, all with the same handler.
    Hooks(Hooks),
    /// Names in a list of what is allowed without asking.
    Allowed {
        /// The list.
        list: &'static [&'static str],
        /// The names to add.
        names: Vec<String>,
    },
    /// Tools of the server that are allowed without asking, for agents that keep this next to the
    /// server.
    Approved {
        /// The list of servers.
        servers: &'static [&'static str],
        /// The tools.
        tools: &'static [&'static str],
    },
    /// The whole file.
    Whole(String),
}

/// An entry in a list of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The list.
    pub list: &'static [&'static str],
    /// The program and its arguments.
    pub launch: Vec<String>,
    /// The fields with the program and its arguments.
    pub fields: ProgramFields,
    /// Further fields of the entry, added unless they exist already.
    pub more: Vec<(&'static str, Value)>,
}

/// The fields of an entry that hold the program and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramFields {
    /// The program is in `command` and the list of its arguments in `args`.
    Command,
    /// All words are one list in `command`.
    Joined,
    /// The program is in `cmd` and the list of its arguments in `args`.
    Cmd,
}

/// The way in which a part of a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// It was not there.
    Added,
    /// It was there in another form.
    Changed,
    /// It is there no longer.
    Removed,
}

/// A change to a part of a file. It is shown as a line that begins with `+`, `~` or `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartChange {
    /// The way in which it changes.
    pub kind: EditKind,
    /// Whether the part is hooks.
    pub is_of_hooks: bool,
    /// The part and what changes, in words.
    pub words: String,
}

impl PartChange {
    /// Returns a change of another part than hooks.
    pub fn new(kind: EditKind, words: impl Into<String>) -> Self {
        Self { kind, is_of_hooks: false, words: words.into() }
    }

    fn of_hooks(kind: EditKind, words: &str) -> Self {
        Self { kind, is_of_hooks: true, words: format!("hooks: {words}") }
    }
}

impl fmt::Display for PartChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            EditKind::Added => '+',
            EditKind::Changed => '~',
            EditKind::Removed => '-',
        };
        write!(out, "{sign} {}", self.words)
    }
}

/// A file's text with the parts added or removed, and a description of the change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The new text; `None` if the file is no longer needed.
    pub text: Option<String>,
    /// The changes.
    pub changes: Vec<PartChange>,
    /// Remarks on unusual content that was left alone.
    pub remarks: Vec<String>,
}

/// The reason a file is left alone. Fits after the file's name and a colon.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The file cannot be parsed.
    #[error("{0}")]
    Invalid(String),
    /// The file's structure leaves no place for the part.
    #[error(transparent)]
    Clash(#[from] Clash),
    /// Another program's entry has our name.
    #[error("`{at}` runs `{runs}`, which is not anchord: rename or remove that entry")]
    Foreign {
        /// The entry.
        at: String,
        /// The command that it runs.
        runs: String,
    },
}

/// Our parts in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstalledParts {
    /// The command of each of our server entries, in words, by its name.
    pub servers: Vec<(String, Vec<String>)>,
    /// Our hooks.
    pub hooks: Vec<FoundHook>,
}

/// Adds the parts.
pub fn place(text: Option<&str>, format: Format, parts: &[Part]) -> Result<Outcome, PartError> {
    if let [Part::Whole(wanted)] = parts {
        let kind = if text.is_some() { EditKind::Changed } else { EditKind::Added };
        let change = PartChange::new(kind, "the whole file");
        let changes = if text == Some(wanted) { Vec::new() } else { vec![change] };
        return Ok(Outcome { text: Some(wanted.clone()), changes, ..Outcome::default() });
    }
    let mut document = read(text.unwrap_or_default(), format)?;
    let mut outcome = Outcome::default();
    for part in parts {
        match part {
            Part::Server(server) => server.place(&mut *document, &mut outcome)?,
            Part::Hooks(hooks) => hooks.place(&mut *document, &mut outcome)?,
            Part::Allowed { list, names } => allow(&mut *document, list, names, &mut outcome)?,
            Part::Approved { servers, tools } => {
                approve(&mut *document, servers, tools, &mut outcome)?;
            }
            Part::Whole(_) => {}
        }
    }
    outcome.text = match text {
        Some(text) if outcome.changes.is_empty() => Some(text.to_owned()),
        _ => Some(document.text()),
    };
    Ok(outcome)
}

/// The state of a file before the parts were first added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before<'a> {
    /// The state is unknown.
    Unknown,
    /// The file did not exist.
    Absent,
    /// The file had this text.
    Text(&'a str),
}

impl<'a> Before<'a> {
    /// Returns the recorded state.
    pub fn known(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}

/// Removes the parts. Everything that the file contained before stays, including lists that were
/// empty.
pub fn take_out(
    text: &str,
    format: Format,
    parts: &[Part],
    before: Before<'_>,
) -> Result<Outcome, PartError> {
    if let [Part::Whole(ours)] = parts {
        return Ok(take_out_whole(text, ours));
    }
    let mut document = read(text, format)?;
    let old = match before {
        Before::Text(old) => read(old, format).ok(),
        Before::Absent | Before::Unknown => None,
    };
    let mut outcome = Outcome::default();
    for part in parts {
        match part {
            Part::Server(server) => {
                let at = steps(server.list, &[SERVER]);
                if document.get(&at).is_some_and(|entry| server_words(&entry).is_some()) {
                    document.remove(&at);
                    outcome.changes.push(PartChange::new(EditKind::Removed, dotted(&at)));
                    prune(&mut *document, old.as_deref(), &steps(server.list, &[]));
                }
            }
            Part::Hooks(hooks) => {
                let events = hooks::unhook(&mut *document, old.as_deref(), |_| true);
                if !events.is_empty() {
                    outcome
                        .changes
                        .push(PartChange::of_hooks(EditKind::Removed, &events.join(", ")));
                    hooks.free(&mut *document, old.as_deref(), before == Before::Absent);
                }
            }
            Part::Allowed { list, names } => {
                let list = steps(list, &[]);
                take_out_names(&mut *document, old.as_deref(), &list, names, &mut outcome);
                prune(&mut *document, old.as_deref(), &list);
            }
            // They were removed with the server.
            Part::Approved { .. } | Part::Whole(_) => {}
        }
    }
    let made_here = before == Before::Absent;
    outcome.text = if outcome.changes.is_empty() {
        Some(text.to_owned())
    } else {
        Some(document.text()).filter(|rest| !(made_here && matches!(rest.trim(), "" | "{}")))
    };
    Ok(outcome)
}

/// Removes a file that is anchord's alone, unless somebody changed it.
fn take_out_whole(text: &str, ours: &str) -> Outcome {
    let mut outcome = Outcome { text: Some(text.to_owned()), ..Outcome::default() };
    if text == ours {
        outcome.text = None;
        outcome.changes.push(PartChange::new(EditKind::Removed, "the whole file"));
    } else {
        outcome.remarks.push("it was changed by hand: remove it by hand".to_owned());
    }
    outcome
}

/// Removes names from a list, except those that were in it before.
fn take_out_names(
    document: &mut dyn Document,
    old: Option<&dyn Document>,
    list: &[Step],
    names: &[String],
    outcome: &mut Outcome,
) {
    let kept = old.and_then(|old| old.get(list)).unwrap_or_default();
    let is_ours = |value: &Value| {
        let is_named = value.as_str().is_some_and(|name| names.iter().any(|n| n == name));
        is_named && !kept.as_array().is_some_and(|kept| kept.contains(value))
    };
    for (index, value) in indexed(document, list).into_iter().rev() {
        if is_ours(&value) {
            document.remove(&with(list, Step::Index(index)));
            let words = format!("{}: {value}", dotted(list));
            outcome.changes.push(PartChange::new(EditKind::Removed, words));
        }
    }
}

/// Names what these parts add to a file, so that a person can remove it. Fits after "remove".
pub fn by_hand(parts: &[Part]) -> String {
    let named: Vec<String> = parts.iter().map(named).filter(|name| !name.is_empty()).collect();
    named.join(", ")
}

fn named(part: &Part) -> String {
    match part {
        Part::Server(server) => format!("`{}`", dotted(&steps(server.list, &[SERVER]))),
        Part::Hooks(_) => "each hook that runs anchord".to_owned(),
        Part::Allowed { list, .. } => {
            format!("anchord's names in `{}`", dotted(&steps(list, &[])))
        }
        // They are part of the server's entry.
        Part::Approved { .. } => String::new(),
        Part::Whole(_) => "the file".to_owned(),
    }
}

/// Finds our parts in a file, regardless of what added them.
pub fn inspect(text: &str, format: Format, parts: &[Part]) -> Result<InstalledParts, PartError> {
    let mut found = InstalledParts::default();
    if format == Format::Whole {
        return Ok(found);
    }
    let document = read(text, format)?;
    for part in parts {
        match part {
            Part::Server(server) => {
                for (name, entry) in entries(&*document, &steps(server.list, &[])) {
                    found.servers.extend(server_words(&entry).map(|words| (name, words)));
                }
            }
            Part::Hooks(hooks) => found.hooks.extend(hooks.found(&*document)),
            Part::Allowed { .. } | Part::Approved { .. } | Part::Whole(_) => {}
        }
    }
    Ok(found)
}

fn read(text: &str, format: Format) -> Result<Box<dyn Document>, PartError> {
    let read: Result<Box<dyn Document>, String> = match format {
        Format::Toml => Toml::parse(text).map(|toml| Box::new(toml) as _),
        Format::Yaml => Yaml::parse(text).map(|yaml| Box::new(yaml) as _),
        Format::Json5 => Json::parse_json5(text).map(|json| Box::new(json) as _),
        Format::Jsonc | Format::Whole => Json::parse(text).map(|json| Box::new(json) as _),
    };
    read.map_err(PartError::Invalid)
}

impl Server {
    fn place(&self, document: &mut dyn Document, outcome: &mut Outcome) -> Result<(), PartError> {
        let list = steps(self.list, &[]);
        for (name, entry) in entries(document, &list) {
            if name != SERVER && server_words(&entry).is_some() {
                let at = dotted(&with(&list, name.as_str().into()));
                outcome.remarks.push(format!("`{at}` runs anchord, too: remove one of the two"));
            }
        }
        let at = steps(self.list, &[SERVER]);
        let Some(entry) = document.get(&at) else {
            document.set(&at, &self.entry(&self.launch))?;
            let words = format!("{}: {}", dotted(&at), shell_line(&self.launch));
            outcome.changes.push(PartChange::new(EditKind::Added, words));
            return Ok(());
        };
        let Some(words) = server_words(&entry) else {
            return Err(PartError::Foreign { at: dotted(&at), runs: shell_line(words_of(&entry)) });
        };
        // The user's options for the shim stay, such as `--project` and `--tools`.
        let launch: Vec<String> =
            self.launch.iter().cloned().chain(options(&words).iter().cloned()).collect();
        let wanted = self.entry(&launch);
        for (key, value) in wanted.as_object().into_iter().flatten() {
            let known = entry.get(key);
            let runs = matches!(key.as_str(), "command" | "cmd" | "args");
            let nothing = known.is_none() && value.as_array().is_some_and(Vec::is_empty);
            if nothing || known == Some(value) || (known.is_some() && !runs) {
                continue;
            }
            let at = with(&at, key.as_str().into());
            document.set(&at, value)?;
            let at = dotted(&at);
            outcome.changes.push(match known {
                Some(known) => {
                    PartChange::new(EditKind::Changed, format!("{at}: {known} -> {value}"))
                }
                None => PartChange::new(EditKind::Added, format!("{at}: {value}")),
            });
        }
        Ok(())
    }

    /// Returns the whole entry, for agents that accept it as JSON.
    pub fn entry(&self, launch: &[String]) -> Value {
        let mut entry: Map<String, Value> =
            self.more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let program = match self.fields {
            ProgramFields::Joined => {
                entry.insert("command".to_owned(), json!(launch));
                return Value::Object(entry);
            }
            ProgramFields::Command => "command",
            ProgramFields::Cmd => "cmd",
        };
        if let Some((command, args)) = launch.split_first() {
            entry.insert(program.to_owned(), json!(command));
            entry.insert("args".to_owned(), json!(args));
        }
        Value::Object(entry)
    }
}

fn allow(
    document: &mut dyn Document,
    list: &[&str],
    names: &[String],
    outcome: &mut Outcome,
) -> Result<(), PartError> {
    let list = steps(list, &[]);
    for name in names {
        let known = indexed(document, &list);
        if !known.iter().any(|(_, value)| value.as_str() == Some(name)) {
            document.set(&with(&list, Step::Index(known.len())), &json!(name))?;
            let words = format!("{}: {name}", dotted(&list));
            outcome.changes.push(PartChange::new(EditKind::Added, words));
        }
    }
    Ok(())
}

fn approve(
    document: &mut dyn Document,
    servers: &[&str],
    tools: &[&str],
    outcome: &mut Outcome,
) -> Result<(), PartError> {
    for tool in tools {
        let at = steps(servers, &[SERVER, "tools", tool, "approval_mode"]);
        if document.get(&at).is_none() {
            document.set(&at, &json!("approve"))?;
            let words = format!("{}: approve", dotted(&at));
            outcome.changes.push(PartChange::new(EditKind::Added, words));
        }
    }
    Ok(())
}

/// Removes empty values from this place upwards, unless they existed before.
fn prune(document: &mut dyn Document, old: Option<&dyn Document>, at: &[Step]) {
    for depth in (1..=at.len()).rev() {
        let place = at.get(..depth).unwrap_or_default();
        let empty = document.get(place).is_some_and(|found| match found {
            Value::Array(items) => items.is_empty(),
            Value::Object(pairs) => pairs.is_empty(),
            _ => false,
        });
        if !empty || old.is_some_and(|old| old.get(place).is_some()) {
            return;
        }
        document.remove(place);
    }
}

fn entries(document: &dyn Document, at: &[Step]) -> Vec<(String, Value)> {
    match document.get(at) {
        Some(Value::Object(pairs)) => pairs.into_iter().collect(),
        _ => Vec::new(),
    }
}

fn indexed(document: &dyn Document, at: &[Step]) -> Vec<(usize, Value)> {
    match document.get(at) {
        Some(Value::Array(items)) => items.into_iter().enumerate().collect(),
        _ => Vec::new(),
    }
}

fn steps(list: &[&str], more: &[&str]) -> Vec<Step> {
    list.iter().chain(more).map(|key| Step::from(*key)).collect()
}

fn with(at: &[Step], step: Step) -> Vec<Step> {
    at.iter().cloned().chain([step]).collect()
}

/// Returns the command of an entry, word by word. It may be a list, a program with arguments, or a
/// line for a shell.
fn words_of(entry: &Value) -> Vec<String> {
    let texts = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let args = entry.get("args");
    // A hook may have a line for each shell.
    match ["command", "cmd", "bash"].iter().find_map(|field| entry.get(field)) {
        Some(Value::String(line)) if args.is_none() => {
            shlex::split(line).unwrap_or_else(|| vec![line.clone()])
        }
        Some(Value::String(program)) => [vec![program.clone()], texts(args)].concat(),
        command => texts(command),
    }
}

fn server_words(entry: &Value) -> Option<Vec<String>> {
    // A program with a space in its path is the whole line, unquoted.
    let mut words = words_of(entry);
    if let (Some(line), None) = (entry.get("command").and_then(Value::as_str), entry.get("args")) {
        words = vec![line.to_owned()];
    }
    ours(&words, Programs::MCP, "mcp").then_some(words)
}

fn ours(words: &[String], alone: &str, command: &str) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    name == Some(alone)
        || (name == Some(Programs::ANCHORD)
            && rest.first().is_some_and(|word| word.as_str() == command))
}

/// Returns the options after the program and its command.
fn options(words: &[String]) -> &[String] {
    let alone = words.first().is_some_and(|program| program.ends_with(Programs::MCP));
    words.get(if alone { 1 } else { 2 }..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
