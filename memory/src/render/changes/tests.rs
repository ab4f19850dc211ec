//! What a load says after a hook has given it.

use super::*;
use crate::testing::{blueprint, blueprints, day, origin, save};

#[test]
fn what_is_in_the_context_already_is_not_given_again() {
    let mut memory = Memory::default();
    save(&mut memory, &origin("s1", 1), blueprints([blueprint("Sockets", "Not ports.")]));
    let at = memory.revision();
    let own = SessionId::new("s1");
    let text = already_loaded(&memory, at, at, &own, day(9));
    assert!(text.contains("at revision 1"), "{text}");
    assert!(text.ends_with("Nothing changed since revision 1.\n"), "{text}");

    save(&mut memory, &origin("s2", 2), blueprints([blueprint("Ports", "None.")]));
    let text = already_loaded(&memory, at, at, &own, day(9));
    assert!(text.contains("Changed by others since revision 1:\n"), "{text}");
    assert!(text.contains("Ports") && !text.contains("Sockets"), "{text}");
    let text = already_loaded(&memory, at, at, &SessionId::new("s2"), day(9));
    assert!(text.ends_with("Nothing changed since revision 1.\n"), "own changes: {text}");
    assert!(memory.last_written().is_some_and(|record| record.updated.time == day(2)));
}
