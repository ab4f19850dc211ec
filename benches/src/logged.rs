//! Durations that the daemon measured, from its log, which has a line for each call. They exclude
//! the shim, the client, and the time that the three processes wait for each other on few
//! processors.

use std::path::Path;
use std::time::Duration;

use anchord_tests::{Instance, walk};

use crate::times::Times;

/// The calls of a daemon that has ended, in the order of their answers.
pub(crate) struct Logged(Vec<Call>);

struct Call {
    tool: String,
    session: String,
    took: Duration,
    /// The part of it spent in the journal.
    append: Duration,
}

impl Logged {
    pub(crate) fn of(instance: &Instance) -> Self {
        let mut calls = Vec::new();
        walk(&instance.home(), &mut |path: &Path| {
            if path.extension().is_some_and(|extension| extension == "log") {
                let text = std::fs::read_to_string(path).expect("a log can be read");
                calls.extend(text.lines().filter_map(Call::read));
            }
        });
        Self(calls)
    }

    /// Returns the durations of the last `count` calls of a tool by one session, and the parts
    /// spent in the journal. `session` counts the sessions that called the tool, in the order of
    /// their first calls.
    pub(crate) fn last(&self, tool: &str, session: usize, count: usize) -> (Times, Times) {
        let calls = || self.0.iter().filter(|call| call.tool == tool);
        let mut sessions: Vec<&str> = Vec::new();
        for call in calls() {
            if !sessions.contains(&call.session.as_str()) {
                sessions.push(&call.session);
            }
        }
        let session = sessions.get(session).expect("as many sessions called it");
        let of: Vec<&Call> = calls().filter(|call| call.session == *session).collect();
        let of = of.get(of.len().saturating_sub(count)..).unwrap_or_default();
        let times = |time: fn(&Call) -> Duration| {
            let mut times = of.iter().map(|call| time(call));
            Times::measured(of.len(), |_| times.next().unwrap_or_default())
        };
        (times(|call| call.took), times(|call| call.append))
    }
}

impl Call {
    /// Parses a line such as
    /// `… request{id="…" tool="…" session=…}: …: answered ok=true micros=812 append_micros=402`.
    fn read(line: &str) -> Option<Self> {
        line.contains(": answered ").then_some(())?;
        let field = |name: &str| {
            let (_, rest) = line.split_once(&format!(" {name}="))?;
            rest.split([' ', '}']).next().map(|value| value.trim_matches('"'))
        };
        let micros = |name: &str| field(name)?.parse().ok().map(Duration::from_micros);
        Some(Self {
            tool: field("tool")?.to_owned(),
            session: field("session")?.to_owned(),
            took: micros("micros")?,
            append: micros("append_micros").unwrap_or_default(),
        })
    }
}
