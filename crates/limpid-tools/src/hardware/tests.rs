use std::sync::Mutex;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::policy::Effect;
use limpid_core::{CallId, ConversationId, Trust, TurnId};
use serde_json::{Value, json};

use super::*;
use crate::{ShownItems, Tool, ToolContext, Written};

/// Buses that note what is asked of them; `fails` is what opening anything comes to.
#[derive(Default)]
struct Fake {
    asked: Mutex<Vec<String>>,
    fails: Option<io::ErrorKind>,
    none: bool,
}

impl Fake {
    fn note(&self, text: String) -> io::Result<()> {
        self.asked.lock().unwrap().push(text);
        self.fails.map_or(Ok(()), |kind| Err(kind.into()))
    }
}

impl Buses for Fake {
    fn i2c_buses(&self) -> io::Result<Vec<String>> {
        Ok(if self.none { Vec::new() } else { vec!["1".to_owned(), "20".to_owned()] })
    }

    fn i2c_probe(&self, bus: &str, address: u8, probe: Probe) -> io::Result<Presence> {
        self.note(format!("probe {bus} {address:02x} {probe:?}"))?;
        Ok(match address {
            0x3c => Presence::Device,
            0x50 => Presence::Device,
            0x68 => Presence::Busy,
            _ => Presence::Nothing,
        })
    }

    fn i2c_read(&self, bus: &str, address: u8, register: Option<u8>, length: usize) -> io::Result<Vec<u8>> {
        self.note(format!("read {bus} {address:02x} {register:?} {length}"))?;
        Ok((0..length).map(|n| n as u8).collect())
    }

    fn i2c_write(&self, bus: &str, address: u8, data: &[u8]) -> io::Result<()> {
        self.note(format!("write {bus} {address:02x} {data:?}"))
    }

    fn spi_devices(&self) -> io::Result<Vec<String>> {
        Ok(if self.none { Vec::new() } else { vec!["0.1".to_owned()] })
    }

    fn spi_transfer(&self, device: &str, clock: SpiClock, data: &[u8]) -> io::Result<Vec<u8>> {
        self.note(format!("transfer {device} {} Hz mode {} bits {} {data:?}", clock.speed, clock.mode, clock.bits))?;
        Ok(data.iter().map(|byte| byte.wrapping_add(1)).collect())
    }
}

fn context() -> ToolContext {
    ToolContext {
        now: Timestamp::UNIX_EPOCH,
        zone: TimeZone::UTC,
        conversation: ConversationId::new("c1"),
        turn: TurnId::new("t1"),
        call: CallId::new("call"),
        trust: Trust::Owner,
        tier: limpid_core::Tier::ALL[2],
        read_only: false,
        approved: false,
        snapshot: None,
        bans: limpid_core::policy::Bans::default(),
        unused_skills: Vec::new(),
        private_place: None,
        may_lead_to_key: true,
        drawn: false,
        program: None,
        send_state: None,
        tools_of_agents: None,
        shown: ShownItems::default(),
        written: Written::default(),
        owner: None,
    }
}

/// Runs calls one after the other, and tells what came of each and what reached the wires.
async fn told(tool: &dyn Tool, fake: &Fake, calls: &[Value]) -> String {
    let mut out = String::new();
    for call in calls {
        let came = match tool.run(&context(), call.clone()).await {
            Ok(text) => text.into_parts().0,
            Err(error) => format!("error: {}", error.text()),
        };
        let asked: Vec<String> = std::mem::take(&mut *fake.asked.lock().unwrap());
        let asked = if asked.len() > 3 { format!("{} probes", asked.len()) } else { asked.join("; ") };
        out.push_str(&format!("{call}\n  {}\n  wires: {asked}\n", came.replace('\n', "\n  ")));
    }
    out
}

fn i2c(fake: Fake) -> (I2c, Arc<Fake>) {
    let fake = Arc::new(fake);
    (I2c::new(Arc::clone(&fake) as Arc<dyn Buses>), fake)
}

fn spi(fake: Fake) -> (Spi, Arc<Fake>) {
    let fake = Arc::new(fake);
    (Spi::new(Arc::clone(&fake) as Arc<dyn Buses>), fake)
}

// PICO-095
#[tokio::test]
async fn i2c_checks_every_value_before_the_wires() {
    let (tool, fake) = i2c(Fake::default());
    let long = vec![0; 257];
    let calls = [
        json!({ "action": "detect" }),
        json!({ "action": "scan", "bus": "1" }),
        json!({ "action": "read", "bus": "1", "address": 0x48 }),
        json!({ "action": "read", "bus": "1", "address": 0x48, "register": 255, "length": 4 }),
        json!({ "action": "write", "bus": "1", "address": 0x48, "register": 2, "data": [1, 255], "confirm": true }),
        json!({ "action": "scan", "bus": "../1" }),
        json!({ "action": "scan" }),
        json!({ "action": "read", "bus": "1", "address": 0x78 }),
        json!({ "action": "read", "bus": "1", "address": 2 }),
        json!({ "action": "read", "bus": "1", "address": 0x48, "register": 256 }),
        json!({ "action": "read", "bus": "1", "address": 0x48, "length": 0 }),
        json!({ "action": "read", "bus": "1", "address": 0x48, "length": 257 }),
        json!({ "action": "write", "bus": "1", "address": 0x48, "data": [256], "confirm": true }),
        json!({ "action": "write", "bus": "1", "address": 0x48, "data": [], "confirm": true }),
        json!({ "action": "burn", "bus": "1" }),
    ];
    insta::assert_snapshot!(told(&tool, &fake, &calls).await);
    let too_long = json!({ "action": "write", "bus": "1", "address": 0x48, "data": long, "confirm": true });
    assert_eq!(tool.run(&context(), too_long).await.unwrap_err().text(), "`data` has 1 to 256 bytes");
}

