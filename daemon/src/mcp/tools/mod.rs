//! The tools, one file each, and the sets in which they are offered.

mod add;
mod brief;
mod checkpoint;
mod compact;
mod compactor;
mod configure;
mod difference;
mod export;
mod forget;
mod get;
mod history;
mod infinite_context;
mod list;
mod load;
mod note;
mod outline;
mod params;
mod personal;
mod rewrite;
mod rollback;
mod rules;
mod save;
mod search;
mod snap_memory;
mod status;
#[cfg(feature = "test-hooks")]
mod test_hooks;
mod topic;
mod update;
mod why;
mod zipmem;

pub(crate) use brief::brief;

use anchord_memory::{Audience, guide};
use anchord_proto::hello::ToolSet;
use rmcp::model::Tool;
use sha2::{Digest, Sha256};

use super::error::Mistake;
use super::tool::{Reach, ToolSpec};

/// Finds a tool that only commands have. Agents stage and save. People write at once, correct what
/// is stored, compare revisions, and ask why something is shown.
pub(super) fn of_commands(name: &str) -> Option<ToolSpec> {
    let tools = [
        (add::spec(), Reach::Project),
        (difference::spec(), Reach::User),
        (rewrite::spec(), Reach::Project),
        (why::spec(), Reach::Project),
        (rules::list(), Reach::Project),
        (rules::stand(), Reach::Project),
        (rules::approve(), Reach::User),
    ];
    reaching(tools).find(|spec| spec.definition.name == name)
}

/// Returns the tools of ours that agents get by default, and what a command reaches with each.
fn default() -> Vec<(ToolSpec, Reach)> {
    vec![
        (load::spec(), Reach::Past),
        (checkpoint::spec(), Reach::Session),
        (save::spec(), Reach::Session),
        (note::spec(), Reach::User),
        (search::spec(), Reach::Past),
        (get::spec(), Reach::User),
        (update::spec(), Reach::User),
        (forget::spec(), Reach::User),
        (status::spec(), Reach::Project),
    ]
}

/// Returns the tools that only the set `all` adds, and what a command reaches with each.
fn rest() -> Vec<(ToolSpec, Reach)> {
    vec![
        (list::spec(), Reach::User),
        (topic::spec(), Reach::Project),
        (outline::spec(), Reach::Project),
        (compact::spec(), Reach::User),
        (history::spec(), Reach::User),
        (rollback::spec(), Reach::User),
        (configure::spec(), Reach::Project),
        (export::spec(), Reach::User),
        (rules::check(), Reach::Project),
        (rules::set(), Reach::Project),
    ]
}

fn reaching(tools: impl IntoIterator<Item = (ToolSpec, Reach)>) -> impl Iterator<Item = ToolSpec> {
    tools.into_iter().map(|(spec, reach)| spec.reaching(reach))
}

/// The tools of one set, built once and shared by every connection that uses the set.
pub(crate) struct ToolList {
    tools: Vec<ToolSpec>,
    digest: String,
    set: ToolSet,
}

impl ToolList {
    /// Returns the tools of a set. The list depends only on the set and the build.
    pub(crate) fn new(set: ToolSet) -> Self {
        let tools: Vec<ToolSpec> = match set {
            ToolSet::Default => reaching(default()).collect(),
            ToolSet::All => reaching([default(), rest()].concat()).collect(),
            ToolSet::Zipmem => zipmem::specs(),
            ToolSet::Compactor => compactor::specs(),
            ToolSet::InfiniteContext => infinite_context::specs(),
            ToolSet::SnapMemory => snap_memory::specs(),
        };
        #[cfg(feature = "test-hooks")]
        let tools = [tools, test_hooks::specs()].concat();
        Self::of(tools, set)
    }

    /// Returns a list of exactly these tools. Failures are worded as in `set`.
    pub(super) fn of(tools: Vec<ToolSpec>, set: ToolSet) -> Self {
        let definitions: Vec<&Tool> = tools.iter().map(|spec| &spec.definition).collect();
        let json = serde_json::to_vec(&definitions).unwrap_or_default();
        let digest: [u8; 32] = Sha256::digest(json).into();
        Self { tools, digest: base16ct::lower::encode_string(&digest[..6]), set }
    }

    /// Returns the definitions, always in the same order.
    pub(crate) fn definitions(&self) -> Vec<Tool> {
        self.tools.iter().map(|spec| spec.definition.clone()).collect()
    }

    /// Returns a tool by its name.
    pub(crate) fn get(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().find(|spec| spec.is_named(name))
    }

    /// Returns the tools' names, for an error that lists them.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|spec| spec.definition.name.as_ref()).collect()
    }

    /// Returns a digest of the definitions. A client that saw other definitions is notified of the
    /// change.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns whether prompts and resources are offered too. The systems of the other sets have
    /// none.
    pub(crate) fn has_more(&self) -> bool {
        matches!(self.set, ToolSet::Default | ToolSet::All)
    }

    /// Returns the instructions that a client gets when it connects, in the names of this set.
    pub(crate) fn instructions(&self) -> &'static str {
        match self.set {
            ToolSet::Default | ToolSet::All => guide::INSTRUCTIONS,
            ToolSet::Zipmem => guide::ZIPMEM_INSTRUCTIONS,
            ToolSet::Compactor => guide::COMPACTOR_INSTRUCTIONS,
            ToolSet::InfiniteContext => guide::INFINITE_CONTEXT_INSTRUCTIONS,
            ToolSet::SnapMemory => guide::SNAP_MEMORY_INSTRUCTIONS,
        }
    }

    /// Returns a failure in the words of this set.
    pub(super) fn error_text(&self, tool: &str, mistake: &Mistake) -> String {
        match self.set {
            ToolSet::Default | ToolSet::All => mistake.to_string(),
            // zipmem names the call itself, so ours would name it a second time.
            ToolSet::Zipmem => format!("{tool} failed: {}", mistake.why),
            ToolSet::Compactor => mistake.why.clone(),
            ToolSet::InfiniteContext => {
                let mut failed = format!("{tool} failed: {}", mistake.why);
                if let Some(first) = failed.get_mut(..1) {
                    first.make_ascii_uppercase();
                }
                failed
            }
            ToolSet::SnapMemory => mistake.as_thrown(),
        }
    }

    /// Returns the reader of answers from this set.
    pub(super) fn audience(&self) -> Audience {
        match self.set {
            ToolSet::Default
            | ToolSet::All
            | ToolSet::Zipmem
            | ToolSet::InfiniteContext
            | ToolSet::SnapMemory => Audience::Agent,
            ToolSet::Compactor => Audience::Compactor,
        }
    }
}

impl std::fmt::Debug for ToolList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests;
