//! A small disk of torture's own, in memory, which can be made full.

use std::path::{Path, PathBuf};

use super::Lift;

/// A file system that is unmounted when this is dropped.
pub(super) struct Disk(PathBuf);

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CString;

    use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};

    use super::{Disk, Lift, Path};

    /// Room for all that torture writes. Only what is used takes memory.
    const BYTES: u64 = 2 << 30;

    impl Disk {
        /// Mounts it, or says why that cannot be done.
        pub(in super::super) fn mount(at: &Path) -> Result<Self, String> {
            let mounted = mount("tmpfs", at, "tmpfs", MountFlags::empty(), &*size(BYTES));
            mounted.map(|()| Self(at.to_owned())).map_err(|error| {
                format!(
                    "no disk of its own can be mounted ({error}); \
                     root can, and `unshare --map-root-user --mount anchord torture`"
                )
            })
        }

        /// Leaves so many bytes free, until the fault is lifted.
        pub(in super::super) fn fill(&self, spare_bytes: u64) -> Result<Lift, String> {
            let fill = rustix::fs::statvfs(&self.0).and_then(|disk| {
                let used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize;
                mount_remount(&self.0, MountFlags::empty(), &*size(used + spare_bytes))
            });
            fill.map_err(|error| format!("the disk cannot be made smaller: {error}"))?;
            let at = self.0.clone();
            Ok(Lift::by(move || {
                // If it fails, no write is taken again, which is reported.
                let _ = mount_remount(&at, MountFlags::empty(), &*size(BYTES));
            }))
        }
    }

    impl Drop for Disk {
        fn drop(&mut self) {
            // A daemon that is about to end may still hold it.
            let _ = unmount(&self.0, UnmountFlags::DETACH);
        }
    }

    fn size(bytes: u64) -> CString {
        CString::new(format!("size={bytes},mode=0700")).expect("a number has no zero byte")
    }
}

#[cfg(not(target_os = "linux"))]
impl Disk {
    /// Says why it cannot be mounted.
    pub(super) fn mount(at: &Path) -> Result<Self, String> {
        Err(format!("no disk in memory can be mounted at {} but on Linux", at.display()))
    }

    /// Never called, since nothing was mounted.
    pub(super) fn fill(&self, _spare_bytes: u64) -> Result<Lift, String> {
        Err(format!("{} is not a disk of its own", self.0.display()))
    }
}
