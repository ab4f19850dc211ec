//! Records as files that people share through git: the content that is shared, its form, and the
//! ids by which clones know a record.
//!
//! A clone's own bookkeeping stays out: record ids, versions, counts, states of the budget. So the
//! same record has the same bytes on every machine, and a file says nothing about its reader.
//!
//! Everything works on any kind, except that a topic may have several files (`topics.rs`). A kind's
//! `Facts` name the fields that are texts and those that stay out.

mod content;
mod form;
mod names;
mod toml_text;
mod topics;

pub use content::SharedContent;
pub use form::{FileForm, FileProblem};
pub use names::FileNames;
pub(crate) use topics::merged as merged_topic;
pub use topics::{ChangedTopicFiles, FilesOfTopic, OtherText, TopicAgreement, TopicStep};

#[cfg(test)]
mod tests;
