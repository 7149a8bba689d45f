//! Tools of the suite that say something to the client, or ask it something, before they answer.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequests,
    InputRequiredResult, InputResponses, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
    SamplingMessage, ServerRequest,
};
use rmcp::service::{RequestContext, ServiceError};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

/// Tools of clients with a handshake: what they ask goes over the open connection.
const OPEN: [&str; 6] = [
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
];

/// Tools of clients without one: what they ask is their answer, and the client comes back with what it found out.
const IN_ROUNDS: [&str; 11] = [
    "test_missing_capability",
    "test_logging_tool",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OPEN.into_iter().chain(IN_ROUNDS)
}

/// Calls one of them.
pub(super) async fn call(
    call: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let given = |name: &str| call.arguments.as_ref().and_then(|given| given.get(name)).and_then(Value::as_str);
    let can = context.client_capabilities().unwrap_or_default();
    let answer = match &*call.name {
        "test_tool_with_logging" => logs(&context, Some(LoggingLevel::Info)).await,
        "test_logging_tool" => logs(&context, context.meta.log_level()).await,
        "test_tool_with_progress" => {
            for progress in [0.0, 50.0, 100.0] {
                if let Some(token) = context.meta.get_progress_token() {
                    let told = ProgressNotificationParam::new(token, progress).with_total(100.0);
                    context.peer.notify_progress(told).await.map_err(|error| lost(&error))?;
                }
            }
            Ok("Done.".to_owned())
        }
        "test_sampling" => {
            let asked = vec![SamplingMessage::user_text(given("prompt").unwrap_or_default())];
            let said = context.peer.create_message(CreateMessageRequestParams::new(asked, 100)).await;
            said.map(|said| format!("LLM response: {:?}", said.message.content)).map_err(|error| lost(&error))
        }
        "test_elicitation" => asks(&context, given("message").unwrap_or_default(), user()).await,
        "test_elicitation_sep1034_defaults" => asks(&context, "Who?", defaults()).await,
        "test_elicitation_sep1330_enums" => asks(&context, "Which?", choices()).await,
        "test_missing_capability" if can.sampling.is_none() => {
            let needed = ClientCapabilities::builder().enable_sampling().build();
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        name => {
            let rounds = rounds(name, &can);
            let open = next(name, &rounds, call.input_responses.as_ref(), call.request_state.as_deref())?;
            if let Some(open) = open {
                return Ok(open.into());
            }
            Ok("state-ok".to_owned())
        }
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(answer?)]).into())
}

/// What a prompt or a tool with these rounds asks next; nothing once all is answered. What it hands out as its state is the round, and
/// it takes nothing back that it did not hand out.
pub(super) fn next(
    name: &str,
    rounds: &[Value],
    responses: Option<&InputResponses>,
    state: Option<&str>,
) -> Result<Option<InputRequiredResult>, ErrorData> {
    let states: Vec<_> = (0..rounds.len()).map(|round| format!("{name}, round {round}")).collect();
    let asked = match state {
        None => 0,
        Some(state) => (states.iter().position(|known| known == state))
            .ok_or_else(|| ErrorData::invalid_params("this state was not given out here", None))?,
    };
    let is_answered = |key: &String| responses.and_then(|all| all.get(key)).is_some_and(Value::is_object);
    let is_done = |round: &Value| round.as_object().unwrap().keys().all(&is_answered);
    let open = if rounds.get(asked).is_some_and(is_done) { asked + 1 } else { asked };
    Ok(rounds.get(open).map(|round| {
        let requests: InputRequests = serde_json::from_value(round.clone()).unwrap();
        InputRequiredResult::new(Some(requests), Some(states[open].clone()))
    }))
}

/// The questions of a tool, round by round.
fn rounds(tool: &str, can: &ClientCapabilities) -> Vec<Value> {
    let capital = sampling("What is the capital of France?");
    let roots = json!({ "method": "roots/list", "params": {} });
    let name = question("What is your name?", "name", "string");
    let ok = question("Please confirm.", "ok", "boolean");
    match tool {
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => vec![json!({ "user_name": name })],
        "test_input_required_result_sampling" => vec![json!({ "capital_question": capital })],
        "test_input_required_result_list_roots" => vec![json!({ "client_roots": roots })],
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            vec![json!({ "confirm": ok })]
        }
        "test_input_required_result_multiple_inputs" => {
            vec![json!({ "user_name": name, "greeting": sampling("Generate a greeting."), "client_roots": roots })]
        }
        "test_input_required_result_multi_round" => {
            let color = question("Step 2: What is your favorite color?", "color", "string");
            vec![json!({ "step1": name }), json!({ "step2": color })]
        }
        "test_input_required_result_capabilities" => {
            let mut wanted = serde_json::Map::new();
            if can.sampling.is_some() {
                wanted.insert("capital_question".to_owned(), capital);
            }
            if can.elicitation.is_some() {
                wanted.insert("user_name".to_owned(), name);
            }
            vec![Value::Object(wanted)]
        }
        _ => Vec::new(),
    }
}

/// A question with one field.
pub(super) fn question(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { (field): { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

fn sampling(text: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn user() -> Value {
    json!({
        "type": "object",
        "properties": { "username": { "type": "string" }, "email": { "type": "string" } },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
    })
}

fn choices() -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = [json!({ "const": "value1", "title": "First" }), json!({ "const": "value2", "title": "Second" })];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": { "type": "string", "oneOf": titled },
            "legacyEnum": { "type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"] },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } },
        },
    })
}

async fn logs(context: &RequestContext<RoleServer>, level: Option<LoggingLevel>) -> Result<String, ErrorData> {
    let Some(level) = level else { return Ok("Done.".to_owned()) };
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let told = LoggingMessageNotificationParam::new(level, json!(text));
        context.peer.notify_logging_message(told).await.map_err(|error| lost(&error))?;
    }
    Ok("Done.".to_owned())
}

async fn asks(context: &RequestContext<RoleServer>, message: &str, schema: Value) -> Result<String, ErrorData> {
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).unwrap();
    let form = ElicitRequestParams::FormElicitationParams { meta: None, message: message.to_owned(), requested_schema };
    let asked = context.peer.send_request(ServerRequest::ElicitRequest(ElicitRequest::new(form)));
    Ok(format!("Elicitation completed: {:?}", asked.await.map_err(|error| lost(&error))?))
}

fn lost(error: &ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
