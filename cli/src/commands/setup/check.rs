//! The check after a set-up. It starts the shim as each agent does, with the part of the
//! environment that the agent passes on, and makes a whole round trip.

use std::io::Write;
use std::process::Command;

use anchord_agents::setup::{Agent, Programs};
use owo_colors::OwoColorize;
use serde_json::json;

use crate::agent::Agent as Session;
use crate::exit::Error;
use crate::show;

/// The client name of a check's sessions.
pub(crate) const CHECKS: &str = "anchord-setup";

/// Checks each agent and prints the result. Returns whether all work.
pub(super) fn all(
    agents: &[Agent],
    programs: &Programs,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    let mut working = true;
    for agent in agents {
        let name = agent.name();
        match round_trip(*agent, &programs.server()) {
            Ok(tools) => {
                let tools = show::count(tools as u64, "tool");
                writeln!(out, "{} {name}: the server answers, {tools}", "✓".green())?;
            }
            Err(why) => {
                working = false;
                writeln!(out, "{} {name}: {}", "✗".red(), show::plain(&why))?;
                writeln!(out, "  `anchord doctor` looks further.")?;
            }
        }
    }
    Ok(working)
}

/// Starts an agent's server as configured: initializes, lists the tools, calls one that changes
/// nothing. Returns the number of tools.
pub(crate) fn round_trip(agent: Agent, launch: &[String]) -> Result<usize, String> {
    let (program, arguments) = launch.split_first().ok_or("there is nothing to start")?;
    // Set-up often runs in the home directory, which is not a project. The check writes nothing.
    let folder = tempfile::tempdir().map_err(|reason| format!("no scratch folder: {reason}"))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(agent.environment()).current_dir(folder.path());
    let mut session = Session::start(command, CHECKS)
        .map_err(|reason| format!("{program} did not start: {reason}"))?;
    let tools = session.tools().map_err(|why| format!("no list of tools: {why}"))?;
    if !tools.iter().any(|tool| tool == "memory_status") {
        return Err("the server offers no memory".to_owned());
    }
    session
        .call("memory_status", &json!({}))
        .map_err(|why| format!("memory_status failed: {why}"))?;
    Ok(tools.len())
}
