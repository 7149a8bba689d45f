//! `spi`: parts on an SPI bus.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Buses, SpiClock, apart, bytes, confirmed, hex, trouble, within};
use crate::{Concerned, Tool, ToolContext, read_arguments, schema_of};

/// Bytes of one transfer.
const MOST: usize = 4096;

/// Talks to parts on an SPI bus.
#[derive(Clone)]
pub struct Spi {
    buses: Arc<dyn Buses>,
}

impl Spi {
    /// The tool over the buses of a machine.
    pub fn new(buses: Arc<dyn Buses>) -> Self {
        Self { buses }
    }
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Transfer,
    Read,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    device: Option<String>,
    speed: Option<u64>,
    mode: Option<u64>,
    bits: Option<u64>,
    data: Option<Vec<u64>>,
    length: Option<u64>,
    confirm: Option<bool>,
}

#[async_trait]
impl Tool for Spi {
    fn name(&self) -> &'static str {
        "spi"
    }

    fn group(&self) -> &'static str {
        "hardware"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn effect(&self, arguments: &Value) -> Effect {
        match arguments["action"].as_str() {
            Some("list") => Effect::Look,
            // To read is to clock zeros out, which some parts act on.
            Some("read") => Effect::ChangeOwned,
            // It waits for the owner, who alone knows what the part does with what is sent.
            _ => Effect::Device,
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        let arguments: Arguments = read_arguments(arguments.clone())?;
        if matches!(arguments.action, Action::Transfer) { confirmed(arguments.confirm, "transfer") } else { Ok(()) }
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        Some(Destination::Place(file(arguments.get("device")?.as_str()?)))
    }

    async fn concerns(&self, _: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::InArguments
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let arguments: Arguments = read_arguments(arguments)?;
        let text = match arguments.action {
            Action::List => self.list().await?,
            Action::Read => {
                let length = within("length", arguments.length.unwrap_or(1), 1, MOST as u64)?;
                self.transfer(&arguments, vec![0; length]).await?
            }
            Action::Transfer => {
                let data = bytes(arguments.data.clone(), MOST)?;
                confirmed(arguments.confirm, "transfer")?;
                self.transfer(&arguments, data).await?
            }
        };
        Ok(Labelled::outside(text))
    }
}

impl Spi {
    async fn list(&self) -> Result<String, Sentence> {
        let found = apart(&self.buses, |buses| buses.spi_devices()).await.map_err(|error| said("*", &error))?;
        if found.is_empty() {
            return Err(said("*", &std::io::ErrorKind::NotFound.into()));
        }
        Ok(found.iter().map(|device| format!("{device}: {}", file(device))).collect::<Vec<_>>().join("\n"))
    }

    async fn transfer(&self, arguments: &Arguments, data: Vec<u8>) -> Result<String, Sentence> {
        let device = device(arguments)?;
        let clock = SpiClock {
            speed: within("speed", arguments.speed.unwrap_or(1_000_000), 1, 125_000_000)?,
            mode: within("mode", arguments.mode.unwrap_or(0), 0, 3)?,
            bits: within("bits", arguments.bits.unwrap_or(8), 1, 32)?,
        };
        let name = device.clone();
        let came = apart(&self.buses, move |buses| buses.spi_transfer(&device, clock, &data)).await;
        came.map(|bytes| hex(&bytes)).map_err(|error| said(&name, &error))
    }
}

/// The device file of a device.
pub(super) fn file(device: &str) -> String {
    format!("/dev/spidev{device}")
}

fn device(arguments: &Arguments) -> Result<String, Sentence> {
    let device = arguments.device.as_deref().unwrap_or_default();
    let number = |part: &str| !part.is_empty() && part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    match device.split_once('.') {
        Some((bus, chip)) if number(bus) && number(chip) => Ok(device.to_owned()),
        _ => Err("`device` is bus.chip: 2.0 is /dev/spidev2.0".into()),
    }
}

fn said(device: &str, error: &std::io::Error) -> Sentence {
    trouble(&file(device), "spi", "on a Raspberry Pi: raspi-config, or dtparam=spi=on", error)
}
