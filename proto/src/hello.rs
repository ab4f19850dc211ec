//! Line 1 of a connection, the hello, line 2, the answer, and the rule by which two versions agree.
//!
//! Frozen: a field may be added, none is ever renamed, removed or given another meaning, so that
//! any two builds can at least tell each other why they cannot talk. Unknown fields are ignored,
//! missing ones read as none. The bytes are pinned by tests.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::PROTOCOL;

/// What the client wants the connection for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// MCP: numbered lines to the daemon, JSON lines back.
    Mcp,
    /// One lifecycle event and one reply.
    Hook,
    /// HTTP/1.1 with the admin interface.
    Http,
    /// Asks a daemon that is too old for the client to drain and exit.
    Replace,
}

/// Line 1, from client to daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The sender's protocol version, [`PROTOCOL`].
    pub anchord: u32,
    /// What the connection is for.
    pub role: Role,
    /// The sender's build, for people and logs. Never compared.
    #[serde(default)]
    pub build: String,
    /// A random id of the sending process; the lines it sends are numbered under it.
    pub instance: Uuid,
    /// The sender's process id in its own PID namespace.
    pub pid: u32,
    /// When that process started, in the kernel's own unit ([`crate::host::process_start`]).
    #[serde(default)]
    pub pid_start: Option<u64>,
    /// The boot of the sender's kernel ([`crate::host::boot_id`]).
    #[serde(default)]
    pub boot: Option<String>,
    /// The inode of the sender's PID namespace ([`crate::host::pid_namespace`]).
    #[serde(default)]
    pub pidns: Option<u64>,
    /// The agent's process: the shim's parent, or what the agent told its hook.
    #[serde(default)]
    pub agent_pid: Option<u32>,
    /// The sender's working directory; none where it is gone or not UTF-8.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The device of the working directory, to see whether both sides mean the same.
    #[serde(default)]
    pub cwd_dev: Option<u64>,
    /// The inode of the working directory.
    #[serde(default)]
    pub cwd_ino: Option<u64>,
    /// What the user or, with `by_agent`, the agent named as the project: its id, or a directory, absolute and without
    /// links where it exists.
    #[serde(default)]
    pub project: Option<String>,
    /// The tool set asked for, as text: a daemon must be able to answer to a name it does not know.
    #[serde(default)]
    pub tools: Option<String>,
    /// Which agent a hook serves, as its command line says.
    #[serde(default)]
    pub client: Option<String>,
    /// The agent's own session id where the environment gives it.
    #[serde(default)]
    pub agent_session: Option<String>,
    /// Present when this connection continues an earlier one.
    #[serde(default)]
    pub resume: Option<Resume>,
    /// The project is the directory `project` itself, not the one that is found from it.
    #[serde(default)]
    pub exact: bool,
    /// Tokens of what the session keeps for itself, as its command line says.
    #[serde(default)]
    pub budget: Option<u32>,
    /// The agent, which says so wherever it is started, and not the user named `project`: a directory to look from, as
    /// `cwd` is, that need not be a project.
    #[serde(default)]
    pub by_agent: bool,
}

/// What continues an earlier connection of the same shim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The token of the last welcome, returned as it came.
    pub token: String,
    /// The MCP revision that the daemon's reply to `initialize` named; none if there was no reply.
    #[serde(default)]
    pub revision: Option<String>,
}

/// Line 2, from daemon to client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "AnswerLine", into = "AnswerLine")]
pub enum Answer {
    /// The connection is open.
    Welcome(Welcome),
    /// It is not; the daemon closes it.
    Refused(Refused),
}

/// The daemon talks to this client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The protocol version that both speak from here on.
    pub anchord: u32,
    /// The daemon's build, for people and logs.
    #[serde(default)]
    pub build: String,
    /// The session that this connection begins or continues; none for roles without one.
    #[serde(default)]
    pub session: Option<String>,
    /// What the next hello of this shim returns; opaque, authenticated by the daemon.
    #[serde(default)]
    pub resume: Option<String>,
}

/// The daemon does not talk to this client, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}; {action}")]
pub struct Refused {
    /// For the client's code.
    pub code: RefusalCode,
    /// For people: what is wrong.
    #[serde(default)]
    pub message: String,
    /// For people: what to do.
    #[serde(default)]
    pub action: String,
}

/// Why a daemon refuses, named after what the client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// The daemon is too new for this client: update the client.
    TooNew,
    /// The daemon is too old for this client: ask it to make room ([`Role::Replace`]), start another.
    TooOld,
    /// Too many connections: try again later.
    Busy,
    /// The daemon is leaving: wait until its lock is free, then start another.
    Draining,
    /// The daemon is not ready yet: try again.
    NotReady,
    /// The hello cannot be read or asks for what does not exist: a mistake in the client.
    BadHello,
    /// The client belongs to another user.
    NotYours,
    /// A reason that this build does not know.
    #[serde(other)]
    Other,
}

impl Hello {
    /// A hello that says nothing but who and what for; the caller fills in what it knows.
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
    /// The version is judged before the rest, so that a hello of a far version is told so even if
    /// it names roles that this build has never heard of.
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

/// The version that two peers speak: the lower one, if it is at most one below the higher.
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
    /// All of them.
    All,
    /// The tool names, parameters and meaning of zipmem.
    Zipmem,
    /// The tool names, parameters and meaning of the compactor.
    Compactor,
}

impl ToolSet {
    /// All sets, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Default, Self::All, Self::Zipmem, Self::Compactor];

    /// The name on the command line and in the hello.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::All => "all",
            Self::Zipmem => "zipmem",
            Self::Compactor => "compactor",
        }
    }
}

impl fmt::Display for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A tool set was named that does not exist; the message lists those that do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tool set {0:?}, allowed: default, all, zipmem, compactor")]
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

/// What is read of a hello before its version is known to be one we understand.
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

/// [`Answer`] as it is written. A struct, not serde's tagged form: that one would refuse an unknown
/// field beside the known one.
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
