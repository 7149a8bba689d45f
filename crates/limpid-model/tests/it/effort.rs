//! What leaves for a level of effort, by protocol and by the way in which a model is told.

use limpid_core::Effort;
use limpid_model::catalogue::ModelProfiles;
use limpid_model::protocol::{Dialect, Protocol};
use limpid_model::{Endpoint, Field, Model, ModelCard, Reasoning, RemoteModel, Timeouts};
use limpid_testkit::{Wire, keep_body};
use serde_json::Value;

use crate::support::{call, inputs, prompt};

const FIELDS: [&str; 7] =
    ["reasoning", "reasoning_effort", "thinking", "output_config", "chat_template_kwargs", "think", "generationConfig"];

fn said(protocol: Protocol, card: &ModelCard, reasoning: Reasoning) -> String {
    let endpoint = Endpoint {
        protocol,
        dialect: Dialect::default(),
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        key: None,
        key_variable: None,
        timeouts: Timeouts::default(),
        access: limpid_model::Access::default(),
        key_command: None,
        listed: Vec::new(),
    };
    let card = ModelCard { id: "m-1".to_owned(), ..card.clone() };
    let model = RemoteModel::new(card, endpoint).unwrap();
    let mut call = call(prompt(&inputs()));
    call.reasoning = reasoning;
    call.sampling.max_output = Some(40_000);
    let prepared = model.prepare(&call).unwrap();
    let wire = Wire::ALL.into_iter().find(|wire| wire.name() == protocol.as_str()).unwrap();
    keep_body(wire, prepared.body.as_bytes());
    let body: Value = serde_json::from_str(&prepared.body).unwrap();
    let fields = FIELDS.into_iter().filter_map(|name| Some(format!("{name} {}", body.get(name)?)));
    fields.collect::<Vec<_>>().join(", ")
}

// MOD-020
#[test]
fn every_level_becomes_one_that_the_model_has_in_its_own_words() {
    let own = r#"
[[model]]
names = ["x/all*"]
effort = ["off", "minimal", "low", "medium", "high", "xhigh", "max"]
[[model]]
names = ["x/all-budget"]
effort_form = "budget"
[[model]]
names = ["x/all-between"]
effort_form = "between-tools"
[[model]]
names = ["x/all-object"]
effort_form = "object"
[[model]]
names = ["x/all-switch"]
effort_form = "switch"
[[model]]
names = ["x/all-template"]
effort_form = "template"
[[model]]
names = ["x/all-level"]
effort_form = "level"
[[model]]
names = ["x/few"]
effort = ["low", "high"]
"#;
    let profiles = ModelProfiles::load(Some(("models.toml", own))).unwrap();
    let mut rows = Vec::new();
    for (protocol, names) in [
        (Protocol::OpenaiResponses, &["all", "few", "unknown"][..]),
        (Protocol::OpenaiChat, &["all", "all-object", "all-switch", "all-template"]),
        (Protocol::Anthropic, &["all", "all-between", "all-budget", "few"]),
        (Protocol::Gemini, &["all", "all-budget", "few"]),
        (Protocol::Ollama, &["all", "all-level"]),
    ] {
        for name in names {
            let card = profiles.get("x", name).card();
            for effort in Effort::ALL {
                let said = said(protocol, &card, Reasoning { effort, shown: false });
                rows.push(format!("{} {name} {}: {said}", protocol.as_str(), effort.as_str()));
            }
        }
    }
    insta::assert_snapshot!(rows.join("\n"));
}

// MOD-022
#[test]
fn models_that_reason_are_asked_to_show_it() {
    let card = ModelCard { thinking: true, ..ModelCard::default() };
    let all =
        [Protocol::OpenaiChat, Protocol::OpenaiResponses, Protocol::Anthropic, Protocol::Gemini, Protocol::Ollama];
    let shown = |card: &ModelCard, shown| {
        all.map(|protocol| said(protocol, card, Reasoning { shown, ..Reasoning::default() })).join("|")
    };
    insta::assert_snapshot!(
        shown(&card, true),
        @r#"|reasoning {"summary":"auto"}|thinking {"type":"adaptive","display":"summarized"}|generationConfig {"maxOutputTokens":40000,"thinkingConfig":{"includeThoughts":true}}|"#
    );
    let silent = "|||generationConfig {\"maxOutputTokens\":40000}|";
    assert_eq!(shown(&card, false), silent);
    let mut refusing = card.clone();
    refusing.abilities.refuses = Some(vec![Field::Reasoning]);
    refusing.abilities.effort = Some(Effort::ALL.to_vec());
    assert_eq!(shown(&refusing, true), silent, "what a model refuses is not sent");
    assert_eq!(shown(&ModelCard::default(), true), silent, "a model that does not reason is asked nothing");
}
