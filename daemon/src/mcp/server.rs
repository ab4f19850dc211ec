//! One connection's MCP service: lists the tools of its set and runs them, each in its turn.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult,
    ErrorData, Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::calls::{self, internal_text, request_id};
use super::tool::{ToolError, ToolSpec};
use super::tools::ToolList;
use super::transport::{NumberedLines, Ticket};
use crate::daemon::Daemon;
use crate::limits;
use crate::sessions::Connection;
use crate::socket::lines::LineReader;

/// Serves one shim until it goes or `stop` is cancelled.
pub(crate) async fn serve<R, W>(
    daemon: Arc<Daemon>,
    connection: Arc<Connection>,
    lines: LineReader<R>,
    writer: W,
    stop: CancellationToken,
) where
    R: AsyncBufRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let service = Service { tools: daemon.tools(connection.tool_set), daemon, connection };
    service.serve_lines(lines, writer, stop).await;
}

struct Service {
    daemon: Arc<Daemon>,
    connection: Arc<Connection>,
    tools: Arc<ToolList>,
}

impl Service {
    async fn serve_lines<R, W>(self, lines: LineReader<R>, writer: W, stop: CancellationToken)
    where
        R: AsyncBufRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let instance = Arc::clone(&self.connection.instance);
        let transport = NumberedLines::new(lines, writer, instance, stop);
        match self.serve(transport).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "an MCP service ended badly");
                }
            }
            // A probe that closes before it says anything is no fault.
            Err(error) => tracing::debug!(%error, "no MCP session came of a connection"),
        }
    }

    async fn run(
        &self,
        spec: &ToolSpec,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let Some(ticket) = context.extensions.get::<Ticket>().cloned() else {
            return Err(internal(&request_id(), "a request came without its line number"));
        };
        let _turn = match ticket.turn() {
            Some(mut turn) => {
                turn.come().await;
                turn
            }
            None => return Err(internal(&request_id(), "a request came twice")),
        };
        let client = context.client_info().map(|info| info.name);
        let thread = context.meta.get("threadId").and_then(|id| id.as_str().map(str::to_owned));
        let session = self.connection.session(thread.as_deref(), client.as_deref());
        let arguments = request.arguments.unwrap_or_default();
        let called = calls::call(&self.daemon, session, spec, arguments, Some(ticket.call)).await;
        match called.outcome {
            Ok(text) => Ok(CallToolResult::success(blocks(text, called.remark))),
            Err(ToolError::Caller(text)) => {
                let text = self.tools.error_text(&spec.definition.name, &text);
                Ok(CallToolResult::error(blocks(text, called.remark)))
            }
            Err(ToolError::Internal(text)) => Err(internal(&called.id, &text)),
        }
    }
}

/// What a tool said, and what was taken out of the call before. Where the text is JSON it stays so.
fn blocks(text: String, remark: Option<String>) -> Vec<ContentBlock> {
    let mut text = shortened(text);
    let Some(remark) = remark else { return vec![ContentBlock::text(text)] };
    if text.starts_with(['{', '[']) {
        return vec![ContentBlock::text(text), ContentBlock::text(remark)];
    }
    text.push('\n');
    text.push_str(&remark);
    vec![ContentBlock::text(text)]
}

/// Cuts what is too long for a line to the shim; escapes in JSON may double it.
fn shortened(mut text: String) -> String {
    if text.len() > limits::ANSWER_BYTES_MAX {
        let bytes = text.len();
        text.truncate(text.floor_char_boundary(limits::ANSWER_BYTES_MAX));
        let cut = format!(
            "\ntruncated: true; {} of {bytes} bytes; `anchord export` writes all of it to a file\n",
            limits::ANSWER_BYTES_MAX
        );
        text.push_str(&cut);
    }
    text
}

fn internal(id: &str, what: &str) -> ErrorData {
    ErrorData::internal_error(internal_text(id, what), None)
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        ServerConfig::new(capabilities.build())
            .with_server_info(Implementation::new("anchord", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.tools.instructions())
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        // Changes of the list are told by the notification of the handshake's revisions alone; the
        // revision without one would want `subscriptions/listen`.
        let mut info = self.get_info();
        info.capabilities = ServerCapabilities::builder().enable_tools().build();
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.definitions()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.get(name).map(|spec| spec.definition.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(spec) = self.tools.get(&request.name) else {
            let text = format!(
                "unknown tool `{}`; this server offers {}",
                request.name,
                self.tools.names().join(", ")
            );
            return Err(ErrorData::invalid_params(text, None));
        };
        let call = self.run(spec, request, &context);
        tokio::pin!(call);
        tokio::select! {
            result = &mut call => return result.map(CallToolResponse::from),
            () = context.ct.cancelled() => {}
        }
        // The client cancelled; rmcp drops this answer, and what is already queued is still written.
        Err(ErrorData::internal_error("cancelled", None))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.connection.tools_seen.as_deref().is_some_and(|seen| seen != self.tools.digest())
            && let Err(error) = context.peer.notify_tool_list_changed().await
        {
            tracing::debug!(%error, "a shim went before it heard of the changed tools");
        }
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ProtocolVersion::KNOWN_VERSIONS.into()
    }
}

#[cfg(test)]
mod tests;
