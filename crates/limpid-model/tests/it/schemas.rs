//! Tools with the schemas that servers of tools really have, sent to providers that refuse what they refuse.

use crate::support::{ask, call, card, endpoint, inputs, prompt};
use limpid_core::ToolProtocol;
use limpid_model::protocol::Protocol;
use limpid_model::{Abilities, Endpoint, Model, ModelCard, ModelEvent, RemoteModel};
use limpid_prompt::Inputs;
use limpid_prompt::inputs::{CallInput, HistoryMessage, RoleName, ToolInput, TrustName};
use limpid_testkit::Strict;
use limpid_testkit::strict::schemas::{ANTHROPIC_SCHEMA, GEMINI_SCHEMA, OPENAI_SCHEMA};
use limpid_testkit::strict::{Answer, FieldRule, Rules};
use serde_json::{Value, json};

const PROVIDERS: [(Protocol, Rules, FieldRule); 4] = [
    (Protocol::OpenaiChat, Rules::PlainChat, OPENAI_SCHEMA),
    (Protocol::OpenaiResponses, Rules::Responses, OPENAI_SCHEMA),
    (Protocol::Anthropic, Rules::Anthropic, ANTHROPIC_SCHEMA),
    (Protocol::Gemini, Rules::Gemini, GEMINI_SCHEMA),
];

/// A model that speaks a protocol at an address.
fn model(protocol: Protocol, url: &str, strict: bool) -> RemoteModel {
    let endpoint = Endpoint { protocol, ..endpoint("openai", url, 5_000) };
    let card = card("openai", ToolProtocol::Native);
    let abilities = Abilities { strict_tools: Some(strict), ..card.abilities };
    RemoteModel::new(ModelCard { thinking: true, abilities, ..card }, endpoint).unwrap()
}

fn tool(name: &str, schema: &Value) -> ToolInput {
    ToolInput {
        name: name.to_owned(),
        schema: schema.as_object().unwrap().clone().into(),
        ..crate::support::tool(name, "x")
    }
}

/// Every schema of the corpus as a tool.
fn corpus() -> Inputs {
    let all: Value = serde_json::from_str(include_str!("../schemas.json")).unwrap();
    let tools = all.as_object().unwrap().iter().map(|(name, schema)| tool(name, schema));
    Inputs { tools: tools.collect(), ..inputs() }
}

/// The words of an answer that calls a tool with these arguments.
fn calling(protocol: Protocol, name: &str, arguments: &Value) -> Answer {
    let text = arguments.to_string();
    Answer::Content(vec![match protocol {
        Protocol::Anthropic => json!({"type": "tool_use", "id": "c1", "name": name, "input": arguments}),
        Protocol::Gemini => json!({"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "s"}),
        Protocol::OpenaiResponses => {
            json!({"id": "fc_1", "type": "function_call", "call_id": "c1", "name": name, "arguments": text})
        }
        _ => json!({"tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": text}}]}),
    }])
}

/// The tools of a body, each its name and schema.
fn declared(body: &Value) -> Vec<(String, Value)> {
    let tools = body["tools"].as_array().unwrap();
    let tools = tools[0]["functionDeclarations"].as_array().unwrap_or(tools);
    let one = |tool: &Value| {
        let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
        let schemas = [&tool["parameters"], &tool["input_schema"], &tool["parametersJsonSchema"]];
        let schema = schemas.into_iter().find(|schema| schema.is_object()).unwrap();
        (tool["name"].as_str().unwrap().to_owned(), schema.clone())
    };
    tools.iter().map(one).collect()
}

