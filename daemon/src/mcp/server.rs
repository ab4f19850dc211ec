//! One connection's MCP service. It lists the tools of its set and runs them, each in its turn;
//! prompts and resources run the same way.

use std::borrow::Cow;
use std::sync::Arc;

use anchord_agents::McpNames;
use anchord_memory::Memory;
use anchord_memory::defuse::defuse_line;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult,
    ErrorData, GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptMessage, ProtocolVersion,
    ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, Role, ServerCapabilities, ServerConfig, Tool, ToolsCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::answer::ToolAnswer;
use super::calls::{self, Called, internal_text, request_id};
use super::error::{Mistake, ToolError};
use super::service::ToolService;
use super::tool::ToolSpec;
use super::tools::ToolList;
use super::transport::{NumberedLines, Ticket};
use super::{prompts, resources};
use crate::limits;
use crate::lines::LineReader;
use crate::sessions::Connection;

/// The refusal of a call that comes from one conversation too many.
const TOO_MANY_CONVERSATIONS: &str = "this connection already serves the most agent threads it may, and this call is from another \
     one; nothing was done. Use memory from a thread that has used it, or restart the agent";

/// Serves one shim until it disconnects or `stop` is cancelled.
pub(crate) async fn serve<R, W>(
    service: Arc<ToolService>,
    connection: Arc<Connection>,
    lines: LineReader<R>,
    writer: W,
    stop: CancellationToken,
) where
    R: AsyncBufRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let service = Service { tools: service.tools(connection.tool_set), service, connection };
    service.serve_lines(lines, writer, stop).await;
}

struct Service {
    service: Arc<ToolService>,
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
            // A probe that closes before it sends anything is not a fault.
            Err(error) => tracing::debug!(%error, "no MCP session came of a connection"),
        }
    }

    async fn run(
        &self,
        spec: &ToolSpec,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let called = self.called(spec, arguments, context).await?.defused();
        match called.outcome {
            Ok(answer) => Ok(CallToolResult::success(blocks(answer, called.remark))),
            Err(ToolError::Caller(mistake)) => {
                let text = self.tools.error_text(&spec.definition.name, &mistake);
                Ok(CallToolResult::error(blocks(text.into(), called.remark)))
            }
            Err(ToolError::Damaged(text)) => {
                let text = self.tools.error_text(&spec.definition.name, &Mistake::of(text));
                Ok(CallToolResult::error(blocks(text.into(), called.remark)))
            }
            Err(ToolError::Internal(text)) => Err(internal(&called.id, &text)),
        }
    }

    /// Runs a client's request in its turn, in the session that sent it.
    async fn called(
        &self,
        spec: &ToolSpec,
        mut arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<Called, ErrorData> {
        let Some(ticket) = context.extensions.get::<Ticket>().cloned() else {
            return Err(internal(&request_id(), "a request came without its line number"));
        };
        let Some(mut turn) = ticket.turn() else {
            return Err(internal(&request_id(), "a request came twice"));
        };
        let reads = spec.reads(&arguments);
        if reads {
            turn.come_past().await;
        } else {
            turn.come().await;
        }
        // The name goes into every record and every status line.
        let clipped = |name: &str| name.chars().take(limits::CLIENT_CHARS_MAX).collect::<String>();
        let client = context.client_info().map(|info| clipped(&info.name));
        let named = |field: &str| context.meta.get(field).and_then(|id| id.as_str());
        let marked = conversation_argument(&mut arguments, client.as_deref());
        let name = marked.as_deref().or_else(|| McpNames::conversation_in(named));
        let call = McpNames::call_in(named);
        let refused = |error| {
            let (outcome, id) = (Err(error), request_id());
            Ok(Called { outcome, remark: None, id })
        };
        let conversation = match name {
            Some(name) => {
                match self.connection.conversation_here(&self.service.sessions, name).await {
                    Ok(named) if !named.is_elsewhere && self.connection.is_full(name) => {
                        return refused(ToolError::caller(TOO_MANY_CONVERSATIONS));
                    }
                    Ok(named) => Some(named),
                    Err(error) => return refused(error.into()),
                }
            }
            None => match self.connection.look_around(&self.service.sessions, None).await {
                Ok(()) => None,
                Err(error) => return refused(error.into()),
            },
        };
        let session = self.connection.session(conversation.as_ref(), client.as_deref(), call);
        let (line, audience) = (Some(ticket.call), self.tools.audience());
        let calling = calls::call(&self.service, session, spec, arguments, line, audience);
        let mut calling = std::pin::pin!(calling);
        tokio::select! {
            biased;
            called = &mut calling => return Ok(called),
            () = self.team_delays(), if !reads => turn.step_aside(),
        }
        Ok(calling.await)
    }

    /// Returns once a call of this connection waits for a team's database. A database that answers
    /// would have taken by then what was sent.
    async fn team_delays(&self) {
        loop {
            tokio::time::sleep(limits::TEAM_TURN_WAIT_MAX).await;
            let served = self.service.sessions.table.all_served_by(&self.connection);
            if served.iter().any(|session| session.waits_for_team()) {
                return;
            }
        }
    }

    /// Returns the memory of this connection's project if it is open. A list opens nothing.
    fn known_memory(&self) -> Option<Arc<Memory>> {
        let session = self.service.sessions.table.served_by(&self.connection)?;
        Some(session.project()?.memory())
    }
}

