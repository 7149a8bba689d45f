//! What a provider wants back goes back in its place: replies of strict servers, taken apart and sent again.

use std::sync::Arc;

use crate::support::{ask, call, card, endpoint, inputs, prompt, second_turn, text};
use limpid_core::ToolProtocol;
use limpid_model::protocol::Protocol;
use limpid_model::{Endpoint, Model, ModelCard, ModelEvent, On, RemoteModel};
use limpid_prompt::Inputs;
use limpid_prompt::inputs::{CallInput, HistoryMessage, Quoted, RoleName, StateInput, StateReader, TrustName};
use limpid_testkit::Strict;
use limpid_testkit::strict::{Answer, Rules};
use serde_json::{Value, json};

/// A model that speaks a protocol at an address.
fn model(protocol: Protocol, url: &str) -> RemoteModel {
    let endpoint = Endpoint { protocol, ..endpoint("openai", url, 5_000) };
    RemoteModel::new(ModelCard { thinking: true, ..card("openai", ToolProtocol::Native) }, endpoint).unwrap()
}

/// What a reply is in the conversation: the message of the model, and a result for each of its calls.
fn messages(model: &RemoteModel, events: &[ModelEvent]) -> Vec<HistoryMessage> {
    let protocol = model.info().state.protocol.unwrap();
    let mut message = HistoryMessage { role: RoleName::Assistant, ..HistoryMessage::by(TrustName::Owner) };
    let mut stretch = 0;
    for event in events {
        let end = message.content.len();
        match event {
            ModelEvent::Text(text) => message.content.push_str(text),
            ModelEvent::Stretch => stretch = end,
            ModelEvent::Call(call) => message.calls.push(CallInput {
                id: call.id.to_string(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            }),
            ModelEvent::State(state) => {
                let (text_from, calls_from, calls_to) = match state.on {
                    On::Answer => (0, 0, 0),
                    On::Place(calls) => (end, calls, calls),
                    On::Stretch(calls) => (stretch, calls, calls),
                    On::Call(call) => (end, call, call + 1),
                };
                let text_to = if state.on == On::Answer { 0 } else { end };
                let json = state.json.clone();
                let (protocol, model) = (protocol.to_owned(), model.info().name());
                message.state.push(StateInput {
                    protocol,
                    model,
                    json,
                    text_from,
                    text_to,
                    calls_from,
                    calls_to,
                    after: None,
                });
            }
            ModelEvent::Reasoning(_) | ModelEvent::Usage(_) | ModelEvent::Charged(_) => {}
            ModelEvent::Model(_) | ModelEvent::Searched | ModelEvent::End(_) => {}
        }
    }
    let result = |call: &CallInput| HistoryMessage {
        role: RoleName::Tool,
        content: "noon".to_owned(),
        call_id: Some(call.id.clone()),
        ..HistoryMessage::by(TrustName::Owner)
    };
    let results: Vec<HistoryMessage> = message.calls.iter().map(result).collect();
    std::iter::once(message).chain(results).collect()
}

/// Asks until the server has given all of its answers; every request has all replies before it.
pub(crate) async fn converse(server: &Strict, model: &RemoteModel, rounds: usize) -> Inputs {
    converse_as(server, model, rounds, "m-1").await
}

pub(crate) async fn converse_as(server: &Strict, model: &RemoteModel, rounds: usize, id: &str) -> Inputs {
    let mut inputs = Inputs { ..inputs() };
    inputs.model.provider = "openai".to_owned();
    inputs.model.id = id.to_owned();
    let protocol = model.info().state.protocol.unwrap().to_owned();
    inputs.model.state = StateReader { protocol, ..StateReader::default() };
    for _ in 0..rounds {
        let (events, error) = ask(model, &call(prompt(&inputs))).await;
        assert_eq!(error, None, "{:?}", server.refused());
        inputs.history.extend(messages(model, &events));
    }
    inputs
}

fn reasoning(id: &str) -> Value {
    json!({"id": id, "type": "reasoning", "summary": [], "encrypted_content": format!("gAAAA{id}=="), "status": "completed"})
}

fn function_call(id: &str, arguments: &str) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "call_id": id, "name": "look_up", "arguments": arguments})
}

