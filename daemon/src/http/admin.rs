//! The paths of the admin interface. [`crate::admin`] implements them.

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Query, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use tower_http::timeout::RequestBodyTimeoutLayer;

use crate::admin::{self, AdminService};
use crate::api::{
    self, DeleteParams, ErrorCode, ErrorReply, ExportFormat, ExportQuery, ForgetParams,
    ImportParams, JournalQuery, LinkParams, LogQuery, MergeParams, MergeQuery, PastSessionsParams,
    ProjectParams, ProjectQuery, PurgeParams, SplitParams, StopParams, ToolParams,
};
use crate::blocking::join_or_resume_panic;
use crate::limits;

type Shared = State<Arc<AdminService>>;
type Reply<T> = Result<Json<T>, ErrorReply>;

/// Returns the router with all paths.
pub(super) fn router(service: Arc<AdminService>) -> Router {
    Router::new()
        .route(api::STATUS, get(status))
        .route(api::PROJECTS, get(projects))
        .route(api::PROJECT, get(project))
        .route(api::PROJECT_LINK, post(link))
        .route(api::PROJECT_FORGET, post(forget))
        .route(api::PROJECT_DELETE, post(delete))
        .route(api::PROJECT_SPLIT, post(split))
        .route(api::PROJECT_SHARED, post(shared))
        .route(api::PROJECT_TEAM, post(team))
        .route(api::TEAM_PROJECTS, post(team_projects))
        .route(api::ANCHORS, post(anchors))
        .route(api::JOURNAL, get(journal))
        .route(api::JOURNAL_VERIFY, post(verify))
        .route(api::JOURNAL_REBUILD, post(rebuild))
        .route(api::JOURNAL_REPAIR, post(repair))
        .route(api::BACKUP, get(backup))
        .route(api::RESTORE, post(restore))
        .route(api::EXPORT, get(export))
        .route(api::IMPORT, post(import))
        .route(api::MERGE, post(begin_merge))
        .route(api::MERGE_END, post(end_merge))
        .route(api::SESSIONS, post(sessions))
        .route(api::PURGE, post(purge))
        .route(api::SECRETS, get(secrets))
        .route(api::TOOL, post(tool))
        .route(api::NOW, get(now))
        .route(api::GIVEN, get(given))
        .route(api::RECORDS, post(records))
        .route(api::GROWTH, get(growth))
        .route(api::LOG, get(log))
        .route(api::STOP, post(stop))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(middleware::from_fn(to_the_end))
        .layer(DefaultBodyLimit::max(limits::ADMIN_BODY_BYTES_MAX))
        .layer(RequestBodyTimeoutLayer::new(limits::ADMIN_STALL_MAX))
        .with_state(service)
}

/// Carries a change out to its end, even if its client hangs up meanwhile: half a purge would leave
/// what it should take away.
async fn to_the_end(request: Request, next: Next) -> Response {
    if request.method() == Method::GET {
        return next.run(request).await;
    }
    join_or_resume_panic(tokio::spawn(next.run(request))).await
}

async fn status(State(service): Shared) -> Reply<api::StatusReply> {
    admin::status(&service).await.map(Json)
}

async fn projects(State(service): Shared) -> Reply<api::ProjectsReply> {
    admin::projects(&service.sessions).await.map(Json)
}

async fn project(
    State(service): Shared,
    QueryArguments(query): QueryArguments<ProjectQuery>,
) -> Reply<api::ProjectStatus> {
    admin::project(&service.sessions, &query.project).await.map(Json)
}

async fn link(
    State(service): Shared,
    JsonBody(params): JsonBody<LinkParams>,
) -> Reply<api::ProjectStatus> {
    admin::link_directory(&service.sessions, &params.path, &params.project).await.map(Json)
}

async fn forget(
    State(service): Shared,
    JsonBody(params): JsonBody<ForgetParams>,
) -> Reply<api::RemovedReply> {
    admin::forget_project(&service.sessions, &params.project).await.map(Json)
}

