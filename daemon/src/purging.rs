//! Purging content from a closed store and from the files beside it.

mod redact;
mod unfinished;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anchord_memory::{Change, Memory, Purge, RecordId, Seq};

pub(crate) use redact::{RedactionReport, find};
pub(crate) use unfinished::Unfinished;

use crate::clock;
use crate::project::ProjectService;
use crate::projects::ProjectId;
use crate::store::{Entry, ReadEntries, Store, StoreError};

/// The records to purge.
#[derive(Clone, Debug, Default)]
pub(crate) struct PurgeScope {
    pub(crate) ids: BTreeSet<RecordId>,
    /// A text that the records contain.
    pub(crate) query: Option<String>,
}

/// The reason that a purge failed, in whole or in part.
#[derive(Debug)]
pub(crate) enum PurgeError {
    /// The store failed.
    Store(StoreError),
    /// The records have too much text for one purge.
    TooMuch(String),
    /// The team's database failed, in the words for whoever asked.
    Team(String),
    /// Somebody else purged while the team's journal was read. A later try reads it anew.
    Rewritten,
    /// Others wrote into the team's database during each try. Nothing was purged.
    Overtaken,
}

impl From<StoreError> for PurgeError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// A purge, with everything that it will change.
pub(crate) struct Survey {
    pub(crate) purge: Purge,
    /// The number of checkpoints that it changes.
    pub(crate) checkpoints: u32,
    /// The number of kept replies that it changes.
    pub(crate) replies: u32,
}

impl Survey {
    /// Reads all entries and changes none.
    pub(crate) fn of(
        reading: &ReadEntries<Memory>,
        state: &Memory,
        wanted: PurgeScope,
    ) -> Result<Self, PurgeError> {
        let salt = match state.tombstones().salt() {
            "" => uuid::Uuid::new_v4().simple().to_string(),
            salt => salt.to_owned(),
        };
        let mut purge = Purge::new(wanted.ids, wanted.query, salt, clock::now());
        reading(Seq(1), &mut |entry| {
            purge.pick(&entry.changes);
            true
        })?;
        reading(Seq(1), &mut |entry| {
            purge.learn(&entry.changes);
            true
        })?;
        purge.ready().map_err(PurgeError::TooMuch)?;
        let mut replies = 0;
        reading(Seq(1), &mut |entry| {
            let (mut changes, mut reply) = (entry.changes.clone(), entry.reply.clone());
            purge.edit(&mut changes, &mut reply);
            replies += u32::from(reply != entry.reply);
            true
        })?;
        Ok(Self { checkpoints: purge.staged(), purge, replies })
    }

    /// Returns whether no entry has to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.purge.records().next().is_none() && self.checkpoints == 0 && self.replies == 0
    }

    /// Returns the ids of the purged records, as the log of retrievals has them.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.purge.records().map(|gone| gone.id.to_string()).collect()
    }

    /// Returns the texts to look for in other files.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.purge.texts().map(str::to_owned).collect()
    }

    /// Redacts the texts in files other than the store's.
    pub(crate) fn redact(&self, directories: &[PathBuf]) -> RedactionReport {
        redact::redact_files(directories, &self.texts())
    }

    /// Removes from a store, and from the files in `places`, what is purged. Passes each entry to
    /// `mend` afterwards, which returns whether it changed the entry, and appends `last`.
    ///
    /// Other files come first: once the records are gone, nothing says which texts to look for. A
    /// purge that ended half-way could then not be repeated. What is to be forgotten afterwards is
    /// noted on disk, see [`Unfinished`].
    pub(crate) fn erase(
        &mut self,
        store: Box<dyn Store<Memory>>,
        places: &TextPlaces,
        mend: &mut dyn FnMut(&mut Entry<Change>) -> bool,
        last: &Entry<Change>,
    ) -> Result<RedactionReport, StoreError> {
        let mut found = self.redact(&places.directories);
        if let Err(error) = Unfinished::begin(&places.own, self.ids()) {
            store.close();
            return Err(error);
        }
        let purge = &mut self.purge;
        let mut edit = |entry: &mut Entry<Change>| {
            let edited = purge.edit(&mut entry.changes, &mut entry.reply);
            mend(entry) || edited
        };
        store.rewrite(&mut edit, last)?;
        // The daemon's log may have grown meanwhile.
        found.add(self.redact(&places.directories));
        Ok(found)
    }
}

/// The places with a memory's texts.
#[derive(Clone, Debug)]
pub(crate) struct TextPlaces {
    /// The memory's own directory.
    pub(crate) own: PathBuf,
    /// All directories with files, besides the store's, that may have its texts.
    pub(crate) directories: Vec<PathBuf>,
}

impl TextPlaces {
    pub(crate) fn of(projects: &ProjectService, id: ProjectId) -> Self {
        let mut directories = asked_in(projects, id);
        directories.extend(projects.logs.iter().cloned());
        Self { own: projects.open.directory(id), directories }
    }
}

/// Lists the directories whose retrieval logs may name records of a memory, its own first. Any
/// project's log may name the user's notes.
pub(crate) fn asked_in(projects: &ProjectService, id: ProjectId) -> Vec<PathBuf> {
    let registry = projects.registry.snapshot();
    let others = registry.projects().map(|record| record.id).filter(|_| id.is_personal());
    [id].into_iter().chain(others).map(|id| projects.open.directory(id)).collect()
}
