//! One client: its names, its variables and its limits. Some look-ups go through all clients.

use std::cmp::Ordering;
use std::fmt;

use crate::CLIENTS;
#[cfg(feature = "events")]
use crate::events::Adapter;
#[cfg(feature = "setup")]
use crate::setup::Facts;
#[cfg(feature = "transcripts")]
use crate::transcripts::Transcripts;

/// A client: an agent's program that uses anchord. A part is `None` if anchord does not support it
/// for this client.
pub struct Client {
    /// The id: the argument of its hooks, the word on the command line, the name in records.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The names that it uses over MCP.
    pub mcp: McpNames,
    /// The variables of its environment.
    pub environment: Environment,
    /// The name of the event at a conversation's end. Its hook has less time than others.
    pub session_end: Option<&'static str>,
    /// The limits of its model's context.
    pub limits: ContextLimits,
    /// The adapter for the events that its hooks report.
    #[cfg(feature = "events")]
    pub events: Option<Adapter>,
    /// The facts with which it is set up.
    #[cfg(feature = "setup")]
    pub setup: Option<Facts>,
    /// The transcripts that it keeps, one entry for each form.
    #[cfg(feature = "transcripts")]
    pub transcripts: &'static [Transcripts],
}

/// The names that a client uses over MCP.
#[derive(Clone, Copy, Debug)]
pub struct McpNames {
    /// The beginning of its own name, in lower case.
    pub name: &'static str,
    /// The suffix that it adds to the name of its MCP part.
    pub suffix: Option<&'static str>,
    /// The field of `_meta` that names the conversation of a call.
    pub conversation: Option<&'static str>,
    /// The argument in which its plugin names the conversation of a call, since its `_meta` has
    /// nothing. The plugin sets it on every call, whatever the model wrote there.
    pub conversation_argument: Option<&'static str>,
    /// The field of `_meta` that names a call. Its hooks use the same id.
    pub call: Option<&'static str>,
}

/// The variables that a client reads, and those that it sets for the servers and hooks it starts.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// The variable that moves the folder of its files.
    pub folder: Option<&'static str>,
    /// The variable with the directory that it was started in, whether or not that is a project.
    pub project: Option<&'static str>,
    /// The variable with the id of its conversation.
    pub session: Option<&'static str>,
    /// The variable with its process id, since a shell may have started the hook.
    pub process: Option<&'static str>,
    /// The variable that marks its child processes. A client that passes its own environment on
    /// has one, since that environment may contain another agent's session.
    pub mark: Option<&'static str>,
}

/// The limits of a model's context in one client.
#[derive(Clone, Copy, Debug)]
pub struct ContextLimits {
    /// Characters of one text above which the client cuts it or moves it to a file.
    pub text_chars_max: Option<usize>,
    /// Tokens of a session's own active notes, unless configured.
    pub session_tokens: Option<u32>,
}

impl Client {
    /// Returns a client of which only the id and the name for people are known. Its folder adds the
    /// rest.
    pub(crate) const fn new(id: &'static str, name: &'static str) -> Self {
        Self {
            id,
            name,
            mcp: McpNames {
                name: id,
                suffix: None,
                conversation: None,
                conversation_argument: None,
                call: None,
            },
            environment: Environment {
                folder: None,
                project: None,
                session: None,
                process: None,
                mark: None,
            },
            session_end: None,
            limits: ContextLimits { text_chars_max: None, session_tokens: None },
            #[cfg(feature = "events")]
            events: None,
            #[cfg(feature = "setup")]
            setup: None,
            #[cfg(feature = "transcripts")]
            transcripts: &[],
        }
    }

    /// Returns the client with this id.
    pub fn named(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().copied().find(|client| client.id == id)
    }

    /// Returns the client that gives this name over MCP.
    pub fn named_over_mcp(name: &str) -> Option<&'static Self> {
        let name = name.to_lowercase();
        CLIENTS.iter().copied().find(|client| name.starts_with(client.mcp.name))
    }

    /// Returns whether a name in lower case is this client's, with or without words after it.
    fn is_called(&self, name: &str) -> bool {
        // Another client may have a name that begins like the one over MCP.
        let own = if self.id.starts_with(self.mcp.name) { self.id } else { self.mcp.name };
        let rest = name.strip_prefix(own);
        [self.id, self.mcp.name].contains(&name)
            || rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    }

    /// Returns its place in the registry.
    fn position(&self) -> usize {
        CLIENTS.iter().take_while(|client| client.id != self.id).count()
    }

    /// Returns whether an event of this name ends a session in any client.
    pub fn ends_session(event: &str) -> bool {
        CLIENTS.iter().any(|client| client.session_end == Some(event))
    }
}

impl McpNames {
    /// Returns the one name in records for a client that gives this name over MCP: its id, which
    /// its hooks use as well. An unknown client keeps its name without the suffix of its MCP part.
    pub fn recorded(name: &str) -> &str {
        let suffixes = CLIENTS.iter().filter_map(|client| client.mcp.suffix);
        let plain = suffixes.into_iter().find_map(|suffix| name.strip_suffix(suffix));
        let plain = plain.unwrap_or(name);
        let lower = plain.to_lowercase();
        let joined = lower.replace(' ', "-");
        let is_called = |client: &&&Client| client.is_called(&lower) || client.is_called(&joined);
        CLIENTS.iter().find(is_called).map_or(plain, |client| client.id)
    }

    /// Returns the conversation of a call, by the fields of `_meta`. Any client may use any
    /// client's field.
    pub fn conversation_in<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<&'a str> {
        CLIENTS.iter().filter_map(|client| client.mcp.conversation).find_map(field)
    }

    /// Returns the argument in which a client of this name over MCP names the conversation of a
    /// call. The model writes arguments, so no client uses another client's.
    pub fn conversation_argument_of(name: &str) -> Option<&'static str> {
        Client::named_over_mcp(name)?.mcp.conversation_argument
    }

    /// Returns the client's own id of a call, by the fields of `_meta`.
    pub fn call_in<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<&'a str> {
        CLIENTS.iter().filter_map(|client| client.mcp.call).find_map(field)
    }
}

impl Environment {
    /// Returns the id of the conversation, by the variables. Ignores the id of an agent around the
    /// one that set them.
    pub fn session_in(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        let all = || CLIENTS.iter().map(|client| &client.environment);
        let inner = all().filter(|known| known.mark.is_some());
        inner.filter_map(|known| known.session).find_map(&variable).or_else(|| {
            let is_inner =
                all().filter_map(|known| known.mark).any(|mark| variable(mark).is_some());
            let outer = all().filter(|known| known.mark.is_none() && !is_inner);
            outer.filter_map(|known| known.session).find_map(&variable)
        })
    }

    /// Returns the directory that the agent was started in, by the variables.
    pub fn project_in(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        CLIENTS.iter().filter_map(|client| client.environment.project).find_map(variable)
    }

    /// Returns the process id that an agent gives its hooks, by the variables. Without a client,
    /// that of any. A named client's hook may see a variable of an agent around it, which is
    /// ignored.
    pub fn process_in(
        client: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let meant = CLIENTS.iter().filter(|known| client.is_none_or(|client| known.id == client));
        meant.filter_map(|client| client.environment.process).find_map(variable)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Client {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Client {}

impl PartialOrd for Client {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of the registry.
impl Ord for Client {
    fn cmp(&self, other: &Self) -> Ordering {
        self.position().cmp(&other.position())
    }
}
