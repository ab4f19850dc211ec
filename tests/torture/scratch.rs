//! A scratch instance, with what torture alone does to its daemons.

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anchord::exit::Error;
use anchord::limits::SCRATCH_START_SECONDS_MAX;
use anchord::scratch::process;
use anchord_daemon::api::{self, ToolParams, ToolReply};
use anyhow::Context;
use rustix::process::{Signal, kill_process};
use serde_json::Value;

/// A scratch instance.
#[derive(Debug)]
pub(crate) struct Scratch(anchord::scratch::Scratch);

impl Deref for Scratch {
    type Target = anchord::scratch::Scratch;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Scratch {
    /// Creates the folder, and keeps it afterwards if `is_kept`.
    pub(crate) fn new(program: PathBuf, is_kept: bool) -> Result<Self, Error> {
        let mut scratch = anchord::scratch::Scratch::new("torture", program)?;
        if is_kept {
            scratch.keep();
        }
        Ok(Self(scratch))
    }

    /// Returns the directory of journals and indexes.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir().path().join("data")
    }

    /// Kills the next daemon as soon as it holds the lock, while it opens what the last one left.
    /// Returns whether one was started in time.
    pub(crate) fn kill_next_start(&self, before: u32) -> Result<bool, Error> {
        let next = || self.lock_holder().filter(|pid| *pid != before);
        match self.wait_until(|| next().is_some()).then(next).flatten() {
            Some(pid) => self.kill_daemon(pid).map(|()| true),
            None => Ok(false),
        }
    }

    /// Polls until something that a starting daemon does is done. Returns whether it was, in time.
    pub(crate) fn wait_until(&self, is_done: impl Fn() -> bool) -> bool {
        let deadline = Instant::now() + Duration::from_secs(SCRATCH_START_SECONDS_MAX);
        while !is_done() {
            if Instant::now() > deadline || self.interrupted() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Returns the daemon that holds the lock, or held it last. It may not answer yet.
    pub(crate) fn lock_holder(&self) -> Option<u32> {
        // Taking the lock itself would be in the way of the daemon that starts.
        let holder: Value = serde_json::from_slice(&fs::read(self.dir().lock()).ok()?).ok()?;
        u32::try_from(holder.get("pid")?.as_u64()?).ok()
    }

    /// Calls a tool in the project, without an agent.
    pub(crate) fn tool(&self, tool: &str, arguments: Value) -> Result<ToolReply, Error> {
        let Value::Object(arguments) = arguments else {
            return Err(Error::failed(format!("{tool} wants an object")));
        };
        let (project, tool) = (self.project(), tool.to_owned());
        let params = ToolParams { project, tool, arguments, typed: Vec::new(), at: None };
        self.client()?.post(api::TOOL, &params)
    }
}

/// Suspends a process with SIGSTOP, and continues it after `time`.
pub(crate) fn stop_for(pid: u32, time: Duration) -> Result<(), Error> {
    stop(pid)?;
    std::thread::sleep(time);
    kill_process(process(pid)?, Signal::CONT).context("cannot continue the daemon")?;
    Ok(())
}

/// Stops a process by SIGSTOP.
pub(crate) fn stop(pid: u32) -> Result<(), Error> {
    Ok(kill_process(process(pid)?, Signal::STOP).context("cannot stop the daemon")?)
}
