//! Every family of models through what a conversation brings, at servers that keep the rules of their providers.

use crate::kit::{Bench, PROTOCOLS, remote, say, text};
use jiff::ToSpan;
use limpid_core::FailureClass;
use limpid_model::protocol::Protocol;
use limpid_runtime::{Agent, AgentOptions, Config, ConversationChoice, Environment, Outcome, TurnEvent};
use limpid_store::RequestFilter;
use limpid_testkit::Strict;
use limpid_testkit::strict::{Answer, Rules};
use serde_json::{Value, json};

/// A family of models: where one is asked, and the form of what it says.
struct Family {
    model: &'static str,
    variable: &'static str,
    protocol: Protocol,
    rules: Rules,
}

const FAMILIES: [Family; 7] = [
    Family {
        model: "anthropic/claude-sonnet-5-5",
        variable: "ANTHROPIC_BASE_URL",
        protocol: Protocol::Anthropic,
        rules: Rules::AnthropicPreserved,
    },
    Family {
        model: "openai/gpt-6-luna",
        variable: "OPENAI_BASE_URL",
        protocol: Protocol::OpenaiResponses,
        rules: Rules::Responses,
    },
    Family {
        model: "openai/any",
        variable: "OPENAI_BASE_URL",
        protocol: Protocol::OpenaiChat,
        rules: Rules::PlainChat,
    },
    Family {
        model: "deepseek/deepseek-reasoner",
        variable: "DEEPSEEK_BASE_URL",
        protocol: Protocol::OpenaiChat,
        rules: Rules::Chat,
    },
    Family {
        model: "gemini/gemini-3.8-flash",
        variable: "GEMINI_BASE_URL",
        protocol: Protocol::Gemini,
        rules: Rules::Gemini,
    },
    Family {
        model: "gemini/gemini-2.5-flash",
        variable: "GEMINI_BASE_URL",
        protocol: Protocol::Gemini,
        rules: Rules::Gemini2,
    },
    Family { model: "ollama/qwen3", variable: "OLLAMA_HOST", protocol: Protocol::Ollama, rules: Rules::Ollama },
];

impl Family {
    /// A thought, then these calls: each an id, a tool and its arguments.
    fn calls(&self, calls: &[(&str, &str, Value)]) -> Answer {
        let each = calls.iter().enumerate().map(|(at, (id, name, arguments))| match self.protocol {
            Protocol::Anthropic => json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
            Protocol::OpenaiResponses => json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                "arguments": arguments.to_string()
            }),
            Protocol::OpenaiChat => json!({
                "id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}
            }),
            Protocol::Gemini => match at {
                // The first call of a batch bears the signature.
                0 if self.rules == Rules::Gemini => {
                    json!({"functionCall": {"name": name, "args": arguments}, "thoughtSignature": format!("g-{id}")})
                }
                _ => json!({"functionCall": {"name": name, "args": arguments}}),
            },
            Protocol::Ollama => json!({"function": {"name": name, "arguments": arguments}}),
        });
        let each: Vec<Value> = each.collect();
        let thought = format!("Before {}.", calls[0].0);
        Answer::Content(match self.protocol {
            Protocol::Anthropic => [vec![self.thought(&thought)], each].concat(),
            Protocol::OpenaiResponses => [vec![self.thought(&thought)], each].concat(),
            Protocol::OpenaiChat if self.rules == Rules::Chat => {
                vec![json!({"reasoning_content": thought, "tool_calls": each})]
            }
            Protocol::OpenaiChat => vec![json!({"tool_calls": each})],
            Protocol::Gemini => each,
            Protocol::Ollama => vec![json!({"thinking": thought, "content": "", "tool_calls": each})],
        })
    }

    fn thought(&self, text: &str) -> Value {
        match self.protocol {
            Protocol::Anthropic => json!({"type": "thinking", "thinking": text, "signature": format!("s-{text}")}),
            _ => json!({
                "type": "reasoning", "id": format!("rs_{}", text.len()), "summary": [],
                "encrypted_content": format!("e-{text}")
            }),
        }
    }

    fn says(&self, text: &str) -> Answer {
        Answer::Content(vec![match self.protocol {
            Protocol::Anthropic => json!({"type": "text", "text": text}),
            Protocol::OpenaiResponses => json!({
                "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]
            }),
            Protocol::OpenaiChat | Protocol::Ollama => json!({"content": text}),
            Protocol::Gemini => json!({"text": text}),
        }])
    }

    fn clock(&self, ids: &[&str]) -> Answer {
        let calls: Vec<_> = ids.iter().map(|id| (*id, "get_local_time", json!({"zone": "Europe/Rome"}))).collect();
        self.calls(&calls)
    }

    async fn start(&self, answers: Vec<Answer>) -> Strict {
        Strict::start(self.rules, answers).await.unwrap()
    }
}

/// An agent that asks the first of these families, then the next.
fn agent(bench: &Bench, families: &[(&Family, &Strict)]) -> Agent {
    let mut options = bench.options();
    let protocol = |family: &Family| {
        let provider = family.model.split('/').next().unwrap_or_default();
        format!("[provider.{provider}]\nprotocol = \"{}\"\n", family.protocol.as_str())
    };
    let text: String = families.iter().map(|(family, _)| protocol(family)).collect();
    let tools = "[tools]\ndefer = false\n";
    options.config = Config::parse(&(tools.to_owned() + &text), "limpid.toml").unwrap();
    options.config.model = Some(families[0].0.model.to_owned());
    options.config.fallback = families[1..].iter().map(|(family, _)| family.model.to_owned()).collect();
    let variables = families.iter().map(|(family, server)| {
        let path = match family.protocol {
            Protocol::Gemini => "/v1beta",
            Protocol::Ollama => "",
            _ => "/v1",
        };
        (family.variable.to_owned(), server.url() + path)
    });
    options.environment = Environment::new(variables);
    Agent::open(options).unwrap()
}

