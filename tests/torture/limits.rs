//! The limits of torture, with their units last in the name.

/// Sessions. Each has a thread and a process.
pub(crate) const SESSIONS_MAX: u32 = 512;

/// Time for which torture suspends a daemon: longer than a shim needs to notice that it hangs.
pub(crate) const STOP_MILLISECONDS: u64 = 2_500;

/// Time that a fault of torture leaves the daemon without room or descriptors.
pub(crate) const FAULT_MILLISECONDS: u64 = 1_000;

/// Time after which torture sends a refused write again.
pub(crate) const REFUSED_MILLISECONDS: u64 = 50;

/// Time within which every session of torture can write again after a fault. An agent would not be
/// told why it takes longer.
pub(crate) const RECOVERY_SECONDS_MAX: u64 = 20;

/// Time that each fault adds to the time after which torture stops by itself.
pub(crate) const FAULT_SECONDS_MAX: u64 = 30;

/// Bytes of a long note of torture. Many of them fill a segment.
pub(crate) const FILLER_BYTES: usize = 512 << 10;

/// Time after which torture stops by itself, apart from an allowance for each write.
pub(crate) const SECONDS_MIN: u64 = 120;

/// The allowance for each write.
pub(crate) const WRITE_MILLISECONDS_MAX: u64 = 20;
