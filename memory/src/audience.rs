//! Words for the reader of a text: an agent calls tools, a person at a shell types commands.
//!
//! A renderer states as data what to do next, and the audience words it. No one reads the words
//! back. Limits count an agent's words, so that a person is shown the records that an agent would
//! get.

use serde_json::Value;

use crate::shell::shell_line;

/// The reader of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// An agent, which calls tools.
    #[default]
    Agent,
    /// An agent that has the compactor's tools.
    Compactor,
    /// A person, who types commands.
    Person(Shell),
}

/// The command line that led to a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shell {
    /// The words after the program's name.
    pub typed: Vec<String>,
}

/// A tool that has a command of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `memory_load`.
    Load,
    /// `memory_search`.
    Search,
    /// `memory_get`.
    Get,
    /// `memory_list`.
    List,
    /// `memory_forget`.
    Forget,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Load, Self::Search, Self::Get, Self::List, Self::Forget];

    /// Returns the name of the command. The tool's name has `memory_` before it.
    pub fn command(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Search => "search",
            Self::Get => "get",
            Self::List => "list",
            Self::Forget => "forget",
        }
    }
}

impl Audience {
    /// Names a tool: `memory_list` for an agent, `list` for one that has the compactor's tools, and
    /// `anchord list` in backticks for a person. A person's command repeats the options that name
    /// the memory.
    pub fn tool(&self, tool: Tool) -> String {
        let name = tool.command();
        match self {
            Self::Agent => format!("memory_{name}"),
            Self::Compactor => name.to_owned(),
            Self::Person(_) => self.command(&[name]),
        }
    }

    /// Returns the tool that shows what there is. An agent's smaller sets have no `memory_list`.
    pub(crate) fn overview(&self) -> Tool {
        match self {
            Self::Agent => Tool::Load,
            Self::Compactor | Self::Person(_) => Tool::List,
        }
    }

    /// Words a call: `memory_get {"id":"b1"}` for an agent, and `anchord get b1` in backticks for a
    /// person.
    pub fn call(&self, tool: Tool, parameters: &[(&str, Value)]) -> String {
        match self {
            Self::Agent | Self::Compactor => format!("{} {}", self.tool(tool), object(parameters)),
            Self::Person(shell) => in_backticks(&shell.command(tool, parameters)),
        }
    }

    /// Words a command in backticks. For a person it repeats the options that name the memory.
    pub fn command(&self, words: &[&str]) -> String {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Self::Person(shell) = self {
            words.extend(shell.memory());
        }
        in_backticks(&words)
    }

    /// Words that the same is called again from a cursor on: the parameter to add for an agent, and
    /// the whole command for a person.
    pub fn again(&self, cursor: &str) -> String {
        match self {
            Self::Agent | Self::Compactor => {
                format!("{} added to this call", object(&[("cursor", cursor.into())]))
            }
            Self::Person(shell) => in_backticks(&shell.again(cursor)),
        }
    }
}

/// Prints an object with its fields in the given order.
fn object(parameters: &[(&str, Value)]) -> String {
    let fields = parameters.iter().map(|(name, value)| format!("{}:{value}", Value::from(*name)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn in_backticks(words: &[String]) -> String {
    format!("`anchord {}`", shell_line(words))
}

impl Shell {
    /// Returns the words of the command that does what a call does, in the same memory.
    fn command(&self, tool: Tool, parameters: &[(&str, Value)]) -> Vec<String> {
        let name = tool.command();
        // The record comes first, as people type it.
        let mut words = vec![name.to_owned()];
        let mut options = Vec::new();
        for (parameter, value) in parameters {
            let values = match value {
                Value::Array(values) => values.as_slice(),
                value => std::slice::from_ref(value),
            };
            for value in values.iter().map(text_of) {
                match *parameter {
                    "id" | "key" => words.push(value),
                    // A list becomes one option for each item.
                    "sections" => options.extend(["--section".to_owned(), value]),
                    other => options.extend([format!("--{}", other.replace('_', "-")), value]),
                }
            }
        }
        words.extend(options);
        // A later page of a load is as long as the first, and of the same commit.
        if tool == Tool::Load && self.typed.first().is_some_and(|word| word == name) {
            words.extend(self.option("--at"));
            words.extend(self.option("--max-tokens"));
        }
        words.extend(self.memory());
        words
    }

    /// Returns the options that name the memory, as they were typed.
    pub fn memory(&self) -> Vec<String> {
        let (options, _) = self.split();
        let user = options.iter().filter(|word| *word == "--user").take(1).cloned();
        self.option("--project").chain(user).collect()
    }

    /// Returns the typed command line with another cursor.
    fn again(&self, cursor: &str) -> Vec<String> {
        let (options, rest) = self.split();
        let mut words = Vec::new();
        let mut options = options.iter();
        while let Some(word) = options.next() {
            if word == "--cursor" {
                options.next();
            } else if !word.starts_with("--cursor=") {
                words.push(word.clone());
            }
        }
        words.extend(["--cursor".to_owned(), cursor.to_owned()]);
        words.extend_from_slice(rest);
        words
    }

    /// Returns an option as it was typed.
    fn option(&self, name: &str) -> impl Iterator<Item = String> {
        let (options, _) = self.split();
        let attached = format!("{name}=");
        let at = options.iter().position(|word| word == name || word.starts_with(&attached));
        let words = at.and_then(|at| options.get(at..)).unwrap_or_default();
        let number = if words.first().is_some_and(|word| word == name) { 2 } else { 1 };
        words.iter().take(number).cloned()
    }

    /// Splits the command line at `--`, after which no word is an option.
    fn split(&self) -> (&[String], &[String]) {
        let at = self.typed.iter().position(|word| word == "--");
        self.typed.split_at(at.unwrap_or(self.typed.len()))
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
