//! Only an explicit yes counts as consent.

use super::*;

#[test]
fn only_yes_is_yes() {
    assert!(agrees("y\n"));
    assert!(agrees(" YES \n"));
    for answer in ["", "\n", "n\n", "yeah\n", "yes please\n"] {
        assert!(!agrees(answer), "{answer:?}");
    }
}

#[test]
fn a_confirmation_given_beforehand_needs_no_terminal() {
    assert!(confirmed("really?", true).unwrap());
}
