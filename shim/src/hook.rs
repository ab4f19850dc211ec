//! `anchord-hook`: hands one lifecycle event to the daemon and prints its reply.
//!
//! Whatever goes wrong, the agent goes on: nothing is printed and the exit code is 0, also where the
//! command line is wrong (agents take some codes as an order to stop), all within one deadline.

use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use anchord_proto::PROTOCOL;
use anchord_proto::hello::Role;
use anchord_proto::instance::InstanceDir;
use anchord_proto::limits::{HOOK_DEADLINE_MS, HOOK_EVENT_BYTES_MAX, LINE_BYTES_MAX, millis};
use anchord_proto::line::{LineRead, read_line_capped};
use serde_json::value::RawValue;

use crate::descriptors;
use crate::identity;
use crate::link::Search;
use crate::start::Launcher;

/// What the command line says.
#[derive(Clone, Debug)]
pub struct HookOptions {
    /// The `anchord` to start a daemon with; none: the one beside this program, else on PATH.
    pub program: Option<PathBuf>,
    /// The agent whose event it is, as the registration of the hook names it.
    pub client: Option<String>,
    /// The protocol version to speak: [`PROTOCOL`], another one in tests alone.
    pub protocol: u32,
}

impl Default for HookOptions {
    fn default() -> Self {
        Self { program: None, client: None, protocol: PROTOCOL }
    }
}

/// Handles the event on this process's stdin. To be called first in `main`: it assumes that no other
/// thread runs.
pub fn run(options: HookOptions) -> ExitCode {
    descriptors::keep_from_children();
    let until = Instant::now() + millis(HOOK_DEADLINE_MS);
    let mut hello = identity::hello(Role::Hook, None);
    hello.anchord = options.protocol;
    hello.client = options.client;
    let search = Search {
        dir: InstanceDir::locate().map_err(|error| error.to_string()),
        hello,
        launcher: Some(options.program.map_or_else(Launcher::beside_this_program, Launcher::new)),
        patience: millis(HOOK_DEADLINE_MS),
        may_start: Arc::new(AtomicBool::new(true)),
    };
    if let Some(reply) = reply_within(until, search, io::stdin()) {
        // An agent that does not read its hook's output has no use for an error.
        let _ = io::stdout().write_all(&reply);
    }
    ExitCode::SUCCESS
}

/// The daemon's reply to the event on `stdin`, as it is printed; none where it has nothing to say,
/// or not by `until`.
fn reply_within(
    until: Instant,
    search: Search,
    stdin: impl Read + Send + 'static,
) -> Option<Vec<u8>> {
    let (sender, receiver) = channel();
    // Reading stdin and connecting may block for ever; a thread that does is left behind.
    thread::Builder::new()
        .spawn(move || {
            // Fails when the deadline has passed, and then nobody asks.
            let _ = sender.send(reply(&search, stdin, until));
        })
        .ok()?;
    receiver.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?
}

fn reply(search: &Search, stdin: impl Read, until: Instant) -> Option<Vec<u8>> {
    let event = read_event(stdin)?;
    let connection = search.run().ok()?;
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    connection.stream.set_read_timeout(Some(left)).ok()?;
    connection.stream.set_write_timeout(Some(left)).ok()?;
    (&connection.stream).write_all(&event).ok()?;
    let mut line = Vec::new();
    let mut replies = BufReader::new(connection.rest.chain(&connection.stream));
    if read_line_capped(&mut replies, &mut line, LINE_BYTES_MAX).ok()? != LineRead::Line {
        return None;
    }
    let says: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&line).ok()?;
    line.push(b'\n');
    (!says.is_empty()).then_some(line)
}

/// The event as one line. Agents may write it over several: line breaks in JSON stand only between
/// its parts, where a space means the same.
fn read_event(stdin: impl Read) -> Option<Vec<u8>> {
    let mut event = Vec::new();
    stdin.take(HOOK_EVENT_BYTES_MAX as u64 + 1).read_to_end(&mut event).ok()?;
    if event.len() > HOOK_EVENT_BYTES_MAX {
        return None;
    }
    serde_json::from_slice::<&RawValue>(&event).ok()?;
    for byte in &mut event {
        if matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    event.push(b'\n');
    Some(event)
}

/// Reads the arguments of the hook: the client's name. More or other ones are ignored.
pub fn client_from(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let mut names = arguments.filter_map(|argument| argument.into_string().ok());
    names.find(|name| !name.starts_with('-'))
}

#[cfg(test)]
mod tests;