// MOD-080
#[tokio::test]
async fn no_schema_makes_a_provider_refuse_a_request() {
    let inputs = corpus();
    let mut rows = Vec::new();
    for (protocol, rules, rule) in PROVIDERS {
        for strict in [false, true] {
            let answer = calling(protocol, "plain", &json!({"query": "tea"}));
            let provider = Strict::refusing(rules, vec![rule], vec![answer]).await.unwrap();
            let model = model(protocol, &format!("{}/v1", provider.url()), strict);
            let prompt = prompt(&inputs);
            let (_, error) = ask(&model, &call(prompt.clone())).await;
            assert_eq!((error, provider.refused()), (None, Vec::new()), "{protocol:?}");
            let sent = declared(&provider.bodies()[0]);
            assert_eq!(sent.len(), inputs.tools.len() - 3);
            assert!(!sent.iter().any(|(name, _)| name.starts_with("unfit")));
            assert_eq!(model.left_out(&prompt).len(), 3, "{:?}", model.left_out(&prompt));
            let again = model.prepare(&call(prompt.clone())).unwrap().body;
            assert_eq!(again, model.prepare(&call(prompt)).unwrap().body, "the same bytes each time");
            let strict = if strict { " strict" } else { "" };
            rows.extend(sent.iter().map(|(name, schema)| format!("{}{strict} {name}: {schema}", protocol.as_str())));
        }
    }
    insta::assert_snapshot!(rows.join("\n"));
}

// MOD-080
#[tokio::test]
async fn a_tool_that_must_be_called_and_cannot_be_declared_fails_no_request() {
    let inputs = Inputs { tools: vec![tool("unfit", &json!({"type": "string"}))], ..inputs() };
    for (protocol, ..) in PROVIDERS {
        let must =
            limpid_model::ModelCall { tools: limpid_model::ToolUse::Must("unfit".to_owned()), ..call(prompt(&inputs)) };
        let model = model(protocol, "http://127.0.0.1:1/v1", false);
        let body = model.prepare(&must).unwrap().body;
        assert!(!body.contains("unfit"), "{body}");
        let told = "openai/m-1 does not get the tool `unfit`, because the schema of its arguments does not describe an object; \
                    correct the schema or remove the tool";
        assert_eq!(model.left_out(&must.prompt), [told]);
    }
}

// MOD-080
#[tokio::test]
async fn arguments_with_odd_names_come_back_under_their_own() {
    let arguments = json!({"$filter": "a eq 1", "$top": 3, "deep": [{"$top": 1}]});
    let mut inputs = corpus();
    for (protocol, rules, rule) in PROVIDERS {
        let names: Vec<String> = {
            let body = model(protocol, "http://127.0.0.1:1/v1", false).prepare(&call(prompt(&inputs))).unwrap().body;
            let declared = declared(&serde_json::from_str(&body).unwrap());
            let (_, schema) = declared.iter().find(|(name, _)| name == "odata_names").unwrap();
            schema["properties"].as_object().unwrap().keys().cloned().collect()
        };
        let (top, filter) = (&names[0], &names[1]);
        let theirs = json!({filter: "a eq 1", top: 3, "deep": [{top: 1}]});
        let answer = calling(protocol, "odata_names", &theirs);
        let provider = Strict::refusing(rules, vec![rule], vec![answer]).await.unwrap();
        let model = model(protocol, &format!("{}/v1", provider.url()), false);
        let (events, _) = ask(&model, &call(prompt(&inputs))).await;
        let came = events.iter().find_map(|event| if let ModelEvent::Call(call) = event { Some(call) } else { None });
        assert_eq!(came.unwrap().arguments, arguments.to_string(), "{protocol:?}");

        // The model reads its own call as it wrote it.
        let before = inputs.history.clone();
        let said = |role| HistoryMessage { role, ..HistoryMessage::by(TrustName::Owner) };
        let call_of = CallInput { id: "c1".into(), name: "odata_names".into(), arguments: arguments.to_string() };
        inputs.history.extend([
            HistoryMessage { content: "hi".into(), ..said(RoleName::User) },
            HistoryMessage { calls: vec![call_of], ..said(RoleName::Assistant) },
            HistoryMessage { content: "ok".into(), call_id: Some("c1".into()), ..said(RoleName::Tool) },
        ]);
        let body = model.prepare(&call(prompt(&inputs))).unwrap().body.replace("\\\"", "\"");
        assert!(body.contains(&theirs.to_string()), "{body}");
        inputs.history = before;
    }
}

