//! The check that a store is not on a network file system, where locks do not guarantee a single
//! writer.

use std::path::Path;

use super::StoreError;

/// Fails if the directory is on a network file system. The directory need not exist yet.
///
/// On macOS nothing is checked yet.
pub fn refuse_network_fs(dir: &Path) -> Result<(), StoreError> {
    match network_fs(dir) {
        Some(kind) => Err(StoreError::NetworkDisk { path: dir.to_owned(), kind }),
        None => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn network_fs(dir: &Path) -> Option<String> {
    let there = dir.ancestors().find(|ancestor| ancestor.exists())?;
    let there = there.canonicalize().ok()?;
    let magic = rustix::fs::statfs(&there).ok()?.f_type;
    if let Some(kind) = kind_of(magic) {
        return Some(kind.to_owned());
    }
    // FUSE has one number for local and remote file systems; the mount's type distinguishes them.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    remote_fuse(&mounts, &there)
}

#[cfg(not(target_os = "linux"))]
fn network_fs(_dir: &Path) -> Option<String> {
    None
}

/// Returns the name of a network file system from its number in the kernel's `magic.h`.
#[cfg(target_os = "linux")]
fn kind_of(magic: i64) -> Option<&'static str> {
    // The type is signed on some architectures; the numbers are 32 bits wide.
    match magic & 0xFFFF_FFFF {
        0x6969 => Some("NFS"),
        0x517B => Some("SMB"),
        0xFF53_4D42 => Some("CIFS"),
        0xFE53_4D42 => Some("SMB2"),
        0x0102_1997 => Some("9P"),
        0x00C3_6400 => Some("Ceph"),
        0x5346_414F => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x0BD0_0BD0 => Some("Lustre"),
        0x4750_4653 => Some("GPFS"),
        _ => None,
    }
}

/// Returns the type of the FUSE mount that holds a path, if that type is known to be remote.
#[cfg(target_os = "linux")]
fn remote_fuse(mountinfo: &str, path: &Path) -> Option<String> {
    const REMOTE: [&str; 9] = [
        "fuse.sshfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.glusterfs",
        "fuse.ceph-fuse",
        "fuse.davfs",
        "fuse.gvfsd-fuse",
        "fuse.gcsfuse",
        "fuse.curlftpfs",
    ];
    let mut best: Option<(usize, &str)> = None;
    for line in mountinfo.lines() {
        // 36 35 98:0 /root /mount/point options [fields] - type source options
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let Some(point) = left.split(' ').nth(4) else { continue };
        let point = point.replace("\\040", " ");
        let Some(kind) = right.split(' ').next() else { continue };
        if path.starts_with(&point) && best.is_none_or(|(length, _)| point.len() >= length) {
            best = Some((point.len(), kind));
        }
    }
    best.map(|(_, kind)| kind).filter(|kind| REMOTE.contains(kind)).map(str::to_owned)
}

#[cfg(test)]
mod tests;
