//! The hello (line 1 of a connection), the answer (line 2), and the rule by which two versions
//! agree.
//!
//! Both lines are frozen. A field may be added, but none is ever renamed, removed or given another
//! meaning. So any two builds can at least tell each other why they cannot talk. Unknown fields are
//! ignored, and missing ones read as absent. Tests pin the bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::PROTOCOL;

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// MCP: numbered lines to the daemon, JSON lines back.
    Mcp,
    /// One lifecycle event and one reply.
    Hook,
    /// HTTP/1.1 with the admin interface.
    Http,
    /// A request to a daemon that is too old for the client, to drain and exit.
    Replace,
}

/// Line 1, from client to daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The sender's protocol version, [`PROTOCOL`].
    pub anchord: u32,
    /// The purpose of the connection.
    pub role: Role,
    /// The sender's build, for people and logs. Never compared.
    #[serde(default)]
    pub build: String,
    /// A random id of the sending process. Its lines are numbered under this id.
    pub instance: Uuid,
    /// The sender's process id in its own PID namespace.
    pub pid: u32,
    /// The start time of that process, in the kernel's own unit ([`crate::host::process_start`]).
    #[serde(default)]
    pub pid_start: Option<u64>,
    /// The boot of the sender's kernel ([`crate::host::boot_id`]).
    #[serde(default)]
    pub boot: Option<String>,
    /// The inode of the sender's PID namespace ([`crate::host::pid_namespace`]).
    #[serde(default)]
    pub pidns: Option<u64>,
    /// The agent's process: the shim's parent, or the process that the agent named to its hook.
    #[serde(default)]
    pub agent_pid: Option<u32>,
    /// The sender's working directory; `None` if it is gone or not UTF-8.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The device of the working directory, to check whether both sides mean the same one.
    #[serde(default)]
    pub cwd_dev: Option<u64>,
    /// The inode of the working directory.
    #[serde(default)]
    pub cwd_ino: Option<u64>,
    /// The project, as the user or, with `by_agent`, the agent named it. It is an id, or a
    /// directory: absolute, and without links if it exists.
    #[serde(default)]
    pub project: Option<String>,
    /// The requested tool set, as text: a daemon must be able to answer a name it does not know.
    #[serde(default)]
    pub tools: Option<String>,
    /// The agent that a hook serves, from its command line.
    #[serde(default)]
    pub client: Option<String>,
    /// The agent's own session id, if the environment has it.
    #[serde(default)]
    pub agent_session: Option<String>,
    /// Present if this connection continues an earlier one.
    #[serde(default)]
    pub resume: Option<Resume>,
    /// Whether the project is the directory `project` itself, not the one found from it.
    #[serde(default)]
    pub exact: bool,
    /// The token budget of the session's own notes, from its command line.
    #[serde(default)]
    pub budget: Option<u32>,
    /// Whether the agent named `project`, and not the user. The agent does so wherever it is
    /// started. The directory is then a starting point for the search, like `cwd`, and need not be
    /// a project.
    #[serde(default)]
    pub by_agent: bool,
}

/// The state that continues an earlier connection of the same shim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The token of the last welcome, returned unchanged.
    pub token: String,
    /// The MCP revision in the daemon's reply to `initialize`; `None` if there was no reply.
    #[serde(default)]
    pub revision: Option<String>,
}

/// Line 2, from daemon to client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "AnswerLine", into = "AnswerLine")]
pub enum Answer {
    /// The connection is open.
    Welcome(Welcome),
    /// The connection is refused; the daemon closes it.
    Refused(Refused),
}

/// The acceptance of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The protocol version that both speak from here on.
    pub anchord: u32,
    /// The daemon's build, for people and logs.
    #[serde(default)]
    pub build: String,
    /// The session that this connection begins or continues; `None` for roles without one.
    #[serde(default)]
    pub session: Option<String>,
    /// The token that the next hello of this shim returns; opaque, authenticated by the daemon.
    #[serde(default)]
    pub resume: Option<String>,
}

/// The refusal of a connection, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}; {action}")]
pub struct Refused {
    /// The code, for the client's program.
    pub code: RefusalCode,
    /// The reason, for people.
    #[serde(default)]
    pub message: String,
    /// The remedy, for people.
    #[serde(default)]
    pub action: String,
}

/// The reason for a refusal, named after what the client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// The daemon is too new for this client: update the client.
    TooNew,
    /// The daemon is too old for this client: ask it to make room ([`Role::Replace`]), start
    /// another.
    TooOld,
    /// There are too many connections: try again later.
    Busy,
    /// The daemon is leaving: wait until its lock is free, then start another.
    Draining,
    /// The daemon is not ready yet: try again.
    NotReady,
    /// The hello cannot be read or requests something unknown: a mistake in the client.
    BadHello,
    /// The client belongs to another user.
    NotYours,
    /// The reason is unknown to this build.
    #[serde(other)]
    Other,
}

