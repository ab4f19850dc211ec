//! What ends a shim besides its stdin: SIGINT, SIGTERM, and the end of its parent.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use anchord_proto::host;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Returns a descriptor that becomes readable with the first SIGINT or SIGTERM.
pub(crate) fn end_signals() -> io::Result<UnixStream> {
    let (receiver, sender) = UnixStream::pair()?;
    pipe::register(SIGINT, sender.try_clone()?)?;
    pipe::register(SIGTERM, sender)?;
    Ok(receiver)
}

/// The parent process, watched.
#[derive(Debug)]
pub(crate) enum Parent {
    /// The kernel tells: readable once the parent has ended.
    #[cfg(target_os = "linux")]
    Descriptor(rustix::fd::OwnedFd),
    /// It has to be asked: another parent means that ours has ended.
    Asked(Option<u32>),
}

impl Parent {
    /// Watches the process that started this one.
    ///
    /// Not by a signal at the parent's death: the kernel sends that at the end of the *thread* that
    /// started us, and agents start servers from threads that come and go.
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
            // Taken in this order, a parent that ended in between is seen.
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

    /// Whether the parent is gone, where that must be asked.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(_) => false,
            Self::Asked(parent) => host::parent_pid() != *parent,
        }
    }
}
