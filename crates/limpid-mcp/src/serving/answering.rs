//! Questions of clients, answered in the words of the protocol.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::lends::{Lends, LentAnswer, LentPrompt, LentResource, LentTool, Refusal};

/// Answers clients with what is lent. Clones share it.
#[derive(Clone)]
pub struct Answering(Arc<dyn Lends>);

impl Answering {
    /// Answers with this.
    pub fn new(lends: Arc<dyn Lends>) -> Self {
        Self(lends)
    }
}

impl ServerHandler for Answering {
    fn get_info(&self) -> ServerConfig {
        let about = self.0.about();
        let can = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().build();
        let config = ServerConfig::new(can).with_server_info(Implementation::new(about.name, about.version));
        if about.instructions.is_empty() { config } else { config.with_instructions(about.instructions) }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.0.tools().await.map_err(refused)?;
        Ok(ListToolsResult::with_all_items(tools.into_iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let calling = self.0.call(&call.name, call.arguments.unwrap_or_default());
        let LentAnswer { text, failed } = tokio::select! {
            answer = calling => answer.map_err(refused)?,
            // Whoever asked does not wait any more, and reads no answer.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        let text = vec![ContentBlock::text(text)];
        Ok(if failed { CallToolResult::error(text) } else { CallToolResult::success(text) }.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.0.prompts().await.map_err(refused)?;
        let prompt = |LentPrompt { name, description }| Prompt::new(name, Some(description), None);
        Ok(ListPromptsResult::with_all_items(prompts.into_iter().map(prompt).collect()))
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = self.0.prompt(&asked.name).await.map_err(refused)?;
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.0.resources().await.map_err(refused)?;
        let resource = |LentResource { uri, name, description, kind }| {
            Resource::new(uri, name).with_description(description).with_mime_type(kind)
        };
        Ok(ListResourcesResult::with_all_items(resources.into_iter().map(resource).collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.0.templates().await.map_err(refused)?;
        let template = |LentResource { uri, name, description, kind }| {
            ResourceTemplate::new(uri, name).with_description(description).with_mime_type(kind)
        };
        Ok(ListResourceTemplatesResult::with_all_items(templates.into_iter().map(template).collect()))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (text, kind) = self.0.resource(&asked.uri).await.map_err(|why| match why {
            Refusal::Unknown(why) => ErrorData::resource_not_found(why, Some(serde_json::json!({ "uri": asked.uri }))),
            Refusal::Trouble(why) => ErrorData::internal_error(why, None),
        })?;
        let contents = ResourceContents::text(text, asked.uri).with_mime_type(kind);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn tool(LentTool { name, description, schema, only_reads }: LentTool) -> Tool {
    Tool::new(name, description, Arc::new(schema)).with_annotations(ToolAnnotations::new().read_only(only_reads))
}

fn refused(why: Refusal) -> ErrorData {
    match why {
        Refusal::Unknown(why) => ErrorData::invalid_params(why, None),
        Refusal::Trouble(why) => ErrorData::internal_error(why, None),
    }
}
