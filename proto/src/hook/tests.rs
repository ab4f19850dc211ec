//! The frozen bytes of a hook's reply.

use super::*;

/// Changing these bytes breaks every released hook. Add a field; never change one.
#[test]
fn the_bytes_of_a_reply_are_frozen() {
    let says = HookReply { stdout: Some("two\n\"lines\"".to_owned()), failed: false };
    for (reply, frozen) in [(HookReply::default(), "{}"), (says, r#"{"stdout":"two\n\"lines\""}"#)]
    {
        assert_eq!(serde_json::to_string(&reply).unwrap(), frozen);
        assert_eq!(serde_json::from_str::<HookReply>(frozen).unwrap(), reply);
    }
    let later = r#"{"stdout":null,"stderr":"x"}"#;
    assert_eq!(serde_json::from_str::<HookReply>(later).unwrap(), HookReply::default());
}
