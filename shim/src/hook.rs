//! `anchord-hook`: forwards one lifecycle event to the daemon and prints the daemon's reply.
//!
//! Without the daemon, another program checks the rules that are meant for that case. It also stops
//! a tool that could not be checked. If no daemon can start, or none answers in time, it words at a
//! start that a memory is not shown.
//!
//! After any other failure, the agent continues: nothing is printed and the exit code is 0, all
//! within one deadline. This also holds for a wrong command line, since agents take some codes as
//! an order to stop. The hook knows no clients and no events, except the names of a session's end,
//! which has less time.

use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use anchord_agents::Client;
use anchord_proto::PROTOCOL;
use anchord_proto::hello::Role;
use anchord_proto::hook::HookReply;
use anchord_proto::instance::InstanceDir;
use anchord_proto::limits::{
    HOOK_DEADLINE_MS, HOOK_END_DEADLINE_MS, HOOK_EVENT_BYTES_MAX, HOOK_GUARD_MS,
    HOOK_HEAD_BYTES_MAX, HOOK_INPUT_BYTES_MAX, HOOK_REFUSAL_MS, LINE_BYTES_MAX, millis,
};
use anchord_proto::line::{LineRead, read_line_capped};
use serde_json::value::RawValue;

use crate::descriptors;
use crate::identity;
use crate::link::Search;
use crate::start::Launcher;

/// The options from the command line.
#[derive(Clone, Debug)]
pub struct HookOptions {
    /// The `anchord` that starts a daemon. Defaults to the one beside this program, else on PATH.
    pub program: Option<PathBuf>,
    /// The client that sends the event, as the hook's registration names it.
    pub client: Option<String>,
    /// The protocol version to speak: [`PROTOCOL`], except in tests.
    pub protocol: u32,
}

impl Default for HookOptions {
    fn default() -> Self {
        Self { program: None, client: None, protocol: PROTOCOL }
    }
}

/// Handles the event on this process's stdin. Call this first in `main`, since it assumes that no
/// other thread runs.
pub fn run(options: HookOptions) -> ExitCode {
    let begin = Instant::now();
    descriptors::keep_from_children();
    let mut hello = identity::hello(Role::Hook, None);
    hello.agent_pid = identity::agent_of_hook(options.client.as_deref());
    hello.anchord = options.protocol;
    hello.client = options.client;
    let launcher = options.program.map_or_else(Launcher::beside_this_program, Launcher::new);
    let stand_in = StandIn::of(&launcher, hello.client.as_deref());
    let search = Search {
        dir: InstanceDir::locate().map_err(|error| error.to_string()),
        hello,
        opening: Vec::new(),
        launcher: Some(launcher),
        patience: millis(HOOK_DEADLINE_MS),
        may_start: Arc::new(AtomicBool::new(true)),
    };
    if let Some(text) = printed_for(begin, search, stand_in, io::stdin()) {
        // An agent that does not read its hook's output needs no error either.
        let _ = io::stdout().write_all(text.as_bytes());
    }
    ExitCode::SUCCESS
}

