//! Returns free memory to the system once the daemon is idle.
//!
//! glibc's heap keeps what was freed between two blocks that are in use, and asks the system for
//! more instead. After work, that is a third of the daemon's memory. `malloc_trim` returns it, and
//! there is no safe way to it ([decision 28](../../docs/decisions/0028-one-unsafe-call.md)).

use crate::limits::HEAP_QUIET_TICKS;

/// Decides when to return memory: once after each stretch of work.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    work: u64,
    quiet: u32,
}

impl Heap {
    /// Returns whether it is time to return memory. `work` is a number that grows with work; each
    /// call is one tick.
    pub(crate) fn is_due(&mut self, work: u64) -> bool {
        if work != self.work {
            *self = Self { work, quiet: 0 };
            return false;
        }
        self.quiet = self.quiet.saturating_add(1);
        self.quiet == HEAP_QUIET_TICKS
    }
}

/// Returns what the heap has free to the system. Takes milliseconds. Does nothing with another
/// allocator than glibc's.
pub(crate) fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "the only way to glibc's heap, see decision 28")]
        // SAFETY: `malloc_trim` takes no pointer, and may be called by any thread at any time.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

#[cfg(test)]
mod tests;
