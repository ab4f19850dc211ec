//! Keeps inherited descriptors out of the daemons that this process starts. A daemon lives for days
//! and would hold an agent's pipes and files open.

use std::fs;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::FdFlags;

/// Marks every descriptor beyond stdin, stdout and stderr as close-on-exec. Descriptors that this
/// process opens itself are marked when they are opened.
///
/// Call this first in the `main` of a program that may start a daemon, while no other thread runs.
pub fn keep_from_children() {
    let Ok(open) = fs::read_dir("/dev/fd") else {
        return;
    };
    for entry in open.flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        if let Some(number) = number.filter(|number| *number > 2) {
            mark(number);
        }
    }
}

#[expect(unsafe_code, reason = "no safe call takes a descriptor that this process did not open")]
fn mark(number: RawFd) {
    // SAFETY: `number` was just listed as open. The listing itself stays open until the loop over
    // it ends, and no other thread runs that could close either. The borrow ends in this function.
    // The changed flag is one that no owner of a descriptor relies on.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    // After a failure, one descriptor is inherited, which is no reason not to serve.
    let _ = rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC);
}

#[cfg(test)]
mod tests;
