//! Providers that search the web by themselves.

use limpid_core::ToolClass;
use limpid_runtime::ApprovalAnswer;

use crate::kit::Bench;
use crate::kit::effects::{EffectTool, agent, answering};

/// A reply as a provider of the chat protocol streams it, with a call behind its text.
fn script(annotations: &str) -> String {
    let call = r#"{"index":0,"id":"m","type":"function","function":{"name":"send_mail","arguments":"{\"to\":\"ada@example.com\"}"}}"#;
    format!(
        r#"[[reply]]
content_type = "text/event-stream"
raw = '''data: {{"choices":[{{"index":0,"delta":{{"content":"The page says so."{annotations}}},"finish_reason":null}}]}}

data: {{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}

data: [DONE]

'''
[[reply]]
text = "Done."
[[reply]]
calls = [{{ id = "n", name = "send_mail", arguments = {{ to = "ada@example.com" }} }}]
[[reply]]
text = "Done."
"#
    )
}

const CITATION: &str = r#","annotations":[{"type":"url_citation","url_citation":{"url":"http://a.example/"}}]"#;

// SEC-053 SEC-002
#[tokio::test]
async fn what_a_provider_read_for_an_answer_is_a_strangers_text_in_this_turn_and_the_next() {
    for (annotations, extra, asked) in [("", "", 0), (CITATION, "", 2), ("", "plugins = [{ id = \"web\" }]", 2)] {
        let mut bench = Bench::new(&script(annotations)).await;
        bench.config.agent.mode = "developer".into();
        if !extra.is_empty() {
            let settings = format!("[provider.openai.extra]\n{extra}\n");
            bench.config.provider = limpid_runtime::Config::parse(&settings, "limpid.toml").unwrap().provider;
        }
        let mail = EffectTool::new("send_mail", ToolClass::Execute);
        let agent = agent(&bench, &[&mail]);
        let mut questions = 0;
        for _ in 0..2 {
            questions += answering(&agent, "What does the page say?", ApprovalAnswer::No).await.len();
        }
        assert_eq!((questions, mail.runs()), (asked, 2 - asked), "{annotations} {extra}");
    }
}
