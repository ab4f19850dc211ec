//! A disk in memory that torture mounts for the data and can fill.

use std::path::{Path, PathBuf};

use super::Lift;

/// A mounted file system. Dropping this unmounts it.
pub(crate) struct Disk(PathBuf);

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CString;

    use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};

    use super::{Disk, Lift, Path};

    /// The size of the disk: room for everything that torture writes. Only used space takes memory.
    const BYTES: u64 = 2 << 30;

    impl Disk {
        /// Mounts the disk. Fails with the reason why that is not possible.
        pub(in super::super) fn mount(at: &Path) -> Result<Self, String> {
            let mounted = mount("tmpfs", at, "tmpfs", MountFlags::empty(), &*size(BYTES));
            mounted.map(|()| Self(at.to_owned())).map_err(|error| {
                format!(
                    "no disk of its own can be mounted ({error}); \
                     root can, and `unshare --map-root-user --mount torture`"
                )
            })
        }

        /// Shrinks the disk until only `spare_bytes` are free. Dropping the result undoes it.
        pub(in super::super) fn fill(&self, spare_bytes: u64) -> Result<Lift, String> {
            let fill = rustix::fs::statvfs(&self.0).and_then(|disk| {
                let used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize;
                mount_remount(&self.0, MountFlags::empty(), &*size(used + spare_bytes))
            });
            fill.map_err(|error| format!("the disk cannot be made smaller: {error}"))?;
            let at = self.0.clone();
            Ok(Lift::by(move || {
                // If this fails, the daemon keeps refusing writes, which torture reports.
                let _ = mount_remount(&at, MountFlags::empty(), &*size(BYTES));
            }))
        }
    }

    impl Drop for Disk {
        fn drop(&mut self) {
            // A daemon that is about to end may still have files open there.
            let _ = unmount(&self.0, UnmountFlags::DETACH);
        }
    }

    fn size(bytes: u64) -> CString {
        CString::new(format!("size={bytes},mode=0700")).expect("a number has no zero byte")
    }
}

#[cfg(not(target_os = "linux"))]
impl Disk {
    /// Fails, because only Linux can mount it.
    pub(crate) fn mount(at: &Path) -> Result<Self, String> {
        Err(format!("no disk in memory can be mounted at {} but on Linux", at.display()))
    }

    /// Never called, since no disk was mounted.
    pub(crate) fn fill(&self, _spare_bytes: u64) -> Result<Lift, String> {
        Err(format!("{} is not a disk of its own", self.0.display()))
    }
}
