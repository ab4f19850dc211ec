//! Projects: where each is, its id, the registry of known ones, and access to its files.
//!
//! - [`locate()`] finds the project of a directory.
//!
//! - [`identify`] returns its identity without touching it.
//!
//! - [`establish`] assigns its id at the first write.
//!
//! - [`Registry`] remembers it.
//!
//! - [`ProjectFiles`] reads its files.
//!
//! git is never run: its layout is read as files, and nothing in it can make the daemon write
//! elsewhere.

mod files;
mod git_index;
mod identity;
#[cfg(test)]
mod layouts;
mod locate;
mod marker;
mod nested;
mod registry;
pub mod workspace;

pub use files::{
    Changed, Excerpt, FileDigest, FileRead, FileRefusal, FileStamp, Listed, MirrorError, Presence,
    ProjectFiles,
};
pub(crate) use files::{
    Entry, FileBytes, Listing, MirrorDir, MissingDirectory, Visible, name_of_displaced,
};
pub use identity::{
    EstablishError, Established, IdPlace, Resolution, Status, establish, identify, link,
};
pub(crate) use identity::{Move, moved, replace_directory};
pub(crate) use locate::branch;
pub use locate::{
    ForeignMark, GitPlace, Located, NotAProject, PassedOver, Surroundings, locate, locate_exactly,
    locate_named, locate_part,
};
pub use marker::make_marker;
pub use nested::Unknown;
pub use registry::{
    EndedRecord, ProjectDir, ProjectId, ProjectRecord, Registry, RegistryChange, SessionRecord,
};

/// The description of a session whose files and processes cannot be seen from here. `anchord
/// doctor` recognises the session by this text.
pub const FOREIGN: &str = "runs in another container or on another machine";
