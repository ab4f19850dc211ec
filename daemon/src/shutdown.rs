//! The switch that stops the daemon.

use tokio_util::sync::CancellationToken;

/// A handle on the switch. All clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shutdown {
    stopping: CancellationToken,
}

impl Shutdown {
    /// Starts draining: accepts no new connections, answers pending requests, then ends the
    /// process.
    pub(crate) fn start(&self, why: &str) {
        if !self.stopping.is_cancelled() {
            tracing::info!(why, "stopping");
            self.stopping.cancel();
        }
    }

    /// Returns whether the daemon is draining.
    pub(crate) fn is_started(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Returns a token that is cancelled when the daemon starts draining.
    pub(crate) fn token(&self) -> CancellationToken {
        self.stopping.clone()
    }
}
