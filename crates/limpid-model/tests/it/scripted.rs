//! The scripted model, by a clock that does not run.

use std::sync::Arc;

use crate::support::{ForEver, NoPause, ask, call, card, collect, inputs, prompt, text, with_protocol};
use limpid_core::{FailureClass, ToolProtocol};
use limpid_model::script::Script;
use limpid_model::{Model, ModelEvent, ScriptedModel};
use tokio_util::sync::CancellationToken;

fn scripted(script: &str) -> ScriptedModel {
    ScriptedModel::new("test", Script::parse(script).unwrap())
}

#[tokio::test]
async fn replies_calls_and_counts_come_as_written() {
    let model = scripted(
        r#"
[[reply]]
reasoning = "Hm."
text = ["Let me ", "look."]
calls = [{ name = "look_up", arguments = { query = "tea" } }, { id = "x", name = "tell_time", arguments = "{broken" }]
usage = { input = 10, cached = 8, cache_written = 1, output = 5 }
"#,
    );
    let (events, error) = ask(&model, &call(prompt(&inputs()))).await;
    assert_eq!(error, None);
    insta::assert_debug_snapshot!(events);
    let sent = model.sent();
    assert_eq!((sent.len(), sent[0].protocol, sent[0].target.as_str()), (1, "scripted", "scripted:test"));
    assert!(sent[0].body.contains("\"content\":\"hi\""));
}

#[tokio::test]
async fn delays_pass_as_said() {
    let model = scripted("[[reply]]\ntext = [\"a\", \"b\"]\ndelay_ms = 60000\nbetween_ms = 1000");
    let pause = NoPause::default();
    ask(&model.pausing(Arc::new(pause.clone())), &call(prompt(&inputs()))).await;
    assert_eq!(*pause.0.lock().unwrap(), [60_000, 1000, 1000]);
}

// LES-141
#[tokio::test]
async fn faults_have_the_class_that_a_providers_would_have() {
    let call = call(prompt(&inputs()));
    for (script, class, said) in [
        ("[[reply]]\nstatus = 429\nretry_after = 3", FailureClass::Rate, ""),
        ("[[reply]]\nraw = \"<html>\"", FailureClass::Garbage, ""),
        ("[[reply]]\ntext = [\"hál\", \"lo\"]\ncalls = [{ name = \"x\" }]\ncut = 2", FailureClass::Transport, "h"),
        ("[[reply]]\nwhen = \"never said\"\ntext = \"x\"", FailureClass::Malformed, ""),
    ] {
        let (events, error) = ask(&scripted(script), &call).await;
        assert_eq!((error.unwrap().class, text(&events).as_str()), (class, said), "{script}");
        assert!(!events.iter().any(|event| matches!(event, ModelEvent::Call(_))));
    }
}

#[tokio::test]
async fn a_cancel_ends_silence_and_delay() {
    for script in
        ["[[reply]]\nhang = \"start\"", "[[reply]]\ntext = \"so\"\nhang = \"end\"", "[[reply]]\ndelay_ms = 999999999"]
    {
        let model = scripted(script).pausing(Arc::new(ForEver));
        let cancel = CancellationToken::new();
        let stream = model.send(model.prepare(&call(prompt(&inputs()))).unwrap(), cancel.clone());
        let stop = async {
            tokio::task::yield_now().await;
            cancel.cancel();
        };
        let ((_, error), ()) = tokio::join!(collect(stream), stop);
        assert_eq!(error.unwrap().class, FailureClass::Cancelled, "{script}");
    }
}

#[tokio::test]
async fn a_flood_is_as_long_as_said() {
    let (events, _) = ask(&scripted("[[reply]]\nflood = 1000000"), &call(prompt(&inputs()))).await;
    assert_eq!(text(&events).len(), 1_000_000);
}

#[tokio::test]
async fn a_script_can_play_a_model_without_native_calls() {
    let script = Script::parse("[[reply]]\ntext = '{\"calls\":[{\"name\":\"look_up\",\"arguments\":{}}]}'").unwrap();
    let model = ScriptedModel::with_card(card("s", ToolProtocol::Json), script);
    let (events, _) = ask(&model, &call(prompt(&with_protocol(inputs(), ToolProtocol::Json)))).await;
    assert!(matches!(&events[0], ModelEvent::Call(call) if call.name == "look_up"), "{events:?}");
}