// MOD-081
#[tokio::test]
async fn a_strict_tool_gets_the_same_arguments_as_another() {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"]
    });
    let free = json!({"type": "object", "properties": {"env": {"type": "object"}}});
    let inputs = Inputs { tools: vec![tool("weather", &schema), tool("run.it", &free)], ..inputs() };
    for (protocol, rules, rule) in &PROVIDERS[..2] {
        let mut arguments = Vec::new();
        for strict in [false, true] {
            let written = if strict { json!({"city": "Ulm", "days": null}) } else { json!({"city": "Ulm"}) };
            let provider =
                Strict::refusing(*rules, vec![*rule], vec![calling(*protocol, "weather", &written)]).await.unwrap();
            let model = model(*protocol, &format!("{}/v1", provider.url()), strict);
            let (events, error) = ask(&model, &call(prompt(&inputs))).await;
            assert_eq!((error, provider.refused()), (None, Vec::new()));
            let body = &provider.bodies()[0];
            let flag = |at: usize| {
                let tool = &body["tools"][at];
                tool["strict"].as_bool().or(tool["function"]["strict"].as_bool()).unwrap_or(false)
            };
            assert_eq!((flag(0), flag(1)), (strict, false), "{body}");
            arguments.extend(events.into_iter().filter_map(|event| match event {
                ModelEvent::Call(call) => Some(call.arguments),
                _ => None,
            }));
        }
        assert_eq!(arguments, [r#"{"city":"Ulm"}"#; 2]);
    }
}

/// Refuses the schemas of two tools that every known rule lets pass, and every strict one.
const PICKY: FieldRule = |body| {
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name =
        |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap_or_default().to_owned();
    let strict = tools.iter().find(|tool| tool["strict"] == true || tool["function"]["strict"] == true);
    if let Some(tool) = strict {
        return Some(format!("Invalid schema for function '{}': In context=(), 'x' is not permitted.", name(tool)));
    }
    let at = tools.iter().position(|tool| name(tool).starts_with("odd"))?;
    Some(match tools[at]["input_schema"].is_object() {
        true => {
            format!("tools.{at}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12")
        }
        false => format!("Invalid schema for function '{}': schema is too large.", name(&tools[at])),
    })
};

// MOD-080
#[tokio::test]
async fn a_tool_that_a_provider_refuses_all_the_same_is_left_out_with_one_notice() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let names = ["odd.one", "fine", "odd_two"];
    let inputs = Inputs { tools: names.map(|name| tool(name, &schema)).to_vec(), ..inputs() };
    for (protocol, rules, _) in PROVIDERS.into_iter().take(3) {
        let answer = calling(protocol, "fine", &json!({"a": "b"}));
        let provider = Strict::refusing(rules, vec![PICKY], vec![answer]).await.unwrap();
        let model = std::sync::Arc::new(model(protocol, &format!("{}/v1", provider.url()), true));
        let chain = limpid_model::Chain::new(
            vec![model as std::sync::Arc<dyn Model>],
            limpid_core::RetryPlan::default(),
            std::sync::Arc::new(crate::support::NoPause::default()),
        );
        let call = call(prompt(&inputs));
        let mut told = Vec::new();
        for _ in 0..2 {
            let call = call.clone();
            let make = move |_: &ModelCard| Ok(limpid_model::Ask { call: call.clone(), tokens: 1000 });
            let asked = chain.ask(std::sync::Arc::new(make), tokio_util::sync::CancellationToken::new());
            let (events, error) = crate::support::collect(asked).await;
            assert_eq!(error, None, "{:?}", provider.refused());
            told.extend(events.into_iter().filter_map(|event| match event {
                limpid_model::ChainEvent::Remedied { notice, .. } => notice,
                _ => None,
            }));
        }
        let line = |tools: &str, which: &str| {
            format!(
                "openai/m-1 refuses the schema of {tools} and is asked without {which} until the restart; correct the schema or \
                 remove the tool."
            )
        };
        assert_eq!(told, [line("`odd.one`", "it"), line("`odd.one`, `odd_two`", "them")], "{protocol:?}");
        let last = provider.bodies().pop().unwrap();
        assert_eq!(declared(&last).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["fine"]);
    }
}