// PICO-095
#[tokio::test]
async fn a_scan_only_reads_where_memories_are() {
    let (tool, fake) = i2c(Fake::default());
    tool.run(&context(), json!({ "action": "scan", "bus": "1" })).await.unwrap();
    let asked = fake.asked.lock().unwrap().clone();
    assert_eq!((asked.len(), asked[0].as_str(), asked[111].as_str()), (112, "probe 1 08 Quick", "probe 1 77 Quick"));
    let read: Vec<&str> =
        asked.iter().filter_map(|line| line.strip_suffix(" Read")?.strip_prefix("probe 1 ")).collect();
    let memories: Vec<String> = (0x30..=0x37).chain(0x50..=0x5f).map(|address: u8| format!("{address:02x}")).collect();
    assert_eq!(read, memories);
}

// PICO-096
#[tokio::test]
async fn spi_checks_every_value_before_the_wires() {
    let (tool, fake) = spi(Fake::default());
    let calls = [
        json!({ "action": "list" }),
        json!({ "action": "read", "device": "2.0", "length": 3 }),
        json!({
            "action": "transfer", "device": "0.1", "speed": 125_000_000, "mode": 3, "bits": 32,
            "data": [0, 254], "confirm": true,
        }),
        json!({ "action": "read", "device": "2" }),
        json!({ "action": "read", "device": "2.0/../x" }),
        json!({ "action": "read", "device": "2.0", "speed": 0 }),
        json!({ "action": "read", "device": "2.0", "speed": 125_000_001 }),
        json!({ "action": "read", "device": "2.0", "mode": 4 }),
        json!({ "action": "read", "device": "2.0", "bits": 33 }),
        json!({ "action": "read", "device": "2.0", "length": 4097 }),
        json!({ "action": "transfer", "device": "2.0", "data": [-1], "confirm": true }),
    ];
    insta::assert_snapshot!(told(&tool, &fake, &calls).await);
}

// PICO-097
#[tokio::test]
async fn nothing_is_sent_that_was_not_confirmed_and_sending_is_more_than_reading() {
    let (wire, fake) = i2c(Fake::default());
    let (bus, spi_fake) = spi(Fake::default());
    for confirm in [json!(null), json!(false)] {
        let write = json!({ "action": "write", "bus": "1", "address": 72, "data": [1], "confirm": confirm });
        assert!(wire.run(&context(), write.clone()).await.unwrap_err().text().ends_with("nothing was sent"));
        let transfer = json!({ "action": "transfer", "device": "0.1", "data": [1], "confirm": confirm });
        assert!(bus.run(&context(), transfer.clone()).await.unwrap_err().text().ends_with("nothing was sent"));
        assert_eq!((wire.effect(&write), bus.effect(&transfer)), (Effect::Device, Effect::Device));
        assert!(wire.check(&write).is_err() && bus.check(&transfer).is_err());
    }
    assert!(fake.asked.lock().unwrap().is_empty() && spi_fake.asked.lock().unwrap().is_empty());
    let effects = [("detect", Effect::Look), ("scan", Effect::ChangeOwned), ("read", Effect::ChangeOwned)];
    for (action, effect) in effects {
        assert_eq!(wire.effect(&json!({ "action": action })), effect, "{action}");
    }
    for (action, effect) in [("list", Effect::Look), ("read", Effect::ChangeOwned)] {
        assert_eq!(bus.effect(&json!({ "action": action })), effect, "{action}");
    }
    assert_eq!(wire.effect(&json!({ "action": 7 })), Effect::Device, "what is not known is the widest");
}

// PICO-098
#[tokio::test]
async fn a_bus_that_is_not_there_or_not_allowed_says_what_to_do() {
    let mut shown = String::new();
    for fails in [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied, io::ErrorKind::TimedOut] {
        let (wire, fake) = i2c(Fake { fails: Some(fails), ..Fake::default() });
        shown.push_str(&told(&wire, &fake, &[json!({ "action": "read", "bus": "1", "address": 72 })]).await);
        let (bus, fake) = spi(Fake { fails: Some(fails), ..Fake::default() });
        shown.push_str(&told(&bus, &fake, &[json!({ "action": "read", "device": "0.0" })]).await);
    }
    let (wire, fake) = i2c(Fake { none: true, ..Fake::default() });
    shown.push_str(&told(&wire, &fake, &[json!({ "action": "detect" })]).await);
    let (bus, fake) = spi(Fake { none: true, ..Fake::default() });
    shown.push_str(&told(&bus, &fake, &[json!({ "action": "list" })]).await);
    insta::assert_snapshot!(shown);
}
