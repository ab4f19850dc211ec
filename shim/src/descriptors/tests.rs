//! Marked descriptors are not inherited.

use std::fs::File;
use std::os::fd::AsRawFd;

use anchord_proto::launch::Report;

use super::*;
use crate::testing::{Instance, program, reported};

#[test]
fn a_marked_descriptor_is_not_inherited() {
    let file = File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&file, FdFlags::empty()).unwrap();
    mark(file.as_raw_fd());
    assert_eq!(rustix::io::fcntl_getfd(&file).unwrap(), FdFlags::CLOEXEC);
}

#[test]
fn a_daemon_does_not_inherit_its_starters_descriptors() {
    let instance = Instance::new();
    let file = File::open("/dev/null").unwrap();
    // A number that no shell uses itself.
    let given = rustix::io::fcntl_dupfd_cloexec(&file, 700).unwrap();
    rustix::io::fcntl_setfd(&given, FdFlags::empty()).unwrap();
    keep_from_children();
    let number = given.as_raw_fd();
    let script =
        format!("if [ -e /dev/fd/{number} ]; then echo failed: given; else echo ready; fi");
    assert_eq!(reported(&program(&instance, &script), &instance), Report::Ready);
}