async fn delete(
    State(service): Shared,
    JsonBody(params): JsonBody<DeleteParams>,
) -> Reply<api::RemovedReply> {
    admin::delete_project(&service.sessions, &params.project, &params.confirm).await.map(Json)
}

async fn split(
    State(service): Shared,
    JsonBody(params): JsonBody<SplitParams>,
) -> Reply<api::SplitReply> {
    admin::split_project(&service.sessions, params).await.map(Json)
}

async fn shared(
    State(service): Shared,
    JsonBody(params): JsonBody<api::SharedParams>,
) -> Reply<api::SharedReply> {
    admin::shared_files(&service.sessions, params).await.map(Json)
}

async fn team(
    State(service): Shared,
    JsonBody(params): JsonBody<api::TeamParams>,
) -> Reply<api::TeamReply> {
    admin::team(&service.sessions, params).await.map(Json)
}

async fn team_projects(
    State(service): Shared,
    JsonBody(place): JsonBody<api::TeamPlace>,
) -> Reply<api::TeamProjectsReply> {
    admin::team_projects(&service.sessions, place).await.map(Json)
}

async fn anchors(
    State(service): Shared,
    JsonBody(params): JsonBody<api::AnchorsParams>,
) -> Reply<api::AnchorsReply> {
    admin::verify_anchors(&service.sessions, params).await.map(Json)
}

async fn journal(
    State(service): Shared,
    QueryArguments(query): QueryArguments<JournalQuery>,
) -> Result<Response, ErrorReply> {
    let from = query.from.unwrap_or(1);
    let text = admin::journal(&service.sessions, &query.project, from, query.limit).await?;
    Ok(json_lines(text))
}

async fn log(
    State(service): Shared,
    QueryArguments(query): QueryArguments<LogQuery>,
) -> Reply<api::LogReply> {
    admin::retrievals(&service, query).await.map(Json)
}

fn json_lines(text: String) -> Response {
    ([(header::CONTENT_TYPE, api::JSON_LINES)], text).into_response()
}

async fn tool(
    State(service): Shared,
    JsonBody(params): JsonBody<ToolParams>,
) -> Reply<api::ToolReply> {
    admin::call_tool(&service.tools, params).await.map(Json)
}

async fn now(State(service): Shared) -> Json<api::NowReply> {
    Json(admin::now(&service).await)
}

async fn given(
    State(service): Shared,
    QueryArguments(query): QueryArguments<api::GivenQuery>,
) -> Reply<api::GivenReply> {
    admin::given(&service, &query).await.map(Json)
}

async fn records(
    State(service): Shared,
    JsonBody(params): JsonBody<api::RecordsParams>,
) -> Reply<api::RecordsReply> {
    admin::records(&service.sessions, params).await.map(Json)
}

async fn growth(
    State(service): Shared,
    QueryArguments(query): QueryArguments<ProjectQuery>,
) -> Reply<api::GrowthReply> {
    admin::growth(&service.sessions, &query.project).await.map(Json)
}

async fn verify(
    State(service): Shared,
    JsonBody(params): JsonBody<ProjectParams>,
) -> Reply<api::VerifyReply> {
    admin::verify(&service.sessions, &params.project).await.map(Json)
}

async fn rebuild(
    State(service): Shared,
    JsonBody(params): JsonBody<ProjectParams>,
) -> Reply<api::RebuildReply> {
    admin::rebuild(&service.sessions, &params.project).await.map(Json)
}

async fn repair(
    State(service): Shared,
    JsonBody(params): JsonBody<api::RepairParams>,
) -> Reply<api::RepairReply> {
    admin::repair(&service.sessions, params).await.map(Json)
}

async fn backup(
    State(service): Shared,
    QueryArguments(query): QueryArguments<api::BackupQuery>,
) -> Result<Response, ErrorReply> {
    Ok(json_lines(admin::backup_lines(&service.sessions, &query).await?))
}