fn message(text: &str, phase: Option<&str>) -> Value {
    let mut item = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    if let Some(phase) = phase {
        item["phase"] = phase.into();
    }
    item
}

// MOD-002 MOD-008 MOD-009 MOD-010
#[tokio::test]
async fn reasoning_items_go_back_whole_before_what_followed_them() {
    let answers = vec![
        vec![reasoning("rs_1"), function_call("c1", "{\"query\":\"tea\"}"), function_call("c2", "{}")],
        vec![reasoning("rs_2"), message("I look.", Some("commentary")), reasoning("rs_3"), function_call("c3", "{}")],
        vec![reasoning("rs_4"), message("Tea.", Some("final_answer"))],
        vec![message("No reasoning.", None)],
    ];
    let server = Strict::start(Rules::Responses, answers.into_iter().map(Answer::Content).collect()).await.unwrap();
    let model = model(Protocol::OpenaiResponses, &format!("{}/v1", server.url()));
    let inputs = converse(&server, &model, 5).await;
    assert_eq!(server.refused(), [""; 0]);
    let body = server.bodies().pop().unwrap();
    let kinds: Vec<&str> =
        body["input"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap_or("message")).collect();
    let (called, output) = ("function_call", "function_call_output");
    let expected = ["reasoning", called, called, output, output, "reasoning", "message", "reasoning", called, output];
    assert_eq!(kinds[1..11], expected, "{kinds:?}");
    assert_eq!(
        (body["include"].clone(), body["reasoning"].clone()),
        (json!(["reasoning.encrypted_content"]), Value::Null)
    );
    assert!(!body.to_string().contains("fc_c1") && !body.to_string().contains("msg_1"));
    assert_eq!(body["input"].to_string().matches("\"phase\":\"commentary\"").count(), 1);

    // Another model of the provider gets none of it, and its request is whole.
    let other = ModelCard { id: "m-2".to_owned(), thinking: true, ..card("openai", ToolProtocol::Native) };
    let endpoint =
        Endpoint { protocol: Protocol::OpenaiResponses, ..endpoint("openai", "http://127.0.0.1:1/v1", 1_000) };
    let body = RemoteModel::new(other, endpoint).unwrap().prepare(&call(prompt(&inputs))).unwrap().body;
    assert!(!body.contains("rs_1") && body.contains("Tea."), "{body}");
}

// MOD-008
#[tokio::test]
async fn reasoning_goes_back_without_its_id_once_that_was_not_found() {
    let answers = vec![
        vec![reasoning("rs_1"), function_call("c1", "{}")],
        Vec::new(),
        vec![reasoning("rs_2"), message("Tea.", None)],
        vec![message("No reasoning.", None)],
    ];
    let answers = answers.into_iter().map(Answer::Content).collect();
    let server = Strict::start(Rules::ResponsesForgetful, answers).await.unwrap();
    let model = model(Protocol::OpenaiResponses, &format!("{}/v1", server.url()));
    let mut inputs = converse(&server, &model, 1).await;
    let (_, error) = ask(&model, &call(prompt(&inputs))).await;
    let remedy = error.unwrap().remedy.unwrap();
    let refused = model.prepare(&call(prompt(&inputs))).unwrap();
    let told = "openai/m-1 does not know the reasoning of its earlier answers by its ids, so it gets it without them.";
    assert_eq!(model.learn(&remedy, &refused).as_deref(), Some(told));
    for _ in 0..2 {
        let (events, error) = ask(&model, &call(prompt(&inputs))).await;
        assert_eq!(error, None, "{:?}", server.refused());
        inputs.history.extend(messages(&model, &events));
    }
    assert_eq!(server.refused().len(), 1);
    let body = server.bodies().pop().unwrap().to_string();
    assert!(!body.contains("\"id\":\"rs_") && body.contains("gAAAArs_1=="), "{body}");
}

