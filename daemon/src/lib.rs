//! anchord's daemon: one memory per project, any number of sessions.

pub mod http;
pub mod store;
