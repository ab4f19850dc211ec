//! anchord's daemon: one memory per project, any number of sessions.

pub mod clock;
pub mod config;
pub mod http;
pub mod instance;
pub mod limits;
pub mod logs;
pub mod projects;
pub mod store;
