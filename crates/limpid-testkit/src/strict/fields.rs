//! Fields of a request that providers refuse, each with the provider's own words.

use serde_json::Value;

/// A field that a provider refuses; the name of the rule is that of its constant.
pub type FieldRule = fn(&Value) -> Option<String>;

/// OpenAI's reasoning models.
pub const OPENAI_TEMPERATURE: FieldRule = |body| {
    let given = body["temperature"].as_f64().filter(|given| *given != 1.0)?;
    Some(format!(
        "Unsupported value: 'temperature' does not support {given} with this model. Only the default (1) value is supported."
    ))
};

/// OpenAI's reasoning models.
pub const OPENAI_TOP_P: FieldRule =
    |body| body.get("top_p").map(|_| "Unsupported parameter: 'top_p' is not supported with this model.".to_owned());

/// OpenAI's reasoning models over Chat Completions.
pub const OPENAI_MAX_TOKENS: FieldRule = |body| {
    let said =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    body.get("max_tokens").map(|_| said.to_owned())
};

/// OpenAI's models since 5.6 over Chat Completions: they reason unless told otherwise.
pub const OPENAI_TOOLS_UNREASONED: FieldRule = |body| {
    let said = "Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions. To use \
                function tools, use /v1/responses or set reasoning_effort to 'none'.";
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    (has_tools && body["reasoning_effort"] != "none").then(|| said.to_owned())
};

/// OpenAI's GPT-6.1 Sol and Astra, which always reason.
pub const OPENAI_NO_NONE: FieldRule = |body| {
    let said = "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: \
                'low', 'medium', 'high', 'xhigh', and 'max'.";
    (body["reasoning_effort"] == "none").then(|| said.to_owned())
};

/// Servers that came before the reasoning models of OpenAI; pydantic's words.
pub const OLD_LIMIT_NAME: FieldRule = |body| extra(body, "max_completion_tokens");

/// Mistral.
pub const MISTRAL_STREAM_OPTIONS: FieldRule = |body| extra(body, "stream_options");

/// Servers without a seed.
pub const NO_SEED: FieldRule =
    |body| body.get("seed").map(|_| "Unrecognized request argument supplied: seed".to_owned());

/// Groq's older models.
pub const GROQ_RESPONSE_FORMAT: FieldRule = |body| {
    let said = "This model does not support response format `json_schema`. See supported models at \
                https://console.groq.com/docs/structured-outputs#supported-models";
    (body["response_format"]["type"] == "json_schema").then(|| said.to_owned())
};

/// DeepSeek's reasoning models.
pub const DEEPSEEK_TOOL_CHOICE: FieldRule =
    |body| body.get("tool_choice").map(|_| "deepseek-reasoner does not support this tool_choice".to_owned());

/// Claude models since 4.7.
pub const ANTHROPIC_SAMPLING: FieldRule = |body| {
    let given = ["temperature", "top_p", "top_k"].into_iter().find(|name| body.get(name).is_some())?;
    Some(format!("`{given}` is deprecated for this model."))
};

/// Claude 4.1 to 4.6.
pub const ANTHROPIC_BOTH: FieldRule = |body| {
    let said = "`temperature` and `top_p` cannot both be specified for this model. Please use only one.";
    (body.get("temperature").is_some() && body.get("top_p").is_some()).then(|| said.to_owned())
};

/// Claude models that always reason.
pub const ANTHROPIC_FORCED_TOOL: FieldRule = |body| {
    let is_forced = matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool"));
    is_forced.then(|| "Thinking may not be enabled when tool_choice forces tool use.".to_owned())
};

/// A gateway before Claude that was made before tools could be found; pydantic's words.
pub const ANTHROPIC_DEFERRED: FieldRule = |body| {
    let tools = body["tools"].as_array()?;
    let at = tools.iter().position(|tool| tool.get("defer_loading").is_some())?;
    Some(format!("tools.{at}.custom.defer_loading: Extra inputs are not permitted"))
};

/// Claude models with a limit.
pub const ANTHROPIC_MAX_TOKENS: FieldRule = |body| {
    let given = body["max_tokens"].as_u64().filter(|given| *given > 4096)?;
    let said = "which is the maximum allowed number of output tokens for claude-3-haiku-20240307";
    Some(format!("max_tokens: {given} > 4096, {said}"))
};

/// A Gemini model without seeds.
pub const GEMINI_SEED: FieldRule = |body| {
    let said = "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config': Cannot find field.";
    body["generationConfig"].get("seed").map(|_| said.to_owned())
};

fn extra(body: &Value, name: &str) -> Option<String> {
    let given = body.get(name)?;
    Some(format!(
        "{{\"detail\":[{{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"{name}\"],\"msg\":\"Extra inputs are not permitted\",\
         \"input\":{given}}}]}}"
    ))
}