/// Returns the text to print for the event on `stdin`; `None` if the daemon has no text, or not in
/// time.
fn printed_for(
    begin: Instant,
    mut search: Search,
    stand_in: Option<StandIn>,
    stdin: impl Read + Send + 'static,
) -> Option<String> {
    let until = begin + millis(HOOK_DEADLINE_MS);
    let event = match within(until, move || Some(read_event(stdin))) {
        Some(Ok(event)) => event,
        Some(Err(Damaged { why, text })) => return stand_in?.refused(why, &text),
        None => return stand_in?.refused("the call did not arrive in time", &[]),
    };
    if event.len() > HOOK_EVENT_BYTES_MAX {
        return stand_in?.checked(&event, None);
    }
    let is_end = is_end(&event);
    let stand_in = stand_in.filter(|_| !is_end).map(|stand_in| (stand_in, event.clone()));
    search.opening = event;
    let until = if is_end {
        // A daemon that is not running need not hear of the end, so none is started.
        search.launcher = None;
        search.patience = millis(HOOK_END_DEADLINE_MS);
        begin + millis(HOOK_END_DEADLINE_MS)
    } else {
        until
    };
    let heard = within(until, move || heard(&search, until));
    if let Some(Heard::Reply(HookReply { stdout, failed: false })) = heard {
        return stdout;
    }
    let (stand_in, event) = stand_in?;
    // A search that took all the time knows only that it did not find a daemon yet.
    let why = match &heard {
        Some(Heard::NoDaemon(why)) if Instant::now() < until => Some(why.clone()),
        _ => None,
    };
    let checked = stand_in.checked(&event, why.as_deref());
    match heard {
        _ if checked.is_some() => checked,
        Some(Heard::Reply(_)) => None,
        Some(Heard::NoDaemon(why)) if Instant::now() < until => {
            stand_in.worded(&["--no-daemon", &why], &event, until)
        }
        Some(Heard::NoDaemon(_)) | None => {
            let most = until + millis(HOOK_GUARD_MS) + millis(HOOK_REFUSAL_MS);
            let until = most.min(Instant::now() + millis(HOOK_REFUSAL_MS));
            stand_in.worded(&["--late"], &event, until)
        }
    }
}

/// The program that stands in for the daemon, so that this one knows no rules and no client's
/// format.
struct StandIn {
    program: PathBuf,
    client: String,
    /// Whether the daemon left rules that apply without it.
    has_rules: bool,
}

impl StandIn {
    /// Returns the stand-in, unless a person has removed anchord.
    fn of(launcher: &Launcher, client: Option<&str>) -> Option<Self> {
        let dir = InstanceDir::locate().ok()?;
        if dir.removed().exists() {
            return None;
        }
        let is_copy = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
        let has_rules = dir
            .guard()
            .read_dir()
            .is_ok_and(|entries| entries.flatten().any(|entry| is_copy(&entry.path())));
        Some(Self { program: launcher.program().to_owned(), client: client?.into(), has_rules })
    }

    /// Returns the text to print for an event that a rule stops; `None` if none does. Without a
    /// result in time, a tool is stopped where rules fail closed. `why` says why no daemon starts.
    fn checked(&self, event: &[u8], why: Option<&str>) -> Option<String> {
        if !self.has_rules {
            return None;
        }
        let until = Instant::now() + millis(HOOK_GUARD_MS);
        let mut arguments = vec!["rules", "guard"];
        arguments.extend(why.iter().flat_map(|why| ["--no-daemon", why]));
        arguments.push(&self.client);
        match self.printed(&arguments, event, until) {
            Ok(text) => text,
            Err(NoResult) => self.refused("the check gave no result in time", event),
        }
    }

    /// Returns the text that stops a tool that could not be checked, for the reason `why`; `None`
    /// if the event is no tool's, or no rule of its project fails closed.
    fn refused(&self, why: &str, event: &[u8]) -> Option<String> {
        if !self.has_rules {
            return None;
        }
        let head = event.get(..HOOK_HEAD_BYTES_MAX).unwrap_or(event);
        let until = Instant::now() + millis(HOOK_REFUSAL_MS);
        let arguments = ["rules", "guard", "--unchecked", why, &self.client];
        self.printed(&arguments, head, until).ok().flatten()
    }

    /// Returns the text that words at a start why there is no memory, which the options tell;
    /// `None` at other events, or if there is no time left.
    fn worded(&self, options: &[&str], event: &[u8], until: Instant) -> Option<String> {
        let mut arguments = vec!["hook"];
        arguments.extend(options);
        arguments.push(&self.client);
        self.printed(&arguments, event, until).ok().flatten()
    }

