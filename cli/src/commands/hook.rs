//! `anchord hook`: passes one lifecycle event to the daemon and prints its reply.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::ExitCode;

use anchord_agents::events::{Adapter, ParsedEvent};
use anchord_memory::lifecycle::{Answer, Event};
use anchord_memory::render::hooks::{not_shown, unreadable};
use anchord_proto::limits::HOOK_EVENT_BYTES_MAX;
use anchord_shim::hook::{self, HookOptions};

/// Pass one lifecycle event from stdin to the daemon; agents' hooks run this
///
/// Always exits with 0, also after a wrong argument: agents take some codes as an order to stop.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord hook claude-code < event.json")]
pub(crate) struct Args {
    /// Word a start without the daemon, which cannot start for this reason
    #[arg(long, value_name = "WHY", hide = true)]
    no_daemon: Option<String>,
    /// Word a start that the daemon did not answer in time
    #[arg(long, hide = true, conflicts_with = "no_daemon")]
    late: bool,
    /// The agent that reports the event
    #[arg(value_name = "CLIENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> ExitCode {
        let client = hook::client_from(self.arguments.into_iter());
        let context = match self.no_daemon {
            Some(why) => unreadable(&format!("anchord's daemon cannot be reached: {why}")),
            None if self.late => not_shown(),
            None => {
                let program = std::env::current_exe().ok();
                return hook::run(HookOptions { program, client, ..HookOptions::default() });
            }
        };
        let text = client.and_then(|client| worded(&client, context, std::io::stdin()));
        // An agent that does not read its hook's output needs no error either.
        let _ = out.write_all(text.unwrap_or_default().as_bytes());
        ExitCode::SUCCESS
    }
}

/// Words for a client why its conversation starts without memory; `None` at any other event.
fn worded(client: &str, context: String, stdin: impl Read) -> Option<String> {
    let mut line = Vec::new();
    stdin.take(HOOK_EVENT_BYTES_MAX as u64).read_to_end(&mut line).ok()?;
    let adapter = Adapter::of(client)?;
    let Ok((ParsedEvent::Event(envelope), _)) = adapter.read(&line) else { return None };
    let is_start = matches!(envelope.event, Event::SessionStarted { .. });
    is_start.then(|| adapter.write(&envelope, &Answer::Context(context)))
}
