//! Parts that are wired to the machine, in whole turns: nothing is sent to them without the owner.

use std::io;
use std::sync::{Arc, Mutex};

use crate::kit::{Bench, all, last};
use limpid_core::DraftState;
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, Config, QuestionPart, Tool, TurnEvent};
use limpid_store::DraftId;
use limpid_tools::hardware::{Buses, I2c, Presence, Probe, Spi, SpiClock};
use serde_json::{Value, json};

/// Wires that note what is sent over them.
#[derive(Default)]
struct Wires(Mutex<Vec<String>>);

impl Wires {
    fn sent(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Buses for Wires {
    fn i2c_buses(&self) -> io::Result<Vec<String>> {
        Ok(vec!["1".to_owned()])
    }

    fn i2c_probe(&self, _: &str, _: u8, _: Probe) -> io::Result<Presence> {
        Ok(Presence::Nothing)
    }

    fn i2c_read(&self, _: &str, _: u8, _: Option<u8>, length: usize) -> io::Result<Vec<u8>> {
        Ok(vec![7; length])
    }

    fn i2c_write(&self, bus: &str, address: u8, data: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().push(format!("i2c-{bus} {address} {data:?}"));
        Ok(())
    }

    fn spi_devices(&self) -> io::Result<Vec<String>> {
        Ok(vec!["0.1".to_owned()])
    }

    fn spi_transfer(&self, device: &str, _: SpiClock, data: &[u8]) -> io::Result<Vec<u8>> {
        self.0.lock().unwrap().push(format!("spi-{device} {data:?}"));
        Ok(data.to_vec())
    }
}

/// An agent with these wires, whose model makes these calls at once.
async fn wired(settings: &str, calls: &[(&str, Value)]) -> (Bench, Agent, Arc<Wires>) {
    let call = |(name, arguments): &(&str, Value)| {
        format!("{{ name = \"{name}\", arguments = {} }}", Value::String(arguments.to_string()))
    };
    let calls: Vec<String> = calls.iter().map(call).collect();
    let mut bench = Bench::new(&format!("[[reply]]\ncalls = [{}]\n[[reply]]\ntext = \"ok\"\n", calls.join(", "))).await;
    let settings = format!("model = \"openai/scripted\"\n[tools]\ndefer = false\n{settings}");
    bench.config = Config::parse(&settings, "limpid.toml").unwrap();
    let wires = Arc::new(Wires::default());
    let buses = || Arc::clone(&wires) as Arc<dyn Buses>;
    let mut options = bench.options();
    options.tools = vec![Arc::new(I2c::new(buses())) as Arc<dyn Tool>, Arc::new(Spi::new(buses()))];
    (bench, Agent::open(options).unwrap(), wires)
}

fn results(bench: &Bench) -> Vec<String> {
    let request = bench.server.calls().last().unwrap().json();
    let messages = request["messages"].as_array().unwrap().clone();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn write(confirm: bool) -> (&'static str, Value) {
    ("i2c", json!({ "action": "write", "bus": "1", "address": 72, "data": [1, 2], "confirm": confirm }))
}

fn transfer(confirm: bool) -> (&'static str, Value) {
    ("spi", json!({ "action": "transfer", "device": "0.1", "data": [9], "confirm": confirm }))
}

/// Nothing was read from outside, and the mode, or that there is none, would let any program run.
const FREE: [&str; 3] = [
    "[agent]\nprofile = \"picoclaw\"\n",
    "[agent]\nmode = \"developer\"\n",
    "[policy]\nallow = [{ tool = \"*\" }, { tool = \"i2c\" }, { tool = \"class:execute\" }]\n",
];

// PICO-097
#[tokio::test]
async fn what_is_sent_waits_for_the_owner_in_every_mode_and_needs_its_confirmation_too() {
    for settings in FREE {
        let read = ("i2c", json!({ "action": "read", "bus": "1", "address": 72, "length": 2 }));
        let calls = [read, write(true), transfer(true), write(false), transfer(false)];
        let (bench, agent, wires) = wired(settings, &calls).await;
        all(agent.chat(last("set it")).await.unwrap()).await;
        let seen = results(&bench);
        assert!(seen[0].contains("0x07 0x07"), "{settings}: reading asks nobody: {seen:?}");
        let has = |at: usize, words: &str| assert!(seen[at].contains(words), "{settings}: {seen:?}");
        for confirmed in [1, 2] {
            has(confirmed, "kept as draft");
        }
        // The owner is not asked about what was not confirmed.
        for unconfirmed in [3, 4] {
            has(unconfirmed, "needs `confirm: true`; nothing was sent");
        }
        assert_eq!(wires.sent(), [""; 0], "{settings}: {seen:?}");

        // An edit may not take the confirmation away, a no sends nothing, and a yes sends it once.
        let draft = agent.drafts().get(DraftId(1)).await.unwrap().0;
        assert_eq!(draft.new.destination.as_deref(), Some("/dev/i2c-1"), "{settings}");
        let error = agent.drafts().edit(draft.id, &write(false).1.to_string()).await.unwrap_err().to_string();
        assert!(error.contains("needs `confirm: true`"), "{error}");
        agent.drafts().refuse(DraftId(2)).await.unwrap();
        assert_eq!(wires.sent(), [""; 0], "{settings}");
        assert_eq!(agent.drafts().approve(DraftId(1), None).await.unwrap().state, DraftState::Sent);
        agent.drafts().approve(DraftId(1), None).await.unwrap_err();
        assert_eq!(wires.sent(), ["i2c-1 72 [1, 2]"], "{settings}");
    }
}

// PICO-097
#[tokio::test]
async fn somebody_who_is_there_is_asked_and_a_rule_has_to_name_the_bus() {
    for (answer, sent) in [(ApprovalAnswer::No, 0), (ApprovalAnswer::Once, 1)] {
        let (_bench, agent, wires) = wired("", &[write(true)]).await;
        let mut handle = agent.chat(ChatRequest { can_answer: true, ..last("set it") }).await.unwrap();
        let mut asked = Vec::new();
        while let Some(event) = handle.next().await {
            if let TurnEvent::ApprovalRequested { parts, .. } = &event {
                let [QuestionPart { id, name, destination, reason, .. }] = &parts[..] else { panic!("{parts:?}") };
                asked.push(format!("{name} {}: {reason}", destination.as_deref().unwrap_or_default()));
                assert_eq!(wires.sent(), [""; 0]);
                handle.answer(id, answer);
            }
            if event.is_last() {
                break;
            }
        }
        assert_eq!(
            (asked, wires.sent().len()),
            (vec!["i2c /dev/i2c-1: this would write to /dev/i2c-1".to_owned()], sent)
        );
    }
    for (bus, sent) in [("/dev/i2c-2", 0), ("/dev/i2c-1", 1)] {
        let rule = format!("[policy]\nallow = [{{ tool = \"i2c\", destination = \"{bus}\" }}]\n");
        let (_bench, agent, wires) = wired(&rule, &[write(true)]).await;
        all(agent.chat(last("set it")).await.unwrap()).await;
        assert_eq!(wires.sent().len(), sent, "{bus}");
    }
}