// MOD-009
#[tokio::test]
async fn a_report_while_it_works_is_progress_and_alone_it_is_the_answer() {
    let report = || message("I look.", Some("commentary"));
    let cases = [
        (vec![report(), message("Tea.", Some("final_answer"))], "Tea.", "I look."),
        (vec![reasoning("rs_1"), report(), reasoning("rs_2"), message("Tea.", None)], "Tea.", "I look."),
        (vec![report(), function_call("c1", "{}")], "", "I look."),
        (vec![reasoning("rs_1"), report()], "I look.", "I look."),
    ];
    for (items, answer, progress) in cases {
        let answers = vec![Answer::Content(items.clone()), Answer::Content(vec![message("Next.", None)])];
        let server = Strict::start(Rules::Responses, answers).await.unwrap();
        let model = model(Protocol::OpenaiResponses, &format!("{}/v1", server.url()));
        let mut inputs = converse(&server, &model, 0).await;
        let (events, error) = ask(&model, &call(prompt(&inputs))).await;
        assert_eq!(error, None);
        let shown = events.iter().filter_map(|event| match event {
            ModelEvent::Reasoning(text) => Some(text.as_str()),
            _ => None,
        });
        let shown: String = shown.collect();
        assert_eq!((text(&events).as_str(), shown.as_str()), (answer, progress), "{events:?}");
        inputs.history.extend(messages(&model, &events));
        ask(&model, &call(prompt(&inputs))).await;
        assert_eq!(server.refused(), [""; 0], "{items:?}");
        let input = server.bodies().pop().unwrap()["input"].clone();
        let phases =
            |items: &[Value]| items.iter().filter_map(|item| item["phase"].as_str().map(str::to_owned)).collect();
        let (sent, given): (Vec<String>, Vec<String>) = (phases(input.as_array().unwrap()), phases(&items));
        assert_eq!(sent, given, "{input}");
    }
}

// MOD-085
#[test]
fn the_system_text_has_the_name_that_the_model_takes() {
    let role = |protocol: Protocol, id: &str, list: &str| {
        let endpoint = Endpoint { protocol, ..endpoint("openai", "http://127.0.0.1:1/v1", 1_000) };
        let card = ModelCard { id: id.to_owned(), ..card("openai", ToolProtocol::Native) };
        let body = RemoteModel::new(card, endpoint).unwrap().prepare(&call(prompt(&second_turn()))).unwrap().body;
        let body: Value = serde_json::from_str(&body).unwrap();
        let roles: Vec<&str> = body[list].as_array().unwrap().iter().filter_map(|one| one["role"].as_str()).collect();
        assert!(!roles[1..].contains(&"system") && !roles[1..].contains(&"developer"), "{roles:?}");
        roles[0].to_owned()
    };
    for (protocol, list) in [(Protocol::OpenaiChat, "messages"), (Protocol::OpenaiResponses, "input")] {
        assert_eq!(["gpt-6.1-sol", "o3", "azure/gpt-5.2"].map(|id| role(protocol, id, list)), ["developer"; 3]);
        assert_eq!(["gpt-4o", "m-1", "gpt-oss-120b"].map(|id| role(protocol, id, list)), ["system"; 3]);
    }
    assert_eq!(role(Protocol::Ollama, "gpt-5", "messages"), "system");
}

