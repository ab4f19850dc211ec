//! Projects: where one is, what its id is, which are known, and reading its files.
//!
//! [`locate()`] finds the project of a directory, [`identify`] tells which one it is without touching it,
//! [`establish`] gives it its id at the first write, [`Registry`] remembers, [`ProjectFiles`] reads.
//! git is never run: its layout is read as files, and nothing in it is believed that would make the
//! daemon write elsewhere.

mod files;
mod git_index;
mod identity;
#[cfg(test)]
mod layouts;
mod locate;
mod nested;
mod registry;
pub mod workspace;

pub use files::{Changed, Excerpt, FileRefusal, Presence, ProjectFiles};
pub use identity::{
    EstablishError, Established, Resolution, Status, Stored, establish, identify, link,
};
pub use locate::{
    ForeignMark, GitPlace, Located, NotAProject, PassedOver, Surroundings, locate, locate_exactly,
};
pub use nested::Unknown;
pub use registry::{
    EndedSession, Place, ProjectId, ProjectRecord, Registry, RegistryChange, SessionRecord,
};

/// What is said of a session whose files and processes cannot be seen from here; `anchord doctor` knows it by this.
pub const FOREIGN: &str = "runs in another container or on another machine";
