//! `get_local_time`: the owner's clock.

use async_trait::async_trait;
use jiff::tz::TimeZone;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, sentence, zone};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Tool, ToolContext, echoed, read_arguments, schema_of};

/// Tells the time in the owner's zone or another.
#[derive(Clone, Copy, Debug)]
pub struct GetLocalTime;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    zone: Option<String>,
}

#[async_trait]
impl Tool for GetLocalTime {
    fn name(&self) -> &'static str {
        "get_local_time"
    }

    fn group(&self) -> &'static str {
        "time"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { zone } = read_arguments(arguments)?;
        let zone = match zone.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            None => context.zone.clone(),
            Some(name) => zone::named(name).ok_or_else(|| {
                sentence!("`{}` is not a time zone; use an IANA name, such as Europe/Berlin", Labelled::outside(name))
            })?,
        };
        let now = context.now.to_zoned(zone);
        Ok(echoed(format!("{}, {}", now.strftime("%A %Y-%m-%d %H:%M:%S %:z"), zone_name(now.time_zone()))))
    }
}

fn zone_name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}
