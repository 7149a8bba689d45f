//! A server with the tools, prompts and texts that the protocol's conformance suite asks for, on the endpoint of the program's own.

#![expect(deprecated, reason = "the older revision has what the newer one took away, and both are played")]

mod asking;

use std::net::SocketAddr;
use std::sync::Arc;

use limpid_mcp::serving::{HttpOptions, service, settings};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, Role, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A picture of one point, and a sound of no length.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SOUND: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const TOOLS: [&str; 6] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
];

const PROMPTS: [(&str, &[&str]); 5] = [
    (ASKING_PROMPT, &[]),
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
];

/// A prompt that asks something before it is told.
const ASKING_PROMPT: &str = "test_input_required_result_prompt";

/// Starts the server: with sessions, in which it can ask its client something. Returns its address.
pub(crate) async fn fixtures() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let options = HttpOptions { address, names: Vec::new(), stop: CancellationToken::new() };
    let endpoint = service(Fixtures, LocalSessionManager::default(), settings(options));
    let router = axum::Router::new().route_service("/mcp", endpoint);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}/mcp")
}

#[derive(Clone)]
struct Fixtures;

fn embedded(uri: &str) -> ContentBlock {
    ContentBlock::embedded_text(uri, "This is an embedded resource content.")
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_prompts().enable_completions().enable_logging();
        ServerConfig::new(can.enable_resources().enable_resources_subscribe().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = serde_json::json!({ "type": "object", "properties": {} }).as_object().unwrap().clone();
        let tool = |name: &'static str| Tool::new(name, "A fixture.", Arc::new(schema.clone()));
        Ok(ListToolsResult::with_all_items(TOOLS.into_iter().chain(asking::names()).map(tool).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if asking::names().any(|name| name == call.name) {
            return asking::call(call, context).await;
        }
        let text = |text: &str| ContentBlock::text(text);
        let picture = ContentBlock::image(PICTURE, "image/png");
        let result = match &*call.name {
            "test_simple_text" => vec![text("This is a simple text response for testing.")],
            "test_image_content" => vec![picture],
            "test_audio_content" => vec![ContentBlock::audio(SOUND, "audio/wav")],
            "test_embedded_resource" => vec![embedded("test://embedded-resource")],
            "test_multiple_content_types" => {
                vec![text("Multiple content types test:"), picture, embedded("test://mixed-content-resource")]
            }
            "test_error_handling" => {
                let why = text("This tool intentionally returns an error for testing");
                return Ok(CallToolResult::error(vec![why]).into());
            }
            _ => return Err(ErrorData::invalid_params("no such tool", None)),
        };
        Ok(CallToolResult::success(result).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &&str| PromptArgument::new(*name).with_description("A text.").with_required(true);
        let prompt = |(name, arguments): (&str, &[&str])| {
            let arguments: Vec<_> = arguments.iter().map(argument).collect();
            Prompt::new(name, Some("A fixture."), (!arguments.is_empty()).then_some(arguments))
        };
        Ok(ListPromptsResult::with_all_items(PROMPTS.map(prompt).into()))
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if asked.name == ASKING_PROMPT {
            let user = asking::question("What context should the prompt use?", "context", "string");
            let rounds = [serde_json::json!({ "user_context": user })];
            let (responses, state) = (asked.input_responses.as_ref(), asked.request_state.as_deref());
            if let Some(open) = asking::next(ASKING_PROMPT, &rounds, responses, state)? {
                return Ok(open.into());
            }
        }
        let given = asked.arguments.unwrap_or_default();
        let given = |name: &str| given.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        let contents = match &*asked.name {
            "test_simple_prompt" | ASKING_PROMPT => vec![ContentBlock::text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let text = format!("Prompt with arguments: arg1='{}', arg2='{}'", given("arg1"), given("arg2"));
                vec![ContentBlock::text(text)]
            }
            "test_prompt_with_embedded_resource" => vec![embedded(&given("resourceUri"))],
            "test_prompt_with_image" => vec![ContentBlock::image(PICTURE, "image/png")],
            _ => return Err(ErrorData::invalid_params("no such prompt", None)),
        };
        let messages = contents.into_iter().map(|content| PromptMessage::new(Role::User, content));
        Ok(GetPromptResult::new(messages.collect()).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let known = ["test://static-text", "test://static-binary"];
        Ok(ListResourcesResult::with_all_items(known.map(|uri| Resource::new(uri, uri)).into()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template =
            ResourceTemplate::new("test://template/{id}/data", "template").with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let id = asked.uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (&*asked.uri, id) {
            ("test://static-text", _) => {
                ResourceContents::text("This is the content of the static text resource.", asked.uri)
            }
            ("test://static-binary", _) => ResourceContents::blob(PICTURE, asked.uri).with_mime_type("image/png"),
            (_, Some(id)) => {
                let text = serde_json::json!({ "id": id, "data": format!("Data for ID: {id}") }).to_string();
                ResourceContents::text(text, asked.uri).with_mime_type("application/json")
            }
            _ => {
                let data = serde_json::json!({ "uri": asked.uri });
                return Err(ErrorData::resource_not_found("no such text", Some(data)));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::new(CompletionInfo::new(vec!["test".to_owned()]).unwrap()))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, wanted: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(wanted.clone())
    }
}
