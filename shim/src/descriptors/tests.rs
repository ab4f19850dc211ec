//! A descriptor that would be inherited no longer is.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::*;

#[test]
fn a_marked_descriptor_is_not_inherited() {
    let file = File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&file, FdFlags::empty()).unwrap();
    mark(file.as_raw_fd());
    assert_eq!(rustix::io::fcntl_getfd(&file).unwrap(), FdFlags::CLOEXEC);
}
