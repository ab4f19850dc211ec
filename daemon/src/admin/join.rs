//! Joins the team that the environment names, and tries again until that works. A container starts
//! when it likes, with or without its database.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::projects::change_registry;
use super::team::team;
use super::{Answer, ask, bad_request, find, store_error};
use crate::api::{TeamAction, TeamParams};
use crate::clock;
use crate::limits::TEAM_JOIN_AGAIN_AFTER;
use crate::projects::{ProjectId, replace_directory};
use crate::sessions::{Joining, SessionService};
use crate::team::{self as link, TeamOrder};

/// Joins the team and opens the gate for sessions.
pub(crate) async fn keep_joining(
    service: Arc<SessionService>,
    order: TeamOrder,
    stopping: CancellationToken,
) {
    let mut before = None;
    loop {
        let Err(error) = join(&service, &order).await else {
            tracing::info!("this machine shares the team's memory");
            return service.gate.report(Joining::Done);
        };
        let why = [Some(error.error), error.action].into_iter().flatten();
        let why = why.collect::<Vec<_>>().join("; ");
        if before.as_ref() != Some(&why) {
            tracing::warn!(why, "the team's memory is not joined yet");
        }
        service.gate.report(Joining::Failed(why.clone()));
        before = Some(why);
        tokio::select! {
            () = tokio::time::sleep(TEAM_JOIN_AGAIN_AFTER) => {}
            () = stopping.cancelled() => return,
        }
    }
}

/// Joins the team, or creates its project. Does nothing, and needs no database, if the memory is
/// the team's already.
async fn join(service: &SessionService, order: &TeamOrder) -> Answer<()> {
    continue_earlier(service, order).await?;
    if is_joined(service, order).await? {
        return Ok(());
    }
    let act = |action| team(service, TeamParams { project: order.project.clone(), action });
    if order.create && !exists(service, order).await {
        match act(TeamAction::Create(order.place.clone())).await {
            Ok(_) => return Ok(()),
            // Another machine may have been faster.
            Err(error) if !exists(service, order).await => return Err(error),
            Err(_) => {}
        }
    }
    act(TeamAction::Join { place: order.place.clone(), merge: false }).await.map(drop)
}

/// Continues with the memory that the directory's path had before, if that is the team's. When a
/// container is recreated, its volume has the memory, and the directory is another one.
async fn continue_earlier(service: &SessionService, order: &TeamOrder) -> Answer<()> {
    let asked = ask(service, &order.project).await?;
    let registry = service.projects.registry.snapshot();
    let is_known = asked.id.is_some_and(|id| registry.known_or_forgotten(id).is_some());
    let Some(root) = asked.located.filter(|_| !is_known).map(|located| located.main_root()) else {
        return Ok(());
    };
    let earlier = registry.projects().filter(|known| known.root == root);
    let earlier = earlier.filter(|known| is_of(service, known.id, order));
    let Some(earlier) = earlier.max_by_key(|known| (known.time, known.id)).cloned() else {
        return Ok(());
    };
    let id = earlier.id;
    let now = clock::now();
    let replaced = find(service, &order.project, move |located| {
        replace_directory(&located, &earlier, now).map_err(|error| bad_request(&error))
    });
    let change = replaced.await?;
    change_registry(service, "continue", move |_| vec![change.clone()]).await?;
    tracing::info!(project = %id, "the directory was replaced; its memory continues");
    Ok(())
}

async fn is_joined(service: &SessionService, order: &TeamOrder) -> Answer<bool> {
    let Some(id) = ask(service, &order.project).await?.id else { return Ok(false) };
    let open = service.projects.open_known(id).await.map_err(store_error)?;
    Ok(is_of(service, id, order) && open.is_some_and(|open| open.memory().team().is_some()))
}

/// Returns whether a memory is a copy of the team's, by its own file.
fn is_of(service: &SessionService, id: ProjectId, order: &TeamOrder) -> bool {
    // Joining writes a file that cannot be read again.
    let config = link::read(&service.projects.open.directory(id)).ok().flatten();
    config.is_some_and(|config| {
        config.url == order.place.url
            && config.secret == order.place.secret
            && Some(&config.name) == order.place.name.as_ref()
    })
}

/// Returns whether the database shows the project. If it does not answer, the creation fails, too,
/// and reports the reason.
async fn exists(service: &SessionService, order: &TeamOrder) -> bool {
    let teams = service.projects.open.teams();
    let Ok(database) = teams.database(&order.place.url, &order.place.secret) else { return false };
    let projects = database.projects().await.unwrap_or_default();
    projects.iter().any(|project| Some(&project.name) == order.place.name.as_ref())
}