    /// Runs the program with an event as its input, and returns the text that it prints. Fails
    /// unless it prints something, or ends well, in time.
    fn printed(
        &self,
        arguments: &[&str],
        event: &[u8],
        until: Instant,
    ) -> Result<Option<String>, NoResult> {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|_| NoResult)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let event = event.to_vec();
        let printed = within(until, move || {
            // Its output counts, also if it does not read the whole event.
            let _ = stdin?.write_all(&event);
            let mut text = String::new();
            stdout?.take(LINE_BYTES_MAX as u64).read_to_string(&mut text).ok()?;
            Some(text)
        });
        let is_silent = printed.as_deref() == Some("");
        let has_passed = is_silent && ended_well(&mut child, until);
        // It has ended, or it is late.
        let _ = child.kill();
        let _ = child.wait();
        match printed {
            Some(text) if !text.is_empty() => Ok(Some(text)),
            _ if has_passed => Ok(None),
            _ => Err(NoResult),
        }
    }
}

/// The program ended with a failure, or not in time.
struct NoResult;

/// Returns whether a program that has closed its output ends without a failure in time.
fn ended_well(child: &mut Child, until: Instant) -> bool {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
            Ok(None) | Err(_) => return false,
        }
    }
}

/// The outcome of an event that was sent.
enum Heard {
    Reply(HookReply),
    /// There is no daemon, and none can start, for this reason.
    NoDaemon(String),
}

/// Runs `work` on a thread and returns its result; `None` if it has none by `until`. The thread may
/// block for ever and is then left behind.
fn within<T: Send + 'static>(
    until: Instant,
    work: impl FnOnce() -> Option<T> + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = channel();
    thread::Builder::new()
        .spawn(move || {
            // Fails if the deadline has passed and nobody receives.
            let _ = sender.send(work());
        })
        .ok()?;
    receiver.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?
}

/// Connects to the daemon, sends the event along with the hello, and reads the reply.
fn heard(search: &Search, until: Instant) -> Option<Heard> {
    let connection = match search.run() {
        Ok(connection) => connection,
        Err(why) => return Some(Heard::NoDaemon(why)),
    };
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    connection.stream.set_read_timeout(Some(left)).ok()?;
    let mut line = Vec::new();
    let mut replies = BufReader::new(connection.rest.chain(&connection.stream));
    if read_line_capped(&mut replies, &mut line, LINE_BYTES_MAX).ok()? != LineRead::Line {
        return None;
    }
    serde_json::from_slice(&line).ok().map(Heard::Reply)
}

/// Returns whether the event is a session's end, which has less time.
fn is_end(event: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Event {
        hook_event_name: String,
    }
    serde_json::from_slice(event)
        .is_ok_and(|event: Event| Client::ends_session(&event.hook_event_name))
}

/// An event that is not sent, and the reason.
#[derive(Debug, PartialEq, Eq)]
struct Damaged {
    why: &'static str,
    /// The text as far as it was read.
    text: Vec<u8>,
}

/// Reads the event as one line. Agents may write it over several lines. In JSON, line breaks occur
/// only between tokens, where a space means the same.
fn read_event(stdin: impl Read) -> Result<Vec<u8>, Damaged> {
    let mut event = Vec::new();
    let read = stdin.take(HOOK_INPUT_BYTES_MAX as u64 + 1).read_to_end(&mut event);
    let why = if read.is_err() {
        Some("the call could not be read to its end")
    } else if event.len() > HOOK_INPUT_BYTES_MAX {
        Some("the call is longer than 64 MiB")
    } else if serde_json::from_slice::<&RawValue>(&event).is_err() {
        Some("the call is not a single JSON document in UTF-8")
    } else {
        None
    };
    if let Some(why) = why {
        return Err(Damaged { why, text: event });
    }
    for byte in &mut event {
        if matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    event.push(b'\n');
    Ok(event)
}

/// Parses the hook's arguments and returns the client's name. Ignores all other arguments.
pub fn client_from(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let mut names = arguments.filter_map(|argument| argument.into_string().ok());
    names.find(|name| !name.starts_with('-'))
}

#[cfg(test)]
mod tests;
