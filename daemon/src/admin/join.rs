//! Joins the team that the environment names, and tries again until that works. A container starts
//! when it likes, with or without its database.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::team::team;
use super::{Answer, ask, store_error};
use crate::api::{TeamAction, TeamParams};
use crate::limits::TEAM_JOIN_AGAIN_AFTER;
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

async fn is_joined(service: &SessionService, order: &TeamOrder) -> Answer<bool> {
    let Some(id) = ask(service, &order.project).await?.id else { return Ok(false) };
    let open = service.projects.open_known(id).await.map_err(store_error)?;
    // Joining writes a file that cannot be read again.
    let config = link::read(&service.projects.open.directory(id)).ok().flatten();
    let is_same = config.is_some_and(|config| {
        config.url == order.place.url
            && config.secret == order.place.secret
            && Some(&config.name) == order.place.name.as_ref()
    });
    Ok(is_same && open.is_some_and(|open| open.memory().team().is_some()))
}

/// Returns whether the database shows the project. If it does not answer, the creation fails, too,
/// and reports the reason.
async fn exists(service: &SessionService, order: &TeamOrder) -> bool {
    let teams = service.projects.open.teams();
    let Ok(database) = teams.database(&order.place.url, &order.place.secret) else { return false };
    let projects = database.projects().await.unwrap_or_default();
    projects.iter().any(|project| Some(&project.name) == order.place.name.as_ref())
}