impl Hello {
    /// Creates a hello with only the sender and the role. The caller fills in what it knows.
    pub fn new(role: Role, instance: Uuid, pid: u32) -> Self {
        Self {
            anchord: PROTOCOL,
            role,
            build: env!("CARGO_PKG_VERSION").to_owned(),
            instance,
            pid,
            pid_start: None,
            boot: None,
            pidns: None,
            agent_pid: None,
            cwd: None,
            cwd_dev: None,
            cwd_ino: None,
            project: None,
            tools: None,
            client: None,
            agent_session: None,
            resume: None,
            exact: false,
            budget: None,
            by_agent: false,
        }
    }

    /// Reads line 1 as a daemon at version `ours` does. Returns the hello and the version that both
    /// speak from here on, or the refusal to send.
    ///
    /// The version is checked before the rest. A hello of a distant version gets that refusal even
    /// if it names roles that this build does not know.
    pub fn read(line: &[u8], ours: u32) -> Result<(Self, u32), Refused> {
        let Peer { anchord: peer, role } = parse(line)?;
        let makes_room = role.as_deref() == Some("replace") && peer > ours;
        let version = if makes_room { ours } else { agree(peer, ours)? };
        let hello: Self = parse(line)?;
        if hello.role == Role::Replace && !makes_room {
            return Err(Refused {
                code: RefusalCode::BadHello,
                message: format!("this daemon (protocol {ours}) is not older than {peer}"),
                action: "connect with another role, or run `anchord restart`".to_owned(),
            });
        }
        Ok((hello, version))
    }
}

/// Returns the version that two peers speak: the lower one, if it is at most one below the higher.
///
/// `peer` is the client's, `ours` the daemon's; [`PROTOCOL`] outside tests.
pub fn agree(peer: u32, ours: u32) -> Result<u32, Refused> {
    if peer.abs_diff(ours) <= 1 {
        return Ok(peer.min(ours));
    }
    let message = format!("the daemon speaks protocol {ours}, this client {peer}");
    Err(if peer > ours {
        Refused {
            code: RefusalCode::TooOld,
            message,
            action: "run `anchord restart` with the newer build".to_owned(),
        }
    } else {
        Refused {
            code: RefusalCode::TooNew,
            message,
            action: "update anchord-mcp, or register `anchord mcp` of the newer build".to_owned(),
        }
    })
}

/// A named choice of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSet {
    /// The tools that every session needs.
    #[default]
    Default,
    /// All tools.
    All,
    /// The tool names, parameters and meaning of zipmem.
    Zipmem,
    /// The tool names, parameters and meaning of the compactor.
    Compactor,
    /// The tool names, parameters and meaning of infinite-context.
    InfiniteContext,
    /// The tool, parameters and meaning of snap-memory.
    SnapMemory,
}

impl ToolSet {
    /// All sets, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::Default,
        Self::All,
        Self::Zipmem,
        Self::Compactor,
        Self::InfiniteContext,
        Self::SnapMemory,
    ];

    /// Returns the name on the command line and in the hello.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::All => "all",
            Self::Zipmem => "zipmem",
            Self::Compactor => "compactor",
            Self::InfiniteContext => "infinite-context",
            Self::SnapMemory => "snap-memory",
        }
    }
}

impl fmt::Display for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of an unknown tool set. The message lists the known ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown tool set {0:?}, allowed: default, all, zipmem, compactor, infinite-context, snap-memory"
)]
pub struct UnknownToolSet(pub String);

impl FromStr for ToolSet {
    type Err = UnknownToolSet;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|set| set.name() == name)
            .ok_or_else(|| UnknownToolSet(name.to_owned()))
    }
}

/// The fields of a hello that are read before its version is known to be supported.
#[derive(Deserialize)]
struct Peer {
    anchord: u32,
    #[serde(default)]
    role: Option<String>,
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, Refused> {
    serde_json::from_slice(line).map_err(|reason| Refused {
        code: RefusalCode::BadHello,
        message: format!("cannot read the hello: {reason}"),
        action: "start the connection with the hello that docs/wire-protocol.md describes"
            .to_owned(),
    })
}

/// The written form of [`Answer`]. It is a struct rather than serde's tagged form, which would
/// refuse an unknown field next to the known one.
#[derive(Clone, Serialize, Deserialize)]
struct AnswerLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    welcome: Option<Welcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
}

impl TryFrom<AnswerLine> for Answer {
    type Error = &'static str;

    fn try_from(line: AnswerLine) -> Result<Self, Self::Error> {
        match (line.welcome, line.refused) {
            (Some(welcome), None) => Ok(Self::Welcome(welcome)),
            (None, Some(refused)) => Ok(Self::Refused(refused)),
            _ => Err("neither welcome nor refused"),
        }
    }
}

impl From<Answer> for AnswerLine {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Welcome(welcome) => Self { welcome: Some(welcome), refused: None },
            Answer::Refused(refused) => Self { welcome: None, refused: Some(refused) },
        }
    }
}

#[cfg(test)]
mod tests;