/// Takes the conversation out of a call's arguments, where the client's plugin put it.
fn conversation_argument(arguments: &mut JsonObject, client: Option<&str>) -> Option<String> {
    let named = arguments.remove(McpNames::conversation_argument_of(client?)?)?;
    named.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Joins a tool's text and the remark about what was removed from the call. JSON text stays a block
/// of its own.
fn blocks(answer: ToolAnswer, remark: Option<String>) -> Vec<ContentBlock> {
    let mut text = shortened(answer.text);
    let Some(remark) = remark else { return vec![ContentBlock::text(text)] };
    if answer.is_json {
        return vec![ContentBlock::text(text), ContentBlock::text(remark)];
    }
    text.push('\n');
    text.push_str(&remark);
    vec![ContentBlock::text(text)]
}

/// Cuts a text that is too long for a line to the shim. JSON escapes may double its length.
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
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = if self.tools.has_more() {
            tools.enable_prompts().enable_resources().build()
        } else {
            tools.build()
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("anchord", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.tools.instructions())
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        // List changes are announced only by a notification of the handshake revisions. The
        // revision without a handshake would need `subscriptions/listen`.
        let mut info = self.get_info();
        info.capabilities.tools = Some(ToolsCapability::default());
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
                defuse_line(&request.name),
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
        // The client cancelled. rmcp drops this answer; what is already queued is still written.
        Err(ErrorData::internal_error("cancelled", None))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = if self.tools.has_more() { prompts::list() } else { Vec::new() };
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !self.tools.has_more() {
            return Err(ErrorData::method_not_found::<GetPromptRequestMethod>());
        }
        let description = prompts::description(&request.name);
        let mut arguments = JsonObject::new();
        arguments.insert("name".to_owned(), request.name.into());
        arguments.insert("arguments".to_owned(), request.arguments.unwrap_or_default().into());
        let called = self.called(&prompts::getter(), arguments, &context).await?;
        // The text is already framed, which makes it safe.
        match called.outcome.map_err(ToolError::defused) {
            Ok(answer) => {
                let message = PromptMessage::new_text(Role::User, answer.text);
                let mut result = GetPromptResult::new(vec![message]);
                result.description = description;
                Ok(result.into())
            }
            Err(error @ (ToolError::Caller(_) | ToolError::Damaged(_))) => {
                let text = error.to_string();
                Err(ErrorData::invalid_params(text, None))
            }
            Err(ToolError::Internal(text)) => Err(internal(&called.id, &text)),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = if self.tools.has_more() {
            resources::list(self.known_memory().as_deref())
        } else {
            Vec::new()
        };
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = if self.tools.has_more() { resources::templates() } else { Vec::new() };
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.tools.has_more() {
            return Err(ErrorData::method_not_found::<ReadResourceRequestMethod>());
        }
        let mut arguments = JsonObject::new();
        arguments.insert("uri".to_owned(), request.uri.clone().into());
        let called = self.called(&resources::reader(), arguments, &context).await?.defused();
        match called.outcome {
            Ok(answer) => {
                let contents = vec![ResourceContents::text(answer.text, request.uri)];
                Ok(ReadResourceResult::new(contents).into())
            }
            Err(error @ (ToolError::Caller(_) | ToolError::Damaged(_))) => {
                let text = error.to_string();
                Err(ErrorData::resource_not_found(text, None))
            }
            Err(ToolError::Internal(text)) => Err(internal(&called.id, &text)),
        }
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
