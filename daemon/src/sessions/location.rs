//! The location of a session's work, found from its hello.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::files::{directory_below, relative};
use anchord_proto::hello::Hello;

use super::Session;
use super::error::BindError;
use super::processes::is_foreign;
use super::service::SessionService;
use crate::bounded_fs;
use crate::projects::{
    Located, ProjectFiles, ProjectId, Registry, Surroundings, identify, locate, locate_exactly,
    locate_named,
};

/// The location of a session's work.
#[derive(Debug)]
pub(crate) enum SessionLocation {
    /// A project on this machine, whose files can be read.
    Here(Located),
    /// A project in a container, on another machine, or no longer at its path. Its id is trusted,
    /// but none of its files are judged.
    Foreign(ProjectId),
    /// The user's own memory, which has no directory.
    Personal,
}

impl SessionLocation {
    /// Returns the place of a project named by its id, or `None` if the id is unknown. The
    /// directory where it was last seen may hold another project by now; its memory is still
    /// readable. Reads files.
    pub(crate) fn named(
        id: ProjectId,
        registry: &Registry,
        surroundings: &Surroundings,
    ) -> Option<Self> {
        let root = &registry.project(id)?.root;
        let is_it = |located: &Located| {
            identify(located, registry).is_ok_and(|resolution| resolution.id == Some(id))
        };
        let located = locate_named(root, surroundings).ok().filter(is_it);
        Some(located.map_or(Self::Foreign(id), Self::Here))
    }

    /// Returns the place for work on a memory alone, without files.
    pub(crate) fn without_files(id: ProjectId) -> Self {
        if id.is_personal() { Self::Personal } else { Self::Foreign(id) }
    }

    /// Returns the project on this machine, if its files can be read.
    pub(crate) fn located(&self) -> Option<&Located> {
        match self {
            Self::Here(located) => Some(located),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns the project's display name.
    pub(crate) fn name(&self, service: &SessionService) -> String {
        match self {
            Self::Here(located) => located.name.clone(),
            Self::Foreign(id) => match service.projects.registry.snapshot().project(*id) {
                Some(project) => project.name.clone(),
                None => id.to_string(),
            },
            Self::Personal => PERSONAL_NAME.to_owned(),
        }
    }

    /// Opens the project's files, if they can be read.
    pub(crate) fn files(&self) -> Option<ProjectFiles> {
        match self {
            Self::Here(located) => ProjectFiles::open(&located.root).ok(),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns the root of the repository that the project is a part of.
    pub(crate) fn repository(&self) -> Option<&Path> {
        match self {
            Self::Here(located) => located.git.as_ref().map(|git| git.root.as_path()),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns the root of the project's files, if they can be read.
    pub(crate) fn root(&self) -> Option<&Path> {
        match self {
            Self::Here(located) => Some(&located.root),
            Self::Foreign(_) | Self::Personal => None,
        }
    }

    /// Returns a file's path relative to the project's root, as records name it. A path outside the
    /// root, or any path if the root is unknown, is only normalised.
    pub(crate) fn relative(&self, file: &str) -> String {
        let root = self.root().map(Path::to_string_lossy).unwrap_or_default();
        relative(file, &root)
    }

    /// Returns a directory relative to the project's root; `None` for the root itself.
    pub(crate) fn directory(&self, directory: &str) -> Option<String> {
        let root = self.root().map(Path::to_string_lossy).unwrap_or_default();
        directory_below(directory, &root)
    }
}

/// The display name of the user's own memory.
pub(crate) const PERSONAL_NAME: &str = "the user's own notes";

impl Session {
    /// Returns the location of the session's work, which is the same for its whole life.
    pub(crate) async fn place(
        &self,
        service: &SessionService,
    ) -> Result<Arc<SessionLocation>, BindError> {
        service.gate.pass().await?;
        let known = self.place.lock().clone();
        if let Some(place) = known {
            return Ok(place);
        }
        let found = place_of(service, &self.hello).await?;
        let mut place = self.place.lock();
        Ok(Arc::clone(place.get_or_insert(found)))
    }
}

/// Finds the location of a peer's work from its hello.
pub(super) async fn place_of(
    service: &SessionService,
    hello: &Arc<Hello>,
) -> Result<Arc<SessionLocation>, BindError> {
    let (hello, registry) = (Arc::clone(hello), service.projects.registry.snapshot());
    let surroundings = service.surroundings.clone();
    let start = PathBuf::from(start(&hello));
    let found = bounded_fs::run(&start, move || find(&hello, &registry, &surroundings)).await??;
    Ok(Arc::new(found))
}

fn find(
    hello: &Hello,
    registry: &Registry,
    surroundings: &Surroundings,
) -> Result<SessionLocation, BindError> {
    // The directory in which an agent was started is only where the search begins.
    let named = hello.project.as_deref().filter(|_| !hello.by_agent);
    if let Some(id) =
        named.filter(|_| !hello.exact).and_then(|named| named.parse().ok().map(ProjectId))
    {
        let place = if is_foreign(hello) {
            registry.project(id).map(|project| SessionLocation::Foreign(project.id))
        } else {
            SessionLocation::named(id, registry, surroundings)
        };
        return place.ok_or(BindError::Unknown(id));
    }
    if is_foreign(hello) {
        let known = named.and_then(|named| registry.project_at(Path::new(named)));
        return known.map(|project| SessionLocation::Foreign(project.id)).ok_or(BindError::Foreign);
    }
    if let Some(named) = named.filter(|_| hello.exact) {
        return Ok(SessionLocation::Here(locate_exactly(Path::new(named), surroundings.uid)?));
    }
    let start = Path::new(start(hello));
    let search = if named.is_some() { locate_named } else { locate };
    Ok(SessionLocation::Here(search(start, surroundings)?))
}

/// Returns the directory in which to search for a session's project.
pub(super) fn start(hello: &Hello) -> &str {
    hello.project.as_deref().or(hello.cwd.as_deref()).unwrap_or("/")
}
