//! The events besides the end of stdin that end a shim: SIGINT, SIGTERM, and the end of its parent.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use anchord_proto::host;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Returns a descriptor that becomes readable at the first SIGINT or SIGTERM.
pub(crate) fn end_signals() -> io::Result<UnixStream> {
    let (receiver, sender) = UnixStream::pair()?;
    pipe::register(SIGINT, sender.try_clone()?)?;
    pipe::register(SIGTERM, sender)?;
    Ok(receiver)
}

/// A watch on the parent process.
#[derive(Debug)]
pub(crate) enum Parent {
    /// A descriptor that the kernel makes readable once the parent has ended.
    #[cfg(target_os = "linux")]
    Descriptor(rustix::fd::OwnedFd),
    /// The parent's process id, to compare: another parent means that ours has ended.
    Asked(Option<u32>),
}

impl Parent {
    /// Watches the process that started this one.
    ///
    /// It does not use a signal at the parent's death. The kernel sends that at the end of the
    /// *thread* that started us, and agents start servers from threads that come and go.
    pub(crate) fn watch() -> Self {
        let parent = host::parent_pid();
        #[cfg(target_os = "linux")]
        {
            let descriptor = parent
                .and_then(|pid| i32::try_from(pid).ok())
                .and_then(rustix::process::Pid::from_raw)
                .and_then(|pid| {
                    let flags = rustix::process::PidfdFlags::empty();
                    rustix::process::pidfd_open(pid, flags).ok()
                });
            // In this order, a parent that ends in between is noticed.
            if let Some(descriptor) = descriptor
                && host::parent_pid() == parent
            {
                return Self::Descriptor(descriptor);
            }
        }
        Self::Asked(parent)
    }

    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => Some(descriptor.as_fd()),
            Self::Asked(_) => None,
        }
    }

    /// Returns whether the parent is gone, where no descriptor shows it.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(_) => false,
            Self::Asked(parent) => host::parent_pid() != *parent,
        }
    }
}