// MOD-001
#[tokio::test]
async fn damaged_state_is_left_out_and_the_message_stays() {
    let server =
        Strict::start(Rules::Gemini, vec![Answer::Content(vec![json!({"text": "Hi.", "thoughtSignature": "t"})])]);
    let server = server.await.unwrap();
    let model = model(Protocol::Gemini, &format!("{}/v1beta", server.url()));
    let mut inputs = converse(&server, &model, 1).await;
    for broken in ["{\"thoughtSignature\":", "", "nonsense"] {
        inputs.history.last_mut().unwrap().state[0].json = broken.to_owned();
        let body = model.prepare(&call(prompt(&inputs))).unwrap().body;
        let body: Value = serde_json::from_str(&body).unwrap();
        let replies = body["contents"].as_array().unwrap().iter().find(|content| content["role"] == "model").unwrap();
        assert_eq!(replies["parts"], json!([{"text": "Hi."}]));
    }
    for span in [(0, 99, 0, 0), (7, 2, 5, 9), (1, 1, 0, 0)] {
        let state = &mut inputs.history.last_mut().unwrap().state[0];
        state.json = "\"t\"".to_owned();
        (state.text_from, state.text_to, state.calls_from, state.calls_to) = span;
        let body = model.prepare(&call(Arc::clone(&prompt(&inputs)))).unwrap().body;
        let body: Value = serde_json::from_str(&body).unwrap();
        let parts = body["contents"].to_string();
        assert!(parts.contains("Hi.") || parts.contains("\"H\""), "{parts}");
    }
}

/// A call in Gemini's words.
fn gemini_call(name: &str, signature: Option<&str>) -> Value {
    let mut part = json!({"functionCall": {"name": name, "args": {}}});
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.into();
    }
    part
}

// MOD-076
#[tokio::test]
async fn results_repeat_the_name_of_their_call_to_the_models_that_have_names_for_calls() {
    let batch =
        vec![gemini_call("look_up", Some("czE=")), gemini_call("look_up", None), gemini_call("tell_time", None)];
    for (rules, id) in [(Rules::Gemini, "gemini-3.8-flash"), (Rules::Gemini2, "gemini-2.5-pro")] {
        let answers = [batch.clone(), batch.clone(), vec![json!({"text": "Tea."})]];
        let server = Strict::start(rules, answers.into_iter().map(Answer::Content).collect()).await.unwrap();
        let endpoint =
            Endpoint { protocol: Protocol::Gemini, ..endpoint("openai", &format!("{}/v1beta", server.url()), 5_000) };
        let card = ModelCard { id: id.to_owned(), thinking: true, ..card("openai", ToolProtocol::Native) };
        let model = RemoteModel::new(card, endpoint).unwrap();
        let inputs = converse_as(&server, &model, 3, id).await;
        // A person who says something while the tools run does not stand among their results.
        let steered = Inputs { in_flight: Vec::new(), ..inputs };
        let mut steered = Inputs { history: steered.history[..4].to_vec(), ..steered };
        steered.user = Some(Quoted::new("And milk?", TrustName::Owner));
        let (_, error) = ask(&model, &call(prompt(&steered))).await;
        assert_eq!(error, None);
        assert_eq!(server.refused(), [""; 0], "{id}");
        let body = server.bodies().pop().unwrap();
        let results =
            &body["contents"].as_array().unwrap().iter().rfind(|content| content.to_string().contains("noon"));
        assert_eq!(results.unwrap()["parts"].as_array().unwrap().len(), 3, "{body}");
    }
}

// MOD-077
#[tokio::test]
async fn a_call_that_failed_is_one_to_the_provider_too() {
    let failed = r#"{"success":false,"error":"no such file"}"#;
    let mut inputs = second_turn();
    inputs.history[2].content = failed.to_owned();
    let body = |protocol: Protocol| -> Value {
        let body = model(protocol, "http://127.0.0.1:1/v1").prepare(&call(prompt(&inputs))).unwrap().body;
        serde_json::from_str(&body).unwrap()
    };
    let gemini = body(Protocol::Gemini);
    let responses: Vec<Value> = gemini["contents"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|content| {
            content["parts"].as_array().unwrap().iter().map(|part| part["functionResponse"]["response"].clone())
        })
        .filter(Value::is_object)
        .collect();
    assert_eq!(responses, [json!({ "error": failed }), json!({"output": "bad JSON"})]);
    let anthropic = body(Protocol::Anthropic);
    let results: Vec<(Value, Value)> = anthropic["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| {
            message["content"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|block| block["type"] == "tool_result")
                .map(|block| (block["content"].clone(), block["is_error"].clone()))
        })
        .collect();
    assert_eq!(results, [(json!(failed), json!(true)), (json!("bad JSON"), Value::Null)]);
}