async fn restore(
    State(service): Shared,
    JsonBody(params): JsonBody<api::RestoreParams>,
) -> Reply<api::RestoreReply> {
    admin::restore_backup(&service, params).await.map(Json)
}

async fn export(
    State(service): Shared,
    QueryArguments(query): QueryArguments<ExportQuery>,
) -> Result<Response, ErrorReply> {
    let text = admin::export_document(&service.sessions, &query.project, query.format).await?;
    let kind = match query.format {
        ExportFormat::Markdown => "text/markdown; charset=utf-8",
        ExportFormat::Json
        | ExportFormat::Zipmem
        | ExportFormat::Compactor
        | ExportFormat::InfiniteContext
        | ExportFormat::SnapMemory => "application/json",
    };
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

async fn import(
    State(service): Shared,
    JsonBody(params): JsonBody<ImportParams>,
) -> Reply<api::ImportReply> {
    admin::import_memory(&service.sessions, params).await.map(Json)
}

async fn begin_merge(
    State(service): Shared,
    JsonBody(query): JsonBody<MergeQuery>,
) -> Reply<api::MergeTask> {
    admin::begin_merge(&service, query).await.map(Json)
}

async fn end_merge(
    State(service): Shared,
    JsonBody(params): JsonBody<MergeParams>,
) -> Reply<api::MergeReply> {
    admin::end_merge(&service, params).await.map(Json)
}

async fn sessions(
    State(service): Shared,
    JsonBody(params): JsonBody<PastSessionsParams>,
) -> Reply<api::PastSessionsReply> {
    admin::past_sessions(&service.sessions, params).await.map(Json)
}

async fn purge(
    State(service): Shared,
    JsonBody(params): JsonBody<PurgeParams>,
) -> Reply<api::PurgeReply> {
    admin::purge(&service, params).await.map(Json)
}

async fn secrets(
    State(service): Shared,
    QueryArguments(query): QueryArguments<ProjectQuery>,
) -> Reply<api::SecretsReply> {
    admin::scan_secrets(&service.sessions, &query.project).await.map(Json)
}

async fn stop(
    State(service): Shared,
    JsonBody(StopParams {}): JsonBody<StopParams>,
) -> Json<api::StopReply> {
    Json(admin::stop(&service))
}

async fn unknown(request: Request) -> ErrorReply {
    ErrorReply {
        code: ErrorCode::NotFound,
        error: format!("this daemon does not know {} {}", request.method(), request.uri().path()),
        action: Some("It may be older than this command: run `anchord restart`.".to_owned()),
    }
}

impl IntoResponse for ErrorReply {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self)).into_response()
    }
}

/// Query parameters. Malformed ones are answered like every other error.
struct QueryArguments<T>(T);

impl<T, S> FromRequestParts<S> for QueryArguments<T>
where
    Query<T>: FromRequestParts<S, Rejection = QueryRejection>,
    S: Send + Sync,
{
    type Rejection = ErrorReply;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        state: &S,
    ) -> Result<Self, ErrorReply> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(query)| Self(query)).map_err(|error| bad_request(error.body_text()))
    }
}

/// A JSON body. A malformed one is answered like every other error.
struct JsonBody<T>(T);

impl<T, S> FromRequest<S> for JsonBody<T>
where
    Json<T>: FromRequest<S, Rejection = JsonRejection>,
    S: Send + Sync,
{
    type Rejection = ErrorReply;

    async fn from_request(request: Request, state: &S) -> Result<Self, ErrorReply> {
        let body = Json::<T>::from_request(request, state).await;
        body.map(|Json(body)| Self(body)).map_err(|error| bad_request(error.body_text()))
    }
}

fn bad_request(error: String) -> ErrorReply {
    ErrorReply { code: ErrorCode::BadRequest, error, action: None }
}

#[cfg(test)]
mod tests;
