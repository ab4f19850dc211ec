//! That the address of a socket is one that the crate knows. Nothing is given to a test.

use super::*;

#[test]
fn a_named_socket_is_looked_for_under_its_name() {
    // As in launchd/dev.anchord.daemon.plist.
    let error = binding("Listeners").unwrap_err().to_string();
    assert!(error.contains("DescriptorsMissing"), "{error}");
}
