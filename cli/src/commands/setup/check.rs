//! The check after a set-up: the shim is started as each agent starts it, with no more of the environment
//! than that agent passes on, and has to give a whole round trip.

use std::io::Write;
use std::process::Command;

use owo_colors::OwoColorize;
use serde_json::json;

use crate::agent::Agent as Session;
use crate::agents::{Agent, Programs};
use crate::exit::Error;
use crate::show;

/// How the sessions of a check call themselves.
pub(crate) const CHECKS: &str = "anchord-setup";

/// Checks each agent and says how it went. Whether all work.
pub(super) fn all(
    agents: &[Agent],
    programs: &Programs,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    let mut working = true;
    for agent in agents {
        let name = agent.facts().name;
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

/// Starts what an agent has been told to start: initialize, list the tools, call one that changes nothing.
/// How many tools there are.
pub(crate) fn round_trip(agent: Agent, launch: &[String]) -> Result<usize, String> {
    let (program, arguments) = launch.split_first().ok_or("there is nothing to start")?;
    // Where set-up is run is often the home directory, which is no project. Nothing is written by looking.
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
