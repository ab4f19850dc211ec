//! Checks a project's anchors, and moves those whose code is elsewhere.

use std::sync::Arc;
use std::time::Duration;

use anchord_memory::{AnchorState, Memory, Record, RecordId, RecordState};

use super::tool::place;
use super::{Answer, ask, bind_error};
use crate::anchors::{CheckedCode, ProjectRoots, keep};
use crate::api::{
    AnchorPlace, AnchorsParams, AnchorsReply, CheckedAnchor, CodeState, ErrorCode, ErrorReply,
};
use crate::clock;
use crate::limits::{ANCHORS_UPKEEP_TIME_MAX, ANCHORS_VERIFY_TIME_MAX};
use crate::sessions::{Session, SessionService};

/// The client of the session that looks.
const CLIENT: &str = "anchord anchors";

/// Returns where the code of each anchor is.
pub(crate) async fn verify_anchors(
    service: &SessionService,
    params: AnchorsParams,
) -> Answer<AnchorsReply> {
    let asked = ask(service, &params.project).await?;
    let session = Session::ephemeral(CLIENT, place(service, &params.project).await?);
    let view = session.view(service).await.map_err(bind_error)?;
    let Some(project) = view.project else {
        return Ok(AnchorsReply { project: None, anchors: Vec::new() });
    };
    let Some(root) = view.place.root() else {
        return Err(refused(
            "the project's files cannot be seen from here",
            "Run it in the project's directory.",
        ));
    };
    let at = ProjectRoots { root, repository: view.place.repository() };
    let seen = look(service, at, &view.memory).await;
    let mut moved = Vec::new();
    if params.fix {
        if let Some(why) = &project.owner.health().read_only {
            return Err(ErrorReply {
                code: ErrorCode::Damaged,
                error: format!("the memory cannot be written: {why}"),
                action: Some("`anchord doctor` says what to do.".to_owned()),
            });
        }
        let kept = keep(&project, &seen).await;
        moved = kept.map_err(|why| refused(&why, "Nothing was moved."))?;
    }
    let anchors = anchors(&view.memory).map(|record| checked(record, &seen, &moved)).collect();
    Ok(AnchorsReply { project: Some(asked.reference(service, project.id)), anchors })
}

/// Checks the anchors as often as needed. Whatever one check finds in time, the next one knows.
async fn look(service: &SessionService, at: ProjectRoots<'_>, memory: &Memory) -> Vec<CheckedCode> {
    let until = clock::start() + ANCHORS_VERIFY_TIME_MAX;
    let mut before = usize::MAX;
    loop {
        let left = until.saturating_duration_since(clock::start());
        let seen = service.anchors.all(at, memory, left.min(ANCHORS_UPKEEP_TIME_MAX)).await;
        let unchecked = seen.iter().filter(|it| it.state == AnchorState::Unchecked).count();
        if unchecked == 0 || unchecked >= before || left == Duration::ZERO {
            return seen;
        }
        before = unchecked;
    }
}

fn anchors(memory: &Memory) -> impl Iterator<Item = &Arc<Record>> {
    let active = memory.records().filter(|record| record.state == RecordState::Active);
    active.filter(|record| record.anchor().is_some())
}

fn checked(record: &Record, seen: &[CheckedCode], moved: &[RecordId]) -> CheckedAnchor {
    let anchor = record.anchor();
    let stored = anchor
        .map(|anchor| AnchorPlace { file: anchor.file.clone(), lines: anchor.lines.to_string() });
    let mut checked = CheckedAnchor {
        id: record.id,
        state: CodeState::NoFingerprint,
        file: stored.as_ref().map(|it| it.file.clone()).unwrap_or_default(),
        lines: stored.as_ref().map(|it| it.lines.clone()).unwrap_or_default(),
        concept: anchor.map(|anchor| anchor.concept.clone()).unwrap_or_default(),
        percent: 0,
        was: None,
        fixed: false,
    };
    let Some(seen) = seen.iter().find(|seen| seen.id == record.id) else { return checked };
    (checked.state, checked.percent) = match seen.state {
        AnchorState::Fresh => (CodeState::Fresh, 0),
        AnchorState::Moved { .. } => (CodeState::Moved, 0),
        AnchorState::Changed { percent } => (CodeState::Changed, percent),
        AnchorState::Gone => (CodeState::Gone, 0),
        AnchorState::Unchecked => (CodeState::Unchecked, 0),
    };
    let now = AnchorPlace { file: seen.file.clone(), lines: seen.lines.to_string() };
    checked.was = stored.filter(|stored| *stored != now);
    (checked.file, checked.lines) = (now.file, now.lines);
    checked.fixed = moved.contains(&record.id);
    checked
}

fn refused(why: &str, action: &str) -> ErrorReply {
    let (error, action) = (why.to_owned(), Some(action.to_owned()));
    ErrorReply { code: ErrorCode::Failed, error, action }
}
