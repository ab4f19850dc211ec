//! Decides whether a session is over. Nothing else does.
//!
//! Three things count: whether its connection is closed and for how long, whether this daemon saw
//! it close, and whether its process exists. A process in another container cannot be judged.
//!
//! The answers differ on purpose. Staged work of an ended session is shown at once. It is folded
//! only when the session is gone: until then it may come back.

use std::time::Duration;

use anchord_proto::hello::Hello;

use super::processes::{is_dead, is_foreign_process};
use crate::limits;
use crate::projects::SessionRecord;

/// The facts by which a session is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Liveness<'a> {
    pub(super) hello: &'a Hello,
    /// The time since its connection closed; `None` while it is connected.
    pub(super) away: Option<Duration>,
    /// Whether this daemon saw its connection close.
    pub(super) saw_it_close: bool,
    /// Whether it was restored from an earlier daemon. Its time away then began with this daemon.
    pub(super) is_restored: bool,
}

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// The session ended this long ago. `None` if its end was not seen.
    Over(Option<Duration>),
    /// The session's socket has just closed, and its process still exists.
    Exiting,
    /// The session is alive, or may be.
    Live,
}

/// The state of a session's process, as far as this daemon can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// It certainly does not exist.
    Dead,
    /// It may exist.
    MayExist,
    /// It is in another container.
    Invisible,
}

impl Liveness<'_> {
    /// Returns whether the session will not come back, so that its work may be folded. It has been
    /// away for `grace`, and its process is dead. If that cannot be judged, it has been away for
    /// [`limits::FOREIGN_GRACE`].
    pub(super) fn is_gone(self, grace: Duration) -> bool {
        let Some(away) = self.away.filter(|away| *away >= grace) else { return false };
        match self.process() {
            Process::Dead => true,
            Process::MayExist => false,
            Process::Invisible => away >= limits::FOREIGN_GRACE,
        }
    }

    /// Returns whether the session has ended, so that its work may be shown to others. A session
    /// whose process cannot be judged has ended if this daemon saw its connection close.
    pub(super) fn end(self) -> SessionEnd {
        let Some(away) = self.away else { return SessionEnd::Live };
        let is_over = match self.process() {
            Process::Dead => true,
            Process::MayExist => false,
            Process::Invisible => self.saw_it_close,
        };
        match is_over {
            true if self.is_restored => SessionEnd::Over(None),
            true => SessionEnd::Over(Some(away)),
            false if self.saw_it_close && away < limits::CLOSED_LATELY => SessionEnd::Exiting,
            false => SessionEnd::Live,
        }
    }

    /// Returns whether the session is shown among those that are alive. It is connected, or its
    /// process may exist.
    pub(super) fn is_live(self) -> bool {
        self.away.is_none() || self.process() == Process::MayExist
    }

    fn process(self) -> Process {
        let Hello { pid, pid_start, boot, pidns, .. } = self.hello;
        Process::of(*pidns, *pid, *pid_start, boot.as_deref())
    }
}

/// Returns whether the process of a session that the registry knows is certainly gone. A pid of
/// another container proves nothing here: that session has a day to come back.
pub(super) fn has_died(record: &SessionRecord) -> bool {
    let SessionRecord { pidns, pid, pid_start, boot, .. } = record;
    Process::of(*pidns, *pid, *pid_start, boot.as_deref()) == Process::Dead
}

impl Process {
    fn of(pidns: Option<u64>, pid: u32, start: Option<u64>, boot: Option<&str>) -> Self {
        if is_foreign_process(pidns) {
            Self::Invisible
        } else if is_dead(pid, start, boot) {
            Self::Dead
        } else {
            Self::MayExist
        }
    }
}

#[cfg(test)]
mod tests;
