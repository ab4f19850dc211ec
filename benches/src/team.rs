//! A memory that a team shares: saves a second, the time until others see one, and its size. Also
//! the time to open it, and the times of reads.
//!
//! Server, daemons and agents share this machine's processors and its disk. The server has its
//! default settings, so each COMMIT waits for the disk.

mod bare;
mod open;
mod projects;
mod seen;
mod writes;

use std::process::Stdio;

use anchord_team::testing::Server;
use anchord_tests::{Instance, Project};
use anyhow::{Context, Result, bail};

use crate::table::{self, Row};

/// The measurements, by name.
type Part = (&'static str, fn(&Server, u64) -> Vec<Row>);

const PARTS: [Part; 4] = [
    ("writes", writes::run),
    ("seen", seen::run),
    ("projects", projects::run),
    ("open", open::run),
];

/// Runs the measurements and prints a row for each number.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut records, mut only) = (100_000, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--records" => records = value.parse()?,
            "--only" if PARTS.iter().any(|(name, _)| name == value) => only = Some(value),
            _ => bail!("unknown argument {word} {value}; --records N, --only PART"),
        }
    }
    if cfg!(debug_assertions) {
        println!("Not a release build: the numbers say little.\n");
    }
    println!("{}", table::head());
    for (name, part) in PARTS {
        if only.is_none_or(|only| only == name) {
            let server = Server::start_with(&[]).context("PostgreSQL is not installed")?;
            server
                .psql("CREATE ROLE ada LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO ada");
            server.psql("GRANT CREATE ON SCHEMA public TO ada");
            for row in part(&server, records) {
                println!("{row}");
            }
        }
    }
    Ok(())
}

/// One machine of a team: an instance with a running daemon, and a clone of the project.
struct Machine {
    instance: Instance,
    project: Project,
}

impl Machine {
    fn start() -> Self {
        let machine = Self { instance: Instance::shipped(), project: Project::git() };
        machine.instance.configure("[memory]\nbudget_tokens = 100000000\n");
        machine.instance.start_daemon();
        machine
    }

    /// Starts machines that share a project of this name.
    fn team(server: &Server, name: &str, count: usize) -> Vec<Self> {
        let machines: Vec<Self> = (0..count).map(|_| Self::start()).collect();
        for (at, machine) in machines.iter().enumerate() {
            let verb = if at == 0 { "create" } else { "join" };
            machine.shell(&["team", verb, &server.url("ada"), "--name", name]);
        }
        machines
    }

    /// Runs a command that must succeed.
    fn shell(&self, arguments: &[&str]) {
        let mut command = self.instance.anchord();
        command.current_dir(self.project.path()).args(arguments);
        let output = command.stdin(Stdio::null()).output().expect("the program runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Formats a rate.
fn per_second(count: f64) -> String {
    format!("{count:.0}/s")
}
