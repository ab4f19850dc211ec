//! A socket's address is one that the crate understands. The tests are not passed a socket.

use super::*;

#[test]
fn a_launchd_socket_is_looked_up_by_its_name() {
    // The name is the one in launchd/dev.anchord.daemon.plist.
    let error = binding("Listeners").unwrap_err().to_string();
    assert!(error.contains("DescriptorsMissing"), "{error}");
}