/// Calls in the words of Chat Completions, with fields of their own.
fn chat_call(id: &str, fields: &Value) -> Value {
    let mut call = json!({"id": id, "type": "function", "function": {"name": "look_up", "arguments": "{}"}});
    call.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    call
}

// MOD-012 MOD-013 MOD-015
#[tokio::test]
async fn what_a_gateway_gave_with_a_message_goes_back_with_it() {
    let none = json!({});
    let openrouter = json!({
        "reasoning_details": [
            {"type": "reasoning.text", "text": "Tea, then.", "signature": "Es8C", "format": "anthropic-claude-v1", "index": 0},
            {"type": "reasoning.encrypted", "data": "EmwK", "id": "c1", "format": "google-gemini-v1", "index": 1},
        ],
        "tool_calls": [chat_call("c1", &none)]
    });
    let litellm = json!({
        "thinking_blocks": [
            {"type": "thinking", "thinking": "Tea, then.", "signature": "Es8C"}, {"type": "redacted_thinking", "data": "EmwK"}
        ],
        "provider_specific_fields": {"citations": [1]},
        "tool_calls": [
            chat_call("c2", &json!({"provider_specific_fields": {"thought_signature": "s"}})),
            chat_call("c3", &json!({"extra_content": {"google": {"thought_signature": "g"}}})),
        ]
    });
    let mistral = json!({
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Tea, then."}]}, {"type": "text", "text": "I look."}
        ],
        "tool_calls": [chat_call("c4", &none)]
    });
    let plain = json!({"content": "Green tea."});
    let answers = [openrouter, litellm, mistral, plain].map(|message| Answer::Content(vec![message]));
    let server = Strict::start(Rules::Gateway, answers.to_vec()).await.unwrap();
    let model = model(Protocol::OpenaiChat, &format!("{}/v1", server.url()));
    let inputs = converse(&server, &model, 5).await;
    assert_eq!(server.refused(), [""; 0]);
    let body = server.bodies().pop().unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&body["messages"]).unwrap());

    // Another model behind the same gateway gets none of it, and its request is whole.
    let other = ModelCard { id: "m-2".to_owned(), ..card("openai", ToolProtocol::Native) };
    let other = RemoteModel::new(other, endpoint("openai", "http://127.0.0.1:1/v1", 1_000)).unwrap();
    let body = other.prepare(&call(prompt(&inputs))).unwrap().body;
    assert!(!body.contains("Es8C") && !body.contains("signature") && body.contains("I look."), "{body}");
}

// MOD-151
#[tokio::test]
async fn ollama_gets_the_thinking_before_calls_back_and_no_field_that_it_does_not_know() {
    let thought = json!({
        "thinking": "Tea, then.", "content": "I look.",
        "tool_calls": [{"function": {"name": "look_up", "arguments": {"query": "tea"}}}]
    });
    let answers = [thought, json!({"thinking": "So.", "content": "Green tea."}), json!({"content": "Yes."})];
    let answers = answers.map(|message| Answer::Content(vec![message]));
    let server = Strict::start(Rules::Ollama, answers.to_vec()).await.unwrap();
    let model = model(Protocol::Ollama, &server.url());
    let everything = limpid_model::ModelCall {
        sampling: limpid_model::Sampling {
            temperature: Some(0.7),
            top_p: Some(0.9),
            seed: Some(7),
            max_output: Some(512),
        },
        reasoning: limpid_model::Reasoning { effort: limpid_core::Effort::High, shown: true },
        ..call(prompt(&second_turn()))
    };
    let mut inputs = converse(&server, &model, 3).await;
    inputs.user = Some(Quoted::new("Sure?", TrustName::Owner));
    ask(&model, &everything).await;
    assert_eq!(server.refused(), [""; 0]);
    let body = server.bodies().swap_remove(2);
    let thoughts: Vec<&Value> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["thinking"])
        .filter(|one| !one.is_null())
        .collect();
    assert_eq!(thoughts, [&json!("Tea, then.")], "{body}");
}