/// The bench's own server is not asked here.
const NOBODY: &str = "[[reply]]\nstatus = 500\n";

// MOD-191
#[tokio::test]
async fn a_loop_of_three_and_calls_at_once() {
    for family in FAMILIES {
        let bench = Bench::new(NOBODY).await;
        let loop_of_three = [family.clock(&["a"]), family.clock(&["b"]), family.clock(&["c"]), family.says("Noon.")];
        let at_once = [family.clock(&["d", "e", "f"]), family.says("Still noon."), family.says("Yes.")];
        let server = family.start([&loop_of_three[..], &at_once].concat()).await;
        let agent = agent(&bench, &[(&family, &server)]);
        for (ask, answer) in [("What time is it?", "Noon."), ("In three cities?", "Still noon."), ("Sure?", "Yes.")] {
            assert_eq!(text(&say(&agent, ask).await), answer, "{}: {:?}", family.model, server.refused());
        }
        assert_eq!(server.refused(), [""; 0], "{}", family.model);
        assert_eq!(server.bodies().len(), 7, "{}", family.model);
    }
}

// MOD-191
#[tokio::test]
async fn a_summary_and_the_conversation_after_it() {
    for family in FAMILIES {
        let bench = Bench::new(NOBODY).await;
        let mut answers = vec![family.clock(&["a"]), family.says("Noon."), family.says("Tea is ready.")];
        // This one makes its own summary.
        if family.rules != Rules::AnthropicPreserved {
            answers.push(family.says("The person asked for the time, which was noon, and for tea."));
        }
        answers.extend([family.clock(&["b"]), family.says("Evening.")]);
        let server = family.start(answers).await;
        let agent = agent(&bench, &[(&family, &server)]);
        say(&agent, "What time is it?").await;
        say(&agent, "And the tea?").await;
        let report = agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
        assert_eq!(report.failure, None, "{}: {:?}", family.model, server.refused());
        assert_eq!(text(&say(&agent, "What time is it now?").await), "Evening.", "{}", family.model);
        assert_eq!(server.refused(), [""; 0], "{}", family.model);
    }
}

// MOD-191
#[tokio::test]
async fn a_decision_that_has_to_be_made() {
    for family in FAMILIES {
        let bench = Bench::new(NOBODY).await;
        bench.write("workspace/HEARTBEAT.md", "# List\n\n- Tell me when the disk is full\n");
        let decided = family.calls(&[("h", "heartbeat_decision", json!({"action": "quiet"}))]);
        let server = family.start(vec![decided]).await;
        let agent = agent(&bench, &[(&family, &server)]);
        agent.jobs().run_due().await.unwrap();
        bench.clock.forward(2.hours());
        agent.jobs().run_due().await.unwrap();
        let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
        let failed: Vec<_> = rows.iter().filter_map(|row| row.end.as_ref()?.failure.clone()).collect();
        assert_eq!((server.refused(), failed), (Vec::new(), Vec::new()), "{}", family.model);
        assert_eq!(server.bodies().len(), 1, "{}", family.model);
    }
}

// MOD-191
#[tokio::test]
async fn another_family_takes_over_in_the_middle_and_hands_back() {
    for (at, family) in FAMILIES.iter().enumerate() {
        // A provider has one address.
        let other = FAMILIES.iter().cycle().skip(at + 1).find(|other| other.variable != family.variable).unwrap();
        let bench = Bench::new(NOBODY).await;
        let locked = Answer::Error(401, "the key is locked");
        let server = family.start(vec![family.clock(&["a"]), locked, family.says("Noon."), family.says("Yes.")]).await;
        let others = other.start(vec![other.clock(&["b"])]).await;
        let agent = agent(&bench, &[(family, &server), (other, &others)]);
        let names = format!("{} and {}", family.model, other.model);
        assert_eq!(text(&say(&agent, "What time is it?").await), "Noon.", "{names}: {:?}", server.refused());
        assert_eq!(text(&say(&agent, "Sure?").await), "Yes.", "{names}");
        assert_eq!((server.refused(), others.refused()), (Vec::new(), Vec::new()), "{names}");
        assert_eq!((server.bodies().len(), others.bodies().len()), (4, 1), "{names}");
    }
}

// MOD-191
#[tokio::test]
async fn a_refusal_and_a_reply_that_ends_at_its_limit_without_a_word() {
    // Ollama has no word for a refusal.
    for protocol in PROTOCOLS.into_iter().filter(|protocol| *protocol != Protocol::Ollama) {
        let refused = "[[reply]]\nfinish = \"moderated\"\n";
        let empty = "[[reply]]\nfinish = \"length\"\n";
        let bench = Bench::new(&format!("{refused}{empty}[[reply]]\ntext = \"Yes.\"\n")).await;
        let options = AgentOptions { model: Some(remote(protocol, bench.server.url())), ..bench.options() };
        let agent = Agent::open(options).unwrap();
        let class = |events: &[TurnEvent]| match events.last() {
            Some(TurnEvent::Done { outcome: Outcome::Failed { class, .. }, .. }) => Some(*class),
            _ => None,
        };
        let events = say(&agent, "Do it.").await;
        assert_eq!(class(&events), Some(FailureClass::Moderated), "{}: {events:?}", protocol.as_str());
        // It is told, or asked for once more.
        let events = say(&agent, "Say it.").await;
        assert!(class(&events).is_some() || text(&events) == "Yes.", "{}: {events:?}", protocol.as_str());
        assert_eq!(text(&say(&agent, "Well?").await), "Yes.", "{}", protocol.as_str());
    }
}
