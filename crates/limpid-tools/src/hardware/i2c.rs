//! `i2c`: parts on an I2C bus.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Buses, Presence, Probe, apart, bytes, confirmed, hex, trouble, within};
use crate::{Concerned, Tool, ToolContext, read_arguments, schema_of};

/// Addresses that a scan looks at.
const SCANNED: std::ops::RangeInclusive<u8> = 0x08..=0x77;

/// Bytes of one read or write.
const MOST: usize = 256;

/// Talks to parts on an I2C bus.
#[derive(Clone)]
pub struct I2c {
    buses: Arc<dyn Buses>,
}

impl I2c {
    /// The tool over the buses of a machine.
    pub fn new(buses: Arc<dyn Buses>) -> Self {
        Self { buses }
    }
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Detect,
    Scan,
    Read,
    Write,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    bus: Option<String>,
    address: Option<u64>,
    register: Option<u64>,
    length: Option<u64>,
    data: Option<Vec<u64>>,
    confirm: Option<bool>,
}

#[async_trait]
impl Tool for I2c {
    fn name(&self) -> &'static str {
        "i2c"
    }

    fn group(&self) -> &'static str {
        "hardware"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn effect(&self, arguments: &Value) -> Effect {
        match arguments["action"].as_str() {
            Some("detect") => Effect::Look,
            // To ask an address or a register is to write its number, which some parts act on.
            Some("scan" | "read") => Effect::ChangeOwned,
            // It waits for the owner, who alone knows what the part does with what is sent.
            _ => Effect::Device,
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        let arguments: Arguments = read_arguments(arguments.clone())?;
        if matches!(arguments.action, Action::Write) { confirmed(arguments.confirm, "write") } else { Ok(()) }
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        Some(Destination::Place(file(arguments.get("bus")?.as_str()?)))
    }

    async fn concerns(&self, _: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::InArguments
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let arguments: Arguments = read_arguments(arguments)?;
        let text = match arguments.action {
            Action::Detect => self.detect().await?,
            Action::Scan => self.scan(bus(&arguments)?).await?,
            Action::Read => self.read(&arguments).await?,
            Action::Write => self.write(arguments).await?,
        };
        Ok(Labelled::outside(text))
    }
}

impl I2c {
    async fn detect(&self) -> Result<String, Sentence> {
        let found = apart(&self.buses, |buses| buses.i2c_buses()).await.map_err(|error| said("", &error))?;
        if found.is_empty() {
            return Err(said("", &std::io::ErrorKind::NotFound.into()));
        }
        Ok(found.iter().map(|bus| format!("{bus}: {}", file(bus))).collect::<Vec<_>>().join("\n"))
    }

    async fn scan(&self, bus: String) -> Result<String, Sentence> {
        let name = bus.clone();
        let look = move |buses: &dyn Buses| {
            SCANNED.map(|address| Ok((address, buses.i2c_probe(&bus, address, probe(address))?))).collect()
        };
        let seen: Vec<(u8, Presence)> = apart(&self.buses, look).await.map_err(|error| said(&name, &error))?;
        let line = |(address, presence): &(u8, Presence)| match presence {
            Presence::Nothing => None,
            Presence::Device => Some(format!("0x{address:02x}")),
            Presence::Busy => Some(format!("0x{address:02x} busy: a driver of the system uses it")),
        };
        let lines: Vec<String> = seen.iter().filter_map(line).collect();
        Ok(if lines.is_empty() { format!("nothing answers on bus {name}") } else { lines.join("\n") })
    }

    async fn read(&self, arguments: &Arguments) -> Result<String, Sentence> {
        let (bus, address, register) = (bus(arguments)?, address(arguments)?, register(arguments)?);
        let length: usize = within("length", arguments.length.unwrap_or(1), 1, MOST as u64)?;
        let name = bus.clone();
        let read = apart(&self.buses, move |buses| buses.i2c_read(&bus, address, register, length)).await;
        read.map(|bytes| hex(&bytes)).map_err(|error| said(&name, &error))
    }

    async fn write(&self, arguments: Arguments) -> Result<String, Sentence> {
        let (bus, address, register) = (bus(&arguments)?, address(&arguments)?, register(&arguments)?);
        let data = bytes(arguments.data, MOST)?;
        confirmed(arguments.confirm, "write")?;
        let (name, count) = (bus.clone(), data.len());
        let data: Vec<u8> = register.into_iter().chain(data).collect();
        let written = apart(&self.buses, move |buses| buses.i2c_write(&bus, address, &data)).await;
        written.map(|()| format!("{count} bytes written to 0x{address:02x}")).map_err(|error| said(&name, &error))
    }
}

/// The device file of a bus.
pub(super) fn file(bus: &str) -> String {
    format!("/dev/i2c-{bus}")
}

/// Memories are only read: to some of them a write of nothing is a write.
fn probe(address: u8) -> Probe {
    if matches!(address, 0x30..=0x37 | 0x50..=0x5f) { Probe::Read } else { Probe::Quick }
}

fn bus(arguments: &Arguments) -> Result<String, Sentence> {
    let bus = arguments.bus.as_deref().unwrap_or_default();
    let digits = !bus.is_empty() && bus.len() <= 3 && bus.bytes().all(|byte| byte.is_ascii_digit());
    if digits { Ok(bus.to_owned()) } else { Err("`bus` is the number of a bus: 1 is /dev/i2c-1".into()) }
}

fn address(arguments: &Arguments) -> Result<u8, Sentence> {
    let wrong = || Sentence::from("`address` is 3 to 119 (0x03 to 0x77)");
    within("address", arguments.address.ok_or_else(wrong)?, 0x03, 0x77).map_err(|_| wrong())
}

fn register(arguments: &Arguments) -> Result<Option<u8>, Sentence> {
    arguments.register.map(|register| within("register", register, 0, 255)).transpose()
}

fn said(bus: &str, error: &std::io::Error) -> Sentence {
    trouble(
        &file(if bus.is_empty() { "*" } else { bus }),
        "i2c",
        "on a Raspberry Pi: raspi-config, or dtparam=i2c_arm=on",
        error,
    )
}
