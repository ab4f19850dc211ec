//! Limits of the calls to providers.

use std::time::Duration;

/// Bytes of a provider's reply.
pub(crate) const REPLY_BYTES_MAX: u64 = 2 << 20;
/// Tokens that a model may write.
pub(crate) const ANSWER_TOKENS_MAX: u32 = 8_000;
/// Characters of a provider's error that a message repeats.
pub(crate) const ERROR_CHARS_MAX: usize = 200;
/// Bytes of an API key.
pub(crate) const KEY_BYTES_MAX: usize = 4 << 10;
/// The time that a `key_command` may take.
pub(crate) const KEY_COMMAND_TIME_MAX: Duration = Duration::from_secs(10);
/// The pause before the first repeated call. It doubles with each further one.
pub(crate) const PAUSE_MIN: Duration = Duration::from_millis(500);
/// The longest pause, also if a provider asks for more.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(30);
